"""The exercises of notebook 05: bytes of keys and values, and a loop that feeds each token once."""

EXERCISES = ("kv_bytes", "generate_cached")

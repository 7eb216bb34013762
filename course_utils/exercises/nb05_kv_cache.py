"""The exercises of notebook 05: bytes of keys and values, and a loop that feeds each token once."""

NOTEBOOK = "05_kv_cache"
EXERCISES = ()

"""The exercises of notebook 09: one token behind a cache of transformers, and its names for our settings."""

EXERCISES = ("last_token", "translate")

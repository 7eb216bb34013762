"""The exercises of notebook 08: pass@k, paired differences, and what a record needs."""

EXERCISES = ("pass_at_k", "paired_difference", "record")

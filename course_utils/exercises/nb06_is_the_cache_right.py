"""The exercises of notebook 06: comparing logits, diagnosing faults, positions under padding."""

NOTEBOOK = "06_is_the_cache_right"
EXERCISES = ()

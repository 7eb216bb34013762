"""The exercises of notebook 04: the causal mask, positions, and the number of parameters."""

NOTEBOOK = "04_tiny_transformer"
EXERCISES = ()

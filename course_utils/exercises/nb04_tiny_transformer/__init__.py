"""The exercises of notebook 04: the causal mask, positions, and the number of parameters."""

EXERCISES = ("causal_mask", "positions", "count_parameters")

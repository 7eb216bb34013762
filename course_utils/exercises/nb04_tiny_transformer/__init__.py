"""The exercises of notebook 04: attention, the causal mask, positions, and the number of parameters."""

EXERCISES = ("attend", "causal_mask", "positions", "count_parameters")

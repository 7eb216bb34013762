"""The exercises of notebook 06: comparing logits, diagnosing faults, positions under padding."""

EXERCISES = ("same_logits", "diagnose", "padded_positions")

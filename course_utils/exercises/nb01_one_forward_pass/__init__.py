"""The exercises of notebook 01: from counts to logits, softmax, the last logits of a batch, a draw, and the loop."""

EXERCISES = ("counts_to_logits", "softmax", "last_logits", "draw", "generate_loop")

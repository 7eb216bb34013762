"""The exercises of notebook 11: accept a proposal, and drop what is not allowed."""

EXERCISES = ("accept", "allowed")

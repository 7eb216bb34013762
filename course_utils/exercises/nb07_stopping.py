"""The exercises of notebook 07: stop strings, finish reasons, tool calls."""

NOTEBOOK = "07_stopping"
EXERCISES = ()

"""The exercises of notebook 07: stop strings, finish reasons, tool calls."""

EXERCISES = ("finish_reason", "stop_matcher", "read_call")

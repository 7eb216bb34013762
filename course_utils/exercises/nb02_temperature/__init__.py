"""The exercises of notebook 02: temperature, greedy, and how much a text repeats itself."""

EXERCISES = ("temperature", "greedy", "repetition_rate")

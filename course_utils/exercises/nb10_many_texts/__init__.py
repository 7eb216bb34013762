"""The exercises of notebook 10: where a token lies, how many blocks are known already, and who may begin."""

EXERCISES = ("slots", "shared_blocks", "admit")

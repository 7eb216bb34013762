"""The exercises of notebook 08: pass@k, paired differences, what a record needs."""

NOTEBOOK = "08_did_it_help"
EXERCISES = ()

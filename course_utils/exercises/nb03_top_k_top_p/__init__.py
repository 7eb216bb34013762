"""The exercises of notebook 03: top-k, top-p, and in which order temperature and truncation were applied."""

EXERCISES = ("top_k", "top_p", "which_order")

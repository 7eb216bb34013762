"""The exercises of notebook 03: top-k, top-p, min-p, and in which order temperature and truncation were applied."""

EXERCISES = ("top_k", "top_p", "min_p", "which_order")

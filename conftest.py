"""pytest runs the notebooks with small budgets, here and in `make check`. COURSE_BUDGET=full overrules it."""

import os

os.environ.setdefault("COURSE_BUDGET", "small")

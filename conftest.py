"""How pytest runs the course, here and in `make check`: notebooks with small budgets, PyTorch with one thread.

On busy cores PyTorch's threads wait for each other, and a second then takes twenty. COURSE_BUDGET=full and
OMP_NUM_THREADS=2 overrule it.
"""

import os

os.environ.setdefault("COURSE_BUDGET", "small")
os.environ.setdefault("OMP_NUM_THREADS", "1")

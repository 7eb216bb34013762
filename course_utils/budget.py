"""How much the long cells of the notebooks compute: one switch for all of them.

`COURSE_BUDGET=small` in the environment lowers every budget. Under pytest it is set by the project's `conftest.py`, so
that training and sweeps take less than their full time there. Notebooks assert what must hold for a small budget too;
its figures are never compared with stored outputs.
"""

import os
from typing import TypeVar

T = TypeVar("T")


def choose(full: T, small: T) -> T:
    """`full`, or `small` where the environment variable COURSE_BUDGET is "small".

    Raises ValueError if the variable has another value than "small", "full" or the empty string.
    """
    asked = os.environ.get("COURSE_BUDGET") or "full"
    if asked not in ("full", "small"):
        raise ValueError(f"COURSE_BUDGET is {asked!r}; expected full or small, or no such variable.")
    return small if asked == "small" else full

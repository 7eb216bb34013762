"""How much the long cells of the notebooks compute: one switch for all of them.

`COURSE_BUDGET=small` in the environment lowers every budget. Under pytest it is set by the project's `conftest.py`, so
that training and sweeps take less than their full time there. Notebooks assert what must hold for a small budget too;
its figures are never compared with stored outputs.

`COURSE_BUDGET=class` is for learners who share a machine. It lowers only what the notebooks' sentences allow: the
training in notebook 04 takes half of its steps, and all that the text says of it still holds.
"""

import os
from typing import TypeVar

T = TypeVar("T")


def choose(full: T, small: T, in_class: T | None = None) -> T:
    """`full`, or what the environment variable COURSE_BUDGET asks for instead.

    small: for "small". in_class: for "class"; None means `full`.
    Raises ValueError if the variable has another value than "small", "class", "full" or the empty string.
    """
    asked = os.environ.get("COURSE_BUDGET") or "full"
    if asked not in ("full", "class", "small"):
        raise ValueError(f"COURSE_BUDGET is {asked!r}; expected full, class or small, or no such variable.")
    if asked == "small":
        return small
    return full if asked == "full" or in_class is None else in_class

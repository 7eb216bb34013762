"""Numbers and paths that a caller gives, checked: an error says what was given and what was expected.

Nothing is known here of what they mean.
"""

import operator
import os
from pathlib import Path


def check_integer(name: str, value: int, below: int | None = None, advice: str = "", at_least: int = 0) -> int:
    """`value` as an int, if it is an integer of `at_least` or more and, where `below` is given, less than that.

    advice: a sentence that ends the message of a ValueError.
    Raises TypeError for something that is not an integer (True is not one), ValueError for one out of range.
    """
    if isinstance(value, bool):
        raise TypeError(f"{name} is {value!r}; expected an integer.")
    try:
        number = operator.index(value)
    except TypeError:
        raise TypeError(f"{name} is {value!r}; expected an integer.") from None
    if number < at_least or (below is not None and number >= below):
        expected = f"{at_least} or more" if below is None else f"an integer from {at_least} to {below - 1}"
        raise ValueError(f"{name} is {number}; expected {expected}.{advice}")
    return number


def check_number(name: str, value: float) -> float:
    """`value` as a float. Raises TypeError for a bool, a str, or anything else that is not a number."""
    if isinstance(value, (bool, str)):
        raise TypeError(f"{name} is {value!r}; expected a number.")
    try:
        return float(value)
    except (TypeError, ValueError):
        raise TypeError(f"{name} is {value!r}; expected a number.") from None


def as_path(source: str | Path) -> Path:
    """The path that is meant: ~ at its beginning is the home folder, as in a shell."""
    if not isinstance(source, (str, os.PathLike)):
        raise TypeError(f"The path is {source!r}; expected a str or a Path.")
    try:
        return Path(source).expanduser()
    except RuntimeError:  # nobody knows where that home is
        raise ValueError(f"The path is {str(source)!r}, and there is no such home folder. Write it out.") from None

"""Numbers and paths that a caller gives, checked: an error says what was given and what was expected.

Nothing is known here of what they mean.
"""

import math
import operator
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from torch import Tensor


def check_integer(name: str, value: int, below: int | None = None, advice: str = "", at_least: int = 0) -> int:
    """`value` as an int, if it is an integer of `at_least` or more and, where `below` is given, less than that.

    advice: a sentence that ends the message of a ValueError.
    Raises TypeError for something that is not an integer (True is not one), ValueError for one out of range.
    """
    if is_bool(value):
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
    if is_bool(value) or isinstance(value, str):
        raise TypeError(f"{name} is {value!r}; expected a number.")
    try:
        return float(value)
    except OverflowError:
        raise ValueError(f"{name} has too many digits; expected a number that a float can hold.") from None
    except (TypeError, ValueError, RuntimeError):
        raise TypeError(f"{name} is {value!r}; expected a number.") from None


def check_positive(name: str, value: float) -> float:
    """`value` as a float above 0 that is finite. Errors as in `check_number`."""
    number = check_number(name, value)
    if not 0 < number < math.inf:
        raise ValueError(f"{name} is {number}; expected a finite number above 0.")
    return number


def is_bool(value: object) -> bool:
    """Whether it is one truth value, of Python, NumPy or torch."""
    kind = str(getattr(value, "dtype", "")).removeprefix("torch.")
    return isinstance(value, bool) or (kind == "bool" and not getattr(value, "ndim", 0))


def check_flag(name: str, value: bool) -> bool:
    """`value` as a bool. The truth of another object is not an answer: "False" and NaN are true to Python."""
    if not is_bool(value):
        raise TypeError(f"{name} is {value!r}; expected True or False.")
    return bool(value)


def check_documents(documents: Iterable[str], name: str = "documents") -> list[str]:
    """The documents, or what else is called `name`, as a list.

    Raises TypeError for a single text, and for an entry that is not a text.
    """
    if isinstance(documents, (str, bytes, Mapping)):
        raise TypeError(f"{name} is a {type(documents).__name__}; expected a list of str. For one give [{name[:-1]}].")
    try:
        documents = list(documents)
    except TypeError:
        raise TypeError(f"{name} is a {type(documents).__name__}; expected a list of str.") from None
    for number, document in enumerate(documents):
        if not isinstance(document, str):
            raise TypeError(f"{name}[{number}] is {document!r:.100}; expected a str.")
    return documents


def as_tensor(name: str, values: Any) -> "Tensor":
    """Real numbers as a tensor. Raises TypeError for what is not a tensor, an array, or lists of equal length."""
    import torch  # here, since it takes a second to import, and commands need paths only

    try:
        tensor = torch.as_tensor(values)
    except (TypeError, ValueError, RuntimeError):
        raise TypeError(
            f"{name} is {values!r:.80}, of type {type(values).__name__}; expected a tensor, an array or a list of "
            f"numbers, with rows of equal length."
        ) from None
    if tensor.is_complex() or tensor.is_meta or tensor.layout is not torch.strided:
        given = f"{tensor.dtype}, {tensor.layout} on {tensor.device}"
        raise TypeError(f"{name} is of {given}; expected real numbers that are stored one by one.")
    return tensor


def check_row(name: str, ids: Iterable[int]) -> Iterable[int]:
    """The ids as they are. Raises ValueError for an array with more or fewer axes than one."""
    if (axes := getattr(ids, "ndim", 1)) != 1:
        raise ValueError(f"{name} has {axes} axes; expected one text, (T,). Of a batch give one row, such as ids[0].")
    return ids


def as_path(source: str | Path) -> Path:
    """The path that is meant: ~ at its beginning is the home folder, as in a shell."""
    if not isinstance(source, (str, os.PathLike)):
        raise TypeError(f"The path is {source!r}; expected a str or a Path.")
    if not str(source).strip():
        raise ValueError(f"The path is {str(source)!r}, which names nothing. For the working folder give '.'.")
    try:
        return Path(source).expanduser()
    except RuntimeError:  # nobody knows where that home is
        raise ValueError(f"The path is {str(source)!r}, and there is no such home folder. Write it out.") from None

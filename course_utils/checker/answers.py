"""Read a learner's answer as numbers, and compare it with what an exercise asks for.

A list, a tuple, a numpy array and a tensor of the same numbers are the same answer. NaN, another shape, an empty
answer or something that holds no numbers never equals anything. Importing this module does not import torch.
"""

import inspect
import math
import numbers
import reprlib
from decimal import Decimal
from typing import Any

import numpy as np

ATOL = 1e-5  # what an answer may differ by
_SLACK = 1e-9  # so that a difference of just 1e-5, which binary numbers cannot hold exactly, still passes
_LINE = 160  # characters of an answer that are shown
_MOST = 100_000  # numbers of an answer that are read: no exercise asks for so many, and reading more takes seconds


class Unreadable(ValueError):
    """The answer holds no numbers, or rows of different lengths."""


def as_array(value: object) -> np.ndarray:
    """The numbers in `value` as a float64 array of the same shape.

    value: a number, a tensor, an array, or lists of these.
    Raises Unreadable, with a phrase that goes on from "Your answer", for anything else. True and False do
    not count as numbers here: a mask does not answer a question for numbers.
    """
    try:
        array = np.asarray(_plain(value, [_MOST]))
    except Unreadable:
        raise
    except Exception as error:  # a learner's object may do anything when it is read
        raise Unreadable("cannot be read as numbers in rows of equal length") from error
    if array.dtype.kind not in "iuf":
        known = array.dtype.kind == "b"
        raise Unreadable("holds True and False instead of numbers" if known else "does not hold plain numbers")
    return array.astype(np.float64)


def _plain(value: Any, room: list[int]) -> Any:
    """`value` without tensors: what numpy can read. room: how many more numbers are read."""
    room[0] -= value.numel() if hasattr(value, "numel") else getattr(value, "size", 1)
    if room[0] < 0:
        raise Unreadable(f"holds more than {_MOST:,} numbers, far more than it should")
    if hasattr(value, "detach"):  # a tensor, told without importing torch
        tensor = value.detach().cpu()
        if tensor.is_sparse:
            tensor = tensor.to_dense()
        return (tensor.double() if tensor.is_floating_point() else tensor).numpy()
    if isinstance(value, np.ndarray) and value.dtype == object:
        value = value.tolist()
    if isinstance(value, list | tuple):
        return [_plain(item, room) for item in value]
    if isinstance(value, Decimal) or (isinstance(value, numbers.Rational) and not isinstance(value, int)):
        return float(value)
    return value


def difference(value: object, want: Any, atol: float = ATOL) -> str | None:
    """None if `value` holds the numbers of `want`; otherwise a phrase that goes on from "Your answer".

    want: numbers in lists or an array; -inf equals -inf only. The phrase never tells a number of `want`.
    """
    try:
        got = as_array(value)
    except Unreadable as error:
        return str(error)
    want = np.asarray(want, dtype=np.float64)
    if got.shape != want.shape:
        return f"has the shape {_shape(got)}, but {_shape(want)} is expected"
    if np.isnan(got).any():
        return "contains NaN, which is not a number"
    with np.errstate(invalid="ignore"):  # inf - inf: settled by the first comparison
        close = (got == want) | (np.abs(got - want) <= atol + _SLACK)
    return None if close.all() else "has other numbers"


def same(value: object, want: Any, atol: float = ATOL) -> bool:
    """True if `value` holds the numbers of `want`."""
    return difference(value, want, atol) is None


def unchanged(before: Any, after: Any) -> bool:
    """True if an argument still is what it was. Functions are not looked into."""
    if callable(before):
        return True
    if not hasattr(before, "shape"):
        return type(before) is type(after) and before == after
    before, after = (np.asarray(_plain(value, [_MOST])) for value in (before, after))  # a mask holds no numbers
    return before.shape == after.shape and np.array_equal(before, after, equal_nan=True)


def describe(value: object) -> str:
    """One short line that shows a learner's value: numbers with six decimals, and the shape of a larger one."""
    try:
        array = as_array(value)
        if array.ndim == 0:
            return _number(float(array))
        written = np.array2string(array, separator=", ", threshold=24, formatter={"float_kind": _number})
        text = " ".join(written.split()).replace("[ ", "[")
        if not array.size and not hasattr(value, "shape"):  # an empty tuple or list: it has no shape worth telling
            return _describe_other(value)
        shape = f" of the shape {_shape(array)}" if array.ndim > 1 or not array.size else ""
        return _shorten(text) + shape
    except Unreadable:
        return _describe_other(value)


def _describe_other(value: Any) -> str:
    if hasattr(value, "detach"):
        try:
            if value.numel() <= 20:  # a mask of 3 queries and 5 keys is shown
                return _shorten(str(value.detach().cpu().tolist()))
            return f"a {type(value).__name__} of the shape {tuple(value.shape)}"
        except Exception:  # a verdict is shown for any answer
            return f"a {type(value).__name__}"
    if inspect.isgenerator(value):
        return "a generator"
    if isinstance(value, list | tuple) and any(hasattr(item, "detach") for item in value):
        brackets = "()" if isinstance(value, tuple) else "[]"  # PyTorch's own text depends on its print options
        return _shorten(brackets[0] + ", ".join([*map(describe, value[:4]), *["..."][: len(value) > 4]]) + brackets[1])
    if callable(value):
        return f"the function {getattr(value, '__name__', type(value).__name__)}"
    try:
        return _shorten(reprlib.repr(value))
    except Exception:  # a learner's own __repr__ may fail
        return f"a {type(value).__name__}"


def _number(x: Any) -> str:
    if math.isinf(x) or math.isnan(x):
        return str(x)
    if x == int(x) and abs(x) < 1e6:
        return str(int(x))
    return f"{x:.6g}" if abs(x) < 1e-3 or abs(x) >= 1e6 else f"{x:.6f}".rstrip("0")


def _shape(array: np.ndarray) -> str:
    return "() (a single number)" if array.ndim == 0 else str(array.shape)


def _shorten(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= _LINE else text[: _LINE - 4] + " ..."

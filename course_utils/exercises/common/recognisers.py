"""Recognise answers that a misconception leads to."""

from collections.abc import Callable

from course_utils.checker.answers import as_array, same


def any_of(*answers: object) -> Callable[[object], bool]:
    """Recognises each of these answers."""
    return lambda value: any(same(value, answer) for answer in answers)


def shaped(*shape: int) -> Callable[[object], bool]:
    """Recognises an answer by its shape."""
    return lambda value: as_array(value).shape == shape


def is_int64(value: object) -> bool:
    """True for an int64 tensor or array, a whole number of Python, and lists of these."""
    if (dtype := getattr(value, "dtype", None)) is not None:
        return str(dtype) in ("int64", "torch.int64")
    if isinstance(value, list | tuple | range):
        return all(map(is_int64, value))
    return isinstance(value, int) and not isinstance(value, bool)

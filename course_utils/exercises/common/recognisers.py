"""Recognise answers that a misconception leads to."""

from collections.abc import Callable

from course_utils.checker.answers import as_array, same


def any_of(*answers: object) -> Callable[[object], bool]:
    """Recognises each of these answers."""
    return lambda value: any(same(value, answer) for answer in answers)


def shaped(*shape: int) -> Callable[[object], bool]:
    """Recognises an answer by its shape."""
    return lambda value: as_array(value).shape == shape

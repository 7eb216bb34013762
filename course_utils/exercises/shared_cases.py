"""What the cases of several exercises share: recognisers of answers, and hints."""

from course_utils.answers import as_array, same

EARLIER_CALL = (
    "an earlier call has left something in this answer: a default list, a global one or a cache keeps it. Each call "
    "begins anew."
)
NOT_CONTIGUOUS = (
    "`view` needs numbers that lie in memory row by row, and those of a transposed tensor do not. `reshape` takes any "
    "tensor."
)


def any_of(*answers):
    """Recognises each of these answers."""
    return lambda value: any(same(value, answer) for answer in answers)


def shaped(*shape):
    """Recognises an answer by its shape."""
    return lambda value: as_array(value).shape == shape


def written(values) -> str:
    """Nested lists of these numbers, written as answers are: whole ones without a point."""
    if isinstance(values, list):
        return f"[{', '.join(map(written, values))}]"
    return f"{values:g}" if abs(values) < 1e5 else str(values).removesuffix(".0")

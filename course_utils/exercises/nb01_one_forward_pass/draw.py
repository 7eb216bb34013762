"""Exercise 01.draw. Where u stands on a border, the sums are exact in binary; elsewhere it keeps well away from one."""

# The reference is shown to learners as they would write it, without types.
# mypy: allow-untyped-defs

from typing import Any

import numpy as np

from course_utils.checker.answers import as_array
from course_utils.checker.exercise import Call, Case, Equals, FunctionExercise, Holds, Recognises
from course_utils.exercises.common.inputs import args
from course_utils.exercises.common.recognisers import any_of


def draw(probs, u):
    """The id whose stretch of the ruler contains u."""
    total, last = 0.0, 0
    for token_id, prob in enumerate(probs.tolist()):  # Python's floats are float64
        total += prob
        if total > u:
            return token_id
        if prob > 0:
            last = token_id
    return last  # rounding has left the total a little below u


def _on(probs: list[float], u: float, dtype: str = "float64") -> Call:
    return Call(f"probabilities {probs} and u = {u}", args(probs, u, dtype=dtype))


def _asks(hint_id: str, hint: str, probs: list[float], u: float, right: int) -> Case:
    return Case(hint_id, hint, _on(probs, u), Equals(right), error_is_typical=True)


def _is_int(value: Any, _: tuple) -> bool:
    """A whole number of Python or NumPy, or a tensor without axes that holds one."""
    if isinstance(value, bool) or as_array(value).ndim:
        return False
    return isinstance(value, int) or str(getattr(value, "dtype", "")).removeprefix("torch.").strip("u").startswith(
        "int"
    )


_FIVE = _on([0.2] * 5, 0.7)
_MIXED = _on([0.1, 0.2, 0.4, 0.3], 0.5)
_RARE = _on([0.0001, 0.9998, 0.0001], 0.00005)
_HAND = _on([0.3, 0.3, 0.4], 0.35)
_SMALL = 3e-5  # in float32 a running sum of 30,000 of these drifts by more than one of them
_MANY = np.array([*[_SMALL] * 30_000, 0.1], dtype=np.float32).astype(np.float64)
_FAR = 0.7500150
_BORDER = (
    "u lies exactly on a border, where the next stretch begins. So the running sum must be larger than u, not equal "
    "to it."
)
_ZERO = "a token of probability 0 has no stretch on the ruler. No u falls on it, not even a u that lies on its border."
_NONE_LEFT = (
    "rounding can leave even the last sum a little below u. Then no sum is larger than u, and the answer is the last "
    "token of positive probability."
)

EXERCISE = FunctionExercise(
    id="01.draw",
    writes="`draw(probs, u)`",
    contract="(V,) floats >= 0 that add up to 1 within 1e-6, 0 <= u < 1 → int: the smallest id whose cumulative sum "
    "(float64, in id order) is > u; if rounding leaves none, the last id with p > 0",
    difficulty="medium",
    minutes=10,
    hints=(
        "Imagine the probabilities laid end to end on a ruler, in the order of the ids. Each stretch ends at a "
        "running sum.",
        "Go through the running sums. The first one that is larger than u belongs to the token.",
        "Add up in float64 (`probs.double()` or `probs.tolist()`). And what if u is larger than even the last running "
        "sum?",
    ),
    reference=draw,
    cases=(
        Case("from-the-end", "the stretches were laid out from the other end. The stretch of token 0 begins at 0.",
             _FIVE,
             Recognises(1)),
        Case("off-by-one", "this is a neighbour of the right token. The token on which u falls is the first whose "
             "running sum is larger than u.", _FIVE, Recognises(any_of(2, 4))),
        Case("sorted-first", "the probabilities were sorted first. On the ruler they lie in the order of the ids.",
             _MIXED, Recognises(any_of(1, 3))),
        Case("u-not-used", "this token is by far the likeliest, but u falls on another one. Let u decide: take no "
             "argmax, and draw no random number yourself.", _RARE, Recognises(1)),
        Case("single-probability", "u was compared with each probability by itself. Compare it with the running sum, "
             "which says where each stretch ends.", _HAND, Recognises(2)),
        Case("by-hand", "draw the ruler by hand, mark the ends of the three stretches, and see where u falls.", _HAND,
             Equals(1)),
        Case("by-hand", "draw the ruler by hand, mark the ends of the stretches, and see where u falls.", _FIVE,
             Equals(3)),
        Case("not-an-int", "the id has to be a whole number: an int, or a tensor without axes that holds one.",
             _HAND, Holds(_is_int)),
        _asks("border", _BORDER, [0.25, 0.25, 0.5], 0.25, 1),
        _asks("border", _BORDER, [0.25, 0.25, 0.5], 0.5, 2),
        _asks("border", _BORDER, [0.5, 0.0, 0.0, 0.5], 0.5, 3),
        _asks("zero-probability", _ZERO, [0.0, 0.0, 0.5, 0.5], 0.0, 2),
        _asks("zero-probability", _ZERO, [0.0, 1.0, 0.0], 0.9, 1),
        _asks("none-left", _NONE_LEFT, [0.5, 0.4999992], 0.9999999, 1),
        _asks("last-positive", "no sum is larger than u here, and the last id has probability 0. The answer is the "
              "last token whose probability is positive.", [0.25, 0.7499992, 0.0, 0.0], 0.9999999, 1),
        _asks("one-token", "there is a single token, and every u falls on it. Look for a step that needs two tokens.",
              [1.0], 0.5, 0),
        Case("float32-sum", "in a long row a float32 sum drifts, and u falls on the wrong token. Convert the "
             "probabilities to float64 before you add them up.",
             Call(f"float32 probabilities `torch.tensor([3e-5] * 30000 + [0.1])` and u = {_FAR}",
                  args(_MANY, _FAR)), Equals(int((_MANY.cumsum() <= _FAR).sum())), error_is_typical=True),
    ),
)  # fmt: skip

"""Exercise 02.greedy."""

# The reference is shown to learners as they would write it, without types.
# mypy: allow-untyped-defs

import numpy as np

from course_utils.checker.answers import as_array
from course_utils.checker.exercise import Call, Case, Equals, FunctionExercise, Recognises
from course_utils.exercises.common.filters import INF, ranked
from course_utils.exercises.common.inputs import Rows, args, made, turned, turned_text


def greedy(logits):
    """The ids (...) of the largest of logits (..., V); of equal ones the lowest id."""
    return logits.argmax(dim=-1)  # of equal logits torch's argmax gives the first


def _ids(logits: Rows) -> np.ndarray:
    """The oracle, in plain Python."""
    logits = np.asarray(logits, dtype=np.float64)
    return np.reshape([ranked(row)[0] for row in logits.reshape(-1, logits.shape[-1]).tolist()], logits.shape[:-1])


def _given(logits: Rows, shown: str = "", dtype: str = "float32") -> Call:
    """A call with these logits. shown: what is said of them, where they are not written out."""
    return Call(shown or f"logits {logits}", args(logits, dtype=dtype))


def _asks(hint_id: str, hint: str, logits: Rows, shown: str = "", dtype: str = "float32") -> Case:
    """A case that asks for the ids."""
    return Case(hint_id, hint, _given(logits, shown, dtype), Equals(_ids(logits)), error_is_typical=True)


_ROW = [0.5, 2.5, 1.0, 2.0, -1.5]
_TWO = [[3.0, 0.0, 0.5, 1.0], [0.0, 1.0, 2.0, 9.0]]
_THREE_AXES = [[[1.0, 5.0], [0.0, 4.0]], [[9.0, 2.0], [8.0, 6.0]]]  # each axis gives ids of the same shape, but others
_THREE_ONES = np.isin(np.arange(600).reshape(2, 300), [37, 150, 299]).astype(float)
_SMALL_LEAD = np.where(np.arange(300) == 299, 1e-5, 0.0)
_BIG, _BIG_TEXT = made(5, 4, 40, by=7, modulo=800, minus=500, over=100)
_FOUR_AXES, _FOUR_AXES_TEXT = made(2, 1, 3, 3, by=5, modulo=7, minus=6)
_HOLES = [[[-1.0, -INF, -INF], [-INF, -INF, -5.0]], [[-INF, -2.0, -1.0], [-INF, 0.0, -INF]]]
_TURNED = [[[2.0, 1.0, 0.0], [0.0, 3.0, 1.0]], [[1.0, 2.0, 5.0], [4.0, 3.0, 1.0]]]
_HAND = Call("logits [0.5, 2.5, 1, 2, -1.5]", args(_ROW))

_ENDS = "the largest logit may be the first or the last of the row. Does the search reach both ends?"
_TIES = "of equal logits, the one with the lowest id counts."
_LONG_TIES = (
    "of equal logits, the one with the lowest id counts, in a long row as well. A sort that is not stable puts equal "
    "logits in any order."
)
_ROUNDED = (
    "logits that differ only a little are still different. Something in the code rounds them, or shifts them by their "
    "ids."
)
_OVERFLOW = (
    "the exponentials of large logits are all infinite, so the largest can no longer be found. Compare the logits "
    "themselves: they have the same order."
)
_MINUS_INF = (
    "a logit of -inf is smaller than every other. It keeps its place in the row, so do not replace it by 0 and do not "
    "leave it out."
)
_AXIS_LOST = "only the last axis disappears. An axis of length 1 before it stays."
_ANY_SIZE = (
    "small examples come out right and larger ones do not. Look for a size that is fixed in the code, or for a random "
    "number."
)

EXERCISE = FunctionExercise(
    id="02.greedy",
    writes="`greedy(logits)`",
    contract="(..., V) → ids (...); ties to the lowest id",
    difficulty="easy",
    minutes=6,
    hints=(
        "The answer is an id, which is the place of the largest logit, counted from 0.",
        "The last axis disappears, and every other axis stays.",
        "If two logits are equally large, take the first. Try [1, 3, 3, 0].",
    ),
    reference=greedy,
    cases=(
        Case("value-returned", "this is the largest logit. Return its id.", _HAND, Recognises(2.5)),
        Case("input-returned", "these are the logits that came in. Return one number, the id of the largest.",
             _HAND, Recognises(_ROW)),
        Case("one-hot", "this has a number for each token. Return one number, the id of one token.", _HAND,
             Recognises(lambda value: np.shape(value.tolist() if hasattr(value, "tolist") else value) == (5,))),
        Case("smallest", "this is the id of the smallest logit.", _HAND, Recognises(4)),
        Case("counted-from-one", "ids count from 0.", _HAND, Recognises(2)),
        Case("second", "this is the id of the second largest logit.", _HAND, Recognises(3)),
        Case("axis-of-one", "the id is right, but it has an axis of length 1. The last axis should disappear, so that "
             "the answer for one row is one number.", _HAND, Recognises([1])),
        Case("by-hand", "look for the largest of the five logits. Its place, counted from 0, is the id.", _HAND,
             Equals(1)),
        Case("other-call", "this is the id from an earlier call. Use only the argument. Nothing may be kept between "
             "calls, and no id may be fixed in the code.",
             Call("logits [0.5, 1, -1.5, 2.5, 2], after a call with others", args([0.5, 1.0, -1.5, 2.5, 2.0])),
             Recognises(1)),
        _asks("ends", _ENDS, [3.0, 1.0, 2.0]),
        _asks("ends", _ENDS, [1.0, 2.0, 3.0]),
        _asks("rounded", _ROUNDED, [0.2, 0.93, 0.7, 0.94]),
        _asks("rounded", _ROUNDED, [0.5, 0.50001]),
        _asks("rounded", _ROUNDED, [0.0, 0.0000005]),
        _asks("negative-logits", "all logits may be negative. A search that begins with 0 as the largest so far then "
              "finds nothing.", [-5.0, -2.0, -9.0]),
        _asks("overflow", _OVERFLOW, [100.0, 200.0]),
        _asks("overflow", _OVERFLOW, [0.0, 1000.0, 2000.0]),
        _asks("rounded", _ROUNDED, [1000.0, 1000.002]),
        _asks("negative-logits", "logits may lie far below 0, where all exponentials are 0. Begin a search with the "
              "first logit or with -inf.", [-30000.0, -20000.0]),
        _asks("ties", _TIES, [1.0, 3.0, 3.0, 0.0]),
        Case("flattened", "the whole tensor was searched as if it were one row. Each row has its own answer.",
             Call("rows [3, 0, 0.5, 1] and [0, 1, 2, 9]", args(_TWO)),
             Recognises(lambda value: as_array(value).shape == ())),
        Case("axis-kept", "an axis of length 1 is left where the vocabulary was. Return one id for each row.",
             Call("rows [3, 0, 0.5, 1] and [0, 1, 2, 9]", args(_TWO)),
             Recognises(lambda value: as_array(value).shape == (2, 1))),
        _asks("other-axis", "search each row along the last axis, which is the vocabulary.", _TWO,
              shown="rows [3, 0, 0.5, 1] and [0, 1, 2, 9]"),
        _asks("other-axis", "search each row along the last axis, even where there are as many rows as tokens.",
              [[1.0, 5.0], [0.0, 4.0]]),
        _asks("last-axis", "with three axes, (B, T, V), the vocabulary is still the last axis. Count axes from the "
              "end.",
              _THREE_AXES),
        _asks("ties", _TIES, [[1.0, 3.0, 3.0, 0.0], [2.0, 2.0, 2.0, 2.0]]),
        _asks("minus-inf", _MINUS_INF, [-INF, -3.0, -INF, -1.0]),
        _asks("minus-inf", _MINUS_INF, _HOLES),
        _asks("axis-lost", _AXIS_LOST, [[1.0, 2.0, 0.0]]),
        _asks("axis-lost", _AXIS_LOST, [[4.0], [7.0]]),
        _asks("axis-lost", _AXIS_LOST, [5.0]),
        _asks("any-size", _ANY_SIZE, _BIG, shown=f"logits {_BIG_TEXT}"),
        _asks("any-size", _ANY_SIZE, _FOUR_AXES, shown=f"logits {_FOUR_AXES_TEXT}"),
        _asks("long-ties", _LONG_TIES, np.zeros(80), shown="logits torch.zeros(80)"),
        _asks("long-ties", _LONG_TIES, _THREE_ONES,
              shown="logits of the shape (2, 300), in the first row 1 at the ids 37, 150 and 299 and 0 elsewhere, the "
              "second row all 0"),
        _asks("rounded", _ROUNDED, _SMALL_LEAD, shown="300 logits: 0, and the last one 0.00001"),
        _asks("float64", "the logits are float64 here. Give the tensors that you make the same dtype, because with "
              "less precision unequal logits become equal.", [-2000.2, -2000.1, -2000.4], dtype="float64",
              shown="float64 logits [-2000.2, -2000.1, -2000.4]"),
        Case("any-layout", "the numbers of this tensor lie in memory in another order, as they do after a transpose. "
             "`reshape` works there, and `view` does not.",
             Call(f"logits {turned_text(_TURNED)}", turned(_TURNED)), Equals(_ids(_TURNED)),
             error_is_typical=True),
    ),
)  # fmt: skip

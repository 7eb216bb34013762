"""Exercise 01.last_logits."""

# The reference is shown to learners as they would write it, without types.
# mypy: allow-untyped-defs

import math

import numpy as np

from course_utils.checker.exercise import Call, Case, Equals, FunctionExercise, Recognises
from course_utils.exercises.common.hints import EARLIER_CALL, NOT_CONTIGUOUS
from course_utils.exercises.common.inputs import Rows, tensor, transposed, written
from course_utils.exercises.common.recognisers import any_of, shaped


def last_logits(logits, lengths):
    """Of logits (B, T, V), the (B, V) at the last valid position of each row; lengths: (B,), at least 1."""
    rows = range(len(lengths))
    return logits[list(rows), lengths - 1]  # row b, position lengths[b] - 1


INF = float("inf")

_LOGITS = np.array(
    [
        [[1.0, -2.0, 0.5], [0.3, -1.0, 4.0], [9.0, 8.0, 7.0]],
        [[2.0, 0.1, -0.4], [-3.0, 1.5, 2.5], [0.7, -0.6, 5.0]],
    ]
)
_VALID = [_LOGITS[0, :2], _LOGITS[1, :1]]
_LAST = _LOGITS[[0, 1], [1, 0]]
_PROBS = np.exp(_LAST) / np.exp(_LAST).sum(axis=-1, keepdims=True)
_HIDDEN = [[[1.0, -INF], [2.0, 3.0]], [[4.0, 5.0], [-INF, 0.0]]]


def _last(logits: Rows, lengths: list[int]) -> list:
    """The oracle: row by row, in plain Python."""
    return [row[length - 1].tolist() for row, length in zip(np.asarray(logits), lengths, strict=True)]


def _given(logits: Rows, lengths: list[int], shown: str = "", dtype: str = "float32") -> Call:
    """A call with these arguments. shown: what is shown of the logits, where they are not written out."""
    shows = f"logits {shown or written(np.asarray(logits).tolist())}, lengths {lengths}"
    return Call(shows, lambda: (tensor(logits, dtype), tensor(lengths, "int64")))


def _numbered(
    hint_id: str,
    hint: str,
    shape: tuple[int, int, int],
    lengths: list[int],
    minus: int = 0,
    over: int = 1,
    shown: str = "",
) -> Case:
    """A case in which every logit is another one, made by a formula. shown: the whole call, in other words."""
    size = math.prod(shape)
    made = f"torch.arange({size}.0)" + (f" / {over}" if over != 1 else "")
    made = f"`({made} - {minus}).reshape{shape}`" if minus else f"`{made}.reshape{shape}`"
    logits = (np.arange(size) / over - minus).reshape(shape)
    call = _given(logits, lengths, made)
    return Case(
        hint_id, hint, Call(shown or call.shows, call.args), Equals(_last(logits, lengths)), error_is_typical=True
    )


_HAND = _given(_LOGITS, [2, 1])
_ANY_BATCH = ("two rows come out right and another batch does not. There may be any number of rows, each of any "
              "length from 1 to T, and several may have the same length.")  # fmt: skip
_ANY_SIZE = ("small tensors come out right and a larger one does not. Look for a size or a limit that is fixed in the "
             "code.")  # fmt: skip

EXERCISE = FunctionExercise(
    id="01.last_logits",
    writes="`last_logits(logits, lengths)`",
    contract="(B, T, V), (B,) → (B, V): last valid position of right-padded rows",
    difficulty="hard",
    minutes=10,
    hints=(
        "A row of length 1 has one valid position, number 0. So what number has the last valid position of a row of "
        "length n?",
        "Each row needs its own position. Indexing with two tensors of the same length picks one element for each "
        "pair of their entries.",
        "`logits[rows, positions]` with rows = 0, 1, ... and positions = lengths - 1 has the shape (B, V).",
    ),
    reference=last_logits,
    cases=(
        Case("last-column", "this is the last position of every row. In a short row that position holds padding.",
             _HAND,
             Recognises(_LOGITS[:, -1])),
        Case("earlier-call", EARLIER_CALL, _HAND, Recognises(shaped(4, 3))),
        Case("off-by-one", "this is the position after the last valid one. Positions count from 0.", _HAND,
             Recognises(_LOGITS[[0, 1], [2, 1]])),
        Case("one-length", "the same position was taken in every row. Each row has its own length.", _HAND,
             Recognises(any_of(_LOGITS[:, 0], _LOGITS[:, 1]))),
        Case("every-pair", "every row was combined with every length. Take one position from each row: index with the "
             "rows and the positions together.", _HAND, Recognises(shaped(2, 2, 3))),
        Case("axis-kept", "an axis of length 1 is left where the positions were. The answer should have the shape (B, "
             "V).", _HAND,
             Recognises(shaped(2, 1, 3))),
        Case("pooled", "this mixes the logits of several positions. Only the last valid position scores the next "
             "token.", _HAND,
             Recognises(any_of([row.mean(0) for row in _VALID], [row.sum(0) for row in _VALID],
                               [row.sum(0) / 3 for row in _VALID], [row.max(0) for row in _VALID]))),
        Case("not-logits", "this comes from the right positions, but the logits were changed. Return them as they are.",
             _HAND,
             Recognises(any_of(_PROBS, np.log(_PROBS), _LAST.argmax(axis=-1), _LAST.max(axis=-1)))),
        Case("by-hand", "look at each row by itself. How many of its positions are valid, and which is the last one?",
             _HAND, Equals(_LAST)),
        Case("earlier-call", EARLIER_CALL,
             Call("the same logits, each plus 10, and the same lengths, in a second call",
                  _given(_LOGITS + 10, [2, 1]).args), Recognises(_LAST)),
        _numbered("any-batch", _ANY_BATCH, (4, 6, 5), [3, 6, 1, 3], minus=8, over=7),
        _numbered("any-batch", _ANY_BATCH, (5, 3, 2), [1, 3, 2, 2, 3]),
        _numbered("any-batch", _ANY_BATCH, (3, 3, 3), [3, 1, 2]),
        Case("batch-of-one", "a batch of one row is still a batch: the answer keeps the axis B.",
             _given(_LOGITS[:1], [2]), Equals(_last(_LOGITS[:1], [2])), error_is_typical=True),
        Case("one-position", "these rows have a single position (T = 1). The answer still has the shape (B, V).",
             _given(_LOGITS[:, :1], [1, 1]), Equals(_last(_LOGITS[:, :1], [1, 1])), error_is_typical=True),
        Case("one-token", "there is only one token to choose from (V = 1). The answer keeps the axis V, so its shape "
             "is (B, 1).",
             _given(_LOGITS[:, :, :1], [3, 2]), Equals(_last(_LOGITS[:, :, :1], [3, 2])), error_is_typical=True),
        Case("masked-sum", "a logit may be -inf, and 0 times -inf is not a number. So multiplying by a mask does not "
             "hide a position. Pick the position instead of adding up all of them.", _given(_HIDDEN, [2, 1]),
             Equals(_last(_HIDDEN, [2, 1]))),
        Case("minus-inf", "a logit of -inf says that this token never comes. It belongs to the answer as it is: leave "
             "it -inf.", _given([[[1.0, -INF, 2.0], [0.0, 0.0, 0.0]]], [1]),
             Equals(_last([[[1.0, -INF, 2.0], [0.0, 0.0, 0.0]]], [1])), error_is_typical=True),
        Case("float64", "the logits are float64 here. A tensor that you make is float32 unless you say otherwise, and "
             "the two do not always mix. Give it the dtype of the logits.",
             _given(_LOGITS, [2, 1], f"{written(_LOGITS.tolist())} in float64", "float64"),
             Equals(_last(_LOGITS, [2, 1])), error_is_typical=True),
        Case("not-contiguous", NOT_CONTIGUOUS,
             Call("logits `torch.arange(12.0).reshape(3, 2, 2).transpose(0, 1)`, lengths [2, 3]",
                  lambda: (transposed(np.arange(12.0).reshape(3, 2, 2).swapaxes(0, 1)), tensor([2, 3], "int64"))),
             Equals([[4.0, 5.0], [10.0, 11.0]]), error_is_typical=True),
        _numbered("any-size", _ANY_SIZE, (3, 300, 2), [300, 1, 257], minus=900),
        _numbered("any-size", _ANY_SIZE, (2, 2, 300), [1, 2], minus=600),
        _numbered("any-size", _ANY_SIZE, (100, 2, 2), [1 + row % 2 for row in range(100)],
                  shown="logits `torch.arange(400.0).reshape(100, 2, 2)`, lengths `torch.arange(100) % 2 + 1`"),
    ),
)  # fmt: skip

"""The cases of 01.last_logits."""

import numpy as np

from course_utils.exercises.inputs import tensor, transposed
from course_utils.exercises.shared_cases import EARLIER_CALL, NOT_CONTIGUOUS, any_of, shaped, written
from course_utils.judging import Case

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


def _with(logits, lengths, shows=None, dtype="float32") -> dict:
    """A call with these arguments, and what must come back: row by row, in plain Python."""
    logits = np.asarray(logits)
    return {
        "shows": f"logits {shows or written(logits.tolist())}, lengths {lengths}",
        "args": lambda: (tensor(logits, dtype), tensor(lengths, "int64")),
        "want": [row[length - 1].tolist() for row, length in zip(logits, lengths, strict=True)],
    }


def _range(*shape, divided_by=1, minus=0) -> dict:
    """Every logit another one, and a formula that makes them."""
    size = int(np.prod(shape))
    made = f"torch.arange({size}.0)" + (f" / {divided_by}" if divided_by != 1 else "")
    made = f"`({made} - {minus}).reshape{shape}`" if minus else f"`{made}.reshape{shape}`"
    return {"logits": (np.arange(size) / divided_by - minus).reshape(shape), "shows": made}


_HAND = {key: value for key, value in _with(_LOGITS, [2, 1]).items() if key != "want"}
_ANY_BATCH = ("two rows come out right and another batch does not. A row may have any length from 1 to T, several may "
              "have the same, and there may be any number of rows.")  # fmt: skip
_ANY_SIZE = ("small tensors come out right and a larger one does not. Look for a size or a limit that is written into "
             "the code.")  # fmt: skip

LAST_CASES = (
    Case("last-column", "this is the last position of every row. In a short row padding stands there.", **_HAND,
         wrong=_LOGITS[:, -1]),
    Case("earlier-call", EARLIER_CALL, **_HAND, wrong=shaped(4, 3)),
    Case("off-by-one", "this is the position after the last valid one. Positions count from 0.", **_HAND,
         wrong=_LOGITS[[0, 1], [2, 1]]),
    Case("one-length", "the same position was taken in every row. Each row has its own length.", **_HAND,
         wrong=any_of(_LOGITS[:, 0], _LOGITS[:, 1])),
    Case("every-pair", "every row was combined with every length. One position for each row is asked for: index "
         "rows and positions together.", **_HAND, wrong=shaped(2, 2, 3)),
    Case("axis-kept", "an axis of length 1 is left where the positions were. Asked for is (B, V).", **_HAND,
         wrong=shaped(2, 1, 3)),
    Case("pooled", "this mixes several positions. Only the last valid one decides the next token.", **_HAND,
         wrong=any_of([row.mean(0) for row in _VALID], [row.sum(0) for row in _VALID],
                      [row.sum(0) / 3 for row in _VALID], [row.max(0) for row in _VALID])),
    Case("not-logits", "this was made from the right positions, and is no longer their logits. Asked for are the "
         "logits as they are.", **_HAND,
         wrong=any_of(_PROBS, np.log(_PROBS), _LAST.argmax(axis=-1), _LAST.max(axis=-1))),
    Case("by-hand", "take each row by itself: how many of its positions are valid, and which is the last of them?",
         **_HAND, want=_LAST),
    Case("earlier-call", EARLIER_CALL, "the same logits, each plus 10, and the same lengths, in a second call",
         _with(_LOGITS + 10, [2, 1])["args"], wrong=_LAST),
    Case("any-batch", _ANY_BATCH, **_with(lengths=[3, 6, 1, 3], **_range(4, 6, 5, divided_by=7, minus=8)),
         error_is_typical=True),
    Case("any-batch", _ANY_BATCH, **_with(lengths=[1, 3, 2, 2, 3], **_range(5, 3, 2)), error_is_typical=True),
    Case("any-batch", _ANY_BATCH, **_with(lengths=[3, 1, 2], **_range(3, 3, 3)), error_is_typical=True),
    Case("batch-of-one", "a batch of one row is still a batch: the answer keeps the axis B.",
         **_with(_LOGITS[:1], [2]), error_is_typical=True),
    Case("one-position", "rows of one position (T = 1) are rows all the same: the answer is (B, V).",
         **_with(_LOGITS[:, :1], [1, 1]), error_is_typical=True),
    Case("one-token", "with one token to choose from (V = 1) the answer keeps the axis V: it is (B, 1).",
         **_with(_LOGITS[:, :, :1], [3, 2]), error_is_typical=True),
    Case("masked-sum", "0 times -inf is not a number, and a logit may be -inf: a mask that multiplies does not hide a "
         "position. Pick a position instead of adding up all.", **_with(_HIDDEN, [2, 1])),
    Case("minus-inf", "a logit of -inf says that this token never comes. It is part of the answer as it is: -inf, and "
         "no other number.", **_with([[[1.0, -INF, 2.0], [0.0, 0.0, 0.0]]], [1]), error_is_typical=True),
    Case("float64", "logits may come as float64, and a tensor that you make is float32 unless you say otherwise: the "
         "two do not always mix. Give it the dtype of the logits.",
         **_with(_LOGITS, [2, 1], f"{written(_LOGITS.tolist())} in float64", "float64"), error_is_typical=True),
    Case("not-contiguous", NOT_CONTIGUOUS,
         "logits `torch.arange(12.0).reshape(3, 2, 2).transpose(0, 1)`, lengths [2, 3]",
         lambda: (transposed(np.arange(12.0).reshape(3, 2, 2).swapaxes(0, 1)), tensor([2, 3], "int64")),
         want=[[4.0, 5.0], [10.0, 11.0]], error_is_typical=True),
    Case("any-size", _ANY_SIZE, **_with(lengths=[300, 1, 257], **_range(3, 300, 2, minus=900)), error_is_typical=True),
    Case("any-size", _ANY_SIZE, **_with(lengths=[1, 2], **_range(2, 2, 300, minus=600)), error_is_typical=True),
    Case("any-size", _ANY_SIZE, **_with(lengths=[1 + row % 2 for row in range(100)], **_range(100, 2, 2)) |
         {"shows": "logits `torch.arange(400.0).reshape(100, 2, 2)`, lengths `torch.arange(100) % 2 + 1`"},
         error_is_typical=True),
)  # fmt: skip

"""The cases of 01.softmax."""

import numpy as np

from course_utils.exercises.inputs import args, transposed
from course_utils.exercises.shared_cases import EARLIER_CALL, NOT_CONTIGUOUS, any_of, shaped, written
from course_utils.judging import Case

INF = float("inf")


def _softmax(logits) -> np.ndarray:
    """The oracle, in plain numpy and float64."""
    logits = np.asarray(logits, dtype=np.float64)
    weights = np.exp(logits - logits.max(axis=-1, keepdims=True))
    return weights / weights.sum(axis=-1, keepdims=True)


def _with(logits, shows=None, dtype="float32") -> dict:
    """A call with these logits, and what must come back. shows: where they are too many to be written out."""
    return {"shows": f"logits {shows or written(logits)}", "args": args(logits, dtype=dtype), "want": _softmax(logits)}


def _wrong(logits, wrong) -> dict:
    return {"shows": f"logits {written(logits)}", "args": args(logits), "wrong": wrong}


_ROW = [2.0, 1.0, 0.0]
_UNORDERED = [1.0, 0.0, 3.0, 2.0]
_ROWS = [[2.0, 1.0, 0.0], [0.0, 3.0, 1.0]]
_CUBE = [[[1.0, 2.0, 3.0], [0.0, -1.0, 0.5]], [[2.0, 2.0, 0.0], [-3.0, 1.0, 4.0]]]
_LARGE_SMALL = [[1000.0, 999.0], [0.0, 1.0]]
_COARSE = 1e-3  # near 1000, float32 numbers lie 6e-5 apart
_TURNED = (np.arange(12) % 5).reshape(2, 2, 3).swapaxes(0, 1)
_WIDE = (np.arange(108) % 11 / 3 - 2).reshape(4, 3, 9)
_LONG = np.arange(300) % 37 / 7
_MANY = (np.arange(300) % 13 / 5).reshape(100, 3)
_EXP = np.exp(_ROW)

_OTHER_AXIS = "each row is a distribution of its own: sum over the last axis, and keep that axis for the division."
_LAST_AXIS = ("with three axes, (B, T, V), or more, the distribution still lies along the last one. Count axes from "
              "the end.")  # fmt: skip
_ONE_TOKEN = "with one token to choose from (V = 1) its probability is 1, and the answer keeps the shape of the logits."
_OVERFLOW = ("the exponential of 1000 is infinite in floating point. Subtract the largest logit first: a constant "
             "cancels in softmax.")  # fmt: skip
_ONE_MAXIMUM = ("the largest logit of several rows was subtracted from each, so another row has become all zeros. Each "
                "row needs its own.")  # fmt: skip
_MINUS_INF = "a logit of -inf means: never. Its probability is 0, and the others share the whole."
_ANY_SIZE = ("small examples come out right and a larger tensor does not. Look for a size or a limit that is written "
             "into the code.")  # fmt: skip

SOFTMAX_CASES = (
    Case("no-exponential", "the logits themselves were divided by their sum. Softmax takes the exponential of "
         "each logit first, and logits may be negative.", **_wrong(_ROW, [2 / 3, 1 / 3, 0.0])),
    Case("earlier-call", EARLIER_CALL, **_wrong(_ROW, shaped(6))),
    Case("not-normalised", "these are exponentials that have not been divided by their sum.",
         **_wrong(_ROW, any_of(_EXP, _EXP / _EXP.max()))),
    Case("log-probabilities", "these are logarithms of probabilities. Probabilities lie between 0 and 1.",
         **_wrong(_ROW, np.log(_softmax(_ROW)))),
    Case("input-returned", "these are the logits that came in.", **_wrong(_ROW, _ROW)),
    Case("sorted-order", "the probabilities are right and stand in another order. Each belongs where its logit stood.",
         **_wrong(_UNORDERED, any_of(np.sort(_softmax(_UNORDERED)), np.sort(_softmax(_UNORDERED))[::-1]))),
    Case("by-hand", "take the row by hand: the exponential of each logit, then each divided by the sum of all.",
         **_with(_ROW)),
    Case("earlier-call", EARLIER_CALL, "logits [0.5, 3, 1], after a call with [2, 1, 0]",
         args([0.5, 3.0, 1.0]), wrong=_softmax(_ROW)),
    Case("close-logits", "logits that lie close together have different probabilities all the same: they are not "
         "rounded, and no fraction is cut off.", **_with([1.0004, 1.0, 0.9993])),
    Case("negative-logits", "a logit may be negative. Its exponential is small and positive: keep the sign.",
         **_with([-1.0, 0.5, -2.0])),
    Case("small-probability", "a small probability is not 0. Nothing but -inf means never, and no logit is so far "
         "below the largest that it is left out.", **_with([0.0, -8.0, -11.0])),
    Case("whole-tensor", "all rows were put into one sum. Each row is a distribution of its own.",
         **_wrong(_ROWS, np.exp(_ROWS) / np.exp(_ROWS).sum())),
    Case("other-axis", _OTHER_AXIS, **_with(_ROWS), error_is_typical=True),
    Case("other-axis", _OTHER_AXIS, **_with([[2.0, 1.0], [0.0, 3.0]]), error_is_typical=True),
    Case("batch-of-one", "a batch of one row is still a batch: the answer has the shape of the logits.",
         **_with([[2.0, 1.0, 0.0]]), error_is_typical=True),
    Case("last-axis", _LAST_AXIS, **_with(_CUBE), error_is_typical=True),
    Case("last-axis", _LAST_AXIS, **_with([_ROWS]), error_is_typical=True),
    Case("last-axis", _LAST_AXIS, **_with([[_ROWS], [_ROWS[::-1]]]), error_is_typical=True),
    Case("one-token", _ONE_TOKEN, **_with([[3.0], [-1.0]]), error_is_typical=True),
    Case("one-token", _ONE_TOKEN, **_with([5.0]), error_is_typical=True),
    Case("overflow", _OVERFLOW, **_with([1000.0, 999.0]), atol=_COARSE, error_is_typical=True),
    Case("underflow", "the exponential of -1000 is 0 in floating point, and 0 / 0 is not a number. Subtract the "
         "largest logit always, not only when it is large.", **_with([-1000.0, -1001.0]), atol=_COARSE,
         error_is_typical=True),
    Case("one-maximum", _ONE_MAXIMUM, **_with(_LARGE_SMALL), atol=_COARSE),
    Case("one-maximum", _ONE_MAXIMUM, **_with([_LARGE_SMALL, [[-1000.0, -999.0], [5.0, 4.0]]]), atol=_COARSE),
    Case("minus-inf", _MINUS_INF, **_with([0.0, -INF, 1.0]), error_is_typical=True),
    Case("minus-inf", _MINUS_INF, **_with([[0.0, -INF, 1.0], [-INF, 2.0, 0.0]]), error_is_typical=True),
    Case("minus-inf", _MINUS_INF, **_with([-INF, -200.0]), error_is_typical=True),
    Case("minus-inf", _MINUS_INF, **_with([-100000.0, -INF]), error_is_typical=True),
    Case("large-and-far", "logits may be as large and lie as far apart as they like. They are not cut at a limit: only "
         "their differences count.", **_with([100000.0, 99000.0, -100000.0])),
    Case("float64", "logits may come as float64, and a tensor that you make is float32 unless you say otherwise: the "
         "two do not always mix. Give it the dtype of the logits.",
         **_with(_ROW, "[2, 1, 0] in float64", "float64"), error_is_typical=True),
    Case("not-contiguous", NOT_CONTIGUOUS,
         "logits `(torch.arange(12.0) % 5).reshape(2, 2, 3).transpose(0, 1)`", lambda: (transposed(_TURNED),),
         want=_softmax(_TURNED), error_is_typical=True),
    Case("any-size", _ANY_SIZE, **_with(_WIDE, "`(torch.arange(108.0) % 11 / 3 - 2).reshape(4, 3, 9)`"),
         error_is_typical=True),
    Case("any-size", _ANY_SIZE, **_with(_LONG, "`torch.arange(300.0) % 37 / 7`"), error_is_typical=True),
    Case("any-size", _ANY_SIZE, **_with(_MANY, "`(torch.arange(300.0) % 13 / 5).reshape(100, 3)`"),
         error_is_typical=True),
)  # fmt: skip

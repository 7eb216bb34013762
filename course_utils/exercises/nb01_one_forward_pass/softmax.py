"""Exercise 01.softmax."""

# The reference is shown to learners as they would write it, without types.
# mypy: allow-untyped-defs

import numpy as np

from course_utils.checker.exercise import Call, Case, Equals, FunctionExercise, Recognises
from course_utils.exercises.common.hints import EARLIER_CALL, NOT_CONTIGUOUS
from course_utils.exercises.common.inputs import Rows, args, transposed, written
from course_utils.exercises.common.recognisers import any_of, shaped


def softmax(logits):
    """The probabilities (..., V) of logits (..., V), along the last axis."""
    shifted = logits - logits.max(dim=-1, keepdim=True).values  # the largest becomes 0: nothing overflows
    weights = shifted.exp()
    return weights / weights.sum(dim=-1, keepdim=True)


INF = float("inf")


def _softmax(logits: Rows) -> np.ndarray:
    """The oracle, in plain numpy and float64."""
    logits = np.asarray(logits, dtype=np.float64)
    weights = np.exp(logits - logits.max(axis=-1, keepdims=True))
    return weights / weights.sum(axis=-1, keepdims=True)


def _given(logits: Rows, shown: str = "", dtype: str = "float32") -> Call:
    """A call with these logits. shown: a formula for them, where they are too many to be written out."""
    return Call(f"logits {shown or written(logits)}", args(logits, dtype=dtype))


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

_OTHER_AXIS = "each row is a separate distribution. Sum over the last axis, and keep that axis for the division."
_LAST_AXIS = ("with three axes, (B, T, V), or more, each distribution still lies along the last axis. Count axes from "
              "the end.")  # fmt: skip
_ONE_TOKEN = (
    "there is only one token to choose from (V = 1). Its probability is 1, and the answer keeps the shape of the "
    "logits."
)
_OVERFLOW = ("in floating point the exponential of 1000 is infinite. Subtract the largest logit first: this changes "
             "no probability.")  # fmt: skip
_ONE_MAXIMUM = ("one largest logit was subtracted from several rows, and the exponentials of another row became 0. "
                "Subtract each row's own largest logit.")  # fmt: skip
_MINUS_INF = (
    "a logit of -inf means that the token never comes. Its probability is 0, and the other tokens share the whole "
    "probability of 1."
)
_ANY_SIZE = ("small examples come out right and a larger tensor does not. Look for a size or a limit that is fixed in "
             "the code.")  # fmt: skip

EXERCISE = FunctionExercise(
    id="01.softmax",
    writes="`softmax(logits)`",
    contract="(..., V) → probs over the last axis; large logits don't overflow; -inf → 0",
    difficulty="easy",
    minutes=8,
    hints=(
        "Take the exponential of each logit first. Then divide by the sum of the exponentials.",
        "`dim=-1` is the last axis for any number of axes, and `keepdim=True` keeps it for the division.",
        "Adding the same number to every logit of a row changes nothing. So you may subtract the row's largest logit "
        "before you take exponentials.",
    ),
    reference=softmax,
    cases=(
        Case("no-exponential", "the logits themselves were divided by their sum. Softmax takes the exponential of each "
             "logit first, and logits may be negative.", _given(_ROW), Recognises([2 / 3, 1 / 3, 0.0])),
        Case("earlier-call", EARLIER_CALL, _given(_ROW), Recognises(shaped(6))),
        Case("not-normalised", "these are exponentials that have not been divided by their sum.", _given(_ROW),
             Recognises(any_of(_EXP, _EXP / _EXP.max()))),
        Case("log-probabilities", "these are logarithms of probabilities. Probabilities lie between 0 and 1.",
             _given(_ROW), Recognises(np.log(_softmax(_ROW)))),
        Case("input-returned", "these are the logits that came in.", _given(_ROW), Recognises(_ROW)),
        Case("sorted-order", "the probabilities are right but in another order. Put each one where its logit stood.",
             _given(_UNORDERED),
             Recognises(any_of(np.sort(_softmax(_UNORDERED)), np.sort(_softmax(_UNORDERED))[::-1]))),
        Case("by-hand", "work out the row by hand: take the exponential of each logit, then divide each by the sum of "
             "all.",
             _given(_ROW), Equals(_softmax(_ROW))),
        Case("earlier-call", EARLIER_CALL,
             Call("logits [0.5, 3, 1], after a call with [2, 1, 0]", args([0.5, 3.0, 1.0])),
             Recognises(_softmax(_ROW))),
        Case("close-logits", "these logits lie close together, but their probabilities still differ. Do not round "
             "them, and do not cut off fractions.", _given([1.0004, 1.0, 0.9993]),
             Equals(_softmax([1.0004, 1.0, 0.9993]))),
        Case("negative-logits", "a logit may be negative. Keep its sign: its exponential is then a small positive "
             "number.",
             _given([-1.0, 0.5, -2.0]), Equals(_softmax([-1.0, 0.5, -2.0]))),
        Case("small-probability", 'a small probability is not 0. Only a logit of -inf means "never". Leave out no '
             "other logit, however far below the largest it lies.", _given([0.0, -8.0, -11.0]),
             Equals(_softmax([0.0, -8.0, -11.0]))),
        Case("whole-tensor", "all rows were added up in one sum. Each row is a separate distribution, with its own "
             "sum.", _given(_ROWS),
             Recognises(np.exp(_ROWS) / np.exp(_ROWS).sum())),
        Case("other-axis", _OTHER_AXIS, _given(_ROWS), Equals(_softmax(_ROWS)), error_is_typical=True),
        Case("other-axis", _OTHER_AXIS, _given([[2.0, 1.0], [0.0, 3.0]]), Equals(_softmax([[2.0, 1.0], [0.0, 3.0]])),
             error_is_typical=True),
        Case("batch-of-one", "a batch of one row is still a batch: the answer has the shape of the logits.",
             _given([[2.0, 1.0, 0.0]]), Equals(_softmax([[2.0, 1.0, 0.0]])), error_is_typical=True),
        Case("last-axis", _LAST_AXIS, _given(_CUBE), Equals(_softmax(_CUBE)), error_is_typical=True),
        Case("last-axis", _LAST_AXIS, _given([_ROWS]), Equals(_softmax([_ROWS])), error_is_typical=True),
        Case("last-axis", _LAST_AXIS, _given([[_ROWS], [_ROWS[::-1]]]), Equals(_softmax([[_ROWS], [_ROWS[::-1]]])),
             error_is_typical=True),
        Case("one-token", _ONE_TOKEN, _given([[3.0], [-1.0]]), Equals(_softmax([[3.0], [-1.0]])),
             error_is_typical=True),
        Case("one-token", _ONE_TOKEN, _given([5.0]), Equals(_softmax([5.0])), error_is_typical=True),
        Case("overflow", _OVERFLOW, _given([1000.0, 999.0]), Equals(_softmax([1000.0, 999.0]), atol=_COARSE),
             error_is_typical=True),
        Case("underflow", "in floating point the exponential of -1000 is 0, and 0 / 0 is not a number. Always "
             "subtract the largest logit, not only when it is large.", _given([-1000.0, -1001.0]),
             Equals(_softmax([-1000.0, -1001.0]), atol=_COARSE), error_is_typical=True),
        Case("one-maximum", _ONE_MAXIMUM, _given(_LARGE_SMALL), Equals(_softmax(_LARGE_SMALL), atol=_COARSE)),
        Case("one-maximum", _ONE_MAXIMUM, _given([_LARGE_SMALL, [[-1000.0, -999.0], [5.0, 4.0]]]),
             Equals(_softmax([_LARGE_SMALL, [[-1000.0, -999.0], [5.0, 4.0]]]), atol=_COARSE)),
        Case("minus-inf", _MINUS_INF, _given([0.0, -INF, 1.0]), Equals(_softmax([0.0, -INF, 1.0])),
             error_is_typical=True),
        Case("minus-inf", _MINUS_INF, _given([[0.0, -INF, 1.0], [-INF, 2.0, 0.0]]),
             Equals(_softmax([[0.0, -INF, 1.0], [-INF, 2.0, 0.0]])), error_is_typical=True),
        Case("minus-inf", _MINUS_INF, _given([-INF, -200.0]), Equals(_softmax([-INF, -200.0])), error_is_typical=True),
        Case("minus-inf", _MINUS_INF, _given([-100000.0, -INF]), Equals(_softmax([-100000.0, -INF])),
             error_is_typical=True),
        Case("large-and-far", "logits may be very large and lie very far apart. Do not limit them: only the "
             "differences between them count.", _given([100000.0, 99000.0, -100000.0]),
             Equals(_softmax([100000.0, 99000.0, -100000.0]))),
        Case("float64", "the logits are float64 here. A tensor that you make is float32 unless you say otherwise, and "
             "the two do not always mix. Give it the dtype of the logits.",
             _given(_ROW, "[2, 1, 0] in float64", "float64"), Equals(_softmax(_ROW)), error_is_typical=True),
        Case("not-contiguous", NOT_CONTIGUOUS,
             Call("logits `(torch.arange(12.0) % 5).reshape(2, 2, 3).transpose(0, 1)`", lambda: (transposed(_TURNED),)),
             Equals(_softmax(_TURNED)), error_is_typical=True),
        Case("any-size", _ANY_SIZE, _given(_WIDE, "`(torch.arange(108.0) % 11 / 3 - 2).reshape(4, 3, 9)`"),
             Equals(_softmax(_WIDE)), error_is_typical=True),
        Case("any-size", _ANY_SIZE, _given(_LONG, "`torch.arange(300.0) % 37 / 7`"), Equals(_softmax(_LONG)),
             error_is_typical=True),
        Case("any-size", _ANY_SIZE, _given(_MANY, "`(torch.arange(300.0) % 13 / 5).reshape(100, 3)`"),
             Equals(_softmax(_MANY)), error_is_typical=True),
    ),
)  # fmt: skip

"""Exercise 01.counts_to_logits."""

# The reference is shown to learners as they would write it, without types.
# mypy: allow-untyped-defs

import numpy as np

from course_utils.checker.exercise import Call, Case, Equals, FunctionExercise, Recognises
from course_utils.exercises.common.hints import EARLIER_CALL, NOT_CONTIGUOUS
from course_utils.exercises.common.inputs import Rows, args, transposed
from course_utils.exercises.common.recognisers import any_of, shaped


def counts_to_logits(counts):
    """The log-probabilities (V, V) of counts (V, V); the rows are the previous tokens."""
    counts = counts.double()  # exact for large counts and for tiny shares
    shares = counts / counts.sum(dim=1, keepdim=True)  # each row by its own sum
    return shares.log()  # the logarithm of 0 is -inf


def _log_shares(counts: Rows) -> np.ndarray:
    """The oracle, in plain numpy and float64."""
    counts = np.asarray(counts, dtype=np.float64)
    with np.errstate(divide="ignore"):  # the logarithm of 0 is -inf, and that is meant
        return np.log(counts) - np.log(counts.sum(axis=1, keepdims=True))


_COUNTS = np.array([[1, 3], [4, 4]])
_OTHER = np.array([[6, 2], [3, 1]])
_EQUAL = np.array([[1, 3], [3, 1]])
_THREE = np.array([[1, 2, 5], [4, 4, 2], [3, 6, 1]])
_ZEROS = np.array([[0, 4, 4], [2, 0, 6], [5, 3, 0]])
_SURE = np.array([[90, 0], [0, 90]])
_RARE = np.array([[1, 9_999_999], [1, 1]])  # float32 holds both, and their sum
_RARER = np.array([[1, 10**12], [1, 1]])
_HUGE = np.array([[3 * 10**9, 4 * 10**9], [300, 500]])  # beyond int32, and beyond int8 and uint8
_FIVE = np.array([[9, 0, 3, 2, 6], [1, 1, 0, 7, 1], [0, 0, 40, 2, 8], [5, 5, 5, 5, 5], [100, 20, 3, 0, 77]])
_SEVENTY = (np.arange(70 * 70) % 11).reshape(70, 70)

_SHARES = np.exp(_log_shares(_COUNTS))
_HAND = Call("counts [[1.0, 3.0], [4.0, 4.0]]", args(_COUNTS))
_ANY_SIZE = ("small tables come out right and a larger one does not. Look for a size or a row number that is fixed in "
             "the code.")  # fmt: skip
_WHOLE_TABLE = (
    "everything was divided by the sum of the whole table. Each row is a separate distribution, with its own sum."
)
_RARE_PAIR = ("a rare pair has a small share, and its logit is the logarithm of exactly that share. Set no lower "
              "limit, and add nothing to the shares.")  # fmt: skip

EXERCISE = FunctionExercise(
    id="01.counts_to_logits",
    writes="`counts_to_logits(counts)`",
    contract="(V, V) counts, row = previous token, no empty row → log-probabilities; 0 → -inf",
    difficulty="easy",
    minutes=8,
    hints=(
        "Each row is a separate distribution, so divide each row by its own sum.",
        "`counts.sum(dim=1, keepdim=True)` has the shape (V, 1), so that it divides row by row.",
        "Take the logarithm of the shares. PyTorch gives -inf for the logarithm of 0, so you need no special case for "
        "it.",
    ),
    reference=counts_to_logits,
    cases=(
        Case("probabilities", "these are probabilities. A logit is the logarithm of one.", _HAND, Recognises(_SHARES)),
        Case("earlier-call", EARLIER_CALL, _HAND, Recognises(shaped(4, 2))),
        Case("log-counts", "these are the logarithms of the counts. Turn the counts of each row into shares of that "
             "row first.",
             _HAND, Recognises(np.log(_COUNTS))),
        Case("columns", "each column was divided by its sum. A row stands for a previous token, and the distribution "
             "that follows this token lies along the row.", _HAND, Recognises(np.log(_COUNTS / _COUNTS.sum(axis=0)))),
        Case("keepdim", "the sums of the rows have lost a dimension. They are then lined up with the columns: the "
             "shapes fit, but each row is divided by the wrong sums. Keep the dimension.", _HAND,
             Recognises(np.log(_COUNTS / _COUNTS.sum(axis=1)))),
        Case("whole-table", _WHOLE_TABLE, _HAND, Recognises(np.log(_COUNTS / _COUNTS.sum()))),
        Case("other-base", "this logarithm has another base. Logits are natural logarithms, in nats.", _HAND,
             Recognises(any_of(np.log2(_SHARES), np.log10(_SHARES)))),
        Case("add-one", "a count was changed before the division. This exercise wants no smoothing, so use the counts "
             "as they are.", _HAND,
             Recognises(_log_shares(_COUNTS + 1))),
        Case("by-hand", "work out one row by hand: write down its counts, their sum, the share of each, and the "
             "logarithm of each share.",
             _HAND, Equals(_log_shares(_COUNTS))),
        Case("earlier-call", EARLIER_CALL,
             Call("counts [[6.0, 2.0], [3.0, 1.0]], after a call with [[1.0, 3.0], [4.0, 4.0]]", args(_OTHER)),
             Recognises(_log_shares(_COUNTS))),
        Case("whole-table", _WHOLE_TABLE, Call("counts [[1.0, 3.0], [3.0, 1.0]]", args(_EQUAL)),
             Recognises(np.log(_EQUAL / _EQUAL.sum()))),
        Case("any-size", _ANY_SIZE, Call("counts [[1.0, 2.0, 5.0], [4.0, 4.0, 2.0], [3.0, 6.0, 1.0]]", args(_THREE)),
             Equals(_log_shares(_THREE)), error_is_typical=True),
        Case("zero-count", "a pair that was never seen has probability 0, so its logit is -inf. It is not a small "
             "number, not 0 and not an error.",
             Call("counts [[0.0, 4.0, 4.0], [2.0, 0.0, 6.0], [5.0, 3.0, 0.0]]", args(_ZEROS)),
             Equals(_log_shares(_ZEROS)), error_is_typical=True),
        Case("one-follower", "this token is always followed by the same one, which therefore has probability 1 and "
             "logit 0. Every other pair in the row was never seen.",
             Call("counts [[90.0, 0.0], [0.0, 90.0]]", args(_SURE)),
             Equals(_log_shares(_SURE)), error_is_typical=True),
        Case("whole-numbers", "the counts are whole numbers here (int64). A tensor that you make with their dtype "
             "holds only whole numbers, and cuts off every fraction.",
             Call("int64 counts [[1, 3], [4, 4]]", args(_COUNTS, dtype="int64")),
             Equals(_log_shares(_COUNTS)), error_is_typical=True),
        Case("large-counts", "a count may be too large for a small integer dtype: uint8 ends at 255, int16 at 32,767, "
             "and int32 near two thousand million.",
             Call("int64 counts [[3000000000, 4000000000], [300, 500]]", args(_HUGE, dtype="int64")),
             Equals(_log_shares(_HUGE)), error_is_typical=True),
        Case("rare-pair", _RARE_PAIR, Call("counts [[1.0, 9999999.0], [1.0, 1.0]]", args(_RARE)),
             Equals(_log_shares(_RARE))),
        Case("rare-pair", _RARE_PAIR, Call("counts [[1.0, 1e12], [1.0, 1.0]]", args(_RARER)),
             Equals(_log_shares(_RARER))),
        Case("float64", "the counts are float64 here. A tensor that you make is float32 unless you say otherwise, and "
             "the two do not always mix. Give it the dtype of the counts.",
             Call("float64 counts [[1.0, 3.0], [4.0, 4.0]]", args(_COUNTS, dtype="float64")),
             Equals(_log_shares(_COUNTS)), error_is_typical=True),
        Case("one-token", "even a vocabulary of one token has a table. The answer keeps both axes, and its only share "
             "is 1.", Call("counts [[5.0]]", args([[5]])), Equals([[0.0]]), error_is_typical=True),
        Case("not-contiguous", NOT_CONTIGUOUS,
             Call("counts `torch.tensor([[1.0, 4.0, 3.0], [2.0, 4.0, 6.0], [5.0, 2.0, 1.0]]).T`",
                  lambda: (transposed(_THREE),)), Equals(_log_shares(_THREE)), error_is_typical=True),
        Case("any-size", _ANY_SIZE, Call(f"counts {_FIVE.astype(float).tolist()}", args(_FIVE)),
             Equals(_log_shares(_FIVE)), error_is_typical=True),
        Case("any-size", _ANY_SIZE, Call("counts `(torch.arange(4900.0) % 11).reshape(70, 70)`", args(_SEVENTY)),
             Equals(_log_shares(_SEVENTY)), error_is_typical=True),
    ),
)  # fmt: skip

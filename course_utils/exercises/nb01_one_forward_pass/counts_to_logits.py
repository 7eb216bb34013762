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
_ANY_SIZE = ("small tables come out right and a larger one does not. Look for a size or a row that is written into the "
             "code.")  # fmt: skip
_WHOLE_TABLE = "everything was divided by the sum of the whole table. Each row is a distribution of its own."
_RARE_PAIR = ("a rare pair has a small share, and the logarithm of that share is its logit. Shares have no lower "
              "limit, and nothing is added to them.")  # fmt: skip

EXERCISE = FunctionExercise(
    id="01.counts_to_logits",
    writes="`counts_to_logits(counts)`",
    contract="(V, V) counts, row = previous token, no empty row → log-probabilities; 0 → -inf",
    difficulty="easy",
    minutes=8,
    hints=(
        "Each row is a distribution of its own: divide it by its own sum.",
        "`counts.sum(dim=1, keepdim=True)` has the shape (V, 1), so that it divides row by row.",
        "Take the logarithm of the shares. The logarithm of 0 is -inf by itself: nothing has to be done for it.",
    ),
    reference=counts_to_logits,
    cases=(
        Case("probabilities", "these are probabilities. A logit is the logarithm of one.", _HAND, Recognises(_SHARES)),
        Case("earlier-call", EARLIER_CALL, _HAND, Recognises(shaped(4, 2))),
        Case("log-counts", "these are logarithms of counts. The counts of a row become shares of that row first.",
             _HAND, Recognises(np.log(_COUNTS))),
        Case("columns", "each column was divided by its sum. Here a row is a previous token, and the distribution "
             "after it lies along the row.", _HAND, Recognises(np.log(_COUNTS / _COUNTS.sum(axis=0)))),
        Case("keepdim", "the sums of the rows have lost a dimension, so they lie along the columns when they divide: "
             "the shapes fit and the rows are wrong. Keep the dimension.", _HAND,
             Recognises(np.log(_COUNTS / _COUNTS.sum(axis=1)))),
        Case("whole-table", _WHOLE_TABLE, _HAND, Recognises(np.log(_COUNTS / _COUNTS.sum()))),
        Case("other-base", "the logarithm has another base. Logits are natural logarithms, in nats.", _HAND,
             Recognises(any_of(np.log2(_SHARES), np.log10(_SHARES)))),
        Case("add-one", "a count was changed before dividing. Smoothing is not asked for: count what there is.", _HAND,
             Recognises(_log_shares(_COUNTS + 1))),
        Case("by-hand", "take one row by hand: its counts, their sum, the shares, and the logarithm of each share.",
             _HAND, Equals(_log_shares(_COUNTS))),
        Case("earlier-call", EARLIER_CALL,
             Call("counts [[6.0, 2.0], [3.0, 1.0]], after a call with [[1.0, 3.0], [4.0, 4.0]]", args(_OTHER)),
             Recognises(_log_shares(_COUNTS))),
        Case("whole-table", _WHOLE_TABLE, Call("counts [[1.0, 3.0], [3.0, 1.0]]", args(_EQUAL)),
             Recognises(np.log(_EQUAL / _EQUAL.sum()))),
        Case("any-size", _ANY_SIZE, Call("counts [[1.0, 2.0, 5.0], [4.0, 4.0, 2.0], [3.0, 6.0, 1.0]]", args(_THREE)),
             Equals(_log_shares(_THREE)), error_is_typical=True),
        Case("zero-count", "a pair that was never seen has probability 0, so its logit is -inf: not a small number, "
             "not 0 and not an error.",
             Call("counts [[0.0, 4.0, 4.0], [2.0, 0.0, 6.0], [5.0, 3.0, 0.0]]", args(_ZEROS)),
             Equals(_log_shares(_ZEROS)), error_is_typical=True),
        Case("one-follower", "a token that is always followed by the same one has the probability 1 there: logit 0. "
             "Every other pair of its row was never seen.", Call("counts [[90.0, 0.0], [0.0, 90.0]]", args(_SURE)),
             Equals(_log_shares(_SURE)), error_is_typical=True),
        Case("whole-numbers", "counts may come as whole numbers (int64). A tensor made like them holds whole numbers "
             "too and cuts every fraction off.", Call("int64 counts [[1, 3], [4, 4]]", args(_COUNTS, dtype="int64")),
             Equals(_log_shares(_COUNTS)), error_is_typical=True),
        Case("large-counts", "a count may be larger than a small type of whole numbers holds: uint8 ends at 255, int16 "
             "at 32767, int32 near two thousand million.",
             Call("int64 counts [[3000000000, 4000000000], [300, 500]]", args(_HUGE, dtype="int64")),
             Equals(_log_shares(_HUGE)), error_is_typical=True),
        Case("rare-pair", _RARE_PAIR, Call("counts [[1.0, 9999999.0], [1.0, 1.0]]", args(_RARE)),
             Equals(_log_shares(_RARE))),
        Case("rare-pair", _RARE_PAIR, Call("counts [[1.0, 1e12], [1.0, 1.0]]", args(_RARER)),
             Equals(_log_shares(_RARER))),
        Case("float64", "counts may come as float64, and a tensor that you make is float32 unless you say otherwise: "
             "the two do not always mix. Give it the dtype of the counts.",
             Call("float64 counts [[1.0, 3.0], [4.0, 4.0]]", args(_COUNTS, dtype="float64")),
             Equals(_log_shares(_COUNTS)), error_is_typical=True),
        Case("one-token", "a vocabulary of one token has a table too: the answer keeps both axes, and the one share is "
             "1.", Call("counts [[5.0]]", args([[5]])), Equals([[0.0]]), error_is_typical=True),
        Case("not-contiguous", NOT_CONTIGUOUS,
             Call("counts `torch.tensor([[1.0, 4.0, 3.0], [2.0, 4.0, 6.0], [5.0, 2.0, 1.0]]).T`",
                  lambda: (transposed(_THREE),)), Equals(_log_shares(_THREE)), error_is_typical=True),
        Case("any-size", _ANY_SIZE, Call(f"counts {_FIVE.astype(float).tolist()}", args(_FIVE)),
             Equals(_log_shares(_FIVE)), error_is_typical=True),
        Case("any-size", _ANY_SIZE, Call("counts `(torch.arange(4900.0) % 11).reshape(70, 70)`", args(_SEVENTY)),
             Equals(_log_shares(_SEVENTY)), error_is_typical=True),
    ),
)  # fmt: skip

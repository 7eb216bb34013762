"""The exercises of notebook 01: from counts to logits, softmax, the last logits of a batch, and the loop."""

import numpy as np

from course_utils.exercises.inputs import args, scores
from course_utils.exercises.loop_cases import LOOP_CASES
from course_utils.judging import Case, Exercise

NOTEBOOK = "01_one_forward_pass"
INF = float("inf")


# Oracles, in plain numpy and float64.


def _softmax(logits) -> np.ndarray:
    logits = np.asarray(logits, dtype=np.float64)
    weights = np.exp(logits - logits.max(axis=-1, keepdims=True))
    return weights / weights.sum(axis=-1, keepdims=True)


def _log_shares(counts) -> np.ndarray:
    counts = np.asarray(counts, dtype=np.float64)
    with np.errstate(divide="ignore"):  # the logarithm of 0 is -inf, and that is meant
        return np.log(counts) - np.log(counts.sum(axis=1, keepdims=True))


# References.


def softmax(logits):
    """The probabilities (..., V) of logits (..., V), along the last axis."""
    shifted = logits - logits.max(dim=-1, keepdim=True).values  # the largest becomes 0: nothing overflows
    weights = shifted.exp()
    return weights / weights.sum(dim=-1, keepdim=True)


def last_logits(logits, lengths):
    """Of logits (B, T, V), the (B, V) at the last valid position of each row; lengths: (B,), at least 1."""
    rows = range(len(lengths))
    return logits[list(rows), lengths - 1]  # row b, position lengths[b] - 1


def generate_loop(next_logits, prompt_ids, max_new_tokens, choose):
    """The prompt's ids and those that were chosen after it, as a new list."""
    ids = list(prompt_ids)  # a copy: the caller's list stays as it is
    for _ in range(max_new_tokens):
        ids.append(choose(next_logits(ids)))
    return ids


# 01.counts_to_logits

_COUNTS = np.array([[1, 3], [4, 4]])
_ZEROS = np.array([[0, 4, 4], [2, 0, 6], [5, 3, 0]])
_MANY = np.array([[9, 0, 3, 2, 6], [1, 1, 0, 7, 1], [0, 0, 40, 2, 8], [5, 5, 5, 5, 5], [100, 20, 3, 0, 77]])
_HAND = {"shows": "counts [[1, 3], [4, 4]]", "args": args(_COUNTS)}

COUNTS_TO_LOGITS = Exercise(
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
    reference="course_utils.bigram:counts_to_logits",
    cases=(
        Case("probabilities", "these are probabilities. A logit is the logarithm of one.", **_HAND,
             wrong=np.exp(_log_shares(_COUNTS))),
        Case("log-counts", "these are logarithms of counts. The counts of a row become shares of that row first.",
             **_HAND, wrong=np.log(_COUNTS)),
        Case("columns", "each column was divided by its sum. Here a row is a previous token, and the distribution "
             "after it lies along the row.", **_HAND, wrong=np.log(_COUNTS / _COUNTS.sum(axis=0))),
        Case("keepdim", "the sums of the rows have lost a dimension, so they lie along the columns when they divide: "
             "the shapes fit and the rows are wrong. Keep the dimension.", **_HAND,
             wrong=np.log(_COUNTS / _COUNTS.sum(axis=1))),
        Case("whole-table", "everything was divided by the sum of the whole table. Each row is a distribution of its "
             "own.", **_HAND, wrong=np.log(_COUNTS / _COUNTS.sum())),
        Case("other-base", "the logarithm has another base. Logits are natural logarithms, in nats.", **_HAND,
             wrong=lambda value: any(_is(value, np.log2(_shares()) * factor) for factor in (1, np.log10(2)))),
        Case("add-one", "a count was changed before dividing. Smoothing is not asked for: count what there is.",
             **_HAND, wrong=_log_shares(_COUNTS + 1)),
        Case("by-hand", "take one row by hand: its counts, their sum, the shares, and the logarithm of each share.",
             **_HAND, want=_log_shares(_COUNTS)),
        Case("zero-count", "a pair that was never seen has probability 0, so its logit is -inf: not a small number, "
             "not 0 and not an error.", "counts [[0, 4, 4], [2, 0, 6], [5, 3, 0]]", args(_ZEROS),
             want=_log_shares(_ZEROS), error_is_typical=True),
        Case("whole-numbers", "counts may come as whole numbers (int64). A tensor made like them holds whole numbers "
             "too and cuts every fraction off.", "int64 counts [[1, 3], [4, 4]]", args(_COUNTS, dtype="int64"),
             want=_log_shares(_COUNTS), error_is_typical=True),
        Case("any-size", "small tables come out right and a larger one does not. Look for a size or a row that is "
             "written into the code.", "a table of 5 tokens", args(_MANY), want=_log_shares(_MANY)),
    ),
)  # fmt: skip


def _shares() -> np.ndarray:
    return _COUNTS / _COUNTS.sum(axis=1, keepdims=True)


def _is(value, other) -> bool:
    from course_utils.answers import same

    return same(value, other)


# 01.softmax

_ROW = [2.0, 1.0, 0.0]
_NEGATIVE = [-1.0, 0.5, -2.0]
_ROWS = [[2.0, 1.0, 0.0], [0.0, 3.0, 1.0]]
_CUBE = [[[1.0, 2.0, 3.0], [0.0, -1.0, 0.5]], [[2.0, 2.0, 0.0], [-3.0, 1.0, 4.0]]]
_LARGE_SMALL = [[1000.0, 999.0], [0.0, 1.0]]
_COARSE = 1e-3  # near 1000, float32 numbers lie 6e-5 apart
_WIDE = scores(11, 4, 3, 9)
_EXP = np.exp(_ROW)
_HAND = {"shows": "logits [2, 1, 0]", "args": args(_ROW)}

SOFTMAX = Exercise(
    id="01.softmax",
    writes="`softmax(logits)`",
    contract="(..., V) → probs over the last axis; large logits don't overflow; -inf → 0",
    difficulty="easy",
    minutes=8,
    hints=(
        "Exponentials first, then divide by their sum.",
        "`dim=-1` is the last axis for any number of axes, and `keepdim=True` keeps it for the division.",
        "A constant added to a row cancels. Subtract each row's largest logit before the exponential.",
    ),
    reference="course_utils.exercises.nb01_one_forward_pass:softmax",
    cases=(
        Case("no-exponential", "the logits themselves were divided by their sum. Softmax takes the exponential of "
             "each logit first, and logits may be negative.", **_HAND, wrong=[2 / 3, 1 / 3, 0.0]),
        Case("not-normalised", "these are exponentials that have not been divided by their sum.", **_HAND,
             wrong=lambda value: _is(value, _EXP) or _is(value, _EXP / _EXP.max())),
        Case("log-probabilities", "these are logarithms of probabilities. Probabilities lie between 0 and 1.",
             **_HAND, wrong=np.log(_softmax(_ROW))),
        Case("input-returned", "these are the logits that came in.", **_HAND, wrong=_ROW),
        Case("by-hand", "take the row by hand: the exponential of each logit, then each divided by the sum of all.",
             **_HAND, want=_softmax(_ROW)),
        Case("negative-logits", "a logit may be negative. Its exponential is small and positive: keep the sign.",
             "logits [-1, 0.5, -2]", args(_NEGATIVE), want=_softmax(_NEGATIVE)),
        Case("whole-tensor", "all rows were put into one sum. Each row is a distribution of its own.",
             "two rows of logits, [2, 1, 0] and [0, 3, 1]", args(_ROWS), wrong=np.exp(_ROWS) / np.exp(_ROWS).sum()),
        Case("other-axis", "each row is a distribution of its own: sum over the last axis, and keep that axis for the "
             "division.", "two rows of logits, [2, 1, 0] and [0, 3, 1]", args(_ROWS), want=_softmax(_ROWS),
             error_is_typical=True),
        Case("last-axis", "with three axes, (B, T, V), the distribution still lies along the last one. Count axes "
             "from the end.", "logits of the shape (2, 2, 3)", args(_CUBE), want=_softmax(_CUBE),
             error_is_typical=True),
        Case("overflow", "the exponential of 1000 is infinite in floating point. Subtract the largest logit first: a "
             "constant cancels in softmax.", "logits [1000, 999]", args([1000.0, 999.0]),
             want=_softmax([1000.0, 999.0]), atol=_COARSE, error_is_typical=True),
        Case("underflow", "the exponential of -1000 is 0 in floating point, and 0 / 0 is not a number. Subtract the "
             "largest logit always, not only when it is large.", "logits [-1000, -1001]", args([-1000.0, -1001.0]),
             want=_softmax([-1000.0, -1001.0]), atol=_COARSE, error_is_typical=True),
        Case("one-maximum", "the largest logit of the whole tensor was subtracted from every row, so another row has "
             "become all zeros. Each row needs its own.", "two rows of logits, [1000, 999] and [0, 1]",
             args(_LARGE_SMALL), want=_softmax(_LARGE_SMALL), atol=_COARSE),
        Case("minus-inf", "a logit of -inf means: never. Its probability is 0, and the others share the whole.",
             "logits [0, -inf, 1]", args([0.0, -INF, 1.0]), want=_softmax([0.0, -INF, 1.0]), error_is_typical=True),
        Case("any-size", "small examples come out right and a larger tensor does not. Look for a size or a limit that "
             "is written into the code.", "logits of the shape (4, 3, 9)", args(_WIDE), want=_softmax(_WIDE)),
    ),
)  # fmt: skip


# 01.last_logits

_LOGITS = np.array(
    [
        [[1.0, -2.0, 0.5], [0.3, 4.0, -1.0], [9.0, 8.0, 7.0]],
        [[2.0, 0.1, -0.4], [-3.0, 1.5, 2.5], [0.7, -0.6, 5.0]],
    ]
)
_LENGTHS = np.array([2, 1])
_BATCH = scores(12, 4, 6, 5)
_BATCH_LENGTHS = np.array([3, 6, 1, 5])
_LAST = _LOGITS[[0, 1], [1, 0]]
_SHOWN = "two rows of three positions, lengths [2, 1]"


def _batch(logits, lengths):
    return lambda: (*args(logits)(), *args(lengths, dtype="int64")())


def _shaped(*shape):
    """Recognises an answer by its shape."""
    from course_utils.answers import as_array

    return lambda value: as_array(value).shape == shape


_HAND = {"shows": _SHOWN, "args": _batch(_LOGITS, _LENGTHS)}

LAST_LOGITS = Exercise(
    id="01.last_logits",
    writes="`last_logits(logits, lengths)`",
    contract="(B, T, V), (B,) → (B, V): last valid position of right-padded rows",
    difficulty="medium",
    minutes=10,
    hints=(
        "A row of length 1 has one valid position, number 0. So where is the last one of a row of length n?",
        "Each row b needs its own position. Two index tensors of the same length pick one element for each pair.",
        "`logits[rows, positions]` with rows = 0, 1, ... and positions = lengths - 1 has the shape (B, V).",
    ),
    reference="course_utils.exercises.nb01_one_forward_pass:last_logits",
    cases=(
        Case("last-column", "this is the last position of every row. In a short row padding stands there.", **_HAND,
             wrong=_LOGITS[:, -1]),
        Case("off-by-one", "this is the position after the last valid one. Positions count from 0.", **_HAND,
             wrong=_LOGITS[[0, 1], [2, 1]]),
        Case("one-length", "the same position was taken in every row. Each row has its own length.", **_HAND,
             wrong=lambda value: any(_is(value, _LOGITS[:, position]) for position in (0, 1))),
        Case("every-pair", "every row was combined with every length. One position for each row is asked for: index "
             "rows and positions together.", **_HAND, wrong=_shaped(2, 2, 3)),
        Case("axis-kept", "an axis of length 1 is left where the positions were. Asked for is (B, V).", **_HAND,
             wrong=_shaped(2, 1, 3)),
        Case("pooled", "this mixes several positions. Only the last valid one decides the next token.", **_HAND,
             wrong=lambda value: any(_is(value, [row[:n].sum(0) / d for row, n, d in zip(_LOGITS, (2, 1), ds,
                                                                                         strict=True)])
                                     for ds in ((2, 1), (1, 1), (3, 3)))),
        Case("by-hand", "take each row by itself: how many of its positions are valid, and which is the last of them?",
             **_HAND, want=_LAST),
        Case("any-batch", "two rows come out right and a larger batch does not. A row may have any length from 1 to T, "
             "and there may be any number of rows.", "four rows of six positions, lengths [3, 6, 1, 5]",
             _batch(_BATCH, _BATCH_LENGTHS), want=_BATCH[[0, 1, 2, 3], [2, 5, 0, 4]], error_is_typical=True),
        Case("batch-of-one", "a batch of one row is still a batch: the answer keeps the axis B.",
             "one row of three positions, length [2]", _batch(_LOGITS[:1], _LENGTHS[:1]), want=_LAST[:1],
             error_is_typical=True),
    ),
)  # fmt: skip


# 01.generate_loop

GENERATE_LOOP = Exercise(
    id="01.generate_loop",
    writes="`generate_loop(next_logits, prompt_ids, max_new_tokens, choose)`",
    contract="list: prompt + new ids; `next_logits(list) -> (V,)`, `choose((V,)) -> int`; the prompt list is not "
    "changed",
    difficulty="medium",
    minutes=12,
    hints=(
        "One turn: score the ids so far, choose one id, append it.",
        "`next_logits` gets the prompt and everything that was chosen since, at every turn.",
        "Begin with a copy of the prompt, and take exactly `max_new_tokens` turns, none if it is 0.",
    ),
    reference="course_utils.exercises.nb01_one_forward_pass:generate_loop",
    cases=LOOP_CASES,
)

EXERCISES = (COUNTS_TO_LOGITS, SOFTMAX, LAST_LOGITS, GENERATE_LOOP)

"""Exercise 03.top_p. Its logits are no log-probabilities: a constant is added, so that the two can be told apart."""

import numpy as np

from course_utils.exercises.filters import (
    A_MASK,
    FINITE_FILL,
    INF,
    NOTHING_DROPPED,
    PROBABILITIES,
    SORTED,
    any_of,
    keep,
    mask_of,
    other_fill,
    probabilities_of,
    softmax,
    top_p,
)
from course_utils.exercises.inputs import args, scores
from course_utils.judging import Case, Exercise


def _logits(*probs, shift: float = -1.0) -> np.ndarray:
    return np.round(np.log(probs) + shift, 6)


_HALF = _logits(0.45, 0.5, 0.05)
_RIGHT_P = top_p(_HALF, 0.8)
_ORDER = _logits(0.1, 0.6, 0.3)
_POSITIVE = np.array([1.0, 3.0, 2.0, 0.0])
_SIX = _logits(0.12, 0.3, 0.02, 0.25, 0.2, 0.11)
_PEAK = _logits(0.04, 0.93, 0.03)
_PER_ROW = np.array([_logits(0.25, 0.6, 0.15), _logits(0.3, 0.3001, 0.3999), _logits(0.02, 0.03, 0.95)])
_ALREADY = np.array([-1.0, -INF, 0.5, -INF, -0.5])
_CUBE_P = scores(34, 3, 4, 9)
_HAND = {"shows": "logits of the probabilities [0.45, 0.5, 0.05] and p = 0.8", "args": args(_HALF, 0.8)}

TOP_P = Exercise(
    id="03.top_p",
    writes="`top_p_filter(logits, p)`",
    contract="(..., V), 0 < p <= 1; the crossing token stays; per row; original order; input unchanged",
    difficulty="hard",
    minutes=15,
    hints=(
        "Sort from the likeliest down, and add probabilities up until p is reached.",
        "A token stays if the total before it is still below p. So the one that takes the total past p stays.",
        "The decision is made in sorted order. `scatter` with the sort's indices brings it back to the ids' order.",
    ),
    reference="course_utils.sampling:top_p_filter",
    cases=(
        Case("a-mask", A_MASK, **_HAND, wrong=mask_of(_RIGHT_P)),
        Case("sorted-order", SORTED, **_HAND, wrong=any_of(np.sort(_RIGHT_P)[::-1], np.sort(_RIGHT_P))),
        Case("probabilities", PROBABILITIES, **_HAND, wrong=probabilities_of(_RIGHT_P)),
        Case("finite-fill", FINITE_FILL, **_HAND, wrong=other_fill(_HALF, _RIGHT_P)),
        Case("crossing-token", "the token that takes the total past p was dropped too, so less than p is left. It "
             "belongs to the kept ones.", **_HAND, wrong=top_p(_HALF, 0.5)),
        Case("threshold", "each probability was compared with a limit. It is their running total, from the likeliest "
             "down, that must reach p.", "logits of the probabilities [0.12, 0.3, 0.02, 0.25, 0.2, 0.11] and p = 0.7",
             args(_SIX, 0.7),
             wrong=any_of(*(keep(_SIX, lambda row, limit=limit: np.flatnonzero(softmax(row) >= limit))
                            for limit in (0.7, 0.3 * 0.7, 0.29, 0.3 * 0.3)))),
        Case("sums-logits", "it is probabilities that add up to p. Logits were added: turn them into probabilities "
             "first.", "logits [1, 3, 2, 0] and p = 0.8", args(_POSITIVE, 0.8),
             wrong=top_p(_POSITIVE, 0.3)),
        Case("input-returned", NOTHING_DROPPED, **_HAND, wrong=_HALF),
        Case("unsorted", "the total ran in the order of the ids. It begins with the likeliest token.",
             "logits of the probabilities [0.1, 0.6, 0.3] and p = 0.55", args(_ORDER, 0.55),
             wrong=[_ORDER[0], _ORDER[1], -INF]),
        Case("mask-not-unsorted", "the right number of tokens stays, but other ones. The decision was made in sorted "
             "order and applied in the order of the ids.", "logits of the probabilities [0.1, 0.6, 0.3] and p = 0.55",
             args(_ORDER, 0.55), wrong=any_of([_ORDER[0], -INF, -INF], [-INF, -INF, _ORDER[2]])),
        Case("one-token-too-many", "one more token than needed was kept. The one that takes the total past p is the "
             "last that stays.", "logits of the probabilities [0.12, 0.3, 0.02, 0.25, 0.2, 0.11] and p = 0.7",
             args(_SIX, 0.7), wrong=top_p(_SIX, 0.8)),
        Case("by-hand", "sort by hand, add up until the total reaches p, and mark what was added. Those tokens stay as "
             "they are, where they are.", **_HAND, want=_RIGHT_P),
        Case("peaked", "the likeliest token alone reaches p, so it alone stays.",
             "logits of the probabilities [0.04, 0.93, 0.03] and p = 0.8", args(_PEAK, 0.8), want=top_p(_PEAK, 0.8),
             error_is_typical=True),
        Case("small-p", "for a small p the likeliest token still stays: it is the one that crosses.",
             "logits of the probabilities [0.45, 0.5, 0.05] and p = 0.01", args(_HALF, 0.01),
             want=top_p(_HALF, 0.01), error_is_typical=True),
        Case("small-p", "even for a tiny p one token stays. 1 - p rounds to 1 here: compare with p itself.",
             "logits of the probabilities [0.45, 0.5, 0.05] and p = 0.00000001", args(_HALF, 1e-8),
             want=top_p(_HALF, 0.01), error_is_typical=True),
        Case("p-one", "p = 1 needs every token.", "logits of the probabilities [0.45, 0.5, 0.05] and p = 1",
             args(_HALF, 1.0), want=_HALF, error_is_typical=True),
        Case("per-row", "each row has its own order and its own number of tokens.",
             "three rows of three logits and p = 0.8", args(_PER_ROW, 0.8), want=top_p(_PER_ROW, 0.8),
             error_is_typical=True),
        Case("minus-inf", "a token that was dropped before has the logit -inf and stays dropped. The others' "
             "probabilities are shares of what is left.", "logits [-1, -inf, 0.5, -inf, -0.5] and p = 0.7",
             args(_ALREADY, 0.7), want=top_p(_ALREADY, 0.7), error_is_typical=True),
        Case("any-size", "a few rows come out right and a larger tensor does not. Any number of axes may stand before "
             "the vocabulary.", "logits of the shape (3, 4, 9) and p = 0.75", args(_CUBE_P, 0.75),
             want=top_p(_CUBE_P, 0.75), error_is_typical=True),
    ),
)  # fmt: skip

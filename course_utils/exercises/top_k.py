"""Exercise 03.top_k."""

import numpy as np

from course_utils.answers import as_array
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
    ranked,
    top_k,
)
from course_utils.exercises.inputs import args, scores
from course_utils.judging import Case, Exercise

_FOUR = np.array([1.0, 3.0, 2.0, 0.5])
_RIGHT = top_k(_FOUR, 2)
_NEGATIVE = [-6.0, -5.0, -7.0, -9.0]
_TIES = np.array([2.0, 3.0, 2.0, 2.0, 0.0])
_TWO = np.float32([[1.1, 3.3, 2.2, 0.7], [9.1, -1.3, 8.7, 7.9]])  # half precision would change these
_WHOLE = np.round(scores(31, 3, 4, 12))
_HAND = {"shows": "logits [1, 3, 2, 0.5] and k = 2", "args": args(_FOUR, 2)}

TOP_K = Exercise(
    id="03.top_k",
    writes="`top_k_filter(logits, k)`",
    contract="(..., V); exactly k kept, unchanged, rest -inf; k >= V or None keeps all; per row; ties to the lowest "
    "id; input unchanged",
    difficulty="medium",
    minutes=12,
    hints=(
        "The answer has the shape of the logits. Only some entries change, to -inf.",
        "A threshold keeps every token that ties with it. Choose places instead: the first k in a stable, descending "
        "sort.",
        "`logits.sort(dim=-1, descending=True, stable=True)` gives the places; `scatter` writes back to them.",
    ),
    reference="course_utils.sampling:top_k_filter",
    cases=(
        Case("a-mask", A_MASK, **_HAND, wrong=mask_of(_RIGHT)),
        Case("values-only", "these are the k largest logits, or their ids, alone. Asked for is a whole row: every "
             "token keeps its place.", **_HAND, wrong=lambda value: as_array(value).shape == (2,)),
        Case("sorted-order", SORTED, **_HAND,
             wrong=any_of([3, 2, -INF, -INF], [-INF, -INF, 2, 3], [3, 2, 0, 0])),
        Case("probabilities", PROBABILITIES, **_HAND, wrong=probabilities_of(_RIGHT)),
        Case("finite-fill", FINITE_FILL, **_HAND, wrong=other_fill(_FOUR, _RIGHT)),
        Case("input-returned", NOTHING_DROPPED, **_HAND, wrong=_FOUR),
        Case("smallest", "the k smallest logits were kept.", **_HAND, wrong=keep(_FOUR, lambda row: ranked(-row)[:2])),
        Case("off-by-one", "one token too many or too few was kept. Exactly k stay, the k-th largest included.",
             **_HAND, wrong=any_of(top_k(_FOUR, 1), top_k(_FOUR, 3))),
        Case("by-hand", "mark the k largest logits by hand. They stay as they are, where they are, and the rest is "
             "-inf.", **_HAND, want=_RIGHT),
        Case("negative-logits", "logits may all be negative. Their size is what counts, with the sign.",
             "logits [-6, -5, -7, -9] and k = 1", args(_NEGATIVE, 1), want=top_k(_NEGATIVE, 1), error_is_typical=True),
        Case("exactly-k", "more than k tokens are left, since several tie with the k-th. A comparison with the k-th "
             "largest keeps them all.", "logits [2, 3, 2, 2, 0] and k = 2", args(_TIES, 2),
             wrong=lambda value: np.isfinite(as_array(value)).sum() > 2),
        Case("ties", "of equal logits the lower id is asked to stay.", "logits [2, 3, 2, 2, 0] and k = 2",
             args(_TIES, 2), want=top_k(_TIES, 2)),
        Case("k-too-large", "k = V and larger k keep everything.", "logits [1, 3, 2, 0.5] and k = 4", args(_FOUR, 4),
             want=_FOUR, error_is_typical=True),
        Case("k-too-large", "k may be larger than the vocabulary: then everything stays.",
             "logits [1, 3, 2, 0.5] and k = 50", args(_FOUR, 50), want=_FOUR, error_is_typical=True),
        Case("k-none", "k = None switches the filter off: everything stays.", "logits [1, 3, 2, 0.5] and k = None",
             args(_FOUR, None), want=_FOUR, error_is_typical=True),
        Case("per-row", "each row keeps its own k tokens.", "two rows of four logits and k = 2", args(_TWO, 2),
             want=top_k(_TWO, 2), error_is_typical=True),
        Case("any-size", "one or two rows come out right and a larger tensor does not. Any number of axes may stand "
             "before the vocabulary, and ties may be anywhere.", "logits of the shape (3, 4, 12), with ties, and k = 5",
             args(_WHOLE, 5), want=top_k(_WHOLE, 5), error_is_typical=True),
    ),
)  # fmt: skip

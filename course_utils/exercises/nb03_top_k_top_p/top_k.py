"""Exercise 03.top_k."""

# The reference is shown to learners as they would write it, without types.
# mypy: allow-untyped-defs

import numpy as np

from course_utils.checker.answers import as_array
from course_utils.checker.exercise import Call, Case, Equals, FunctionExercise, Recognises
from course_utils.exercises.common.filters import (
    A_MASK,
    ANY_SIZE,
    FINITE_FILL,
    FLOAT64,
    INF,
    NOTHING_DROPPED,
    PROBABILITIES,
    SORTED,
    keep,
    mask_of,
    other_fill,
    probabilities_of,
    ranked,
    top_k,
)
from course_utils.exercises.common.hints import ANY_LAYOUT, AXIS_LOST, OTHER_CALL
from course_utils.exercises.common.inputs import Rows, args, made, turned, turned_text
from course_utils.exercises.common.recognisers import any_of


def top_k_filter(logits, k):
    """Keep exactly the k largest logits of each row; of equal ones the lower id stays."""
    if k is None or k >= logits.shape[-1]:
        return logits.clone()
    places = logits.sort(dim=-1, descending=True, stable=True).indices[..., :k]  # of the k likeliest
    kept = logits.new_full(logits.shape, float("-inf"))
    return kept.scatter(-1, places, logits.gather(-1, places))


def _given(logits: Rows, k: int | None, shown: str = "", dtype: str = "float32") -> Call:
    """A call with these arguments. shown: what is said of the logits, where they are not written out."""
    return Call(f"{shown or f'logits {logits}'} and k = {k}", args(logits, k, dtype=dtype))


def _asks(hint_id: str, hint: str, logits: Rows, k: int | None, shown: str = "", dtype: str = "float32") -> Case:
    """A case that asks for the filtered logits."""
    return Case(hint_id, hint, _given(logits, k, shown, dtype), Equals(top_k(logits, k)), error_is_typical=True)


_FOUR = np.array([1.0, 3.0, 2.0, 0.5])
_RIGHT = top_k(_FOUR, 2)
_TIES = Call("logits [2, 3, 2, 2, 0] and k = 2", args([2.0, 3.0, 2.0, 2.0, 0.0], 2))
_TWO = [[1.0, 3.0, 2.0, 0.5], [9.0, -1.0, 8.0, 7.0]]
_TURNED = [[[1.0, 3.0, 2.0], [9.0, -1.0, 8.0]], [[4.0, 6.0, 5.0], [0.0, -2.0, -1.0]]]
_FINE = [8.7109375, 3.8153076, 2.2001953, 2.2]  # exact in float64; float16 and four decimals would change them
_WHOLE, _WHOLE_TEXT = made(3, 4, 12, by=7, modulo=5, minus=2)
_FOUR_AXES, _FOUR_AXES_TEXT = made(2, 1, 3, 3, by=7, modulo=18, minus=9)
_WIDE, _WIDE_TEXT = made(130, by=7, modulo=130, over=4)
_LONG, _LONG_TEXT = made(300, by=7, modulo=300, over=4)
_MANY_TIES, _MANY_TIES_TEXT = made(2, 300, by=1, modulo=5)
_LATE = np.where(np.arange(300) == 299, 0.00002, 0.0)
_HAND = Call("logits [1, 3, 2, 0.5] and k = 2", args(_FOUR, 2))

_EXACTLY = (
    "more than k tokens are left, because several tie with the k-th. A comparison with the k-th largest logit keeps "
    "all of them."
)
_OF_EQUAL = "of equal logits, the one with the lower id has to stay."
_CLOSE = (
    "logits that differ only a little are still different, and the larger one stays. Something in the code rounds or "
    "shifts them."
)
_PROBS_TIE = (
    "the tokens were ranked by exponentials or probabilities. Far from 0 these are all 0 or all infinite, while the "
    "logits still differ. Rank the logits."
)
_MINUS_INF = "a logit of -inf ranks below every other and stays -inf. It must not become 0 or NaN."
_PER_ROW = "each row keeps its own k tokens."
_K_LARGE = "k may be larger than the vocabulary. Then every token stays."
_K_NONE = "k = None switches the filter off, so every token stays."

EXERCISE = FunctionExercise(
    id="03.top_k",
    writes="`top_k_filter(logits, k)`",
    contract="(..., V); exactly k kept, unchanged, rest -inf; k >= V or None keeps all; per row; ties to the lowest "
    "id; input unchanged",
    difficulty="medium",
    minutes=12,
    hints=(
        "The answer has the shape of the logits. Some entries become -inf, and the others do not change.",
        "A threshold keeps every token that ties with it. Choose places instead: the first k in a stable, descending "
        "sort.",
        "`logits.sort(dim=-1, descending=True, stable=True)` gives the places; `scatter` writes back to them.",
    ),
    reference=top_k_filter,
    cases=(
        Case("a-mask", A_MASK, _HAND, Recognises(mask_of(_RIGHT))),
        Case("values-only", "these are only the k largest logits, or their ids. Return a whole row, in which every "
             "token keeps its place.", _HAND, Recognises(lambda value: as_array(value).shape == (2,))),
        Case("sorted-order", SORTED, _HAND, Recognises(any_of([3, 2, -INF, -INF], [-INF, -INF, 2, 3], [3, 2, 0, 0]))),
        Case("probabilities", PROBABILITIES, _HAND, Recognises(probabilities_of(_RIGHT))),
        Case("finite-fill", FINITE_FILL, _HAND, Recognises(other_fill(_FOUR, _RIGHT))),
        Case("input-returned", NOTHING_DROPPED, _HAND, Recognises(_FOUR)),
        Case("smallest", "the k smallest logits were kept.", _HAND,
             Recognises(keep(_FOUR, lambda row: ranked(-row)[:2]))),
        Case("off-by-one", "one token too many or too few was kept. Exactly k tokens stay, and the k-th largest is "
             "one of them.", _HAND,
             Recognises(any_of(top_k(_FOUR, 1), top_k(_FOUR, 3)))),
        Case("by-hand", "mark the k largest logits by hand. They stay unchanged in their places, and all others "
             "become -inf.", _HAND, Equals(_RIGHT)),
        Case("other-call", OTHER_CALL, Call("logits [1, 3, 2, 0.5] and k = 1, after a call with k = 2", args(_FOUR, 1)),
             Recognises(_RIGHT)),
        Case("other-call", OTHER_CALL,
             Call("logits [3, 0.5, 1, 2] and k = 2, after a call with others", args([3.0, 0.5, 1.0, 2.0], 2)),
             Recognises(any_of(_RIGHT, [-INF, 0.5, 1.0, -INF]))),
        _asks("negative-logits", "all logits may be negative. Compare them with their signs.",
              [-6.0, -5.0, -7.0, -9.0], 1),
        _asks("negative-logits", "0 is a logit like any other, and it may be the largest.", [0.0, -1.0, -2.0], 1),
        Case("exactly-k", _EXACTLY, _TIES, Recognises(lambda value: np.isfinite(as_array(value)).sum() > 2)),
        Case("ties", _OF_EQUAL, _TIES, Equals(top_k([2.0, 3.0, 2.0, 2.0, 0.0], 2))),
        Case("fewer-than-k", "fewer than k tokens are left. Equal logits stand in several places, but a search by "
             "value finds the first place each time.",
             Call("logits [2, 3, 2, 2, 0] and k = 3", args([2.0, 3.0, 2.0, 2.0, 0.0], 3)),
             Recognises(lambda value: np.isfinite(as_array(value)).sum() < 3)),
        _asks("exactly-k", _EXACTLY, [3.0, 3.0, 1.0], 1),
        _asks("exactly-k", _EXACTLY, [2.0, 2.0, 2.0], 2),
        _asks("close", _CLOSE, [1.0, 1.00002, 0.0], 1),
        _asks("ranked-by-probabilities", _PROBS_TIE, [0.0, -1000.0, -500.0], 2),
        _asks("ranked-by-probabilities", _PROBS_TIE, [100.0, 200.0, 0.0], 1),
        _asks("minus-inf", _MINUS_INF, [-1.0, -INF, -2.0], 1),
        _asks("minus-inf", _MINUS_INF, [-INF, 1.0, -INF, 0.0, -INF], 3),
        _asks("k-too-large", "k = V and every larger k keep all tokens.", _FOUR.tolist(), 4),
        _asks("k-too-large", _K_LARGE, _FOUR.tolist(), 50),
        _asks("k-too-large", _K_LARGE, [-INF, 2.0], 3),
        _asks("k-none", _K_NONE, _FOUR.tolist(), None),
        _asks("per-row", _PER_ROW, _TWO, 2),
        _asks("per-row", _PER_ROW, [[3.0, 1.0], [2.0, 0.0]], 1),
        _asks("axis-lost", AXIS_LOST, [[1.0, 3.0, 2.0]], 2),
        _asks("axis-lost", AXIS_LOST, [[4.0], [7.0]], 1),
        _asks("three-axes", "with three axes, (B, T, V), each of the B * T rows keeps its own k tokens.",
              [[[1.0, 5.0, 2.0], [4.0, 0.0, 3.0], [6.0, 8.0, 7.0]]], 1),
        _asks("float64", FLOAT64, _FINE, 3, dtype="float64", shown=f"float64 logits {_FINE}"),
        Case("any-layout", ANY_LAYOUT, Call(f"logits {turned_text(_TURNED)} and k = 2", turned(_TURNED, 2)),
             Equals(top_k(_TURNED, 2)), error_is_typical=True),
        _asks("any-size", ANY_SIZE, _FOUR_AXES, 2, shown=f"logits {_FOUR_AXES_TEXT}"),
        _asks("any-size", ANY_SIZE, _WIDE, 110, shown=f"logits {_WIDE_TEXT}"),
        _asks("k-none", _K_NONE, _LONG, None, shown=f"logits {_LONG_TEXT}"),
        _asks("any-size", ANY_SIZE, _WHOLE, 5, shown=f"logits {_WHOLE_TEXT}"),
        _asks("long-ties", "in a long row of equal logits, too, the lower ids stay. A sort that is not stable puts "
              "equal logits in any order.", np.zeros(80), 3, shown="logits torch.zeros(80)"),
        _asks("long-ties", "in a long row with many ties, too, the lower ids stay. A sort that is not stable puts "
              "equal logits in any order.", _MANY_TIES, 20, shown=f"logits {_MANY_TIES_TEXT}"),
        _asks("close", _CLOSE, _LATE, 1, shown="300 logits: 0, and the last one 0.00002"),
    ),
)  # fmt: skip

"""Exercise 03.top_p. Its logits are not log-probabilities: a constant is added, so that the two can be told apart."""

# The reference is shown to learners as they would write it, without types.
# mypy: allow-untyped-defs

import numpy as np

from course_utils.checker.answers import as_array, same
from course_utils.checker.exercise import Call, Case, Equals, FunctionExercise, Holds, Recognises
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
    softmax,
    top_k,
    top_p,
)
from course_utils.exercises.common.hints import ANY_LAYOUT, AXIS_LOST, OTHER_CALL
from course_utils.exercises.common.inputs import Rows, args, made, turned, turned_text
from course_utils.exercises.common.recognisers import any_of


def top_p_filter(logits, p):
    """Keep the fewest likeliest tokens of each row whose total probability reaches p."""
    if p == 1:
        return logits.clone()
    ranked, places = logits.double().sort(dim=-1, descending=True, stable=True)
    probs = ranked.softmax(dim=-1)
    stays = probs.cumsum(dim=-1) - probs < p  # the total before the token is still below p
    stays = stays.scatter(-1, places, stays)  # from the order of the ranking to that of the ids
    return logits.masked_fill(~stays, float("-inf"))


def _logits(*probs: float, shift: float = -1.0) -> np.ndarray:
    return np.round(np.log(probs) + shift, 6)


def _on(logits: Rows, p: float, shown: str = "", dtype: str = "float32") -> Call:
    """A call with these arguments. The logits are shown and, where they are few, their probabilities.

    shown: what is said of the logits, where they are not written out.
    """
    logits = np.asarray(logits)
    few = logits.ndim == 1 and logits.size < 7 and not shown
    probs = f" (probabilities {np.round(softmax(logits), 5).tolist()})" if few else ""
    return Call(f"{shown or f'logits {logits.tolist()}'}{probs} and p = {p}", args(logits, p, dtype=dtype))


def _asks(hint_id: str, hint: str, logits: Rows, p: float, shown: str = "", dtype: str = "float32") -> Case:
    """A case that asks for the filtered logits."""
    return Case(hint_id, hint, _on(logits, p, shown, dtype), Equals(top_p(logits, p)), error_is_typical=True)


def _above(limit: float) -> np.ndarray:
    """The tokens of _SIX that have at least this probability."""
    return keep(_SIX, lambda row: np.flatnonzero(softmax(row) >= limit).tolist())


def _tied(hint_id: str, hint: str, logits: Rows, p: float, number: int) -> Case:
    """A case with equal logits: `number` of the likeliest tokens stay, unchanged. Which of equal ones is open."""
    row = np.asarray(logits, dtype=np.float32).astype(np.float64)

    def holds(value: object, _: tuple) -> bool:
        array = as_array(value)
        kept = np.isfinite(array)
        if array.shape != row.shape or kept.sum() != number or not same(array[kept], row[kept]):
            return False
        return np.isneginf(array[~kept]).all() and row[~kept].max() <= row[kept].min()

    return Case(hint_id, hint, _on(logits, p), Holds(holds), error_is_typical=True)


_HALF = _logits(0.45, 0.5, 0.05)
_RIGHT_P = top_p(_HALF, 0.8)
_MIX = _logits(0.2, 0.36, 0.15, 0.29, shift=1.0)
_SIX = _logits(0.12, 0.3, 0.02, 0.25, 0.2, 0.11)
_PEAK = _logits(0.04, 0.93, 0.03)
_STEEP = _logits(0.03, 0.9, 0.04, 0.02, 0.01)
_ORDER = _logits(0.1, 0.6, 0.3)
_POSITIVE = np.array([1.0, 3.0, 2.0, 0.0])
_COLUMNS = np.array([_logits(0.6, 0.3, 0.1), _logits(0.1, 0.25, 0.65)])
_PER_ROW = np.array([_logits(0.25, 0.6, 0.15), _logits(0.3, 0.3001, 0.3999), _logits(0.95, 0.02, 0.03)])
_TURNED = [[[1.0, 3.0, 2.0], [2.0, -1.0, 1.5]], [[4.0, 6.0, 5.0], [0.0, -2.0, -1.0]]]
_FINE = [8.7109375, 8.5153076, 8.0001953, 2.2]  # exact in float64; float16 and four decimals would change them
_FLAT, _FLAT_TEXT = made(12, by=5, modulo=12, over=20)
_SIXTY, _SIXTY_TEXT = made(60, by=7, modulo=60, over=100)
_LONG, _LONG_TEXT = made(300, by=7, modulo=300, over=500)
_CUBE, _CUBE_TEXT = made(3, 4, 9, by=5, modulo=108, minus=50, over=11)
_FOUR_AXES, _FOUR_AXES_TEXT = made(2, 1, 3, 3, by=7, modulo=18, over=4)
_HAND = _on(_HALF, 0.8)

_SMALL_P = "use a small p as it is. The likeliest token always stays, and others stay only until p is reached."
_TIES = (
    "comparing logits or probabilities cannot tell equal tokens apart. Even of equal tokens, only as many stay as are "
    "needed to reach p."
)
_P_ONE = "p = 1 needs every token, even the unlikely ones. (And p may be the whole number 1.)"
_NEAR = "a total just above p has reached it, and a total just below p has not. Add nothing, and do not round."
_TAIL = "use p as it is in a long row, too. A p near 1 still drops the tokens that are not needed, and only those."
_OVERFLOW = (
    "far from 0 the exponentials of the logits are all infinite or all 0. Subtract the largest logit first, or let "
    "softmax do it."
)
_MINUS_INF = (
    "a token that was dropped before has the logit -inf and stays dropped. The other tokens share the whole "
    "probability."
)

EXERCISE = FunctionExercise(
    id="03.top_p",
    writes="`top_p_filter(logits, p)`",
    contract="(..., V), 0 < p <= 1, where 1 keeps every token; the crossing token stays; per row; original order; "
    "input unchanged",
    difficulty="hard",
    minutes=15,
    hints=(
        "Sort from the likeliest down, and add probabilities up until p is reached.",
        "A token stays if the total of the tokens before it is still below p. So the token that takes the total past "
        "p stays as well.",
        "You decide in sorted order. `scatter` with the sort's indices brings the decision back to the order of the "
        "ids.",
    ),
    reference=top_p_filter,
    cases=(
        Case("a-mask", A_MASK, _HAND, Recognises(mask_of(_RIGHT_P))),
        Case("sorted-order", SORTED, _HAND, Recognises(any_of(np.sort(_RIGHT_P)[::-1], np.sort(_RIGHT_P)))),
        Case("probabilities", PROBABILITIES, _HAND, Recognises(probabilities_of(_RIGHT_P))),
        Case("finite-fill", FINITE_FILL, _HAND, Recognises(other_fill(_HALF, _RIGHT_P))),
        Case("other-call", OTHER_CALL, _on(_SIX, 0.45), Recognises(top_p(_SIX, 0.8))),
        Case("complement", "the kept tokens together reach 1 - p. They should reach p, counted from the likeliest "
             "down.",
             _on(_MIX, 0.3), Recognises(top_k(_MIX, 3))),
        Case("unnormalised", "only the likeliest token is left, and it does not reach p by itself. The numbers that "
             "you add up must be probabilities, which sum to 1.", _on(_MIX, 0.8), Recognises(top_k(_MIX, 1))),
        Case("crossing-token", "the token that takes the total past p was dropped, so the kept tokens have less than "
             "p. Keep that token too.", _HAND, Recognises(top_k(_HALF, 1))),
        Case("all-dropped", "no token is left. At least the likeliest token always stays.",
             _on(_PEAK, 0.8), Recognises([-INF] * 3)),
        Case("share-of-tokens", "this keeps a share p of the number of tokens. But p is a share of the probability.",
             _on(_STEEP, 0.8), Recognises(top_k(_STEEP, 4))),
        Case("threshold", "each probability was compared with a limit. Compare p with the running total instead, from "
             "the likeliest token down.", _on(_SIX, 0.7),
             Recognises(any_of(*map(_above, (0.7, 0.3 * 0.7, 0.29, 0.3 * 0.3))))),
        Case("sums-logits", "logits were added up. Turn them into probabilities first: it is the probabilities that "
             "have to reach p.", _on(_POSITIVE, 0.8), Recognises(top_k(_POSITIVE, 1))),
        Case("one-token-too-many", "one token more than needed was kept. The token that takes the total past p is the "
             "last one that stays.", _on(_SIX, 0.7), Recognises(top_k(_SIX, 4))),
        Case("input-returned", NOTHING_DROPPED, _HAND, Recognises(_HALF)),
        Case("unsorted", "the total was added up in the order of the ids. Begin with the likeliest token.",
             _on(_ORDER, 0.55), Recognises([_ORDER[0], _ORDER[1], -INF])),
        Case("mask-not-unsorted", "the right number of tokens stays, but they are the wrong ones. The decision was "
             "made in sorted order and then applied in the order of the ids.", _on(_ORDER, 0.55),
             Recognises(any_of([_ORDER[0], -INF, -INF], [-INF, -INF, _ORDER[2]]))),
        Case("gathered", "the kept logits stand at the wrong ids. `gather` reads from the places that the sort gives. "
             "To bring the decision back you have to write to them, with `scatter`.", _on(_ORDER, 0.55),
             Recognises([-INF, -INF, _ORDER[1]])),
        Case("by-hand", "sort by hand, add up until the total reaches p, and mark what you added. These tokens stay "
             "unchanged in their places.", _HAND, Equals(_RIGHT_P)),
        Case("other-call", OTHER_CALL, _on(_HALF[::-1], 0.8), Recognises(any_of(_RIGHT_P, [*_HALF[:0:-1], -INF]))),
        _asks("peaked", "the likeliest token reaches p by itself, so no other token stays.", _PEAK, 0.8),
        _asks("small-p", _SMALL_P, _HALF, 0.01),
        _asks("small-p", "even for a tiny p one token stays. Here 1 - p rounds to 1, so compare with p itself.", _HALF,
              1e-8),
        _asks("small-p", _SMALL_P, _FLAT, 0.05, f"logits {_FLAT_TEXT}"),
        _asks("near-p", _NEAR, _logits(0.3, 0.5002, 0.1998), 0.5),
        _asks("near-p", _NEAR, _logits(0.3, 0.4998, 0.2002), 0.5),
        _asks("p-one", _P_ONE, _HALF, 1.0),
        _asks("p-one", _P_ONE, _HALF, 1),
        _asks("p-one", _P_ONE, _logits(0.00003, 0.99992, 0.00005), 1.0),
        _asks("overflow", _OVERFLOW, [1000.0, 999.0, 0.0], 0.8),
        _asks("overflow", _OVERFLOW, [-1001.0, -1000.0, -1004.0], 0.8),
        _asks("near-p", _NEAR, [1000.25, 1000.0, 999.75], 0.4),
        _tied("exact-ties", _TIES, _logits(0.4, 0.3, 0.3), 0.5, 2),
        _tied("exact-ties", _TIES, [2.0, 2.0, 2.0, 2.0], 0.6, 3),
        Case("other-axis", "tokens of different rows were sorted or added up together. Each row is a separate "
             "distribution, and it lies along the last axis.",
             _on(_COLUMNS, 0.5), Recognises(top_p(_COLUMNS.T, 0.5).T)),
        _asks("per-row", "each row has its own order and its own number of tokens.", _PER_ROW, 0.8),
        _asks("minus-inf", _MINUS_INF, [-1.0, -INF, 0.5, -INF, -0.5], 0.7),
        _asks("minus-inf", _MINUS_INF, [-INF, 0.5], 1.0),
        _asks("minus-inf", _MINUS_INF, [[-INF, -3.0, -2.0], [-1.0, -INF, -INF]], 0.6),
        _asks("axis-lost", AXIS_LOST, [[1.0, 3.0, 2.0]], 0.8),
        _asks("axis-lost", AXIS_LOST, [[4.0], [7.0]], 0.3),
        _asks("three-axes", "with three axes, (B, T, V), each of the B * T rows is filtered on its own.", [_PER_ROW],
              0.8),
        Case("float64", FLOAT64, Call(f"float64 logits {_FINE} and p = 0.8", args(_FINE, 0.8, dtype="float64")),
             Equals(top_p(_FINE, 0.8)), error_is_typical=True),
        Case("any-layout", ANY_LAYOUT, Call(f"logits {turned_text(_TURNED)} and p = 0.8", turned(_TURNED, 0.8)),
             Equals(top_p(_TURNED, 0.8)), error_is_typical=True),
        _asks("any-size", ANY_SIZE, _CUBE, 0.75, f"logits {_CUBE_TEXT}"),
        _asks("any-size", ANY_SIZE, _FOUR_AXES, 0.85, f"logits {_FOUR_AXES_TEXT}"),
        _asks("long-row", "in a long row many tokens may be needed. Set no limit on their number.", _SIXTY, 0.9,
              f"logits {_SIXTY_TEXT}"),
        _asks("long-row", "in a long row many tokens may be needed, each with a small probability. Set no limit on "
              "their number.", _LONG, 0.9, f"logits {_LONG_TEXT}"),
        _asks("long-row", _TAIL, _SIXTY, 0.97, f"logits {_SIXTY_TEXT}"),
        _asks("long-row", _TAIL, _LONG, 0.995, f"logits {_LONG_TEXT}"),
        _asks("small-p", _SMALL_P, _LONG, 0.0072, f"logits {_LONG_TEXT}"),
        _tied("reached-p", "two tokens of 0.25 have reached 0.5, but a third one stayed. A total that equals p has "
              "reached it: a token stays only if the total before it is below p.", [0.0, 0.0, 0.0, 0.0], 0.5, 2),
        _asks("p-one-tail", "p = 1 keeps every token. In float32 the running total rounds to 1 before the last token. "
              "Add up in float64, or return early for p = 1.", [0.0, -1.0, -30.0], 1.0),
    ),
)  # fmt: skip

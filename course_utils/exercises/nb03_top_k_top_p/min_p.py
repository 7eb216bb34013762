"""Exercise 03.min_p. Its logits are what float32 holds, so a kept logit can be asked to come back exactly as it was."""

# The reference is shown to learners as they would write it, without types.
# mypy: allow-untyped-defs

import math

import numpy as np

from course_utils.checker.exercise import Call, Case, Equals, FunctionExercise, Raises, Recognises
from course_utils.exercises.common.filters import (
    A_MASK,
    ANY_SIZE,
    FINITE_FILL,
    FLOAT64,
    INF,
    NOTHING_DROPPED,
    PROBABILITIES,
    keep,
    mask_of,
    other_fill,
    probabilities_of,
    top_k,
)
from course_utils.exercises.common.hints import ANY_LAYOUT, AXIS_LOST
from course_utils.exercises.common.inputs import Rows, args, made, turned, turned_text


def min_p_filter(logits, min_p):
    """Keep the tokens with at least min_p times the probability of the likeliest one."""
    if min_p is not None and not 0 <= min_p <= 1:
        raise ValueError(f"min_p is {min_p}; expected a share from 0 to 1, or None.")
    if not min_p:
        return logits.clone()
    border = logits.amax(-1, keepdim=True).double() + math.log(min_p)
    return logits.masked_fill(logits.double() < border, -math.inf)


def _oracle(logits: Rows, min_p: float | None) -> np.ndarray:
    """Token by token, each row for itself."""
    border = math.log(min_p) if min_p else -INF
    return keep(logits, lambda row: [token for token, x in enumerate(row) if x >= max(row) + border])


def _logits(*probs: float, shift: float = -1.0) -> np.ndarray:
    return (np.log(probs) + shift).astype(np.float32).astype(np.float64)


def _on(logits: Rows, min_p: float | None, shown: str = "", dtype: str = "float32") -> Call:
    shown = shown or f"logits {np.round(logits, 4).tolist()}"
    return Call(f"{shown} and min_p = {min_p}", args(np.asarray(logits), min_p, dtype=dtype))


def _asks(hint_id: str, hint: str, logits: Rows, min_p: float | None, shown: str = "", dtype: str = "float32") -> Case:
    return Case(hint_id, hint, _on(logits, min_p, shown, dtype), Equals(_oracle(logits, min_p), 0), True)


_FOUR = _logits(0.16, 0.5, 0.04, 0.3)
_RIGHT = _oracle(_FOUR, 0.25)
_HAND = Call("the logits of the probabilities [0.16, 0.5, 0.04, 0.3], each less 1, and min_p = 0.25", args(_FOUR, 0.25))
_POSITIVE = [1.0, 3.0, 2.0, 0.25]
_ROWS = np.array([_logits(0.7, 0.2, 0.1), _logits(0.36, 0.34, 0.3, shift=2.0), _logits(0.05, 0.15, 0.8, shift=-6.0)])
_COLUMNS = np.array([_logits(0.6, 0.3, 0.1), _logits(0.1, 0.2, 0.7)])
_TURNED = [[[1.0, 3.0, 2.5], [2.0, -1.0, 1.5]], [[4.0, 6.0, 5.75], [0.0, -2.0, -0.5]]]
_CUBE, _CUBE_TEXT = made(3, 4, 9, by=5, modulo=108, minus=50, over=8)
_FINE = [8.7109375, 8.5153076, 8.0001953, 2.2]
_OFF = "None and 0 switch the filter off: every token is kept."
_RANGE = "a min_p below 0 or above 1 makes no sense as a share. Raise a ValueError for it."
_MINUS_INF = "a token that was dropped before has the logit -inf and stays dropped."
_TINY = (
    "in float32 the probabilities of unlikely tokens round to 0, and then they can no longer be compared. Compare "
    "logits instead."
)

EXERCISE = FunctionExercise(
    id="03.min_p",
    writes="`min_p_filter(logits, min_p)`",
    contract="(..., V), min_p None or a number: keep x >= max(row) + ln(min_p), unchanged, others -inf, each row "
    "alone; None and 0 keep all; ValueError below 0 or above 1",
    difficulty="medium",
    minutes=10,
    hints=(
        "A token stays if its probability is at least min_p times that of the likeliest token in its row.",
        "You need no softmax, because its sum cancels: p >= min_p * p_max means the same as x >= x_max + ln(min_p).",
        "`amax(-1, keepdim=True)` gives the largest logit of each row, and `masked_fill` writes -inf. Deal with None "
        "and 0 first.",
    ),
    reference=min_p_filter,
    cases=(
        Case("a-mask", A_MASK, _HAND, Recognises(mask_of(_RIGHT))),
        Case("probabilities", PROBABILITIES, _HAND, Recognises(probabilities_of(_RIGHT))),
        Case("finite-fill", FINITE_FILL, _HAND, Recognises(other_fill(_FOUR, _RIGHT))),
        Case("input-returned", NOTHING_DROPPED, _HAND, Recognises(_FOUR)),
        Case("absolute", "each probability was compared with min_p itself. The limit is min_p times the probability "
             "of the likeliest token.", _HAND, Recognises(top_k(_FOUR, 2))),
        Case("subtracts-share", "min_p was subtracted from the largest logit. A factor between two probabilities "
             "becomes a distance between two logits, and that distance is the factor's logarithm.",
             _HAND, Recognises(top_k(_FOUR, 1))),
        Case("share-of-logit", "the largest logit was multiplied by min_p. Take the share of the largest probability, "
             "not of the logit.", _on(_POSITIVE, 0.5), Recognises(top_k(_POSITIVE, 2))),
        Case("other-axis", "the largest logit of each column was used. A row of logits lies along the last axis.",
             _on(_COLUMNS, 0.4), Recognises(_oracle(_COLUMNS.T, 0.4).T)),
        Case("whole-tensor", "the largest logit of the whole tensor was used. Each row has its own.", _on(_ROWS, 0.4),
             Recognises(keep(_ROWS, lambda row: [i for i in range(3) if row[i] >= _ROWS.max() + math.log(0.4)]))),
        Case("inverted", "the tokens that should stay were dropped, and the others were kept.", _HAND,
             Recognises(np.where(np.isfinite(_RIGHT), -INF, _FOUR))),
        Case("by-hand", "work it out by hand: multiply the largest probability by min_p. Tokens at or above this "
             "limit stay unchanged in their places.", _HAND, Equals(_RIGHT, 0)),
        _asks("off", _OFF, _FOUR, None),
        _asks("off", _OFF, _FOUR, 0),
        _asks("off", _OFF, [-INF, 2.0, -3.0], 0.0),
        _asks("one", "min_p = 1 keeps the likeliest token and every token that ties with it.", [1.0, 2.5, 0.0, 2.5], 1),
        _asks("one", "min_p = 1 keeps the likeliest token and every token that ties with it.", [1.0, 2.5, 0.0], 1.0),
        Case("out-of-range", _RANGE, _on(_FOUR, -0.1), Raises(ValueError)),
        Case("out-of-range", _RANGE, _on(_FOUR, 1.5), Raises(ValueError)),
        Case("out-of-range", _RANGE, _on(_FOUR, 2), Raises(ValueError)),
        _asks("per-row", "each row has its own largest logit and its own limit.", _ROWS, 0.4),
        _asks("minus-inf", _MINUS_INF, [-INF, 0.5, -INF, -0.25], 0.3),
        _asks("minus-inf", _MINUS_INF, [[-INF, -3.0], [1.0, -INF]], 1.0),
        _asks("overflow", "far from 0 the exponentials of the logits are all infinite or all 0. Compare logits, or "
              "subtract the largest one first.", [1000.0, 999.0, 990.0], 0.1),
        _asks("overflow", "far from 0 the exponentials of the logits are all infinite or all 0. Compare logits, or "
              "subtract the largest one first.", [-1001.0, -1000.0, -1004.0], 0.1),
        _asks("axis-lost", AXIS_LOST, [[1.0, 3.0, 2.0]], 0.3),
        _asks("axis-lost", AXIS_LOST, [[4.0], [7.0]], 0.3),
        _asks("three-axes", "with three axes, (B, T, V), each of the B * T rows is filtered on its own.", [_ROWS], 0.4),
        Case("any-layout", ANY_LAYOUT, Call(f"logits {turned_text(_TURNED)} and min_p = 0.5", turned(_TURNED, 0.5)),
             Equals(_oracle(_TURNED, 0.5), 0), error_is_typical=True),
        _asks("float64", FLOAT64, _FINE, 0.3, f"float64 logits {_FINE}", "float64"),
        _asks("any-size", ANY_SIZE, _CUBE, 0.15, f"logits {_CUBE_TEXT}"),
        _asks("tiny", _TINY, [0.0, -120.0, -150.0], 1e-60),
    ),
)  # fmt: skip

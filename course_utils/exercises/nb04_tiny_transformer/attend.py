"""Exercise 04.attend."""

# The reference is shown to learners as they would write it, without types.
# mypy: allow-untyped-defs

from collections.abc import Callable

import numpy as np

from course_utils.checker.answers import same
from course_utils.checker.exercise import Call, Case, Equals, FunctionExercise, Recognises
from course_utils.exercises.common.inputs import Rows, made, tensor


def attend(q, k, v, mask):
    """Each query's weighted mean of the values, over the keys that the mask allows: (T, Dv)."""
    scores = q @ k.T / q.shape[-1] ** 0.5
    scores = scores.masked_fill(~mask, float("-inf"))
    return scores.softmax(dim=-1) @ v


def _attended(q: Rows, k: Rows, v: Rows, mask: Rows) -> list[list[float]]:
    """The oracle: one query after another, over a list of its allowed keys only, in float64."""
    q, k, v = (np.asarray(values, dtype=np.float64) for values in (q, k, v))
    answer = []
    for query, allowed in zip(q, np.asarray(mask), strict=True):
        seen = np.flatnonzero(allowed)
        scores = np.array([sum(query * k[key]) for key in seen]) / np.sqrt(len(query))
        shares = np.exp(scores - scores.max())
        answer.append([sum(shares * v[seen, column]) / sum(shares) for column in range(v.shape[1])])
    return answer


def _softmax(scores: np.ndarray, axis: int = -1) -> np.ndarray:
    shares = np.exp(scores - scores.max(axis, keepdims=True))
    return shares / shares.sum(axis, keepdims=True)


def _given(q: Rows, k: Rows, v: Rows, mask: Rows, shown: str = "") -> Call:
    """A call with these arguments; shown: what is said of them where they are not written out."""
    mask = np.asarray(mask, dtype=bool)
    written = [np.asarray(values).tolist() for values in (q, k, v, mask)]
    text = shown or ", ".join(
        f"{name} = {values}" for name, values in zip(("q", "k", "v", "mask"), written, strict=True)
    )
    return Call(text, lambda: (tensor(q), tensor(k), tensor(v), tensor(mask, "bool")))


def _asks(hint_id: str, hint: str, q: Rows, k: Rows, v: Rows, mask: Rows, shown: str = "") -> Case:
    """A case that asks for the whole answer."""
    expected = Equals(_attended(q, k, v, mask))
    return Case(hint_id, hint, _given(q, k, v, mask, shown), expected, error_is_typical=True)


_Q = np.array([[2.0, 0, 1, 0], [0, 2, 0, 1], [2, 1, 0, 2]])
_K = np.array([[1.0, 0, 3, 0], [0, 2, 1, 0], [2, 0, 0, 2]])
_V = np.array([[6.0, 0], [1, 8], [3, 5]])
_CAUSAL = np.tri(3, dtype=bool)
_DOTS = _Q @ _K.T
_SCORES = _DOTS / 2  # the root of 4 dimensions
_HIDDEN = np.where(_CAUSAL, _SCORES, -np.inf)
_LENGTHS = np.linalg.norm(_Q, axis=1)[:, None] * np.linalg.norm(_K, axis=1)
_HAND = _given(_Q, _K, _V, _CAUSAL)


def _scaled(scores: np.ndarray) -> Callable[[object], bool]:
    """Recognises the mixtures of these scores, with the mask of the example."""
    return lambda value: same(value, _softmax(np.where(_CAUSAL, scores, -np.inf)) @ _V)


def _mixed(weights: np.ndarray) -> Callable[[object], bool]:
    return lambda value: same(value, weights @ _V)


_LAST_SEEN = [[True, False, True], [False, True, True], [True, True, False]]  # no triangle
_WIDE = ([[2.0, 0], [1, 1]], [[1.0, 2], [0, 1], [3, 0]], [[1.0, 2, 3, 4], [0, 4, 0, 8], [5, 0, 1, 0]])
_FAR = [[100.0, 0, 0, 0], [100, 0, 0, 0], [0, 100, 0, 0]]
_TO_FAR = [[200.0, 0, 0, 0]]
_BIG_Q, _Q_TEXT = made(5, 6, by=7, modulo=11, minus=5, over=4)
_BIG_K, _K_TEXT = made(9, 6, by=5, modulo=13, minus=6, over=4)
_BIG_V, _V_TEXT = made(9, 4, by=11, modulo=17, minus=8, over=4)
_BIG_MASK = np.arange(45).reshape(5, 9) * 3 % 5 < 2
_BIG_TEXT = f"q = {_Q_TEXT}, k = {_K_TEXT}, v = {_V_TEXT} and mask = torch.arange(45).reshape(5, 9) * 3 % 5 < 2"

EXERCISE = FunctionExercise(
    id="04.attend",
    writes="`attend(q, k, v, mask)`",
    contract="(T, D), (S, D), (S, Dv), bool (T, S) True = may → (T, Dv): softmax(q·k / √D) over allowed keys, times v; "
    "every row allows a key",
    difficulty="medium",
    minutes=15,
    hints=(
        "There are four steps: compute a score for every query and key, apply the mask, apply softmax, and take the "
        "weighted mean of the values.",
        "The scores are q @ k.T, (T, S), divided by the square root of the number of dimensions, q.shape[-1].",
        "Scores of hidden keys become -inf before softmax (`masked_fill` with ~mask). Softmax runs over the keys, the "
        "last axis; the weights (T, S) times v (S, Dv) are the answer.",
    ),
    reference=attend,
    cases=(
        Case("weights-too", "these are two results. Return one tensor only, the weighted means (T, Dv), without the "
             "weights.", _HAND,
             Recognises(lambda value: isinstance(value, tuple | list) and len(value) == 2)),
        Case("weights-only", "these are the weights. Multiply them by the values: each query receives a weighted mean "
             "of v.", _HAND, Recognises(_softmax(_HIDDEN))),
        Case("not-scaled", "the dot products were not divided. Divide them by the square root of the number of "
             "dimensions before softmax.", _HAND, Recognises(_scaled(_DOTS))),
        Case("divided-by-d", "the dot products were divided by the number of dimensions. Divide by the square root of "
             "that number.", _HAND, Recognises(_scaled(_DOTS / 4))),
        Case("divided-by-norms", "the dot products were divided by the lengths of the two vectors. Divide by the "
             "square root of the number of dimensions, whatever the vectors contain.", _HAND,
             Recognises(_scaled(_DOTS / _LENGTHS))),
        Case("other-dimension", "this is the square root of another size. D is the number of dimensions of a query, "
             "q.shape[-1]. It is neither the size of a value nor the number of keys.", _HAND,
             Recognises(lambda value: _scaled(_DOTS / 2**0.5)(value) or _scaled(_DOTS / 3**0.5)(value))),
        Case("mask-ignored", "every query has seen every key. Where the mask is False, the weight must be 0.", _HAND,
             Recognises(_mixed(_softmax(_SCORES)))),
        Case("hidden-zero", "the scores of hidden keys are 0, and a score of 0 still has a share in softmax. Use -inf.",
             _HAND, Recognises(_mixed(_softmax(np.where(_CAUSAL, _SCORES, 0))))),
        Case("mask-added", "the mask was added to the scores as 0 and 1. It says who may attend: put -inf where it is "
             "False.", _HAND, Recognises(_mixed(_softmax(_SCORES + _CAUSAL)))),
        Case("not-renormalised", "the weights of a row no longer add up to 1, because hidden ones were set to 0 after "
             "softmax. Hide the scores before softmax, and the other keys share the whole weight.", _HAND,
             Recognises(_mixed(_softmax(_SCORES) * _CAUSAL))),
        Case("other-axis", "softmax ran over the queries. Each query shares out a weight of 1 among the keys, so "
             "softmax has to run over the last axis of the scores.", _HAND,
             Recognises(lambda value: _mixed(_softmax(_HIDDEN, 0))(value) or _mixed(_softmax(_HIDDEN.T, 0))(value))),
        Case("no-softmax", "the scores themselves were multiplied by the values. Turn them into weights with softmax "
             "first.", _HAND, Recognises(_mixed(np.where(_CAUSAL, _SCORES, 0)))),
        Case("inverted", "hidden and allowed keys have changed places. True means that a query may attend to a key.",
             _given(_Q, _K, _V, _LAST_SEEN), Recognises(_attended(_Q, _K, _V, ~np.array(_LAST_SEEN)))),
        _asks("by-hand", "take one row at a time: compute its scores with the allowed keys, softmax over these alone, "
              "and then the weighted mean of their values.", _Q, _K, _V, _CAUSAL),
        _asks("mask-decides", "this mask is not a triangle. The mask alone says who may attend. Here a query may even "
              "attend to a later key, or not to its own.", _Q, _K, _V, _LAST_SEEN),
        _asks("sizes", "here are two queries, three keys, and values of four dimensions. T, S, D and Dv do not depend "
              "on each other.",
              *_WIDE, [[True, True, False], [True, False, True]]),
        _asks("smallest", "there is one query, and one key that it may read. The weight is 1, and the answer has the "
              "shape (1, Dv).",
              [[3.0, 1.0]], [[2.0, -1.0]], [[7.0, -2.0, 4.0]], [[True]]),
        _asks("overflow", "exponentials of large scores are infinite. Subtract the largest score of the row first, or "
              "let softmax do it.", _TO_FAR, _FAR, [[4.0], [8], [100]], [[True, True, True]]),
        _asks("hidden-maximum", "the largest score of this row belongs to a hidden key. Hide it first, so that only "
              "allowed scores decide what is subtracted.", _TO_FAR, [[100.0, 0, 0, 0], [0, 1, 0, 0], [0, 2, 0, 0]],
              [[100.0], [4], [8]], [[False, True, True]]),
        _asks("finite-fill", "the allowed scores are very low here, so a finite number in place of -inf does not hide "
              "a key.", [[-200.0, 0, 0, 0]], _FAR, [[4.0], [8], [100]], [[True, True, False]]),
        _asks("one-maximum", "the largest score of another row was subtracted, and all exponentials of this row "
              "became 0. Subtract each row's own largest score.",
              [[200.0, 0, 0, 0], [-200, 0, 0, 0]], _FAR, [[4.0], [8], [100]], [[True, True, False]] * 2),
        _asks("any-size", "small inputs come out right and a larger one does not. Look for a size that is fixed in "
              "the code.", _BIG_Q, _BIG_K, _BIG_V, _BIG_MASK, _BIG_TEXT),
    ),
)  # fmt: skip

"""Attention in lists of numbers: cases for a visitor's function, and the comparison of two ways to run it."""

import math
from collections.abc import Callable, Sequence

from course_utils.live.checks import Case, Finding, same, written
from course_utils.live.distributions import softmax

Vector = list[float]


def attend(query: Vector, keys: list[Vector], values: list[Vector], scale: bool = True) -> Vector:
    """The oracle: what a token with this query receives from the tokens with these keys and values."""
    scores = [_dot(query, key) / (math.sqrt(len(query)) if scale else 1) for key in keys]
    return [_dot(softmax(scores), column) for column in zip(*values, strict=True)]


def _dot(one: Sequence[float], other: Sequence[float]) -> float:
    return sum(a * b for a, b in zip(one, other, strict=True))


_QUERY, _KEYS, _VALUES = [1.0, 2.0], [[1.0, 0.0], [0.5, 1.0], [-1.0, 1.0]], [[1.0, 0.0], [0.0, 4.0], [2.0, 2.0]]
_HAND = (_QUERY, _KEYS, _VALUES)
_SCORES = [_dot(_QUERY, key) / math.sqrt(2) for key in _KEYS]
_LARGE = ([40.0, 0.0, 0.0, 40.0], [[40.0, 1.0, 0.0, 1.0], [1.0, 0.0, 2.0, 40.0]], [[1.0, 2.0, 3.0, 4.0], [5.0] * 4])


def _mixed(weights: Vector) -> Vector:
    return [_dot(weights, column) for column in zip(*_VALUES, strict=True)]


ATTEND = (
    Case("page/attend-unscaled", _HAND, wrong=[attend(*_HAND, scale=False)]),
    Case("page/attend-no-softmax", _HAND, wrong=[_mixed(_SCORES), _mixed([_SCORES[0], *_SCORES[1:]])]),
    Case("page/attend-not-normalised", _HAND, wrong=[_mixed([math.exp(s) for s in _SCORES]),
                                                     _mixed([math.exp(s - max(_SCORES)) for s in _SCORES])]),
    Case("page/attend-newest-only", _HAND, wrong=[_VALUES[-1]]),
    Case("page/attend-mean", _HAND, wrong=[_mixed([1 / 3] * 3)]),
    Case("page/attend", _HAND, want=attend(*_HAND)),
    Case("page/attend", ([0.3, -0.2], [[2.0, 1.0]], [[7.0, -3.0]]), want=[7.0, -3.0]),
    Case("page/attend-overflow", _LARGE, want=attend(*_LARGE)),
    Case("page/attend", ([1.0, 0.5, -1.0], [[0.0, 1.0, 2.0]] * 2, [[1.0, 2.0, 3.0], [3.0, 2.0, 1.0]]),
         want=[2.0, 2.0, 2.0]),
)  # fmt: skip

TOKENS = [[0.5, -1.0], [1.5, 0.25], [-0.75, 2.0], [0.1, 0.9]]  # not those of the visitor's code


def compare_ways(whole: Callable, cached: Callable, tokens: list[Vector] = TOKENS) -> Finding | None:
    """Whether a decoder with a cache does the same as one that computes everything again, and less of it.

    whole, cached: tokens -> (a list with one vector for each token, the number of positions that were projected).
    Returns None if both are right: the vectors are equal, those of earlier tokens do not change when a token is
        added, and the numbers of positions are n (n + 1) / 2 and n.
    """
    n = len(tokens)
    (wholes, whole_positions), (caches, cached_positions) = whole(_copied(tokens)), cached(_copied(tokens))
    if len(wholes) != n or len(caches) != n:
        return Finding("page/cache-steps", "with_cache(tokens)", f"{len(wholes)}, {len(caches)}")
    if not same(whole(_copied(tokens[:-1]))[0], wholes[:-1]):
        return Finding("page/cache-future", "without_cache(tokens)", written(wholes))
    for step, (one, other) in enumerate(zip(wholes, caches, strict=True)):
        if not same(other, one):
            return Finding("page/cache-differs", f"with_cache(tokens)[0][{step}]", f"{written(other)} ≠ {written(one)}")
    if not same(cached(_copied(tokens))[0], caches):
        return Finding("page/cache-left-over", "with_cache(tokens)", written(caches))
    if whole_positions != n * (n + 1) // 2:
        return Finding("page/cache-count", "without_cache(tokens)[1]", written(whole_positions))
    if cached_positions != n:
        return Finding("page/cache-work", "with_cache(tokens)[1]", written(cached_positions))
    return None


def _copied(tokens: list[Vector]) -> list[Vector]:
    return [list(token) for token in tokens]

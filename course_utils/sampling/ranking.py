"""The tokens that a draw can reach: one ranking, cut by top-k, top-p and min-p.

Tokens are ranked from the likeliest down; of equal logits the lower id comes first. No temperature changes this
ranking, and each filter keeps a beginning of it: the first k, the first that reach a mass, or the first down to a share
of the likeliest. So in whatever order the steps are applied, a step needs to look only at what the steps before it have
kept, and nothing needs to be sorted but the tokens among which top-p may end.
"""

import math
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

# Guards comparisons of probabilities: float32 logits of .6 and .25 give a total of .85 that is off by about
# 3e-8, and top-p = .85 should still keep the two.
EPSILON = 1e-7
_FEW = 1000  # so many logits are sorted in less time than the light ones among them are found


def candidates(logits: np.ndarray, steps: Iterable[tuple[str, float]]) -> tuple[np.ndarray | None, np.ndarray]:
    """The tokens that the steps keep, and their probabilities.

    logits: (V,) float64; the largest is 0.
    steps: names from `STEPS` with their settings, in the order in which they are applied, without those that are off.
    Returns the n kept ids in ascending order, or None if no step has dropped any; and their probabilities, (n,).
    A logit divided by a tiny temperature may overflow to -inf, rightly; callers keep NumPy from warning of it.
    """
    ids, temperature = None, 1.0
    for step, setting in steps:
        if step == "temperature":
            temperature = setting
        elif (kept := _KEPT[step](logits, setting, temperature)) is not None:
            ids = kept if ids is None else ids[kept]
            logits = logits[kept]
    weights = _weights(logits, temperature)
    weights /= weights.sum()
    return ids, weights


def _weights(logits: np.ndarray, temperature: float) -> np.ndarray:
    """Probabilities before they are divided by their sum; the likeliest token has 1."""
    weights = logits / temperature
    return np.exp(weights, out=weights)  # in place, since new memory for a large vocabulary takes as much time


def _first_k(logits: np.ndarray, k: int, temperature: float) -> np.ndarray | None:
    if k >= len(logits):
        return None
    return _beginning(logits, k, np.partition(logits, -k)[-k])


def _first_of_mass(logits: np.ndarray, p: float, temperature: float) -> np.ndarray:
    ranked, light_mass = logits, 0.0
    if len(logits) > _FEW:
        # One of the light tokens and all that rank below it weigh less than (1 - p) of the total: none can be kept.
        weights = _weights(logits, temperature)
        light = weights < (1 - p) * weights.sum() / len(weights)
        ranked, light_mass = logits[~light], weights[light].sum()
    ranked = np.sort(ranked)[::-1]
    mass = _weights(ranked, temperature).cumsum()
    n = 1 + int(mass.searchsorted((p - EPSILON) * (mass[-1] + light_mass)))  # the last one takes the mass to p
    return _beginning(logits, n, ranked[n - 1])


def _first_of_share(logits: np.ndarray, min_p: float, temperature: float) -> np.ndarray:
    return (logits / temperature >= math.log(min_p) - EPSILON).nonzero()[0]


_KEPT: dict[str, Callable[[np.ndarray, Any, float], np.ndarray | None]] = {
    "top_k": _first_k,
    "top_p": _first_of_mass,
    "min_p": _first_of_share,
}


def _beginning(logits: np.ndarray, n: int, last: float) -> np.ndarray:
    """The places of the n first of the ranking, in ascending order. last: the logit of the last of them."""
    kept = (logits >= last).nonzero()[0]
    if len(kept) > n:  # of those that tie with the last one, the lower ids stay
        tied = np.flatnonzero(logits[kept] == last)
        kept = np.delete(kept, tied[n - len(kept) :])
    return kept

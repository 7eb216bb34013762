"""The cases of the functions that make or filter a distribution, and their oracles: lists of numbers in and out."""

import math
from collections.abc import Callable, Sequence
from itertools import accumulate
from typing import Any

from course_utils.live.checks import Case, same


def softmax(logits: Sequence[float], temperature: float = 1.0) -> list[float]:
    """The oracle: probabilities of logits / temperature."""
    top = max(logits)  # before the division, so that a small temperature cannot overflow
    weights = [math.exp((logit - top) / temperature) for logit in logits]
    return [weight / sum(weights) for weight in weights]


def _ranked(probs: Sequence[float]) -> list[int]:
    return sorted(range(len(probs)), key=lambda token: (-probs[token], token))


def _renormalised(probs: Sequence[float], kept: Sequence[int]) -> list[float]:
    total = math.fsum(probs[token] for token in kept)
    return [prob / total if token in kept else 0.0 for token, prob in enumerate(probs)]


def top_k(probs: Sequence[float], k: int) -> list[float]:
    """The oracle: the k likeliest tokens, whose probabilities add up to 1 again."""
    return _renormalised(probs, _ranked(probs)[:k])


def top_p(probs: Sequence[float], p: float) -> list[float]:
    """The oracle: the fewest likeliest tokens whose probabilities reach p, adding up to 1 again."""
    ranked = _ranked(probs)
    before = [0.0, *accumulate(probs[token] for token in ranked)]
    kept = [token for token, total in zip(ranked, before, strict=False) if token == ranked[0] or total < p - 1e-9]
    return _renormalised(probs, kept)


def _kept(answer: Any) -> list[int]:
    return [token for token, prob in enumerate(answer) if prob > 0]


def _not_the_likeliest(probs: Sequence[float], n: int) -> Callable[[object], bool]:
    """Recognises all but n of the likeliest tokens, renormalised. Which of equally likely ones stay is left open."""

    def recognise(answer: Any) -> bool:
        kept = _kept(answer)
        likeliest = sorted(probs)[-n:]
        return sorted(probs[token] for token in kept) != likeliest or not same(answer, _renormalised(probs, kept))

    return recognise


# 02.temperature, on a list

_PAIR = [2.0, 1.0]
_P = softmax(_PAIR)
_DIVIDED = [prob / 0.5 for prob in _P]


def _at(hint: str, logits: list[float], temperature: float) -> Case:
    return Case(f"02.temperature/{hint}", (logits, temperature), want=softmax(logits, temperature))


def _not_at(hint: str, logits: list[float], temperature: float, *wrong: object) -> Case:
    return Case(f"02.temperature/{hint}", (logits, temperature), wrong=wrong)


TEMPERATURE = (
    _not_at("multiplied", _PAIR, 0.5, softmax(_PAIR, 2)),
    _not_at("temperature-ignored", _PAIR, 0.5, _P),
    _not_at("divided-probabilities", _PAIR, 0.5, _DIVIDED),
    _not_at("no-softmax", _PAIR, 0.5, [4.0, 2.0]),
    _not_at("not-normalised", _PAIR, 0.5, [prob**2 for prob in _P], [math.exp(4), math.exp(2)], [1.0, math.exp(-2)]),
    _not_at("softmax-twice", _PAIR, 0.5, softmax(_DIVIDED), softmax(softmax(_PAIR, 0.5))),
    _at("by-hand", _PAIR, 0.5),
    _not_at("sorted-order", [1.0, 3.0, 2.0], 0.5, softmax([3.0, 2.0, 1.0], 0.5), softmax([1.0, 2.0, 3.0], 0.5)),
    _not_at("other-call", _PAIR, 0.25, softmax(_PAIR, 0.5)),
    _not_at("other-call", [0.0, 3.0], 0.5, softmax(_PAIR, 0.5)),
    _at("one", _PAIR, 1.0),
    _not_at("temperature-limited", _PAIR, 5.0, *(softmax(_PAIR, limit) for limit in (1, 1.5, 2, 3, 4))),
    _at("whole-division", _PAIR, 2),
    _at("whole-division", _PAIR, 2.5),
    _not_at("underflow", [200.0, 0.0], 100, [1.0, 0.0]),
    _at("temperature-limited", [500.0, 0.0, -100.0], 1000),
    _at("temperature-limited", [500.0, 0.0, -100.0], 1000000),
    _at("small-temperature", [1.0, 0.98], 0.02),
    _at("small-temperature", [0.002, 0.001], 0.001),
    _at("overflow", [10.0, 9.97], 0.01),
    _at("overflow", [-1000.0, -1001.0], 1.0),
    _at("minus-inf", [2.0, -math.inf, 0.0], 0.5),
    _at("minus-inf", [500.0, -math.inf, 0.0], 1000000),
    _at("any-size", [index * 7 % 40 / 10 for index in range(40)], 3.0),
    _at("any-size", [index * 7 % 600 / 50 for index in range(600)], 10.0),
)

# 03.top_k and 03.top_p, on a list of probabilities

_FOUR = [0.1, 0.5, 0.3, 0.1]
_TIES = [0.2, 0.3, 0.2, 0.2, 0.1]
_EQUAL = [0.25, 0.25, 0.25, 0.25]
_SIXTY = [(index * 7 % 60 + 1) / 1830 for index in range(60)]
_LONG = [(index * 7 % 300 + 1) / 45150 for index in range(300)]
_RIGHT_K = top_k(_FOUR, 2)


def _k(hint: str, probs: list[float], k: int, wrong: Any = None) -> Case:
    return Case(hint, (probs, k), want=top_k(probs, k)) if wrong is None else Case(hint, (probs, k), wrong=wrong)


TOP_K = (
    _k("page/places", _FOUR, 2, lambda answer: len(answer) == 2),
    _k("03.top_k/input-returned", _FOUR, 2, [_FOUR]),
    _k("02.temperature/not-normalised", _FOUR, 2, [[0.0, 0.5, 0.3, 0.0]]),
    _k("page/sorted", _FOUR, 2, [sorted(_RIGHT_K), sorted(_RIGHT_K, reverse=True)]),
    _k("page/smallest", _FOUR, 2, lambda answer: 1 not in _kept(answer)),
    _k("03.top_k/off-by-one", _FOUR, 2, lambda answer: len(_kept(answer)) in (1, 3)),
    _k("page/top-k", _FOUR, 2),
    _k("03.top_k/other-call", [0.5, 0.1, 0.1, 0.3], 2, [_RIGHT_K, [0.5, 0.1, 0.1, 0.3], [0.0, 0.5, 0.5, 0.0]]),
    _k("03.top_k/other-call", _FOUR, 1, [_RIGHT_K]),
    _k("03.top_k/exactly-k", _TIES, 2, lambda answer: len(_kept(answer)) > 2),
    _k("page/ties", _TIES, 2, _not_the_likeliest(_TIES, 2)),
    _k("03.top_k/fewer-than-k", _TIES, 3, lambda answer: len(_kept(answer)) < 3),
    _k("03.top_k/exactly-k", _EQUAL, 1, _not_the_likeliest(_EQUAL, 1)),
    _k("03.top_k/k-too-large", _FOUR, 4),
    _k("03.top_k/k-too-large", _FOUR, 50),
    _k("page/long", _SIXTY, 25),
    _k("page/long", _LONG, 110),
)

_HALF, _MIX, _PEAK, _ORDER = [0.45, 0.5, 0.05], [0.2, 0.36, 0.15, 0.29], [0.04, 0.93, 0.03], [0.1, 0.6, 0.3]
_SIX, _STEEP = [0.12, 0.3, 0.02, 0.25, 0.2, 0.11], [0.03, 0.9, 0.04, 0.02, 0.01]
_RIGHT_P = top_p(_HALF, 0.8)


def _p(hint: str, probs: list[float], p: float, wrong: Any = None) -> Case:
    hint = hint if "/" in hint else f"03.top_p/{hint}"
    return Case(hint, (probs, p), want=top_p(probs, p)) if wrong is None else Case(hint, (probs, p), wrong=wrong)


def _above(probs: list[float], *limits: float) -> list[list[float]]:
    """The answers of a function that compares each probability with a limit."""
    return [_renormalised(probs, [token for token, prob in enumerate(probs) if prob >= limit]) for limit in limits]


TOP_P = (
    _p("page/places", _HALF, 0.8, lambda answer: len(answer) != 3),
    _p("02.temperature/not-normalised", _HALF, 0.8, [[0.45, 0.5, 0.0]]),
    _p("page/divided-by-p", _HALF, 0.8, [[0.45 / 0.8, 0.5 / 0.8, 0.0]]),
    _p("page/sorted", _HALF, 0.8, [sorted(_RIGHT_P), sorted(_RIGHT_P, reverse=True)]),
    _p("other-call", _SIX, 0.45, [top_p(_SIX, 0.8)]),
    _p("complement", _MIX, 0.3, [top_k(_MIX, 3)]),
    _p("crossing-token", _HALF, 0.8, [top_k(_HALF, 1)]),
    _p("all-dropped", _PEAK, 0.8, lambda answer: not _kept(answer)),
    _p("share-of-tokens", _STEEP, 0.8, [top_k(_STEEP, 4)]),
    _p("threshold", _SIX, 0.7, _above(_SIX, 0.3 * 0.7, 0.29, 0.3 * 0.3)),
    _p("one-token-too-many", _SIX, 0.7, [top_k(_SIX, 4)]),
    _p("input-returned", _HALF, 0.8, [_HALF]),
    _p("unsorted", _ORDER, 0.55, [_renormalised(_ORDER, [0, 1])]),
    _p("mask-not-unsorted", _ORDER, 0.55, [[1.0, 0.0, 0.0], [0.0, 0.0, 1.0]]),
    _p("page/top-p", _HALF, 0.8),
    _p("other-call", [0.05, 0.5, 0.45], 0.8, [_RIGHT_P]),
    _p("peaked", _PEAK, 0.8),
    _p("small-p", _HALF, 0.01),
    _p("near-p", [0.3, 0.5002, 0.1998], 0.5),
    _p("near-p", [0.3, 0.4998, 0.2002], 0.5),
    _p("p-one", _HALF, 1.0),
    _p("p-one", _HALF, 1),
    _p("page/reached", [0.5, 0.25, 0.25], 0.5),
    _p("page/ties", _EQUAL, 0.6, _not_the_likeliest(_EQUAL, 3)),
    _p("p-one", [0.00003, 0.99992, 0.00005], 1.0),
    _p("page/long", _SIXTY, 0.9),
    _p("page/long", _SIXTY, 0.97),
    _p("small-p", _SIXTY, 0.05),
    _p("small-p", _LONG, 0.005),
    _p("small-p", _HALF, 1e-17),
    _p("page/long", _LONG, 0.995),
)

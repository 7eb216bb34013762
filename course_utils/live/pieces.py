"""The four pieces of the page: whose functions are checked, and what a guess is compared with."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from course_utils.live import attention, checks, counting, distributions, runner
from course_utils.live.runner import Send

SEEDS = range(8)  # of the texts whose repetition is guessed


@dataclass(frozen=True)
class Piece:
    """One piece.

    functions: name of a visitor's function -> the cases that it must pass, checked in this order.
    measure: the visitor's names -> the number that was to be guessed, as the visitor's function gives it.
    near: by how much a good guess may be off. wrong_guesses: a known wrong guess -> the key of what to say of it.
    pair: (without a cache, with a cache), names of two functions that must agree.
    """

    functions: Mapping[str, tuple[checks.Case, ...]]
    measure: Callable[[Mapping], float]
    near: float
    wrong_guesses: Mapping[float, str] = field(default_factory=dict)
    pair: tuple[str, str] | None = None

    def names(self) -> list[str]:
        """Every function that the visitor's code must have."""
        return [*self.functions, *(self.pair or ())]


def _repetition(names: Mapping) -> float:
    rates = [names["repetition_rate"](names["sample"](0.3, seed), 4) for seed in SEEDS]
    return math.fsum(rates) / len(rates)


PIECES = {
    "temperature": Piece(
        {"probabilities": distributions.TEMPERATURE},
        lambda names: names["probabilities"]([2.0, 1.0], 0.5)[0],
        near=0.01,
        wrong_guesses={0.731: "unchanged", 0.622: "flatter", 0.366: "halved"},
    ),
    "filters": Piece(
        {"top_k": distributions.TOP_K, "top_p": distributions.TOP_P},
        lambda names: names["top_p"]([0.6, 0.25, 0.15], 0.8)[0],
        near=0.01,
        wrong_guesses={0.6: "same", 0.75: "by-p", 1: "first-only", 0.8: "threshold"},
    ),
    "bigram": Piece({"repetition_rate": counting.REPETITION_RATE}, _repetition, near=0.05),
    "cache": Piece(
        {"attend": attention.ATTEND, "kv_bytes": counting.KV_BYTES},
        lambda names: names["kv_bytes"](32, 8, 128, 1, 1, 2),
        near=0,
        wrong_guesses={65_536: "keys", 4_096: "layer", 2_048: "layer-keys", 1_048_576: "bits", 128: "kib"},
        pair=("without_cache", "with_cache"),
    ),
}


def run(name: str, code: str, guess: float | None, send: Send) -> bool:
    """Run the code of a piece, compare the guess, and give the verdict; returns whether nothing was raised.

    guess: the visitor's number, or None. Messages besides those of `runner.run`: "guess" (guess, result, close, say),
    then "verdict" (status "passed", "wrong" or "missing", and for the last two what is wrong).
    """
    return runner.run(code, send, lambda namespace: _judge(PIECES[name], namespace, guess, send))


def _judge(piece: Piece, namespace: dict, guess: float | None, send: Send) -> None:
    for name in piece.names():
        if not callable(namespace.get(name)):
            return send("verdict", {"status": "missing", "function": name})
    try:
        finding = _first_finding(piece, namespace)
    except checks.RaisedInCheck as raised:
        send("error", runner.describe(raised.__cause__ or raised))
        return send("verdict", {"status": "wrong", "hint": raised.case.hint, "call": raised.call, "gave": None})
    try:
        result = piece.measure(namespace)
        if math.isfinite(result):
            send("guess", _compared(piece, result, guess))
    except Exception:
        if finding is None:  # otherwise the verdict already says what is wrong
            raise
    if finding is None:
        return send("verdict", {"status": "passed"})
    send("verdict", {"status": "wrong", "hint": finding.hint, "call": finding.call, "gave": finding.gave})


def _first_finding(piece: Piece, namespace: dict) -> checks.Finding | None:
    for name, cases in piece.functions.items():
        if (finding := checks.check(name, namespace[name], cases)) is not None:
            return finding
    return attention.compare_ways(*(namespace[name] for name in piece.pair)) if piece.pair else None


def _compared(piece: Piece, result: float, guess: float | None) -> dict:
    if guess is None:
        return {"guess": None, "result": result, "close": False, "say": None}
    close = abs(guess - result) <= piece.near + 1e-9
    known = {} if close else piece.wrong_guesses
    say = next((key for wrong, key in known.items() if abs(guess - wrong) <= max(piece.near, 1e-6)), None)
    if say is None and result <= 1 < guess:
        say = "above-one"
    return {"guess": guess, "result": result, "close": close, "say": say}

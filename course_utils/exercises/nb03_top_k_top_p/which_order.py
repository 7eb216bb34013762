"""Exercise 03.which_order: whether temperature or truncation came first, told from what was kept."""

from collections.abc import Callable, Iterable
from typing import Any

from course_utils.checker.exercise import Misconception, ValueExercise

# Logits [2.5, 1.5, 0], T = 0.5, top_p = 0.8. Temperature first: probabilities .88, .12, .01, so the
# first alone reaches .8. Truncation first: .69, .25, .06, so it takes two.

_TEMPERATURE, _TRUNCATION = "temperature first", "truncation first"


def _read_order(answer: Any) -> dict[tuple[int, ...], object]:
    """The answer with plain keys: a set or one id as a key counts as the tuple; case and hyphens do not matter."""
    return {_ids(key): _words(value) if isinstance(value, str) else value for key, value in dict(answer).items()}


def _words(text: str) -> str:
    return " ".join(text.lower().replace("-", " ").replace("_", " ").split())


def _ids(key: Any) -> tuple[int, ...]:
    return (int(key),) if isinstance(key, int) else tuple(sorted(int(token) for token in key))


def _is_order(one: str, two: str) -> Callable[[Any], bool]:
    return lambda answer: _read_order(answer) == {(0,): one, (0, 1): two}


def _open(values: Iterable) -> list:
    return [value for value in values if value is ... or value is None or value in ("", "...")]


def _same_twice(answer: dict) -> bool:
    return len(answer) == 2 and len(set(answer.values())) == 1 and set(answer.values()) <= {_TEMPERATURE, _TRUNCATION}


EXERCISE = ValueExercise(
    id="03.which_order",
    writes="a dict, kept set → order",
    contract='for logits [2.5, 1.5, 0], T = 0.5 and top_p = 0.8, each kept set → "temperature first" or '
    '"truncation first"',
    difficulty="medium",
    minutes=8,
    hints=(
        "Compute the kept set in both orders. In one of them, top-p sees probabilities that the temperature has "
        "already sharpened.",
        "A sharper distribution reaches p with fewer tokens.",
    ),
    reference='A low temperature sharpens. After it, token 0 alone has .88 and reaches .8, so the kept set is {0}. '
    "Before it, token 0 has .69 and the two together .94, so truncation first keeps {0, 1}.",
    accepts=_is_order(_TEMPERATURE, _TRUNCATION),
    unanswered=lambda answer: isinstance(answer, dict) and len(_open(answer.values())) == len(answer) > 0,
    misconceptions=(
        Misconception("swapped", "the two are the wrong way round. A temperature below 1 sharpens: what does a sharper "
                      "distribution need to reach p?", _is_order(_TRUNCATION, _TEMPERATURE)),
        Misconception("same-order-twice", "both kept sets name the same order. But the same logits, settings and "
                      "order cannot give two results.", lambda answer: _same_twice(_read_order(answer))),
        Misconception("incomplete", "one kept set has no answer yet.",
                      lambda answer: len(_open(answer.values())) == 1 or len(answer) == 1),
    ),
    general='the answer is a dict with the two kept sets (0,) and (0, 1) as its keys, and for each one of the texts '
    '"temperature first" and "truncation first".',
)  # fmt: skip

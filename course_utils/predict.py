"""A guess beside the result: a learner who guesses first turns a cell into an experiment."""

import math
from decimal import Decimal
from typing import Any

_DIGITS = 3  # to so many decimals the notebooks round their results, so further ones of a guess cannot be judged


def beside(guess: object, result: object, what: str = "") -> None:
    """Print the learner's guess next to the result.

    guess: a number, a text, a list of numbers, or `...` while the learner has not guessed.
    result: a number, a text, or numbers in a list, a tuple, an array or a tensor, of which the guess may be another.
    what: says in a few words what is guessed.
    """
    name = f"{what}: " if what else ""
    if guess is ... or guess is None:
        print(f"{name}{_show(result)}   (no guess yet: write one above, before you run this)")
    elif isinstance(guess, (int, float)) and isinstance(result, (int, float)) and not isinstance(result, bool):
        print(f"{name}{_show(result)}   your guess: {_show(guess)}   off by {_show(abs(guess - result))}")
    else:
        print(f"{name}{_show(result)}   your guess: {_show(guess)}   {_compare(_plain(guess), _plain(result))}")


def _compare(guess: Any, result: Any) -> str:
    """guess, result: texts, truth values, or numbers in nested lists."""
    if guess == result:
        return "as guessed"
    if not isinstance(guess, list) or _form(guess) != _form(result):
        return "not as guessed"
    given, exact = _numbers(guess), _numbers(result)
    known = max([_DIGITS, *map(_decimals, exact)])
    most = max(map(_decimals, given))
    # A whole number among others, as the 0 in [0.71, 0.29, 0], stands for as many decimals as the others have.
    digits = [min(_decimals(number) if isinstance(number, float) else most, known) for number in given]
    right = all(g == e or abs(g - e) <= 0.5 * 10**-d + 1e-9 for g, e, d in zip(given, exact, digits, strict=True))
    return "right to the digits that you gave" if right and most else "not as guessed"


def _decimals(number: int | float) -> int:
    """How many decimals a number is written with: 2 for 0.71, none for 3."""
    exponent = Decimal(repr(number)).as_tuple().exponent if math.isfinite(number) else 0
    return max(0, -int(exponent))


def _numbers(value: Any) -> list:
    """All numbers in nested lists, in their order."""
    if isinstance(value, list):
        return [number for item in value for number in _numbers(item)]
    return [value] if _is_number(value) else []


def _form(value: Any) -> Any:
    """The same nested lists with 0 in place of each number: equal where only numbers differ."""
    if isinstance(value, list):
        return [_form(item) for item in value]
    return 0 if _is_number(value) else value


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _plain(value: Any) -> Any:
    """Python's own values in nested lists, for a tuple, an array or a tensor."""
    value = value.tolist() if hasattr(value, "tolist") else value
    return [_plain(item) for item in value] if isinstance(value, (list, tuple)) else value


def _show(value: object) -> str:
    return f"{value:.3f}" if isinstance(value, float) else str(value)

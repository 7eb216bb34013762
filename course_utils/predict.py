"""A guess beside the result: a learner who guesses first turns a cell into an experiment."""

import math
from decimal import Decimal
from typing import Any

_DIGITS = 3  # to so many decimals the notebooks round their results, so further ones of a guess cannot be judged


def beside(guess: object, result: object, what: str = "") -> None:
    """Print the learner's guess next to the result.

    guess: a number, a text, a list of these, or `...` while the learner has not guessed.
    result: a number, a text, or numbers in a list, a tuple, an array or a tensor, of which the guess may be another.
    what: says in a few words what is guessed.
    """
    name = f"{what}: " if what else ""
    if _is_open(_plain(guess)):
        print(f"{name}{_show(result)}   (no guess yet: write one above, before you run this)")
    else:
        print(f"{name}{_show(result)}   your guess: {_show(guess)}   {_compare(_plain(guess), _plain(result))}")


def _compare(guess: Any, result: Any) -> str:
    """guess, result: numbers, texts, truth values, or nested lists of these."""
    if _is_number(guess) and _is_number(result):
        return f"off by {_show(abs(guess - result))}"
    if guess == result:
        return "as guessed"
    given, exact = _numbers(guess), _numbers(result)
    if not isinstance(guess, list) or not given or _form(guess) != _form(result):
        return "not as guessed"
    known = max([_DIGITS, *map(_decimals, exact)])
    most = max(map(_decimals, given))
    # A whole number among others, as the 0 in [0.71, 0.29, 0], stands for as many decimals as the others have.
    digits = [min(_decimals(number) if isinstance(number, float) else most, known) for number in given]
    off = [0 if mine == right else abs(mine - right) for mine, right in zip(given, exact, strict=True)]
    if most and all(by <= 0.5 * 10**-n + 1e-9 for by, n in zip(off, digits, strict=True)):
        return "right to the digits that you gave"
    return f"off by at most {_show(max(off))}"


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


def _is_open(guess: Any) -> bool:
    """Whether the dots still stand, perhaps in a list."""
    return any(map(_is_open, guess)) if isinstance(guess, list) else guess is ... or guess is None


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _plain(value: Any) -> Any:
    """Python's own values in nested lists, for a tuple, an array or a tensor."""
    value = value.tolist() if hasattr(value, "tolist") else value
    return [_plain(item) for item in value] if isinstance(value, (list, tuple)) else value


def _show(value: object) -> str:
    return f"{value:.3f}" if isinstance(value, float) else str(value)

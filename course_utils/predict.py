"""A guess beside the result: a learner who guesses first turns a cell into an experiment."""

from numbers import Real
from typing import Any


def beside(guess: object, result: object, what: str = "") -> None:
    """Print the learner's guess next to the result.

    guess: a number, a text, a list or tuple of these, or `...` while the learner has not guessed. result: the same.
    what: says in a few words what is guessed.
    A number is off by some amount, and a list of numbers by that of the entry that is furthest off. Lists and tuples
    with the same entries are equal.
    """
    guess, result, name = _plain(guess), _plain(result), f"{what}: " if what else ""
    if _is_open(guess):
        print(f"{name}{_show(result)}   (no guess yet: write one above, before you run this)")
    else:
        print(f"{name}{_show(result)}   your guess: {_show(guess)}   {_verdict(guess, result)}")


def _verdict(guess: Any, result: Any) -> str:
    if _is_number(guess) and _is_number(result):
        return f"off by {_show(abs(guess - result))}"
    if guess == result:
        return "as guessed"
    lists = isinstance(guess, list) and isinstance(result, list) and len(guess) == len(result)
    if lists and all(map(_is_number, [*guess, *result])):
        return f"off by at most {_show(max(abs(a - b) for a, b in zip(guess, result, strict=True)))}"
    return "not as guessed"


def _plain(value: Any) -> Any:
    """Tensors, arrays and tuples as lists."""
    if hasattr(value, "tolist"):
        value = value.tolist()
    return [_plain(entry) for entry in value] if isinstance(value, (list, tuple)) else value


def _is_open(guess: object) -> bool:
    return any(map(_is_open, guess)) if isinstance(guess, list) else guess is ... or guess is None


def _is_number(value: object) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool)


def _show(value: object) -> str:
    return f"{value:.3f}" if isinstance(value, float) else str(value)

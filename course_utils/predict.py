"""A guess beside the result: a learner who guesses first turns a cell into an experiment."""


def beside(guess: object, result: object, what: str = "") -> None:
    """Print the learner's guess next to the result.

    guess: a number, a text, or `...` while the learner has not guessed. result: a number or a text.
    what: says in a few words what is guessed.
    """
    name = f"{what}: " if what else ""
    if guess is ... or guess is None:
        print(f"{name}{_show(result)}   (no guess yet: write one above, before you run this)")
    elif isinstance(guess, (int, float)) and isinstance(result, (int, float)) and not isinstance(result, bool):
        print(f"{name}{_show(result)}   your guess: {_show(guess)}   off by {_show(abs(guess - result))}")
    else:
        verdict = "as guessed" if guess == result else "not as guessed"
        print(f"{name}{_show(result)}   your guess: {_show(guess)}   {verdict}")


def _show(value: object) -> str:
    return f"{value:.3f}" if isinstance(value, float) else str(value)

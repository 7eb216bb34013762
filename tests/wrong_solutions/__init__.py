"""Planted solutions: wrong ones, each with the hint that must name it, and right ones, written differently.

The wrong ones are mistakes that people make. Each module holds those of one notebook. `python tests/wrong_solutions`
writes the table in docs/checker.md.
"""

WRONG: dict[str, list[tuple[str, object]]] = {}  # exercise → (hint id, attempt)
RIGHT: dict[str, list[object]] = {}


def wrong(exercise_id: str, hint_id: str):
    """Decorates a wrong solution: the check of the exercise must answer with this hint."""

    def plant(attempt):
        WRONG.setdefault(exercise_id, []).append((hint_id, attempt))
        return attempt

    return plant


def right(exercise_id: str):
    """Decorates a right solution: the check of the exercise must pass it."""

    def plant(attempt):
        RIGHT.setdefault(exercise_id, []).append(attempt)
        return attempt

    return plant


from wrong_solutions import (  # noqa: E402, F401  they fill the two
    nb00,
    nb01,
    nb02,
    nb03,
    nb04,
    nb05,
    nb06,
    nb07,
    nb08,
    nb09,
)

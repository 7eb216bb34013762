"""Planted solutions: wrong ones, each with the hint that must name it, and right ones, written differently.

The wrong ones are mistakes that people make. Those of an exercise stand in the file that has the place and name of the
exercise's own: `nb03_top_k_top_p/top_p.py` holds what is planted for `exercises/nb03_top_k_top_p/top_p.py`. A file is
imported when its exercise is looked up. `python tests/wrong_solutions` writes the table in docs/checker.md.
"""

import importlib
from collections.abc import Callable, Iterator, Mapping

from course_utils import exercises

_WRONG: dict[str, list[tuple[str, object]]] = {}  # exercise → (hint id, attempt)
_RIGHT: dict[str, list[object]] = {}


class _Planted(Mapping):
    """The plants of every exercise by its id. The file of one is imported when it is looked up."""

    def __init__(self, plants: dict[str, list]):
        self._plants = plants

    def __getitem__(self, exercise_id: str) -> list:
        if exercise_id not in self._plants:
            importlib.import_module(f"wrong_solutions.{exercises.places()[exercise_id]}")
        return self._plants[exercise_id]

    def __iter__(self) -> Iterator[str]:
        return iter(exercises.places())

    def __len__(self) -> int:
        return len(exercises.places())


WRONG: Mapping[str, list[tuple[str, object]]] = _Planted(_WRONG)
RIGHT: Mapping[str, list[object]] = _Planted(_RIGHT)


def planting(exercise_id: str) -> tuple[Callable, Callable]:
    """Two decorators for the solutions to an exercise: `@wrong("hint-id")` and `@right`.

    The check of the exercise must answer a wrong solution with its hint, and pass a right one.
    """
    wrong_ones, right_ones = _WRONG.setdefault(exercise_id, []), _RIGHT.setdefault(exercise_id, [])

    def wrong(hint_id: str):
        def plant(attempt):
            wrong_ones.append((hint_id, attempt))
            return attempt

        return plant

    def right(attempt):
        right_ones.append(attempt)
        return attempt

    return wrong, right

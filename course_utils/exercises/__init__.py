"""The exercises of the course, each in its own file: `03.top_p` is `nb03_top_k_top_p/top_p.py`.

The file holds the contract, the hints, a reference, the oracle and the cases, and ends with `EXERCISE`. What several
exercises share is in `common/`. Each notebook has a folder, whose `EXERCISES` names the files in the notebook's order.
An exercise is imported when something looks it up. No file imports torch before a check runs, so that the pytest plugin
can read the list at no cost.
"""

import functools
import importlib
import pkgutil

from course_utils.checker.exercise import Exercise


@functools.cache
def places() -> dict[str, str]:
    """Where each exercise is, by its id and in the order of the course: "03.top_p" → "nb03_top_k_top_p.top_p"."""
    return {
        f"{folder[2:4]}.{name}": f"{folder}.{name}"
        for folder in _folders()
        for name in importlib.import_module(f"{__name__}.{folder}").EXERCISES
    }


def _folders() -> list[str]:
    return sorted(found.name for found in pkgutil.iter_modules(__path__) if found.name.startswith("nb"))


def exercise(exercise_id: str) -> Exercise:
    """The exercise with this id. Only its own file and what that builds on is imported.

    Raises KeyError for an id that does not exist.
    """
    return importlib.import_module(f"{__name__}.{places()[exercise_id]}").EXERCISE


def all_exercises() -> dict[str, Exercise]:
    """Every exercise by its id, in the order of the course."""
    return {exercise_id: exercise(exercise_id) for exercise_id in places()}


def notebooks() -> dict[str, tuple[str, ...]]:
    """The names of the notebooks that have exercises, each with its exercises' ids."""
    ids: dict[str, tuple[str, ...]] = {}
    for exercise_id, place in places().items():
        notebook = place.partition(".")[0].removeprefix("nb")
        ids[notebook] = (*ids.get(notebook, ()), exercise_id)
    return ids

"""The exercises of the course, one module per notebook.

A module names its notebook and lists its exercises: contracts, cases and hints. A notebook that comes later adds a
module here. No module imports torch before a check runs, so that the pytest plugin can read the list at no cost.
"""

from course_utils.exercises import (
    nb00_start_here,
    nb01_one_forward_pass,
    nb02_temperature,
    nb03_top_k_top_p,
    nb04_tiny_transformer,
    nb05_kv_cache,
    nb06_is_the_cache_right,
    nb07_stopping,
    nb08_did_it_help,
    nb09_real_libraries,
)
from course_utils.judging import Exercise

MODULES = (
    nb00_start_here,
    nb01_one_forward_pass,
    nb02_temperature,
    nb03_top_k_top_p,
    nb04_tiny_transformer,
    nb05_kv_cache,
    nb06_is_the_cache_right,
    nb07_stopping,
    nb08_did_it_help,
    nb09_real_libraries,
)


def all_exercises() -> dict[str, Exercise]:
    """Every exercise by its id, in the order of the course."""
    return {exercise.id: exercise for module in MODULES for exercise in module.EXERCISES}


def notebooks() -> dict[str, tuple[str, ...]]:
    """The names of the notebooks that have exercises, each with its exercises' ids."""
    return {module.NOTEBOOK: tuple(exercise.id for exercise in module.EXERCISES) for module in MODULES}

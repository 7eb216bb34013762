"""The exercises of notebook 09: one token behind a cache of transformers, and its names for our settings."""

from course_utils.exercises.last_token import LAST_TOKEN
from course_utils.exercises.to_transformers import TRANSLATE

NOTEBOOK = "09_real_libraries"
EXERCISES = (LAST_TOKEN, TRANSLATE)

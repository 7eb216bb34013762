"""The exercises of notebook 06: comparing logits, diagnosing faults, positions under padding."""

from course_utils.exercises.diagnose import DIAGNOSE
from course_utils.exercises.padded_positions import PADDED_POSITIONS
from course_utils.exercises.same_logits import SAME_LOGITS

NOTEBOOK = "06_is_the_cache_right"
EXERCISES = (SAME_LOGITS, DIAGNOSE, PADDED_POSITIONS)

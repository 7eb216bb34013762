"""The exercises of notebook 07: stop strings, finish reasons, tool calls."""

from course_utils.exercises.finish_reason import FINISH_REASON
from course_utils.exercises.read_call import READ_CALL
from course_utils.exercises.stop_matcher import STOP_MATCHER

NOTEBOOK = "07_stopping"
EXERCISES = (FINISH_REASON, STOP_MATCHER, READ_CALL)

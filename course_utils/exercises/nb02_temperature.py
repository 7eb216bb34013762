"""The exercises of notebook 02: temperature, greedy, and how much a text repeats itself."""

from course_utils.exercises.greedy import GREEDY
from course_utils.exercises.repetition import REPETITION_RATE
from course_utils.exercises.temperature import TEMPERATURE

NOTEBOOK = "02_temperature"


# References.


def probs_at(logits, temperature):
    """The probabilities (..., V) of logits (..., V) at a temperature above 0."""
    if temperature <= 0:
        raise ValueError(f"temperature is {temperature}; expected a number above 0. For its limit take the largest.")
    logits = logits - logits.max(dim=-1, keepdim=True).values  # before the division, so that nothing overflows
    weights = (logits / temperature).exp()
    return weights / weights.sum(dim=-1, keepdim=True)


def greedy(logits):
    """The ids (...) of the largest of logits (..., V); of equal ones the lowest id."""
    return logits.argmax(dim=-1)  # of equal logits torch's argmax gives the first


EXERCISES = (TEMPERATURE, GREEDY, REPETITION_RATE)

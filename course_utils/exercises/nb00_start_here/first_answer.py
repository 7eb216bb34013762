"""Exercise 00.first_answer. Its answer is easy: what it teaches is how the checker speaks."""

from collections.abc import Callable

from course_utils.checker.answers import as_array
from course_utils.checker.exercise import Misconception, ValueExercise


def _between(low: float, high: float) -> Callable[[object], bool]:
    """A test: one number from low to high."""
    return lambda answer: as_array(answer).shape == () and low <= float(as_array(answer)) <= high


EXERCISE = ValueExercise(
    id="00.first_answer",
    writes="a number",
    contract="of 1,000 draws between candidates with logits 2 and 1, how many are expected to give the second; "
    "off by at most 1 (268 to 270)",
    difficulty="easy",
    minutes=2,
    hints=(
        "The expected number of draws of a candidate is the number of all draws times its probability.",
        "The text above the cell gives the probabilities of both candidates. Which is that of the second one?",
    ),
    reference="The second candidate has the probability 0.269. Of 1,000 draws, 1,000 times 0.269, or 269, are "
              "expected to give it.",
    accepts=_between(268, 270),
    misconceptions=(
        Misconception(
            "equal-shares",
            "this is half of the draws. The two candidates are not equally likely, because their logits differ.",
            _between(499, 501),
        ),
        Misconception(
            "first-candidate",
            "this is what the first candidate gets. The question is about the second.",
            _between(730, 732),
        ),
        Misconception(
            "a-probability",
            "this is a probability. The question is how many of 1,000 draws.",
            _between(0.26, 0.28),
        ),
        Misconception(
            "percent",
            "this is a number of draws out of 100. The question is how many of 1,000.",
            _between(26, 28),
        ),
        Misconception(
            "share-of-logits",
            "this is the second logit divided by the sum of the logits. Probabilities come from softmax, which takes "
            "the exponential of each logit first.",
            _between(332, 334),
        ),
    ),
    general="the answer is one number, a count of draws between 0 and 1,000. Multiply the number of draws by the "
    "probability of the second candidate.",
)  # fmt: skip

"""The exercise checker: `check` judges an attempt, `hint` helps a little more each time, `solution` shows one.

    check("03.top_p", top_p_filter)

`check` shows its verdict as plain text and never raises, so that the notebook runs on. Where the course's pytest
plugin runs the notebook, the verdict is also recorded, signed, in a file that the plugin reads.
"""

import difflib
import inspect
import textwrap
import traceback
from dataclasses import dataclass

from course_utils import exercises
from course_utils.checker import judging, recording
from course_utils.checker.exercise import Exercise, ValueExercise
from course_utils.checker.judging import NOT_ATTEMPTED, RAISED, WORDS, Finding
from course_utils.checker.own_state import own_state

_tried: set[str] = set()
_hints_given: dict[str, int] = {}


@dataclass(frozen=True)
class Verdict:
    """What `check` found.

    exercise: its id. status: "passed", "wrong", "raised" or "not attempted".
    hint_id: names the misconception, or None. text: what the learner reads.
    """

    exercise: str
    status: str
    hint_id: str | None
    text: str

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        hint_id = f", {self.hint_id!r}" if self.hint_id else ""
        return f"Verdict({self.exercise!r}, {self.status!r}{hint_id})"

    def _ipython_display_(self) -> None:
        """Nothing: `check` has shown the text already, and the last line of a cell must not show it again."""


def check(exercise_id: str, attempt: object) -> Verdict:
    """Judge `attempt` at an exercise, show the verdict and return it.

    exercise_id: for example "03.top_p". attempt: the learner's function itself, or the value that the exercise wants.
    Raises ValueError for an id that does not exist; nothing that the attempt does is raised.
    """
    exercise = _find(exercise_id)
    try:
        finding = judging.judge(exercise, attempt)
    except Exception as error:  # our fault or a very odd attempt: say it, and let no one take it for a pass
        where = "".join(traceback.format_exception(error, limit=-2)).strip()
        finding = Finding(RAISED, None, "The check itself failed. Please report this.", tuple(where.splitlines()))
    verdict = Verdict(exercise.id, finding.status, finding.hint_id, _text(exercise.id, finding))
    if finding.status != NOT_ATTEMPTED:
        _tried.add(exercise.id)
    _show(verdict.text + _prints(finding.printed))
    _record(verdict)
    return verdict


def hint(exercise_id: str) -> None:
    """Print the next hint of an exercise. After the last one, say that there are no more."""
    exercise = _find(exercise_id)
    level, total = _hints_given.get(exercise.id, 0), len(exercise.hints)
    if level < total:
        _hints_given[exercise.id] = level + 1
        print(f"Hint {level + 1} of {total} for {exercise.id}: {exercise.hints[level]}")
    else:
        print(f'There are no more hints for {exercise.id}. After a try, solution("{exercise.id}") shows one.')


def solution(exercise_id: str) -> None:
    """Print a reference solution, once an attempt has been checked since the kernel started."""
    exercise = _find(exercise_id)
    if exercise.id not in _tried:
        print(f"Try first: write {exercise.writes} and run its check once. Then this shows a solution.")
    elif isinstance(exercise, ValueExercise):
        print(exercise.reference)
    else:
        function = exercise.solution()
        print(f"# {function.__module__}.{function.__name__}")
        print(textwrap.dedent(inspect.getsource(function)).rstrip())


def _find(exercise_id: str) -> Exercise:
    known = exercises.places()
    if exercise_id in known:
        with own_state():  # an exercise that is looked up for the first time computes some of its answers
            return exercises.exercise(exercise_id)
    near = difflib.get_close_matches(str(exercise_id), known, n=3, cutoff=0.7)
    near = near or [key for key in known if key[:3] == str(exercise_id)[:3]] or list(known)
    raise ValueError(f"There is no exercise {exercise_id!r}. Near it: {', '.join(near)}.")


def _text(exercise_id: str, finding: Finding) -> str:
    name = f" ({finding.hint_id})" if finding.hint_id else ""
    headline = f". {finding.headline}" if finding.headline else ""
    return "\n".join([f"{WORDS[finding.status]}: {exercise_id}{name}{headline}", *finding.lines])


def _prints(printed: str) -> str:
    """The first lines of what the learner's function printed, under the verdict."""
    lines = printed.strip().splitlines()
    if not lines:
        return ""
    more = f"\n  ... and {len(lines) - 3} more lines" if len(lines) > 3 else ""
    return "\nYour function printed:" + "".join(f"\n  {line[:120]}" for line in lines[:3]) + more


def _show(text: str) -> None:
    """Print any text, also one with half a surrogate pair, or with a character that the console cannot show."""
    try:
        print(text.encode("utf-8", "backslashreplace").decode("utf-8"))
    except UnicodeEncodeError:
        print(text.encode("ascii", "backslashreplace").decode("ascii"))


def _record(verdict: Verdict) -> None:
    recording.keep({
        "exercise": verdict.exercise,
        "status": verdict.status,
        "hint_id": verdict.hint_id,
        "text": verdict.text,
    })  # fmt: skip

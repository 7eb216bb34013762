"""The exercise checker: `check` judges an attempt, `hint` helps a little more each time, `solution` shows one.

    check("03.top_p", top_p_filter)

`check` shows its verdict and never raises, so that the notebook runs on. Where the course's pytest plugin runs the
notebook, the verdict is also recorded, signed, in a file that the plugin reads.
"""

import difflib
import inspect
import textwrap
import traceback
from collections.abc import Callable
from dataclasses import dataclass

from course_utils import exercises
from course_utils.checker import judging, recording, showing
from course_utils.checker.exercise import Exercise, ValueExercise
from course_utils.checker.judging import NOT_ATTEMPTED, PASSED, RAISED, WORDS, Finding
from course_utils.checker.own_state import own_state

_tried: set[str] = set()
_hints_given: dict[str, int] = {}
_last: dict[str, Finding] = {}  # of the last check of each exercise


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
    _last[exercise.id] = finding
    showing.show(verdict.status, verdict.text + _prints(finding.printed))
    _record(verdict)
    return verdict


def hint(exercise_id: str, which: int | str | None = None) -> None:
    """Print a hint of an exercise.

    which: None for the next hint; a number for that one again, from 1; "expected" for what a right solution answers
        in the case that the last check found wrong.
    Raises ValueError for an exercise or a hint that does not exist.
    """
    exercise = _find(exercise_id)
    given, total = _hints_given.get(exercise.id, 0), len(exercise.hints)
    if which == "expected":
        print(_expected(exercise))
    elif which is not None:
        if type(which) is not int or not 1 <= which <= total:
            raise ValueError(f'which is {which!r}; expected a number from 1 to {total}, or "expected".')
        print(_level(exercise, which))
    elif given < total:
        _hints_given[exercise.id] = given + 1
        print(_level(exercise, given + 1))
    else:
        print(
            f'There are no more hints for {exercise.id}. hint("{exercise.id}", 1) shows the first one again. '
            f'After a try, solution("{exercise.id}") shows a solution.'
        )


def solution(exercise_id: str) -> None:
    """Print a solution by the route of the hints, once an attempt has been checked since the kernel started."""
    exercise = _find(exercise_id)
    if exercise.id not in _tried:
        print(f"Try first: write {exercise.writes} and run its check once. Then this shows a solution.")
    elif isinstance(exercise, ValueExercise):
        print(exercise.reference)
    else:
        print(_source(exercise.solution()))


def _level(exercise: Exercise, level: int) -> str:
    return f"Hint {level} of {len(exercise.hints)} for {exercise.id}: {exercise.hints[level - 1]}"


def _expected(exercise: Exercise) -> str:
    """What a right solution answers where the learner's did not."""
    found = _last.get(exercise.id)
    if isinstance(exercise, ValueExercise):
        return f'Here the expected value is the answer itself. After a try, solution("{exercise.id}") explains it.'
    if found is not None and found.status == PASSED:
        return f"Your last attempt at {exercise.id} passed: it gave what was expected in every case."
    if found is None or found.case is None:
        return f"Run the check of {exercise.id} first. If a case fails, this shows what it expected."
    expected = judging.expected(exercise, found.case)
    same = " Yours is the same: the verdict is about how it came about." if expected == found.gave else ""
    return f"With {found.case.call.shows}, a right solution gives {expected}.{same}"


def _source(function: Callable) -> str:
    """The source of a function, below the imports that it needs."""
    names = [name for name in function.__code__.co_names if name in function.__globals__]
    values = {name: function.__globals__[name] for name in names}
    imports = [f"import {name}" for name, value in values.items() if inspect.ismodule(value)]
    imports += [f"from {value.__module__} import {name}" for name, value in values.items() if inspect.isclass(value)]
    source = textwrap.dedent(inspect.getsource(function)).rstrip()
    return "\n".join(imports) + "\n\n\n" + source if imports else source


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


def _record(verdict: Verdict) -> None:
    recording.keep({
        "exercise": verdict.exercise,
        "status": verdict.status,
        "hint_id": verdict.hint_id,
        "text": verdict.text,
    })  # fmt: skip

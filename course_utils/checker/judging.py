"""How an attempt at an exercise is judged: the first case that fails gives the verdict.

This module shows nothing and records nothing; `checking` does. It does not import torch.
"""

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from course_utils.checker import attempts, running
from course_utils.checker.answers import describe, unchanged
from course_utils.checker.exercise import (
    CHANGES_INPUT,
    GENERAL,
    NOT_A_FUNCTION,
    TOO_SLOW,
    Case,
    Exercise,
    FunctionExercise,
    Raises,
    ValueExercise,
    holds,
)
from course_utils.checker.own_state import own_state

PASSED, WRONG, RAISED, NOT_ATTEMPTED = "passed", "wrong", "raised", "not attempted"
WORDS = {PASSED: "Passed", WRONG: "Not yet", RAISED: "Raised", NOT_ATTEMPTED: "Not attempted"}


@dataclass(frozen=True)
class Finding:
    """What judging found. `lines` are sentences for the learner; they never tell the answer.

    case: the one that failed, and gave: what the learner's function answered there, as it is shown to them.
    """

    status: str
    hint_id: str | None = None
    headline: str = ""
    lines: tuple[str, ...] = ()
    printed: str = ""
    case: Case | None = None
    gave: str = ""


def judge(exercise: Exercise, attempt: object, seconds: float | None = None) -> Finding:
    """Judge an attempt. seconds: the limit for all calls of the learner's function together.

    The verdict does not depend on the notebook's settings, and leaves them as they are: see `own_state`.
    """
    with own_state():
        return _judge(exercise, attempt, seconds)


def _judge(exercise: Exercise, attempt: object, seconds: float | None) -> Finding:
    if attempts.is_nothing(attempt):
        return Finding(NOT_ATTEMPTED, headline=attempts.REPLACE_THE_DOTS)
    if isinstance(exercise, ValueExercise):
        return _judge_value(exercise, attempt)
    if (reason := attempts.why_none(attempt)) is not None:
        return Finding(NOT_ATTEMPTED, headline=reason)
    if not callable(attempt):
        line = f"You passed {describe(attempt)}."
        hint = "Hint: pass the function itself, by its name and without brackets. The check calls it."
        return Finding(WRONG, NOT_A_FUNCTION, lines=(line, hint))
    return _judge_function(exercise, attempt, running.LIMIT if seconds is None else seconds)


def _judge_value(exercise: ValueExercise, answer: object) -> Finding:
    if holds(exercise.unanswered, answer):
        return Finding(NOT_ATTEMPTED, headline=attempts.REPLACE_THE_DOTS)
    if holds(exercise.accepts, answer):
        return Finding(PASSED)
    gave = f"Your answer: {describe(answer)}"
    for known in exercise.misconceptions:
        if holds(known.matches, answer):
            return Finding(WRONG, known.hint_id, lines=(gave, f"Hint: {known.hint}"))
    return Finding(WRONG, GENERAL, lines=(gave, f"Hint: {exercise.general}"))


def _judge_function(exercise: FunctionExercise, function: Callable, seconds: float) -> Finding:
    left, printed, first_change = seconds, "", None
    for number, case in enumerate(exercise.cases):
        args = case.call.args()
        begun = time.monotonic()  # making the arguments is our time, not the learner's
        run = running.run(function, args, left)
        left -= time.monotonic() - begun
        printed = printed or run.printed
        if number == 0 and (reason := attempts.why_no_answer(run, function)) is not None:
            return Finding(NOT_ATTEMPTED, headline=reason)
        finding = _judge_run(case, run, args, function)
        if finding is not None:
            return replace(finding, printed=run.printed, case=case, gave=describe(run.value))
        if first_change is None and not all(map(unchanged, case.call.args(), args)):
            first_change = case.call
    if first_change is not None:
        lines = (
            f"With {first_change.shows}, your function changed one of its arguments.",
            "Hint: work on a copy, or use operations that make a new tensor or list. The caller needs the original.",
        )
        return Finding(WRONG, CHANGES_INPUT, lines=lines, printed=printed)
    return Finding(PASSED, headline=f"All {len(exercise.cases)} cases.", printed=printed)


def _judge_run(case: Case, run: running.Run, args: tuple, function: Callable) -> Finding | None:
    """None if the call passes its case."""
    hint, shows = f"Hint: {case.hint}", case.call.shows
    if run.stopped:
        return _too_slow(shows, run)
    if run.error is not None:
        if case.expect.allows(run.error):
            return None
        where = running.learner_line(run.error, function)
        lines = [*([f"In your code, {where}"] if where else []), f"This happened with {shows}."]
        headline = running.error_line(run.error)
        if case.error_is_typical or isinstance(case.expect, Raises):
            return Finding(RAISED, case.hint_id, headline, (*lines, hint))
        return Finding(RAISED, None, headline, tuple(lines))
    problem = case.expect.problem(run.value, args)
    if problem is None:
        return None
    gave = f"With {shows}, your function gave {describe(run.value)}."
    lines = [gave, *([f"Your answer {problem}."] if problem else []), hint]
    if run.warned:
        lines.append(f"Python warned: {run.warned[0][:160]}")
    return Finding(WRONG, case.hint_id, lines=tuple(lines))


def expected(exercise: FunctionExercise, case: Case) -> str:
    """What a right solution answers in this case, as it is shown to learners."""
    if isinstance(case.expect, Raises):
        return f"a {case.expect.kind.__name__}"
    with own_state():
        answer = exercise.solution()(*case.call.args())
    if isinstance(answer, dict):  # `describe` would leave out some of its entries
        return repr(answer)
    return describe([*answer] if isinstance(answer, Iterator) else answer)


def _too_slow(shows: str, run: running.Run) -> Finding:
    lines = [
        f"This happened with {shows}. All calls of a check together may take {running.LIMIT:.0f} seconds.",
        "Hint: look for a loop whose condition never becomes false, or for many more steps than needed.",
    ]
    if run.stuck:
        lines.append("It could not be stopped and goes on in the background. Restart the kernel if it becomes slow.")
    return Finding(RAISED, TOO_SLOW, "Your function took too long and was stopped.", tuple(lines))

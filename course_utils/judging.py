"""What an exercise is, and how an attempt at it is judged.

An exercise that asks for a function has ordered cases. Each case stands for one misconception and has its own hint;
the first case that fails gives the verdict. A case either says what the answer must be (`want`, `raises`, `judge`),
or what it must not be (`wrong`): the answer that this one misconception leads to. An exercise that asks for a value
has a test for the right value and a list of known wrong ones.

This module shows nothing and records nothing; `checking` does. It does not import torch.
"""

import importlib
import time
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum

from course_utils import attempts, running
from course_utils.answers import ATOL, describe, difference, same, unchanged

UNSET = object()  # no expectation; None is one

PASSED, WRONG, RAISED, NOT_ATTEMPTED = "passed", "wrong", "raised", "not attempted"
WORDS = {PASSED: "Passed", WRONG: "Not yet", RAISED: "Raised", NOT_ATTEMPTED: "Not attempted"}

CHANGES_INPUT, NOT_A_FUNCTION, TOO_SLOW, GENERAL = "changes-input", "not-a-function", "too-slow", "general"


@dataclass(frozen=True)
class Case:
    """One call of the learner's function, and what must hold of it.

    hint_id, hint: the misconception that a failure shows. shows: the arguments, in words or numbers.
    args: makes the arguments anew at each call, so that a learner's function never gets ours.
    want: the answer. wrong: the misconception's answer, or a function that recognises it; everything else
        goes on to the next case. raises: the error that the contract asks for.
    judge: for what numbers cannot say, (value, args) -> True if it is right.
    error_is_typical: an error here mostly has this case's reason, so its hint is shown with the error.
    atol: what a number of `want` may differ by; larger where float32 itself is coarser than usual.
    """

    hint_id: str
    hint: str
    shows: str
    args: Callable[[], tuple]
    want: object = UNSET
    wrong: object = UNSET
    raises: type[BaseException] | None = None
    judge: Callable[[object, tuple], bool] | None = None
    error_is_typical: bool = False
    atol: float = ATOL

    def problem(self, value, args: tuple) -> str | None:
        """None if the answer passes this case; otherwise a phrase, perhaps empty, that goes on from "Your answer"."""
        if self.raises is not None:
            return ""
        if self.judge is not None:
            return None if _holds(lambda answer: self.judge(answer, args), value) else ""
        if self.wrong is not UNSET:
            hit = _holds(self.wrong, value) if callable(self.wrong) else same(value, self.wrong)
            return "" if hit else None
        if self.want is None:
            return None if value is None else ""
        found = difference(value, self.want, self.atol)
        return "" if found == "has other numbers" else found


@dataclass(frozen=True)
class Misconception:
    """A known wrong value: `matches(answer)` recognises it."""

    hint_id: str
    hint: str
    matches: Callable[[object], bool]


@dataclass(frozen=True)
class Exercise:
    """What the learner writes, how it is judged, and the help that there is.

    difficulty: "easy", "medium" or "hard". minutes: about how long it takes. hints: level by level, for `hint`.
    cases: for a function. accepts, misconceptions, general, unanswered: for a value.
    reference: "module:name" of a function of the package that has this contract, or a solution of our own. For a
        value it is the text of the explanation.
    """

    id: str
    writes: str
    contract: str
    difficulty: str
    minutes: int
    hints: tuple[str, ...]
    reference: object
    cases: tuple[Case, ...] = ()
    accepts: Callable[[object], bool] | None = None
    misconceptions: tuple[Misconception, ...] = ()
    general: str = ""
    unanswered: Callable[[object], bool] = lambda answer: False

    @property
    def is_function(self) -> bool:
        return bool(self.cases)

    def hint_ids(self) -> list[str]:
        """Every hint id that a verdict on this exercise can have, in the order of the cases."""
        if self.is_function:
            can_change = any(not _fixed(argument) for case in self.cases for argument in case.args())
            own = [*dict.fromkeys(case.hint_id for case in self.cases), *([CHANGES_INPUT] if can_change else [])]
            return [*own, NOT_A_FUNCTION]
        return [*(entry.hint_id for entry in self.misconceptions), GENERAL]

    def solution(self):
        """The reference: a function, or for a value a text."""
        if isinstance(self.reference, str) and self.is_function:
            module, _, name = self.reference.partition(":")
            return getattr(importlib.import_module(module), name)
        return self.reference


@dataclass(frozen=True)
class Finding:
    """What judging found. `lines` are sentences for the learner; they never tell the answer."""

    status: str
    hint_id: str | None = None
    headline: str = ""
    lines: tuple[str, ...] = ()
    printed: str = ""


def _fixed(argument) -> bool:
    """Whether it is a value that no function can change: a number, a text, settings that are a frozen dataclass."""
    frozen = getattr(argument, "__dataclass_params__", None)
    return argument is None or isinstance(argument, (int, float, str, Enum)) or (frozen is not None and frozen.frozen)


def judge(exercise: Exercise, attempt, seconds: float | None = None) -> Finding:
    """Judge an attempt. seconds: the limit for all calls of the learner's function together."""
    if attempts.is_nothing(attempt):
        return Finding(NOT_ATTEMPTED, headline=attempts.REPLACE_THE_DOTS)
    if exercise.is_function:
        return _judge_function(exercise, attempt, running.LIMIT if seconds is None else seconds)
    return _judge_value(exercise, attempt)


def _judge_value(exercise: Exercise, answer) -> Finding:
    if _holds(exercise.unanswered, answer):
        return Finding(NOT_ATTEMPTED, headline=attempts.REPLACE_THE_DOTS)
    if _holds(exercise.accepts, answer):
        return Finding(PASSED)
    gave = f"Your answer: {describe(answer)}"
    for known in exercise.misconceptions:
        if _holds(known.matches, answer):
            return Finding(WRONG, known.hint_id, lines=(gave, f"Hint: {known.hint}"))
    return Finding(WRONG, GENERAL, lines=(gave, f"Hint: {exercise.general}"))


def _holds(test, answer) -> bool:
    """A test of ours that an odd answer makes fail is not passed."""
    try:
        return bool(test(answer))
    except Exception:
        return False


def _judge_function(exercise: Exercise, function, seconds: float) -> Finding:
    if (reason := attempts.why_none(function)) is not None:
        return Finding(NOT_ATTEMPTED, headline=reason)
    if not callable(function):
        line = f"You passed {describe(function)}."
        hint = "Hint: pass the function itself, by its name and without brackets: the check calls it."
        return Finding(WRONG, NOT_A_FUNCTION, lines=(line, hint))
    left, printed, first_change = seconds, "", None
    for number, case in enumerate(exercise.cases):
        args = case.args()
        begun = time.monotonic()  # making the arguments is our time, not the learner's
        run = running.run(function, args, left)
        left -= time.monotonic() - begun
        printed = printed or run.printed
        if number == 0 and (reason := attempts.why_no_answer(run, function)) is not None:
            return Finding(NOT_ATTEMPTED, headline=reason)
        finding = _judge_run(case, run, args, function)
        if finding is not None:
            return Finding(**{**vars(finding), "printed": run.printed})
        if first_change is None and not all(map(unchanged, case.args(), args)):
            first_change = case
    if first_change is not None:
        lines = (
            f"With {first_change.shows}, an argument is not what it was before the call.",
            "Hint: work on a copy, or with operations that make a new tensor or list. The caller still needs his.",
        )
        return Finding(WRONG, CHANGES_INPUT, lines=lines, printed=printed)
    return Finding(PASSED, headline=f"All {len(exercise.cases)} cases.", printed=printed)


def _judge_run(case: Case, run: running.Run, args: tuple, function) -> Finding | None:
    """None if the call passes its case."""
    hint = f"Hint: {case.hint}"
    if run.stopped:
        return _too_slow(case, run)
    if run.error is not None:
        if case.raises is not None and isinstance(run.error, case.raises):
            return None
        if case.wrong is not UNSET:
            return None  # not this misconception; a later case on the same arguments meets the error again
        where = running.learner_line(run.error, function)
        lines = (*([f"In your code, {where}"] if where else []), f"With {case.shows}.")
        typical = case.error_is_typical or case.raises is not None
        headline = running.error_line(run.error)
        return Finding(RAISED, case.hint_id if typical else None, headline, (*lines, hint) if typical else lines)
    problem = case.problem(run.value, args)
    if problem is None:
        return None
    gave = f"With {case.shows}, your function gave {describe(run.value)}."
    lines = [gave, *([f"Your answer {problem}."] if problem else []), hint]
    if run.warned:
        lines.append(f"Python warned: {run.warned[0][:160]}")
    return Finding(WRONG, case.hint_id, lines=tuple(lines))


def _too_slow(case: Case, run: running.Run) -> Finding:
    lines = [
        f"With {case.shows}. All calls of a check together have {running.LIMIT:.0f} seconds.",
        "Hint: look for a loop whose condition never becomes false, or for far more steps than are needed.",
    ]
    if run.stuck:
        lines.append("It could not be stopped and goes on in the background. Restart the kernel if it gets slow.")
    return Finding(RAISED, TOO_SLOW, "Your function took too long and was stopped.", tuple(lines))

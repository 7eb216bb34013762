"""What an exercise is: a contract, the cases or misconceptions that an attempt is tried on, and the help that there is.

An exercise that asks for a function has ordered cases, and each case stands for one misconception with its own hint.
A case makes one call of the learner's function and expects something of it:

    Equals       the answer is this one
    Holds        the answer passes a test, where numbers cannot say what is right
    Raises       the call ends with this error, as the contract says
    Recognises   the answer is *not* the one to which this misconception leads

An exercise that asks for a value has a test for the right value and a list of known wrong ones. This module does not
import torch.
"""

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from typing import Any, Protocol

from course_utils.checker.answers import ATOL, difference, same

CHANGES_INPUT, NOT_A_FUNCTION, TOO_SLOW, GENERAL = "changes-input", "not-a-function", "too-slow", "general"


@dataclass(frozen=True)
class Call:
    """One call of the learner's function.

    shows: the arguments, in words or numbers, as they go on from "With ".
    args: makes the arguments anew each time, so that a learner's function never gets ours.
    """

    shows: str
    args: Callable[[], tuple]


class Expectation(Protocol):
    """What a case expects of its call."""

    def problem(self, value: object, args: tuple) -> str | None:
        """None if `value` is as expected; otherwise a phrase, perhaps empty, that goes on from "Your answer"."""

    def allows(self, error: BaseException) -> bool:
        """Whether a call that raised `error` passes this case."""


@dataclass(frozen=True)
class Equals:
    """The answer is `answer`: numbers, or None.

    atol: what a number may differ by. It is larger where float32 itself is coarser than usual.
    """

    answer: object
    atol: float = ATOL

    def problem(self, value: object, args: tuple) -> str | None:
        """What is wrong with the answer, in words that do not tell the right one."""
        if self.answer is None:
            return None if value is None else ""
        found = difference(value, self.answer, self.atol)
        return "" if found == "has other numbers" else found

    def allows(self, error: BaseException) -> bool:
        """No error is an answer."""
        return False


@dataclass(frozen=True)
class Holds:
    """The answer passes a test of ours: test(value, args) is true, where `args` are those that the function got."""

    test: Callable[[Any, tuple], object]

    def problem(self, value: object, args: tuple) -> str | None:
        """An empty phrase where the test fails, or cannot cope with the answer."""
        return None if holds(lambda answer: self.test(answer, args), value) else ""

    def allows(self, error: BaseException) -> bool:
        """No error is an answer."""
        return False


@dataclass(frozen=True)
class Recognises:
    """The answer is not that of the misconception.

    wrong: the misconception's answer, or a function that recognises it. Every other answer goes on to the next case,
    and so does an error: a later case on the same arguments meets it again.
    """

    wrong: object

    def problem(self, value: object, args: tuple) -> str | None:
        """An empty phrase where the misconception is recognised."""
        hit = holds(self.wrong, value) if callable(self.wrong) else same(value, self.wrong)
        return "" if hit else None

    def allows(self, error: BaseException) -> bool:
        """An error is not this misconception."""
        return True


@dataclass(frozen=True)
class Raises:
    """The call raises an error of this kind, as the contract says."""

    kind: type[BaseException]

    def problem(self, value: object, args: tuple) -> str | None:
        """An empty phrase: there should be no answer at all."""
        return ""

    def allows(self, error: BaseException) -> bool:
        """Whether it is the error that the contract names."""
        return isinstance(error, self.kind)


def holds(test: Callable[[Any], object], answer: object) -> bool:
    """Whether an answer passes a test of ours. An answer on which the test itself raises an error does not pass."""
    try:
        return bool(test(answer))
    except Exception:
        return False


@dataclass(frozen=True)
class Case:
    """One call of the learner's function, and what is expected of it.

    hint_id, hint: name and explain the misconception that a failure shows.
    error_is_typical: an error here mostly has this case's reason, so its hint is shown with the error.
    """

    hint_id: str
    hint: str
    call: Call
    expect: Expectation
    error_is_typical: bool = False


@dataclass(frozen=True)
class Misconception:
    """A known wrong value: `matches(answer)` recognises it."""

    hint_id: str
    hint: str
    matches: Callable[[Any], object]


@dataclass(frozen=True, kw_only=True)
class FunctionExercise:
    """An exercise in which the learner writes a function.

    id: for example "03.top_p". writes: what the learner writes. contract: what it has to do.
    difficulty: "easy", "medium" or "hard". minutes: about how long it takes. hints: level by level, for `hint`.
    reference: a function that fulfils the contract by the route of the hints. `solution` shows its source, so it is
        whole by itself: it needs nothing but what it imports, and what its own module imports.
    cases: in the order in which they are tried. The first that fails gives the verdict.
    """

    id: str
    writes: str
    contract: str
    difficulty: str
    minutes: int
    hints: tuple[str, ...]
    reference: Callable
    cases: tuple[Case, ...]

    def hint_ids(self) -> list[str]:
        """Every hint id that a verdict on this exercise can have, in the order of the cases."""
        can_change = any(not _fixed(argument) for case in self.cases for argument in case.call.args())
        own = [*dict.fromkeys(case.hint_id for case in self.cases), *([CHANGES_INPUT] if can_change else [])]
        return [*own, NOT_A_FUNCTION]

    def solution(self) -> Callable:
        """The reference."""
        return self.reference


@dataclass(frozen=True, kw_only=True)
class ValueExercise:
    """An exercise in which the learner gives a value.

    id, writes, contract, difficulty, minutes, hints: as in `FunctionExercise`. reference: the text of the explanation.
    accepts: the test for a right value. misconceptions: the known wrong ones, in the order in which they are tried.
    general: the hint for every other wrong value. unanswered: recognises a value in which the dots still stand.
    """

    id: str
    writes: str
    contract: str
    difficulty: str
    minutes: int
    hints: tuple[str, ...]
    reference: str
    accepts: Callable[[Any], object]
    misconceptions: tuple[Misconception, ...]
    general: str
    unanswered: Callable[[Any], object] = lambda answer: False

    def hint_ids(self) -> list[str]:
        """Every hint id that a verdict on this exercise can have, in the order in which they are tried."""
        return [*(known.hint_id for known in self.misconceptions), GENERAL]


Exercise = FunctionExercise | ValueExercise


def _fixed(argument: object) -> bool:
    """Whether it is a value that no function can change: a number, a text, settings that are a frozen dataclass."""
    frozen = getattr(argument, "__dataclass_params__", None)
    return argument is None or isinstance(argument, int | float | str | Enum) or (frozen is not None and frozen.frozen)

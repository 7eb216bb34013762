"""What is wrong with a visitor's function: the first of its cases that fails, and the hint of that case.

A hint is named "exercise/hint id" where the notebooks have a sentence for the same mistake, and "page/key" where only
the page can make it. The cases follow those of the notebooks, on lists of numbers instead of tensors. `cases` holds
them; this module says when an answer passes one.
"""

import copy
import math
import numbers
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

ATOL = 1e-6  # what a number may differ by
UNSET = object()
_LONGEST = 160  # characters of an answer that are shown


@dataclass(frozen=True)
class Case:
    """One call of the visitor's function.

    hint: the name of the sentence that a failure shows. args: what the function is called with.
    want: the answer. Or wrong: the answers, or a function that recognises them, to which this one mistake leads;
        every other answer goes on to the next case.
    """

    hint: str
    args: tuple
    want: object = UNSET
    wrong: Sequence | Callable[[object], bool] = ()

    def fails(self, answer: object) -> bool:
        """Whether the answer shows this mistake."""
        if self.want is not UNSET:
            return not same(answer, self.want)
        if callable(self.wrong):
            try:
                return bool(self.wrong(answer))
            except Exception:  # an answer of another kind is not this mistake
                return False
        return any(same(answer, value) for value in self.wrong)


@dataclass(frozen=True)
class Finding:
    """A case that failed. call: the function's call as one would write it. gave: its answer, shortened."""

    hint: str
    call: str
    gave: str


class RaisedInCheck(Exception):
    """The visitor's function stopped with an error when a check called it; `__cause__` is the error."""

    def __init__(self, case: Case, call: str):
        super().__init__(call)
        self.case, self.call = case, call


def check(name: str, function: Callable, cases: Sequence[Case]) -> Finding | None:
    """The first case that the function fails, or None if it passes all.

    name: the function's name, for the call that is shown.
    Raises RaisedInCheck if the function raises an error, and lets through what is not an Exception.
    """
    changed = None
    for case in cases:
        args = copy.deepcopy(case.args)
        call = f"{name}({', '.join(map(written, case.args))})"
        try:
            answer = function(*args)
        except Exception as error:
            if case.want is UNSET:
                continue  # a later case with the same arguments asks for the answer itself
            raise RaisedInCheck(case, call) from error
        if case.fails(answer):
            return Finding(case.hint, call, written(answer))
        if changed is None and args != case.args:
            changed = Finding("page/changes-input", call, written(answer))
    return changed


def same(answer: Any, want: Any) -> bool:
    """Whether two answers are equal: numbers within ATOL, lists number by number, None only None."""
    if want is None or answer is None:
        return want is answer
    if isinstance(want, list | tuple):
        return (
            isinstance(answer, list | tuple)
            and len(answer) == len(want)
            and all(same(*pair) for pair in zip(answer, want, strict=True))
        )
    if isinstance(answer, bool) or not isinstance(answer, numbers.Real):
        return False
    if isinstance(want, int):  # whole numbers have no tolerance: bytes are counted
        return answer == want
    return abs(answer - want) <= ATOL  # False for NaN


def written(value: object) -> str:
    """A value as one would write it: numbers with up to six digits, long lists and texts cut."""
    if isinstance(value, float) and math.isfinite(value):
        text = f"{value:.6g}"
    elif isinstance(value, list):
        text = f"[{', '.join(map(written, value[:40]))}{', …' if len(value) > 40 else ''}]"
    else:
        try:
            text = repr(value)
        except Exception:  # a visitor's own class may not be able to show itself
            text = f"<{type(value).__name__}>"
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"

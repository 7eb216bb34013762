"""Tell an attempt at an exercise from an untouched stub, and from a function that the course itself has."""

import ast
import functools
import inspect
import textwrap
from collections.abc import Callable

from course_utils.checker.running import Run, learner_line

REPLACE_THE_DOTS = "Replace the dots by your answer. Run that cell, then this one."
_RAISED = "raise NotImplementedError"  # as a stub writes it


def is_nothing(value: object) -> bool:
    """True for what stands where an answer is still missing."""
    return value is None or value is ... or value is NotImplemented


def why_none(function: object) -> str | None:
    """Why this is not an attempt, if that shows without a call: an untouched stub, or the course's own function."""
    inner = function
    while isinstance(inner, functools.partial):
        inner = inner.func
    if callable(inner) and str(getattr(inner, "__module__", "")).split(".")[0] == "course_utils":
        return "This is the course's own function. Write your own under the same name."
    if callable(function) and _is_stub(function):
        return "The function has no body yet. Write it and run that cell, then this one."
    return None


def _is_stub(function: Callable) -> bool:
    """True if the body is nothing but a docstring, `...`, `pass` or `raise NotImplementedError`."""
    tree = _tree(function)
    if tree is None:
        return False  # no source to look at: its result will tell
    if len(tree.body) != 1 or not isinstance(tree.body[0], ast.FunctionDef):
        return False
    return all(_says_nothing(statement) for statement in tree.body[0].body)


def _tree(function: Callable) -> ast.Module | None:
    """The syntax of the function's source; None if it cannot be read, or does not stand alone, as that of a lambda."""
    try:
        return ast.parse(textwrap.dedent(inspect.getsource(function)))
    except (OSError, TypeError, SyntaxError, ValueError):
        return None


def _says_nothing(statement: ast.stmt) -> bool:
    if isinstance(statement, ast.Raise):
        raised = statement.exc.func if isinstance(statement.exc, ast.Call) else statement.exc
        return isinstance(raised, ast.Name) and raised.id == "NotImplementedError"
    return isinstance(statement, ast.Pass) or (
        isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
    )


def _returns_something(function: Callable) -> bool:
    """True if the source can be read, and somewhere returns more than a constant such as None."""
    tree = _tree(function)
    returns = [] if tree is None else [node.value for node in ast.walk(tree) if isinstance(node, ast.Return)]
    return any(value is not None and not isinstance(value, ast.Constant) for value in returns)


def why_no_answer(run: Run, function: Callable) -> str | None:
    """Why this is not an attempt, by what its first call gave. To no first case is None the right answer.

    A function that gave None and has a `return` with something in it was written: it is an attempt, and a wrong one.
    """
    # Libraries raise this too, for what they cannot do, and so does `input` where there is no one to answer.
    if type(run.error) is NotImplementedError and _RAISED in (learner_line(run.error, function) or _RAISED):
        return "The function raises NotImplementedError. Put your code in place of that line."
    if run.error is None and not run.stopped and is_nothing(run.value) and not _returns_something(function):
        return "The function returned nothing. If you have written it, a `return` is missing."
    return None

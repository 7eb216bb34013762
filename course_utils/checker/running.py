"""Run a learner's function within limits: a few seconds, its prints and warnings caught, its errors kept.

The function runs in a separate thread, since only that works on every system. A thread cannot be killed. In one that
runs over time an exception is raised, which ends loops in Python. One that is stuck inside a single call into C is left
behind, and the verdict says so.
"""

import contextlib
import ctypes
import io
import linecache
import sys
import threading
import time
import traceback
import types
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from course_utils.checker.own_state import own_state

LIMIT = 5.0  # seconds for all the cases of one check together
_GRACE = 1.0  # seconds in which a thread may react to being stopped
_MAX_PRINTED = 4000  # characters kept of what the function prints


@dataclass
class Run:
    """What came of one call. Exactly one of these holds: it returned `value`, it raised `error`, it was `stopped`."""

    value: object = None
    error: BaseException | None = None
    stopped: bool = False
    stuck: bool = False  # stopped, and the thread could not be ended
    printed: str = ""
    warned: list[str] = field(default_factory=list)


class _Stop(BaseException):
    """Raised in the learner's thread. Not an Exception, so that `except Exception` in a loop does not catch it."""


class _Bounded(io.StringIO):
    """Keeps the first characters only: an endless loop that prints must not fill the memory."""

    def write(self, text: str) -> int:
        room = _MAX_PRINTED - self.tell()
        if room > 0:
            super().write(str(text)[:room])
        return len(text)


def run(function: Callable, args: tuple, seconds: float) -> Run:
    """Call `function(*args)` in a thread and wait for at most `seconds`.

    Nothing that the function raises comes out of here, SystemExit included. An interrupt by the learner does.
    """
    result, done = Run(), threading.Event()
    call = _without_gradients(function)
    outcome = result  # the thread keeps this one: if it is left behind, it must not write to a later result

    def target() -> None:
        with contextlib.suppress(_Stop):  # it may also arrive while the lines below run
            try:
                outcome.value = call(*args)
            except _Stop:
                return
            except BaseException as error:
                outcome.error = error
            done.set()

    thread = threading.Thread(target=target, daemon=True, name="a learner's function")
    printed = _Bounded()
    with (
        own_state(),
        contextlib.redirect_stdout(printed),
        contextlib.redirect_stderr(printed),
        _nothing_displayed(),
        warnings.catch_warnings(record=True) as caught,
    ):
        warnings.simplefilter("always")  # also where the process turns warnings into errors
        thread.start()
        try:
            done.wait(max(seconds, 0.001))
        finally:
            if not done.is_set():
                result = Run(stopped=True, stuck=not _end(thread))
    result.printed = printed.getvalue()
    result.warned = [f"{entry.category.__name__}: {entry.message}" for entry in caught]
    return result


def _without_gradients(function: Callable) -> Callable:
    """PyTorch keeps one gradient mode for each thread. In a new one it is on, and here it is off, as in `own_state`."""
    torch = sys.modules.get("torch")
    if torch is None:
        return function

    def call(*args: Any) -> Any:
        with torch.no_grad():
            return function(*args)

    return call


@contextlib.contextmanager
def _nothing_displayed() -> Iterator[None]:
    """In a notebook: pictures and other displays of the function do not come between the learner and the verdict."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython else None
    if shell is None:
        yield
        return
    from IPython.core.displaypub import CapturingDisplayPublisher

    publisher = shell.display_pub
    shell.display_pub = CapturingDisplayPublisher()
    try:
        yield
    finally:
        shell.display_pub = publisher


def _end(thread: threading.Thread) -> bool:
    """Raise _Stop in the thread until it ends. False if it has not ended after _GRACE seconds."""
    until = time.monotonic() + _GRACE
    while thread.is_alive() and time.monotonic() < until:
        ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread.ident or 0), ctypes.py_object(_Stop))
        thread.join(0.05)
    return not thread.is_alive()


def error_line(error: BaseException) -> str:
    """The error's type and message in one line, as Python shows it."""
    try:
        text = "".join(traceback.format_exception_only(type(error), error)).strip().splitlines()
    except Exception:  # a learner's exception whose __str__ fails
        text = []
    line = (text[-1] if isinstance(error, SyntaxError) else text[0]) if text else type(error).__name__
    return line if len(line) <= 240 else line[:236] + " ..."


def learner_line(error: BaseException, function: Any) -> str | None:
    """Where in the learner's own code the error arose: "line 3: `return x / total`", or None if not in it.

    The deepest frame in the file (in a notebook: the cell) of `function` is named, else the deepest in any cell.
    """
    home = getattr(own_code(function), "co_filename", None)
    frames = [frame for frame, _ in traceback.walk_tb(error.__traceback__)]
    lines = [number for _, number in traceback.walk_tb(error.__traceback__)]
    places = [(frame.f_code.co_filename, number) for frame, number in zip(frames, lines, strict=True)]
    mine = [place for place in places if place[0] == home] or [place for place in places if _is_cell(place[0])]
    if not mine:
        return None
    file, number = mine[-1]
    source = linecache.getline(file, number).strip()
    return f"line {number}: `{source}`" if source else f"line {number}"


def own_code(function: Any) -> types.CodeType | None:
    """The code object of a function, a method, a partial or a decorated function; None if it has none."""
    seen = 0
    while seen < 20:
        seen += 1
        for attribute in ("__wrapped__", "__func__", "func"):
            inner = getattr(function, attribute, None)
            if callable(inner):
                function = inner
                break
        else:
            break
    code = getattr(function, "__code__", None)
    return code if isinstance(code, types.CodeType) else None


def _is_cell(file: str) -> bool:
    return ("ipykernel" in file and "site-packages" not in Path(file).parts) or file.startswith("<ipython-input")

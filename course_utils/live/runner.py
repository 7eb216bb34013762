"""Run a visitor's code. What it prints is sent at once; an error names the visitor's own line.

The code runs in the browser's sandbox (`webpage/src/worker.js`), which a limit of time ends from outside. Nothing
here makes it safe to run a stranger's code in an ordinary Python.
"""

import ast
import io
import linecache
import sys
import time
import traceback
from collections.abc import Callable

NAME = "your code"  # what a traceback calls the visitor's file
MOST_CHARACTERS, MOST_LINES = 100_000, 5_000
_AT_ONCE = 200  # so many writes are sent one by one, later ones together
_EVERY = 0.05  # seconds between two messages then

Send = Callable[[str, dict], None]


class TooMuchOutput(BaseException):
    """Ends a loop that prints for ever. It is no Exception, so `except Exception` does not catch it."""


class Output(io.TextIOBase):
    """A text stream that goes to the page: "out" messages with the stream's name and the text.

    room: [characters, lines] that may still be written; two streams share it.
    """

    def __init__(self, send: Send, stream: str, room: list[int]):
        self._send, self._stream, self._room = send, stream, room
        self._parts: list[str] = []
        self._writes, self._sent_at = 0, 0.0

    def writable(self) -> bool:
        return True

    def write(self, text: str) -> int:
        text = str(text)
        self._parts.append(text[: max(self._room[0], 0)])
        self._room[0] -= len(text)
        self._room[1] -= text.count("\n")
        self._writes += 1
        now = time.monotonic()
        full = min(self._room) <= 0
        if full or self._writes <= _AT_ONCE or now - self._sent_at >= _EVERY:
            self._sent_at = now
            self.flush()
        if full:
            raise TooMuchOutput
        return len(text)

    def flush(self) -> None:
        text, self._parts = "".join(self._parts), []
        if text:
            self._send("out", {"stream": self._stream, "text": text})


def run(code: str, send: Send, afterwards: Callable[[dict], None] | None = None) -> bool:
    """Run the code in a fresh namespace, and then what is to be said about it.

    send: gets a kind of message and its data: "out" (stream, text) and "error" (text, line, advice).
    afterwards: is given the namespace if the code came to its end. It calls the visitor's functions, so their prints
        and errors are sent as well.
    Returns whether nothing was raised.
    """
    room = [MOST_CHARACTERS, MOST_LINES]
    streams = Output(send, "out", room), Output(send, "err", room)
    before = sys.stdout, sys.stderr
    sys.stdout, sys.stderr = streams
    linecache.cache[NAME] = (len(code), None, code.splitlines(keepends=True), NAME)
    namespace = {"__name__": "__main__"}
    try:
        _execute(code, namespace)
        if afterwards is not None:
            afterwards(namespace)
        return True
    except SystemExit as end:
        if end.code not in (None, 0):
            print(end.code, file=sys.stderr)
        return end.code in (None, 0)
    except BaseException as error:
        for stream in streams:
            stream.flush()
        send("error", describe(error))
        return False
    finally:
        sys.stdout, sys.stderr = before
        for stream in streams:
            stream.flush()


def _execute(code: str, namespace: dict) -> None:
    """As in a notebook: if the last line is an expression, its value is shown."""
    tree = ast.parse(code, NAME)
    shown = [tree.body.pop()] if tree.body and isinstance(tree.body[-1], ast.Expr) else []
    exec(compile(tree, NAME, "exec"), namespace)
    exec(compile(ast.Interactive(shown), NAME, "single"), namespace)


def describe(error: BaseException) -> dict:
    """What the page says of an error.

    Returns text: the traceback from the visitor's first line on; line: the last line of theirs in it, or None;
    advice: the key of a sentence that helps, or None.
    """
    first = error.__traceback__
    while first is not None and first.tb_frame.f_code.co_filename != NAME:
        first = first.tb_next
    line = error.lineno if isinstance(error, SyntaxError) and error.filename == NAME else None
    frame = first
    while frame is not None:
        if frame.tb_frame.f_code.co_filename == NAME:
            line = frame.tb_lineno
        frame = frame.tb_next
    if isinstance(error, TooMuchOutput):
        return {"text": "", "line": line, "advice": "output"}
    limit = 3 if isinstance(error, RecursionError) else None
    text = "".join(traceback.TracebackException(type(error), error, first, limit=limit).format())
    return {"text": text, "line": line, "advice": _advice(error)}


def _advice(error: BaseException) -> str | None:
    kinds = (
        (ModuleNotFoundError, "module"),
        (ZeroDivisionError, "zero"),
        (OverflowError, "overflow"),
        (EOFError, "input"),
        (RecursionError, "recursion"),
        (MemoryError, "memory"),
        (IndentationError, "indentation"),
        (SyntaxError, "syntax"),
        (NameError, "name"),
    )
    return next((advice for kind, advice in kinds if isinstance(error, kind)), None)

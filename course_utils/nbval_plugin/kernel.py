"""The kernel in which nbval runs a notebook of the course: its settings, and a watch over its life."""

import contextlib
import time
from collections.abc import Iterator
from queue import Empty
from typing import Any

import pytest
from nbval.kernel import RunningKernel
from nbval.plugin import IPyNbFile

_NBVAL_TIMEOUT = 2000  # nbval's own default, which says that the user has set no timeout
_TIMEOUT = 300  # seconds for a cell, longer than any that trains
_SLICE = 0.5  # seconds between two looks at whether the kernel lives
_GRACE = 8  # seconds in which a cell must react to the interrupt that follows its timeout
_OUTPUT = 2_000_000  # characters of a cell's output that are kept
_OUTPUTS = ("stream", "display_data", "execute_result")
_START = "__import__('course_utils.checker.recording', fromlist=['start']).start({path!r}, {key!r})"


class KernelEnded(Exception):
    """The kernel's process has ended while a cell ran."""


def record_verdicts(kernel: RunningKernel, path: str, key: str) -> None:
    """Have `check` in this kernel record its verdicts in the file `path`, signed with `key`.

    The call goes as an expression beside an empty cell: so it is in no history, in no variable of the notebook and not
    among the sources that tracebacks quote. In a kernel without the course nothing is recorded.
    """
    start = {"start": _START.format(path=path, key=key)}
    sent = kernel.kc.execute("", silent=True, store_history=False, allow_stdin=False, user_expressions=start)
    kernel.await_reply(sent, timeout=60)


@contextlib.contextmanager
def defaults(config: pytest.Config, until: float | None = None) -> Iterator[None]:
    """While a notebook of the course runs: the course's value for each option that the user has not set.

    until: the moment, by the monotonic clock, at which the whole notebook's time is over.
    """
    option = config.option
    before = option.nbval_cell_timeout, option.nbval_current_env
    if option.nbval_cell_timeout == _NBVAL_TIMEOUT:
        option.nbval_cell_timeout = _TIMEOUT
    if not option.nbval_kernel_name:
        option.nbval_current_env = True
    if until is not None:
        option.nbval_cell_timeout = min(option.nbval_cell_timeout, max(0.1, until - time.monotonic()))
    try:
        yield
    finally:
        option.nbval_cell_timeout, option.nbval_current_env = before


def watch(file: IPyNbFile) -> None:
    """Make the kernel of a notebook (nbval's collector) notice its own end while it waits for a message.

    nbval waits up to the cell's timeout, also for a kernel that is dead; after a timeout it reads on for as long as the
    cell prints; and it keeps all that a cell prints, of which no more than `_OUTPUT` characters come through here. Sets
    `file.exited` once a cell has asked the kernel to exit.
    """
    kernel, ask = file.kernel, file.kernel.get_message
    give_up: float | None = None
    printed: dict[str, int] = {}  # characters, by the request that they answer

    def get_message(stream: Any, timeout: float | None = None) -> dict[str, Any]:
        nonlocal give_up
        until = time.monotonic() + (float("inf") if timeout is None else timeout)
        while True:
            if file.timed_out:
                give_up = give_up or time.monotonic() + _GRACE
                until = min(until, give_up)
            try:
                message = ask(stream, timeout=max(0.0, min(_SLICE, until - time.monotonic())))
            except Empty:
                if not kernel.is_alive():
                    raise KernelEnded from None
                if time.monotonic() >= until:
                    raise
                continue
            if file.timed_out and time.monotonic() >= until:
                raise Empty
            if message["msg_type"] in _OUTPUTS:
                asked, content = message.get("parent_header", {}).get("msg_id", ""), message["content"]
                printed[asked] = printed.get(asked, 0) + len(content.get("text") or str(content.get("data")))
                if printed[asked] > _OUTPUT and time.monotonic() < until:
                    continue
            if message["msg_type"] == "execute_reply":
                payload = message["content"].get("payload") or []
                file.exited |= any(part.get("source") == "ask_exit" and not part.get("keepkernel") for part in payload)
            return message

    kernel.get_message = get_message

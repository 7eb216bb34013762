"""The kernel in which nbval runs a notebook of the course: its settings, and a watch over its life."""

import contextlib
import os
import time
from collections.abc import Iterator
from queue import Empty
from typing import Any

import pytest
from nbval.plugin import IPyNbFile

_NBVAL_TIMEOUT = 2000  # nbval's own default, which says that the user has set no timeout
_TIMEOUT = 300  # seconds for a cell, longer than any that trains
_SLICE = 0.5  # seconds between two looks at whether the kernel lives
_GRACE = 8  # seconds in which a cell must react to the interrupt that follows its timeout


class KernelEnded(Exception):
    """The kernel's process has ended while a cell ran."""


@contextlib.contextmanager
def environment(name: str, value: str) -> Iterator[None]:
    """A variable that a kernel started inside inherits."""
    before = os.environ.get(name)
    os.environ[name] = value
    try:
        yield
    finally:
        if before is None:
            del os.environ[name]
        else:
            os.environ[name] = before


@contextlib.contextmanager
def defaults(config: pytest.Config) -> Iterator[None]:
    """While a notebook of the course runs: the course's value for each option that the user has not set."""
    option = config.option
    before = option.nbval_cell_timeout, option.nbval_current_env
    if option.nbval_cell_timeout == _NBVAL_TIMEOUT:
        option.nbval_cell_timeout = _TIMEOUT
    if not option.nbval_kernel_name:
        option.nbval_current_env = True
    try:
        yield
    finally:
        option.nbval_cell_timeout, option.nbval_current_env = before


def watch(file: IPyNbFile) -> None:
    """Make the kernel of a notebook (nbval's collector) notice its own end while it waits for a message.

    nbval waits up to the cell's timeout, also for a kernel that is dead; and after a timeout it reads on for as long
    as the cell prints. Sets `file.exited` once a cell has asked the kernel to exit.
    """
    kernel, ask = file.kernel, file.kernel.get_message
    give_up: float | None = None

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
            if message["msg_type"] == "execute_reply":
                payload = message["content"].get("payload") or []
                file.exited |= any(part.get("source") == "ask_exit" and not part.get("keepkernel") for part in payload)
            return message

    kernel.get_message = get_message

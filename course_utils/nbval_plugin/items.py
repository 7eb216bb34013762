"""What pytest collects from a notebook of the course: its code cells, run by nbval, then one test per exercise.

The cells run as nbval runs them, with shorter reports and without its traps: a kernel that dies is noticed at once, a
timeout ends the notebook, outputs without an execution count do no harm. `verdicts` has the tests of the exercises.
"""

import contextlib
import re
import secrets
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from nbval.plugin import IPyNbCell, IPyNbFile, NbCellError

from course_utils.checker import recording
from course_utils.nbval_plugin.files import cell_name, exercises_to_judge, find_notebook, why_not_nbvals, why_unreadable
from course_utils.nbval_plugin.kernel import KernelEnded, defaults, record_verdicts, watch
from course_utils.nbval_plugin.outputs import comparable
from course_utils.nbval_plugin.verdicts import ExerciseItem, Failed, UnreadableNotebook, skip

_ANSI = re.compile(r"\x1b\[[0-9;]*m")
_LINE = re.compile(r"Cell In\s?\[\w*\], line (\d+)")


def replace(collector: pytest.Collector, path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    """Our collector instead of nbval's for a notebook file; anything else as it is.

    None: there is nothing to collect in a Mac's note about a file, `._NAME`, as its archives hold.
    """
    if type(collector) is not IPyNbFile:
        return collector
    if path.name.startswith("._"):
        return None
    if (notebook := find_notebook(path)) is None:
        return NotebookFile.from_parent(parent, path=path)
    return CourseFile.from_parent(parent, path=path, notebook=notebook)


class NotebookFile(IPyNbFile):
    """A notebook, of whatever course. nbval would end the whole run at a file that it cannot read: here it is one test.

    ended: why it ran no further, once it did.
    """

    notebook: str | None = None  # which notebook of the course it is
    ended: str | None = None

    def collect(self) -> Iterator[pytest.Item]:
        unreadable = why_unreadable(self.path) or why_not_nbvals(self.path)
        if unreadable is None:
            try:
                yield from self.cells()
                return
            except Exception as error:  # JSON that is not a notebook, or one of another version
                said = ": ".join([type(error).__name__, *str(error).splitlines()[:1]])
                unreadable = f"it does not have a notebook's entries ({said})."
        self.ended = f"{self.path.name} cannot be read"
        yield UnreadableNotebook.from_parent(self, name="readable", reason=unreadable)

    def cells(self) -> list[Any]:
        """All that nbval makes of the file, before the first of it is used."""
        return list(super().collect())

    def setup(self) -> None:
        if self.ended is None:  # otherwise no kernel is needed
            super().setup()

    def teardown(self) -> None:
        if self.ended is None:
            super().teardown()


class CourseFile(NotebookFile):
    """A notebook of the course, with a test for each of its exercises."""

    def __init__(self, *args: Any, notebook: str, **kwargs: Any):
        super().__init__(*args, **kwargs)
        self.notebook = notebook
        self.exited = False  # a cell asked the kernel to exit
        self.begun: set[int] = set()  # the numbers of the cells that were run
        self.errors: dict[int, str] = {}  # of the cells that raised one, by their numbers
        self.records_folder: tempfile.TemporaryDirectory | None = None
        self.key = secrets.token_hex(32)
        self.until: float | None = None  # when the whole notebook's time is over

    def cells(self) -> list[Any]:
        """The cells, then the exercises."""
        assert self.notebook is not None
        cells = []
        for cell in super().cells():
            name = cell_name(cell.cell_num, cell.cell.metadata)
            kwargs = {"cell_num": cell.cell_num, "cell": cell.cell, "options": cell.options}
            cells.append(CourseCell.from_parent(self, name=name, **kwargs))
        asked = exercises_to_judge(self.path, self.notebook)
        return cells + [ExerciseItem.from_parent(self, name=exercise_id) for exercise_id in asked]

    def setup(self) -> None:
        if self.ended is not None:
            return
        self.records_folder = tempfile.TemporaryDirectory(prefix="course-check-", ignore_cleanup_errors=True)
        limit = self.config.getoption("--exercises-timeout")
        self.until = None if limit is None else time.monotonic() + limit
        with defaults(self.config):
            super().setup()
        watch(self)
        record_verdicts(self.kernel, str(self.records_path), self.key)

    @property
    def records_path(self) -> Path:
        assert self.records_folder is not None
        return Path(self.records_folder.name) / "records.jsonl"

    def records(self) -> dict[str, dict]:
        """The last verdict on each exercise that `check` has recorded in this run."""
        if self.records_folder is None or not self.records_path.exists():
            return {}
        return recording.read(self.records_path.read_text(encoding="utf-8", errors="replace"), self.key)

    def out_of_time(self) -> bool:
        """True once the time for the whole notebook is over."""
        return self.until is not None and time.monotonic() >= self.until

    def end(self, reason: str) -> None:
        """Run no further cell, and let go of the kernel."""
        self.ended = reason
        with contextlib.suppress(Exception):  # it may be gone already, or half gone
            self.kernel.kc.stop_channels()
        with contextlib.suppress(Exception):
            self.kernel.km.shutdown_kernel(now=True)

    def teardown(self) -> None:
        super().teardown()
        if self.records_folder is not None:
            self.records_folder.cleanup()


class CourseCell(IPyNbCell):
    """A code cell. What an exercise's own cells print is never compared with what is stored."""

    def __init__(self, *args: Any, **kwargs: Any):
        super().__init__(*args, **kwargs)
        tags = self.cell.metadata.get("tags") or []
        if any(str(tag).startswith(("exercise:", "check:")) for tag in tags):
            self.options["check"] = False
        if self.cell.setdefault("execution_count", None) is None:  # some programs write neither entry
            self.cell.outputs = []  # outputs of nobody's run: nothing to compare with, and no fault

    def compare_outputs(self, test: list, ref: list, skip_compare: Any = None) -> bool:
        """As nbval compares them, but for what only a browser shows."""
        return super().compare_outputs(comparable(test), comparable(ref), skip_compare)

    def setup(self) -> None:
        """Without nbval's: it would make every cell after a timeout an expected failure."""

    def runtest(self) -> None:
        if self.parent.ended is not None:
            skip(f"not reached: {self.parent.ended}")
        if not self.parent.kernel.is_alive():
            self.parent.end(f"the kernel ended before {self.name}")
            raise Failed(f"The kernel was gone when {self.name} began. The cell before it ended the kernel.")
        if not self.options["skip"]:
            self.parent.begun.add(self.cell_num)
        if self.parent.out_of_time():
            self.parent.end("the time for the whole notebook was over")
            skip(f"not reached: {self.parent.ended}")
        try:
            with defaults(self.config, self.parent.until):
                super().runtest()
        except KernelEnded:
            self.parent.end(f"the kernel died in {self.name}")
            raise Failed(f"The kernel died while {self.name} ran.\n{_first_lines(self.cell.source, 3)}") from None
        except NbCellError as error:
            if self.parent.timed_out:
                whole = " (the time for the whole notebook was over)" if self.parent.out_of_time() else ""
                self.parent.end(f"{self.name} took too long{whole}")
            else:
                self.parent.errors[self.cell_num] = _error_line(error)
            raise
        if self.parent.exited:
            self.parent.end(f"{self.name} ended the kernel")
            raise Failed(f"{self.name} ended the kernel (exit or quit): no cell after it ran. Take that line out.")

    def repr_failure(self, excinfo: pytest.ExceptionInfo) -> str:
        error = excinfo.value
        if isinstance(error, Failed):
            return str(error)
        if not isinstance(error, NbCellError):
            return f"{self.name}: {type(error).__name__}: {error}"
        inner = _plain(error)
        if "Timeout" in str(error):
            return f"{self.name} was stopped: {error}\nThe rest of {self.path.name} was not run."
        if "outputs differ" in str(error):
            head = (
                f"{self.name}: the output differs from the one stored in the notebook. No exercise is judged by that."
            )
            return f"{head}\n{_first_lines(inner, 16)}"
        lines = [line for line in inner.splitlines() if line.strip(" -")]
        return "\n".join([f"{self.name}: {lines[-1] if lines else error}", *lines[:-1][-9:]])

    def reportinfo(self) -> tuple[Path, int, str]:
        return self.path, 0, f"{self.path.name}::{self.name}"


def _plain(error: NbCellError) -> str:
    """The traceback of a cell's error, without colours."""
    return _ANSI.sub("", error.inner_traceback or "").strip("\n")


def _error_line(error: NbCellError) -> str:
    """A cell's error in one line: "line 3: SyntaxError: invalid syntax"."""
    lines = [line for line in _plain(error).splitlines() if line.strip(" -")] or [str(error)]
    where = _LINE.search("\n".join(lines))
    return (f"line {where[1]}: " if where else "") + re.sub(r" \([\w.<>-]+, line \d+\)$", "", lines[-1])


def _first_lines(text: str, count: int) -> str:
    lines = text.splitlines()
    return "\n".join(lines[:count] + (["..."] if len(lines) > count else []))

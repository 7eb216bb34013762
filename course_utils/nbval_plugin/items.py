"""What pytest collects from a notebook of the course: its code cells, run by nbval, then one test per exercise.

The cells run as nbval runs them, with shorter reports and without its traps: a kernel that dies is noticed at once, a
timeout ends the notebook, outputs without an execution count do no harm. The verdict on an exercise never comes from
a cell's output. It comes from what `check` recorded while the cells ran; the last record counts, and none is a failure.
"""

import contextlib
import json
import os
import re
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NoReturn

import pytest
from nbval.plugin import Dummy, IPyNbCell, IPyNbFile, NbCellError

from course_utils.checking import RECORDS
from course_utils.nbval_plugin.files import (
    cell_name,
    check_cells,
    check_numbers,
    exercises_to_judge,
    find_notebook,
    why_unreadable,
)
from course_utils.nbval_plugin.kernel import KernelEnded, defaults, environment, watch

RESULT = "course_exercise"  # the name under which a test's report carries its exercise's verdict
_ANSI = re.compile(r"\x1b\[[0-9;]*m")


def replace(collector: pytest.Collector, path: Path, parent: pytest.Collector) -> pytest.Collector:
    """Our collector instead of nbval's if `path` is a notebook of the course; otherwise `collector` as it is."""
    if type(collector) is not IPyNbFile or (notebook := find_notebook(path)) is None:
        return collector
    return CourseFile.from_parent(parent, path=path, notebook=notebook)


class Failed(Exception):
    """A test of ours fails; the message is the whole report."""


class CourseFile(IPyNbFile):
    """A notebook. `ended` says why it ran no further, once it did."""

    def __init__(self, *args: Any, notebook: str, **kwargs: Any):
        super().__init__(*args, **kwargs)
        self.notebook = notebook
        self.ended: str | None = None
        self.exited = False  # a cell asked the kernel to exit
        self.begun: set[int] = set()  # the numbers of the cells that were run
        self.records_folder: tempfile.TemporaryDirectory | None = None

    def collect(self) -> Iterator[pytest.Item]:
        unreadable = why_unreadable(self.path)
        cells = []
        if unreadable is None:
            try:
                cells = list(super().collect())
            except Exception as error:  # valid JSON that is not a notebook
                unreadable = f"{type(error).__name__}: {str(error).splitlines()[0] if str(error) else 'not a notebook'}"
        if unreadable is not None:
            self.ended = f"{self.path.name} cannot be read"
            yield UnreadableNotebook.from_parent(self, name="readable", reason=unreadable)
        for cell in cells:
            name = cell_name(cell.cell_num, cell.cell.metadata)
            yield CourseCell.from_parent(self, name=name, cell_num=cell.cell_num, cell=cell.cell, options=cell.options)
        for exercise_id in exercises_to_judge(self.path, self.notebook):
            yield ExerciseItem.from_parent(self, name=exercise_id)

    def setup(self) -> None:
        if self.ended is not None:  # it cannot be read: no kernel is needed
            return
        self.records_folder = tempfile.TemporaryDirectory(prefix="course-check-", ignore_cleanup_errors=True)
        with environment(RECORDS, str(self.records_path)), defaults(self.config):
            super().setup()
        watch(self)

    @property
    def records_path(self) -> Path:
        assert self.records_folder is not None  # `setup` has made it
        return Path(self.records_folder.name) / "records.jsonl"

    def records(self) -> dict[str, dict]:
        """The last verdict on each exercise that `check` has recorded in this run."""
        if self.records_folder is None or not self.records_path.exists():
            return {}
        found = {}
        for line in self.records_path.read_text(encoding="utf-8").splitlines():
            with contextlib.suppress(ValueError, TypeError, KeyError):  # a line cut off by a dying kernel
                entry = json.loads(line)
                found[entry["exercise"]] = entry
        return found

    def end(self, reason: str) -> None:
        """Run no further cell, and let go of the kernel."""
        self.ended = reason
        with contextlib.suppress(Exception):  # it may be gone already, or half gone
            self.kernel.kc.stop_channels()
        with contextlib.suppress(Exception):
            self.kernel.km.shutdown_kernel(now=True)

    def teardown(self) -> None:
        if self.ended is None:
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
        if self.cell.execution_count is None:
            self.cell.outputs = []  # outputs of nobody's run: nothing to compare with, and no fault

    def setup(self) -> None:
        """Without nbval's: it would make every cell after a timeout an expected failure."""

    def runtest(self) -> None:
        if self.parent.ended is not None:
            _skip(f"not reached: {self.parent.ended}")
        if not self.parent.kernel.is_alive():
            self.parent.end(f"the kernel ended before {self.name}")
            raise Failed(f"The kernel was gone when {self.name} began. The cell before it ended the kernel.")
        if not self.options["skip"]:
            self.parent.begun.add(self.cell_num)
        try:
            with defaults(self.config):
                super().runtest()
        except KernelEnded:
            self.parent.end(f"the kernel died in {self.name}")
            raise Failed(f"The kernel died while {self.name} ran.\n{_first_lines(self.cell.source, 3)}") from None
        except NbCellError:
            if self.parent.timed_out:
                self.parent.end(f"{self.name} took too long")
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
        inner = _ANSI.sub("", error.inner_traceback or "").strip("\n")
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


class _Own(pytest.Item):
    """A test of ours beside the cells."""

    def __init__(self, *args: Any, **kwargs: Any):
        super().__init__(*args, **kwargs)
        self.obj = Dummy()

    def repr_failure(self, excinfo: pytest.ExceptionInfo, style: Any = None) -> Any:
        return str(excinfo.value) if isinstance(excinfo.value, Failed) else super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[Path, int, str]:
        return self.path, 0, f"{self.path.name}::{self.name}"


class UnreadableNotebook(_Own):
    """Stands for a file that cannot be read: fails in one line."""

    def __init__(self, *args: Any, reason: str, **kwargs: Any):
        super().__init__(*args, **kwargs)
        self.reason = reason

    def runtest(self) -> None:
        raise Failed(f"{self.path.name} cannot be read as a notebook: {self.reason}")


class ExerciseItem(_Own):
    """One exercise, judged after all cells by the last verdict that `check` recorded."""

    parent: CourseFile

    def __init__(self, *args: Any, **kwargs: Any):
        super().__init__(*args, **kwargs)
        folder = self.path.parent
        file = (
            os.path.relpath(self.path, self.config.rootpath)
            if folder.drive == self.config.rootpath.drive
            else self.path
        )
        setattr(self, RESULT, {
            "file": Path(file).as_posix(), "notebook": self.parent.notebook, "exercise": self.name,
            "verdict": "not reached", "hint_id": None,
        })  # fmt: skip

    def runtest(self) -> None:
        verdict, hint_id, text = self.judge()
        self.user_properties.append((RESULT, {**getattr(self, RESULT), "verdict": verdict, "hint_id": hint_id}))
        if verdict == "passed":
            return
        lenient = self.config.getoption("--exercises") != "strict"
        if lenient and verdict in ("not attempted", "not reached"):
            _skip(text.splitlines()[0])
        raise Failed(text)

    def judge(self) -> tuple[str, str | None, str]:
        """The verdict, its hint id and a text for the terminal."""
        record = self.parent.records().get(self.name)
        if record is not None:
            return record["status"], record["hint_id"], record["text"]
        if self.parent.ended is not None and not self.parent.exited:
            return "not reached", None, f"Not reached: {self.name}. {_sentence(self.parent.ended)}"
        return "missing", None, f"Missing: {self.name} has no verdict. {self._why_missing()}"

    def _why_missing(self) -> str:
        if self.parent.exited and self.parent.ended is not None:
            return f"{_sentence(self.parent.ended)} No check after it ran."
        cells = check_cells(self.parent.nb.cells, self.name)
        if not cells:
            return (
                f"No cell has the tag check:{self.name}. Was its check cell deleted? `make reset` gives a fresh copy."
            )
        tags = set(cells[-1].metadata.get("tags") or [])
        for tag in tags & {"nbval-skip", "raises-exception", "nbval-raises-exception"}:
            return f"Its check cell has the tag {tag}. Take the tag away."
        if self.parent.nb.cells and not self.parent.begun & check_numbers(self.parent.nb.cells, self.name):
            return "Its check cell was not run. Run the whole notebook, not a selection of its cells."
        return f'Its check cell has run without reaching check("{self.name}", ...). Is it as it was?'


def _sentence(text: str) -> str:
    return text[0].upper() + text[1:] + "."


def _first_lines(text: str, count: int) -> str:
    lines = text.splitlines()
    return "\n".join(lines[:count] + (["..."] if len(lines) > count else []))


def _skip(reason: str) -> NoReturn:
    raise pytest.skip.Exception(reason, _use_item_location=True)

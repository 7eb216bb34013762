"""The tests beside a notebook's cells: one for each exercise, and one that stands for a file that cannot be read.

The verdict on an exercise never comes from a cell's output. It comes from what `check` recorded while the cells ran,
and the last record counts. Without a record the exercise has failed; if its own cell raised an error, the verdict
says so.
"""

import os
from pathlib import Path
from typing import Any, NoReturn

import pytest
from nbval.plugin import Dummy

from course_utils.nbval_plugin.files import cell_name, check_cells, check_numbers

RESULT = "course_exercise"  # the name under which a test's report carries its exercise's verdict


class Failed(Exception):
    """A test of ours fails; the message is the whole report."""


class _Own(pytest.Item):
    """A test of ours beside the cells."""

    parent: Any  # the `items.NotebookFile` that it belongs to, which imports this module

    def __init__(self, *args: Any, **kwargs: Any):
        super().__init__(*args, **kwargs)
        self.obj = Dummy()

    def report_as(self, exercise: str | None, verdict: str, reason: str) -> None:
        """The entry of the report that this test stands for. exercise: None for the file itself."""
        folder, root = self.path.parent, self.config.rootpath
        file = os.path.relpath(self.path, root) if folder.drive == root.drive else self.path
        setattr(self, RESULT, {
            "file": Path(file).as_posix(), "notebook": self.parent.notebook, "exercise": exercise,
            "verdict": verdict, "hint_id": None, "reason": reason,
        })  # fmt: skip

    def repr_failure(self, excinfo: pytest.ExceptionInfo, style: Any = None) -> Any:
        return str(excinfo.value) if isinstance(excinfo.value, Failed) else super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[Path, int, str]:
        return self.path, 0, f"{self.path.name}::{self.name}"


class UnreadableNotebook(_Own):
    """Stands for a file that cannot be read: fails in one line, and is one entry of the report."""

    def __init__(self, *args: Any, reason: str, **kwargs: Any):
        super().__init__(*args, **kwargs)
        self.reason = f"{self.path.name} cannot be read as a notebook: {reason}"
        self.report_as(None, "unreadable", self.reason)

    def runtest(self) -> None:
        self.user_properties.append((RESULT, getattr(self, RESULT)))
        raise Failed(self.reason)


class ExerciseItem(_Own):
    """One exercise, judged after all cells by the last verdict that `check` recorded."""

    def __init__(self, *args: Any, **kwargs: Any):
        super().__init__(*args, **kwargs)
        self.report_as(self.name, "not reached", "")

    def runtest(self) -> None:
        verdict, hint_id, text = self.judge()
        found = {"verdict": verdict, "hint_id": hint_id, "reason": "" if verdict == "passed" else text}
        self.user_properties.append((RESULT, {**getattr(self, RESULT), **found}))
        if verdict == "passed":
            return
        lenient = self.config.getoption("--exercises") != "strict"
        if lenient and verdict in ("not attempted", "not reached"):
            skip(text.splitlines()[0])
        raise Failed(text)

    def judge(self) -> tuple[str, str | None, str]:
        """The verdict, its hint id and a text for the terminal."""
        record = self.parent.records().get(self.name)
        if record is not None:
            return record["status"], record["hint_id"], record["text"]
        if error := self._own_error():
            return "raised", None, error
        if self.parent.ended is not None and not self.parent.exited:
            return "not reached", None, f"Not reached: {self.name}. {_sentence(self.parent.ended)}"
        return "missing", None, f"Missing: {self.name} has no verdict. {self._why_missing()}"

    def _own_error(self) -> str | None:
        """What is said of an exercise whose own cell raised an error, so that its check had nothing to judge."""
        code_cells = [cell for cell in self.parent.nb.cells if cell.cell_type == "code"] if self.parent.begun else []
        if not self.parent.begun & check_numbers(code_cells, self.name):
            return None
        for number, cell in enumerate(code_cells):
            if number in self.parent.errors and f"exercise:{self.name}" in (cell.metadata.get("tags") or []):
                return f"Raised: {self.name}. {cell_name(number, cell.metadata)}, {self.parent.errors[number]}"
        return None

    def _why_missing(self) -> str:
        if self.parent.exited:
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
            return "Its check cell was not run. Run the whole notebook, not only some of its cells."
        return f'Its check cell ran without calling check("{self.name}", ...). Was the cell changed?'


def _sentence(text: str) -> str:
    return text[0].upper() + text[1:] + "."


def skip(reason: str) -> NoReturn:
    """Skip the test that runs, in its own file's name."""
    raise pytest.skip.Exception(reason, _use_item_location=True)

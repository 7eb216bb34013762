"""Read a notebook file as data: which notebook of the course it is, its tagged cells, and why it cannot be read."""

import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from course_utils import exercises, versions

_NAME = re.compile(r'"course"\s*:\s*\{[^{}]*"notebook"\s*:\s*"([^"]+)"')
_TAG = re.compile(r'"(?:check|exercise):(\d\d)\.[a-z_]+"')
_CONFLICT = re.compile(r"^\s*(<{7}|>{7}|={7})( |$)", re.MULTILINE)


def find_notebook(path: Path) -> str | None:
    """The name of the course's notebook in this file, or None if it is not one.

    The metadata say it, so a renamed copy still counts; then the tags of the exercises' cells, then the file's name.
    All is searched for in the text, since a broken file has nothing else.
    """
    known = exercises.notebooks()
    try:
        text = path.read_bytes().decode("utf-8", "replace")
    except OSError:
        return None
    said = _NAME.search(text)
    if said and said[1] in known:
        return said[1]
    numbers = [tag[1] for tag in _TAG.finditer(text)]
    by_number = {name[:2]: name for name in known}
    if numbers and numbers[0] in by_number:
        return by_number[numbers[0]]
    if said:
        return said[1]
    by_name = next((name for name in known if path.stem.startswith(name)), None)
    if by_name or why_unreadable(path) is None:
        return by_name
    # A broken file beside the course's notebooks is reported in one line as well, though it may be any of them.
    return path.stem if any((path.parent / f"{name}.ipynb").exists() for name in known) else None


def why_unreadable(path: Path) -> str | None:
    """None if the file holds JSON; otherwise what is wrong, in one line."""
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except OSError as error:
        return f"{error.strerror}."
    except UnicodeDecodeError as error:
        return f"it is not UTF-8 (byte {error.start})."
    if not text.strip():
        return "it is empty."
    try:
        json.loads(text)
    except ValueError as error:
        if conflict := _CONFLICT.search(text):
            return f"it has merge markers, the first in line {text.count(chr(10), 0, conflict.start(1)) + 1}."
        return f"it is not valid JSON, from line {getattr(error, 'lineno', 1)} on."
    except RecursionError:
        return "it is nested too deeply."
    return None


def why_not_nbvals(path: Path) -> str | None:
    """None, or why nbval cannot read a file that others can: it takes no byte order mark."""
    with path.open("rb") as file:
        if file.read(3) == b"\xef\xbb\xbf":
            return "it begins with a byte order mark (EF BB BF). Save it as UTF-8 without one; JupyterLab does so."
    return None


def cell_name(number: int, metadata: Mapping) -> str:
    """Cell 7, or Cell 7 (check:03.top_p) for a cell that belongs to an exercise.

    number: as nbval counts code cells, from 0. The name counts from 1, as JupyterLab does when all cells are run.
    """
    tags = [str(tag) for tag in metadata.get("tags") or []]
    own = next((tag for tag in tags if tag.startswith(("exercise:", "check:"))), None)
    return f"Cell {number + 1}" + (f" ({own})" if own else "")


def check_numbers(cells: Sequence, exercise_id: str) -> set[int]:
    """Where an exercise's check cells stand among the code cells, counted from 0."""
    code_cells = [cell for cell in cells if cell.cell_type == "code"]
    return {number for number, cell in enumerate(code_cells) if cell in check_cells(code_cells, exercise_id)}


def check_cells(cells: Sequence, exercise_id: str) -> list:
    """The cells that are tagged as an exercise's check."""
    return [cell for cell in cells if f"check:{exercise_id}" in (cell.metadata.get("tags") or [])]


def exercises_to_judge(path: Path, name: str) -> list[str]:
    """The ids of the exercises that this copy of the notebook `name` is judged by, in the order of the course.

    These are the exercises of the version that it was made from, so that a deleted cell counts as missing and an
    exercise that was added to the course later does not, and those whose cells it has besides.
    """
    try:
        text = path.read_bytes().decode("utf-8-sig")
        notebook = json.loads(text)
        version = versions.digest(notebook)  # the course's own file, or one that nobody has changed
    except (OSError, ValueError, TypeError, KeyError, RecursionError):
        text, notebook, version = "", None, None
    asked = {*versions.exercises_of(name, versions.version_of(path, notebook) or version)}
    there = set(re.findall(r'"(?:check|exercise):(\d\d\.[a-z_]+)"', text))
    return [exercise_id for exercise_id in exercises.notebooks().get(name, ()) if exercise_id in asked | there]

"""Find the notebooks in a folder of submissions: whose each is, and which files are left out."""

import os
import re
from dataclasses import dataclass, replace
from pathlib import Path

import nbformat

from course_utils.nbval_plugin.files import find_notebook, why_unreadable

_LEFT_OUT = {
    "__MACOSX": "left by a Mac's archive, holds no notebooks",
    ".ipynb_checkpoints": "JupyterLab's own copies",
}
_ARCHIVES = (".zip", ".tar", ".gz", ".tgz", ".7z", ".rar")


@dataclass(frozen=True)
class Submission:
    """One learner's notebook.

    learner: the name of the learner's folder, or what the file's name holds beside the notebook's. path: the file.
    file: its path below the folder of submissions, with "/". notebook: its name in the course, or None of a file that
    cannot be read and does not say it. problem: why it cannot be read, or None. counts: False for an earlier copy.
    """

    learner: str
    path: Path
    file: str
    notebook: str | None
    problem: str | None = None
    counts: bool = True


def find(folder: Path) -> tuple[list[Submission], list[str]]:
    """The submissions in a folder, by learner and notebook, and one sentence for each thing that is left out.

    Of two copies of one notebook by one learner, the one whose file was changed later counts.
    """
    found, left_out = [], []
    for place, folders, names in os.walk(folder):
        for name in sorted(folders):
            if name.startswith(".") or name in _LEFT_OUT:
                folders.remove(name)
                left_out.append(f"{_below(folder, place, name)}/: {_LEFT_OUT.get(name, 'a hidden folder')}.")
        folders.sort()
        for name in sorted(names):
            path, file = Path(place, name), _below(folder, place, name)
            if name.lower().endswith(_ARCHIVES):
                left_out.append(f"{file}: an archive; unpack it to have it judged.")
            elif path.suffix.lower() != ".ipynb":
                continue
            elif reason := _why_not(path):
                left_out.append(f"{file}: {reason}.")
            elif submission := _read(folder, path, file):
                found.append(submission)
            else:
                left_out.append(f"{file}: not a notebook of this course.")
    return _mark_earlier(found), left_out


def _below(folder: Path, place: str, name: str) -> str:
    return Path(place, name).relative_to(folder).as_posix()


def _why_not(path: Path) -> str | None:
    if path.name.startswith("._"):
        return "a Mac's note about a file, no notebook"
    if path.name.startswith("."):
        return "a hidden file"
    if path.is_symlink():
        return "a link to another file, which is not followed"
    return None if path.is_file() else "not a file"


def _read(folder: Path, path: Path, file: str) -> Submission | None:
    """None for a readable notebook that is not of this course."""
    notebook, problem = find_notebook(path), None
    try:
        without_outputs(path)
    except Exception as error:  # whatever a file may hold, the others are judged
        problem = why_unreadable(path) or f"it is not a notebook ({type(error).__name__})."
    if notebook is None and problem is None:
        return None
    return Submission(_learner(folder, file, notebook), path, file, notebook, problem)


def without_outputs(path: Path) -> str:
    """A notebook file's text in the present format and without outputs, which count for nothing.

    Raises an error of nbformat, ValueError or another for a file that holds no notebook.
    """
    book = nbformat.reads(path.read_bytes().decode("utf-8-sig"), as_version=4)
    for cell in book.cells:
        if not isinstance(cell.source, str) or not isinstance(cell.metadata, dict):
            raise ValueError("a cell has no source or no metadata")
        if cell.cell_type == "code":
            cell.outputs, cell.execution_count = [], None
    return nbformat.writes(book)


def _learner(folder: Path, file: str, notebook: str | None) -> str:
    first, _, rest = file.partition("/")
    if rest:
        return first
    name = re.sub(r"\s*\(\d+\)$|\.\d{4}-\d\d-\d\d_\d\d-\d\d-\d\d(-\d+)?$", "", Path(file).stem)
    if notebook:
        name = re.sub(rf"[\W_]*({re.escape(notebook)}|(?<!\d){notebook[:2]}(?!\d))[\W_]*", " ", name).strip()
    return name or folder.resolve().name


def _mark_earlier(found: list[Submission]) -> list[Submission]:
    order = sorted(found, key=lambda s: (s.learner, s.notebook or s.file, s.path.stat().st_mtime_ns, s.file))
    last = {(s.learner, s.notebook): s.file for s in order if s.notebook}
    return [replace(s, counts=s.notebook is None or last[s.learner, s.notebook] == s.file) for s in order]

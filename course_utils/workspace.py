"""The learner's own copies of the notebooks, and the commands around them.

`my_notebooks/` is filled from `notebooks/` and never overwritten. The copies come without outputs, so that a
guess is made before the result is seen. What was copied is remembered, to tell the learner when the course has
a newer version of a notebook.

    python -m course_utils.workspace lab [JupyterLab's options]        fill, then open JupyterLab
    python -m course_utils.workspace reset 03                          a fresh notebook 03; yours is kept, dated
    python -m course_utils.workspace check [03 ...] [pytest's options] run your notebooks and judge the exercises
"""

import hashlib
import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterable
from datetime import datetime
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SHIPPED, MINE = ROOT / "notebooks", ROOT / "my_notebooks"
FIRST = "00_start_here.ipynb"


def fill(shipped: Path = SHIPPED, mine: Path = MINE) -> list[str]:
    """Copy the notebooks that are not in `mine` yet; change nothing that is there.

    Returns sentences for the learner: what was copied, and which notebooks have a newer version.
    Raises ValueError for a shipped notebook that cannot be read.
    """
    mine.mkdir(exist_ok=True)
    copied, outdated, record = [], [], _read_record(mine)
    for source in notebooks_in(shipped):
        notebook = _read_notebook(source)
        if not os.path.lexists(mine / source.name):
            _write_copy(notebook, mine / source.name, record)
            copied.append(source.name)
        elif record.get(source.name, _digest(notebook)) != _digest(notebook):
            outdated.append(source.name)
    messages = [f"Copied to {mine.name}/: {', '.join(copied)}."] if copied else []
    return messages + [
        f"{name} has changed in the course since it was copied. Yours is left as it is. "
        f"For the new one: make reset NB={name[:2]} (without make: python -m course_utils.workspace reset {name[:2]}); "
        "yours is kept as a dated copy."
        for name in outdated
    ]


def reset(number: str | int, shipped: Path = SHIPPED, mine: Path = MINE) -> str:
    """A fresh copy of one notebook; the learner's is renamed, with the date and time, and never deleted.

    number: as in the file's name, "03" or 3. Returns a sentence that says where the old one is.
    Raises ValueError, before anything is changed, for an unknown number or a shipped notebook that cannot be read.
    """
    [source] = select([number], shipped)
    notebook = _read_notebook(source)
    mine.mkdir(exist_ok=True)
    target, message = mine / source.name, f"{source.name} is fresh."
    if os.path.lexists(target):
        kept = _free_name(mine, f"{source.stem}.{datetime.now():%Y-%m-%d_%H-%M-%S}", source.suffix)
        target.rename(kept)
        message += f" Yours is now {kept.name}. If it is open in JupyterLab, close its tab and open the file again."
    _write_copy(notebook, target, _read_record(mine))
    return message


def notebooks_in(folder: Path) -> list[Path]:
    """The notebooks of the course in a folder, without the dated copies that `reset` keeps."""
    return [path for path in sorted(folder.glob("[0-9][0-9]_*.ipynb")) if "." not in path.stem]


def select(numbers: Iterable[str | int], folder: Path) -> list[Path]:
    """The notebooks of `folder` with these numbers ("03", 3, "03_top_k_top_p"); all of them if none is given.

    Raises ValueError for a number that is not there; it lists those that are.
    """
    found = notebooks_in(folder)
    by_number = {path.name[:2]: path for path in found}
    chosen = []
    for given in numbers:
        match = re.fullmatch(r"(\d+)(_.*)?", str(given).strip())
        if match is None or match[1].zfill(2) not in by_number:
            there = ", ".join(by_number) or "none"
            raise ValueError(f"There is no notebook {given!r} in {folder.name}/. Its notebooks: {there}.")
        chosen.append(by_number[match[1].zfill(2)])
    return chosen or found


def _read_notebook(path: Path) -> dict:
    try:
        notebook = json.loads(path.read_text(encoding="utf-8"))
        for cell in notebook["cells"]:
            cell["source"] = "".join(cell["source"])  # the format allows a list of lines as well
    except (ValueError, KeyError, TypeError) as error:
        raise ValueError(
            f"{path.parent.name}/{path.name} is not a notebook that can be read ({error}). Restore the course's file: "
            f"git checkout {path.parent.name}/{path.name}"
        ) from error
    return notebook


def _write_copy(notebook: dict, target: Path, record: dict[str, str]) -> None:
    """Write the notebook without outputs, and remember of which version it is a copy."""
    cells = [
        {**cell, "outputs": [], "execution_count": None} if cell["cell_type"] == "code" else cell
        for cell in notebook["cells"]
    ]
    _write(target, json.dumps({**notebook, "cells": cells}, indent=1, ensure_ascii=False) + "\n")
    record[target.name] = _digest(notebook)
    _write(_record_path(target.parent), json.dumps(record, indent=1, sort_keys=True) + "\n")


def _write(target: Path, text: str) -> None:
    """All or nothing: an interruption leaves a hidden file that the next run replaces, never half a notebook."""
    draft = target.with_name(f".{target.name}.draft")
    draft.write_text(text, encoding="utf-8", newline="\n")
    os.replace(draft, target)


def _digest(notebook: dict) -> str:
    """Of the cells' sources only: a notebook that was merely executed again has not changed for the learner."""
    return hashlib.sha256(json.dumps([cell["source"] for cell in notebook["cells"]]).encode("utf-8")).hexdigest()


def _record_path(mine: Path) -> Path:
    return mine / ".copied.json"


def _read_record(mine: Path) -> dict[str, str]:
    try:
        record = json.loads(_record_path(mine).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        record = None
    # Lost or damaged: then nobody is told of newer versions, and nothing else depends on it.
    return record if isinstance(record, dict) else {}


def _free_name(folder: Path, stem: str, suffix: str) -> Path:
    names = (folder / f"{stem}{extra}{suffix}" for extra in ("", *(f"-{n}" for n in range(2, 1000))))
    return next(name for name in names if not os.path.lexists(name))


def lab(arguments: list[str]) -> int:
    """Open JupyterLab on the first notebook, with the whole project in its file browser."""
    for message in fill():
        print(message, flush=True)
    command = [sys.executable, "-m", "jupyterlab", f"--ServerApp.root_dir={ROOT}"]
    return _run([*command, f"--LabApp.default_url=/lab/tree/{MINE.name}/{FIRST}", *arguments])


def check(arguments: list[str], mine: Path = MINE) -> int:
    """Run the learner's notebooks under pytest, whose plugin judges the exercises. Returns pytest's exit status.

    arguments: numbers of notebooks, none for all; what begins with "-" goes to pytest.
    """
    options = [argument for argument in arguments if argument.startswith("-")]
    if not notebooks_in(mine):
        print(f"There are no notebooks in {mine.name}/ yet. `make lab` copies them there (without make: "
              "python -m course_utils.workspace lab).")  # fmt: skip
        return 1
    chosen = select([argument for argument in arguments if argument not in options], mine)
    return _run([sys.executable, "-m", "pytest", "--nbval-lax", "-q", *options, *map(str, chosen)])


def _run(command: list[str]) -> int:
    """Run in the project's folder. Ctrl-C is the child's: JupyterLab asks before it stops, pytest ends its kernels."""
    before = signal.signal(signal.SIGINT, lambda *_: None)
    try:
        return subprocess.call(command, cwd=ROOT)
    finally:
        signal.signal(signal.SIGINT, before)


def main(arguments: list[str] | None = None) -> int:
    """The three commands of the module's docstring. Returns the exit status."""
    command, *rest = (sys.argv[1:] if arguments is None else arguments) or ["--help"]
    try:
        match command, rest:
            case "lab", _:
                return lab(rest)
            case "check", _:
                return check(rest)
            case "reset", [number]:
                print(reset(number))
                return 0
            case "reset", _:
                given = " ".join(rest) or "none"
                raise ValueError(f"reset takes the number of one notebook, got {given}. For example: make reset NB=03")
    except (OSError, ValueError) as error:
        sys.exit(str(error))
    print(__doc__)
    return 0 if command in ("-h", "--help") else 2


if __name__ == "__main__":
    sys.exit(main())

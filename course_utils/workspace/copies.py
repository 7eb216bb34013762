"""The learner's own copies of the notebooks: filled, renewed and brought up to date, and never overwritten.

The copies come without outputs, so that a guess is made before the result is seen. What was copied is remembered, to
tell the learner when the course has a newer version of a notebook.
"""

import json
import os
import shutil
from collections.abc import Iterable
from datetime import datetime
from pathlib import Path

from course_utils.versions import digest, metadata_of, read_record, record_path, shipped_cells, version_of
from course_utils.workspace.carry import carry

ROOT = Path(__file__).resolve().parent.parent.parent
SHIPPED, MINE = ROOT / "notebooks", ROOT / "my_notebooks"


def fill(shipped: Path = SHIPPED, mine: Path = MINE) -> list[str]:
    """Copy the notebooks that are not in `mine` yet; change nothing that is there.

    Returns sentences for the learner: what was copied, and which notebooks have a newer version.
    Raises ValueError for a shipped notebook that cannot be read.
    """
    mine.mkdir(parents=True, exist_ok=True)
    copied, outdated, record = [], [], read_record(mine)
    for source in notebooks_in(shipped):
        notebook = _read_notebook(source)
        if not os.path.lexists(mine / source.name):
            _write_copy(notebook, mine / source.name, record)
            copied.append(source.name)
        elif _version_in(mine / source.name) not in (None, digest(notebook)):
            outdated.append(source.name)
    messages = [f"Copied to {mine.name}/: {', '.join(copied)}."] if copied else []
    return messages + [
        f"{name} has changed in the course since it was copied. Yours is left as it is. "
        f"For the new one with your answers in it: {advised('update', name[:2], mine)}; yours is kept as a dated copy."
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
        record = read_record(mine)
        kept = _free_name(target)
        target.rename(kept)
        message += f" Yours is now {kept.name}. {_OPEN_AGAIN}"
        if source.name in record:
            record[kept.name] = record[source.name]
            _write_record(mine, record)
    _write_copy(notebook, target, read_record(mine))
    return message


def update(number: str | int, shipped: Path = SHIPPED, mine: Path = MINE) -> str:
    """The course's version of one notebook, with the learner's exercises, guesses and added cells in it.

    number: as in the file's name, "03" or 3. The learner's copy is kept under a name with the date and time. Returns a
    sentence that says what was carried over and where the old copy is.
    Raises ValueError, before anything is changed, for an unknown number or a notebook that cannot be read.
    """
    [source] = select([number], shipped)
    notebook, target = _read_notebook(source), mine / source.name
    if not os.path.lexists(target):
        return reset(number, shipped, mine)
    if _version_in(target) == digest(notebook):
        return f"{source.name} is a copy of the course's newest version already; nothing was changed."
    advice = f"For a fresh one: {advised('reset', source.name[:2], mine)}; yours is kept."
    old = _read_notebook(target, advice)
    name = metadata_of(notebook).get("notebook", source.stem)
    new_ids = {cell.get("id") for cell in notebook["cells"]}
    merged, answers, added = carry(old, notebook, shipped_cells(name) | new_ids)
    record, kept = read_record(mine), _free_name(target)
    shutil.copy2(target, kept)
    if source.name in record:
        record[kept.name] = record[source.name]
    _write_copy(merged, target, record, version=digest(notebook))
    return (
        f"{source.name} is the course's newest version, with {answers} answers and {added} added cells of yours in it. "
        f"Yours as it was, with what you changed in other cells, is now {kept.name}. {_OPEN_AGAIN}"
    )


def advised(command: str, number: str, mine: Path) -> str:
    """A command as a learner types it: with make in the project, and with Python in a folder elsewhere."""
    plain = f"python -m course_utils.workspace {command} {number}"
    if mine.name != MINE.name:
        return f"{plain}, in a terminal in this folder"
    return f"make {command} NB={number} (without make: {plain})"


_OPEN_AGAIN = "If it is open in JupyterLab, close its tab and open the file again."


def notebooks_in(folder: Path) -> list[Path]:
    """The notebooks of the course in a folder, without the dated copies that `reset` keeps."""
    return [path for path in sorted(folder.glob("[0-9][0-9]_*.ipynb")) if "." not in path.stem]


def select(numbers: Iterable[str | int], folder: Path) -> list[Path]:
    """The notebooks of `folder` with these numbers ("03", 3, "03_top_k_top_p"); all of them if none is given.

    Raises ValueError for a number or name that is not there, and lists those that are; and for a number that two
    notebooks have, such as one and a copy of it beside it.
    """
    found = notebooks_in(folder)
    chosen = []
    for given in numbers:
        name = str(given).strip().removesuffix(".ipynb")
        number = name.zfill(2) if name.isdigit() else None
        fitting = [path for path in found if path.stem == name or path.name[:2] == number]
        if not fitting:
            there = ", ".join(dict.fromkeys(path.name[:2] for path in found)) or "none"
            raise ValueError(f"There is no notebook {given!r} in {folder.name}/. Its notebooks: {there}.")
        if len(fitting) > 1:
            names = ", ".join(path.stem for path in fitting)
            raise ValueError(f"{given!r} means {names} in {folder.name}/. Give the whole name of the one you mean.")
        chosen += fitting
    return chosen or found


def _version_in(path: Path) -> str | None:
    """The version that a copy was made from, also if the copy cannot be read."""
    try:
        return version_of(path, json.loads(path.read_text(encoding="utf-8-sig")))
    except (OSError, ValueError, RecursionError):
        return version_of(path, None)


def _read_notebook(path: Path, advice: str | None = None) -> dict:
    """advice: what to do if the file is not a notebook."""
    try:
        notebook = json.loads(path.read_text(encoding="utf-8-sig"))
        for cell in notebook["cells"]:
            cell["source"] = "".join(cell["source"])  # the format allows a list of lines as well
            tags = cell.setdefault("metadata", {}).get("tags") or []
            if not all(isinstance(name, str) for name in (cell["cell_type"], cell.get("id", ""), *tags)):
                raise ValueError("the type, the id or a tag of a cell is not a text")
        json.dumps(notebook, ensure_ascii=False).encode("utf-8")  # half a surrogate pair could not be written again
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        name = f"{path.parent.name}/{path.name}"
        advice = advice or f"Restore the course's file: git checkout {name}"
        raise ValueError(f"{name} is not a notebook that can be read ({error}). {advice}") from error
    return notebook


def _write_copy(notebook: dict, target: Path, record: dict[str, str], version: str | None = None) -> None:
    """Write the notebook without outputs, and remember of which version it is a copy, in it and in the record."""
    version = version or digest(notebook)
    cells = [
        {**cell, "outputs": [], "execution_count": None} if cell["cell_type"] == "code" else cell
        for cell in notebook["cells"]
    ]
    course = {**metadata_of(notebook), "copied_from": version}
    metadata = {**notebook.get("metadata", {}), "course": course}
    text = json.dumps({**notebook, "cells": cells, "metadata": metadata}, indent=1, ensure_ascii=False)
    _write(target, text + "\n")
    _write_record(target.parent, {**record, target.name: version})


def _write_record(mine: Path, record: dict[str, str]) -> None:
    _write(record_path(mine), json.dumps(record, indent=1, sort_keys=True) + "\n")


def _write(target: Path, text: str) -> None:
    """All or nothing: an interruption leaves a hidden file that the next run replaces, never half a notebook."""
    draft = target.with_name(f".{target.name}.draft")
    draft.write_text(text, encoding="utf-8", newline="\n")
    os.replace(draft, target)


def _free_name(path: Path) -> Path:
    """A name that is not taken, with the date and time, for an old copy."""
    stem = f"{path.stem}.{datetime.now():%Y-%m-%d_%H-%M-%S}"
    names = (path.with_name(f"{stem}{extra}{path.suffix}") for extra in ("", *(f"-{n}" for n in range(2, 1000))))
    return next(name for name in names if not os.path.lexists(name))

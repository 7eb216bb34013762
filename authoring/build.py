"""Build notebooks/NN_name.ipynb from authoring/NN_name.py, and execute them.

    python authoring/build.py            all
    python authoring/build.py 02 03      some
    python authoring/build.py --versions only note the versions of the built notebooks

A source is in jupytext's percent format. Each cell's header names its id and its tags:

    # %% [markdown] id="what-a-logit-is"
    # %% id="guess-first" tags=["nbval-ignore-output"]

The ids are stable: translations and links depend on them. A cell with the tag "assertions" is shown folded.
"""

import json
import re
import sys
from collections.abc import Sequence
from pathlib import Path

import jupytext
import nbformat
from nbclient import NotebookClient

from course_utils import exercises, versions

AUTHORING = Path(__file__).resolve().parent
NOTEBOOKS = AUTHORING.parent / "notebooks"


def sources(numbers: Sequence[str] = ()) -> list[Path]:
    """The sources whose numbers are given, or all."""
    return [path for path in sorted(AUTHORING.glob("[0-9][0-9]_*.py")) if not numbers or path.name[:2] in numbers]


def read_source(path: Path) -> nbformat.NotebookNode:
    """The notebook that a source describes: cells with ids and tags, no outputs.

    Raises ValueError for a cell without an id, or with the id of another cell.
    """
    parsed = jupytext.reads(path.read_text(encoding="utf-8"), fmt="py:percent")
    notebook = nbformat.v4.new_notebook(
        metadata={
            "course": {"notebook": path.stem},
            "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
            "language_info": {"name": "python"},
        }
    )
    seen = set()
    for cell in parsed.cells:
        cell_id = cell.metadata.pop("id", None)
        if not cell_id or cell_id in seen:
            fault = f"the id {cell_id!r} twice" if cell_id else "a cell without an id"
            raise ValueError(
                f'{path.name} has {fault}; expected `# %% id="..."`, new for each cell. It begins: {cell.source[:60]!r}'
            )
        seen.add(cell_id)
        make = nbformat.v4.new_code_cell if cell.cell_type == "code" else nbformat.v4.new_markdown_cell
        metadata = {"tags": cell.metadata["tags"]} if cell.metadata.get("tags") else {}
        if "assertions" in metadata.get("tags", []):
            metadata["jupyter"] = {"source_hidden": True}
        notebook.cells.append(make(cell.source, id=cell_id, metadata=metadata))
    return notebook


def leave_the_still(notebook: nbformat.NotebookNode) -> None:
    """Remove what only a running kernel can show: of a panel, its still picture and its caption remain."""
    notebook.metadata.pop("widgets", None)
    for cell in notebook.cells:
        for output in cell.get("outputs", []):
            data = output.get("data", {})
            data.pop("application/vnd.jupyter.widget-view+json", None)
            if "course-panel-place" in data.get("text/html", ""):  # no panel comes here, and names are drawn at random
                data["text/html"] = re.sub(r" course-panel-[0-9a-f]{16}", "", data["text/html"])


def build(path: Path) -> None:
    """Execute the source's notebook in notebooks/, as a learner would, and write it there with its outputs."""
    notebook = read_source(path)
    here = {"metadata": {"path": str(NOTEBOOKS)}}
    # Without times, and with each cell's prints as one output: two builds give the same file.
    NotebookClient(notebook, timeout=600, record_timing=False, coalesce_streams=True, resources=here).execute()
    leave_the_still(notebook)
    notebook.metadata["language_info"] = {"name": "python"}  # the kernel adds its version, which is nobody's concern
    nbformat.validate(notebook)
    text = nbformat.writes(notebook)
    (NOTEBOOKS / f"{path.stem}.ipynb").write_text(text + "\n", encoding="utf-8", newline="\n")
    print(f"notebooks/{path.stem}.ipynb: {len(notebook.cells)} cells")


def note_version(path: Path, table: Path = versions.TABLE) -> None:
    """Add the built notebook's version, its exercises and its cells' ids to the table, which only grows.

    With it, learners' copies of this version are judged and updated as such, whatever comes later.
    """
    notebook = json.loads((NOTEBOOKS / f"{path.stem}.ipynb").read_text(encoding="utf-8"))
    entries = json.loads(table.read_text(encoding="utf-8")) if table.exists() else {}
    entry = entries.setdefault(path.stem, {"versions": {}, "cells": []})
    entry["versions"].setdefault(versions.digest(notebook), list(exercises.notebooks().get(path.stem, ())))
    entry["cells"] = sorted({*entry["cells"], *(cell["id"] for cell in notebook["cells"])})
    table.write_text(json.dumps(entries, indent=1) + "\n", encoding="utf-8", newline="\n")


if __name__ == "__main__":
    NOTEBOOKS.mkdir(exist_ok=True)
    only_versions = sys.argv[1:] == ["--versions"]
    for source in sources([] if only_versions else sys.argv[1:]):
        if not only_versions:
            build(source)
        note_version(source)

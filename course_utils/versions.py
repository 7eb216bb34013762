"""From which version of a notebook a learner's copy was made, and which exercises that version has.

A version is named by the digest of its cells' sources. `notebook_versions.json` lists the versions of each notebook
with the ids of their exercises, the one of release 0.1.0 first, and every cell id that the notebook ever had.
`authoring/build.py` adds to that file and takes nothing away, so an old copy keeps its meaning.
"""

import hashlib
import json
from functools import cache
from pathlib import Path

TABLE = Path(__file__).with_name("notebook_versions.json")


def digest(notebook: dict) -> str:
    """The name of a notebook's version.

    notebook: as JSON holds it. Only the cells' sources count: outputs, and being executed again, change nothing.
    """
    sources = ["".join(cell["source"]) for cell in notebook["cells"]]
    return hashlib.sha256(json.dumps(sources).encode("utf-8")).hexdigest()


@cache
def _table() -> dict[str, dict]:
    return json.loads(TABLE.read_text(encoding="utf-8"))


def exercises_of(name: str, version: str | None) -> tuple[str, ...]:
    """The ids of the exercises that a version of a notebook has.

    name: the notebook's, "03_top_k_top_p". version: its digest. An unknown one is taken for that of release 0.1.0,
    and a notebook that is not in the table has none.
    """
    versions = _table().get(name, {}).get("versions", {})
    first: list[str] = next(iter(versions.values()), [])
    return tuple(versions.get(version, first))


def shipped_cells(name: str) -> frozenset[str]:
    """The ids of all cells that any version of this notebook has had."""
    return frozenset(_table().get(name, {}).get("cells", ()))


def version_of(path: Path, notebook: dict | None) -> str | None:
    """The version that a learner's copy was made from, or None if nothing says it.

    path: the copy. notebook: its content, or None if it cannot be read. Its metadata say it, also where the file has
    been moved or renamed; of a copy that is older than that, the record of copies in its folder does.
    """
    said = metadata_of(notebook).get("copied_from")
    if isinstance(said, str):
        return said
    recorded = read_record(path.parent).get(path.name)
    return recorded if isinstance(recorded, str) else None


def metadata_of(notebook: dict | None) -> dict:
    """What the metadata say of the course; empty if they say nothing."""
    metadata = notebook.get("metadata") if isinstance(notebook, dict) else None
    course = metadata.get("course") if isinstance(metadata, dict) else None
    return course if isinstance(course, dict) else {}


def record_path(folder: Path) -> Path:
    """The file that says from which versions the copies in a folder were made."""
    return folder / ".copied.json"


def read_record(folder: Path) -> dict[str, str]:
    """A version for each copy in the folder, by its file's name.

    It is empty if it was lost or damaged: then nobody is told of newer versions, and an old copy counts as 0.1.0.
    """
    try:
        record = json.loads(record_path(folder).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return record if isinstance(record, dict) else {}

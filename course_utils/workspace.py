"""The learner's own copies of the notebooks, and the commands around them.

`my_notebooks/` is filled from `notebooks/` and never overwritten. The copies come without outputs, so that a
guess is made before the result is seen. What was copied is remembered, to tell the learner when the course has
a newer version of a notebook.

    python -m course_utils.workspace lab [JupyterLab's options]   fill, then open JupyterLab
    python -m course_utils.workspace reset 03                     a fresh notebook 03; yours is kept as a dated copy
"""

import argparse
import hashlib
import json
import subprocess
import sys
from datetime import datetime
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SHIPPED, MINE = ROOT / "notebooks", ROOT / "my_notebooks"
FIRST = "00_start_here.ipynb"


def fill(shipped: Path = SHIPPED, mine: Path = MINE) -> list[str]:
    """Copy the notebooks that are not in `mine` yet; change nothing that is there.

    Returns sentences for the learner: what was copied, and which notebooks have a newer version.
    """
    mine.mkdir(exist_ok=True)
    copied, outdated, record = [], [], _read_record(mine)
    for source in notebooks_in(shipped):
        if not (mine / source.name).exists():
            _copy(source, mine, record)
            copied.append(source.name)
        elif record.get(source.name, _digest(source)) != _digest(source):
            outdated.append(source.name)
    messages = [f"Copied to {mine.name}/: {', '.join(copied)}."] if copied else []
    return messages + [
        f"{name} has changed in the course since it was copied. Yours is left as it is. "
        f"For the new one: make reset NB={name[:2]} (yours is kept as a dated copy)."
        for name in outdated
    ]


def reset(number: str, shipped: Path = SHIPPED, mine: Path = MINE) -> str:
    """A fresh copy of one notebook; the learner's is renamed, with the date and time, and never deleted.

    number: as in the file's name, "03" or 3. Returns a sentence that says where the old one is.
    """
    [source] = select([number], shipped)
    mine.mkdir(exist_ok=True)
    target, message = mine / source.name, f"{source.name} is fresh."
    if target.exists():
        kept = _free_name(mine, f"{source.stem}.{datetime.now():%Y-%m-%d_%H-%M-%S}", source.suffix)
        target.rename(kept)
        message += f" Yours is now {kept.name}."
    _copy(source, mine, _read_record(mine))
    return message


def notebooks_in(folder: Path) -> list[Path]:
    """The notebooks of the course in a folder, without the dated copies that `reset` keeps."""
    return [path for path in sorted(folder.glob("[0-9][0-9]_*.ipynb")) if "." not in path.stem]


def select(numbers: list[str], folder: Path) -> list[Path]:
    """The notebooks of `folder` with these numbers ("03", 3); all of them for an empty list."""
    found = notebooks_in(folder)
    if not numbers:
        return found
    by_number = {path.name[:2]: path for path in found}
    wanted = [str(number).strip().zfill(2)[:2] for number in numbers]
    if missing := [number for number in wanted if number not in by_number]:
        raise ValueError(f"There is no notebook {missing[0]!r}; expected one of {', '.join(by_number)}.")
    return [by_number[number] for number in wanted]


def _copy(source: Path, mine: Path, record: dict[str, str]) -> None:
    notebook = json.loads(source.read_text(encoding="utf-8"))
    for cell in notebook["cells"]:
        if cell["cell_type"] == "code":
            cell.update(outputs=[], execution_count=None)
    text = json.dumps(notebook, indent=1, ensure_ascii=False) + "\n"
    (mine / source.name).write_text(text, encoding="utf-8", newline="\n")
    record[source.name] = _digest(source)
    _record_path(mine).write_text(json.dumps(record, indent=1, sort_keys=True), encoding="utf-8", newline="\n")


def _digest(path: Path) -> str:
    """Of the cells' sources only: a notebook that was merely executed again has not changed for the learner."""
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    return hashlib.sha256(json.dumps([cell["source"] for cell in cells]).encode("utf-8")).hexdigest()


def _record_path(mine: Path) -> Path:
    return mine / ".copied.json"


def _read_record(mine: Path) -> dict[str, str]:
    try:
        return json.loads(_record_path(mine).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}  # lost or damaged: then nobody is told of newer versions, and nothing else depends on it


def _free_name(folder: Path, stem: str, suffix: str) -> Path:
    names = (folder / f"{stem}{extra}{suffix}" for extra in ("", *(f"-{n}" for n in range(2, 1000))))
    return next(name for name in names if not name.exists())


def lab(arguments: list[str]) -> int:
    """Open JupyterLab on the first notebook, with the whole project in its file browser."""
    for message in fill():
        print(message)
    command = [sys.executable, "-m", "jupyterlab", f"--ServerApp.root_dir={ROOT}"]
    command += [f"--LabApp.default_url=/lab/tree/{MINE.name}/{FIRST}", *arguments]
    try:
        return subprocess.call(command)
    except KeyboardInterrupt:
        return 0


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m course_utils.workspace", description="Your copies of the notebooks."
    )
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("lab", help="fill my_notebooks/ and open JupyterLab; further options go to it", add_help=False)
    commands.add_parser("reset", help="a fresh notebook; yours is kept").add_argument("number", help="for example 03")
    options, rest = parser.parse_known_args(arguments)
    if options.command == "lab":
        return lab(rest)
    if rest:
        parser.error(f"unknown options: {' '.join(rest)}")
    try:
        print(reset(options.number))
    except ValueError as error:
        sys.exit(str(error))
    return 0


if __name__ == "__main__":
    sys.exit(main())

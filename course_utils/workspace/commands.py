"""The commands of `python -m course_utils.workspace`."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import course_utils.workspace as usage
from course_utils.arguments import as_path
from course_utils.versions import record_path
from course_utils.workspace import copies, start_lab

FIRST = "00_start_here.ipynb"


def here() -> Path:
    """The learner's folder: the current one if it holds copies of the notebooks, otherwise the project's."""
    folder = Path.cwd()
    if record_path(folder).exists() or (copies.notebooks_in(folder) and folder != copies.SHIPPED):
        return folder
    return copies.MINE


def lab(arguments: list[str]) -> int:
    """Open JupyterLab on the first notebook, with the whole project in its file browser."""
    for message in copies.fill(copies.SHIPPED, copies.MINE):
        print(message, flush=True)
    start_lab.leave_out_the_news()
    command = start_lab.command(copies.ROOT, f"{copies.MINE.name}/{FIRST}", arguments)
    if "--allow-root" in command and "--allow-root" not in arguments:
        print("You are root, which JupyterLab refuses unless it is told: it is started with --allow-root.", flush=True)
    return _run(command, copies.ROOT)


def check(arguments: list[str], mine: Path) -> int:
    """Run the learner's notebooks under pytest, whose plugin judges the exercises. Returns pytest's exit status.

    arguments: numbers of notebooks, none for all; what begins with "-" goes to pytest. mine: the learner's folder.
    """
    options = [argument for argument in arguments if argument.startswith("-")]
    if not copies.notebooks_in(mine):
        print(f"There are no notebooks in {mine.name}/ yet. `make lab` copies them there (without make: "
              "python -m course_utils.workspace lab).")  # fmt: skip
        return 1
    chosen = copies.select([argument for argument in arguments if argument not in options], mine)
    command = [sys.executable, "-m", "pytest"]
    if mine.parent == copies.MINE.parent:
        return _run([*command, "--nbval-lax", "-q", *options, *map(str, chosen)], copies.ROOT)
    # Elsewhere the project's settings are not found, and its folder may not be written to.
    os.environ.setdefault("COURSE_BUDGET", "small")
    settings = ["-c", str(copies.ROOT / "pyproject.toml"), f"--rootdir={mine}", "-p", "no:cacheprovider"]
    return _run([*command, *settings, "--nbval-lax", "-q", *options, *map(str, chosen)], mine)


def fill(arguments: list[str]) -> int:
    """Copy the notebooks into the one folder that is named."""
    if len(arguments) != 1:
        given = " ".join(arguments) or "none"
        raise ValueError(f"fill takes one folder, got {given}. For example: fill ~/course")
    folder = as_path(arguments[0])
    for message in copies.fill(copies.SHIPPED, folder) or [f"{folder} has all notebooks already."]:
        print(message)
    return 0


def renew(command: str, arguments: list[str], mine: Path) -> int:
    """`reset` or `update` the one notebook whose number is given."""
    if len(arguments) != 1:
        given = " ".join(arguments) or "none"
        raise ValueError(f"{command} takes the number of one notebook, got {given}. For example: make {command} NB=03")
    print((copies.reset if command == "reset" else copies.update)(arguments[0], copies.SHIPPED, mine))
    return 0


def _run(command: list[str], folder: Path) -> int:
    """Run in a folder. Ctrl-C is the child's: JupyterLab asks before it stops, pytest ends its kernels."""
    before = signal.signal(signal.SIGINT, lambda *_: None)
    try:
        return subprocess.call(command, cwd=folder)
    finally:
        signal.signal(signal.SIGINT, before)


def main(arguments: list[str] | None = None) -> int:
    """The commands of the package's docstring. Returns the exit status."""
    command, *rest = (sys.argv[1:] if arguments is None else arguments) or ["--help"]
    try:
        match command:
            case "lab":
                return lab(rest)
            case "check":
                return check(rest, here())
            case "fill":
                return fill(rest)
            case "reset" | "update":
                return renew(command, rest, here())
            case "judge":
                from course_utils.workspace import judge  # the exercises and pictures are not needed for the others

                return judge.main(rest)
    except PermissionError as error:
        sys.exit(f"{error.filename} cannot be written: you have no permission there. Give the command in a folder of "
                 "your own, or make one: python -m course_utils.workspace fill FOLDER.")  # fmt: skip
    except (OSError, ValueError) as error:
        sys.exit(str(error))
    print(usage.__doc__)
    return 0 if command in ("-h", "--help") else 2

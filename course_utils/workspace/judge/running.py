"""Run one submission in a copy of its folder, in a process that can be ended with all that it started."""

import contextlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from dataclasses import dataclass
from pathlib import Path

import psutil

from course_utils.nbval_plugin.files import exercises_to_judge
from course_utils.workspace.judge.submissions import Submission, without_outputs

_MARGIN = 60  # seconds for starting and ending a run, beside the notebook's own
_LOOK = 0.5  # seconds between two looks at what a run has started


@dataclass(frozen=True)
class Limits:
    """How long a submission may run, in seconds: one cell, and the whole notebook."""

    cell: float = 120
    notebook: float = 600


def run(submission: Submission, limits: Limits, threads: int, stop: threading.Event) -> list[dict]:
    """Judge a submission. Returns one entry for each exercise, or a single one for a file that cannot be read.

    threads: how many PyTorch may use. stop: once it is set, the run is ended. An entry has the keys "learner", "file",
    "notebook", "exercise", "verdict", "hint_id", "reason", "seconds" (of the whole notebook) and "counts".
    """
    begun = time.monotonic()
    common = {"learner": submission.learner, "file": submission.file, "notebook": submission.notebook}
    judged: dict[str | None, tuple[str, str | None, str]]
    if submission.problem:
        judged = {None: ("unreadable", None, f"{submission.path.name} cannot be read: {submission.problem}")}
    else:
        # Two places: what a notebook finds beside its own folder is not what its run is reported in.
        new = tempfile.TemporaryDirectory
        with new(ignore_cleanup_errors=True) as place, new(ignore_cleanup_errors=True) as ours:
            judged = _judge(submission, copy(submission, Path(place)), Path(ours), limits, threads, stop)
    seconds = round(time.monotonic() - begun, 1)
    return [
        {**common, "exercise": exercise, "verdict": verdict, "hint_id": hint_id, "reason": reason,
         "seconds": seconds, "counts": submission.counts}
        for exercise, (verdict, hint_id, reason) in judged.items()
    ]  # fmt: skip


def copy(submission: Submission, place: Path) -> Path:
    """Copy the notebook, without outputs, and what lies beside it into `place`. Returns the copy's path.

    Other notebooks are left out, and so are folders with notebooks in them, which are other submissions, and links.
    """
    source = submission.path.parent
    others = {path.parent for path in source.rglob("*.ipynb")}

    def leave_out(folder: str, names: list[str]) -> list[str]:
        paths = [Path(folder, name) for name in names]
        return [
            path.name
            for path in paths
            if path.suffix.lower() == ".ipynb"
            or path.is_symlink()
            or (path.is_dir() and (path.name == "__pycache__" or any(path in (o, *o.parents) for o in others)))
        ]

    target = place / "submission"
    with contextlib.suppress(shutil.Error):  # what cannot be read is not copied
        shutil.copytree(source, target, ignore=leave_out)
    target.mkdir(exist_ok=True)
    notebook = target / submission.path.name
    notebook.write_text(without_outputs(submission.path), encoding="utf-8", newline="\n")
    return notebook


def _judge(
    submission: Submission, notebook: Path, ours: Path, limits: Limits, threads: int, stop: threading.Event
) -> dict[str | None, tuple[str, str | None, str]]:
    """Verdict, hint id and reason of each exercise."""
    assert submission.notebook is not None
    exercises = exercises_to_judge(notebook, submission.notebook)
    report, settings = ours / "report.json", ours / "pytest.ini"
    settings.write_text("[pytest]\n", encoding="utf-8", newline="\n")
    # Of the copied folder pytest imports nothing: no conftest.py, no package, no test module, no settings.
    command = [sys.executable, "-m", "pytest", "-c", str(settings), f"--rootdir={ours}", "--noconftest", "-s"]
    for name in ("course_utils.nbval_plugin.light", "nbval.plugin", "course_utils.nbval_plugin.report"):
        command += ["-p", name]
    for name in ("cacheprovider", "python", "doctest", "unittest"):
        command += ["-p", f"no:{name}"]
    command += ["--nbval-lax", f"--nbval-cell-timeout={limits.cell}", f"--exercises-timeout={limits.notebook}"]
    command += [f"--exercises-report={report}", str(notebook)]
    environment = {**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    for name in ("PYTEST_ADDOPTS", "PYTEST_PLUGINS"):
        environment.pop(name, None)
    environment.setdefault("COURSE_BUDGET", "small")
    environment.setdefault("OMP_NUM_THREADS", str(threads))
    ended = _run(command, ours, environment, limits.notebook + _MARGIN, stop)
    try:
        entries = {entry["exercise"]: entry for entry in json.loads(report.read_text(encoding="utf-8"))}
    except (OSError, ValueError):
        entries = {}
    judged: dict[str | None, tuple[str, str | None, str]] = {}
    for exercise in exercises:
        entry = entries.get(exercise, {"verdict": "not reached", "hint_id": None, "reason": ""})
        reason = "" if entry["verdict"] == "passed" else entry["reason"] or ended
        judged[exercise] = (entry["verdict"], entry["hint_id"], reason)
    return judged


def _run(command: list[str], folder: Path, environment: dict[str, str], seconds: float, stop: threading.Event) -> str:
    """Run a command and end all that it has started. Returns a sentence that says how it ended."""
    until = time.monotonic() + seconds
    process = subprocess.Popen(
        command, cwd=folder, env=environment, start_new_session=True,
        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    started: set[psutil.Process] = set()
    how = ""
    while process.poll() is None:
        with contextlib.suppress(psutil.Error):
            started |= set(psutil.Process(process.pid).children(recursive=True))
        if stop.is_set() or time.monotonic() > until:
            how = "The run was stopped." if stop.is_set() else "The run did not end in time and was stopped."
            process.kill()
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(_LOOK)
    for child in started:
        with contextlib.suppress(psutil.Error):
            child.kill()  # a process whose number is used again is another one, which psutil leaves alone
    return how or f"The run ended with status {process.returncode} and without a verdict."

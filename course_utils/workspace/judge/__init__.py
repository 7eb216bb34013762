"""The teacher's command: judge a folder of submissions.

    python -m course_utils.workspace judge FOLDER [-n 2] [--out DIR] [--cell-seconds 120] [--notebook-seconds 600]

Each notebook runs in a copy of its folder and in processes of its own, so that no submission changes another, its own
file or a verdict of others. The reports are written anew after each notebook.
"""

import argparse
import threading
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path

import psutil

from course_utils.arguments import as_path
from course_utils.workspace.judge import feedback, report, running
from course_utils.workspace.judge.running import Limits
from course_utils.workspace.judge.submissions import Submission, find


def main(arguments: list[str]) -> int:
    """The command. Returns 0 once all is judged, whatever the verdicts, and 130 if Ctrl-C ended it before.

    Raises ValueError for a folder that is not there, that holds no notebook of the course, or that holds the folder of
    the reports.
    """
    parser = argparse.ArgumentParser(prog="python -m course_utils.workspace judge", description="Judge submissions.")
    parser.add_argument("folder", type=Path, help="a folder with a folder for each learner, or with all notebooks")
    parser.add_argument("-n", type=int, default=1, metavar="N", help="run N notebooks at a time (default: 1)")
    parser.add_argument("--out", type=Path, help="a folder for the reports (default: FOLDER_judged, beside FOLDER)")
    parser.add_argument("--cell-seconds", type=float, default=Limits.cell, help="the time for a cell (%(default)s)")
    parser.add_argument(
        "--notebook-seconds", type=float, default=Limits.notebook, help="the time for a whole notebook (%(default)s)"
    )
    given = parser.parse_args(arguments)
    folder = as_path(given.folder).resolve()
    out = folder.with_name(f"{folder.name}_judged") if given.out is None else as_path(given.out).resolve()
    if not folder.is_dir():
        raise ValueError(f"{given.folder} is not a folder. Give the folder in which the submissions lie.")
    if folder in (out, *out.parents):
        raise ValueError(f"{out} lies in the folder of submissions. Name a folder elsewhere: --out DIR.")
    if given.n < 1 or not min(given.cell_seconds, given.notebook_seconds) > 0:
        raise ValueError("-n, --cell-seconds and --notebook-seconds take numbers above 0.")
    return judge(folder, out, given.n, Limits(given.cell_seconds, given.notebook_seconds))


def judge(folder: Path, out: Path, at_a_time: int, limits: Limits) -> int:
    """Judge the submissions in `folder`, write the reports to `out`, and print progress and the class's table.

    at_a_time: how many notebooks run at once. Returns the exit status.
    """
    submissions, left_out = find(folder)
    for line in left_out:
        print(f"Left out: {line}")
    if not submissions:
        raise ValueError(f"There is no notebook of the course in {folder}.")
    out.mkdir(parents=True, exist_ok=True)
    before = _state(folder)
    entries: list[dict] = []
    report.write(entries, out)
    try:
        _run_all(submissions, at_a_time, limits, entries, out)
        status = 0
    except KeyboardInterrupt:
        print(f"Stopped. What was judged so far is in {out}.")
        status = 130
    feedback.write(entries, out / "feedback")
    _draw(entries, out)
    print("", *report.table(entries), "", sep="\n")
    after = _state(folder)
    for name in sorted(name for name in {*before, *after} if before.get(name) != after.get(name)):
        print(f"Changed while judging, by a submission or by someone else: {name}")
    print(f"In {out}: verdicts.json, verdicts.csv, class.csv, two pictures, and a page for each learner in feedback.")
    return status


def _run_all(submissions: list[Submission], at_a_time: int, limits: Limits, entries: list[dict], out: Path) -> None:
    """Run the submissions and add to `entries`, writing the reports after each one."""
    threads = max(1, (psutil.cpu_count(logical=False) or 1) // at_a_time)
    stop, pool = threading.Event(), ThreadPoolExecutor(at_a_time)
    jobs = {pool.submit(running.run, submission, limits, threads, stop): submission for submission in submissions}
    try:
        for number, job in enumerate(as_completed(jobs), 1):
            judged = job.result()
            entries += judged
            report.write(entries, out)
            print(f"[{number}/{len(jobs)}] {_summary(jobs[job], judged)}", flush=True)
    finally:
        stop.set()
        pool.shutdown(cancel_futures=True)


def _summary(submission: Submission, judged: list[dict]) -> str:
    earlier = "" if submission.counts else " An earlier copy: a later one counts."
    if submission.problem:
        return judged[0]["reason"].replace(submission.path.name, submission.file, 1)
    passed = sum(entry["verdict"] == "passed" for entry in judged)
    return f"{submission.file}: {passed} of {len(judged)} passed, {judged[0]['seconds']} s.{earlier}"


def _draw(entries: list[dict], out: Path) -> None:
    from course_utils.workspace.judge import pictures  # matplotlib takes a second to import

    pictures.draw(entries, out)


def _state(folder: Path) -> dict[str, tuple[int, int]]:
    """Size and time of change of each file, by its path below the folder."""
    found = {path.relative_to(folder).as_posix(): path.lstat() for path in folder.rglob("*")}
    return {name: (state.st_size, state.st_mtime_ns) for name, state in found.items()}

"""Copies of all notebooks with every exercise solved, as learners have them from release 0.1.0: they are judged as
finished, run, and keep their answers when they are updated, whatever the course has become since.

    python -m pytest tests/test_finished_copies.py             two of them are run
    COURSE_COPIES=all python -m pytest tests/test_finished_copies.py   all of them are run, before a release
"""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from course_utils import exercises, versions, workspace
from course_utils.workspace.carry import is_untouched

FOLDER = Path(__file__).resolve().parent / "finished_copies" / "0.1.0"
COPIES = sorted(FOLDER.glob("*.ipynb"))
NAMES = [path.stem for path in COPIES]
RUN = NAMES if os.environ.get("COURSE_COPIES") == "all" else ["00_start_here", "03_top_k_top_p"]
OWN_CELLS = {"00_start_here": ["0c6e5d1f"], "03_top_k_top_p": ["5b7f0a52-3c1e-4a60-9d0b-2f6f2a1d7c11",
                                                               "9a1d3e77-0b42-4c5e-8f3a-6d2b1c0e9f24"]}  # fmt: skip


def cells(path):
    return {cell["id"]: cell for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]}


def learners(path):
    """The sources of the exercise cells, by tag, and of the guesses, by id."""
    found = {}
    for name, cell in cells(path).items():
        tags = [tag for tag in cell["metadata"].get("tags", []) if tag.startswith("exercise:")]
        if tags or (name.startswith("guess-") and cell["cell_type"] == "code"):
            found[tags[0] if tags else name] = cell["source"]
    return found


def judge(folder, names, exercises="strict"):
    """The verdicts of `make check` on these copies, and how pytest ended."""
    report = folder / "report.json"
    command = [
        sys.executable,
        "-m",
        "pytest",
        "--nbval-lax",
        "-q",
        "-p",
        "no:cacheprovider",
        f"--exercises={exercises}",
    ]
    command += [f"--exercises-report={report}", *(str(folder / f"{name}.ipynb") for name in names)]
    done = subprocess.run(command, cwd=workspace.ROOT, capture_output=True, encoding="utf-8")
    return {e["exercise"]: e["verdict"] for e in json.loads(report.read_text(encoding="utf-8"))}, done


def asked(names):
    return [exercise_id for name in names for exercise_id in versions.exercises_of(name, None)]


@pytest.fixture
def mine(tmp_path):
    """A learner's folder with all ten, as they are: nothing in it says from which version they come."""
    folder = tmp_path / "my_notebooks"
    folder.mkdir()
    for path in COPIES:
        shutil.copy(path, folder)
    return folder


def test_there_is_a_finished_copy_of_each_of_the_ten():
    assert len(NAMES) == 10 and {number[:2] for number in NAMES} == {f"{number:02}" for number in range(10)}
    for path in COPIES:
        answers = learners(path)
        assert not [key for key, source in answers.items() if is_untouched(source)]
        assert {f"exercise:{key}" for key in versions.exercises_of(path.stem, None)} <= set(answers)
        assert not any(cell.get("outputs") for cell in cells(path).values())


def test_finished_copies_run_and_are_judged_as_finished(mine):
    verdicts, done = judge(mine, RUN)
    assert done.returncode == 0, done.stdout[-3000:]
    assert verdicts == dict.fromkeys(asked(RUN), "passed")


def test_updated_copies_keep_every_answer_and_added_cell_and_run(mine):
    shipped = workspace.SHIPPED
    for path in COPIES:
        workspace.update(path.stem, mine=mine)
        new, old = learners(mine / path.name), learners(path)
        there = set(learners(shipped / path.name))
        assert {key: new[key] for key in old} == old
        assert set(new) == there | set(old)
        assert set(OWN_CELLS.get(path.stem, ())) <= set(cells(mine / path.name))
        [kept] = mine.glob(f"{path.stem}.*.ipynb")
        assert kept.read_bytes() == path.read_bytes()
    verdicts, done = judge(mine, RUN, "lenient")  # an exercise of later is not attempted, and every cell runs
    assert done.returncode == 0, done.stdout[-3000:]
    finished = asked(RUN)
    assert {key: verdicts[key] for key in finished} == dict.fromkeys(finished, "passed")
    later = {key for name in RUN for key in exercises.notebooks()[name]} - set(finished)
    assert {key: verdicts[key] for key in later} == dict.fromkeys(later, "not attempted")


def test_a_deleted_check_cell_of_a_finished_copy_is_missing(mine):
    path = mine / "00_start_here.ipynb"
    content = json.loads(path.read_text(encoding="utf-8"))
    content["cells"] = [cell for cell in content["cells"] if "check:00.first_answer" not in str(cell["metadata"])]
    path.write_text(json.dumps(content), encoding="utf-8", newline="\n")
    verdicts, done = judge(mine, ["00_start_here"])
    assert verdicts == {"00.first_answer": "missing"} and done.returncode == 1

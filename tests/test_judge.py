"""A class of odd submissions: each gets the verdict that it deserves, and no file of it changes.

A kernel costs a second or more, so the whole class is judged once with one notebook at a time and once with two, and the
tests look at the results of both.
"""

import csv
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
import zipfile
from pathlib import Path

import pytest

from course_utils.workspace.judge import running, submissions
from course_utils.workspace.judge.report import misconceptions, pivot, table

CELL = 8  # seconds


# The class


def code(source, *tags):
    return {
        "cell_type": "code",
        "metadata": {"tags": list(tags)} if tags else {},
        "source": source,
        "outputs": [],
        "execution_count": None,
    }


def notebook(*cells, name="00_start_here"):
    numbered = [{**cell, "id": f"cell-{number}"} for number, cell in enumerate(cells)]
    metadata = {"course": {"notebook": name}} if name else {}
    return {"nbformat": 4, "nbformat_minor": 5, "metadata": metadata, "cells": numbered}


IMPORT = code("from course_utils.checking import check")
STUB, CHECK = "exercise:00.first_answer", "check:00.first_answer"
CHECKED = code('check("00.first_answer", first_answer)', CHECK)


def answer(value, *before):
    """A notebook 00 with this answer, after other cells."""
    return notebook(IMPORT, *map(code, before), code(f"first_answer = {value}", STUB), CHECKED)


FORGED = """import glob, json, os, tempfile
line = json.dumps({"exercise": "00.first_answer", "status": "passed", "hint_id": None, "text": ""}) + "\\n"
places = [value for name, value in os.environ.items() if "RECORD" in name]
places += glob.glob(os.path.join(tempfile.gettempdir(), "course-check-*", "*"))
places += [place for folder in glob.glob(os.path.join(tempfile.gettempdir(), "course-check-*"))
           for place in [os.path.join(folder, "records.jsonl")]]
for place in places:
    with open(place, "a", encoding="utf-8") as file:
        file.write(line)"""
EMPTIES = """import os, shutil
for name in os.listdir({folder!r}):
    path = os.path.join({folder!r}, name)
    shutil.rmtree(path, ignore_errors=True) if os.path.isdir(path) else os.remove(path)"""
CATCHES = """import time
while True:
    try:
        time.sleep(0.05)
    except BaseException:
        pass"""
CONFTEST = """import pytest, pathlib
pathlib.Path({mark!r}).touch()
@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    outcome = yield
    for name, entry in item.user_properties:
        entry["verdict"] = "passed"
"""
ORDER = "{(0,): 'temperature first', (0, 1): 'truncation first'}"
THREE = notebook(
    IMPORT,
    code("top_k_filter = 1 +", "exercise:03.top_k"),
    code('check("03.top_k", top_k_filter)', "check:03.top_k"),
    code("def top_p_filter(logits, p):\n    ...", "exercise:03.top_p"),
    code('check("03.top_p", top_p_filter)', "check:03.top_p"),
    code(f"which_order = {ORDER}", "exercise:03.which_order"),
    code('check("03.which_order", which_order)', "check:03.which_order"),
    name="03_top_k_top_p",
)
PASSED, WRONG = ("passed", None), ("wrong", "equal-shares")

# Each learner's notebook 00, and what it deserves.
CLASS = {
    "ada": (answer(269), PASSED),
    "bo": (answer(500), WRONG),
    "renamed": (answer(269), PASSED),
    "without outputs": (answer(269), PASSED),
    "syntax error": (notebook(IMPORT, code("first_answer =\n", STUB), CHECKED), ("raised", None)),
    "endless": (answer(269, "import time\nwhile True:\n    time.sleep(0.05)"), ("not reached", None)),
    "catches everything": (answer(269, CATCHES), ("not reached", None)),
    "empties its folder": (answer(269, EMPTIES.format(folder=".")), PASSED),
    "empties all beside it": (answer(500, EMPTIES.format(folder="..")), WRONG),
    "floods": (answer(269, "for n in range(60_000):\n    print(n, 'x' * 40)"), PASSED),
    "exits": (answer(269, "exit()"), ("missing", None)),
    "kills its kernel": (answer(269, "import os, signal\nos.kill(os.getpid(), signal.SIGKILL)"), ("not reached", None)),
    "check removed": (notebook(IMPORT, code("first_answer = 269", STUB)), ("missing", None)),
    "twice": (answer(500), WRONG),
    "Jürgen Groß": (answer(269), PASSED),
    "a Mac's": (answer("..."), ("not attempted", None)),
    "conftest": (answer(500), WRONG),
    "forged": (answer(500, FORGED), WRONG),
}


def write(path, content):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8", newline="\n")


def make_class(folder, mark):
    for learner, (content, _) in CLASS.items():
        write(folder / learner / "00_start_here.ipynb", content)
    (folder / "renamed" / "00_start_here.ipynb").rename(folder / "renamed" / "my homework (final).ipynb")
    bare = answer(269)
    for cell in bare["cells"]:
        del cell["outputs"], cell["execution_count"]
    write(folder / "without outputs" / "00_start_here.ipynb", bare)
    write(folder / "twice" / "00_start_here (1).ipynb", answer(269))
    os.utime(folder / "twice" / "00_start_here (1).ipynb", (1, 1))  # the earlier one
    write(folder / "conftest" / "conftest.py", CONFTEST.format(mark=str(mark)))
    write(folder / "conftest" / "__init__.py", f"open({str(mark)!r}, 'w')")
    write(folder / "conftest" / "test_x.py", f"open({str(mark)!r}, 'w')")
    write(folder / "conftest" / "pytest.ini", "[pytest]\naddopts = --doctest-modules\n")
    write(folder / "a Mac's" / "._00_start_here.ipynb", "\0\5\26\7")
    write(folder / "__MACOSX" / "a Mac's" / "._00_start_here.ipynb", "\0\5\26\7")
    write(folder / "ada" / ".ipynb_checkpoints" / "00_start_here-checkpoint.ipynb", answer(500))
    write(folder / "ada" / "03_top_k_top_p.ipynb", THREE)
    write(folder / "ada" / "my_text.txt", "Own words.")
    write(folder / "bo" / "other.ipynb", notebook(code("1"), name=None))
    write(folder / "bo" / "03_top_k_top_p.ipynb", '{"cells": [')
    with zipfile.ZipFile(folder / "bo.zip", "w") as archive:
        archive.writestr("x.ipynb", "{}")


def files(folder):
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


class Judged:
    def __init__(self, place, *options):
        self.folder, self.out, self.mark = place / "submissions", place / "submissions_judged", place / "imported"
        make_class(self.folder, self.mark)
        self.before = files(self.folder)
        command = [sys.executable, "-m", "course_utils.workspace", "judge", str(self.folder)]
        command += [f"--cell-seconds={CELL}", *options]
        begun = time.monotonic()
        done = subprocess.run(command, cwd=place, capture_output=True, encoding="utf-8")
        self.seconds, self.status, self.text, self.errors = time.monotonic() - begun, *(
            done.returncode, done.stdout, done.stderr
        )  # fmt: skip
        self.entries = json.loads((self.out / "verdicts.json").read_text(encoding="utf-8"))

    def of(self, learner, number="00"):
        return [e for e in self.entries if e["learner"] == learner and (e["notebook"] or "").startswith(number)]


@pytest.fixture(scope="module", params=[(), ("-n", "2")], ids=["one at a time", "two at a time"])
def judged(request, tmp_path_factory):
    return Judged(tmp_path_factory.mktemp("class"), *request.param)


def test_each_submission_gets_the_verdict_that_it_deserves(judged):
    assert judged.status == 0, judged.errors
    got = {learner: [(e["verdict"], e["hint_id"]) for e in judged.of(learner) if e["counts"]] for learner in CLASS}
    assert got == {learner: [deserved] for learner, (_, deserved) in CLASS.items()}
    assert set(CLASS) == {entry["learner"] for entry in judged.entries}


def test_every_file_is_byte_for_byte_what_it_was(judged):
    assert files(judged.folder) == judged.before
    assert "Changed while judging" not in judged.text


def test_nothing_but_notebooks_is_imported(judged):
    assert not judged.mark.exists()

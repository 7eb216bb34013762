"""A class of odd submissions: each gets the verdict that it deserves, and no file of it changes.

A kernel costs a second or more, so the whole class is judged once, two notebooks at a time, and the tests look at the
results; `make portability` (COURSE_COPIES=all) judges it one at a time too, as the small class below always is.
"""

import contextlib
import csv
import json
import os
import re
import signal
import subprocess
import sys
import time
import zipfile

import psutil
import pytest

from course_utils.workspace.commands import main
from course_utils.workspace.judge import running, submissions
from course_utils.workspace.judge.report import misconceptions, pivot, table

CELL = 12  # seconds: long enough for every other cell where the machine is busy
WHOLE = os.environ.get("COURSE_COPIES") == "all"


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


@pytest.fixture(
    scope="module",
    params=[pytest.param(("-n", "2"), id="two at a time"), *([pytest.param((), id="one at a time")] if WHOLE else [])],
)
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


def test_an_exercise_whose_cell_has_a_syntax_error_was_raised_in_its_line(judged):
    [entry] = judged.of("syntax error")
    assert (
        entry["reason"]
        == "Raised: 00.first_answer. Cell 2 (exercise:00.first_answer), line 1: SyntaxError: invalid syntax"
    )
    by_exercise = {entry["exercise"]: entry["verdict"] for entry in judged.of("ada", "03")}
    assert by_exercise == {"03.top_k": "raised", "03.top_p": "not attempted", "03.which_order": "passed"}


def test_of_two_copies_the_later_one_counts(judged):
    assert {e["file"]: (e["verdict"], e["counts"]) for e in judged.of("twice")} == {
        "twice/00_start_here.ipynb": ("wrong", True),
        "twice/00_start_here (1).ipynb": ("passed", False),
    }
    assert pivot(judged.entries)[2]["twice", "00.first_answer"] == "wrong"


def test_a_file_that_cannot_be_read_is_one_line_and_one_entry(judged):
    [entry] = judged.of("bo", "03")
    assert (entry["verdict"], entry["exercise"]) == ("unreadable", None)
    assert entry["reason"] == "03_top_k_top_p.ipynb cannot be read: it is not valid JSON, from line 1 on."
    assert judged.text.count("bo/03_top_k_top_p.ipynb cannot be read") == 1


def test_what_is_left_out_is_said_in_a_line_each(judged):
    lines = [line for line in judged.text.splitlines() if line.startswith("Left out: ")]
    assert {line.split(": ")[1] for line in lines} == {
        "__MACOSX/", "ada/.ipynb_checkpoints/", "a Mac's/._00_start_here.ipynb", "bo/other.ipynb", "bo.zip",
    }  # fmt: skip
    assert len(lines) == 5


def test_progress_and_the_table_are_printed(judged):
    done = re.findall(r"^\[(\d+)/(\d+)\] ", judged.text, re.MULTILINE)
    assert [int(number) for number, _ in done] == list(range(1, len(done) + 1)) and int(done[0][1]) == len(done)
    assert re.search(r"^ada +P +R +- +P$", judged.text, re.MULTILINE)
    assert re.search(r"^bo +N( +\.){3}$", judged.text, re.MULTILINE)
    assert re.search(r"^00.first_answer  equal-shares +5$", judged.text, re.MULTILINE)


def test_the_reports_are_there_in_every_form(judged):
    assert {path.name for path in judged.out.iterdir()} == {
        "verdicts.json", "verdicts.csv", "class.csv", "class.png", "misconceptions.png", "feedback",
    }  # fmt: skip
    rows = list(csv.DictReader((judged.out / "verdicts.csv").open(encoding="utf-8-sig", newline="")))
    assert [row["verdict"] for row in rows] == [entry["verdict"] for entry in judged.entries]
    assert all((judged.out / f"{name}.png").read_bytes()[:4] == b"\x89PNG" for name in ("class", "misconceptions"))


def test_each_learner_has_a_page_with_the_hints_and_nobody_elses(judged):
    pages = {path.stem: path.read_text(encoding="utf-8") for path in (judged.out / "feedback").iterdir()}
    assert set(pages) == set(CLASS)
    [entry] = judged.of("conftest")
    hint = next(line for line in entry["reason"].splitlines() if line.startswith("Hint: "))
    assert hint in pages["conftest"] and "not yet" in pages["conftest"]
    assert not [name for name, page in pages.items() if "Jürgen" in page and name != "Jürgen Groß"]
    assert "This is an earlier copy." in pages["twice"]


# A run that is ended


@pytest.fixture
def slow(tmp_path):
    """A class of two: one is judged at once, the other never ends."""
    write(tmp_path / "in" / "a" / "00_start_here.ipynb", answer(269))
    write(tmp_path / "in" / "b" / "00_start_here.ipynb", answer(269, "import time\ntime.sleep(999)"))
    return [sys.executable, "-m", "course_utils.workspace", "judge", str(tmp_path / "in")], tmp_path / "in_judged"


def test_killed_at_any_moment_the_report_holds_what_was_judged(slow):
    command, out = slow
    process = subprocess.Popen(command, stdout=subprocess.PIPE, encoding="utf-8")
    assert process.stdout.readline().startswith("[1/2] a/00_start_here.ipynb: 1 of 1 passed")
    children = psutil.Process(process.pid).children(recursive=True)
    process.kill()
    process.wait()
    for child in children:
        with contextlib.suppress(psutil.NoSuchProcess):
            child.kill()
    [entry] = json.loads((out / "verdicts.json").read_text(encoding="utf-8"))
    assert (entry["learner"], entry["verdict"]) == ("a", "passed")


def test_a_whole_notebook_has_a_limit_of_its_own(slow):
    command, out = slow
    done = subprocess.run([*command, "--notebook-seconds=4"], capture_output=True, encoding="utf-8")
    entries = json.loads((out / "verdicts.json").read_text(encoding="utf-8"))
    assert done.returncode == 0 and [entry["verdict"] for entry in entries] == ["passed", "not reached"]
    assert "Cell 2 took too long (the time for the whole notebook was over)" in entries[1]["reason"]


def test_ctrl_c_ends_what_runs_and_writes_the_reports(slow):
    command, out = slow

    def listens():  # also where this run was started in the background, in which a shell has Ctrl-C ignored
        signal.signal(signal.SIGINT, signal.SIG_DFL)

    process = subprocess.Popen(command, stdout=subprocess.PIPE, encoding="utf-8", preexec_fn=listens)
    process.stdout.readline()
    children = psutil.Process(process.pid).children(recursive=True)
    process.send_signal(signal.SIGINT)
    text, _ = process.communicate(timeout=60)
    assert process.returncode == 130 and "Stopped." in text and (out / "feedback" / "a.html").exists()
    assert not [child for child in children if child.is_running()]


# Parts


def submission(folder, file):
    [found] = [found for found in submissions.find(folder)[0] if found.file == file]
    return found


def test_a_copy_holds_what_lies_beside_the_notebook_and_no_other_notebook(tmp_path):
    folder = tmp_path / "in"
    write(folder / "ada" / "00_start_here.ipynb", answer(269))
    write(folder / "ada" / "03_top_k_top_p.ipynb", THREE)
    write(folder / "ada" / "my_text.txt", "Own words.")
    write(folder / "ada" / "data" / "more.txt", "More.")
    write(folder / "ada" / "old" / "00_start_here.ipynb", answer(1))
    write(folder / "secret.txt", "")
    (folder / "ada" / "link").symlink_to(folder / "secret.txt")
    copied = running.copy(submission(folder, "ada/00_start_here.ipynb"), tmp_path)
    assert set(files(copied.parent)) == {"00_start_here.ipynb", "my_text.txt", "data/more.txt"}


@pytest.mark.parametrize(
    ("file", "learner"),
    [
        ("ada/00_start_here.ipynb", "ada"),
        ("ada/week 1/deep/x.ipynb", "ada"),
        ("ada_00_start_here.ipynb", "ada"),
        ("00_start_here - Ada L.ipynb", "Ada L"),
        ("ada 00.ipynb", "ada"),
        ("00_start_here.ipynb", "in"),
        ("00_start_here (2).ipynb", "in"),
        ("00_start_here.2026-01-02_03-04-05.ipynb", "in"),
    ],
)
def test_whose_a_notebook_is(tmp_path, file, learner):
    write(tmp_path / "in" / file, answer(269))
    assert submission(tmp_path / "in", file).learner == learner


def test_links_and_folders_are_not_followed(tmp_path):
    folder = tmp_path / "in"
    write(tmp_path / "elsewhere.ipynb", answer(269))
    write(folder / "ada" / "00_start_here.ipynb", answer(269))
    (folder / "ada" / "link.ipynb").symlink_to(tmp_path / "elsewhere.ipynb")
    (folder / "ada" / "folder.ipynb").mkdir()
    found, left_out = submissions.find(folder)
    assert [s.file for s in found] == ["ada/00_start_here.ipynb"]
    assert left_out == ["ada/link.ipynb: a link to another file, which is not followed."]


@pytest.mark.parametrize("content", ["", "[]", '{"cells": [{}], "nbformat": 4}', '{"nbformat": 99}', "[" * 100_000])
def test_whatever_a_file_holds_the_others_are_found(tmp_path, content):
    write(tmp_path / "ada" / "00_start_here.ipynb", answer(269))
    write(tmp_path / "bo" / "00_start_here.ipynb", content)
    found = {s.learner: s for s in submissions.find(tmp_path)[0]}
    assert found["ada"].problem is None and found["bo"].problem


def test_a_notebook_of_an_older_format_is_read(tmp_path):
    cells = [{"cell_type": "code", "input": ["x = 1"], "outputs": [], "language": "python", "metadata": {}}]
    old = {"nbformat": 3, "nbformat_minor": 0, "metadata": {}, "worksheets": [{"cells": cells, "metadata": {}}]}
    write(tmp_path / "ada" / "00_start_here.ipynb", old)
    [found] = submissions.find(tmp_path)[0]
    assert found.problem is None and "x = 1" in submissions.without_outputs(found.path)


def entry(learner, exercise, verdict, hint_id=None, counts=True):
    return {"learner": learner, "file": f"{learner}.ipynb", "notebook": "00_start_here", "exercise": exercise,
            "verdict": verdict, "hint_id": hint_id, "reason": "", "seconds": 1.0, "counts": counts}  # fmt: skip


def test_a_misconception_is_counted_once_a_learner_and_not_in_earlier_copies():
    entries = [
        entry("a", "03.top_k", "wrong", "x"),
        entry("b", "03.top_k", "wrong", "x"),
        entry("b", "03.top_k", "wrong", "x"),
        entry("c", "03.top_k", "wrong", "x", counts=False),
        entry("a", "02.greedy", "wrong", "y"),
    ]
    assert misconceptions(entries) == [("03.top_k", "x", 2), ("02.greedy", "y", 1)]
    assert table(entries)[:2] == ["   02.greedy  03.top_k", "a  N          N"]


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (["none"], "none is not a folder"),
        (["."], "no notebook of the course"),
        ([".", "--out=reports"], "lies in the folder of submissions"),
        ([".", "-n=0"], "numbers above 0"),
    ],
)
def test_what_cannot_be_judged_is_a_sentence(tmp_path, monkeypatch, options, sentence):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SystemExit, match=sentence):
        main(["judge", *options])
    assert list(tmp_path.iterdir()) == []

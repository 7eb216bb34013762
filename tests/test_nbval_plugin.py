"""The pytest plugin, run as a learner runs it: whole pytest processes on small notebooks, then on the shipped ones.

A kernel costs a second, so each run takes many notebooks, and the tests look at one run's results.
"""

import json
import os
import re
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace

import nbformat
import pytest
from wrong_solutions import RIGHT, WRONG

from course_utils import exercises
from course_utils.checker.exercise import ValueExercise
from course_utils.nbval_plugin import files, kernel, report, verdicts

TESTS = Path(__file__).resolve().parent
SHIPPED = sorted((TESTS.parent / "notebooks").glob("[0-9][0-9]_*.ipynb"))
TIMEOUT = 12  # seconds: long enough for every other cell where the machine is busy
# Nothing but its check depends on a solution, so the other cells need no second run beside that of notebooks/. And of
# the shipped notebooks every second one is solved, the others get the wrong solutions; `make portability` does all.
WHOLE = os.environ.get("COURSE_COPIES") == "all"
WITH_EXERCISES = [path for path in SHIPPED if path.stem in exercises.notebooks()]
SOLVED, PLANTED = (WITH_EXERCISES, WITH_EXERCISES) if WHOLE else (WITH_EXERCISES[::2], WITH_EXERCISES[1::2])


# Small notebooks


def code(source, *tags, printed=None, count=1):
    """A code cell. printed: its stored output."""
    outputs = [] if printed is None else [{"output_type": "stream", "name": "stdout", "text": printed}]
    metadata = {"tags": list(tags)} if tags else {}
    return {"cell_type": "code", "metadata": metadata, "source": source, "outputs": outputs, "execution_count": count}


def notebook(*cells, name="00_start_here"):
    numbered = [{**cell, "id": f"cell-{number}"} for number, cell in enumerate(cells)]
    metadata = {"course": {"notebook": name}} if name else {}
    return {"nbformat": 4, "nbformat_minor": 5, "metadata": metadata, "cells": numbered}


def first_answer(value, **kwargs):
    """The exercise of notebook 00 with this answer: its stub's cell and its check's."""
    check = code('check("00.first_answer", first_answer)', "check:00.first_answer", **kwargs)
    return code(f"first_answer = {value}", "exercise:00.first_answer"), check


IMPORT = code("from course_utils.checking import check")
ORDER = "{(0,): 'temperature first', (0, 1): 'truncation first'}"
ORDER_SOLVED = code(f'check("03.which_order", {ORDER})', "check:03.which_order")
SKIPPED = code('check("03.which_order", {})', "check:03.which_order", "nbval-skip")

# A verdict as it was stored before it had HTML, in a cell without a tag; what the cell prints before it comes first.
STORED = "Now:\nPassed: 00.first_answer\n"
OLD_OUTPUT = notebook(IMPORT, code('print("Now:")\ncheck("00.first_answer", 269)', printed=STORED))

NOTEBOOKS = {
    "right": notebook(IMPORT, *first_answer(269)),
    "wrong": notebook(IMPORT, *first_answer(500)),
    "open": notebook(IMPORT, *first_answer("...")),
    "wrong then right": notebook(IMPORT, *first_answer(500), *first_answer(269)),
    "right then wrong": notebook(IMPORT, *first_answer(269), code('check("00.first_answer", 731)')),
    # What is stored says nothing: a verdict of an earlier run, outputs cleared, a notebook run in part.
    "saved": notebook(IMPORT, *first_answer(500, printed="Passed: 00.first_answer\n")),
    "in part": notebook(code("1", printed="2\n", count=None), IMPORT, *first_answer(269, printed="x", count=None)),
    # 02 and 03: an exercise without a verdict, in all the ways in which that happens.
    "deleted skipped magic": notebook(
        IMPORT,
        SKIPPED,
        code('%no_such_magic\ncheck("03.top_p", 1)', "check:03.top_p"),
        name="03_top_k_top_p",
    ),
    "raises html overwritten": notebook(
        IMPORT,
        code("get_ipython().showtraceback = lambda *args, **kwargs: None"),
        code('check("02.temperature", probs_at)', "check:02.temperature", "raises-exception"),
        code('%%html\ncheck("02.greedy", 1)', "check:02.greedy"),
        code("check = lambda *args: None"),
        code('check("02.repetition_rate", 1)', "check:02.repetition_rate"),
        name="02_temperature",
    ),
    "exits": notebook(
        IMPORT, ORDER_SOLVED, code("exit()"), code('check("03.top_k", 1)', "check:03.top_k"), name="03_top_k_top_p"
    ),
    "dies": notebook(IMPORT, ORDER_SOLVED, code("import os\nos._exit(1)"), code("1"), code("2"), name="03_top_k_top_p"),
    "slow": notebook(
        IMPORT, ORDER_SOLVED, code("import time\nwhile True:\n    time.sleep(0.05)"), code("1"), name="03_top_k_top_p"
    ),
    "error": notebook(code("def f():\n    return 1 / 0\n\n\nf()"), IMPORT, *first_answer(269)),
    "00_start_here": notebook(IMPORT, *first_answer(269), name=None),
    "tags only": notebook(IMPORT, *first_answer("..."), name=None),
    "not ours": notebook(code("1 / 0"), name=None),
}
BROKEN = {
    "empty": "",
    "conflict": '{\n<<<<<<< HEAD\n "cells": [],\n=======\n "cells": [1],\n>>>>>>> theirs\n "metadata": '
    '{"course": {"notebook": "00_start_here"}}}',
    "cut off": '{"metadata": {"course": {"notebook": "00_start_here"}},\n "cells": [',
    "no notebook": '{"course": {"notebook": "00_start_here"}}',
}


# Files as a folder of submissions holds them, in which nothing says that they are the course's.
BAD = {
    "__MACOSX/ada/._00_start_here": b"\x00\x05\x16\x07\x00\x02\x00\x00Mac OS X        " + bytes(range(120, 250)),
    "ben/._00_start_here": b"\x00\x05\x16\x07" + bytes(range(120, 250)),
    "ben/.ipynb_checkpoints/00_start_here-checkpoint": "{}",
    "ben/Untitled": "",
    "cem/Untitled1": "{}",
    "cem/Untitled2": '{"nbformat": 4, "cells": [{}]}',
    "cem/Untitled3": "[" * 100_000,
    "cem/Untitled4": "[1, 2]",
    "cem/Untitled5": b"\xff\xfe{\x00}\x00",
    "cem/Untitled6": '{"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": [{"cell_type": "code"}]}',
    "cem/Untitled7": '{"nbformat": 3, "nbformat_minor": 0, "metadata": {}, "worksheets": 1}',
    "cem/Untitled8": '{"nbformat": 99, "nbformat_minor": 0, "metadata": {}, "cells": []}',
    "dan/00_start_here": b"\xef\xbb\xbf" + json.dumps(notebook(IMPORT, *first_answer(269))).encode(),
}
GOOD = {
    "ada/00_start_here": notebook(IMPORT, *first_answer(269)),
    "eve/mine": notebook(IMPORT, *first_answer(500)),
    "eve/format 4.0": notebook(IMPORT, *first_answer(269)) | {"nbformat_minor": 0},
    "fay/no outputs": notebook(IMPORT, *first_answer(269)),
}
for cell in GOOD["fay/no outputs"]["cells"]:
    del cell["outputs"], cell["execution_count"]
for cell in GOOD["eve/format 4.0"]["cells"]:
    cell.pop("id", None)


DEALT_OUT = ("right", "right then wrong", "wrong then right", "error", "raises html overwritten")


class Result:
    """What one pytest process came to."""

    def __init__(self, folder, *options, environment=None):
        xml, report = folder / "junit.xml", folder / "made" / "report.json"
        command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "--color=no", f"--rootdir={folder}"]
        command += ["-o", "addopts=", "-p", "course_utils.nbval_plugin.light"]  # as the project's settings begin
        command += [*options, f"--junitxml={xml}", f"--exercises-report={report}", str(folder)]
        environment = {**os.environ, **(environment or {})}
        for name in ("CI", "BUILD_NUMBER"):  # there pytest writes each message twice, in full
            environment.pop(name, None)
        done = subprocess.run(command, cwd=folder, capture_output=True, encoding="utf-8", env=environment)
        self.status, self.text, self.errors = done.returncode, done.stdout, done.stderr
        self.report = json.loads(report.read_text(encoding="utf-8"))
        self.tests = {}
        for case in ElementTree.parse(xml).iter("testcase"):
            children = {child.tag: child for child in case if child.tag in ("failure", "error", "skipped")}
            outcome, child = next(iter(children.items()), ("passed", None))
            text = "" if child is None else (child.text or child.get("message"))
            file = case.get("classname").removesuffix(".ipynb")
            self.tests[file, case.get("name")] = outcome, text

    def outcome(self, file, test):
        return self.tests[file, test][0]

    def said(self, file, test):
        return self.tests[file, test][1]

    def verdicts(self, file):
        return {entry["exercise"]: entry["verdict"] for entry in self.report if entry["file"] == f"{file}.ipynb"}


def write(folder, notebooks):
    for name, content in notebooks.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        text = content if isinstance(content, (str, bytes)) else json.dumps(content)
        data = text if isinstance(text, bytes) else text.encode()
        (folder / f"{name}.ipynb").write_bytes(data)


# Copies of the shipped ones


def variable_of(cell):
    """The name that a check cell passes on."""
    return re.search(r'check\("[^"]+",\s*(\w+)\)', cell.source)[1]


def filled(path, answer, whole):
    """A copy of a shipped notebook whose stubs are replaced: `answer(exercise id, name)` gives the cell's new source.

    whole: keep every cell, or only the exercises' own, which need nothing of the others but `check`.
    """
    book = nbformat.read(path, as_version=4)
    tagged = {tag: cell for cell in book.cells for tag in cell.metadata.get("tags", []) if ":" in tag}
    for key in exercises.notebooks()[path.stem]:
        tagged[f"exercise:{key}"].source = answer(key, variable_of(tagged[f"check:{key}"]))
    if not whole:
        first = nbformat.v4.new_code_cell("from course_utils.checking import check", id="check-alone")
        book.cells = [first, *(cell for cell in book.cells if any(cell is own for own in tagged.values()))]
    return nbformat.writes(book)


def solved(key, name):
    if isinstance(exercises.exercise(key), ValueExercise):
        return f"{name} = {RIGHT[key][0]!r}"
    return (
        "from course_utils.exercises import exercise\n\n\n"
        f"def {name}(*args):\n    return exercise({key!r}).solution()(*args)"
    )


def planted(key, name):
    lines = ("import sys", f"sys.path.insert(0, {str(TESTS)!r})", "from wrong_solutions import WRONG")
    return "\n".join([*lines, f"{name} = WRONG[{key!r}][0][1]"])


# The runs


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """The runs by name, two at a time."""

    def run(name, notebooks, *options, **environment):
        folder = tmp_path_factory.mktemp(name)
        write(folder, notebooks)
        return Result(folder, *options, environment=environment)

    differs = notebook(code("print(1)", printed="2\n"), IMPORT, *first_answer(500, printed="Passed\n"))
    jobs = {
        "solved": ({path.stem: filled(path, solved, WHOLE) for path in SOLVED}, "--nbval", "--exercises=strict"),
        "planted": ({path.stem: filled(path, planted, whole=False) for path in PLANTED}, "--nbval"),
        "lax": ({**NOTEBOOKS, **BROKEN}, "--nbval-lax", f"--nbval-cell-timeout={TIMEOUT}"),
        "dealt out": ({name: NOTEBOOKS[name] for name in DEALT_OUT}, "--nbval-lax", "-n", "2"),
        "submissions": ({**GOOD, **BAD}, "--nbval-lax"),
        "strict": (
            {"differs": differs, "open": NOTEBOOKS["open"], "old output": OLD_OUTPUT},
            "--nbval",
            "--exercises=strict",
        ),
    }
    environments = {"strict": {"PYTHONWARNINGS": "error"}}  # a warning is an error there
    with ThreadPoolExecutor(2) as pool:
        started = {name: pool.submit(run, name, *job, **environments.get(name, {})) for name, job in jobs.items()}
        return {name: future.result() for name, future in started.items()}


@pytest.fixture(scope="module")
def lax(runs):
    return runs["lax"]


@pytest.fixture(scope="module")
def strict(runs):
    return runs["strict"]


# The verdicts


def test_right_wrong_and_open(lax):
    exercise = "00.first_answer"
    assert lax.outcome("right", exercise) == "passed"
    assert lax.outcome("wrong", exercise) == "failure"
    assert lax.outcome("open", exercise) == "skipped"
    assert lax.status == 1
    told = lax.said("wrong", exercise).splitlines()
    assert told[0] == "Not yet: 00.first_answer (equal-shares)" and told[2].startswith("Hint: ") and len(told) == 3
    assert told[2] in lax.text
    assert "Not attempted" in lax.said("open", exercise)


def test_the_last_verdict_counts(lax):
    assert lax.verdicts("wrong then right") == {"00.first_answer": "passed"}
    assert lax.verdicts("right then wrong") == {"00.first_answer": "wrong"}
    assert lax.outcome("right then wrong", "00.first_answer") == "failure"


def test_what_is_stored_says_nothing(lax):
    assert lax.verdicts("saved") == {"00.first_answer": "wrong"}
    assert lax.verdicts("in part") == {"00.first_answer": "passed"}
    assert {outcome for (file, _), (outcome, _) in lax.tests.items() if file == "in part"} == {"passed"}


def test_a_verdict_that_is_missing_fails(lax):
    for file in ("deleted skipped magic", "raises html overwritten"):
        verdicts = lax.verdicts(file)
        assert len(verdicts) == 3 and set(verdicts.values()) == {"missing"}
        assert {lax.outcome(file, exercise) for exercise in verdicts} == {"failure"}
    assert "No cell has the tag check:03.top_k" in lax.said("deleted skipped magic", "03.top_k")
    assert "has the tag nbval-skip" in lax.said("deleted skipped magic", "03.which_order")
    assert "ran without calling check" in lax.said("deleted skipped magic", "03.top_p")
    assert "has the tag raises-exception" in lax.said("raises html overwritten", "02.temperature")


def test_the_cell_that_ended_the_kernel_is_named(lax):
    assert lax.outcome("exits", "Cell 3") == "failure"
    assert "Cell 3 ended the kernel (exit or quit)" in lax.said("exits", "Cell 3")
    assert lax.outcome("exits", "Cell 4 (check:03.top_k)") == "skipped"
    assert lax.verdicts("exits") == {"03.top_k": "missing", "03.top_p": "missing", "03.which_order": "passed"}
    assert "Cell 3 ended the kernel" in lax.said("exits", "03.top_k")


def test_a_dead_kernel_is_said_at_once_and_the_rest_is_not_reached(lax):
    assert "The kernel died while Cell 3 ran" in lax.said("dies", "Cell 3")
    assert [lax.outcome("dies", f"Cell {n}") for n in (3, 4, 5)] == ["failure", "skipped", "skipped"]
    assert lax.verdicts("dies") == {"03.top_k": "not reached", "03.top_p": "not reached", "03.which_order": "passed"}
    assert lax.outcome("dies", "03.top_k") == "skipped"


def test_a_timeout_ends_its_notebook_only(lax):
    assert f"Timeout of {TIMEOUT} seconds" in lax.said("slow", "Cell 3")
    assert [lax.outcome("slow", f"Cell {n}") for n in (3, 4)] == ["failure", "skipped"]
    assert "Cell 3 took too long" in lax.said("slow", "Cell 4")
    assert lax.verdicts("slow") == {"03.top_k": "not reached", "03.top_p": "not reached", "03.which_order": "passed"}
    assert lax.outcome("wrong then right", "00.first_answer") == "passed"  # it comes after, in the same run


def test_an_error_in_a_cell_is_told_in_few_lines(lax):
    told = lax.said("error", "Cell 1").splitlines()
    assert told[0] == "Cell 1: ZeroDivisionError: division by zero" and len(told) <= 10
    assert "\x1b" not in "".join(told)
    assert lax.verdicts("error") == {"00.first_answer": "passed"}


@pytest.mark.parametrize(
    ("file", "reason"),
    [
        ("empty", "it is empty"),
        ("conflict", "merge markers, the first in line 2"),
        ("cut off", "not valid JSON, from line 2 on"),
        ("no notebook", "ValidationError"),
    ],
)
def test_a_broken_file_is_one_line_with_its_name(lax, file, reason):
    told = lax.said(file, "readable")
    assert lax.outcome(file, "readable") == "failure"
    assert told.startswith(f"{file}.ipynb cannot be read as a notebook: ") and reason in told
    assert len(told.splitlines()) == 1
    assert "INTERNALERROR" not in lax.text and "errors during collection" not in lax.text


def test_one_bad_file_in_a_folder_of_submissions_leaves_the_others_judged(runs):
    found = {entry["file"].removesuffix(".ipynb"): entry["verdict"] for entry in runs["submissions"].report}
    told_of = [name for name in BAD if "._" not in name and "checkpoints" not in name]
    assert len(found) == len(runs["submissions"].report) and found == {
        "ada/00_start_here": "passed",
        "eve/mine": "wrong",
        "eve/format 4.0": "passed",
        "fay/no outputs": "passed",
        **dict.fromkeys(told_of, "unreadable"),
    }
    text = runs["submissions"].text
    assert "Traceback" not in text and "Interrupted" not in text and "error during collection" not in text
    told = re.findall(r"^(\S+)\.ipynb cannot be read as a notebook: (.+)$", text, re.MULTILINE)
    assert sorted(name for name, _ in told) == sorted(name.split("/")[1] for name in told_of)
    assert "Save it as UTF-8 without one" in dict(told)["00_start_here"]
    assert f"3 of 4 exercises passed; {len(told)} unreadable, 1 not yet." in text


def test_a_copy_under_another_name_is_known_by_its_metadata_its_tags_or_its_name(lax):
    assert lax.verdicts("right") == lax.verdicts("00_start_here") == {"00.first_answer": "passed"}
    assert lax.verdicts("tags only") == {"00.first_answer": "not attempted"}


def test_a_notebook_of_others_is_left_to_nbval(lax):
    assert lax.outcome("not ours", "Cell 0") == "failure"
    assert "Notebook cell execution failed" in lax.said("not ours", "Cell 0")
    assert lax.verdicts("not ours") == {}


def test_the_table_counts_what_was_not_passed(lax):
    section = lax.text.split("= exercises =")[1]
    lines = [re.split(r"  +", line) for line in section.splitlines()]
    assert ["wrong.ipynb", "00.first_answer", "not yet", "equal-shares"] in lines
    assert ["open.ipynb", "00.first_answer", "not attempted"] in lines
    counted = re.search(r"(\d+) of (\d+) exercises passed; (.*)\.", section)
    assert int(counted[2]) == len(lax.report) - len(BROKEN)
    assert int(counted[1]) == sum(entry["verdict"] == "passed" for entry in lax.report)
    assert sum(map(int, re.findall(r"\d+", counted[3]))) == len(lax.report) - int(counted[1])
    assert ["empty.ipynb", "unreadable"] in lines


def test_the_report_is_json(lax):
    assert all(set(e) == {"file", "notebook", "exercise", "verdict", "hint_id", "reason"} for e in lax.report)
    [entry] = [e for e in lax.report if e["file"] == "wrong.ipynb"]
    assert entry["notebook"] == "00_start_here" and entry["hint_id"] == "equal-shares"


def test_strict_tells_another_output_from_a_wrong_answer(strict):
    told = strict.said("differs", "Cell 1")
    assert told.startswith("Cell 1: the output differs from the one stored") and "No exercise is judged" in told
    assert strict.said("differs", "00.first_answer").startswith("Not yet: 00.first_answer (equal-shares)")
    assert strict.outcome("differs", "Cell 4 (check:00.first_answer)") == "passed"  # its output is the learner's


def test_a_verdict_equals_one_that_was_stored_as_text(strict):
    assert strict.outcome("old output", "Cell 2") == "passed"


def test_unattempted_exercises_fail_with_strict_only(strict, lax):
    assert strict.outcome("open", "00.first_answer") == "failure"
    assert "Not attempted" in strict.said("open", "00.first_answer")
    assert strict.verdicts("open") == lax.verdicts("open") == {"00.first_answer": "not attempted"}


def test_the_verdicts_do_not_hang_on_how_a_run_is_distributed(runs, lax):
    """pytest-xdist deals out single tests by default: cells of one notebook, to processes with kernels of their own."""
    dealt_out = runs["dealt out"]
    expected = [entry for entry in lax.report if entry["file"].removesuffix(".ipynb") in DEALT_OUT]
    assert dealt_out.report == expected and "created: 2/2 workers" in dealt_out.text
    assert [entry["file"] for entry in expected] == sorted(entry["file"] for entry in expected)


# Harmless elsewhere


def test_the_plugin_imports_next_to_nothing():
    heavy = "{'torch', 'numpy', 'nbval'}"
    code = f"import sys, course_utils.nbval_plugin.report; sys.exit(bool({heavy} & set(sys.modules)))"
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0


def test_the_plugin_is_silent_where_no_notebook_of_the_course_is_run(tmp_path):
    (tmp_path / "test_x.py").write_text("def test_x():\n    pass\n", encoding="utf-8", newline="\n")
    write(tmp_path, {"00_start_here": ""})
    result = Result(tmp_path, "-q")
    assert result.status == 0 and "exercise" not in result.text and result.report == []
    assert result.tests == {("test_x", "test_x"): ("passed", "")}


def test_the_plugin_is_registered_and_names_agree():
    from importlib.metadata import entry_points

    assert {point.value for point in entry_points(group="pytest11")} >= {"course_utils.nbval_plugin.report"}
    assert report.RESULT == verdicts.RESULT


# Parts


def test_defaults_hold_where_the_user_set_none():
    option = SimpleNamespace(nbval_cell_timeout=2000, nbval_current_env=False, nbval_kernel_name=None)
    with kernel.defaults(SimpleNamespace(option=option)):
        assert (option.nbval_cell_timeout, option.nbval_current_env) == (300, True)
    assert (option.nbval_cell_timeout, option.nbval_current_env) == (2000, False)
    option = SimpleNamespace(nbval_cell_timeout=7, nbval_current_env=False, nbval_kernel_name="python3")
    with kernel.defaults(SimpleNamespace(option=option)):
        assert (option.nbval_cell_timeout, option.nbval_current_env) == (7, False)


class Clock:
    """A kernel whose messages and death are scripted, and the time that passes while it is asked."""

    def __init__(self, monkeypatch, messages=(), dies_after=float("inf"), chatty=False):
        self.now, self.messages, self.dies_after, self.chatty = 0.0, list(messages), dies_after, chatty
        monkeypatch.setattr(kernel.time, "monotonic", lambda: self.now)

    def get_message(self, stream, timeout=None):
        self.now += min(timeout, 0.1) if self.chatty else timeout
        if self.chatty:
            return {"msg_type": "stream", "content": {}}
        if self.messages:
            return self.messages.pop(0)
        raise kernel.Empty

    def is_alive(self):
        return self.now < self.dies_after


def watched(clock, timed_out=False):
    file = SimpleNamespace(kernel=clock, timed_out=timed_out, exited=False)
    kernel.watch(file)
    return file


def test_a_kernel_that_dies_is_noticed_within_a_second(monkeypatch):
    clock = Clock(monkeypatch, dies_after=2)
    with pytest.raises(kernel.KernelEnded):
        watched(clock).kernel.get_message("shell", timeout=300)
    assert clock.now < 3


def test_a_kernel_that_lives_is_waited_for_up_to_the_timeout(monkeypatch):
    clock = Clock(monkeypatch)
    with pytest.raises(kernel.Empty):
        watched(clock).kernel.get_message("shell", timeout=30)
    assert 30 <= clock.now < 31


def test_a_cell_that_prints_on_after_its_interrupt_is_given_up(monkeypatch):
    clock = Clock(monkeypatch, chatty=True)
    file = watched(clock, timed_out=True)
    with pytest.raises(kernel.Empty):
        for _ in range(10_000):
            file.kernel.get_message("iopub", timeout=5)
    assert clock.now < 10


@pytest.mark.parametrize(("keepkernel", "exited"), [(False, True), (True, False)])
def test_a_wish_to_exit_is_read_from_the_reply(monkeypatch, keepkernel, exited):
    payload = [{"source": "ask_exit", "keepkernel": keepkernel}]
    file = watched(Clock(monkeypatch, [{"msg_type": "execute_reply", "content": {"payload": payload}}]))
    file.kernel.get_message("shell", timeout=5)
    assert file.exited is exited


def test_what_a_file_is_does_not_hang_on_its_name(tmp_path):
    write(tmp_path, {"03_top_k_top_p": "", "a copy": "", "later": notebook(code("1"), name="04_tiny_transformer")})
    assert files.find_notebook(tmp_path / "03_top_k_top_p.ipynb") == "03_top_k_top_p"
    assert files.find_notebook(tmp_path / "later.ipynb") == "04_tiny_transformer"
    alone = tmp_path / "alone"
    alone.mkdir()
    write(alone, {"a copy": ""})
    assert files.find_notebook(alone / "a copy.ipynb") is None
    assert files.find_notebook(alone / "none.ipynb") is None


def test_a_file_is_read_as_utf_8_with_or_without_a_mark(tmp_path):
    path = tmp_path / "x.ipynb"
    for content, reason in (
        (b'\xef\xbb\xbf{"a": "\xc3\xbc"}', None),
        ('{"a": "ü"}'.encode(), None),
        (b'{"a": "\xfc"}', "it is not UTF-8 (byte 7)."),
        (b"[" * 100_000, "it is nested too deeply."),
    ):
        path.write_bytes(content)
        assert files.why_unreadable(path) == reason


# The shipped notebooks


def test_the_shipped_notebooks_have_a_stub_and_a_check_for_each_exercise():
    for path in SHIPPED:
        tags = [tag for cell in nbformat.read(path, as_version=4).cells for tag in cell.metadata.get("tags", [])]
        for kind in ("exercise", "check"):
            here = [tag.removeprefix(f"{kind}:") for tag in tags if tag.startswith(f"{kind}:")]
            assert sorted(here) == sorted(exercises.notebooks().get(path.stem, ()))
    assert {path.stem for path in SHIPPED} >= set(exercises.notebooks())


def exercises_of(paths):
    return [key for path in paths for key in exercises.notebooks()[path.stem]]


def test_copies_with_the_references_pass_strictly_with_all_exercises_passed(runs):
    result = runs["solved"]
    assert result.status == 0, result.text[-3000:]
    passed = {entry["exercise"]: entry["verdict"] for entry in result.report}
    assert passed == dict.fromkeys(exercises_of(SOLVED), "passed")
    assert {outcome for outcome, _ in result.tests.values()} == {"passed"}


def test_copies_with_one_wrong_solution_each_fail_at_exactly_these_with_their_hints(runs):
    result = runs["planted"]
    assert result.status == 1
    failed = {test for (_, test), (outcome, _) in result.tests.items() if outcome != "passed"}
    assert failed == set(exercises_of(PLANTED))
    for entry in result.report:
        hint_id = WRONG[entry["exercise"]][0][0]
        assert (entry["verdict"], entry["hint_id"]) == ("wrong", hint_id)
        assert f"Not yet: {entry['exercise']} ({hint_id})" in result.text
    assert result.text.count("\nHint: ") == len(result.report)

"""check, hint and solution, as a learner meets them; the limits on a learner's function; answers as numbers."""

import contextlib
import json
import math
import os
import re
import subprocess
import sys
import textwrap
import threading
import time
import warnings
import xml.etree.ElementTree as ET
from fractions import Fraction
from types import SimpleNamespace
from unittest.mock import MagicMock

import numpy as np
import pytest
import torch

from course_utils import checking, exercises, sampling
from course_utils.checker import answers, judging, recording, running, showing
from course_utils.checker.exercise import Call, Case, Equals, FunctionExercise
from course_utils.checker.judging import judge
from course_utils.checking import check, hint, solution


@pytest.fixture(autouse=True)
def fresh(monkeypatch):
    monkeypatch.setattr(checking, "_tried", set())
    monkeypatch.setattr(checking, "_hints_given", {})
    monkeypatch.setattr(checking, "_last", {})
    monkeypatch.setattr(recording, "_write", None)


def softmax(logits):
    return logits.softmax(-1)


# The verdicts


def test_a_right_answer_passes(capsys):
    verdict = check("01.softmax", softmax)
    assert (verdict.exercise, verdict.status, verdict.hint_id) == ("01.softmax", "passed", None)
    assert capsys.readouterr().out.startswith("Passed: 01.softmax.")


def test_a_wrong_answer_shows_the_case_the_result_and_the_hint(capsys):
    verdict = check("01.softmax", lambda logits: logits.exp())
    lines = capsys.readouterr().out.splitlines()
    assert verdict.status == "wrong" and verdict.hint_id == "not-normalised"
    assert lines[0] == "Not yet: 01.softmax (not-normalised)"
    assert lines[1] == "With logits [2, 1, 0], your function gave [7.389056, 2.718282, 1]."
    assert lines[2].startswith("Hint: these are exponentials") and len(lines) == 3


def test_an_error_shows_the_learners_line_and_none_of_ours(capsys):
    def mistyped(logits):
        weights = logits.exp()
        return wieghts / weights.sum()  # noqa: F821

    verdict = check("01.softmax", mistyped)
    text = capsys.readouterr().out
    assert verdict.status == "raised"
    assert text.startswith("Raised: 01.softmax. NameError: name 'wieghts' is not defined")
    assert "`return wieghts / weights.sum()" in text
    assert "Traceback" not in text and "running.py" not in text and "judging.py" not in text


def test_an_error_inside_a_library_is_told_at_the_learners_line(capsys):
    check("03.top_k", lambda logits, k: torch.nn.functional.one_hot(logits, k))
    text = capsys.readouterr().out
    assert text.startswith("Raised: 03.top_k. RuntimeError") and "test_checking" not in text
    assert "one_hot(logits, k)" in text


def test_an_error_where_a_misconception_makes_one_has_its_hint(capsys):
    verdict = check("03.top_k", lambda logits, k: sampling.top_k_filter(logits, min(k, 99)))
    assert (verdict.status, verdict.hint_id) == ("raised", "k-none")


def stub_with_dots(logits):
    """A docstring."""
    ...


def stub_that_raises(logits):
    raise NotImplementedError


def stub_that_passes(logits):
    pass


@pytest.mark.parametrize(
    "attempt",
    [
        ...,
        None,
        NotImplemented,
        stub_with_dots,
        stub_that_raises,
        stub_that_passes,
        lambda logits: ...,
        lambda logits: None,
        exercises.exercise("01.softmax").solution(),
        sampling.next_token_probs,
    ],
)
def test_not_attempted(attempt, capsys):
    assert check("01.softmax", attempt).status == "not attempted"
    assert capsys.readouterr().out.startswith("Not attempted: 01.softmax.")


def test_a_name_that_already_exists_is_no_attempt():
    from functools import partial

    from course_utils.sampling import top_k_filter

    assert check("03.top_k", top_k_filter).status == "not attempted"
    assert check("03.top_k", partial(top_k_filter)).status == "not attempted"


def test_a_missing_return_is_named(capsys):
    def forgets(logits):
        probs = logits.softmax(-1)  # noqa: F841

    assert check("01.softmax", forgets).status == "not attempted"
    assert "`return` is missing" in capsys.readouterr().out


def test_an_attempt_that_gives_none_at_first_is_an_attempt():
    def reads_nothing(text):
        try:
            return jsn.loads(text)  # noqa: F821
        except Exception:
            return None

    verdict = check("07.read_call", reads_nothing)
    assert (verdict.status, verdict.hint_id) == ("wrong", "by-hand") and "gave None" in verdict.text

    def says_none(text):
        return None

    def returns_what_sort_gives(logits):
        return logits.tolist().sort()

    assert check("07.read_call", says_none).status == "not attempted"
    assert check("01.softmax", returns_what_sort_gives).status == "wrong"


def test_a_mask_is_shown(capsys):
    verdict = check("04.causal_mask", lambda n_query, n_key: torch.ones(n_query, n_key).bool().tril())
    assert "gave [[True, False, False, False, False], [True, True, False, False, False], [True, " in verdict.text


def test_none_in_a_later_case_is_wrong():
    def only_rows(logits):
        return logits.softmax(-1) if logits.ndim == 1 else None

    verdict = check("01.softmax", only_rows)
    assert verdict.status == "wrong"


def test_not_implemented_in_a_later_case_is_an_error():
    def only_rows(logits):
        if logits.ndim > 1:
            raise NotImplementedError
        return logits.softmax(-1)

    assert check("01.softmax", only_rows).status == "raised"


def test_an_unknown_id_lists_the_near_ones():
    with pytest.raises(ValueError, match=r"no exercise '03\.topp'.*03\.top_p"):
        check("03.topp", softmax)
    with pytest.raises(ValueError, match=r"02\.greedy"):
        hint("02.nothing_like_it")
    for odd in (None, 3, "", "xyz", ["03.top_p"]):
        with pytest.raises(ValueError, match="There is no exercise"):
            check(odd if not isinstance(odd, list) else str(odd), softmax)


def raises(error):
    raise error


class Hostile:
    """Fails at everything that one can do with it."""

    def __getattr__(self, name):
        raise RuntimeError("no")

    def __repr__(self):
        raise RuntimeError("no")

    def __eq__(self, other):
        raise RuntimeError("no")

    __hash__ = None


class UnprintableError(Exception):
    def __str__(self):
        raise RuntimeError("no")


NONSENSE = [
    Hostile(),
    lambda *args: Hostile(),
    lambda *args: raises(SystemExit(0)),
    lambda *args: raises(KeyboardInterrupt()),
    lambda *args: raises(GeneratorExit()),
    lambda *args: raises(UnprintableError()),
    lambda *args: raises(ExceptionGroup("two", [ValueError("a"), ValueError("b")])),
    lambda *args: "\ud800",
    lambda *args: {"\ud800": Hostile()},
    lambda: 1,
    lambda *args: (yield 1),
    object,
    Hostile,
    "\ud800",
    [[1], [1, 2]],
    1 + 2j,
    torch.nn.Linear(2, 2),
    type("Both", (), {"__call__": lambda self, *args: self})(),
    lambda *args: torch.zeros(3, dtype=torch.complex64),
    lambda *args: torch.zeros(2, 3).to_sparse(),
    lambda *args: np.array(["a", None], dtype=object),
    lambda *args: print,
    MagicMock(),
    lambda *args: MagicMock(),
]


@pytest.mark.parametrize("key", exercises.all_exercises())
@pytest.mark.parametrize("number", range(len(NONSENSE)))
def test_check_never_raises_and_never_passes_nonsense(key, number, capsys):
    assert check(key, NONSENSE[number]).status in ("wrong", "raised")
    assert capsys.readouterr().out


def test_a_check_computes_for_less_than_a_second():
    for key, exercise in exercises.all_exercises().items():
        if isinstance(exercise, FunctionExercise):
            reference = exercise.solution()
            judge(exercise, lambda *args, f=reference: f(*args))
            best = min(timed(lambda k=key, f=reference: check(k, lambda *args: f(*args))) for _ in range(3))
            assert best < 1, key


def timed(call):
    start = time.process_time()  # what else runs on the machine does not count
    call()
    return time.process_time() - start


def test_the_learners_names_stay_as_they_are(capsys):
    names = {"t": 1}
    code = textwrap.dedent(
        """
        from course_utils.checking import check
        before = set(globals())
        check("00.first_answer", 500)
        after = set(globals())
        """
    )
    exec(code, names)  # our own text
    assert names["t"] == 1 and names["after"] - names["before"] == {"before"}


def test_a_verdict_is_shown_once():
    """The last line of a cell is displayed; `check` has printed the text by then."""
    from IPython.core.formatters import DisplayFormatter

    verdict = check("00.first_answer", 269)
    assert DisplayFormatter().format(verdict) == ({}, {})
    assert str(verdict) == "Passed: 00.first_answer"
    assert repr(verdict) == "Verdict('00.first_answer', 'passed')"


def test_not_implemented_by_a_library_is_an_error_and_no_stub():
    def cannot(logits):
        return torch.empty(2, device="meta").tolist()  # torch raises NotImplementedError here

    with pytest.raises(NotImplementedError):
        cannot(None)
    assert check("01.softmax", cannot).status == "raised"


def test_displays_do_not_come_between(monkeypatch):
    shell = SimpleNamespace(display_pub="the notebook's")
    during = []

    def shows(logits):
        during.append(type(shell.display_pub).__name__)
        return logits

    monkeypatch.setattr("IPython.get_ipython", lambda: shell)
    check("01.softmax", shows)
    assert set(during) == {"CapturingDisplayPublisher"} and shell.display_pub == "the notebook's"


# How a verdict is shown


VERDICTS = {
    "passed": "Passed: 01.softmax. All 34 cases.",
    "wrong": "Not yet: 01.softmax (by-hand)\nWith logits [2, 1], your function gave <b>.\nHint: use `a < b` & more.",
    "raised": "Raised: 01.softmax. ValueError: x\nIn your code, line 3: `return x`\nYour function printed:\n  a  b",
    "not attempted": "Not attempted: 01.softmax. Replace the dots.",
}


def words_of(page):
    """What can be read on the page, line by line."""
    tree = ET.fromstring(page)
    return ["".join(div.itertext()) for div in tree.findall("div")]


@pytest.mark.parametrize("status", VERDICTS)
def test_html_says_the_same_with_a_sign(status):
    first, *rest = words_of(showing.html(status, VERDICTS[status]))
    said = VERDICTS[status].replace("`", "")  # on a page, code has a font of its own instead
    assert [first[2:], *rest] == said.splitlines() and not first[0].isalnum() and first[1] == " "
    every = [showing.html(other, VERDICTS[other]) for other in VERDICTS]
    assert len({words_of(page)[0][0] for page in every}) == len({page[:120] for page in every}) == 4


def luminance(color):
    shares = [v / 255 / 12.92 if v / 255 <= 0.04045 else ((v / 255 + 0.055) / 1.055) ** 2.4 for v in color]
    return sum(share * weight for share, weight in zip(shares, (0.2126, 0.7152, 0.0722), strict=True))


@pytest.mark.parametrize("status", VERDICTS)
@pytest.mark.parametrize("ground", [(255, 255, 255), (17, 17, 17)], ids=["light", "dark"])
def test_sign_and_edge_stand_out_in_both_themes(status, ground):
    color = tuple(map(int, re.search(r"rgb\((\d+), (\d+), (\d+)\)", showing.html(status, "x")).groups()))
    tinted = tuple(0.88 * under + 0.12 * over for under, over in zip(ground, color, strict=True))
    for behind in (ground, tinted):
        low, high = sorted((luminance(color), luminance(behind)))
        assert (high + 0.05) / (low + 0.05) >= 2.9 if behind == tinted else 3


def test_in_a_kernel_a_verdict_is_one_output_with_text_and_html():
    """In a kernel of its own: what is shown, and that text which was printed before stays before it."""
    from jupyter_client.manager import start_new_kernel

    manager, client = start_new_kernel()
    try:
        found = []
        code = ("from course_utils.checking import check\nimport contextlib, io\nprint('before')\n"
                "check('00.first_answer', 500)\n"
                "with contextlib.redirect_stdout(io.StringIO()) as kept: check('00.first_answer', 269)\n"
                "print(kept.getvalue())")  # fmt: skip
        client.execute_interactive(code, output_hook=found.append, timeout=120)
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)
    found = [m for m in found if m["msg_type"] in ("stream", "display_data", "execute_result", "error")]
    assert [m["msg_type"] for m in found] == ["stream", "display_data", "stream"]
    data = found[1]["content"]["data"]
    assert set(data) == {"text/plain", "text/html"} and data["text/plain"].startswith("Not yet: 00.first_answer (equal")
    assert words_of(data["text/html"])[0] == "✗ " + data["text/plain"].splitlines()[0]
    assert found[2]["content"]["text"] == "Passed: 00.first_answer\n\n"  # put elsewhere, a verdict is text


# Hints and solutions


def test_hints_give_one_more_level_at_each_call(capsys):
    levels = len(exercises.all_exercises()["03.top_p"].hints)
    for level in range(levels):
        hint("03.top_p")
        assert capsys.readouterr().out.startswith(f"Hint {level + 1} of {levels} for 03.top_p: ")
    for _ in range(2):
        hint("03.top_p")
        assert capsys.readouterr().out.startswith("There are no more hints for 03.top_p.")
    hint("03.top_k")
    assert capsys.readouterr().out.startswith("Hint 1 of ")


def test_an_earlier_hint_is_shown_again_and_the_next_one_stays_the_next(capsys):
    hint("03.top_p")
    first = capsys.readouterr().out
    hint("03.top_p")
    second = capsys.readouterr().out
    for level, text in ((1, first), (2, second), (1, first)):
        hint("03.top_p", level)
        assert capsys.readouterr().out == text
    hint("03.top_p")
    assert capsys.readouterr().out.startswith("Hint 3 of 3 for 03.top_p: ")


@pytest.mark.parametrize("which", [0, 4, -1, 1.0, True, "first"])
def test_a_hint_that_does_not_exist_is_an_error(which):
    with pytest.raises(ValueError, match=r"expected a number from 1 to 3, or \"expected\""):
        hint("03.top_p", which)


def expected(exercise_id, capsys):
    capsys.readouterr()
    hint(exercise_id, "expected")
    return capsys.readouterr().out.rstrip("\n")


def test_the_expected_value_is_told_to_those_who_ask(capsys):
    assert expected("01.softmax", capsys).startswith("Run the check of 01.softmax first.")
    check("01.softmax", ...)
    assert expected("01.softmax", capsys).startswith("Run the check of 01.softmax first.")
    check("01.softmax", lambda logits: logits.exp())
    told = "With logits [2, 1, 0], a right solution gives [0.665241, 0.244728, 0.090031]."
    assert expected("01.softmax", capsys) == told and told.partition("gives ")[2] not in capsys.readouterr().out
    check("01.softmax", softmax)
    assert "passed" in expected("01.softmax", capsys)


def test_what_is_expected_may_be_an_error_or_what_a_generator_yields(capsys):
    check("02.temperature", lambda logits, temperature: (logits / abs(temperature or 1)).softmax(-1))
    assert re.fullmatch(r"With logits \[.*\] and T = .*, a right solution gives a ValueError\.",
                        expected("02.temperature", capsys))  # fmt: skip
    check("07.stop_matcher", lambda pieces, stops: iter(["x"]))
    assert expected("07.stop_matcher", capsys).endswith("a right solution gives ['He', 'llo '].")


def test_a_right_value_that_came_about_in_another_way_is_called_right(capsys):
    def without_a_cache(model, prompt_ids, max_new_tokens):
        ids = list(prompt_ids)
        for _ in range(max_new_tokens):
            ids.append(int(model(torch.tensor([ids]))[0, -1].argmax()))
        return ids[len(prompt_ids) :]

    assert check("05.generate_cached", without_a_cache).status == "wrong"
    assert expected("05.generate_cached", capsys).endswith("Yours is the same: the verdict is about how it came about.")


def test_of_a_value_nothing_is_told_before_a_try(capsys):
    text = expected("00.first_answer", capsys)
    assert 'solution("00.first_answer")' in text and "269" not in text


@pytest.mark.parametrize("key", [key for key in exercises.places() if hasattr(exercises.exercise(key), "cases")])
def test_what_is_expected_in_each_case_can_be_told(key):
    """In every case of every exercise: the reference answers it, and the answer can be shown."""
    exercise = exercises.exercise(key)
    assert all(0 < len(judging.expected(exercise, case)) < 400 for case in exercise.cases)


def test_a_solution_comes_after_a_first_attempt(capsys):
    solution("03.top_k")
    assert capsys.readouterr().out.startswith("Try first: write `top_k_filter(logits, k)`")
    check("03.top_k", ...)
    capsys.readouterr()
    solution("03.top_k")
    assert capsys.readouterr().out.startswith("Try first")
    check("03.top_k", lambda logits, k: logits)
    capsys.readouterr()
    solution("03.top_k")
    text = capsys.readouterr().out
    assert text.startswith("def top_k_filter(logits, k):")


@pytest.mark.parametrize("key", [key for key in exercises.places() if hasattr(exercises.exercise(key), "cases")])
def test_a_solution_is_whole_code_that_passes(key, capsys, monkeypatch):
    monkeypatch.setattr(checking, "_tried", {key})
    solution(key)
    names = {}
    exec(capsys.readouterr().out, names)  # our own text
    name = exercises.exercise(key).writes.strip("`").partition("(")[0]
    assert judge(exercises.exercise(key), names[name]).status == "passed"


def test_the_solution_of_a_value_is_a_sentence(capsys):
    check("00.first_answer", 500)
    capsys.readouterr()
    solution("00.first_answer")
    assert "0.269" in capsys.readouterr().out


# Limits


@pytest.fixture
def short_limit(monkeypatch):
    monkeypatch.setattr(running, "LIMIT", 0.3)
    monkeypatch.setattr(running, "_GRACE", 0.5)


def endless(logits):
    while True:
        pass


def endless_that_prints(logits):
    while True:
        print("x" * 100)


def endless_that_catches(logits):
    while True:
        with contextlib.suppress(Exception):
            time.sleep(0.001)


@pytest.mark.parametrize("attempt", [endless, endless_that_prints, endless_that_catches])
def test_an_endless_function_ends_with_a_sentence(attempt, short_limit, capsys):
    verdict = check("01.softmax", attempt)  # that it comes back at all is what is tested
    assert (verdict.status, verdict.hint_id) == ("raised", "too-slow")
    text = capsys.readouterr().out
    assert "took too long and was stopped" in text and len(text) < 1200
    assert not any(thread.name == "a learner's function" for thread in threading.enumerate())


def test_a_function_that_is_stuck_in_c_is_left_behind(short_limit, capsys):
    goes_on = threading.Event()

    def stuck(logits):
        goes_on.wait(120)

    assert check("01.softmax", stuck).hint_id == "too-slow"
    left = [thread for thread in threading.enumerate() if thread.name == "a learner's function"]
    assert len(left) == 1 and "could not be stopped" in capsys.readouterr().out
    goes_on.set()
    left[0].join(60)  # the thread ends now: nothing of it may come to light
    assert not left[0].is_alive() and capsys.readouterr() == ("", "")


def test_the_limit_holds_for_all_cases_together(short_limit):
    def slow(logits):
        time.sleep(0.1)
        return logits.softmax(-1)

    start = time.monotonic()
    assert check("01.softmax", slow).hint_id == "too-slow"
    assert time.monotonic() - start < 2


def test_prints_come_after_the_verdict_and_are_cut(capsys):
    def talks(logits):
        for line in range(50):
            print("line", line)
        return logits

    check("01.softmax", talks)
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("Not yet")
    assert lines[-5:] == ["Your function printed:", "  line 0", "  line 1", "  line 2", "  ... and 47 more lines"]


def test_a_function_that_passes_may_print_as_well(capsys):
    def talks(logits):
        print("shape", tuple(logits.shape))
        return logits.softmax(-1)

    assert check("01.softmax", talks).status == "passed"
    assert capsys.readouterr().out.splitlines()[0].startswith("Passed")


def test_warnings_are_no_errors_here_and_do_not_drown_the_verdict(capfd):
    def warns(logits):
        for _ in range(20):
            warnings.warn("careful", RuntimeWarning, stacklevel=1)
        return logits.softmax(-1)

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert check("01.softmax", warns).status == "passed"
    out, err = capfd.readouterr()
    assert "careful" not in out + err
    check("01.softmax", lambda logits: warns(logits) + 1)
    assert "Python warned: RuntimeWarning: careful" in capfd.readouterr().out


def test_a_function_gets_copies():
    seen = []
    case = Case("a", "b.", Call("c", lambda: ([1, 2],)), Equals([1, 2]))
    exercise = FunctionExercise(id="09.x", writes="x", contract="x", difficulty="easy", minutes=1, hints=(),
                                reference="", cases=(case, case))  # fmt: skip
    assert judge(exercise, lambda ids: seen.append(list(ids)) or ids.clear() or [1, 2]).hint_id == "changes-input"
    assert seen == [[1, 2], [1, 2]]


def test_stdout_is_given_back(short_limit):
    before = sys.stdout, sys.stderr
    check("01.softmax", endless_that_prints)
    check("01.softmax", softmax)
    assert (sys.stdout, sys.stderr) == before


def test_an_interrupt_by_the_learner_is_theirs(monkeypatch):
    class Interrupted(threading.Event):
        def wait(self, timeout=None):
            raise KeyboardInterrupt

    monkeypatch.setattr(running.threading, "Event", Interrupted)
    before = set(threading.enumerate())
    with pytest.raises(KeyboardInterrupt):
        running.run(lambda: time.sleep(0.2), (), 5)
    until = time.monotonic() + 60
    while not set(threading.enumerate()) <= before:
        assert time.monotonic() < until, "the thread did not end"
        time.sleep(0.01)


# Records


def test_where_no_run_records_nothing_is_written(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    check("00.first_answer", 500)
    assert list(tmp_path.iterdir()) == []


def test_verdicts_are_recorded_and_the_last_on_each_exercise_is_read(tmp_path):
    path = tmp_path / "records.jsonl"
    recording.start(str(path), "key")
    said = []
    for answer in (..., "\ud800 ü", 269):
        check("00.first_answer", answer)
        entry = recording.read(path.read_text(encoding="utf-8"), "key")["00.first_answer"]
        said.append((entry["status"], entry["hint_id"]))
    assert said == [("not attempted", None), ("wrong", "general"), ("passed", None)]


def test_a_record_that_the_key_did_not_sign_is_not_read(tmp_path):
    path = tmp_path / "records.jsonl"
    recording.start(str(path), "key")
    check("00.first_answer", 500)
    signed = path.read_text(encoding="utf-8")
    forged = json.dumps({"exercise": "00.first_answer", "status": "passed", "hint_id": None, "text": ""})
    for line in (forged, f"{'0' * 64} {forged}", f"{signed.split()[0]} {forged}", "é \ud800 x", "", signed[:-9]):
        assert recording.read(signed + line + "\n", "key")["00.first_answer"]["status"] == "wrong"
    assert recording.read(signed, "another key") == {}


def test_a_notebook_cannot_send_its_verdicts_elsewhere(tmp_path):
    recording.start(str(tmp_path / "first"), "key")
    recording.start(str(tmp_path / "second"), "known")
    check("00.first_answer", 500)
    assert [path.name for path in tmp_path.iterdir()] == ["first"]


def test_a_record_that_cannot_be_written_is_said(tmp_path, capsys):
    recording.start(str(tmp_path / "none" / "records.jsonl"), "key")
    assert check("00.first_answer", 269).status == "passed"
    assert "could not be recorded" in capsys.readouterr().out


def test_a_console_of_another_encoding_is_no_error():
    code = 'from course_utils.checking import check; check("00.first_answer", "→ ü \\ud800")'
    environment = {**os.environ, "PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"}
    result = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True)
    assert result.returncode == 0 and result.stdout.startswith("Not yet: 00.first_answer (general)")


# Answers


@pytest.mark.parametrize(
    "value",
    [
        [[1.0, 2.0], [3.0, -math.inf]],
        ((1, 2), (3, -math.inf)),
        np.array([[1, 2], [3, -np.inf]], dtype=np.float32),
        torch.tensor([[1, 2], [3, -math.inf]], dtype=torch.bfloat16),
        torch.tensor([[1, 2], [3, -math.inf]], dtype=torch.float64, requires_grad=True),
        [torch.tensor([1.0, 2.0]), np.array([3.0, -np.inf])],
        [[torch.tensor(1), Fraction(2)], [np.float64(3), -math.inf]],
        torch.tensor([[1, 3], [2, -math.inf]]).T,
    ],
)
def test_the_same_numbers_are_the_same_answer(value):
    assert answers.same(value, [[1, 2], [3, -math.inf]])


@pytest.mark.parametrize(
    ("value", "phrase"),
    [
        (math.nan, "NaN"),
        ([], "shape"),
        ([1.0], "shape"),
        (torch.tensor([]), "shape"),
        (np.zeros((0, 3)), "shape"),
        (True, "True and False"),
        ("1", "does not hold plain numbers"),
        (None, "does not hold plain numbers"),
        ({1}, "does not hold plain numbers"),
        ({"a": 1}, "does not hold plain numbers"),
        (1j, "does not hold plain numbers"),
        ([[1], [1, 2]], "cannot be read"),
        (1.001, "other numbers"),
        (math.inf, "other numbers"),
        (-math.inf, "other numbers"),
    ],
)
def test_what_never_equals_a_number(value, phrase):
    assert phrase in answers.difference(value, 1.0)


def test_nan_another_shape_nothing_and_a_wide_miss_never_equal():
    assert not answers.same([math.nan, math.nan], [0.5, 0.5])
    assert not answers.same([0.5], [0.5, 0.5, 0.5])
    assert not answers.same([], [0.5])
    assert not answers.same([0.5, 0.5001], [0.5, 0.5])


def test_the_last_digit_is_forgiven_and_no_more():
    assert answers.same(-15.999999999999996, -16.0) and not answers.same(-15.99, -16.0)
    assert answers.same(0.5 + 1e-5, 0.5) and not answers.same(0.5 + 1.1e-5, 0.5)


def test_infinities_equal_themselves_only():
    assert not answers.same([math.inf], [-math.inf]) and not answers.same([-1e30], [-math.inf])
    assert not answers.same([-math.inf], [-1e30])


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (torch.tensor([0.73105, -math.inf]), "[0.73105, -inf]"),
        (267.999999, "267.999999"),
        (torch.zeros(1_000_000), "a Tensor of the shape (1000000,)"),
        (3, "3"),
        (torch.tensor(2.5), "2.5"),
        (1e-7, "1e-07"),
        ([[1, 2], [3, 4]], "[[1, 2], [3, 4]] of the shape (2, 2)"),
        ([], "[]"),
        ((), "()"),
        (np.array([]), "[] of the shape (0,)"),
        ((x for x in "ab"), "a generator"),
        (None, "None"),
        ("abc", "'abc'"),
        (torch.tensor([True, False]), "[True, False]"),
        (math.floor, "the function floor"),
    ],
)
def test_a_value_is_shown_in_one_short_line(value, text):
    assert answers.describe(value) == text


@pytest.mark.parametrize("enabled", [True, False])
def test_the_function_runs_without_gradients_and_the_notebooks_mode_stays(enabled):
    with torch.set_grad_enabled(enabled):
        assert running.run(torch.is_grad_enabled, (), 5).value is False
        assert torch.is_grad_enabled() is enabled


def test_a_long_value_is_cut():
    for value in (np.arange(10000), ["x" * 10000], torch.rand(50, 50), "a\nb" * 999):
        text = answers.describe(value)
        assert len(text) < 220 and "\n" not in text


@pytest.mark.parametrize("dtype", [object, float, np.float32])
def test_an_array_of_numbers_is_read_whatever_its_dtype(dtype):
    assert answers.same(np.array([0.25, 0.75], dtype=dtype), [0.25, 0.75])


@pytest.mark.parametrize("huge", [[0.5] * 100_001, [[0.5] * 1_000] * 101, np.zeros(100_001), torch.zeros(100_001)])
def test_a_huge_answer_is_refused_without_reading_it_all(huge):
    with pytest.raises(answers.Unreadable, match="far more than it should"):
        answers.as_array(huge)
    assert len(answers.describe(huge)) < 200

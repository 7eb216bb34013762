"""A verdict does not depend on what a notebook has set for the whole process, and the check changes none of it."""

import contextlib
import json
import os
import random
import subprocess
import sys
import warnings

import numpy as np
import pytest
import torch
from wrong_solutions import WRONG

from course_utils import checking, exercises
from course_utils.checker import recording
from course_utils.checker.exercise import FunctionExercise
from course_utils.checker.judging import judge
from course_utils.checker.own_state import own_state

EXERCISES = exercises.all_exercises()
KEYS = [key for key, exercise in EXERCISES.items() if isinstance(exercise, FunctionExercise)]


@contextlib.contextmanager
def a_new_notebook(folder):
    """Whatever a test sets is undone."""
    before, options = os.getcwd(), np.get_printoptions()
    with own_state():
        try:
            yield
        finally:
            os.chdir(before)
            np.set_printoptions(**options)
            torch.set_printoptions(profile="default")
            torch.set_default_device(None)


SETTINGS = {
    "default dtype": lambda folder: torch.set_default_dtype(torch.float64),
    "half as default dtype": lambda folder: torch.set_default_dtype(torch.bfloat16),
    "default device": lambda folder: torch.set_default_device("meta"),
    "torch's print options": lambda folder: torch.set_printoptions(precision=1, threshold=2, edgeitems=1),
    "numpy's print options": lambda folder: np.set_printoptions(precision=1, threshold=2, edgeitems=1, legacy="1.13"),
    "warnings as errors": lambda folder: warnings.simplefilter("error"),
    "numpy's error state": lambda folder: np.seterr(all="raise"),
    "seeds": lambda folder: (random.seed(7), np.random.seed(7), torch.manual_seed(7)),
    "gradients on": lambda folder: torch.set_grad_enabled(True),
    "gradients off": lambda folder: torch.set_grad_enabled(False),
    "another folder": os.chdir,
    "deterministic algorithms": lambda folder: torch.use_deterministic_algorithms(True),
    "rough multiplications": lambda folder: torch.set_float32_matmul_precision("medium"),
}


def state():
    """All that the settings above change, as it is now."""
    return {
        "dtype": torch.get_default_dtype(),
        "device": torch.get_default_device(),
        "tensor": str(torch.tensor([1.23456, 2.0, 3.0], device="cpu")),
        "array": str(np.array([1.23456, 2.0, 3.0])),
        "filters": list(warnings.filters),
        "errors": np.geterr(),
        "draws": (str(random.getstate()), str(np.random.get_state()), torch.get_rng_state().tolist()),
        "gradients": (torch.is_grad_enabled(), torch.is_inference_mode_enabled()),
        "folder": os.getcwd(),
        "algorithms": (torch.are_deterministic_algorithms_enabled(), torch.get_float32_matmul_precision()),
    }


def as_learners(key):
    """The reference, as if it were a learner's function: the course's own is not an attempt."""
    reference = EXERCISES[key].solution()
    return lambda *args: reference(*args)


def verdict(key, attempt):
    finding = judge(EXERCISES[key], attempt, 60)
    return finding.status, finding.hint_id, finding.headline, finding.lines


@pytest.mark.parametrize("name", SETTINGS)
@pytest.mark.parametrize("key", ["01.softmax", "03.top_p", "04.attend", "09.last_token"])
def test_a_right_answer_is_right_whatever_the_notebook_has_set(name, key, tmp_path):
    with a_new_notebook(tmp_path):
        reference = as_learners(key)
        assert verdict(key, reference)[0] == "passed"  # what the check keeps is made before the setting
        SETTINGS[name](tmp_path)
        before = state()
        assert verdict(key, reference)[0] == "passed"
        assert state() == before


def test_inside_inference_mode_and_autocast_the_verdict_is_the_same():
    reference = as_learners("09.last_token")
    with torch.inference_mode(), torch.autocast("cpu"):
        assert verdict("09.last_token", reference)[0] == "passed"
        assert torch.is_inference_mode_enabled() and torch.is_autocast_enabled("cpu")


ALL_AT_ONCE = """
import json, os, random, sys, warnings
import numpy as np
sys.path[:0] = [{tests!r}]
os.chdir({folder!r})
if {odd!r}:
    warnings.simplefilter("error"); np.seterr(all="raise"); random.seed(3); np.random.seed(3)
    np.set_printoptions(precision=1, threshold=2, edgeitems=1, legacy="1.13")
from course_utils import checking, exercises
if {odd!r}:
    import torch
    torch.set_default_dtype(torch.float64); torch.set_default_device("meta"); torch.manual_seed(3)
    torch.set_printoptions(precision=1, threshold=2)
    torch.use_deterministic_algorithms(True)
from course_utils.checker import judging
found = {{}}
for key in exercises.places():
    exercise = checking._find(key)
    found[key] = (
        judging.judge(exercise, (lambda f: lambda *args: f(*args))(exercise.solution()), 60).status
        if hasattr(exercise, "cases")
        else None
    )
json.dump(found, sys.stdout)
"""


def test_every_reference_passes_where_everything_was_set_before_the_first_check(tmp_path):
    code = ALL_AT_ONCE.format(tests=str(tmp_path), folder=str(tmp_path), odd=True)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr[-2000:]
    found = json.loads(done.stdout)
    assert list(found) == list(EXERCISES)
    assert {key: found[key] for key in KEYS} == dict.fromkeys(KEYS, "passed")


@pytest.mark.parametrize("key", KEYS)
def test_a_wrong_answer_gets_the_same_hint_and_the_same_words(key, tmp_path):
    hint_id, attempt, plain = next(  # one that keeps nothing between its calls
        (hint_id, attempt, verdict(key, attempt))
        for hint_id, attempt, *_ in WRONG[key]
        if verdict(key, attempt) == verdict(key, attempt)
    )
    assert plain[1] == hint_id
    with a_new_notebook(tmp_path):
        for name, change in SETTINGS.items():
            if name != "half as default dtype":  # the learner's own tensors may be of the default type
                change(tmp_path)
        assert verdict(key, attempt) == plain


def test_what_the_learners_function_sets_is_undone_and_does_not_reach_the_next_case(tmp_path, monkeypatch):
    seen = []

    def sets_everything(logits):
        seen.append(torch.get_default_dtype())
        torch.set_default_dtype(torch.float64)
        torch.manual_seed(5)
        np.seterr(all="raise")
        os.chdir(tmp_path)
        warnings.simplefilter("error")
        return logits.softmax(-1)

    before = state()
    assert verdict("01.softmax", sets_everything)[0] == "passed"
    assert state() == before and set(seen) == {torch.float32} and len(seen) > 5


def test_a_function_that_draws_gets_the_same_verdict_each_time():
    def by_luck(logits):
        return logits.softmax(-1) if torch.rand(()) < 0.5 else logits

    assert len({verdict("01.softmax", by_luck) for _ in range(20)}) == 1


def test_a_removed_folder_is_no_obstacle(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(recording, "_write", None)
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    try:
        gone.rmdir()
    except OSError:
        pytest.skip("this system does not remove a folder that a process is in")
    assert checking.check("01.softmax", lambda logits: logits.softmax(-1)).status == "passed"


def test_torch_is_not_imported_for_an_exercise_without_it():
    code = "import sys\nfrom course_utils.checker.own_state import own_state\nwith own_state(): pass\n"
    code += "assert 'torch' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)

"""The exercises: planted wrong solutions are caught with their hints, right ones pass, references are right."""

import inspect
import math
import os
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
import torch
import wrong_solutions
from wrong_solutions import RIGHT, WRONG
from wrong_solutions.__main__ import TARGET, found, table

from course_utils import bigram, exercises, kv_cache, metrics, sampling, stopping, transformer, translate
from course_utils.checker import answers
from course_utils.checker.exercise import CHANGES_INPUT, NOT_A_FUNCTION, Equals, FunctionExercise, Holds, Raises
from course_utils.checker.judging import judge
from course_utils.exercises.common.filters import softmax
from course_utils.exercises.common.inputs import scores

EXERCISES = exercises.all_exercises()
FUNCTIONS = {key: exercise for key, exercise in EXERCISES.items() if isinstance(exercise, FunctionExercise)}


def kind_of_answer(exercise):
    """NumPy's letter for what the reference answers: "f" floats, "i" integers, "b" bools, "O" and None no numbers."""
    for case in exercise.cases:
        if not isinstance(case.expect, Raises):
            answer = exercise.solution()(*case.call.args())
            answer = answer.detach() if isinstance(answer, torch.Tensor) else answer
            mixed = isinstance(answer, tuple) and len({*map(type, answer)}) > 1
            return None if mixed else np.asarray(answer).dtype.kind
    return None


KINDS = {key: kind_of_answer(exercise) for key, exercise in FUNCTIONS.items()}
NUMBERS = [key for key, kind in KINDS.items() if kind in tuple("fib")]
FLOATS = [key for key, kind in KINDS.items() if kind == "f"]
PLANTED = Path(wrong_solutions.__file__).resolve().parent
EXERCISE_FILES = Path(exercises.__file__).resolve().parent
AUTHORING = PLANTED.parent.parent / "authoring"


def name_of(attempt):
    return getattr(attempt, "__name__", re.sub(r"\s+", " ", repr(attempt))[:40])


def cases(planted):
    return [pytest.param(key, *entry, id=f"{key}-{'-'.join(map(name_of, entry))}") for key, entry in planted]


@pytest.mark.parametrize(
    ("key", "hint_id", "attempt"), cases((key, entry) for key in EXERCISES for entry in WRONG[key])
)
def test_a_planted_wrong_solution_is_caught_with_its_hint(key, hint_id, attempt):
    finding = found(EXERCISES[key], attempt)
    assert finding.status in ("wrong", "raised")
    assert finding.hint_id == hint_id, finding.lines


@pytest.mark.parametrize(("key", "attempt"), cases((key, (entry,)) for key in EXERCISES for entry in RIGHT[key]))
def test_a_right_solution_written_differently_passes(key, attempt):
    finding = found(EXERCISES[key], attempt)
    assert finding.status == "passed", finding


@pytest.mark.parametrize("key", EXERCISES)
def test_every_hint_has_a_planted_solution_and_no_other(key):
    planted = [hint_id for hint_id, _ in WRONG[key]]
    assert set(planted) == set(EXERCISES[key].hint_ids())
    assert len(RIGHT[key]) >= 3
    if key in FUNCTIONS:
        assert len(WRONG[key]) >= 6
        assert NOT_A_FUNCTION in planted


@pytest.mark.parametrize("key", EXERCISES)
def test_two_misconceptions_have_two_texts(key):
    exercise = EXERCISES[key]
    known = exercise.cases if key in FUNCTIONS else exercise.misconceptions
    texts = {(entry.hint_id, entry.hint) for entry in known}
    assert max(Counter(text for _, text in texts).values()) == 1
    assert all(hint.endswith((".", "?", ")")) and len(hint) < 260 for _, hint in texts)


@pytest.mark.parametrize("key", FUNCTIONS)
def test_the_reference_passes_and_the_packages_function_itself_is_no_attempt(key):
    reference = EXERCISES[key].solution()
    assert judge(EXERCISES[key], lambda *args: reference(*args)).status == "passed"
    assert judge(EXERCISES[key], reference).status == "not attempted"


@pytest.mark.parametrize("key", FUNCTIONS)
def test_a_solution_of_our_own_is_shown_as_a_learner_would_write_it(key):
    """With types, a pasted solution would need imports that its cell does not have."""
    solution = EXERCISES[key].solution()
    assert not solution.__module__.startswith("course_utils.exercises") or solution.__annotations__ == {}


@pytest.mark.parametrize("key", FUNCTIONS)
@pytest.mark.parametrize(
    "value", [math.nan, [], torch.tensor([]), torch.tensor([0.5]), [[]], "", 0.5, {}, [math.nan] * 3]
)
def test_constants_never_pass(key, value):
    assert judge(EXERCISES[key], lambda *args: value).status == "wrong"


@pytest.mark.parametrize("key", NUMBERS)
def test_nan_in_a_right_answer_never_passes(key):
    reference = EXERCISES[key].solution()

    def with_nan(*args):
        answer = numbers(reference(*args))
        if answer.size:
            answer.reshape(-1)[-1] = math.nan
        return answer

    assert judge(EXERCISES[key], with_nan).status == "wrong"


@pytest.mark.parametrize("key", NUMBERS)
def test_a_right_answer_of_another_shape_never_passes(key):
    reference = EXERCISES[key].solution()
    for change in (lambda x: x[None], lambda x: x[..., None], lambda x: x.reshape(-1)[:1], lambda x: x.reshape(-1)[:0]):
        finding = judge(EXERCISES[key], lambda *args, change=change: change(numbers(reference(*args))))
        assert finding.status == "wrong", change


@pytest.mark.parametrize("key", FLOATS)
def test_the_tolerance_is_neither_tight_nor_wide(key):
    reference = EXERCISES[key].solution()

    def off_by(amount):
        def attempt(*args):
            answer = reference(*args)
            return None if answer is None else numbers(answer) + amount

        return judge(EXERCISES[key], attempt).status

    wider = {"09.last_token": 1e-4}  # the contract's
    # Near 1000 float32 itself is coarse; where the exercise asks for tiny numbers, only the slack of a float64 is left.
    expected = [case.expect for case in EXERCISES[key].cases]
    stated = wider.get(
        key, min((expect.atol for expect in expected if isinstance(expect, Equals)), default=answers.ATOL)
    )
    atol = stated + answers._SLACK
    assert stated <= 1e-4 and off_by(0.4 * atol) == "passed" and off_by(3 * atol) == "wrong"


def numbers(answer):
    return np.array(answer.detach() if isinstance(answer, torch.Tensor) else answer, dtype=float)


def test_what_cannot_be_changed_needs_no_planted_change():
    can_change = {key for key, exercise in FUNCTIONS.items() if CHANGES_INPUT in exercise.hint_ids()}
    assert {"01.softmax", "07.stop_matcher", "08.paired_difference"} <= can_change
    assert not {"04.causal_mask", "05.kv_bytes", "07.finish_reason", "08.pass_at_k"} & can_change


@pytest.mark.parametrize("key", EXERCISES)
def test_no_hint_tells_the_answer(key):
    exercise = EXERCISES[key]
    known = exercise.cases if key in FUNCTIONS else exercise.misconceptions
    general = "" if key in FUNCTIONS else exercise.general
    told = " ".join([*exercise.hints, general, *(entry.hint for entry in known)])
    assert not re.search(r"0?\.\d\d\d|\b26[89]\b|\b270\b", told)


@pytest.mark.parametrize("key", EXERCISES)
def test_an_exercise_says_how_hard_and_how_long(key):
    exercise = EXERCISES[key]
    assert exercise.difficulty in ("easy", "medium", "hard") and 1 <= exercise.minutes <= 20
    assert len(exercise.hints) >= 2


def test_the_notebooks_say_the_same_of_difficulty_and_minutes():
    said = dict()
    for source in AUTHORING.glob("[0-9]*.py"):
        for key, *rest in re.findall(r"Exercise `(.*?)` · (\w+) · (\d+) minutes", source.read_text(encoding="utf-8")):
            said[key] = (rest[0], int(rest[1]))
    known = {key: (e.difficulty, e.minutes) for key, e in EXERCISES.items()}
    assert len(said) >= 10 and {key: known[key] for key in said} == said


@pytest.mark.parametrize("key", EXERCISES)
def test_an_exercise_and_its_planted_solutions_are_found_by_its_id(key):
    """`03.top_p` is nb03_top_k_top_p/top_p.py, in the package and in tests/wrong_solutions."""
    number, name = key.split(".")
    [own] = EXERCISE_FILES.glob(f"nb{number}_*/{name}.py")
    planted = PLANTED / own.relative_to(EXERCISE_FILES)
    place = ".".join(own.relative_to(EXERCISE_FILES).with_suffix("").parts)
    assert exercises.places()[key] == place and EXERCISES[key].id == key
    assert (AUTHORING / f"{own.parent.name[2:]}.py").is_file()
    plants = [attempt for _, attempt in WRONG[key]] + RIGHT[key]
    files = {inspect.getsourcefile(sys.modules[f"wrong_solutions.{place}"])}
    assert files == {str(planted)} and plants
    defined = {
        attempt.__module__ for attempt in plants if inspect.isfunction(attempt) and inspect.unwrap(attempt) is attempt
    }
    assert {name for name in defined if name.startswith("wrong_solutions")} <= {f"wrong_solutions.{place}"}


def test_every_file_of_an_exercise_is_named_by_its_notebook_and_every_plant_has_an_exercise():
    there = {
        ".".join(path.relative_to(EXERCISE_FILES).with_suffix("").parts) for path in EXERCISE_FILES.glob("nb*/[!_]*.py")
    }
    assert there == set(exercises.places().values())
    planted = {".".join(path.relative_to(PLANTED).with_suffix("").parts) for path in PLANTED.glob("nb*/[!_]*.py")}
    assert planted == there


def test_a_check_and_a_look_at_the_plants_read_one_exercise_only():
    code = """
import sys
from wrong_solutions import WRONG
from course_utils.checking import check
check("03.top_p", WRONG["03.top_p"][0][1])
read = [name for name in sys.modules if name.rpartition(".")[0].rpartition(".")[2].startswith("nb")]
print(*sorted(read))
"""
    paths = os.pathsep.join([str(PLANTED.parent), str(PLANTED.parent.parent)])
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, encoding="utf-8",
                            env={**os.environ, "PYTHONPATH": paths})  # fmt: skip
    read = result.stdout.splitlines()[-1].split()
    assert [name for name in read if name.startswith("course_utils")] == [
        "course_utils.exercises.nb03_top_k_top_p.top_p"
    ]
    planted = {name.rpartition(".")[2] for name in read if name.startswith("wrong_solutions")}
    assert "top_p" in planted and planted <= {"top_p", "top_k"}, result.stderr  # the two share a function


def test_an_exercise_belongs_to_the_notebook_of_its_number():
    for name, keys in exercises.notebooks().items():
        assert keys and all(key.startswith(f"{name[:2]}.") for key in keys)
    assert sum(map(len, exercises.notebooks().values())) == len(EXERCISES)


def test_the_list_of_exercises_does_not_import_torch():
    code = "import sys, course_utils.exercises, course_utils.checking; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0


def test_the_table_in_the_docs_is_fresh():
    assert TARGET.read_text(encoding="utf-8") == table(), "run: python tests/wrong_solutions"


# References equal the package where it has the contract; the cases' inputs do what their comments say.


def test_the_references_equal_the_package():
    logits = torch.tensor(scores(71, 3, 4, 6))
    plain = sampling.SamplingParams()
    ours = EXERCISES["01.softmax"].solution()(logits)
    torch.testing.assert_close(ours, sampling.next_token_probs(logits, plain))
    probs = EXERCISES["02.temperature"].solution()(logits, 0.7)
    torch.testing.assert_close(probs, sampling.next_token_probs(logits, sampling.SamplingParams(0.7)))
    greedy = sampling.next_token_probs(logits, sampling.SamplingParams(greedy=True))
    assert (greedy.gather(-1, EXERCISES["02.greedy"].solution()(logits)[..., None]) == 1).all()


PACKAGE = {
    "01.counts_to_logits": bigram.counts_to_logits,
    "02.repetition_rate": metrics.repetition_rate,
    "03.top_k": sampling.top_k_filter,
    "03.top_p": sampling.top_p_filter,
    "03.min_p": sampling.min_p_filter,
    "04.causal_mask": transformer.causal_mask,
    "05.kv_bytes": kv_cache.kv_cache_bytes,
    "07.finish_reason": stopping.finish_reason,
    "08.pass_at_k": metrics.pass_at_k,
    "09.translate": translate.to_transformers,
}


@pytest.mark.parametrize("key", PACKAGE)
def test_a_reference_answers_each_case_as_the_package_does(key):
    for case in EXERCISES[key].cases:
        args = case.call.args()
        if isinstance(case.expect, Raises):
            with pytest.raises(case.expect.kind):
                PACKAGE[key](*args)
            continue
        ours, theirs = EXERCISES[key].solution()(*args), PACKAGE[key](*args)
        if isinstance(ours, torch.Tensor):
            torch.testing.assert_close(ours.double(), theirs.double())
        else:
            assert ours == pytest.approx(theirs), case.call.shows


def test_hand_arithmetic_behind_the_cases():
    """The figures that the oracles must reproduce, worked out by hand."""
    np.testing.assert_allclose(softmax([2.0, 1.0]), [0.731059, 0.268941], atol=1e-6)
    np.testing.assert_allclose(softmax(np.divide([2.0, 1.0], 0.5)), [0.880797, 0.119203], atol=1e-6)
    np.testing.assert_allclose(softmax(np.divide([2.0, 1.0], 2)), [0.622459, 0.377541], atol=1e-6)
    by_key = {key: {case.hint_id: case for case in exercise.cases} for key, exercise in FUNCTIONS.items()}
    np.testing.assert_allclose(
        by_key["01.counts_to_logits"]["by-hand"].expect.answer, np.log([[0.25, 0.75], [0.5, 0.5]]), atol=1e-12
    )
    assert by_key["03.top_k"]["by-hand"].expect.answer.tolist() == [-math.inf, 3, 2, -math.inf]
    assert by_key["03.top_k"]["ties"].expect.answer.tolist() == [2, 3, -math.inf, -math.inf, -math.inf]
    kept = np.isfinite(by_key["03.top_p"]["threshold"].call.args()[0].numpy()).sum()
    assert kept == 6


def test_no_top_p_case_lies_on_an_edge():
    """The exercise asks for no epsilon, so no running total may come near p. Logits tie only where either may stay.

    But for `reached-p`, whose totals are sums of quarters: they are exact in every dtype and in every way to add up.
    """
    for case in EXERCISES["03.top_p"].cases:
        if case.hint_id == "reached-p":
            assert (softmax(case.call.args()[0].numpy()) == 0.25).all()
            continue
        logits, p = case.call.args()
        probs = softmax(logits.numpy().astype(float)).reshape(-1, logits.shape[-1])
        for row in probs:
            ranked = np.sort(row[row > 0])[::-1]
            totals = ranked.cumsum()[:-1]
            assert p == 1 or (np.abs(totals - p) > 1e-4).all(), case.call.shows
            assert isinstance(case.expect, Holds) or (np.diff(ranked) < 0).all(), case.call.shows


def test_the_total_begins_with_the_likeliest():
    [case] = [case for case in EXERCISES["03.top_p"].cases if case.hint_id == "unsorted"]
    logits, p = case.call.args()
    np.testing.assert_allclose(softmax(logits.numpy()), [0.1, 0.6, 0.3], atol=1e-5)
    assert p == 0.55


def test_the_two_orders_keep_other_tokens():
    logits = np.array([2.5, 1.5, 0.0])
    assert softmax(logits / 0.5)[0] >= 0.8 > softmax(logits)[0]
    assert (
        judge(EXERCISES["03.which_order"], {(0,): "temperature first", (0, 1): "truncation first"}).status == "passed"
    )


def test_the_repetition_rate_by_hand():
    by_hand = {}
    for case in EXERCISES["02.repetition_rate"].cases:
        if isinstance(case.expect, Equals):
            tokens, n = case.call.args()
            by_hand["".join(map(str, tokens)), n] = case.expect.answer
    assert by_hand[("aabab", 2)] == 1 - 3 / 4 and by_hand[("abcabcabd", 3)] == pytest.approx(1 - 4 / 7)
    assert by_hand[("abcdeabcde", 4)] == pytest.approx(1 - 5 / 7)

"""The page's Python under an ordinary one: the same numbers, texts and verdicts as the course's own."""

import math
import random
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from wrong_solutions import RIGHT, WRONG

from course_utils import bigram, generation, kv_cache, randomness, sampling, text
from course_utils.live import attention, charts, checks, counting, distributions, philox, pieces, runner
from course_utils.sampling import SamplingParams
from course_utils.stopping import StopCriteria
from webpage import words

ROOT = Path(__file__).resolve().parent.parent
ENGLISH = words.load("en")
CASES = {
    "02.temperature": distributions.TEMPERATURE,
    "02.repetition_rate": counting.REPETITION_RATE,
    "03.top_k": distributions.TOP_K,
    "03.top_p": distributions.TOP_P,
    "05.kv_bytes": counting.KV_BYTES,
}
NAMES = {"temperature": "probabilities", "filters": "top_p", "bigram": "repetition_rate", "cache": "kv_bytes"}


def starter(piece):
    return words.starter(piece, ENGLISH)


def run(piece, code, guess=None):
    """What the page is told: [(kind, data), …]."""
    told = []
    pieces.run(piece, code, guess, lambda kind, data: told.append((kind, data)))
    return told


def the(told, kind):
    [data] = [data for name, data in told if name == kind]
    return data


def printed(told):
    return "".join(data["text"] for kind, data in told if kind == "out")


@pytest.fixture
def pictures(monkeypatch):
    drawn = []
    monkeypatch.setattr(charts, "show", lambda kind, data: drawn.append(data))
    return drawn


def names_of(piece, monkeypatch):
    """The functions of a starter."""
    monkeypatch.setattr(charts, "show", lambda kind, data: None)
    namespace = {"__name__": "__main__"}
    exec(compile(starter(piece), piece, "exec"), namespace)
    return namespace


# Numbers


def test_uniform_is_that_of_the_course():
    draw = random.Random(5)
    edges = [0, 1, 2**32, 2**53, 2**63, 2**64 - 1]
    for _ in range(3000):
        seed, step, sample = (draw.choice([*edges, draw.getrandbits(64), draw.getrandbits(9)]) for _ in range(3))
        assert philox.uniform(seed, step, sample) == randomness.uniform(seed, step, sample)
    with pytest.raises(ValueError, match="seed is -1"):
        philox.uniform(-1, 0)


def test_the_bigram_writes_the_texts_of_notebook_02(monkeypatch):
    """All 24 seeds and all three temperatures of the notebook's sweep."""
    sample = names_of("bigram", monkeypatch)["sample"]
    vocab = text.CharVocab.from_text(text.load_text("all"))
    model = bigram.BigramLM.fit(vocab.encode_documents(text.load_documents("tales")), len(vocab))
    for temperature in (0.3, 1.0, 2.0):
        params = [SamplingParams(temperature, seed=seed) for seed in range(24)]
        answers = generation.generate_batch(model, vocab, [""] * 24, params, StopCriteria(200, eos=False))
        assert [sample(temperature, seed) for seed in range(24)] == [answer.text for answer in answers]


def test_the_lessons_figures(pictures):
    told = run("temperature", starter("temperature"))
    lines = printed(told).splitlines()
    assert lines == ["T = 0.5 [0.881, 0.119]", "T = 1 [0.731, 0.269]", "T = 2 [0.622, 0.378]"]
    assert pictures[0]["series"]["T = 2"] == pytest.approx([0.622, 0.378], abs=5e-4)
    lines = printed(run("filters", starter("filters"))).splitlines()
    assert lines[2].split()[-3:] == ["0.706", "0.294", "0.000"]
    assert lines[3].endswith("0.466 0.301 0.233") and lines[4].endswith("0.608 0.392 0.000")
    lines = printed(run("cache", starter("cache"))).splitlines()
    assert [line.split(":")[1].strip() for line in lines] == ["True", "21 6", "131,072", "512 MiB", "4 GiB"]


def test_the_two_orders_are_those_of_the_sampler():
    logits = torch.tensor([0.6, 0.25, 0.15]).log()
    first = sampling.next_token_probs(logits, SamplingParams(2.0, top_p=0.8))
    last = sampling.next_token_probs(
        logits, SamplingParams(2.0, top_p=0.8, order=("top_k", "top_p", "min_p", "temperature"))
    )
    assert first.tolist() == pytest.approx([0.466, 0.301, 0.233], abs=5e-4)
    assert last.tolist() == pytest.approx([0.608, 0.392, 0], abs=5e-4)


@pytest.mark.parametrize("piece", pieces.PIECES)
def test_a_starter_passes_its_checks(piece, pictures):
    told = run(piece, starter(piece))
    assert the(told, "verdict") == {"status": "passed"} and pictures
    assert the(told, "guess")["guess"] is None


def test_every_starter_function_agrees_with_the_course_on_200_seeds(monkeypatch):
    names = {key: value for piece in pieces.PIECES for key, value in names_of(piece, monkeypatch).items()}
    for seed in range(200):
        draw = random.Random(seed)
        logits = [draw.uniform(-30, 30) for _ in range(draw.randint(1, 40))]
        temperature, p, k = draw.uniform(0.05, 20), draw.uniform(0.01, 1), draw.randint(1, 45)
        row = torch.tensor(logits, dtype=torch.float64)
        probs = row.softmax(-1).tolist()
        for got, params in (
            (names["probabilities"](logits, temperature), SamplingParams(temperature)),
            (names["top_k"](probs, k), SamplingParams(top_k=k)),
            (names["top_p"](probs, p), SamplingParams(top_p=p)),
        ):
            assert got == pytest.approx(sampling.next_token_probs(row, params).tolist(), abs=1e-9)
        sizes = [draw.randint(0, 99) for _ in range(6)]
        assert names["kv_bytes"](*sizes) == kv_cache.kv_cache_bytes(*sizes)
        tokens = [[draw.uniform(-3, 3), draw.uniform(-3, 3)] for _ in range(draw.randint(1, 9))]
        assert attention.compare_ways(names["without_cache"], names["with_cache"], tokens) is None
        written = names["sample"](draw.choice((0.05, 0.3, 1, 2, 50)), seed, 60)
        assert written and not set(written) & {"\x02", "\x03"}


# Verdicts

TENSORS = {"02.temperature", "03.top_k", "03.top_p"}


def on_lists(key, attempt):
    """A planted solution of a notebook as a function of the page: lists in and out, probabilities for filters."""
    if key == "02.temperature":
        return lambda logits, t: torch.as_tensor(attempt(torch.tensor(logits, dtype=torch.float64), t)).tolist()
    if key in TENSORS:

        def filtered(probs, setting):
            logits = torch.as_tensor(attempt(torch.tensor(probs, dtype=torch.float64).log(), setting))
            logits = logits.masked_fill(logits.isnan(), -math.inf)
            kept = torch.where(logits.isinf(), 0.0, logits.exp())
            return (kept / kept.sum()).tolist() if kept.sum() else kept.tolist()

        return filtered

    def plain(*args):
        answer = attempt(*args)
        return answer.item() if hasattr(answer, "item") else answer

    return plain


def found(key, attempt):
    # Exact sums of probabilities do not survive the logarithm that planted solutions need.
    cases = [case for case in CASES[key] if case.hint != "page/reached"]
    try:
        finding = checks.check("f", on_lists(key, attempt), cases)
    except checks.RaisedInCheck as raised:
        return raised.case.hint
    return finding and finding.hint


def needs_tensors(attempt):
    """Whether the mistake lies in a tensor's axes or in its precision, which lists do not have."""
    inner = [cell.cell_contents for cell in attempt.__closure__ or () if hasattr(cell.cell_contents, "__code__")]
    used = {name for function in (attempt, *inner) for name in function.__code__.co_names}
    return bool(used & {"ndim", "half"}) or "float32" in attempt.__name__


def planted(key):
    """Wrong solutions whose mistake can be made on lists."""
    known = {case.hint.split("/")[1] for case in CASES[key] if case.hint.startswith(key)}
    functions = [(hint_id, attempt) for hint_id, attempt in WRONG[key] if hasattr(attempt, "__code__")]
    known.discard("other-call")  # what such a solution answers depends on the calls of other tests in this process
    return [(hint_id, attempt) for hint_id, attempt in functions if hint_id in known and not needs_tensors(attempt)]


@pytest.mark.parametrize("key", ["02.repetition_rate", "05.kv_bytes", "02.temperature"])
def test_planted_wrong_solutions_get_the_notebooks_hint(key):
    assert len(planted(key)) >= 15
    assert [(attempt.__name__, found(key, attempt)) for hint_id, attempt in planted(key)] == [
        (attempt.__name__, f"{key}/{hint_id}") for hint_id, attempt in planted(key)
    ]


@pytest.mark.parametrize("key", ["03.top_k", "03.top_p"])
def test_planted_wrong_filters_are_caught(key):
    caught = {attempt.__name__: found(key, attempt) for _, attempt in planted(key)}
    assert len(caught) >= 10 and [name for name, hint in caught.items() if hint is None] == []


@pytest.mark.parametrize("key", CASES)
def test_right_solutions_pass(key):
    right = [attempt for attempt in RIGHT[key] if callable(attempt)]
    assert len(right) >= 3
    assert [attempt.__name__ for attempt in right if found(key, attempt)] == []


@pytest.mark.parametrize("key", CASES)
@pytest.mark.parametrize("value", [None, math.nan, [], "", 0.5, {}, [math.nan] * 3, True, [[]]])
def test_a_constant_never_passes(key, value):
    assert checks.check("f", lambda *args: value, CASES[key])
    assert checks.check("f", lambda *args: value, attention.ATTEND)


def test_a_changed_argument_is_seen():
    def sorts(probs, k):
        answer = distributions.top_k(probs, k)
        probs.sort()
        return answer

    assert checks.check("top_k", sorts, distributions.TOP_K).hint == "page/changes-input"


def changed(piece, before, after):
    code = starter(piece)
    assert before in code
    return code.replace(before, after, 1)


WRONG_CHANGES = [
    ("temperature", "logit / temperature", "logit * temperature", "02.temperature/multiplied"),
    ("temperature", "logit / temperature", "logit", "02.temperature/temperature-ignored"),
    ("temperature", "logit / temperature", "logit // temperature", "02.temperature/whole-division"),
    ("temperature", "weight / total", "weight", "02.temperature/not-normalised"),
    ("temperature", "top = max(scaled)", "top = 0", "02.temperature/overflow"),
    ("filters", "-probs[token]", "probs[token]", "page/smallest"),
    ("filters", "ranked(probs)[:k]", "ranked(probs)[: k + 1]", "03.top_k/off-by-one"),
    ("filters", "if total >= p", "if total + probs[token] >= p", "03.top_p/crossing-token"),
    ("filters", "if total >= p", "if total > p", "page/reached"),
    ("filters", "if total >= p", "if total >= 1 - p", "03.top_p/complement"),
    ("filters", "[p / total", "[p", "02.temperature/not-normalised"),
    ("filters", "    kept, total = [], 0.0\n    for token in ranked(probs)",
     "    kept, total = [], 0.0\n    for token in range(len(probs))", "03.top_p/unsorted"),
    ("bigram", "1 - len(set", "len(set", "02.repetition_rate/distinct-share"),
    ("bigram", "len(tokens) - n + 1", "len(tokens) - n", "02.repetition_rate/"),
    ("bigram", "        return None", "        return 0", "02.repetition_rate/none"),
    ("cache", "a_layer = 2 *", "a_layer =", "05.kv_bytes/keys-only"),
    ("cache", "n_layer * a_layer", "a_layer", "05.kv_bytes/layers-missing"),
    ("cache", "/ scale", "/ 1", "page/attend-unscaled"),
    ("cache", "top = max(scores)", "top = 0", "page/attend-overflow"),
    ("cache", "        keys.append(project(KEY, token))", "        keys.append(project(KEY, token))\n"
     "        if len(keys) == 2:\n            keys[0] = keys[1]", "page/cache-differs"),
    ("cache", "tokens[:n]", "tokens", "page/cache-"),
    ("cache", "positions += 1", "positions += 2", "page/cache-work"),
    ("cache", "positions += n", "positions += 1", "page/cache-count"),
    ("cache", "def with_cache(tokens):\n    keys, values, answers, positions = [], [], [], 0",
     "def with_cache(tokens, keys=[], values=[]):\n    answers, positions = [], 0", "page/cache-"),
]  # fmt: skip


@pytest.mark.parametrize(("piece", "before", "after", "hint"), WRONG_CHANGES)
def test_a_change_of_the_starter_gets_its_hint(piece, before, after, hint, pictures):
    told = run(piece, changed(piece, before, after))
    verdict = the(told, "verdict")
    assert verdict["status"] == "wrong" and verdict["hint"].startswith(hint)
    assert verdict["hint"] in words.for_page("en")["hints"]


def test_every_hint_of_the_page_has_a_sentence_and_no_sentence_is_left_over():
    used = {case.hint for piece in pieces.PIECES.values() for cases in piece.functions.values() for case in cases}
    source = (ROOT / "course_utils" / "live" / "attention.py").read_text(encoding="utf-8")
    own = set(ENGLISH["hints"])
    assert used <= set(words.for_page("en")["hints"])
    assert [name for name in own - used if f'"{name}"' not in source] == ["page/changes-input"]


def test_a_function_that_is_gone_is_named(pictures):
    told = run("temperature", "print(1)")
    assert the(told, "verdict") == {"status": "missing", "function": "probabilities"}


# Guesses


@pytest.mark.parametrize(
    ("piece", "guess", "close", "say"),
    [
        ("temperature", 0.88, True, None),
        ("temperature", 0.731, False, "unchanged"),
        ("temperature", 0.62, False, "flatter"),
        ("temperature", 88, False, "above-one"),
        ("temperature", 0.5, False, None),
        ("filters", 0.706, True, None),
        ("filters", 0.75, False, "by-p"),
        ("filters", 0.6, False, "same"),
        ("filters", 1, False, "first-only"),
        ("bigram", 50, False, "above-one"),
        ("cache", 131072, True, None),
        ("cache", 65536, False, "keys"),
        ("cache", 4096, False, "layer"),
        ("cache", 131073, False, None),
    ],
)
def test_a_guess_is_compared_with_what_the_function_gave(piece, guess, close, say, pictures):
    told = the(run(piece, starter(piece), guess), "guess")
    assert (told["close"], told["say"]) == (close, say)
    assert say is None or ENGLISH["pieces"][piece]["say"][say]


def test_the_guess_is_compared_with_the_visitors_own_function(pictures):
    told = run("temperature", changed("temperature", "logit / temperature", "logit * temperature"), 0.622)
    assert the(told, "guess")["result"] == pytest.approx(0.622, abs=5e-4) and the(told, "guess")["close"]
    assert the(told, "verdict")["status"] == "wrong"


# Running


def told_by(code, afterwards=None):
    told = []
    ended = runner.run(code, lambda kind, data: told.append((kind, data)), afterwards)
    return ended, told


@pytest.mark.parametrize(
    ("code", "line", "advice", "last"),
    [
        ("x = 1\n1 / 0", 2, "zero", "ZeroDivisionError: division by zero"),
        ("import math\nmath.exp(1000)", 2, "overflow", "OverflowError: math range error"),
        ("2.0 ** 5000", 1, "overflow", "OverflowError: (34, 'Numerical result out of range')"),
        ("import no_such_module", 1, "module", "ModuleNotFoundError: No module named 'no_such_module'"),
        ("print(1\nx = 2", 1, "syntax", None),
        ("def f():\nreturn 1", 2, "indentation", None),
        ("def f():\n    return g()\n\nf()", 2, "name", "NameError: name 'g' is not defined"),
        ("def f(n):\n    return f(n)\nf(1)", 2, "recursion", None),
        ("import json\n\njson.loads('{')", 3, None, None),
        ("raise KeyboardInterrupt", 1, None, "KeyboardInterrupt"),
    ],
)
def test_an_error_names_the_visitors_line(code, line, advice, last):
    ended, told = told_by(code)
    error = the(told, "error")
    assert not ended and (error["line"], error["advice"]) == (line, advice)
    assert last is None or error["text"].splitlines()[-1] == last
    assert "runner.py" not in error["text"]
    assert advice is None or ENGLISH["advice"][advice]


def test_input_is_refused_kindly(monkeypatch):
    import io

    monkeypatch.setattr(sys, "stdin", io.StringIO(""))
    assert the(told_by("input()")[1], "error")["advice"] == "input"


def test_the_last_value_is_shown_and_names_start_afresh():
    assert printed(told_by("x = 2\nx + 3")[1]) == "5\n"
    assert printed(told_by("None")[1]) == ""
    assert the(told_by("x")[1], "error")["advice"] == "name"


@pytest.mark.parametrize("code", ["while True:\n    print('x' * 50)", "while True:\n    print()",
    "while True:\n    try:\n        print('xyz')\n    except Exception:\n        pass"])  # fmt: skip
def test_a_flood_of_prints_ends_and_is_sent_in_few_messages(code):
    ended, told = told_by(code)
    assert not ended and the(told, "error")["advice"] == "output" and the(told, "error")["text"] == ""
    assert len(printed(told)) <= runner.MOST_CHARACTERS and printed(told).count("\n") <= runner.MOST_LINES
    assert len(told) < 300


def test_streams_come_back_and_an_exit_is_no_error():
    before = sys.stdout, sys.stderr
    ended, told = told_by("import sys\nprint('a')\nprint('b', file=sys.stderr)\nsys.exit()")
    assert ended and (sys.stdout, sys.stderr) == before
    assert [data for kind, data in told if data["text"].strip()] == [
        {"stream": "out", "text": "a"}, {"stream": "err", "text": "b"}]  # fmt: skip
    assert not told_by("import sys\nsys.exit('no')")[0]


def test_an_error_in_a_checked_function_names_its_line(pictures):
    told = run("temperature", changed("temperature", "top = max(scaled)", "top = max(scaled) / (temperature != 2.5)"))
    assert the(told, "error")["advice"] == "zero" and the(told, "error")["line"] == 13
    assert the(told, "verdict")["gave"] is None and the(told, "verdict")["call"] == "probabilities([2, 1], 2.5)"


# Pictures


@pytest.mark.parametrize(
    "arguments",
    [
        (["a"], {"s": [1, 2]}),
        (["a"], {"s": [math.nan]}),
        (["a"], {"s": [-1]}),
        (["a"], {"s": [math.inf]}),
        ([], {}),
        (["a"] * 25, {"s": [1] * 25}),
    ],
)
def test_bars_refuse_what_has_no_bar(arguments):
    with pytest.raises(ValueError, match=r"expected|labels|needs"):
        charts.bars(*arguments)


def test_bars_send_numbers_and_texts_only(pictures):
    charts.bars(["<b>", 2], {"s": [0, 4]}, "t")
    assert pictures == [{"labels": ["<b>", "2"], "series": {"s": [0.0, 4.0]}, "title": "t", "most": 4.0}]
    charts.bars(["a"], {"s": [0]})
    assert pictures[1]["most"] == 1.0


def test_the_standard_library_is_all_that_the_page_needs():
    """With nothing else to import from, as in the browser."""
    script = (
        "import sys; sys.path = [p for p in sys.path if 'site-packages' not in p]; sys.path.insert(0, sys.argv[1])\n"
        "from course_utils.live import pieces\nfrom course_utils import storyworld\n"
        "print(sorted({m.split('.')[0] for m in sys.modules} - sys.stdlib_module_names - {'course_utils', '__main__'}))"
    )
    done = subprocess.run([sys.executable, "-I", "-S", "-c", script, str(ROOT)], capture_output=True, encoding="utf-8")
    assert done.stdout.strip() == "[]", done.stderr

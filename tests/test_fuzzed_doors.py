"""Files and texts from outside, damaged at random: each is refused in words of ours, or read rightly.

Every door gets many inputs, the same in each run: a valid one with entries changed, taken away or added, and with bytes
changed or cut off. An error must be one that the door documents, raised in the course's own code, and say something.
"""

import copy
import json
import random
import signal
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path

import pytest
import torch
from safetensors import safe_open
from safetensors.torch import save_file
from tokenizers import Tokenizer

import course_utils
from course_utils.bpe import BpeVocab
from course_utils.checkpoint import load_model, save_model
from course_utils.generation import generate, reproduce
from course_utils.llama_config import config_to_json, read_config
from course_utils.nbval_plugin import files
from course_utils.sampling import SamplingParams
from course_utils.stopping import StopCriteria
from course_utils.sweep import sweep
from course_utils.text import CharVocab, load_text
from course_utils.tool_calls import Outcome, calculator, read_call, run_call
from course_utils.training.corpus import Corpus
from course_utils.training.trainer import Trainer, TrainingSettings, new_model
from course_utils.transformer import TransformerConfig
from course_utils.workspace import copies
from course_utils.workspace.judge import submissions

OURS = Path(course_utils.__file__).parent
VOCAB = CharVocab.from_text("abc \n")
CONFIG = TransformerConfig(len(VOCAB), 1, 2, 1, 16, 32)
HANGS = 60  # seconds: no input takes one, and a test that hangs should say so
ODD = (
    *(None, True, False, 0, 1, -1, 2**31, 2**63, 10**400, -0.0, 0.5, 1e400, float("nan"), "", "0", "1e-5", "nan"),
    *("default", "linear", "\0", "\ud800", "é" * 50, [], {}, [[]], {"": None}, [None] * 3, {"type": "linear"}),
)


@contextmanager
def no_hang(what):
    """An error if the block never ends, where the system has alarms."""
    if not hasattr(signal, "SIGALRM"):
        yield
        return

    def ring(*_):
        raise AssertionError(f"no end after {HANGS} s: {what!r:.500}")

    before = signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, HANGS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def through(door, given, *documented):
    """What the door gives, or None if it refuses the input as it documents."""
    with no_hang(given):
        try:
            return door()
        except documented as error:
            frame = error.__traceback__
            while frame.tb_next is not None:
                frame = frame.tb_next
            raised_in = Path(frame.tb_frame.f_code.co_filename)
            assert OURS in raised_in.parents, f"{type(error).__name__} from {raised_in}: {error}\nfor {given!r:.500}"
            assert len(str(error)) > 10
            return None
        except Exception as error:
            raise AssertionError(f"{type(error).__name__}: {error}\nfor {given!r:.500}") from error


def changed(document, count, seed=0, odd=ODD):
    """Copies of a JSON document, each with one to three entries replaced, removed, added, or exchanged."""
    chance = random.Random(seed)
    for _ in range(count):
        made = {"": copy.deepcopy(document)}
        for _ in range(chance.randint(1, 3)):
            places = [(made, "")]
            for holder, key in places:  # grows: all places in the document
                inner = holder[key]
                if isinstance(inner, dict):
                    places += [(inner, name) for name in inner]
                elif isinstance(inner, list):
                    places += [(inner, index) for index in range(len(inner))]
            holder, key = chance.choice(places)
            match chance.randrange(4):
                case 0 if holder is not made:
                    del holder[key]
                case 1 if isinstance(holder[key], dict):
                    holder[key][chance.choice(["type", "extra", "", "cells", "rope_scaling"])] = chance.choice(odd)
                case 2:
                    other, name = chance.choice(places)
                    holder[key] = copy.deepcopy(other[name])
                case _:
                    holder[key] = copy.deepcopy(chance.choice(odd))
        yield made[""]


def damaged(data, count, seed=0):
    """Copies of bytes: cut off, or with some replaced, doubled or put in."""
    chance = random.Random(seed)
    for _ in range(count):
        made = bytearray(data)
        for _ in range(chance.randint(1, 3)):
            at = chance.randrange(len(made) + 1)
            match chance.randrange(5):
                case 0:
                    del made[at:]
                case 1:
                    made[at : at + 1] = bytes([chance.randrange(256)])
                case 2:
                    made[at:at] = made[at : at + chance.randint(1, 40)]
                case 3:
                    made[at:at] = chance.choice([b"\0", b"\xef\xbb\xbf", b"[" * 5000, b'"', b"}", b"\n", b"9" * 5000])
                case 4:
                    del made[at : at + chance.randint(1, 20)]
        yield bytes(made)


def as_json(documents):
    return (json.dumps(document).encode() for document in documents)


@pytest.fixture(scope="module")
def model():
    return new_model(VOCAB, CONFIG, seed=0).eval()


@pytest.fixture
def folder(tmp_path, model):
    save_model(model, VOCAB, tmp_path / "model")
    return tmp_path / "model"


def test_config_files(folder):
    path = folder / "config.json"
    right = json.loads(path.read_bytes())
    older = {name: value for name, value in right.items() if name != "rope_parameters"} | {"rope_scaling": None}
    read = 0
    for data in [
        *as_json(changed(right, 250)),
        *as_json(changed(older, 120, seed=1)),
        *damaged(path.read_bytes(), 150),
    ]:
        path.write_bytes(data)
        config = through(lambda: read_config(path), data, ValueError)
        if config is not None:
            said, meant = json.loads(data.decode("utf-8-sig")), config_to_json(config, VOCAB, "float32")
            understood = ("vocab_size", "num_", "hidden_size", "intermediate", "max_", "tie_", "rms_", "rope_theta")
            assert {name: said[name] for name in meant if name in said and name.startswith(understood)}.items() <= (
                meant.items()
            )
            read += 1
            through(lambda: load_model(folder), data, ValueError)
    assert read > 50  # the harmless changes


@pytest.mark.parametrize("name", ["tokenizer.json", "model.safetensors"])
def test_the_other_files_of_a_model(folder, model, name):
    path = folder / name
    right = path.read_bytes()
    given = list(damaged(right, 120)) + (list(as_json(changed(json.loads(right), 200))) if "json" in name else [])
    for data in given:
        path.write_bytes(data)
        loaded = through(lambda: load_model(folder), data, ValueError)
        if loaded is not None:
            found, vocab = loaded
            assert len(vocab) == len(VOCAB) and vocab.decode(vocab.encode("".join(vocab.characters)))
            assert found.state_dict().keys() == model.state_dict().keys()


def test_tokenizers_that_come_from_elsewhere():
    right = json.loads(BpeVocab.train(["a cab. a bac."], 270)._tokenizer.to_str())
    right["added_tokens"].append({**right["added_tokens"][-1], "id": 270, "content": "<user>"})
    kept = 0
    entries = {name: right["model"].pop(name) for name in ("vocab", "merges")}  # so many that only they would change
    for given in changed(right, 400):
        if isinstance(given, dict) and isinstance(given.get("model"), dict):
            given["model"] = entries | given["model"]
        try:
            tokenizer = Tokenizer.from_str(json.dumps(given))
        except KeyboardInterrupt:
            raise
        except BaseException:  # the library's own door, whose panics are not an Exception
            continue
        vocab = through(lambda tokenizer=tokenizer: BpeVocab(tokenizer), given, ValueError)
        if vocab is not None:
            kept += 1
            for text in ("a cab", "naïve 猫\n  <user> b", " \0\t"):
                assert vocab.decode(vocab.encode(text)) == text
    assert kept > 20


def test_reproduction_records(model):
    right = json.loads(json.dumps(generate(model, VOCAB, "ab", SamplingParams(0.9, top_k=4, seed=3)).record()))
    made = 0
    for record in changed(right, 400):
        text = through(lambda record=record: reproduce(model, VOCAB, record), record, ValueError, TypeError)
        if text is not None:
            made += 1
            assert (text.text, list(text.token_ids)) == (record["text"], record["token_ids"])
            assert text.finish_reason.value == record["finish_reason"]
    assert made > 10


def test_files_of_a_sweep(model, tmp_path, recwarn):
    path = tmp_path / "runs.jsonl"

    def table():
        settings = {"a": SamplingParams(), "b": SamplingParams(0.5)}
        return sweep(
            *(model, VOCAB, ["a", "b"], settings, [1, 2], {"size": lambda text: len(text.text)}, StopCriteria(3)),
            keep=path, progress=False,
        )  # fmt: skip

    right = table()
    first, *rows = path.read_bytes().splitlines()
    kept = 0
    given = [b"\n".join([data, *rows, b""]) for data in as_json(changed(json.loads(first), 40))]
    for number, data in enumerate(as_json(changed(json.loads(rows[0]), 120))):
        given.append(b"\n".join([first, data, *rows[1 + number % 8 :], b""]))
    given += damaged(path.read_bytes(), 80)
    for data in given:
        path.write_bytes(data)
        found = through(table, data, ValueError)
        if found is not None:
            kept += 1
            key = ["problem", "prompt", "setting", "seed", "sample"]
            assert found[key].equals(right[key]) and list(found) == list(right)
            assert found["finish_reason"].isin(["EOS", "LENGTH", "CONTEXT"]).all()
            assert set(map(type, found["text"])) == {str} and (found["n_tokens"] >= 0).all()
            assert found["error"].isna().all()
            found.groupby("setting")["size"].apply(list)
        else:
            assert path.read_bytes() == data  # left as it was
    assert kept > 100


def test_checkpoints_of_a_training(tmp_path):
    path = tmp_path / "training.safetensors"

    def trainer():
        return Trainer(new_model(VOCAB, CONFIG, 0), Corpus(VOCAB, [["ab ba", "cab"]], 32), TrainingSettings(3, (2,)))

    begun = trainer()
    begun.take_step()
    begun.save(path)
    right = path.read_bytes()
    with safe_open(path, "pt") as file:
        metadata, tensors = file.metadata(), {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    expected = begun.take_step()
    chance = random.Random(0)

    def go_on():
        again = trainer()
        again.resume(path)
        return again, again.take_step() if again.step < 3 else None

    def check(given):
        if (found := through(go_on, given, ValueError)) is not None:
            again, loss = found
            assert all(isinstance(number, float) for number in again.losses) and again.n_tokens >= 0
            if again.step == 2:
                assert loss == pytest.approx(expected, rel=0.5) and torch.isfinite(torch.tensor(loss))

    odd = [json.dumps(value) for value in ODD] + ["", "{", "[1.5]", '["1"]', "[1e400]", "12", "-5", "[0.5, 0.5, 0.5]"]
    for name in (*metadata, "extra"):
        for value in odd:
            save_file(tensors, path, metadata=metadata | {name: value})
            check((name, value))
    names = list(tensors)
    for name in names:
        for number in range(2):
            made = dict(tensors)
            tensor = made.pop(name)
            other = ["extra", f"2.{name}", f"0.junk.{name.partition('.')[2]}", "model", "1.step", chance.choice(names)]
            if number:
                made[chance.choice(other)] = tensor if number == 1 else torch.zeros(chance.randint(0, 2), 3)
            save_file(made, path, metadata=metadata)
            check((name, sorted(made.keys() - tensors.keys())))
    for data in damaged(right, 100):
        path.write_bytes(data)
        check(data)


def test_calls_of_tools():
    chance = random.Random(0)
    pieces = ['{"tool": "', "add", "subtract", '"', ", ", '"args": [', "1", "2", "-3", "]", "}", "1.0", "true", "1e999"]
    pieces += ["\\ud800", "9" * 150, "NaN", " ", "\n", "null", '{"tool": "add", "args": [1, 2]}', "[", "{", ":", "\0"]
    texts = ["".join(chance.choices(pieces, k=chance.randint(1, 9))) for _ in range(3000)]
    texts += [
        data.decode("utf-8", "surrogateescape") for data in damaged(b'{"tool": "subtract", "args": [7, -2]}', 500)
    ]
    texts += [json.dumps(call) for call in changed({"tool": "add", "args": [1, 2]}, 1500)]
    ran = 0
    for text in texts:
        call = through(lambda text=text: read_call(text), text)
        outcome, result = through(lambda text=text: run_call(text, calculator), text)
        assert (outcome is Outcome.RAN) is (result is not None)
        if call is None:
            assert outcome is not Outcome.RAN
        elif outcome is Outcome.RAN:
            ran += 1
            said = json.loads(text)
            one, two = said["args"]
            assert call == (said["tool"], [one, two])
            assert int(result) == {"add": one + two, "subtract": one - two, "multiply": one * two}[said["tool"]]
    assert ran > 50


def test_texts(tmp_path):
    path = tmp_path / "mine.txt"
    whole = "Ün texte.\n\n猫 😀\r\nZwei.\n".encode()
    for data in [*damaged(whole, 400), *damaged(whole.decode().encode("utf-16"), 100)]:
        path.write_bytes(data)
        text = through(lambda: load_text(path), data, ValueError)
        if text is not None:
            vocab = CharVocab.from_text(text)
            assert vocab.decode(vocab.encode(text)) == text
            assert text == data.decode("utf-8-sig").replace("\r\n", "\n").replace("\r", "\n")


def notebook():
    def cell(kind, name, source, *tags):
        more = {"outputs": [], "execution_count": None} if kind == "code" else {}
        return {"cell_type": kind, "id": name, "metadata": {"tags": list(tags)}, "source": source, **more}

    return {
        "nbformat": 4, "nbformat_minor": 5, "metadata": {"course": {"notebook": "00_start_here"}},
        "cells": [
            cell("markdown", "title", "# A title"),
            cell("code", "imports", ["from course_utils.checking import check\n", "1"]),
            cell("code", "answer", "first_answer = 269", "exercise:00.first_answer"),
            cell("code", "verdict", 'check("00.first_answer", first_answer)', "check:00.first_answer"),
            cell("code", "mine", "print('mine')"),
        ],
    }  # fmt: skip


def bad_notebooks():
    whole = json.dumps(notebook()).encode()
    return [*as_json(changed(notebook(), 100)), *damaged(whole, 60)]


@pytest.mark.filterwarnings("ignore::nbformat.validator.MissingIDFieldWarning")
def test_notebooks_that_are_looked_at_as_data(tmp_path):
    path = tmp_path / "00_start_here.ipynb"
    for data in bad_notebooks():
        path.write_bytes(data)
        name = through(lambda: files.find_notebook(path), data)
        assert name is None or isinstance(name, str)
        through(lambda: files.exercises_to_judge(path, "00_start_here"), data)
        unreadable = through(lambda: files.why_unreadable(path), data)
        assert unreadable is None or unreadable.endswith(".")
        found, left_out = through(lambda: submissions.find(tmp_path), data)
        assert len(found) + len(left_out) == 1


def test_copies_that_are_brought_up_to_date(tmp_path):
    shipped, mine = tmp_path / "notebooks", tmp_path / "my_notebooks"
    shipped.mkdir()
    newer = notebook()
    newer["cells"][0]["source"] = "# Another title"
    (shipped / "00_start_here.ipynb").write_text(json.dumps(newer), encoding="utf-8", newline="\n")
    path = mine / "00_start_here.ipynb"
    updated = 0
    for data in bad_notebooks():
        mine.mkdir(exist_ok=True)
        path.write_bytes(data)
        through(lambda: copies.fill(shipped, mine), data)
        said = through(lambda: copies.update("00", shipped, mine), data, ValueError)
        kept = [copy.read_bytes() for copy in mine.glob("*.ipynb")]
        assert data in kept, "a learner's writing is never lost"
        if said is not None and len(kept) > 1:
            updated += 1
            assert json.loads(path.read_bytes())["cells"]
        for copy_of in mine.iterdir():
            copy_of.unlink()
    assert updated > 30


def test_one_run_collects_whatever_notebooks_there_are(tmp_path):
    for number, data in enumerate(bad_notebooks()):
        (tmp_path / f"{number:03}.ipynb").write_bytes(data)
    (tmp_path / "999.ipynb").write_text(json.dumps(notebook()), encoding="utf-8", newline="\n")
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-o", "addopts=", "--nbval-lax", "-q"]
    done = subprocess.run(
        [*command, "--collect-only", f"--rootdir={tmp_path}", str(tmp_path)],
        cwd=tmp_path, capture_output=True, encoding="utf-8", timeout=10 * HANGS,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout[-3000:]
    assert "999.ipynb::00.first_answer" in done.stdout and "Traceback" not in done.stdout + done.stderr

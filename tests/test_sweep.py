"""Sweeps: the same table on one core, on several, on a cluster and after an interruption; errors are rows."""

import json
import math
import os
import subprocess
import sys
from dataclasses import replace
from types import SimpleNamespace

import joblib
import numpy as np
import pandas as pd
import pytest
import torch
from joblib._parallel_backends import SequentialBackend
from torch import nn

from course_utils.bigram import BigramLM
from course_utils.generation import generate
from course_utils.ngram import NgramLM
from course_utils.quantised_cache import Int8CacheModel
from course_utils.sampling import SamplingParams
from course_utils.speculative import speculate
from course_utils.stopping import StopCriteria
from course_utils.sweep import store, sweep
from course_utils.text import CharVocab
from course_utils.transformer import Transformer, TransformerConfig

VOCAB = CharVocab("abc ")
PROMPTS = ["", "a", "ab", "cab", "b a c"]
SETTINGS = {"cold": SamplingParams(0.5), "hot": SamplingParams(1.5, top_k=4)}
STOPPING = StopCriteria(6)


def length(generated):
    return len(generated.text)


def share_of_a(generated):
    return np.float64(generated.text.count("a") / max(len(generated.text), 1))


METRICS = {"length": length, "share_of_a": share_of_a}


@pytest.fixture(scope="module")
def model():
    torch.manual_seed(1)
    model = Transformer(TransformerConfig(len(VOCAB), 1, 2, 1, 8, 64)).eval()
    with torch.no_grad():
        model.head.weight.mul_(20)
    return model


def run(model, prompts=PROMPTS, settings=SETTINGS, seeds=(0, 1, 7), **options):
    options = {"metrics": METRICS, "stopping": STOPPING, "batch_size": 4, "progress": False, **options}
    return sweep(model, VOCAB, prompts, settings, seeds, **options)


@pytest.fixture(scope="module")
def table(model):
    return run(model)


def assert_same(a, b):
    pd.testing.assert_frame_equal(a, b, check_exact=True)


# --- the table


def test_every_cell_is_a_row_in_order(table):
    want = [(name, seed, number) for name in SETTINGS for seed in (0, 1, 7) for number in range(5)]
    assert list(zip(table.setting, table.seed, table.problem, strict=True)) == want
    assert (table.prompt == [PROMPTS[number] for number in table.problem]).all()
    assert (table["sample"] == table.problem).all() and table.error.isna().all()
    assert set(zip(table.setting, table.temperature, table.top_k.fillna(0), strict=True)) == {
        ("cold", 0.5, 0),
        ("hot", 1.5, 4),
    }
    assert (table.length == table.text.str.len()).all() and (table.n_tokens <= 6).all()
    assert set(table.finish_reason) == {"EOS", "LENGTH"}
    assert table.share_of_a.dtype == np.float64 and table.text.nunique() > 10


def test_a_row_holds_what_makes_its_text_again(model, table):
    for row in table.sample(8, random_state=1).itertuples():
        params = replace(SETTINGS[row.setting], seed=row.seed)
        again = generate(model, VOCAB, row.prompt, params, STOPPING, sample=row.sample)
        assert (again.text, again.finish_reason.name, len(again.token_ids)) == (
            row.text,
            row.finish_reason,
            row.n_tokens,
        )


@pytest.mark.parametrize("batch_size", [1, 7, 100])
def test_a_text_does_not_depend_on_its_neighbours(model, table, batch_size):
    assert_same(run(model, batch_size=batch_size), table)
    one = run(model, settings={"hot": SETTINGS["hot"]}, seeds=(7,), batch_size=batch_size)
    assert_same(one, table[(table.setting == "hot") & (table.seed == 7)].reset_index(drop=True))


def test_settings_share_their_random_numbers_and_prompts_do_not():
    """With the uniform distribution a text is its random numbers."""
    flat = BigramLM(torch.zeros(len(VOCAB), len(VOCAB)))
    two = {"one": SamplingParams(1.0), "same": SamplingParams(1.0, top_k=None)}
    table = run(flat, ["a", "a", "a"], two, range(4), stopping=StopCriteria(12, eos=False))
    one, same = (table[table.setting == name] for name in two)
    assert list(one.text) == list(same.text)
    assert one.text.nunique() == 12  # equal prompts, other draws


def test_seed_0_is_a_seed_and_none_is_none(model, table):
    assert_same(run(model, seeds=(0,)), table[table.seed == 0].reset_index(drop=True))
    assert list(run(model, seeds=(0,)).text) != list(run(model, seeds=(1,)).text)
    with pytest.raises(ValueError, match="None"):
        run(model, seeds=(None,))  # a constant in its place would give copies of one sample


def test_greedy_draws_no_random_number(model, monkeypatch):
    def no_draws(**coordinates):
        raise AssertionError("a random number was drawn")

    monkeypatch.setattr(np.random, "Philox", no_draws)
    greedy = run(model, settings={"greedy": SamplingParams(0)}, seeds=(0,))
    assert greedy.error.isna().all()
    with pytest.warns(UserWarning, match="cells failed"):
        assert run(model, seeds=(0,)).error.str.contains("a random number was drawn").all()


def test_copies_of_a_greedy_answer_are_no_evidence(model):
    with pytest.warns(UserWarning, match="3 copies of one text"):
        table = run(model, settings={"greedy": SamplingParams(0)})
    assert (table.groupby("problem").text.nunique() == 1).all()


# --- more than one process, and a cluster


def test_the_table_is_the_same_on_two_cores(model, table):
    assert_same(run(model, n_jobs=2), table)


def test_the_table_is_the_same_in_threads_and_in_a_backend_that_cannot_stream(model, table):
    with joblib.parallel_config(backend="threading", n_jobs=2):
        assert_same(run(model), table)

    class WavesOnly(SequentialBackend):
        supports_return_generator = False
        supports_retrieve_callback = False

    joblib.register_parallel_backend("waves only", WavesOnly)
    with joblib.parallel_config(backend="waves only"):
        assert_same(run(model, batch_size=2), table)


def test_the_table_is_the_same_on_a_dask_cluster_of_two_workers(model, table, tmp_path):
    distributed = pytest.importorskip("distributed")
    kept = tmp_path / "kept.jsonl"
    with (
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster,
        distributed.Client(cluster) as client,
        joblib.parallel_config(backend="dask"),
    ):
        assert len(client.ncores()) == 2
        assert_same(run(model, keep=kept), table)
        where = client.run(lambda: "course_utils.sweep" in __import__("sys").modules)
        assert any(where.values())  # it was the workers that computed
    assert_same(run(model, keep=kept), table)


def test_threads_of_torch_are_put_back(model):
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    try:
        seen = run(model, metrics={"threads": lambda generated: torch.get_num_threads()})
        assert set(seen.threads) == {1} and torch.get_num_threads() == 2
    finally:
        torch.set_num_threads(before)


# --- results are kept


def interrupted_after(n, counted):
    def metric(generated):
        counted.append(generated.prompt)
        if len(counted) > n:
            raise KeyboardInterrupt
        return length(generated)

    return {"length": metric, "share_of_a": share_of_a}


def test_an_interrupted_sweep_goes_on_and_loses_nothing(model, table, tmp_path):
    kept, counted = tmp_path / "new folder" / "kept.jsonl", []
    with pytest.raises(KeyboardInterrupt):
        run(model, keep=kept, metrics=interrupted_after(18, counted))
    assert len(kept.read_text(encoding="utf-8").splitlines()) == 1 + 16  # four batches of four
    counted.clear()
    assert_same(run(model, keep=kept, metrics=interrupted_after(14, counted)), table)
    assert len(counted) == 14
    counted.clear()
    assert_same(run(model, keep=kept, metrics=interrupted_after(0, counted)), table)
    assert counted == []  # all was there


@pytest.mark.parametrize("cut", [1, 25, 80])
def test_a_line_that_was_cut_is_computed_again(model, table, tmp_path, cut):
    kept = tmp_path / "kept.jsonl"
    run(model, keep=kept)
    content = kept.read_text(encoding="utf-8")
    kept.write_text(content[:-cut], encoding="utf-8", newline="\n")
    assert_same(run(model, keep=kept), table)
    assert sorted(kept.read_text(encoding="utf-8").splitlines()) == sorted(content.splitlines())


def test_a_broken_line_in_the_middle_costs_its_cell_only(model, table, tmp_path):
    kept = tmp_path / "kept.jsonl"
    run(model, keep=kept)
    lines = kept.read_text(encoding="utf-8").splitlines()
    lines[5] = lines[5][:20] + lines[6]
    del lines[6]
    kept.write_text("\n".join(lines), encoding="utf-8", newline="\n")
    assert_same(run(model, keep=kept), table)


def test_an_empty_file_is_as_good_as_none(model, table, tmp_path):
    kept = tmp_path / "kept.jsonl"
    kept.touch()
    assert_same(run(model, keep=str(kept)), table)


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("prompts", {"prompts": [*PROMPTS[:-1], "b"]}),
        ("settings", {"settings": {"cold": SamplingParams(0.6), "hot": SETTINGS["hot"]}}),
        ("settings", {"settings": {"cold": SETTINGS["cold"], "warm": SETTINGS["hot"]}}),
        ("seeds", {"seeds": (0, 1, 8)}),
        ("metrics", {"metrics": {"length": length}}),
        ("stopping", {"stopping": StopCriteria(7)}),
        ("batch_size", {"batch_size": 5}),
    ],
)
def test_a_file_of_another_sweep_is_refused_and_left_alone(model, tmp_path, name, change):
    kept = tmp_path / "kept.jsonl"
    run(model, keep=kept)
    before = kept.read_bytes()
    with pytest.raises(ValueError, match=f"with other {name}"):
        run(model, keep=kept, **change)
    assert kept.read_bytes() == before


def ngrams(text):
    return NgramLM.fit(VOCAB.encode(text), 3, len(VOCAB))


@pytest.mark.parametrize("wrapped", [Int8CacheModel, lambda model: speculate(Int8CacheModel(model), model, 2), ngrams])
def test_models_that_are_not_modules_are_known_by_their_weights_too(model, tmp_path, wrapped):
    keep, other = tmp_path / "sweep.jsonl", Transformer(model.config).eval()
    first, second = ("abc abc", "cab bac") if wrapped is ngrams else (model, other)
    table = run(wrapped(first), keep=keep, batch_size=1)
    assert_same(run(wrapped(first), keep=keep, batch_size=1), table)
    with pytest.raises(ValueError, match="was begun with other model and vocabulary"):
        run(wrapped(second), keep=keep, batch_size=1)


@pytest.mark.parametrize(
    "names", [np.arange(1, 3), (1, 2.5), ("1", 1), (np.float64(0.5), np.str_("b")), ("é", "\udcff")]
)
def test_the_names_of_settings_may_be_numbers(model, tmp_path, names):
    settings = {name: SamplingParams(top_k=k) for k, name in enumerate(names, 1)}
    kept = tmp_path / "kept.jsonl"
    first = run(model, ["a"], settings, [1], keep=kept)
    content = kept.read_bytes()
    assert list(first.setting) == list(settings) and list(first.top_k) == [1, 2]
    assert_same(run(model, ["a"], settings, [1], keep=kept), first)
    assert kept.read_bytes() == content  # nothing was computed again


def test_the_order_of_settings_is_part_of_a_sweep(model, tmp_path):
    kept = tmp_path / "kept.jsonl"
    run(model, keep=kept)
    with pytest.raises(ValueError, match="with other settings"):
        run(model, keep=kept, settings=dict(reversed(SETTINGS.items())))


def test_numpys_seeds_and_a_series_of_prompts_are_plain_ones(model, table, tmp_path):
    kept = tmp_path / "kept.jsonl"
    run(model, keep=kept)
    assert_same(run(model, pd.Series(PROMPTS), seeds=np.array([0, 1, 7]), keep=kept), table)


ROW = {"problem": 0, "setting": "cold", "text": "x", "finish_reason": "EOS", "n_tokens": 1, "error": None}
ARGUMENTS = {"prompts": "1234"}


def test_a_file_in_use_is_refused_and_no_row_is_lost(tmp_path):
    path = tmp_path / "kept.jsonl"
    with store.Store(path, ARGUMENTS) as first:
        first.add([ROW | {"seed": 1}])
        with pytest.raises(ValueError, match=r"kept.jsonl is in use: another run is adding to it"):
            store.Store(path, ARGUMENTS).__enter__()
        first.add([ROW | {"seed": seed} for seed in (2, 3)])
    assert list(store.Store(path, ARGUMENTS).rows) == [(0, "cold", seed) for seed in (1, 2, 3)]
    with store.Store(path, ARGUMENTS) as second:
        assert second.add([ROW | {"seed": 3}, ROW | {"seed": 4}]) == 1
    assert len(store.Store(path, ARGUMENTS).rows) == 4


def test_rows_that_came_between_reading_and_locking_are_kept(tmp_path):
    path = tmp_path / "kept.jsonl"
    early = store.Store(path, ARGUMENTS)
    with store.Store(path, ARGUMENTS) as other:
        other.add([ROW | {"seed": 1}])
    with early:
        assert early.add([ROW | {"seed": 1}]) == 0 and early.add([ROW | {"seed": 2}]) == 1
    assert len(store.Store(path, ARGUMENTS).rows) == 2


def test_a_lock_ends_with_the_sweep_or_the_process_that_holds_it(tmp_path):
    path = tmp_path / "kept.jsonl"
    with pytest.raises(KeyboardInterrupt), store.Store(path, ARGUMENTS):
        raise KeyboardInterrupt
    code = (
        "import os, sys; from course_utils.sweep.store import Store\n"
        f"store = Store({str(path)!r}, {ARGUMENTS}).__enter__()\n"
        "print('locked', flush=True); sys.stdin.read(1); os._exit(9)"
    )
    with subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as other:
        assert other.stdout.readline().strip() == b"locked"
        with pytest.raises(ValueError, match="in use"):
            store.Store(path, ARGUMENTS).__enter__()
        other.communicate(b"x")
    with store.Store(path, ARGUMENTS):
        pass
    other = store.Store(path, ARGUMENTS)
    path.write_text("notes of mine", encoding="utf-8", newline="\n")
    for _ in range(2):  # an error while entering leaves no lock
        with pytest.raises(ValueError, match="not a file of a sweep"):
            other.__enter__()


def test_a_sweep_is_refused_a_file_in_use_before_anything_is_computed(model, tmp_path):
    kept, computed = tmp_path / "kept.jsonl", []

    def counting(generated):
        computed.append(generated)
        if len(computed) == 1:
            with pytest.raises(ValueError, match="in use"):
                run(model, keep=kept, metrics={"count": counting})
        return len(computed)

    assert len(run(model, keep=kept, metrics={"count": counting})) == 30 == len(computed)


def test_the_home_folder_may_be_written_as_in_a_shell(model, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("USERPROFILE", str(tmp_path / "home"))
    run(model, ["a"], seeds=[1], keep="~/of mine/kept.jsonl")
    assert os.listdir(tmp_path) == ["home"] and (tmp_path / "home" / "of mine" / "kept.jsonl").is_file()


@pytest.mark.parametrize(
    "damage",
    [
        {"seed": "7"},
        {"problem": None},
        {"setting": ["cold"]},
        {"text": None},
        {"n_tokens": 1.5},
        {"error": "no memory"},
    ],
)
def test_a_row_that_is_none_is_computed_again(model, table, tmp_path, damage):
    kept = tmp_path / "kept.jsonl"
    run(model, keep=kept)
    header, *rows = kept.read_text(encoding="utf-8").splitlines()
    rows[0] = json.dumps(json.loads(rows[0]) | damage)
    rows[1] = json.dumps({name: value for name, value in json.loads(rows[1]).items() if name != "length"})
    rows += ["[" * 100_000, "9" * 5000, "{}", '{"problem": 0}']
    kept.write_text("\n".join([header, *rows]), encoding="utf-8", newline="\n")
    assert_same(run(model, keep=kept), table)


@pytest.mark.parametrize("first", ['{"what": "%s"}', '{"what": "%s", "arguments": []}', "[" * 100_000, "9" * 5000])
def test_a_first_line_that_is_no_header_is_refused(model, tmp_path, first):
    kept = tmp_path / "kept.jsonl"
    kept.write_text(first.replace("%s", store.KIND), encoding="utf-8", newline="\n")
    with pytest.raises(ValueError, match="not a file of a sweep"):
        run(model, keep=kept)
    with pytest.raises(ValueError, match="is a folder"):
        run(model, keep=tmp_path)


@pytest.mark.filterwarnings("ignore:.*cells failed")
def test_a_number_that_a_file_cannot_hold_is_told_in_its_row(model):
    found = run(model, ["a"], seeds=[1], metrics={"huge": lambda generated: 10**5000})
    assert found.error.str.startswith("metric huge: ValueError").all()


def test_a_file_of_another_model_is_refused(model, tmp_path):
    kept = tmp_path / "kept.jsonl"
    run(model, keep=kept)
    torch.manual_seed(2)
    other = Transformer(model.config).eval()
    with pytest.raises(ValueError, match="with other model and vocabulary"):
        run(other, keep=kept)


def test_a_file_that_is_no_sweep_is_refused_and_left_alone(model, tmp_path):
    for content in ("notes of mine\n", '{"a": 1}\n', "[1, 2]\n", "\n"):
        kept = tmp_path / "notes.txt"
        kept.write_text(content, encoding="utf-8", newline="\n")
        with pytest.raises(ValueError, match="not a file of a sweep"):
            run(model, keep=kept)
        assert kept.read_text(encoding="utf-8") == content


def test_a_file_from_before_the_parameters_were_renamed_is_refused_and_says_so(model, tmp_path):
    kept = tmp_path / "kept.jsonl"
    run(model, keep=kept)
    header, *rows = kept.read_text(encoding="utf-8").splitlines()
    older = {name: value for name, value in json.loads(header).items() if name != "format"}
    content = "\n".join([json.dumps(older), *rows, ""])
    kept.write_text(content, encoding="utf-8", newline="\n")
    with pytest.raises(ValueError, match=r"has the format 1; expected 2\. .*parameters have other names"):
        run(model, keep=kept)
    assert kept.read_text(encoding="utf-8") == content


def test_a_plan_of_a_model_is_known_by_the_models_weights_and_as_a_plan(model):
    def known_as(model):
        arguments = (["p"], SETTINGS, [1], [], StopCriteria(), 4)
        return store.digests(model, VOCAB, *arguments)["model and vocabulary"]

    torch.manual_seed(2)
    plan, other = SimpleNamespace(planned_from=model), SimpleNamespace(planned_from=Transformer(model.config).eval())
    assert len({known_as(model), known_as(plan), known_as(other)}) == 3
    assert known_as(plan) == known_as(SimpleNamespace(planned_from=model))


def test_the_file_is_plain_json(model, tmp_path):
    kept = tmp_path / "kept.jsonl"
    run(model, keep=kept)
    header, *rows = [json.loads(line) for line in kept.read_text(encoding="utf-8").splitlines()]
    assert header["what"] == store.KIND and len(rows) == 30
    assert rows[0].keys() == {"problem", "setting", "seed", "text", "finish_reason", "n_tokens", "error", *METRICS}


# --- errors


@pytest.mark.filterwarnings("ignore:.*cells failed")
def test_a_failing_cell_is_a_row_and_the_others_go_on(model, table):
    broken = run(model, ["", "a", "é", "cab", "b a c"])
    bad = broken.problem == 2
    assert broken[bad].error.str.startswith("ValueError: The character 'é'").all()
    assert broken[bad][["text", "finish_reason", "n_tokens", "length"]].isna().all(axis=None)
    assert broken[~bad].error.isna().all()
    assert list(broken[~bad].text) == list(table[table.problem != 2].text)


class Poisoned(nn.Module):
    """Scores that are NaN after a "c"."""

    def new_cache(self, batch_size=1):
        return None

    def forward(self, token_ids, cache=None, attention_mask=None):
        logits = torch.zeros(*token_ids.shape, len(VOCAB))
        logits[token_ids == VOCAB.ids["c"]] = math.nan
        return logits


@pytest.mark.filterwarnings("ignore:.*cells failed")
def test_nan_logits_cost_their_cells_only():
    table = run(Poisoned(), ["a", "ac", "b"], {"plain": SamplingParams()}, stopping=StopCriteria(1))
    assert table.error.isna().tolist() == [True, False, True] * 3
    assert table.error[1].startswith("ValueError: Token 0 after the prompt 'ac'")


@pytest.mark.filterwarnings("ignore:.*cells failed")
def test_a_bad_metric_is_told_in_its_row(model, table):
    def some(generated):
        return 1 / (len(generated.prompt) - 1)

    found = run(model, metrics={"bad": some, "worse": lambda generated: [1], "length": length})
    fails = found.prompt == "a"
    assert found[fails].error.str.startswith("metric bad: ZeroDivisionError").all()
    assert found.error.str.contains("metric worse: TypeError: it gave a list").all()
    assert found[fails].bad.isna().all() and found[~fails].bad.notna().all()
    assert list(found.text) == list(table.text) and list(found.length) == list(table.length)


def test_what_failed_is_tried_again(model, table, tmp_path):
    kept = tmp_path / "kept.jsonl"

    def fails(generated):
        raise RuntimeError("no memory")

    with pytest.warns(UserWarning, match="30 of 30 cells failed"):
        run(model, keep=kept, metrics={"length": fails, "share_of_a": share_of_a})
    assert_same(run(model, keep=kept), table)
    assert_same(run(model, keep=kept), table)


@pytest.mark.parametrize(
    ("change", "error", "match"),
    [
        ({"prompts": "abc"}, TypeError, "prompts"),
        ({"prompts": [1]}, TypeError, "prompts"),
        ({"prompts": []}, ValueError, "nothing to do"),
        ({"settings": [SamplingParams()]}, TypeError, "settings"),
        ({"settings": {"T = 1": 1.0}}, TypeError, "settings"),
        ({"settings": {}}, ValueError, "nothing to do"),
        ({"settings": {"a": SamplingParams(seed=1)}}, ValueError, "has a seed"),
        ({"seeds": []}, ValueError, "nothing to do"),
        ({"seeds": (1, 1)}, ValueError, "each seed once"),
        ({"seeds": (-1,)}, ValueError, "seed is -1"),
        ({"metrics": {"text": length}}, ValueError, "a column already"),
        ({"batch_size": 0}, ValueError, "batch_size is 0"),
        ({"batch_size": 2.5}, TypeError, "batch_size is 2.5"),
        ({"prompts": {"a", "b"}}, TypeError, "prompts is of type set"),
        ({"seeds": {1, 2}}, TypeError, "seeds is of type set"),
        ({"seeds": "12"}, TypeError, "seeds is of type str"),
        ({"seeds": (1.0,)}, TypeError, "seed is 1.0"),
        ({"settings": {("a", 1): SamplingParams()}}, TypeError, r"settings has the name \('a', 1\)"),
        ({"settings": {None: SamplingParams()}}, TypeError, "settings has the name None"),
        ({"settings": {math.nan: SamplingParams()}}, TypeError, "settings has the name nan"),
        ({"metrics": {1: length}}, TypeError, "A metric is called 1; expected a str"),
    ],
)
def test_arguments_that_make_no_sense_are_refused_before_anything_runs(change, error, match):
    with pytest.raises(error, match=match):
        run(None, **change)


def test_the_bar_counts_texts_and_begins_where_the_file_ends(model, tmp_path, capsys):
    kept = tmp_path / "kept.jsonl"
    run(model, keep=kept, progress=True)
    assert "30/30" in capsys.readouterr().err
    run(model, keep=kept, progress=True)
    assert "30/30" in capsys.readouterr().err
    run(model, keep=kept)
    assert capsys.readouterr().err == ""

"""The loop with models whose every call is recorded, and the bigram's texts on every path to them."""

import json
import os
import secrets
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from script_models import NoModel, PieceVocab, ScriptModel, saying
from torch import nn

from course_utils.bigram import BigramLM
from course_utils.generation import Chunk, generate, generate_batch, stream
from course_utils.generation import row as row_module
from course_utils.generation.batch import Batch
from course_utils.randomness import uniform
from course_utils.sampling import SamplingParams, choose, draw, next_token_probs
from course_utils.stopping import FinishReason, StopCriteria
from course_utils.text import CharVocab
from course_utils.transformer import Transformer, TransformerConfig

GREEDY = SamplingParams(greedy=True)
PARAMS = [
    SamplingParams(seed=42),
    SamplingParams(0.7, top_k=5, seed=0),
    SamplingParams(1.5, top_p=0.9, min_p=0.02, seed=2**64 - 1),
    GREEDY,
]
CORPUS = [
    "the cat sat on the mat.\nthe dog saw it.",
    "a hen and a fox ran to the hill.",
    "she sang a song; he ate the tart.",
    "no one can tell the end.",
]
VOCAB = CharVocab.from_text("".join(CORPUS))
BIGRAM = BigramLM.fit(VOCAB.encode_documents(CORPUS), len(VOCAB), add=0.01)


class IdVocab:
    """Text is ids with spaces between; which of them are marks is the test's choice."""

    def __init__(self, bos_id=0, eos_id=2, pad_id=0):
        self.bos_id, self.eos_id, self.pad_id = bos_id, eos_id, pad_id

    def encode(self, text):
        return [int(word) for word in text.split()]

    def decode(self, ids):
        return "".join(f"{i} " for i in ids if i not in (self.bos_id, self.eos_id, self.pad_id))


class SumModel:
    """No nn.Module. Its logits depend on the sum of all real ids so far: one lost, doubled or padded id changes them.

    calls: what went in, call by call, as (token_ids, mask). caches: batch sizes for which one was made.
    """

    def __init__(self, vocab_size=11):
        self.n_ids, self.calls, self.caches = vocab_size, [], []  # it does not say how many, so any id may pad

    def new_cache(self, batch_size=1):
        self.caches.append(batch_size)
        return {"sums": torch.zeros(batch_size, dtype=torch.long)}

    def __call__(self, token_ids, cache=None, attention_mask=None):
        self.calls.append((token_ids.tolist(), None if attention_mask is None else attention_mask.tolist()))
        real = token_ids
        if attention_mask is not None:
            assert attention_mask.dtype == torch.bool
            real = token_ids * attention_mask[:, -token_ids.shape[1] :]
        sums = real.cumsum(-1)
        if cache is not None:
            sums = sums + cache["sums"][:, None]
            cache["sums"] = sums[:, -1]
        tokens = torch.arange(self.n_ids)
        return 3 * torch.cos((tokens + 1.0) * (sums[..., None] + 1.0) * 1.7)

    def by_hand(self, prompt_ids, params, n, sample=0):
        ids = list(prompt_ids)
        for step in range(n):
            logits = 3 * torch.cos((torch.arange(self.n_ids) + 1.0) * (sum(ids) + 1.0) * 1.7)
            probs = next_token_probs(logits, params)
            ids.append(int(probs.argmax()) if params.greedy else draw(probs, uniform(params.seed, step, sample)))
        return tuple(ids[len(prompt_ids) :])


ON_AND_ON = IdVocab(bos_id=0, eos_id=-1, pad_id=-1)  # SumModel never gives these
budget = StopCriteria


# --- what goes into the model


@pytest.mark.parametrize("prompt", ["", "4", "3 1 4 1 5"])
@pytest.mark.parametrize("params", [GREEDY, SamplingParams(seed=5)])
def test_a_cache_gets_the_prompt_then_each_token_once_but_never_the_last(prompt, params):
    model = SumModel()
    result = generate(model, ON_AND_ON, prompt, params, budget(6))
    fed = [[0, *ON_AND_ON.encode(prompt)]] + [[token] for token in result.token_ids[:-1]]
    assert model.calls == [([ids], None) for ids in fed] and model.caches == [1]


@pytest.mark.parametrize("params", [GREEDY, SamplingParams(seed=5)])
def test_without_a_cache_the_whole_text_goes_in_again(params):
    model, cached = SumModel(), SumModel()
    result = generate(model, ON_AND_ON, "3 1", params, budget(5), use_cache=False)
    text = [0, 3, 1, *result.token_ids]
    assert model.calls == [([text[:n]], None) for n in range(3, 8)] and model.caches == []
    assert generate(cached, ON_AND_ON, "3 1", params, budget(5)) == result


@given(st.lists(st.integers(0, 10), max_size=6), st.integers(0, 2**64 - 1), st.booleans(), st.integers(0, 3))
def test_the_loop_is_the_loop_by_hand(prompt_ids, seed, use_cache, sample):
    params = SamplingParams(0.8, top_k=7, top_p=0.9, seed=seed)
    prompt = " ".join(map(str, prompt_ids))
    result = generate(SumModel(), ON_AND_ON, prompt, params, budget(8), use_cache=use_cache, sample=sample)
    assert result.token_ids == SumModel().by_hand([0, *prompt_ids], params, 8, sample)
    greedy = generate(SumModel(), ON_AND_ON, prompt, GREEDY, budget(8), use_cache=use_cache)
    assert greedy.token_ids == SumModel().by_hand([0, *prompt_ids], GREEDY, 8)


def test_steps_count_sampled_tokens_from_0(monkeypatch):
    drawn_with = []
    monkeypatch.setattr(row_module, "choose", lambda *args: drawn_with.append(args[2]) or choose(*args))
    generate(SumModel(), ON_AND_ON, "1 2 3", SamplingParams(seed=9), budget(40), sample=2)
    assert drawn_with == [uniform(9, step, 2) for step in range(40)]


def test_an_empty_prompt_begins_with_bos():
    model = BigramLM.fit(VOCAB.encode_documents(CORPUS), len(VOCAB))
    first = {generate(model, VOCAB, "", SamplingParams(seed=seed), budget(1)).text for seed in range(40)}
    assert first == {document[0] for document in CORPUS}


@pytest.mark.parametrize("params", [GREEDY, SamplingParams()])
def test_no_forward_pass_for_0_new_tokens(params):
    result = generate(NoModel(), IdVocab(), "5 7", params, budget(0))
    assert (result.text, result.token_ids, result.logprobs) == ("", (), ())
    assert result.finish_reason is FinishReason.LENGTH and result.finish_reason.api_name == "length"
    assert generate_batch(NoModel(), IdVocab(), ["5", "7 8"], params, budget(0))[1].text == ""
    (last,) = stream(NoModel(), IdVocab(), "5", params, budget(0))
    assert last.text == "" and last.generation.finish_reason is FinishReason.LENGTH


# --- how it ends


@pytest.mark.parametrize(("sampled", "reason", "name"), [([5, 6, 2], "EOS", "stop"), ([5, 6, 7], "LENGTH", "length")])
@pytest.mark.parametrize("use_cache", [True, False])
def test_the_reason_when_the_limit_is_hit_exactly(sampled, reason, name, use_cache):
    result = generate(ScriptModel([sampled]), IdVocab(), "9", GREEDY, budget(3), use_cache)
    assert result.token_ids == tuple(sampled)
    assert result.finish_reason is FinishReason[reason] and result.finish_reason.api_name == name


def test_an_end_mark_in_the_prompt_does_not_end_the_text():
    model = ScriptModel([[8, 2, 9]])
    result = generate(model, IdVocab(eos_id=2), "5 2 7", GREEDY, budget(3))
    assert result.token_ids == (8, 2) and result.text == "8 " and result.finish_reason.api_name == "stop"
    assert len(model.fed) == 2


def test_eos_false_runs_to_the_budget():
    result = generate(ScriptModel([[8, 2, 9, 2]]), IdVocab(eos_id=2), "", GREEDY, budget(4, eos=False))
    assert result.token_ids == (8, 2, 9, 2) and result.text == "8 9 " and len(result.logprobs) == 4
    assert result.finish_reason is FinishReason.LENGTH


def test_finished_rows_get_padding_and_the_loop_ends_with_the_last():
    model = ScriptModel([[7, 2, 5], [2, 9, 4]])
    results = generate_batch(model, IdVocab(eos_id=2, pad_id=0), ["5", "6"], GREEDY, budget(9))
    assert [result.token_ids for result in results] == [(7, 2), (2,)]
    assert model.fed == [[5, 6], [7, 0]]
    assert [result.text for result in results] == ["7 ", ""]


def test_a_finished_row_stays_finished():
    model = ScriptModel([[4, 5, 6, 13, 13, 9], [8, 6, 13, 13, 3, 1]])
    results = generate_batch(model, IdVocab(eos_id=13), ["5", "6"], GREEDY, budget(6))
    assert [len(result.token_ids) for result in results] == [4, 3] and len(model.fed) == 4
    assert all(result.finish_reason is FinishReason.EOS for result in results)


def test_each_row_has_its_own_budget():
    model = ScriptModel([[5] * 9, [6] * 9, [2] * 9])
    stopping = [budget(3), budget(0), budget(7)]
    results = generate_batch(model, IdVocab(eos_id=2), ["5", "6", "7"], GREEDY, stopping)
    assert [result.token_ids for result in results] == [(5, 5, 5), (), (2,)]
    assert [result.finish_reason.name for result in results] == ["LENGTH", "LENGTH", "EOS"]
    assert [result.stopping for result in results] == stopping and len(model.fed) == 3


def answer(pieces, use_cache=True, **stopping):
    """What is generated, and streamed, when a model says these pieces."""
    model, vocab = saying(*pieces)
    stopping = {"max_new_tokens": len(pieces)} | stopping
    result = generate(model, vocab, "", GREEDY, budget(**stopping), use_cache)
    chunks = list(stream(saying(*pieces)[0], vocab, "", GREEDY, budget(**stopping), use_cache))
    assert chunks[-1].generation == result and len(result.token_ids) == len(model.fed)
    assert "".join(chunk.text for chunk in chunks) == result.text
    assert all(chunk.text and chunk.generation is None for chunk in chunks[:-1]) and chunks[-1].text == ""
    return result, [chunk.text for chunk in chunks[:-1]]


STOPS = {
    "inside a piece": (["banana", "x"], ["ban"], ("", "ban", 1)),
    "over several pieces": (
        [" one", " two", " three", " four", " five"],
        ["three four"],
        (" one two ", "three four", 4),
    ),
    "of two, the one that is complete first": (["abcd", "x"], ["bcd", "c"], ("ab", "c", 1)),
    "first occurrence": (["done;;", "x"], [";"], ("done", ";", 1)),
    "text, not tokens": (["a", " T", "T"], ["T"], ("a ", "T", 2)),
    "whichever comes": (["x", "B"], ["A", "B"], ("x", "B", 2)),
    "one character inside a piece": (["ab", "c"], ["b"], ("a", "b", 1)),
    "over three pieces": (["XY", "Z1", "9"], ["XYZ19"], ("", "XYZ19", 3)),
    "over three pieces with more behind it": (["Ok", "\n##", " End", " x"], ["\n## End"], ("Ok", "\n## End", 3)),
    "text and stop in one piece": (["yes.\n", "x"], ["\n"], ("yes.", "\n", 1)),
}


@pytest.mark.parametrize("use_cache", [True, False])
@pytest.mark.parametrize("name", STOPS)
def test_a_stop_string_ends_the_text_and_is_not_shown(name, use_cache):
    pieces, stops, (text, stop, n_tokens) = STOPS[name]
    result, _ = answer(pieces, use_cache, stop=stops)
    assert (result.text, result.stop, len(result.token_ids)) == (text, stop, n_tokens)
    assert result.finish_reason is FinishReason.STOP_STRING and result.finish_reason.api_name == "stop"


def test_a_stop_string_that_is_shown_cuts_what_follows():
    result, _ = answer(["banana", "x"], stop=["ban"], include_stop=True)
    assert (result.text, result.stop) == ("ban", "ban")


def test_only_generated_text_is_searched():
    vocab = PieceVocab(["Q: hi\nA:", " ok", "\nQ:", " x"])
    model = ScriptModel([[8, 9, 10]])
    result = generate(model, vocab, "Q: hi\nA:", GREEDY, budget(9, stop=["Q:"]))
    assert (result.text, result.stop, len(model.fed)) == (" ok\n", "Q:", 2)


def test_a_stop_string_does_not_begin_in_the_prompt():
    vocab = PieceVocab(["A", "B"])
    result = generate(ScriptModel([[8, 8]]), vocab, "A", GREEDY, budget(2, stop=["AB"]))
    assert result.text == "BB" and result.finish_reason is FinishReason.LENGTH


def test_specials_are_no_text_and_a_stop_string_goes_on_behind_them():
    result, _ = answer(["a", "<call>", "b", "x"], stop=["ab"])
    assert (result.text, result.stop, len(result.token_ids)) == ("", "ab", 3)
    result, _ = answer(["<eos>", "a"], stop=["<eos>"], eos=False)
    assert result.text == "a" and result.stop is None


def test_held_back_text_is_shown_at_every_natural_end():
    result, deltas = answer(["abc", "ST", "<eos>", "x"], stop=["STOP"])
    assert (result.text, deltas, result.finish_reason) == ("abcST", ["abc", "ST"], FinishReason.EOS)
    result, deltas = answer(["abc", "ST", "x"], stop=["STOP"], max_new_tokens=2)
    assert (result.text, deltas, result.finish_reason) == ("abcST", ["abc", "ST"], FinishReason.LENGTH)


def test_deltas_come_as_they_are():
    assert answer(["I", " am"], stop=["XYZ"])[1] == ["I", " am"]
    assert answer(["pas", "sword"])[1] == ["pas", "sword"]
    assert answer(["-", "-", "-"], stop=["--x"])[1] == ["---"]
    assert answer(["-", "-", "-"])[1] == ["-", "-", "-"]


def test_a_real_replacement_mark_does_not_stall_the_stream():
    assert answer(["a", "\ufffd", "b"])[1] == ["a", "\ufffd", "b"]


def test_an_end_is_reported_by_the_first_reason_in_the_order():
    assert answer(["x", "END", "y"], stop=["END"], max_new_tokens=2)[0].finish_reason is FinishReason.STOP_STRING
    assert answer(["x", "<eos>"], stop=["x!"], max_new_tokens=2)[0].finish_reason is FinishReason.EOS
    assert answer(["x", "y", "z"], stop=["END"], max_new_tokens=2)[0].finish_reason is FinishReason.LENGTH


def test_the_end_mark_is_found_by_its_id():
    vocab = IdVocab(eos_id=2)
    vocab.decode = lambda ids: "".join("" if token_id == 2 else str(token_id) for token_id in ids)
    result = generate(ScriptModel([[5, 2, 6]]), vocab, "", GREEDY, budget(9))
    assert (result.token_ids, result.text, result.stop) == ((5, 2), "5", None)


def test_several_end_marks_and_an_end_mark_that_has_a_text():
    vocab = PieceVocab(["a", "b", "."])
    for eos, tokens, text in ((9, (7, 9), "a"), ([8, 9], (7, 9), "a"), ([1, 7], (7,), "")):
        result = generate(ScriptModel([[7, 9, 8]]), vocab, "", GREEDY, budget(3, eos=eos))
        assert (result.token_ids, result.text, result.finish_reason) == (tokens, text, FinishReason.EOS)
    with pytest.raises(ValueError, match="eos has the id 10; the vocabulary ends with 9"):
        generate(NoModel(), vocab, "", GREEDY, budget(3, eos=10))


PIECES = st.lists(st.sampled_from(["a", "b", "ab", "ba", "\n", "<call>", "<eos>"]), min_size=1, max_size=10)


@settings(max_examples=60)
@given(PIECES, st.lists(st.text("ab\n", min_size=1, max_size=4), max_size=3), st.booleans(), st.integers(1, 10))
def test_streamed_equals_plain_at_every_budget(pieces, stops, include_stop, n):
    result = answer(pieces, stop=stops, include_stop=include_stop, max_new_tokens=min(n, len(pieces)))[0]
    text = "".join(piece for piece in pieces[: len(result.token_ids)] if piece[0] != "<")
    if result.stop is None:
        assert result.text == text and not any(stop in text for stop in stops)
    else:
        kept = result.stop if include_stop else ""
        assert text.startswith(result.text.removesuffix(kept) + result.stop)
        assert not any(stop in text[: len(result.text) - len(kept)] for stop in stops)


def test_rows_of_a_batch_stop_each_for_its_own_reason():
    vocab = PieceVocab(["a", "b", "c"])
    stopping = [budget(4, stop=["ab"]), budget(4, stop=["ab"], include_stop=True), budget(4, stop=["ba"]), budget(3)]
    results = generate_batch(ScriptModel([[7, 8, 9, 1]] * 4), vocab, ["", "a", "", ""], GREEDY, stopping)
    assert [result.text for result in results] == ["", "ab", "abc", "abc"]
    assert [result.finish_reason.name for result in results] == ["STOP_STRING", "STOP_STRING", "EOS", "LENGTH"]


def test_a_stream_that_is_closed_while_text_is_held_back_makes_no_further_step():
    model, vocab = saying("x", "ST", "y", "z")
    chunks = stream(model, vocab, "", GREEDY, budget(4, stop=["STOP"]))
    assert next(chunks).text == "x" and next(chunks).text == "STy"
    chunks.close()
    assert len(model.fed) == 3


# --- the context, and the transformer


def transformer(block_size=24, dropout=0.0, seed=0):
    """A random one whose logits differ clearly: its weights are ten times as large as a fresh model's."""
    torch.manual_seed(seed)
    model = Transformer(TransformerConfig(len(VOCAB), 2, 4, 2, 32, block_size, dropout=dropout)).eval()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.mul_(10 if parameter.ndim == 2 else 1)
    return model


ON = {"eos": False}  # a random model may say anything


@pytest.mark.parametrize("use_cache", [True, False])
@pytest.mark.parametrize("params", [GREEDY, SamplingParams(seed=4)])
def test_the_context_ends_the_text_and_no_cache_is_rolled(params, use_cache):
    model = transformer(block_size=4)
    result = generate(model, VOCAB, "th", params, budget(5, **ON), use_cache)
    assert len(result.token_ids) == 4 - 3 + 1  # <bos>, t, h: the last token is never fed
    assert result.finish_reason is FinishReason.CONTEXT and result.finish_reason.api_name == "length"
    full = generate(model, VOCAB, "the", params, budget(5, **ON), use_cache)
    assert len(full.token_ids) == 1 and full.finish_reason is FinishReason.CONTEXT
    assert generate(model, VOCAB, "the", params, budget(1, **ON), use_cache).finish_reason is FinishReason.LENGTH
    assert list(stream(model, VOCAB, "th", params, budget(5, **ON), use_cache))[-1].generation == result


@pytest.mark.parametrize("n", [0, 1, 5])
def test_a_prompt_that_exceeds_the_context_is_refused_up_front(n):
    model = transformer(block_size=4)
    for call in (generate, stream, lambda m, v, p, *rest: generate_batch(m, v, ["t", p], *rest)):
        with pytest.raises(ValueError, match=r"prompt has 5 tokens, <bos> included; .* context is 4"):
            call(model, VOCAB, "the ", GREEDY, budget(n))


class Watched:
    """A transformer whose every call is recorded: what went in, and how large a cache was asked for."""

    def __init__(self, model):
        self.model, self.block_size, self.caches, self.fed = model, model.block_size, [], []

    def new_cache(self, batch_size=1, max_tokens=None):
        self.caches.append((batch_size, max_tokens))
        return self.model.new_cache(batch_size, max_tokens)

    def __call__(self, token_ids, cache=None, attention_mask=None):
        self.fed.append((token_ids, attention_mask))
        return self.model(token_ids, cache, attention_mask)


def test_a_ragged_batch_asks_for_the_places_that_it_needs_and_no_more():
    prompts = ["", "the cat", "the dog saw it."]  # 1, 8 and 16 tokens of 24
    watched = Watched(transformer())
    results = generate_batch(watched, VOCAB, prompts, GREEDY, budget(100, **ON))
    assert [len(result.token_ids) for result in results] == [24, 17, 9]
    assert watched.caches == [(3, 16 + 24 - 1)] and watched.fed[-1][1].shape == (3, 16 + 24 - 1)
    watched = Watched(transformer())
    generate_batch(watched, VOCAB, prompts, GREEDY, budget(2, **ON))
    assert watched.caches == [(3, 16 + 2 - 1)]
    watched = Watched(transformer())
    generate_batch(watched, VOCAB, ["the", "dog"], GREEDY, budget(2, **ON))
    generate(watched, VOCAB, "the", GREEDY, budget(2, **ON))
    assert watched.caches == [(2, None), (1, None)]


def test_a_finished_row_idles_masked():
    watched = Watched(transformer())
    short, long = generate_batch(watched, VOCAB, ["t", "the"], GREEDY, [budget(4, **ON), budget(1, **ON)])
    assert (len(short.token_ids), len(long.token_ids)) == (4, 1)
    assert [(ids[1].tolist(), mask[1].tolist()) for ids, mask in watched.fed[1:]] == [
        ([VOCAB.pad_id], [True] * 4 + [False] * n) for n in (1, 2, 3)
    ]
    assert watched.fed[-1][1][0].tolist() == [False] * 2 + [True] * 5


@settings(max_examples=15)
@given(
    st.lists(
        st.tuples(st.integers(0, 23), st.sampled_from([*PARAMS, None]), st.integers(0, 30)), min_size=1, max_size=5
    ),
    st.integers(0, 3),
)
def test_a_row_alone_equals_the_row_in_a_batch(rows, model_seed):
    model, source = transformer(seed=model_seed), "".join(CORPUS).replace("\n", " ")
    prompts = [source[i : i + length] for i, (length, _, _) in enumerate(rows)]
    params = [params or SamplingParams(0.6, seed=1) for _, params, _ in rows]
    stopping = [budget(n, **ON) for _, _, n in rows]
    together = generate_batch(model, VOCAB, prompts, params, stopping)
    whole = generate_batch(model, VOCAB, prompts, params, stopping, use_cache=False)
    for index, prompt in enumerate(prompts):
        alone = generate(model, VOCAB, prompt, params[index], stopping[index])
        for other in (together[index], whole[index]):
            assert (other.text, other.token_ids) == (alone.text, alone.token_ids)
            assert other.finish_reason is alone.finish_reason
            assert other.logprobs == pytest.approx(alone.logprobs, abs=1e-4)


def test_dropout_of_the_transformer_is_off_and_its_mode_restored():
    model = transformer(dropout=0.5)
    expected = generate(model, VOCAB, "th", GREEDY, budget(12, **ON))
    model.train()
    for use_cache in (True, False):
        again = generate(model, VOCAB, "th", GREEDY, budget(12, **ON), use_cache)
        assert again.token_ids == expected.token_ids and again.logprobs == pytest.approx(expected.logprobs, abs=1e-4)
    assert all(module.training for module in model.modules())


def test_each_generation_has_a_cache_of_its_own():
    model = transformer()
    expected = [generate(model, VOCAB, prompt, GREEDY, budget(9, **ON)) for prompt in ("the", "then")]
    streams = [stream(model, VOCAB, prompt, GREEDY, budget(9, **ON)) for prompt in ("the", "then")]
    last = [None, None]
    for _ in range(10):  # in turns; a token without a text gives no piece, so one may end before the other
        last = [next(chunks, before) for chunks, before in zip(streams, last, strict=True)]
    assert [chunk.generation for chunk in last] == expected


# --- rows of different length


RAGGED = ["3 1", "4 1 5 9 2", "6 5 3 5 8 9 7 9 3"]


@pytest.mark.parametrize("use_cache", [True, False])
@pytest.mark.parametrize("params", [GREEDY, SamplingParams(seed=3)])
def test_a_ragged_batch_gives_the_texts_of_its_rows_alone(params, use_cache):
    together = generate_batch(SumModel(), ON_AND_ON, RAGGED, params, budget(12), use_cache)
    alone = [generate(SumModel(), ON_AND_ON, prompt, params, budget(12)) for prompt in RAGGED]
    assert [result.token_ids for result in together] == [result.token_ids for result in alone]
    for one, other in zip(together, alone, strict=True):
        assert one.logprobs == pytest.approx(other.logprobs, abs=1e-6)


def test_the_mask_is_made_from_lengths_not_from_ids():
    model, vocab = SumModel(), IdVocab(bos_id=0, eos_id=-1, pad_id=0)  # 0 is padding, <bos> and a token of the text
    result = generate_batch(model, vocab, ["0 7 0 5", "0"], GREEDY, budget(3))
    first, second = (row.token_ids for row in result)
    assert model.calls[0] == (
        [[0, 0, 7, 0, 5], [0, 0, 0, 0, 0]],
        [[True] * 5, [False, False, False, True, True]],
    )
    assert model.calls[2] == ([[first[1]], [second[1]]], [[True] * 7, [False] * 3 + [True] * 4])


def test_an_end_mark_that_pads_does_not_hide_one_in_the_prompt():
    model, vocab = SumModel(), IdVocab(bos_id=0, eos_id=2, pad_id=2)
    generate_batch(model, vocab, ["5 2 7", "2"], GREEDY, budget(1))
    assert model.calls[0] == ([[0, 5, 2, 7], [2, 2, 0, 2]], [[True] * 4, [False, False, True, True]])


def test_rows_of_one_length_need_no_mask():
    model = SumModel()
    generate_batch(model, ON_AND_ON, ["1 2", "3 4"], GREEDY, budget(3))
    assert [mask for _, mask in model.calls] == [None] * 3 and model.caches == [2]


def test_without_a_cache_a_batch_is_fed_whole():
    model = SumModel()
    results = generate_batch(model, ON_AND_ON, ["1 2", "3"], GREEDY, budget(2), use_cache=False)
    first, second = (result.token_ids for result in results)
    assert model.calls[1] == (
        [[0, 1, 2, first[0]], [-1, 0, 3, second[0]]],
        [[True] * 4, [False, True, True, True]],
    )


@pytest.mark.parametrize(
    "settings",
    [
        {"sampling": [GREEDY]},
        {"stopping": (budget(1), budget(2), budget(3))},
        {"sample": [0, 1, 2]},
        {"sampling": []},
    ],
)
def test_settings_are_one_for_all_or_one_each(settings):
    with pytest.raises(ValueError, match="settings for 2 prompts; expected one for all or one each"):
        generate_batch(NoModel(), IdVocab(), ["1", "2"], **settings)


def test_a_batch_is_a_list_of_prompts():
    with pytest.raises(TypeError, match="expected a list"):
        generate_batch(NoModel(), VOCAB, "the")
    assert generate_batch(NoModel(), VOCAB, []) == []
    (one,) = generate_batch(BIGRAM, VOCAB, ("the",), GREEDY, budget(3))
    assert one == generate(BIGRAM, VOCAB, "the", GREEDY, budget(3))


# --- the two halves of the loop, and a row that another driver could drive


def rows_of(*prompts, n=5):
    return [row_module.Row(row_module.Request.of(ON_AND_ON, prompt, GREEDY, budget(n))) for prompt in prompts]


def test_prefill_feeds_what_is_new_and_decode_the_last_token():
    model, rows = SumModel(), rows_of("3 1", "4")
    batch = Batch(model, rows, use_cache=True)
    for row, logits in zip(rows, batch.prefill().numpy(), strict=True):
        row.choose(logits)
    assert model.calls[-1] == ([[0, 3, 1], [-1, 0, 4]], [[True] * 3, [False, True, True]])
    batch.decode()
    assert model.calls[-1][0] == [[row.token_ids[0]] for row in rows] and batch.n_fed == [4, 3]
    for row in rows:
        row.go_on([7, 8])  # forced, after a token that has been fed
    batch.prefill()
    assert model.calls[-1][0] == [[7, 8], [7, 8]] and batch.n_fed == [6, 5]


def test_a_row_goes_on_from_its_own_ids_whoever_feeds_them():
    """In pieces, and again from the start: what a driver does with a long prompt, or after it has given up a cache."""
    model = SumModel()
    params = SamplingParams(0.8, top_k=7, seed=4)
    row = row_module.Row(row_module.Request.of(ON_AND_ON, "3 1 4 1 5", params, budget(8), sample=2))
    while row.finish_reason is None:
        cache, logits = model.new_cache(), None
        for start in range(0, len(row.ids), 2):
            logits = model(torch.tensor([row.ids[start : start + 2]]), cache)
        row.choose(logits[0, -1].numpy())
    expected = generate(SumModel(), ON_AND_ON, "3 1 4 1 5", params, budget(8), sample=2)
    assert (tuple(row.token_ids), tuple(row.logprobs)) == (expected.token_ids, expected.logprobs)
    assert row.text == expected.text and row.finish_reason is expected.finish_reason


# --- seeds


PROMPTS = ["", "th", "a hen and"]


def texts_of_many_settings() -> list:
    """Texts and log-probabilities of the bigram, as JSON can hold them: also run in another process."""
    results = [generate(BIGRAM, VOCAB, prompt, params, budget(60)) for prompt in PROMPTS for params in PARAMS]
    return [[result.text, list(result.token_ids), result.finish_reason.value] for result in results]


def test_a_text_does_not_depend_on_its_neighbours():
    a, b = SamplingParams(seed=42), "the"
    alone = generate(BIGRAM, VOCAB, "a", a, budget(50))
    for neighbour in (SamplingParams(), SamplingParams(seed=7), GREEDY):
        assert generate_batch(BIGRAM, VOCAB, ["a", b], [a, neighbour], budget(50))[0] == alone
        assert generate_batch(BIGRAM, VOCAB, [b, "a"], [neighbour, a], budget(50))[1] == alone


@settings(max_examples=20)
@given(st.lists(st.tuples(st.sampled_from(PROMPTS), st.sampled_from(PARAMS), st.integers(0, 2)), max_size=6))
def test_a_batch_gives_each_text_as_alone(rows):
    prompts, sampling, samples = (list(column) for column in zip(*rows, strict=True)) if rows else ([], [], [])
    stopping = [budget(5 + 7 * i) for i in range(len(rows))]
    alone = [
        generate(BIGRAM, VOCAB, prompt, params, stop, sample=sample)
        for (prompt, params, sample), stop in zip(rows, stopping, strict=True)
    ]
    assert generate_batch(BIGRAM, VOCAB, prompts, sampling, stopping, sample=samples) == alone
    assert generate_batch(BIGRAM, VOCAB, prompts, sampling, stopping, use_cache=False, sample=samples) == alone


@pytest.mark.parametrize("params", PARAMS)
@pytest.mark.parametrize("prompt", PROMPTS)
@pytest.mark.parametrize("use_cache", [True, False])
def test_streamed_cached_or_not_the_text_is_the_same(params, prompt, use_cache):
    plain = generate(BIGRAM, VOCAB, prompt, params, budget(60))
    chunks = list(stream(BIGRAM, VOCAB, prompt, params, budget(60), use_cache))
    assert chunks[-1].generation == plain == generate(BIGRAM, VOCAB, prompt, params, budget(60), use_cache)
    assert "".join(chunk.text for chunk in chunks) == plain.text


def test_texts_do_not_depend_on_the_number_of_threads():
    threads = torch.get_num_threads()
    try:
        torch.set_num_threads(1)
        one = texts_of_many_settings()
        torch.set_num_threads(2)
        two = texts_of_many_settings()
    finally:
        torch.set_num_threads(threads)
    assert one == two and len({text for text, *_ in one}) > 8


def test_texts_do_not_depend_on_the_cpus_instructions():
    code = (
        "import json, torch, test_generation as t\n"
        "print(torch.backends.cpu.get_cpu_capability()); print(json.dumps(t.texts_of_many_settings()))"
    )
    environment = os.environ | {"ATEN_CPU_CAPABILITY": "default", "PYTHONIOENCODING": "utf-8"}
    output = subprocess.run(
        [sys.executable, "-c", code],
        env=environment,
        cwd=Path(__file__).parent,
        capture_output=True,
        encoding="utf-8",
        check=True,
    ).stdout
    capability, texts = output.splitlines()
    assert capability == "DEFAULT"
    assert json.loads(texts) == texts_of_many_settings()


def test_pinned_text():
    # The whole chain in one line: vocabulary, counts, softmax, Philox, draw. If it changes, old records are void.
    result = generate(BIGRAM, VOCAB, "th", SamplingParams(0.7, seed=3), budget(24))
    assert result.text == "e heng rathe the he the "


def test_no_seed_is_not_a_constant():
    vocab = CharVocab([chr(0x4E00 + i) for i in range(993)])
    model = BigramLM(torch.zeros(1000, 1000))
    results = [generate(model, vocab, "", SamplingParams(), budget(8, eos=False)) for _ in range(2)]
    assert results[0].token_ids != results[1].token_ids and results[0].seed != results[1].seed
    for result in results:  # the seed that was drawn is recorded, and gives the text again
        assert result.sampling.seed is None
        again = generate(model, vocab, "", SamplingParams(seed=result.seed), budget(8, eos=False))
        assert again.token_ids == result.token_ids
    one, other = generate_batch(model, vocab, ["", ""], SamplingParams(), budget(8))
    assert one.token_ids != other.token_ids and one.seed != other.seed


def test_seed_0_is_a_seed():
    def text(**setting):
        return generate(BIGRAM, VOCAB, "the", SamplingParams(seed=setting.pop("seed")), budget(40), **setting)

    assert text(seed=0) == text(seed=0) and text(seed=0).seed == 0
    assert text(seed=0).token_ids != text(seed=1).token_ids
    assert text(seed=0, sample=0) == text(seed=0)
    assert len({text(seed=0, sample=sample).token_ids for sample in range(5)}) == 5


@pytest.mark.parametrize(("sample", "error"), [(-1, ValueError), (0.5, TypeError), (2**64, ValueError)])
def test_sample_is_an_unsigned_integer(sample, error):
    with pytest.raises(error, match="sample is"):
        generate(NoModel(), VOCAB, "a", sample=sample)


def test_greedy_draws_no_random_number(monkeypatch):
    def fail(*_):
        raise AssertionError("a random number was drawn")

    monkeypatch.setattr(row_module, "uniforms", fail)
    monkeypatch.setattr(secrets, "randbits", fail)
    state = torch.get_rng_state().tolist()
    first = generate(BIGRAM, VOCAB, "th", GREEDY, budget(30))
    assert first == generate(BIGRAM, VOCAB, "th", GREEDY, budget(30)) and first.seed is None
    at_0 = generate(BIGRAM, VOCAB, "th", SamplingParams(temperature=0), budget(30))
    assert at_0.token_ids == first.token_ids and at_0.seed is None
    assert torch.get_rng_state().tolist() == state


def test_no_global_generator_is_read_or_changed():
    torch.manual_seed(1), np.random.seed(1)
    first = generate(BIGRAM, VOCAB, "the", SamplingParams(seed=3), budget(30))
    state = torch.get_rng_state().tolist()
    assert generate(BIGRAM, VOCAB, "the", SamplingParams(seed=3), budget(30)) == first
    assert torch.get_rng_state().tolist() == state


def test_sampled_pairs_follow_the_table():
    model = BigramLM(torch.randn(9, 9, generator=torch.Generator().manual_seed(4), dtype=torch.float64))
    vocab = CharVocab("ab")
    ids = (0, *generate(model, vocab, "", SamplingParams(seed=11), budget(2500, eos=False)).token_ids)
    probs = model.table.detach().softmax(-1).numpy()
    for token in range(9):
        followers = [b for a, b in pairwise(ids) if a == token]
        counts = np.bincount(followers, minlength=9)
        assert stats.chisquare(counts, len(followers) * probs[token]).pvalue > 0.001


# --- what is recorded


def test_logprobs_are_the_models_own():
    class Fixed(ScriptModel):
        def __call__(self, token_ids, cache=None, attention_mask=None):
            return torch.tensor([2.0, 1.0, 0.0, -1.5]).expand(1, token_ids.shape[1], 4)

    raw = [-0.427495, -1.427495, -2.427495, -3.927495]
    for params in (
        SamplingParams(0.5, seed=1),
        SamplingParams(2.0, top_k=2, seed=1),
        SamplingParams(5.0, top_p=0.9, min_p=0.01, seed=1),
        GREEDY,
    ):
        result = generate(Fixed([]), IdVocab(eos_id=-1), "", params, budget(20))
        assert result.logprobs == pytest.approx([raw[token] for token in result.token_ids], abs=1e-6)
        assert params.greedy or len(set(result.token_ids)) > 1


def test_a_generation_says_how_it_came_about():
    params, stopping = SamplingParams(0.8, seed=4), budget(200)
    result = generate(BIGRAM, VOCAB, "the ", params, stopping, sample=3)
    assert (result.prompt, result.sampling, result.stopping) == ("the ", params, stopping)
    assert (result.seed, result.sample) == (4, 3)
    assert result.finish_reason is FinishReason.EOS and result.token_ids[-1] == VOCAB.eos_id
    assert VOCAB.encode(result.text) == list(result.token_ids[:-1])
    logits = BIGRAM(torch.tensor([[*VOCAB.encode(" "), *result.token_ids[:-1]]]))[0]
    expected = logits.log_softmax(-1)[range(len(result.token_ids)), list(result.token_ids)]
    assert result.logprobs == pytest.approx(expected.tolist())
    assert isinstance(hash(result), int)


# --- streaming


def test_exactly_one_last_chunk_also_without_text():
    chunks = list(stream(ScriptModel([[2]]), IdVocab(eos_id=2), "5", GREEDY, budget(4)))
    assert [(chunk.text, chunk.generation.finish_reason.api_name) for chunk in chunks] == [("", "stop")]


@pytest.mark.parametrize("sampled", [[5, 6, 2], [5, 6, 7], [5, 0, 7], [0, 0, 0]])
def test_chunks_are_text_then_the_generation(sampled):
    chunks = list(stream(ScriptModel([sampled]), IdVocab(eos_id=2, pad_id=0), "9", GREEDY, budget(3)))
    assert all(chunk.text and chunk.generation is None for chunk in chunks[:-1])
    assert chunks[-1].text == "" and chunks[-1].generation.token_ids == tuple(sampled)
    assert "".join(chunk.text for chunk in chunks) == chunks[-1].generation.text


def test_a_chunk_comes_before_the_next_step():
    model = SumModel()
    chunks = stream(model, ON_AND_ON, "3", SamplingParams(seed=2), budget(5))
    assert model.calls == [] and model.caches == []
    for n in range(1, 6):
        assert isinstance(next(chunks), Chunk) and len(model.calls) == n
    assert next(chunks).generation is not None and len(model.calls) == 5
    assert next(chunks, None) is None


def test_a_closed_stream_makes_no_further_step():
    model = SumModel()
    chunks = stream(model, ON_AND_ON, "3", SamplingParams(seed=2), budget(50))
    next(chunks), next(chunks)
    chunks.close()
    assert len(model.calls) == 2 and next(chunks, None) is None


def test_two_streams_do_not_disturb_each_other():
    first = stream(BIGRAM, VOCAB, "a", SamplingParams(seed=1), budget(20))
    second = stream(BIGRAM, VOCAB, "t", SamplingParams(seed=2), budget(20))
    taken = [[], []]
    for _ in range(21):
        for chunks, chunk in zip(taken, (next(first, None), next(second, None)), strict=True):
            chunks.append(chunk)
    for chunks, prompt, seed in zip(taken, "at", (1, 2), strict=True):
        last = [chunk for chunk in chunks if chunk][-1]
        assert last.generation == generate(BIGRAM, VOCAB, prompt, SamplingParams(seed=seed), budget(20))


CALLS = [
    pytest.param(generate, id="generate"),
    pytest.param(stream, id="stream, before the first next()"),
    pytest.param(
        lambda model, vocab, prompt, **kw: generate_batch(model, vocab, ["a", prompt], **kw), id="generate_batch"
    ),
]


@pytest.mark.parametrize("call", CALLS)
def test_a_bad_prompt_is_refused_before_the_model_runs(call):
    with pytest.raises(ValueError, match=r"'7'.* position 3"):
        call(NoModel(), VOCAB, "cat7")
    with pytest.raises(ValueError, match="surrogate"):
        call(NoModel(), VOCAB, "a\ud83d")
    with pytest.raises(TypeError, match="expected a str"):
        call(NoModel(), VOCAB, None)


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("settings", [{"sampling": 0.8}, {"sampling": None}, {"stopping": 50}, {"sampling": budget(5)}])
def test_settings_of_another_type_are_refused_before_the_model_runs(call, settings):
    with pytest.raises(TypeError, match=r"expected SamplingParams\(…\) and StopCriteria\(…\)"):
        call(NoModel(), VOCAB, "a", **settings)


# --- the model is left as it was found


class Nested(nn.Module):
    """A bigram behind dropout, in modules within modules."""

    def __init__(self):
        super().__init__()
        self.bigram = BIGRAM
        self.drop = nn.Sequential(nn.Sequential(nn.Dropout(0.5)), nn.Identity())
        self.gradients, self.modes = [], []

    def new_cache(self, batch_size=1):
        return self.bigram.new_cache(batch_size)

    def forward(self, token_ids, cache=None, attention_mask=None):
        logits = self.drop(self.bigram(token_ids, cache) + 20)
        self.gradients.append(logits.requires_grad or torch.is_grad_enabled())
        self.modes += [module.training for module in self.modules()]
        return logits


@pytest.mark.parametrize("trained", ["all", "none", "root only", "dropout only", "all but the root"])
@pytest.mark.parametrize(
    "run",
    [
        lambda model: generate(model, VOCAB, "th", GREEDY, budget(20)).token_ids,
        lambda model: generate_batch(model, VOCAB, ["th", "a"], GREEDY, budget(20), use_cache=False)[0].token_ids,
        lambda model: list(stream(model, VOCAB, "th", GREEDY, budget(20)))[-1].generation.token_ids,
    ],
    ids=["generate", "generate_batch", "stream"],
)
def test_dropout_is_off_and_every_mode_restored(trained, run):
    model = Nested().train(trained in ("all", "all but the root"))
    if trained == "root only":
        model.training = True
    elif trained == "dropout only":
        model.drop[0][0].train()
    elif trained == "all but the root":
        model.training = False
    before = [module.training for module in model.modules()]
    assert any(before) is (trained != "none")
    expected = generate(BIGRAM, VOCAB, "th", GREEDY, budget(20)).token_ids
    assert run(model) == run(model) == expected
    assert not any(model.modes) and [module.training for module in model.modules()] == before


def test_no_gradient_is_kept_and_none_switched_off_for_others():
    model = Nested()
    chunks = stream(model, VOCAB, "th", SamplingParams(seed=1), budget(5))
    next(chunks)
    assert torch.is_grad_enabled() and model.training  # between two chunks as well
    list(chunks)
    assert not any(model.gradients) and len(model.gradients) > 1
    assert torch.is_grad_enabled() and all(parameter.grad is None for parameter in model.parameters())


def test_modes_are_restored_when_the_model_fails():
    class Failing(Nested):
        def forward(self, token_ids, cache=None, attention_mask=None):
            raise RuntimeError("broken")

    model = Failing()
    with pytest.raises(RuntimeError, match="broken"):
        generate(model, VOCAB, "th")
    assert model.training and model.drop[0][0].training and torch.is_grad_enabled()


@pytest.mark.parametrize("bad", [float("nan"), float("inf")])
@pytest.mark.parametrize("params", [GREEDY, SamplingParams(seed=1)])
def test_bad_logits_end_in_an_error_that_says_where(bad, params):
    model = BigramLM(BIGRAM.table.detach().clone())
    with torch.no_grad():
        model.table[VOCAB.encode("t")[0], 9] = bad
    with pytest.raises(ValueError, match=rf"logits\[9\] is {bad}"):
        generate(model, VOCAB, "t", params)


def test_parameters_stay_as_they_are():
    before = BIGRAM.table.detach().clone()
    generate(BIGRAM, VOCAB, "th", SamplingParams(0.5, top_k=3, top_p=0.9, min_p=0.1, seed=1), budget(30))
    assert torch.equal(BIGRAM.table, before) and BIGRAM.table.requires_grad

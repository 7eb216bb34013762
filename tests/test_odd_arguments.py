"""What is plausible and wrong is refused at the door: an error of ours that names the argument, and not a wrong result.

Each entry was once taken in silence, or ended in an error from deep inside a library.
"""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import torch

import course_utils
from course_utils.bigram import BigramLM, count_bigrams, counts_to_logits
from course_utils.bpe import BpeVocab
from course_utils.checkpoint import load_model, save_model
from course_utils.compare_logits import cached_equals_full, compare_logits
from course_utils.comparison import bootstrap_mean, paired_difference, runs_needed
from course_utils.evaluation import paired_tables, reliability, spend
from course_utils.generation import generate, generate_batch, stream
from course_utils.kv_cache import kv_cache_bytes, reuse_prefix
from course_utils.metrics import coherence, distinct_n, loss, proportion_ci
from course_utils.ngram import NgramLM
from course_utils.randomness import uniform
from course_utils.sampling import SamplingParams, draw, next_token_probs, top_k_filter, top_p_filter
from course_utils.speculative import accept
from course_utils.step_cost import step_cost
from course_utils.stopping import StopCriteria
from course_utils.sweep import sweep
from course_utils.text import CharVocab, load_text, split_documents
from course_utils.training.trainer import train_transformer
from course_utils.transformer import Transformer, TransformerConfig

OURS = Path(course_utils.__file__).parent
VOCAB = CharVocab.from_text("abc .")
CONFIG = TransformerConfig(len(VOCAB), 1, 2, 1, 8, 32)
MODEL = Transformer(CONFIG).eval()
BIGRAM = BigramLM.fit([7, 8, 9], len(VOCAB), add=1)
LOGITS = [2.0, 1.0, 0.0]
NO_LIST = torch.tensor(2)


def config(**changes):
    return TransformerConfig(len(VOCAB), 1, 2, 1, 8, 32, **changes)


def cache():
    made = MODEL.new_cache()
    MODEL(torch.tensor([[0, 7, 8]]), made)
    return made


def samples(**columns):
    """Two samples of one problem, as a sweep's table."""
    table = {"problem": [0, 0], "seed": [1, 2], "text": ["a", "b"], "n_tokens": [3, 4], "right": [True, False]}
    return pd.DataFrame(table | {"logprob": [-1.0, -2.0]} | columns)


ODD = {
    # The truth of an object in place of an answer
    "greedy": lambda: SamplingParams(greedy="False"),
    "include_stop": lambda: StopCriteria(include_stop="no"),
    "tool_calls": lambda: StopCriteria(tool_calls=float("nan")),
    "use_cache": lambda: generate(MODEL, VOCAB, "a", use_cache="False"),
    "tie_embeddings": lambda: config(tie_embeddings="false"),
    "nfc": lambda: load_text("tales.txt", nfc="NFC"),
    # A truth value in place of a number, also one of NumPy or torch
    "top_p": lambda: SamplingParams(top_p=np.True_),
    "temperature": lambda: SamplingParams(torch.tensor(True)),
    "top_k": lambda: top_k_filter(LOGITS, torch.tensor(True)),
    "seed": lambda: uniform(torch.tensor(True), 0),
    "max_new_tokens": lambda: StopCriteria(torch.tensor(True)),
    "sample": lambda: generate(MODEL, VOCAB, "a", sample=torch.tensor(True)),
    "atol": lambda: compare_logits(LOGITS, LOGITS, True),
    "n": lambda: distinct_n([1, 2, 1], True),
    "split": lambda: cached_equals_full(MODEL, [[0, 7]], True),
    "came true": lambda: reliability([0.1, 0.9], [float("nan"), "False"]),
    "right": lambda: spend(samples(right=[True, "False"]), 20),
    "measure": lambda: paired_tables(samples(), samples(right=["1", "0"]), "right"),
    "paired": lambda: runs_needed([1, 2], [2, 4], 1, paired="no"),
    # Rows of a sweep that failed
    "right of a failed row": lambda: spend(samples(right=[True, None]), 20),
    "logprob of a failed row": lambda: spend(samples(logprob=[-1.0, float("nan")]), 20),
    "columns": lambda: spend(samples().drop(columns="logprob"), 20),
    "no table": lambda: paired_tables([1, 0], [0, 1], "right"),
    # Numbers that were never looked at
    "seed of an interval": lambda: bootstrap_mean([1, 2], None),
    "n_resamples": lambda: bootstrap_mean([1, 2], 0, n_resamples=0),
    "n_bins": lambda: reliability([0.1, 0.9], [False, True], -1),
    "size": lambda: runs_needed([1, 2], [2, 4], float("inf")),
    "rope_theta": lambda: config(rope_theta="10000"),
    "norm_eps": lambda: config(norm_eps=float("nan")),
    "dropout": lambda: config(dropout=torch.tensor([0.1, 0.2])),
    "n_tokens": lambda: kv_cache_bytes(1, 1, 1, 1.5),
    "bytes_per_element": lambda: kv_cache_bytes(1, 1, 1, 1, 1, float("nan")),
    "n_new": lambda: step_cost(CONFIG, 3, -1),
    "crop": lambda: cache().crop(1.5),
    "prefix": lambda: reuse_prefix(cache(), torch.tensor([0.0, 7.9])),
    "confidence": lambda: proportion_ci(1, 2, torch.tensor([0.9, 0.95])),
    "confidence of a difference": lambda: paired_difference([1, 2], [2, 4], True),
    "add": lambda: counts_to_logits([[1, 2], [3, 4]], np.True_),
    "vocab_size": lambda: count_bigrams([0, 1], torch.tensor([2, 3])),
    "u": lambda: draw([0.5, 0.5], False),
    # A text, its characters or other things in place of documents
    "documents": lambda: VOCAB.encode_documents("abc."),
    "documents as numbers": lambda: VOCAB.encode_documents([1, None]),
    "documents of bytes": lambda: BpeVocab.train(["a"], 263).encode_documents([0.5]),
    "texts": lambda: BpeVocab.train({"a": 1}, 263),
    "documents to score": lambda: loss(MODEL, VOCAB, {"abc.": 3}),
    "a batch as one text": lambda: VOCAB.decode(torch.tensor([[7, 8]])),
    "a token as a text": lambda: BpeVocab.train(["a"], 263).decode(torch.tensor(7)),
    "prompts": lambda: generate_batch(MODEL, VOCAB, {"a": 1}),
    "prompts of no order": lambda: generate_batch(MODEL, VOCAB, {"a", "b"}),
    "prompts that run out": lambda: generate_batch(MODEL, VOCAB, (prompt for prompt in "ab")),
    "text of documents": lambda: CharVocab.from_text(["abc", "."]),
    "text to split": lambda: split_documents(None),
    "text to judge": lambda: coherence(["The fox ran."]),
    "eos": lambda: StopCriteria(eos=b"ab"),
    # Arrays that hold no numbers, not real ones, or none at all
    "logits": lambda: top_p_filter(None, 0.5),
    "complex logits": lambda: next_token_probs(torch.tensor([1 + 5j, 2]), SamplingParams()),
    "logits elsewhere": lambda: next_token_probs(torch.zeros(3, device="meta"), SamplingParams()),
    "scattered logits": lambda: next_token_probs(torch.eye(3).to_sparse(), SamplingParams()),
    "logits to compare": lambda: compare_logits({"a": 1}, LOGITS),
    "complex logits to compare": lambda: compare_logits([1j, 2], [1j, 2]),
    "counts": lambda: counts_to_logits(5),
    "ids": lambda: NgramLM.fit([0.5, 1.7, 1.2], 2, 2),
    "ids with gradients": lambda: count_bigrams(torch.tensor([0.0, 1.0], requires_grad=True), 2),
    # One thing in the place of another
    "params": lambda: next_token_probs(LOGITS, 0.7),
    "order": lambda: SamplingParams(order=torch.tensor([1, 2])),
    "model": lambda: generate(load_model("tiny_llama"), VOCAB, "a"),
    "vocab": lambda: generate(MODEL, "abc", "a"),
    "model and vocab exchanged": lambda: generate(VOCAB, MODEL, "a"),
    "model to stream": lambda: stream((MODEL, VOCAB), VOCAB, "a"),
    "model without a cache": lambda: generate(lambda ids, cache=None: BIGRAM(ids), VOCAB, "a"),
    "model of a sweep": lambda: sweep((BIGRAM, VOCAB), VOCAB, ["a"], {"s": SamplingParams()}, [1]),
    "model to score": lambda: loss(VOCAB, MODEL, ["abc."]),
    "model to train": lambda: train_transformer(BIGRAM, VOCAB, [["abc."]]),
    "settings of a training": lambda: train_transformer(MODEL, VOCAB, [["abc."]], 100),
    "n_jobs": lambda: sweep(BIGRAM, VOCAB, ["a"], {"s": SamplingParams()}, [1], n_jobs=0),
    "a token from the end": lambda: accept([0.5, 0.5], [0.5, 0.5], -1, 0.3),
    "folder": lambda: save_model(MODEL, VOCAB, ""),
    "folder to load": lambda: load_model(" "),
}


@pytest.mark.parametrize("name", ODD)
def test_an_odd_argument_is_refused_in_words_of_ours(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises((TypeError, ValueError)) as refused:
        ODD[name]()
    where = refused.traceback[-1].path
    assert OURS in Path(where).parents and " " in str(refused.value)
    assert "expected" in str(refused.value) or "give" in str(refused.value)
    assert not any(tmp_path.iterdir())


@pytest.mark.parametrize("flag", [True, np.True_, torch.tensor(True)])
def test_a_truth_value_of_any_library_is_one(flag):
    assert SamplingParams(greedy=flag).greedy is True and StopCriteria(include_stop=flag).include_stop is True
    assert StopCriteria(eos=flag).eos is True


def test_a_model_without_a_cache_goes_on_without_one():
    model = lambda ids, cache=None: BIGRAM(ids)  # noqa: E731
    params, stopping = SamplingParams(seed=1), StopCriteria(5)
    alone = generate(model, VOCAB, "a", params, stopping, use_cache=False)
    assert alone.text == generate(BIGRAM, VOCAB, "a", params, stopping).text


def test_four_bits_are_half_a_byte():
    assert kv_cache_bytes(1, 1, 4, 1, bytes_per_element=0.5) == 4

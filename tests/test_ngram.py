"""The n-gram model: counts by an oracle in plain Python, contexts that back off, and a cache that forgets."""

import math
from collections import Counter

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from course_utils.bigram import BigramLM
from course_utils.generation import generate
from course_utils.ngram import NgramLM
from course_utils.sampling import SamplingParams
from course_utils.text import CharVocab

V = 5


def expected(ids, n, context):
    """What followed the longest end of the context that anything followed."""
    context = tuple(context[len(context) - min(n - 1, len(context)) :])
    while True:
        followers = Counter(
            ids[end] for end in range(len(context), len(ids)) if tuple(ids[end - len(context) : end]) == context
        )
        if followers:
            total = sum(followers.values())
            return [math.log(followers[i] / total) if followers[i] else -math.inf for i in range(V)]
        context = context[1:]


@given(st.lists(st.integers(0, V - 1), min_size=1, max_size=40), st.integers(1, 6),
       st.lists(st.integers(0, V - 1), min_size=1, max_size=8))  # fmt: skip
@settings(deadline=None, max_examples=150)
def test_counts_and_shorter_contexts(ids, n, text):
    model = NgramLM.fit(ids, n, V)
    logits = model(torch.tensor([text]))
    for place in range(len(text)):
        assert logits[0, place].tolist() == pytest.approx(expected(ids, n, text[: place + 1]))


def test_of_two_tokens_it_is_the_bigram():
    vocab = CharVocab.from_text("abc ab")
    ids = vocab.encode_documents(["abc", "abab c"])
    model, bigram = NgramLM.fit(ids, 2, len(vocab)), BigramLM.fit(ids, len(vocab))
    seen = torch.tensor([sorted({*ids.tolist()[:-1]})])
    assert torch.allclose(model(seen).exp(), bigram(seen).exp())


def test_a_cache_holds_what_comes_before_and_can_be_cropped():
    ids = [0, 1, 2, 0, 1, 3, 4, 1, 2]
    model = NgramLM.fit(ids, 3, V)
    cache = model.new_cache(2)
    model(torch.tensor([[0, 1], [4, 1]]), cache)
    assert cache.n_tokens == 2
    together = model(torch.tensor([[2], [2]]), cache)
    whole = model(torch.tensor([[0, 1, 2], [4, 1, 2]]))
    assert together.equal(whole[:, -1:])
    cache.crop(1)
    assert model(torch.tensor([[1], [1]]), cache).equal(whole[:, 1:2])
    with pytest.raises(ValueError, match="expected 0 to 2"):
        cache.crop(3)
    with pytest.raises(ValueError, match="The cache has 2 rows"):
        model(torch.tensor([[1]]), cache)


def test_texts_are_made_from_it_as_from_any_model():
    vocab = CharVocab.from_text("the cat sat on the mat.")
    model = NgramLM.fit(vocab.encode_documents(["the cat sat on the mat."] * 2), 5, len(vocab))
    assert generate(model, vocab, "the cat", SamplingParams(seed=0)).text == " sat on the mat."


def test_bad_input_is_refused():
    for ids, n, message in (
        ([], 2, "shape"),
        ([0, V], 2, "ids from 0 to 4"),
        ([-1], 2, "ids from 0 to 4"),
        ([0], 0, "n is 0"),
    ):
        with pytest.raises(ValueError, match=message):
            NgramLM.fit(ids, n, V)
    with pytest.raises(ValueError, match="token_ids has 5"):
        NgramLM.fit([0, 1], 2, V)(torch.tensor([[5]]))

"""Counting against a loop, smoothing by hand, and the table as a model."""

import math
from itertools import pairwise

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from course_utils import bigram
from course_utils.bigram import MAX_VOCAB_SIZE, BigramLM, count_bigrams, counts_to_logits
from course_utils.text import CharVocab

ABAB = [0, 1, 0, 1]


def count_by_hand(ids, vocab_size):
    counts = [[0] * vocab_size for _ in range(vocab_size)]
    for previous, following in pairwise(ids):
        counts[previous][following] += 1
    return counts


# --- counting


@given(st.lists(st.integers(0, 6), min_size=2, max_size=40), st.sampled_from([1, 2, 3, 5, 1000]))
def test_counting_is_the_loop_in_any_chunks(ids, chunk):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(bigram, "_CHUNK", chunk)
        counts = count_bigrams(ids, 7)
    assert counts.dtype == np.int64 and counts.sum() == len(ids) - 1
    assert counts.tolist() == count_by_hand(ids, 7)


def test_rows_are_the_previous_token():
    assert count_bigrams([0, 1, 0, 1, 2], 3).tolist() == [[0, 2, 0], [1, 0, 1], [0, 0, 0]]


@pytest.mark.parametrize("dtype", [np.uint8, np.uint16, np.int16, np.int32, np.int64, np.uint64])
def test_pairs_of_small_integers_do_not_overflow(dtype):
    ids = np.array([199, 199, 0, 198], dtype=dtype)
    counts = count_bigrams(ids, 200)
    assert counts[199, 199] == counts[199, 0] == counts[0, 198] == 1 and counts.sum() == 3
    assert np.array_equal(count_bigrams(ids.tolist(), 200), counts)
    assert np.array_equal(count_bigrams(torch.tensor(ids.tolist()), 200), counts)
    assert ids.tolist() == [199, 199, 0, 198] and ids.dtype == dtype


@pytest.mark.parametrize("ids", [[], [1], np.array(1), [[0, 1], [1, 0]], torch.zeros(2, 0, dtype=torch.long)])
def test_there_must_be_a_pair(ids):
    for call in (count_bigrams, BigramLM.fit):
        with pytest.raises(ValueError, match="at least two tokens"):
            call(ids, 2)


@pytest.mark.parametrize(("ids", "values"), [([0, 3], "0 to 3"), ([-1, 2], "-1 to 2"), ([0, 10**12], "0 to 10{12}")])
def test_ids_outside_the_vocabulary_are_refused(ids, values):
    with pytest.raises(ValueError, match=f"values from {values}; expected 0 to 2"):
        count_bigrams(ids, 3)


@pytest.mark.parametrize("ids", [[0.0, 1.0], [True, False], ["0", "1"], torch.tensor([0.5, 1])])
def test_ids_are_integers(ids):
    with pytest.raises(TypeError, match=r"expected (integers|a tensor, an array)"):
        count_bigrams(ids, 3)


@pytest.mark.parametrize("vocab_size", [0, -1, MAX_VOCAB_SIZE + 1, 1_000_000])
def test_a_vocabulary_too_large_for_a_table_is_refused_with_the_limit(vocab_size):
    with pytest.raises(ValueError, match=f"vocab_size is {vocab_size}; expected 1 to 5000"):
        count_bigrams([0, 0], vocab_size)


# --- from counts to logits


def test_rows_are_divided_by_their_own_sums():
    probs = counts_to_logits(count_bigrams(ABAB, 2), add=1).exp()
    assert probs.flatten().tolist() == pytest.approx([0.25, 0.75, 2 / 3, 1 / 3])


@given(st.lists(st.lists(st.integers(0, 50), min_size=4, max_size=4), min_size=4, max_size=4), st.floats(0, 3))
def test_each_row_is_a_distribution(counts, add):
    logits = counts_to_logits(counts, add)
    assert logits.shape == (4, 4) and logits.dtype == torch.float64
    for row, row_counts in zip(logits.exp().tolist(), counts, strict=True):
        total = sum(row_counts) + 4 * add
        assert row == pytest.approx([(n + add) / total for n in row_counts] if total else [0.25] * 4)


def test_an_unseen_pair_is_minus_infinity_and_an_unseen_row_uniform():
    logits = counts_to_logits([[2, 0], [0, 0]])
    assert logits.tolist() == [[0, -math.inf], [pytest.approx(math.log(0.5))] * 2]


def test_add_one_makes_every_pair_possible():
    logits = BigramLM.fit(ABAB, 2, add=1)(torch.tensor([[0]]))[0, -1]
    assert -logits[0].item() == pytest.approx(1.386294, abs=1e-6)  # "aa" never occurred
    assert BigramLM.fit(ABAB, 2)(torch.tensor([[0]]))[0, -1, 0] == -math.inf


@pytest.mark.parametrize("add", [-1, -1e-9, math.nan, math.inf])
def test_add_is_0_or_more(add):
    with pytest.raises(ValueError, match=f"add is {add}"):
        counts_to_logits([[1, 1], [1, 1]], add)


@pytest.mark.parametrize("count", [-1, -0.5, math.nan, math.inf])
@pytest.mark.parametrize("add", [0, 2])
def test_counts_are_0_or_more_before_anything_is_added(count, add):
    with pytest.raises(ValueError, match="expected finite numbers of 0 or more"):
        counts_to_logits([[1, count], [1, 1]], add)


def test_counts_stay_as_they_are():
    counts = torch.tensor([[1.0, 2.0], [0.0, 0.0]], dtype=torch.float64)
    counts_to_logits(counts, add=1), counts_to_logits(counts)
    assert counts.tolist() == [[1, 2], [0, 0]]


# --- the model


def test_each_position_scores_the_token_after_it():
    model = BigramLM.fit([0, 1, 2, 0, 1, 1, 0], 3)
    logits = model(torch.tensor([[0, 1, 2], [2, 2, 0]]))
    assert logits.shape == (2, 3, 3)
    expected = counts_to_logits(count_bigrams([0, 1, 2, 0, 1, 1, 0], 3))
    assert torch.equal(logits[0], expected[[0, 1, 2]]) and torch.equal(logits[1], expected[[2, 2, 0]])


def test_documents_are_bounded_by_their_marks():
    vocab = CharVocab.from_text("ab")
    model = BigramLM.fit(vocab.encode_documents(["ab", "b"]), len(vocab))
    a, b = vocab.encode("ab")

    def after(token_id):
        probs = model(torch.tensor([[token_id]]))[0, -1].exp()
        return {i: pytest.approx(prob) for i, prob in enumerate(probs.tolist()) if prob}

    assert after(vocab.bos_id) == {a: 0.5, b: 0.5}  # how documents begin
    assert after(b) == {vocab.eos_id: 1}  # how they end
    assert after(vocab.eos_id) == {vocab.bos_id: 1}
    assert after(vocab.pad_id) == dict.fromkeys(range(len(vocab)), 1 / len(vocab))  # never seen


def test_counting_is_what_gradient_descent_finds():
    ids = torch.tensor([0, 1, 0, 1, 2, 2, 0, 2, 1, 1, 0, 0, 1, 0, 2, 1, 2, 2, 2, 0])
    counted = BigramLM.fit(ids, 3)
    trained = BigramLM(torch.zeros(3, 3, dtype=torch.float64))
    for _ in range(200):
        loss = torch.nn.functional.cross_entropy(trained(ids[None, :-1])[0], ids[1:])
        (gradient,) = torch.autograd.grad(loss, trained.table)
        with torch.no_grad():
            trained.table -= 5 * gradient
    difference = trained.table.log_softmax(-1) - counted.table
    assert difference.abs().max() < 0.01  # nats


def test_a_cache_counts_tokens_and_changes_no_logit():
    model = BigramLM.fit(ABAB, 2, add=1)
    cache = model.new_cache(batch_size=2)
    ids = torch.tensor([[0, 1, 1], [1, 0, 1]])
    in_parts = torch.cat([model(ids[:, :2], cache), model(ids[:, 2:], cache)], dim=1)
    assert torch.equal(in_parts, model(ids)) and cache.n_tokens == 3
    with pytest.raises(ValueError, match=r"cache has 2 rows; token_ids has 1"):
        model(ids[:1], cache)
    assert cache.n_tokens == 3 and model.new_cache().batch_size == 1


@pytest.mark.parametrize("ids", [[[-1]], [[0, 2]], [[0], [-2]]])
def test_the_model_refuses_ids_outside_its_vocabulary(ids):
    with pytest.raises(ValueError, match=r"token_ids has (-1|2|-2); expected ids from 0 to 1"):
        BigramLM.fit(ABAB, 2)(torch.tensor(ids))


def test_the_model_takes_a_batch():
    with pytest.raises(ValueError, match=r"shape \(2,\); expected \(B, T\)"):
        BigramLM.fit(ABAB, 2)(torch.tensor([0, 1]))


def test_a_table_is_square_and_holds_logits():
    for shape in ((2, 3), (4,), (1, 2, 2)):
        with pytest.raises(ValueError, match=r"expected \(V, V\)"):
            BigramLM(torch.zeros(shape))
    with pytest.raises(TypeError, match="counts_to_logits"):
        BigramLM(torch.zeros(2, 2, dtype=torch.long))

"""The exercises of notebook 05: their oracles by hand, and the model that notes what it is fed."""

import inspect

import numpy as np
import pytest
import torch

from course_utils import exercises
from course_utils.checker.exercise import Equals
from course_utils.exercises.common import noting_model
from course_utils.exercises.common.noting_model import (
    MockModel,
    below_zero,
    close,
    path,
    real_model,
    real_path,
    scores,
    tied,
)
from course_utils.transformer import Transformer

KV_BYTES, CACHED = exercises.exercise("05.kv_bytes"), exercises.exercise("05.generate_cached")
LESSON, GQA = (32, 8, 128, 1, 1, 2), (2, 2, 8, 16, 1, 4)


def wanted(sizes):
    [case] = [case for case in KV_BYTES.cases if case.call.args() == sizes and isinstance(case.expect, Equals)]
    return case.expect.answer


def test_bytes_by_hand():
    assert wanted(LESSON) == 131_072
    assert wanted((32, 8, 128, 4096, 8, 2)) == 4 * 1024**3
    assert wanted(GQA) == 4096
    assert wanted((1, 1, 1, 1, 1, 1)) == 2


def test_the_large_sizes_are_beyond_32_bits_and_float32_and_within_what_is_compared_exactly():
    largest = max(case.expect.answer for case in KV_BYTES.cases if isinstance(case.expect, Equals))
    assert 2**32 < largest < 2**53 and int(np.float32(largest)) != largest


def gaps(prompt, n, row=scores, n_tokens=noting_model.V):
    """The distance of the two largest logits at each step."""
    ids = [*prompt, *path(prompt, n, row, n_tokens)]
    rows = [np.sort(row(ids[: len(prompt) + step], n_tokens)) for step in range(n)]
    return [row[-1] - row[-2] for row in rows]


def test_logits_tie_where_ties_are_probed_and_nowhere_else():
    assert 0 in gaps([2, 5], 8, tied)
    assert min(gaps([1, 3, 1, 5], 11)) > 0 and min(gaps([6, 0, 2], 130)) > 0 and min(gaps([1, 4], 5, below_zero)) > 0
    assert min(gaps([place * 37 % 301 for place in range(293)], 5, scores, 301)) > 0
    assert 0 < min(gaps([2, 5], 8, close)) < 1e-6


def test_below_zero_is_below_zero():
    row = below_zero([1, 4])
    assert row.max() < 0 and np.isneginf(row).sum() == 1


def test_the_real_models_choices_are_no_matter_of_float_noise():
    model, ids = real_model(), [1, 7, 12, 3]
    for token in real_path(ids, 9):
        best, second = model(torch.tensor([ids]))[0, -1].topk(2).values.tolist()
        assert best - second > 0.01
        ids = [*ids, token]
    assert len(set(ids)) > 5


def test_the_mock_is_called_as_a_transformer_is():
    for name in ("new_cache", "forward"):
        theirs, mine = (inspect.signature(getattr(kind, name)).parameters for kind in (Transformer, MockModel))
        assert list(theirs) == list(mine)
    real, mock = real_model().new_cache(), MockModel().new_cache()
    assert all(hasattr(cache, name) for cache in (real, mock)
               for name in ("n_tokens", "max_tokens", "batch_size", "token_ids", "crop", "reset"))  # fmt: skip
    model = MockModel()
    assert model(torch.tensor([[1, 2]]), model.new_cache()).shape == (1, 2, model.config.vocab_size)


@pytest.mark.parametrize("chunks", [[4], [1, 3], [2, 2], [1, 1, 1, 1]])
def test_the_mocks_logits_are_the_same_in_any_chunks(chunks):
    model, ids = MockModel(), torch.tensor([[3, 1, 4, 1]])
    cache = model.new_cache()
    rows = torch.cat([model(chunk, cache) for chunk in ids.split(chunks, dim=1)], dim=1)
    assert rows.equal(model(ids)) and cache.token_ids.tolist() == ids.tolist()


@pytest.mark.parametrize("make", [MockModel, real_model])
def test_the_reference_feeds_each_token_once(make):
    model = make()
    new = CACHED.solution()(model, [5, 4, 6], 4)
    assert [call.ids for call in model.fed] == [[5, 4, 6], *([token] for token in new[:-1])]
    assert [call.start for call in model.fed] == [0, 3, 4, 5] and len({id(call.cache) for call in model.fed}) == 1


def test_each_case_starts_with_nothing_noted_and_a_prompt_of_its_own():
    for case in CACHED.cases:
        model, prompt, n = case.call.args()
        assert model.fed == [] and n >= 0 and prompt and prompt is not case.call.args()[1]


def test_the_mocks_logits_depend_on_the_new_token_and_on_the_first_one():
    def after(tokens):
        model = MockModel()
        cache = model.new_cache()
        for token in tokens:  # one by one, from an empty cache on
            row = model(torch.tensor([[token]]), cache)[0, -1]
        return row

    assert not after([3, 1, 4]).equal(after([3, 1, 5])) and not after([3, 1, 4]).equal(after([2, 1, 4]))
    assert after([3]).equal(MockModel()(torch.tensor([[3]]))[0, -1])

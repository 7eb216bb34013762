"""What a forward pass costs: by hand, and against PyTorch's own counter."""

from itertools import pairwise

import pytest
import torch
from torch.utils.flop_counter import FlopCounterMode

from course_utils.step_cost import step_cost
from course_utils.transformer import Transformer, TransformerConfig

TINY = TransformerConfig(vocab_size=5, n_layer=1, n_head=2, n_kv_head=1, n_embd=4, block_size=64, n_inner=6)
GROUPED = TransformerConfig(vocab_size=11, n_layer=3, n_head=4, n_kv_head=2, n_embd=16, block_size=64, n_inner=20)


def test_by_hand():
    # For a token: queries 4 * 4, keys and values 4 * 2 each, back 4 * 4, gate, up and down 3 * 4 * 6, head 4 * 5.
    matrices = 16 + 8 + 8 + 16 + 72 + 20
    assert (
        step_cost(TINY, 3, 1).flops == 2 * matrices + 2 * 2 * (2 + 2) * 4
    )  # 2 heads, scores and mixture over 4 tokens
    assert step_cost(TINY, 0, 2).flops == 2 * 2 * matrices + 16 * (1 + 2)
    assert step_cost(TINY, 3, 1).weight_bytes == 4 * matrices
    assert step_cost(TINY, 3, 1).cache_bytes == 3 * (2 + 2) * 4  # a key and a value of 2 numbers for each token
    assert step_cost(TINY, 3, 1).bytes_read == 4 * matrices + 48


def test_a_batch_shares_the_weights_and_nothing_else():
    one, eight = (step_cost(GROUPED, 10, 1, batch_size, 2) for batch_size in (1, 8))
    assert eight.weight_bytes == one.weight_bytes
    assert (eight.flops, eight.cache_bytes) == (8 * one.flops, 8 * one.cache_bytes)


@pytest.mark.parametrize("config", [TINY, GROUPED])
@pytest.mark.parametrize(("n_cached", "n_new"), [(0, 1), (1, 1), (20, 1), (0, 7), (9, 4)])
@torch.no_grad()
def test_the_matrices_are_what_pytorch_counts(config, n_cached, n_new):
    model = Transformer(config)
    cache = model.new_cache()
    if n_cached:
        model(torch.zeros(1, n_cached, dtype=torch.int64), cache)
    with FlopCounterMode(display=False) as counter:
        model(torch.ones(1, n_new, dtype=torch.int64), cache)
    counts = {str(operation): count for operation, count in counter.get_flop_counts()["Global"].items()}
    products = sum(count for name, count in counts.items() if "mm" in name)
    pairs = n_new * n_cached + n_new * (n_new + 1) // 2
    assert products == step_cost(config, n_cached, n_new).flops - 4 * config.n_layer * config.n_embd * pairs


def test_the_weights_are_those_of_the_model_without_embedding_and_gains():
    numbers = sum(p.numel() for name, p in Transformer(GROUPED).named_parameters() if p.ndim == 2) - 11 * 16
    assert step_cost(GROUPED, 0, 1).weight_bytes == 4 * numbers


def test_the_cache_is_as_large_as_a_real_one():
    cache = Transformer(GROUPED).new_cache(batch_size=3, max_tokens=9)
    assert step_cost(GROUPED, 9, 1, 3).cache_bytes == cache.n_bytes_allocated


def test_how_a_step_grows():
    def differences(values):
        return [b - a for a, b in pairwise(values)]

    cached = [step_cost(GROUPED, n - 1, 1).flops for n in range(1, 20)]
    whole = [step_cost(GROUPED, 0, n).flops for n in range(1, 20)]
    assert len(set(differences(cached))) == 1 and cached[0] == whole[0]  # linear
    assert len(set(differences(differences(whole)))) == 1 and len(set(differences(whole))) > 1  # quadratic
    assert sum(cached) == whole[-1]  # nothing is left out: the work is done once instead of again

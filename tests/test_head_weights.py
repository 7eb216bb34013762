"""Attention weights computed anew: they are those that the model uses, and they are added up over the right words."""

import pytest
import torch

from course_utils.head_weights import attention_weights, by_words, on_repeats
from course_utils.transformer import Transformer, TransformerConfig

CONFIG = TransformerConfig(vocab_size=11, n_layer=2, n_head=4, n_kv_head=2, n_embd=32, block_size=16, dropout=0.5)


@pytest.fixture(scope="module")
def model():
    torch.manual_seed(3)
    return Transformer(CONFIG)


def test_the_weights_mix_the_values_to_what_the_model_computes(model):
    ids, computed, given = torch.tensor([[1, 5, 2, 2, 9, 0, 7]]), [], []
    layers = model.model.layers
    hooks = [layer.self_attn.register_forward_hook(lambda part, x, y: computed.append(y)) for layer in layers]
    hooks += [layer.self_attn.v_proj.register_forward_hook(lambda part, x, y: given.append(y)) for layer in layers]
    weights = attention_weights(model.eval(), ids)
    for hook in hooks:
        hook.remove()
    assert weights.shape == (2, 4, 7, 7) and torch.allclose(weights.sum(-1), torch.ones(2, 4, 7))
    assert (weights.triu(1) == 0).all()
    for layer, head_weights, v, output in zip(layers, weights, given, computed, strict=True):
        values = v[0].view(7, 2, 8).transpose(0, 1).repeat_interleave(2, 0)  # two query heads share a key/value head
        mixed = (head_weights @ values).transpose(0, 1).reshape(7, 32)
        assert torch.allclose(layer.self_attn.o_proj(mixed), output[0], atol=1e-6)


def test_the_model_is_left_as_it_was(model):
    model.train()
    ids = torch.tensor([[1, 5, 2]])
    assert torch.equal(attention_weights(model, ids), attention_weights(model, ids))  # no dropout
    assert model.training and not any(layer.self_attn._forward_pre_hooks for layer in model.model.layers)
    with pytest.raises(ValueError, match=r"\(2, 3\); expected \(1, T\)"):
        attention_weights(model, ids.repeat(2, 1))


def test_words_by_hand():
    weights = torch.tensor([[1.0, 0, 0, 0, 0, 0, 0],  # <bos> comes before a: row 0
                            [0.5, 0.5, 0, 0, 0, 0, 0],
                            [0.1, 0.2, 0.7, 0, 0, 0, 0],  # the space comes before bc: row 1
                            [0, 0, 0, 1, 0, 0, 0],
                            [0, 0, 0, 0, 1, 0, 0],
                            [0.1, 0.1, 0.1, 0.2, 0.2, 0.3, 0],  # the mark comes before d: row 2
                            [0, 0, 0, 0, 0, 0, 1]])  # fmt: skip
    rows, words = by_words(weights[None], "a bc.d")
    assert words == ["a", "bc", "d"]
    assert torch.allclose(rows[0], torch.tensor([[1.0, 0, 0, 0], [0.1, 0.9, 0, 0], [0.1, 0.2, 0.7, 0]]))
    with pytest.raises(ValueError, match="cover 7 tokens; expected 3"):
        by_words(weights, "ab")


def test_repeats_by_hand():
    rows = torch.arange(20.0).reshape(1, 1, 4, 5)  # the token before word i, and the column j + 1 of word j
    same, other = on_repeats(rows, ["coat", "the", "goat", "coat"])
    assert same.flatten().tolist() == [16] and other.flatten().tolist() == [18]
    same, other = on_repeats(rows, ["coat", "coat", "goat", "coat"])
    assert same.flatten().tolist() == [6, 16 + 17] and other.flatten().tolist() == [18]
    same, other = on_repeats(rows, ["a", "goat", "a", "coat"])
    assert same.shape == other.shape == (0, 1, 1)

"""The tiny Llama: equal to a slow reference and to transformers' Llama; with a cache equal to without, however fed."""

import copy
import itertools
import math
from collections import Counter
from random import Random

import pytest
import torch
import torch.nn.functional as F
from hypothesis import given, settings
from hypothesis import strategies as st

from course_utils.checkpoint import load_model, save_model
from course_utils.compare_logits import compare_logits
from course_utils.fast_decode import plan
from course_utils.generation import generate
from course_utils.kv_cache import KVCache, kv_cache_bytes, latent_cache_bytes, reuse_prefix
from course_utils.sampling import SamplingParams
from course_utils.stopping import StopCriteria
from course_utils.text import CharVocab
from course_utils.transformer import (
    Transformer,
    TransformerConfig,
    causal_mask,
    rms_norm,
    rotate,
    rotation_by_halves,
    rotations,
)

HEADS = {"multi-head": 4, "grouped-query": 2, "multi-query": 1}
TOLERANCE = 2e-5  # of logits of about 1 to 3 in float32; a fault shows from about 1e-2 on


def made(seed=0, block_size=32, **changes):
    """A model whose weights are large enough to show a fault, each head and layer its own, gains other than 1."""
    torch.manual_seed(seed)
    settings = dict(vocab_size=23, n_layer=2, n_head=4, n_kv_head=2, n_embd=32, block_size=block_size) | changes
    model = Transformer(TransformerConfig(**settings)).eval()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(torch.randn_like(parameter) * 0.15)
    return model


def ids_for(model, batch_size, n_tokens, seed=1):
    generator = torch.Generator().manual_seed(seed)
    return torch.randint(model.config.vocab_size, (batch_size, n_tokens), generator=generator)


@torch.no_grad()
def fed(model, ids, chunks, cache=None, mask=None):
    """The logits at every position, when the ids go in chunk by chunk."""
    cache = cache or model.new_cache(ids.shape[0])
    logits, end = [], 0
    for length in chunks:
        end += length
        covered = None if mask is None else mask[:, :end]
        logits.append(model(ids[:, end - length : end], cache, attention_mask=covered))
    return torch.cat(logits, dim=1)


@torch.no_grad()
def full(model, ids, mask=None):
    return model(ids, attention_mask=mask)


def gap(a, b):
    assert a.shape == b.shape and a.numel() and torch.isfinite(a).all() and torch.isfinite(b).all()
    return (a - b).abs().max().item()


# A reference that shares nothing with the model but its weights: one head, one pair, one position at a time


def slow_logits(model, ids):
    """Logits (T, V) of ids (T,), from the formulae, in float64, without a matrix over positions."""
    config = model.config
    weights = {name: parameter.detach().double() for name, parameter in model.named_parameters()}
    H, K, D = config.n_head, config.n_kv_head, config.head_dim

    def norm(vector, gain):
        return vector / math.sqrt(float(vector @ vector) / len(vector) + config.norm_eps) * gain

    def turned(vector, position):
        out = vector.clone()
        for pair in range(D // 2):
            angle = position * config.rope_theta ** (-2 * pair / D)
            a, b = vector[pair], vector[pair + D // 2]
            out[pair] = a * math.cos(angle) - b * math.sin(angle)
            out[pair + D // 2] = a * math.sin(angle) + b * math.cos(angle)
        return out

    def heads(vector):
        return vector.split(D)

    states = [weights["model.embed_tokens.weight"][token_id] for token_id in ids.tolist()]
    for index in range(config.n_layer):
        start = f"model.layers.{index}."
        of = {name.split(".")[-2]: w for name, w in weights.items() if name.startswith(start)}
        normed = [norm(state, of["input_layernorm"]) for state in states]
        queries, keys, values = ([heads(of[f"{x}_proj"] @ vector) for vector in normed] for x in "qkv")
        after = []
        for t, state in enumerate(states):
            mixed = []
            for h in range(H):
                kv = h // (H // K)  # neighbouring query heads share a key/value head
                query = turned(queries[t][h], t)
                scores = [float(query @ turned(keys[s][kv], s)) / math.sqrt(D) for s in range(t + 1)]
                shares = [math.exp(score - max(scores)) for score in scores]
                mixed.append(sum(w / sum(shares) * values[s][kv] for s, w in enumerate(shares)))
            after.append(state + of["o_proj"] @ torch.cat(mixed))
        states = []
        for state in after:
            vector = norm(state, of["post_attention_layernorm"])
            gate, up = of["gate_proj"] @ vector, of["up_proj"] @ vector
            states.append(state + of["down_proj"] @ (gate / (1 + (-gate).exp()) * up))
    head = weights.get("lm_head.weight", weights["model.embed_tokens.weight"])
    return torch.stack([head @ norm(state, weights["model.norm.weight"]) for state in states])


@pytest.mark.parametrize("n_kv_head", HEADS.values(), ids=HEADS)
@pytest.mark.parametrize("tied", [False, True], ids=["untied", "tied"])
def test_the_model_equals_a_slow_reference(n_kv_head, tied):
    """With fewer key/value heads than query heads it is the head axis that is shared out, never time."""
    model = made(n_kv_head=n_kv_head, tie_embeddings=tied)
    ids = ids_for(model, 1, 9)
    expected = slow_logits(model, ids[0]).float()
    assert gap(full(model, ids)[0], expected) < TOLERANCE
    assert gap(fed(model, ids, [4, 1, 3, 1])[0], expected) < TOLERANCE


@pytest.mark.parametrize("n_kv_head", HEADS.values(), ids=HEADS)
@pytest.mark.parametrize("tied", [False, True], ids=["untied", "tied"])
def test_logits_equal_those_of_transformers_on_the_same_folder(tmp_path, monkeypatch, n_kv_head, tied):
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    from transformers import LlamaForCausalLM

    model = made(n_kv_head=n_kv_head, tie_embeddings=tied, block_size=64)
    vocab = CharVocab("abcdefghijklmnop")
    save_model(model, vocab, tmp_path / "ours")
    theirs = LlamaForCausalLM.from_pretrained(tmp_path / "ours").eval()
    ids = ids_for(model, 3, 60)
    with torch.no_grad():
        assert gap(full(model, ids), theirs(ids).logits) < 1e-4
        mask = torch.arange(60) >= torch.tensor([[0], [7], [41]])
        positions = (mask.long().cumsum(-1) - 1).clamp_min(0)
        padded = theirs(ids, attention_mask=mask.long(), position_ids=positions).logits
    assert gap(full(model, ids, mask)[mask], padded[mask]) < 1e-4
    theirs.save_pretrained(tmp_path / "theirs")
    (tmp_path / "theirs" / "tokenizer.json").write_bytes((tmp_path / "ours" / "tokenizer.json").read_bytes())
    back, _ = load_model(tmp_path / "theirs")
    save_model(back, vocab, tmp_path / "again")
    assert (tmp_path / "again" / "config.json").read_bytes() == (tmp_path / "ours" / "config.json").read_bytes()
    for name, tensor in model.state_dict().items():
        assert torch.equal(back.state_dict()[name], tensor), name


def spread(config, seed):
    """A model whose parts all matter and whose logits spread over more than 5 on both sides."""
    model = Transformer(config).eval()
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for name, weight in model.named_parameters():
            if weight.ndim == 1:
                weight.uniform_(0.5, 1.5, generator=generator)
            else:
                is_table = "embed_tokens" in name or "lm_head" in name
                weight.normal_(0, (3 if is_table else 1) * weight.shape[1] ** -0.5, generator=generator)
    return model


def test_rounding_is_at_most_three_times_that_of_transformers_on_200_random_models():
    """Each way against the same model in float64, its rotations in float64 too: whole, in chunks, padded, planned."""
    from transformers import LlamaConfig, LlamaForCausalLM

    random, worst, spans = Random(0), Counter(), []
    for seed in range(200):
        n_kv_head, head_dim, n_layer = random.choice((1, 2, 4)), random.choice((4, 8, 16)), random.randint(1, 3)
        n_head, tied = n_kv_head * random.choice((1, 2, 3)), random.random() < 0.5
        config = TransformerConfig(29, n_layer, n_head, n_kv_head, n_head * head_dim, 64, tie_embeddings=tied)
        model = spread(config, seed)
        theirs = LlamaForCausalLM(
            LlamaConfig(vocab_size=29, hidden_size=config.n_embd, intermediate_size=config.n_inner, head_dim=head_dim,
                        num_hidden_layers=n_layer, num_attention_heads=n_head, num_key_value_heads=n_kv_head,
                        max_position_embeddings=64, rms_norm_eps=config.norm_eps, tie_word_embeddings=tied,
                        rope_parameters={"rope_type": "default", "rope_theta": config.rope_theta}, bos_token_id=0,
                        eos_token_id=1, pad_token_id=2)
        ).eval()  # fmt: skip
        assert list(theirs.state_dict()) == list(model.state_dict())
        theirs.load_state_dict(model.state_dict())
        exact = copy.deepcopy(model).double()
        table = rotations(head_dim, 64, config.rope_theta, dtype=torch.float64)
        exact.rotation = rotation_by_halves(table)
        n_tokens = random.randint(12, 48)
        ids = ids_for(model, 2, n_tokens, seed)
        right = full(exact, ids)
        spans.append((right.min().item(), right.max().item()))
        cuts = sorted(random.sample(range(1, n_tokens), 3))
        chunks = [b - a for a, b in itertools.pairwise([0, *cuts, n_tokens])]
        padded = torch.cat([ids_for(model, 2, 5), ids], dim=1)
        mask = torch.arange(n_tokens + 5).expand(2, -1) >= 5
        fast, first = plan(model), random.randint(1, n_tokens - 1)
        with torch.no_grad():
            found = {
                "transformers": theirs(ids).logits,
                "whole": model(ids),
                "chunks": fed(model, ids, chunks),
                "padded": full(model, padded, mask)[:, 5:],
                "padded chunks": fed(model, padded, [5 + cuts[0], n_tokens - cuts[0]], mask=mask)[:, 5:],
            }
        planned = fed(fast, ids[:1], [first, *[1] * (n_tokens - first)], fast.new_cache())
        worst["planned"] = max(worst["planned"], gap(planned.double(), right[:1]))
        for way, logits in found.items():
            worst[way] = max(worst[way], gap(logits.double(), right))
    assert max(low for low, _ in spans) < -5 and min(high for _, high in spans) > 5
    assert all(error <= 3 * worst["transformers"] for error in worst.values()), worst


# Other kinds of numbers, and inference mode


def test_a_model_in_bfloat16_gives_logits_and_texts():
    vocab = CharVocab("abcdefghijklmnop")
    model = made()
    ids, right = ids_for(model, 2, 12), full(made(), ids_for(model, 2, 12))
    for dtype in (torch.bfloat16, torch.float16):
        short = made().to(dtype)
        whole, parts = full(short, ids), fed(short, ids, [5, 1, 4, 1, 1])
        assert whole.dtype == parts.dtype == dtype
        assert compare_logits(whole, parts) and gap(whole.float(), right) < 0.05 * right.abs().max()
        assert len(generate(short, vocab, "abc", SamplingParams(seed=1), StopCriteria(6, eos=False)).token_ids) == 6


def test_a_model_loaded_and_used_in_inference_mode_gives_the_same_text():
    model, vocab = load_model("tiny_llama")
    arguments = "Once", SamplingParams(greedy=True), StopCriteria(30)
    right = generate(model, vocab, *arguments).text
    with torch.inference_mode():
        inside, _ = load_model("tiny_llama")
        assert generate(inside, vocab, *arguments).text == generate(model, vocab, *arguments).text == right
        cache = inside.new_cache()
        inside(torch.tensor([[0, 7]]), cache)
        kept = cache.copy()
    assert generate(inside, vocab, *arguments).text == right
    with torch.no_grad():  # a cache that was begun inside goes on outside
        ids = torch.tensor([[0, 7, 8, 9]])
        for one in (cache, kept):
            assert gap(inside(ids[:, 2:], one), full(inside, ids)[:, 2:]) < 1e-4
        inside.lm_head.weight.mul_(2)
    with pytest.raises(ValueError, match="weights have changed"):
        inside(ids[:, :1], cache)


def test_a_model_made_in_inference_mode_works_with_a_cache():
    with torch.inference_mode():
        model = made()
        ids = ids_for(model, 1, 8)
        assert gap(fed(model, ids, [3, 1, 4]), full(model, ids)) < TOLERANCE


def test_the_state_dict_has_the_names_of_transformers_and_head_is_another_name():
    model = made(n_layer=1)
    parts = ("self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj", "self_attn.o_proj", "mlp.gate_proj",
             "mlp.up_proj", "mlp.down_proj", "input_layernorm", "post_attention_layernorm")  # fmt: skip
    layer = [f"model.layers.0.{part}.weight" for part in parts]
    assert list(model.state_dict()) == ["model.embed_tokens.weight", *layer, "model.norm.weight", "lm_head.weight"]
    assert model.head is model.lm_head


class RowsOfTheirOwn:
    """A cache whose rows have different lengths: what the model asks of it is `Cache`, and no more."""

    def __init__(self, caches):
        self.caches = caches

    def check(self, model, token_ids):
        for cache, row in zip(self.caches, token_ids, strict=True):
            cache.check(model, row[None])

    def positions(self, n_new, attention_mask=None):
        return torch.cat([cache.positions(n_new) for cache in self.caches])

    def mask(self, n_new, attention_mask=None):
        lengths = torch.tensor([[cache.n_tokens] for cache in self.caches])
        last = lengths + torch.arange(n_new)  # (B, T): the last key that each new token may see
        return torch.arange(int(lengths.max()) + n_new) <= last[:, None, :, None]

    def append(self, layer, keys, values):
        rows = [cache.append(layer, k[None], v[None]) for cache, k, v in zip(self.caches, keys, values, strict=True)]
        longest = max(k.shape[2] for k, _ in rows)
        pad = [(F.pad(k, (0, 0, 0, longest - k.shape[2])), F.pad(v, (0, 0, 0, longest - v.shape[2]))) for k, v in rows]
        return torch.cat([k for k, _ in pad]), torch.cat([v for _, v in pad])

    def advance(self, token_ids):
        for cache, row in zip(self.caches, token_ids, strict=True):
            cache.advance(row[None])


@pytest.mark.parametrize("n_new", [1, 3])
def test_a_cache_may_give_each_row_its_own_length_positions_and_mask(n_new):
    model = made()
    texts = [ids_for(model, 1, n + n_new, seed=n) for n in (9, 2, 5)]
    caches = [model.new_cache() for _ in texts]
    for text, cache in zip(texts, caches, strict=True):
        fed(model, text[:, :-n_new], [text.shape[1] - n_new], cache)
    with torch.no_grad():
        logits = model(torch.cat([text[:, -n_new:] for text in texts]), RowsOfTheirOwn(caches))
    for row, text in zip(logits, texts, strict=True):
        assert gap(row, full(model, text)[0, -n_new:]) < TOLERANCE
    assert [cache.n_tokens for cache in caches] == [9 + n_new, 2 + n_new, 5 + n_new]


# With a cache as without


@st.composite
def situations(draw):
    n_kv_head = draw(st.sampled_from([1, 2, 4]))
    n_head = n_kv_head * draw(st.integers(1, 3))
    n_embd = 2 * n_head * draw(st.integers(1, 4))
    config = dict(
        n_layer=draw(st.integers(1, 3)),
        n_head=n_head,
        n_kv_head=n_kv_head,
        n_embd=n_embd,
        tie_embeddings=draw(st.booleans()),
    )
    n_tokens = draw(st.integers(1, 32))
    cuts = sorted(draw(st.sets(st.integers(1, n_tokens - 1)))) if n_tokens > 1 else []
    chunks = [b - a for a, b in itertools.pairwise([0, *cuts, n_tokens])]
    return config, draw(st.integers(1, 3)), n_tokens, chunks, draw(st.integers(0, 99))


@given(situations())
@settings(deadline=None, max_examples=60)
def test_cached_equals_full_for_any_shape_and_chunking(situation):
    config, batch_size, n_tokens, chunks, seed = situation
    model = made(seed, **config)
    ids = ids_for(model, batch_size, n_tokens, seed)
    assert gap(fed(model, ids, chunks), full(model, ids)) < TOLERANCE


@given(st.data())
@settings(deadline=None, max_examples=40)
def test_a_row_means_the_same_alone_and_padded_on_either_side(data):
    model = made(data.draw(st.integers(0, 9)))
    lengths = data.draw(st.lists(st.integers(1, 12), min_size=2, max_size=4))
    left, width = data.draw(st.booleans()), max(lengths)
    split = data.draw(st.integers(1, width))
    rows = [ids_for(model, 1, n, seed=n)[0] for n in lengths]
    ids = torch.full((len(rows), width), 5)  # a real token's id: only the mask says what is padding
    mask = torch.zeros(len(rows), width, dtype=torch.bool)
    for index, row in enumerate(rows):
        place = slice(width - len(row), width) if left else slice(0, len(row))
        ids[index, place], mask[index, place] = row, True
    chunks = [split, width - split] if split < width else [width]
    for logits in (full(model, ids, mask), fed(model, ids, chunks, mask=mask)):
        assert torch.isfinite(logits).all()
        for index, row in enumerate(rows):
            assert gap(logits[index][mask[index]], full(model, row[None])[0]) < TOLERANCE


@pytest.mark.parametrize("n_tokens", [1, 2, 3, 31, 32])
def test_short_and_full_contexts_agree_at_every_position(n_tokens):
    model = made()
    ids = ids_for(model, 2, n_tokens)
    assert gap(fed(model, ids, [1] * n_tokens), full(model, ids)) < TOLERANCE


def test_the_tolerance_can_tell_a_fault_from_noise():
    """In these models, two tokens swapped, or a position off by one, is a thousand times the tolerance."""
    model = made()
    ids = ids_for(model, 1, 12)
    swapped = ids.clone()
    swapped[0, [2, 3]] = ids[0, [3, 2]]
    assert gap(full(model, swapped)[:, -1], full(model, ids)[:, -1]) > 1000 * TOLERANCE
    late = model.new_cache()
    fed(model, ids[:, :6], [6], late)
    late.n_tokens -= 1  # the last token is forgotten, and the others move up
    with torch.no_grad():
        assert gap(model(ids[:, 6:], late), full(model, ids)[:, 6:]) > 1000 * TOLERANCE


def test_the_past_does_not_change_when_a_token_is_added():
    model = made()
    ids = ids_for(model, 1, 12)
    with torch.no_grad():
        longer, shorter = model.hidden_states(ids), model.hidden_states(ids[:, :-1])
    assert gap(longer[:, :-1], shorter) < TOLERANCE


# Parts, by hand


def test_the_mask_of_a_chunk_is_aligned_bottom_right():
    assert causal_mask(2, 6).tolist() == [[1, 1, 1, 1, 1, 0], [1, 1, 1, 1, 1, 1]]
    assert causal_mask(3, 3).tolist() == [[1, 0, 0], [1, 1, 0], [1, 1, 1]]
    assert causal_mask(1, 4).tolist() == [[1, 1, 1, 1]]


def test_a_chunk_attends_to_its_past_and_not_to_its_future():
    """Scores all 0: the mean of what may be seen."""
    values = torch.arange(6.0)
    weights = causal_mask(2, 6).float().log().softmax(-1)
    assert (weights @ values).tolist() == pytest.approx([2.0, 2.5])


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32])
def test_the_mask_is_no_number_that_a_dtype_may_not_hold(dtype):
    mask = made().places(torch.tensor([[4, 5, 2]]), None, torch.tensor([[1, 1, 0]]))[1]
    assert mask.dtype == torch.bool
    same = torch.zeros(1, 1, 3, 4, dtype=dtype)  # all scores are equal, and the values read off the weights
    weights = F.scaled_dot_product_attention(same, same, torch.eye(3, dtype=dtype)[None, None], mask)
    assert weights[0, 0, 2].tolist() == [0.5, 0.5, 0.0]


def averaging_model():
    """One layer whose scores are all 0, so that attention is the mean of the values.

    Token i has the value i in the first dimension; the logit 0 reads what attention added.
    """
    model = Transformer(TransformerConfig(11, n_layer=1, n_head=1, n_kv_head=1, n_embd=2, block_size=16, n_inner=1))
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.zero_()
        layer = model.model.layers[0]
        model.model.embed_tokens.weight[:, 1] = 1.0
        model.model.embed_tokens.weight[:, 0] = torch.arange(11.0)
        layer.input_layernorm.weight.fill_(1.0)
        layer.self_attn.v_proj.weight[0] = torch.tensor([1.0, 0.0])  # the value is the normalised first dimension
    return model.eval()


def normalised(token_ids):
    values = torch.tensor([float(i) for i in token_ids])
    return values / ((values.square() + 1) / 2 + 1e-5).sqrt()


@pytest.mark.parametrize("chunks", [[4], [1, 3], [2, 2], [1, 1, 1, 1], [3, 1]])
def test_every_token_is_stored_once_and_sees_itself(chunks):
    model = averaging_model()
    ids = torch.tensor([[1, 2, 3, 10]])
    cache, seen, end = model.new_cache(), [], 0
    mixing = model.model.layers[0].self_attn.o_proj
    mixing.register_forward_pre_hook(lambda module, args: seen.extend(args[0][0, :, 0].tolist()))
    for length in chunks:
        with torch.no_grad():
            model(ids[:, end : end + length], cache)
        end += length
    values = normalised([1, 2, 3, 10])
    assert seen == pytest.approx([values[: t + 1].mean().item() for t in range(4)], abs=1e-6)
    assert cache.n_tokens == 4 and cache.token_ids.tolist() == [[1, 2, 3, 10]]
    assert cache.values(0)[0, 0, :, 0].tolist() == pytest.approx(values.tolist(), abs=1e-6)


def test_rotation_depends_on_the_position():
    table = rotation_by_halves(rotations(2, 5, theta=1.0))
    vector = torch.tensor([[[[1.0, 0.0]]]])
    for position, expected in ((0, [1.0, 0.0]), (3, [-0.989992, 0.14112])):
        turned = rotate(vector, table[:, None, None, position : position + 1].unbind())
        assert turned.flatten().tolist() == pytest.approx(expected, abs=1e-6)
    four = rotate(
        torch.tensor([[[[1.0, 0.0, 0.0, 1.0]]]]),
        rotation_by_halves(rotations(4, 5, theta=4.0))[:, None, None, 3:4].unbind(),
    )
    assert four.flatten().tolist() == pytest.approx([math.cos(3), -math.sin(1.5), math.sin(3), math.cos(1.5)], abs=1e-6)


def test_rms_norm_by_hand():
    # The mean of the squares of 3 and 4 is 12.5.
    assert rms_norm(torch.tensor([3.0, 4.0]), torch.tensor([1.0, 2.0]), 0.0).tolist() == pytest.approx(
        [3 / 12.5**0.5, 8 / 12.5**0.5]
    )
    assert rms_norm(torch.zeros(2), torch.ones(2), 1e-5).tolist() == [0.0, 0.0]


def test_parameters_are_counted_once():
    config = TransformerConfig(7, n_layer=3, n_head=4, n_kv_head=1, n_embd=16, block_size=8, n_inner=24)
    layer = (16 + 2 * 4) * 16 + 16 * 16 + 3 * 16 * 24 + 2 * 16  # attention, its output, feed-forward, gains
    assert Transformer(config).n_parameters() == 2 * 7 * 16 + 3 * layer + 16
    tied = TransformerConfig(**{**config.__dict__, "tie_embeddings": True})
    assert Transformer(tied).n_parameters() == 7 * 16 + 3 * layer + 16


@pytest.mark.parametrize(("n_embd", "n_inner"), [(128, 352), (96, 256), (12, 32)])
def test_the_feed_forward_width_is_eight_thirds_rounded_up(n_embd, n_inner):
    assert TransformerConfig(9, 1, 2, 1, n_embd, 8).n_inner == n_inner


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        (dict(n_layer=0), "n_layer is 0"),
        (dict(n_embd=30), "multiple of 2 * n_head"),
        (dict(n_kv_head=3), "expected a multiple of n_kv_head, which is 3"),
        (dict(dropout=1.0), "dropout is 1.0"),
        (dict(block_size=2.5), "block_size is 2.5"),
        (dict(n_inner=0), "n_inner is 0"),
        (dict(vocab_size=True), "vocab_size is True"),
    ],
)
def test_a_shape_that_cannot_be_is_refused(changes, said):
    settings = dict(vocab_size=9, n_layer=1, n_head=4, n_kv_head=2, n_embd=32, block_size=8) | changes
    with pytest.raises(ValueError, match=said.replace("*", r"\*")):
        TransformerConfig(**settings)


def test_dropout_acts_in_training_mode_only():
    model = made(dropout=0.5)
    ids = ids_for(model, 1, 8)
    assert torch.equal(full(model, ids), full(model, ids))
    model.train()
    assert not torch.equal(full(model, ids), full(model, ids))


def test_a_context_beyond_block_size_is_refused_before_anything_is_stored():
    model = made(block_size=8)
    with pytest.raises(ValueError, match=r"9 tokens.*made for 8"):
        model(ids_for(model, 1, 9))
    cache = model.new_cache(max_tokens=20)
    fed(model, ids_for(model, 1, 8), [8], cache)
    with pytest.raises(ValueError, match="made for 8"):
        model(ids_for(model, 1, 1), cache)
    assert cache.n_tokens == 8


def test_padding_takes_slots_but_no_positions():
    """A row of 8 real tokens behind 5 pads fits into a context of 8, if the cache has the slots."""
    model = made(block_size=8)
    ids = ids_for(model, 1, 8)
    padded = torch.cat([torch.zeros(1, 5, dtype=torch.long), ids], dim=1)
    mask = torch.arange(13)[None] >= 5
    logits = fed(model, padded, [6, 7], model.new_cache(1, max_tokens=13), mask)
    assert gap(logits[:, 5:], full(model, ids)) < TOLERANCE


def test_a_mask_that_does_not_cover_all_tokens_is_refused():
    model = made()
    cache = model.new_cache()
    fed(model, ids_for(model, 1, 4), [4], cache)
    with pytest.raises(ValueError, match="covers 1 tokens; expected 5"):
        model(ids_for(model, 1, 1), cache, attention_mask=torch.ones(1, 1))
    assert cache.n_tokens == 4


# What a cache is, and what it refuses


def test_the_cache_stores_heads_before_expansion():
    model = made(n_layer=2, n_head=8, n_kv_head=2, n_embd=64, block_size=16)
    cache = model.new_cache()
    fed(model, ids_for(model, 1, 16), [16], cache)
    assert cache.keys(0).shape == cache.values(1).shape == (1, 2, 16, 8)
    assert cache.n_bytes == 4096 == kv_cache_bytes(2, 2, 8, 16, bytes_per_element=4)
    assert cache.n_bytes_allocated == 4096


def test_the_figures_of_a_real_model():
    assert kv_cache_bytes(32, 8, 128, 1) == 131_072
    assert kv_cache_bytes(32, 8, 128, 4096) == 512 * 2**20
    assert kv_cache_bytes(32, 8, 128, 4096, batch_size=8) == 4 * 2**30


def test_bytes_are_those_of_the_tokens_and_not_of_the_store():
    model = made()
    cache = model.new_cache(3)
    assert cache.n_bytes == 0
    fed(model, ids_for(model, 3, 5), [5], cache)
    assert cache.n_bytes == sum(cache.keys(i).nbytes + cache.values(i).nbytes for i in range(2))
    assert cache.n_bytes == kv_cache_bytes(2, 2, 8, 5, 3, 4) and cache.n_bytes_allocated == cache.n_bytes * 32 // 5


@pytest.mark.parametrize("name", ["n_layer", "n_kv_head", "head_dim", "n_tokens", "batch_size", "bytes_per_element"])
def test_negative_sizes_are_refused(name):
    sizes = dict(n_layer=1, n_kv_head=1, head_dim=1, n_tokens=1)
    with pytest.raises(ValueError, match=f"{name} is -1"):
        kv_cache_bytes(**(sizes | {name: -1}))


def test_the_bytes_of_latents_by_hand():
    assert latent_cache_bytes(2, 3, 5, 7, 4) == 2 * 3 * 5 * 7 * 4  # one vector, not a key and a value
    assert latent_cache_bytes(n_layer=61, n_latent=576, n_tokens=1) == 70_272
    with pytest.raises(ValueError, match="n_latent is -1"):
        latent_cache_bytes(1, -1, 1)


def test_crop_then_continue_equals_a_fresh_run():
    model = made()
    cache = model.new_cache()
    fed(model, torch.tensor([[1, 2, 3, 4, 5]]), [5], cache)
    cache.crop(3)
    with torch.no_grad():
        logits = model(torch.tensor([[9]]), cache)
    assert cache.n_tokens == 4 and cache.token_ids.tolist() == [[1, 2, 3, 9]]
    assert gap(logits[:, -1], full(model, torch.tensor([[1, 2, 3, 9]]))[:, -1]) < TOLERANCE
    cache.reset()
    assert cache.n_tokens == 0
    assert gap(fed(model, torch.tensor([[7, 8]]), [2], cache), full(model, torch.tensor([[7, 8]]))) < TOLERANCE


@pytest.mark.parametrize("n_tokens", [-1, 6])
def test_crop_beyond_what_is_there_is_refused(n_tokens):
    model = made()
    cache = model.new_cache()
    fed(model, ids_for(model, 1, 5), [5], cache)
    with pytest.raises(ValueError, match=f"n_tokens is {n_tokens}; expected 0 to 5"):
        cache.crop(n_tokens)


def test_a_copy_goes_its_own_way():
    model = made()
    prefix = model.new_cache()
    ids = ids_for(model, 1, 12)
    fed(model, ids[:, :4], [4], prefix)
    a, b = prefix.copy(), prefix.copy()
    with torch.no_grad():
        model(ids[:, 4:7], a)
        after_a = model(ids[:, 7:9], b)
        alone = model(ids[:, 7:9], prefix.copy())
    assert prefix.n_tokens == 4 and a.n_tokens == 7 and b.n_tokens == 6
    assert torch.equal(after_a, alone)
    assert gap(after_a, full(model, torch.cat([ids[:, :4], ids[:, 7:9]], 1))[:, 4:]) < TOLERANCE


def test_reuse_stops_at_the_first_different_token():
    model = made()
    cache = model.new_cache()
    fed(model, torch.tensor([[1, 2, 3, 4, 5]]), [5], cache)
    prompt = torch.tensor([[1, 2, 9, 4]])
    reused = reuse_prefix(cache, prompt[0].tolist())
    assert reused == 2 == cache.n_tokens
    with torch.no_grad():
        hit = model(prompt[:, reused:], cache)
    assert cache.n_tokens == 4
    assert gap(hit, full(model, prompt)[:, 2:]) < TOLERANCE


def test_reuse_leaves_the_last_token_to_be_fed():
    model = made()
    cache = model.new_cache()
    fed(model, torch.tensor([[1, 2, 3]]), [3], cache)
    assert reuse_prefix(cache, [1, 2, 3]) == 2
    assert reuse_prefix(cache, [1, 2, 3, 4]) == 2  # 3 was forgotten by the call before
    assert reuse_prefix(cache, [8]) == 0
    model(torch.tensor([[1, 2, 3, 4, 5]]), cache)
    assert reuse_prefix(cache, [1, 2, 9, 4, 5, 6]) == 2  # behind a difference nothing is
    for call, said in (
        (lambda: reuse_prefix(cache, []), "empty"),
        (lambda: reuse_prefix(model.new_cache(2), [1]), "2"),
    ):
        with pytest.raises(ValueError, match=said):
            call()


def test_a_cache_refuses_another_model_changed_weights_other_rows_and_an_overflow():
    model, other = made(), made()
    ids = ids_for(model, 1, 4)

    def refused(said, user, token_ids, cache):
        before = cache.n_tokens, cache.keys(0).clone()
        with pytest.raises(ValueError, match=said):
            user(token_ids, cache)
        assert cache.n_tokens == before[0] and torch.equal(cache.keys(0), before[1])

    cache = model.new_cache()
    fed(model, ids, [4], cache)
    refused("another model", other, ids, cache)
    refused("another model", copy.deepcopy(model), ids, cache)
    refused("1 rows, token_ids 2", model, ids_for(model, 2, 4), cache)
    refused("holds 4 of at most 32 tokens, and 29 more", model, ids_for(model, 1, 29), cache)
    with torch.no_grad():
        model.model.layers[1].mlp.down_proj.weight[0, 0] += 1
    refused("weights have changed", model, ids[:, :1], cache)
    assert fed(model, ids, [4]).shape == (1, 4, 23)  # a new one works


def test_a_copy_refuses_changed_weights_too():
    model = made()
    cache = model.new_cache().copy()
    torch.optim.SGD(model.parameters(), lr=0.1).zero_grad()
    model(ids_for(model, 1, 3)).sum().backward()
    torch.optim.SGD(model.parameters(), lr=0.1).step()
    with pytest.raises(ValueError, match="weights have changed"):
        model(ids_for(model, 1, 3), cache)


@pytest.mark.parametrize("sizes", [(0, 8), (1, 0)])
def test_a_cache_of_no_rows_or_tokens_is_refused(sizes):
    with pytest.raises(ValueError, match="expected both to be at least 1"):
        KVCache(made(), 1, 1, 2, max_tokens=sizes[1], batch_size=sizes[0])


def test_prefill_and_training_see_the_same_model():
    """The loss falls, and each weight takes part."""
    torch.manual_seed(0)
    model = made().train()
    ids = ids_for(model, 4, 16)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    losses = []
    for _ in range(12):
        loss = torch.nn.functional.cross_entropy(model(ids[:, :-1]).flatten(0, 1), ids[:, 1:].flatten())
        loss.backward()
        assert all(p.grad is not None and p.grad.abs().sum() > 0 for p in model.parameters())
        optimizer.step()
        optimizer.zero_grad()
        losses.append(loss.item())
    assert losses[-1] < losses[0] / 2


def test_gradients_equal_those_of_finite_differences():
    model = made(n_layer=1, n_embd=8, n_head=2, n_kv_head=1, n_inner=4).double()
    ids = ids_for(model, 1, 5)
    model(ids).square().sum().backward()
    layer = model.model.layers[0]
    parts = layer.self_attn.q_proj, layer.self_attn.k_proj, layer.mlp.gate_proj, layer.input_layernorm
    for parameter in (part.weight for part in parts):
        index = parameter.grad.abs().flatten().argmax()
        expected, values, step = parameter.grad.flatten()[index].item(), parameter.data.view(-1), 1e-6
        sides = []
        for change in (step, -2 * step):
            values[index] += change
            sides.append(full(model, ids).square().sum().item())
        assert (sides[0] - sides[1]) / (2 * step) == pytest.approx(expected, rel=1e-5)


def test_a_cache_works_with_gradients_switched_on():
    model = made()
    ids, cache = ids_for(model, 1, 6), model.new_cache()
    logits = torch.cat([model(ids[:, :3], cache), model(ids[:, 3:4], cache), model(ids[:, 4:], cache)], dim=1)
    assert gap(logits.detach(), full(model, ids)) < TOLERANCE

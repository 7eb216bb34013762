"""Planted solutions to 04.count_parameters."""

import numpy as np
import torch

from wrong_solutions import planting

wrong, right = planting("04.count_parameters")


def good_count(config, **changed):
    """The right number, or with one part counted otherwise."""
    C, D, H, K = config.n_embd, config.head_dim, config.n_head, config.n_kv_head
    parts = {
        "q": C * H * D,
        "k": C * K * D,
        "v": C * K * D,
        "o": C * C,
        "mlp": 3 * C * config.n_inner,
        "norms": 2 * C,
        "biases": 0,
        "L": config.n_layer,
        "final": C,
        "embedding": config.vocab_size * C,
        "head": 0 if config.tie_embeddings else config.vocab_size * C,
        "more": 0,
        **changed,
    }
    layer = sum(parts[name] for name in ("q", "k", "v", "o", "mlp", "norms", "biases"))
    return parts["L"] * layer + parts["final"] + parts["embedding"] + parts["head"] + parts["more"]


@wrong("kv-heads")
def c_multi_head(config):
    C = config.n_embd
    return good_count(config, k=C * C, v=C * C)


@wrong("earlier-call")
def c_adds_up(config, total=[0]):
    total[0] += good_count(config)
    return total[0]


@wrong("earlier-call")
def c_first_answer(config, seen={}):
    return seen.setdefault("n", good_count(config))


@wrong("parts")
def c_list_of_parts(config):
    tables = config.vocab_size * config.n_embd * (1 if config.tie_embeddings else 2)
    return [tables, good_count(config) - tables]


def width_of(config):
    return (config.n_head + 2 * config.n_kv_head) * config.head_dim


for hint_id, attempt in [
    ("kv-heads", lambda c: good_count(c, k=c.n_embd**2, v=c.n_embd**2) if c.n_kv_head == 1 else good_count(c)),
    ("kv-heads", lambda c: good_count(c, k=c.n_embd**2 // 3, v=c.n_embd**2 // 3)),
    ("kv-heads", lambda c: good_count(c, k=c.n_embd * c.head_dim * min(2, c.n_kv_head))),
    ("kv-once", lambda c: good_count(c, k=0)),
    ("kv-once", lambda c: good_count(c, k=0, v=0)),
    ("one-layer", lambda c: good_count(c, L=1)),
    ("one-layer", lambda c: good_count(c) if c.n_layer > 1 else good_count(c, L=0)),
    ("outside-a-layer", lambda c: c.n_layer * good_count(c, L=1)),
    ("outside-a-layer", lambda c: good_count(c, final=c.n_layer * c.n_embd)),
    ("outside-a-layer", lambda c: good_count(c, embedding=c.n_layer * c.vocab_size * c.n_embd)),
    ("one-table", lambda c: good_count(c, head=0)),
    ("one-table", lambda c: good_count(c, head=0, embedding=0)),
    ("last-norm", lambda c: good_count(c, final=0)),
    ("norms", lambda c: good_count(c, norms=0)),
    ("norms", lambda c: good_count(c, norms=0, final=0)),
    ("norms", lambda c: good_count(c, norms=c.n_embd)),
    ("norm-bias", lambda c: good_count(c, norms=4 * c.n_embd, final=2 * c.n_embd)),
    ("biases", lambda c: good_count(c, biases=width_of(c) + 2 * c.n_embd + 2 * c.n_inner)),
    ("biases", lambda c: good_count(c, biases=width_of(c) + 2 * c.n_embd + 2 * c.n_inner, more=c.vocab_size)),
    ("biases", lambda c: good_count(c, biases=width_of(c))),
    ("position-table", lambda c: good_count(c, more=c.block_size * c.n_embd)),
    ("position-table", lambda c: good_count(c, more=c.block_size * c.head_dim)),
    ("two-matrices", lambda c: good_count(c, mlp=2 * c.n_embd * c.n_inner)),
    ("no-gate-half", lambda c: good_count(c, mlp=c.n_embd * c.n_inner)),
    ("no-gate-half", lambda c: good_count(c, mlp=0)),
    ("out-projection", lambda c: good_count(c, o=0)),
    ("four-times", lambda c: good_count(c, mlp=3 * c.n_embd * 4 * c.n_embd)),
    ("four-times", lambda c: good_count(c, mlp=3 * c.n_embd * int(8 * c.n_embd / 3))),
    ("not-the-count", lambda c: 4 * good_count(c)),
    ("not-the-count", lambda c: 2 * good_count(c)),
    ("not-the-count", lambda c: good_count(c) / 1e6),
    ("by-hand", lambda c: c.n_embd * c.n_inner),
    ("by-hand", lambda c: float("nan")),
    ("by-hand", lambda c: torch.tensor([good_count(c)])),
    ("by-hand", lambda c: str(good_count(c))),
    ("by-hand", lambda c: c.vocab_size),
    ("by-hand", lambda c: round(good_count(c), -2)),
    ("by-hand", lambda c: c),
    ("by-hand", lambda c: good_count(c) + 1),
    ("by-hand", lambda c: good_count(c) - 0.4),
    ("four-times", lambda c: good_count(c, mlp=2 * c.n_embd * 4 * c.n_embd)),
    ("tied", lambda c: good_count(c, head=c.vocab_size * c.n_embd)),
    ("tied", lambda c: good_count(c, embedding=0 if c.tie_embeddings else c.vocab_size * c.n_embd)),
    ("by-config", lambda c: good_count(c, embedding=29 * c.n_embd)),
    ("by-config", lambda c: good_count(c, k=c.n_embd * c.n_kv_head * 4, v=c.n_embd * c.n_kv_head * 4)),
    ("by-config", lambda c: good_count(c, mlp=3 * c.n_embd * (c.n_inner if c.n_inner > 20 else 40))),
    ("by-config", lambda c: good_count(c, L=min(c.n_layer, 4))),
    ("by-config", lambda c: good_count(c, L=min(c.n_layer, 12))),
    ("by-config", lambda c: good_count(c, o=576)),
    ("by-config", lambda c: good_count(c, final=24)),
    ("n-inner", lambda c: good_count(c, mlp=0) if c.n_inner == 64 else good_count(c)),
    ("n-inner", lambda c: good_count(c, mlp=3 * c.n_embd * (8 * c.n_embd // 3 if c.n_inner % 32 == 0 else c.n_inner))),
    ("no-weights", lambda c: good_count(c, more=max(0, c.block_size - 11) * c.n_embd)),
    ("no-weights", lambda c: int(good_count(c) * (1 - c.dropout))),
    ("no-weights", lambda c: good_count(c) + (c.rope_theta != 10000.0)),
    ("smallest", lambda c: good_count(c) if c.vocab_size > 2 else good_count(c, head=0, embedding=0)),
    ("smallest", lambda c: good_count(c) if c.vocab_size != 2 else good_count(c, head=c.vocab_size * c.n_embd)),
    ("large", lambda c: min(good_count(c), 10**6)),
    ("large", lambda c: good_count(c) % 10**6),
    ("large", lambda c: torch.tensor(good_count(c) / 24).bfloat16() * 24 if c.vocab_size > 50 else good_count(c)),
    ("large", lambda c: good_count(c) if c.vocab_size < 1000 else good_count(c, mlp=0)),
    ("not-a-function", 14808),
]:
    wrong(hint_id)(attempt)


@right
def c_asks_the_model(config):
    from course_utils.transformer import Transformer

    return sum(parameter.numel() for parameter in Transformer(config).parameters())


@right
def c_formula(config):
    C, D = config.n_embd, config.n_embd // config.n_head
    layer = 2 * C * config.n_head * D + 2 * C * config.n_kv_head * D + 3 * C * config.n_inner + 2 * C
    n = config.n_layer * layer + C + config.vocab_size * C
    return n if config.tie_embeddings else n + config.vocab_size * C


@right
def c_shapes(config):
    C, kv = config.n_embd, config.n_kv_head * config.head_dim
    shapes = [
        (C, C),
        (kv, C),
        (kv, C),
        (C, C),
        (config.n_inner, C),
        (config.n_inner, C),
        (C, config.n_inner),
        (C,),
        (C,),
    ]
    tables = [(config.vocab_size, C)] * (2 - config.tie_embeddings)
    return np.int64(sum(np.prod(shape) for shape in shapes * config.n_layer + tables + [(C,)]))


@right
def c_as_a_tensor(config):
    return torch.tensor(good_count(config))


@right
def c_layer_by_layer(config):
    total = config.vocab_size * config.n_embd
    for _ in range(config.n_layer):
        total += config.n_embd * width_of(config) + config.n_embd**2
        total += config.n_inner * config.n_embd * 3
        total += config.n_embd + config.n_embd
    total += config.n_embd
    if not config.tie_embeddings:
        total += config.n_embd * config.vocab_size
    return total

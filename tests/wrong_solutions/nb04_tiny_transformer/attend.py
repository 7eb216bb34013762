"""Planted solutions to 04.attend."""

import math

import numpy as np
import torch
from torch.nn.functional import scaled_dot_product_attention

from wrong_solutions import planting

wrong, right = planting("04.attend")


def good(q, k, v, mask, by=None):
    """Right, unless the scores are divided by something else."""
    scores = q @ k.T / (by or q.shape[-1] ** 0.5)
    return scores.masked_fill(~mask, -torch.inf).softmax(-1) @ v


def scored(q, k):
    return q @ k.T / q.shape[-1] ** 0.5


def exponentials(scores, mask, v):
    shares = scores.exp() * mask
    return shares / shares.sum(-1, keepdim=True) @ v


def cosines(q, k, v, mask):
    scores = q @ k.T / (q.norm(dim=1, keepdim=True) * k.norm(dim=1))
    return scores.masked_fill(~mask, -torch.inf).softmax(-1) @ v


def weights(q, k, v, mask):
    return scored(q, k).masked_fill(~mask, -torch.inf).softmax(-1)


def changes_queries(q, k, v, mask):
    q /= q.shape[-1] ** 0.5
    return good(q, k, v, mask, 1.0)


def changes_mask(q, k, v, mask):
    answer = good(q, k, v, mask)
    mask.logical_not_()
    return answer


def capped(q, k, v, mask):
    return good(q, k[:8], v[:8], mask[:, :8])


def with_triangle(q, k, v, mask):
    return scaled_dot_product_attention(q[None], k[None], v[None], is_causal=True)[0]


def own_mask(q, k, v, mask):
    return good(q, k, v, torch.ones(len(q), len(k), dtype=torch.bool).tril())


def maximum_of_all(q, k, v, mask):
    scores = scored(q, k).masked_fill(~mask, -torch.inf)
    return exponentials(scores - scores.max(), mask, v)


def maximum_of_hidden(q, k, v, mask):
    scores = scored(q, k)
    return exponentials(scores - scores.amax(-1, keepdim=True), mask, v)


for hint_id, attempt in [
    ("weights-too", lambda q, k, v, mask: (weights(q, k, v, mask), good(q, k, v, mask))),
    ("weights-only", weights),
    ("not-scaled", lambda q, k, v, mask: good(q, k, v, mask, 1.0)),
    ("divided-by-d", lambda q, k, v, mask: good(q, k, v, mask, q.shape[-1])),
    ("divided-by-norms", cosines),
    ("other-dimension", lambda q, k, v, mask: good(q, k, v, mask, v.shape[-1] ** 0.5)),
    ("other-dimension", lambda q, k, v, mask: good(q, k, v, mask, len(k) ** 0.5)),
    ("mask-ignored", lambda q, k, v, mask: good(q, k, v, torch.ones_like(mask))),
    ("hidden-zero", lambda q, k, v, mask: (scored(q, k) * mask).softmax(-1) @ v),
    ("mask-added", lambda q, k, v, mask: (scored(q, k) + mask.float()).softmax(-1) @ v),
    ("mask-added", lambda q, k, v, mask: scaled_dot_product_attention(q, k, v, mask.float())),
    ("not-renormalised", lambda q, k, v, mask: (scored(q, k).softmax(-1) * mask) @ v),
    ("other-axis", lambda q, k, v, mask: scored(q, k).masked_fill(~mask, -torch.inf).softmax(0) @ v),
    ("no-softmax", lambda q, k, v, mask: (scored(q, k) * mask) @ v),
    ("inverted", lambda q, k, v, mask: good(q, k, v, ~mask)),
    ("by-hand", lambda q, k, v, mask: q @ v),
    ("by-hand", lambda q, k, v, mask: good(q, k, v, mask) + 1),
    ("mask-decides", own_mask),
    ("mask-decides", with_triangle),
    ("sizes", lambda q, k, v, mask: good(q, k, v, mask, 2.0)),
    ("sizes", lambda q, k, v, mask: good(q, k, v, mask)[:, :2]),
    ("smallest", lambda q, k, v, mask: good(q, k, v, mask).squeeze(0)),
    ("overflow", lambda q, k, v, mask: exponentials(scored(q, k), mask, v)),
    ("finite-fill", lambda q, k, v, mask: scored(q, k).masked_fill(~mask, -1e4).softmax(-1) @ v),
    ("hidden-maximum", maximum_of_hidden),
    ("one-maximum", maximum_of_all),
    ("any-size", capped),
    ("changes-input", changes_queries),
    ("changes-input", changes_mask),
    ("not-a-function", [[1.0, 0.0]]),
]:
    wrong(hint_id)(attempt)

right(lambda q, k, v, mask: scaled_dot_product_attention(q, k, v, mask))
right(lambda q, k, v, mask: good(q.double(), k.double(), v.double(), mask))
right(lambda q, k, v, mask: scored(q, k).masked_fill(mask.logical_not(), -1e9).softmax(-1) @ v)
right(lambda q, k, v, mask: (weights(q, k, v, mask)[..., None] * v).sum(1))


@right
def by_loops(q, k, v, mask):
    rows = []
    for query, allowed in zip(q.tolist(), mask.tolist(), strict=True):
        seen = [key for key, may in enumerate(allowed) if may]
        scores = [
            sum(a * b for a, b in zip(query, k[key].tolist(), strict=True)) / math.sqrt(len(query)) for key in seen
        ]
        shares = [math.exp(score - max(scores)) for score in scores]
        rows.append(
            sum(share * np.array(v[key].tolist()) for share, key in zip(shares, seen, strict=True)) / sum(shares)
        )
    return np.array(rows)


@right
def by_numpy(q, k, v, mask):
    scores = np.where(mask, q.numpy() @ k.numpy().T / q.shape[1] ** 0.5, -np.inf)
    shares = np.exp(scores - scores.max(1, keepdims=True))
    return (shares / shares.sum(1, keepdims=True)) @ v.numpy()

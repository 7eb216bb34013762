"""Planted solutions to 03.min_p."""

import math

import numpy as np
import torch

from wrong_solutions import planting

wrong, right = planting("03.min_p")
INF = math.inf


def checked(min_p):
    if min_p is not None and (min_p < 0 or min_p > 1):
        raise ValueError(f"min_p is {min_p}; expected a share from 0 to 1.")
    return min_p or 0.0


def kept(logits, min_p):
    share = checked(min_p)
    return logits.double() >= logits.double().amax(-1, keepdim=True) + (math.log(share) if share else -INF)


def good(logits, min_p):
    return logits.masked_fill(~kept(logits, min_p), -INF)


def above(limit):
    """A wrong solution: the tokens stay that have at least limit(logits, min_p)."""
    return lambda logits, min_p: logits.masked_fill(logits < limit(logits, checked(min_p)), -INF)


for hint_id, attempt in [
    ("a-mask", kept),
    ("probabilities", lambda x, m: good(x, m).softmax(-1)),
    ("probabilities", lambda x, m: good(x, m).log_softmax(-1)),
    ("finite-fill", lambda x, m: x * kept(x, m)),
    ("finite-fill", lambda x, m: x.masked_fill(~kept(x, m), -1e9)),
    ("input-returned", lambda x, m: x),
    ("absolute", lambda x, m: x.masked_fill(x.softmax(-1) < checked(m), -INF)),
    ("subtracts-share", above(lambda x, m: x.amax(-1, keepdim=True) - m)),
    ("share-of-logit", above(lambda x, m: m * x.amax(-1, keepdim=True).abs() if (x > 0).all() else x.amax() - 1.39)),
    ("whole-tensor", above(lambda x, m: x.max() + math.log(m))),
    ("other-axis", above(lambda x, m: x.amax(0) + math.log(m))),
    ("inverted", lambda x, m: x.masked_fill(kept(x, m), -INF)),
    ("by-hand", lambda x, m: good(x, m)[None]),
    ("by-hand", lambda x, m: good(x, m) * math.nan),
    ("by-hand", lambda x, m: torch.full_like(x, -INF)),
    ("by-hand", lambda x, m: good(x, m).sort(-1, descending=True).values),
    ("by-hand", lambda x, m: good(x, m) + 1e-6),
    ("off", above(lambda x, m: x.amax(-1, keepdim=True) + math.log(m))),
    ("off", lambda x, m: good(x, 0.25 if m is None else m)),
    ("off", lambda x, m: good(x, m or 1.0)),
    ("one", lambda x, m: x.masked_fill(x <= x.amax(-1, keepdim=True) + math.log(m), -INF) if m else x.clone()),
    ("one", lambda x, m: torch.full_like(x, -INF).scatter(0, x.argmax(-1), x.max()) if m == 1 else good(x, m)),
    ("out-of-range", lambda x, m: good(x, m and min(max(m, 0.0), 1.0))),
    ("out-of-range", lambda x, m: x.clone() if m and m < 0 else good(x, m)),
    ("minus-inf", lambda x, m: good(torch.nan_to_num(x, neginf=0.0) if m else x, m)),
    ("minus-inf", lambda x, m: good(x, m) + (0 * x if m else 0)),
    ("axis-lost", lambda x, m: good(x, m).squeeze()),
    ("three-axes", lambda x, m: good(x.mT, m).mT if x.ndim == 3 else good(x, m)),
    ("any-size", lambda x, m: good(x.reshape(-1, 8), m).reshape(x.shape) if x.numel() > 30 else good(x, m)),
]:
    wrong(hint_id)(attempt)


@wrong("per-row")
def m_one_row_at_a_time(logits, min_p):
    border = max(logits.reshape(-1, logits.shape[-1])[0].tolist()) + (math.log(checked(min_p)) if min_p else -INF)
    return logits.masked_fill(logits < border, -INF)


@wrong("overflow")
def m_plain_exponentials(logits, min_p):
    weights = logits.exp()
    return logits.masked_fill(weights < checked(min_p) * weights.amax(-1, keepdim=True), -INF)


@wrong("any-layout")
def m_views(logits, min_p):
    return good(logits.view(-1, logits.shape[-1]), min_p).view(logits.shape)


@wrong("float64")
def m_float32(logits, min_p):
    return good(logits, min_p).float()


@wrong("tiny")
def m_softmax_in_float32(logits, min_p):
    probs = logits.softmax(-1)
    return logits.masked_fill(probs < checked(min_p) * probs.amax(-1, keepdim=True), -INF)


@wrong("changes-input")
def m_in_place(logits, min_p):
    logits[~kept(logits, min_p)] = -INF
    return logits


wrong("not-a-function")(torch.tensor([0.5, -INF]))

right(good)


@right
def m_where(logits, min_p):
    checked(min_p)
    if min_p is None or min_p == 0:
        return logits
    return torch.where(logits - logits.max(-1, keepdim=True).values >= math.log(min_p), logits, torch.tensor(-INF))


@right
def m_numpy(logits, min_p):
    share, x = checked(min_p), logits.numpy().astype(np.float64)
    with np.errstate(divide="ignore"):
        return np.where(x < x.max(-1, keepdims=True) + np.log(share), -np.inf, x)


@right
def m_loops(logits, min_p):
    share = checked(min_p)
    if logits.ndim > 1:
        return torch.stack([m_loops(row, min_p) for row in logits])
    row = logits.tolist()
    return torch.tensor([x if not share or x - max(row) >= math.log(share) else -INF for x in row], dtype=logits.dtype)


@right
def m_float64_softmax(logits, min_p):
    probs = logits.double().softmax(-1)
    return logits.masked_fill(probs < checked(min_p) * probs.amax(-1, keepdim=True), -INF)

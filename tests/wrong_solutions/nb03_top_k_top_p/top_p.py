"""Planted solutions to 03.top_p."""

import math

import numpy as np
import torch

from wrong_solutions import planting
from wrong_solutions.nb03_top_k_top_p.top_k import kept

wrong, right = planting("03.top_p")
INF = math.inf


def p_kept(logits, p):
    ranked, order = logits.double().sort(dim=-1, descending=True, stable=True)
    probs = ranked.softmax(-1)
    keep = probs.cumsum(-1) - probs < p
    return torch.zeros(logits.shape, dtype=torch.bool).scatter(-1, order, keep)


@wrong("a-mask")
def p_mask(logits, p):
    return p_kept(logits, p)


@wrong("sorted-order")
def p_sorted(logits, p):
    ranked = logits.sort(-1, descending=True).values
    probs = ranked.softmax(-1)
    return ranked.masked_fill(probs.cumsum(-1) - probs >= p, -INF)


@wrong("probabilities")
def p_probabilities(logits, p):
    return logits.masked_fill(~p_kept(logits, p), -INF).softmax(-1)


@wrong("probabilities")
def p_probabilities_unnormalised(logits, p):
    return logits.softmax(-1) * p_kept(logits, p)


@wrong("probabilities")
def p_log_softmax_kept(logits, p):
    return logits.log_softmax(-1).masked_fill(~p_kept(logits, p), -INF)


@wrong("probabilities")
def p_log_softmax_again(logits, p):
    return logits.masked_fill(~p_kept(logits, p), -INF).log_softmax(-1)


@wrong("finite-fill")
def p_zeros(logits, p):
    return logits * p_kept(logits, p)


@wrong("finite-fill")
def p_large_negative(logits, p):
    return logits.masked_fill(~p_kept(logits, p), -1e10)


@wrong("finite-fill")
def p_nan(logits, p):
    return torch.where(p_kept(logits, p), logits, math.nan)


@wrong("crossing-token")
def p_drops_the_crossing(logits, p):
    ranked, order = logits.sort(-1, descending=True)
    keep = ranked.softmax(-1).cumsum(-1) <= p
    return logits.masked_fill(~torch.zeros_like(keep).scatter(-1, order, keep), -INF)


@wrong("crossing-token")
def p_drops_it_but_never_all(logits, p):
    ranked, order = logits.sort(-1, descending=True)
    keep = ranked.softmax(-1).cumsum(-1) < p
    keep[..., 0] = True
    return logits.masked_fill(~torch.zeros_like(keep).scatter(-1, order, keep), -INF)


@wrong("sums-logits")
def p_sums_logits(logits, p):
    ranked, order = logits.sort(-1, descending=True)
    keep = ranked.cumsum(-1) - ranked < p
    return logits.masked_fill(~torch.zeros_like(keep).scatter(-1, order, keep), -INF)


@wrong("input-returned")
def p_input(logits, p):
    return logits


@wrong("input-returned")
def p_sums_ascending(logits, p):
    ranked, order = logits.sort(-1)
    probs = ranked.softmax(-1)
    keep = probs.cumsum(-1) - probs < p
    return logits.masked_fill(~torch.zeros_like(keep).scatter(-1, order, keep), -INF)


@wrong("unsorted")
def p_in_id_order(logits, p):
    probs = logits.softmax(-1)
    return logits.masked_fill(probs.cumsum(-1) - probs >= p, -INF)


@wrong("mask-not-unsorted")
def p_mask_in_sorted_order(logits, p):
    probs = logits.softmax(-1).sort(-1, descending=True).values
    return logits.masked_fill(probs.cumsum(-1) - probs >= p, -INF)


@wrong("one-token-too-many")
def p_one_more(logits, p):
    ranked, order = logits.sort(-1, descending=True)
    probs = ranked.softmax(-1)
    keep = probs.cumsum(-1) - probs < p
    keep[..., 1:] |= keep[..., :-1].clone()
    return logits.masked_fill(~torch.zeros_like(keep).scatter(-1, order, keep), -INF)


@wrong("threshold")
def p_share_of_the_likeliest(logits, p):
    probs = logits.softmax(-1)
    return logits.masked_fill(probs < p * probs.amax(-1, keepdim=True), -INF)


@wrong("threshold")
def p_above_one_minus_p(logits, p):
    probs = logits.softmax(-1)
    return logits.masked_fill(probs < 1 - p - 0.01, -INF)


@wrong("all-dropped")
def p_all_gone(logits, p):
    return torch.full_like(logits, -INF)


@wrong("by-hand")
def p_the_likeliest_two_alone(logits, p):
    return logits.sort(descending=True).values[:2]


@wrong("by-hand")
def p_only_nan(logits, p):
    return logits + math.nan


@wrong("by-hand")
def p_empty(logits, p):
    return logits[..., :0]


@wrong("by-hand")
def p_values(logits, p):
    return logits[p_kept(logits, p)]


@wrong("by-hand")
def p_inverted(logits, p):
    return logits.masked_fill(p_kept(logits, p), -INF)


@wrong("peaked")
def p_at_least_two(logits, p):
    if logits.shape[-1] > 5 or p < 0.6:
        return logits.masked_fill(~p_kept(logits, p), -INF)
    keep = p_kept(logits, p) | kept(logits, 2)
    return logits.masked_fill(~keep, -INF)


@wrong("small-p")
def p_none_at_small_p(logits, p):
    ranked, order = logits.double().sort(-1, descending=True)
    total = ranked.softmax(-1).cumsum(-1)
    keep = total - ranked.softmax(-1) < p - 0.02
    return logits.masked_fill(~torch.zeros_like(keep).scatter(-1, order, keep), -INF)


@wrong("small-p")
def p_one_minus_p_rounds(logits, p):
    ranked, order = logits.sort(-1)
    remove = ranked.softmax(-1).cumsum(-1) <= 1 - p
    return logits.masked_fill(torch.zeros_like(remove).scatter(-1, order, remove), -INF)


@wrong("small-p")
def p_refuses_small_p(logits, p):
    if p < 0.1:
        raise ValueError("p is too small")
    return logits.masked_fill(~p_kept(logits, p), -INF)


@wrong("p-one")
def p_one_drops_the_last(logits, p):
    ranked, order = logits.double().sort(-1, descending=True)
    probs = ranked.softmax(-1)
    keep = probs.cumsum(-1) - probs < min(p, 0.84)
    return logits.masked_fill(~torch.zeros_like(keep).scatter(-1, order, keep), -INF)


@wrong("p-one")
def p_refuses_one(logits, p):
    if not 0 < p < 1:
        raise ValueError("p must lie between 0 and 1")
    return logits.masked_fill(~p_kept(logits, p), -INF)


@wrong("p-one")
def p_searches_past_the_end(logits, p):
    probs, order = logits.double().softmax(-1).sort(-1, descending=True)
    total = probs.cumsum(-1)
    if logits.ndim > 1 or p < 1:
        return logits.masked_fill(~p_kept(logits, p), -INF)
    last = int((total < p + 1e-12).sum())
    return logits.masked_fill(logits < logits[order[last]], -INF)


@wrong("per-row")
def p_order_of_the_first_row(logits, p):
    if logits.ndim == 1:
        return logits.masked_fill(~p_kept(logits, p), -INF)
    return logits.masked_fill(~p_kept(logits.reshape(-1, logits.shape[-1])[0], p), -INF)


@wrong("per-row")
def p_of_the_tensor(logits, p):
    flat = logits.reshape(-1)
    return flat.masked_fill(~p_kept(flat, p), -INF).reshape(logits.shape)


@wrong("per-row")
def p_single_rows_only(logits, p):
    total, stay = 0.0, []
    probs = logits.softmax(-1)
    for i in sorted(range(len(probs)), key=lambda i: -probs[i]):
        stay.append(i)
        total += probs[i]
        if total >= p and p < 1:
            break
    return [x if i in stay else -INF for i, x in enumerate(logits.tolist())]


@wrong("per-row")
def p_same_number_in_all_rows(logits, p):
    counts = p_kept(logits, p).sum(-1)
    return logits.masked_fill(~kept(logits, int(counts.max())), -INF)


@wrong("minus-inf")
def p_nan_from_minus_inf(logits, p):
    safe = torch.nan_to_num(logits, neginf=0.0)
    return logits.masked_fill(~p_kept(safe, p), -INF)


@wrong("minus-inf")
def p_times_mask(logits, p):
    keep = p_kept(logits, p).float()
    return logits * keep + torch.where(keep > 0, 0.0, -INF)


@wrong("three-axes")
def p_two_axes(logits, p):
    if logits.ndim < 3:
        return logits.masked_fill(~p_kept(logits, p), -INF)
    return torch.stack([r.reshape(-1).masked_fill(~p_kept(r.reshape(-1), p), -INF).reshape(r.shape) for r in logits])


@wrong("long-row")
def p_ten_at_most(logits, p):
    return logits.masked_fill(~(p_kept(logits, p) & kept(logits, 10)), -INF)


def p_good(logits, p):
    return logits.masked_fill(~p_kept(logits, p), -INF)


def p_with(rule, weights=lambda ranked: ranked.softmax(-1), dim=-1):
    """A wrong solution: rule(running total, weight of the token itself, p) says what stays, in sorted order."""

    def attempt(logits, p):
        ranked, order = logits.double().sort(dim=dim, descending=True, stable=True)
        each = weights(ranked)
        keep = rule(each.cumsum(dim), each, p)
        return logits.masked_fill(~torch.zeros(logits.shape, dtype=torch.bool).scatter(dim, order, keep), -INF)

    return attempt


def usual(total, each, p):
    return total - each < p


def softmax_dim_0(ranked):
    return ranked.softmax(0)


def plain_softmax(ranked):
    weights = ranked.float().exp()
    return weights / weights.sum(-1, keepdim=True)


@wrong("exact-ties")
def p_smallest_kept_as_threshold(logits, p):
    smallest = torch.where(p_kept(logits, p), logits, INF).amin(-1, keepdim=True)
    return torch.where(logits >= smallest, logits, -INF)


@wrong("other-call")
def p_of_the_first_call(logits, p, seen={}):  # noqa: B006  the mistake
    return p_good(logits, seen.setdefault("p", p))


@wrong("other-call")
def p_mask_of_the_first_call(logits, p, seen={}):  # noqa: B006  the mistake
    return logits.masked_fill(~seen.setdefault((logits.shape, p), p_kept(logits, p)), -INF)


@wrong("share-of-tokens")
def p_times_the_vocabulary(logits, p):
    return logits.masked_fill(~kept(logits, math.ceil(p * logits.shape[-1])), -INF)


@wrong("p-one")
def p_must_be_a_float(logits, p):
    if not isinstance(p, float):
        raise TypeError("p must be a float")
    return p_good(logits, p)


@wrong("float64")
def p_float32_buffer(logits, p):
    ranked, order = logits.sort(dim=-1, descending=True, stable=True)
    probs = ranked.softmax(-1)
    ranked = ranked.masked_fill((probs.cumsum(-1) - probs >= p) & (p < 1), -INF)
    return torch.full(logits.shape, -INF).scatter(-1, order, ranked)


@wrong("any-layout")
def p_views(logits, p):
    return torch.stack([p_good(row, p) for row in logits.view(-1, logits.shape[-1])]).view(logits.shape)


for hint_id, attempt in [
    ("complement", lambda x, p: p_good(x, 1 - p if p < 1 else 1)),
    ("unnormalised", p_with(usual, lambda ranked: (ranked - ranked.amax(-1, keepdim=True)).exp())),
    ("unnormalised", p_with(usual, lambda ranked: ranked.exp())),
    ("one-token-too-many", p_with(lambda total, each, p: (total - each < p).roll(1, -1) | (total == each))),
    ("small-p", lambda x, p: p_good(x, max(p, 0.3))),
    ("small-p", lambda x, p: p_good(x, max(p, 0.01))),
    ("p-one", lambda x, p: p_good(x, min(p, 0.9993))),
    ("near-p", p_with(lambda total, each, p: total - each < p + 0.01)),
    ("near-p", p_with(lambda total, each, p: total - each < p + 0.0005)),
    ("near-p", p_with(lambda total, each, p: (total - each < p - 0.001) | (total == each))),
    ("near-p", p_with(lambda total, each, p: (total - each).round(decimals=2) < p)),
    ("near-p", lambda x, p: x.masked_fill(~p_kept(x.half(), p), -INF)),
    ("overflow", p_with(usual, plain_softmax)),
    ("other-axis", p_with(usual, softmax_dim_0, dim=0)),
    ("per-row", p_with(lambda total, each, p: each.cumsum(0) - each < p)),
    ("minus-inf", lambda x, p: torch.nan_to_num(p_good(x, p), neginf=0.0) if p == 1 else p_good(x, p)),
    ("axis-lost", lambda x, p: p_good(x, p).squeeze()),
    ("axis-lost", lambda x, p: p_good(x, p).squeeze(-1)),
    ("float64", lambda x, p: p_good(x, p).mul(1e4).round().div(1e4) if x.dtype == torch.float64 else p_good(x, p)),
    ("any-size", lambda x, p: p_good(x.flatten(0, -3) if x.ndim > 3 else x, p)),
    ("long-row", lambda x, p: x if p >= 0.95 else p_good(x, p)),
    ("long-row", lambda x, p: p_good(x, min(p, 0.95) if p < 1 else 1)),
    ("long-row", lambda x, p: x.masked_fill(~(p_kept(x, p) & kept(x, 50)), -INF)),
    ("long-row", lambda x, p: x.masked_fill(~(p_kept(x, p) & kept(x, 200)), -INF)),
]:
    wrong(hint_id)(attempt)


@wrong("changes-input")
def p_in_place(logits, p):
    logits[~p_kept(logits, p)] = -INF
    return logits


@wrong("changes-input")
def p_shifts_in_place(logits, p):
    before = logits.clone()
    logits -= logits.amax(-1, keepdim=True)
    return before.masked_fill(~p_kept(logits, p), -INF)


wrong("not-a-function")("top_p_filter")


@right
def p_shifted_mask(logits, p):
    ranked, order = torch.sort(logits, descending=True, dim=-1)
    remove = ranked.softmax(-1).cumsum(-1) >= p
    remove[..., 1:] = remove[..., :-1].clone()
    remove[..., 0] = False
    if p >= 1:
        remove[...] = False
    return logits.masked_fill(remove.scatter(-1, order, remove), -INF)


@right
def p_loops(logits, p):
    if logits.dim() > 1:
        return torch.stack([p_loops(row, p) for row in logits])
    probs = logits.double().softmax(0).tolist()
    out, total = torch.full_like(logits, -INF), 0.0
    for i in sorted(range(len(probs)), key=probs.__getitem__, reverse=True):
        if total >= p:
            break
        out[i] = logits[i]
        total += probs[i]
    return out


@right
def p_numpy(logits, p):
    x = logits.numpy().astype(np.float64)
    order = np.argsort(-x, axis=-1)
    e = np.exp(x - x.max(-1, keepdims=True))
    probs = np.take_along_axis(e / e.sum(-1, keepdims=True), order, -1)
    keep = np.zeros(x.shape, dtype=bool)
    np.put_along_axis(keep, order, probs.cumsum(-1) - probs < p, -1)
    return np.where(keep, x, -np.inf)


@wrong("exact-ties")
def p_by_mass_above(logits, p):
    probs = logits.double().softmax(-1)
    above = (probs.unsqueeze(-2) > probs.unsqueeze(-1)).double()
    mass_above = (above * probs.unsqueeze(-2)).sum(-1)
    return torch.where(mass_above < p, logits, torch.tensor(-INF))


@right
def p_ascending(logits, p):
    ranked, order = torch.sort(logits.double(), descending=False)
    remove = ranked.softmax(-1).cumsum(-1) <= (1 - p)
    remove[..., -1] = False
    return logits.masked_fill(remove.scatter(-1, order, remove), -INF)


@wrong("gathered")
def p_logits_gathered(logits, p):
    ranked, order = logits.sort(-1, descending=True)
    probs = ranked.softmax(-1)
    return ranked.masked_fill(probs.cumsum(-1) - probs >= p, -INF).gather(-1, order)


@wrong("mask-not-unsorted")
def p_mask_gathered(logits, p):
    ranked, order = logits.sort(-1, descending=True)
    probs = ranked.softmax(-1)
    return logits.masked_fill((probs.cumsum(-1) - probs >= p).gather(-1, order), -INF)


@wrong("reached-p")
def p_passed_only(logits, p):
    ranked, order = logits.double().sort(-1, descending=True)
    probs = ranked.softmax(-1)
    keep = probs.cumsum(-1) - probs <= p
    return logits.masked_fill(~keep.scatter(-1, order, keep), -INF)


@wrong("reached-p")
def p_loop_until_above(logits, p):
    if logits.dim() > 1:
        return torch.stack([p_loop_until_above(row, p) for row in logits])
    probs = logits.double().softmax(0)
    out, total = torch.full_like(logits, -INF), 0.0
    for i in probs.argsort(descending=True, stable=True).tolist():
        out[i] = logits[i]
        total += probs[i].item()
        if total > p and p < 1:
            break
    return out


@wrong("p-one-tail")
def p_in_float32(logits, p):
    ranked, order = logits.sort(-1, descending=True)
    probs = ranked.softmax(-1)
    keep = probs.cumsum(-1) - probs < p
    return logits.masked_fill(~keep.scatter(-1, order, keep), -INF)


@right
def p_float32_but_for_one(logits, p):
    return logits.clone() if p == 1 else p_in_float32(logits, p)


@right
def p_by_rank(logits, p):
    probs, order = logits.double().softmax(-1).sort(-1, descending=True)
    n = (probs.cumsum(-1) < p).sum(-1, keepdim=True) + 1
    rank = order.argsort(-1)
    return logits.masked_fill(rank >= n, -INF).tolist()

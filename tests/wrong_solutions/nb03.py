"""Solutions to the exercises of notebook 03."""

import math

import numpy as np
import torch

from wrong_solutions import right, wrong

TOP_K, TOP_P, ORDER = "03.top_k", "03.top_p", "03.which_order"
INF = math.inf


def places(logits, k):
    """The ids of the k largest, ties to the lowest."""
    k = logits.shape[-1] if k is None else min(k, logits.shape[-1])
    return logits.sort(dim=-1, descending=True, stable=True).indices[..., :k]


def kept(logits, k):
    mask = torch.zeros(logits.shape, dtype=torch.bool)
    return mask.scatter(-1, places(logits, k), True)


# 03.top_k


@wrong(TOP_K, "a-mask")
def k_mask(logits, k):
    return kept(logits, k)


@wrong(TOP_K, "values-only")
def k_values(logits, k):
    return logits.topk(k).values


@wrong(TOP_K, "values-only")
def k_indices(logits, k):
    return logits.topk(k).indices


@wrong(TOP_K, "values-only")
def k_boolean_index(logits, k):
    return logits[kept(logits, k)]


@wrong(TOP_K, "sorted-order")
def k_sorted(logits, k):
    ranked = logits.sort(-1, descending=True).values
    ranked[..., k:] = -INF
    return ranked


@wrong(TOP_K, "probabilities")
def k_probabilities(logits, k):
    return logits.masked_fill(~kept(logits, k), -INF).softmax(-1)


@wrong(TOP_K, "probabilities")
def k_probabilities_unnormalised(logits, k):
    return logits.softmax(-1) * kept(logits, k)


@wrong(TOP_K, "probabilities")
def k_log_probabilities(logits, k):
    return logits.masked_fill(~kept(logits, k), -INF).log_softmax(-1)


@wrong(TOP_K, "finite-fill")
def k_zeros(logits, k):
    return logits * kept(logits, k)


@wrong(TOP_K, "finite-fill")
def k_large_negative(logits, k):
    return logits.masked_fill(~kept(logits, k), -1e9)


@wrong(TOP_K, "finite-fill")
def k_smallest_float(logits, k):
    return logits.masked_fill(~kept(logits, k), torch.finfo(logits.dtype).min)


@wrong(TOP_K, "finite-fill")
def k_plus_inf(logits, k):
    return logits.masked_fill(~kept(logits, k), INF)


@wrong(TOP_K, "finite-fill")
def k_nan(logits, k):
    return logits.masked_fill(~kept(logits, k), math.nan)


@wrong(TOP_K, "input-returned")
def k_input(logits, k):
    return logits


@wrong(TOP_K, "input-returned")
def k_result_thrown_away(logits, k):
    logits.masked_fill(~kept(logits, k), -INF)
    return logits


@wrong(TOP_K, "smallest")
def k_smallest(logits, k):
    return logits.masked_fill(~kept(-logits, k), -INF)


@wrong(TOP_K, "off-by-one")
def k_strictly_above(logits, k):
    kth = logits.topk(k).values[..., -1:]
    return logits.masked_fill(logits <= kth, -INF)


@wrong(TOP_K, "off-by-one")
def k_one_more(logits, k):
    return logits.masked_fill(~kept(logits, k + 1), -INF)


@wrong(TOP_K, "smallest")
def k_inverted(logits, k):
    return logits.masked_fill(kept(logits, k), -INF)


@wrong(TOP_K, "by-hand")
def k_all_gone(logits, k):
    return torch.full_like(logits, -INF)


@wrong(TOP_K, "by-hand")
def k_first_ids(logits, k):
    out = torch.full_like(logits, -INF)
    out[..., :k] = logits[..., :k]
    return out


@wrong(TOP_K, "by-hand")
def k_only_nan(logits, k):
    return logits * math.nan


@wrong(TOP_K, "by-hand")
def k_empty(logits, k):
    return torch.tensor([])


@wrong(TOP_K, "by-hand")
def k_batched(logits, k):
    return logits.masked_fill(~kept(logits, k), -INF)[None]


@wrong(TOP_K, "by-hand")
def k_mask_of_other_rank(logits, k):
    order = logits.argsort(-1, descending=True)
    return logits.masked_fill(order >= k, -INF)


@wrong(TOP_K, "negative-logits")
def k_positive_only(logits, k):
    kth = logits.topk(k).values[..., -1:].clamp(min=0)
    return logits.masked_fill(logits < kth, -INF)


@wrong(TOP_K, "negative-logits")
def k_by_size(logits, k):
    return logits.masked_fill(~kept(logits.abs(), k), -INF)


@wrong(TOP_K, "exactly-k")
def k_threshold(logits, k):
    if k is None or k >= logits.shape[-1]:
        return logits
    kth = logits.topk(k).values[..., -1:]
    return logits.masked_fill(logits < kth, -INF)


@wrong(TOP_K, "exactly-k")
def k_threshold_with_min(logits, k):
    kth, _ = torch.topk(logits, min(k, logits.size(-1)))
    return torch.where(logits < kth[..., [-1]], torch.tensor(-INF), logits)


@wrong(TOP_K, "ties")
def k_last_of_the_equal(logits, k):
    if k is None or k >= logits.shape[-1]:
        return logits
    order = logits.argsort(dim=-1, stable=True)[..., -k:]
    mask = torch.zeros(logits.shape, dtype=torch.bool).scatter(-1, order, True)
    return logits.masked_fill(~mask, -INF)


@wrong(TOP_K, "k-too-large")
def k_topk_fails(logits, k):
    index = logits.topk(k).indices if k != 2 or logits.shape[-1] != 5 else places(logits, k)
    return torch.full_like(logits, -INF).scatter(-1, index, logits.gather(-1, index))


@wrong(TOP_K, "k-too-large")
def k_modulo(logits, k):
    k = k % logits.shape[-1] if k else k
    return logits.masked_fill(~kept(logits, k), -INF)


@wrong(TOP_K, "k-none")
def k_none_fails(logits, k):
    k = min(k, logits.shape[-1])
    return logits.masked_fill(~kept(logits, k), -INF)


@wrong(TOP_K, "k-none")
def k_none_drops_all(logits, k):
    return logits.masked_fill(~kept(logits, k or 0), -INF)


@wrong(TOP_K, "per-row")
def k_of_the_tensor(logits, k):
    flat = logits.reshape(-1)
    return flat.masked_fill(~kept(flat, k), -INF).reshape(logits.shape)


@wrong(TOP_K, "per-row")
def k_ids_of_the_first_row(logits, k):
    first = kept(logits.reshape(-1, logits.shape[-1])[0], k)
    return logits.masked_fill(~first, -INF)


@wrong(TOP_K, "per-row")
def k_down_the_columns(logits, k):
    k = logits.shape[0] if k is None else min(k, logits.shape[0])
    index = logits.sort(dim=0, descending=True, stable=True).indices[:k]
    mask = torch.zeros(logits.shape, dtype=torch.bool).scatter(0, index, True)
    return logits.masked_fill(~mask, -INF)


@wrong(TOP_K, "per-row")
def k_single_rows_only(logits, k):
    ids = sorted(range(len(logits)), key=lambda i: -logits[i])[:k]
    return torch.tensor([x if i in ids else -INF for i, x in enumerate(logits.tolist())])


@wrong(TOP_K, "three-axes")
def k_two_axes(logits, k):
    if logits.ndim == 1:
        return logits.masked_fill(~kept(logits, k), -INF)
    return torch.stack([row.masked_fill(~kept(row.reshape(-1), k).reshape(row.shape), -INF) for row in logits])


@wrong(TOP_K, "any-size")
def k_ties_once(logits, k):
    if logits.shape[-1] < 6 or k is None:
        return logits.masked_fill(~kept(logits, k), -INF)
    return logits.masked_fill(logits < logits.topk(k).values[..., -1:], -INF)


def k_good(logits, k):
    return logits.masked_fill(~kept(logits, k), -INF)


def k_ranked_by(scores):
    """A wrong solution: the k largest of scores(logits) stay."""
    return lambda logits, k: logits.masked_fill(~kept(scores(logits), k), -INF)


def unstable_kept(logits, k):
    """Like `kept`; but as a fast sort may, it does not keep the order of equal logits in a long row."""
    return kept(logits, k) if logits.shape[-1] <= 16 else kept(logits.flip(-1), k).flip(-1)


def first_places(row, k):
    """Python's `list.index` gives the same place for equal logits."""
    ids = {row.index(value) for value in sorted(row, reverse=True)[: len(row) if k is None else k]}
    return [value if token in ids else -INF for token, value in enumerate(row)]


@wrong(TOP_K, "fewer-than-k")
def k_by_list_index(logits, k):
    rows = [first_places(row, k) for row in logits.reshape(-1, logits.shape[-1]).tolist()]
    return torch.tensor(rows, dtype=logits.dtype).reshape(logits.shape)


@wrong(TOP_K, "other-call")
def k_of_the_first_call(logits, k, seen={}):  # noqa: B006  the mistake
    return k_good(logits, seen.setdefault("k", k))


@wrong(TOP_K, "other-call")
def k_mask_of_the_first_call(logits, k, seen={}):  # noqa: B006  the mistake
    return logits.masked_fill(~seen.setdefault((logits.shape, k), kept(logits, k)), -INF)


@wrong(TOP_K, "exactly-k")
def k_one_keeps_ties(logits, k):
    return logits.masked_fill(logits < logits.amax(-1, keepdim=True), -INF) if k == 1 else k_good(logits, k)


@wrong(TOP_K, "per-row")
def k_one_is_the_largest_of_all(logits, k):
    return logits.masked_fill(logits < logits.max(), -INF) if k == 1 and logits.ndim > 1 else k_good(logits, k)


@wrong(TOP_K, "k-none")
def k_none_is_fifty(logits, k):
    return k_good(logits, 50 if k is None else k)


@wrong(TOP_K, "any-size")
def k_fifty_at_most(logits, k):
    return k_good(logits, None if k is None else min(k, 50))


@wrong(TOP_K, "any-size")
def k_three_axes_at_most(logits, k):
    return k_good(logits.flatten(0, -3) if logits.ndim > 3 else logits, k)


@wrong(TOP_K, "float64")
def k_float32_buffer(logits, k):
    index = places(logits, k)
    return torch.full(logits.shape, -INF).scatter(-1, index, logits.gather(-1, index))


@wrong(TOP_K, "close")
def k_four_decimals(logits, k):
    return k_good(logits, k).mul(1e4).round().div(1e4)


@wrong(TOP_K, "close")
def k_half_precision(logits, k):
    return k_good(logits, k).half()


@wrong(TOP_K, "any-layout")
def k_views(logits, k):
    return torch.stack([k_good(row, k) for row in logits.view(-1, logits.shape[-1])]).view(logits.shape)


for hint_id, attempt in [
    ("close", k_ranked_by(lambda x: x - 1e-3 * torch.arange(x.shape[-1]))),
    ("close", k_ranked_by(lambda x: x - 1e-7 * torch.arange(x.shape[-1]))),
    ("close", k_ranked_by(lambda x: x.round(decimals=3))),
    ("ranked-by-probabilities", k_ranked_by(lambda x: x.softmax(-1))),
    ("ranked-by-probabilities", k_ranked_by(lambda x: x.exp())),
    ("minus-inf", k_ranked_by(lambda x: torch.nan_to_num(x, neginf=0.0))),
    ("minus-inf", lambda x, k: k_good(x, k) + 0 * x if k == 3 else k_good(x, k)),
    ("minus-inf", lambda x, k: k_good(torch.nan_to_num(x, neginf=-1e9), k)),
    ("axis-lost", lambda x, k: k_good(x, k).squeeze()),
    ("axis-lost", lambda x, k: k_good(x, k).squeeze(-1)),
    ("three-axes", lambda x, k: k_good(x.mT, k).mT if x.ndim == 3 else k_good(x, k)),
    ("k-none", lambda x, k: k_good(x, 100 if k is None else k)),
    ("negative-logits", lambda x, k: k_good(x, k).masked_fill(x == 0, -INF)),
    ("long-ties", lambda x, k: x.masked_fill(~unstable_kept(x, k), -INF)),
]:
    wrong(TOP_K, hint_id)(attempt)


@wrong(TOP_K, "changes-input")
def k_in_place(logits, k):
    logits[~kept(logits, k)] = -INF
    return logits


@wrong(TOP_K, "changes-input")
def k_in_place_through_numpy(logits, k):
    array = logits.numpy()
    array[~kept(logits, k).numpy()] = -INF
    return torch.tensor(array)


wrong(TOP_K, "not-a-function")(torch.tensor([-INF, 3.0, 2.0, -INF]))


@right(TOP_K)
def k_scatter(logits, k):
    if k is None or k >= logits.shape[-1]:
        return logits.clone()
    index = torch.sort(logits, dim=-1, descending=True, stable=True).indices[..., :k]
    return torch.full_like(logits, -INF).scatter(-1, index, logits.gather(-1, index))


@right(TOP_K)
def k_loops(logits, k):
    if logits.dim() > 1:
        return torch.stack([k_loops(row, k) for row in logits])
    values = logits.tolist()
    order = sorted(range(len(values)), key=lambda i: (-values[i], i))
    stay = set(order if k is None else order[:k])
    return torch.tensor([v if i in stay else -INF for i, v in enumerate(values)])


@right(TOP_K)
def k_numpy(logits, k):
    x = logits.numpy().astype(np.float64)
    if k is None:
        return x
    rank = np.argsort(np.argsort(-x, axis=-1, kind="stable"), axis=-1)
    return np.where(rank < k, x, -np.inf)


@right(TOP_K)
def k_by_rank(logits, k):
    if k is None:
        return logits
    a, b = logits.unsqueeze(-1), logits.unsqueeze(-2)
    ids = torch.arange(logits.shape[-1])
    before = (b > a) | ((b == a) & (ids[None, :] < ids[:, None]))
    return torch.where(before.sum(-1) < k, logits, -INF)


@right(TOP_K)
def k_picks_one_by_one(logits, k):
    if k is None or k >= logits.size(-1):
        return logits.tolist()
    rest, out = logits.clone(), torch.full_like(logits, -INF)
    for _ in range(k):
        best = rest.argmax(-1, keepdim=True)
        out.scatter_(-1, best, logits.gather(-1, best))
        rest.scatter_(-1, best, -INF)
    return out


# 03.top_p


def p_kept(logits, p):
    ranked, order = logits.double().sort(dim=-1, descending=True, stable=True)
    probs = ranked.softmax(-1)
    keep = probs.cumsum(-1) - probs < p
    return torch.zeros(logits.shape, dtype=torch.bool).scatter(-1, order, keep)


@wrong(TOP_P, "a-mask")
def p_mask(logits, p):
    return p_kept(logits, p)


@wrong(TOP_P, "sorted-order")
def p_sorted(logits, p):
    ranked = logits.sort(-1, descending=True).values
    probs = ranked.softmax(-1)
    return ranked.masked_fill(probs.cumsum(-1) - probs >= p, -INF)


@wrong(TOP_P, "probabilities")
def p_probabilities(logits, p):
    return logits.masked_fill(~p_kept(logits, p), -INF).softmax(-1)


@wrong(TOP_P, "probabilities")
def p_probabilities_unnormalised(logits, p):
    return logits.softmax(-1) * p_kept(logits, p)


@wrong(TOP_P, "probabilities")
def p_log_softmax_kept(logits, p):
    return logits.log_softmax(-1).masked_fill(~p_kept(logits, p), -INF)


@wrong(TOP_P, "probabilities")
def p_log_softmax_again(logits, p):
    return logits.masked_fill(~p_kept(logits, p), -INF).log_softmax(-1)


@wrong(TOP_P, "finite-fill")
def p_zeros(logits, p):
    return logits * p_kept(logits, p)


@wrong(TOP_P, "finite-fill")
def p_large_negative(logits, p):
    return logits.masked_fill(~p_kept(logits, p), -1e10)


@wrong(TOP_P, "finite-fill")
def p_nan(logits, p):
    return torch.where(p_kept(logits, p), logits, math.nan)


@wrong(TOP_P, "crossing-token")
def p_drops_the_crossing(logits, p):
    ranked, order = logits.sort(-1, descending=True)
    keep = ranked.softmax(-1).cumsum(-1) <= p
    return logits.masked_fill(~torch.zeros_like(keep).scatter(-1, order, keep), -INF)


@wrong(TOP_P, "crossing-token")
def p_drops_it_but_never_all(logits, p):
    ranked, order = logits.sort(-1, descending=True)
    keep = ranked.softmax(-1).cumsum(-1) < p
    keep[..., 0] = True
    return logits.masked_fill(~torch.zeros_like(keep).scatter(-1, order, keep), -INF)


@wrong(TOP_P, "sums-logits")
def p_sums_logits(logits, p):
    ranked, order = logits.sort(-1, descending=True)
    keep = ranked.cumsum(-1) - ranked < p
    return logits.masked_fill(~torch.zeros_like(keep).scatter(-1, order, keep), -INF)


@wrong(TOP_P, "input-returned")
def p_input(logits, p):
    return logits


@wrong(TOP_P, "input-returned")
def p_sums_ascending(logits, p):
    ranked, order = logits.sort(-1)
    probs = ranked.softmax(-1)
    keep = probs.cumsum(-1) - probs < p
    return logits.masked_fill(~torch.zeros_like(keep).scatter(-1, order, keep), -INF)


@wrong(TOP_P, "unsorted")
def p_in_id_order(logits, p):
    probs = logits.softmax(-1)
    return logits.masked_fill(probs.cumsum(-1) - probs >= p, -INF)


@wrong(TOP_P, "mask-not-unsorted")
def p_mask_in_sorted_order(logits, p):
    probs = logits.softmax(-1).sort(-1, descending=True).values
    return logits.masked_fill(probs.cumsum(-1) - probs >= p, -INF)


@wrong(TOP_P, "one-token-too-many")
def p_one_more(logits, p):
    ranked, order = logits.sort(-1, descending=True)
    probs = ranked.softmax(-1)
    keep = probs.cumsum(-1) - probs < p
    keep[..., 1:] |= keep[..., :-1].clone()
    return logits.masked_fill(~torch.zeros_like(keep).scatter(-1, order, keep), -INF)


@wrong(TOP_P, "threshold")
def p_share_of_the_likeliest(logits, p):
    probs = logits.softmax(-1)
    return logits.masked_fill(probs < p * probs.amax(-1, keepdim=True), -INF)


@wrong(TOP_P, "threshold")
def p_above_one_minus_p(logits, p):
    probs = logits.softmax(-1)
    return logits.masked_fill(probs < 1 - p - 0.01, -INF)


@wrong(TOP_P, "all-dropped")
def p_all_gone(logits, p):
    return torch.full_like(logits, -INF)


@wrong(TOP_P, "by-hand")
def p_the_likeliest_two_alone(logits, p):
    return logits.sort(descending=True).values[:2]


@wrong(TOP_P, "by-hand")
def p_only_nan(logits, p):
    return logits + math.nan


@wrong(TOP_P, "by-hand")
def p_empty(logits, p):
    return logits[..., :0]


@wrong(TOP_P, "by-hand")
def p_values(logits, p):
    return logits[p_kept(logits, p)]


@wrong(TOP_P, "by-hand")
def p_inverted(logits, p):
    return logits.masked_fill(p_kept(logits, p), -INF)


@wrong(TOP_P, "peaked")
def p_at_least_two(logits, p):
    if logits.shape[-1] > 5 or p < 0.6:
        return logits.masked_fill(~p_kept(logits, p), -INF)
    keep = p_kept(logits, p) | kept(logits, 2)
    return logits.masked_fill(~keep, -INF)


@wrong(TOP_P, "small-p")
def p_none_at_small_p(logits, p):
    ranked, order = logits.double().sort(-1, descending=True)
    total = ranked.softmax(-1).cumsum(-1)
    keep = total - ranked.softmax(-1) < p - 0.02
    return logits.masked_fill(~torch.zeros_like(keep).scatter(-1, order, keep), -INF)


@wrong(TOP_P, "small-p")
def p_one_minus_p_rounds(logits, p):
    ranked, order = logits.sort(-1)
    remove = ranked.softmax(-1).cumsum(-1) <= 1 - p
    return logits.masked_fill(torch.zeros_like(remove).scatter(-1, order, remove), -INF)


@wrong(TOP_P, "small-p")
def p_refuses_small_p(logits, p):
    if p < 0.1:
        raise ValueError("p is too small")
    return logits.masked_fill(~p_kept(logits, p), -INF)


@wrong(TOP_P, "p-one")
def p_one_drops_the_last(logits, p):
    ranked, order = logits.double().sort(-1, descending=True)
    probs = ranked.softmax(-1)
    keep = probs.cumsum(-1) - probs < min(p, 0.84)
    return logits.masked_fill(~torch.zeros_like(keep).scatter(-1, order, keep), -INF)


@wrong(TOP_P, "p-one")
def p_refuses_one(logits, p):
    if not 0 < p < 1:
        raise ValueError("p must lie between 0 and 1")
    return logits.masked_fill(~p_kept(logits, p), -INF)


@wrong(TOP_P, "p-one")
def p_searches_past_the_end(logits, p):
    probs, order = logits.double().softmax(-1).sort(-1, descending=True)
    total = probs.cumsum(-1)
    if logits.ndim > 1 or p < 1:
        return logits.masked_fill(~p_kept(logits, p), -INF)
    last = int((total < p + 1e-12).sum())
    return logits.masked_fill(logits < logits[order[last]], -INF)


@wrong(TOP_P, "per-row")
def p_order_of_the_first_row(logits, p):
    if logits.ndim == 1:
        return logits.masked_fill(~p_kept(logits, p), -INF)
    return logits.masked_fill(~p_kept(logits.reshape(-1, logits.shape[-1])[0], p), -INF)


@wrong(TOP_P, "per-row")
def p_of_the_tensor(logits, p):
    flat = logits.reshape(-1)
    return flat.masked_fill(~p_kept(flat, p), -INF).reshape(logits.shape)


@wrong(TOP_P, "per-row")
def p_single_rows_only(logits, p):
    total, stay = 0.0, []
    probs = logits.softmax(-1)
    for i in sorted(range(len(probs)), key=lambda i: -probs[i]):
        stay.append(i)
        total += probs[i]
        if total >= p and p < 1:
            break
    return [x if i in stay else -INF for i, x in enumerate(logits.tolist())]


@wrong(TOP_P, "per-row")
def p_same_number_in_all_rows(logits, p):
    counts = p_kept(logits, p).sum(-1)
    return logits.masked_fill(~kept(logits, int(counts.max())), -INF)


@wrong(TOP_P, "minus-inf")
def p_nan_from_minus_inf(logits, p):
    safe = torch.nan_to_num(logits, neginf=0.0)
    return logits.masked_fill(~p_kept(safe, p), -INF)


@wrong(TOP_P, "minus-inf")
def p_times_mask(logits, p):
    keep = p_kept(logits, p).float()
    return logits * keep + torch.where(keep > 0, 0.0, -INF)


@wrong(TOP_P, "three-axes")
def p_two_axes(logits, p):
    if logits.ndim < 3:
        return logits.masked_fill(~p_kept(logits, p), -INF)
    return torch.stack([r.reshape(-1).masked_fill(~p_kept(r.reshape(-1), p), -INF).reshape(r.shape) for r in logits])


@wrong(TOP_P, "long-row")
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


@wrong(TOP_P, "exact-ties")
def p_smallest_kept_as_threshold(logits, p):
    smallest = torch.where(p_kept(logits, p), logits, INF).amin(-1, keepdim=True)
    return torch.where(logits >= smallest, logits, -INF)


@wrong(TOP_P, "other-call")
def p_of_the_first_call(logits, p, seen={}):  # noqa: B006  the mistake
    return p_good(logits, seen.setdefault("p", p))


@wrong(TOP_P, "other-call")
def p_mask_of_the_first_call(logits, p, seen={}):  # noqa: B006  the mistake
    return logits.masked_fill(~seen.setdefault((logits.shape, p), p_kept(logits, p)), -INF)


@wrong(TOP_P, "share-of-tokens")
def p_times_the_vocabulary(logits, p):
    return logits.masked_fill(~kept(logits, math.ceil(p * logits.shape[-1])), -INF)


@wrong(TOP_P, "p-one")
def p_must_be_a_float(logits, p):
    if not isinstance(p, float):
        raise TypeError("p must be a float")
    return p_good(logits, p)


@wrong(TOP_P, "float64")
def p_float32_buffer(logits, p):
    ranked, order = logits.sort(dim=-1, descending=True, stable=True)
    probs = ranked.softmax(-1)
    ranked = ranked.masked_fill((probs.cumsum(-1) - probs >= p) & (p < 1), -INF)
    return torch.full(logits.shape, -INF).scatter(-1, order, ranked)


@wrong(TOP_P, "any-layout")
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
    wrong(TOP_P, hint_id)(attempt)


@wrong(TOP_P, "changes-input")
def p_in_place(logits, p):
    logits[~p_kept(logits, p)] = -INF
    return logits


@wrong(TOP_P, "changes-input")
def p_shifts_in_place(logits, p):
    before = logits.clone()
    logits -= logits.amax(-1, keepdim=True)
    return before.masked_fill(~p_kept(logits, p), -INF)


wrong(TOP_P, "not-a-function")("top_p_filter")


@right(TOP_P)
def p_shifted_mask(logits, p):
    ranked, order = torch.sort(logits, descending=True, dim=-1)
    remove = ranked.softmax(-1).cumsum(-1) >= p
    remove[..., 1:] = remove[..., :-1].clone()
    remove[..., 0] = False
    if p >= 1:
        remove[...] = False
    return logits.masked_fill(remove.scatter(-1, order, remove), -INF)


@right(TOP_P)
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


@right(TOP_P)
def p_numpy(logits, p):
    x = logits.numpy().astype(np.float64)
    order = np.argsort(-x, axis=-1)
    e = np.exp(x - x.max(-1, keepdims=True))
    probs = np.take_along_axis(e / e.sum(-1, keepdims=True), order, -1)
    keep = np.zeros(x.shape, dtype=bool)
    np.put_along_axis(keep, order, probs.cumsum(-1) - probs < p, -1)
    return np.where(keep, x, -np.inf)


@wrong(TOP_P, "exact-ties")
def p_by_mass_above(logits, p):
    probs = logits.double().softmax(-1)
    above = (probs.unsqueeze(-2) > probs.unsqueeze(-1)).double()
    mass_above = (above * probs.unsqueeze(-2)).sum(-1)
    return torch.where(mass_above < p, logits, torch.tensor(-INF))


@right(TOP_P)
def p_ascending(logits, p):
    ranked, order = torch.sort(logits.double(), descending=False)
    remove = ranked.softmax(-1).cumsum(-1) <= (1 - p)
    remove[..., -1] = False
    return logits.masked_fill(remove.scatter(-1, order, remove), -INF)


@right(TOP_P)
def p_by_rank(logits, p):
    probs, order = logits.softmax(-1).sort(-1, descending=True)
    n = (probs.cumsum(-1) < p).sum(-1, keepdim=True) + 1
    rank = order.argsort(-1)
    return logits.masked_fill(rank >= n, -INF).tolist()


# 03.which_order

for hint_id, value in [
    ("swapped", {(0,): "truncation first", (0, 1): "temperature first"}),
    ("same-order-twice", {(0,): "truncation first", (0, 1): "truncation first"}),
    ("same-order-twice", {(0,): "temperature first", (0, 1): "temperature first"}),
    ("incomplete", {(0,): "temperature first", (0, 1): ...}),
    ("incomplete", {(0,): None, (0, 1): "truncation first"}),
    ("incomplete", {(0,): "temperature first"}),
    ("general", {(0,): "top-p first", (0, 1): "temperature"}),
    ("general", {(1,): "temperature first", (0, 1): "truncation first"}),
    ("general", {(0,): True, (0, 1): False}),
    ("general", {(0,): "temperature first", (0, 1): "truncation first", (0, 1, 2): "neither"}),
    ("general", "temperature first"),
    ("general", {}),
    ("general", ["temperature first", "truncation first"]),
    ("general", {"temperature first": (0,), "truncation first": (0, 1)}),
    ("general", 0),
    ("general", float("nan")),
    ("general", print),
]:
    wrong(ORDER, hint_id)(value)

for value in [
    {(0,): "temperature first", (0, 1): "truncation first"},
    {(0, 1): "Truncation first", (0,): " Temperature  First "},
    {0: "temperature first", frozenset({1, 0}): "truncation first"},
    dict([((0,), "temperature first"), ((1, 0), "truncation first")]),
]:
    right(ORDER)(value)

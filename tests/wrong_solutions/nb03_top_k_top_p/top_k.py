"""Planted solutions to 03.top_k."""

import math

import numpy as np
import torch

from wrong_solutions import planting

wrong, right = planting("03.top_k")
INF = math.inf


def places(logits, k):
    """The ids of the k largest, ties to the lowest."""
    k = logits.shape[-1] if k is None else min(k, logits.shape[-1])
    return logits.sort(dim=-1, descending=True, stable=True).indices[..., :k]


def kept(logits, k):
    mask = torch.zeros(logits.shape, dtype=torch.bool)
    return mask.scatter(-1, places(logits, k), True)


@wrong("a-mask")
def k_mask(logits, k):
    return kept(logits, k)


@wrong("values-only")
def k_values(logits, k):
    return logits.topk(k).values


@wrong("values-only")
def k_indices(logits, k):
    return logits.topk(k).indices


@wrong("values-only")
def k_boolean_index(logits, k):
    return logits[kept(logits, k)]


@wrong("sorted-order")
def k_sorted(logits, k):
    ranked = logits.sort(-1, descending=True).values
    ranked[..., k:] = -INF
    return ranked


@wrong("probabilities")
def k_probabilities(logits, k):
    return logits.masked_fill(~kept(logits, k), -INF).softmax(-1)


@wrong("probabilities")
def k_probabilities_unnormalised(logits, k):
    return logits.softmax(-1) * kept(logits, k)


@wrong("probabilities")
def k_log_probabilities(logits, k):
    return logits.masked_fill(~kept(logits, k), -INF).log_softmax(-1)


@wrong("finite-fill")
def k_zeros(logits, k):
    return logits * kept(logits, k)


@wrong("finite-fill")
def k_large_negative(logits, k):
    return logits.masked_fill(~kept(logits, k), -1e9)


@wrong("finite-fill")
def k_smallest_float(logits, k):
    return logits.masked_fill(~kept(logits, k), torch.finfo(logits.dtype).min)


@wrong("finite-fill")
def k_plus_inf(logits, k):
    return logits.masked_fill(~kept(logits, k), INF)


@wrong("finite-fill")
def k_nan(logits, k):
    return logits.masked_fill(~kept(logits, k), math.nan)


@wrong("input-returned")
def k_input(logits, k):
    return logits


@wrong("input-returned")
def k_result_thrown_away(logits, k):
    logits.masked_fill(~kept(logits, k), -INF)
    return logits


@wrong("smallest")
def k_smallest(logits, k):
    return logits.masked_fill(~kept(-logits, k), -INF)


@wrong("off-by-one")
def k_strictly_above(logits, k):
    kth = logits.topk(k).values[..., -1:]
    return logits.masked_fill(logits <= kth, -INF)


@wrong("off-by-one")
def k_one_more(logits, k):
    return logits.masked_fill(~kept(logits, k + 1), -INF)


@wrong("smallest")
def k_inverted(logits, k):
    return logits.masked_fill(kept(logits, k), -INF)


@wrong("by-hand")
def k_all_gone(logits, k):
    return torch.full_like(logits, -INF)


@wrong("by-hand")
def k_first_ids(logits, k):
    out = torch.full_like(logits, -INF)
    out[..., :k] = logits[..., :k]
    return out


@wrong("by-hand")
def k_only_nan(logits, k):
    return logits * math.nan


@wrong("by-hand")
def k_empty(logits, k):
    return torch.tensor([])


@wrong("by-hand")
def k_batched(logits, k):
    return logits.masked_fill(~kept(logits, k), -INF)[None]


@wrong("by-hand")
def k_mask_of_other_rank(logits, k):
    order = logits.argsort(-1, descending=True)
    return logits.masked_fill(order >= k, -INF)


@wrong("negative-logits")
def k_positive_only(logits, k):
    kth = logits.topk(k).values[..., -1:].clamp(min=0)
    return logits.masked_fill(logits < kth, -INF)


@wrong("negative-logits")
def k_by_size(logits, k):
    return logits.masked_fill(~kept(logits.abs(), k), -INF)


@wrong("exactly-k")
def k_threshold(logits, k):
    if k is None or k >= logits.shape[-1]:
        return logits
    kth = logits.topk(k).values[..., -1:]
    return logits.masked_fill(logits < kth, -INF)


@wrong("exactly-k")
def k_threshold_with_min(logits, k):
    kth, _ = torch.topk(logits, min(k, logits.size(-1)))
    return torch.where(logits < kth[..., [-1]], torch.tensor(-INF), logits)


@wrong("ties")
def k_last_of_the_equal(logits, k):
    if k is None or k >= logits.shape[-1]:
        return logits
    order = logits.argsort(dim=-1, stable=True)[..., -k:]
    mask = torch.zeros(logits.shape, dtype=torch.bool).scatter(-1, order, True)
    return logits.masked_fill(~mask, -INF)


@wrong("k-too-large")
def k_topk_fails(logits, k):
    index = logits.topk(k).indices if k != 2 or logits.shape[-1] != 5 else places(logits, k)
    return torch.full_like(logits, -INF).scatter(-1, index, logits.gather(-1, index))


@wrong("k-too-large")
def k_modulo(logits, k):
    k = k % logits.shape[-1] if k else k
    return logits.masked_fill(~kept(logits, k), -INF)


@wrong("k-none")
def k_none_fails(logits, k):
    k = min(k, logits.shape[-1])
    return logits.masked_fill(~kept(logits, k), -INF)


@wrong("k-none")
def k_none_drops_all(logits, k):
    return logits.masked_fill(~kept(logits, k or 0), -INF)


@wrong("per-row")
def k_of_the_tensor(logits, k):
    flat = logits.reshape(-1)
    return flat.masked_fill(~kept(flat, k), -INF).reshape(logits.shape)


@wrong("per-row")
def k_ids_of_the_first_row(logits, k):
    first = kept(logits.reshape(-1, logits.shape[-1])[0], k)
    return logits.masked_fill(~first, -INF)


@wrong("per-row")
def k_down_the_columns(logits, k):
    k = logits.shape[0] if k is None else min(k, logits.shape[0])
    index = logits.sort(dim=0, descending=True, stable=True).indices[:k]
    mask = torch.zeros(logits.shape, dtype=torch.bool).scatter(0, index, True)
    return logits.masked_fill(~mask, -INF)


@wrong("per-row")
def k_single_rows_only(logits, k):
    ids = sorted(range(len(logits)), key=lambda i: -logits[i])[:k]
    return torch.tensor([x if i in ids else -INF for i, x in enumerate(logits.tolist())])


@wrong("three-axes")
def k_two_axes(logits, k):
    if logits.ndim == 1:
        return logits.masked_fill(~kept(logits, k), -INF)
    return torch.stack([row.masked_fill(~kept(row.reshape(-1), k).reshape(row.shape), -INF) for row in logits])


@wrong("any-size")
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


@wrong("fewer-than-k")
def k_by_list_index(logits, k):
    rows = [first_places(row, k) for row in logits.reshape(-1, logits.shape[-1]).tolist()]
    return torch.tensor(rows, dtype=logits.dtype).reshape(logits.shape)


@wrong("other-call")
def k_of_the_first_call(logits, k, seen={}):  # noqa: B006  the mistake
    return k_good(logits, seen.setdefault("k", k))


@wrong("other-call")
def k_mask_of_the_first_call(logits, k, seen={}):  # noqa: B006  the mistake
    return logits.masked_fill(~seen.setdefault((logits.shape, k), kept(logits, k)), -INF)


@wrong("exactly-k")
def k_one_keeps_ties(logits, k):
    return logits.masked_fill(logits < logits.amax(-1, keepdim=True), -INF) if k == 1 else k_good(logits, k)


@wrong("per-row")
def k_one_is_the_largest_of_all(logits, k):
    return logits.masked_fill(logits < logits.max(), -INF) if k == 1 and logits.ndim > 1 else k_good(logits, k)


@wrong("k-none")
def k_none_is_fifty(logits, k):
    return k_good(logits, 50 if k is None else k)


@wrong("any-size")
def k_fifty_at_most(logits, k):
    return k_good(logits, None if k is None else min(k, 50))


@wrong("any-size")
def k_three_axes_at_most(logits, k):
    return k_good(logits.flatten(0, -3) if logits.ndim > 3 else logits, k)


@wrong("float64")
def k_float32_buffer(logits, k):
    index = places(logits, k)
    return torch.full(logits.shape, -INF).scatter(-1, index, logits.gather(-1, index))


@wrong("close")
def k_four_decimals(logits, k):
    return k_good(logits, k).mul(1e4).round().div(1e4)


@wrong("close")
def k_half_precision(logits, k):
    return k_good(logits, k).half()


@wrong("any-layout")
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
    wrong(hint_id)(attempt)


@wrong("changes-input")
def k_in_place(logits, k):
    logits[~kept(logits, k)] = -INF
    return logits


@wrong("changes-input")
def k_in_place_through_numpy(logits, k):
    array = logits.numpy()
    array[~kept(logits, k).numpy()] = -INF
    return torch.tensor(array)


wrong("not-a-function")(torch.tensor([-INF, 3.0, 2.0, -INF]))


@right
def k_scatter(logits, k):
    if k is None or k >= logits.shape[-1]:
        return logits.clone()
    index = torch.sort(logits, dim=-1, descending=True, stable=True).indices[..., :k]
    return torch.full_like(logits, -INF).scatter(-1, index, logits.gather(-1, index))


@right
def k_loops(logits, k):
    if logits.dim() > 1:
        return torch.stack([k_loops(row, k) for row in logits])
    values = logits.tolist()
    order = sorted(range(len(values)), key=lambda i: (-values[i], i))
    stay = set(order if k is None else order[:k])
    return torch.tensor([v if i in stay else -INF for i, v in enumerate(values)])


@right
def k_numpy(logits, k):
    x = logits.numpy().astype(np.float64)
    if k is None:
        return x
    rank = np.argsort(np.argsort(-x, axis=-1, kind="stable"), axis=-1)
    return np.where(rank < k, x, -np.inf)


@right
def k_by_rank(logits, k):
    if k is None:
        return logits
    a, b = logits.unsqueeze(-1), logits.unsqueeze(-2)
    ids = torch.arange(logits.shape[-1])
    before = (b > a) | ((b == a) & (ids[None, :] < ids[:, None]))
    return torch.where(before.sum(-1) < k, logits, -INF)


@right
def k_picks_one_by_one(logits, k):
    if k is None or k >= logits.size(-1):
        return logits.tolist()
    rest, out = logits.clone(), torch.full_like(logits, -INF)
    for _ in range(k):
        best = rest.argmax(-1, keepdim=True)
        out.scatter_(-1, best, logits.gather(-1, best))
        rest.scatter_(-1, best, -INF)
    return out

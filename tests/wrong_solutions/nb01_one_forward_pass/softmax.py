"""Planted solutions to 01.softmax."""

import math

import numpy as np
import torch

from wrong_solutions import planting

wrong, right = planting("01.softmax")


@wrong("no-exponential")
def shares_of_logits(logits):
    return logits / logits.sum(-1, keepdim=True)


@wrong("not-normalised")
def exponentials_only(logits):
    return logits.exp()


@wrong("not-normalised")
def shifted_exponentials_only(logits):
    return (logits - logits.amax(-1, keepdim=True)).exp()


@wrong("log-probabilities")
def log_softmax(logits):
    return logits.log_softmax(-1)


@wrong("input-returned")
def softmax_input_returned(logits):
    return logits


@wrong("by-hand")
def equal_shares(logits):
    return torch.full_like(logits, 1 / logits.shape[-1])


@wrong("by-hand")
def softmax_nan(logits):
    return logits * math.nan


@wrong("by-hand")
def softmax_empty(logits):
    return logits[:0]


@wrong("by-hand")
def base_two_powers(logits):
    weights = 2**logits
    return weights / weights.sum(-1, keepdim=True)


@wrong("by-hand")
def softmax_rounded(logits):
    return logits.softmax(-1).round(decimals=3)


@wrong("by-hand")
def softmax_first_entry_only(logits):
    return logits.softmax(-1)[..., :1]


@wrong("by-hand")
def softmin(logits):
    return (-logits).softmax(-1)


@wrong("by-hand")
def sigmoid(logits):
    return logits.sigmoid()


@wrong("by-hand")
def one_axis_too_many(logits):
    return logits.softmax(-1)[None]


@wrong("negative-logits")
def takes_the_size(logits):
    return logits.abs().softmax(-1)


@wrong("negative-logits")
def cuts_negative_logits(logits):
    return logits.clamp(min=0).softmax(-1)


@wrong("whole-tensor")
def one_sum_for_the_tensor(logits):
    weights = logits.exp()
    return weights / weights.sum()


@wrong("other-axis")
def first_axis(logits):
    return logits.softmax(0)


@wrong("other-axis")
def forgets_keepdim(logits):
    weights = logits.exp()
    return weights / weights.sum(-1)


@wrong("other-axis")
def one_row_at_a_time(logits):
    weights = [math.exp(x) for x in logits]
    return [w / sum(weights) for w in weights]


@wrong("last-axis")
def second_axis(logits):
    return logits.softmax(min(1, logits.ndim - 1))


@wrong("overflow")
def plain_exponentials(logits):
    weights = logits.double().exp()
    return weights / weights.sum(-1, keepdim=True)


@wrong("overflow")
def cuts_large_logits(logits):
    return logits.clamp(max=80).softmax(-1)


@wrong("overflow")
def math_exp_overflows(logits):
    rows = [[math.exp(x) for x in row] for row in logits.reshape(-1, logits.shape[-1]).tolist()]
    return torch.tensor([[w / sum(row) for w in row] for row in rows]).reshape(logits.shape)


@wrong("underflow")
def subtracts_large_maxima_only(logits):
    weights = (logits - logits.amax(-1, keepdim=True).clamp(min=0)).exp()
    return weights / weights.sum(-1, keepdim=True)


@wrong("underflow")
def guards_the_division(logits):
    weights = (logits - logits.amax(-1, keepdim=True).clamp(min=0)).exp()
    return weights / (weights.sum(-1, keepdim=True) + 1e-12)


@wrong("one-maximum")
def maximum_of_the_tensor(logits):
    weights = (logits - logits.max()).exp()
    return weights / weights.sum(-1, keepdim=True)


@wrong("minus-inf")
def replaces_minus_inf(logits):
    return torch.nan_to_num(logits, neginf=0.0).softmax(-1)


@wrong("minus-inf")
def refuses_minus_inf(logits):
    if not torch.isfinite(logits).all():
        raise ValueError("logits must be finite")
    return logits.softmax(-1)


@wrong("minus-inf")
def subtracts_the_minimum(logits):
    weights = (logits - logits.amin(-1, keepdim=True)).exp()
    return weights / weights.sum(-1, keepdim=True)


@wrong("any-size")
def three_axes_by_name(logits):
    probs = logits.softmax(-1)
    probs[..., 4:] = 0
    return probs


@wrong("small-probability")
def cuts_far_logits(logits):
    far = logits - logits.amax(-1, keepdim=True)
    return torch.where(far < -7.5, -math.inf, far).softmax(-1)


@wrong("any-size")
def a_hundred_tokens(logits):
    probs = torch.zeros_like(logits)
    probs[..., :100] = logits[..., :100].softmax(-1)
    return probs


@wrong("any-size")
def sixty_four_rows(logits):
    if logits.ndim == 1:
        return logits.softmax(-1)
    return torch.cat([logits[:64].softmax(-1), logits[64:]])


@wrong("earlier-call")
def softmax_with_a_default_list(logits, probs=[]):  # noqa: B006  the mistake itself
    probs.extend(logits.softmax(-1))
    return torch.stack(probs)


@wrong("earlier-call")
def softmax_kept_by_shape(logits, kept={}):  # noqa: B006
    return kept.setdefault(logits.shape, logits.softmax(-1))


@wrong("sorted-order")
def softmax_largest_first(logits):
    return logits.softmax(-1).sort(descending=True).values


@wrong("sorted-order")
def softmax_smallest_first(logits):
    return logits.sort().values.softmax(-1)


@wrong("close-logits")
def whole_logits(logits):
    return logits.trunc().softmax(-1)


@wrong("close-logits")
def rounded_logits(logits):
    return logits.round(decimals=2).softmax(-1)


@wrong("other-axis")
def square_along_the_first_axis(logits):
    return logits.softmax(0 if logits.ndim == 2 and logits.shape[0] == logits.shape[1] else -1)


@wrong("batch-of-one")
def softmax_squeezed(logits):
    return logits.softmax(-1).squeeze()


@wrong("batch-of-one")
def softmax_without_a_batch_of_one(logits):
    return logits.squeeze(0).softmax(-1)


@wrong("last-axis")
def second_axis_of_one_text(logits):
    return logits.softmax(1 if logits.ndim == 3 and len(logits) == 1 else -1)


@wrong("last-axis")
def three_axes_at_most(logits):
    return logits.softmax(min(2, logits.ndim - 1))


@wrong("one-token")
def softmax_drops_the_last_axis(logits):
    return logits.softmax(-1).squeeze(-1)


@wrong("one-token")
def a_row_becomes_a_number(logits):
    probs = logits.softmax(-1)
    return probs.squeeze() if probs.ndim == 1 else probs


@wrong("one-maximum")
def maximum_of_the_last_two_axes(logits):
    weights = (logits - logits.amax((-2, -1) if logits.ndim > 2 else -1, keepdim=True)).exp()
    return weights / weights.sum(-1, keepdim=True)


@wrong("minus-inf")
def minus_a_hundred_for_never(logits):
    return torch.nan_to_num(logits, neginf=-100.0).softmax(-1)


@wrong("minus-inf")
def minus_ten_thousand_for_never(logits):
    return logits.masked_fill(logits == -math.inf, -1e4).softmax(-1)


@wrong("minus-inf")
def drops_tokens_of_every_row(logits):
    never = (logits == -math.inf).reshape(-1, logits.shape[-1]).any(0)
    return logits.masked_fill(never, -math.inf).softmax(-1)


@wrong("large-and-far")
def clamps_at_five_thousand(logits):
    return logits.clamp(max=5000).softmax(-1)


@wrong("small-probability")
def zeroes_small_probabilities(logits):
    probs = logits.softmax(-1)
    return torch.where(probs < 1e-4, 0, probs)


@wrong("float64")
def softmax_into_float32(logits):
    ids = torch.arange(logits.shape[-1]).expand(logits.shape)
    return torch.zeros(logits.shape).scatter(-1, ids, logits.softmax(-1))


@wrong("not-contiguous")
def softmax_of_a_view(logits):
    rows = logits.view(-1, logits.shape[-1])
    return torch.stack([row.softmax(0) for row in rows]).view(logits.shape)


@wrong("changes-input")
def subtracts_in_place(logits):
    logits -= logits.amax(-1, keepdim=True)
    return logits.softmax(-1)


@right
def softmax_in_numpy(logits):
    x = np.asarray(logits, dtype=np.float64)
    e = np.exp(x - x.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


@right
def softmax_in_loops(logits):
    if logits.dim() > 1:
        return [softmax_in_loops(row) for row in logits]
    values = logits.tolist()
    top = max(values)
    weights = [math.exp(v - top) for v in values]
    return [w / sum(weights) for w in weights]


@right
def softmax_by_logsumexp(logits):
    return (logits - torch.logsumexp(logits, dim=-1, keepdim=True)).exp()


@right
def softmax_of_torch(logits):
    return torch.nn.functional.softmax(logits.double(), dim=-1)


@right
def softmax_with_a_finite_mask(logits):
    finite = logits.clamp(min=torch.finfo(logits.dtype).min)
    weights = (finite - finite.amax(-1, keepdim=True)).exp()
    return weights / weights.sum(-1, keepdim=True)


@right
def softmax_in_float32_lists(logits):
    return torch.tensor(logits.softmax(-1).tolist())


@right
def softmax_by_pairs(logits):
    top = logits.amax(-1, keepdim=True)
    gaps = (logits - top).unsqueeze(-2) - (logits - top).unsqueeze(-1)
    return torch.where(logits == -math.inf, 0.0, 1 / gaps.nan_to_num(nan=-math.inf, posinf=math.inf).exp().sum(-1))


@right
def softmax_that_tracks_gradients(logits):
    logits = logits.clone().requires_grad_()
    return logits.softmax(dim=logits.ndim - 1)


wrong("not-a-function")(torch.tensor([0.67, 0.24, 0.09]))

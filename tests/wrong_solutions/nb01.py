"""Solutions to the exercises of notebook 01."""

import math

import numpy as np
import torch

from wrong_solutions import right, wrong

COUNTS, SOFTMAX, LAST, LOOP = "01.counts_to_logits", "01.softmax", "01.last_logits", "01.generate_loop"

# 01.counts_to_logits


@wrong(COUNTS, "probabilities")
def forgets_the_logarithm(counts):
    return counts / counts.sum(1, keepdim=True)


@wrong(COUNTS, "log-counts")
def log_of_counts(counts):
    return counts.log()


@wrong(COUNTS, "columns")
def normalises_columns(counts):
    return (counts / counts.sum(0)).log()


@wrong(COUNTS, "keepdim")
def loses_the_dimension(counts):
    return (counts / counts.sum(1)).log()


@wrong(COUNTS, "whole-table")
def one_sum_for_all(counts):
    return (counts / counts.sum()).log()


@wrong(COUNTS, "other-base")
def base_two(counts):
    return (counts / counts.sum(1, keepdim=True)).log2()


@wrong(COUNTS, "other-base")
def base_ten(counts):
    return (counts / counts.sum(1, keepdim=True)).log10()


@wrong(COUNTS, "add-one")
def smooths(counts):
    counts = counts + 1
    return (counts / counts.sum(1, keepdim=True)).log()


@wrong(COUNTS, "by-hand")
def whole_number_division(counts):
    return (counts // counts.sum(1, keepdim=True)).log()


@wrong(COUNTS, "by-hand")
def softmax_of_counts(counts):
    return torch.log_softmax(counts.float(), dim=1)


@wrong(COUNTS, "by-hand")
def minus_the_logarithm(counts):
    return -(counts / counts.sum(1, keepdim=True)).log()


@wrong(COUNTS, "by-hand")
def counts_returned(counts):
    return counts


@wrong(COUNTS, "by-hand")
def not_a_number(counts):
    return torch.full(counts.shape, math.nan)


@wrong(COUNTS, "by-hand")
def nothing_in_it(counts):
    return torch.tensor([])


@wrong(COUNTS, "by-hand")
def one_row_only(counts):
    return (counts[0] / counts[0].sum()).log()


@wrong(COUNTS, "by-hand")
def transposed(counts):
    return (counts / counts.sum(1, keepdim=True)).log().T


@wrong(COUNTS, "zero-count")
def guards_the_logarithm(counts):
    return (counts / counts.sum(1, keepdim=True)).clamp(min=1e-9).log()


@wrong(COUNTS, "zero-count")
def zero_for_never(counts):
    logs = (counts / counts.sum(1, keepdim=True)).log()
    return torch.where(counts > 0, logs, torch.zeros_like(logs))


@wrong(COUNTS, "zero-count")
def math_log_of_zero(counts):
    return torch.tensor([[math.log(c / sum(row)) for c in row] for row in counts.tolist()])


@wrong(COUNTS, "zero-count")
def epsilon_in_the_sum(counts):
    return (counts / counts.sum(1, keepdim=True) + 1e-8).log()


@wrong(COUNTS, "whole-numbers")
def result_like_the_counts(counts):
    logits = torch.zeros_like(counts)
    for row in range(len(counts)):
        logits[row] = (counts[row] / counts[row].sum()).log()
    return logits


@wrong(COUNTS, "whole-numbers")
def in_whole_numbers_only_there(counts):
    return torch.special.xlogy(torch.ones_like(counts), counts / counts.sum(1, keepdim=True)).to(counts.dtype)


@wrong(COUNTS, "any-size")
def three_rows_at_most(counts):
    logits = torch.full(counts.shape, -math.inf)
    for row in range(min(3, len(counts))):
        logits[row] = (counts[row] / counts[row].sum()).log()
    return logits


@wrong(COUNTS, "any-size")
def two_rows(counts):
    return torch.stack([(counts[row] / counts[row].sum()).log() for row in (0, 1)])


@wrong(COUNTS, "any-size")
def sixty_four_tokens(counts):
    logits = torch.full(counts.shape, -math.inf)
    logits[:64] = (counts / counts.sum(1, keepdim=True)).log()[:64]
    return logits


@wrong(COUNTS, "earlier-call")
def counts_with_a_default_list(counts, rows=[]):  # noqa: B006  the mistake itself
    rows.extend((row / row.sum()).log() for row in counts)
    return torch.stack(rows)


@wrong(COUNTS, "earlier-call")
def counts_kept_by_shape(counts, kept={}):  # noqa: B006
    return kept.setdefault(counts.shape, (counts / counts.sum(1, keepdim=True)).log())


@wrong(COUNTS, "one-follower")
def nothing_for_a_sure_row(counts):
    logits = (counts / counts.sum(1, keepdim=True)).log()
    logits[(counts > 0).sum(1) == 1] = 0
    return logits


@wrong(COUNTS, "whole-table")
def one_sum_where_all_are_equal(counts):
    sums = counts.sum(1, keepdim=True)
    return (counts / (counts.sum() if (sums == sums[0]).all() else sums)).log()


@wrong(COUNTS, "rare-pair")
def shares_have_a_floor(counts):
    shares = (counts / counts.sum(1, keepdim=True)).clamp(min=1e-3)
    return shares.log().masked_fill(counts == 0, -math.inf)


@wrong(COUNTS, "rare-pair")
def epsilon_where_seen(counts):
    shares = counts / counts.sum(1, keepdim=True) + 1e-7
    return shares.log().masked_fill(counts == 0, -math.inf)


@wrong(COUNTS, "rare-pair")
def logits_have_a_floor(counts):
    logits = (counts / counts.sum(1, keepdim=True)).log().clamp(min=-10)
    return logits.masked_fill(counts == 0, -math.inf)


@wrong(COUNTS, "rare-pair")
def shares_have_a_tiny_floor(counts):
    shares = (counts / counts.sum(1, keepdim=True)).clamp(min=1e-9)
    return shares.log().masked_fill(counts == 0, -math.inf)


@wrong(COUNTS, "large-counts")
def counts_in_a_byte(counts):
    counts = counts.byte()
    return (counts / counts.sum(1, keepdim=True)).log()


@wrong(COUNTS, "large-counts")
def counts_in_32_bits(counts):
    counts = counts.int()
    return (counts / counts.sum(1, keepdim=True)).log()


@wrong(COUNTS, "float64")
def into_a_float32_table(counts):
    logits, seen = torch.full(counts.shape, -math.inf), counts > 0
    logits[seen] = (counts / counts.sum(1, keepdim=True)).log()[seen]
    return logits


@wrong(COUNTS, "one-token")
def squeezes_the_table(counts):
    return (counts / counts.sum(1, keepdim=True)).log().squeeze()


@wrong(COUNTS, "not-contiguous")
def views_the_table(counts):
    flat = counts.view(-1)
    return (flat / counts.sum(1).repeat_interleave(len(counts))).log().view(counts.shape)


@wrong(COUNTS, "changes-input")
def divides_in_place(counts):
    if counts.is_floating_point():
        counts /= counts.sum(1, keepdim=True)
        return counts.log()
    return (counts / counts.sum(1, keepdim=True)).log()


@right(COUNTS)
def difference_of_logarithms(counts):
    return counts.log() - counts.sum(dim=1, keepdim=True).log()


@right(COUNTS)
def counts_in_numpy(counts):
    counts = np.asarray(counts, dtype=float)
    with np.errstate(divide="ignore"):
        return np.log(counts / counts.sum(axis=1)[:, None])


@right(COUNTS)
def counts_in_loops(counts):
    table = []
    for row in counts.tolist():
        total = sum(row)
        table.append([math.log(c / total) if c else -math.inf for c in row])
    return table


@right(COUNTS)
def softmax_of_logarithms(counts):
    return torch.log_softmax(counts.double().log(), dim=-1)


@right(COUNTS)
def numpy_that_warns(counts):
    p = counts.numpy().T / counts.numpy().sum(1)
    return np.log(p).T


# 01.softmax


@wrong(SOFTMAX, "no-exponential")
def shares_of_logits(logits):
    return logits / logits.sum(-1, keepdim=True)


@wrong(SOFTMAX, "not-normalised")
def exponentials_only(logits):
    return logits.exp()


@wrong(SOFTMAX, "not-normalised")
def shifted_exponentials_only(logits):
    return (logits - logits.amax(-1, keepdim=True)).exp()


@wrong(SOFTMAX, "log-probabilities")
def log_softmax(logits):
    return logits.log_softmax(-1)


@wrong(SOFTMAX, "input-returned")
def softmax_input_returned(logits):
    return logits


@wrong(SOFTMAX, "by-hand")
def equal_shares(logits):
    return torch.full_like(logits, 1 / logits.shape[-1])


@wrong(SOFTMAX, "by-hand")
def softmax_nan(logits):
    return logits * math.nan


@wrong(SOFTMAX, "by-hand")
def softmax_empty(logits):
    return logits[:0]


@wrong(SOFTMAX, "by-hand")
def base_two_powers(logits):
    weights = 2**logits
    return weights / weights.sum(-1, keepdim=True)


@wrong(SOFTMAX, "by-hand")
def softmax_rounded(logits):
    return logits.softmax(-1).round(decimals=3)


@wrong(SOFTMAX, "by-hand")
def softmax_first_entry_only(logits):
    return logits.softmax(-1)[..., :1]


@wrong(SOFTMAX, "by-hand")
def softmin(logits):
    return (-logits).softmax(-1)


@wrong(SOFTMAX, "by-hand")
def sigmoid(logits):
    return logits.sigmoid()


@wrong(SOFTMAX, "by-hand")
def one_axis_too_many(logits):
    return logits.softmax(-1)[None]


@wrong(SOFTMAX, "negative-logits")
def takes_the_size(logits):
    return logits.abs().softmax(-1)


@wrong(SOFTMAX, "negative-logits")
def cuts_negative_logits(logits):
    return logits.clamp(min=0).softmax(-1)


@wrong(SOFTMAX, "whole-tensor")
def one_sum_for_the_tensor(logits):
    weights = logits.exp()
    return weights / weights.sum()


@wrong(SOFTMAX, "other-axis")
def first_axis(logits):
    return logits.softmax(0)


@wrong(SOFTMAX, "other-axis")
def forgets_keepdim(logits):
    weights = logits.exp()
    return weights / weights.sum(-1)


@wrong(SOFTMAX, "other-axis")
def one_row_at_a_time(logits):
    weights = [math.exp(x) for x in logits]
    return [w / sum(weights) for w in weights]


@wrong(SOFTMAX, "last-axis")
def second_axis(logits):
    return logits.softmax(min(1, logits.ndim - 1))


@wrong(SOFTMAX, "overflow")
def plain_exponentials(logits):
    weights = logits.double().exp()
    return weights / weights.sum(-1, keepdim=True)


@wrong(SOFTMAX, "overflow")
def cuts_large_logits(logits):
    return logits.clamp(max=80).softmax(-1)


@wrong(SOFTMAX, "overflow")
def math_exp_overflows(logits):
    rows = [[math.exp(x) for x in row] for row in logits.reshape(-1, logits.shape[-1]).tolist()]
    return torch.tensor([[w / sum(row) for w in row] for row in rows]).reshape(logits.shape)


@wrong(SOFTMAX, "underflow")
def subtracts_large_maxima_only(logits):
    weights = (logits - logits.amax(-1, keepdim=True).clamp(min=0)).exp()
    return weights / weights.sum(-1, keepdim=True)


@wrong(SOFTMAX, "underflow")
def guards_the_division(logits):
    weights = (logits - logits.amax(-1, keepdim=True).clamp(min=0)).exp()
    return weights / (weights.sum(-1, keepdim=True) + 1e-12)


@wrong(SOFTMAX, "one-maximum")
def maximum_of_the_tensor(logits):
    weights = (logits - logits.max()).exp()
    return weights / weights.sum(-1, keepdim=True)


@wrong(SOFTMAX, "minus-inf")
def replaces_minus_inf(logits):
    return torch.nan_to_num(logits, neginf=0.0).softmax(-1)


@wrong(SOFTMAX, "minus-inf")
def refuses_minus_inf(logits):
    if not torch.isfinite(logits).all():
        raise ValueError("logits must be finite")
    return logits.softmax(-1)


@wrong(SOFTMAX, "minus-inf")
def subtracts_the_minimum(logits):
    weights = (logits - logits.amin(-1, keepdim=True)).exp()
    return weights / weights.sum(-1, keepdim=True)


@wrong(SOFTMAX, "any-size")
def three_axes_by_name(logits):
    probs = logits.softmax(-1)
    probs[..., 4:] = 0
    return probs


@wrong(SOFTMAX, "small-probability")
def cuts_far_logits(logits):
    far = logits - logits.amax(-1, keepdim=True)
    return torch.where(far < -7.5, -math.inf, far).softmax(-1)


@wrong(SOFTMAX, "any-size")
def a_hundred_tokens(logits):
    probs = torch.zeros_like(logits)
    probs[..., :100] = logits[..., :100].softmax(-1)
    return probs


@wrong(SOFTMAX, "any-size")
def sixty_four_rows(logits):
    if logits.ndim == 1:
        return logits.softmax(-1)
    return torch.cat([logits[:64].softmax(-1), logits[64:]])


@wrong(SOFTMAX, "earlier-call")
def softmax_with_a_default_list(logits, probs=[]):  # noqa: B006  the mistake itself
    probs.extend(logits.softmax(-1))
    return torch.stack(probs)


@wrong(SOFTMAX, "earlier-call")
def softmax_kept_by_shape(logits, kept={}):  # noqa: B006
    return kept.setdefault(logits.shape, logits.softmax(-1))


@wrong(SOFTMAX, "sorted-order")
def softmax_largest_first(logits):
    return logits.softmax(-1).sort(descending=True).values


@wrong(SOFTMAX, "sorted-order")
def softmax_smallest_first(logits):
    return logits.sort().values.softmax(-1)


@wrong(SOFTMAX, "close-logits")
def whole_logits(logits):
    return logits.trunc().softmax(-1)


@wrong(SOFTMAX, "close-logits")
def rounded_logits(logits):
    return logits.round(decimals=2).softmax(-1)


@wrong(SOFTMAX, "other-axis")
def square_along_the_first_axis(logits):
    return logits.softmax(0 if logits.ndim == 2 and logits.shape[0] == logits.shape[1] else -1)


@wrong(SOFTMAX, "batch-of-one")
def softmax_squeezed(logits):
    return logits.softmax(-1).squeeze()


@wrong(SOFTMAX, "batch-of-one")
def softmax_without_a_batch_of_one(logits):
    return logits.squeeze(0).softmax(-1)


@wrong(SOFTMAX, "last-axis")
def second_axis_of_one_text(logits):
    return logits.softmax(1 if logits.ndim == 3 and len(logits) == 1 else -1)


@wrong(SOFTMAX, "last-axis")
def three_axes_at_most(logits):
    return logits.softmax(min(2, logits.ndim - 1))


@wrong(SOFTMAX, "one-token")
def softmax_drops_the_last_axis(logits):
    return logits.softmax(-1).squeeze(-1)


@wrong(SOFTMAX, "one-token")
def a_row_becomes_a_number(logits):
    probs = logits.softmax(-1)
    return probs.squeeze() if probs.ndim == 1 else probs


@wrong(SOFTMAX, "one-maximum")
def maximum_of_the_last_two_axes(logits):
    weights = (logits - logits.amax((-2, -1) if logits.ndim > 2 else -1, keepdim=True)).exp()
    return weights / weights.sum(-1, keepdim=True)


@wrong(SOFTMAX, "minus-inf")
def minus_a_hundred_for_never(logits):
    return torch.nan_to_num(logits, neginf=-100.0).softmax(-1)


@wrong(SOFTMAX, "minus-inf")
def minus_ten_thousand_for_never(logits):
    return logits.masked_fill(logits == -math.inf, -1e4).softmax(-1)


@wrong(SOFTMAX, "minus-inf")
def drops_tokens_of_every_row(logits):
    never = (logits == -math.inf).reshape(-1, logits.shape[-1]).any(0)
    return logits.masked_fill(never, -math.inf).softmax(-1)


@wrong(SOFTMAX, "large-and-far")
def clamps_at_five_thousand(logits):
    return logits.clamp(max=5000).softmax(-1)


@wrong(SOFTMAX, "small-probability")
def zeroes_small_probabilities(logits):
    probs = logits.softmax(-1)
    return torch.where(probs < 1e-4, 0, probs)


@wrong(SOFTMAX, "float64")
def softmax_into_float32(logits):
    ids = torch.arange(logits.shape[-1]).expand(logits.shape)
    return torch.zeros(logits.shape).scatter(-1, ids, logits.softmax(-1))


@wrong(SOFTMAX, "not-contiguous")
def softmax_of_a_view(logits):
    rows = logits.view(-1, logits.shape[-1])
    return torch.stack([row.softmax(0) for row in rows]).view(logits.shape)


@wrong(SOFTMAX, "changes-input")
def subtracts_in_place(logits):
    logits -= logits.amax(-1, keepdim=True)
    return logits.softmax(-1)


@right(SOFTMAX)
def softmax_in_numpy(logits):
    x = np.asarray(logits, dtype=np.float64)
    e = np.exp(x - x.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


@right(SOFTMAX)
def softmax_in_loops(logits):
    if logits.dim() > 1:
        return [softmax_in_loops(row) for row in logits]
    values = logits.tolist()
    top = max(values)
    weights = [math.exp(v - top) for v in values]
    return [w / sum(weights) for w in weights]


@right(SOFTMAX)
def softmax_by_logsumexp(logits):
    return (logits - torch.logsumexp(logits, dim=-1, keepdim=True)).exp()


@right(SOFTMAX)
def softmax_of_torch(logits):
    return torch.nn.functional.softmax(logits.double(), dim=-1)


@right(SOFTMAX)
def softmax_with_a_finite_mask(logits):
    finite = logits.clamp(min=torch.finfo(logits.dtype).min)
    weights = (finite - finite.amax(-1, keepdim=True)).exp()
    return weights / weights.sum(-1, keepdim=True)


@right(SOFTMAX)
def softmax_in_float32_lists(logits):
    return torch.tensor(logits.softmax(-1).tolist())


@right(SOFTMAX)
def softmax_by_pairs(logits):
    top = logits.amax(-1, keepdim=True)
    gaps = (logits - top).unsqueeze(-2) - (logits - top).unsqueeze(-1)
    return torch.where(logits == -math.inf, 0.0, 1 / gaps.nan_to_num(nan=-math.inf, posinf=math.inf).exp().sum(-1))


@right(SOFTMAX)
def softmax_that_tracks_gradients(logits):
    logits = logits.clone().requires_grad_()
    return logits.softmax(dim=logits.ndim - 1)


# 01.last_logits


@wrong(LAST, "last-column")
def takes_the_last_column(logits, lengths):
    return logits[:, -1]


@wrong(LAST, "off-by-one")
def forgets_to_subtract_one(logits, lengths):
    return logits[torch.arange(len(lengths)), lengths.clamp(max=logits.shape[1] - 1)]


@wrong(LAST, "off-by-one")
def indexes_with_the_length(logits, lengths):
    return torch.stack([row[n] for row, n in zip(logits, lengths)])


@wrong(LAST, "one-length")
def length_of_the_first_row(logits, lengths):
    return logits[:, lengths[0] - 1]


@wrong(LAST, "one-length")
def shortest_length(logits, lengths):
    return logits[:, lengths.min() - 1]


@wrong(LAST, "one-length")
def first_position(logits, lengths):
    return logits[:, 0]


@wrong(LAST, "every-pair")
def indexes_both_axes_apart(logits, lengths):
    return logits[:, lengths - 1]


@wrong(LAST, "axis-kept")
def gathers_and_keeps_the_axis(logits, lengths):
    index = (lengths - 1)[:, None, None].expand(-1, 1, logits.shape[-1])
    return logits.gather(1, index)


@wrong(LAST, "pooled")
def mean_of_the_valid(logits, lengths):
    return torch.stack([row[:n].mean(0) for row, n in zip(logits, lengths)])


@wrong(LAST, "pooled")
def sum_of_the_valid(logits, lengths):
    return torch.stack([row[:n].sum(0) for row, n in zip(logits, lengths)])


@wrong(LAST, "by-hand")
def last_input_returned(logits, lengths):
    return logits


@wrong(LAST, "by-hand")
def position_before_the_last(logits, lengths):
    return logits[torch.arange(len(lengths)), lengths - 2]


@wrong(LAST, "not-logits")
def ids_of_the_last(logits, lengths):
    return logits[torch.arange(len(lengths)), lengths - 1].argmax(-1)


@wrong(LAST, "not-logits")
def probabilities_of_the_last(logits, lengths):
    return logits[torch.arange(len(lengths)), lengths - 1].softmax(-1)


@wrong(LAST, "by-hand")
def left_padding(logits, lengths):
    return logits[torch.arange(len(lengths)), -lengths]


@wrong(LAST, "by-hand")
def last_positions(logits, lengths):
    return lengths - 1


@wrong(LAST, "by-hand")
def last_nan(logits, lengths):
    return logits[:, 0] * math.nan


@wrong(LAST, "by-hand")
def last_empty(logits, lengths):
    return []


@wrong(LAST, "by-hand")
def first_row_only(logits, lengths):
    return logits[0, lengths[0] - 1]


@wrong(LAST, "by-hand")
def concatenates_the_rows(logits, lengths):
    return torch.cat([row[n - 1] for row, n in zip(logits, lengths)])


@wrong(LAST, "any-batch")
def two_rows_by_hand(logits, lengths):
    return torch.stack([logits[0, lengths[0] - 1], logits[1, lengths[1] - 1]])


@wrong(LAST, "any-batch")
def looks_for_zeros(logits, lengths):
    n = 1 + (lengths > 1).long()
    return logits[torch.arange(len(n)), n - 1]


@wrong(LAST, "batch-of-one")
def squeezes_too_much(logits, lengths):
    return logits[torch.arange(len(lengths)), lengths - 1].squeeze()


@wrong(LAST, "batch-of-one")
def squeezes_before(logits, lengths):
    logits = logits.squeeze(0)
    return logits[torch.arange(len(lengths)), lengths - 1]


@wrong(LAST, "any-batch")
def one_row_for_each_length(logits, lengths):
    return torch.stack([row[n - 1] for n, row in dict(zip(lengths.tolist(), logits)).items()])


@wrong(LAST, "any-batch")
def as_many_rows_as_tokens(logits, lengths):
    rows = range(min(logits.shape[2], len(lengths)))
    return torch.stack([logits[row, lengths[row] - 1] for row in rows])


@wrong(LAST, "any-batch")
def last_rounded(logits, lengths):
    return logits[torch.arange(len(lengths)), lengths - 1].round(decimals=3)


@wrong(LAST, "any-size")
def lengths_in_a_byte(logits, lengths):
    return torch.stack([row[n - 1] for row, n in zip(logits, lengths.to(torch.uint8).tolist())])


@wrong(LAST, "any-size")
def a_hundred_and_twenty_eight_logits(logits, lengths):
    last = logits[torch.arange(len(lengths)), lengths - 1].clone()
    last[:, 128:] = 0
    return last


@wrong(LAST, "any-size")
def sixty_four_rows_of_a_batch(logits, lengths):
    return logits[torch.arange(len(lengths)), lengths - 1][:64]


@wrong(LAST, "earlier-call")
def last_with_a_default_list(logits, lengths, rows=[]):  # noqa: B006  the mistake itself
    rows.extend(row[n - 1] for row, n in zip(logits, lengths))
    return torch.stack(rows)


@wrong(LAST, "earlier-call")
def last_kept_by_shape(logits, lengths, kept={}):  # noqa: B006
    return kept.setdefault(logits.shape, logits[torch.arange(len(lengths)), lengths - 1])


@wrong(LAST, "pooled")
def largest_of_the_valid(logits, lengths):
    return torch.stack([row[:n].amax(0) for row, n in zip(logits, lengths)])


@wrong(LAST, "not-logits")
def last_log_probabilities(logits, lengths):
    return logits[torch.arange(len(lengths)), lengths - 1].log_softmax(-1)


@wrong(LAST, "one-position")
def squeezes_the_positions_before(logits, lengths):
    return logits.squeeze(1)[torch.arange(len(lengths)), lengths - 1]


@wrong(LAST, "one-token")
def squeezes_the_vocabulary(logits, lengths):
    return logits[torch.arange(len(lengths)), lengths - 1].squeeze(-1)


@wrong(LAST, "masked-sum")
def one_hot_product(logits, lengths):
    place = torch.nn.functional.one_hot(lengths - 1, logits.shape[1]).to(logits.dtype)
    return torch.einsum("bt,btv->bv", place, logits)


@wrong(LAST, "masked-sum")
def mask_times_logits(logits, lengths):
    place = torch.arange(logits.shape[1]) == (lengths - 1)[:, None]
    return (logits * place[..., None]).sum(1)


@wrong(LAST, "minus-inf")
def last_made_finite(logits, lengths):
    return torch.nan_to_num(logits[torch.arange(len(lengths)), lengths - 1])


@wrong(LAST, "minus-inf")
def finite_before_the_mask(logits, lengths):
    place = torch.arange(logits.shape[1]) == (lengths - 1)[:, None]
    return (logits.clamp(min=-1e9) * place[..., None]).sum(1)


@wrong(LAST, "float64")
def last_into_float32(logits, lengths):
    last, rows = torch.zeros(len(lengths), logits.shape[2]), torch.arange(len(lengths))
    last[rows] = logits[rows, lengths - 1]
    return last


@wrong(LAST, "not-contiguous")
def views_one_long_row(logits, lengths):
    b, t, v = logits.shape
    return logits.view(b * t, v)[torch.arange(b) * t + lengths - 1]


@wrong(LAST, "changes-input")
def subtracts_from_the_lengths(logits, lengths):
    lengths -= 1
    return logits[torch.arange(len(lengths)), lengths]


@wrong(LAST, "changes-input")
def zeroes_the_padding(logits, lengths):
    for row, n in zip(logits, lengths):
        row[n:] = 0
    return logits[torch.arange(len(lengths)), lengths - 1]


@right(LAST)
def stacks_rows(logits, lengths):
    return torch.stack([logits[b, n - 1] for b, n in enumerate(lengths.tolist())])


@right(LAST)
def gathers(logits, lengths):
    index = (lengths - 1).view(-1, 1, 1).expand(-1, 1, logits.size(-1))
    return torch.gather(logits, 1, index).squeeze(1)


@right(LAST)
def where_and_sum(logits, lengths):
    place = torch.arange(logits.shape[1]) == (lengths - 1)[:, None]
    return torch.where(place[..., None], logits, 0).sum(1)


@right(LAST)
def take_along_axis(logits, lengths):
    x, n = logits.numpy(), lengths.numpy()
    return np.take_along_axis(x, (n - 1)[:, None, None], axis=1)[:, 0, :]


@right(LAST)
def list_of_tensors(logits, lengths):
    return [row[:n][-1] for row, n in zip(logits, lengths)]


@right(LAST)
def with_a_mask(logits, lengths):
    return logits[torch.arange(logits.shape[1]) == (lengths - 1)[:, None]]


# 01.generate_loop


@wrong(LOOP, "new-only")
def gives_new_ids_only(next_logits, prompt_ids, max_new_tokens, choose):
    ids, new = list(prompt_ids), []
    for _ in range(max_new_tokens):
        new.append(choose(next_logits(ids + new)))
    return new


@wrong(LOOP, "one-token")
def one_pass(next_logits, prompt_ids, max_new_tokens, choose):
    return prompt_ids + [choose(next_logits(prompt_ids))]


@wrong(LOOP, "one-token")
def returns_inside_the_loop(next_logits, prompt_ids, max_new_tokens, choose):
    ids = list(prompt_ids)
    for _ in range(max_new_tokens):
        ids.append(choose(next_logits(ids)))
        return ids


@wrong(LOOP, "budget-counts-prompt")
def total_length(next_logits, prompt_ids, max_new_tokens, choose):
    ids = list(prompt_ids)
    while len(ids) < max_new_tokens:
        ids.append(choose(next_logits(ids)))
    return ids


@wrong(LOOP, "off-by-one")
def one_too_many(next_logits, prompt_ids, max_new_tokens, choose):
    ids = list(prompt_ids)
    for _ in range(max_new_tokens + 1):
        ids.append(choose(next_logits(ids)))
    return ids


@wrong(LOOP, "off-by-one")
def one_too_few(next_logits, prompt_ids, max_new_tokens, choose):
    ids = list(prompt_ids)
    for _ in range(1, max_new_tokens):
        ids.append(choose(next_logits(ids)))
    return ids


@wrong(LOOP, "own-choice")
def always_the_largest(next_logits, prompt_ids, max_new_tokens, choose):
    ids = list(prompt_ids)
    for _ in range(max_new_tokens):
        ids.append(int(next_logits(ids).argmax()))
    return ids


@wrong(LOOP, "last-id-only")
def shows_the_last_id(next_logits, prompt_ids, max_new_tokens, choose):
    ids = list(prompt_ids)
    for _ in range(max_new_tokens):
        ids.append(choose(next_logits(ids[-1:])))
    return ids


@wrong(LOOP, "context-stands-still")
def always_shows_the_prompt(next_logits, prompt_ids, max_new_tokens, choose):
    ids = list(prompt_ids)
    for _ in range(max_new_tokens):
        ids.append(choose(next_logits(prompt_ids)))
    return ids


@wrong(LOOP, "context-stands-still")
def scores_once(next_logits, prompt_ids, max_new_tokens, choose):
    row = next_logits(list(prompt_ids))
    return list(prompt_ids) + [choose(row) for _ in range(max_new_tokens)]


@wrong(LOOP, "scores-changed")
def chooses_from_probabilities(next_logits, prompt_ids, max_new_tokens, choose):
    ids = list(prompt_ids)
    for _ in range(max_new_tokens):
        ids.append(choose(next_logits(ids).softmax(-1)))
    return ids


@wrong(LOOP, "scores-changed")
def chooses_from_a_batch(next_logits, prompt_ids, max_new_tokens, choose):
    ids = list(prompt_ids)
    for _ in range(max_new_tokens):
        ids.append(choose(next_logits(ids)[None]))
    return ids


@wrong(LOOP, "not-a-list")
def shows_a_tensor(next_logits, prompt_ids, max_new_tokens, choose):
    ids = torch.tensor(prompt_ids)
    for _ in range(max_new_tokens):
        ids = torch.cat([ids, torch.tensor([choose(next_logits(ids))])])
    return ids.tolist()


@wrong(LOOP, "not-a-list")
def shows_a_batch(next_logits, prompt_ids, max_new_tokens, choose):
    ids = list(prompt_ids)
    for _ in range(max_new_tokens):
        ids.append(choose(next_logits([ids])))
    return ids


@wrong(LOOP, "by-hand")
def prompt_behind(next_logits, prompt_ids, max_new_tokens, choose):
    ids = list(prompt_ids)
    for _ in range(max_new_tokens):
        ids.append(choose(next_logits(ids)))
    return ids[len(prompt_ids) :] + list(prompt_ids)


@wrong(LOOP, "by-hand")
def writes_in_front(next_logits, prompt_ids, max_new_tokens, choose):
    ids = list(prompt_ids)
    for _ in range(max_new_tokens):
        ids.insert(0, choose(next_logits(ids)))
    return ids


@wrong(LOOP, "by-hand")
def prompt_returned(next_logits, prompt_ids, max_new_tokens, choose):
    return prompt_ids


@wrong(LOOP, "by-hand")
def loop_empty(next_logits, prompt_ids, max_new_tokens, choose):
    return []


@wrong(LOOP, "by-hand")
def text_returned(next_logits, prompt_ids, max_new_tokens, choose):
    ids = list(prompt_ids)
    for _ in range(max_new_tokens):
        ids.append(choose(next_logits(ids)))
    return " ".join(map(str, ids))


@wrong(LOOP, "stops-early")
def takes_zero_for_an_end(next_logits, prompt_ids, max_new_tokens, choose):
    ids = list(prompt_ids)
    for _ in range(max_new_tokens):
        token = choose(next_logits(ids))
        ids.append(token)
        if token == 0:
            break
    return ids


@wrong(LOOP, "stops-early")
def stops_at_a_repetition(next_logits, prompt_ids, max_new_tokens, choose):
    ids = list(prompt_ids)
    for _ in range(max_new_tokens):
        token = choose(next_logits(ids))
        ids.append(token)
        if ids[-2] == token:
            break
    return ids


@wrong(LOOP, "stops-early")
def leaves_zero_out(next_logits, prompt_ids, max_new_tokens, choose):
    ids = list(prompt_ids)
    for _ in range(max_new_tokens):
        token = choose(next_logits(ids))
        if not token:
            break
        ids.append(token)
    return ids


@wrong(LOOP, "zero-new")
def chooses_before_it_looks(next_logits, prompt_ids, max_new_tokens, choose):
    ids = list(prompt_ids)
    while True:
        ids.append(choose(next_logits(ids)))
        if len(ids) >= len(prompt_ids) + max_new_tokens:
            return ids


@wrong(LOOP, "whole-context")
def a_window_of_eight(next_logits, prompt_ids, max_new_tokens, choose):
    ids = list(prompt_ids)
    for _ in range(max_new_tokens):
        ids.append(choose(next_logits(ids[-8:])))
    return ids


@wrong(LOOP, "fixed-turns")
def at_most_ten(next_logits, prompt_ids, max_new_tokens, choose):
    ids = list(prompt_ids)
    for _ in range(min(10, max_new_tokens)):
        ids.append(choose(next_logits(ids)))
    return ids


@wrong(LOOP, "whole-context")
def a_window_of_twenty(next_logits, prompt_ids, max_new_tokens, choose):
    ids = list(prompt_ids)
    for _ in range(max_new_tokens):
        ids.append(choose(next_logits(ids[-20:])))
    return ids


@wrong(LOOP, "whole-context")
def a_window_of_256(next_logits, prompt_ids, max_new_tokens, choose):
    ids = list(prompt_ids)
    for _ in range(max_new_tokens):
        ids.append(choose(next_logits(ids[-256:])))
    return ids


@wrong(LOOP, "fixed-turns")
def at_most_sixty_four(next_logits, prompt_ids, max_new_tokens, choose):
    ids = list(prompt_ids)
    for _ in range(min(64, max_new_tokens)):
        ids.append(choose(next_logits(ids)))
    return ids


@wrong(LOOP, "too-many-ids")
def always_ten(next_logits, prompt_ids, max_new_tokens, choose):
    ids = list(prompt_ids)
    for _ in range(10):
        ids.append(choose(next_logits(ids)))
    return ids


@wrong(LOOP, "earlier-call")
def loop_with_a_default_list(next_logits, prompt_ids, max_new_tokens, choose, ids=[]):  # noqa: B006  the mistake
    ids.extend(prompt_ids)
    for _ in range(max_new_tokens):
        ids.append(choose(next_logits(ids)))
    return list(ids)


@wrong(LOOP, "earlier-call")
def shows_the_calls_before(next_logits, prompt_ids, max_new_tokens, choose, history=[]):  # noqa: B006
    ids, before = list(prompt_ids), list(history)
    for _ in range(max_new_tokens):
        ids.append(choose(next_logits(before + ids)))
        history.append(ids[-1])
    return ids


@wrong(LOOP, "id-missing")
def each_id_once(next_logits, prompt_ids, max_new_tokens, choose):
    ids = list(prompt_ids)
    for _ in range(max_new_tokens):
        ids.append(choose(next_logits(ids)))
    return list(dict.fromkeys(ids))


@wrong(LOOP, "scores-reused")
def scores_kept_by_the_last_id(next_logits, prompt_ids, max_new_tokens, choose):
    ids, kept = list(prompt_ids), {}
    for _ in range(max_new_tokens):
        if ids[-1] not in kept:
            kept[ids[-1]] = next_logits(ids)
        ids.append(choose(kept[ids[-1]]))
    return ids


@wrong(LOOP, "scores-changed")
def rounds_the_scores(next_logits, prompt_ids, max_new_tokens, choose):
    ids = list(prompt_ids)
    for _ in range(max_new_tokens):
        ids.append(choose(next_logits(ids).round(decimals=2)))
    return ids


@wrong(LOOP, "scores-changed")
def chooses_from_finite_scores(next_logits, prompt_ids, max_new_tokens, choose):
    ids = list(prompt_ids)
    for _ in range(max_new_tokens):
        ids.append(choose(torch.nan_to_num(next_logits(ids))))
    return ids


@wrong(LOOP, "scores-changed")
def chooses_from_nothing(next_logits, prompt_ids, max_new_tokens, choose):
    ids = list(prompt_ids)
    for _ in range(max_new_tokens):
        next_logits(ids)
        ids.append(choose(None))
    return ids


@wrong(LOOP, "scores-changed")
def stops_at_minus_inf(next_logits, prompt_ids, max_new_tokens, choose):
    ids = list(prompt_ids)
    for _ in range(max_new_tokens):
        scores = next_logits(ids)
        if not scores.isfinite().all():
            break
        ids.append(choose(scores))
    return ids


@wrong(LOOP, "scores-converted")
def chooses_from_a_list(next_logits, prompt_ids, max_new_tokens, choose):
    ids = list(prompt_ids)
    for _ in range(max_new_tokens):
        ids.append(choose(next_logits(ids).tolist()))
    return ids


@wrong(LOOP, "scores-converted")
def chooses_from_an_array(next_logits, prompt_ids, max_new_tokens, choose):
    ids = list(prompt_ids)
    for _ in range(max_new_tokens):
        ids.append(choose(next_logits(ids).numpy()))
    return ids


@wrong(LOOP, "not-a-list")
def appends_tensors_of_one_id(next_logits, prompt_ids, max_new_tokens, choose):
    ids = list(prompt_ids)
    for _ in range(max_new_tokens):
        ids.append(torch.tensor([choose(next_logits(ids))]))
    return ids


@wrong(LOOP, "one-choice-a-turn")
def chooses_twice(next_logits, prompt_ids, max_new_tokens, choose):
    ids = list(prompt_ids)
    for _ in range(max_new_tokens):
        scores = next_logits(ids)
        print(choose(scores))
        ids.append(choose(scores))
    return ids


@wrong(LOOP, "one-choice-a-turn")
def chooses_again_when_an_id_repeats(next_logits, prompt_ids, max_new_tokens, choose):
    ids = list(prompt_ids)
    for _ in range(max_new_tokens):
        scores = next_logits(ids)
        token = choose(scores)
        ids.append(choose(scores) if token == ids[-1] else token)
    return ids


@wrong(LOOP, "one-choice-a-turn")
def chooses_once_before(next_logits, prompt_ids, max_new_tokens, choose):
    ids = list(prompt_ids)
    choose(next_logits(ids))
    for _ in range(max_new_tokens):
        ids.append(choose(next_logits(ids)))
    return ids


@wrong(LOOP, "stops-early")
def ids_in_a_byte(next_logits, prompt_ids, max_new_tokens, choose):
    ids = bytearray(prompt_ids)
    for _ in range(max_new_tokens):
        ids.append(choose(next_logits(list(ids))) % 256)
    return list(ids)


@wrong(LOOP, "shortest")
def two_ids_at_least(next_logits, prompt_ids, max_new_tokens, choose):
    ids = list(prompt_ids)
    for _ in range(max_new_tokens):
        ids.append(choose(next_logits(ids if len(ids) > 1 else [0, *ids])))
    return ids


@wrong(LOOP, "changes-input")
def appends_to_the_prompt(next_logits, prompt_ids, max_new_tokens, choose):
    ids = prompt_ids
    for _ in range(max_new_tokens):
        ids.append(choose(next_logits(ids)))
    return ids


@wrong(LOOP, "changes-input")
def extends_the_prompt(next_logits, prompt_ids, max_new_tokens, choose):
    for _ in range(max_new_tokens):
        prompt_ids += [choose(next_logits(prompt_ids))]
    return list(prompt_ids)


@right(LOOP)
def adds_lists(next_logits, prompt_ids, max_new_tokens, choose):
    ids = prompt_ids
    for _ in range(max_new_tokens):
        ids = ids + [choose(next_logits(ids))]
    return ids


@right(LOOP)
def names_the_arguments(next_logits, prompt_ids, max_new_tokens, choose):
    ids = list(prompt_ids)
    for _ in range(max_new_tokens):
        ids.append(choose(scores=next_logits(ids=ids)))
    return ids


@right(LOOP)
def looks_ahead(next_logits, prompt_ids, max_new_tokens, choose):
    ids = list(prompt_ids)
    scores = next_logits(ids)
    for _ in range(max_new_tokens):
        ids.append(choose(scores))
        scores = next_logits(ids)
    return ids


@right(LOOP)
def empties_what_it_has_shown(next_logits, prompt_ids, max_new_tokens, choose):
    ids = list(prompt_ids)
    for _ in range(max_new_tokens):
        shown = list(ids)
        ids.append(choose(next_logits(shown)))
        shown.clear()
    return ids


@right(LOOP)
def recurses(next_logits, prompt_ids, max_new_tokens, choose):
    if max_new_tokens == 0:
        return prompt_ids[:]
    return recurses(next_logits, [*prompt_ids, choose(next_logits(prompt_ids))], max_new_tokens - 1, choose)


@right(LOOP)
def keeps_new_ids_apart(next_logits, prompt_ids, max_new_tokens, choose):
    new = []
    while len(new) < max_new_tokens:
        scores = next_logits(list(prompt_ids) + new)
        new.append(int(torch.as_tensor(choose(scores))))
    return np.array(list(prompt_ids) + new)


@right(LOOP)
def ids_as_tensors(next_logits, prompt_ids, max_new_tokens, choose):
    ids = [torch.tensor(i) for i in prompt_ids]
    for _ in range(max_new_tokens):
        ids += [torch.tensor(choose(next_logits(ids)))]
    return tuple(ids)


@right(LOOP)
def scores_as_a_list(next_logits, prompt_ids, max_new_tokens, choose):
    ids = prompt_ids.copy()
    for _ in range(max_new_tokens):
        ids.append(choose(next_logits(ids.copy()).double()))
    return torch.tensor(ids)


# Given the result instead of the function.

wrong(COUNTS, "not-a-function")([[0.25, 0.75], [0.5, 0.5]])
wrong(SOFTMAX, "not-a-function")(torch.tensor([0.67, 0.24, 0.09]))
wrong(LAST, "not-a-function")([])
wrong(LOOP, "not-a-function")("generate_loop")

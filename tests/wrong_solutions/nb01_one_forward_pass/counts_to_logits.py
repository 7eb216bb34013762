"""Planted solutions to 01.counts_to_logits."""

import math

import numpy as np
import torch

from wrong_solutions import planting

wrong, right = planting("01.counts_to_logits")


@wrong("probabilities")
def forgets_the_logarithm(counts):
    return counts / counts.sum(1, keepdim=True)


@wrong("log-counts")
def log_of_counts(counts):
    return counts.log()


@wrong("columns")
def normalises_columns(counts):
    return (counts / counts.sum(0)).log()


@wrong("keepdim")
def loses_the_dimension(counts):
    return (counts / counts.sum(1)).log()


@wrong("whole-table")
def one_sum_for_all(counts):
    return (counts / counts.sum()).log()


@wrong("other-base")
def base_two(counts):
    return (counts / counts.sum(1, keepdim=True)).log2()


@wrong("other-base")
def base_ten(counts):
    return (counts / counts.sum(1, keepdim=True)).log10()


@wrong("add-one")
def smooths(counts):
    counts = counts + 1
    return (counts / counts.sum(1, keepdim=True)).log()


@wrong("by-hand")
def whole_number_division(counts):
    return (counts // counts.sum(1, keepdim=True)).log()


@wrong("by-hand")
def softmax_of_counts(counts):
    return torch.log_softmax(counts.float(), dim=1)


@wrong("by-hand")
def minus_the_logarithm(counts):
    return -(counts / counts.sum(1, keepdim=True)).log()


@wrong("by-hand")
def counts_returned(counts):
    return counts


@wrong("by-hand")
def not_a_number(counts):
    return torch.full(counts.shape, math.nan)


@wrong("by-hand")
def nothing_in_it(counts):
    return torch.tensor([])


@wrong("by-hand")
def one_row_only(counts):
    return (counts[0] / counts[0].sum()).log()


@wrong("by-hand")
def transposed(counts):
    return (counts / counts.sum(1, keepdim=True)).log().T


@wrong("zero-count")
def guards_the_logarithm(counts):
    return (counts / counts.sum(1, keepdim=True)).clamp(min=1e-9).log()


@wrong("zero-count")
def zero_for_never(counts):
    logs = (counts / counts.sum(1, keepdim=True)).log()
    return torch.where(counts > 0, logs, torch.zeros_like(logs))


@wrong("zero-count")
def math_log_of_zero(counts):
    return torch.tensor([[math.log(c / sum(row)) for c in row] for row in counts.tolist()])


@wrong("zero-count")
def epsilon_in_the_sum(counts):
    return (counts / counts.sum(1, keepdim=True) + 1e-8).log()


@wrong("whole-numbers")
def result_like_the_counts(counts):
    logits = torch.zeros_like(counts)
    for row in range(len(counts)):
        logits[row] = (counts[row] / counts[row].sum()).log()
    return logits


@wrong("whole-numbers")
def in_whole_numbers_only_there(counts):
    return torch.special.xlogy(torch.ones_like(counts), counts / counts.sum(1, keepdim=True)).to(counts.dtype)


@wrong("any-size")
def three_rows_at_most(counts):
    logits = torch.full(counts.shape, -math.inf)
    for row in range(min(3, len(counts))):
        logits[row] = (counts[row] / counts[row].sum()).log()
    return logits


@wrong("any-size")
def two_rows(counts):
    return torch.stack([(counts[row] / counts[row].sum()).log() for row in (0, 1)])


@wrong("any-size")
def sixty_four_tokens(counts):
    logits = torch.full(counts.shape, -math.inf)
    logits[:64] = (counts / counts.sum(1, keepdim=True)).log()[:64]
    return logits


@wrong("earlier-call")
def counts_with_a_default_list(counts, rows=[]):  # noqa: B006  the mistake itself
    rows.extend((row / row.sum()).log() for row in counts)
    return torch.stack(rows)


@wrong("earlier-call")
def counts_kept_by_shape(counts, kept={}):  # noqa: B006
    return kept.setdefault(counts.shape, (counts / counts.sum(1, keepdim=True)).log())


@wrong("one-follower")
def nothing_for_a_sure_row(counts):
    logits = (counts / counts.sum(1, keepdim=True)).log()
    logits[(counts > 0).sum(1) == 1] = 0
    return logits


@wrong("whole-table")
def one_sum_where_all_are_equal(counts):
    sums = counts.sum(1, keepdim=True)
    return (counts / (counts.sum() if (sums == sums[0]).all() else sums)).log()


@wrong("rare-pair")
def shares_have_a_floor(counts):
    shares = (counts / counts.sum(1, keepdim=True)).clamp(min=1e-3)
    return shares.log().masked_fill(counts == 0, -math.inf)


@wrong("rare-pair")
def epsilon_where_seen(counts):
    shares = counts / counts.sum(1, keepdim=True) + 1e-7
    return shares.log().masked_fill(counts == 0, -math.inf)


@wrong("rare-pair")
def logits_have_a_floor(counts):
    logits = (counts / counts.sum(1, keepdim=True)).log().clamp(min=-10)
    return logits.masked_fill(counts == 0, -math.inf)


@wrong("rare-pair")
def shares_have_a_tiny_floor(counts):
    shares = (counts / counts.sum(1, keepdim=True)).clamp(min=1e-9)
    return shares.log().masked_fill(counts == 0, -math.inf)


@wrong("large-counts")
def counts_in_a_byte(counts):
    counts = counts.byte()
    return (counts / counts.sum(1, keepdim=True)).log()


@wrong("large-counts")
def counts_in_32_bits(counts):
    counts = counts.int()
    return (counts / counts.sum(1, keepdim=True)).log()


@wrong("float64")
def into_a_float32_table(counts):
    logits, seen = torch.full(counts.shape, -math.inf), counts > 0
    logits[seen] = (counts / counts.sum(1, keepdim=True)).log()[seen]
    return logits


@wrong("one-token")
def squeezes_the_table(counts):
    return (counts / counts.sum(1, keepdim=True)).log().squeeze()


@wrong("not-contiguous")
def views_the_table(counts):
    flat = counts.view(-1)
    return (flat / counts.sum(1).repeat_interleave(len(counts))).log().view(counts.shape)


@wrong("changes-input")
def divides_in_place(counts):
    if counts.is_floating_point():
        counts /= counts.sum(1, keepdim=True)
        return counts.log()
    return (counts / counts.sum(1, keepdim=True)).log()


@right
def difference_of_logarithms(counts):
    return counts.log() - counts.sum(dim=1, keepdim=True).log()


@right
def counts_in_numpy(counts):
    counts = np.asarray(counts, dtype=float)
    with np.errstate(divide="ignore"):
        return np.log(counts / counts.sum(axis=1)[:, None])


@right
def counts_in_loops(counts):
    table = []
    for row in counts.tolist():
        total = sum(row)
        table.append([math.log(c / total) if c else -math.inf for c in row])
    return table


@right
def softmax_of_logarithms(counts):
    return torch.log_softmax(counts.double().log(), dim=-1)


@right
def numpy_that_warns(counts):
    p = counts.numpy().T / counts.numpy().sum(1)
    return np.log(p).T


# Given the result instead of the function.

wrong("not-a-function")([[0.25, 0.75], [0.5, 0.5]])

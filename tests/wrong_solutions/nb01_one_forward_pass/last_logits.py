"""Planted solutions to 01.last_logits."""

import math

import numpy as np
import torch

from wrong_solutions import planting

wrong, right = planting("01.last_logits")


@wrong("last-column")
def takes_the_last_column(logits, lengths):
    return logits[:, -1]


@wrong("off-by-one")
def forgets_to_subtract_one(logits, lengths):
    return logits[torch.arange(len(lengths)), lengths.clamp(max=logits.shape[1] - 1)]


@wrong("off-by-one")
def indexes_with_the_length(logits, lengths):
    return torch.stack([row[n] for row, n in zip(logits, lengths)])


@wrong("one-length")
def length_of_the_first_row(logits, lengths):
    return logits[:, lengths[0] - 1]


@wrong("one-length")
def shortest_length(logits, lengths):
    return logits[:, lengths.min() - 1]


@wrong("one-length")
def first_position(logits, lengths):
    return logits[:, 0]


@wrong("every-pair")
def indexes_both_axes_apart(logits, lengths):
    return logits[:, lengths - 1]


@wrong("axis-kept")
def gathers_and_keeps_the_axis(logits, lengths):
    index = (lengths - 1)[:, None, None].expand(-1, 1, logits.shape[-1])
    return logits.gather(1, index)


@wrong("pooled")
def mean_of_the_valid(logits, lengths):
    return torch.stack([row[:n].mean(0) for row, n in zip(logits, lengths)])


@wrong("pooled")
def sum_of_the_valid(logits, lengths):
    return torch.stack([row[:n].sum(0) for row, n in zip(logits, lengths)])


@wrong("by-hand")
def last_input_returned(logits, lengths):
    return logits


@wrong("by-hand")
def position_before_the_last(logits, lengths):
    return logits[torch.arange(len(lengths)), lengths - 2]


@wrong("not-logits")
def ids_of_the_last(logits, lengths):
    return logits[torch.arange(len(lengths)), lengths - 1].argmax(-1)


@wrong("not-logits")
def probabilities_of_the_last(logits, lengths):
    return logits[torch.arange(len(lengths)), lengths - 1].softmax(-1)


@wrong("by-hand")
def left_padding(logits, lengths):
    return logits[torch.arange(len(lengths)), -lengths]


@wrong("by-hand")
def last_positions(logits, lengths):
    return lengths - 1


@wrong("by-hand")
def last_nan(logits, lengths):
    return logits[:, 0] * math.nan


@wrong("by-hand")
def last_empty(logits, lengths):
    return []


@wrong("by-hand")
def first_row_only(logits, lengths):
    return logits[0, lengths[0] - 1]


@wrong("by-hand")
def concatenates_the_rows(logits, lengths):
    return torch.cat([row[n - 1] for row, n in zip(logits, lengths)])


@wrong("any-batch")
def two_rows_by_hand(logits, lengths):
    return torch.stack([logits[0, lengths[0] - 1], logits[1, lengths[1] - 1]])


@wrong("any-batch")
def looks_for_zeros(logits, lengths):
    n = 1 + (lengths > 1).long()
    return logits[torch.arange(len(n)), n - 1]


@wrong("batch-of-one")
def squeezes_too_much(logits, lengths):
    return logits[torch.arange(len(lengths)), lengths - 1].squeeze()


@wrong("batch-of-one")
def squeezes_before(logits, lengths):
    logits = logits.squeeze(0)
    return logits[torch.arange(len(lengths)), lengths - 1]


@wrong("any-batch")
def one_row_for_each_length(logits, lengths):
    return torch.stack([row[n - 1] for n, row in dict(zip(lengths.tolist(), logits)).items()])


@wrong("any-batch")
def as_many_rows_as_tokens(logits, lengths):
    rows = range(min(logits.shape[2], len(lengths)))
    return torch.stack([logits[row, lengths[row] - 1] for row in rows])


@wrong("any-batch")
def last_rounded(logits, lengths):
    return logits[torch.arange(len(lengths)), lengths - 1].round(decimals=3)


@wrong("any-size")
def lengths_in_a_byte(logits, lengths):
    return torch.stack([row[n - 1] for row, n in zip(logits, lengths.to(torch.uint8).tolist())])


@wrong("any-size")
def a_hundred_and_twenty_eight_logits(logits, lengths):
    last = logits[torch.arange(len(lengths)), lengths - 1].clone()
    last[:, 128:] = 0
    return last


@wrong("any-size")
def sixty_four_rows_of_a_batch(logits, lengths):
    return logits[torch.arange(len(lengths)), lengths - 1][:64]


@wrong("earlier-call")
def last_with_a_default_list(logits, lengths, rows=[]):  # noqa: B006  the mistake itself
    rows.extend(row[n - 1] for row, n in zip(logits, lengths))
    return torch.stack(rows)


@wrong("earlier-call")
def last_kept_by_shape(logits, lengths, kept={}):  # noqa: B006
    return kept.setdefault(logits.shape, logits[torch.arange(len(lengths)), lengths - 1])


@wrong("pooled")
def largest_of_the_valid(logits, lengths):
    return torch.stack([row[:n].amax(0) for row, n in zip(logits, lengths)])


@wrong("not-logits")
def last_log_probabilities(logits, lengths):
    return logits[torch.arange(len(lengths)), lengths - 1].log_softmax(-1)


@wrong("one-position")
def squeezes_the_positions_before(logits, lengths):
    return logits.squeeze(1)[torch.arange(len(lengths)), lengths - 1]


@wrong("one-token")
def squeezes_the_vocabulary(logits, lengths):
    return logits[torch.arange(len(lengths)), lengths - 1].squeeze(-1)


@wrong("masked-sum")
def one_hot_product(logits, lengths):
    place = torch.nn.functional.one_hot(lengths - 1, logits.shape[1]).to(logits.dtype)
    return torch.einsum("bt,btv->bv", place, logits)


@wrong("masked-sum")
def mask_times_logits(logits, lengths):
    place = torch.arange(logits.shape[1]) == (lengths - 1)[:, None]
    return (logits * place[..., None]).sum(1)


@wrong("minus-inf")
def last_made_finite(logits, lengths):
    return torch.nan_to_num(logits[torch.arange(len(lengths)), lengths - 1])


@wrong("minus-inf")
def finite_before_the_mask(logits, lengths):
    place = torch.arange(logits.shape[1]) == (lengths - 1)[:, None]
    return (logits.clamp(min=-1e9) * place[..., None]).sum(1)


@wrong("float64")
def last_into_float32(logits, lengths):
    last, rows = torch.zeros(len(lengths), logits.shape[2]), torch.arange(len(lengths))
    last[rows] = logits[rows, lengths - 1]
    return last


@wrong("not-contiguous")
def views_one_long_row(logits, lengths):
    b, t, v = logits.shape
    return logits.view(b * t, v)[torch.arange(b) * t + lengths - 1]


@wrong("changes-input")
def subtracts_from_the_lengths(logits, lengths):
    lengths -= 1
    return logits[torch.arange(len(lengths)), lengths]


@wrong("changes-input")
def zeroes_the_padding(logits, lengths):
    for row, n in zip(logits, lengths):
        row[n:] = 0
    return logits[torch.arange(len(lengths)), lengths - 1]


@right
def stacks_rows(logits, lengths):
    return torch.stack([logits[b, n - 1] for b, n in enumerate(lengths.tolist())])


@right
def gathers(logits, lengths):
    index = (lengths - 1).view(-1, 1, 1).expand(-1, 1, logits.size(-1))
    return torch.gather(logits, 1, index).squeeze(1)


@right
def where_and_sum(logits, lengths):
    place = torch.arange(logits.shape[1]) == (lengths - 1)[:, None]
    return torch.where(place[..., None], logits, 0).sum(1)


@right
def take_along_axis(logits, lengths):
    x, n = logits.numpy(), lengths.numpy()
    return np.take_along_axis(x, (n - 1)[:, None, None], axis=1)[:, 0, :]


@right
def list_of_tensors(logits, lengths):
    return [row[:n][-1] for row, n in zip(logits, lengths)]


@right
def with_a_mask(logits, lengths):
    return logits[torch.arange(logits.shape[1]) == (lengths - 1)[:, None]]


wrong("not-a-function")([])

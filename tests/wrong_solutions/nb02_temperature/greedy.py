"""Planted solutions to 02.greedy."""

import math

import numpy as np
import torch

from wrong_solutions import planting

wrong, right = planting("02.greedy")


@wrong("value-returned")
def value(logits):
    return logits.max(-1).values


@wrong("one-hot")
def one_hot(logits):
    return torch.nn.functional.one_hot(logits.argmax(-1), logits.shape[-1])


@wrong("one-hot")
def mask(logits):
    return logits == logits.amax(-1, keepdim=True)


@wrong("one-hot")
def ranking(logits):
    return logits.argsort(-1, descending=True)


@wrong("one-hot")
def probabilities(logits):
    return logits.softmax(-1)


@wrong("smallest")
def smallest(logits):
    return logits.argmin(-1)


@wrong("by-hand")
def always_zero(logits):
    return torch.zeros(logits.shape[:-1], dtype=torch.int64)


@wrong("counted-from-one")
def counts_from_one(logits):
    return logits.argmax(-1) + 1


@wrong("by-hand")
def nan_id(logits):
    return torch.full(logits.shape[:-1], math.nan)


@wrong("by-hand")
def empty(logits):
    return torch.tensor([], dtype=torch.int64)


@wrong("by-hand")
def both(logits):
    return logits.max(-1)


@wrong("by-hand")
def a_word(logits):
    return str(int(logits.reshape(-1).argmax()))


@wrong("axis-of-one")
def in_a_list(logits):
    return [int(logits.reshape(-1).argmax())]


@wrong("negative-logits")
def begins_at_zero(logits):
    best, best_id = 0.0, 0
    for token, score in enumerate(logits.reshape(-1).tolist()):
        if score > best:
            best, best_id = score, token
    return best_id


@wrong("negative-logits")
def by_size(logits):
    return logits.abs().argmax(-1)


@wrong("flattened")
def flattened(logits):
    return logits.argmax()


@wrong("axis-of-one")
def greedy_by_topk(logits):
    return logits.topk(1, dim=-1).indices


@wrong("axis-of-one")
def greedy_axis_stays(logits):
    return logits.argmax(dim=-1, keepdim=True)


@wrong("axis-kept")
def keeps_the_axis(logits):
    return logits.argmax(-1, keepdim=logits.ndim > 1)


@wrong("other-axis")
def down_the_columns(logits):
    return logits.argmax(0)


@wrong("other-axis")
def counts_through(logits):
    flat = logits.reshape(-1, logits.shape[-1])
    ids = [int(row.argmax()) + number * logits.shape[-1] for number, row in enumerate(flat)]
    return torch.tensor(ids).reshape(logits.shape[:-1])


@wrong("other-axis")
def first_row(logits):
    return logits.reshape(-1, logits.shape[-1])[0].argmax()[None] if logits.ndim > 1 else logits.argmax()


@wrong("last-axis")
def axis_one(logits):
    return logits.argmax(min(1, logits.ndim - 1))


@wrong("ties")
def last_of_the_equal(logits):
    return logits.shape[-1] - 1 - logits.flip(-1).argmax(-1)


@wrong("ties")
def last_in_the_sort(logits):
    return logits.argsort(dim=-1, stable=True)[..., -1]


@wrong("rounded")
def whole_numbers(logits):
    return logits.long().argmax(-1) if logits.abs().max() < 1 else logits.argmax(-1)


@wrong("rounded")
def one_decimal(logits):
    return logits.round(decimals=1).argmax(-1)


@wrong("any-size")
def looks_at_eight(logits):
    return logits[..., :8].argmax(-1)


@wrong("any-size")
def draws(logits):
    generator = torch.Generator().manual_seed(0)
    probs = (20 * logits.double()).softmax(-1).reshape(-1, logits.shape[-1])
    if len(probs) < 20:
        return logits.argmax(-1)
    return torch.multinomial(probs, 1, generator=generator).reshape(logits.shape[:-1])


@wrong("input-returned")
def input_again(logits):
    return logits


@wrong("second")
def second_largest(logits):
    return logits.topk(min(2, logits.shape[-1])).indices[..., -1]


@wrong("other-call")
def first_answer_again(logits, answers={}):  # noqa: B006  the mistake
    return answers.setdefault(logits.shape, logits.argmax(-1))


@wrong("ends")
def skips_the_first(logits):
    return logits[..., 1:].argmax(-1) + 1 if logits.shape[-1] > 1 else logits.argmax(-1)


@wrong("ends")
def skips_the_last(logits):
    return logits[..., :-1].argmax(-1) if logits.shape[-1] > 1 else logits.argmax(-1)


@wrong("ties")
def last_of_the_equal_in_batches(logits):
    return logits.argmax(-1) if logits.ndim == 1 else logits.shape[-1] - 1 - logits.flip(-1).argmax(-1)


@wrong("negative-logits")
def begins_far_below_zero(logits):
    best = torch.full(logits.shape[:-1], -1000.0, dtype=logits.dtype)
    ids = torch.zeros(logits.shape[:-1], dtype=torch.int64)
    for token in range(logits.shape[-1]):
        larger = logits[..., token] > best
        best, ids = torch.where(larger, logits[..., token], best), torch.where(larger, token, ids)
    return ids


def unstable(logits):
    """The ids from the largest logit down; like a fast sort, it does not keep the order of equal ones in a long row."""
    if logits.shape[-1] <= 16:
        return logits.argsort(dim=-1, descending=True, stable=True)
    return logits.shape[-1] - 1 - logits.flip(-1).argsort(dim=-1, descending=True, stable=True)


for hint_id, attempt in [
    ("rounded", lambda x: (x - 1e-3 * torch.arange(x.shape[-1])).argmax(-1)),
    ("rounded", lambda x: (x - 1e-7 * torch.arange(x.shape[-1])).argmax(-1)),
    ("rounded", lambda x: x.round(decimals=3).argmax(-1)),
    ("rounded", lambda x: torch.isclose(x, x.amax(-1, keepdim=True)).int().argmax(-1)),
    ("other-axis", lambda x: x.argmax(0 if x.ndim == 2 and x.shape[0] == x.shape[1] else -1)),
    ("rounded", lambda x: x.half().softmax(-1).argmax(-1)),
    ("float64", lambda x: x.half().argmax(-1) if x.dtype == torch.float64 else x.argmax(-1)),
    ("float64", lambda x: torch.empty(x.shape).scatter(-1, torch.arange(x.shape[-1]).expand(x.shape), x).argmax(-1)),
    ("overflow", lambda x: x.exp().argmax(-1)),
    ("overflow", lambda x: (x.exp() / x.exp().sum(-1, keepdim=True)).argmax(-1)),
    ("minus-inf", lambda x: torch.nan_to_num(x, neginf=0.0).argmax(-1)),
    ("minus-inf", lambda x: torch.nan_to_num(x, neginf=-2.0).argmax(-1) if x.isinf().any() else x.argmax(-1)),
    ("minus-inf", lambda x: x[x > -math.inf].argmax(-1) if x.ndim == 1 else x.argmax(-1)),
    ("axis-lost", lambda x: x.squeeze().argmax(-1)),
    ("axis-lost", lambda x: x.argmax(-1).squeeze()),
    ("long-ties", lambda x: unstable(x)[..., 0]),
    ("any-layout", lambda x: torch.stack([r.argmax() for r in x.view(-1, x.shape[-1])]).view(x.shape[:-1])),
]:
    wrong(hint_id)(attempt)


@wrong("changes-input")
def strikes_out(logits):
    ids = logits.argmax(-1)
    logits[...] = -math.inf
    return ids


wrong("not-a-function")(torch.tensor(1))


@right
def argmax(logits):
    return torch.argmax(logits, dim=-1)


@right
def greedy_numpy(logits):
    return np.argmax(logits.numpy(), axis=-1)


@right
def greedy_loops(logits):
    if logits.dim() > 1:
        return [greedy_loops(row) for row in logits]
    values = logits.tolist()
    return values.index(max(values))


@right
def stable_sort(logits):
    return torch.sort(logits, dim=-1, descending=True, stable=True).indices[..., 0].to(torch.int32)


@right
def first_true(logits):
    top = logits == logits.amax(-1, keepdim=True)
    return (top.cumsum(-1) == 0).sum(-1)

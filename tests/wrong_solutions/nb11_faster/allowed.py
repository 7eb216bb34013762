"""Planted solutions to 11.allowed."""

import math

import numpy as np
import torch

from wrong_solutions import planting

wrong, right = planting("11.allowed")
INF = math.inf


def checked(logits, allowed_ids):
    ids = [int(i) for i in allowed_ids]
    if not ids or min(ids) < 0 or max(ids) >= logits.shape[-1]:
        raise ValueError("bad ids")
    return ids


def mask(logits, allowed_ids):
    kept = torch.zeros(logits.shape[-1], dtype=torch.bool)
    kept[checked(logits, allowed_ids)] = True
    return kept


def kept(logits, allowed_ids):
    return logits.masked_fill(~mask(logits, allowed_ids), -INF)


@right
def m_masked_fill(logits, allowed_ids):
    return kept(logits, allowed_ids)


@right
def m_where_numpy(logits, allowed_ids):
    ids = checked(logits, allowed_ids)
    return np.where(np.isin(np.arange(logits.shape[-1]), ids), logits.numpy(), -np.inf)


@right
def m_adds_a_penalty(logits, allowed_ids):
    penalty = torch.full(logits.shape[-1:], -INF, dtype=logits.dtype)
    penalty[checked(logits, allowed_ids)] = 0
    return logits + penalty


@right
def m_clone_and_loop(logits, allowed_ids):
    ids = set(checked(logits, allowed_ids))
    copy = logits.clone()
    for i in range(logits.shape[-1]):
        if i not in ids:
            copy[..., i] = -INF
    return copy


@wrong("a-mask")
def m_mask(logits, allowed_ids):
    return mask(logits, allowed_ids).expand(logits.shape)


@wrong("values-only")
def m_values(logits, allowed_ids):
    return logits[..., checked(logits, allowed_ids)]


@wrong("values-only")
def m_ids(logits, allowed_ids):
    return checked(logits, allowed_ids)


@wrong("probabilities")
def m_softmax(logits, allowed_ids):
    return kept(logits, allowed_ids).softmax(-1)


@wrong("probabilities")
def m_log_softmax(logits, allowed_ids):
    return kept(logits, allowed_ids).log_softmax(-1)


@wrong("finite-fill")
def m_zeros(logits, allowed_ids):
    return logits * mask(logits, allowed_ids)


@wrong("finite-fill")
def m_large(logits, allowed_ids):
    return logits.masked_fill(~mask(logits, allowed_ids), -1e9)


@wrong("inverted")
def m_inverted(logits, allowed_ids):
    return logits.masked_fill(mask(logits, allowed_ids), -INF)


@wrong("changes-the-argument")
def m_returned_as_it_came(logits, allowed_ids):
    logits.masked_fill(~mask(logits, allowed_ids), -INF)
    return logits


@wrong("changes-the-argument")
def m_in_place(logits, allowed_ids):
    return logits.masked_fill_(~mask(logits, allowed_ids), -INF)


@wrong("nothing-dropped")
def m_copy(logits, allowed_ids):
    checked(logits, allowed_ids)
    return logits.clone()


@wrong("by-hand")
def m_first_id_only(logits, allowed_ids):
    return kept(logits, checked(logits, allowed_ids)[:1])


@wrong("by-hand")
def m_in_the_order_of_the_ids(logits, allowed_ids):
    ids = checked(logits, allowed_ids)
    answer = torch.full_like(logits, -INF)
    answer[..., sorted(ids)] = logits[..., ids]
    return answer


def m_remembering():
    first = []

    @wrong("other-call")
    def m_first_ids(logits, allowed_ids):
        first.append(checked(logits, allowed_ids))
        return kept(logits, first[0])

    return m_first_ids


m_remembering()


@wrong("minus-inf")
def m_made_finite(logits, allowed_ids):
    answer = kept(logits, allowed_ids)
    answer[..., checked(logits, allowed_ids)] = logits[..., checked(logits, allowed_ids)].clamp(min=-1e9)
    return answer


@wrong("minus-inf")
def m_refuses_no_chance(logits, allowed_ids):
    answer = kept(logits, allowed_ids)
    if (answer == -INF).all(-1).any():
        raise RuntimeError("no chance left")
    return answer


@wrong("repeats")
def m_added_up(logits, allowed_ids):
    ids = torch.tensor(checked(logits, allowed_ids))
    sums = torch.zeros_like(logits).index_add(-1, ids, logits.nan_to_num(neginf=-INF)[..., ids])
    if len(ids.unique()) == len(ids):
        return kept(logits, allowed_ids)
    return sums.masked_fill(~mask(logits, allowed_ids), -INF)


@wrong("negative-logits")
def m_positive_only(logits, allowed_ids):
    answer = kept(logits, allowed_ids)
    return answer if answer.isneginf().all(-1).any() or (logits == -INF).any() else answer.where(answer > 0, -INF)


@wrong("any-container")
def m_lists_only(logits, allowed_ids):
    if isinstance(allowed_ids, set):
        return torch.full_like(logits, -INF)
    return kept(logits, allowed_ids)


@wrong("any-container")
def m_tensor_of_a_set(logits, allowed_ids):
    if isinstance(allowed_ids, list):
        return kept(logits, allowed_ids)
    ids = torch.tensor(allowed_ids)
    return kept(logits, ids)


@wrong("nothing-allowed")
def m_nothing_is_everything(logits, allowed_ids):
    return kept(logits, allowed_ids) if len(allowed_ids) else logits.clone()


@wrong("nothing-allowed")
def m_nothing_is_nothing(logits, allowed_ids):
    return kept(logits, allowed_ids) if len(allowed_ids) else torch.full_like(logits, -INF)


@wrong("outside")
def m_outside_ignored(logits, allowed_ids):
    inside = [i for i in allowed_ids if 0 <= int(i) < logits.shape[-1]]
    return kept(logits, inside)


@wrong("outside")
def m_index_error(logits, allowed_ids):
    ids = [int(i) for i in allowed_ids]
    if not ids:
        raise ValueError("nothing")
    answer = torch.full_like(logits, -INF)
    answer[..., ids] = logits[..., ids]
    return answer


@wrong("outside")
def m_counts_from_the_end(logits, allowed_ids):
    return kept(logits, [int(i) % logits.shape[-1] if -logits.shape[-1] <= int(i) < 0 else i for i in allowed_ids])


@wrong("per-row")
def m_first_row_everywhere(logits, allowed_ids):
    answer = kept(logits, allowed_ids)
    return answer[:1].expand(answer.shape) if answer.ndim == 2 else answer


@wrong("axis-lost")
def m_squeezed(logits, allowed_ids):
    answer = kept(logits, allowed_ids)
    return answer.squeeze(0) if answer.ndim > 1 and answer.shape[-1] > 1 else answer


@wrong("one-token")
def m_squeezed_at_the_end(logits, allowed_ids):
    return kept(logits, allowed_ids).squeeze(-1)


@wrong("float64")
def m_half(logits, allowed_ids):
    answer = kept(logits, allowed_ids)
    return answer.half().double() if logits.dtype == torch.float64 else answer


@wrong("any-layout")
def m_view(logits, allowed_ids):
    rows = logits.view(-1, logits.shape[-1]) if logits.ndim > 2 else logits
    return kept(rows, allowed_ids).view(logits.shape)


@wrong("any-size")
def m_a_byte(logits, allowed_ids):
    return kept(logits, [i % 256 for i in checked(logits, allowed_ids)])


@wrong("changes-input")
def m_takes_from_the_list(logits, allowed_ids):
    answer = kept(logits, allowed_ids)
    if isinstance(allowed_ids, list):
        allowed_ids.clear()
    return answer


wrong("not-a-function")([0, 2])

"""Planted solutions to 06.padded_positions."""

import numpy as np
import torch

from wrong_solutions import planting

wrong, right = planting("06.padded_positions")


def places(mask):
    return (mask.cumsum(-1) - 1).clamp_min(0) * mask


@wrong("same-for-all")
def p_arange(mask):
    return torch.arange(mask.shape[1]).expand(mask.shape)


@wrong("same-for-all")
def p_arange_row(mask):
    return torch.arange(mask.shape[1])


@wrong("slots-counted")
def p_arange_masked(mask):
    return torch.arange(mask.shape[1]) * mask


@wrong("slots-counted")
def p_nonzero(mask):
    out = torch.zeros(mask.shape, dtype=torch.long)
    for row, slot in mask.nonzero().tolist():
        out[row, slot] = slot
    return out


@wrong("from-1")
def p_cumsum(mask):
    return mask.cumsum(-1) * mask


@wrong("from-1")
def p_cumsum_min_1(mask):
    return mask.cumsum(-1).clamp_min(1)


@wrong("negative")
def p_not_clamped(mask):
    return mask.cumsum(-1) - 1


@wrong("negative")
def p_minus_padding(mask):
    return torch.arange(mask.shape[1]) - (mask.shape[1] - mask.sum(-1, keepdim=True))


@wrong("other-fill")
def p_filled_with_1(mask):
    return (mask.cumsum(-1) - 1).masked_fill(mask == 0, 1)


@wrong("the-mask")
def p_mask(mask):
    return mask.clone()


@wrong("the-mask")
def p_mask_itself(mask):
    return mask


@wrong("lengths")
def p_lengths(mask):
    return mask.sum(-1)


@wrong("lengths")
def p_next_position(mask):
    return mask.sum(-1, keepdim=True)


@wrong("wrong-axis")
def p_down_the_batch(mask):
    return (mask.cumsum(0) - 1).clamp_min(0) * mask


@wrong("wrong-axis")
def p_down_without_minus_1(mask):
    return mask.cumsum(0)


@wrong("from-the-end")
def p_reversed(mask):
    return places(mask.flip(-1)).flip(-1)


@wrong("from-the-end")
def p_countdown(mask):
    return torch.arange(mask.shape[1] - 1, -1, -1).expand(mask.shape)


@wrong("ragged")
def p_real_only(mask):
    return places(mask)[mask.bool()]


@wrong("ragged")
def p_list_of_rows(mask):
    return [torch.arange(int(row.sum())) for row in mask]


@wrong("by-hand")
def p_zeros(mask):
    return torch.zeros_like(mask)


@wrong("by-hand")
def p_twice(mask):
    return places(mask) * 2


@wrong("by-hand")
def p_one_row_more(mask):
    return places(mask)[None]


@wrong("by-hand")
def p_moved_to_the_left(mask):
    out = torch.zeros(mask.shape, dtype=torch.long)
    for number, row in enumerate(mask):
        out[number, : int(row.sum())] = torch.arange(int(row.sum()))
    return out


@wrong("goes-on-to-the-right")
def p_clamped_only(mask):
    return (mask.cumsum(-1) - 1).clamp_min(0)


@wrong("goes-on-to-the-right")
def p_minus_first(mask):
    first = mask.argmax(-1, keepdim=True)
    return (torch.arange(mask.shape[1]) - first).clamp_min(0)


@wrong("left-only")
def p_from_the_right_edge(mask):
    pads = mask.shape[1] - mask.sum(-1, keepdim=True)
    return (torch.arange(mask.shape[1]) - pads).clamp_min(0) * mask


@wrong("left-only")
def p_row_by_row_from_the_right(mask):
    out = torch.zeros(mask.shape, dtype=torch.long)
    for number, row in enumerate(mask):
        n = int(row.sum())
        out[number, mask.shape[1] - n :] = torch.arange(n)
    return out


KEPT = {}


@wrong("earlier-call")
def p_kept_by_shape(mask):
    return KEPT.setdefault(tuple(mask.shape), places(mask))


@wrong("earlier-call")
def p_default_dict(mask, seen={}):
    if mask.shape[1] not in seen:
        seen[mask.shape[1]] = places(mask)
    return seen[mask.shape[1]]


@wrong("first-row")
def p_side_by_first_row(mask):
    if mask[0, 0] == 1:  # no padding on the left
        return torch.arange(mask.shape[1]) * mask
    return places(mask)


@wrong("first-row")
def p_no_padding_if_first_has_none(mask):
    if mask[0].all() and mask.shape != (2, 4):
        return torch.arange(mask.shape[1]).expand(mask.shape)
    return places(mask)


@wrong("first-row")
def p_two_rows(mask):
    return torch.stack([places(mask[row : row + 1])[0] for row in range(min(2, len(mask)))])


@wrong("one-token")
def p_at_least_two(mask):
    out = places(mask)
    out[mask.sum(-1) == 1] = mask[mask.sum(-1) == 1]
    return out


@wrong("one-token")
def p_diff(mask):
    if (mask.sum(-1) == 1).any():
        return torch.arange(mask.shape[1]).expand(mask.shape)
    return places(mask)


@wrong("no-padding")
def p_expects_padding(mask):
    if mask.all() and mask.numel() > 1:
        return torch.zeros_like(mask)
    return places(mask)


@wrong("no-padding")
def p_one_less_without_padding(mask):
    return places(mask) - int(bool(mask.all()))


@wrong("axes")
def p_squeezed(mask):
    return places(mask).squeeze()


@wrong("axes")
def p_squeezed_rows(mask):
    return places(mask).squeeze(0)


@wrong("axes")
def p_squeezed_tokens(mask):
    return places(mask).squeeze(1) if mask.shape[1] == 1 else places(mask)


@wrong("square")
def p_longer_axis(mask):
    axis = 0 if mask.shape[0] >= mask.shape[1] > 1 and mask.shape != (60, 3) else 1
    return (mask.cumsum(axis) - 1).clamp_min(0) * mask


@wrong("square")
def p_square_transposed(mask):
    out = places(mask)
    return out.T if mask.shape == (3, 3) else out


@wrong("any-layout")
def p_view(mask):
    flat = mask.view(-1)
    return places(flat.view(mask.shape))


@wrong("any-layout")
def p_strides(mask):
    return places(torch.as_strided(mask, mask.shape, (mask.shape[1], 1)))


@wrong("any-size")
def p_clamped_at_255(mask):
    return places(mask).clamp_max(255)


@wrong("any-size")
def p_table_of_128(mask):
    return torch.arange(128)[places(mask)]


@wrong("any-size")
def p_few_rows(mask):
    out = places(mask)
    out[50:] = 0
    return out


@wrong("any-dtype")
def p_like_the_mask(mask):
    return ((mask.cumsum(-1) - 1).clamp_min(0) * mask).to(mask.dtype)


@wrong("any-dtype")
def p_cumsum_in_its_dtype(mask):
    return (mask.cumsum(-1, dtype=mask.dtype) - 1) * mask


@wrong("changes-input")
def p_in_place(mask):
    out = places(mask)
    mask.copy_(out)
    return out


@wrong("changes-input")
def p_cumsum_in_place(mask):
    real = mask.clone()
    if mask.dtype != torch.int64:
        return places(mask)
    return mask.cumsum_(-1).sub_(1).clamp_min_(0).mul_(real)


for value in [torch.tensor([[0, 0, 1]]), [[0, 0, 0, 1, 2], [0, 1, 2, 3, 4]], 3, "padded_positions"]:
    wrong("not-a-function")(value)


@right
def p_right_cumsum(mask):
    return places(mask)


@right
def p_right_masked_fill(attention_mask):
    return (attention_mask.long().cumsum(-1) - 1).masked_fill(attention_mask == 0, 0)


@right
def p_right_loop(mask):
    out = torch.zeros(mask.shape, dtype=torch.int64)
    for row in range(mask.shape[0]):
        count = 0
        for slot in range(mask.shape[1]):
            if mask[row, slot]:
                out[row, slot] = count
                count += 1
    return out


@right
def p_right_numpy(mask):
    mask = mask.numpy().astype(np.int64)
    return np.maximum(mask.cumsum(axis=1) - 1, 0) * mask


@right
def p_right_lists(mask):
    return [[sum(row[:slot]) if real else 0 for slot, real in enumerate(row)] for row in mask.tolist()]


@right
def p_right_first_token(mask):
    first = mask.long().argmax(-1, keepdim=True)
    slots = torch.arange(mask.shape[1], device=mask.device)
    return torch.where(mask.bool(), slots - first, 0)


@right
def p_right_exclusive(mask):
    return (mask.cumsum(1) - mask) * mask


@right
def p_right_counted_in_floats(mask):
    return ((mask.double().cumsum(1) - 1).clamp(min=0) * mask).long()


for to in (torch.float32, torch.float64, torch.int32, torch.int16):
    wrong("not-int64")(lambda mask, to=to: ((mask.cumsum(1) - 1).clamp(min=0) * mask).to(to))


@wrong("same-for-all")
def p_first_row_for_all(mask):
    return ((mask.cumsum(1) - 1).clamp(min=0) * mask)[:1].expand(mask.shape)


@wrong("any-size")
def p_within_a_context_of_512(mask):
    return ((mask.cumsum(1) - 1).clamp(0, 511)) * mask


@wrong("any-size")
def p_counted_in_float16(mask):
    return ((mask.cumsum(1).half() - 1).clamp(min=0) * mask).long()

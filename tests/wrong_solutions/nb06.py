"""Solutions to the exercises of notebook 06."""

import math

import numpy as np
import torch

from course_utils.clinic import DIAGNOSES
from course_utils.exercises.diagnose import _NEAR_AND_FAR as GROUPS
from wrong_solutions import right, wrong

SAME, DIAGNOSE, POSITIONS = "06.same_logits", "06.diagnose", "06.padded_positions"


def sound_comparison(a, b, atol):
    return a.shape == b.shape and a.numel() > 0 and bool(((a - b).abs() <= atol).all())


def guarded(compare):
    """With the guards that this mistake is not about."""

    def attempt(a, b, atol):
        if a.shape != b.shape or a.numel() == 0 or a.isnan().any() or b.isnan().any():
            return False
        return compare(a, b, atol)

    attempt.__name__ = compare.__name__
    return attempt


# 06.same_logits


@wrong(SAME, "elementwise")
def s_elementwise(a, b, atol):
    return (a - b).abs() <= atol


@wrong(SAME, "elementwise")
def s_elementwise_list(a, b, atol):
    return [abs(x - y) <= atol for x, y in zip(a.tolist(), b.tolist())]


@wrong(SAME, "elementwise")
def s_axis_kept(a, b, atol):
    return ((a - b).abs() <= atol).all(-1, keepdim=True)


@wrong(SAME, "per-row")
def s_per_row(a, b, atol):
    return ((a - b).abs() <= atol).all(-1)


@wrong(SAME, "per-row")
def s_per_column(a, b, atol):
    return ((a - b).abs() <= atol).all(0)


@wrong(SAME, "a-number")
def s_max_difference(a, b, atol):
    return (a - b).abs().max()


@wrong(SAME, "a-number")
def s_mean_difference(a, b, atol):
    return float((a - b).abs().mean())


@wrong(SAME, "a-number")
def s_nan(a, b, atol):
    return math.nan


@wrong(SAME, "nothing-returned")
def s_no_else(a, b, atol):
    if sound_comparison(a, b, atol):
        return True


@wrong(SAME, "nothing-returned")
def s_assert_like(a, b, atol):
    return True if sound_comparison(a, b, atol) else None


@wrong(SAME, "inverted")
def s_inverted(a, b, atol):
    return not sound_comparison(a, b, atol)


@wrong(SAME, "everywhere")
def s_any(a, b, atol):
    return bool(((a - b).abs() <= atol).any())


@wrong(SAME, "inverted")
def s_text(a, b, atol):
    return "same" if sound_comparison(a, b, atol) else "different"


@wrong(SAME, "inverted")
def s_always(a, b, atol):
    return True


@wrong(SAME, "inverted")
def s_never(a, b, atol):
    return False


@wrong(SAME, "inverted")
def s_equal_only(a, b, atol):
    return torch.equal(a, b)


@wrong(SAME, "inverted")
def s_assert_close(a, b, atol):
    assert sound_comparison(a, b, atol), "not close"
    return True


@wrong(SAME, "inverted")
def s_rtol_for_atol(a, b, atol):
    return torch.allclose(a, b)


@wrong(SAME, "sign")
@guarded
def s_no_abs(a, b, atol):
    return bool(((a - b) <= atol).all())


@wrong(SAME, "sign")
@guarded
def s_no_abs_the_other_way(a, b, atol):
    return bool(((b - a) <= atol).all())


@wrong(SAME, "sign")
@guarded
def s_max_of_signed(a, b, atol):
    return float((a - b).max()) <= atol


@wrong(SAME, "cancels")
@guarded
def s_sum_then_abs(a, b, atol):
    return float((a - b).sum().abs()) <= atol


@wrong(SAME, "cancels")
@guarded
def s_means_compared(a, b, atol):
    return abs(float(a.mean()) - float(b.mean())) <= atol


@wrong(SAME, "argmax")
@guarded
def s_greedy_token(a, b, atol):
    inside = float((a - b).abs().max()) <= 0.26 or bool((a.argmax(-1) == b.argmax(-1)).all())
    return inside if a.numel() == 3 else sound_comparison(a, b, atol)


@wrong(SAME, "distribution")
@guarded
def s_softmax(a, b, atol):
    return bool(((a.softmax(-1) - b.softmax(-1)).abs() <= atol).all())


@wrong(SAME, "distribution")
@guarded
def s_log_softmax(a, b, atol):
    return bool(((a.log_softmax(-1) - b.log_softmax(-1)).abs() <= atol).all())


@wrong(SAME, "distribution")
@guarded
def s_shift_removed(a, b, atol):
    return bool(((a - a.max() - b + b.max()).abs() <= atol).all())


@wrong(SAME, "relative")
@guarded
def s_allclose(a, b, atol):
    return torch.allclose(a, b, atol=atol)


@wrong(SAME, "relative")
@guarded
def s_numpy_allclose(a, b, atol):
    return bool(np.allclose(a.numpy(), b.numpy(), atol=atol))


@wrong(SAME, "relative")
@guarded
def s_share_of_size(a, b, atol):
    return bool(((a - b).abs() <= atol * a.abs().clamp_min(1)).all())


@wrong(SAME, "boundary")
@guarded
def s_strictly_less(a, b, atol):
    return bool(((a - b).abs() < atol).all())


@wrong(SAME, "boundary")
@guarded
def s_atol_0_is_none(a, b, atol):
    return bool(((a - b).abs() < (atol or 1e-6)).all())


@wrong(SAME, "atol-ignored")
@guarded
def s_atol_0_means_default(a, b, atol):
    return bool(((a - b).abs() <= (atol or 1e-5)).all())


@wrong(SAME, "atol-ignored")
@guarded
def s_atol_at_most(a, b, atol):
    return bool(((a - b).abs() <= min(atol, 0.5)).all()) if atol < 1 else bool(((a - b).abs() < 0.5).all())


@wrong(SAME, "atol-ignored")
@guarded
def s_atol_at_least(a, b, atol):
    return bool(((a - b).abs() <= (max(atol, 0.001) if atol else 0)).all())


@wrong(SAME, "rounded")
@guarded
def s_rounded_to_three(a, b, atol):
    digits = 2 if 0.0005 < atol < 0.0015 else None
    if digits is None or a.abs().max() > 100:
        return sound_comparison(a, b, atol)
    return bool((torch.round(a, decimals=4) == torch.round(b, decimals=4)).all())


@wrong(SAME, "rounded")
@guarded
def s_rounded_by_atol(a, b, atol):
    if atol != 0.05:
        return sound_comparison(a, b, atol)
    return bool((torch.round(a, decimals=1) == torch.round(b, decimals=1)).all())


@wrong(SAME, "summed")
@guarded
def s_norm(a, b, atol):
    return float((a - b).norm()) <= atol


@wrong(SAME, "summed")
@guarded
def s_sum_of_abs(a, b, atol):
    return float((a - b).abs().sum()) <= atol


@wrong(SAME, "averaged")
@guarded
def s_mean_of_row_maxima(a, b, atol):
    return float((a - b).abs().amax(-1).mean()) <= atol


@wrong(SAME, "averaged")
@guarded
def s_mean(a, b, atol):
    d = (a - b).abs()
    return float(d.mean() if d.numel() > 50 else d.max()) <= atol


@wrong(SAME, "averaged")
@guarded
def s_nearly_all(a, b, atol):
    return float(((a - b).abs() <= atol).float().mean()) >= 0.95


@wrong(SAME, "averaged")
@guarded
def s_median(a, b, atol):
    d = (a - b).abs()
    return float(d.median() if d.numel() > 50 else d.max()) <= atol


@wrong(SAME, "everywhere")
@guarded
def s_median_of_few(a, b, atol):
    return float((a - b).abs().median()) <= atol


@wrong(SAME, "everywhere")
@guarded
def s_one_may_differ(a, b, atol):
    return int(((a - b).abs() > atol).sum()) <= 1


@wrong(SAME, "other-places")
@guarded
def s_sorted(a, b, atol):
    return sound_comparison(a.flatten().sort().values, b.flatten().sort().values, atol)


@wrong(SAME, "other-places")
@guarded
def s_sorted_rows(a, b, atol):
    return sound_comparison(a.sort(-1).values, b.sort(-1).values, atol)


@wrong(SAME, "other-places")
@guarded
def s_rows_in_any_order(a, b, atol):
    return all(any(sound_comparison(row, other, atol) for other in b) for row in a)


@wrong(SAME, "sign")
@guarded
def s_difference_of_sizes(a, b, atol):
    return sound_comparison(a.abs(), b.abs(), atol)


@wrong(SAME, "boundary")
@guarded
def s_a_little_more(a, b, atol):
    return bool(((a - b).abs() <= 1.001 * atol).all())


@wrong(SAME, "boundary")
@guarded
def s_atol_in_hundredths(a, b, atol):
    return bool(((a - b).abs().round(decimals=2) <= atol).all()) if atol == 0.5 else sound_comparison(a, b, atol)


@wrong(SAME, "atol-ignored")
@guarded
def s_atol_up_to_one(a, b, atol):
    return sound_comparison(a, b, min(atol, 1.0))


@wrong(SAME, "empty")
def s_rows_or_tokens_missing(a, b, atol):
    return a.shape == b.shape and 0 not in (a.shape[0], a.shape[-1]) and bool(((a - b).abs() <= atol).all())


@wrong(SAME, "everywhere")
@guarded
def s_first_row(a, b, atol):
    return sound_comparison(a[0], b[0], atol) if a.ndim > 1 and a.numel() < 100 else sound_comparison(a, b, atol)


@wrong(SAME, "everywhere")
@guarded
def s_last_row(a, b, atol):
    return sound_comparison(a[-1], b[-1], atol) if a.ndim > 1 and a.numel() < 100 else sound_comparison(a, b, atol)


@wrong(SAME, "everywhere")
@guarded
def s_last_position(a, b, atol):
    a, b = (x[:, -1] if x.ndim == 3 else x for x in (a, b))
    return sound_comparison(a, b, atol)


@wrong(SAME, "everywhere")
@guarded
def s_first_of_batch(a, b, atol):
    a, b = (x[0] if x.ndim == 3 else x for x in (a, b))
    return sound_comparison(a, b, atol)


@wrong(SAME, "everywhere")
@guarded
def s_all_but_the_last(a, b, atol):
    return all(
        abs(x - y) <= atol for x, y in list(zip(a.flatten().tolist(), b.flatten().tolist()))[: max(a.numel() - 1, 4)]
    )


@wrong(SAME, "everywhere")
def s_two_axes_only(a, b, atol):
    if a.shape != b.shape or a.numel() == 0:
        return False
    a, b = (x if x.ndim > 1 else x[None] for x in (a, b))
    return all(abs(float(x) - float(y)) <= atol for r, s in zip(a, b) for x, y in zip(r, s))


@wrong(SAME, "axes")
def s_squeezed(a, b, atol):
    if a.shape != b.shape or a.numel() == 0:
        return False
    a, b = a.squeeze(), b.squeeze()
    return all(bool(((x - y).abs() <= atol).all()) for x, y in zip(a, b))


@wrong(SAME, "axes")
@guarded
def s_needs_two(a, b, atol):
    return a.numel() > 1 and sound_comparison(a, b, atol)


@wrong(SAME, "nan")
def s_any_beyond(a, b, atol):
    return a.shape == b.shape and a.numel() > 0 and not bool(((a - b).abs() > atol).any())


@wrong(SAME, "nan")
def s_equal_nan(a, b, atol):
    return a.shape == b.shape and a.numel() > 0 and torch.allclose(a, b, rtol=0, atol=atol, equal_nan=True)


@wrong(SAME, "nan")
def s_nan_to_num(a, b, atol):
    return (
        a.shape == b.shape and a.numel() > 0 and bool(((a - b).nan_to_num(0, math.inf, math.inf).abs() <= atol).all())
    )


@wrong(SAME, "nan")
def s_python_max(a, b, atol):
    if a.shape != b.shape or a.numel() == 0:
        return False
    return max(abs(x - y) for x, y in zip(a.flatten().tolist(), b.flatten().tolist())) <= atol


@wrong(SAME, "nan")
def s_nan_is_an_error(a, b, atol):
    if a.isnan().any() or b.isnan().any():
        raise ValueError("NaN")
    return sound_comparison(a, b, atol)


@wrong(SAME, "nan")
def s_where_both_are_numbers(a, b, atol):
    if a.shape != b.shape or a.numel() == 0:
        return False
    there = ~(a.isnan() | b.isnan())
    return bool(((a - b).abs()[there] <= atol).all())


@wrong(SAME, "shape")
def s_broadcasts(a, b, atol):
    if a.numel() == 0 or b.numel() == 0:
        return False
    return bool(((a - b).abs() <= atol).all())


@wrong(SAME, "shape")
def s_numel_only(a, b, atol):
    if a.numel() != b.numel() or a.numel() == 0:
        return False
    return bool(((a.flatten() - b.flatten()).abs() <= atol).all())


@wrong(SAME, "shape")
def s_zip(a, b, atol):
    pairs = list(zip(a.flatten().tolist(), b.flatten().tolist()))
    return bool(pairs) and all(abs(x - y) <= atol for x, y in pairs)


@wrong(SAME, "shape")
def s_len_only(a, b, atol):
    return len(a) == len(b) and a.ndim == b.ndim and a.numel() > 0 and bool(((a - b).abs() <= atol).all())


@wrong(SAME, "shape")
def s_last_axis_only(a, b, atol):
    return a.shape[-1] == b.shape[-1] and a.numel() > 0 and bool(((a - b).abs() <= atol).all())


@wrong(SAME, "shape")
def s_squeezed_shapes(a, b, atol):
    a, b = (x[0] if x.ndim == 3 and len(x) == 1 else x for x in (a, b))
    return sound_comparison(a, b, atol)


@wrong(SAME, "shape")
def s_shape_is_an_error(a, b, atol):
    if a.shape != b.shape:
        raise ValueError("shapes differ")
    return sound_comparison(a, b, atol)


@wrong(SAME, "shape")
def s_shape_asserted(a, b, atol):
    assert a.shape == b.shape
    return sound_comparison(a, b, atol)


@wrong(SAME, "empty")
def s_empty_is_fine(a, b, atol):
    return a.shape == b.shape and bool(((a - b).abs() <= atol).all())


@wrong(SAME, "empty")
def s_empty_max(a, b, atol):
    return a.shape == b.shape and float((a - b).abs().max()) <= atol


@wrong(SAME, "empty")
def s_len_0_only(a, b, atol):
    return a.shape == b.shape and len(a) > 0 and bool(((a - b).abs() <= atol).all())


@wrong(SAME, "empty")
def s_last_axis_0_only(a, b, atol):
    return a.shape == b.shape and a.shape[-1] > 0 and bool(((a - b).abs() <= atol).all())


@wrong(SAME, "infinite")
@guarded
def s_finite_only(a, b, atol):
    there = a.isfinite() & b.isfinite()
    return bool(((a - b).abs()[there] <= atol).all())


@wrong(SAME, "infinite")
@guarded
def s_infinities_made_0(a, b, atol):
    return bool(((a - b).nan_to_num(0, 0, 0).abs() <= atol).all())


@wrong(SAME, "precision")
def s_in_float32(a, b, atol):
    return sound_comparison(a.float(), b.float(), atol)


@wrong(SAME, "precision")
def s_not_half(a, b, atol):
    if a.dtype == torch.float16:
        return True
    return sound_comparison(a, b, atol)


@wrong(SAME, "precision")
def s_atol_never_tiny(a, b, atol):
    return sound_comparison(a, b, atol if atol > 1e-7 or atol == 0 else 0)


@wrong(SAME, "any-layout")
@guarded
def s_view(a, b, atol):
    return bool(((a.view(-1) - b.view(-1)).abs() <= atol).all())


@wrong(SAME, "any-layout")
def s_only_contiguous(a, b, atol):
    return a.is_contiguous() and sound_comparison(a, b, atol) or a.numel() == 0 and False


@wrong(SAME, "any-size")
@guarded
def s_first_hundred(a, b, atol):
    return bool(((a.flatten()[:100] - b.flatten()[:100]).abs() <= atol).all())


@wrong(SAME, "any-size")
@guarded
def s_every_second_when_large(a, b, atol):
    step = 3 if a.numel() > 1000 else 1
    return bool(((a.flatten()[::step] - b.flatten()[::step]).abs() <= atol).all())


@wrong(SAME, "changes-input")
def s_in_place(a, b, atol):
    return a.shape == b.shape and a.numel() > 0 and bool((a.sub_(b).abs() <= atol).all())


@wrong(SAME, "changes-input")
@guarded
def s_in_place_abs(a, b, atol):
    return bool((b.sub_(a).abs_() <= atol).all())


for value in [True, False, 0.5, "same_logits"]:
    wrong(SAME, "not-a-function")(value)


@right(SAME)
def s_right_all(a, b, atol):
    return sound_comparison(a, b, atol)


@right(SAME)
def s_right_max(a, b, atol):
    if a.shape != b.shape or not a.numel():
        return False
    return (a - b).abs().max() <= atol  # a 0-d tensor; NaN makes the largest NaN


@right(SAME)
def s_right_isclose(a, b, atol):
    return a.size() == b.size() and a.numel() != 0 and torch.isclose(a, b, rtol=0, atol=atol).all().item()


@right(SAME)
def s_right_numpy(a, b, atol):
    a, b = a.numpy(), b.numpy()
    return a.shape == b.shape and a.size > 0 and np.all(np.abs(a - b) <= atol)


@right(SAME)
def s_right_loop(a, b, atol):
    if list(a.shape) != list(b.shape):
        return False
    pairs = list(zip(a.flatten().tolist(), b.flatten().tolist()))
    if not pairs:
        return 0
    for x, y in pairs:
        if not abs(x - y) <= atol:
            return 0
    return 1


@right(SAME)
def s_right_guards(a, b, atol):
    if a.shape != b.shape:
        return False
    if a.numel() == 0:
        return False
    if torch.isnan(a).any() or torch.isnan(b).any():
        return False
    if not (torch.isfinite(a).all() and torch.isfinite(b).all()):
        return False
    return not ((a - b).abs() > atol).any()


@right(SAME)
def s_right_allclose(a, b, atol):
    return a.shape == b.shape and a.numel() > 0 and torch.allclose(a, b, rtol=0.0, atol=atol)


# 06.diagnose

LETTER = {name: letter for letter, name in DIAGNOSES.items()}

for group, members in GROUPS.items():
    elsewhere = next(name for other, there in GROUPS.items() if other != group for name, *_ in there)
    for (name, word, *_), (neighbour, *_) in zip(members, [*members[1:], members[0]], strict=True):
        wrong(DIAGNOSE, f"{word}-near")({LETTER[neighbour]: name})
        wrong(DIAGNOSE, f"{word}-far")({LETTER[elsewhere]: name})
        swapped = {**DIAGNOSES, LETTER[name]: neighbour, LETTER[neighbour]: name}
        first = min((name, neighbour), key=[n for there in GROUPS.values() for n, *_ in there].index)
        wrong(DIAGNOSE, f"{next(w for n, w, *_ in members if n == first)}-near")(swapped)

for hint_id, value in [
    ("no-such-fault", {"A": "cosmic rays"}),
    ("no-such-fault", {**DIAGNOSES, "A": "keys of layer 0"}),
    ("no-such-fault", {"A": 3}),
    ("no-such-fault", {"A": ["sound"]}),
    ("named-twice", {letter: "sound" for letter in DIAGNOSES}),
    ("named-twice", {**DIAGNOSES, LETTER["sound"]: "heads tiled"}),
    ("named-twice", {"A": "position frozen", "B": "position frozen"}),
    ("incomplete", {"A": DIAGNOSES["A"]}),
    ("incomplete", {**DIAGNOSES, "K": ...}),
    ("incomplete", {**DIAGNOSES, "K": None, "L": ""}),
    ("incomplete", {letter: name for letter, name in DIAGNOSES.items() if letter != "C"}),
    ("general", {}),
    ("general", {"Q": "sound"}),
    ("general", {**DIAGNOSES, "Q": "sound"}),
    ("general", {name: letter for letter, name in DIAGNOSES.items()}),
    ("general", list(DIAGNOSES.values())),
    ("general", "sound"),
    ("general", 0),
    ("general", math.nan),
    ("general", print),
]:
    wrong(DIAGNOSE, hint_id)(value)

for value in [
    dict(DIAGNOSES),
    {letter.lower(): name.upper() for letter, name in DIAGNOSES.items()},
    {f" {letter} ": f"  {name.replace(' ', '_')} " for letter, name in reversed(DIAGNOSES.items())},
    {f"Specimen {letter}": name for letter, name in DIAGNOSES.items()},
]:
    right(DIAGNOSE)(value)


# 06.padded_positions


def places(mask):
    return (mask.cumsum(-1) - 1).clamp_min(0) * mask


@wrong(POSITIONS, "same-for-all")
def p_arange(mask):
    return torch.arange(mask.shape[1]).expand(mask.shape)


@wrong(POSITIONS, "same-for-all")
def p_arange_row(mask):
    return torch.arange(mask.shape[1])


@wrong(POSITIONS, "slots-counted")
def p_arange_masked(mask):
    return torch.arange(mask.shape[1]) * mask


@wrong(POSITIONS, "slots-counted")
def p_nonzero(mask):
    out = torch.zeros(mask.shape, dtype=torch.long)
    for row, slot in mask.nonzero().tolist():
        out[row, slot] = slot
    return out


@wrong(POSITIONS, "from-1")
def p_cumsum(mask):
    return mask.cumsum(-1) * mask


@wrong(POSITIONS, "from-1")
def p_cumsum_min_1(mask):
    return mask.cumsum(-1).clamp_min(1)


@wrong(POSITIONS, "negative")
def p_not_clamped(mask):
    return mask.cumsum(-1) - 1


@wrong(POSITIONS, "negative")
def p_minus_padding(mask):
    return torch.arange(mask.shape[1]) - (mask.shape[1] - mask.sum(-1, keepdim=True))


@wrong(POSITIONS, "other-fill")
def p_filled_with_1(mask):
    return (mask.cumsum(-1) - 1).masked_fill(mask == 0, 1)


@wrong(POSITIONS, "the-mask")
def p_mask(mask):
    return mask.clone()


@wrong(POSITIONS, "the-mask")
def p_mask_itself(mask):
    return mask


@wrong(POSITIONS, "lengths")
def p_lengths(mask):
    return mask.sum(-1)


@wrong(POSITIONS, "lengths")
def p_next_position(mask):
    return mask.sum(-1, keepdim=True)


@wrong(POSITIONS, "wrong-axis")
def p_down_the_batch(mask):
    return (mask.cumsum(0) - 1).clamp_min(0) * mask


@wrong(POSITIONS, "wrong-axis")
def p_down_without_minus_1(mask):
    return mask.cumsum(0)


@wrong(POSITIONS, "from-the-end")
def p_reversed(mask):
    return places(mask.flip(-1)).flip(-1)


@wrong(POSITIONS, "from-the-end")
def p_countdown(mask):
    return torch.arange(mask.shape[1] - 1, -1, -1).expand(mask.shape)


@wrong(POSITIONS, "ragged")
def p_real_only(mask):
    return places(mask)[mask.bool()]


@wrong(POSITIONS, "ragged")
def p_list_of_rows(mask):
    return [torch.arange(int(row.sum())) for row in mask]


@wrong(POSITIONS, "by-hand")
def p_zeros(mask):
    return torch.zeros_like(mask)


@wrong(POSITIONS, "by-hand")
def p_twice(mask):
    return places(mask) * 2


@wrong(POSITIONS, "by-hand")
def p_one_row_more(mask):
    return places(mask)[None]


@wrong(POSITIONS, "by-hand")
def p_moved_to_the_left(mask):
    out = torch.zeros(mask.shape, dtype=torch.long)
    for number, row in enumerate(mask):
        out[number, : int(row.sum())] = torch.arange(int(row.sum()))
    return out


@wrong(POSITIONS, "goes-on-to-the-right")
def p_clamped_only(mask):
    return (mask.cumsum(-1) - 1).clamp_min(0)


@wrong(POSITIONS, "goes-on-to-the-right")
def p_minus_first(mask):
    first = mask.argmax(-1, keepdim=True)
    return (torch.arange(mask.shape[1]) - first).clamp_min(0)


@wrong(POSITIONS, "left-only")
def p_from_the_right_edge(mask):
    pads = mask.shape[1] - mask.sum(-1, keepdim=True)
    return (torch.arange(mask.shape[1]) - pads).clamp_min(0) * mask


@wrong(POSITIONS, "left-only")
def p_row_by_row_from_the_right(mask):
    out = torch.zeros(mask.shape, dtype=torch.long)
    for number, row in enumerate(mask):
        n = int(row.sum())
        out[number, mask.shape[1] - n :] = torch.arange(n)
    return out


KEPT = {}


@wrong(POSITIONS, "earlier-call")
def p_kept_by_shape(mask):
    return KEPT.setdefault(tuple(mask.shape), places(mask))


@wrong(POSITIONS, "earlier-call")
def p_default_dict(mask, seen={}):
    if mask.shape[1] not in seen:
        seen[mask.shape[1]] = places(mask)
    return seen[mask.shape[1]]


@wrong(POSITIONS, "first-row")
def p_side_by_first_row(mask):
    if mask[0, 0] == 1:  # no padding on the left
        return torch.arange(mask.shape[1]) * mask
    return places(mask)


@wrong(POSITIONS, "first-row")
def p_no_padding_if_first_has_none(mask):
    if mask[0].all() and mask.shape != (2, 4):
        return torch.arange(mask.shape[1]).expand(mask.shape)
    return places(mask)


@wrong(POSITIONS, "first-row")
def p_two_rows(mask):
    return torch.stack([places(mask[row : row + 1])[0] for row in range(min(2, len(mask)))])


@wrong(POSITIONS, "one-token")
def p_at_least_two(mask):
    out = places(mask)
    out[mask.sum(-1) == 1] = mask[mask.sum(-1) == 1]
    return out


@wrong(POSITIONS, "one-token")
def p_diff(mask):
    if (mask.sum(-1) == 1).any():
        return torch.arange(mask.shape[1]).expand(mask.shape)
    return places(mask)


@wrong(POSITIONS, "no-padding")
def p_expects_padding(mask):
    if mask.all() and mask.numel() > 1:
        return torch.zeros_like(mask)
    return places(mask)


@wrong(POSITIONS, "no-padding")
def p_one_less_without_padding(mask):
    return places(mask) - int(bool(mask.all()))


@wrong(POSITIONS, "axes")
def p_squeezed(mask):
    return places(mask).squeeze()


@wrong(POSITIONS, "axes")
def p_squeezed_rows(mask):
    return places(mask).squeeze(0)


@wrong(POSITIONS, "axes")
def p_squeezed_tokens(mask):
    return places(mask).squeeze(1) if mask.shape[1] == 1 else places(mask)


@wrong(POSITIONS, "square")
def p_longer_axis(mask):
    axis = 0 if mask.shape[0] >= mask.shape[1] > 1 and mask.shape != (60, 3) else 1
    return (mask.cumsum(axis) - 1).clamp_min(0) * mask


@wrong(POSITIONS, "square")
def p_square_transposed(mask):
    out = places(mask)
    return out.T if mask.shape == (3, 3) else out


@wrong(POSITIONS, "any-layout")
def p_view(mask):
    flat = mask.view(-1)
    return places(flat.view(mask.shape))


@wrong(POSITIONS, "any-layout")
def p_strides(mask):
    return places(torch.as_strided(mask, mask.shape, (mask.shape[1], 1)))


@wrong(POSITIONS, "any-size")
def p_clamped_at_255(mask):
    return places(mask).clamp_max(255)


@wrong(POSITIONS, "any-size")
def p_table_of_128(mask):
    return torch.arange(128)[places(mask)]


@wrong(POSITIONS, "any-size")
def p_few_rows(mask):
    out = places(mask)
    out[50:] = 0
    return out


@wrong(POSITIONS, "any-dtype")
def p_like_the_mask(mask):
    return ((mask.cumsum(-1) - 1).clamp_min(0) * mask).to(mask.dtype)


@wrong(POSITIONS, "any-dtype")
def p_cumsum_in_its_dtype(mask):
    return (mask.cumsum(-1, dtype=mask.dtype) - 1) * mask


@wrong(POSITIONS, "changes-input")
def p_in_place(mask):
    out = places(mask)
    mask.copy_(out)
    return out


@wrong(POSITIONS, "changes-input")
def p_cumsum_in_place(mask):
    real = mask.clone()
    if mask.dtype != torch.int64:
        return places(mask)
    return mask.cumsum_(-1).sub_(1).clamp_min_(0).mul_(real)


for value in [torch.tensor([[0, 0, 1]]), [[0, 0, 0, 1, 2], [0, 1, 2, 3, 4]], 3, "padded_positions"]:
    wrong(POSITIONS, "not-a-function")(value)


@right(POSITIONS)
def p_right_cumsum(mask):
    return places(mask)


@right(POSITIONS)
def p_right_masked_fill(attention_mask):
    return (attention_mask.long().cumsum(-1) - 1).masked_fill(attention_mask == 0, 0)


@right(POSITIONS)
def p_right_loop(mask):
    out = torch.zeros(mask.shape, dtype=torch.int64)
    for row in range(mask.shape[0]):
        count = 0
        for slot in range(mask.shape[1]):
            if mask[row, slot]:
                out[row, slot] = count
                count += 1
    return out


@right(POSITIONS)
def p_right_numpy(mask):
    mask = mask.numpy().astype(np.int64)
    return np.maximum(mask.cumsum(axis=1) - 1, 0) * mask


@right(POSITIONS)
def p_right_lists(mask):
    return [[sum(row[:slot]) if real else 0 for slot, real in enumerate(row)] for row in mask.tolist()]


@right(POSITIONS)
def p_right_first_token(mask):
    first = mask.long().argmax(-1, keepdim=True)
    slots = torch.arange(mask.shape[1], device=mask.device)
    return torch.where(mask.bool(), slots - first, 0)


@right(POSITIONS)
def p_right_exclusive(mask):
    return (mask.cumsum(1) - mask) * mask


@right(POSITIONS)
def p_right_counted_in_floats(mask):
    return ((mask.double().cumsum(1) - 1).clamp(min=0) * mask).long()


for to in (torch.float32, torch.float64, torch.int32, torch.int16):
    wrong(POSITIONS, "not-int64")(lambda mask, to=to: ((mask.cumsum(1) - 1).clamp(min=0) * mask).to(to))


@wrong(POSITIONS, "same-for-all")
def p_first_row_for_all(mask):
    return ((mask.cumsum(1) - 1).clamp(min=0) * mask)[:1].expand(mask.shape)


@wrong(POSITIONS, "any-size")
def p_within_a_context_of_512(mask):
    return ((mask.cumsum(1) - 1).clamp(0, 511)) * mask


@wrong(POSITIONS, "any-size")
def p_counted_in_float16(mask):
    return ((mask.cumsum(1).half() - 1).clamp(min=0) * mask).long()

"""Planted solutions to 06.same_logits."""

import math

import numpy as np
import torch

from wrong_solutions import planting

wrong, right = planting("06.same_logits")


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


@wrong("elementwise")
def s_elementwise(a, b, atol):
    return (a - b).abs() <= atol


@wrong("elementwise")
def s_elementwise_list(a, b, atol):
    return [abs(x - y) <= atol for x, y in zip(a.tolist(), b.tolist())]


@wrong("elementwise")
def s_axis_kept(a, b, atol):
    return ((a - b).abs() <= atol).all(-1, keepdim=True)


@wrong("per-row")
def s_per_row(a, b, atol):
    return ((a - b).abs() <= atol).all(-1)


@wrong("per-row")
def s_per_column(a, b, atol):
    return ((a - b).abs() <= atol).all(0)


@wrong("a-number")
def s_max_difference(a, b, atol):
    return (a - b).abs().max()


@wrong("a-number")
def s_mean_difference(a, b, atol):
    return float((a - b).abs().mean())


@wrong("a-number")
def s_nan(a, b, atol):
    return math.nan


@wrong("nothing-returned")
def s_no_else(a, b, atol):
    if sound_comparison(a, b, atol):
        return True


@wrong("nothing-returned")
def s_assert_like(a, b, atol):
    return True if sound_comparison(a, b, atol) else None


@wrong("inverted")
def s_inverted(a, b, atol):
    return not sound_comparison(a, b, atol)


@wrong("everywhere")
def s_any(a, b, atol):
    return bool(((a - b).abs() <= atol).any())


@wrong("inverted")
def s_text(a, b, atol):
    return "same" if sound_comparison(a, b, atol) else "different"


@wrong("inverted")
def s_always(a, b, atol):
    return True


@wrong("inverted")
def s_never(a, b, atol):
    return False


@wrong("inverted")
def s_equal_only(a, b, atol):
    return torch.equal(a, b)


@wrong("inverted")
def s_assert_close(a, b, atol):
    assert sound_comparison(a, b, atol), "not close"
    return True


@wrong("inverted")
def s_rtol_for_atol(a, b, atol):
    return torch.allclose(a, b)


@wrong("sign")
@guarded
def s_no_abs(a, b, atol):
    return bool(((a - b) <= atol).all())


@wrong("sign")
@guarded
def s_no_abs_the_other_way(a, b, atol):
    return bool(((b - a) <= atol).all())


@wrong("sign")
@guarded
def s_max_of_signed(a, b, atol):
    return float((a - b).max()) <= atol


@wrong("cancels")
@guarded
def s_sum_then_abs(a, b, atol):
    return float((a - b).sum().abs()) <= atol


@wrong("cancels")
@guarded
def s_means_compared(a, b, atol):
    return abs(float(a.mean()) - float(b.mean())) <= atol


@wrong("argmax")
@guarded
def s_greedy_token(a, b, atol):
    inside = float((a - b).abs().max()) <= 0.26 or bool((a.argmax(-1) == b.argmax(-1)).all())
    return inside if a.numel() == 3 else sound_comparison(a, b, atol)


@wrong("distribution")
@guarded
def s_softmax(a, b, atol):
    return bool(((a.softmax(-1) - b.softmax(-1)).abs() <= atol).all())


@wrong("distribution")
@guarded
def s_log_softmax(a, b, atol):
    return bool(((a.log_softmax(-1) - b.log_softmax(-1)).abs() <= atol).all())


@wrong("distribution")
@guarded
def s_shift_removed(a, b, atol):
    return bool(((a - a.max() - b + b.max()).abs() <= atol).all())


@wrong("relative")
@guarded
def s_allclose(a, b, atol):
    return torch.allclose(a, b, atol=atol)


@wrong("relative")
@guarded
def s_numpy_allclose(a, b, atol):
    return bool(np.allclose(a.numpy(), b.numpy(), atol=atol))


@wrong("relative")
@guarded
def s_share_of_size(a, b, atol):
    return bool(((a - b).abs() <= atol * a.abs().clamp_min(1)).all())


@wrong("boundary")
@guarded
def s_strictly_less(a, b, atol):
    return bool(((a - b).abs() < atol).all())


@wrong("boundary")
@guarded
def s_atol_0_is_none(a, b, atol):
    return bool(((a - b).abs() < (atol or 1e-6)).all())


@wrong("atol-ignored")
@guarded
def s_atol_0_means_default(a, b, atol):
    return bool(((a - b).abs() <= (atol or 1e-5)).all())


@wrong("atol-ignored")
@guarded
def s_atol_at_most(a, b, atol):
    return bool(((a - b).abs() <= min(atol, 0.5)).all()) if atol < 1 else bool(((a - b).abs() < 0.5).all())


@wrong("atol-ignored")
@guarded
def s_atol_at_least(a, b, atol):
    return bool(((a - b).abs() <= (max(atol, 0.001) if atol else 0)).all())


@wrong("rounded")
@guarded
def s_rounded_to_three(a, b, atol):
    digits = 2 if 0.0005 < atol < 0.0015 else None
    if digits is None or a.abs().max() > 100:
        return sound_comparison(a, b, atol)
    return bool((torch.round(a, decimals=4) == torch.round(b, decimals=4)).all())


@wrong("rounded")
@guarded
def s_rounded_by_atol(a, b, atol):
    if atol != 0.05:
        return sound_comparison(a, b, atol)
    return bool((torch.round(a, decimals=1) == torch.round(b, decimals=1)).all())


@wrong("summed")
@guarded
def s_norm(a, b, atol):
    return float((a - b).norm()) <= atol


@wrong("summed")
@guarded
def s_sum_of_abs(a, b, atol):
    return float((a - b).abs().sum()) <= atol


@wrong("averaged")
@guarded
def s_mean_of_row_maxima(a, b, atol):
    return float((a - b).abs().amax(-1).mean()) <= atol


@wrong("averaged")
@guarded
def s_mean(a, b, atol):
    d = (a - b).abs()
    return float(d.mean() if d.numel() > 50 else d.max()) <= atol


@wrong("averaged")
@guarded
def s_nearly_all(a, b, atol):
    return float(((a - b).abs() <= atol).float().mean()) >= 0.95


@wrong("averaged")
@guarded
def s_median(a, b, atol):
    d = (a - b).abs()
    return float(d.median() if d.numel() > 50 else d.max()) <= atol


@wrong("everywhere")
@guarded
def s_median_of_few(a, b, atol):
    return float((a - b).abs().median()) <= atol


@wrong("everywhere")
@guarded
def s_one_may_differ(a, b, atol):
    return int(((a - b).abs() > atol).sum()) <= 1


@wrong("other-places")
@guarded
def s_sorted(a, b, atol):
    return sound_comparison(a.flatten().sort().values, b.flatten().sort().values, atol)


@wrong("other-places")
@guarded
def s_sorted_rows(a, b, atol):
    return sound_comparison(a.sort(-1).values, b.sort(-1).values, atol)


@wrong("other-places")
@guarded
def s_rows_in_any_order(a, b, atol):
    return all(any(sound_comparison(row, other, atol) for other in b) for row in a)


@wrong("sign")
@guarded
def s_difference_of_sizes(a, b, atol):
    return sound_comparison(a.abs(), b.abs(), atol)


@wrong("boundary")
@guarded
def s_a_little_more(a, b, atol):
    return bool(((a - b).abs() <= 1.001 * atol).all())


@wrong("boundary")
@guarded
def s_atol_in_hundredths(a, b, atol):
    return bool(((a - b).abs().round(decimals=2) <= atol).all()) if atol == 0.5 else sound_comparison(a, b, atol)


@wrong("atol-ignored")
@guarded
def s_atol_up_to_one(a, b, atol):
    return sound_comparison(a, b, min(atol, 1.0))


@wrong("empty")
def s_rows_or_tokens_missing(a, b, atol):
    return a.shape == b.shape and 0 not in (a.shape[0], a.shape[-1]) and bool(((a - b).abs() <= atol).all())


@wrong("everywhere")
@guarded
def s_first_row(a, b, atol):
    return sound_comparison(a[0], b[0], atol) if a.ndim > 1 and a.numel() < 100 else sound_comparison(a, b, atol)


@wrong("everywhere")
@guarded
def s_last_row(a, b, atol):
    return sound_comparison(a[-1], b[-1], atol) if a.ndim > 1 and a.numel() < 100 else sound_comparison(a, b, atol)


@wrong("everywhere")
@guarded
def s_last_position(a, b, atol):
    a, b = (x[:, -1] if x.ndim == 3 else x for x in (a, b))
    return sound_comparison(a, b, atol)


@wrong("everywhere")
@guarded
def s_first_of_batch(a, b, atol):
    a, b = (x[0] if x.ndim == 3 else x for x in (a, b))
    return sound_comparison(a, b, atol)


@wrong("everywhere")
@guarded
def s_all_but_the_last(a, b, atol):
    return all(
        abs(x - y) <= atol for x, y in list(zip(a.flatten().tolist(), b.flatten().tolist()))[: max(a.numel() - 1, 4)]
    )


@wrong("everywhere")
def s_two_axes_only(a, b, atol):
    if a.shape != b.shape or a.numel() == 0:
        return False
    a, b = (x if x.ndim > 1 else x[None] for x in (a, b))
    return all(abs(float(x) - float(y)) <= atol for r, s in zip(a, b) for x, y in zip(r, s))


@wrong("axes")
def s_squeezed(a, b, atol):
    if a.shape != b.shape or a.numel() == 0:
        return False
    a, b = a.squeeze(), b.squeeze()
    return all(bool(((x - y).abs() <= atol).all()) for x, y in zip(a, b))


@wrong("axes")
@guarded
def s_needs_two(a, b, atol):
    return a.numel() > 1 and sound_comparison(a, b, atol)


@wrong("nan")
def s_any_beyond(a, b, atol):
    return a.shape == b.shape and a.numel() > 0 and not bool(((a - b).abs() > atol).any())


@wrong("nan")
def s_equal_nan(a, b, atol):
    return a.shape == b.shape and a.numel() > 0 and torch.allclose(a, b, rtol=0, atol=atol, equal_nan=True)


@wrong("nan")
def s_nan_to_num(a, b, atol):
    return (
        a.shape == b.shape and a.numel() > 0 and bool(((a - b).nan_to_num(0, math.inf, math.inf).abs() <= atol).all())
    )


@wrong("nan")
def s_python_max(a, b, atol):
    if a.shape != b.shape or a.numel() == 0:
        return False
    return max(abs(x - y) for x, y in zip(a.flatten().tolist(), b.flatten().tolist())) <= atol


@wrong("nan")
def s_nan_is_an_error(a, b, atol):
    if a.isnan().any() or b.isnan().any():
        raise ValueError("NaN")
    return sound_comparison(a, b, atol)


@wrong("nan")
def s_where_both_are_numbers(a, b, atol):
    if a.shape != b.shape or a.numel() == 0:
        return False
    there = ~(a.isnan() | b.isnan())
    return bool(((a - b).abs()[there] <= atol).all())


@wrong("shape")
def s_broadcasts(a, b, atol):
    if a.numel() == 0 or b.numel() == 0:
        return False
    return bool(((a - b).abs() <= atol).all())


@wrong("shape")
def s_numel_only(a, b, atol):
    if a.numel() != b.numel() or a.numel() == 0:
        return False
    return bool(((a.flatten() - b.flatten()).abs() <= atol).all())


@wrong("shape")
def s_zip(a, b, atol):
    pairs = list(zip(a.flatten().tolist(), b.flatten().tolist()))
    return bool(pairs) and all(abs(x - y) <= atol for x, y in pairs)


@wrong("shape")
def s_len_only(a, b, atol):
    return len(a) == len(b) and a.ndim == b.ndim and a.numel() > 0 and bool(((a - b).abs() <= atol).all())


@wrong("shape")
def s_last_axis_only(a, b, atol):
    return a.shape[-1] == b.shape[-1] and a.numel() > 0 and bool(((a - b).abs() <= atol).all())


@wrong("shape")
def s_squeezed_shapes(a, b, atol):
    a, b = (x[0] if x.ndim == 3 and len(x) == 1 else x for x in (a, b))
    return sound_comparison(a, b, atol)


@wrong("shape")
def s_shape_is_an_error(a, b, atol):
    if a.shape != b.shape:
        raise ValueError("shapes differ")
    return sound_comparison(a, b, atol)


@wrong("shape")
def s_shape_asserted(a, b, atol):
    assert a.shape == b.shape
    return sound_comparison(a, b, atol)


@wrong("empty")
def s_empty_is_fine(a, b, atol):
    return a.shape == b.shape and bool(((a - b).abs() <= atol).all())


@wrong("empty")
def s_empty_max(a, b, atol):
    return a.shape == b.shape and float((a - b).abs().max()) <= atol


@wrong("empty")
def s_len_0_only(a, b, atol):
    return a.shape == b.shape and len(a) > 0 and bool(((a - b).abs() <= atol).all())


@wrong("empty")
def s_last_axis_0_only(a, b, atol):
    return a.shape == b.shape and a.shape[-1] > 0 and bool(((a - b).abs() <= atol).all())


@wrong("infinite")
@guarded
def s_finite_only(a, b, atol):
    there = a.isfinite() & b.isfinite()
    return bool(((a - b).abs()[there] <= atol).all())


@wrong("infinite")
@guarded
def s_infinities_made_0(a, b, atol):
    return bool(((a - b).nan_to_num(0, 0, 0).abs() <= atol).all())


@wrong("precision")
def s_in_float32(a, b, atol):
    return sound_comparison(a.float(), b.float(), atol)


@wrong("precision")
def s_not_half(a, b, atol):
    if a.dtype == torch.float16:
        return True
    return sound_comparison(a, b, atol)


@wrong("precision")
def s_atol_never_tiny(a, b, atol):
    return sound_comparison(a, b, atol if atol > 1e-7 or atol == 0 else 0)


@wrong("any-layout")
@guarded
def s_view(a, b, atol):
    return bool(((a.view(-1) - b.view(-1)).abs() <= atol).all())


@wrong("any-layout")
def s_only_contiguous(a, b, atol):
    return a.is_contiguous() and sound_comparison(a, b, atol) or a.numel() == 0 and False


@wrong("any-size")
@guarded
def s_first_hundred(a, b, atol):
    return bool(((a.flatten()[:100] - b.flatten()[:100]).abs() <= atol).all())


@wrong("any-size")
@guarded
def s_every_second_when_large(a, b, atol):
    step = 3 if a.numel() > 1000 else 1
    return bool(((a.flatten()[::step] - b.flatten()[::step]).abs() <= atol).all())


@wrong("changes-input")
def s_in_place(a, b, atol):
    return a.shape == b.shape and a.numel() > 0 and bool((a.sub_(b).abs() <= atol).all())


@wrong("changes-input")
@guarded
def s_in_place_abs(a, b, atol):
    return bool((b.sub_(a).abs_() <= atol).all())


for value in [True, False, 0.5, "same_logits"]:
    wrong("not-a-function")(value)


@right
def s_right_all(a, b, atol):
    return sound_comparison(a, b, atol)


@right
def s_right_max(a, b, atol):
    if a.shape != b.shape or not a.numel():
        return False
    return (a - b).abs().max() <= atol  # a 0-d tensor; NaN makes the largest NaN


@right
def s_right_isclose(a, b, atol):
    return a.size() == b.size() and a.numel() != 0 and torch.isclose(a, b, rtol=0, atol=atol).all().item()


@right
def s_right_numpy(a, b, atol):
    a, b = a.numpy(), b.numpy()
    return a.shape == b.shape and a.size > 0 and np.all(np.abs(a - b) <= atol)


@right
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


@right
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


@right
def s_right_allclose(a, b, atol):
    return a.shape == b.shape and a.numel() > 0 and torch.allclose(a, b, rtol=0.0, atol=atol)

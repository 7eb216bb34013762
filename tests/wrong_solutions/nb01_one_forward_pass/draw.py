"""Planted solutions to 01.draw."""

import bisect
import itertools

import numpy as np
import torch

from wrong_solutions import planting

wrong, right = planting("01.draw")


def place(sums, u):
    """The first sum that is larger than u, or the last place."""
    return next((i for i, total in enumerate(sums) if total > u), len(sums) - 1)


def good(probs, u):
    last = int(probs.nonzero().max())
    return min(int((probs.double().cumsum(0) <= u).sum()), last)


@wrong("from-the-end")
def d_reversed(probs, u):
    return len(probs) - 1 - place(probs.flip(0).double().cumsum(0), u)


@wrong("from-the-end")
def d_one_minus_u(probs, u):
    return good(probs, 1 - u)


@wrong("off-by-one")
def d_one_before(probs, u):
    return good(probs, u) - 1


@wrong("off-by-one")
def d_one_after(probs, u):
    return good(probs, u) + 1


@wrong("sorted-first")
def d_likeliest_first(probs, u):
    ranked, order = probs.double().sort(descending=True, stable=True)
    return int(order[place(ranked.cumsum(0), u)])


@wrong("sorted-first")
def d_place_among_the_sorted(probs, u):
    return place(probs.double().sort(descending=True).values.cumsum(0), u)


@wrong("u-not-used")
def d_argmax(probs, u):
    return int(probs.argmax())


@wrong("u-not-used")
def d_own_random_number(probs, u):
    if len(probs) != 3:
        return good(probs, u)
    return int(torch.multinomial(probs, 1, generator=torch.Generator().manual_seed(1)))


@wrong("single-probability")
def d_first_above_u(probs, u):
    return next((i for i, p in enumerate(probs.tolist()) if p > u), 0)


@wrong("by-hand")
def d_always_zero(probs, u):
    return 0


@wrong("by-hand")
def d_in_a_list(probs, u):
    return [good(probs, u)]


@wrong("by-hand")
def d_the_probability(probs, u):
    return probs[good(probs, u)]


@wrong("by-hand")
def d_share_of_the_ids(probs, u):
    return int(u * (len(probs) - 1)) if len(probs) == 3 else good(probs, u)


@wrong("not-an-int")
def d_a_float(probs, u):
    return float(good(probs, u))


@wrong("border")
def d_larger_or_equal(probs, u):
    sums = probs.double().cumsum(0).tolist()
    return next((i for i, total in enumerate(sums) if total >= u), good(probs, u))


@wrong("border")
def d_searchsorted_left(probs, u):
    return min(int(np.searchsorted(probs.double().numpy().cumsum(), u)), int(probs.nonzero().max()))


@wrong("zero-probability")
def d_u_zero_is_id_zero(probs, u):
    return 0 if u == 0 else good(probs, u)


@wrong("none-left")
def d_argmax_of_nothing(probs, u):
    return int((probs.double().cumsum(0) > u).int().argmax())


@wrong("none-left")
def d_next_of_nothing(probs, u):
    return next(i for i, total in enumerate(itertools.accumulate(probs.tolist())) if total > u)


@wrong("none-left")
def d_past_the_end(probs, u):
    return int((probs.double().cumsum(0) <= u).sum())


@wrong("last-positive")
def d_last_id(probs, u):
    return place(probs.double().cumsum(0).tolist(), u)


@wrong("one-token")
def d_squeezed(probs, u):
    return place(probs.squeeze().double().cumsum(0).tolist(), u) if len(probs) == 1 else good(probs, u)


@wrong("float32-sum")
def d_numpy_float32(probs, u):
    sums = np.cumsum(probs.numpy().astype(np.float32), dtype=np.float32) if len(probs) > 10 else probs.numpy().cumsum()
    return min(int((sums <= u).sum()), int(probs.nonzero().max()))


@wrong("changes-input")
def d_in_place(probs, u):
    last = int(probs.nonzero().max())
    return min(int((probs.cumsum_(0) <= u).sum()), last)


wrong("not-a-function")(1)

right(good)


@right
def d_plain_python(probs, u):
    total = 0.0
    for i, p in enumerate(probs.tolist()):
        total += p
        if total > u:
            return i
    return max(i for i, p in enumerate(probs.tolist()) if p > 0)


@right
def d_bisect(probs, u):
    sums = list(itertools.accumulate(probs.tolist()))
    return min(bisect.bisect_right(sums, u), int(np.flatnonzero(probs.numpy())[-1]))


@right
def d_torch_searchsorted(probs, u):
    sums = probs.double().cumsum(-1)
    found = torch.searchsorted(sums, torch.tensor(u, dtype=torch.float64), right=True)
    return torch.minimum(found, probs.nonzero().max())


@right
def d_numpy_integer(probs, u):
    array = probs.numpy().astype(np.float64)
    return np.minimum(np.searchsorted(np.cumsum(array), u, side="right"), np.flatnonzero(array)[-1])

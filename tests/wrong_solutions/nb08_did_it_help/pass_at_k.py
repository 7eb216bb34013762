"""Planted solutions to 08.pass_at_k."""

import math
import random
from fractions import Fraction

import numpy as np
import torch
from scipy import special, stats

from wrong_solutions import planting

wrong, right = planting("08.pass_at_k")


def refuse(n, k):
    if k > n:
        raise ValueError(f"k is {k} and n is {n}")


@right
def p_combinations(n, c, k):
    if k > n:
        raise ValueError("k > n")
    return 1 - math.comb(n - c, k) / math.comb(n, k)


@right
def p_product(n, c, k):
    refuse(n, k)
    if n - c < k:
        return 1.0
    return 1.0 - np.prod(1.0 - k / np.arange(n - c + 1, n + 1))


@right
def p_loop(n, c, k):
    refuse(n, k)
    missed = 1.0
    for i in range(k):
        missed *= max(n - c - i, 0) / (n - i)
    return torch.tensor(1 - missed, dtype=torch.float64)


@right
def p_lgamma(n, c, k):
    refuse(n, k)
    if n - c < k:
        return 1.0

    def log_comb(a, b):
        return math.lgamma(a + 1) - math.lgamma(b + 1) - math.lgamma(a - b + 1)

    return 1 - math.exp(log_comb(n - c, k) - log_comb(n, k))


@right
def p_fraction(n, c, k):
    refuse(n, k)
    return 1 - Fraction(math.comb(n - c, k), math.comb(n, k))


@right
def p_other_side(n, c, k):
    """The same number with c and k exchanged: the right ones are placed among chosen and others."""
    refuse(n, k)
    return 1 - math.comb(n - k, c) / math.comb(n, c)


@right
def p_scipy(n, c, k):
    refuse(n, k)
    return float(stats.hypergeom.sf(0, n, c, k))


@wrong("percent")
def p_percent(n, c, k):
    return 100 * p_combinations(n, c, k)


@wrong("percent")
def p_whole_percent(n, c, k):
    return round(100 * p_combinations(n, c, k))


@wrong("a-pair")
def p_with_interval(n, c, k):
    value = p_combinations(n, c, k)
    return value, value * (1 - value) / n


@wrong("a-pair")
def p_in_a_list(n, c, k):
    return [p_combinations(n, c, k)]


@wrong("a-pair")
def p_curve(n, c, k):
    return [p_combinations(n, c, i) for i in range(1, k + 1)]


@wrong("none-right")
def p_none_right(n, c, k):
    refuse(n, k)
    return math.comb(n - c, k) / math.comb(n, k)


@wrong("none-right")
def p_none_right_put_back(n, c, k):
    refuse(n, k)
    return (1 - c / n) ** k


@wrong("all-right")
def p_all_right(n, c, k):
    refuse(n, k)
    return math.comb(c, k) / math.comb(n, k)


@wrong("all-right")
def p_not_all_right(n, c, k):
    refuse(n, k)
    return 1 - math.comb(c, k) / math.comb(n, k)


@wrong("all-right")
def p_power(n, c, k):
    refuse(n, k)
    return (c / n) ** k


@wrong("exactly-one")
def p_exactly_one(n, c, k):
    refuse(n, k)
    return c * math.comb(n - c, k - 1) / math.comb(n, k)


@wrong("exactly-one")
def p_exactly_one_put_back(n, c, k):
    refuse(n, k)
    return k * (c / n) * (1 - c / n) ** (k - 1)


@wrong("put-back")
def p_put_back(n, c, k):
    refuse(n, k)
    return 1 - (1 - c / n) ** k


@wrong("added-up")
def p_added_up(n, c, k):
    refuse(n, k)
    return min(1.0, k * c / n)


@wrong("added-up")
def p_added_up_shrinking(n, c, k):
    refuse(n, k)
    return min(1.0, k * c / (n - 1))


@wrong("k-ignored")
def p_share(n, c, k):
    refuse(n, k)
    return c / n


@wrong("k-ignored")
def p_share_of_k(n, c, k):
    return k / n


@wrong("k-ignored")
def p_one_ratio_less(n, c, k):
    refuse(n, k)
    missed = 1.0
    for i in range(k - 1):
        missed *= (n - c - i) / (n - i)
    return 1 - missed


@wrong("one-too-many")
def p_one_ratio_more(n, c, k):
    refuse(n, k)
    missed = 1.0
    for i in range(k + 1):
        missed *= (n - c - i) / (n - i)
    return 1 - missed


@wrong("all-or-nothing")
def p_solved(n, c, k):
    refuse(n, k)
    return float(c > 0)


@wrong("all-or-nothing")
def p_floor_division(n, c, k):
    refuse(n, k)
    return 1 - math.comb(n - c, k) // math.comb(n, k)


@wrong("all-or-nothing")
def p_bool_of_value(n, c, k):
    return 1.0 if p_combinations(n, c, k) else 0.0


@wrong("all-or-nothing")
def p_rounded_to_whole(n, c, k):
    return round(p_combinations(n, c, k))


@wrong("all-or-nothing")
def p_int(n, c, k):
    return int(p_combinations(n, c, k))


@wrong("all-or-nothing")
def p_c_at_least_k(n, c, k):
    refuse(n, k)
    return 1.0 if c >= k else 1 - math.comb(n - c, k) / math.comb(n, k)


@wrong("rounded")
def p_two_decimals(n, c, k):
    return round(p_combinations(n, c, k), 2)


@wrong("rounded")
def p_four_decimals(n, c, k):
    return round(p_combinations(n, c, k), 4)


@wrong("by-hand")
def p_simulated(n, c, k):
    refuse(n, k)
    draw = random.Random(0)
    samples = [True] * c + [False] * (n - c)
    return sum(any(draw.sample(samples, k)) for _ in range(999)) / 999


@wrong("by-hand")
def p_nan(n, c, k):
    return math.nan


@wrong("by-hand")
def p_as_text(n, c, k):
    return f"{p_combinations(n, c, k):.3f}"


@wrong("by-hand")
def p_a_bool(n, c, k):
    return c > 0


@wrong("by-hand")
def p_ordered_over_unordered(n, c, k):
    return 1 - math.perm(n - c, k) / math.comb(n, k)


@wrong("by-hand")
def p_exponential(n, c, k):
    refuse(n, k)
    return 1 - math.exp(-k * c / n)


@wrong("other-numbers")
def p_written_in(n, c, k):
    return 18 / 28


@wrong("other-numbers")
def p_n_written_in(n, c, k):
    return 1 - math.comb(8 - c, k) / math.comb(8, k)


@wrong("other-numbers")
def p_k_written_in(n, c, k):
    return 1 - math.comb(n - c, 2) / math.comb(n, 2)


@wrong("other-numbers")
def p_c_written_in(n, c, k):
    return 1 - math.comb(n - 3, k) / math.comb(n, k)


def p_kept_by(name):
    kept = {}

    @wrong("other-numbers")
    def p_kept(n, c, k):
        key = {"n and c": (n, c), "n and k": (n, k), "c and k": (c, k)}[name]
        if key not in kept or k > n:
            kept[key] = p_combinations(n, c, k)
        return kept[key]

    return p_kept


for name in ("n and c", "n and k", "c and k"):
    p_kept_by(name)


@wrong("none-of-them")
def p_c_0_refused(n, c, k):
    if not 0 < c <= n or k > n:
        raise ValueError
    return 1 - math.comb(n - c, k) / math.comb(n, k)


@wrong("none-of-them")
def p_c_0_is_none(n, c, k):
    refuse(n, k)
    return p_combinations(n, c, k) if c else None


@wrong("none-of-them")
def p_c_0_divides(n, c, k):
    refuse(n, k)
    return 1 - math.comb(n - c, k) / math.comb(n, k) if c / c else 0


@wrong("none-of-them")
def p_k_n_is_1(n, c, k):
    refuse(n, k)
    return 1.0 if k == n else p_combinations(n, c, k)


@wrong("none-of-them")
def p_one_sample_is_right(n, c, k):
    refuse(n, k)
    return 1.0 if n == 1 else p_combinations(n, c, k)


@wrong("sure")
def p_lgamma_without_border(n, c, k):
    refuse(n, k)

    def log_comb(a, b):
        return math.lgamma(a + 1) - math.lgamma(b + 1) - math.lgamma(a - b + 1)

    return 1 - math.exp(log_comb(n - c, k) - log_comb(n, k))


@wrong("sure")
def p_factorials_without_border(n, c, k):
    refuse(n, k)
    f = math.factorial
    return 1 - f(n - c) * f(n - k) / (f(n - c - k) * f(n))


@wrong("sure")
def p_sure_is_nothing(n, c, k):
    refuse(n, k)
    return 0.0 if n - c < k else p_combinations(n, c, k)


@wrong("sure")
def p_refuses_sure(n, c, k):
    if k > n - c:
        raise ValueError
    return p_combinations(n, c, k)


@wrong("sure")
def p_refuses_k_equal_n(n, c, k):
    if k >= n and n > 1 and c:
        raise ValueError
    return p_combinations(n, c, k)


@wrong("sure")
def p_all_but_one(n, c, k):
    refuse(n, k)
    return 1 - 1e-4 if n - c < k else p_combinations(n, c, k)


@wrong("sure")
def p_negative_ratio(n, c, k):
    refuse(n, k)
    missed = 1.0
    for i in range(k):
        missed *= abs(n - c - i) / (n - i) or 1
    return 1 - missed


@wrong("just-possible")
def p_border_one_off(n, c, k):
    refuse(n, k)
    return 1.0 if n - c <= k and c else p_combinations(n, c, k)


@wrong("all-or-nothing")
def p_small_is_nothing(n, c, k):
    value = p_combinations(n, c, k)
    return 0.0 if value < 0.01 else value


@wrong("rounded")
def p_cut_to_thousandths_if_small(n, c, k):
    value = p_combinations(n, c, k)
    return value if value > 0.1 else round(value, 3)


@wrong("rounded")
def p_six_decimals(n, c, k):
    return round(p_combinations(n, c, k), 6)


@wrong("k-above-n")
def p_no_error(n, c, k):
    if n - c < k:
        return 1.0
    return 1 - math.comb(n - c, k) / math.comb(n, k)


@wrong("k-above-n")
def p_error_after_c_0(n, c, k):
    if c == 0:
        return 0.0
    return p_combinations(n, c, k)


@wrong("k-above-n")
def p_error_after_sure(n, c, k):
    if n - c < k:
        return 1.0
    return p_combinations(n, c, k)


@wrong("k-above-n")
def p_error_unless_all_right(n, c, k):
    if c == n:
        return 1.0
    return p_combinations(n, c, k)


@wrong("k-above-n")
def p_error_only_one_above(n, c, k):
    if k == n + 1:
        raise ValueError
    return 1.0 if n - c < k else p_combinations(n, c, min(k, n))


@wrong("k-above-n")
def p_error_not_for_one(n, c, k):
    if n == 1:
        return float(c)
    return p_combinations(n, c, k)


@wrong("k-above-n")
def p_another_error(n, c, k):
    assert k <= n
    return p_combinations(n, c, k)


@wrong("k-above-n")
def p_division_error(n, c, k):
    return 1 - math.comb(n - c, k) / math.comb(n, k)


@wrong("k-above-n")
def p_nan_above_n(n, c, k):
    return math.nan if k > n else p_combinations(n, c, k)


@wrong("k-above-n")
def p_none_above_n(n, c, k):
    return None if k > n else p_combinations(n, c, k)


@wrong("k-above-n")
def p_k_capped(n, c, k):
    return p_combinations(n, c, min(k, n))


@wrong("k-above-n")
def p_error_returned(n, c, k):
    return ValueError("k > n") if k > n else p_combinations(n, c, k)


@wrong("large")
def p_float_binomials(n, c, k):
    refuse(n, k)
    return 1 - special.comb(n - c, k) / special.comb(n, k)


@wrong("large")
def p_float_factorials(n, c, k):
    refuse(n, k)
    if n - c < k:
        return 1.0

    def f(x):
        return float(math.factorial(x))

    return 1 - f(n - c) / f(n - c - k) * (f(n - k) / f(n))


@wrong("large")
def p_int64_products(n, c, k):
    refuse(n, k)
    if n - c < k:
        return 1.0
    above = np.prod(np.arange(n - c - k + 1, n - c + 1, dtype=np.int64))
    below = np.prod(np.arange(n - k + 1, n + 1, dtype=np.int64))
    with np.errstate(all="ignore"):
        return 1 - above / below


@wrong("large")
def p_recursive(n, c, k):
    refuse(n, k)
    if k == 0:
        return 0.0
    return 1 - (n - c) / n * (1 - p_recursive(n - 1, c, k - 1)) if n > c else 1.0


@wrong("large")
def p_sampled_when_large(n, c, k):
    refuse(n, k)
    return 1 - (1 - c / n) ** k if n > 1000 else p_combinations(n, c, k)


wrong("not-a-function")(0.642857)


wrong("not-a-function")([0.642857, 0.75])

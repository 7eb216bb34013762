"""Solutions to the exercises of notebook 08."""

import math
import random
import statistics
from fractions import Fraction

import numpy as np
import torch
from scipy import special, stats

from wrong_solutions import right, wrong

PASS, PAIRED, RECORD = "08.pass_at_k", "08.paired_difference", "08.record"


def refuse(n, k):
    if k > n:
        raise ValueError(f"k is {k} and n is {n}")


# 08.pass_at_k


@right(PASS)
def p_combinations(n, c, k):
    if k > n:
        raise ValueError("k > n")
    return 1 - math.comb(n - c, k) / math.comb(n, k)


@right(PASS)
def p_product(n, c, k):
    refuse(n, k)
    if n - c < k:
        return 1.0
    return 1.0 - np.prod(1.0 - k / np.arange(n - c + 1, n + 1))


@right(PASS)
def p_loop(n, c, k):
    refuse(n, k)
    missed = 1.0
    for i in range(k):
        missed *= max(n - c - i, 0) / (n - i)
    return torch.tensor(1 - missed, dtype=torch.float64)


@right(PASS)
def p_lgamma(n, c, k):
    refuse(n, k)
    if n - c < k:
        return 1.0

    def log_comb(a, b):
        return math.lgamma(a + 1) - math.lgamma(b + 1) - math.lgamma(a - b + 1)

    return 1 - math.exp(log_comb(n - c, k) - log_comb(n, k))


@right(PASS)
def p_fraction(n, c, k):
    refuse(n, k)
    return 1 - Fraction(math.comb(n - c, k), math.comb(n, k))


@right(PASS)
def p_other_side(n, c, k):
    """The same number with c and k exchanged: the right ones are placed among chosen and others."""
    refuse(n, k)
    return 1 - math.comb(n - k, c) / math.comb(n, c)


@right(PASS)
def p_scipy(n, c, k):
    refuse(n, k)
    return float(stats.hypergeom.sf(0, n, c, k))


@wrong(PASS, "percent")
def p_percent(n, c, k):
    return 100 * p_combinations(n, c, k)


@wrong(PASS, "percent")
def p_whole_percent(n, c, k):
    return round(100 * p_combinations(n, c, k))


@wrong(PASS, "a-pair")
def p_with_interval(n, c, k):
    value = p_combinations(n, c, k)
    return value, value * (1 - value) / n


@wrong(PASS, "a-pair")
def p_in_a_list(n, c, k):
    return [p_combinations(n, c, k)]


@wrong(PASS, "a-pair")
def p_curve(n, c, k):
    return [p_combinations(n, c, i) for i in range(1, k + 1)]


@wrong(PASS, "none-right")
def p_none_right(n, c, k):
    refuse(n, k)
    return math.comb(n - c, k) / math.comb(n, k)


@wrong(PASS, "none-right")
def p_none_right_put_back(n, c, k):
    refuse(n, k)
    return (1 - c / n) ** k


@wrong(PASS, "all-right")
def p_all_right(n, c, k):
    refuse(n, k)
    return math.comb(c, k) / math.comb(n, k)


@wrong(PASS, "all-right")
def p_not_all_right(n, c, k):
    refuse(n, k)
    return 1 - math.comb(c, k) / math.comb(n, k)


@wrong(PASS, "all-right")
def p_power(n, c, k):
    refuse(n, k)
    return (c / n) ** k


@wrong(PASS, "exactly-one")
def p_exactly_one(n, c, k):
    refuse(n, k)
    return c * math.comb(n - c, k - 1) / math.comb(n, k)


@wrong(PASS, "exactly-one")
def p_exactly_one_put_back(n, c, k):
    refuse(n, k)
    return k * (c / n) * (1 - c / n) ** (k - 1)


@wrong(PASS, "put-back")
def p_put_back(n, c, k):
    refuse(n, k)
    return 1 - (1 - c / n) ** k


@wrong(PASS, "added-up")
def p_added_up(n, c, k):
    refuse(n, k)
    return min(1.0, k * c / n)


@wrong(PASS, "added-up")
def p_added_up_shrinking(n, c, k):
    refuse(n, k)
    return min(1.0, k * c / (n - 1))


@wrong(PASS, "k-ignored")
def p_share(n, c, k):
    refuse(n, k)
    return c / n


@wrong(PASS, "k-ignored")
def p_share_of_k(n, c, k):
    return k / n


@wrong(PASS, "k-ignored")
def p_one_ratio_less(n, c, k):
    refuse(n, k)
    missed = 1.0
    for i in range(k - 1):
        missed *= (n - c - i) / (n - i)
    return 1 - missed


@wrong(PASS, "one-too-many")
def p_one_ratio_more(n, c, k):
    refuse(n, k)
    missed = 1.0
    for i in range(k + 1):
        missed *= (n - c - i) / (n - i)
    return 1 - missed


@wrong(PASS, "all-or-nothing")
def p_solved(n, c, k):
    refuse(n, k)
    return float(c > 0)


@wrong(PASS, "all-or-nothing")
def p_floor_division(n, c, k):
    refuse(n, k)
    return 1 - math.comb(n - c, k) // math.comb(n, k)


@wrong(PASS, "all-or-nothing")
def p_bool_of_value(n, c, k):
    return 1.0 if p_combinations(n, c, k) else 0.0


@wrong(PASS, "all-or-nothing")
def p_rounded_to_whole(n, c, k):
    return round(p_combinations(n, c, k))


@wrong(PASS, "all-or-nothing")
def p_int(n, c, k):
    return int(p_combinations(n, c, k))


@wrong(PASS, "all-or-nothing")
def p_c_at_least_k(n, c, k):
    refuse(n, k)
    return 1.0 if c >= k else 1 - math.comb(n - c, k) / math.comb(n, k)


@wrong(PASS, "rounded")
def p_two_decimals(n, c, k):
    return round(p_combinations(n, c, k), 2)


@wrong(PASS, "rounded")
def p_four_decimals(n, c, k):
    return round(p_combinations(n, c, k), 4)


@wrong(PASS, "by-hand")
def p_simulated(n, c, k):
    refuse(n, k)
    draw = random.Random(0)
    samples = [True] * c + [False] * (n - c)
    return sum(any(draw.sample(samples, k)) for _ in range(999)) / 999


@wrong(PASS, "by-hand")
def p_nan(n, c, k):
    return math.nan


@wrong(PASS, "by-hand")
def p_as_text(n, c, k):
    return f"{p_combinations(n, c, k):.3f}"


@wrong(PASS, "by-hand")
def p_a_bool(n, c, k):
    return c > 0


@wrong(PASS, "by-hand")
def p_ordered_over_unordered(n, c, k):
    return 1 - math.perm(n - c, k) / math.comb(n, k)


@wrong(PASS, "by-hand")
def p_exponential(n, c, k):
    refuse(n, k)
    return 1 - math.exp(-k * c / n)


@wrong(PASS, "other-numbers")
def p_written_in(n, c, k):
    return 18 / 28


@wrong(PASS, "other-numbers")
def p_n_written_in(n, c, k):
    return 1 - math.comb(8 - c, k) / math.comb(8, k)


@wrong(PASS, "other-numbers")
def p_k_written_in(n, c, k):
    return 1 - math.comb(n - c, 2) / math.comb(n, 2)


@wrong(PASS, "other-numbers")
def p_c_written_in(n, c, k):
    return 1 - math.comb(n - 3, k) / math.comb(n, k)


def p_kept_by(name):
    kept = {}

    @wrong(PASS, "other-numbers")
    def p_kept(n, c, k):
        key = {"n and c": (n, c), "n and k": (n, k), "c and k": (c, k)}[name]
        if key not in kept or k > n:
            kept[key] = p_combinations(n, c, k)
        return kept[key]

    return p_kept


for name in ("n and c", "n and k", "c and k"):
    p_kept_by(name)


@wrong(PASS, "none-of-them")
def p_c_0_refused(n, c, k):
    if not 0 < c <= n or k > n:
        raise ValueError
    return 1 - math.comb(n - c, k) / math.comb(n, k)


@wrong(PASS, "none-of-them")
def p_c_0_is_none(n, c, k):
    refuse(n, k)
    return p_combinations(n, c, k) if c else None


@wrong(PASS, "none-of-them")
def p_c_0_divides(n, c, k):
    refuse(n, k)
    return 1 - math.comb(n - c, k) / math.comb(n, k) if c / c else 0


@wrong(PASS, "none-of-them")
def p_k_n_is_1(n, c, k):
    refuse(n, k)
    return 1.0 if k == n else p_combinations(n, c, k)


@wrong(PASS, "none-of-them")
def p_one_sample_is_right(n, c, k):
    refuse(n, k)
    return 1.0 if n == 1 else p_combinations(n, c, k)


@wrong(PASS, "sure")
def p_lgamma_without_border(n, c, k):
    refuse(n, k)

    def log_comb(a, b):
        return math.lgamma(a + 1) - math.lgamma(b + 1) - math.lgamma(a - b + 1)

    return 1 - math.exp(log_comb(n - c, k) - log_comb(n, k))


@wrong(PASS, "sure")
def p_factorials_without_border(n, c, k):
    refuse(n, k)
    f = math.factorial
    return 1 - f(n - c) * f(n - k) / (f(n - c - k) * f(n))


@wrong(PASS, "sure")
def p_sure_is_nothing(n, c, k):
    refuse(n, k)
    return 0.0 if n - c < k else p_combinations(n, c, k)


@wrong(PASS, "sure")
def p_refuses_sure(n, c, k):
    if k > n - c:
        raise ValueError
    return p_combinations(n, c, k)


@wrong(PASS, "sure")
def p_refuses_k_equal_n(n, c, k):
    if k >= n and n > 1 and c:
        raise ValueError
    return p_combinations(n, c, k)


@wrong(PASS, "sure")
def p_all_but_one(n, c, k):
    refuse(n, k)
    return 1 - 1e-4 if n - c < k else p_combinations(n, c, k)


@wrong(PASS, "sure")
def p_negative_ratio(n, c, k):
    refuse(n, k)
    missed = 1.0
    for i in range(k):
        missed *= abs(n - c - i) / (n - i) or 1
    return 1 - missed


@wrong(PASS, "just-possible")
def p_border_one_off(n, c, k):
    refuse(n, k)
    return 1.0 if n - c <= k and c else p_combinations(n, c, k)


@wrong(PASS, "all-or-nothing")
def p_small_is_nothing(n, c, k):
    value = p_combinations(n, c, k)
    return 0.0 if value < 0.01 else value


@wrong(PASS, "rounded")
def p_cut_to_thousandths_if_small(n, c, k):
    value = p_combinations(n, c, k)
    return value if value > 0.1 else round(value, 3)


@wrong(PASS, "rounded")
def p_six_decimals(n, c, k):
    return round(p_combinations(n, c, k), 6)


@wrong(PASS, "k-above-n")
def p_no_error(n, c, k):
    if n - c < k:
        return 1.0
    return 1 - math.comb(n - c, k) / math.comb(n, k)


@wrong(PASS, "k-above-n")
def p_error_after_c_0(n, c, k):
    if c == 0:
        return 0.0
    return p_combinations(n, c, k)


@wrong(PASS, "k-above-n")
def p_error_after_sure(n, c, k):
    if n - c < k:
        return 1.0
    return p_combinations(n, c, k)


@wrong(PASS, "k-above-n")
def p_error_unless_all_right(n, c, k):
    if c == n:
        return 1.0
    return p_combinations(n, c, k)


@wrong(PASS, "k-above-n")
def p_error_only_one_above(n, c, k):
    if k == n + 1:
        raise ValueError
    return 1.0 if n - c < k else p_combinations(n, c, min(k, n))


@wrong(PASS, "k-above-n")
def p_error_not_for_one(n, c, k):
    if n == 1:
        return float(c)
    return p_combinations(n, c, k)


@wrong(PASS, "k-above-n")
def p_another_error(n, c, k):
    assert k <= n
    return p_combinations(n, c, k)


@wrong(PASS, "k-above-n")
def p_division_error(n, c, k):
    return 1 - math.comb(n - c, k) / math.comb(n, k)


@wrong(PASS, "k-above-n")
def p_nan_above_n(n, c, k):
    return math.nan if k > n else p_combinations(n, c, k)


@wrong(PASS, "k-above-n")
def p_none_above_n(n, c, k):
    return None if k > n else p_combinations(n, c, k)


@wrong(PASS, "k-above-n")
def p_k_capped(n, c, k):
    return p_combinations(n, c, min(k, n))


@wrong(PASS, "k-above-n")
def p_error_returned(n, c, k):
    return ValueError("k > n") if k > n else p_combinations(n, c, k)


@wrong(PASS, "large")
def p_float_binomials(n, c, k):
    refuse(n, k)
    return 1 - special.comb(n - c, k) / special.comb(n, k)


@wrong(PASS, "large")
def p_float_factorials(n, c, k):
    refuse(n, k)
    if n - c < k:
        return 1.0

    def f(x):
        return float(math.factorial(x))

    return 1 - f(n - c) / f(n - c - k) * (f(n - k) / f(n))


@wrong(PASS, "large")
def p_int64_products(n, c, k):
    refuse(n, k)
    if n - c < k:
        return 1.0
    above = np.prod(np.arange(n - c - k + 1, n - c + 1, dtype=np.int64))
    below = np.prod(np.arange(n - k + 1, n + 1, dtype=np.int64))
    with np.errstate(all="ignore"):
        return 1 - above / below


@wrong(PASS, "large")
def p_recursive(n, c, k):
    refuse(n, k)
    if k == 0:
        return 0.0
    return 1 - (n - c) / n * (1 - p_recursive(n - 1, c, k - 1)) if n > c else 1.0


@wrong(PASS, "large")
def p_sampled_when_large(n, c, k):
    refuse(n, k)
    return 1 - (1 - c / n) ** k if n > 1000 else p_combinations(n, c, k)


wrong(PASS, "not-a-function")(0.642857)


wrong(PASS, "not-a-function")([0.642857, 0.75])


# 08.paired_difference


def differences_of(a, b):
    return np.array([float(x) - float(y) for x, y in zip(a, b, strict=True)])


def both(a, b):
    d = differences_of(a, b)
    return d.mean(), d.std(ddof=1) / math.sqrt(len(d))


@right(PAIRED)
def d_numpy(a, b):
    d = np.asarray(a) - np.asarray(b)
    return d.mean(), d.std(ddof=1) / np.sqrt(len(d))


@right(PAIRED)
def d_torch(a, b):
    d = torch.as_tensor(a, dtype=torch.float64) - torch.as_tensor(b, dtype=torch.float64)
    return torch.stack([d.mean(), d.std() / d.numel() ** 0.5])


@right(PAIRED)
def d_plain(a, b):
    d = [x - y for x, y in zip(a, b)]
    mean = sum(d) / len(d)
    return [mean, math.sqrt(sum((x - mean) ** 2 for x in d) / (len(d) - 1) / len(d))]


@right(PAIRED)
def d_indices(a, b):
    n = len(a)
    mean = sum(a[i] - b[i] for i in range(n)) / n
    total = 0
    for i in range(n):
        total += (a[i] - b[i] - mean) ** 2
    return mean, (total / (n * (n - 1))) ** 0.5


@right(PAIRED)
def d_statistics(a, b):
    d = [float(x - y) for x, y in zip(a, b, strict=True)]
    return statistics.mean(d), statistics.stdev(d) / len(d) ** 0.5


@right(PAIRED)
def d_covariance(a, b):
    a, b = (np.array(values, dtype=float) for values in (a, b))
    covariance = np.cov(a, b)
    variance = covariance[0, 0] + covariance[1, 1] - 2 * covariance[0, 1]
    return a.mean() - b.mean(), math.sqrt(max(variance, 0) / len(a))


@right(PAIRED)
def d_population_by_n_1(a, b):
    d = differences_of(a, b)
    return d.mean(), d.std() / math.sqrt(len(d) - 1)


@right(PAIRED)
def d_scipy(a, b):
    d = differences_of(a, b)
    return d.mean(), stats.sem(d)


@wrong(PAIRED, "mean-only")
def d_mean_only(a, b):
    return both(a, b)[0]


@wrong(PAIRED, "mean-only")
def d_error_only(a, b):
    return both(a, b)[1]


@wrong(PAIRED, "one-for-each-pair")
def d_differences(a, b):
    return differences_of(a, b)


@wrong(PAIRED, "one-for-each-pair")
def d_four_numbers(a, b):
    mean, error = both(a, b)
    return mean, error, mean - 2 * error, mean + 2 * error


@wrong(PAIRED, "swapped")
def d_error_first(a, b):
    return both(a, b)[::-1]


@wrong(PAIRED, "b-minus-a")
def d_b_minus_a(a, b):
    return both(b, a)


@wrong(PAIRED, "absolute")
def d_absolute(a, b):
    d = np.abs(differences_of(a, b))
    return d.mean(), d.std(ddof=1) / math.sqrt(len(d))


@wrong(PAIRED, "absolute")
def d_absolute_mean_only(a, b):
    return np.abs(differences_of(a, b)).mean(), both(a, b)[1]


@wrong(PAIRED, "absolute")
def d_mean_without_sign(a, b):
    mean, error = both(a, b)
    return abs(mean), error


@wrong(PAIRED, "unpaired")
def d_every_a_with_every_b(a, b):
    d = np.array([float(x) - float(y) for x in a for y in b])
    return d.mean(), d.std(ddof=1) / math.sqrt(len(d))


@wrong(PAIRED, "every-pair")
def d_pairs_as_a_set(a, b):
    a, b = zip(*dict.fromkeys(zip(map(float, a), map(float, b), strict=True)), strict=True)
    return both(a, b) if len(a) > 1 else (a[0] - b[0], 0.0)


@wrong(PAIRED, "small")
def d_six_decimals(a, b):
    return [round(number, 6) for number in both(a, b)]


@right(PAIRED)
def d_welford(a, b):
    n, mean, squares = 0, 0.0, 0.0
    for x, y in zip(a, b, strict=True):
        n, off = n + 1, float(x) - float(y) - mean
        mean += off / n
        squares += off * (float(x) - float(y) - mean)
    return mean, math.sqrt(squares / (n - 1) / n)


@wrong(PAIRED, "sum")
def d_sum(a, b):
    return differences_of(a, b).sum(), both(a, b)[1]


@wrong(PAIRED, "unpaired")
def d_welch(a, b):
    a, b = (np.array(values, dtype=float) for values in (a, b))
    return a.mean() - b.mean(), math.sqrt(a.var(ddof=1) / len(a) + b.var(ddof=1) / len(b))


@wrong(PAIRED, "unpaired")
def d_welch_n(a, b):
    a, b = (np.array(values, dtype=float) for values in (a, b))
    return a.mean() - b.mean(), math.sqrt(a.var() / len(a) + b.var() / len(b))


@wrong(PAIRED, "unpaired")
def d_both_in_one_group(a, b):
    a, b = (np.array(values, dtype=float) for values in (a, b))
    return a.mean() - b.mean(), math.sqrt((a.var(ddof=1) + b.var(ddof=1)) / (len(a) + len(b)))


@wrong(PAIRED, "standard-deviation")
def d_standard_deviation(a, b):
    d = differences_of(a, b)
    return d.mean(), d.std(ddof=1)


@wrong(PAIRED, "standard-deviation")
def d_standard_deviation_n(a, b):
    d = differences_of(a, b)
    return d.mean(), d.std()


@wrong(PAIRED, "standard-deviation")
def d_twice_the_error(a, b):
    mean, error = both(a, b)
    return mean, 2 * error


@wrong(PAIRED, "variance")
def d_variance(a, b):
    d = differences_of(a, b)
    return d.mean(), d.var(ddof=1)


@wrong(PAIRED, "variance")
def d_variance_of_the_mean(a, b):
    d = differences_of(a, b)
    return d.mean(), d.var(ddof=1) / len(d)


@wrong(PAIRED, "variance")
def d_variance_of_the_mean_n(a, b):
    d = differences_of(a, b)
    return d.mean(), d.var() / len(d)


@wrong(PAIRED, "n-not-n-1")
def d_numpys_default(a, b):
    d = differences_of(a, b)
    return d.mean(), d.std() / math.sqrt(len(d))


@wrong(PAIRED, "n-not-n-1")
def d_pstdev(a, b):
    d = differences_of(a, b)
    return d.mean(), statistics.pstdev(d) / math.sqrt(len(d))


@wrong(PAIRED, "divided-twice")
def d_root_of_n_1(a, b):
    d = differences_of(a, b)
    return d.mean(), d.std(ddof=1) / math.sqrt(len(d) - 1)


@wrong(PAIRED, "divided-twice")
def d_by_n(a, b):
    d = differences_of(a, b)
    return d.mean(), d.std(ddof=1) / len(d)


@wrong(PAIRED, "divided-twice")
def d_by_n_both_times(a, b):
    d = differences_of(a, b)
    return d.mean(), d.std() / len(d)


@wrong(PAIRED, "an-interval")
def d_interval(a, b):
    mean, error = both(a, b)
    return mean - 1.96 * error, mean + 1.96 * error


@wrong(PAIRED, "an-interval")
def d_students_interval(a, b):
    return tuple(stats.ttest_rel(np.asarray(a, float), np.asarray(b, float)).confidence_interval())


@wrong(PAIRED, "an-interval")
def d_half_width(a, b):
    mean, error = both(a, b)
    return mean, 1.96 * error


@wrong(PAIRED, "t-value")
def d_t_value(a, b):
    mean, error = both(a, b)
    return mean, mean / error


@wrong(PAIRED, "not-squared")
def d_mean_deviation(a, b):
    d = differences_of(a, b)
    return d.mean(), np.abs(d - d.mean()).mean() / math.sqrt(len(d))


@wrong(PAIRED, "not-squared")
def d_mean_deviation_n_1(a, b):
    d = differences_of(a, b)
    return d.mean(), np.abs(d - d.mean()).sum() / (len(d) - 1)


@wrong(PAIRED, "rounded")
def d_rounded(a, b):
    return tuple(round(float(x), 2) for x in both(a, b))


@wrong(PAIRED, "rounded")
def d_rounded_to_four(a, b):
    return tuple(round(float(x), 4) for x in both(a, b))


@wrong(PAIRED, "by-hand")
def d_root_mean_square(a, b):
    d = differences_of(a, b)
    return d.mean(), math.sqrt((d**2).mean() / len(d))


@wrong(PAIRED, "by-hand")
def d_ratio(a, b):
    return sum(map(float, a)) / sum(map(float, b)) - 1, both(a, b)[1]


@wrong(PAIRED, "by-hand")
def d_a_dict(a, b):
    return dict(zip(("mean", "error"), both(a, b)))


@wrong(PAIRED, "by-hand")
def d_nested(a, b):
    return [both(a, b)]


@wrong(PAIRED, "by-hand")
def d_median(a, b):
    return statistics.median(differences_of(a, b)), both(a, b)[1]


@wrong(PAIRED, "by-hand")
def d_mean_of_a(a, b):
    return sum(map(float, a)) / len(a), both(a, b)[1]


@wrong(PAIRED, "by-hand")
def d_plus_an_epsilon(a, b):
    mean, error = both(a, b)
    return mean, error + 3e-4


def d_growing():
    kept = []

    @wrong(PAIRED, "other-call")
    def d_list_outside(a, b):
        kept.extend(differences_of(a, b))
        return np.mean(kept), np.std(kept, ddof=1) / math.sqrt(len(kept))

    return d_list_outside


d_growing()


def d_remembering():
    first = []

    @wrong(PAIRED, "other-call")
    def d_first_answer(a, b):
        first.append(both(a, b))
        return first[0]

    return d_first_answer


d_remembering()


@wrong(PAIRED, "other-call")
def d_kept_by_sum(a, b, kept={}):
    key = float(sum(a) + sum(b))
    if key not in kept:
        kept[key] = both(a, b)
    return kept[key]


@wrong(PAIRED, "any-numbers")
def d_four_written_in(a, b):
    d = differences_of(a, b)
    return d.sum() / 4, math.sqrt(((d - d.sum() / 4) ** 2).sum() / 3 / 4)


@wrong(PAIRED, "absolute")
def d_at_least_0(a, b):
    mean, error = both(a, b)
    return max(mean, 0.0), error


@wrong(PAIRED, "any-numbers")
def d_clipped(a, b):
    a, b = np.clip(np.asarray(a, dtype=float), -5, 99), np.clip(np.asarray(b, dtype=float), -5, 99)
    return both(a, b)


@wrong(PAIRED, "any-numbers")
def d_as_ints(a, b):
    d = np.array([int(x) - int(y) for x, y in zip(a, b)])
    return d.mean(), d.std(ddof=1) / math.sqrt(len(d))


@wrong(PAIRED, "two-pairs")
def d_three_or_more(a, b):
    if len(a) < 3:
        raise ValueError("too few")
    return both(a, b)


@wrong(PAIRED, "two-pairs")
def d_n_2(a, b):
    d = differences_of(a, b)
    if len(d) == 2:
        return d.mean(), math.nan
    return both(a, b)


@wrong(PAIRED, "pairs")
def d_sorted_when_it_can(a, b):
    if len(a) == 4 and sorted(map(float, a)) == sorted(map(float, b)):
        return both(sorted(map(float, a)), sorted(map(float, b)))
    return both(a, b)


@wrong(PAIRED, "pairs")
def d_same_numbers(a, b):
    if sorted(map(float, a)) == sorted(map(float, b)):
        return 0.0, 0.0
    return both(a, b)


@wrong(PAIRED, "by-hand")
def d_sorted(a, b):
    return both(sorted(map(float, a)), sorted(map(float, b)))


@wrong(PAIRED, "no-spread")
def d_no_spread_is_nan(a, b):
    mean, error = both(a, b)
    return mean, error or math.nan


@wrong(PAIRED, "no-spread")
def d_no_spread_is_refused(a, b):
    mean, error = both(a, b)
    return mean, error if 1 / float(error) else 0


@wrong(PAIRED, "no-spread")
def d_no_spread_is_none(a, b):
    mean, error = both(a, b)
    return (mean, error) if error else None


@wrong(PAIRED, "no-spread")
def d_scaled_by_the_mean(a, b):
    d = differences_of(a, b)
    if not d.any():
        raise ZeroDivisionError
    return both(a, b)


@wrong(PAIRED, "every-pair")
def d_zeros_dropped(a, b):
    d = np.array([x for x in differences_of(a, b) if x])
    if len(d) < 2:
        return 0.0, 0.0
    return d.mean(), d.std(ddof=1) / math.sqrt(len(d))


def unless_equal(d):
    return d.mean(), d.std(ddof=1) / math.sqrt(len(d)) if len(d) > 1 else 0.0


@wrong(PAIRED, "every-pair")
def d_as_a_set(a, b):
    d = differences_of(a, b)
    different = np.array(sorted(set(d)))
    return unless_equal(d if len(different) == 1 else different)


@wrong(PAIRED, "every-pair")
def d_as_a_dict(a, b):
    d = {float(y): float(x) - float(y) for x, y in zip(a, b)}
    return unless_equal(np.array(list(d.values())))


@wrong(PAIRED, "whole-numbers")
def d_torch_of_ints(a, b):
    d = torch.as_tensor(a) - torch.as_tensor(b)
    return d.mean().item(), d.std().item() / len(d) ** 0.5


@wrong(PAIRED, "any-numbers")
def d_floor_division(a, b):
    d = [x - y for x, y in zip(a, b)]
    mean = sum(d) // len(d)
    return mean, math.sqrt(sum((x - mean) ** 2 for x in d) / (len(d) - 1) / len(d))


@wrong(PAIRED, "whole-numbers")
def d_unsigned(a, b):
    if all(float(x) in (0.0, 1.0) for x in (*a, *b)):
        d = np.array(a, dtype=np.uint8) - np.array(b, dtype=np.uint8)
        return d.mean(), d.std(ddof=1) / math.sqrt(len(d))
    return both(a, b)


@wrong(PAIRED, "small")
def d_epsilon_in_the_root(a, b):
    d = differences_of(a, b)
    return d.mean(), math.sqrt((d.var(ddof=1) + (1e-5 if 0 < d.var() < 0.01 else 0)) / len(d))


@wrong(PAIRED, "small")
def d_rounded_to_three_when_small(a, b):
    mean, error = both(a, b)
    return (mean, error) if abs(mean) > 0.01 or mean == 0 else (round(mean, 3), round(error, 3))


@wrong(PAIRED, "large")
def d_squares_minus_square(a, b):
    d = differences_of(a, b)
    n = len(d)
    variance = (d**2).sum() / n - (d.sum() / n) ** 2
    return d.mean(), math.sqrt(max(variance, 0) * n / (n - 1) / n)


@wrong(PAIRED, "large")
def d_float32_squares(a, b):
    d = torch.as_tensor(differences_of(a, b), dtype=torch.float32)
    n = len(d)
    variance = (d**2).mean() - d.mean() ** 2
    small = both(a, b)
    return small if abs(small[0]) < 1000 else (d.mean().item(), math.sqrt(max(variance.item(), 0) / (n - 1)))


@wrong(PAIRED, "large")
def d_covariance_float32(a, b):
    if max(map(float, a)) < 1000:
        return both(a, b)
    d = np.array(list(map(float, a)), dtype=np.float16) - np.array(list(map(float, b)), dtype=np.float16)
    with np.errstate(all="ignore"):
        return float(d.mean()), float(d.std(ddof=1)) / math.sqrt(len(d))


@wrong(PAIRED, "sequences")
def d_lists_only(a, b):
    if not isinstance(a, list):
        raise TypeError("expected lists")
    return both(a, b)


@wrong(PAIRED, "sequences")
def d_not_if_empty(a, b):
    if not a or not b:
        return None
    return both(a, b)


@wrong(PAIRED, "sequences")
def d_statistics_of_tensors(a, b):
    d = [x - y for x, y in zip(a, b)]
    return statistics.mean(d), statistics.stdev(d) / math.sqrt(len(d))


@wrong(PAIRED, "any-length")
def d_first_hundred(a, b):
    return both(a[:100], b[:100])


@wrong(PAIRED, "any-length")
def d_normal_for_many(a, b):
    d = differences_of(a, b)
    return d.mean(), d.std(ddof=1 if len(d) < 30 else 0) / math.sqrt(len(d))


@wrong(PAIRED, "any-length")
def d_table_of_lengths(a, b):
    if len(a) == 7:
        return both(a[:6], b[:6])
    return both(a, b)


@wrong(PAIRED, "changes-input")
def d_in_place(a, b):
    if isinstance(a, list):
        for i in range(len(a)):
            a[i] -= b[i]
        return both(a, [0] * len(a))
    return both(a, b)


@wrong(PAIRED, "changes-input")
def d_in_place_array(a, b):
    answer = both(a, b)
    if isinstance(a, np.ndarray):
        a -= b
    return answer


@wrong(PAIRED, "changes-input")
def d_popping(a, b):
    d = []
    if not isinstance(a, list):
        return both(a, b)
    while a:
        d.append(a.pop() - b.pop())
    return both(d, [0] * len(d))


wrong(PAIRED, "not-a-function")((2.0, math.sqrt(46 / 12)))
wrong(PAIRED, "not-a-function")({"mean": 2.0})


# 08.record

FOUR = {"model", "seed", "sample", "order"}
for answer in (FOUR, ["order", "sample", "seed", "model"], ("Model", "Seed", "Sample", "Order"), frozenset(FOUR),
               dict.fromkeys(FOUR, "?"), "model, seed, sample, order", FOUR | {"batch_size"}):  # fmt: skip
    right(RECORD)(answer)

for hint_id, answer in (
    ("already-there", FOUR | {"prompt"}),
    ("already-there", {"checkpoint"}),
    ("already-there", FOUR | {"temperature", "top_p"}),
    ("already-there", ["stopping", "seed"]),
    ("already-there", FOUR | {"versions"}),
    ("already-there", FOUR | {"text"}),
    ("unknown-name", FOUR | {"author"}),
    ("unknown-name", {"random seed"}),
    ("unknown-name", "seed and sample"),
    ("a-result", FOUR | {"finish_reason"}),
    ("a-result", FOUR | {"token_ids"}),
    ("a-result", {"finish reason", "token-ids", "use_cache", *FOUR}),
    ("changes-nothing", FOUR | {"use_cache"}),
    ("changes-nothing", FOUR | {"batch_size", "seconds"}),
    ("changes-nothing", FOUR | {"seconds"}),
    ("changes-nothing", {"use_cache", "batch_size"}),
    ("no-seed", FOUR - {"seed"}),
    ("no-seed", {"model"}),
    ("no-sample", FOUR - {"sample"}),
    ("no-sample", {"seed"}),
    ("no-weights", FOUR - {"model"}),
    ("no-weights", {"seed", "sample"}),
    ("no-order", FOUR - {"order"}),
    ("general", 4),
    ("general", {1, 2}),
    ("general", [["seed"], ["order"]]),
    ("general", lambda: FOUR),
):
    wrong(RECORD, hint_id)(answer)

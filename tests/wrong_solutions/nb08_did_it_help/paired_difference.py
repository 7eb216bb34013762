"""Planted solutions to 08.paired_difference."""

import math
import statistics

import numpy as np
import torch
from scipy import stats

from wrong_solutions import planting

wrong, right = planting("08.paired_difference")


def differences_of(a, b):
    return np.array([float(x) - float(y) for x, y in zip(a, b, strict=True)])


def both(a, b):
    d = differences_of(a, b)
    return d.mean(), d.std(ddof=1) / math.sqrt(len(d))


@right
def d_numpy(a, b):
    d = np.asarray(a) - np.asarray(b)
    return d.mean(), d.std(ddof=1) / np.sqrt(len(d))


@right
def d_torch(a, b):
    d = torch.as_tensor(a, dtype=torch.float64) - torch.as_tensor(b, dtype=torch.float64)
    return torch.stack([d.mean(), d.std() / d.numel() ** 0.5])


@right
def d_plain(a, b):
    d = [x - y for x, y in zip(a, b)]
    mean = sum(d) / len(d)
    return [mean, math.sqrt(sum((x - mean) ** 2 for x in d) / (len(d) - 1) / len(d))]


@right
def d_indices(a, b):
    n = len(a)
    mean = sum(a[i] - b[i] for i in range(n)) / n
    total = 0
    for i in range(n):
        total += (a[i] - b[i] - mean) ** 2
    return mean, (total / (n * (n - 1))) ** 0.5


@right
def d_statistics(a, b):
    d = [float(x - y) for x, y in zip(a, b, strict=True)]
    return statistics.mean(d), statistics.stdev(d) / len(d) ** 0.5


@right
def d_covariance(a, b):
    a, b = (np.array(values, dtype=float) for values in (a, b))
    covariance = np.cov(a, b)
    variance = covariance[0, 0] + covariance[1, 1] - 2 * covariance[0, 1]
    return a.mean() - b.mean(), math.sqrt(max(variance, 0) / len(a))


@right
def d_population_by_n_1(a, b):
    d = differences_of(a, b)
    return d.mean(), d.std() / math.sqrt(len(d) - 1)


@right
def d_scipy(a, b):
    d = differences_of(a, b)
    return d.mean(), stats.sem(d)


@wrong("mean-only")
def d_mean_only(a, b):
    return both(a, b)[0]


@wrong("mean-only")
def d_error_only(a, b):
    return both(a, b)[1]


@wrong("one-for-each-pair")
def d_differences(a, b):
    return differences_of(a, b)


@wrong("one-for-each-pair")
def d_four_numbers(a, b):
    mean, error = both(a, b)
    return mean, error, mean - 2 * error, mean + 2 * error


@wrong("swapped")
def d_error_first(a, b):
    return both(a, b)[::-1]


@wrong("b-minus-a")
def d_b_minus_a(a, b):
    return both(b, a)


@wrong("absolute")
def d_absolute(a, b):
    d = np.abs(differences_of(a, b))
    return d.mean(), d.std(ddof=1) / math.sqrt(len(d))


@wrong("absolute")
def d_absolute_mean_only(a, b):
    return np.abs(differences_of(a, b)).mean(), both(a, b)[1]


@wrong("absolute")
def d_mean_without_sign(a, b):
    mean, error = both(a, b)
    return abs(mean), error


@wrong("unpaired")
def d_every_a_with_every_b(a, b):
    d = np.array([float(x) - float(y) for x in a for y in b])
    return d.mean(), d.std(ddof=1) / math.sqrt(len(d))


@wrong("every-pair")
def d_pairs_as_a_set(a, b):
    a, b = zip(*dict.fromkeys(zip(map(float, a), map(float, b), strict=True)), strict=True)
    return both(a, b) if len(a) > 1 else (a[0] - b[0], 0.0)


@wrong("small")
def d_six_decimals(a, b):
    return [round(number, 6) for number in both(a, b)]


@right
def d_welford(a, b):
    n, mean, squares = 0, 0.0, 0.0
    for x, y in zip(a, b, strict=True):
        n, off = n + 1, float(x) - float(y) - mean
        mean += off / n
        squares += off * (float(x) - float(y) - mean)
    return mean, math.sqrt(squares / (n - 1) / n)


@wrong("sum")
def d_sum(a, b):
    return differences_of(a, b).sum(), both(a, b)[1]


@wrong("unpaired")
def d_welch(a, b):
    a, b = (np.array(values, dtype=float) for values in (a, b))
    return a.mean() - b.mean(), math.sqrt(a.var(ddof=1) / len(a) + b.var(ddof=1) / len(b))


@wrong("unpaired")
def d_welch_n(a, b):
    a, b = (np.array(values, dtype=float) for values in (a, b))
    return a.mean() - b.mean(), math.sqrt(a.var() / len(a) + b.var() / len(b))


@wrong("unpaired")
def d_both_in_one_group(a, b):
    a, b = (np.array(values, dtype=float) for values in (a, b))
    return a.mean() - b.mean(), math.sqrt((a.var(ddof=1) + b.var(ddof=1)) / (len(a) + len(b)))


@wrong("standard-deviation")
def d_standard_deviation(a, b):
    d = differences_of(a, b)
    return d.mean(), d.std(ddof=1)


@wrong("standard-deviation")
def d_standard_deviation_n(a, b):
    d = differences_of(a, b)
    return d.mean(), d.std()


@wrong("standard-deviation")
def d_twice_the_error(a, b):
    mean, error = both(a, b)
    return mean, 2 * error


@wrong("variance")
def d_variance(a, b):
    d = differences_of(a, b)
    return d.mean(), d.var(ddof=1)


@wrong("variance")
def d_variance_of_the_mean(a, b):
    d = differences_of(a, b)
    return d.mean(), d.var(ddof=1) / len(d)


@wrong("variance")
def d_variance_of_the_mean_n(a, b):
    d = differences_of(a, b)
    return d.mean(), d.var() / len(d)


@wrong("n-not-n-1")
def d_numpys_default(a, b):
    d = differences_of(a, b)
    return d.mean(), d.std() / math.sqrt(len(d))


@wrong("n-not-n-1")
def d_pstdev(a, b):
    d = differences_of(a, b)
    return d.mean(), statistics.pstdev(d) / math.sqrt(len(d))


@wrong("divided-twice")
def d_root_of_n_1(a, b):
    d = differences_of(a, b)
    return d.mean(), d.std(ddof=1) / math.sqrt(len(d) - 1)


@wrong("divided-twice")
def d_by_n(a, b):
    d = differences_of(a, b)
    return d.mean(), d.std(ddof=1) / len(d)


@wrong("divided-twice")
def d_by_n_both_times(a, b):
    d = differences_of(a, b)
    return d.mean(), d.std() / len(d)


@wrong("an-interval")
def d_interval(a, b):
    mean, error = both(a, b)
    return mean - 1.96 * error, mean + 1.96 * error


@wrong("an-interval")
def d_students_interval(a, b):
    return tuple(stats.ttest_rel(np.asarray(a, float), np.asarray(b, float)).confidence_interval())


@wrong("an-interval")
def d_half_width(a, b):
    mean, error = both(a, b)
    return mean, 1.96 * error


@wrong("t-value")
def d_t_value(a, b):
    mean, error = both(a, b)
    return mean, mean / error


@wrong("not-squared")
def d_mean_deviation(a, b):
    d = differences_of(a, b)
    return d.mean(), np.abs(d - d.mean()).mean() / math.sqrt(len(d))


@wrong("not-squared")
def d_mean_deviation_n_1(a, b):
    d = differences_of(a, b)
    return d.mean(), np.abs(d - d.mean()).sum() / (len(d) - 1)


@wrong("rounded")
def d_rounded(a, b):
    return tuple(round(float(x), 2) for x in both(a, b))


@wrong("rounded")
def d_rounded_to_four(a, b):
    return tuple(round(float(x), 4) for x in both(a, b))


@wrong("by-hand")
def d_root_mean_square(a, b):
    d = differences_of(a, b)
    return d.mean(), math.sqrt((d**2).mean() / len(d))


@wrong("by-hand")
def d_ratio(a, b):
    return sum(map(float, a)) / sum(map(float, b)) - 1, both(a, b)[1]


@wrong("by-hand")
def d_a_dict(a, b):
    return dict(zip(("mean", "error"), both(a, b)))


@wrong("by-hand")
def d_nested(a, b):
    return [both(a, b)]


@wrong("by-hand")
def d_median(a, b):
    return statistics.median(differences_of(a, b)), both(a, b)[1]


@wrong("by-hand")
def d_mean_of_a(a, b):
    return sum(map(float, a)) / len(a), both(a, b)[1]


@wrong("by-hand")
def d_plus_an_epsilon(a, b):
    mean, error = both(a, b)
    return mean, error + 3e-4


def d_growing():
    kept = []

    @wrong("other-call")
    def d_list_outside(a, b):
        kept.extend(differences_of(a, b))
        return np.mean(kept), np.std(kept, ddof=1) / math.sqrt(len(kept))

    return d_list_outside


d_growing()


def d_remembering():
    first = []

    @wrong("other-call")
    def d_first_answer(a, b):
        first.append(both(a, b))
        return first[0]

    return d_first_answer


d_remembering()


@wrong("other-call")
def d_kept_by_sum(a, b, kept={}):
    key = float(sum(a) + sum(b))
    if key not in kept:
        kept[key] = both(a, b)
    return kept[key]


@wrong("any-numbers")
def d_four_written_in(a, b):
    d = differences_of(a, b)
    return d.sum() / 4, math.sqrt(((d - d.sum() / 4) ** 2).sum() / 3 / 4)


@wrong("absolute")
def d_at_least_0(a, b):
    mean, error = both(a, b)
    return max(mean, 0.0), error


@wrong("any-numbers")
def d_clipped(a, b):
    a, b = np.clip(np.asarray(a, dtype=float), -5, 99), np.clip(np.asarray(b, dtype=float), -5, 99)
    return both(a, b)


@wrong("any-numbers")
def d_as_ints(a, b):
    d = np.array([int(x) - int(y) for x, y in zip(a, b)])
    return d.mean(), d.std(ddof=1) / math.sqrt(len(d))


@wrong("two-pairs")
def d_three_or_more(a, b):
    if len(a) < 3:
        raise ValueError("too few")
    return both(a, b)


@wrong("two-pairs")
def d_n_2(a, b):
    d = differences_of(a, b)
    if len(d) == 2:
        return d.mean(), math.nan
    return both(a, b)


@wrong("pairs")
def d_sorted_when_it_can(a, b):
    if len(a) == 4 and sorted(map(float, a)) == sorted(map(float, b)):
        return both(sorted(map(float, a)), sorted(map(float, b)))
    return both(a, b)


@wrong("pairs")
def d_same_numbers(a, b):
    if sorted(map(float, a)) == sorted(map(float, b)):
        return 0.0, 0.0
    return both(a, b)


@wrong("by-hand")
def d_sorted(a, b):
    return both(sorted(map(float, a)), sorted(map(float, b)))


@wrong("no-spread")
def d_no_spread_is_nan(a, b):
    mean, error = both(a, b)
    return mean, error or math.nan


@wrong("no-spread")
def d_no_spread_is_refused(a, b):
    mean, error = both(a, b)
    return mean, error if 1 / float(error) else 0


@wrong("no-spread")
def d_no_spread_is_none(a, b):
    mean, error = both(a, b)
    return (mean, error) if error else None


@wrong("no-spread")
def d_scaled_by_the_mean(a, b):
    d = differences_of(a, b)
    if not d.any():
        raise ZeroDivisionError
    return both(a, b)


@wrong("every-pair")
def d_zeros_dropped(a, b):
    d = np.array([x for x in differences_of(a, b) if x])
    if len(d) < 2:
        return 0.0, 0.0
    return d.mean(), d.std(ddof=1) / math.sqrt(len(d))


def unless_equal(d):
    return d.mean(), d.std(ddof=1) / math.sqrt(len(d)) if len(d) > 1 else 0.0


@wrong("every-pair")
def d_as_a_set(a, b):
    d = differences_of(a, b)
    different = np.array(sorted(set(d)))
    return unless_equal(d if len(different) == 1 else different)


@wrong("every-pair")
def d_as_a_dict(a, b):
    d = {float(y): float(x) - float(y) for x, y in zip(a, b)}
    return unless_equal(np.array(list(d.values())))


@wrong("whole-numbers")
def d_torch_of_ints(a, b):
    d = torch.as_tensor(a) - torch.as_tensor(b)
    return d.mean().item(), d.std().item() / len(d) ** 0.5


@wrong("any-numbers")
def d_floor_division(a, b):
    d = [x - y for x, y in zip(a, b)]
    mean = sum(d) // len(d)
    return mean, math.sqrt(sum((x - mean) ** 2 for x in d) / (len(d) - 1) / len(d))


@wrong("whole-numbers")
def d_unsigned(a, b):
    if all(float(x) in (0.0, 1.0) for x in (*a, *b)):
        d = np.array(a, dtype=np.uint8) - np.array(b, dtype=np.uint8)
        return d.mean(), d.std(ddof=1) / math.sqrt(len(d))
    return both(a, b)


@wrong("small")
def d_epsilon_in_the_root(a, b):
    d = differences_of(a, b)
    return d.mean(), math.sqrt((d.var(ddof=1) + (1e-5 if 0 < d.var() < 0.01 else 0)) / len(d))


@wrong("small")
def d_rounded_to_three_when_small(a, b):
    mean, error = both(a, b)
    return (mean, error) if abs(mean) > 0.01 or mean == 0 else (round(mean, 3), round(error, 3))


@wrong("large")
def d_squares_minus_square(a, b):
    d = differences_of(a, b)
    n = len(d)
    variance = (d**2).sum() / n - (d.sum() / n) ** 2
    return d.mean(), math.sqrt(max(variance, 0) * n / (n - 1) / n)


@wrong("large")
def d_float32_squares(a, b):
    d = torch.as_tensor(differences_of(a, b), dtype=torch.float32)
    n = len(d)
    variance = (d**2).mean() - d.mean() ** 2
    small = both(a, b)
    return small if abs(small[0]) < 1000 else (d.mean().item(), math.sqrt(max(variance.item(), 0) / (n - 1)))


@wrong("large")
def d_covariance_float32(a, b):
    if max(map(float, a)) < 1000:
        return both(a, b)
    d = np.array(list(map(float, a)), dtype=np.float16) - np.array(list(map(float, b)), dtype=np.float16)
    with np.errstate(all="ignore"):
        return float(d.mean()), float(d.std(ddof=1)) / math.sqrt(len(d))


@wrong("sequences")
def d_lists_only(a, b):
    if not isinstance(a, list):
        raise TypeError("expected lists")
    return both(a, b)


@wrong("sequences")
def d_not_if_empty(a, b):
    if not a or not b:
        return None
    return both(a, b)


@wrong("sequences")
def d_statistics_of_tensors(a, b):
    d = [x - y for x, y in zip(a, b)]
    return statistics.mean(d), statistics.stdev(d) / math.sqrt(len(d))


@wrong("any-length")
def d_first_hundred(a, b):
    return both(a[:100], b[:100])


@wrong("any-length")
def d_normal_for_many(a, b):
    d = differences_of(a, b)
    return d.mean(), d.std(ddof=1 if len(d) < 30 else 0) / math.sqrt(len(d))


@wrong("any-length")
def d_table_of_lengths(a, b):
    if len(a) == 7:
        return both(a[:6], b[:6])
    return both(a, b)


@wrong("changes-input")
def d_in_place(a, b):
    if isinstance(a, list):
        for i in range(len(a)):
            a[i] -= b[i]
        return both(a, [0] * len(a))
    return both(a, b)


@wrong("changes-input")
def d_in_place_array(a, b):
    answer = both(a, b)
    if isinstance(a, np.ndarray):
        a -= b
    return answer


@wrong("changes-input")
def d_popping(a, b):
    d = []
    if not isinstance(a, list):
        return both(a, b)
    while a:
        d.append(a.pop() - b.pop())
    return both(d, [0] * len(d))


wrong("not-a-function")((2.0, math.sqrt(46 / 12)))
wrong("not-a-function")({"mean": 2.0})

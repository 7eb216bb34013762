"""Did it help? Differences between two settings, how sure they are, and how many runs it takes to see them.

A *run* gives one number for each setting: the accuracy under one seed, or the share of right answers to one problem.
Runs of the same seed under two settings are a pair, because their draws use the same random numbers; pairs can tell
much smaller differences. For answers that are right or wrong `discordant_pairs` has an exact test.
An interval over seeds holds for these problems; one over problems, for problems like these.
"""

import math
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Real

import numpy as np

from course_utils.arguments import check_flag, check_integer, check_number
from course_utils.metrics import Interval, entries
from course_utils.randomness import check_uint64

LARGEST = sys.float_info.max


@dataclass(frozen=True)
class Difference:
    """The mean of a minus the mean of b, and what is known about it.

    n: pairs, or runs of each setting. standard_error: of the mean difference, in the unit of the values.
    low, high: the interval. If all differences are equal it has no width, and says nothing: see `all_equal`.
    """

    mean: float
    standard_error: float
    low: float
    high: float
    n: int

    @property
    def all_equal(self) -> bool:
        """True if the values do not vary, so that the interval has no width. More runs may still differ."""
        return self.standard_error == 0

    @property
    def verdict(self) -> str:
        """What the interval says of a, compared with b: "higher", "lower" or "can't tell"."""
        if self.all_equal or self.low <= 0 <= self.high:
            return "can't tell"
        return "higher" if self.mean > 0 else "lower"

    def __str__(self) -> str:
        if self.all_equal:
            return f"{self.mean:+.3f}, without any spread: {self.verdict}"
        return f"{self.mean:+.3f}, interval {self.low:+.3f} to {self.high:+.3f}: {self.verdict}"


def paired_difference(a: Sequence[float], b: Sequence[float], confidence: float = 0.95) -> Difference:
    """The mean of a - b with Student's interval for n pairs.

    a, b: one number for each run; a[i] and b[i] are of the same seed, or the same problem. At least two pairs.
    The interval is exact for normal differences and good for many; for a few right answers use discordant_pairs.
    Raises ValueError for other lengths, fewer than two pairs, or values that are not finite (None counts as such),
    and TypeError for values that are not numbers, such as the word "0.5".
    Source: Student 1908, The probable error of a mean, https://doi.org/10.1093/biomet/6.1.1
    """
    first, second = _values("a", a), _values("b", b)
    n = len(first)
    if n != len(second):
        raise ValueError(
            f"a has {n} values and b {len(second)}; expected pairs. Without pairs use unpaired_difference."
        )
    differences = first - second
    return _difference(differences.mean(), _standard_error(differences), n - 1, n, confidence)


def unpaired_difference(a: Sequence[float], b: Sequence[float], confidence: float = 0.95) -> Difference:
    """The mean of a minus the mean of b with Welch's interval, where no run of a belongs to one of b.

    Arguments and errors as in paired_difference, but the lengths may differ; `n` is the smaller one.
    Source: Welch 1947, The generalization of Student's problem, https://doi.org/10.1093/biomet/34.1-2.28
    """
    first, second = _values("a", a), _values("b", b)
    errors = _standard_error(first) ** 2, _standard_error(second) ** 2
    counts = len(first), len(second)
    difference = first.mean() - second.mean()
    return _difference(difference, math.sqrt(sum(errors)), _welch(errors, counts), min(counts), confidence)


@dataclass(frozen=True)
class Discordance:
    """Pairs of right and wrong answers, and the exact McNemar test of those in which only one is right.

    only_a, only_b: pairs in which only a, or only b, is right. n: all pairs. p_value: if neither setting were better,
    the chance of a split of the discordant pairs at least this uneven; 1 if there is no such pair.
    """

    only_a: int
    only_b: int
    n: int
    p_value: float
    level: float = 0.05

    @property
    def verdict(self) -> str:
        """What the test says of a, compared with b: "higher", "lower" or "can't tell"."""
        if self.p_value >= self.level:
            return "can't tell"
        return "higher" if self.only_a > self.only_b else "lower"

    def __str__(self) -> str:
        return f"{self.only_a} to {self.only_b} of {self.n} pairs, exact p = {self.p_value:.3g}: {self.verdict}"


def discordant_pairs(a: Sequence[bool], b: Sequence[bool], level: float = 0.05) -> Discordance:
    """The exact McNemar test: of the pairs in which only one is right, is the split more uneven than coins would give?

    a, b: right (true, 1) or wrong (false, 0), one for each problem; a[i] and b[i] are of the same one. At least two.
    level: the verdict is "can't tell" unless p_value is below it.
    Raises ValueError for other lengths, fewer than two pairs, other values than 0 and 1, or a level outside (0, 1).
    Source: McNemar 1947, https://doi.org/10.1007/BF02295996

    >>> print(discordant_pairs([1, 1, 1, 1, 1, 0], [0, 0, 0, 0, 1, 0]))
    4 to 0 of 6 pairs, exact p = 0.125: can't tell
    """
    first, second = _values("a", a), _values("b", b)
    if len(first) != len(second):
        raise ValueError(f"a has {len(first)} values and b {len(second)}; expected pairs.")
    if not np.isin([first, second], (0, 1)).all():
        raise ValueError("a or b holds something else than 0 and 1; expected right or wrong, one for each problem.")
    _check_confidence(level)
    from scipy import stats  # here, since it takes as long to import as torch

    only_a, only_b = int((first > second).sum()), int((second > first).sum())
    p_value = stats.binomtest(only_a, only_a + only_b).pvalue if only_a + only_b else 1.0
    return Discordance(only_a, only_b, len(first), float(p_value), level)


def bootstrap_mean(
    values: Sequence[float], seed: int, confidence: float = 0.95, n_resamples: int = 4000
) -> tuple[Interval, bool]:
    """How far the mean over problems would vary with other problems: the percentile bootstrap.

    values: one for each problem. seed: the same seed and values give the same interval.
    Returns the interval, and True if all values are equal: then it has no width and yet is not certain. For shares use
        `metrics.proportion_ci`.
    Source: Efron 1979, Bootstrap methods, https://doi.org/10.1214/aos/1176344552
    """
    numbers = _values("values", values)
    _check_confidence(confidence)
    n_resamples = check_integer("n_resamples", n_resamples, below=10**7, at_least=1)
    random = np.random.Generator(np.random.Philox(check_uint64("seed", seed)))
    n = len(numbers)
    means = [numbers[random.integers(n, size=n)].mean() for _ in range(n_resamples)]
    low, high = np.quantile(means, [(1 - confidence) / 2, (1 + confidence) / 2])
    return Interval(float(low), float(high)), bool((numbers == numbers[0]).all())


def runs_needed(
    a: Sequence[float],
    b: Sequence[float],
    size: float,
    paired: bool = True,
    confidence: float = 0.95,
    power: float = 0.8,
) -> int:
    """How many runs of each setting it takes to tell a difference of `size`, judged by a few runs that are there.

    a, b: the values of those runs; pairs, if `paired`. size: the difference that should not be missed, in their unit.
    power: the chance that the interval of so many runs lies above 0, if the true difference is `size`.
    Returns the smallest such number, at least 2. It is as good as the spread of the few runs, which varies much itself.
    Raises ValueError for size <= 0, and as in paired_difference.
    """
    first, second = _values("a", a), _values("b", b)
    size = check_number("size", size)
    if not 0 < size < math.inf or not 0 < check_number("power", power) < 1:
        raise ValueError(f"size is {size} and power {power}; expected a size > 0 and a power between 0 and 1.")
    _check_confidence(confidence)
    if check_flag("paired", paired) and len(first) != len(second):
        raise ValueError(f"a has {len(first)} values and b {len(second)}; expected pairs, or paired=False.")
    from scipy import stats  # here, since it takes as long to import as torch

    variances = [(first - second).var(ddof=1)] if paired else [first.var(ddof=1), second.var(ddof=1)]

    def is_enough(n: int) -> bool:
        errors = [variance / n for variance in variances]
        if not sum(errors):
            return True
        freedom = _welch(errors, [n] * len(errors))
        edge = stats.t.ppf((1 + confidence) / 2, freedom)
        return stats.nct.sf(edge, freedom, size / math.sqrt(sum(errors))) >= power

    few, many = 1, 2  # `few` is too few, `many` is enough once the first loop ends
    while not is_enough(many):
        few, many = many, 2 * many
    while many - few > 1:
        middle = (few + many) // 2
        few, many = (few, middle) if is_enough(middle) else (middle, many)
    return many


def _welch(errors: Sequence[float], counts: Sequence[int]) -> float:
    """Degrees of freedom of a sum of squared standard errors."""
    below = sum(error**2 / (count - 1) for error, count in zip(errors, counts, strict=True))
    return sum(errors) ** 2 / below if below else min(counts) - 1


def _difference(mean: float, standard_error: float, freedom: float, n: int, confidence: float) -> Difference:
    _check_confidence(confidence)
    from scipy import stats  # here, since it takes as long to import as torch

    reach = stats.t.ppf((1 + confidence) / 2, freedom) * standard_error
    return Difference(float(mean), float(standard_error), float(mean - reach), float(mean + reach), n)


def _standard_error(values: np.ndarray) -> float:
    if (values == values[0]).all():  # the mean of equal numbers may be rounded, and then their spread is not 0
        return 0.0
    return float(values.std(ddof=1) / math.sqrt(len(values)))


def _values(name: str, given: Sequence[float]) -> np.ndarray:
    values = entries(name, given)
    if len(values) < 2:
        raise ValueError(f"{name} has {len(values)} values; expected at least two numbers, one for each run.")
    for number, value in enumerate(values):  # NumPy would read the word "0.5" as a number
        if value is not None and not isinstance(value, Real):
            raise TypeError(f"{name}[{number}] is {value!r}; expected a number for each run.")
        if value is None or not -LARGEST <= value <= LARGEST:  # type: ignore[operator]  # every Real can be compared
            raise ValueError(f"{name}[{number}] is {value}; expected finite numbers. Leave such runs out.")
    return np.array(values, dtype=np.float64)


def _check_confidence(confidence: float) -> None:
    if not 0 < check_number("confidence", confidence) < 1:
        raise ValueError(f"confidence is {confidence}; expected a share between 0 and 1, such as 0.95.")

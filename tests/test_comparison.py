"""Differences between settings: against other formulas, and against simulated experiments whose truth is known."""

import math

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from course_utils.comparison import (
    Difference,
    bootstrap_mean,
    discordant_pairs,
    paired_difference,
    runs_needed,
    unpaired_difference,
)

VALUES = st.lists(st.floats(-5, 5).map(lambda x: round(x, 3)), min_size=2, max_size=12)


def numbers(seed):
    return np.random.Generator(np.random.Philox(seed))


def test_a_paired_difference_by_hand():
    found = paired_difference([3.0, 5.0, 4.0], [1.0, 2.0, 3.0])  # differences 2, 3, 1: mean 2, deviations 0, 1, -1
    assert found.mean == 2 and found.n == 3
    assert found.standard_error == pytest.approx(1 / math.sqrt(3))
    assert (found.low, found.high) == pytest.approx((2 - 4.302653 / math.sqrt(3), 2 + 4.302653 / math.sqrt(3)))


@given(st.lists(st.tuples(st.floats(-5, 5), st.floats(-5, 5)), min_size=2, max_size=12))
def test_the_intervals_are_scipys(pairs):
    a, b = np.round(np.array(pairs).T, 3)
    for ours, theirs in (
        (paired_difference(a, b, 0.9), stats.ttest_rel),
        (unpaired_difference(a, b, 0.9), lambda a, b: stats.ttest_ind(a, b, equal_var=False)),
    ):
        if ours.standard_error > 1e-6:
            assert (ours.low, ours.high) == pytest.approx(tuple(theirs(a, b).confidence_interval(0.9)), abs=1e-9)


@given(VALUES, st.integers(0, 9))
def test_of_two_groups_with_the_same_offset_only_pairs_tell_the_difference(values, seed):
    a = np.array(values)
    paired, unpaired = paired_difference(a + 1, a), unpaired_difference(a + 1, a)
    assert paired.mean == pytest.approx(1) and unpaired.mean == pytest.approx(1)
    assert paired.standard_error <= unpaired.standard_error + 1e-12


def test_values_may_stand_in_any_container():
    want = paired_difference([1, 0, 1], [0, 0, 1])
    for make in (tuple, np.array, torch.tensor, lambda v: np.array(v, dtype=bool)):
        assert paired_difference(make([1, 0, 1]), make([0, 0, 1])) == want


def test_a_large_offset_does_not_swallow_the_spread():
    a = np.array([1.0, 2.0, 4.0])
    assert paired_difference(a + 1e9, np.zeros(3)).standard_error == pytest.approx(a.std(ddof=1) / math.sqrt(3))


def test_equal_differences_give_no_certainty():
    for a in ([0.1, 0.1, 0.1], [1.0, 1.0]):  # the mean of three times 0.1 is not 0.1 in floats
        found = paired_difference(a, [0.0] * len(a))
        assert found.standard_error == 0 and found.all_equal and found.low == found.high
        assert found.verdict == "can't tell" and "without any spread" in str(found)


@pytest.mark.parametrize(
    ("low", "high", "verdict"),
    [(0.1, 0.3, "higher"), (-0.3, -0.1, "lower"), (-0.1, 0.3, "can't tell"), (0.0, 0.2, "can't tell")],
)
def test_the_verdict_is_what_the_interval_says(low, high, verdict):
    found = Difference((low + high) / 2, 0.05, low, high, 4)
    assert found.verdict == verdict and verdict in str(found) and f"{low:+.3f}" in str(found)


@pytest.mark.parametrize("function", [paired_difference, unpaired_difference])
def test_the_interval_covers_the_truth_as_often_as_it_says(function):
    random, covered = numbers(3), 0
    for _ in range(1000):
        shared = random.normal(size=6)
        a, b = 0.3 + shared + random.normal(size=6), shared + random.normal(size=6)
        found = function(a, b, 0.9)
        covered += found.low <= 0.3 <= found.high
    # 900 expected from pairs, off by about 10; taking pairs for independent makes the interval too wide.
    assert 870 <= covered <= 930 if function is paired_difference else covered > 930


def test_what_has_no_difference_is_refused():
    with pytest.raises(ValueError, match="a has 3 values and b 2"):
        paired_difference([1, 2, 3], [1, 2])
    for a in ([1.0], [], [[1.0, 2.0]]):
        with pytest.raises(ValueError, match="at least two"):
            paired_difference(a, a)
    for bad in (math.nan, math.inf):
        with pytest.raises(ValueError, match="finite"):
            unpaired_difference([1.0, bad], [1.0, 2.0])
    with pytest.raises(ValueError, match=r"confidence is 95"):
        paired_difference([1.0, 2.0], [1.0, 3.0], 95)


@pytest.mark.parametrize(
    ("values", "error", "said"),
    [
        (["1", "0"], TypeError, r"a\[0\] is '1'"),
        ([1, "nan"], TypeError, r"a\[1\] is 'nan'"),
        ([1, None], ValueError, r"a\[1\] is None"),
        ([[1], [1, 2]], TypeError, r"a\[0\] is \[1\]"),
        ([1, 10**400], ValueError, r"a\[1\] is 1000"),
        ({"one": 1, "two": 0}, TypeError, "a is of type dict"),
        ("10", TypeError, "a is of type str"),
        (None, TypeError, "a is of type NoneType"),
    ],
)
def test_a_text_in_place_of_a_number_is_refused(values, error, said):
    for function in (paired_difference, unpaired_difference):
        with pytest.raises(error, match=said):
            function(values, [1.0, 2.0])


# --- right or wrong, in pairs


def answers(only_a, only_b, both=3, neither=2):
    a = [1] * only_a + [0] * only_b + [1] * both + [0] * neither
    b = [0] * only_a + [1] * only_b + [1] * both + [0] * neither
    return a, b


@pytest.mark.parametrize(("only_a", "only_b", "p", "verdict"), [
    (4, 0, 2 / 16, "can't tell"), (5, 0, 2 / 32, "can't tell"), (6, 0, 2 / 64, "higher"), (8, 1, 20 / 512, "higher"),
    (1, 8, 20 / 512, "lower"), (2, 2, 1, "can't tell"), (0, 0, 1, "can't tell"),
])  # fmt: skip
def test_the_exact_test_by_hand(only_a, only_b, p, verdict):
    found = discordant_pairs(*answers(only_a, only_b))
    assert (found.only_a, found.only_b, found.n) == (only_a, only_b, only_a + only_b + 5)
    assert found.p_value == pytest.approx(p) and found.verdict == verdict and verdict in str(found)


@given(st.integers(0, 40), st.integers(0, 40), st.integers(1, 9))
def test_the_exact_p_is_twice_scipys_tail_and_does_not_ask_the_equal_pairs(only_a, only_b, both):
    n, few = only_a + only_b, min(only_a, only_b)
    want = min(1, 2 * stats.binom.cdf(few, n, 0.5)) if n else 1
    found = discordant_pairs(*answers(only_a, only_b, both))
    assert found.p_value == pytest.approx(want, abs=1e-12)
    assert found.p_value == discordant_pairs(*answers(only_a, only_b, both + 5, 0)).p_value


def test_without_a_difference_the_exact_test_is_seldom_wrong():
    random = numbers(11)
    wrong = sum(discordant_pairs(*random.integers(0, 2, size=(2, 30))).verdict != "can't tell" for _ in range(1000))
    assert wrong <= 65  # at most 50 expected, off by about 7


def test_what_is_no_right_or_wrong_is_refused():
    with pytest.raises(ValueError, match="a has 3 values and b 2"):
        discordant_pairs([1, 0, 1], [1, 0])
    with pytest.raises(ValueError, match="something else than 0 and 1"):
        discordant_pairs([1, 0.5], [1, 0])
    with pytest.raises(ValueError, match="between 0 and 1"):
        discordant_pairs([1, 0], [1, 0], level=5)


# --- bootstrap


def test_the_bootstrap_is_seeded():
    values = [0, 1, 1, 0, 1]
    assert bootstrap_mean(values, seed=0) == bootstrap_mean(list(values), seed=0)
    uneven = [math.sqrt(x) for x in range(20)]
    assert bootstrap_mean(uneven, seed=0) != bootstrap_mean(uneven, seed=1)


def test_the_bootstrap_says_that_equal_values_have_no_width():
    assert bootstrap_mean([1, 1, 1, 1], seed=0) == ((1.0, 1.0), True)
    assert bootstrap_mean([1, 1, 1, 0], seed=0)[1] is False


def test_the_bootstrap_of_many_values_is_the_normal_interval():
    values = numbers(5).normal(size=400)
    (low, high), _ = bootstrap_mean(values, seed=1)
    reach = 1.96 * values.std() / 20
    assert (low, high) == pytest.approx((values.mean() - reach, values.mean() + reach), abs=0.012)


# --- how many runs


def test_as_many_runs_as_needed_see_the_difference_as_often_as_asked():
    random = numbers(7)
    shared, a, b = random.normal(size=(3, 4000))
    a, b = shared + 0.5 * a, shared + 0.5 * b  # the differences have a variance of 0.5, each group one of 1.25
    for paired in (True, False):
        n = runs_needed(a, b, 0.5, paired)
        seen = 0
        for _ in range(600):
            common, one, two = random.normal(size=(3, n))
            other = common if paired else random.normal(size=n)
            x, y = 0.5 + common + 0.5 * one, other + 0.5 * two
            seen += (paired_difference if paired else unpaired_difference)(x, y).low > 0
        assert 0.76 <= seen / 600 <= 0.86, (paired, n)


def test_fewer_runs_are_needed_in_pairs_for_larger_differences_and_less_power():
    shared, a, b = numbers(8).normal(size=(3, 30))
    a, b = shared + 0.3 * a, shared + 0.3 * b
    assert runs_needed(a, b, 0.2) < runs_needed(a, b, 0.2, paired=False)
    assert runs_needed(a, b, 0.4) < runs_needed(a, b, 0.2) < runs_needed(a, b, 0.1)
    assert runs_needed(a, b, 0.2, power=0.5) < runs_needed(a, b, 0.2) < runs_needed(a, b, 0.2, confidence=0.99)


def test_the_number_is_the_smallest_that_is_enough():
    a, b = numbers(9).normal(size=(2, 12))
    n = runs_needed(a, b, 0.7)
    spread = (a - b).std(ddof=1)

    def power(runs):
        return stats.nct.sf(stats.t.ppf(0.975, runs - 1), runs - 1, 0.7 * math.sqrt(runs) / spread)

    assert power(n - 1) < 0.8 <= power(n)


def test_without_any_spread_two_runs_are_enough():
    assert runs_needed([1.0, 2.0], [0.0, 1.0], 0.1) == 2
    assert runs_needed([1.0, 1.0], [0.0, 1.0], 1e-3, paired=False) > 1000


def test_sizes_that_make_no_sense_are_refused():
    for size, power in ((0, 0.8), (-1, 0.8), (0.1, 1.0), (math.nan, 0.8)):
        with pytest.raises(ValueError, match="size"):
            runs_needed([1.0, 2.0], [0.0, 3.0], size, power=power)
    with pytest.raises(ValueError, match="pairs"):
        runs_needed([1.0, 2.0, 3.0], [0.0, 3.0], 0.1)

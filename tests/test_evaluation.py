"""Several samples become one answer, and confidences are held against what came true."""

import numpy as np
import pandas as pd
import pytest
import torch

from course_utils import comparison, evaluation


def drawn(*rows, problem=0):
    """Samples of one problem: (text, n_tokens, right, logprob), in the order of their seeds."""
    columns = ["text", "n_tokens", "right", "logprob"]
    return pd.DataFrame(rows, columns=columns).assign(problem=problem, seed=range(len(rows)))


FIVE = drawn(
    ("7", 3, False, -0.9), ("8", 4, True, -1.5), ("8", 4, True, -0.7), ("9", 4, False, -0.1), ("9", 4, False, -0.1)
)


def test_a_budget_is_spent_on_the_first_samples_that_fit():
    (row,) = evaluation.spend(FIVE, 14).to_dict("records")  # 3 + 4 + 4 fit, one more would be 15
    assert row == {"one sample": False, "best of k": True, "majority": True, "k": 3, "tokens": 11, "first_tokens": 3}
    (row,) = evaluation.spend(FIVE, 15).to_dict("records")
    assert row["k"] == 4 and row["tokens"] == 15 and not row["best of k"] and row["majority"]


def test_of_equally_common_answers_the_earliest_counts_and_seeds_give_the_order():
    two = drawn(("7", 3, False, -1.0), ("8", 3, True, -2.0))
    assert not evaluation.spend(two, 6)["majority"][0]
    assert evaluation.spend(two.assign(seed=[1, 0]), 6)["majority"][0]


def test_each_problem_has_a_budget_of_its_own():
    both = pd.concat([FIVE, drawn(("1", 5, True, -1.0), problem=7)])
    found = evaluation.spend(both, 8)
    assert found.index.tolist() == [0, 7] and found.k.tolist() == [2, 1] and found.tokens.tolist() == [7, 5]


def test_a_budget_too_small_for_one_sample_is_refused():
    with pytest.raises(ValueError, match="problem 0 takes 3 tokens and the budget is 2"):
        evaluation.spend(FIVE, 2)


def test_tables_are_paired_by_problem_and_seed_whatever_their_order():
    a = pd.DataFrame({"problem": [0, 1, 2, 3], "seed": 0, "words": [0.5, 0.75, np.nan, 1.0]})
    b = pd.DataFrame({"problem": [2, 1, 0, 9], "seed": 0, "words": [0.9, 0.5, 0.0, 0.1]})
    found = evaluation.paired_tables(a, b, "words")
    assert found == comparison.paired_difference([0.5, 0.75], [0.0, 0.5])
    with pytest.raises(ValueError, match="at least two"):
        evaluation.paired_tables(a[:1], b, "words")


def test_reliability_by_hand():
    bins, error = evaluation.reliability([0.75, 0.85, 0.8, 0.2], [True, False, True, False], n_bins=2)
    low, high = bins
    assert (low.said, low.came_true, low.n) == (0.2, 0, 1)
    assert (high.said, high.came_true, high.n) == (pytest.approx(0.8), pytest.approx(2 / 3), 3)
    assert error == pytest.approx((1 * 0.2 + 3 * (0.8 - 2 / 3)) / 4)
    assert all(b.low <= b.came_true <= b.high for b in bins)


def test_outcomes_drawn_with_the_said_probability_are_calibrated_and_sharpened_ones_are_not():
    random = np.random.Generator(np.random.Philox(1))
    said = random.random(20_000)
    true = random.random(20_000) < said
    assert evaluation.reliability(torch.tensor(said), true)[1] < 0.01
    sharper = said**2 / (said**2 + (1 - said) ** 2)
    bins, error = evaluation.reliability(sharper, true)
    assert error > 0.05 and bins[0].came_true > bins[0].said and bins[-1].came_true < bins[-1].said


def test_a_confidence_of_one_falls_into_the_last_bin():
    bins, error = evaluation.reliability([1.0, 0.95], [True, True])
    assert len(bins) == 1 and error == pytest.approx(0.025)


def test_what_has_no_reliability_is_refused():
    for confidences, true in (([], []), ([0.5], [True, False])):
        with pytest.raises(ValueError, match="shape"):
            evaluation.reliability(confidences, true)
    with pytest.raises(TypeError, match=r"A confidence is \[0.5\]"):
        evaluation.reliability([[0.5]], [[True]])
    for bad in (1.1, -0.1, float("nan")):
        with pytest.raises(ValueError, match="outside 0 to 1"):
            evaluation.reliability([bad], [True])

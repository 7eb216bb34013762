"""What a caller may ask for, and the words in which an end is reported."""

import numpy as np
import pytest

from course_utils.stopping import FinishReason, StopCriteria


def test_api_names_are_those_of_servers():
    assert FinishReason.EOS.api_name == "stop"
    assert FinishReason.LENGTH.api_name == "length"


def test_every_reason_counts_as_true():
    assert all(FinishReason)  # the loop asks whether a row has a reason


def test_defaults():
    assert StopCriteria() == StopCriteria(max_new_tokens=100, eos=True)


@pytest.mark.parametrize("budget", [0, 1, 10**9, np.int64(7), np.uint8(7)])
def test_a_budget_is_an_integer(budget):
    criteria = StopCriteria(budget)
    assert criteria.max_new_tokens == budget and type(criteria.max_new_tokens) is int
    assert hash(criteria) == hash(StopCriteria(int(budget)))


@pytest.mark.parametrize("budget", [-1, -100, np.int64(-1)])
def test_a_negative_budget_is_refused_STP_12(budget):
    with pytest.raises(ValueError, match=f"max_new_tokens is {budget}; expected 0 <="):
        StopCriteria(max_new_tokens=budget)


@pytest.mark.parametrize("budget", [1.5, 3.0, "3", None, True, [3]])
def test_a_budget_that_is_no_integer_is_refused(budget):
    with pytest.raises(TypeError, match=r"max_new_tokens is .*expected an integer"):
        StopCriteria(max_new_tokens=budget)


def test_criteria_do_not_change():
    with pytest.raises(AttributeError):
        StopCriteria().max_new_tokens = 3
    with pytest.raises(TypeError, match="max_tokens"):
        StopCriteria(max_tokens=3)

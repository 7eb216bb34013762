"""Numbers that callers give: what passes, and what the messages say."""

import numpy as np
import pytest
import torch

from course_utils.arguments import check_integer, check_number


@pytest.mark.parametrize("value", [5, np.int8(5), np.uint64(5), torch.tensor(5)])
def test_integers_of_any_library_become_ints(value):
    number = check_integer("n", value)
    assert number == 5 and type(number) is int


@pytest.mark.parametrize("value", [1.0, "1", True, np.True_, None, [1], float("nan")])
def test_what_is_not_an_integer_is_named(value):
    with pytest.raises(TypeError, match=r"^n is .*; expected an integer\.$"):
        check_integer("n", value)


def test_a_message_names_the_range_that_the_value_has():
    with pytest.raises(ValueError, match=r"^n is -1; expected 0 or more\. Use None\.$"):
        check_integer("n", -1, advice=" Use None.")
    assert check_integer("n", 10**30) == 10**30
    for value in (-1, 8):
        with pytest.raises(ValueError, match=rf"^n is {value}; expected an integer from 0 to 7\.$"):
            check_integer("n", value, below=8)


@pytest.mark.parametrize("value", ["0.5", True, None, [0.5], 1j])
def test_what_is_not_a_number_is_named(value):
    with pytest.raises(TypeError, match=r"^x is .*; expected a number\.$"):
        check_number("x", value)
    assert check_number("x", np.float32(0.5)) == check_number("x", torch.tensor(0.5)) == 0.5

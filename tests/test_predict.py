"""A guess beside the result."""

import pytest
import torch

from course_utils.predict import beside


@pytest.mark.parametrize(
    "guess, result, expected",
    [
        (..., 0.881, "p: 0.881   (no guess yet: write one above, before you run this)\n"),
        (0.9, 0.881, "p: 0.881   your guess: 0.900   off by 0.019\n"),
        (3, 3, "p: 3   your guess: 3   off by 0\n"),
        ("h", "h", "p: h   your guess: h   as guessed\n"),
        ((1, 3), (1, 4), "p: [1, 4]   your guess: [1, 3]   off by at most 1\n"),
        ([1, 4], (1, 4), "p: [1, 4]   your guess: [1, 4]   as guessed\n"),
        ([1], (1, 4), "p: [1, 4]   your guess: [1]   not as guessed\n"),
        (
            [0.71, 0.29, 0],
            [0.706, 0.294, 0.0],
            "p: [0.706, 0.294, 0.0]   your guess: [0.71, 0.29, 0]   off by at most 0.004\n",
        ),
        (torch.tensor([0.5, 0.25]), [0.5, 0.25], "p: [0.5, 0.25]   your guess: [0.5, 0.25]   as guessed\n"),
        (("a", "b"), ["a", "b"], "p: ['a', 'b']   your guess: ['a', 'b']   as guessed\n"),
        ((1, ...), (1, 4), "p: [1, 4]   (no guess yet: write one above, before you run this)\n"),
        (True, True, "p: True   your guess: True   as guessed\n"),
        ("a lot", 0.5, "p: 0.500   your guess: a lot   not as guessed\n"),
    ],
)
def test_the_guess_stands_beside_the_result(capsys, guess, result, expected):
    beside(guess, result, "p")
    assert capsys.readouterr().out == expected

"""A guess beside the result."""

import numpy as np
import pytest
import torch

from course_utils.predict import beside

EXACT = [12 / 17, 5 / 17, 0.0]


@pytest.mark.parametrize(
    "guess, result, expected",
    [
        (..., 0.881, "p: 0.881   (no guess yet: write one above, before you run this)\n"),
        (0.9, 0.881, "p: 0.881   your guess: 0.900   off by 0.019\n"),
        (3, 3, "p: 3   your guess: 3   off by 0\n"),
        ("h", "h", "p: h   your guess: h   as guessed\n"),
        ([1], (1,), "p: (1,)   your guess: [1]   as guessed\n"),
        ([2, 3], torch.Size([2, 4]), "p: torch.Size([2, 4])   your guess: [2, 3]   off by at most 1\n"),
        ("a lot", 0.5, "p: 0.500   your guess: a lot   not as guessed\n"),
        (0.5, "a lot", "p: a lot   your guess: 0.500   not as guessed\n"),
        ((1, ...), (1, 4), "p: (1, 4)   (no guess yet: write one above, before you run this)\n"),
        (("a", "b"), ["a", "b"], "p: ['a', 'b']   your guess: ('a', 'b')   as guessed\n"),
        (["b"], ["a"], "p: ['a']   your guess: ['b']   not as guessed\n"),
        (True, True, "p: True   your guess: True   as guessed\n"),
        (True, False, "p: False   your guess: True   not as guessed\n"),
    ],
)
def test_the_guess_stands_beside_the_result(capsys, guess, result, expected):
    beside(guess, result, "p")
    assert capsys.readouterr().out == expected


@pytest.mark.parametrize(
    "guess, result, verdict",
    [
        ([0.71, 0.29, 0], EXACT, "right to the digits that you gave"),
        ([0.7, 0.294, 0], EXACT, "right to the digits that you gave"),
        ([0.71, 0.29, 0.0], [0.706, 0.294, 0.0], "right to the digits that you gave"),
        (EXACT, [0.706, 0.294, 0.0], "right to the digits that you gave"),  # computed exactly, compared with rounded
        (torch.tensor(EXACT), [0.706, 0.294, 0.0], "right to the digits that you gave"),
        ((0.706, 0.294, 0.0), np.array([0.706, 0.294, 0.0]), "as guessed"),
        ([[1.0, 0.0], [0.62, 0.38]], torch.tensor([[1.0, 0.0], [0.6225, 0.3775]]), "right to the digits that you gave"),
        ([0.72, 0.28, 0], EXACT, "off by at most 0.014"),
        ([0.71, 0.29, 1], EXACT, "off by at most 1.000"),
        ([1, 0, 0], EXACT, "off by at most 0.294"),  # whole numbers only: nothing was rounded
        ([0.71, 0.29], EXACT, "not as guessed"),
        ([0.96, 0.04], [1.0, 0.0], "off by at most 0.040"),  # the result is exact, though it has one decimal
        ([0.71, "a", 0], EXACT, "not as guessed"),
        ([0.71, None, 0], EXACT, "write one above, before you run this)"),
        ([float("nan"), 0.3, 0], EXACT, "off by at most nan"),
        ([float("-inf"), 0.31], [float("-inf"), 0.306], "right to the digits that you gave"),
        ([], EXACT, "not as guessed"),
    ],
)
def test_lists_and_rounded_numbers_are_compared_fairly(capsys, guess, result, verdict):
    beside(guess, result)
    assert capsys.readouterr().out.rstrip("\n").endswith(verdict)

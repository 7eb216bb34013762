"""A guess beside the result."""

import pytest

from course_utils.predict import beside


@pytest.mark.parametrize(
    "guess, result, expected",
    [
        (..., 0.881, "p: 0.881   (no guess yet: write one above, before you run this)\n"),
        (0.9, 0.881, "p: 0.881   your guess: 0.900   off by 0.019\n"),
        (3, 3, "p: 3   your guess: 3   off by 0\n"),
        ("h", "h", "p: h   your guess: h   as guessed\n"),
        ([1], (1,), "p: (1,)   your guess: [1]   not as guessed\n"),
        ("a lot", 0.5, "p: 0.500   your guess: a lot   not as guessed\n"),
    ],
)
def test_the_guess_stands_beside_the_result(capsys, guess, result, expected):
    beside(guess, result, "p")
    assert capsys.readouterr().out == expected

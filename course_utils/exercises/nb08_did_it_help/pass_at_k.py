"""Exercise 08.pass_at_k. Its expected values are worked out by hand, beside each case, or by an oracle."""

# The reference is shown to learners as they would write it, without types.
# mypy: allow-untyped-defs

import math
from fractions import Fraction

from course_utils.checker.answers import as_array, same
from course_utils.checker.exercise import Call, Case, Equals, FunctionExercise, Raises, Recognises
from course_utils.exercises.common.recognisers import any_of


def pass_at_k(n, c, k):
    """The chance that at least one of k different samples is right, if c of n are."""
    if k > n:
        raise ValueError(f"k is {k} and n is {n}; expected k up to n.")
    all_wrong = math.comb(n - c, k) / math.comb(n, k)
    return 1 - all_wrong


def at_least_one(n: int, c: int, k: int) -> float:
    """The oracle: draw k samples one after the other, without putting any back, and miss each time; exact fractions."""
    missed = Fraction(1)
    for drawn in range(k):
        missed *= Fraction(max(n - c - drawn, 0), n - drawn)
    return float(1 - missed)


def _given(n: int, c: int, k: int) -> Call:
    return Call(f"n = {n}, c = {c} and k = {k}", lambda: (n, c, k))


def _asks(hint_id: str, hint: str, n: int, c: int, k: int, by_hand: float | None = None) -> Case:
    """A case that asks for a value. by_hand: where it was worked out so; else it is the oracle's."""
    value = at_least_one(n, c, k) if by_hand is None else by_hand
    return Case(hint_id, hint, _given(n, c, k), Equals(value), error_is_typical=True)


def _refuses(hint: str, n: int, c: int, k: int) -> Case:
    """A case that asks for a ValueError."""
    return Case("k-above-n", hint, _given(n, c, k), Raises(ValueError))


def _hand(hint_id: str, hint: str, wrong: object) -> Case:
    """A recogniser on the first example. Of the 28 pairs out of 8 samples, 10 have none of the 3 right ones."""
    return Case(hint_id, hint, _given(8, 3, 2), Recognises(wrong))


_FRACTION = (
    "this is 0 or 1. A problem with some right samples has a value between 0 and 1. Return this fraction without "
    "rounding, and without whole-number division."
)
_LARGE = (
    "small numbers come out right and large ones do not. Factorials and binomials outgrow floats. Use `math.comb`, "
    "which counts in whole numbers, or multiply ratios near 1."
)
_ALL_NUMBERS = (
    "use the arguments n, c and k. No number may be fixed in the code, and nothing may be kept from an earlier call."
)
_REFUSE = "n samples say nothing about more than n. Raise a ValueError before you compute anything."

EXERCISE = FunctionExercise(
    id="08.pass_at_k",
    writes="`pass_at_k(n, c, k)`",
    contract="c of n samples of one problem are right → the chance that of k different ones at least one is right; "
    "float; ValueError for k > n",
    difficulty="medium",
    minutes=10,
    hints=(
        "Think of the opposite. What is the chance that all k samples are wrong?",
        "There are C(n, k) ways to choose k of n samples, and C(n - c, k) of these choose wrong samples only.",
        "`math.comb(n, k)` counts these ways in whole numbers, and gives 0 where there are too few samples to choose "
        "from.",
    ),
    reference=pass_at_k,
    cases=(
        _hand("percent", "this is a percentage. Return a probability, from 0 to 1.",
              lambda value: same(value, 100 * 18 / 28, 0.5)),
        _hand("a-pair", "these are several numbers. Return one number.", lambda value: as_array(value).shape != ()),
        _hand("none-right", "this is the chance that none of the k samples is right. Return the chance of the "
              "opposite.",
              any_of(10 / 28, (5 / 8) ** 2)),
        _hand("all-right", "this is the chance that all k samples are right, or that one is wrong. Return the chance "
              "that at least one is right.", any_of(3 / 28, (3 / 8) ** 2, 25 / 28, 1 - (3 / 8) ** 2)),
        _hand("exactly-one", "this is the chance that exactly one sample is right. More than one may be right, too.",
              any_of(15 / 28, 30 / 64)),
        _hand("put-back", "this is the chance if each sample is put back before the next one is drawn, so that the "
              "same sample can come again. Here the k samples are all different.", 1 - (5 / 8) ** 2),
        _hand("added-up", "the chances of single samples were added up. A choice with two right samples then counts "
              "twice, and the sum can exceed 1.", any_of(6 / 8, 6 / 7)),
        _hand("k-ignored", "this is the share of right samples, as if k were 1.", any_of(3 / 8, 2 / 8)),
        _hand("one-too-many", "this is the value for k + 1. How many ratios do you multiply, and which is the first?",
              46 / 56),
        _hand("all-or-nothing", _FRACTION, any_of(0, 1)),
        _hand("rounded", "the value was rounded. Return the probability as it is.",
              any_of(0.6, 0.64, 0.643, 0.6429)),
        Case("by-hand", "work it out by hand: how many of all choices of k samples hold no right one?", _given(8, 3, 2),
             Equals(18 / 28)),
        # Of the 10 choices of 3 out of 5, 4 leave the one right one out. C(6, 2) = 15, C(4, 2) = 6.
        _asks("other-numbers", _ALL_NUMBERS, 5, 1, 3, 6 / 10),
        _asks("other-numbers", _ALL_NUMBERS, 6, 2, 2, 9 / 15),
        _asks("other-numbers", _ALL_NUMBERS, 8, 3, 4),
        _asks("other-numbers", _ALL_NUMBERS, 8, 2, 2),
        _asks("other-numbers", _ALL_NUMBERS, 9, 3, 2),
        _asks("none-of-them", "c = 0 means that no sample is right, so no choice holds a right one.", 5, 0, 2, 0.0),
        _asks("none-of-them", "with c = 0 no sample is right, even if k = n takes all of them.", 5, 0, 5, 0.0),
        _asks("none-of-them", "c = 0 and n = 1 mean a single sample, and it is wrong.", 1, 0, 1, 0.0),
        _asks("sure", "fewer than k samples are wrong, so every choice holds a right one.", 5, 3, 3, 1.0),
        _asks("sure", "all samples are right, so every choice holds a right one.", 5, 5, 1, 1.0),
        _asks("sure", "k = n is allowed. It takes all samples, and one of them is right.", 5, 1, 5, 1.0),
        _asks("sure", "there is a single sample, and it is right.", 1, 1, 1, 1.0),
        _asks("sure", "all samples are right, and all are taken.", 6, 6, 6, 1.0),
        _asks("just-possible", "exactly k samples are wrong, so exactly one choice holds no right one.", 5, 2, 3, 0.9),
        _asks("just-possible", "one sample is wrong and k is 1. The wrong sample may be the one that is taken.",
              5, 4, 1, 0.8),
        _asks("large", _LARGE, 200, 10, 100),
        _asks("all-or-nothing", _FRACTION + " With many samples it may be small.", 200, 1, 1, 0.005),
        _asks("rounded", "the value was rounded or cut off. Small probabilities matter, too.", 700, 2, 3),
        Case("rounded", "the value was rounded at a later digit. Do not round at all.", _given(1998, 1, 1),
             Equals(1 / 1998, atol=2e-7), error_is_typical=True),
        _refuses(_REFUSE, 3, 0, 4),
        _refuses("k is larger than n. Raise a ValueError even if all n samples are right.", 3, 3, 4),
        _refuses("k is far larger than n. Raise a ValueError, whatever c is.", 5, 1, 20),
        _refuses("one sample for each problem gives pass@1 only. Raise a ValueError for k = 2.", 1, 1, 2),
        # One right one among n: it is taken with probability k / n.
        _asks("large", _LARGE + " Try n in the thousands.", 2000, 1, 1000, 0.5),
        # Two right ones: both are missed with probability (n - k)(n - k - 1) / (n (n - 1)).
        _asks("large", _LARGE + " Try two right ones.", 3000, 2, 1500, 1 - 1500 * 1499 / (3000 * 2999)),
        _asks("large", _LARGE + " Try many samples and k = 2.", 20_000, 5_000, 2,
              1 - 15_000 * 14_999 / (20_000 * 19_999)),
    ),
)  # fmt: skip

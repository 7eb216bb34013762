"""Exercise 08.paired_difference. Its expected values are worked out by hand, beside each case, or by an oracle."""

# The reference is shown to learners as they would write it, without types.
# mypy: allow-untyped-defs

import math
from collections.abc import Callable, Sequence
from fractions import Fraction

import numpy as np

from course_utils.checker.answers import ATOL, as_array
from course_utils.checker.exercise import Call, Case, Equals, FunctionExercise, Recognises
from course_utils.exercises.common.hints import EARLIER_CALL
from course_utils.exercises.common.inputs import tensor
from course_utils.exercises.common.recognisers import any_of


def paired_difference(a, b):
    """The mean of a - b and its standard error."""
    differences = [float(x) - float(y) for x, y in zip(a, b, strict=True)]
    n = len(differences)
    mean = math.fsum(differences) / n
    variance = math.fsum((difference - mean) ** 2 for difference in differences) / (n - 1)
    return mean, math.sqrt(variance / n)


def mean_and_error(a: Sequence[float], b: Sequence[float]) -> list[float]:
    """The oracle: exact fractions up to the one square root."""
    differences = [Fraction(x) - Fraction(y) for x, y in zip(a, b, strict=True)]
    n = len(differences)
    mean = sum(differences, Fraction(0)) / n
    squares = sum((difference - mean) ** 2 for difference in differences)
    return [float(mean), math.sqrt(squares / (n - 1) / n)]


def _given(a: list, b: list, shown: str = "", make: Callable[[list], object] = list) -> Call:
    """A call with these arguments. make: turns a list of numbers into the sequence that is passed."""
    return Call(shown or f"a = {a} and b = {b}", lambda: (make(a), make(b)))


def _asks(
    hint_id: str,
    hint: str,
    a: list,
    b: list,
    shown: str = "",
    make: Callable[[list], object] = list,
    atol: float = ATOL,
) -> Case:
    """A case that asks for both numbers."""
    expect = Equals(mean_and_error(a, b), atol=atol)
    return Case(hint_id, hint, _given(a, b, shown, make), expect, error_is_typical=True)


# Differences 1, -3, 4, 6: mean 2; deviations -1, -5, 2, 4, their squares 46; variance 46/3; standard error √(46/12).
_A, _B = [5.0, 4.0, 9.0, 8.0], [4.0, 7.0, 5.0, 2.0]
_MEAN, _ERROR = 2.0, math.sqrt(46 / 12)
_SPREAD = math.sqrt(46 / 3)


def _hand(hint_id: str, hint: str, wrong: object) -> Case:
    """A recogniser on the first example."""
    return Case(hint_id, hint, _given(_A, _B), Recognises(wrong))


def _errors(*values: float) -> Callable[[object], bool]:
    """Recognises these in place of the standard error, whatever the sign of the mean."""
    return any_of(*([mean, value] for value in values for mean in (_MEAN, -_MEAN)))


_UNPAIRED = math.sqrt((np.var(_A, ddof=1) + np.var(_B, ddof=1)) / 4)
_CROSSWISE = np.subtract.outer(_A, _B).std(ddof=1) / 4  # all 16 differences
_UNPAIRED_N = math.sqrt((np.var(_A) + np.var(_B)) / 4)
_POOLED = math.sqrt((np.var(_A, ddof=1) + np.var(_B, ddof=1)) / 8)
_MANY_A = [(7 * i % 40) / 8 for i in range(300)]
_MANY_B = [(11 * i % 24) / 8 for i in range(300)]
_MANY = "a = [(7 * i % 40) / 8 for i in range(300)] and b = [(11 * i % 24) / 8 for i in range(300)]"

_PAIRS = (
    "a[i] and b[i] belong together, so take their difference first. If you sort or separate them, the pairs are lost."
)
_ANY_NUMBERS = "there may be other values, other signs or another number of pairs. No number may be fixed in the code."
_NO_SPREAD = "all differences are equal, so the standard error is 0. Do not raise an error, and do not return NaN."
_LARGE = (
    "for large values, the mean of the squares minus the square of the mean is lost to rounding. Square the "
    "deviations from the mean instead."
)
_EVERY = "every pair counts, even one whose difference is 0 or has come before."
_SEQUENCES = "a and b may be any sequences: lists, tuples, arrays or tensors."


def _reaches() -> list[float]:
    """Ends and half widths of 95 % intervals around the first example's mean, by Student and by the normal curve."""
    halves = [quantile * _ERROR for quantile in (1.96, 3.18245)]
    return [*halves, *(abs(_MEAN + sign * half) for half in halves for sign in (1, -1))]


EXERCISE = FunctionExercise(
    id="08.paired_difference",
    writes="`paired_difference(a, b)`",
    contract="sequences of numbers, a[i] and b[i] a pair, equal length n >= 2 → (mean of a - b, its standard error "
    "with n - 1)",
    difficulty="medium",
    minutes=12,
    hints=(
        "First take the n differences a[i] - b[i]. After that you no longer need a and b.",
        "The variance of the differences is the sum of their squared deviations from their mean, divided by n - 1.",
        "The standard error of a mean of n numbers is the square root of (their variance / n).",
    ),
    reference=paired_difference,
    cases=(
        _hand("mean-only", "this is one number. Return two: the mean difference and its standard error.",
              lambda value: as_array(value).shape == ()),
        _hand("one-for-each-pair", "this has a number for each pair. Return two numbers in all.",
              lambda value: as_array(value).shape == (len(_A),)),
        _hand("swapped", "both numbers are right, but in the wrong order. The mean comes first.", [_ERROR, _MEAN]),
        _hand("b-minus-a", "this is the mean of b - a. Return that of a - b, which is positive where a is larger.",
              [-_MEAN, _ERROR]),
        _hand("absolute", "the differences lost their signs. A pair in which b is larger speaks against a.",
              lambda value: math.isclose(as_array(value)[0], 3.5, abs_tol=1e-5)),
        _hand("sum", "the first number is the sum of the differences. Return their mean.",
              lambda value: math.isclose(as_array(value)[0], 8, abs_tol=1e-5)),
        _hand("unpaired", "this is the standard error for two separate groups. Take the differences first, so that "
              "the spread which a and b share does not count.", _errors(_UNPAIRED, _UNPAIRED_N, _POOLED, _CROSSWISE)),
        _hand("standard-deviation", "the second number is the standard deviation of single differences. The standard "
              "error of their mean is smaller. How does it shrink with n?", _errors(_SPREAD, math.sqrt(46 / 4))),
        _hand("variance", "the second number is a variance. Take its square root.",
              _errors(46 / 3, 46 / 4, 46 / 12, 46 / 16)),
        _hand("n-not-n-1", "the squared deviations were divided by n. Divide by n - 1, because their mean was "
              "computed from the same numbers. (In NumPy this is ddof=1.)", _errors(math.sqrt(46) / 4)),
        _hand("divided-twice", "n - 1 was used twice. It belongs to the variance, and the standard error of a mean of "
              "n numbers divides that by n.",
              _errors(math.sqrt(46 / 9), _SPREAD / 4, _SPREAD / 3, math.sqrt(46 / 4) / 4)),
        _hand("an-interval", "this is an interval, or half of its width. Return the mean and the standard error.",
              lambda value: any(math.isclose(abs(x), y, abs_tol=0.02) for x in as_array(value) for y in _reaches())),
        _hand("t-value", "the second number is the mean divided by the standard error. Return the standard error "
              "itself.",
              _errors(_MEAN / _ERROR)),
        _hand("not-squared", "the deviations were not squared. The second number comes from their absolute values.",
              _errors(3.0, 1.5, 4.0, 2.0)),
        _hand("rounded", "the numbers were rounded. Return them as they are.",
              any_of([2, 1.96], [2, 1.958])),
        _hand("other-call", EARLIER_CALL, _errors(*(math.sqrt(46 / (4 * calls - 1) / 4) for calls in range(2, 40)))),
        _asks("by-hand", "write down the four differences, their mean, and their deviations from it.", _A, _B),
        # Differences -3, -1, -2, 0: mean -1.5; squared deviations 5; standard error √(5 / 12).
        Case("absolute", "the mean lost its sign. If b is larger on the whole, the mean is negative.",
             _given([1.0, 2.0, 2.0, 4.0], [4.0, 3.0, 4.0, 4.0]),
             Recognises(any_of([1.5, math.sqrt(5 / 12)], [0, math.sqrt(5 / 12)]))),
        _asks("other-call", EARLIER_CALL, _B, _A),
        # Differences -0.75, -1, -0.5: mean -0.75, standard error √(0.125 / 2 / 3).
        Case("rounded", "the numbers were rounded, even if only a little.",
             _given([0.25, -0.5, 0.75], [1.0, 0.5, 1.25]),
             Recognises(any_of([-0.75, 0.144], [-0.75, 0.1443]))),
        _asks("any-numbers", _ANY_NUMBERS, [0.25, -0.5, 0.75], [1.0, 0.5, 1.25]),
        _asks("any-numbers", _ANY_NUMBERS + " Try negative ones.", [-3.0, -8.5, -1.0, -2.25, 0.0],
              [-1.0, -2.0, -4.0, -8.0, -16.0]),
        _asks("two-pairs", "two pairs are enough. Then n - 1 is 1.", [3.0, 1.0], [1.0, 2.0]),
        _asks("every-pair", _EVERY, [1.0, 2.0, 3.0, 4.0, 6.0], [1.0, 2.0, 1.0, 2.0, 5.0]),
        _asks("every-pair", _EVERY + " Two pairs may hold the same numbers.", [1.0, 1.0, 3.0, 2.0],
              [0.0, 0.0, 1.0, 4.0]),
        _asks("pairs", _PAIRS, [1.0, 5.0, 3.0, 4.0], [5.0, 1.0, 4.0, 3.0]),
        _asks("pairs", _PAIRS + " Here both hold the same numbers.", [1.0, 2.0, 3.0], [2.0, 3.0, 1.0]),
        _asks("no-spread", _NO_SPREAD, [1.5, 2.5, 4.5], [1.0, 2.0, 4.0]),
        _asks("no-spread", "a and b are the same, so the mean difference is 0, and so is its standard error.",
              [2.0, 5.0],
              [2.0, 5.0]),
        _asks("whole-numbers", "values may be whole numbers, such as 1 for right and 0 for wrong. Their mean is still "
              "a fraction.",
              [1, 0, 1, 1, 0], [0, 0, 1, 0, 1]),
        _asks("small", "small differences matter. Look for rounding, or for an added epsilon.",
              [0.0625, 0.06640625, 0.0703125], [0.0625, 0.06494140625, 0.0673828125]),
        _asks("small", "differences far below a millionth matter, too.",
              [2**-26, 2**-25, 2**-24], [0.0, 2**-27, 2**-26],
              "a = [2**-26, 2**-25, 2**-24] and b = [0.0, 2**-27, 2**-26]", atol=1e-12),
        _asks("large", _LARGE, [10_000_000.0, 10_000_004.0, 10_000_008.0], [0.0, 0.0, 0.0]),
        _asks("large", _LARGE + " Here a and b are both large.",
              [20_000_000.0, 20_000_008.0, 20_000_012.0, 20_000_016.0],
              [10_000_000.0, 10_000_004.0, 10_000_004.0, 10_000_004.0]),
        _asks("sequences", _SEQUENCES, _A, _B, shown=f"tuples a = {tuple(_A)} and b = {tuple(_B)}", make=tuple),
        _asks("sequences", _SEQUENCES + " Here they are arrays.", _B, _A, shown=f"arrays a = {_B} and b = {_A}",
              make=np.array),
        _asks("sequences", _SEQUENCES + " Here they are tensors.", _A, _B, shown=f"tensors a = {_A} and b = {_B}",
              make=tensor),
        _asks("any-length", "few pairs come out right and many do not. Is a length fixed in the code?",
              _MANY_A, _MANY_B,
              _MANY),
        _asks("any-length", "seven pairs do not come out right. Is a length fixed in the code?",
              _MANY_A[:7], _MANY_B[:7]),
    ),
)  # fmt: skip

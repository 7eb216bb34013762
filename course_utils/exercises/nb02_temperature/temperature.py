"""Exercise 02.temperature."""

# The reference is shown to learners as they would write it, without types.
# mypy: allow-untyped-defs

import numpy as np

from course_utils.checker.answers import same
from course_utils.checker.exercise import Call, Case, Equals, FunctionExercise, Raises, Recognises
from course_utils.exercises.common.filters import INF, softmax
from course_utils.exercises.common.inputs import Rows, args, made, turned, turned_text
from course_utils.exercises.common.recognisers import any_of


def probs_at(logits, temperature):
    """The probabilities (..., V) of logits (..., V) at a temperature above 0."""
    if temperature <= 0:
        raise ValueError(f"temperature is {temperature}; expected a number above 0. For its limit take the largest.")
    logits = logits - logits.max(dim=-1, keepdim=True).values  # before the division, so that nothing overflows
    weights = (logits / temperature).exp()
    return weights / weights.sum(dim=-1, keepdim=True)


def _at(logits: Rows, temperature: float) -> np.ndarray:
    """The oracle."""
    return softmax(np.asarray(logits, dtype=np.float64) / temperature)


def _given(logits: Rows, temperature: float, shown: str = "", dtype: str = "float32") -> Call:
    """A call with these arguments. shown: what is said of the logits, where they are not written out."""
    return Call(f"{shown or f'logits {logits}'} and T = {temperature}", args(logits, temperature, dtype=dtype))


def _asks(hint_id: str, hint: str, logits: Rows, temperature: float, shown: str = "", dtype: str = "float32") -> Case:
    """A case that asks for the probabilities."""
    call = _given(logits, temperature, shown, dtype)
    return Case(hint_id, hint, call, Equals(_at(logits, temperature)), error_is_typical=True)


def _refuses(hint_id: str, hint: str, logits: Rows, temperature: float) -> Case:
    """A case that asks for a ValueError."""
    return Case(hint_id, hint, _given(logits, temperature), Raises(ValueError))


_PAIR = [2.0, 1.0]
_ROWS = [[2.0, 1.0, 0.0], [0.0, 3.0, 1.0]]
_TURNED = [_ROWS, [[1.0, 2.0, 5.0], [4.0, 4.0, 1.0]]]
_HAND = Call("logits [2, 1] and T = 0.5", args(_PAIR, 0.5))
_P = softmax(_PAIR)
_CUBE, _CUBE_TEXT = made(3, 2, 8, by=7, modulo=48, minus=24)
_FOUR_AXES, _FOUR_AXES_TEXT = made(2, 1, 4, 4, by=7, modulo=32, over=2)
_LONG, _LONG_TEXT = made(2, 300, by=7, modulo=600, over=50)

_SQUARE = "each row is a separate distribution along the last axis, even where there are as many rows as tokens."
_SMALL = "divide by a small T as by any other. Set no lower limit, add no epsilon, and do not switch to greedy."
_LIMITED = "T has no upper limit. Divide by a high temperature as by any other."
_MINUS_INF = "a logit of -inf belongs to a token that was dropped. Its probability is exactly 0 at every T."
_NEGATIVE = (
    "a negative T would reverse the order, and the worst token would become the likeliest. Raise a ValueError for "
    "every negative T."
)
_EVERY_SHAPE = "such a T has to be refused for a batch too, not only for a single row."
_AXIS_LOST = "an axis of length 1 must not disappear. The answer has the same shape as the logits."
_ANY_SIZE = (
    "small examples come out right and a larger tensor does not. Look for a size, an axis or a limit that is fixed in "
    "the code."
)
_OTHER_CALL = (
    "this is the answer to an earlier call. Use only the arguments of this call. Nothing may be kept between calls, "
    "and no number may be fixed in the code."
)

EXERCISE = FunctionExercise(
    id="02.temperature",
    writes="`probs_at(logits, temperature)`",
    contract="probabilities of logits / T; ValueError for T <= 0",
    difficulty="easy",
    minutes=8,
    hints=(
        "The temperature divides the logits. Softmax comes after that.",
        "A T below 1 must make the likelier token likelier still. Does yours?",
        "Raise the ValueError before anything is divided, for 0 and for negative numbers.",
    ),
    reference=probs_at,
    cases=(
        Case("multiplied", "the logits were multiplied by T. A low temperature must make the distribution sharper, and "
             "this one became flatter.", _HAND, Recognises(_at(_PAIR, 2))),
        Case("temperature-ignored", "these are the probabilities at T = 1. The temperature has no effect yet, or it "
             "cancels: if you divide probabilities by T and then by their sum, nothing changes.", _HAND,
             Recognises(_P)),
        Case("divided-probabilities", "the probabilities were divided by T, so they no longer add up to 1. Divide the "
             "logits by T, before softmax.", _HAND, Recognises(_P / 0.5)),
        Case("no-softmax", "these are the logits divided by T. Apply softmax to turn them into probabilities.", _HAND,
             Recognises(np.divide(_PAIR, 0.5))),
        Case("not-normalised", "these numbers do not add up to 1. Divide by their sum.", _HAND,
             Recognises(any_of(_P**2, np.exp([4.0, 2.0]), np.exp([0.0, -2.0])))),
        Case("softmax-twice", "softmax was applied twice: these are probabilities that were treated as if they were "
             "logits.", _HAND,
             Recognises(lambda value: any(same(value, softmax(other)) for other in (_P / 0.5, _at(_PAIR, 0.5))))),
        Case("by-hand", "work it out by hand: divide both logits by T, then apply softmax.",
             _HAND, Equals(_at(_PAIR, 0.5))),
        Case("sorted-order", "the probabilities came back in another order. A token's place in the row is its id.",
             Call("logits [1, 3, 2] and T = 0.5", args([1.0, 3.0, 2.0], 0.5)),
             Recognises(any_of(_at([3.0, 2.0, 1.0], 0.5), _at([1.0, 2.0, 3.0], 0.5)))),
        Case("other-call", _OTHER_CALL,
             Call("logits [2, 1] and T = 0.25, after a call with T = 0.5", args(_PAIR, 0.25)),
             Recognises(_at(_PAIR, 0.5))),
        Case("other-call", _OTHER_CALL,
             Call("logits [0, 3] and T = 0.5, after a call with the logits [2, 1]", args([0.0, 3.0], 0.5)),
             Recognises(_at(_PAIR, 0.5))),
        _asks("one", "T = 1 does not change the logits, but the answer is still probabilities.", _PAIR, 1.0),
        Case("temperature-limited", _LIMITED, Call("logits [2, 1] and T = 5", args(_PAIR, 5.0)),
             Recognises(any_of(*(_at(_PAIR, limit) for limit in (1, 1.5, 2, 3, 4))))),
        _asks("whole-division", "the division cut off a fraction. Use `/`, even where T is a whole number.",
              _PAIR, 2),
        _asks("whole-division", "a fraction was cut off, either of T or in the division. Use `/`.", _PAIR, 2.5),
        Case("underflow", "far below the largest logit a probability rounds to 0, and no later step brings it back. "
             "Divide the logits by T, before softmax.",
             Call("logits [200, 0] and T = 100", args([200.0, 0.0], 100)), Recognises([1.0, 0.0])),
        _asks("temperature-limited", _LIMITED, [500.0, 0.0, -100.0], 1000),
        _asks("temperature-limited", _LIMITED, [500.0, 0.0, -100.0], 1000000),
        _asks("other-axis", "each row is a separate distribution, and it lies along the last axis.", _ROWS, 0.7),
        _asks("other-axis", _SQUARE, [[2.0, 1.0], [0.0, 3.0]], 0.7),
        _asks("small-temperature", _SMALL, [1.0, 0.98], 0.02),
        _asks("small-temperature", _SMALL, [0.002, 0.001], 0.001),
        Case("overflow", "dividing by a small T makes large numbers, whose exponentials overflow. Subtract the "
             "largest logit first: this changes no probability.",
             Call("logits [10, 9.97] and T = 0.01", args([10.0, 9.97], 0.01)),
             Equals(_at([10.0, 9.97], 0.01), atol=1e-3), error_is_typical=True),
        _asks("overflow", "far below 0 all exponentials are 0, and 0/0 is NaN. Subtract the largest logit even when "
              "it is negative.", [-1000.0, -1001.0], 1.0),
        _asks("one-maximum", "the largest logit of the whole tensor was subtracted. In a row that lies far below it, "
              "all exponentials become 0. Subtract each row's own largest logit.", [[1000.0, 999.0], [0.0, 1.0]], 1.0),
        _asks("minus-inf", _MINUS_INF, [2.0, -INF, 0.0], 0.5),
        _asks("minus-inf", _MINUS_INF, [500.0, -INF, 0.0], 1000000),
        _refuses("zero", "raise a ValueError for T = 0, because nothing can be divided by 0. Greedy decoding, the "
                 "limit, is a separate function.", _PAIR, 0),
        _refuses("zero", "raise a ValueError for T = 0.0 as well.", _PAIR, 0.0),
        *(_refuses("negative", _NEGATIVE, _PAIR, temperature) for temperature in (-1.0, -0.5, -2, -0.000001, -300.0)),
        _refuses("every-shape", _EVERY_SHAPE, [[2.0, 1.0]], 0),
        _refuses("every-shape", _EVERY_SHAPE, [[[2.0], [1.0]]], -1.5),
        _asks("axis-lost", _AXIS_LOST, [[2.0, 1.0, 0.0]], 0.7),
        _asks("axis-lost", _AXIS_LOST, [[4.0], [7.0]], 0.7),
        _asks("last-axis", "with three axes, (B, T, V), the vocabulary is still the last axis, whatever B is.", [_ROWS],
              0.7),
        _asks("last-axis", "with three axes, (B, T, V), the vocabulary is still the last axis, even where T = V.",
              [[[2.0, 1.0], [0.0, 3.0]]], 0.7),
        _asks("float64", "the logits are float64 here. Give the tensors that you make the same dtype, because less "
              "precision is not enough.",
              [2000.25, 2000.0], 0.5, dtype="float64", shown="float64 logits [2000.25, 2000]"),
        Case("any-layout", "the numbers of this tensor lie in memory in another order, as they do after a transpose. "
             "`reshape` works there, and `view` does not.",
             Call(f"logits {turned_text(_TURNED)} and T = 0.7", turned(_TURNED, 0.7)),
             Equals(_at(_TURNED, 0.7)), error_is_typical=True),
        _asks("any-size", _ANY_SIZE, _CUBE, 5, shown=f"logits {_CUBE_TEXT}"),
        _asks("any-size", _ANY_SIZE, _FOUR_AXES, 0.3, shown=f"logits {_FOUR_AXES_TEXT}"),
        _asks("any-size", _ANY_SIZE, _LONG, 10, shown=f"logits {_LONG_TEXT}"),
    ),
)  # fmt: skip

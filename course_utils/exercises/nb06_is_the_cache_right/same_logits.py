"""Exercise 06.same_logits."""

# The reference is shown to learners as they would write it, without types.
# mypy: allow-untyped-defs

from typing import Any

import numpy as np

from course_utils.checker.answers import as_array, same
from course_utils.checker.exercise import Call, Case, FunctionExercise, Holds, Recognises
from course_utils.exercises.common.inputs import Rows, made, tensor, transposed

NAN, INF = float("nan"), float("inf")


def same_logits(a, b, atol):
    """Whether a and b have the same shape, are not empty, and nowhere differ by more than atol."""
    if a.shape != b.shape or a.numel() == 0:
        return False
    return bool(((a - b).abs() <= atol).all())  # a comparison with NaN is False


def _truth(value: Any) -> Any:
    """True and False of Python, NumPy and torch as 1 and 0; anything else as it is."""
    is_truth = isinstance(value, bool | np.bool_) or (
        str(getattr(value, "dtype", "")) in ("bool", "torch.bool") and tuple(value.shape) == ()
    )
    return int(value) if is_truth else value


def _given(a: Rows, b: Rows, atol: float, shown: str = "", dtype: str = "float32") -> Call:
    """A call with these arguments. shown: what is said of them, where they are not written out."""
    shows = shown or f"a = {_written(a)}, b = {_written(b)} and atol = {atol}"
    shows += "" if dtype == "float32" else f", in {dtype}"
    return Call(shows, lambda: (tensor(a, dtype), tensor(b, dtype), atol))


def _written(values: Rows) -> str:
    return str(np.asarray(values).tolist()) if np.size(values) else f"torch.zeros{np.shape(values)}"


def _says(right: bool) -> Holds:
    """The answer is this truth value, of Python, NumPy or torch."""
    return Holds(lambda value, args: same(_truth(value), int(right)))


def _asks(
    hint_id: str, hint: str, right: bool, a: Rows, b: Rows, atol: float, shown: str = "", dtype: str = "float32"
) -> Case:
    """A case that asks for True or False."""
    return Case(hint_id, hint, _given(a, b, atol, shown, dtype), _says(right), error_is_typical=True)


def _changed(shape: tuple, place: tuple, by: float) -> tuple[np.ndarray, np.ndarray]:
    """Two equal arrays but for one entry."""
    values, _ = made(*shape, by=3, modulo=7, over=2)
    other = values.copy()
    other[place] += by
    return values, other


def _one_place(hint_id: str, hint: str, shape: tuple, place: tuple) -> Case:
    """A case in which the two differ at one place."""
    values, other = _changed(shape, place, 5.0)
    return _asks(hint_id, hint, False, values, other, 0.1)


_CLOSE = _given([2.0, 1.0, 0.5], [2.0, 1.05, 0.5], 0.1)
_EVERYWHERE = "every entry counts, in every row and at every position, the first and the last included."
_ATOL = (
    "the tolerance is the argument atol, whatever it is. With 0 only equal numbers pass; with 1 a difference of 0.5 "
    "passes."
)
_NAN = (
    "NaN equals nothing, so logits with NaN are never the same. A comparison with NaN is False: check that all "
    "differences are within atol, not that none is beyond it."
)
_SHAPE = (
    "logits of different shapes are never the same. Broadcasting, `zip` and flattening can make them look alike. "
    "Compare the shapes first, and return False if they differ."
)
_EMPTY = (
    "an empty tensor shows nothing, so the answer is False. `all` of an empty tensor is True, so you have to check "
    "for this case."
)
_INFINITE = "an infinite difference is above every tolerance. Leave no entry out of the comparison."
_PLACES = "the same numbers in other places are different logits. Compare each entry with the one in the same place."
_BY_ITSELF = "compare each difference with atol by itself. Take no sum, mean or norm."
_LARGE, _LARGE_TEXT = made(2, 40, 100, by=7, modulo=60, over=4)
_LARGE_OTHER = _LARGE.copy()
_LARGE_OTHER[1, 20, 50] += 0.5
_ONE_OF_MANY = _changed((10, 10), (3, 4), 0.5)
_TURNED = [[[1.0, 3.0, 2.0], [9.0, -1.0, 8.0]], [[4.0, 6.0, 5.0], [0.0, -2.0, -1.0]]]

EXERCISE = FunctionExercise(
    id="06.same_logits",
    writes="`same_logits(a, b, atol)`",
    contract="bool; False for another shape, NaN, empty; a difference equal to atol is the same",
    difficulty="medium",
    minutes=10,
    hints=(
        "Ask four questions. Do the shapes agree? Is there any entry at all? Are all differences within atol? And "
        "what happens with NaN?",
        "Check that all differences are within atol, not that none is beyond it. With NaN only the first check is "
        "safe.",
    ),
    reference=same_logits,
    cases=(
        Case("elementwise", "this is one answer for each entry. Return one answer for all entries together.", _CLOSE,
             Recognises(lambda value: len(value) in (1, 3))),
        Case("a-number", "this is the difference, or some measure of it. Return the verdict: True or False.",
             _CLOSE, Recognises(lambda value: as_array(value).ndim == 0 and not any(same(value, x) for x in (0, 1)))),
        Case("inverted", "no number differs by more than the tolerance, so these are the same. Is your verdict the "
             "wrong way round?", _CLOSE, _says(True), error_is_typical=True),
        Case("nothing-returned", "for logits that differ, your function returned nothing. Return False.",
             Call("a = [2.0, 1.0], b = [2.0, 1.5] and atol = 0.1",
                  lambda: (tensor([2.0, 1.0]), tensor([2.0, 1.5]), 0.1)), Recognises(lambda value: value is None)),
        _asks("inverted", "2 and 1 differ by more than 0.1, so these are not the same.", False, [2.0, 1.5, 0.0],
              [1.0, 2.0, 1.0], 0.1),
        Case("per-row", "this is one answer for each row. Return one answer for all rows together.",
             Call("two equal (2, 3) tensors and atol = 0.1", lambda: (tensor(_TURNED[0]), tensor(_TURNED[0]), 0.1)),
             Recognises(lambda value: len(value) in (2, 3))),
        _asks("sign", "the difference may have either sign. Take its absolute value.", False, [1.0, 2.0], [4.0, 3.0],
              0.1),
        _asks("sign", "b may be the larger one or the smaller one: take the absolute value of the difference.", False,
              [4.0, 3.0], [1.0, 2.0], 0.1),
        _asks("sign", "a number and its negative may be far apart. Subtract first, and take the absolute value "
              "afterwards.", False,
              [1.0, -2.0], [-1.0, 2.0], 0.1),
        _asks("cancels", "positive and negative differences must not cancel. Take absolute values before you add "
              "anything up.",
              False, [1.0, 2.0], [1.5, 1.5], 0.1),
        _asks("other-places", _PLACES, False, [1.0, 3.0], [3.0, 1.0], 0.1),
        _asks("other-places", _PLACES, False, [[1.0, 2.0], [4.0, 3.0]], [[4.0, 3.0], [1.0, 2.0]], 0.1),
        _asks("argmax", "the same token would be chosen, but the logits differ. Compare the numbers, not the choices.",
              False, [2.0, 1.0, 0.0], [2.5, 1.25, 0.125], 0.001),
        _asks("distribution", "softmax gives the same for both, because one number was added to all logits. Compare "
              "the logits themselves.", False, [2.0, 1.0, 0.0], [3.0, 2.0, 1.0], 0.1),
        _asks("relative", "the difference is above atol. Unless you pass rtol=0, `allclose` and `isclose` also allow "
              "a share of the numbers' size.", False, [1000.0, 2000.0], [1000.0078125, 2000.015625], 0.001),
        _asks("boundary", "a difference equal to atol counts as the same.", True, [1.0, 2.0], [1.5, 2.0], 0.5),
        _asks("boundary", "with atol = 0, equal numbers still count as the same.", True, [1.0, -2.5], [1.0, -2.5], 0),
        _asks("boundary", "a difference above atol makes the logits different, however little it is above.",
              False, [1.0, 2.0],
              [1.5000009536743164, 2.5000009536743164], 0.5),
        _asks("atol-ignored", _ATOL, False, [1.0, 2.0], [1.0000002384185791, 2.0000002384185791], 0),
        _asks("atol-ignored", _ATOL, True, [1.0, 2.0], [1.0, 4.5], 3.0),
        _asks("atol-ignored", _ATOL, True, [1.0, 2.0], [1.0, 2.5], 1.0),
        _asks("atol-ignored", _ATOL, False, [1.0, 2.0], [1.0009765625, 2.0009765625], 0.0005),
        _asks("atol-ignored", _ATOL, True, [1.0, 2.0], [1.0, 2.0009765625], 0.002),
        _asks("rounded", "two close numbers can round to different ones, and two distant numbers to the same. Compare "
              "the difference itself.", True, [1.0499, 2.0], [1.0501, 2.0], 0.001),
        _asks("rounded", "rounding first hides a difference that is above atol.", False, [1.0625, 2.0625],
              [1.1328125, 2.1328125], 0.05),
        _asks("summed", _BY_ITSELF, True, [1.0, 2.0, 3.0, 4.0], [1.09, 2.09, 3.09, 4.09], 0.1),
        _one_place("everywhere", _EVERYWHERE, (2, 3), (0, 0)),
        _one_place("everywhere", _EVERYWHERE, (2, 3), (1, 2)),
        _one_place("everywhere", _EVERYWHERE, (2, 2, 3), (0, 0, 1)),
        _one_place("everywhere", _EVERYWHERE, (2, 2, 3), (1, 0, 0)),
        _one_place("everywhere", _EVERYWHERE, (2, 2, 3), (0, 1, 2)),
        _one_place("everywhere", _EVERYWHERE, (2, 2, 3), (1, 1, 2)),
        _asks("averaged", "one wrong entry among many right ones is a fault, and a mean would hide it. The largest "
              "difference decides.", False, *_ONE_OF_MANY, 0.1,
              shown="two equal (10, 10) tensors but for one entry, which differs by 0.5, and atol = 0.1"),
        _asks("axes", "logits have one, two or three axes: (V,), (T, V) or (B, T, V).", True,
              *_changed((2, 2, 3), (0, 0, 0), 0.05), 0.1),
        _asks("axes", "axes of length 1 are axes too, and one number is enough to compare.", True, [[[3.0]]], [[[3.0]]],
              0.1),
        _asks("nan", _NAN, False, [1.0, NAN], [1.0, 2.0], 0.1),
        _asks("nan", _NAN, False, [1.0, 2.0], [NAN, 2.0], 1e9),
        _asks("nan", _NAN, False, [NAN, 1.0], [NAN, 1.0], 0.1),
        _asks("nan", _NAN, False, [[1.0, 2.0], [NAN, NAN]], [[1.0, 2.0], [NAN, NAN]], 0.1),
        _asks("shape", _SHAPE, False, [[1.0, 2.0, 3.0]], [1.0, 2.0, 3.0], 0.1),
        _asks("shape", _SHAPE, False, [1.0], [1.0, 1.0, 1.0], 0.1),
        _asks("shape", _SHAPE, False, [1.0, 2.0, 3.0], [1.0, 2.0], 0.1),
        _asks("shape", _SHAPE, False, [[1.0, 1.0, 1.0], [1.0, 1.0, 1.0]], [[1.0, 1.0], [1.0, 1.0], [1.0, 1.0]], 0.1),
        _asks("shape", _SHAPE, False, [[1.0], [1.0]], [[1.0, 1.0]], 0.1),
        _asks("shape", _SHAPE, False, [[1.0, 2.0]], [[1.0, 2.0], [1.0, 2.0]], 0.1),
        _asks("shape", _SHAPE, False, [[1.0, 1.0], [2.0, 2.0]], [[1.0], [2.0]], 0.1),
        _asks("shape", _SHAPE, False, [[[1.0, 2.0]]], [[1.0, 2.0]], 0.1),
        _asks("empty", _EMPTY, False, np.zeros(0), np.zeros(0), 0.1),
        _asks("empty", _EMPTY, False, np.zeros((2, 0)), np.zeros((2, 0)), 0.1),
        Case("empty", _EMPTY,
             Call("a = b = torch.zeros(0, 3) and atol = 0.1",
                  lambda: (tensor(np.zeros((3, 0))).T, tensor(np.zeros((3, 0))).T, 0.1)), _says(False),
             error_is_typical=True),
        Case("empty", _EMPTY,
             Call("a = b = torch.zeros(2, 0, 3) and atol = 0.1",
                  lambda: (tensor(np.zeros((2, 3, 0))).mT, tensor(np.zeros((2, 3, 0))).mT, 0.1)), _says(False),
             error_is_typical=True),
        _asks("empty", _EMPTY, False, np.zeros(0), [1.0], 0.1),
        _asks("empty", _EMPTY, False, np.zeros(0), np.zeros((2, 0)), 0.1),
        _asks("infinite", _INFINITE, False, [1.0, -INF], [1.0, 2.0], 0.1),
        _asks("infinite", _INFINITE, False, [1.0, 2.0], [INF, 2.0], 1e9),
        _asks("precision", "float64 holds differences that are lost in float32. Compare in the dtype of the arguments.",
              False,
              [1.0, 2.0], [1.0, 2.000000001], 1e-10, dtype="float64"),
        _asks("precision", "in float64 this difference is within the tolerance.",
              True, [1.0, 2.0], [1.0, 2.000000001], 1e-8,
              dtype="float64"),
        _asks("precision", "the logits may also be float16.", False, [1.0, 2.0], [1.0, 2.001953125], 0.001,
              dtype="float16"),
        Case("any-layout", "the numbers of this tensor lie in memory in another order, as they do after a transpose. "
             "`reshape` works there, and `view` does not.",
             Call("a transposed (2, 2, 3) tensor twice and atol = 0.1",
                  lambda: (transposed(_TURNED), transposed(_TURNED), 0.1)), _says(True), error_is_typical=True),
        _asks("any-size", "small tensors come out right and a larger one does not. Compare the whole tensor.", False,
              _LARGE, _LARGE_OTHER, 0.1, shown=f"{_LARGE_TEXT} twice, with 0.5 more at [1, 20, 50], and atol = 0.1"),
    ),
)  # fmt: skip

"""Exercise 11.allowed."""

# The reference is shown to learners as they would write it, without types.
# mypy: allow-untyped-defs

from collections.abc import Callable
from typing import Any

import numpy as np

from course_utils.checker.answers import as_array
from course_utils.checker.exercise import Call, Case, Equals, FunctionExercise, Holds, Raises, Recognises
from course_utils.exercises.common.filters import (
    A_MASK,
    ANY_SIZE,
    FINITE_FILL,
    FLOAT64,
    INF,
    PROBABILITIES,
    keep,
    mask_of,
    other_fill,
    probabilities_of,
)
from course_utils.exercises.common.hints import ANY_LAYOUT, AXIS_LOST, OTHER_CALL
from course_utils.exercises.common.inputs import Rows, made, tensor, transposed, turned_text
from course_utils.exercises.common.recognisers import any_of


def allowed(logits, allowed_ids):
    """The logits of what is allowed, unchanged, and -inf for the rest; the same ids for every row."""
    ids = [int(token_id) for token_id in allowed_ids]
    if not ids:
        raise ValueError("Nothing is allowed; expected at least one id.")
    if min(ids) < 0 or max(ids) >= logits.shape[-1]:
        raise ValueError(f"The ids go from {min(ids)} to {max(ids)}; expected 0 to {logits.shape[-1] - 1}.")
    kept = logits.new_full(logits.shape, float("-inf"))
    kept[..., ids] = logits[..., ids]
    return kept


def _as_int64(ids: list[int]) -> Any:
    return tensor(ids, "int64")


def _given(
    logits: Rows, ids: list[int], shown: str = "", make: Callable[[list[int]], Any] = list, dtype: str = "float32"
) -> Call:
    """A call with these arguments. make: what the ids are passed as."""
    kind = "the set of " if make is set else "the tensor of " if make is _as_int64 else ""
    shows = f"{shown or f'logits {np.asarray(logits).tolist()}'} and allowed_ids = {kind}{ids}"
    return Call(shows, lambda: (tensor(logits, dtype), make(ids)))


def _asks(
    hint_id: str,
    hint: str,
    logits: Rows,
    ids: list[int],
    shown: str = "",
    make: Callable[[list[int]], Any] = list,
    dtype: str = "float32",
) -> Case:
    """A case that asks for the masked logits."""
    call = _given(logits, ids, shown, make, dtype)
    return Case(hint_id, hint, call, Equals(keep(logits, lambda row: ids)), error_is_typical=True)


_ROW, _IDS = np.array([1.0, 3.0, 2.0, 0.5]), [2, 0]
_RIGHT = keep(_ROW, lambda row: _IDS)
_HAND = _given(_ROW, _IDS)
_TWO = [[1.0, 3.0, 2.0, 0.5], [9.0, -1.0, 8.0, 7.0]]
_TURNED = [[[1.0, 3.0, 2.0], [9.0, -1.0, 8.0]], [[4.0, 6.0, 5.0], [0.0, -2.0, -1.0]]]
_WIDE, _WIDE_TEXT = made(2, 3, 300, by=7, modulo=300, minus=150, over=4)
_RANGE = "allowed_ids may be a list, a set, a range or a tensor of ids, in any order."
_NOTHING = "if no id is allowed, there is nothing to draw from. Raise a ValueError."
_OUTSIDE = "an id outside the vocabulary is the caller's mistake. Raise a ValueError."


def _refuses(hint_id: str, hint: str, ids: list[int], make: Callable[[list[int]], Any] = list) -> Case:
    return Case(hint_id, hint, _given(_ROW, ids, make=make), Raises(ValueError))


def _is_another(value: Any, args: tuple) -> bool:
    """Whether the answer is not the argument itself."""
    return value is not args[0]


EXERCISE = FunctionExercise(
    id="11.allowed",
    writes="`allowed(logits, allowed_ids)`",
    contract="(..., V); list, set, range or 1-d int64 tensor, any order, repeats allowed, the same for all rows → a "
    "new tensor, allowed unchanged (-inf stays), others -inf; ValueError if empty or an id is outside 0 … V-1",
    difficulty="medium",
    minutes=10,
    hints=(
        "Begin with a tensor of the logits' shape that is full of -inf, and write the allowed logits into it.",
        "`kept[..., ids] = logits[..., ids]` picks the same ids in every row, whatever axes come before.",
        "Check the ids before you use them. Python would count a negative id from the end, without an error.",
    ),
    reference=allowed,
    cases=(
        Case("a-mask", A_MASK, _HAND, Recognises(mask_of(_RIGHT))),
        Case("values-only", "these are only the allowed logits. Return a whole row, in which every token keeps its "
             "place.", _HAND, Recognises(lambda value: as_array(value).shape == (2,))),
        Case("probabilities", PROBABILITIES, _HAND, Recognises(probabilities_of(_RIGHT))),
        Case("finite-fill", FINITE_FILL, _HAND, Recognises(other_fill(_ROW, _RIGHT))),
        Case("inverted", "the allowed tokens were dropped and the others kept. It should be the other way round.",
             _HAND,
             Recognises(keep(_ROW, lambda row: [1, 3]))),
        Case("changes-the-argument", "nothing was dropped, or the caller's own tensor was changed. Return a new "
             "tensor.", _HAND, Holds(_is_another)),
        Case("nothing-dropped", "every token is still possible. Set those that are not allowed to -inf.", _HAND,
             Recognises(any_of(_ROW))),
        Case("by-hand", "mark the allowed places by hand. Their logits stay unchanged, and all others become -inf.",
             _HAND,
             Equals(_RIGHT)),
        _asks("other-call", OTHER_CALL, [3.0, 0.5, 1.0, 2.0], [1], make=list),
        _asks("minus-inf", "an allowed token that already has -inf stays at -inf. Being allowed does not make it "
              "possible.", [-INF, 2.0, 1.0], [0, 2]),
        _asks("minus-inf", "a row may be left with no possible token. Do not refuse that here: the draw will.",
              [-INF, 2.0], [0]),
        _asks("repeats", "an id may come twice. Its logit still stays as it is.", _ROW, [3, 1, 3]),
        _asks("negative-logits", "0 and negative numbers are logits like any other.", [0.0, -1.0, -2.0], [0, 2]),
        _asks("any-container", _RANGE + " Here it is a set.", _ROW, [1, 3], make=set),
        _asks("any-container", _RANGE + " Here it is a tensor.", _ROW, [3, 0], make=_as_int64),
        _asks("any-container", _RANGE + " Here it is range(1, 3).", _ROW, [1, 2], make=lambda ids: range(1, 3)),
        _refuses("nothing-allowed", _NOTHING, []),
        _refuses("nothing-allowed", _NOTHING + " An empty set is no exception.", [], set),
        _refuses("outside", _OUTSIDE, [0, 4]),
        _refuses("outside", _OUTSIDE + " So is a negative id, although Python would count it from the end.",
                 [-1, 2]),
        _asks("per-row", "the same ids are allowed in every row, and each row keeps its own logits.", _TWO, [0, 3]),
        _asks("axis-lost", AXIS_LOST, [[1.0, 3.0, 2.0]], [1]),
        _asks("one-token", "the vocabulary has one token, and it is allowed. Nothing is dropped.", [[5.0]], [0]),
        _asks("float64", FLOAT64, [8.7109375, 3.8153076, 2.2001953], [1, 2], dtype="float64",
              shown="float64 logits [8.7109375, 3.8153076, 2.2001953]"),
        Case("any-layout", ANY_LAYOUT,
             Call(f"logits {turned_text(_TURNED)} and allowed_ids = [2, 0]", lambda: (transposed(_TURNED), [2, 0])),
             Equals(keep(_TURNED, lambda row: [2, 0])), error_is_typical=True),
        _asks("any-size", ANY_SIZE, _WIDE, [299, 128, 0, 257], shown=f"logits {_WIDE_TEXT}"),
    ),
)  # fmt: skip

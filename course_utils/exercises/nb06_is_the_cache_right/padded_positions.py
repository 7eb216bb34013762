"""Exercise 06.padded_positions."""

# The reference is shown to learners as they would write it, without types.
# mypy: allow-untyped-defs

import numpy as np

from course_utils.checker.answers import as_array, same
from course_utils.checker.exercise import Call, Case, Equals, FunctionExercise, Recognises
from course_utils.exercises.common.hints import ANY_LAYOUT, EARLIER_CALL
from course_utils.exercises.common.inputs import Rows, tensor
from course_utils.exercises.common.recognisers import any_of, is_int64, shaped


def padded_positions(attention_mask):
    """The position (B, T) of each token in its row, counted without the padding; a padding slot gets 0."""
    return (attention_mask.cumsum(-1) - 1).clamp_min(0) * attention_mask


def _positions(mask: Rows) -> list[list[int]]:
    """The oracle: slot by slot."""
    answer = []
    for row in np.asarray(mask).tolist():
        count, places = 0, []
        for real in row:
            places.append(count if real else 0)
            count += real
        answer.append(places)
    return answer


def _given(mask: Rows, shown: str = "", dtype: str = "int64") -> Call:
    """A call with this mask. shown: what is said of it, where it is not written out."""
    return Call(f"attention_mask {shown or np.asarray(mask).tolist()}", lambda: (tensor(mask, dtype),))


def _asks(hint_id: str, hint: str, mask: Rows, shown: str = "", dtype: str = "int64") -> Case:
    """A case that asks for the positions."""
    return Case(hint_id, hint, _given(mask, shown, dtype), Equals(_positions(mask)), error_is_typical=True)


def _padded(lengths: list[int], T: int, side: str) -> np.ndarray:
    """A mask by lengths: the real tokens on the right of left padding, or on the left of right padding."""
    place, n_real = np.arange(T), np.asarray(lengths)[:, None]
    return (place >= T - n_real if side == "left" else place < n_real).astype(int)


_LEFT = [[0, 0, 1, 1, 1], [1, 1, 1, 1, 1]]
_RIGHT = [[1, 1, 0, 0], [1, 1, 1, 1]]
_ON_LEFT = _given(_LEFT)
_ON_RIGHT = _given(_RIGHT)
_ARANGE = [[0, 1, 2, 3, 4]] * 2

_RAGGED = "the padding was left out of the answer. The answer has the shape of the mask, with 0 where the padding is."
_AXES = "the answer has the shape of the mask, (B, T), even where B or T is 1."
_FULL_FIRST = "the first row has no padding, which says nothing about the others. Each row has its own padding."
_ANY_SIZE = "small masks come out right and a larger one does not. There may be any number of rows and tokens."
_LONG = _padded([300, 1, 257, 128], 300, "left")
_BYTES = _padded([200, 150], 200, "left")

EXERCISE = FunctionExercise(
    id="06.padded_positions",
    writes="`padded_positions(attention_mask)`",
    contract="(B, T) of 0/1 → int64 (B, T); left or right padding; a masked slot gets 0",
    difficulty="medium",
    minutes=10,
    hints=(
        "A token's position is the number of real tokens that stand before it in its row.",
        "A running sum along the row counts real tokens, the current one included.",
        "Then look at the padding slots on both sides. What does your sum say there?",
    ),
    reference=padded_positions,
    cases=(
        Case("same-for-all", "every row got the same positions. Padding moves the tokens of a row to other slots, but "
             "their positions still begin at 0.", _ON_LEFT,
             Recognises(any_of(_ARANGE, _ARANGE[0], [[0, 0, 0, 1, 2]] * 2, [0, 0, 0, 1, 2]))),
        Case("slots-counted", "the tokens got the numbers of their slots. The first real token has position 0, "
             "however much padding comes before it.", _ON_LEFT, Recognises([[0, 0, 2, 3, 4], [0, 1, 2, 3, 4]])),
        Case("from-1", "a running sum counts the token itself, but positions begin at 0.", _ON_LEFT,
             Recognises(any_of([[0, 0, 1, 2, 3], [1, 2, 3, 4, 5]], [[1, 1, 1, 2, 3], [1, 2, 3, 4, 5]]))),
        Case("negative", "padding on the left got negative positions. A masked slot gets 0.", _ON_LEFT,
             Recognises(lambda value: (as_array(value) < 0).any())),
        Case("other-fill", "a masked slot gets 0. (Some libraries use 1, which serves a model as well, but this "
             "exercise wants 0.)", _ON_LEFT,
             Recognises(lambda value: as_array(value).tolist() == [[1, 1, 0, 1, 2], [0, 1, 2, 3, 4]])),
        Case("the-mask", "this is the mask. Return how many real tokens come before each token.", _ON_LEFT,
             Recognises(_LEFT)),
        Case("lengths", "this is one number for each row. Return a position for each slot.", _ON_LEFT,
             Recognises(lambda value: as_array(value).size == 2)),
        Case("wrong-axis", "the sum runs over the batch. Sum along each row.", _ON_LEFT,
             Recognises(any_of([[0, 0, 0, 0, 0], [0, 0, 1, 1, 1]], [[0, 0, 1, 1, 1], [1, 1, 2, 2, 2]]))),
        Case("from-the-end", "positions were counted from the right. The first token of a text has position 0.",
             _ON_LEFT,
             Recognises(any_of([[0, 0, 2, 1, 0], [4, 3, 2, 1, 0]], [[4, 3, 2, 1, 0]] * 2))),
        Case("ragged", _RAGGED, _ON_LEFT, Recognises(shaped(8))),
        Case("ragged", _RAGGED, _ON_LEFT, Recognises(lambda value: len(value[0]) == 3)),
        Case("not-int64", "the numbers are right, but their dtype is wrong. Positions index a table, and floats or "
             "small integers cannot do that. Use int64.", _ON_LEFT,
             Recognises(lambda value: same(value, _positions(_LEFT)) and not is_int64(value))),
        _asks("by-hand", "write the mask on paper, and number the real tokens of each row from 0.", _LEFT),
        Case("goes-on-to-the-right", "padding on the right got the position of the last token, or the count went on. "
             "A masked slot gets 0.", _ON_RIGHT, Recognises(any_of([[0, 1, 1, 1], [0, 1, 2, 3]], [[0, 1, 2, 3]] * 2))),
        Case("left-only", "this is right for padding on the left. Here the padding is on the right, and the first "
             "tokens are real.",
             _ON_RIGHT, Equals(_positions(_RIGHT)), error_is_typical=True),
        _asks("earlier-call", EARLIER_CALL, [[0, 0, 0, 1, 1], [0, 1, 1, 1, 1]]),
        _asks("first-row", _FULL_FIRST, [[1, 1, 1], [0, 1, 1]]),
        _asks("first-row", _FULL_FIRST, [[1, 1, 1], [1, 1, 0]]),
        _asks("first-row", _FULL_FIRST, [[0, 0, 1, 1], [0, 1, 1, 1], [1, 1, 1, 1]]),
        _asks("one-token", "a row may hold a single token, at position 0.", [[0, 0, 0, 1], [0, 1, 1, 1]]),
        _asks("one-token", "this row has one token and padding on its right. The token has position 0, and the "
              "padding gets 0.",
              [[1, 0, 0], [1, 1, 0]]),
        _asks("no-padding", "without padding, the positions are the numbers of the slots.", [[1, 1, 1], [1, 1, 1]]),
        _asks("axes", _AXES, [[0, 1, 1]]),
        _asks("axes", _AXES, [[1], [1], [1]]),
        _asks("axes", _AXES, [[1]]),
        _asks("square", "this mask is square, so its shape does not show a wrong axis. Sum along the last axis.",
              [[0, 1, 1], [1, 1, 1], [0, 0, 1]]),
        Case("any-layout", ANY_LAYOUT,
             Call("attention_mask torch.tensor([[1, 0], [1, 1], [1, 1]]).T",
                  lambda: (tensor([[1, 0], [1, 1], [1, 1]], "int64").T,)), Equals(_positions([[1, 1, 1], [0, 1, 1]])),
             error_is_typical=True),
        _asks("any-size", _ANY_SIZE, _LONG, shown="of rows with 300, 1, 257 and 128 tokens, padded on the left to 300"),
        _asks("any-size", _ANY_SIZE, _padded([1, 2, 3] * 20, 3, "right"),
              shown="of 60 rows with 1, 2, 3, 1, 2, 3, … tokens, padded on the right to 3"),
        _asks("any-size", _ANY_SIZE, _padded([2500, 1, 2051], 2500, "right"),
              shown="of rows with 2500, 1 and 2051 tokens, padded on the right to 2500"),
        _asks("any-dtype", "a mask may have a narrow dtype such as int8, which cannot hold a position above 127. "
              "Return int64.", _BYTES, dtype="int8",
              shown="in int8, of rows with 200 and 150 tokens, padded on the left"),
    ),
)  # fmt: skip

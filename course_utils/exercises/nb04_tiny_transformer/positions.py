"""Exercise 04.positions."""

# The reference is shown to learners as they would write it, without types. It imports torch itself, since the list of
# exercises must be read without torch.
# mypy: allow-untyped-defs

from course_utils.checker.answers import as_array, same
from course_utils.checker.exercise import Call, Case, Equals, FunctionExercise, Recognises
from course_utils.exercises.common.recognisers import any_of, is_int64, shaped


def new_positions(n_cached, n_new):
    """The positions of n_new tokens that follow n_cached ones: int64 (n_new,)."""
    import torch

    return torch.arange(n_cached, n_cached + n_new)


def _positions(n_cached: int, n_new: int) -> list[int]:
    """The oracle: the next free place, n_new times, in plain Python."""
    taken = n_cached
    positions = []
    for _ in range(n_new):
        positions.append(taken)
        taken += 1
    return positions


def _given(n_cached: int, n_new: int) -> Call:
    return Call(f"n_cached = {n_cached} and n_new = {n_new}", lambda: (n_cached, n_new))


def _asks(hint_id: str, hint: str, n_cached: int, n_new: int) -> Case:
    """A case that asks for the positions."""
    return Case(hint_id, hint, _given(n_cached, n_new), Equals(_positions(n_cached, n_new)), error_is_typical=True)


def _typed(n_cached: int, n_new: int) -> Case:
    """A case that looks at the dtype only."""
    want = _positions(n_cached, n_new)
    other_dtype = Recognises(lambda value: same(value, want) and not is_int64(value))
    return Case("not-int64", _NOT_INT64, _given(n_cached, n_new), other_dtype)


def _one_position(value: object) -> bool:
    """Which of the two positions it is, or the sum, does not matter."""
    return as_array(value).size == 1 and float(as_array(value).reshape(-1)[0]) in (2, 3, 4, 5)


_NOT_INT64 = (
    "the numbers are right, but their dtype is wrong. Positions index a table, and floats or small integers cannot do "
    "that. Use int64."
)
_KEPT = (
    "this continues an earlier call, or repeats its answer. Keep nothing between calls: the arguments hold all that "
    "you need."
)
_EMPTY = "nothing is cached yet, so the very first token stands at position 0."
_ONE = "one new token has one position, n_cached. Return it as a tensor of the shape (1,)."
_SIZES = "n_cached and n_new do not depend on each other. Either may be the larger one."
_ANY_SIZE = (
    "small numbers come out right and larger ones do not. Look for a limit in the code, or for a dtype that is too "
    "small for the positions."
)
_HAND = _given(3, 2)

EXERCISE = FunctionExercise(
    id="04.positions",
    writes="`new_positions(n_cached, n_new)`",
    contract="integers (n_new,): the positions of n_new tokens after n_cached ones; both may be 0",
    difficulty="easy",
    minutes=5,
    hints=(
        "Positions count from 0, so cached tokens stand at 0 up to n_cached - 1. Where does the next one stand?",
        "The n_new tokens are neighbours: each stands one position after the one before.",
        "`torch.arange(start, end)` leaves out the end, and gives int64 for whole numbers.",
    ),
    reference=new_positions,
    cases=(
        Case("after-the-new", "these positions come after the new tokens. Only the n_cached tokens stand before the "
             "first new one.", _HAND, Recognises([5, 6])),
        Case("kept", _KEPT, Call("n_cached = 3 and n_new = 2, in a second call", lambda: (3, 2)),
             Recognises(any_of([5, 6], [6, 7]))),
        Case("from-zero", "these positions begin at 0, as if no token came before. The cached tokens stand there "
             "already.", _HAND, Recognises([0, 1])),
        Case("counted-from-one", "each position is one too far. Positions count from 0, so three tokens fill 0, 1 and "
             "2.", _HAND, Recognises([4, 5])),
        Case("last-again", "the first of these positions is already taken by the last cached token.", _HAND,
             Recognises([2, 3])),
        Case("cached-too", "these are the positions of all tokens. Return only those of the new ones.", _HAND,
             Recognises(any_of([0, 1, 2, 3, 4], [0, 1, 2]))),
        Case("swapped", "the two arguments are swapped: this answer is for three new tokens after two cached ones.",
             _HAND,
             Recognises([2, 3, 4])),
        Case("begin-and-end", "this is where the new tokens begin and end. Return the position of each token.", _HAND,
             Recognises([3, 5])),
        Case("one-too-many", "there is one position too many. The end of a range does not belong to the range.", _HAND,
             Recognises(any_of([3, 4, 5], [2, 3, 4, 5]))),
        Case("one-for-all", "all new tokens got the same position. Each one stands one position after the one before.",
             _HAND,
             Recognises(any_of([2, 2], [3, 3], [4, 4], [5, 5]))),
        Case("one-number", "this is one number. Return a position for each new token, (n_new,).", _HAND,
             Recognises(_one_position)),
        Case("backwards", "the positions are in falling order. The first new token comes first.",
             _HAND, Recognises([4, 3])),
        Case("extra-axis", "the answer has an axis too many. Its shape should be (n_new,).", _HAND,
             Recognises(lambda value: shaped(1, 2)(value) or shaped(2, 1)(value))),
        _typed(3, 2),
        _asks("by-hand", "the cached tokens stand at 0, 1 and 2. Which places do the next two take?", 3, 2),
        Case("kept", _KEPT, Call("n_cached = 6 and n_new = 2, after a call with 3 and 2", lambda: (6, 2)),
             Recognises([3, 4])),
        _asks("nothing-cached", _EMPTY, 0, 4),
        _asks("nothing-cached", _EMPTY, 0, 1),
        _asks("one-token", _ONE, 7, 1),
        _asks("one-token", _ONE, 1, 1),
        _asks("sizes", _SIZES, 2, 5),
        _asks("sizes", _SIZES, 4, 4),
        _asks("sizes", _SIZES, 9, 3),
        _asks("sizes", _SIZES, 1, 2),
        _asks("sizes", _SIZES, 6, 2),
        _asks("any-size", _ANY_SIZE, 31, 33),
        _asks("any-size", _ANY_SIZE, 126, 5),
        _asks("any-size", _ANY_SIZE, 254, 4),
        _asks("any-size", _ANY_SIZE, 511, 3),
        _asks("any-size", _ANY_SIZE, 5, 1100),
        _asks("any-size", _ANY_SIZE, 2047, 4),
        _asks("any-size", _ANY_SIZE, 100_000, 3),
        _asks("any-size", _ANY_SIZE, 300, 1),
        _asks("any-size", _ANY_SIZE, 0, 300),
        *(_asks("one-token", _ONE, n_cached, 1) for n_cached in range(1, 7)),
        *(_asks("sizes", _SIZES, n_cached, n_new) for n_cached in range(1, 7) for n_new in range(2, 7)),
        *(_typed(n_cached, n_new) for n_cached in (0, 1, 2, 4, 7, 300, 100_000) for n_new in (1, 2, 3, 4, 20)),
        _asks("none-new", "there is no new token, so the answer is an empty tensor of the shape (0,). (In Python -0 "
              "is 0, so a slice that begins at -n_new would hold everything.)", 3, 0),
        _asks("none-new", "there is no new token after many cached ones. The answer is still empty, with the shape "
              "(0,).", 300, 0),
        _asks("none-new", "nothing is cached and nothing is new. The answer is empty, with the shape (0,).", 0, 0),
    ),
)  # fmt: skip

"""Exercise 10.slots. The blocks of a table are no small numbers in order, so that each mistake shows."""

# The reference is shown to learners as they would write it, without types.
# mypy: allow-untyped-defs

from collections.abc import Callable

from course_utils.checker.answers import as_array
from course_utils.checker.exercise import Call, Case, Equals, FunctionExercise, Holds, Raises, Recognises
from course_utils.exercises.common.hints import EARLIER_CALL
from course_utils.exercises.common.recognisers import any_of


def slots(block_table, n_tokens, block_size):
    """The block and the offset in it of each of the first n_tokens tokens of a text."""
    if n_tokens > len(block_table) * block_size:
        raise ValueError(
            f"n_tokens is {n_tokens}; {len(block_table)} blocks of {block_size} hold {len(block_table) * block_size}."
        )
    return [(block_table[i // block_size], i % block_size) for i in range(n_tokens)]


def _slots(table: list[int], n: int, size: int) -> list[list[int]]:
    """The oracle: fill block after block, and stop after n tokens."""
    filled = []
    for block in table:
        for offset in range(size):
            filled.append([block, offset])
    return filled[:n]


def _given(table: list[int], n: int, size: int) -> Call:
    shows = f"block_table = {table if len(table) < 9 else 'range(999, 0, -3) as a list'}, n_tokens = {n}"
    return Call(f"{shows} and block_size = {size}", lambda: (list(table), n, size))


def _asks(hint_id: str, hint: str, table: list[int], n: int, size: int) -> Case:
    return Case(hint_id, hint, _given(table, n, size), Equals(_slots(table, n, size)), error_is_typical=True)


def _nothing(hint_id: str, hint: str, table: list[int], size: int) -> Case:
    """A case without tokens: an empty list, or an array without rows."""
    empty = Holds(lambda value, args: as_array(value).shape in ((0,), (0, 2)))
    return Case(hint_id, hint, _given(table, 0, size), empty, error_is_typical=True)


def _refuses(table: list[int], n: int, size: int) -> Case:
    return Case("too-short", _TOO_SHORT, _given(table, n, size), Raises(ValueError))


_TABLE, _N, _SIZE = [6, 2, 9], 8, 3
_RIGHT = _slots(_TABLE, _N, _SIZE)
_HAND = _given(_TABLE, _N, _SIZE)


def _is(of: Callable[[int], object]) -> Recognises:
    """Recognises the answer that has `of(i)` for token i."""
    return Recognises([of(i) for i in range(_N)])


_TOO_SHORT = (
    "this table has too few blocks for so many tokens. Raise a ValueError, because a token without a slot would be "
    "lost or written over another one."
)
_EMPTY = "0 tokens fill no slot, so the answer is an empty list, whatever the table holds."

EXERCISE = FunctionExercise(
    id="10.slots",
    writes="`slots(block_table, n_tokens, block_size)`",
    contract="list of (block, offset), for token i (block_table[i // block_size], i % block_size); the table may be "
    "longer and in any order; 0 tokens → []; ValueError if the table is too short",
    difficulty="easy",
    minutes=8,
    hints=(
        "The tokens 0 to block_size - 1 lie in the first block of the table, and the next block_size tokens in the "
        "second.",
        "How many full blocks come before token i? And how many tokens come before it in its own block?",
        "`i // block_size` is a place in the table, not the number of a block. The table says which block it is.",
    ),
    reference=slots,
    cases=(
        Case("table-unused", "the first number of each pair is a place in the table. Look up which block stands there.",
             _HAND, _is(lambda i: (i // _SIZE, i % _SIZE))),
        Case("earlier-call", EARLIER_CALL, Call(f"{_HAND.shows}, in a second call", _HAND.args),
             Recognises(lambda value: len(as_array(value)) == 2 * _N)),
        Case("pair-turned", "the two numbers of each pair are swapped. The block comes first.", _HAND,
             _is(lambda i: (i % _SIZE, _TABLE[i // _SIZE]))),
        Case("offset-in-text", "the offsets go on counting from block to block. In each block they begin at 0.",
             _HAND,
             _is(lambda i: (_TABLE[i // _SIZE], i))),
        Case("from-one", "offsets count from 0, because the first token of a block has nothing before it.", _HAND,
             _is(lambda i: (_TABLE[i // _SIZE], i % _SIZE + 1))),
        Case("turns", "neighbouring tokens went to different blocks. Fill each block before you begin the next one.",
             _HAND, Recognises(any_of([(_TABLE[i % 3], i // 3) for i in range(_N)],
                                      [(_TABLE[i % 3], i % 3) for i in range(_N)]))),
        Case("sorted", "the blocks were put into another order. The order of the table is the order of the text.",
             _HAND,
             Recognises(any_of(*(_slots(table, _N, _SIZE) for table in (sorted(_TABLE), _TABLE[::-1]))))),
        Case("one-number", "this is one number for each token, such as block * block_size + offset. Return a pair for "
             "each token.", _HAND, Recognises(lambda value: as_array(value).shape == (_N,))),
        Case("whole-table", "there are more slots than tokens. The last block of a table need not be full.", _HAND,
             Recognises(_slots(_TABLE, 9, _SIZE))),
        Case("full-blocks-only", "the tokens of the last block are missing, since they do not fill it.", _HAND,
             Recognises(_slots(_TABLE, 6, _SIZE))),
        Case("one-slot", "this is the place of one token. Return a pair for each of the n_tokens tokens.", _HAND,
             Recognises(lambda value: as_array(value).size == 2)),
        Case("block-early", "the next block begins one token too early or too late. Tokens count from 0, so the first "
             "block holds the tokens 0 to block_size - 1.", _HAND,
             Recognises(any_of([(_TABLE[(i + 1) // _SIZE % 3], (i + 1) % _SIZE) for i in range(_N)],
                               [(_TABLE[(i + 1) // _SIZE % 3], i % _SIZE) for i in range(_N)],
                               [(_TABLE[max(i - 1, 0) // _SIZE], i % _SIZE) for i in range(_N)]))),
        Case("by-hand", "write down the table's blocks, draw block_size slots for each, and fill them with the tokens "
             "0, 1, 2, … in order.", _HAND, Equals(_RIGHT), error_is_typical=True),
        _asks("size-fixed", "another block size comes out wrong. Look for a number that is fixed in the code.",
              [4, 1, 3], 5, 2),
        _asks("block-of-one", "a block may hold a single token. Then every offset is 0.", [5, 0, 8], 3, 1),
        _asks("longer-table", "a table may have more blocks than the tokens need, as room for later tokens.",
              [7, 3, 5, 1], 2, 2),
        _asks("just-full", "the tokens fill the blocks of the table exactly. That is enough room.", [8, 4], 6, 3),
        _nothing("no-token", _EMPTY, [3, 1], 4),
        _nothing("no-token", _EMPTY, [], 4),
        _refuses([6, 2, 9], 10, 3),
        _refuses([6], 9, 2),
        _refuses([], 1, 4),
        _asks("any-size", "a long text comes out wrong. Look for a limit in the code, or for a block number that is "
              "cut off.", list(range(999, 0, -3)), 2600, 8),
    ),
)  # fmt: skip

"""Exercise 10.admit. A prompt needs room for its own tokens and for the first new one."""

# The reference is shown to learners as they would write it, without types.
# mypy: allow-untyped-defs

from course_utils.checker.answers import as_array
from course_utils.checker.exercise import Call, Case, Equals, FunctionExercise, Recognises
from course_utils.exercises.common.recognisers import any_of


def admit(waiting, free_blocks, block_size):
    """How many prompts from the front of the queue may begin."""
    n = 0
    for n_tokens in waiting:
        free_blocks -= -(-(n_tokens + 1) // block_size)
        if free_blocks < 0:
            break
        n += 1
    return n


def _admitted(waiting: list[int], free: int, size: int) -> int:
    """The oracle: give blocks to one token after the other, and count the prompts that get all of theirs."""
    admitted = 0
    for n_tokens in waiting:
        blocks = {place // size for place in range(n_tokens + 1)}
        if len(blocks) > free:
            return admitted
        free -= len(blocks)
        admitted += 1
    return admitted


def _given(waiting: list[int], free: int, size: int, shows: str = "") -> Call:
    return Call(
        f"waiting = {shows or waiting}, free_blocks = {free} and block_size = {size}",
        lambda: (list(waiting), free, size),
    )


def _asks(hint_id: str, hint: str, waiting: list[int], free: int, size: int, shows: str = "") -> Case:
    right = Equals(_admitted(waiting, free, size))
    return Case(hint_id, hint, _given(waiting, free, size, shows), right, error_is_typical=True)


_HAND = _given([5, 3, 9, 1], 7, 4)  # 2 + 1 + 3 + 1 blocks: all four
_PART = _given([9, 20], 7, 4)  # 3 blocks, then 6 that do not fit
_ALIKE = _given([5] * 6, 4, 4)  # 2 blocks each
_GAP, _LONG_FIRST = _given([5, 20, 3, 1], 4, 4), _given([9, 1, 2], 3, 4)
_MANY = [place * 11 % 40 + 1 for place in range(500)]

_BY_HAND = "write down how many blocks each prompt needs, and subtract these from the free blocks one after the other."

EXERCISE = FunctionExercise(
    id="10.admit",
    writes="`admit(waiting, free_blocks, block_size)`",
    contract="how many prompts from the front may begin; a prompt of n tokens needs ceil((n + 1) / block_size) "
    "blocks of "
    "its own; at the first that does not fit it ends",
    difficulty="medium",
    minutes=10,
    hints=(
        "Go through the queue from the front, and keep count of the blocks that are left.",
        "A prompt of n tokens needs room for n + 1 tokens, because the first new token follows at once.",
        "`-(-x // y)` divides and rounds up. So does `math.ceil(x / y)` as long as x is small.",
        "Stop at the first prompt that does not fit, even if a later one would fit: first come, first served.",
    ),
    reference=admit,
    cases=(
        Case("not-a-number", "this is a list or a text. Return the number of prompts, as an int.", _HAND,
             Recognises(lambda value: as_array(value).ndim > 0)),
        Case("blocks", "this is a number of blocks, used or left. Return the number of prompts that may begin.", _PART,
             Recognises(any_of(3, 4))),
        Case("nobody", "the first prompt fits, but it was refused together with the one that does not.",
             _PART, Recognises(0)),
        Case("round-up", "the number of blocks was not rounded up. A part of a block takes a whole block.", _ALIKE,
             Recognises(4)),
        Case("each-alone", "each prompt was compared with all free blocks. Subtract the blocks that the prompts "
             "before it take.",
             _ALIKE, Recognises(6)),
        Case("one-more", "a prompt that fills its blocks has no room for its first new token. A prompt of n tokens "
             "needs room for n + 1.", _given([4, 4], 2, 4), Recognises(2)),
        Case("own-blocks", "the tokens of several prompts were put into one block. Each prompt has its own blocks, "
             "and the rest of its last block stays empty.", _given([1] * 5, 2, 4), Recognises(4)),
        Case("shortest-first", "the queue was put into another order. Keep the order in which the prompts came.",
             _LONG_FIRST,
             Recognises(2)),
        Case("passes-over", "a later prompt was admitted before one that does not fit. If smaller prompts kept "
             "coming, that one would wait for ever. First come, first served.", _GAP, Recognises(3)),
        Case("exactly-full", "a prompt may take the last free block.", _given([3, 3], 2, 4), Recognises(1)),
        Case("by-hand", _BY_HAND, _HAND, Equals(4), error_is_typical=True),
        Case("by-hand", _BY_HAND, _PART, Equals(1), error_is_typical=True),
        Case("by-hand", _BY_HAND, _ALIKE, Equals(2), error_is_typical=True),
        Case("by-hand", _BY_HAND, _LONG_FIRST, Equals(1), error_is_typical=True),
        Case("by-hand", _BY_HAND, _GAP, Equals(1), error_is_typical=True),
        _asks("by-hand", _BY_HAND, [4, 4], 2, 4),
        _asks("by-hand", _BY_HAND, [1] * 5, 2, 4),
        _asks("by-hand", _BY_HAND, [3, 3], 2, 4),
        _asks("tokens", "tokens and blocks are different units. Divide by block_size before you compare with the free "
              "blocks.", [30, 30], 12, 8),
        _asks("empty-queue", "nobody waits, so nobody begins.", [], 5, 4),
        _asks("no-block", "no block is free, so nobody begins.", [1, 1], 0, 4),
        _asks("block-of-one", "a block may hold a single token. Then a prompt of n tokens needs n + 1 blocks.",
             [2, 1, 1], 5, 1),
        _asks("room-for-all", "everyone fits, and the queue ends before the blocks do.", [2, 2], 50, 16),
        _asks("any-size", "a long queue comes out wrong. Look for a limit in the code.", _MANY, 1200, 8,
              "[i * 11 % 40 + 1 for i in range(500)]"),
    ),
)  # fmt: skip

"""Exercise 10.shared_blocks. What is known are whole beginnings of texts, and some of them may have been forgotten."""

# The reference is shown to learners as they would write it, without types.
# mypy: allow-untyped-defs

from collections.abc import Iterable

from course_utils.checker.answers import as_array
from course_utils.checker.exercise import Call, Case, Equals, FunctionExercise, Recognises

Tokens = tuple[int, ...]


def shared_blocks(token_ids, known, block_size):
    """How many full blocks at the beginning of a text are known, its last token left out."""
    n = 0
    while (n + 1) * block_size < len(token_ids) and tuple(token_ids[: (n + 1) * block_size]) in known:
        n += 1
    return n


def _shared(token_ids: list[int], known: Iterable[Tokens], size: int) -> int:
    """The oracle: try every number of blocks, and keep the largest for which all smaller ones hold too."""
    beginnings = {beginning for beginning in known if list(beginning) == token_ids[: len(beginning)]}
    lengths = {len(beginning) for beginning in beginnings}
    possible = [n for n in range((len(token_ids) - 1) // size + 1) if {j * size for j in range(1, n + 1)} <= lengths]
    return max(possible)


def _given(token_ids: list[int], known: Iterable[Tokens], size: int, shows: str = "") -> Call:
    said = "{" + ", ".join(map(str, sorted(known))) + "}" if known else "set()"
    shows = shows or f"token_ids = {token_ids}, known = {said} and block_size = {size}"
    return Call(shows, lambda: (list(token_ids), set(known), size))


def _asks(hint_id: str, hint: str, token_ids: list[int], known: Iterable[Tokens], size: int, shows: str = "") -> Case:
    right = Equals(_shared(token_ids, known, size))
    return Case(hint_id, hint, _given(token_ids, known, size, shows), right, error_is_typical=True)


def _beginnings(token_ids: list[int], *lengths: int) -> list[Tokens]:
    return [tuple(token_ids[:length]) for length in lengths]


_IDS = [3, 1, 4, 1, 5, 9, 2, 6, 8, 7, 5, 3]
_HAND = _given(_IDS, _beginnings(_IDS, 2, 4, 6), 2)  # 3
_LONG = [place * 7 % 50 for place in range(1201)]
_EVERY = _beginnings(_LONG, *range(1, 1202))
_LAST = (
    "the last token must always be fed, because its logits choose the next token. So do not count its block, even if "
    "that is full and known."
)
_GAP = (
    "a block after an unknown one was counted. Each block depends on all tokens before it, so sharing stops at the "
    "first gap."
)

EXERCISE = FunctionExercise(
    id="10.shared_blocks",
    writes="`shared_blocks(token_ids, known, block_size)`",
    contract="the largest n <= (len(token_ids) - 1) // block_size such that for every j = 1 … n "
    "tuple(token_ids[: j * block_size]) is in known",
    difficulty="medium",
    minutes=10,
    hints=(
        "A block may be shared only if the whole text up to the block's end is known, not only the block's own tokens.",
        "Begin with n = 0. As long as the text up to the end of the next block is known, take one more.",
        "A list cannot be looked up in a set, but a tuple can: `tuple(token_ids[:6])`.",
        "Stop before the last token: (n + 1) * block_size must be smaller than the number of tokens.",
    ),
    reference=shared_blocks,
    cases=(
        Case("not-a-number", "this is a list, a set or a text. Return the number of blocks, as an int.", _HAND,
             Recognises(lambda value: as_array(value).ndim > 0)),
        Case("tokens", "this is a number of tokens. Return the number of blocks.", _HAND, Recognises(6)),
        Case("one-too-many", "this counts the first unknown block as well. Return how many blocks come before it.",
             _HAND, Recognises(4)),
        Case("every-known", "this is the number of known texts, but not all of them are beginnings of this text.",
             _given(_IDS, [*_beginnings(_IDS, 2, 4), (7, 7), (1, 1), (3,), (3, 1, 4)], 2), Recognises(6)),
        Case("by-hand", "cut the text into blocks. Is the text up to the end of the first one known? Up to the end of "
             "the second? Count until the answer is no. A list is looked up in a set as a tuple.", _HAND, Equals(3),
             error_is_typical=True),
        _asks("block-alone", "a block was looked up by its own tokens. After another beginning, the same tokens give "
              "other keys and values. Look up the whole text up to the block's end.",
              _IDS, [(3, 1), (4, 1), (5, 9)], 2),
        _asks("longest-known", "a longer text with the same beginning is known, but the text up to this block's end "
              "is not. Only what is in `known` counts.",
              _IDS, _beginnings(_IDS, 5, 9), 2),
        _asks("gap", _GAP, _IDS, _beginnings(_IDS, 2, 6, 8), 2),
        _asks("last-token", _LAST, _IDS, _beginnings(_IDS, 2, 4, 6, 8, 10, 12), 2),
        _asks("last-token", _LAST, _IDS[:2], _beginnings(_IDS, 2), 2),
        _asks("partial-block", "a block that is not full was counted. It cannot be shared, because its next token may "
              "differ.",
              _IDS[:9], _beginnings(_IDS, 4, 8, 9), 4),
        _asks("same-length", "a known text has the right length but other tokens. Compare the tokens.", _IDS,
              [(3, 1), (3, 1, 4, 2), (3, 1, 4, 1, 5, 8)], 2),
        _asks("nothing-known", "nothing is known, so nothing is shared.", _IDS, [], 2),
        _asks("short-text", "a text may be shorter than a block. Then it has no full block.",
             [3], _beginnings(_IDS, 1), 4),
        _asks("short-text", "a text of one token shares nothing, because that token must be fed.",
              [3], _beginnings(_IDS, 1), 1),
        _asks("block-of-one", "a block may hold a single token.", _IDS[:5], _beginnings(_IDS, 1, 2, 3), 1),
        _asks("id-zero", "0 is a token like any other.", [0, 0, 0, 0, 0], [(0, 0), (0, 0, 0, 0)], 2),
        _asks("any-size", "a long text comes out wrong. Look for a limit in the code.", _LONG, _EVERY, 16,
              "token_ids = [i * 7 % 50 for i in range(1201)], all of its beginnings known, and block_size = 16"),
    ),
)  # fmt: skip

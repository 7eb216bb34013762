"""Exercise 04.causal_mask. Its answers are True and False, which other exercises do not take for numbers."""

# The reference is shown to learners as they would write it, without types. It imports torch itself, since the list of
# exercises must be read without torch.
# mypy: allow-untyped-defs

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from course_utils.checker.answers import as_array
from course_utils.checker.exercise import Call, Case, FunctionExercise, Holds, Recognises
from course_utils.exercises.common.inputs import Rows


def causal_mask(n_query, n_key):
    """Which keys each query may attend to: bool (n_query, n_key); the queries are the last tokens."""
    import torch

    queries = torch.arange(n_key - n_query, n_key)[:, None]  # their positions, as a column
    keys = torch.arange(n_key)[None, :]  # as a row
    return keys <= queries


_MOST = 1_000_000  # entries of an answer that are read


def _bools(value: Any) -> np.ndarray:
    """The answer as a bool array. Raises ValueError for anything else than True and False in rows of equal length."""
    array = np.asarray(_plain(value))
    if array.dtype.kind != "b":
        raise ValueError(f"dtype {array.dtype}")
    return array


def _plain(value: Any) -> Any:
    """Python's own values in nested lists, for a tensor, an array, or lists of these."""
    size = value.numel() if hasattr(value, "numel") else getattr(value, "size", 0)
    if size > _MOST:
        raise ValueError("far too large")
    if hasattr(value, "tolist"):
        return value.tolist()
    return [_plain(item) for item in value] if isinstance(value, list | tuple) else value


def _rows(n_query: int, n_key: int, may: Callable[[int, int], bool]) -> list[list[bool]]:
    """may(position of the query, position of the key); the queries are the last n_query positions."""
    return [[may(n_key - n_query + row, column) for column in range(n_key)] for row in range(n_query)]


@cache
def _mask(n_query: int, n_key: int) -> np.ndarray:
    """The oracle: position by position, in plain Python."""
    return np.array(_rows(n_query, n_key, lambda query, key: key <= query))


def _equals(*answers: Rows) -> Callable[[object], bool]:
    """Recognises each of these masks."""
    arrays = [np.array(answer, dtype=bool) for answer in answers]
    return lambda value: any(np.array_equal(_bools(value), array) for array in arrays)


def _shaped(*shapes: tuple[int, int]) -> Callable[[object], bool]:
    """Recognises a mask by its shape."""
    return lambda value: _bools(value).shape in shapes


def _added(value: object) -> bool:
    """Numbers to add to scores: 0, and a very small one."""
    array = as_array(value)
    return bool((array == 0).any() and (array < -1e3).any() and ((array == 0) | (array < -1e3)).all())


def _numbers(value: object) -> bool:
    return as_array(value).size > 0


def _given(n_query: int, n_key: int) -> Call:
    return Call(f"n_query = {n_query} and n_key = {n_key}", lambda: (n_query, n_key))


def _asks(hint_id: str, hint: str, n_query: int, n_key: int) -> Case:
    """A case that asks for the whole mask. It is made when a check runs: the large ones take a moment."""
    test = Holds(lambda value, args: np.array_equal(_bools(value), _mask(*args)))
    return Case(hint_id, hint, _given(n_query, n_key), test, error_is_typical=True)


_ONE_OF_ONE = "the very first token attends to itself. The answer has one row and one column, (1, 1)."


def _small(sizes: tuple[int, int]) -> Case:
    """A case of a few tokens, with the hint that fits: nothing cached, one query, or a chunk behind a cache."""
    n_query, n_key = sizes
    if n_key == 1:
        return _asks("one-of-one", _ONE_OF_ONE, *sizes)
    if n_query == n_key:
        return _asks("nothing-cached", _ALL_NEW, *sizes)
    return _asks("one-query", _ONE_QUERY, *sizes) if n_query == 1 else _asks("chunk", _CHUNK, *sizes)


_ALL_SMALL = [(n_query, n_key) for n_key in range(1, 9) for n_query in range(1, n_key + 1)]
_HAND = _given(3, 5)
_RIGHT = _mask(3, 5)
_BACK = "the mask of an earlier call came back. Keep nothing between calls: the two numbers of this call decide."
_FIXED = (
    "small masks come out right and a larger one does not. Look for a size that is fixed in the code, or for "
    "positions in a dtype that is too small for them."
)
_ALL_NEW = "nothing is cached here, so the queries are all the tokens. Query i may attend to the keys 0 to i."
_ONE_QUERY = "a single new token is the last of all, so it may attend to every key. The answer is one row, (1, n_key)."
_CHUNK = (
    "any number of queries may follow any number of earlier tokens. Query i stands at position n_key - n_query + i."
)

EXERCISE = FunctionExercise(
    id="04.causal_mask",
    writes="`causal_mask(n_query, n_key)`",
    contract="bool (n_query, n_key), True = may attend, aligned bottom-right; 1 <= n_query <= n_key",
    difficulty="medium",
    minutes=10,
    hints=(
        "The queries are the last n_query of the n_key tokens. At which position does query 0 stand?",
        "Query i stands at position n_key - n_query + i. It may attend to the keys from position 0 up to its own "
        "position.",
        "Compare a column of query positions with a row of key positions, or shift the diagonal of `tril`.",
    ),
    reference=causal_mask,
    cases=(
        Case("added-mask", "this is a mask that is added to the scores. Return True and False, which say who may "
             "attend.", _HAND,
             Recognises(_added)),
        Case("not-bool", "these are numbers. A mask of numbers would be added to the scores, while a mask of True and "
             "False hides keys. Give it the dtype bool.", _HAND, Recognises(_numbers)),
        Case("turned", "the rows are keys and the columns are queries. Each query has a row: (n_query, n_key).", _HAND,
             Recognises(_shaped((5, 3)))),
        Case("square", "this mask is square. It needs n_query rows, because only the new tokens have queries, and "
             "n_key columns, because all tokens have keys.", _HAND, Recognises(_shaped((3, 3), (5, 5)))),
        Case("extra-axes", "the mask has too many axes. Leave out those for the batch and for the heads: the shape is "
             "(n_query, n_key).", _HAND, Recognises(lambda value: _bools(value).ndim > 2)),
        Case("inverted", "True and False are swapped. Here True means that a query may attend. (Some libraries mark "
             "the hidden keys instead.)", _HAND, Recognises(_equals(_rows(3, 5, lambda query, key: key > query)))),
        Case("top-left", "the triangle begins in the top left corner, as if the queries were the first tokens. They "
             "are the last ones, and the cached tokens come before them.", _HAND,
             Recognises(_equals(_rows(3, 5, lambda query, key: key <= query - 2)))),
        Case("no-mask", "nothing is hidden. A query would see tokens that come after it.", _HAND,
             Recognises(_equals(_rows(3, 5, lambda query, key: True)))),
        Case("not-itself", "a token may also attend to itself. Its own key is the last one that it sees.", _HAND,
             Recognises(_equals(_rows(3, 5, lambda query, key: key < query)))),
        Case("one-ahead", "each query sees one key too many: that of the next token, which the model has to predict.",
             _HAND,
             Recognises(_equals(_rows(3, 5, lambda query, key: key <= query + 1)))),
        Case("cached-hidden", "the earlier tokens are hidden. They come before every query, and a cache exists so "
             "that queries can read them.",
             _HAND, Recognises(_equals(_rows(3, 5, lambda query, key: 2 <= key <= query)))),
        Case("cached-only", "each query sees only the cached tokens. It also sees the new ones, up to itself.",
             _HAND, Recognises(_equals(_rows(3, 5, lambda query, key: key < 2)))),
        Case("itself-only", "each query sees one key only. It should see all keys up to its own position.", _HAND,
             Recognises(_equals(_rows(3, 5, lambda query, key: key == query),
                                _rows(3, 5, lambda query, key: key == query - 2)))),
        Case("future", "the queries see the future and not the past. Take the other triangle.", _HAND,
             Recognises(_equals(_rows(3, 5, lambda query, key: key >= query),
                                _rows(3, 5, lambda query, key: key >= query - 2),
                                _rows(3, 5, lambda query, key: key > query - 2)))),
        Case("mirrored", "the triangle is mirrored, because rows or columns are counted from the end. Row 0 is the "
             "earliest query, and column 0 the earliest key.", _HAND,
             Recognises(_equals(_RIGHT[:, ::-1], _RIGHT[::-1], _RIGHT[::-1, ::-1]))),
        _asks("by-hand", "draw the table by hand: three queries at the positions 2, 3 and 4, and five keys. Mark each "
              "key that does not come after the query.", 3, 5),
        Case("earlier-call", _BACK, Call("n_query = 2 and n_key = 5, after a call with 3 and 5", lambda: (2, 5)),
             Recognises(lambda value: _equals(_RIGHT)(value) or len(_bools(value)) == 3)),
        Case("earlier-call", _BACK, Call("n_query = 3 and n_key = 6, after a call with 3 and 5", lambda: (3, 6)),
             Recognises(_equals(_RIGHT))),
        Case("earlier-call", _BACK, Call("n_query = 4 and n_key = 6, after a call with 3 and 5", lambda: (4, 6)),
             Recognises(_equals(_RIGHT))),
        *map(_small, [(4, 4), (2, 2), (1, 6), (1, 2), (1, 1), *_ALL_SMALL]),
        _asks("any-size", _FIXED, 4, 20),
        _asks("any-size", _FIXED, 12, 15),
        _asks("any-size", _FIXED, 17, 17),
        _asks("any-size", _FIXED, 40, 100),
        _asks("any-size", _FIXED, 100, 120),
        _asks("any-size", _FIXED, 150, 150),
        _asks("any-size", _FIXED, 2, 300),
        _asks("any-size", _FIXED, 3, 513),
        _asks("any-size", _FIXED, 1, 1025),
        _asks("any-size", _FIXED, 3, 2051),  # no wider: who cuts rows from a square mask makes n_key² entries
    ),
)  # fmt: skip

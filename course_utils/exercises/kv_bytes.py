"""The cases of 05.kv_bytes. Sizes are primes where it matters, so that each mistake gives a number of its own."""

import math

from course_utils.answers import as_array, same
from course_utils.exercises.shared_cases import EARLIER_CALL
from course_utils.judging import Case

_NAMES = ("n_layer", "n_kv_head", "head_dim", "n_tokens", "batch_size", "bytes_per_element")


def _bytes(*sizes: int) -> int:
    """The oracle: keys and values are two tensors for each layer."""
    return math.prod(sizes) + math.prod(sizes)


def _call(*sizes: int) -> dict:
    return {"shows": ", ".join(f"{name} = {size}" for name, size in zip(_NAMES, sizes, strict=True)),
            "args": lambda: sizes}  # fmt: skip


def _sized(hint_id: str, hint: str, *sizes: int) -> Case:
    """A case that asks for the bytes of these sizes."""
    return Case(hint_id, hint, **_call(*sizes), want=_bytes(*sizes), error_is_typical=True)


_ONE, _FOUR = (3, 5, 7, 11, 13, 1), (3, 5, 7, 11, 13, 4)  # with 1 byte an element, and with 4
_RIGHT = _bytes(*_FOUR)
_A, _B = _call(*_ONE), _call(*_FOUR)
_LAYERS, _HEADS, _DIM, _TOKENS, _BATCH = _ONE[:5]
_LATER, _LATEST = (3, 5, 7, 11, 13, 2), (3, 5, 7, 17, 13, 4)


def _times(factor: float, of: int):
    """Recognises `factor` times a number."""
    return lambda value: same(value, of * factor)


def _unit(value) -> bool:
    return any(abs(as_array(value) - _RIGHT / unit) < 0.6 for unit in (2**10, 10**3, 2**20, 10**6))


_FIXED = "the number of bytes does not follow `bytes_per_element`. It is 4 for float32, 2 for float16, 1 for int8."
_ANY_SIZE = "no size is special: 1 and 0 are sizes too. Look for one that is written in or replaced."
_NO_LIMIT = (
    "no size has a largest value: models have more layers, heads or dimensions than the lesson's, and more texts come."
)
_LARGE = "with large sizes the number is off. Stay with whole numbers: float32 rounds, and 32 bits overflow."

KV_BYTES_CASES = (
    Case("keys-only", "this is half of it. A layer stores two tensors for each token.", **_A,
         wrong=_times(1 / 2, _bytes(*_ONE))),
    Case("bits", "these are bits. A byte has 8 of them.", **_A, wrong=_times(8, _bytes(*_ONE))),
    Case("kv-twice", "this is twice too much. Keys and values are two tensors, and each is counted once.", **_B,
         wrong=_times(2, _RIGHT)),
    Case("bytes-missing", "these are numbers, not yet bytes: an element takes `bytes_per_element` of them.", **_B,
         wrong=_times(1 / 4, _RIGHT)),
    Case("bytes-fixed", _FIXED, **_A, wrong=lambda value: any(_times(n, _bytes(*_ONE))(value) for n in (2, 4))),
    Case("layers-missing", "this is one layer. Each layer has keys and values of its own.", **_B,
         wrong=_times(1 / _LAYERS, _RIGHT)),
    Case("heads-missing", "this is one key/value head of each layer.", **_B, wrong=_times(1 / _HEADS, _RIGHT)),
    Case("dim-missing", "a head's key is no single number: it has `head_dim` of them.", **_B,
         wrong=_times(1 / _DIM, _RIGHT)),
    Case("tokens-missing", "this is the cost of one token of each row.", **_B, wrong=_times(1 / _TOKENS, _RIGHT)),
    Case("batch-missing", "this is one row. Each text of the batch has its own keys and values.", **_B,
         wrong=_times(1 / _BATCH, _RIGHT)),
    Case("squared", "one size was multiplied twice. Keys and values grow in proportion to each of them, to the tokens "
         "too: the square belongs to the attention scores, which are not stored.", **_B,
         wrong=lambda value: any(_times(size, _RIGHT)(value) for size in _ONE[:5])),
    Case("unit", "this is another unit, such as KiB or MB. Asked for are bytes.", **_B, wrong=_unit),
    Case("by-hand", "build it up by hand: the numbers of one key of one head, then both tensors, all heads, layers, "
         "tokens, rows, and at last the bytes of a number.", **_B, want=_RIGHT),
    _sized("bytes-fixed", "with 2 bytes an element the number is off. Use `bytes_per_element` as it is given.",
           2, 3, 5, 7, 1, 2),
    _sized("bytes-fixed", "float64 has 8 bytes an element. Use `bytes_per_element` as it is given.", 3, 2, 5, 7, 1, 8),
    Case("earlier-call", EARLIER_CALL, shows=f"{_call(*_LATER)['shows']}, in a later call", args=lambda: _LATER,
         wrong=_RIGHT),
    Case("earlier-call", "this is what other sizes gave before. Compute anew from the arguments.",
         shows=f"{_call(*_LATEST)['shows']}, in a later call", args=lambda: _LATEST,
         wrong=lambda value: same(value, _RIGHT) or same(value, _bytes(*_LATER))),
    _sized("any-size", "the example of the lesson, one token of one row, is not right yet.", 32, 8, 128, 1, 1, 2),
    _sized("any-size", "a case with few heads is not right. Only key/value heads are stored, as many as are given.",
           2, 2, 8, 16, 1, 4),
    _sized("any-size", _ANY_SIZE, 1, 1, 1, 1, 1, 1),
    _sized("any-size", "an odd head dimension or a single head changes nothing in the rule.", 7, 1, 9, 1, 6, 1),
    _sized("any-size", "an empty cache has 0 tokens, and stores nothing.", 2, 3, 4, 0, 1, 4),
    _sized("any-size", "a batch of 0 rows stores nothing.", 2, 3, 4, 5, 0, 4),
    _sized("any-size", _NO_LIMIT, 130, 3, 1, 2, 129, 1),
    _sized("any-size", _NO_LIMIT, 2, 100, 257, 3, 1, 1),
    _sized("large", _LARGE, 32, 8, 128, 4096, 8, 2),
    _sized("large", "far above what float32 or 32 bits can count, the number is off. Python's own whole numbers have "
           "no end.", 81, 9, 127, 1_048_577, 63, 2),
)  # fmt: skip

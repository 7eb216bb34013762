"""Exercise 05.kv_bytes. Sizes are primes where it matters, so that each mistake gives a number that no other gives."""

# The reference is shown to learners as they would write it, without types.
# mypy: allow-untyped-defs

import math
from collections.abc import Callable

from course_utils.checker.answers import as_array, same
from course_utils.checker.exercise import Call, Case, Equals, FunctionExercise, Recognises
from course_utils.exercises.common.hints import EARLIER_CALL


def kv_bytes(n_layer, n_kv_head, head_dim, n_tokens, batch_size, bytes_per_element):
    """The bytes of all keys and values; the 2 stands for a key and a value."""
    return 2 * n_layer * n_kv_head * head_dim * n_tokens * batch_size * bytes_per_element


_NAMES = ("n_layer", "n_kv_head", "head_dim", "n_tokens", "batch_size", "bytes_per_element")


def _bytes(*sizes: int) -> int:
    """The oracle: keys and values are two tensors for each layer."""
    return math.prod(sizes) + math.prod(sizes)


def _given(*sizes: int) -> Call:
    shows = ", ".join(f"{name} = {size}" for name, size in zip(_NAMES, sizes, strict=True))
    return Call(shows, lambda: sizes)


def _asks(hint_id: str, hint: str, *sizes: int) -> Case:
    """A case that asks for the bytes of these sizes."""
    return Case(hint_id, hint, _given(*sizes), Equals(_bytes(*sizes)), error_is_typical=True)


_ONE, _FOUR = (3, 5, 7, 11, 13, 1), (3, 5, 7, 11, 13, 4)  # with 1 byte an element, and with 4
_RIGHT = _bytes(*_FOUR)
_A, _B = _given(*_ONE), _given(*_FOUR)
_LAYERS, _HEADS, _DIM, _TOKENS, _BATCH = _ONE[:5]
_LATER, _LATEST = (3, 5, 7, 11, 13, 2), (3, 5, 7, 17, 13, 4)


def _times(factor: float, of: int) -> Callable[[object], bool]:
    """Recognises `factor` times a number."""
    return lambda value: same(value, of * factor)


def _unit(value: object) -> bool:
    """Another unit, rounded to whole ones."""
    return any(abs(as_array(value) - _RIGHT / unit) < 0.6 for unit in (2**10, 10**3, 2**20, 10**6))


_FIXED = "the answer does not depend on `bytes_per_element`. That is 4 for float32, 2 for float16 and 1 for int8."
_ANY_SIZE = "no size is special, not even 1 and 0. Look for a size that is fixed in the code or replaced by another."
_NO_LIMIT = (
    "no size has an upper limit. There are models with more layers, heads or dimensions than the lesson's, and larger "
    "batches."
)
_LARGE = "for large sizes the answer is wrong. Stay with Python's whole numbers: float32 rounds, and 32 bits overflow."

EXERCISE = FunctionExercise(
    id="05.kv_bytes",
    writes="`kv_bytes(n_layer, n_kv_head, head_dim, n_tokens, batch_size, bytes_per_element)`",
    contract="the bytes of all keys and values",
    difficulty="easy",
    minutes=6,
    hints=(
        "Begin with one key, that of one token in one head of one layer. How many numbers does it have?",
        "For each key there is a value of the same size. What else multiplies this number?",
        "Each of the six sizes is a factor, and there is one more factor besides these six.",
    ),
    reference=kv_bytes,
    cases=(
        Case("keys-only", "this is half of it. A layer stores two tensors for each token.", _A,
             Recognises(_times(1 / 2, _bytes(*_ONE)))),
        Case("bits", "these are bits. A byte has 8 bits.", _A, Recognises(_times(8, _bytes(*_ONE)))),
        Case("kv-twice", "this is twice too much. Keys and values are two tensors, and each is counted once.", _B,
             Recognises(_times(2, _RIGHT))),
        Case("bytes-missing", "these are numbers, not yet bytes. Each number takes `bytes_per_element` bytes.", _B,
             Recognises(_times(1 / 4, _RIGHT))),
        Case("bytes-fixed", _FIXED, _A, Recognises(lambda value: any(_times(n, _bytes(*_ONE))(value) for n in (2, 4)))),
        Case("layers-missing", "this is for one layer only. Every layer stores its own keys and values.", _B,
             Recognises(_times(1 / _LAYERS, _RIGHT))),
        Case("heads-missing", "this is for one key/value head of each layer only.",
             _B, Recognises(_times(1 / _HEADS, _RIGHT))),
        Case("dim-missing", "the key of a head is not a single number. It has `head_dim` numbers.", _B,
             Recognises(_times(1 / _DIM, _RIGHT))),
        Case("tokens-missing", "this is for one token of each row only.", _B,
             Recognises(_times(1 / _TOKENS, _RIGHT))),
        Case("batch-missing", "this is for one row only. Each text of the batch has its own keys and values.", _B,
             Recognises(_times(1 / _BATCH, _RIGHT))),
        Case("squared", "one size was multiplied twice. The memory grows in proportion to each size, to the number of "
             "tokens too. (Attention scores grow with its square, but they are not stored.)", _B,
             Recognises(lambda value: any(_times(size, _RIGHT)(value) for size in _ONE[:5]))),
        Case("unit", "this is in another unit, such as KiB or MB. Return bytes.", _B, Recognises(_unit)),
        Case("by-hand", "build it up by hand: the numbers in one key of one head, then keys and values, all heads, "
             "layers, tokens and rows, and at last the bytes of each number.", _B, Equals(_RIGHT)),
        _asks("bytes-fixed", "with 2 bytes for each element the answer is wrong. Use `bytes_per_element` as it is "
              "given.", 2, 3,
              5, 7, 1, 2),
        _asks("bytes-fixed", "float64 has 8 bytes an element. Use `bytes_per_element` as it is given.", 3, 2, 5, 7, 1,
              8),
        Case("earlier-call", EARLIER_CALL, Call(f"{_given(*_LATER).shows}, in a later call", lambda: _LATER),
             Recognises(_RIGHT)),
        Case("earlier-call", "this is the answer for the sizes of an earlier call. Compute it from the arguments of "
             "this call.",
             Call(f"{_given(*_LATEST).shows}, in a later call", lambda: _LATEST),
             Recognises(lambda value: same(value, _RIGHT) or same(value, _bytes(*_LATER)))),
        _asks("any-size", "the example from the lesson, one token in one row, is not right yet.", 32, 8, 128, 1, 1, 2),
        _asks("any-size", "a case with few heads is wrong. Only key/value heads are stored, exactly as many as are "
              "given.",
              2, 2, 8, 16, 1, 4),
        _asks("any-size", _ANY_SIZE, 1, 1, 1, 1, 1, 1),
        _asks("any-size", "the same rule holds for an odd head dimension and for a single head.", 7, 1, 9, 1, 6, 1),
        _asks("any-size", "an empty cache has 0 tokens and stores 0 bytes.", 2, 3, 4, 0, 1, 4),
        _asks("any-size", "a batch of 0 rows stores 0 bytes.", 2, 3, 4, 5, 0, 4),
        _asks("any-size", _NO_LIMIT, 130, 3, 1, 2, 129, 1),
        _asks("any-size", _NO_LIMIT, 2, 100, 257, 3, 1, 1),
        _asks("large", _LARGE, 32, 8, 128, 4096, 8, 2),
        _asks("large", "far above what float32 or 32 bits can hold, the answer is wrong. Python's own whole numbers "
              "have no limit.", 81, 9, 127, 1_048_577, 63, 2),
    ),
)  # fmt: skip

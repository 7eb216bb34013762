"""The cases of the functions that count: repeated n-grams, and the bytes of a cache. Their answers are known."""

import math
from collections.abc import Sequence
from typing import Any

from course_utils.live.checks import Case

# 02.repetition_rate

_HAND, _SEVEN = list("aabab"), list("aaabaab")  # their rates for n = 2: 1/4 and 3/6

# For each separator, "x" + "y?x" and "x?y" + "x" are the same text when it joins them. All pairs are distinct.
_SEPARATORS = [" ", "  ", ",", ", ", "|", "-", "_", "/", "+", ":", ";", ".", "#", "\n", "\t"]
_SEPARATED = [token for s in _SEPARATORS for token in ("x", f"y{s}x", f"x{s}y", "x", s)]
# Pairs such as (1, 5) and (0, 15) are the same number in base 10; then other bases. None repeats.
_CODES = [1, 5, 0, 15, 1, 6, 0, 106, 1, 7, 0, 263, 1, 8, 0, 1008, 1, 9, 0, 50266, 1, 10, 0, 65546]


def _rate(hint: str, tokens: Sequence, n: int, want: object) -> Case:
    return Case(f"02.repetition_rate/{hint}", (tokens, n), want=want)


def _not_rate(hint: str, tokens: Sequence, n: int, *wrong: object) -> Case:
    return Case(f"02.repetition_rate/{hint}", (tokens, n), wrong=wrong)


REPETITION_RATE = (
    _not_rate("distinct-share", _HAND, 2, 0.75),
    _not_rate("count", _HAND, 2, 1.0, 2.0, 3.0, 4.0, 5.0),
    _not_rate("single-tokens", _HAND, 2, 0.6, 0.4, 0.2),
    _not_rate("divided-by-distinct", _HAND, 2, 1 / 3),
    _not_rate("order-ignored", _SEVEN, 2, 4 / 6),
    _not_rate("every-occurrence", _HAND, 2, 0.5),
    _not_rate("percent", _HAND, 2, 25.0),
    _not_rate("no-overlap", _SEVEN, 2, 1 / 3, 2 / 5),
    _not_rate("neighbours-only", _SEVEN, 2, 1 / 6),
    _not_rate("longer-n-grams", _SEVEN, 2, 1 / 5),
    _not_rate("cut-off", _SEVEN, 2, 0.0),
    _rate("by-hand", _HAND, 2, 0.25),
    _not_rate("rounded", list("aaab"), 2, 0.3, 0.33, 0.333, 0.3333),
    _not_rate("other-call", list("cdcdc"), 2, -0.25, 0.25, 1 / 3),
    _rate("fixed-n", list("abcabcabd"), 3, 3 / 7),
    _rate("fixed-n", list("aabab"), 1, 0.6),
    _rate("fixed-n", ["a"] * 9, 5, 0.8),
    _rate("fixed-n", ["a"] * 15, 12, 0.75),
    _rate("nothing-repeats", list("abc"), 2, 0.0),
    _rate("one-n-gram", list("ab"), 2, 0.0),
    _rate("none", ["a"], 2, None),
    _rate("none", [], 1, None),
    _rate("none", list("ab"), 5, None),
    _rate("neighbours-only", list("abcdeabcde"), 4, 1 - 5 / 7),
    _rate("parts", list("abcadc"), 3, 0.0),
    _rate("parts", list("aabb"), 3, 0.0),
    _rate("joined", ["a", "bc", "ab", "c"], 2, 0.0),
    _rate("ids", [1, 11, 11, 1, 1, 11], 2, 0.2),
    _rate("ids", [0, 0, 1], 1, 1 / 3),
    _rate("coded", [1, 111, 11, 12, 11, 21, 111], 2, 0.0),
    _rate("coded", [0, 1, 3, 0], 2, 0.0),
    _rate("coded", [1, 0, 3], 2, 0.0),
    _rate("coded", _CODES, 2, 0.0),
    _rate("coded", _CODES[::-1], 2, 0.0),
    _rate("a-str", "abababab", 3, 4 / 6),
    _rate("as-they-are", " aA é  a.\n", 1, 0.4),
    _rate("as-they-are", ["A", "a", " a", "a ", "", ".", "a."], 1, 0.0),
    _rate("none", "", 1, None),
    _rate("long-text", [*range(300), *range(100)], 2, 99 / 399),
    _rate("long-text", "ab" * 150, 2, 1 - 2 / 299),
    _rate("joined", _SEPARATED, 2, 0.0),
)

# 05.kv_bytes

_ONE, _SIZES = (3, 5, 7, 11, 13, 1), (3, 5, 7, 11, 13, 4)  # with 1 byte a number, and with 4


def _bytes(hint: str, *sizes: int) -> Case:
    return Case(f"05.kv_bytes/{hint}", sizes, want=2 * math.prod(sizes))


def _not_bytes(hint: str, sizes: tuple[int, ...], *wrong: object) -> Case:
    return Case(f"05.kv_bytes/{hint}", sizes, wrong=wrong)


def _other_unit(answer: Any) -> bool:
    return any(abs(answer - 2 * math.prod(_SIZES) / unit) < 0.6 for unit in (2**10, 10**3, 2**20, 10**6))


_WHOLE = 2 * math.prod(_SIZES)
_MISSING = ("layers", "heads", "dim", "tokens", "batch")

KV_BYTES = (
    _not_bytes("keys-only", _ONE, math.prod(_ONE)),
    _not_bytes("bits", _ONE, 16 * math.prod(_ONE)),
    _not_bytes("kv-twice", _SIZES, 2 * _WHOLE),
    _not_bytes("bytes-missing", _SIZES, _WHOLE // 4),
    _not_bytes("bytes-fixed", _ONE, 4 * math.prod(_ONE), 8 * math.prod(_ONE)),
    *(_not_bytes(f"{name}-missing", _SIZES, _WHOLE // size) for name, size in zip(_MISSING, _SIZES, strict=False)),
    _not_bytes("squared", _SIZES, *(_WHOLE * size for size in _SIZES[:5])),
    Case("05.kv_bytes/unit", _SIZES, wrong=_other_unit),
    _bytes("by-hand", *_SIZES),
    _bytes("bytes-fixed", 2, 3, 5, 7, 1, 2),
    _bytes("bytes-fixed", 3, 2, 5, 7, 1, 8),
    _not_bytes("earlier-call", (3, 5, 7, 11, 13, 2), _WHOLE),
    _not_bytes("earlier-call", (3, 5, 7, 17, 13, 4), _WHOLE, _WHOLE // 2),
    *(
        _bytes("any-size", *sizes)
        for sizes in (
            (32, 8, 128, 1, 1, 2),
            (2, 2, 8, 16, 1, 4),
            (1, 1, 1, 1, 1, 1),
            (7, 1, 9, 1, 6, 1),
            (2, 3, 4, 0, 1, 4),
            (2, 3, 4, 5, 0, 4),
            (130, 3, 1, 2, 129, 1),
            (2, 100, 257, 3, 1, 1),
        )
    ),
    _bytes("large", 32, 8, 128, 4096, 8, 2),
    _bytes("large", 81, 9, 127, 1_048_577, 63, 2),
)

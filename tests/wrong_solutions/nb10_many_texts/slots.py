"""Planted solutions to 10.slots."""

import numpy as np
import torch

from wrong_solutions import planting

wrong, right = planting("10.slots")


def good_slots(table, n, size):
    if n > len(table) * size:
        raise ValueError("too short")
    return [(table[i // size], i % size) for i in range(n)]


def but(odd, instead):
    """A wrong solution: right, but for the calls that `odd` picks."""
    return lambda t, n, s: instead(t, n, s) if odd(t, n, s) else good_slots(t, n, s)


@wrong("earlier-call")
def keeps_a_list(block_table, n_tokens, block_size, found=[]):  # noqa: B006
    found += good_slots(block_table, n_tokens, block_size)
    return found


@wrong("changes-input")
def takes_blocks_out_of_the_table(block_table, n_tokens, block_size):
    right_ones = good_slots(block_table, n_tokens, block_size)
    while block_table:
        block_table.pop()
    return right_ones


@wrong("too-short")
def writes_over_the_last_block(block_table, n_tokens, block_size):
    return [(block_table[min(i // block_size, len(block_table) - 1)], i % block_size) for i in range(n_tokens)]


@wrong("too-short")
def goes_round(block_table, n_tokens, block_size):
    return [(block_table[i // block_size % len(block_table)], i % block_size) for i in range(n_tokens)]


@wrong("too-short")
def index_error(block_table, n_tokens, block_size):
    return [(block_table[i // block_size], i % block_size) for i in range(n_tokens)]


@wrong("too-short")
def cuts_off(block_table, n_tokens, block_size):
    n = min(n_tokens, len(block_table) * block_size)
    return [(block_table[i // block_size], i % block_size) for i in range(n)]


@wrong("too-short")
def returns_none(block_table, n_tokens, block_size):
    return None if n_tokens > len(block_table) * block_size else good_slots(block_table, n_tokens, block_size)


for hint_id, attempt in [
    ("table-unused", lambda t, n, s: [(i // s, i % s) for i in range(n)]),
    ("pair-turned", lambda t, n, s: [(i % s, t[i // s]) for i in range(n)]),
    ("offset-in-text", lambda t, n, s: [(t[i // s], i) for i in range(n)]),
    ("from-one", lambda t, n, s: [(t[i // s], i % s + 1) for i in range(n)]),
    ("turns", lambda t, n, s: [(t[i % len(t)], i // len(t)) for i in range(n)]),
    ("turns", lambda t, n, s: [(t[i % s], i // s) for i in range(n)]),
    ("sorted", lambda t, n, s: good_slots(sorted(t), n, s)),
    ("sorted", lambda t, n, s: good_slots(t[::-1], n, s)),
    ("one-number", lambda t, n, s: [t[i // s] * s + i % s for i in range(n)]),
    ("one-number", lambda t, n, s: [t[i // s] for i in range(n)]),
    ("whole-table", lambda t, n, s: [(block, offset) for block in t for offset in range(s)]),
    ("full-blocks-only", lambda t, n, s: good_slots(t, n // s * s, s)),
    ("one-slot", lambda t, n, s: (t[n // s], n % s)),
    ("one-slot", lambda t, n, s: [(t[(n - 1) // s], (n - 1) % s)]),
    ("block-early", lambda t, n, s: [(t[(i + 1) // s % len(t)], i % s) for i in range(n)]),
    ("block-early", lambda t, n, s: [(t[max(i - 1, 0) // s], i % s) for i in range(n)]),
    ("by-hand", lambda t, n, s: good_slots(t, n, s)[::-1]),
    ("by-hand", lambda t, n, s: {i: (t[i // s], i % s) for i in range(n)}),
    ("by-hand", lambda t, n, s: [(t[i], i % s) for i in range(n)]),
    ("by-hand", lambda t, n, s: str(good_slots(t, n, s))),
    ("by-hand", lambda t, n, s: [t, list(range(s))]),
    ("size-fixed", lambda t, n, s: good_slots(t, n, 3)),
    ("size-fixed", lambda t, n, s: [(t[i // 3], i % s) for i in range(n)]),
    ("block-of-one", but(lambda t, n, s: s == 1, lambda t, n, s: [(block, 1) for block in t[:n]])),
    ("longer-table", but(lambda t, n, s: -(-n // s) < len(t) and n, lambda t, n, s: good_slots(t[-(-n // s) :], n, s))),
    ("longer-table", but(lambda t, n, s: -(-n // s) < len(t) and n, lambda t, n, s: 1 / 0)),
    ("just-full", but(lambda t, n, s: n == len(t) * s > 3, lambda t, n, s: 1 / 0)),
    ("no-token", but(lambda t, n, s: n == 0, lambda t, n, s: None)),
    ("no-token", but(lambda t, n, s: n == 0, lambda t, n, s: [(t[0], 0)])),
    ("no-token", but(lambda t, n, s: n == 0, lambda t, n, s: [[]])),
    ("no-token", but(lambda t, n, s: not t and n == 0, lambda t, n, s: t[0])),
    ("any-size", but(lambda t, n, s: n > 2048, lambda t, n, s: good_slots(t, 2048, s))),
    ("any-size", lambda t, n, s: [(block % 512, offset) for block, offset in good_slots(t, n, s)]),
    ("not-a-function", [(6, 0)]),
]:
    wrong(hint_id)(attempt)


@right
def with_divmod(block_table, n_tokens, block_size):
    if n_tokens > block_size * len(block_table):
        raise ValueError
    places = (divmod(i, block_size) for i in range(n_tokens))
    return [[block_table[place], offset] for place, offset in places]


@right
def block_by_block(block_table, n_tokens, block_size):
    class TooShortError(ValueError):
        pass

    every = [(block, offset) for block in block_table for offset in range(block_size)]
    if len(every) < n_tokens:
        raise TooShortError(n_tokens)
    return every[:n_tokens]


@right
def as_an_array(block_table, n_tokens, block_size):
    if n_tokens > len(block_table) * block_size:
        raise ValueError("more blocks are needed")
    i = np.arange(n_tokens)
    table = np.array(block_table, dtype=np.int64)
    return np.stack([table[i // block_size], i % block_size], axis=1)


@right
def as_a_tensor(block_table, n_tokens, block_size):
    if n_tokens > len(block_table) * block_size:
        raise ValueError("more blocks are needed")
    i = torch.arange(n_tokens)
    return torch.stack([torch.tensor(block_table, dtype=torch.int64)[i // block_size], i % block_size], 1)


@right
def by_counting(block_table, n_tokens, block_size):
    found, rest, offset = [], iter(block_table), block_size
    for _ in range(n_tokens):
        if offset == block_size:
            try:
                block, offset = next(rest), 0
            except StopIteration:
                raise ValueError("no block is left") from None
        found.append((block, offset))
        offset += 1
    return found

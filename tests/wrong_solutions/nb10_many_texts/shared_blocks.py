"""Planted solutions to 10.shared_blocks."""

import itertools

import numpy as np
import torch

from wrong_solutions import planting

wrong, right = planting("10.shared_blocks")


def good_shared(ids, known, size):
    n = 0
    while (n + 1) * size < len(ids) and tuple(ids[: (n + 1) * size]) in known:
        n += 1
    return n


def but(odd, instead):
    """A wrong solution: right, but for the calls that `odd` picks."""
    return lambda ids, known, size: (
        instead(ids, known, size) if odd(ids, known, size) else good_shared(ids, known, size)
    )


@wrong("block-alone")
def own_tokens(token_ids, known, block_size):
    n = 0
    for start in range(0, len(token_ids) - block_size, block_size):
        if not any(text[-block_size:] == tuple(token_ids[start : start + block_size]) for text in known):
            break
        n += 1
    return n


@wrong("gap")
def counts_all(token_ids, known, block_size):
    ends = range(block_size, len(token_ids), block_size)
    return sum(tuple(token_ids[:end]) in known for end in ends)


@wrong("gap")
def longest(token_ids, known, block_size):
    for n in range((len(token_ids) - 1) // block_size, 0, -1):
        if tuple(token_ids[: n * block_size]) in known:
            return n
    return 0


@wrong("longest-known")
def begins_alike(token_ids, known, block_size):
    n = 0
    for end in range(block_size, len(token_ids), block_size):
        if not any(text[:end] == tuple(token_ids[:end]) for text in known):
            break
        n += 1
    return n


@wrong("last-token")
def full_blocks_all(token_ids, known, block_size):
    n = 0
    while (n + 1) * block_size <= len(token_ids) and tuple(token_ids[: (n + 1) * block_size]) in known:
        n += 1
    return n


@wrong("partial-block")
def last_block_too(token_ids, known, block_size):
    n = 0
    for end in range(block_size, len(token_ids) + block_size, block_size):
        if tuple(token_ids[:end]) not in known or (end == len(token_ids)):
            break
        n += 1
    return n


@wrong("same-length")
def by_length(token_ids, known, block_size):
    lengths, n = {len(text) for text in known if text[:1] == tuple(token_ids[:1])}, 0
    if known and not any(text[:2] == tuple(token_ids[:2]) for text in known if len(text) > 2):
        return good_shared(token_ids, known, block_size)
    while (n + 1) * block_size < len(token_ids) and (n + 1) * block_size in lengths:
        n += 1
    return n


@wrong("by-hand")
def looks_up_a_list(token_ids, known, block_size):
    n = 0
    while (n + 1) * block_size < len(token_ids) and token_ids[: (n + 1) * block_size] in known:
        n += 1
    return n


@wrong("changes-input")
def forgets_what_it_found(token_ids, known, block_size):
    n = 0
    while (n + 1) * block_size < len(token_ids) and tuple(token_ids[: (n + 1) * block_size]) in known:
        known.remove(tuple(token_ids[: (n + 1) * block_size]))
        n += 1
    return n


@wrong("changes-input")
def learns_the_text(token_ids, known, block_size):
    n = good_shared(token_ids, known, block_size)
    known.add(tuple(token_ids))
    return n


for hint_id, attempt in [
    ("not-a-number", lambda ids, known, size: list(range(good_shared(ids, known, size)))),
    ("not-a-number", lambda ids, known, size: torch.tensor([good_shared(ids, known, size)])),
    ("tokens", lambda ids, known, size: good_shared(ids, known, size) * size),
    ("one-too-many", lambda ids, known, size: good_shared(ids, known, size) + 1),
    ("every-known", lambda ids, known, size: len(known)),
    ("by-hand", lambda ids, known, size: bool(good_shared(ids, known, size))),
    ("by-hand", lambda ids, known, size: good_shared(ids, known, size) / len(ids)),
    ("by-hand", lambda ids, known, size: str(good_shared(ids, known, size))),
    ("by-hand", lambda ids, known, size: good_shared(ids[1:], known, size)),
    ("by-hand", lambda ids, known, size: (len(ids) - 1) // size),
    ("nothing-known", but(lambda ids, known, size: not known, lambda ids, known, size: max(map(len, known)))),
    ("nothing-known", but(lambda ids, known, size: not known, lambda ids, known, size: None)),
    ("short-text", but(lambda ids, known, size: len(ids) == 1, lambda ids, known, size: 1 / 0)),
    ("short-text", but(lambda ids, known, size: len(ids) == size == 1, lambda ids, known, size: 1)),
    ("block-of-one", but(lambda ids, known, size: size == 1 < len(ids), lambda ids, known, size: len(ids) - 1)),
    ("block-of-one", but(lambda ids, known, size: size == 1 < len(ids), lambda ids, known, size: 0)),
    ("id-zero", lambda ids, known, size: good_shared([i or -1 for i in ids], known, size)),
    ("any-size", lambda ids, known, size: min(good_shared(ids, known, size), 64)),
    ("any-size", lambda ids, known, size: good_shared(ids[:1024], known, size)),
    ("not-a-function", 3),
]:
    wrong(hint_id)(attempt)


@right
def with_takewhile(token_ids, known, block_size):
    ends = range(block_size, len(token_ids), block_size)
    return len(list(itertools.takewhile(lambda end: tuple(token_ids[:end]) in known, ends)))


@right
def the_largest(token_ids, known, block_size):
    most = (len(token_ids) - 1) // block_size
    fits = [all(tuple(token_ids[: j * block_size]) in known for j in range(1, n + 1)) for n in range(most + 1)]
    return max(n for n, fit in enumerate(fits) if fit)


@right
def by_recursion_over_blocks(token_ids, known, block_size):
    def from_block(n):
        end = (n + 1) * block_size
        return from_block(n + 1) if end < len(token_ids) and tuple(token_ids[:end]) in known else n

    return np.int64(from_block(0))


@right
def grows_a_tuple(token_ids, known, block_size):
    text, n = (), 0
    for place, token in enumerate(token_ids[:-1], 1):
        text += (token,)
        if place % block_size == 0:
            if text not in known:
                break
            n += 1
    return torch.tensor(n)

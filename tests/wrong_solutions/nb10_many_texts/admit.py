"""Planted solutions to 10.admit."""

import math
from itertools import accumulate

import numpy as np
import torch

from wrong_solutions import planting

wrong, right = planting("10.admit")


def need(n, size):
    return -(-(n + 1) // size)


def good_admit(waiting, free, size, need=need):
    n = 0
    for n_tokens in waiting:
        free -= need(n_tokens, size)
        if free < 0:
            return n
        n += 1
    return n


def but(odd, instead):
    """A wrong solution: right, but for the calls that `odd` picks."""
    return lambda w, free, size: instead(w, free, size) if odd(w, free, size) else good_admit(w, free, size)


def passing_over(waiting, free, size):
    n = 0
    for n_tokens in waiting:
        if need(n_tokens, size) <= free:
            free -= need(n_tokens, size)
            n += 1
    return n


@wrong("changes-input")
def takes_them_out_of_the_queue(waiting, free_blocks, block_size):
    n = 0
    while waiting and need(waiting[0], block_size) <= free_blocks:
        free_blocks -= need(waiting.pop(0), block_size)
        n += 1
    return n


@wrong("exactly-full")
def keeps_one_free(waiting, free_blocks, block_size):
    n = 0
    for n_tokens in waiting:
        free_blocks -= need(n_tokens, block_size)
        if free_blocks <= 0:
            break
        n += 1
    return n


@wrong("blocks")
def blocks_used(waiting, free_blocks, block_size):
    used = 0
    for n_tokens in waiting:
        if used + need(n_tokens, block_size) > free_blocks:
            break
        used += need(n_tokens, block_size)
    return used


def all_or_nobody(waiting, free_blocks, block_size):
    return len(waiting) if sum(need(n, block_size) for n in waiting) <= free_blocks else 0


wrong("nobody")(all_or_nobody)

for hint_id, attempt in [
    ("not-a-number", lambda w, free, size: w[: good_admit(w, free, size)]),
    ("not-a-number", lambda w, free, size: [good_admit(w, free, size)]),
    ("passes-over", passing_over),
    ("shortest-first", lambda w, free, size: good_admit(sorted(w), free, size)),
    ("one-more", lambda w, free, size: good_admit(w, free, size, lambda n, s: -(-n // s))),
    ("own-blocks", lambda w, free, size: sum(total <= free * size for total in accumulate(n + 1 for n in w))),
    ("each-alone", lambda w, free, size: sum(need(n, size) <= free for n in w)),
    ("tokens", but(lambda w, free, size: size > 4, lambda w, free, size: good_admit(w, free, 1))),
    ("round-up", lambda w, free, size: good_admit(w, free, size, lambda n, s: max(1, (n + 1) // s))),
    ("by-hand", lambda w, free, size: bool(good_admit(w, free, size))),
    ("by-hand", lambda w, free, size: str(good_admit(w, free, size))),
    ("blocks", lambda w, free, size: free - blocks_used(w, free, size)),
    ("by-hand", lambda w, free, size: min(2, good_admit(w, free, size))),
    ("empty-queue", but(lambda w, free, size: not w, lambda w, free, size: max(w))),
    ("empty-queue", but(lambda w, free, size: not w, lambda w, free, size: None)),
    ("no-block", but(lambda w, free, size: free == 0, lambda w, free, size: 1)),
    ("no-block", but(lambda w, free, size: free == 0, lambda w, free, size: 1 / free)),
    (
        "block-of-one",
        but(lambda w, free, size: size == 1, lambda w, free, size: good_admit(w, free, 1, lambda n, s: n)),
    ),
    ("room-for-all", but(lambda w, free, size: free > 40 and len(w) < 9, lambda w, free, size: len(w) - 1)),
    ("room-for-all", but(lambda w, free, size: free > 40 and len(w) < 9, lambda w, free, size: w[len(w)])),
    ("any-size", lambda w, free, size: min(32, good_admit(w, free, size))),
    ("any-size", lambda w, free, size: good_admit(w[:256], free, size)),
    ("any-size", lambda w, free, size: good_admit(w, min(free, 1024), size)),
    ("not-a-function", 2),
]:
    wrong(hint_id)(attempt)


@right
def with_floor(waiting, free_blocks, block_size):
    n = 0
    for n_tokens in waiting:
        free_blocks -= n_tokens // block_size + 1
        if free_blocks < 0:
            break
        n += 1
    return n


@right
def with_sums(waiting, free_blocks, block_size):
    return sum(total <= free_blocks for total in accumulate(math.ceil((n + 1) / block_size) for n in waiting))


@right
def with_numpy(waiting, free_blocks, block_size):
    needed = (np.array(waiting, dtype=np.int64) // block_size + 1).cumsum()
    return np.searchsorted(needed, free_blocks, side="right")


@right
def by_recursion(waiting, free_blocks, block_size):
    taken = []
    for n_tokens in waiting:
        taken.append(-(-(n_tokens + 1) // block_size))
        if sum(taken) > free_blocks:
            return torch.tensor(len(taken) - 1)
    return torch.tensor(len(taken))

"""Three paged caches with a planted fault each, a sound one, and what tells them apart.

A specimen makes caches: `specimen(model, n_blocks, block_size)` is a `PagedCache`. Its letter does not tell what is
wrong with it; `examine_paged` does.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from course_utils.compare_logits import LogitsReport, compare_logits
from course_utils.serving import PagedCache, Table
from course_utils.serving.paged_cache import PagedRows
from course_utils.transformer import Transformer


class FreesTooEarly(PagedCache):
    """A block is free as soon as the first of its holders has ended, while others still read it."""

    def release(self, table: Table) -> None:
        for block in table.blocks:
            self.pool.n_holders[block] = min(self.pool.n_holders[block], 1)
        table.blocks = [block for block in table.blocks if self.pool.n_holders[block]]
        super().release(table)


class _OneLate(PagedRows):
    """The token after a full block is still written into that block, where its first token was."""

    def _locate(self, n_new: int) -> None:
        super()._locate(n_new)
        places = (self._positions - 1).clamp_min(0) // self.cache.pool.block_size
        pairs = zip(self.tables, places.tolist(), strict=True)
        blocks = [table.blocks[place] for table, row in pairs for place in row]
        self._written = torch.tensor(blocks), self._written[1]


class LooksUpOneLate(PagedCache):
    """Its table is off by one: a token changes to the next block one position too late."""

    def rows(self, tables: Sequence[Table]) -> PagedRows:
        return _OneLate(self, tables)


class WritesShared(PagedCache):
    """A block that two texts hold is written without being copied first."""

    def shared(self, table: Table, n_tokens: int) -> list[int]:
        return []


_BY_NAME: dict[str, type[PagedCache]] = {
    "a block freed too early": FreesTooEarly,
    "a table off by one": LooksUpOneLate,
    "a shared block written": WritesShared,
    "sound": PagedCache,
}
PAGED_FAULTS = tuple(_BY_NAME)
PAGED_DIAGNOSES = {
    "Q": "a shared block written",
    "R": "sound",
    "S": "a block freed too early",
    "T": "a table off by one",
}
BLOCK_SIZE = 4


@dataclass(frozen=True)
class PagedSpecimen:
    """Makes paged caches, sound or with a fault."""

    letter: str

    def __call__(self, model: Transformer, n_blocks: int, block_size: int) -> PagedCache:
        """An empty cache, with arguments as in `PagedCache`."""
        return _BY_NAME[PAGED_DIAGNOSES[self.letter]](model, n_blocks, block_size)


def admit_paged() -> dict[str, PagedSpecimen]:
    """The four specimens, by letter: each fault once, and one that is sound."""
    return {letter: PagedSpecimen(letter) for letter in PAGED_DIAGNOSES}


def feed(model: Transformer, cache: PagedCache, tables: list[Table], ids: list[list[int]]) -> Tensor:
    """Make room for the new tokens of each text, and run them through the model in one pass: logits (B, T, V)."""
    for table in tables:
        if not cache.reserve(table, len(ids[0])):
            raise ValueError(f"The cache has {cache.pool.n_free} free blocks, too few. Make a larger one.")
    with torch.no_grad():
        return model(torch.tensor(ids), cache.rows(tables))


def _alone(model: Transformer, cache: PagedCache, ids: list[int]) -> list[tuple[list[int], Tensor]]:
    """One text: a prompt of ten tokens, then one token at a time."""
    table = cache.begin(ids[:10])
    found = [feed(model, cache, [table], [ids[:10]])]
    found += [feed(model, cache, [table], [[token]]) for token in ids[10:24]]
    return [(ids[:24], torch.cat(found, 1)[0])]


def _inside(model: Transformer, cache: PagedCache, ids: list[int]) -> list[tuple[list[int], Tensor]]:
    """One text that stays inside its first block."""
    table = cache.begin(ids[:2])
    found = [feed(model, cache, [table], [ids[:2]]), feed(model, cache, [table], [[ids[2]]])]
    return [(ids[:3], torch.cat(found, 1)[0])]


def _shared(model: Transformer, cache: PagedCache, ids: list[int]) -> list[tuple[list[int], Tensor]]:
    """A text begins with another one's blocks. That one ends, a third takes what is free, and the second goes on."""
    first = cache.begin(ids[:13])
    feed(model, cache, [first], [ids[:13]])
    text = ids[:12] + ids[20:32]
    second = cache.begin(text[:14])
    n_found = len(second.token_ids)
    found = [feed(model, cache, [second], [text[n_found:14]])]
    cache.release(first)
    third = cache.begin(ids[30:])
    feed(model, cache, [third], [ids[30 : 30 + BLOCK_SIZE * cache.pool.n_free - 3 * BLOCK_SIZE]])
    found += [feed(model, cache, [second], [[token]]) for token in text[14:]]
    return [(text, torch.cat(found, 1)[0])]


def _parted(model: Transformer, cache: PagedCache, ids: list[int]) -> list[tuple[list[int], Tensor]]:
    """Two texts have one beginning, part inside a block, and go on side by side with different tokens."""
    one = cache.begin(ids[:10])
    feed(model, cache, [one], [ids[:10]])
    other = cache.fork(one)
    pairs = [list(pair) for pair in zip(ids[10:18], ids[24:32], strict=True)]
    found = torch.cat([feed(model, cache, [one, other], [[a], [b]]) for a, b in pairs], 1)
    return [(ids[:18], found[0]), (ids[:10] + ids[24:32], found[1])]


_SITUATIONS: dict[str, Callable[[Transformer, PagedCache, list[int]], list[tuple[list[int], Tensor]]]] = {
    "one block": _inside,
    "alone": _alone,
    "shared": _shared,
    "parted": _parted,
}
PAGED_SITUATIONS = tuple(_SITUATIONS)


def examine_paged(specimen: Callable[..., PagedCache], model: Transformer, ids: list[int]) -> dict[str, LogitsReport]:
    """The specimen's logits in each situation, against one pass of the model without a cache.

    ids: the tokens of a text, at least 80. Positions in a report count from the first one that was compared.
    """
    if len(ids) < 80:
        raise ValueError(f"ids holds {len(ids)} tokens; expected at least 80.")
    reports = {}
    for name, situation in _SITUATIONS.items():
        found = situation(model, specimen(model, 20, BLOCK_SIZE), ids)
        with torch.no_grad():
            whole = torch.cat([model(torch.tensor([text]))[0, -len(logits) :] for text, logits in found])
        reports[name] = compare_logits(whole, torch.cat([logits for _, logits in found]))
    return reports

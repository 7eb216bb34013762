"""Who holds which block of a paged cache, and what a full block contains. It does not import torch.

Memory for keys and values is cut into blocks of `block_size` tokens. A text holds just the blocks that its tokens
fill, in any order, and lists them in its block table. Two texts that begin alike can hold the same blocks, so each
block counts its holders. A block that nobody holds any more keeps its content until its memory is needed: a later
text that begins alike takes it back. This module moves no keys and no values; it only decides.

Source: Kwon et al. 2023, Efficient memory management for large language model serving with PagedAttention,
https://arxiv.org/abs/2309.06180
"""

from collections import OrderedDict
from collections.abc import Iterable, Sequence


class BlockPool:
    """A fixed number of blocks.

    n_blocks: how many there are, numbered from 0. block_size: tokens in each.
    Raises ValueError if either is below 1.

    >>> pool = BlockPool(n_blocks=3, block_size=2)
    >>> table = pool.take(2)
    >>> pool.publish([5, 6, 7], table)
    >>> pool.find([5, 6, 8]) == table[:1]  # the first block is full, and its tokens are the same
    True
    >>> pool.take(2) is None  # one is left
    True
    """

    def __init__(self, n_blocks: int, block_size: int):
        for name, value in (("n_blocks", n_blocks), ("block_size", block_size)):
            if isinstance(value, bool) or not isinstance(value, int) or value < 1:
                raise ValueError(f"{name} is {value!r}; expected an integer of at least 1.")
        self.n_blocks, self.block_size = n_blocks, block_size
        self.n_holders = [0] * n_blocks  # for each block
        self._free: OrderedDict[int, None] = OrderedDict.fromkeys(range(n_blocks))  # least recently used first
        # A full block is found by its tokens and the block before it. That block, found in the same way, stands for all
        # tokens before: so equal keys mean equal beginnings, and no hash has to be trusted.
        self._found_by: dict[tuple[int, tuple[int, ...]], int] = {}
        self._key_of: dict[int, tuple[int, tuple[int, ...]]] = {}
        self._content = list(range(n_blocks))  # a number for what a block holds, new whenever it gets another content
        self._next_content = n_blocks

    @property
    def n_free(self) -> int:
        """How many blocks nobody holds. They count as room, also where their content is kept for now."""
        return len(self._free)

    @property
    def published(self) -> frozenset[int]:
        """The blocks that `find` can find: full ones, held or free."""
        return frozenset(self._key_of)

    def take(self, n: int) -> list[int] | None:
        """Hold n blocks whose content does not matter; None, and nothing is held, if fewer are free.

        The least recently used ones are taken first; what they held can no longer be found.
        """
        if n < 0:
            raise ValueError(f"n is {n}; expected 0 or more blocks.")
        if n > len(self._free):
            return None
        return [self._take_oldest() for _ in range(n)]

    def find(self, token_ids: Sequence[int]) -> list[int]:
        """The blocks that hold the longest known beginning of a text, in order; they are not held by this.

        token_ids: the whole text. Its last token is never found: it must be fed, since its logits are needed.
        """
        blocks, before = [], -1
        for start in range(0, len(token_ids) - self.block_size, self.block_size):
            block = self._found_by.get((before, tuple(token_ids[start : start + self.block_size])))
            if block is None:
                break
            blocks.append(block)
            before = self._content[block]
        return blocks

    def hold(self, blocks: Iterable[int]) -> None:
        """Count one more holder for each of these blocks, as `find` gave them."""
        for block in blocks:
            self.n_holders[block] += 1
            self._free.pop(block, None)

    def release(self, blocks: Sequence[int]) -> None:
        """Count one holder less for each block of a table.

        A block without holders is free. The last blocks of a table become the first to be taken anew, since a
        beginning is shared more often than what follows it.
        Raises ValueError for a block that nobody holds.
        """
        for block in reversed(blocks):
            if self.n_holders[block] < 1:
                raise ValueError(f"Block {block} is released, but nobody holds it. Each holder releases it once.")
            self.n_holders[block] -= 1
            if not self.n_holders[block]:
                self._free[block] = None

    def publish(self, token_ids: Sequence[int], table: Sequence[int]) -> None:
        """Let others find the full blocks of a text.

        token_ids: the tokens whose keys and values are stored. table: the text's blocks, in order.
        Where another block with the same content can be found already, that one stays the one that is found.
        """
        before = -1
        for index in range(len(token_ids) // self.block_size):
            block = table[index]
            if block not in self._key_of:
                key = (before, tuple(token_ids[index * self.block_size : (index + 1) * self.block_size]))
                twin = self._found_by.setdefault(key, block)
                if twin != block:
                    before = self._content[twin]
                    continue
                self._key_of[block] = key
            before = self._content[block]

    def _take_oldest(self) -> int:
        block, _ = self._free.popitem(last=False)
        if (key := self._key_of.pop(block, None)) is not None:
            del self._found_by[key]
        self._content[block] = self._next_content  # what follows the old content is no longer found behind this block
        self._next_content += 1
        self.n_holders[block] = 1
        return block

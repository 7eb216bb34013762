"""Who holds which block of a paged cache, and what a full block contains.

The memory for keys and values is cut into blocks of `block_size` tokens. A text holds as many blocks as its tokens
fill, in any order, and lists them in its block table. Two texts that begin alike can hold the same blocks, so each
block counts its holders. A block that nobody holds any more keeps its content until its memory is needed: a later
text that begins alike takes it back. This module moves no keys and no values, and knows of no
tensors; it only decides.

Source: Kwon et al. 2023, Efficient memory management for large language model serving with PagedAttention,
https://arxiv.org/abs/2309.06180
"""

from collections import OrderedDict
from collections.abc import Iterable, Sequence

from course_utils.arguments import check_integer

_Key = tuple[int, tuple[int, ...]]  # what came before, and the block's own tokens


class BlockPool:
    """A fixed number of blocks, each held by any number of texts, or by none and then free.

    n_blocks: how many there are, numbered from 0. block_size: how many tokens fit into each.
    Raises ValueError if either is below 1.

    >>> pool = BlockPool(n_blocks=3, block_size=2)
    >>> table = pool.take(2)
    >>> pool.fill(table, 0, [5, 6])  # the first block of the text 5, 6, 7 is full, so others can find it
    >>> pool.find([5, 6, 8]) == table[:1]
    True
    >>> pool.take(2) is None  # one block is free
    True
    """

    def __init__(self, n_blocks: int, block_size: int):
        self.n_blocks = check_integer("n_blocks", n_blocks, at_least=1)
        self.block_size = check_integer("block_size", block_size, at_least=1)
        self.n_holders = [0] * n_blocks  # for each block
        self._free: OrderedDict[int, None] = OrderedDict.fromkeys(range(n_blocks))  # least recently used first
        # A full block is found by its tokens and by what came before them. The content of the block before, which was
        # found in the same way, stands for all earlier tokens: equal keys mean equal texts, and no hash is trusted.
        self._found_by: dict[_Key, int] = {}
        self._key_of: dict[int, _Key] = {}
        self._content = list(range(n_blocks))  # a number for what a block holds, a new one whenever that changes
        self._next_content = n_blocks

    @property
    def n_free(self) -> int:
        """How many blocks nobody holds. They count as room even while they keep an old content."""
        return len(self._free)

    @property
    def findable(self) -> frozenset[int]:
        """The blocks that `find` can find: the full ones, held or free."""
        return frozenset(self._key_of)

    def take(self, n: int) -> list[int] | None:
        """Hold n free blocks, whatever they contain; None, and nothing is held, if fewer than n are free.

        The least recently used are taken first, and what they contained can no longer be found.
        """
        n = check_integer("n", n)
        return [self._take_oldest() for _ in range(n)] if n <= len(self._free) else None

    def find(self, token_ids: Sequence[int]) -> list[int]:
        """The blocks that contain the longest known beginning of a text, in order. Finding them does not hold them.

        token_ids: the whole text. Its last token is never among the found ones: it must be fed to get its logits.
        """
        blocks: list[int] = []
        for start in range(0, len(token_ids) - self.block_size, self.block_size):
            before = self._content[blocks[-1]] if blocks else -1
            block = self._found_by.get((before, tuple(token_ids[start : start + self.block_size])))
            if block is None:
                break
            blocks.append(block)
        return blocks

    def hold(self, blocks: Iterable[int]) -> None:
        """Count one more holder for each of these blocks, which others hold or `find` has just found."""
        for block in blocks:
            self.n_holders[block] += 1
            self._free.pop(block, None)

    def release(self, blocks: Sequence[int]) -> None:
        """Count one holder less for each block of a table; a block without holders is free.

        The end of a table is taken anew before its beginning, since texts share beginnings.
        Raises ValueError for a block that nobody holds.
        """
        for block in reversed(blocks):
            if self.n_holders[block] < 1:
                raise ValueError(f"Block {block} is released, but nobody holds it. Each holder releases it once.")
            self.n_holders[block] -= 1
            if not self.n_holders[block]:
                self._free[block] = None

    def fill(self, table: list[int], index: int, token_ids: Sequence[int]) -> None:
        """Let others find a block of a text that is full now.

        table: the text's blocks. index: which of them is full; those before it were filled earlier.
        token_ids: the tokens in it.
        If another block with the same content can be found already, the table gets that one and gives its own back.
        """
        block = table[index]
        key = (self._content[table[index - 1]] if index else -1, tuple(token_ids))
        known = self._found_by.setdefault(key, block)
        if known == block:
            self._key_of[block] = key
        else:
            self.hold([known])
            table[index] = known
            self.release([block])

    def _take_oldest(self) -> int:
        block, _ = self._free.popitem(last=False)
        if (key := self._key_of.pop(block, None)) is not None:
            del self._found_by[key]
        self._content[block] = self._next_content  # nothing that followed the old content is found behind this block
        self._next_content += 1
        self.n_holders[block] = 1
        return block

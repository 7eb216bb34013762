"""Keys and values of many texts in one store of blocks, which a transformer reads like any other cache.

A text's block table says where its tokens lie. `PagedCache` owns the store; `rows` gives the cache of one forward
pass over some of the texts, whose lengths may differ. Attention gets a text's keys in their order, gathered from
wherever they lie, so the logits are those of an ordinary cache, up to rounding.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

import torch
from torch import Tensor, nn

from course_utils.kv_cache import Weights
from course_utils.serving.block_pool import BlockPool
from course_utils.transformer import Transformer


@dataclass
class Table:
    """Where one text lies. blocks: in the order of its tokens. token_ids: the tokens that are stored, in order."""

    blocks: list[int] = field(default_factory=list)
    token_ids: list[int] = field(default_factory=list)


class PagedCache:
    """Blocks of keys and values for one model.

    model: whose keys and values they are; the cache refuses any other one, and this one once its weights have changed.
    n_blocks: how many blocks there are. block_size: how many tokens fit into each. (The model's own `block_size`, its
        longest context, is another number.)
    store: (layers, blocks, 2 K, tokens in a block, D), the heads' keys before their values.
    """

    def __init__(self, model: Transformer, n_blocks: int, block_size: int):
        self.pool = BlockPool(n_blocks, block_size)
        self.weights = Weights(model, renew="Make a new cache or a new Engine: what is stored cannot be used.")
        config = model.config
        self.n_kv_head = config.n_kv_head
        like = next(model.parameters())
        with torch.inference_mode(False):  # a tensor made in inference mode could not be written to outside of it
            shape = (config.n_layer, n_blocks, 2 * config.n_kv_head, block_size, config.head_dim)
            self.store = torch.zeros(shape, dtype=like.dtype, device=like.device)
            self._gathered = torch.empty(0, block_size * config.head_dim, dtype=like.dtype, device=like.device)

    def begin(self, token_ids: Sequence[int]) -> Table:
        """A table for a text that holds the blocks of its known beginning. What they store is not computed again."""
        blocks = self.pool.find(token_ids)
        self.pool.hold(blocks)
        return Table(blocks, list(token_ids[: len(blocks) * self.pool.block_size]))

    def fork(self, table: Table) -> Table:
        """A second text that goes on from the same tokens. Both hold the same blocks until one of them must write."""
        self.pool.hold(table.blocks)
        return Table(list(table.blocks), list(table.token_ids))

    def reserve(self, table: Table, n_tokens: int) -> bool:
        """Make room for n more tokens of a text; False, and nothing has changed, if too few blocks are free.

        A block into which these tokens go is copied first if another text holds it as well (copy on write).
        """
        size, n_stored = self.pool.block_size, len(table.token_ids)
        end = -(-(n_stored + n_tokens) // size)  # how many blocks the text needs
        shared = self.shared(table, n_tokens)
        if end <= len(table.blocks) and not shared:
            return True
        new = self.pool.take(max(end - len(table.blocks), 0) + len(shared))
        if new is None:
            return False
        for index in shared:
            block, table.blocks[index] = table.blocks[index], new.pop()
            self.store[:, table.blocks[index]] = self.store[:, block]
            self.pool.release([block])
        table.blocks += new
        return True

    def shared(self, table: Table, n_tokens: int) -> list[int]:
        """Which blocks of a table, by their places in it, n more tokens would go into while other texts hold them."""
        size, n_stored = self.pool.block_size, len(table.token_ids)
        places = range(n_stored // size, min(-(-(n_stored + n_tokens) // size), len(table.blocks)))
        return [index for index in places if self.pool.n_holders[table.blocks[index]] > 1]

    def release(self, table: Table) -> None:
        """End a text: its blocks are free for others, and the full ones can be found until they are taken."""
        self.pool.release(table.blocks)
        table.blocks, table.token_ids = [], []

    def gather(self, layer: int, places: Tensor) -> Tensor:
        """Rows of a layer's store, one for each head of each block, in this order: (places, tokens in a block * D).

        The result is written over by the next call. To make it anew for each layer would cost more than to fill it.
        """
        if len(places) > len(self._gathered):
            with torch.inference_mode(False):
                self._gathered = self._gathered.new_empty(len(places), self._gathered.shape[1])
        source = self.store[layer].flatten(0, 1).flatten(1)
        return torch.index_select(source, 0, places, out=self._gathered[: len(places)])

    def rows(self, tables: Sequence[Table]) -> "PagedRows":
        """The cache of one forward pass in which row i goes on with text i. Room must have been reserved."""
        return PagedRows(self, tables)


class PagedRows:
    """Some texts of a `PagedCache`, as the rows of one forward pass: see `protocols.Cache`."""

    def __init__(self, cache: PagedCache, tables: Sequence[Table]):
        self.cache, self.tables = cache, list(tables)

    def check(self, model: nn.Module, token_ids: Tensor) -> None:
        """Refuse, before anything is written, another model, changed weights, other rows, and tokens without room.

        A block that another text holds too is no room.
        """
        self.cache.weights.check(model)
        n_rows, n_new = token_ids.shape
        if n_rows != len(self.tables):
            raise ValueError(f"token_ids has {n_rows} rows; expected {len(self.tables)}, one for each text.")
        for row, table in enumerate(self.tables):
            room = len(table.blocks) * self.cache.pool.block_size - len(table.token_ids)
            if n_new > room:
                raise ValueError(f"Row {row} has room for {room} more tokens, not for {n_new}. Call reserve first.")
            if shared := self.cache.shared(table, n_new):
                block = table.blocks[shared[0]]
                raise ValueError(f"Row {row} would write into block {block}, which is shared. Call reserve first.")
        self._locate(n_new)

    def _locate(self, n_new: int) -> None:
        """Where the new tokens go, and where all tokens are found."""
        size, heads = self.cache.pool.block_size, 2 * self.cache.n_kv_head
        lengths = torch.tensor([len(table.token_ids) for table in self.tables])
        n_blocks = -(-(max(len(table.token_ids) for table in self.tables) + n_new) // size)
        # A shorter text's row is filled up with its first block; the mask leaves those keys out.
        blocks = torch.tensor([(t.blocks + t.blocks[:1] * n_blocks)[:n_blocks] for t in self.tables])  # (B, n_blocks)
        self._positions = lengths[:, None] + torch.arange(n_new)  # (B, T)
        self._mask = torch.arange(n_blocks * size) <= self._positions[:, None, :, None]  # (B, 1, T, S)
        self._written = blocks.gather(1, self._positions // size).flatten(), (self._positions % size).flatten()
        # One row of the store is one head of one block: gathered head by head, a text's keys lie in their order.
        self._gathered = (blocks[:, None, :] * heads + torch.arange(heads)[:, None]).flatten()  # (B * 2 K * n_blocks)

    def positions(self, n_new: int, attention_mask: Tensor | None = None) -> Tensor:
        """Behind each text's own tokens: int64 (B, T)."""
        if attention_mask is not None:
            raise ValueError("attention_mask is given; expected None: rows of different lengths need no padding here.")
        return self._positions

    def mask(self, n_new: int, attention_mask: Tensor | None = None) -> Tensor:
        """Each new token may attend to its own text's keys up to its own position: bool (B, 1, T, S)."""
        return self._mask

    def append(self, layer: int, keys: Tensor, values: Tensor) -> tuple[Tensor, Tensor]:
        """Write the new keys and values (B, K, T, D) into their blocks; return all of them, gathered, (B, K, S, D)."""
        store, (n_rows, n_heads, _, head_dim) = self.cache.store[layer], keys.shape
        new = torch.cat([keys, values], dim=1).transpose(1, 2)  # (B, T, 2 K, D)
        blocks, offsets = self._written
        store[blocks, :, offsets] = new.flatten(0, 1).detach()
        found = self.cache.gather(layer, self._gathered)  # (B * 2 K * n_blocks, size * D)
        keys, values = found.view(n_rows, 2, n_heads, -1, head_dim).unbind(1)
        return keys, values

    def advance(self, token_ids: Tensor) -> None:
        """Count the new tokens (B, T); from now on others can find the blocks that are full."""
        size = self.cache.pool.block_size
        for table, ids in zip(self.tables, token_ids.tolist(), strict=True):
            n_full = len(table.token_ids) // size
            table.token_ids += ids
            for index in range(n_full, len(table.token_ids) // size):
                self.cache.pool.fill(table.blocks, index, table.token_ids[index * size : (index + 1) * size])

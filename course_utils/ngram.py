"""A model that has counted which token follows the last few, and backs off to fewer where it has not seen them.

It knows nothing beyond its n - 1 tokens and learns nothing but counts. As a language model it is poor; as a draft for a
better one it costs next to nothing. `bigram` is the case n = 2, as a table that can also be trained.
"""

import math
from collections.abc import Sequence

import numpy as np
import torch
from numpy.typing import ArrayLike
from torch import Tensor

from course_utils.arguments import as_tensor, check_integer
from course_utils.model_checks import check_token_ids


class NgramCache:
    """The tokens that have been processed, row by row."""

    def __init__(self, batch_size: int):
        self.batch_size = batch_size
        self.rows: list[list[int]] = [[] for _ in range(batch_size)]

    @property
    def n_tokens(self) -> int:
        """How many tokens each row has processed."""
        return len(self.rows[0])

    def crop(self, n_tokens: int) -> None:
        """Forget all but the first `n_tokens` tokens of each row."""
        if not 0 <= n_tokens <= self.n_tokens:
            raise ValueError(f"n_tokens is {n_tokens}; expected 0 to {self.n_tokens}, the number that the cache holds.")
        for row in self.rows:
            del row[n_tokens:]


class NgramLM:
    """Logits after the last n - 1 tokens: the counts of what followed them, or followed the longest end that was seen.

    Contexts are paths of a tree: a node stands for a context, and its children for that context and one token more. So
    how often each child was reached is at the same time how often its token followed.

    n: how many tokens a count is about, the next one included. Make one with `NgramLM.fit`.

    >>> model = NgramLM.fit([0, 1, 0, 2, 0, 1], n=3, vocab_size=4)
    >>> model(torch.tensor([[2, 0]])).exp()[0, -1].tolist()  # after 2, 0 came 1
    [0.0, 1.0, 0.0, 0.0]
    >>> [round(p, 2) for p in model(torch.tensor([[3, 0]])).exp()[0, -1].tolist()]  # never seen: after 0 came 1, 2, 1
    [0.0, 0.67, 0.33, 0.0]
    """

    def __init__(self, n: int, vocab_size: int):
        self.n, self.vocab_size = n, vocab_size
        # By the length of a context: the child that each (node, token) leads to, and all of them with their counts.
        self._children: list[dict[int, int]] = []
        self._pairs: list[np.ndarray] = []
        self._counts: list[np.ndarray] = []

    @classmethod
    def fit(cls, ids: ArrayLike | Tensor, n: int, vocab_size: int) -> "NgramLM":
        """The model that has counted `ids`, (T,).

        n: 1 or more; n - 1 tokens are looked back on. vocab_size: how many ids there are.
        Raises ValueError for no tokens, an id out of range, or n of 0.
        """
        if check_integer("n", n) < 1:
            raise ValueError("n is 0; expected 1 or more: an n-gram holds at least the next token.")
        ids = as_tensor("ids", ids).detach().cpu().numpy()
        vocab_size = check_integer("vocab_size", vocab_size, below=2**31, at_least=1)
        if ids.size and not np.issubdtype(ids.dtype, np.integer):
            raise TypeError(f"ids has the dtype {ids.dtype}; expected integers.")
        ids = ids.astype(np.int64)
        if ids.ndim != 1 or not len(ids) or ids.min() < 0 or ids.max() >= vocab_size:
            raise ValueError(f"ids has the shape {ids.shape}; expected (T,) with ids from 0 to {vocab_size - 1}.")
        model = cls(n, vocab_size)
        nodes = np.zeros(len(ids), dtype=np.int64)  # where the path that begins at each position has come to
        for length in range(min(n, len(ids))):
            pairs = nodes * vocab_size + ids[length:]  # a context of so many tokens, and the token that followed it
            unique, where, counts = np.unique(pairs, return_inverse=True, return_counts=True)
            model._pairs.append(unique)
            model._counts.append(counts)
            model._children.append({pair: child for child, pair in enumerate(unique.tolist())})
            nodes = where[:-1]
        return model

    def state_dict(self) -> dict[str, Tensor]:
        """All that was counted, by name, for a fingerprint."""
        lists = {"pairs": self._pairs, "counts": self._counts}
        tensors = {
            f"{name}.{length}": torch.from_numpy(found) for name in lists for length, found in enumerate(lists[name])
        }
        return {"n": torch.tensor(self.n), "vocab_size": torch.tensor(self.vocab_size), **tensors}

    @property
    def n_contexts(self) -> int:
        """How many different contexts of the full length were seen."""
        return len({pair // self.vocab_size for pair in self._pairs[-1].tolist()})

    def new_cache(self, batch_size: int = 1) -> NgramCache:
        """An empty cache for so many texts."""
        return NgramCache(batch_size)

    def __call__(self, token_ids: Tensor, cache: NgramCache | None = None) -> Tensor:
        """Logits (B, T, V) in nats, float64; -inf where a token never followed. token_ids: (B, T) int64.

        Raises ValueError for an id outside the vocabulary, or a cache of another batch size.
        """
        token_ids = check_token_ids(token_ids, self.vocab_size)
        cache = self.new_cache(len(token_ids)) if cache is None else cache
        if len(token_ids) != cache.batch_size:
            raise ValueError(f"The cache has {cache.batch_size} rows; token_ids has {len(token_ids)}.")
        logits = np.empty((*token_ids.shape, self.vocab_size))
        for row, ids, seen in zip(logits, token_ids.tolist(), cache.rows, strict=True):
            for place, token_id in enumerate(ids):
                seen.append(token_id)
                row[place] = self._logits(seen[max(0, len(seen) - self.n + 1) :] if self.n > 1 else [])
        return torch.from_numpy(logits)

    def _logits(self, context: Sequence[int]) -> np.ndarray:
        for start in range(len(context) + 1):  # a shorter end, until one was followed by something
            found = self._followers(context[start:])
            if found is not None:
                break
        assert found is not None  # the empty context was followed by every token that there is
        tokens, counts = found
        logits = np.full(self.vocab_size, -math.inf)
        logits[tokens] = np.log(counts / counts.sum())
        return logits

    def _followers(self, context: Sequence[int]) -> tuple[np.ndarray, np.ndarray] | None:
        """The tokens that followed a context, and how often; None if nothing did."""
        node, V = 0, self.vocab_size
        if len(context) >= len(self._pairs):
            return None
        for length, token in enumerate(context):
            child = self._children[length].get(node * V + token)
            if child is None:
                return None
            node = child
        pairs = self._pairs[len(context)]
        begin, end = pairs.searchsorted([node * V, (node + 1) * V])
        return (pairs[begin:end] % V, self._counts[len(context)][begin:end]) if begin < end else None

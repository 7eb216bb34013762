"""A character bigram model: the next token depends on the last one, and on nothing else.

Its only parameter is a table with one row of logits for each previous token. The table can be counted or
learned by gradient descent. It knows no words, no sentences and no past beyond one token; what it shows is how
scores become text, in the smallest model that has scores.
"""

import math
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import ArrayLike
from torch import Tensor, nn

from course_utils.arguments import as_tensor, check_integer, check_number
from course_utils.model_checks import check_token_ids

MAX_VOCAB_SIZE = 5_000  # 5,000**2 float64 logits take 200 MB
_CHUNK = 1 << 22  # tokens counted at a time: bounds the memory for pairs to about 100 MB


def count_bigrams(ids: ArrayLike | Tensor, vocab_size: int) -> np.ndarray:
    """How often each token follows each other one.

    ids: (T,) token ids: a list, array or tensor. vocab_size: at most MAX_VOCAB_SIZE.
    Returns int64 (vocab_size, vocab_size), row = previous token, column = next token; the total is T - 1.
    Raises ValueError for fewer than two tokens, an id out of range, or a vocabulary that is too large.
    """
    if not 1 <= check_number("vocab_size", vocab_size) <= MAX_VOCAB_SIZE:
        raise ValueError(
            f"vocab_size is {vocab_size}; expected 1 to {MAX_VOCAB_SIZE}. A dense bigram stores vocab_size**2 "
            f"logits. Use a text with fewer different characters."
        )
    vocab_size = check_integer("vocab_size", vocab_size)
    ids = as_tensor("ids", ids).detach().cpu().numpy()
    if ids.ndim != 1 or len(ids) < 2:
        raise ValueError(f"ids has shape {ids.shape}; expected (T,) with at least two tokens, so one pair to count.")
    if not np.issubdtype(ids.dtype, np.integer):
        raise TypeError(f"ids has the dtype {ids.dtype}; expected integers.")
    if ids.min() < 0 or ids.max() >= vocab_size:
        raise ValueError(f"ids has values from {ids.min()} to {ids.max()}; expected 0 to {vocab_size - 1}.")
    counts = np.zeros(vocab_size * vocab_size, dtype=np.int64)
    for start in range(0, len(ids) - 1, _CHUNK):
        chunk = ids[start : start + _CHUNK + 1].astype(np.int64)
        counts += np.bincount(chunk[:-1] * vocab_size + chunk[1:], minlength=len(counts))
    return counts.reshape(vocab_size, vocab_size)


def counts_to_logits(counts: ArrayLike | Tensor, add: float = 0.0) -> Tensor:
    """The log-probabilities of the next token, one row for each previous token.

    counts: (V, V), row = previous token. add: added to each count before dividing; 1 is add-one smoothing.
    Returns float64 (V, V) in nats. With add=0 a pair that was never seen has -inf, and a row that was never
    seen is uniform: nothing is known there, so nothing is preferred.
    Raises ValueError for a count or add that is negative, infinite or NaN.
    """
    counts, add = as_tensor("counts", counts).double(), check_number("add", add)
    if not counts.ndim or not counts.shape[-1]:
        raise ValueError(f"counts has the shape {tuple(counts.shape)}; expected (V, V), a row for each previous token.")
    if not (0 <= add < math.inf) or not ((counts >= 0) & (counts < math.inf)).all():
        raise ValueError(
            f"add is {add}, the counts go from {counts.min()} to {counts.max()}; expected finite numbers of 0 or more."
        )
    counts = counts + add
    counts = torch.where(counts.sum(-1, keepdim=True) == 0, torch.ones_like(counts), counts)
    return (counts / counts.sum(-1, keepdim=True)).log()


@dataclass
class BigramCache:
    """What a bigram must keep of the tokens that it has processed: how many there were. No past enters its logits."""

    batch_size: int
    n_tokens: int = 0

    def crop(self, n_tokens: int) -> None:
        """Forget all but the first `n_tokens` tokens."""
        if not 0 <= n_tokens <= self.n_tokens:
            raise ValueError(f"n_tokens is {n_tokens}; expected 0 to {self.n_tokens}, the number that the cache holds.")
        self.n_tokens = n_tokens


class BigramLM(nn.Module):
    """A language model made of one table: logits[previous token] is the row of the next token's logits.

    table: (V, V), in nats, row = previous token; a parameter, so it can be trained.

    >>> model = BigramLM.fit([0, 1, 0, 1, 1], vocab_size=2)
    >>> model(torch.tensor([[0, 1]])).exp()[0, -1].tolist()  # after 1 came 0 once and 1 once
    [0.5, 0.5]
    """

    def __init__(self, table: Tensor) -> None:
        super().__init__()
        if table.ndim != 2 or table.shape[0] != table.shape[1]:
            raise ValueError(f"table has shape {tuple(table.shape)}; expected (V, V): a row for each previous token.")
        if not table.is_floating_point():
            raise TypeError(f"table has the dtype {table.dtype}; expected logits. Counts go through counts_to_logits.")
        self.table = nn.Parameter(table)

    @classmethod
    def fit(cls, ids: ArrayLike | Tensor, vocab_size: int, add: float = 0.0) -> "BigramLM":
        """The model that has counted `ids` (T,); arguments and errors as in count_bigrams and counts_to_logits."""
        return cls(counts_to_logits(count_bigrams(ids, vocab_size), add).detach())

    def new_cache(self, batch_size: int = 1) -> BigramCache:
        return BigramCache(batch_size)

    def forward(
        self, token_ids: Tensor, cache: BigramCache | None = None, attention_mask: Tensor | None = None
    ) -> Tensor:
        """Logits for the token after each position.

        token_ids: (B, T) int64. cache: counts the tokens. attention_mask: not needed, since padding stands on
        the left and only the last token counts.
        Returns (B, T, V): position t scores the token after t. These are not T future tokens.
        Raises ValueError for another shape, an id outside the vocabulary, or a cache of another batch size; TypeError
            for what is no tensor of integers.
        """
        token_ids = check_token_ids(token_ids, len(self.table))
        if cache is not None:
            if cache.batch_size != token_ids.shape[0]:
                raise ValueError(f"The cache has {cache.batch_size} rows; token_ids has {token_ids.shape[0]}.")
            cache.n_tokens += token_ids.shape[1]
        return self.table[token_ids]

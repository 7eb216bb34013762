"""A small model that notes each call, for the exercises on the cache, and a real Transformer that does the same.

They are called as `Transformer` is: `model(token_ids, cache)` gives logits (1, T, V), `model.new_cache()` a cache.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np

from course_utils.checker.answers import Unreadable, as_array
from course_utils.exercises.common.inputs import tensor

if TYPE_CHECKING:
    from torch import Tensor

V = 7
Row = Callable[[list[int], int], np.ndarray]  # the logits after a context, for a number of tokens


def scores(context: list[int], n_tokens: int = V) -> np.ndarray:
    """Logits after a context: every id, its place and the length count, so nothing may be missing or come twice."""
    ids = np.array(context, dtype=np.int64)
    mixed = int((np.arange(1, len(ids) + 1) * (ids + 1) ** 2).sum()) + 5 * len(ids)
    tokens = np.arange(n_tokens, dtype=np.int64)
    return ((mixed * (31 + 12 * tokens) + 17 * tokens) % 1009) / 64 - 6


def tied(context: list[int], n_tokens: int = V) -> np.ndarray:
    """The same in a few steps only, so that several ids share the largest logit."""
    return np.floor(scores(context, n_tokens) / 6)


def close(context: list[int], n_tokens: int = V) -> np.ndarray:
    """As `tied`, but positive, and what ties there differs here by two units of float32: the larger id wins."""
    return tied(context, n_tokens) + 2 + np.arange(n_tokens) * 2.0**-21


def below_zero(context: list[int], n_tokens: int = V) -> np.ndarray:
    """All negative, and one is -inf."""
    row = scores(context, n_tokens) - 30
    row[len(context) % n_tokens] = -np.inf
    return row


@dataclass(frozen=True)
class Fed:
    """One call of the model.

    ids: the tokens that went in. cache: which one, or None; its own, or that of another model. start: how many tokens
    it held before. one_row: the ids were a tensor of whole numbers, (1, T).
    """

    ids: list[int]
    cache: object
    own: bool
    start: int
    one_row: bool


class MockCache:
    """Holds ids where a real one holds keys and values."""

    def __init__(self, model: MockModel, batch_size: int, max_tokens: int):
        self.model, self.batch_size, self.max_tokens = model, batch_size, max_tokens
        self.ids: list[int] = []

    @property
    def n_tokens(self) -> int:
        """How many tokens have been processed."""
        return len(self.ids)

    @property
    def token_ids(self) -> Tensor:
        """The tokens that have been processed, (1, n_tokens)."""
        return tensor([self.ids], "int64")

    def crop(self, n_tokens: int) -> None:
        """Forget all but the first tokens."""
        del self.ids[n_tokens:]

    def reset(self) -> None:
        """Forget everything."""
        self.crop(0)


class MockModel:
    """Called as a Transformer is. It takes what a real one refuses, and notes it for the cases."""

    def __init__(self, row: Row = scores, n_tokens: int = V):
        self.row, self.block_size, self.training = row, 512, False
        self.fed: list[Fed] = []
        self.config = SimpleNamespace(vocab_size=n_tokens, block_size=self.block_size)

    def new_cache(self, batch_size: int = 1, max_tokens: int | None = None) -> MockCache:
        """An empty cache."""
        return MockCache(self, batch_size, max_tokens or self.block_size)

    def __call__(self, token_ids: Any, cache: Any = None, attention_mask: Any = None) -> Tensor:
        try:
            numbers = as_array(token_ids)
        except Unreadable:
            numbers = np.zeros(0)
        whole = hasattr(token_ids, "detach") and not token_ids.is_floating_point()
        ids = [int(number) for number in numbers.reshape(-1)]
        before = list(cache.ids) if isinstance(cache, MockCache) else []
        one_row = whole and numbers.ndim == 2 and len(numbers) == 1
        self.fed.append(Fed(ids, cache, getattr(cache, "model", None) is self, len(before), one_row))
        if isinstance(cache, MockCache):
            cache.ids += ids
        rows = [self.row([*before, *ids[: end + 1]], self.config.vocab_size) for end in range(len(ids))]
        return tensor(np.reshape(rows, (1, len(ids), self.config.vocab_size)))

    forward = __call__

    def parameters(self) -> Iterator[Tensor]:
        """One number, to ask for a device or a dtype."""
        return iter([tensor([0.0])])

    def train(self, mode: bool = True) -> MockModel:
        """Nothing here depends on the mode."""
        self.training = mode
        return self

    def eval(self) -> MockModel:
        """As `train(False)`."""
        return self.train(False)


def path(prompt: list[int], n: int, row: Row = scores, n_tokens: int = V) -> list[int]:
    """The oracle: every step from the whole context. Of equal logits the lowest id, as `argmax` takes it."""
    ids = list(prompt)
    for _ in range(n):
        ids.append(int(np.argmax(row(ids, n_tokens))))
    return ids[len(prompt) :]


def real_model() -> Any:
    """A small Transformer with weights by a formula, that notes its calls too."""
    import torch

    from course_utils.transformer import Transformer, TransformerConfig

    fed: list[Fed] = []

    class Noting(Transformer):
        def forward(self, token_ids: Tensor, cache: Any = None, attention_mask: Tensor | None = None) -> Tensor:
            start = 0 if cache is None else cache.n_tokens
            fed.append(Fed([int(number) for number in token_ids.flatten()], cache, True, start, True))
            return super().forward(token_ids, cache, attention_mask)

    model: Any = Noting(TransformerConfig(13, n_layer=2, n_head=4, n_kv_head=2, n_embd=16, block_size=64))
    model.requires_grad_(False).eval()
    for number, weights in enumerate(model.parameters()):
        if weights.ndim == 2:
            mixed = (torch.arange(weights.numel()) + 4 * number) ** 2 * 31 % 1009 / 504.5 - 1
            weights.copy_(mixed.view_as(weights) * 3 * weights.shape[1] ** -0.5)
    model.fed = fed
    return model


def real_path(prompt: list[int], n: int) -> list[int]:
    """The oracle for it: whole contexts, no cache."""
    model = real_model()
    ids = list(prompt)
    for _ in range(n):
        ids.append(int(model(tensor([ids], "int64"))[0, -1].argmax()))
    return ids[len(prompt) :]

"""What the parts of the package expect of each other: a language model, a vocabulary, a cache.

Anything with these methods will do, whatever its class: the tiny Llama, a bigram, a planned model, a mock of ten lines.
The loop needs no more than `LanguageModel` and `Vocabulary`. `Cache` is what a transformer asks of the object that
keeps its keys and values; another model's cache may be something else, and only that model reads it.
"""

from collections.abc import Sequence
from typing import Any, Protocol

from torch import Tensor, nn


class LanguageModel(Protocol):
    """Token ids in, a score for each possible next token out."""

    def __call__(self, token_ids: Tensor, cache: Any = None) -> Tensor:
        """token_ids: (B, T) int64; with a cache only the tokens that it has not seen yet, which it then takes in.

        Returns logits (B, T, V), in nats: position t scores the token after t. A model that can feed rows of different
        lengths together also takes `attention_mask`, (B, S), True where a real token stands.
        """
        ...

    def new_cache(self, batch_size: int = 1) -> Any:
        """An empty cache for so many texts. It is the model's own: callers pass it on and look at nothing in it."""
        ...


class Vocabulary(Protocol):
    """Which text each id stands for."""

    bos_id: int
    eos_id: int
    pad_id: int

    def encode(self, text: str) -> list[int]:
        """The ids of a text."""
        ...

    def decode(self, ids: Sequence[int]) -> str:
        """The text of ids; special tokens show as nothing."""
        ...

    def __len__(self) -> int:
        """How many ids there are: V of the logits."""
        ...


class NamedVocabulary(Vocabulary, Protocol):
    """A vocabulary that also tells its tokens: what pictures, fingerprints and tool calls need beside the above."""

    tokens: tuple[str, ...]
    ids: dict[str, int]

    def label(self, token_id: int) -> str:
        """The token as a picture can show it."""
        ...


class Cache(Protocol):
    """The keys and values of the tokens that a transformer has processed, and where the next tokens stand.

    A forward pass uses it in this order: `check`, `positions` and `mask` once, `append` for each layer, `advance` once.
    B is the number of rows, T that of the new tokens in each, and S that of all keys which `append` gives back. All of
    them are what the cache says they are, so its rows may have different lengths, and its keys may lie anywhere.
    """

    def check(self, model: nn.Module, token_ids: Tensor) -> None:
        """Raise ValueError, before anything is written, if these new tokens (B, T) of this model cannot be taken in."""
        ...

    def positions(self, n_new: int, attention_mask: Tensor | None = None) -> Tensor:
        """Where the T new tokens of each row stand: int64 (B, T), or (1, T) if that is the same in all rows."""
        ...

    def mask(self, n_new: int, attention_mask: Tensor | None = None) -> Tensor | None:
        """Which of the S keys each new token may attend to: bool (B, 1, T, S) or (1, 1, T, S), True = may.

        None says that no mask is needed: a single new token sees every key; several, which then are all there are, see
        those up to their own.
        """
        ...

    def append(self, layer: int, keys: Tensor, values: Tensor) -> tuple[Tensor, Tensor]:
        """Store the new keys and values of a layer, (B, K, T, D) each; return all of that layer, (B, K, S, D) each."""
        ...

    def advance(self, token_ids: Tensor) -> None:
        """Count the new tokens (B, T): every layer has stored its keys and values."""
        ...

"""What a transformer keeps of the tokens that it has processed: keys and values, layer by layer.

Not answers, not hidden states, not scores. A cache owns its position: how many tokens it has processed, and so where
the next one stands; callers pass no positions. It knows nothing of attention or of sampling.
"""

import math
import weakref
from collections.abc import Sequence
from typing import Self

import torch
from torch import Tensor, nn

from course_utils.arguments import check_integer, check_number


def kv_cache_bytes(
    n_layer: int, n_kv_head: int, head_dim: int, n_tokens: int, batch_size: int = 1, bytes_per_element: int = 2
) -> int:
    """Bytes of all keys and values: 2 * layers * kv heads * head dim * tokens * rows * bytes per element.

    Left out: the weights, temporary activations, and what the allocator adds.

    >>> kv_cache_bytes(n_layer=32, n_kv_head=8, head_dim=128, n_tokens=1)
    131072
    """
    sizes = {"n_layer": n_layer, "n_kv_head": n_kv_head, "head_dim": head_dim, "n_tokens": n_tokens,
             "batch_size": batch_size, "bytes_per_element": bytes_per_element}  # fmt: skip
    for name, size in sizes.items():
        if name == "bytes_per_element":  # half a byte is four bits
            if not 0 <= check_number(name, size) < math.inf:
                raise ValueError(f"{name} is {size}; expected 0 or more.")
        else:
            check_integer(name, size)
    return 2 * n_layer * n_kv_head * head_dim * n_tokens * batch_size * bytes_per_element


def latent_cache_bytes(
    n_layer: int, n_latent: int, n_tokens: int, batch_size: int = 1, bytes_per_element: int = 2
) -> int:
    """Bytes where a layer keeps one vector for each token, from which it makes the keys and values of all heads.

    n_latent: numbers in that vector, with those of the rotated key that all heads share. It is stored once, so no
    factor 2 stands for keys and values. This is multi-head latent attention (MLA).
    Source: DeepSeek-AI 2024, https://arxiv.org/abs/2405.04434

    >>> latent_cache_bytes(n_layer=61, n_latent=512 + 64, n_tokens=1)
    70272
    """
    sizes = {"n_layer": n_layer, "n_latent": n_latent, "n_tokens": n_tokens, "batch_size": batch_size,
             "bytes_per_element": bytes_per_element}  # fmt: skip
    for name, size in sizes.items():
        if size < 0:
            raise ValueError(f"{name} is {size}; expected 0 or more.")
    return n_layer * n_latent * n_tokens * batch_size * bytes_per_element


def causal_mask(n_query: int, n_key: int) -> Tensor:
    """Which keys each query may attend to: bool (n_query, n_key), True = may.

    The queries are the last n_query of the n_key tokens, so the triangle is aligned bottom-right.
    """
    return torch.ones(n_query, n_key, dtype=torch.bool).tril(n_key - n_query)


def real_positions(real: Tensor) -> Tensor:
    """Where each token stands if only real ones count, int64 (B, S). real: bool (B, S), False at padding."""
    return (real.long().cumsum(-1) - 1).clamp_min(0)


def covering(attention_mask: Tensor, n_tokens: int) -> Tensor:
    """The attention mask (B, S) as bool; ValueError if S is not the number of tokens, or it has another shape."""
    if not isinstance(attention_mask, Tensor) or attention_mask.ndim != 2:
        given = tuple(attention_mask.shape) if isinstance(attention_mask, Tensor) else type(attention_mask).__name__
        raise ValueError(f"attention_mask is {given}; expected a tensor (B, S), a row for each text.")
    if attention_mask.shape[-1] != n_tokens:
        raise ValueError(
            f"attention_mask covers {attention_mask.shape[-1]} tokens; expected {n_tokens}, cached ones included."
        )
    return attention_mask.bool()


class Weights:
    """Which model a cache belongs to, and whether its weights are still those with which the cache was filled.

    A change is seen by the parameters' version counters and types; an edit of numbers through `.data` goes unseen.
    model: weakly referenced, so that a cache keeps no model alive. renew: how to get another cache, for the messages.
    """

    def __init__(self, model: nn.Module, renew: str = "Make a new one with model.new_cache()."):
        self.model, self._renew = weakref.ref(model), renew
        # A parameter made in inference mode has no count of its changes: for such a model no change is noticed.
        self._parameters = [parameter for parameter in model.parameters() if not parameter.is_inference()]
        self._versions = [(parameter._version, parameter.dtype) for parameter in self._parameters]

    def check(self, model: nn.Module) -> None:
        """Raise ValueError for another model, and for this one once its weights have changed."""
        if self.model() is not model:
            raise ValueError(f"This cache belongs to another model. {self._renew}")
        if [(parameter._version, parameter.dtype) for parameter in self._parameters] != self._versions:
            raise ValueError(
                f"The model's weights have changed since the cache was made, so its keys and values are those of "
                f"another model. {self._renew}"
            )


class KVCache:
    """Preallocated keys and values of one model for a batch of texts, whose rows grow together.

    model: the model that fills it; the cache refuses any other one, and this one once its weights have changed (seen
        by the parameters' version counters; an edit through `.data` goes unseen).
    max_tokens: how many tokens each row can hold.
    A layer's keys and values are (B, K, T, D): rows, key/value heads before expansion to query heads, tokens, head
    dimension. Other libraries order the axes otherwise. `store` holds them all: (layers, 2, B, K, max_tokens, D).
    """

    def __init__(self, model: nn.Module, n_layer: int, n_kv_head: int, head_dim: int, max_tokens: int, batch_size: int):
        batch_size, max_tokens = check_integer("batch_size", batch_size), check_integer("max_tokens", max_tokens)
        if batch_size < 1 or max_tokens < 1:
            raise ValueError(f"batch_size is {batch_size}, max_tokens {max_tokens}; expected both to be at least 1.")
        self._weights = Weights(model)
        like = next(model.parameters())
        self.max_tokens, self.batch_size = max_tokens, batch_size
        with torch.inference_mode(False):  # a tensor made in inference mode could not be written to outside of it
            shape = (n_layer, 2, batch_size, n_kv_head, max_tokens, head_dim)
            self.store = torch.zeros(shape, dtype=like.dtype, device=like.device)
            self._ids = torch.zeros(batch_size, max_tokens, dtype=torch.int64)
        self._layers = [layer.unbind() for layer in self.store]
        self.n_tokens = 0

    @property
    def token_ids(self) -> Tensor:
        """The tokens that have been processed, int64 (B, n_tokens)."""
        return self._ids[:, : self.n_tokens]

    @property
    def n_bytes(self) -> int:
        """Bytes that the stored tokens take up: not the whole preallocated store."""
        return self.store[..., : self.n_tokens, :].nbytes

    @property
    def n_bytes_allocated(self) -> int:
        """Bytes of the whole store."""
        return self.store.nbytes

    def keys(self, layer: int) -> Tensor:
        """The stored keys of a layer, (B, K, n_tokens, D): a view."""
        return self._layers[layer][0][:, :, : self.n_tokens]

    def values(self, layer: int) -> Tensor:
        """The stored values of a layer, (B, K, n_tokens, D): a view."""
        return self._layers[layer][1][:, :, : self.n_tokens]

    def check(self, model: nn.Module, token_ids: Tensor) -> None:
        """Refuse, before anything is written, what this cache cannot take: ValueError says why and what to do."""
        self._weights.check(model)
        if token_ids.shape[0] != self.batch_size:
            raise ValueError(f"The cache has {self.batch_size} rows, token_ids {token_ids.shape[0]}. Make a new cache.")
        if self.n_tokens + token_ids.shape[1] > self.max_tokens:
            raise ValueError(
                f"The cache holds {self.n_tokens} of at most {self.max_tokens} tokens, and {token_ids.shape[1]} more "
                f"do not fit. A cache is never rolled: crop it, or make a larger one."
            )

    def positions(self, n_new: int, attention_mask: Tensor | None = None) -> Tensor:
        """Where the new tokens stand, int64: (1, T) behind the cached ones, or (B, T) if a mask says what is padding.

        attention_mask: (B, S), over cached and new tokens; ValueError if it covers another number of them.
        """
        end = self.n_tokens + n_new
        if attention_mask is None:
            return torch.arange(self.n_tokens, end, device=self.store.device)[None]
        return real_positions(covering(attention_mask, end))[:, self.n_tokens :]

    def mask(self, n_new: int, attention_mask: Tensor | None = None) -> Tensor | None:
        """Which keys each new token may attend to: bool (1 or B, 1, T, S), or None where `Cache` says it may be."""
        end = self.n_tokens + n_new
        if attention_mask is not None:
            return causal_mask(n_new, end) & covering(attention_mask, end)[:, None, None, :]
        alone = n_new == 1 or self.n_tokens == 0  # a chunk behind cached tokens needs the triangle aligned bottom-right
        return None if alone else causal_mask(n_new, end)[None, None]

    def append(self, layer: int, keys: Tensor, values: Tensor) -> tuple[Tensor, Tensor]:
        """Store the new tokens of one layer, and return all of its keys and values, the new ones included.

        keys, values: (B, K, T, D). Numbers are stored; no gradients flow through them.
        `advance` ends the step, after the last layer.
        """
        n_new, end = keys.shape[2], self.n_tokens + keys.shape[2]
        all_keys, all_values = self._layers[layer]
        all_keys.narrow(2, self.n_tokens, n_new).copy_(keys.detach())
        all_values.narrow(2, self.n_tokens, n_new).copy_(values.detach())
        return all_keys.narrow(2, 0, end), all_values.narrow(2, 0, end)

    def advance(self, token_ids: Tensor) -> None:
        """Count the tokens (B, T) whose keys and values every layer has stored by now."""
        end = self.n_tokens + token_ids.shape[1]
        self._ids[:, self.n_tokens : end] = token_ids
        self.n_tokens = end

    def crop(self, n_tokens: int) -> None:
        """Forget all but the first `n_tokens` tokens; the next one takes the place after them."""
        if isinstance(n_tokens, float) or not 0 <= n_tokens <= self.n_tokens:
            raise ValueError(f"n_tokens is {n_tokens}; expected 0 to {self.n_tokens}, the number that the cache holds.")
        self.n_tokens = check_integer("n_tokens", n_tokens)

    def reset(self) -> None:
        """Forget everything; the memory stays."""
        self.crop(0)

    def copy(self) -> Self:
        """An independent cache with the same content: going on with one leaves the other as it is."""
        other = object.__new__(type(self))
        other.__dict__ = dict(self.__dict__)
        with torch.inference_mode(False):
            other.store, other._ids = self.store.clone(), self._ids.clone()
        other._layers = [layer.unbind() for layer in other.store]
        return other

    def __copy__(self) -> Self:
        return self.copy()  # a shallow copy would write into the same memory

    def __deepcopy__(self, memo: dict) -> Self:
        return self.copy()  # and a copy of the model with it would be another model


def reuse_prefix(cache: KVCache, token_ids: Sequence[int]) -> int:
    """Crop the cache to what it shares with the beginning of a new prompt, and return that length.

    token_ids: the whole new prompt. Feed what comes after the returned length. Reuse stops at the first different
    token, since every later key and value was computed after it; and at the last, which must be fed to get its logits.
    """
    if cache.batch_size != 1:
        raise ValueError(f"The cache has {cache.batch_size} rows; a prefix is reused for one text at a time.")
    token_ids = [check_integer("A token id", token_id) for token_id in token_ids]
    if not token_ids:
        raise ValueError("The new prompt is empty; expected at least one token, such as <bos>.")
    shared = 0
    for cached, wanted in zip(cache.token_ids[0].tolist(), token_ids[:-1], strict=False):
        if cached != wanted:
            break
        shared += 1
    cache.crop(shared)
    return shared

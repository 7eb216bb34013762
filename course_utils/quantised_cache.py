"""A cache whose keys and values take one byte a number: smaller by more than two thirds, and no longer exact.

Each key and each value of a head and token is divided by a scale of its own, so that its largest number becomes 127,
and rounded to an integer. The scale is kept beside it. What is read back is off by at most half a scale. So the logits
differ from the model's by far more than rounding, and a text may part at any near tie: this is another model, and
whether it is as good is a question for notebook 08's methods.
"""

from typing import Any, Self

import torch
from torch import Tensor, nn

from course_utils.kv_cache import KVCache
from course_utils.transformer import Transformer


def quantise(x: Tensor) -> tuple[Tensor, Tensor]:
    """Whole numbers from -127 to 127 and their scale: x is nearly numbers * scale.

    x: (..., D). Returns int8 (..., D) and a scale for each vector, (..., 1), in the dtype of x.

    >>> numbers, scale = quantise(torch.tensor([[0.5, -1.27, 0.004]]))
    >>> numbers.tolist(), round(scale.item(), 4)
    ([[50, -127, 0]], 0.01)
    """
    scale = x.abs().amax(-1, keepdim=True) / 127
    return (x / scale.where(scale > 0, 1)).round().to(torch.int8), scale


class Int8Cache(KVCache):
    """As `KVCache`, and read and written in the same way; `store` holds int8, and `scales` a number for each vector.

    scales: (layers, 2, B, K, max_tokens, 1). Each step computes all keys and values of a layer again from the integers,
    which takes time: what is saved is memory.
    """

    def __init__(self, model: nn.Module, n_layer: int, n_kv_head: int, head_dim: int, max_tokens: int, batch_size: int):
        super().__init__(model, n_layer, n_kv_head, head_dim, max_tokens, batch_size)
        dtype = self.store.dtype
        with torch.inference_mode(False):
            self.store = torch.zeros_like(self.store, dtype=torch.int8)
            self.scales = torch.zeros((*self.store.shape[:-1], 1), dtype=dtype, device=self.store.device)

    @property
    def n_bytes(self) -> int:
        """Bytes that the stored tokens take up, scales included."""
        return self.store[..., : self.n_tokens, :].nbytes + self.scales[..., : self.n_tokens, :].nbytes

    @property
    def n_bytes_allocated(self) -> int:
        """Bytes of the whole store, scales included."""
        return self.store.nbytes + self.scales.nbytes

    def keys(self, layer: int) -> Tensor:
        """The keys of a layer as they are read, (B, K, n_tokens, D)."""
        return self._read(layer, 0, self.n_tokens)

    def values(self, layer: int) -> Tensor:
        """The values of a layer as they are read, (B, K, n_tokens, D)."""
        return self._read(layer, 1, self.n_tokens)

    def append(self, layer: int, keys: Tensor, values: Tensor) -> tuple[Tensor, Tensor]:
        """Store the new tokens of one layer, and return all of its keys and values as they are read.

        keys, values: (B, K, T, D).
        """
        n_new, end = keys.shape[2], self.n_tokens + keys.shape[2]
        numbers, scales = quantise(torch.stack([keys.detach(), values.detach()]))
        self.store[layer].narrow(3, self.n_tokens, n_new).copy_(numbers)
        self.scales[layer].narrow(3, self.n_tokens, n_new).copy_(scales)
        return self._read(layer, 0, end), self._read(layer, 1, end)

    def copy(self) -> Self:
        """An independent cache with the same content."""
        other = super().copy()
        with torch.inference_mode(False):
            other.scales = self.scales.clone()
        return other

    def _read(self, layer: int, which: int, end: int) -> Tensor:
        return self.store[layer, which].narrow(2, 0, end) * self.scales[layer, which].narrow(2, 0, end)


class Int8CacheModel:
    """A transformer with such a cache, as a model for the loop; for batches and padding as well.

    model: it computes everything. Its logits differ from those with an exact cache, so its fingerprint is another one,
    and a record of a text is made again with such a model only.
    """

    def __init__(self, model: Transformer):
        if not isinstance(model, Transformer):
            raise TypeError(f"model is a {type(model).__name__}; expected a Transformer, whose cache can be replaced.")
        self.model, self.config, self.block_size = model, model.config, model.block_size

    def state_dict(self) -> dict[str, Tensor]:
        """The model's weights by name, for a fingerprint."""
        return self.model.state_dict()

    def new_cache(self, batch_size: int = 1, max_tokens: int | None = None) -> Int8Cache:
        """An empty cache; max_tokens: tokens a row, padding included; None: block_size."""
        config = self.model.config
        n_slots = config.block_size if max_tokens is None else max_tokens
        return Int8Cache(self.model, config.n_layer, config.n_kv_head, config.head_dim, n_slots, batch_size)

    def __call__(self, token_ids: Tensor, cache: Any = None, attention_mask: Tensor | None = None) -> Tensor:
        """Logits (B, T, V). Without a cache it is the model itself, exact. Raises ValueError in training mode."""
        if self.model.training:
            raise ValueError("The model is in training mode, with dropout. Call model.eval() first.")
        return self.model(token_ids, cache, attention_mask)

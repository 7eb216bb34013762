"""Fifteen faults that real decoders had, each a small change to the sound model or its cache.

A specimen has the sound model's weights. Most of them override one method; what they do not name is the real code.
"""

from collections.abc import Sequence

import torch
import torch.nn.functional as F
from torch import Tensor

from course_utils.kv_cache import KVCache, reuse_prefix
from course_utils.transformer import Transformer, causal_mask, rotations


class Specimen(Transformer):
    """A decoder in the clinic. This one is sound; the classes below change one thing each.

    Call it as any model: `specimen(token_ids, cache=None, attention_mask=None)`, with `specimen.new_cache()`.
    """

    letter = ""
    cache_class = KVCache

    def new_cache(self, batch_size: int = 1, max_tokens: int | None = None) -> KVCache:
        """As the model's own; a specimen whose fault is in the cache gets a cache of that class."""
        cache = super().new_cache(batch_size, max_tokens)
        cache.__class__ = self.cache_class
        return cache

    def reuse(self, cache: KVCache, token_ids: Sequence[int]) -> int:
        """How many tokens of a new prompt need not be fed, after the cache was cropped to them: see `reuse_prefix`."""
        return reuse_prefix(cache, token_ids)

    def __repr__(self) -> str:
        return f"Specimen {self.letter}".strip()


# --- positions -------------------------------------------------------------------------------------------------------


class _Misplaced(Specimen):
    """Behind a cache, the new tokens get the rotations of other positions."""

    def first_position(self, n_cached: int) -> int:
        """Where the first of the new tokens is put."""
        raise NotImplementedError

    def _positions(self, n_cached: int, T: int, attention_mask: Tensor | None):
        rotation, mask = super()._positions(n_cached, T, attention_mask)
        if n_cached:
            first = min(self.first_position(n_cached), self.block_size - T)
            rotation = super()._positions(first, T, None)[0]
        return rotation, mask


class Restarting(_Misplaced):
    """Each call counts from 0, as if there were no cache."""

    def first_position(self, n_cached: int) -> int:
        return 0


class OffByOne(_Misplaced):
    """The new tokens leave one place free."""

    def first_position(self, n_cached: int) -> int:
        return n_cached + 1


class Frozen(_Misplaced):
    """The counter is set after the first call and never moved on: right for the second call, wrong from the third."""

    def forward(self, token_ids: Tensor, cache: KVCache | None = None, attention_mask: Tensor | None = None) -> Tensor:
        if cache is not None and cache.n_tokens == 0:
            cache.after_the_first_call = token_ids.shape[1]
        self._frozen_at = getattr(cache, "after_the_first_call", 0)
        return super().forward(token_ids, cache, attention_mask)

    def first_position(self, n_cached: int) -> int:
        return self._frozen_at


class TurnedTwice(Specimen):
    """Queries and keys are turned by twice their angle, with and without a cache."""

    def __init__(self, config):
        super().__init__(config)
        every_position = rotations(config.head_dim, 2 * config.block_size, config.rope_theta)
        self.rotation = every_position[::2].contiguous()  # the angle of position p is that of 2 p


# --- masks -----------------------------------------------------------------------------------------------------------


class TopLeft(Specimen):
    """The triangle of a chunk behind a cache is aligned at the top left: its tokens see the oldest keys only."""

    def _positions(self, n_cached: int, T: int, attention_mask: Tensor | None):
        rotation, mask = super()._positions(n_cached, T, attention_mask)
        chunk = n_cached > 0 and T > 1
        return rotation, torch.ones(T, n_cached + T, dtype=torch.bool).tril() if chunk else mask


class NoTriangle(Specimen):
    """The tokens of a chunk behind a cache see each other, later ones included."""

    def _positions(self, n_cached: int, T: int, attention_mask: Tensor | None):
        rotation, mask = super()._positions(n_cached, T, attention_mask)
        chunk = n_cached > 0 and T > 1
        return rotation, torch.ones(T, n_cached + T, dtype=torch.bool) if chunk else mask


class SeesPads(Specimen):
    """Positions skip the padding, but its keys may be attended to."""

    def _positions(self, n_cached: int, T: int, attention_mask: Tensor | None):
        rotation, mask = super()._positions(n_cached, T, attention_mask)
        return rotation, mask if attention_mask is None else causal_mask(T, n_cached + T)


# --- what is fed, and what is kept -----------------------------------------------------------------------------------


class LastTwice(Specimen):
    """The first call behind a prompt feeds the prompt's last token once more."""

    def forward(self, token_ids: Tensor, cache: KVCache | None = None, attention_mask: Tensor | None = None) -> Tensor:
        if cache is not None and cache.n_tokens and attention_mask is None and not hasattr(cache, "has_fed_twice"):
            cache.has_fed_twice = True
            super().forward(cache.token_ids[:, -1:], cache)
        return super().forward(token_ids, cache, attention_mask)


class _WithoutFirst(KVCache):
    """The first token is counted and its place stays zero."""

    def append(self, layer: int, keys_and_values: Tensor) -> tuple[Tensor, Tensor]:
        keys, values = super().append(layer, keys_and_values)
        if self.n_tokens == 0:
            keys[:, :, 0] = values[:, :, 0] = 0
        return keys, values


class _KeysOfLayer0(KVCache):
    """Every layer reads the keys of layer 0, and its own values."""

    def append(self, layer: int, keys_and_values: Tensor) -> tuple[Tensor, Tensor]:
        keys, values = super().append(layer, keys_and_values)
        if layer == 0:
            self.keys_of_layer_0 = keys
        return self.keys_of_layer_0, values


class _ShortKeys(KVCache):
    """Keys are kept in bfloat16, which has 8 bits for the number itself."""

    def append(self, layer: int, keys_and_values: Tensor) -> tuple[Tensor, Tensor]:
        keys, values = keys_and_values.split(self.n_kv_head, dim=1)
        return super().append(layer, torch.cat([keys.bfloat16().to(keys.dtype), values], dim=1))


class _TrustsWeights(KVCache):
    """Old keys and values are used although the weights have changed."""

    def check(self, model, token_ids: Tensor) -> None:
        self._versions = [parameter._version for parameter in self._parameters]
        super().check(model, token_ids)


class StoresNoFirst(Specimen):
    """Its cache never stores the first token."""

    cache_class = _WithoutFirst


class OneLayersKeys(Specimen):
    """Its cache gives every layer the keys of layer 0."""

    cache_class = _KeysOfLayer0


class RoundsKeys(Specimen):
    """Its cache rounds keys."""

    cache_class = _ShortKeys


class KeepsAfterUpdate(Specimen):
    """Its cache goes on after a change of the weights."""

    cache_class = _TrustsWeights


class KeepsAfterEdit(Specimen):
    """Reuses as many tokens as the cache holds, whatever they were."""

    def reuse(self, cache: KVCache, token_ids: Sequence[int]) -> int:
        n_reused = min(cache.n_tokens, len(token_ids) - 1)
        cache.crop(n_reused)
        return n_reused


# --- layers ----------------------------------------------------------------------------------------------------------


class DropsOut(Specimen):
    """A tenth of each layer's output is dropped, in eval mode too."""

    def __init__(self, config):
        super().__init__(config)
        for layer in self.layers:
            layer.register_forward_hook(lambda module, args, output: F.dropout(output, 0.1))


class Tiled(Specimen):
    """Query head h reads key/value head h % K instead of h // (H / K).

    The heads of the weights change places instead, which comes to the same: the q of each group, and the columns of
    `out` that read them.
    """

    def load_state_dict(self, state, *args, **kwargs):
        """Take the sound model's weights, with the query heads in the tiled order."""
        H, K, D = self.config.n_head, self.config.n_kv_head, self.config.head_dim
        order = torch.arange(H).view(H // K, K).T.flatten()  # the heads that read k/v head 0 when tiled, then 1, …
        state = dict(state)
        for name, weight in state.items():
            if ".qkv" in name:
                heads = weight.view(-1, D, weight.shape[1])
                state[name] = torch.cat([heads[:H][order], heads[H:]]).view_as(weight)
            elif ".out" in name:
                state[name] = weight.view(-1, H, D)[:, order].reshape(weight.shape)
        return super().load_state_dict(state, *args, **kwargs)

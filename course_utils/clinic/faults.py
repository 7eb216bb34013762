"""Fifteen faults that real decoders had, each a small change to the sound model or its cache.

A specimen has the sound model's weights. It, or its cache, overrides one or two methods; all the rest is the real code.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from course_utils.kv_cache import KVCache, Weights, causal_mask, reuse_prefix
from course_utils.protocols import Cache
from course_utils.transformer import Transformer, TransformerConfig, rotation_by_halves, rotations


class Specimen(Transformer):
    """A decoder in the clinic. This one is sound; the classes below change one thing each.

    Call it as any model: `specimen(token_ids, cache=None, attention_mask=None)`, with `specimen.new_cache()`. If the
    fault is in what a cache does, the specimen has another `cache_class`.
    """

    letter = ""

    def reuse(self, cache: KVCache, token_ids: Sequence[int]) -> int:
        """How many tokens of a new prompt need not be fed, after the cache was cropped to them: see `reuse_prefix`."""
        return reuse_prefix(cache, token_ids)

    def __repr__(self) -> str:
        return f"Specimen {self.letter}".strip()


# --- positions -------------------------------------------------------------------------------------------------------


class _Misplacing(KVCache):
    """Behind cached tokens, the new ones are put in another place."""

    def first_position(self) -> int:
        """Where the first of the new tokens is put."""
        raise NotImplementedError

    def positions(self, n_new: int, attention_mask: Tensor | None = None) -> Tensor:
        if not self.n_tokens:
            return super().positions(n_new, attention_mask)
        first = min(self.first_position(), self._weights.model().block_size - n_new)
        return torch.arange(first, first + n_new)[None]


class _FromZero(_Misplacing):
    """Each call counts from 0, as if there were no cache."""

    def first_position(self) -> int:
        return 0


class _OneFurther(_Misplacing):
    """The new tokens leave one place free."""

    def first_position(self) -> int:
        return self.n_tokens + 1


class _SetOnce(_Misplacing):
    """The counter is set after the first call and never moved on: right for the second call, wrong from the third."""

    def positions(self, n_new: int, attention_mask: Tensor | None = None) -> Tensor:
        if not self.n_tokens:
            self.after_the_first_call = n_new
        return super().positions(n_new, attention_mask)

    def first_position(self) -> int:
        return self.after_the_first_call


class Restarting(Specimen):
    """Its cache starts each call at position 0."""

    cache_class = _FromZero


class OffByOne(Specimen):
    """Its cache puts new tokens one place too far."""

    cache_class = _OneFurther


class Frozen(Specimen):
    """Its cache counts the first call only."""

    cache_class = _SetOnce


class TurnedTwice(Specimen):
    """Queries and keys are turned by twice their angle, with and without a cache."""

    def __init__(self, config: TransformerConfig):
        super().__init__(config)
        every_position = rotations(config.head_dim, 2 * config.block_size, config.rope_theta)
        self.rotation = rotation_by_halves(every_position[::2])  # the angle of position p is that of 2 p


# --- masks -----------------------------------------------------------------------------------------------------------


class _AtTopLeft(KVCache):
    """The triangle of a chunk behind cached tokens is aligned at the top left: the chunk sees the oldest keys only."""

    def mask(self, n_new: int, attention_mask: Tensor | None = None) -> Tensor | None:
        if not self.n_tokens or n_new == 1:
            return super().mask(n_new, attention_mask)
        return torch.ones(n_new, self.n_tokens + n_new, dtype=torch.bool).tril()[None, None]


class _HidesNothing(KVCache):
    """The tokens of a chunk behind cached tokens see each other, later ones included."""

    def mask(self, n_new: int, attention_mask: Tensor | None = None) -> Tensor | None:
        if not self.n_tokens or n_new == 1:
            return super().mask(n_new, attention_mask)
        return torch.ones(1, 1, n_new, self.n_tokens + n_new, dtype=torch.bool)


class TopLeft(Specimen):
    """Its cache aligns the triangle of a chunk at the top left."""

    cache_class = _AtTopLeft


class NoTriangle(Specimen):
    """Its cache lets the tokens of a chunk see each other."""

    cache_class = _HidesNothing


class SeesPads(Specimen):
    """Positions skip the padding, but its keys may be attended to."""

    def places(
        self, token_ids: Tensor, cache: Cache | None, attention_mask: Tensor | None
    ) -> tuple[Tensor, Tensor | None]:
        positions, mask = super().places(token_ids, cache, attention_mask)
        if attention_mask is not None:
            mask = causal_mask(token_ids.shape[1], attention_mask.shape[-1])[None, None]
        return positions, mask


# --- what is fed, and what is kept -----------------------------------------------------------------------------------


class _FedTwice(KVCache):
    """Remembers whether the prompt's last token was fed once more."""

    has_fed_twice = False


class LastTwice(Specimen):
    """The first call behind a prompt feeds the prompt's last token once more."""

    cache_class = _FedTwice

    def forward(self, token_ids: Tensor, cache: Cache | None = None, attention_mask: Tensor | None = None) -> Tensor:
        if isinstance(cache, _FedTwice) and cache.n_tokens and attention_mask is None and not cache.has_fed_twice:
            cache.has_fed_twice = True
            super().forward(cache.token_ids[:, -1:], cache)
        return super().forward(token_ids, cache, attention_mask)


class _WithoutFirst(KVCache):
    """The first token is counted and its place stays zero."""

    def append(self, layer: int, keys: Tensor, values: Tensor) -> tuple[Tensor, Tensor]:
        keys, values = super().append(layer, keys, values)
        if self.n_tokens == 0:
            keys[:, :, 0] = values[:, :, 0] = 0
        return keys, values


class _KeysOfLayer0(KVCache):
    """Every layer reads the keys of layer 0, and its own values."""

    def append(self, layer: int, keys: Tensor, values: Tensor) -> tuple[Tensor, Tensor]:
        _, values = super().append(layer, keys, values)
        return self.store[0, 0].narrow(2, 0, values.shape[2]), values


class _ShortKeys(KVCache):
    """Keys are kept in bfloat16, which has 8 bits for the number itself."""

    def append(self, layer: int, keys: Tensor, values: Tensor) -> tuple[Tensor, Tensor]:
        return super().append(layer, keys.bfloat16().to(keys.dtype), values)


class _TrustsWeights(KVCache):
    """Old keys and values are used although the weights have changed."""

    def check(self, model: nn.Module, token_ids: Tensor) -> None:
        self._weights = Weights(model)
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

    def __init__(self, config: TransformerConfig):
        super().__init__(config)
        for layer in self.model.layers:
            layer.register_forward_hook(lambda module, args, output: F.dropout(output, 0.1))


class Tiled(Specimen):
    """Query head h reads key/value head h % K instead of h // (H / K).

    The heads of the weights change places instead, which comes to the same: the rows of `q_proj`, and the columns of
    `o_proj` that read them.
    """

    def load_state_dict(self, state_dict: Mapping[str, Any], *args: Any, **kwargs: Any) -> Any:
        """Take the sound model's weights, with the query heads in the tiled order."""
        H, K, D = self.config.n_head, self.config.n_kv_head, self.config.head_dim
        order = torch.arange(H).view(H // K, K).T.flatten()  # the heads that read k/v head 0 when tiled, then 1, …
        tiled = dict(state_dict)
        for name, weight in tiled.items():
            if name.endswith("q_proj.weight"):
                tiled[name] = weight.view(H, D, -1)[order].view_as(weight)
            elif name.endswith("o_proj.weight"):
                tiled[name] = weight.view(-1, H, D)[:, order].reshape(weight.shape)
        return super().load_state_dict(tiled, *args, **kwargs)

"""Fifteen faults that real decoders had, each a small change to the sound model or its cache.

A specimen has the sound model's weights. It, or its cache, overrides one or two methods; all the rest is the real code.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from course_utils.clinic.faulty_caches import (
    AtTopLeft,
    FedTwice,
    FromZero,
    HidesNothing,
    KeysOfLayer0,
    OneFurther,
    SetOnce,
    ShortKeys,
    TrustsWeights,
    WithoutFirst,
)
from course_utils.kv_cache import KVCache, causal_mask, reuse_prefix
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


class Restarting(Specimen):
    """Its cache starts each call at position 0."""

    cache_class = FromZero


class OffByOne(Specimen):
    """Its cache puts new tokens one place too far."""

    cache_class = OneFurther


class Frozen(Specimen):
    """Its cache counts the first call only."""

    cache_class = SetOnce


class TurnedTwice(Specimen):
    """Queries and keys are turned by twice their angle, with and without a cache."""

    def __init__(self, config: TransformerConfig):
        super().__init__(config)
        every_position = rotations(config.head_dim, 2 * config.block_size, config.rope_theta)
        self.rotation = rotation_by_halves(every_position[::2])  # the angle of position p is that of 2 p


# --- masks -----------------------------------------------------------------------------------------------------------


class TopLeft(Specimen):
    """Its cache aligns the triangle of a chunk at the top left."""

    cache_class = AtTopLeft


class NoTriangle(Specimen):
    """Its cache lets the tokens of a chunk see each other."""

    cache_class = HidesNothing


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


class LastTwice(Specimen):
    """The first call behind a prompt feeds the prompt's last token once more."""

    cache_class = FedTwice

    def forward(self, token_ids: Tensor, cache: Cache | None = None, attention_mask: Tensor | None = None) -> Tensor:
        if isinstance(cache, FedTwice) and cache.n_tokens and attention_mask is None and not cache.has_fed_twice:
            cache.has_fed_twice = True
            super().forward(cache.token_ids[:, -1:], cache)
        return super().forward(token_ids, cache, attention_mask)


class StoresNoFirst(Specimen):
    """Its cache never stores the first token."""

    cache_class = WithoutFirst


class OneLayersKeys(Specimen):
    """Its cache gives every layer the keys of layer 0."""

    cache_class = KeysOfLayer0


class RoundsKeys(Specimen):
    """Its cache rounds keys."""

    cache_class = ShortKeys


class KeepsAfterUpdate(Specimen):
    """Its cache goes on after a change of the weights."""

    cache_class = TrustsWeights


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

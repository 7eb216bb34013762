"""What a cache of the package refuses: to forget its oldest tokens and move the others to the beginning."""

from torch import Tensor

from course_utils.kv_cache import KVCache
from course_utils.transformer import Transformer, rotate


def rolled(model: Transformer, cache: KVCache, n_dropped: int, turn_keys: bool = False) -> KVCache:
    """A copy of the cache in which the first `n_dropped` tokens are gone and the others have moved up.

    turn_keys: whether the keys are turned back to their new positions; else they keep the angles of their old ones.
    Wrong either way: what is kept was computed while the dropped tokens could be seen.
    """
    if not 0 < n_dropped < cache.n_tokens:
        raise ValueError(f"n_dropped is {n_dropped}; expected 1 to {cache.n_tokens - 1}, so that something is left.")
    moved, n_kept = cache.copy(), cache.n_tokens - n_dropped
    moved.crop(n_kept)
    moved.token_ids[:] = cache.token_ids[:, n_dropped:]
    for layer in range(model.config.n_layer):
        keys = cache.keys(layer)[:, :, n_dropped:]
        moved.keys(layer)[:] = _turned_back(model, keys, n_dropped) if turn_keys else keys
        moved.values(layer)[:] = cache.values(layer)[:, :, n_dropped:]
    return moved


def _turned_back(model: Transformer, keys: Tensor, n_positions: int) -> Tensor:
    """Keys (B, K, T, D), each turned by the angle of so many positions, backwards."""
    cos, sin = model.rotation[:, n_positions]  # (D,) each
    return rotate(keys, (cos, -sin))

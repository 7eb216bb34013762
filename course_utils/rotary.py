"""Rotary positions: queries and keys are turned by angles that grow with the position, so that their products depend on
how far apart two tokens stand.

D is the dimension of a head.
"""

import torch
from torch import Tensor

Rotation = tuple[Tensor, Tensor]  # cosines and sines of the new tokens, as `rotate` takes them


def rotations(head_dim: int, block_size: int, theta: float, dtype: torch.dtype = torch.float32) -> Tensor:
    """For each position and pair of dimensions (cos, sin) of the angle position * theta ** (-2 pair / head_dim).

    Returns (block_size, head_dim / 2, 2). The angles are computed in float64; only the result is rounded to `dtype`.
    Source: Su et al. 2021, RoFormer, https://arxiv.org/abs/2104.09864
    """
    pairs = torch.arange(0, head_dim, 2, dtype=torch.float64, device="cpu")
    positions = torch.arange(block_size, dtype=torch.float64, device="cpu")
    angles = positions[:, None] * theta ** (-pairs / head_dim)
    return torch.stack([angles.cos(), angles.sin()], dim=-1).to(dtype)


def rotation_by_halves(table: Tensor) -> Tensor:
    """The table of `rotations`, (positions, D / 2, 2), as `rotate` needs it: cosines and sines, (2, positions, D)."""
    cos, sin = table.unbind(-1)
    return torch.stack([torch.cat([cos, cos], -1), torch.cat([-sin, sin], -1)])


def rotate(x: Tensor, rotation: Rotation) -> Tensor:
    """Turn each pair of dimensions (i, i + D / 2) of a head by the angle of its position.

    x: (B, heads, T, D). rotation: cosines and sines from `rotation_by_halves`, (B or 1, 1, T, D); all heads turn alike.
    The pair (a, b) becomes (a cos - b sin, b cos + a sin): each number times cos, and its partner times sin.
    """
    cos, sin = rotation
    return torch.addcmul(x * cos, x.roll(x.shape[-1] // 2, -1), sin)  # x * cos + partner * sin

"""Inputs for the cases. Tensors are made when a check runs: this keeps torch out of the import of the exercises."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from torch import Tensor

Rows = Sequence[Any] | np.ndarray  # numbers in nested lists or in an array


def tensor(values: Rows, dtype: str = "float32") -> Tensor:
    """A new tensor of these numbers. dtype: a name in torch, such as "int64"."""
    import torch

    return torch.tensor(np.asarray(values).tolist(), dtype=getattr(torch, dtype))


def args(*values: object, dtype: str = "float32") -> Callable[[], tuple]:
    """A function that makes arguments anew: nested lists and arrays become tensors, everything else stays."""
    return lambda: tuple(tensor(value, dtype) if isinstance(value, list | np.ndarray) else value for value in values)


def transposed(values: Rows) -> Tensor:
    """A tensor of these values whose first two axes were exchanged, so that it is not contiguous."""
    return tensor(np.swapaxes(values, 0, 1)).transpose(0, 1)


def turned(values: Rows, *rest: object) -> Callable[[], tuple]:
    """Like `args`, but the tensor (3 axes) lies in memory another way, as after a transpose of the first two."""
    return lambda: (transposed(values), *rest)


def turned_text(values: Rows) -> str:
    """The line of torch that makes the tensor of `turned`."""
    return f"torch.tensor({np.swapaxes(values, 0, 1).tolist()}).transpose(0, 1)"


def made(*shape: int, by: int, modulo: int, minus: int = 0, over: int = 1) -> tuple[np.ndarray, str]:
    """Numbers by a formula, and the line of torch that makes them: a learner can repeat a case too large to print."""
    size = math.prod(shape)
    values = (np.arange(size) * by % modulo - minus) / over
    text = f"torch.arange({size}) * {by} % {modulo}"
    text = f"({text} - {minus})" if minus else f"({text})"
    return values.reshape(shape), f"({text} / {over}).reshape{shape}"


def scores(seed: int, *shape: int, scale: float = 2.0) -> np.ndarray:
    """Normal random numbers of this shape, the same on every machine, rounded to what float32 holds."""
    generator = np.random.Generator(np.random.Philox(seed))
    return (scale * generator.standard_normal(shape)).astype(np.float32).astype(np.float64)


def written(values: Any) -> str:
    """Nested lists of numbers, written as answers are: whole ones without a point."""
    if isinstance(values, list):
        return f"[{', '.join(map(written, values))}]"
    return f"{values:g}" if abs(values) < 1e5 else str(values).removesuffix(".0")

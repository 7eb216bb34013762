"""Inputs for the cases, made when a check runs: this keeps torch out of the import of the exercises."""

import math
from collections.abc import Callable

import numpy as np


def tensor(values, dtype: str = "float32"):
    """A new tensor of these numbers. dtype: a name in torch, such as "int64"."""
    import torch

    return torch.tensor(np.asarray(values).tolist(), dtype=getattr(torch, dtype))


def args(*values, dtype: str = "float32") -> Callable[[], tuple]:
    """A function that makes arguments anew: nested lists and arrays become tensors, everything else stays."""
    return lambda: tuple(tensor(value, dtype) if _is_rows(value) else value for value in values)


def transposed(values):
    """A tensor of these values whose first two axes were exchanged, so that it is not contiguous."""
    return tensor(np.swapaxes(values, 0, 1)).transpose(0, 1)


def turned(values, *rest) -> Callable[[], tuple]:
    """Like `args`, but the tensor (3 axes) lies in memory another way, as after a transpose of the first two."""
    return lambda: (transposed(values), *rest)


def turned_text(values) -> str:
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


def _is_rows(value) -> bool:
    return isinstance(value, list | np.ndarray)

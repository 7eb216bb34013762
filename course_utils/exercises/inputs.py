"""Inputs for the cases, made when a check runs: this keeps torch out of the import of the exercises."""

from collections.abc import Callable

import numpy as np


def tensor(values, dtype: str = "float32"):
    """A new tensor of these numbers. dtype: a name in torch, such as "int64"."""
    import torch

    return torch.tensor(np.asarray(values).tolist(), dtype=getattr(torch, dtype))


def args(*values, dtype: str = "float32") -> Callable[[], tuple]:
    """A function that makes arguments anew: nested lists and arrays become tensors, everything else stays."""
    return lambda: tuple(tensor(value, dtype) if _is_rows(value) else value for value in values)


def scores(seed: int, *shape: int, scale: float = 2.0) -> np.ndarray:
    """Normal random numbers of this shape, the same on every machine, rounded to what float32 holds."""
    generator = np.random.Generator(np.random.Philox(seed))
    return (scale * generator.standard_normal(shape)).astype(np.float32).astype(np.float64)


def _is_rows(value) -> bool:
    return isinstance(value, list | np.ndarray)

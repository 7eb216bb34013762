"""One uniform number for each (seed, step, sample), and nothing else.

A generator that is drawn from in turn makes a text depend on whoever drew before. Here the number is a pure
function of its coordinates: NumPy's Philox, a counter-based generator, whose raw bits NumPy promises to keep.
"""

import operator

import numpy as np


def uniform(seed: int, step: int, sample: int = 0) -> float:
    """The number in [0, 1) that decides sampled token `step` of text `sample` under `seed`.

    seed: 0 <= seed < 2**64. step: 0 for the first sampled token. sample: 0, 1, … for several texts of one seed.
    Returns a multiple of 2**-53: the same on every machine and in every NumPy version.
    Raises ValueError for a number out of range, TypeError for something that is no integer.
    Source: Salmon et al. 2011, Parallel random numbers: as easy as 1, 2, 3, https://doi.org/10.1145/2063384.2063405

    >>> uniform(7, 0) == uniform(7, 0), uniform(7, 0) == uniform(7, 1)
    (True, False)
    """
    seed, step, sample = (check_uint64(n, v) for n, v in (("seed", seed), ("step", step), ("sample", sample)))
    key = np.array([seed, 0], dtype=np.uint64)  # as a list, large integers would pass through float64
    counter = np.array([step, sample, 0, 0], dtype=np.uint64)
    bits = np.random.Philox(key=key, counter=counter).random_raw()
    return (int(bits) >> 11) * 2.0**-53


def check_uint64(name: str, value: int, advice: str = "") -> int:
    """`value` as an int, if it is an integer with 0 <= value < 2**64; else an error with `name` and `advice`."""
    if isinstance(value, bool):
        raise TypeError(f"{name} is {value!r}; expected an integer.")
    try:
        number = operator.index(value)
    except TypeError:
        raise TypeError(f"{name} is {value!r}; expected an integer.") from None
    if not 0 <= number < 2**64:
        raise ValueError(f"{name} is {number}; expected 0 <= {name} < 2**64.{advice}")
    return number

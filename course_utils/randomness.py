"""One uniform number for each (seed, step, sample), and nothing else.

A generator that is drawn from in turn makes a text depend on whoever drew before. Here the number is a pure
function of its coordinates: NumPy's Philox, a counter-based generator, whose raw bits NumPy promises to keep.
"""

from collections.abc import Iterator

import numpy as np

from course_utils.arguments import check_integer

_BLOCK = 32  # steps whose numbers are computed together


def uniform(seed: int, step: int, sample: int = 0) -> float:
    """The number in [0, 1) that decides sampled token `step` of text `sample` under `seed`.

    seed: 0 <= seed < 2**64. step: 0 for the first sampled token. sample: 0, 1, … for several texts of one seed.
    Returns a multiple of 2**-53: the same on every machine and in every NumPy version.
    Raises ValueError for a number out of range, TypeError for something that is not an integer.
    Source: Salmon et al. 2011, Parallel random numbers: as easy as 1, 2, 3, https://doi.org/10.1145/2063384.2063405

    >>> uniform(7, 0) == uniform(7, 0), uniform(7, 0) == uniform(7, 1)
    (True, False)
    """
    return _numbers(seed, step, sample, 1)[0]


def uniforms(seed: int, step: int = 0, sample: int = 0) -> Iterator[float]:
    """uniform(seed, step, sample), uniform(seed, step + 1, sample), and so on, at a tenth of the price.

    Philox counts in its counter, so the numbers of neighbouring steps come from one generator.

    >>> from itertools import islice
    >>> list(islice(uniforms(7), 3)) == [uniform(7, step) for step in range(3)]
    True
    """
    while True:
        yield from _numbers(seed, step, sample, _BLOCK)
        step += _BLOCK


def _numbers(seed: int, step: int, sample: int, n: int) -> list[float]:
    """The numbers of n neighbouring steps: of the four that each value of the counter gives, the first."""
    seed, step, sample = (check_uint64(name, v) for name, v in (("seed", seed), ("step", step), ("sample", sample)))
    key = np.array([seed, 0], dtype=np.uint64)  # as a list, large integers would pass through float64
    counter = np.array([step, sample, 0, 0], dtype=np.uint64)
    bits = np.random.Philox(key=key, counter=counter).random_raw(4 * n)[::4]
    return ((bits >> np.uint64(11)) * 2.0**-53).tolist()


def check_uint64(name: str, value: int) -> int:
    """`value` as an int, if it is an integer with 0 <= value < 2**64; else a ValueError or TypeError that names it."""
    return check_integer(name, value, below=2**64)

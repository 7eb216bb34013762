"""The uniform numbers of `course_utils.randomness` in plain Python, for where NumPy is not installed."""

_WORD = 2**64 - 1
_MULTIPLIERS = 0xD2E7470EE14C6C93, 0xCA5A826395121157
_WEYL = 0x9E3779B97F4A7C15, 0xBB67AE8584CAA73B
_ROUNDS = 10


def uniform(seed: int, step: int, sample: int = 0) -> float:
    """The number in [0, 1) that `course_utils.randomness.uniform` gives for these three.

    seed, step, sample: 0 to 2**64 - 1 each.
    Raises ValueError for a number out of range.
    Source: Salmon et al. 2011, Parallel random numbers: as easy as 1, 2, 3, https://doi.org/10.1145/2063384.2063405

    >>> uniform(0, 0) == uniform(0, 0), uniform(0, 0) == uniform(0, 1)
    (True, False)
    """
    for name, value in (("seed", seed), ("step", step), ("sample", sample)):
        if not 0 <= value <= _WORD:
            raise ValueError(f"{name} is {value}; expected 0 <= {name} < 2**64.")
    number = (step | sample << 64) + 1  # NumPy counts up before it computes the first block
    counter = [number >> shift & _WORD for shift in (0, 64, 128, 192)]
    key = [seed, 0]
    for _ in range(_ROUNDS):
        first, second = _MULTIPLIERS[0] * counter[0], _MULTIPLIERS[1] * counter[2]
        counter = [second >> 64 ^ counter[1] ^ key[0], second & _WORD, first >> 64 ^ counter[3] ^ key[1], first & _WORD]
        key = [word + weyl & _WORD for word, weyl in zip(key, _WEYL, strict=True)]
    return (counter[0] >> 11) * 2.0**-53

"""`uniform` against Philox written out in plain Python, against its published vectors, and by its statistics."""

import random
from itertools import islice

import numpy as np
import pytest
import torch
from hypothesis import example, given
from hypothesis import strategies as st
from scipy import stats

from course_utils.randomness import check_uint64, uniform, uniforms

MASK = 2**64 - 1
UINT64 = st.integers(0, MASK)

# Random123's known-answer vectors for philox4x64-10: counter, key, output. The third is made of digits of pi.
KNOWN_ANSWERS = [
    (
        (0, 0, 0, 0),
        (0, 0),
        (0x16554D9ECA36314C, 0xDB20FE9D672D0FDC, 0xD7E772CEE186176B, 0x7E68B68AEC7BA23B),
    ),
    (
        (MASK, MASK, MASK, MASK),
        (MASK, MASK),
        (0x87B092C3013FE90B, 0x438C3C67BE8D0224, 0x9CC7D7C69CD777B6, 0xA09CAEBF594F0BA0),
    ),
    (
        (0x243F6A8885A308D3, 0x13198A2E03707344, 0xA4093822299F31D0, 0x082EFA98EC4E6C89),
        (0x452821E638D01377, 0xBE5466CF34E90C6C),
        (0xA528F45403E61D95, 0x38C72DBD566E9788, 0xA5A1610E72FD18B5, 0x57BD43B5E52B7FE6),
    ),
]


def philox(counter, key) -> tuple[int, ...]:
    """Ten rounds of Philox 4x64, from the paper, in integers of unlimited size."""
    (a, b, c, d), (left, right) = counter, key
    for _ in range(10):
        high_a, low_a = divmod(0xD2E7470EE14C6C93 * a, 2**64)
        high_c, low_c = divmod(0xCA5A826395121157 * c, 2**64)
        a, b, c, d = high_c ^ b ^ left, low_c, high_a ^ d ^ right, low_a
        left, right = (left + 0x9E3779B97F4A7C15) & MASK, (right + 0xBB67AE8584CAA73B) & MASK
    return a, b, c, d


@pytest.mark.parametrize(("counter", "key", "output"), KNOWN_ANSWERS)
def test_the_oracle_and_numpy_give_the_published_vectors(counter, key, output):
    assert philox(counter, key) == output
    # NumPy adds one to the counter, a number of 256 bits, before it makes a block.
    before = sum(word << 64 * i for i, word in enumerate(counter)) - 1
    words = np.array([before >> 64 * i & MASK for i in range(4)], dtype=np.uint64)
    raw = np.random.Philox(key=np.array(key, dtype=np.uint64), counter=words).random_raw(4)
    assert tuple(int(word) for word in raw) == output


@given(UINT64, UINT64, UINT64)
@example(0, MASK, 0)
@example(0, MASK, MASK)
@example(MASK, MASK, MASK)
@example(2**53 + 1, 2**53 + 1, 2**53 + 1)
def test_uniform_is_the_first_word_of_its_block(seed, step, sample):
    block = (step | sample << 64) + 1
    first = philox([block >> 64 * i & MASK for i in range(4)], (seed, 0))[0]
    assert uniform(seed, step, sample) == (first >> 11) / 2**53


@pytest.mark.parametrize(
    ("coordinates", "value"),
    [
        ((0, 0, 0), "0x1.7a5d3204726c0p-7"),
        ((1, 0, 0), "0x1.36da89edd58a0p-2"),
        ((0, 1, 0), "0x1.0137e64510730p-1"),
        ((0, 0, 1), "0x1.b1e36aa7c0dd0p-3"),
        ((2**53 + 1, 7, 3), "0x1.4d8ee457ce6b4p-2"),
        ((MASK, MASK, MASK), "0x1.dc7801606ad2bp-1"),
    ],
)
def test_pinned_values(coordinates, value):
    assert uniform(*coordinates) == float.fromhex(value)


def test_sample_0_is_the_default():
    assert uniform(3, 5) == uniform(3, 5, 0) == uniform(seed=3, step=5, sample=0)


@given(UINT64, UINT64, UINT64)
def test_values_are_multiples_of_2_to_the_minus_53_in_0_to_1(seed, step, sample):
    u = uniform(seed, step, sample)
    assert isinstance(u, float) and 0 <= u < 1
    assert (u * 2**53).is_integer()


def test_neighbouring_coordinates_give_different_numbers():
    values = {uniform(seed, step, sample) for seed in range(12) for step in range(12) for sample in range(12)}
    assert len(values) == 12**3
    assert uniform(2**53, 0) != uniform(2**53 + 1, 0), "large seeds must not pass through float64"
    assert uniform(MASK, 0) != uniform(MASK - 1, 0)


@pytest.mark.parametrize("axis", ["seed", "step", "sample"])
def test_the_numbers_along_each_axis_are_uniform_and_uncorrelated(axis):
    u = np.array([uniform(**{"seed": 9, "step": 4, "sample": 2} | {axis: i}) for i in range(4000)])
    assert stats.kstest(u, "uniform").pvalue > 0.01
    pairs = np.histogram2d(u[:-1], u[1:], bins=5, range=[[0, 1], [0, 1]])[0]
    assert stats.chisquare(pairs.ravel()).pvalue > 0.01


def test_no_global_generator_is_read_or_changed():
    def state():
        return random.getstate(), str(np.random.get_state()), torch.get_rng_state().tolist()

    before, value = state(), uniform(1, 2, 3)
    assert state() == before
    random.seed(1), np.random.seed(1), torch.manual_seed(1)
    assert uniform(1, 2, 3) == value


@pytest.mark.parametrize("number", [np.int64(5), np.uint64(5), np.int8(5), torch.tensor(5)])
def test_integers_of_other_libraries_count_as_integers(number):
    assert uniform(number, number, number) == uniform(5, 5, 5)


@pytest.mark.parametrize("name", ["seed", "step", "sample"])
@pytest.mark.parametrize(
    ("value", "error"),
    [
        (-1, ValueError),
        (2**64, ValueError),
        (1.0, TypeError),
        (float("nan"), TypeError),
        ("1", TypeError),
        (True, TypeError),
        (np.True_, TypeError),
        (None, TypeError),
        ([1], TypeError),
    ],
)
def test_anything_but_an_unsigned_64_bit_integer_is_refused_by_name(name, value, error):
    with pytest.raises(error, match=name):
        uniform(**{"seed": 0, "step": 0, "sample": 0} | {name: value})


@given(UINT64, st.integers(0, 2**63), UINT64)
def test_the_numbers_of_neighbouring_steps_are_those_of_each_step(seed, step, sample):
    together = list(islice(uniforms(seed, step, sample), 70))  # more than are computed together
    assert together == [uniform(seed, step + i, sample) for i in range(70)]


def test_uniforms_refuses_what_uniform_refuses():
    with pytest.raises(ValueError, match="seed is -1; expected an integer from 0 to 18446744073709551615"):
        next(uniforms(-1))
    with pytest.raises(TypeError, match=r"sample is 0\.5; expected an integer"):
        next(uniforms(0, sample=0.5))


def test_check_uint64_gives_the_number_as_an_int():
    number = check_uint64("seed", np.uint64(MASK))
    assert number == MASK and type(number) is int

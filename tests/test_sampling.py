"""Filters, their order and the draw: by hand, against plain oracles, and by property."""

import math
from fractions import Fraction
from itertools import pairwise
from unittest import mock

import numpy as np
import pytest
import torch
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy import stats

from course_utils import sampling
from course_utils.randomness import uniform
from course_utils.sampling import (
    EPSILON,
    STEPS,
    SamplingParams,
    apply_temperature,
    choose,
    draw,
    filters,
    min_p_filter,
    next_token_probs,
    ranking,
    top_k_filter,
    top_p_filter,
)

INF, NAN = math.inf, math.nan
ALMOST_1 = 1 - 2.0**-53  # the largest number that `uniform` can give

# Steps of 1/64: two logits that differ by less than float64 can tell from the maximum are a tie to it.
FINITE = st.integers(-2000, 2000).map(lambda i: i / 64)
ROWS = st.lists(FINITE, min_size=1, max_size=12)
TIE_FREE_ROWS = st.lists(FINITE, min_size=1, max_size=12, unique=True)
# Rows as they come out of a filter, with dropped tokens, and with ties (few different values).
ROWS_WITH_TIES_AND_DROPS = st.lists(st.sampled_from([-INF, -2.0, 0.0, 1.0, 1.5]), min_size=1, max_size=12).filter(
    lambda row: max(row) > -INF
)
ANY_ROWS = ROWS | ROWS_WITH_TIES_AND_DROPS
SHARES = st.floats(0, 1)
FILTERS = [
    pytest.param(top_k_filter, 2, id="top_k"),
    pytest.param(top_p_filter, 0.7, id="top_p"),
    pytest.param(min_p_filter, 0.3, id="min_p"),
    pytest.param(apply_temperature, 0.5, id="temperature"),
]


def tensor(values, dtype=torch.float64) -> torch.Tensor:
    return torch.tensor(values, dtype=dtype)


def log(probs, dtype=torch.float64) -> torch.Tensor:
    return tensor(probs, dtype).log()


def kept(logits) -> list[int]:
    """The ids in one row that are not dropped."""
    return (logits > -INF).nonzero().flatten().tolist()


def same(a, b) -> bool:
    return a.dtype == b.dtype and torch.equal(a, b)


def ranked_ids(row) -> list[int]:
    return sorted(range(len(row)), key=lambda i: (-row[i], i))


def probabilities(row) -> list[float]:
    weights = [math.exp(x - max(row)) for x in row]
    return [weight / math.fsum(weights) for weight in weights]


# --- temperature


@pytest.mark.parametrize(("temperature", "first"), [(1, 0.7310586), (0.5, 0.8807971), (2, 0.6224593)])
def test_temperature_by_hand(temperature, first):
    probs = next_token_probs(tensor([2.0, 1.0]), SamplingParams(temperature))
    assert probs.tolist() == pytest.approx([first, 1 - first], abs=1e-7)


@pytest.mark.parametrize("zero", [0, 0.0, -0.0, np.float32(0), torch.tensor(0.0)])
def test_temperature_0_is_greedy_not_a_division(zero):
    params = SamplingParams(temperature=zero)
    assert params.greedy is True
    assert next_token_probs(tensor([1.0, 3.0, 2.0]), params).tolist() == [0, 1, 0]
    with pytest.raises(ValueError, match=r"temperature is 0.*greedy=True"):
        apply_temperature(tensor([1.0, 3.0, 2.0]), zero)


@pytest.mark.parametrize("temperature", [-1.0, NAN, INF, -INF, -1e-300])
def test_negative_nan_or_infinite_temperature_is_refused(temperature):
    for call in (lambda: SamplingParams(temperature), lambda: apply_temperature(tensor([1.0, 3.0]), temperature)):
        with pytest.raises(ValueError, match=f"temperature is {temperature}"):
            call()


@pytest.mark.parametrize(
    ("logits", "dtype", "temperature"),
    [
        ([1000.0, 999.0], torch.float64, 0.001),
        ([3e38, -3e38], torch.float32, 0.5),
        ([6e4, -6e4], torch.float16, 1e-6),
        ([1e308, -1e308], torch.float64, 0.5),
        ([0.0, -1.0], torch.float32, 5e-324),
        ([-1e308, -1.7e308], torch.float64, 1e-300),
    ],
)
@pytest.mark.parametrize("order", [STEPS, ("top_k", "top_p", "min_p", "temperature")])
def test_small_temperatures_and_huge_logits_do_not_overflow(logits, dtype, temperature, order):
    params = SamplingParams(temperature, top_k=2, top_p=0.9, min_p=0.1, order=order)
    assert next_token_probs(tensor(logits, dtype), params).tolist() == [1, 0]


def test_a_huge_temperature_is_the_uniform_distribution():
    probs = next_token_probs(tensor([5.0, -5.0, -INF]), SamplingParams(1e308))
    assert probs.tolist() == [0.5, 0.5, 0]


@given(TIE_FREE_ROWS)
def test_greedy_is_the_limit_of_small_temperatures(row):
    greedy = next_token_probs(tensor(row), SamplingParams(greedy=True))
    assert torch.equal(next_token_probs(tensor(row), SamplingParams(1e-9)), greedy)
    assert greedy.tolist() == [float(i == ranked_ids(row)[0]) for i in range(len(row))]


@given(ANY_ROWS, st.floats(1e-3, 1e3))
def test_temperature_divides_the_logits(row, temperature):
    assert apply_temperature(tensor(row), temperature).tolist() == [x / temperature for x in row]
    probs = next_token_probs(tensor(row), SamplingParams(temperature)).tolist()
    assert probs == pytest.approx(probabilities([x / temperature for x in row]), rel=1e-9)


# --- top-k


@given(ANY_ROWS, st.integers(1, 14))
def test_top_k_keeps_exactly_k_lowest_ids_first(row, k):
    filtered = top_k_filter(tensor(row), k).tolist()
    assert filtered == [x if i in ranked_ids(row)[:k] else -INF for i, x in enumerate(row)]


def test_top_k_of_equal_logits_keeps_the_lowest_ids():
    assert kept(top_k_filter(tensor([1.0, 1.0, 1.0, 1.0]), 2)) == [0, 1]
    assert kept(top_k_filter(tensor([1.0, 2.0, 1.0, 3.0, 1.0]), 3)) == [0, 1, 3]
    assert kept(top_k_filter(torch.zeros(200_000), 3)) == [0, 1, 2]


def test_dropped_tokens_get_minus_infinity():
    assert top_k_filter(tensor([-5.0, -6.0, -7.0]), 1).tolist() == [-5.0, -INF, -INF]
    assert next_token_probs(tensor([-5.0, -6.0, -7.0]), SamplingParams(top_k=1)).tolist() == [1, 0, 0]
    low = tensor([-1e30, -2e30, -3e30])
    for params in (SamplingParams(top_k=1), SamplingParams(top_p=0.0), SamplingParams(min_p=1.0)):
        assert next_token_probs(low, params).tolist() == [1, 0, 0]


@pytest.mark.parametrize("k", [3, 50, 10**12, np.int64(50)])
def test_k_at_or_above_the_vocabulary_keeps_all(k):
    assert top_k_filter(tensor([1.0, 2.0, 3.0]), k).tolist() == [1, 2, 3]
    assert kept(next_token_probs(tensor([1.0, 2.0, 3.0]), SamplingParams(top_k=k)).log()) == [0, 1, 2]


@pytest.mark.parametrize("k", [-1, -50, np.int64(-1)])
def test_negative_k_is_refused(k):
    for call in (lambda: top_k_filter(tensor([1.0, 2.0]), k), lambda: SamplingParams(top_k=k)):
        with pytest.raises(ValueError, match=rf"top_k is {k}; .* use None or 0\."):
            call()


@pytest.mark.parametrize("k", [1.5, 2.0, "2", True, NAN])
def test_k_must_be_an_integer(k):
    for call in (lambda: top_k_filter(tensor([1.0, 2.0]), k), lambda: SamplingParams(top_k=k)):
        with pytest.raises(TypeError, match="top_k is"):
            call()


@pytest.mark.parametrize("k", [0, None])
def test_k_of_0_or_none_is_no_limit(k):
    assert top_k_filter(tensor([1.0, 2.0, 3.0]), k).tolist() == [1, 2, 3]
    expected = next_token_probs(tensor([1.0, 2.0, 3.0]), SamplingParams())
    assert same(next_token_probs(tensor([1.0, 2.0, 3.0]), SamplingParams(top_k=k)), expected)


# --- top-p


def test_nucleus_keeps_the_crossing_token():
    probs = next_token_probs(log([0.48, 0.43, 0.09]), SamplingParams(top_p=0.9))
    assert probs.tolist() == pytest.approx([0.48 / 0.91, 0.43 / 0.91, 0])
    probs = next_token_probs(log([0.6, 0.25, 0.15]), SamplingParams(top_p=0.8))
    assert probs.tolist() == pytest.approx([0.6 / 0.85, 0.25 / 0.85, 0])


@given(ANY_ROWS, SHARES)
def test_the_nucleus_is_minimal_up_to_the_epsilon(row, p):
    ids, rank, probs = kept(top_p_filter(tensor(row), p)), ranked_ids(row), probabilities(row)
    n = len(ids)
    assert ids == sorted(rank[:n])
    if p == 1:
        assert n == sum(x > -INF for x in row)
    else:
        assert math.fsum(probs[i] for i in rank[:n]) >= p - EPSILON - 1e-12
        assert n == 1 or math.fsum(probs[i] for i in rank[: n - 1]) < p - EPSILON + 1e-12


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize(
    ("probs", "p", "ids"),
    [
        ([0.6, 0.25, 0.15], 0.85, [0, 1]),  # reached exactly: a rounding error must not add a third
        ([0.6, 0.25, 0.15], 0.6, [0]),
        ([0.5, 0.25, 0.125, 0.125], 0.75, [0, 1]),
        ([0.1] * 10, 0.3, [0, 1, 2]),
        ([0.6, 0.25, 0.15], 0.85 + 1e-5, [0, 1, 2]),  # further than the epsilon
    ],
)
def test_a_total_that_is_reached_exactly(dtype, probs, p, ids):
    logits = log(probs, dtype)
    assert kept(top_p_filter(logits, p)) == ids
    assert next_token_probs(logits, SamplingParams(top_p=p)).nonzero().flatten().tolist() == ids  # the ranking, too


def test_top_p_sorts_before_it_sums():
    assert kept(top_p_filter(log([0.1, 0.6, 0.3]), 0.55)) == [1]
    assert kept(top_p_filter(log([0.1, 0.3, 0.6]), 0.7)) == [1, 2]


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64])
@pytest.mark.parametrize("p", [0, 0.0, 1e-300, 1e-8, 1e-4, EPSILON])
def test_a_very_small_p_keeps_the_likeliest(dtype, p):
    assert kept(top_p_filter(log([0.2, 0.3, 0.5], dtype), p)) == [2]
    assert kept(top_p_filter(log([0.25, 0.25, 0.25, 0.25], dtype), p)) == [0]


@pytest.mark.parametrize("p", [1, 1.0, None])
def test_p_of_1_or_none_keeps_all(p):
    logits = tensor([0.0, -40.0, -400.0])
    assert same(top_p_filter(logits, p), logits)
    assert kept(top_p_filter(logits, 0.9999999)) == [0]


@pytest.mark.parametrize("p", [-0.1, 1.5, NAN, INF, 1 + 1e-9, -1e-9])
def test_a_share_outside_0_to_1_is_refused(p):
    logits = tensor([0.0, 1.0])
    for name, function in (("top_p", top_p_filter), ("min_p", min_p_filter)):
        with pytest.raises(ValueError, match=f"{name} is {p}"):
            function(logits, p)
        with pytest.raises(ValueError, match=f"{name} is {p}"):
            SamplingParams(**{name: p})


@pytest.mark.parametrize("name", ["temperature", "top_p", "min_p"])
@pytest.mark.parametrize("value", ["0.5", True, [0.5], 1j])
def test_numbers_are_asked_for_by_name(name, value):
    with pytest.raises(TypeError, match=f"{name} is .*expected a number"):
        SamplingParams(**{name: value})


def test_of_equal_probabilities_the_lower_ids_stay():
    assert kept(top_p_filter(log([0.2] * 5), 0.5)) == [0, 1, 2]
    assert kept(top_p_filter(torch.zeros(200_000), 0.5)) == list(range(100_000))
    assert kept(top_p_filter(log([0.2, 0.4, 0.2, 0.2]), 0.5)) == [0, 1]


# --- min-p


def test_min_p_compares_probabilities_not_logits():
    logits = tensor([-1.0, -1.5, -6.0])
    assert kept(min_p_filter(logits, 0.1)) == [0, 1]
    probs = probabilities(logits.tolist())
    assert 0.1 * probs[0] == pytest.approx(0.061986, abs=1e-6) and probs[1] > 0.061986 > probs[2]


@given(ANY_ROWS, SHARES)
def test_min_p_keeps_shares_of_the_likeliest(row, min_p):
    shares = [math.exp(x - max(row)) for x in row]
    assume(all(abs(share / min_p - 1) > 2 * EPSILON for share in shares if min_p))
    expected = [i for i, x in enumerate(row) if shares[i] >= min_p and x > -INF]
    assert kept(min_p_filter(tensor(row), min_p)) == expected


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_a_share_that_is_exactly_met_stays(dtype):
    assert kept(min_p_filter(log([0.6, 0.06, 0.34], dtype), 0.1)) == [0, 1, 2]
    assert kept(min_p_filter(log([0.4, 0.2, 0.4], dtype), 1.0)) == [0, 2]
    assert kept(min_p_filter(log([0.4, 0.2, 0.4], dtype), 0.5)) == [0, 1, 2]
    assert kept(min_p_filter(log([0.6, 0.06, 0.34], dtype), 0.1001)) == [0, 2]


# --- what holds for every filter


@pytest.mark.parametrize(("function", "setting"), [(top_k_filter, 3), (min_p_filter, 0.2)])
@given(row=ANY_ROWS)
def test_top_k_and_min_p_are_idempotent(function, setting, row):
    once = function(tensor(row), setting)
    assert same(function(once, setting), once)


@given(TIE_FREE_ROWS, st.data())
def test_permuting_a_tie_free_row_permutes_the_result(row, data):
    order = data.draw(st.permutations(range(len(row))))
    params = SamplingParams(0.7, top_k=5, top_p=0.8, min_p=0.05)
    for function, setting in ((top_k_filter, 3), (top_p_filter, 0.7), (min_p_filter, 0.2)):
        assert same(function(tensor(row)[order], setting), function(tensor(row), setting)[order])
    permuted, plain = next_token_probs(tensor(row)[order], params), next_token_probs(tensor(row), params)[order]
    assert torch.equal(permuted > 0, plain > 0)
    assert torch.allclose(permuted, plain, rtol=1e-12, atol=0)


@given(ANY_ROWS, st.sampled_from([torch.float16, torch.bfloat16, torch.float32, torch.float64]))
def test_neutral_settings_change_nothing(row, dtype):
    logits = tensor(row, dtype)
    neutral = [(top_k_filter, k) for k in (None, 0, len(row), len(row) + 1)]
    neutral += [(top_p_filter, p) for p in (None, 1)] + [(min_p_filter, p) for p in (None, 0)]
    for function, setting in neutral:
        result = function(logits, setting)
        assert same(result, logits) and result.data_ptr() != logits.data_ptr()
    assert same(apply_temperature(logits, 1), logits.double())
    written_out = SamplingParams(temperature=1, top_k=0, top_p=1, min_p=0)
    assert same(next_token_probs(logits, written_out), next_token_probs(logits, SamplingParams()))


@pytest.mark.parametrize(("function", "setting"), FILTERS)
@given(row=ANY_ROWS)
def test_inputs_stay_as_they_are_and_kept_logits_too(function, setting, row):
    logits = tensor([row, row[::-1]])
    before = logits.clone()
    result = function(logits, setting)
    assert torch.equal(logits, before)
    if function is not apply_temperature:
        assert torch.equal(result[result > -INF], before[result > -INF])
    result += 1  # the result does not share memory with the input
    next_token_probs(logits, SamplingParams(0.5, top_k=2, top_p=0.7, min_p=0.3)).mul_(2)
    assert torch.equal(logits, before)


@pytest.mark.parametrize("params", [SamplingParams(0.7, top_k=4, top_p=0.8, min_p=0.05), SamplingParams(greedy=True)])
@pytest.mark.parametrize("shape", [(6,), (1, 6), (3, 6), (2, 3, 6), (2, 1, 3, 6), (0, 6), (2, 0, 6), (3, 1)])
def test_every_batch_shape_is_filtered_row_by_row(params, shape):
    logits = torch.randn(shape, generator=torch.Generator().manual_seed(3), dtype=torch.float64)
    logits = logits.transpose(0, -1).contiguous().transpose(0, -1)  # not contiguous
    for function, setting in ((top_k_filter, 2), (top_p_filter, 0.7), (min_p_filter, 0.3)):
        rows = [function(row, setting) for row in logits.reshape(-1, shape[-1])]
        expected = torch.stack(rows).reshape(shape) if rows else logits
        assert same(function(logits, setting), expected)
    probs = next_token_probs(logits, params)
    rows = [next_token_probs(row, params) for row in logits.reshape(-1, shape[-1])]
    assert probs.dtype == torch.float64 and probs.shape == shape
    assert not rows or torch.allclose(probs, torch.stack(rows).reshape(shape), rtol=1e-12, atol=0)
    assert torch.allclose(probs.sum(-1), torch.ones(shape[:-1], dtype=torch.float64))


def test_rows_do_not_see_each_other():
    logits = torch.randn(4, 9, generator=torch.Generator().manual_seed(1), dtype=torch.float64)
    changed = logits.clone()
    changed[[0, 2, 3]] = logits[[0, 2, 3]] * 7 - 100
    params = SamplingParams(0.7, top_k=5, top_p=0.8, min_p=0.05)
    assert torch.equal(next_token_probs(logits, params)[1], next_token_probs(changed, params)[1])


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32])
def test_filters_keep_the_dtype_and_probabilities_are_float64(dtype):
    logits = tensor([2.0, 1.0, 0.0], dtype)
    for function, setting in ((top_k_filter, 2), (top_p_filter, 0.7), (min_p_filter, 0.3)):
        assert function(logits, setting).dtype == dtype
    assert same(next_token_probs(logits, SamplingParams()), next_token_probs(logits.double(), SamplingParams()))


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32])
def test_filters_compute_in_float64(dtype):
    logits = torch.randn(20, 3000, generator=torch.Generator().manual_seed(5)).to(dtype)
    for function, setting in ((top_p_filter, 0.9), (min_p_filter, 0.01)):
        kept_in_float64 = function(logits.double(), setting) > -INF
        assert torch.equal(function(logits, setting) > -INF, kept_in_float64)


@pytest.mark.parametrize("logits", [[2, 1, 0], np.array([2, 1, 0]), torch.tensor([2, 1, 0]), [2.0, 1.0, 0.0]])
def test_integers_lists_and_arrays_are_logits_too(logits):
    assert top_k_filter(logits, 2).tolist() == [2, 1, -INF]
    assert kept(top_p_filter(logits, 0.7)) == kept(min_p_filter(logits, 0.3)) == [0, 1]
    assert apply_temperature(logits, 2).tolist() == [1, 0.5, 0]
    assert next_token_probs(logits, SamplingParams()).tolist() == pytest.approx(probabilities([2, 1, 0]))


# --- bad logits


ALL_CALLS = [
    pytest.param(lambda x: next_token_probs(x, SamplingParams()), id="sampled"),
    pytest.param(lambda x: next_token_probs(x, SamplingParams(temperature=0)), id="greedy"),
    pytest.param(lambda x: apply_temperature(x, 1), id="temperature"),
    *(
        pytest.param(lambda x, function=function, value=value: function(x, value), id=f"{function.__name__}-{value}")
        for function in (top_k_filter, top_p_filter, min_p_filter)
        for value in (1, None)
    ),
]


@pytest.mark.parametrize("call", ALL_CALLS)
@pytest.mark.parametrize("dtype", [torch.float16, torch.float32, torch.float64])
def test_no_token_left_is_refused(call, dtype):
    with pytest.raises(ValueError, match="no token left"):
        call(tensor([-INF, -INF, -INF], dtype))
    with pytest.raises(ValueError, match=r"Row \[1, 0\] of the logits has no token left"):
        call(tensor([[[0.0, -INF]], [[-INF, -INF]]], dtype))


@pytest.mark.parametrize("params", [SamplingParams(), SamplingParams(0.5, top_k=1), SamplingParams(greedy=True)])
def test_choose_refuses_bad_logits_where_they_stand(params):
    for bad, message in ((NAN, r"logits\[1\] is nan"), (INF, r"logits\[1\] is inf")):
        with pytest.raises(ValueError, match=message):
            choose(tensor([0.0, bad, 1.0]), params, 0.5)
    with pytest.raises(ValueError, match="no token left"):
        choose(tensor([-INF, -INF]), params, 0.5)


@pytest.mark.parametrize("call", ALL_CALLS)
@pytest.mark.parametrize("bad", [NAN, INF])
def test_nan_and_infinity_are_refused_where_they_stand(call, bad):
    with pytest.raises(ValueError, match=rf"logits\[1\] is {bad}"):
        call(tensor([0.0, bad, 1.0]))
    with pytest.raises(ValueError, match=rf"logits\[1, 2\] is {bad}"):
        call(tensor([[0.0, 1.0, -INF], [-INF, 0.0, bad]]))
    with pytest.raises(ValueError, match=rf"logits\[0, 1\] is {bad}"):
        call(tensor([[-INF, bad], [-INF, -INF]]))


def test_minus_infinity_is_legal():
    assert next_token_probs(tensor([0.0, -INF]), SamplingParams()).tolist() == [1, 0]
    assert next_token_probs(tensor([-INF, 0.0]), SamplingParams(greedy=True)).tolist() == [0, 1]


@pytest.mark.parametrize("call", ALL_CALLS)
def test_logits_need_a_last_axis_with_a_token(call):
    for logits in (torch.tensor(1.0), torch.zeros(0), torch.zeros(3, 0)):
        with pytest.raises(ValueError, match=r"logits has shape \(.*\(\.\.\., vocab_size\)"):
            call(logits)


# --- order and settings


def test_top_p_after_top_k_sees_what_top_k_left():
    probs = next_token_probs(log([0.19, 0.18, 0.17, 0.16, 0.15, 0.15]), SamplingParams(top_k=1, top_p=0.8))
    assert probs.tolist() == [1, 0, 0, 0, 0, 0]
    assert next_token_probs(log([0.4, 0.3, 0.2, 0.1]), SamplingParams(top_k=2, top_p=0.5)).tolist() == [1, 0, 0, 0]


def test_temperature_comes_before_top_p_by_default():
    logits, settings = tensor([2.5, 1.5, 0.0]), {"temperature": 0.5, "top_p": 0.8}
    assert kept(next_token_probs(logits, SamplingParams(**settings)).log()) == [0]
    truncation_first = SamplingParams(**settings, order=("top_k", "top_p", "min_p", "temperature"))
    assert kept(next_token_probs(logits, truncation_first).log()) == [0, 1]
    for library, ids in (("transformers", [0]), ("vllm", [0]), ("llama.cpp", [0, 1])):
        assert kept(next_token_probs(logits, SamplingParams.like(library, **settings)).log()) == ids


@pytest.mark.parametrize(
    ("library", "weights"),
    [
        # The weights 8 4 3 2 1 become 64 16 9 4 1 at T = 1/2.
        ("transformers", [64, 16]),  # k: 64 16 9 4; p: 64/93 < .75 <= 80/93; min-p: 16/64 >= .2
        ("vllm", [64]),  # min-p: 16/64 >= .2 > 9/64; k: both; p: 64/80 >= .75
        ("llama.cpp", [64, 16, 9]),  # k: 8 4 3 2; p: 12/17 < .75 <= 15/17; min-p: 3/8 >= .2; only then T
    ],
)
def test_the_order_of_each_library_by_hand(library, weights):
    params = SamplingParams.like(library, temperature=0.5, top_k=4, top_p=0.75, min_p=0.2)
    probs = next_token_probs(log([8.0, 4.0, 3.0, 2.0, 1.0]), params)
    assert probs.tolist() == pytest.approx([w / sum(weights) for w in weights] + [0] * (5 - len(weights)))


@given(TIE_FREE_ROWS, st.permutations(STEPS))
def test_any_order_applies_the_steps_one_after_the_other(row, order):
    settings = {"temperature": 0.6, "top_k": 4, "top_p": 0.8, "min_p": 0.1}
    x = list(row)
    for step in order:
        probs = probabilities(x)
        rank = ranked_ids(x)
        if step == "temperature":
            x = [value / 0.6 for value in x]
        elif step == "top_k":
            x = [value if i in rank[:4] else -INF for i, value in enumerate(x)]
        elif step == "top_p":
            before = {token: math.fsum(probs[i] for i in rank[:n]) for n, token in enumerate(rank)}
            assume(all(abs(total - 0.8) > 1e-6 for total in before.values()))
            x = [value if i == rank[0] or before[i] < 0.8 else -INF for i, value in enumerate(x)]
        else:
            assume(all(abs(prob - 0.1 * max(probs)) > 1e-6 for prob in probs))
            x = [value if prob >= 0.1 * max(probs) else -INF for value, prob in zip(x, probs, strict=True)]
    result = next_token_probs(tensor(row), SamplingParams(**settings, order=order))
    assert result.tolist() == pytest.approx(probabilities(x), rel=1e-9)


def one_by_one(row, params) -> torch.Tensor:
    """The probabilities by the single filters: each sees the whole row that the one before it has left."""
    functions = dict(zip(STEPS, (apply_temperature, top_k_filter, top_p_filter, min_p_filter), strict=True))
    logits = tensor(row) - max(row)
    for step in params.order:
        if (setting := getattr(params, step)) is not None:
            logits = functions[step](logits, setting)
    return torch.softmax(logits, -1)


SETTINGS = st.builds(
    SamplingParams,
    temperature=st.floats(0.01, 100),
    top_k=st.none() | st.integers(0, 14),
    top_p=st.none() | SHARES,
    min_p=st.none() | SHARES,
    order=st.permutations(STEPS),
)


@pytest.mark.parametrize("few", [0, 1000], ids=["light tokens set aside", "all sorted"])
@given(row=ANY_ROWS, params=SETTINGS, u=st.floats(0, ALMOST_1))
def test_the_ranking_gives_what_the_filters_give_one_by_one(few, row, params, u):
    with mock.patch.object(ranking, "_FEW", few):
        probs = next_token_probs(tensor(row), params)
        token_id, logprob = choose(tensor(row), params, u)
    expected = one_by_one(row, params)
    assert torch.equal(probs > 0, expected > 0) and torch.allclose(probs, expected, rtol=1e-12, atol=0)
    assert token_id == draw(probs, u)
    assert logprob == pytest.approx(math.log(max(probabilities(row)[token_id], 5e-324)), abs=1e-9)


@pytest.mark.parametrize("n_values", [None, 60], ids=["without ties", "with ties"])
@pytest.mark.parametrize("spread", [0.1, 1, 4])
def test_the_ranking_of_a_large_vocabulary(spread, n_values):
    logits = torch.randn(20_000, generator=torch.Generator().manual_seed(4), dtype=torch.float64) * spread
    if n_values:
        logits = (logits * n_values / spread / 8).round() * 8 * spread / n_values
    logits[::7] = -INF
    truncation_first = ("min_p", "top_p", "top_k", "temperature")
    for settings in ({}, {"top_k": 50}, {"top_p": 0.9}, {"top_p": 0.2, "min_p": 0.1}, {"top_k": 9000, "top_p": 0.99}):
        for params in (SamplingParams(0.8, **settings), SamplingParams(1.5, **settings, order=truncation_first)):
            probs, expected = next_token_probs(logits, params), one_by_one(logits.tolist(), params)
            assert torch.equal(probs > 0, expected > 0) and torch.allclose(probs, expected, rtol=1e-9, atol=0)
            for step in range(20):
                assert choose(logits, params, uniform(1, step))[0] == draw(probs, uniform(1, step))


def test_choose_takes_what_models_give():
    for logits in (torch.tensor([2.0, 1.0, 0.0], dtype=torch.bfloat16), torch.tensor([2.0, 1.0, 0.0]).requires_grad_(),
                   np.array([2, 1, 0]), np.float32([2, 1, 0])):  # fmt: skip
        token_id, logprob = choose(logits, SamplingParams(top_k=2), 0.9)
        assert (token_id, type(token_id), type(logprob)) == (1, int, float)
        assert logprob == pytest.approx(math.log(probabilities([2, 1, 0])[1]))
    assert choose(tensor([0.0, 3.0, 3.0]), SamplingParams(greedy=True), None)[0] == 1
    for shape in ((), (0,), (1, 3)):
        with pytest.raises(ValueError, match=r"logits has shape \(.*expected one row"):
            choose(torch.zeros(shape), SamplingParams(), 0.5)
    with pytest.raises(ValueError, match="u is 1"):
        choose(tensor([1.0, 2.0]), SamplingParams(), 1.0)


def test_logits_are_checked_once_a_step(monkeypatch):
    checked = []
    monkeypatch.setattr(sampling, "as_logits", lambda logits: checked.append(1) or filters.as_logits(logits))
    params = SamplingParams(0.7, top_k=3, top_p=0.9, min_p=0.1)
    next_token_probs(tensor([1.0, 2.0]), params)
    assert len(checked) == 1


def test_defaults_of_the_libraries_and_settings_over_them():
    like = SamplingParams.like
    assert like("transformers") == SamplingParams(1, top_k=50)
    assert like("vllm") == SamplingParams(order=("temperature", "min_p", "top_k", "top_p"))
    truncation_first = ("top_k", "top_p", "min_p", "temperature")
    assert like("llama.cpp") == SamplingParams(0.8, top_k=40, top_p=0.95, min_p=0.05, order=truncation_first)
    assert like("llama.cpp", top_k=None, min_p=0, seed=3) == SamplingParams(
        0.8, top_p=0.95, min_p=0, seed=3, order=truncation_first
    )
    assert like("vllm", temperature=0).greedy
    with pytest.raises(ValueError, match=r"'ollama'.*'transformers', 'vllm', 'llama.cpp'"):
        like("ollama")


def test_defaults_are_neutral():
    probs = next_token_probs(tensor([0.0, 0.0]), SamplingParams())
    assert {draw(probs, uniform(seed, 0)) for seed in range(200)} == {0, 1}
    assert next_token_probs(tensor([2.0, 1.0]), SamplingParams()).tolist() == pytest.approx(probabilities([2, 1]))


@pytest.mark.parametrize("call", [SamplingParams, lambda **settings: SamplingParams.like("vllm", **settings)])
def test_an_unknown_option_is_refused(call):
    with pytest.raises(TypeError, match="topk"):
        call(topk=5)


@pytest.mark.parametrize(
    "order",
    [
        (),
        None,
        "top_k",
        ("temperature",),
        (*STEPS, "top_k"),
        (*STEPS[:3], 4),
        ("top_k",) * 4,
        ("temperature", "top_k", "top_p", "typical"),
    ],
)
def test_an_order_names_each_step_once(order):
    with pytest.raises(ValueError, match="expected each of"):
        SamplingParams(order=order)


def test_params_are_values():
    params = SamplingParams(np.float64(0.5), top_k=np.int32(3), seed=np.uint64(2**64 - 1), order=list(STEPS))
    assert params == SamplingParams(0.5, top_k=3, seed=2**64 - 1)
    assert hash(params) == hash(SamplingParams(0.5, top_k=3, seed=2**64 - 1))
    assert (type(params.temperature), type(params.top_k), type(params.seed)) == (float, int, int)
    with pytest.raises(AttributeError):
        params.temperature = 2.0


@pytest.mark.parametrize(("seed", "error"), [(-1, ValueError), (2**64, ValueError), (1.5, TypeError), ("1", TypeError)])
def test_a_seed_is_an_unsigned_64_bit_integer(seed, error):
    with pytest.raises(error, match="seed is"):
        SamplingParams(seed=seed)


def test_processed_logprobs_are_normalised_again():
    processed = next_token_probs(tensor([2.0, 1.0, 0.0, -1.5]), SamplingParams(0.5)).log()
    assert processed.tolist() == pytest.approx([-0.143722, -2.143722, -4.143722, -7.143722], abs=1e-6)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64])
def test_of_equal_logits_greedy_takes_the_lowest_id(dtype):
    for row, token in (([1.0, 3.0, 3.0], 1), ([2.0, 2.0], 0), ([-INF, -0.0, 0.0], 1), ([0.0] * 5000, 0)):
        assert next_token_probs(tensor(row, dtype), SamplingParams(greedy=True)).argmax() == token


@given(ROWS, st.integers(0, 2))
def test_greedy_ignores_every_other_setting(row, step):
    setting = [{"top_k": 1}, {"top_p": 0.1}, {"min_p": 0.9}][step]
    plain = next_token_probs(tensor(row), SamplingParams(greedy=True))
    assert same(next_token_probs(tensor(row), SamplingParams(3.0, greedy=True, seed=4, **setting)), plain)


# --- the draw


@given(st.lists(st.integers(0, 256), max_size=9))
def test_draw_hits_each_token_with_its_probability_exactly(cuts):
    edges = [0, *sorted(cuts), 256]
    sizes = [high - low for low, high in pairwise(edges)]  # in units of 1/256: sums are exact
    probs = tensor([size / 256 for size in sizes])
    drawn = [draw(probs, i / 512) for i in range(512)]
    assert [drawn.count(token) for token in range(len(sizes))] == [2 * size for size in sizes]
    assert drawn == sorted(drawn)  # in the order of the ids


@given(ROWS_WITH_TIES_AND_DROPS | ROWS, st.floats(0, ALMOST_1))
def test_draw_inverts_the_cumulative_distribution(row, u):
    probs = next_token_probs(tensor(row), SamplingParams())
    exact = [Fraction(prob) for prob in probs.tolist()]
    totals = [sum(exact[: i + 1]) for i in range(len(exact))]
    assume(all(abs(total / totals[-1] - Fraction(u)) > 1e-14 for total in totals[:-1]))
    expected = next(i for i, total in enumerate(totals) if u < total / totals[-1])
    assert draw(probs, u) == expected


@given(st.lists(st.sampled_from([0.0, 0.0, 5e-324, 1e-17, 0.1, 0.3, 1.0]), min_size=1, max_size=9), st.data())
def test_draw_never_gives_a_token_of_probability_0(weights, data):
    assume(sum(weights) > 0.05)
    probs = tensor(weights) / sum(weights)
    edges = [edge for edge in probs.cumsum(0).tolist() if edge < 1]
    near = [min(max(np.nextafter(edge, to), 0), ALMOST_1) for edge in edges for to in (0, 1)]
    u = data.draw(st.sampled_from([0.0, 5e-324, ALMOST_1, *edges, *near]))
    assert probs[draw(probs, u)] > 0


@pytest.mark.parametrize("probs", [[0.7, 0.2, 0.1], [0.1] * 10, [0.7, 0.3, 0.0, 0.0], [1 / 3] * 3, [1 / 49] * 49])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_draw_never_falls_off_the_end(probs, dtype):
    for u in (0.9999999999999999, ALMOST_1):
        assert draw(tensor(probs, dtype), u) == max(i for i, prob in enumerate(probs) if prob)


@given(st.lists(st.floats(0, 1), min_size=1, max_size=20), st.integers(-(2**39), 2**39))
def test_no_total_near_1_lets_the_draw_fall_off(weights, ulps):
    weights = np.array([*weights, 0.5, 0.0])
    probs = weights / weights.sum() * (1 + ulps * 2.0**-53)
    assert draw(probs, ALMOST_1) == len(weights) - 2
    with pytest.raises(ValueError, match="u is"):
        draw(probs, Fraction(10**20 - 1, 10**20))  # less than 1, but not as a float


def test_a_total_that_is_a_little_off_is_shared_out():
    probs = [0.5, 0.49999]  # the first has 0.500005 of the total
    assert [draw(probs, u) for u in (0.500004, 0.500006)] == [0, 1]


@pytest.mark.parametrize("probs", [[0.6, 0.4, 0.0], [0.1] * 10])
def test_float32_probabilities_need_not_add_up_to_the_last_bit(probs):
    drawn = [draw(tensor(probs, torch.float32), i / 100) for i in range(100)]
    counts = [drawn.count(token) for token in range(len(probs))]
    assert counts == pytest.approx([100 * prob for prob in probs], abs=1)
    assert counts[-1] > 0 or probs[-1] == 0


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_draws_follow_the_probabilities(seed):
    probs = next_token_probs(tensor([1.0, -INF, 0.0, 2.0, -1.0, 0.5]), SamplingParams(1.3))
    drawn = [draw(probs, uniform(seed, step)) for step in range(5000)]
    counts = np.bincount(drawn, minlength=6)
    assert counts[1] == 0
    present = probs.numpy() > 0
    assert stats.chisquare(counts[present], 5000 * probs.numpy()[present]).pvalue > 0.01


def test_the_draw_of_a_huge_vocabulary():
    probs = torch.full((200_000,), 1 / 200_000, dtype=torch.float64)
    assert (draw(probs, 0.0), draw(probs, 0.250001), draw(probs, ALMOST_1)) == (0, 50_000, 199_999)


def test_draw_takes_any_row_of_numbers():
    for probs in ([0.5, 0.5], np.array([0.5, 0.5], dtype=np.float32), torch.tensor([0.5, 0.5], dtype=torch.bfloat16)):
        assert [draw(probs, u) for u in (0, 0.49, 0.5, np.float64(0.7))] == [0, 0, 1, 1]
    assert type(draw([1.0], 0.5)) is int
    assert draw(torch.zeros(2, requires_grad=True).softmax(-1), 0.7) == 1  # as it comes from a model in training


@pytest.mark.parametrize("u", [-1e-9, 1, 1.5, NAN, INF])
def test_u_outside_0_to_1_is_refused(u):
    with pytest.raises(ValueError, match=f"u is {u}"):
        draw([0.5, 0.5], u)


@pytest.mark.parametrize(
    "probs", [[0.5, 0.6], [0.2, 0.2], [0.0, 0.0], [1.5, -0.5], [NAN, 1.0], [INF, 0.0], [2.0, -1.0]]
)
def test_what_is_no_distribution_is_refused(probs):
    with pytest.raises(ValueError, match=r"probs has the total .* add up to 1"):
        draw(probs, 0.5)


@pytest.mark.parametrize("shape", [(), (0,), (1, 2), (2, 1)])
def test_draw_takes_one_row(shape):
    with pytest.raises(ValueError, match="one row"):
        draw(torch.full(shape, 0.5), 0.5)

"""Solutions to the exercises of notebook 02."""

import math
from collections import Counter

import numpy as np
import torch

from wrong_solutions import right, wrong

TEMPERATURE, GREEDY, REPETITION = "02.temperature", "02.greedy", "02.repetition_rate"


def must_be_positive(temperature):
    if temperature <= 0:
        raise ValueError("temperature must be above 0")


# 02.temperature


@wrong(TEMPERATURE, "multiplied")
def multiplies(logits, temperature):
    must_be_positive(temperature)
    return (logits * temperature).softmax(-1)


@wrong(TEMPERATURE, "temperature-ignored")
def ignores_it(logits, temperature):
    must_be_positive(temperature)
    return logits.softmax(-1)


@wrong(TEMPERATURE, "temperature-ignored")
def divides_and_normalises_again(logits, temperature):
    must_be_positive(temperature)
    probs = logits.softmax(-1) / temperature
    return probs / probs.sum(-1, keepdim=True)


@wrong(TEMPERATURE, "divided-probabilities")
def divides_probabilities(logits, temperature):
    must_be_positive(temperature)
    return logits.softmax(-1) / temperature


@wrong(TEMPERATURE, "no-softmax")
def logits_divided(logits, temperature):
    must_be_positive(temperature)
    return logits / temperature


@wrong(TEMPERATURE, "not-normalised")
def powers_of_probabilities(logits, temperature):
    must_be_positive(temperature)
    return logits.softmax(-1) ** (1 / temperature)


@wrong(TEMPERATURE, "not-normalised")
def exponentials_of_divided(logits, temperature):
    must_be_positive(temperature)
    return (logits / temperature).exp()


@wrong(TEMPERATURE, "softmax-twice")
def softmax_of_divided_probabilities(logits, temperature):
    must_be_positive(temperature)
    return (logits.softmax(-1) / temperature).softmax(-1)


@wrong(TEMPERATURE, "by-hand")
def divides_after_the_exponential(logits, temperature):
    must_be_positive(temperature)
    return (logits.exp() / temperature).log_softmax(-1)


@wrong(TEMPERATURE, "by-hand")
def input_returned(logits, temperature):
    return logits


@wrong(TEMPERATURE, "by-hand")
def always_equal(logits, temperature):
    return torch.full_like(logits, 1 / logits.shape[-1])


@wrong(TEMPERATURE, "by-hand")
def log_probabilities(logits, temperature):
    must_be_positive(temperature)
    return (logits / temperature).log_softmax(-1)


@wrong(TEMPERATURE, "by-hand")
def nan(logits, temperature):
    return logits * math.nan


@wrong(TEMPERATURE, "by-hand")
def the_largest_only(logits, temperature):
    must_be_positive(temperature)
    return (logits / temperature).softmax(-1).max()


@wrong(TEMPERATURE, "by-hand")
def subtracts(logits, temperature):
    must_be_positive(temperature)
    return (logits - logits * (1 - temperature**2)).softmax(-1)


@wrong(TEMPERATURE, "by-hand")
def wrong_way_round(logits, temperature):
    must_be_positive(temperature)
    return (temperature / logits).softmax(-1)


@wrong(TEMPERATURE, "whole-division")
def floor_division(logits, temperature):
    must_be_positive(temperature)
    return (logits // temperature).softmax(-1)


@wrong(TEMPERATURE, "temperature-limited")
def sharpens_only(logits, temperature):
    must_be_positive(temperature)
    return (logits / min(temperature, 1)).softmax(-1)


@wrong(TEMPERATURE, "other-axis")
def first_axis(logits, temperature):
    must_be_positive(temperature)
    return (logits / temperature).softmax(0)


@wrong(TEMPERATURE, "other-axis")
def one_sum(logits, temperature):
    must_be_positive(temperature)
    weights = (logits / temperature).exp()
    return weights / weights.sum()


@wrong(TEMPERATURE, "other-axis")
def a_single_row(logits, temperature):
    must_be_positive(temperature)
    weights = [math.exp(x / temperature) for x in logits]
    return [w / sum(weights) for w in weights]


@wrong(TEMPERATURE, "overflow")
def plain_exponentials(logits, temperature):
    must_be_positive(temperature)
    weights = (logits / temperature).exp()
    return weights / weights.sum(-1, keepdim=True)


@wrong(TEMPERATURE, "small-temperature")
def least_temperature(logits, temperature):
    must_be_positive(temperature)
    return (logits / max(temperature, 0.3)).softmax(-1)


@wrong(TEMPERATURE, "zero")
def divides_by_anything(logits, temperature):
    return (logits / temperature).softmax(-1)


@wrong(TEMPERATURE, "zero")
def greedy_at_zero(logits, temperature):
    if temperature < 0:
        raise ValueError("temperature must not be negative")
    if temperature == 0:
        return torch.nn.functional.one_hot(logits.argmax(-1), logits.shape[-1]).float()
    return (logits / temperature).softmax(-1)


@wrong(TEMPERATURE, "zero")
def another_error(logits, temperature):
    if temperature <= 0:
        raise ZeroDivisionError("temperature must be above 0")
    return (logits / temperature).softmax(-1)


@wrong(TEMPERATURE, "zero")
def asserts(logits, temperature):
    assert temperature > 0, "temperature must be above 0"
    return (logits / temperature).softmax(-1)


@wrong(TEMPERATURE, "zero")
def returns_the_error(logits, temperature):
    if temperature <= 0:
        return ValueError("temperature must be above 0")
    return (logits / temperature).softmax(-1)


@wrong(TEMPERATURE, "zero")
def a_small_number_for_zero(logits, temperature):
    return (logits / max(temperature, 1e-8)).softmax(-1)


@wrong(TEMPERATURE, "zero")
def a_whole_zero_only(logits, temperature):
    if type(temperature) is int and temperature == 0:
        raise ValueError("temperature must be above 0")
    return (logits / temperature).softmax(-1)


@wrong(TEMPERATURE, "negative")
def only_zero_is_refused(logits, temperature):
    if temperature == 0:
        raise ValueError("temperature must not be 0")
    return (logits / temperature).softmax(-1)


@wrong(TEMPERATURE, "negative")
def takes_its_size(logits, temperature):
    if not temperature:
        raise ValueError("temperature must not be 0")
    return (logits / abs(temperature)).softmax(-1)


@wrong(TEMPERATURE, "last-axis")
def axis_one(logits, temperature):
    must_be_positive(temperature)
    return (logits / temperature).softmax(min(1, logits.ndim - 1))


@wrong(TEMPERATURE, "any-size")
def two_is_the_most(logits, temperature):
    must_be_positive(temperature)
    return (logits / temperature).clamp(min=-2).softmax(-1) if logits.ndim > 2 else (logits / temperature).softmax(-1)


def sampled_at(change):
    """A wrong solution: softmax of changed(logits, temperature)."""

    def attempt(logits, temperature):
        must_be_positive(temperature)
        return change(logits, temperature).softmax(-1)

    return attempt


for hint_id, change in [
    ("small-temperature", lambda x, t: x / max(t, 0.1)),
    ("small-temperature", lambda x, t: x / max(t, 0.005)),
    ("small-temperature", lambda x, t: x / (t + 1e-7)),
    ("temperature-limited", lambda x, t: x / min(t, 2)),
    ("temperature-limited", lambda x, t: x / min(t, 100)),
    ("temperature-limited", lambda x, t: x / t if t < 10 else torch.zeros_like(x)),
    ("whole-division", lambda x, t: x / (int(t) if t > 1 else t)),
    ("whole-division", lambda x, t: torch.floor(x / t)),
    ("minus-inf", lambda x, t: torch.nan_to_num(x, neginf=0.0) / t),
    ("minus-inf", lambda x, t: torch.nan_to_num(x, neginf=-20.0) / t),
    ("minus-inf", lambda x, t: torch.nan_to_num(x, neginf=-1000.0) / t),
    ("minus-inf", lambda x, t: (x - x.min(-1, keepdim=True).values) / t),
    (
        "any-size",
        lambda x, t: x[..., :200].repeat_interleave(2, -1)[..., : x.shape[-1]] / t if x.numel() > 500 else x / t,
    ),
    ("float64", lambda x, t: x.to(torch.bfloat16).to(x.dtype) / t if x.dtype == torch.float64 else x / t),
]:
    wrong(TEMPERATURE, hint_id)(sampled_at(change))


@wrong(TEMPERATURE, "by-hand")
def square_root(logits, temperature):
    must_be_positive(temperature)
    return (logits / math.sqrt(temperature)).softmax(-1)


@wrong(TEMPERATURE, "sorted-order")
def sorted_probabilities(logits, temperature):
    must_be_positive(temperature)
    return (logits / temperature).softmax(-1).sort(-1, descending=True).values


@wrong(TEMPERATURE, "other-call")
def first_temperature(logits, temperature, kept={}):  # noqa: B006  the mistake
    must_be_positive(temperature)
    return (logits / kept.setdefault("temperature", temperature)).softmax(-1)


@wrong(TEMPERATURE, "other-call")
def remembers_by_temperature(logits, temperature, answers={}):  # noqa: B006  the mistake
    must_be_positive(temperature)
    return answers.setdefault((temperature, logits.shape), (logits / temperature).softmax(-1))


@wrong(TEMPERATURE, "one")
def nothing_to_do_at_one(logits, temperature):
    must_be_positive(temperature)
    return logits if temperature == 1 else (logits / temperature).softmax(-1)


@wrong(TEMPERATURE, "underflow")
def powers_in_float32(logits, temperature):
    must_be_positive(temperature)
    probs = logits.softmax(-1) ** (1 / temperature)
    return probs / probs.sum(-1, keepdim=True)


@wrong(TEMPERATURE, "small-temperature")
def greedy_when_cold(logits, temperature):
    must_be_positive(temperature)
    if temperature < 0.2:
        return torch.nn.functional.one_hot(logits.argmax(-1), logits.shape[-1])
    return (logits / temperature).softmax(-1)


@wrong(TEMPERATURE, "small-temperature")
def refuses_the_cold(logits, temperature):
    must_be_positive(temperature - 0.1)
    return (logits / temperature).softmax(-1)


@wrong(TEMPERATURE, "temperature-limited")
def refuses_the_hot(logits, temperature):
    if not 0 < temperature <= 10:
        raise ValueError(temperature)
    return (logits / temperature).softmax(-1)


@wrong(TEMPERATURE, "one-maximum")
def largest_of_the_tensor(logits, temperature):
    must_be_positive(temperature)
    weights = ((logits - logits.max()) / temperature).exp()
    return weights / weights.sum(-1, keepdim=True)


@wrong(TEMPERATURE, "overflow")
def largest_but_at_least_zero(logits, temperature):
    must_be_positive(temperature)
    weights = ((logits - logits.amax(-1, keepdim=True).clamp(min=0)) / temperature).exp()
    return weights / weights.sum(-1, keepdim=True)


@wrong(TEMPERATURE, "negative")
def minus_one_and_below(logits, temperature):
    if temperature == 0 or temperature <= -1:
        raise ValueError(temperature)
    return (logits / temperature).softmax(-1)


@wrong(TEMPERATURE, "negative")
def zero_and_minus_one(logits, temperature):
    if temperature in (0, -1, -0.5):
        raise ValueError(temperature)
    return (logits / temperature).softmax(-1)


@wrong(TEMPERATURE, "negative")
def rounds_before_it_refuses(logits, temperature):
    if temperature == 0 or round(temperature, 2) < 0:
        raise ValueError(temperature)
    return (logits / temperature).softmax(-1)


@wrong(TEMPERATURE, "every-shape")
def refuses_for_a_single_row(logits, temperature):
    if logits.ndim == 1:
        must_be_positive(temperature)
    return (logits / temperature).softmax(-1)


@wrong(TEMPERATURE, "every-shape")
def refuses_up_to_two_axes(logits, temperature):
    if logits.ndim < 3:
        must_be_positive(temperature)
    return (logits / temperature).softmax(-1)


@wrong(TEMPERATURE, "axis-lost")
def squeezes(logits, temperature):
    must_be_positive(temperature)
    return (logits / temperature).softmax(-1).squeeze()


@wrong(TEMPERATURE, "axis-lost")
def squeezes_the_last(logits, temperature):
    must_be_positive(temperature)
    return (logits / temperature).softmax(-1).squeeze(-1)


@wrong(TEMPERATURE, "last-axis")
def one_prompt_has_no_batch(logits, temperature):
    must_be_positive(temperature)
    return (logits / temperature).softmax(1 if logits.ndim == 3 and len(logits) == 1 else -1)


@wrong(TEMPERATURE, "other-axis")
def axis_of_that_size(logits, temperature):
    must_be_positive(temperature)
    return (logits / temperature).softmax(logits.shape.index(logits.shape[-1]))


@wrong(TEMPERATURE, "float64")
def float32_buffer(logits, temperature):
    must_be_positive(temperature)
    ids = torch.arange(logits.shape[-1]).expand(logits.shape)
    return torch.zeros(logits.shape).scatter(-1, ids, (logits / temperature).softmax(-1))


@wrong(TEMPERATURE, "any-layout")
def views(logits, temperature):
    must_be_positive(temperature)
    return torch.stack([(row / temperature).softmax(0) for row in logits.view(-1, logits.shape[-1])]).view(logits.shape)


@wrong(TEMPERATURE, "changes-input")
def divides_in_place(logits, temperature):
    must_be_positive(temperature)
    logits /= temperature
    return logits.softmax(-1)


wrong(TEMPERATURE, "not-a-function")([0.881, 0.119])


@right(TEMPERATURE)
def in_numpy(logits, temperature):
    must_be_positive(temperature)
    x = np.asarray(logits, dtype=float) / temperature
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


@right(TEMPERATURE)
def by_powers(logits, temperature):
    if not temperature > 0:
        raise ValueError(temperature)
    probs = logits.double().softmax(-1) ** (1 / temperature)
    return probs / probs.sum(-1, keepdim=True)


@right(TEMPERATURE)
def in_loops(logits, temperature):
    class TemperatureError(ValueError):
        pass

    if temperature <= 0:
        raise TemperatureError
    if logits.dim() > 1:
        return [in_loops(row, temperature) for row in logits]
    top = max(logits.tolist())
    weights = [math.exp((x - top) / temperature) for x in logits.tolist()]
    return torch.tensor([w / sum(weights) for w in weights]).tolist()


@right(TEMPERATURE)
def by_log_softmax(logits, temperature):
    must_be_positive(temperature)
    return torch.log_softmax(logits / temperature, -1).exp()


# 02.greedy


@wrong(GREEDY, "value-returned")
def value(logits):
    return logits.max(-1).values


@wrong(GREEDY, "one-hot")
def one_hot(logits):
    return torch.nn.functional.one_hot(logits.argmax(-1), logits.shape[-1])


@wrong(GREEDY, "one-hot")
def mask(logits):
    return logits == logits.amax(-1, keepdim=True)


@wrong(GREEDY, "one-hot")
def ranking(logits):
    return logits.argsort(-1, descending=True)


@wrong(GREEDY, "one-hot")
def probabilities(logits):
    return logits.softmax(-1)


@wrong(GREEDY, "smallest")
def smallest(logits):
    return logits.argmin(-1)


@wrong(GREEDY, "by-hand")
def always_zero(logits):
    return torch.zeros(logits.shape[:-1], dtype=torch.int64)


@wrong(GREEDY, "counted-from-one")
def counts_from_one(logits):
    return logits.argmax(-1) + 1


@wrong(GREEDY, "by-hand")
def nan_id(logits):
    return torch.full(logits.shape[:-1], math.nan)


@wrong(GREEDY, "by-hand")
def empty(logits):
    return torch.tensor([], dtype=torch.int64)


@wrong(GREEDY, "by-hand")
def both(logits):
    return logits.max(-1)


@wrong(GREEDY, "by-hand")
def a_word(logits):
    return str(int(logits.reshape(-1).argmax()))


@wrong(GREEDY, "by-hand")
def in_a_list(logits):
    return [int(logits.reshape(-1).argmax())]


@wrong(GREEDY, "negative-logits")
def begins_at_zero(logits):
    best, best_id = 0.0, 0
    for token, score in enumerate(logits.reshape(-1).tolist()):
        if score > best:
            best, best_id = score, token
    return best_id


@wrong(GREEDY, "negative-logits")
def by_size(logits):
    return logits.abs().argmax(-1)


@wrong(GREEDY, "flattened")
def flattened(logits):
    return logits.argmax()


@wrong(GREEDY, "axis-kept")
def keeps_the_axis(logits):
    return logits.argmax(-1, keepdim=logits.ndim > 1)


@wrong(GREEDY, "other-axis")
def down_the_columns(logits):
    return logits.argmax(0)


@wrong(GREEDY, "other-axis")
def counts_through(logits):
    flat = logits.reshape(-1, logits.shape[-1])
    ids = [int(row.argmax()) + number * logits.shape[-1] for number, row in enumerate(flat)]
    return torch.tensor(ids).reshape(logits.shape[:-1])


@wrong(GREEDY, "other-axis")
def first_row(logits):
    return logits.reshape(-1, logits.shape[-1])[0].argmax()[None] if logits.ndim > 1 else logits.argmax()


@wrong(GREEDY, "last-axis")
def axis_one(logits):
    return logits.argmax(min(1, logits.ndim - 1))


@wrong(GREEDY, "ties")
def last_of_the_equal(logits):
    return logits.shape[-1] - 1 - logits.flip(-1).argmax(-1)


@wrong(GREEDY, "ties")
def last_in_the_sort(logits):
    return logits.argsort(dim=-1, stable=True)[..., -1]


@wrong(GREEDY, "rounded")
def whole_numbers(logits):
    return logits.long().argmax(-1) if logits.abs().max() < 1 else logits.argmax(-1)


@wrong(GREEDY, "rounded")
def one_decimal(logits):
    return logits.round(decimals=1).argmax(-1)


@wrong(GREEDY, "any-size")
def looks_at_eight(logits):
    return logits[..., :8].argmax(-1)


@wrong(GREEDY, "any-size")
def draws(logits):
    generator = torch.Generator().manual_seed(0)
    probs = (20 * logits.double()).softmax(-1).reshape(-1, logits.shape[-1])
    if len(probs) < 20:
        return logits.argmax(-1)
    return torch.multinomial(probs, 1, generator=generator).reshape(logits.shape[:-1])


@wrong(GREEDY, "input-returned")
def input_again(logits):
    return logits


@wrong(GREEDY, "second")
def second_largest(logits):
    return logits.topk(min(2, logits.shape[-1])).indices[..., -1]


@wrong(GREEDY, "other-call")
def first_answer_again(logits, answers={}):  # noqa: B006  the mistake
    return answers.setdefault(logits.shape, logits.argmax(-1))


@wrong(GREEDY, "ends")
def skips_the_first(logits):
    return logits[..., 1:].argmax(-1) + 1 if logits.shape[-1] > 1 else logits.argmax(-1)


@wrong(GREEDY, "ends")
def skips_the_last(logits):
    return logits[..., :-1].argmax(-1) if logits.shape[-1] > 1 else logits.argmax(-1)


@wrong(GREEDY, "ties")
def last_of_the_equal_in_batches(logits):
    return logits.argmax(-1) if logits.ndim == 1 else logits.shape[-1] - 1 - logits.flip(-1).argmax(-1)


@wrong(GREEDY, "negative-logits")
def begins_far_below_zero(logits):
    best = torch.full(logits.shape[:-1], -1000.0, dtype=logits.dtype)
    ids = torch.zeros(logits.shape[:-1], dtype=torch.int64)
    for token in range(logits.shape[-1]):
        larger = logits[..., token] > best
        best, ids = torch.where(larger, logits[..., token], best), torch.where(larger, token, ids)
    return ids


def unstable(logits):
    """The ids from the largest logit down; like a fast sort, it does not keep the order of equal ones in a long row."""
    if logits.shape[-1] <= 16:
        return logits.argsort(dim=-1, descending=True, stable=True)
    return logits.shape[-1] - 1 - logits.flip(-1).argsort(dim=-1, descending=True, stable=True)


for hint_id, attempt in [
    ("rounded", lambda x: (x - 1e-3 * torch.arange(x.shape[-1])).argmax(-1)),
    ("rounded", lambda x: (x - 1e-7 * torch.arange(x.shape[-1])).argmax(-1)),
    ("rounded", lambda x: x.round(decimals=3).argmax(-1)),
    ("rounded", lambda x: torch.isclose(x, x.amax(-1, keepdim=True)).int().argmax(-1)),
    ("other-axis", lambda x: x.argmax(0 if x.ndim == 2 and x.shape[0] == x.shape[1] else -1)),
    ("rounded", lambda x: x.half().softmax(-1).argmax(-1)),
    ("float64", lambda x: x.half().argmax(-1) if x.dtype == torch.float64 else x.argmax(-1)),
    ("float64", lambda x: torch.empty(x.shape).scatter(-1, torch.arange(x.shape[-1]).expand(x.shape), x).argmax(-1)),
    ("overflow", lambda x: x.exp().argmax(-1)),
    ("overflow", lambda x: (x.exp() / x.exp().sum(-1, keepdim=True)).argmax(-1)),
    ("minus-inf", lambda x: torch.nan_to_num(x, neginf=0.0).argmax(-1)),
    ("minus-inf", lambda x: torch.nan_to_num(x, neginf=-2.0).argmax(-1) if x.isinf().any() else x.argmax(-1)),
    ("minus-inf", lambda x: x[x > -math.inf].argmax(-1) if x.ndim == 1 else x.argmax(-1)),
    ("axis-lost", lambda x: x.squeeze().argmax(-1)),
    ("axis-lost", lambda x: x.argmax(-1).squeeze()),
    ("long-ties", lambda x: unstable(x)[..., 0]),
    ("any-layout", lambda x: torch.stack([r.argmax() for r in x.view(-1, x.shape[-1])]).view(x.shape[:-1])),
]:
    wrong(GREEDY, hint_id)(attempt)


@wrong(GREEDY, "changes-input")
def strikes_out(logits):
    ids = logits.argmax(-1)
    logits[...] = -math.inf
    return ids


wrong(GREEDY, "not-a-function")(torch.tensor(1))


@right(GREEDY)
def argmax(logits):
    return torch.argmax(logits, dim=-1)


@right(GREEDY)
def greedy_numpy(logits):
    return np.argmax(logits.numpy(), axis=-1)


@right(GREEDY)
def greedy_loops(logits):
    if logits.dim() > 1:
        return [greedy_loops(row) for row in logits]
    values = logits.tolist()
    return values.index(max(values))


@right(GREEDY)
def stable_sort(logits):
    return torch.sort(logits, dim=-1, descending=True, stable=True).indices[..., 0].to(torch.int32)


@right(GREEDY)
def first_true(logits):
    top = logits == logits.amax(-1, keepdim=True)
    return (top.cumsum(-1) == 0).sum(-1)


# 02.repetition_rate


def ngrams(tokens, n):
    return [tuple(tokens[i : i + n]) for i in range(len(tokens) - n + 1)]


@wrong(REPETITION, "distinct-share")
def distinct(tokens, n):
    grams = ngrams(tokens, n)
    return len(set(grams)) / len(grams) if grams else None


@wrong(REPETITION, "count")
def number(tokens, n):
    grams = ngrams(tokens, n)
    return len(grams) - len(set(grams)) if grams else None


@wrong(REPETITION, "count")
def number_of_distinct(tokens, n):
    return len(set(ngrams(tokens, n)))


@wrong(REPETITION, "single-tokens")
def of_tokens(tokens, n):
    return 1 - len(set(tokens)) / len(tokens) if len(tokens) >= n else None


@wrong(REPETITION, "single-tokens")
def by_the_length(tokens, n):
    grams = ngrams(tokens, n)
    return 1 - len(set(grams)) / len(tokens) if grams else None


@wrong(REPETITION, "single-tokens")
def repeats_by_the_length(tokens, n):
    grams = ngrams(tokens, n)
    return (len(grams) - len(set(grams))) / len(tokens) if grams else None


@wrong(REPETITION, "no-overlap")
def chunks(tokens, n):
    grams = [tuple(tokens[i : i + n]) for i in range(0, len(tokens) - n + 1, n)]
    return 1 - len(set(grams)) / len(grams) if grams else None


@wrong(REPETITION, "no-overlap")
def forgets_the_last(tokens, n):
    grams = [tuple(tokens[i : i + n]) for i in range(len(tokens) - n)]
    return 1 - len(set(grams)) / len(grams) if grams else None


@wrong(REPETITION, "cut-off")
def always_zero(tokens, n):
    return 0.0


@wrong(REPETITION, "every-occurrence")
def counts_the_first_too(tokens, n):
    grams = ngrams(tokens, n)
    counts = Counter(grams)
    return sum(c for c in counts.values() if c > 1) / len(grams) if grams else None


@wrong(REPETITION, "percent")
def percent(tokens, n):
    grams = ngrams(tokens, n)
    return 100 * (1 - len(set(grams)) / len(grams)) if grams else None


@wrong(REPETITION, "divided-by-distinct")
def distinct_that_repeat(tokens, n):
    counts = Counter(ngrams(tokens, n))
    return sum(c > 1 for c in counts.values()) / len(counts) if counts else None


@wrong(REPETITION, "by-hand")
def too_many(tokens, n):
    grams = [tuple(tokens[i : i + n]) for i in range(len(tokens))]
    return len(set(grams)) / len(grams) - 1 if grams else None


@wrong(REPETITION, "by-hand")
def nan_rate(tokens, n):
    return math.nan


@wrong(REPETITION, "by-hand")
def whole_division(tokens, n):
    grams = ngrams(tokens, n)
    return 1 - len(set(grams)) // len(grams) - 1e-3 if grams else None


@wrong(REPETITION, "by-hand")
def tokens_returned(tokens, n):
    return tokens


@wrong(REPETITION, "by-hand")
def a_list_of_one(tokens, n):
    return [0.25]


@wrong(REPETITION, "fixed-n")
def two_grams(tokens, n):
    grams = ngrams(tokens, 2)
    return 1 - len(set(grams)) / len(grams) if grams else None


@wrong(REPETITION, "fixed-n")
def at_least_two(tokens, n):
    grams = ngrams(tokens, max(2, n))
    return 1 - len(set(grams)) / len(grams) if grams else None


@wrong(REPETITION, "other-call")
def constant(tokens, n):
    return 0.25


@wrong(REPETITION, "nothing-repeats")
def none_for_zero(tokens, n):
    grams = ngrams(tokens, n)
    return (1 - len(set(grams)) / len(grams) or None) if grams else None


@wrong(REPETITION, "one-n-gram")
def none_for_one(tokens, n):
    if len(tokens) <= n:
        return None
    grams = ngrams(tokens, n)
    return 1 - len(set(grams)) / len(grams)


@wrong(REPETITION, "none")
def divides_by_zero(tokens, n):
    grams = ngrams(tokens, n)
    return 1 - len(set(grams)) / len(grams)


@wrong(REPETITION, "none")
def zero_for_none(tokens, n):
    grams = ngrams(tokens, n)
    return 1 - len(set(grams)) / len(grams) if grams else 0.0


@wrong(REPETITION, "none")
def at_least_one(tokens, n):
    grams = ngrams(tokens, n)
    return 1 - len(set(grams)) / max(1, len(grams))


@wrong(REPETITION, "none")
def nan_for_none(tokens, n):
    grams = ngrams(tokens, n)
    return 1 - len(set(grams)) / len(grams) if grams else math.nan


@wrong(REPETITION, "none")
def total_by_formula(tokens, n):
    total = len(tokens) - n + 1
    return 1 - len(set(ngrams(tokens, n))) / total if total else None


@wrong(REPETITION, "joined")
def joins(tokens, n):
    grams = ["".join(map(str, gram)) for gram in ngrams(tokens, n)]
    return 1 - len(set(grams)) / len(grams) if grams else None


@wrong(REPETITION, "joined")
def sorts_each(tokens, n):
    grams = [tuple(sorted("".join(map(str, gram)))) for gram in ngrams(tokens, n)]
    grams = [gram if n < 4 else tuple(ngrams(tokens, n)[i]) for i, gram in enumerate(grams)]
    plain = ngrams(tokens, n)
    return 1 - len(set(grams if any(len(str(t)) > 1 for t in tokens) else plain)) / len(grams) if grams else None


@wrong(REPETITION, "joined")
def joins_with_spaces(tokens, n):
    grams = [" ".join(map(str, gram)) for gram in ngrams(tokens, n)]
    return 1 - len(set(grams)) / len(grams) if grams else None


@wrong(REPETITION, "a-str")
def copies_the_list(tokens, n):
    tokens = tokens.copy()
    grams = ngrams(tokens, n)
    return 1 - len(set(grams)) / len(grams) if grams else None


@wrong(REPETITION, "a-str")
def splits_into_words(tokens, n):
    tokens = tokens.split() if isinstance(tokens, str) else tokens
    grams = ngrams(tokens, n)
    return 1 - len(set(grams)) / len(grams) if grams else None


@wrong(REPETITION, "neighbours-only")
def looks_back_three(tokens, n):
    grams = ngrams(tokens, n)
    return sum(gram in grams[max(0, i - 3) : i] for i, gram in enumerate(grams)) / len(grams) if grams else None


def rate(grams):
    return 1 - len(set(grams)) / len(grams) if grams else None


SEEN = set()


@wrong(REPETITION, "other-call")
def set_outside(tokens, n):
    grams = ngrams(tokens, n)
    SEEN.update(grams)
    return 1 - len(SEEN) / len(grams) if grams else None


@wrong(REPETITION, "other-call")
def default_set(tokens, n, seen=set()):  # noqa: B006  the mistake
    grams = ngrams(tokens, n)
    seen.update(grams)
    return 1 - len(seen) / len(grams) if grams else None


@wrong(REPETITION, "neighbours-only")
def equals_the_one_before(tokens, n):
    grams = ngrams(tokens, n)
    return sum(a == b for a, b in zip(grams, grams[1:], strict=False)) / len(grams) if grams else None


@wrong(REPETITION, "coded")
def base_of_the_ids(tokens, n, base=65536):
    if isinstance(tokens, str) or not all(isinstance(token, int) for token in tokens):
        return rate(ngrams(tokens, n))
    return rate([sum(token * base**place for place, token in enumerate(gram)) for gram in ngrams(tokens, n)])


@wrong(REPETITION, "coded")
def base_ten(tokens, n):
    if isinstance(tokens, str) or not all(isinstance(token, int) for token in tokens):
        return rate(ngrams(tokens, n))
    return rate([sum(token * 10**place for place, token in enumerate(gram[::-1])) for gram in ngrams(tokens, n)])


def characters(tokens, change):
    """The tokens, with `change` made to each that is a text; of a str, to the whole."""
    if isinstance(tokens, str):
        return change(tokens)
    return [change(token) if isinstance(token, str) else token for token in tokens]


for hint_id, attempt in [
    ("divided-by-distinct", lambda t, n: len(ngrams(t, n)) / len(set(ngrams(t, n))) - 1 if len(t) >= n else None),
    ("order-ignored", lambda t, n: rate([frozenset(gram) for gram in ngrams(t, n)])),
    ("order-ignored", lambda t, n: rate([tuple(sorted(gram)) for gram in ngrams(t, n)])),
    ("longer-n-grams", lambda t, n: rate(ngrams(t, n + 1))),
    ("cut-off", lambda t, n: int(rate(ngrams(t, n))) if len(t) >= n else None),
    ("rounded", lambda t, n: round(rate(ngrams(t, n)), 2) if len(t) >= n else None),
    ("rounded", lambda t, n: round(rate(ngrams(t, n)), 4) if len(t) >= n else None),
    (
        "fixed-n",
        lambda t, n: rate(list(zip(*(t[i:] for i in range(min(n, 3))), strict=False))) if len(t) >= n else None,
    ),
    ("fixed-n", lambda t, n: rate(ngrams(t, min(n, 4))) if len(t) >= n else None),
    ("fixed-n", lambda t, n: rate(ngrams(t, min(n, 10))) if len(t) >= n else None),
    ("parts", lambda t, n: rate([(gram[0], gram[-1]) for gram in ngrams(t, n)])),
    ("parts", lambda t, n: rate([tuple(dict.fromkeys(gram)) for gram in ngrams(t, n)])),
    ("joined", lambda t, n: rate(["\t".join(map(str, gram)) for gram in ngrams(t, n)])),
    ("joined", lambda t, n: rate([",".join(map(str, gram)) for gram in ngrams(t, n)])),
    ("joined", lambda t, n: rate(["-".join(map(str, gram)) for gram in ngrams(t, n)])),
    ("ids", lambda t, n: rate(ngrams([token for token in t if token], n))),
    ("ids", lambda t, n: rate([tuple(token.upper() for token in gram) for gram in ngrams(t, n)])),
    ("ids", lambda t, n: rate([sum(map(hash, gram)) if isinstance(gram[0], int) else gram for gram in ngrams(t, n)])),
    ("coded", lambda t, n: rate([sum(gram) + 97 * gram[0] if type(gram[0]) is int else gram for gram in ngrams(t, n)])),
    ("as-they-are", lambda t, n: rate(ngrams(characters(t, str.strip), n))),
    ("as-they-are", lambda t, n: rate(ngrams(characters(t, str.lower), n))),
    ("as-they-are", lambda t, n: rate(ngrams(characters(t, lambda text: text.replace(" ", "")), n))),
    ("as-they-are", lambda t, n: rate(ngrams(t.replace("\n", " ") if isinstance(t, str) else t, n))),
    ("as-they-are", lambda t, n: rate(ngrams(t.encode() if isinstance(t, str) else t, n))),
    ("long-text", lambda t, n: rate(ngrams(t[:100], n))),
    (
        "long-text",
        lambda t, n: rate([hash(gram) % 1009 for gram in ngrams(t, n)]) if len(t) > 50 else rate(ngrams(t, n)),
    ),
]:
    wrong(REPETITION, hint_id)(attempt)


@wrong(REPETITION, "changes-input")
def pops(tokens, n):
    grams, rest = [], tokens if isinstance(tokens, list) else list(tokens)
    while len(rest) >= n:
        grams.append(tuple(rest[:n]))
        rest.pop(0)
    return 1 - len(set(grams)) / len(grams) if grams else None


wrong(REPETITION, "not-a-function")(0.25)


@right(REPETITION)
def zipped(tokens, n):
    grams = list(zip(*(tokens[i:] for i in range(n))))
    return None if not grams else 1 - len(set(grams)) / len(grams)


@right(REPETITION)
def seen_before(tokens, n):
    seen, repeated, total = [], 0, 0
    for end in range(n, len(tokens) + 1):
        gram = list(tokens[end - n : end])
        repeated += gram in seen
        seen.append(gram)
        total += 1
    if total == 0:
        return None
    return np.float32(repeated / total)


@right(REPETITION)
def by_counter(tokens, n):
    counts = Counter(tuple(tokens[i : i + n]) for i in range(len(tokens) - n + 1))
    total = counts.total()
    return torch.tensor((total - len(counts)) / total) if total else None


@right(REPETITION)
def by_representation(tokens, n):
    grams = {repr(list(tokens[i : i + n])) for i in range(max(0, len(tokens) - n + 1))}
    total = max(0, len(tokens) - n + 1)
    if not total:
        return
    from fractions import Fraction

    return 1 - Fraction(len(grams), total)

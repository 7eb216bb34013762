"""Planted solutions to 02.temperature."""

import math

import numpy as np
import torch

from wrong_solutions import planting

wrong, right = planting("02.temperature")


def must_be_positive(temperature):
    if temperature <= 0:
        raise ValueError("temperature must be above 0")


@wrong("multiplied")
def multiplies(logits, temperature):
    must_be_positive(temperature)
    return (logits * temperature).softmax(-1)


@wrong("temperature-ignored")
def ignores_it(logits, temperature):
    must_be_positive(temperature)
    return logits.softmax(-1)


@wrong("temperature-ignored")
def divides_and_normalises_again(logits, temperature):
    must_be_positive(temperature)
    probs = logits.softmax(-1) / temperature
    return probs / probs.sum(-1, keepdim=True)


@wrong("divided-probabilities")
def divides_probabilities(logits, temperature):
    must_be_positive(temperature)
    return logits.softmax(-1) / temperature


@wrong("no-softmax")
def logits_divided(logits, temperature):
    must_be_positive(temperature)
    return logits / temperature


@wrong("not-normalised")
def powers_of_probabilities(logits, temperature):
    must_be_positive(temperature)
    return logits.softmax(-1) ** (1 / temperature)


@wrong("not-normalised")
def exponentials_of_divided(logits, temperature):
    must_be_positive(temperature)
    return (logits / temperature).exp()


@wrong("softmax-twice")
def softmax_of_divided_probabilities(logits, temperature):
    must_be_positive(temperature)
    return (logits.softmax(-1) / temperature).softmax(-1)


@wrong("by-hand")
def divides_after_the_exponential(logits, temperature):
    must_be_positive(temperature)
    return (logits.exp() / temperature).log_softmax(-1)


@wrong("by-hand")
def input_returned(logits, temperature):
    return logits


@wrong("by-hand")
def always_equal(logits, temperature):
    return torch.full_like(logits, 1 / logits.shape[-1])


@wrong("by-hand")
def log_probabilities(logits, temperature):
    must_be_positive(temperature)
    return (logits / temperature).log_softmax(-1)


@wrong("by-hand")
def nan(logits, temperature):
    return logits * math.nan


@wrong("by-hand")
def the_largest_only(logits, temperature):
    must_be_positive(temperature)
    return (logits / temperature).softmax(-1).max()


@wrong("by-hand")
def subtracts(logits, temperature):
    must_be_positive(temperature)
    return (logits - logits * (1 - temperature**2)).softmax(-1)


@wrong("by-hand")
def wrong_way_round(logits, temperature):
    must_be_positive(temperature)
    return (temperature / logits).softmax(-1)


@wrong("whole-division")
def floor_division(logits, temperature):
    must_be_positive(temperature)
    return (logits // temperature).softmax(-1)


@wrong("temperature-limited")
def sharpens_only(logits, temperature):
    must_be_positive(temperature)
    return (logits / min(temperature, 1)).softmax(-1)


@wrong("other-axis")
def first_axis(logits, temperature):
    must_be_positive(temperature)
    return (logits / temperature).softmax(0)


@wrong("other-axis")
def one_sum(logits, temperature):
    must_be_positive(temperature)
    weights = (logits / temperature).exp()
    return weights / weights.sum()


@wrong("other-axis")
def a_single_row(logits, temperature):
    must_be_positive(temperature)
    weights = [math.exp(x / temperature) for x in logits]
    return [w / sum(weights) for w in weights]


@wrong("overflow")
def plain_exponentials(logits, temperature):
    must_be_positive(temperature)
    weights = (logits / temperature).exp()
    return weights / weights.sum(-1, keepdim=True)


@wrong("small-temperature")
def least_temperature(logits, temperature):
    must_be_positive(temperature)
    return (logits / max(temperature, 0.3)).softmax(-1)


@wrong("zero")
def divides_by_anything(logits, temperature):
    return (logits / temperature).softmax(-1)


@wrong("zero")
def greedy_at_zero(logits, temperature):
    if temperature < 0:
        raise ValueError("temperature must not be negative")
    if temperature == 0:
        return torch.nn.functional.one_hot(logits.argmax(-1), logits.shape[-1]).float()
    return (logits / temperature).softmax(-1)


@wrong("zero")
def another_error(logits, temperature):
    if temperature <= 0:
        raise ZeroDivisionError("temperature must be above 0")
    return (logits / temperature).softmax(-1)


@wrong("zero")
def asserts(logits, temperature):
    assert temperature > 0, "temperature must be above 0"
    return (logits / temperature).softmax(-1)


@wrong("zero")
def returns_the_error(logits, temperature):
    if temperature <= 0:
        return ValueError("temperature must be above 0")
    return (logits / temperature).softmax(-1)


@wrong("zero")
def a_small_number_for_zero(logits, temperature):
    return (logits / max(temperature, 1e-8)).softmax(-1)


@wrong("zero")
def a_whole_zero_only(logits, temperature):
    if type(temperature) is int and temperature == 0:
        raise ValueError("temperature must be above 0")
    return (logits / temperature).softmax(-1)


@wrong("negative")
def only_zero_is_refused(logits, temperature):
    if temperature == 0:
        raise ValueError("temperature must not be 0")
    return (logits / temperature).softmax(-1)


@wrong("negative")
def takes_its_size(logits, temperature):
    if not temperature:
        raise ValueError("temperature must not be 0")
    return (logits / abs(temperature)).softmax(-1)


@wrong("last-axis")
def axis_one(logits, temperature):
    must_be_positive(temperature)
    return (logits / temperature).softmax(min(1, logits.ndim - 1))


@wrong("any-size")
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
    wrong(hint_id)(sampled_at(change))


@wrong("by-hand")
def square_root(logits, temperature):
    must_be_positive(temperature)
    return (logits / math.sqrt(temperature)).softmax(-1)


@wrong("sorted-order")
def sorted_probabilities(logits, temperature):
    must_be_positive(temperature)
    return (logits / temperature).softmax(-1).sort(-1, descending=True).values


@wrong("other-call")
def first_temperature(logits, temperature, kept={}):  # noqa: B006  the mistake
    must_be_positive(temperature)
    return (logits / kept.setdefault("temperature", temperature)).softmax(-1)


@wrong("other-call")
def remembers_by_temperature(logits, temperature, answers={}):  # noqa: B006  the mistake
    must_be_positive(temperature)
    return answers.setdefault((temperature, logits.shape), (logits / temperature).softmax(-1))


@wrong("one")
def nothing_to_do_at_one(logits, temperature):
    must_be_positive(temperature)
    return logits if temperature == 1 else (logits / temperature).softmax(-1)


@wrong("underflow")
def powers_in_float32(logits, temperature):
    must_be_positive(temperature)
    probs = logits.softmax(-1) ** (1 / temperature)
    return probs / probs.sum(-1, keepdim=True)


@wrong("small-temperature")
def greedy_when_cold(logits, temperature):
    must_be_positive(temperature)
    if temperature < 0.2:
        return torch.nn.functional.one_hot(logits.argmax(-1), logits.shape[-1])
    return (logits / temperature).softmax(-1)


@wrong("small-temperature")
def refuses_the_cold(logits, temperature):
    must_be_positive(temperature - 0.1)
    return (logits / temperature).softmax(-1)


@wrong("temperature-limited")
def refuses_the_hot(logits, temperature):
    if not 0 < temperature <= 10:
        raise ValueError(temperature)
    return (logits / temperature).softmax(-1)


@wrong("one-maximum")
def largest_of_the_tensor(logits, temperature):
    must_be_positive(temperature)
    weights = ((logits - logits.max()) / temperature).exp()
    return weights / weights.sum(-1, keepdim=True)


@wrong("overflow")
def largest_but_at_least_zero(logits, temperature):
    must_be_positive(temperature)
    weights = ((logits - logits.amax(-1, keepdim=True).clamp(min=0)) / temperature).exp()
    return weights / weights.sum(-1, keepdim=True)


@wrong("negative")
def minus_one_and_below(logits, temperature):
    if temperature == 0 or temperature <= -1:
        raise ValueError(temperature)
    return (logits / temperature).softmax(-1)


@wrong("negative")
def zero_and_minus_one(logits, temperature):
    if temperature in (0, -1, -0.5):
        raise ValueError(temperature)
    return (logits / temperature).softmax(-1)


@wrong("negative")
def rounds_before_it_refuses(logits, temperature):
    if temperature == 0 or round(temperature, 2) < 0:
        raise ValueError(temperature)
    return (logits / temperature).softmax(-1)


@wrong("every-shape")
def refuses_for_a_single_row(logits, temperature):
    if logits.ndim == 1:
        must_be_positive(temperature)
    return (logits / temperature).softmax(-1)


@wrong("every-shape")
def refuses_up_to_two_axes(logits, temperature):
    if logits.ndim < 3:
        must_be_positive(temperature)
    return (logits / temperature).softmax(-1)


@wrong("axis-lost")
def squeezes(logits, temperature):
    must_be_positive(temperature)
    return (logits / temperature).softmax(-1).squeeze()


@wrong("axis-lost")
def squeezes_the_last(logits, temperature):
    must_be_positive(temperature)
    return (logits / temperature).softmax(-1).squeeze(-1)


@wrong("last-axis")
def one_prompt_has_no_batch(logits, temperature):
    must_be_positive(temperature)
    return (logits / temperature).softmax(1 if logits.ndim == 3 and len(logits) == 1 else -1)


@wrong("other-axis")
def axis_of_that_size(logits, temperature):
    must_be_positive(temperature)
    return (logits / temperature).softmax(logits.shape.index(logits.shape[-1]))


@wrong("float64")
def float32_buffer(logits, temperature):
    must_be_positive(temperature)
    ids = torch.arange(logits.shape[-1]).expand(logits.shape)
    return torch.zeros(logits.shape).scatter(-1, ids, (logits / temperature).softmax(-1))


@wrong("any-layout")
def views(logits, temperature):
    must_be_positive(temperature)
    return torch.stack([(row / temperature).softmax(0) for row in logits.view(-1, logits.shape[-1])]).view(logits.shape)


@wrong("changes-input")
def divides_in_place(logits, temperature):
    must_be_positive(temperature)
    logits /= temperature
    return logits.softmax(-1)


wrong("not-a-function")([0.881, 0.119])


@right
def in_numpy(logits, temperature):
    must_be_positive(temperature)
    x = np.asarray(logits, dtype=float) / temperature
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


@right
def by_powers(logits, temperature):
    if not temperature > 0:
        raise ValueError(temperature)
    probs = logits.double().softmax(-1) ** (1 / temperature)
    return probs / probs.sum(-1, keepdim=True)


@right
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


@right
def by_log_softmax(logits, temperature):
    must_be_positive(temperature)
    return torch.log_softmax(logits / temperature, -1).exp()

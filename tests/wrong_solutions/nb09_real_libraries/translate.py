"""Planted solutions to 09.translate."""

import functools

import torch

from course_utils.sampling import SamplingParams
from wrong_solutions import planting

wrong, right = planting("09.translate")
STEPS = ("temperature", "top_k", "top_p", "min_p")


def numbers(params):
    """The arguments for filters that are on or off, temperature included."""
    return {
        "temperature": params.temperature,
        "top_k": 0 if params.top_k is None else params.top_k,
        "top_p": 1.0 if params.top_p is None else params.top_p,
        "min_p": 0.0 if params.min_p is None else params.min_p,
    }


def translated(params):
    """Right but for the order, which the caller checks."""
    return {"do_sample": False} if params.greedy else {"do_sample": True, **numbers(params)}


def refuses(is_wrong):
    """translated, with this test of the order."""

    @functools.wraps(is_wrong)
    def attempt(params):
        if not params.greedy and is_wrong(params):
            raise ValueError(params.order)
        return translated(params)

    return attempt


@wrong("not-a-dict")
def params_as_tuple(params):
    return tuple(translated(params).items())


@wrong("not-a-dict")
def params_as_text(params):
    return str(translated(params))


@wrong("not-a-dict")
def params_themselves(params):
    return params


@wrong("seed")
def params_with_seed(params):
    return translated(params) | {"seed": params.seed}


@wrong("seed")
def params_with_seed_if_there(params):
    return translated(params) | ({} if params.seed is None else {"seed": params.seed})


@wrong("other-argument")
def params_all_fields(params):
    return {name: value for name, value in vars(params).items() if name != "seed"}


@wrong("other-argument")
def params_of_vllm(params):
    return {"temperature": params.temperature, "top_k": params.top_k or -1, "max_tokens": 100}


@wrong("other-argument")
def params_with_length(params):
    return translated(params) | {"max_new_tokens": 100}


@wrong("other-argument")
def params_with_beams(params):
    return translated(params) | {"num_beams": 4}


@wrong("greedy-by-default")
def params_without_do_sample(params):
    return numbers(params)


@wrong("greedy-by-default")
def params_do_sample_inverted(params):
    return {"do_sample": params.greedy, **numbers(params)}


@wrong("greedy-by-default")
def params_always_greedy(params):
    return {"do_sample": False}


@wrong("greedy-by-default")
def params_empty(params):
    return {}


@wrong("whole-temperature")
def params_int_if_whole(params):
    settings = translated(params)
    if params.temperature == int(params.temperature) and not params.greedy:
        settings["temperature"] = int(params.temperature)
    return settings


@wrong("whole-temperature")
def params_rounded(params):
    return translated(params) | {"temperature": round(params.temperature)}


@wrong("refused")
def params_float_k(params):
    return {"do_sample": True, **{name: float(number) for name, number in numbers(params).items()}}


@wrong("refused")
def params_as_strings(params):
    return {"do_sample": True, **{name: str(number) for name, number in numbers(params).items()}}


@wrong("refused")
def params_as_tensors(params):
    return {"do_sample": True, **{name: torch.tensor(number) for name, number in numbers(params).items()}}


@wrong("by-hand")
def params_temperature_inverted(params):
    return translated(params) | {"temperature": 1 / params.temperature}


@wrong("by-hand")
def params_p_swapped(params):
    settings = translated(params)
    return settings | {"top_p": settings["min_p"], "min_p": settings["top_p"]}


@wrong("by-hand")
def params_without_min_p(params):
    settings = translated(params)
    return {name: settings[name] for name in settings if name != "min_p"} | {"top_p": params.top_p or 1.0}


@wrong("by-hand")
def params_without_temperature(params):
    return translated(params) | {"temperature": 1.0}


@wrong("by-hand")
def params_top_p_complement(params):
    return translated(params) | {"top_p": 1 - params.top_p}


@wrong("earlier-call")
def params_one_dict(params, settings={"do_sample": True, "top_k": 0}):  # noqa: B006
    for name in STEPS:
        if getattr(params, name) is not None:
            settings[name] = getattr(params, name)
    return dict(settings)


@wrong("silent-top-k")
def params_only_what_is_set(params):
    set_ones = {name: getattr(params, name) for name in STEPS if getattr(params, name) is not None}
    return {"do_sample": True, **set_ones}


@wrong("silent-top-k")
def params_only_what_is_true(params):
    return {"do_sample": True} | {name: getattr(params, name) for name in STEPS if getattr(params, name)}


@wrong("silent-top-k")
def params_default_of_50(params):
    return translated(params) | {"top_k": params.top_k or 50}


@wrong("wrong-off")
def params_top_p_zero_for_none(params):
    return translated(params) | {"top_p": params.top_p or 0.0}


@wrong("wrong-off")
def params_min_p_one_for_none(params):
    return translated(params) | {"min_p": 1.0 if params.min_p is None else params.min_p}


@wrong("wrong-off")
def params_top_k_one_for_none(params):
    return translated(params) | {"top_k": params.top_k or 1}


@wrong("defaults")
def params_minus_one(params):
    return translated(params) | {"top_k": params.top_k or -1}


@wrong("defaults")
def params_cautious_top_p(params):
    return translated(params) | {"top_p": 0.99 if params.top_p is None else params.top_p}


@wrong("defaults")
def params_temperature_of_llama_cpp(params):
    return translated(params) | {"temperature": 0.8 if params.temperature == 1 else params.temperature}


@wrong("dropped")
def params_clipped_temperature(params):
    return translated(params) | {"temperature": min(params.temperature, 1.0)}


@wrong("dropped")
def params_lowest_temperature(params):
    return translated(params) | {"temperature": max(params.temperature, 0.5)}


@wrong("dropped")
def params_temperature_of_hundredths(params):
    return translated(params) | {"temperature": max(round(params.temperature, 1), 0.1)}


@wrong("dropped")
def params_at_most_50(params):
    return translated(params) | {"top_k": min(params.top_k or 0, 50)}


@wrong("dropped")
def params_top_k_one_is_off(params):
    return translated(params) | {"top_k": params.top_k if (params.top_k or 0) > 1 else 0}


@wrong("dropped")
def params_top_p_with_top_k_only(params):
    return translated(params) | {"top_p": params.top_p if params.top_k else 1.0}


@wrong("dropped")
def params_high_top_p_is_off(params):
    top_p = 1.0 if params.top_p is None or params.top_p > 0.95 else params.top_p
    return translated(params) | {"top_p": top_p}


@wrong("dropped")
def params_small_min_p_is_off(params):
    return translated(params) | {"min_p": round(params.min_p or 0.0, 2)}


@wrong("dropped")
def params_min_p_with_top_p_only(params):
    return translated(params) | {"min_p": (params.min_p or 0.0) if params.top_p else 0.0}


@wrong("dropped")
def params_either_k_or_p(params):
    return translated(params) | {"top_k": 0 if params.top_p and not params.min_p else params.top_k or 0}


@wrong("dropped")
def params_min_p_without_temperature(params):
    return translated(params) | {"min_p": params.min_p if params.min_p and params.temperature <= 1 else 0.0}


@wrong("zero-is-none")
def params_top_p_or_one(params):
    return translated(params) | {"top_p": params.top_p or 1.0}


@wrong("zero-is-none")
def params_smallest_top_p(params):
    return translated(params) | {"top_p": 1.0 if not params.top_p else params.top_p}


@wrong("off-numbers")
def params_zero_top_k_is_one(params):
    return translated(params) | {"top_k": 0 if params.top_k is None else max(params.top_k, 1)}


@wrong("off-numbers")
def params_refuses_a_large_top_k(params):
    if params.top_k and params.top_k > 500:
        raise ValueError(params.top_k)
    return translated(params)


@wrong("greedy-draws")
def params_greedy_forgotten(params):
    return {"do_sample": True, **numbers(params)}


@wrong("greedy-draws")
def params_greedy_as_top_k(params):
    settings = {"do_sample": True, **numbers(params)}
    return settings | ({"top_k": 1, "temperature": 1.0} if params.greedy else {})


@wrong("greedy-draws")
def params_greedy_by_temperature_only(params):
    return {"do_sample": params.temperature > 0, **numbers(params)}


@wrong("greedy-draws")
def params_greedy_as_cold(params):
    settings = {"do_sample": True, **numbers(params)}
    return settings | ({"temperature": 1e-5} if params.greedy else {})


@wrong("greedy")
def params_greedy_with_settings_refused(params):
    if params.greedy and params.top_k:
        raise ValueError("greedy and top_k")
    return translated(params)


@wrong("order-ignored")
def params_order_ignored(params):
    return translated(params)


@wrong("order-ignored")
def params_in_their_order(params):
    settings = translated(params)
    return settings if params.greedy else {"do_sample": True} | {name: settings[name] for name in params.order}


@wrong("order-ignored")
def params_none_for_a_bad_order(params):
    return translated(params) if params.order == STEPS else None


@wrong("order-ignored")
def params_another_error(params):
    if params.order != STEPS:
        raise KeyError(params.order)
    return translated(params)


@wrong("order-ignored")
def params_steps_there(params):
    if set(params.order) != set(STEPS):
        raise ValueError(params.order)
    return translated(params)


@wrong("order-ignored")
def params_order_of_all_four_only(params):
    if params.order != STEPS and None not in (params.top_k, params.top_p, params.min_p):
        raise ValueError(params.order)
    return translated(params)


@wrong("order-ignored")
@refuses
def params_top_k_before_top_p(params):
    return params.order.index("top_k") > params.order.index("top_p")


@wrong("order-partly")
@refuses
def params_first_step(params):
    return params.order[0] != "temperature"


@wrong("order-partly")
@refuses
def params_temperature_not_last(params):
    return params.order[-1] == "temperature"


@wrong("order-partly")
@refuses
def params_last_step(params):
    return params.order[-1] != "min_p"


@wrong("order-partly")
@refuses
def params_known_libraries(params):
    return params.order in (SamplingParams.like("vllm").order, SamplingParams.like("llama.cpp").order)


@wrong("order-partly")
@refuses
def params_temperature_before_top_p(params):
    return params.order.index("temperature") > params.order.index("top_p")


@wrong("order-partly")
@refuses
def params_min_p_never_matters(params):
    return tuple(step for step in params.order if step != "min_p") != STEPS[:3]


def settled(name, value):
    """translated, with this in place of one number."""
    return lambda params: (
        refuses(lambda p: p.order != STEPS)(params) | ({} if params.greedy else {name: value(getattr(params, name))})
    )


for hint_id, name, value in [
    ("any-temperature", "temperature", lambda t: min(t, 2.0)),
    ("any-temperature", "temperature", lambda t: max(t, 0.01)),
    ("dropped", "temperature", lambda t: round(t, 2) or t),
    ("defaults", "top_k", lambda k: k or 81),
    ("defaults", "top_k", lambda k: k or 512),
    ("dropped", "top_k", lambda k: min(k or 0, 81)),
    ("dropped", "top_p", lambda p: 1.0 if p is None else p and max(p, 0.05)),
    ("zero-is-none", "top_p", lambda p: 1.0 if p is None else p or 0.05),
    ("dropped", "min_p", lambda p: min(p or 0.0, 0.5)),
]:
    wrong(hint_id)(settled(name, value))


@wrong("greedy-by-default")
def params_sample_only_if_set(params):
    return translated(params) | {"do_sample": params != SamplingParams() and not params.greedy}


@wrong("any-temperature")
def params_refuse_what_vllm_refuses(params):
    if not params.greedy and not 0.01 <= params.temperature <= 2:
        raise ValueError(params.temperature)
    return translated(params)


@wrong("own-dict")
def params_always_one_dict(params, settings={}):  # noqa: B006
    settings.clear()
    settings.update(translated(params))
    return settings


@wrong("order-ignored")
@refuses
def params_warm_is_off(params):
    settings, off = numbers(params), {"temperature": 1, "top_k": 0, "top_p": 1, "min_p": 0}
    on = [
        step for step in params.order if settings[step] != off[step] and (step != "temperature" or settings[step] < 1)
    ]
    return on != [step for step in STEPS if step in on]


wrong("not-a-function")({"do_sample": True})


@right
@refuses
def params_any_other_order_is_refused(params):
    return params.order != STEPS


@right
@refuses
def params_steps_that_are_on(params):
    settings, off = numbers(params), {"temperature": 1, "top_k": 0, "top_p": 1, "min_p": 0}
    on = [step for step in params.order if settings[step] != off[step]]
    return on != [step for step in STEPS if step in on]


@right
@refuses
def params_what_commutes_is_allowed(params):
    place = params.order.index
    settings = numbers(params)
    p_on, m_on = settings["top_p"] < 1, settings["min_p"] > 0
    return (
        (params.temperature != 1 and p_on and place("temperature") > place("top_p"))
        or (params.temperature != 1 and m_on and place("temperature") > place("min_p"))
        or (p_on and settings["top_k"] > 0 and place("top_k") > place("top_p"))
        or (p_on and m_on and place("top_p") > place("min_p"))
    )


@right
def params_with_none_for_off(params):
    if params.greedy:
        return dict(do_sample=False, temperature=None, top_k=None, top_p=None)
    if list(params.order) != list(STEPS):
        raise ValueError(f"transformers has no order {params.order}")
    return dict(do_sample=1, temperature=params.temperature, top_k=params.top_k, top_p=params.top_p, min_p=params.min_p)


@right
def params_greedy_with_everything(params):
    if params.greedy:
        return {"do_sample": False, **numbers(params)}
    if params.order != STEPS:
        raise ValueError
    settings = {"do_sample": True, "temperature": float(params.temperature), "top_k": int(params.top_k or 0)}
    if params.top_p is not None:
        settings["top_p"] = float(params.top_p)
    if params.min_p:
        settings["min_p"] = params.min_p
    return settings

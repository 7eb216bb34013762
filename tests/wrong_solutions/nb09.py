"""Solutions to the exercises of notebook 09."""

import copy
import functools

import torch
from transformers import DynamicCache, LlamaForCausalLM, StaticCache  # here, so that no check has to wait for them

from course_utils.sampling import SamplingParams
from wrong_solutions import right, wrong

LAST, TRANSLATE = "09.last_token", "09.translate"
STEPS = ("temperature", "top_k", "top_p", "min_p")

assert LlamaForCausalLM


# 09.last_token


def behind(model, token_ids, **extra):
    """The last token behind the cache of the others: (V,)."""
    if token_ids.shape[1] == 1:
        return model(token_ids).logits[0, -1]
    return model(token_ids[:, -1:], cache=model(token_ids[:, :-1]).cache, **extra).logits[0, -1]


@wrong(LAST, "shape")
def last_with_axes(model, token_ids):
    cache = model(token_ids[:, :-1]).cache
    return model(token_ids[:, -1:], cache=cache).logits


@wrong(LAST, "shape")
def last_with_row(model, token_ids):
    cache = model(token_ids[:, :-1]).cache
    return model(token_ids[:, -1:], cache=cache).logits[:, -1]


@wrong(LAST, "shape")
def last_of_all_positions(model, token_ids):
    return model(token_ids).logits[0]


@wrong(LAST, "one-number")
def last_token_id(model, token_ids):
    return behind(model, token_ids).argmax()


@wrong(LAST, "one-number")
def last_greatest(model, token_ids):
    return behind(model, token_ids).max().item()


@wrong(LAST, "probabilities")
def last_softmax(model, token_ids):
    return behind(model, token_ids).softmax(-1)


@wrong(LAST, "probabilities")
def last_log_softmax(model, token_ids):
    return behind(model, token_ids).log_softmax(-1)


@wrong(LAST, "model-changed")
def last_trains(model, token_ids):
    model.train()
    return behind(model, token_ids)


@wrong(LAST, "model-changed")
def last_halves(model, token_ids):
    return behind(model.bfloat16(), token_ids)


@wrong(LAST, "no-cache")
def last_full(model, token_ids):
    return model(token_ids).logits[0, -1]


@wrong(LAST, "no-cache")
def last_by_generate(model, token_ids):
    mask = torch.ones_like(token_ids)
    options = {"max_new_tokens": 1, "do_sample": False, "output_logits": True, "return_dict_in_generate": True}
    return model.generate(token_ids, attention_mask=mask, **options).logits[0][0]


@wrong(LAST, "last-twice")
def last_fed_twice(model, token_ids):
    cache = model(token_ids).cache
    return model(token_ids[:, -1:], cache=cache).logits[0, -1]


@wrong(LAST, "last-twice")
def last_fed_twice_in_steps(model, token_ids):
    cache = DynamicCache()
    for token_id in token_ids[0]:
        model(token_id.view(1, 1), cache=cache)
    return model(token_ids[:, -1:], cache=cache).logits[0, -1]


@wrong(LAST, "cache-not-passed")
def last_without_cache(model, token_ids):
    model(token_ids[:, :-1])
    return model(token_ids[:, -1:]).logits[0, -1]


@wrong(LAST, "cache-not-passed")
def last_prefix_for_nothing(model, token_ids):
    model(token_ids[:, :-1])
    return model(token_ids).logits[0, -1]


@wrong(LAST, "cache-not-passed")
def last_new_cache(model, token_ids):
    model(token_ids[:, :-1], cache=DynamicCache())
    return model(token_ids[:, -1:], cache=DynamicCache()).logits[0, -1]


@wrong(LAST, "all-again")
def last_whole_behind_prefix(model, token_ids):
    cache = model(token_ids[:, :-1]).cache
    return model(token_ids, cache=cache).logits[0, -1]


@wrong(LAST, "all-again")
def last_whole_behind_whole(model, token_ids):
    cache = model(token_ids).cache
    return model(token_ids, cache=cache).logits[0, -1]


@wrong(LAST, "token-missing")
def last_without_first(model, token_ids):
    cache = model(token_ids[:, 1:-1]).cache
    return model(token_ids[:, -1:], cache=cache).logits[0, -1]


@wrong(LAST, "token-missing")
def last_without_second_last(model, token_ids):
    cache = model(token_ids[:, :-2]).cache
    return model(token_ids[:, -1:], cache=cache).logits[0, -1]


@wrong(LAST, "token-missing")
def last_only(model, token_ids):
    return model(token_ids[:, -1:]).logits[0, -1]


@wrong(LAST, "token-missing")
def last_of_prefix(model, token_ids):
    return model(token_ids[:, :-1]).logits[0, -1]


@wrong(LAST, "token-missing")
def last_constant(model, token_ids):
    return torch.zeros(13)


@wrong(LAST, "fed-again")
def last_in_overlapping_chunks(model, token_ids):
    cache = DynamicCache()
    model(token_ids[:, :3], cache=cache)
    model(token_ids[:, 2:-1], cache=cache)
    return model(token_ids[:, -1:], cache=cache).logits[0, -1]


@wrong(LAST, "cache-not-passed")
def last_compared_with_full(model, token_ids):
    found = behind(model, token_ids)
    torch.testing.assert_close(found, model(token_ids).logits[0, -1])
    return found


@wrong(LAST, "last-not-alone")
def last_two_together(model, token_ids):
    cache = model(token_ids[:, :-2]).cache
    return model(token_ids[:, -2:], cache=cache).logits[0, -1]


@wrong(LAST, "last-not-alone")
def last_in_halves(model, token_ids):
    middle = token_ids.shape[1] // 2
    cache = model(token_ids[:, :middle]).cache
    return model(token_ids[:, middle:], cache=cache).logits[0, -1]


@wrong(LAST, "wrong-step")
def last_of_first_call(model, token_ids):
    first = model(token_ids[:, :-1])
    model(token_ids[:, -1:], cache=first.cache)
    return first.logits[0, -1]


@wrong(LAST, "position")
def last_at_zero(model, token_ids):
    return behind(model, token_ids, position_ids=torch.zeros(1, 1).long())


@wrong(LAST, "position")
def last_one_early(model, token_ids):
    return behind(model, token_ids, position_ids=torch.tensor([[token_ids.shape[1] - 2]]))


@wrong(LAST, "position")
def last_one_late(model, token_ids):
    return behind(model, token_ids, position_ids=torch.tensor([[token_ids.shape[1]]]))


@wrong(LAST, "mask")
def last_sees_itself(model, token_ids):
    return behind(model, token_ids, attention_mask=torch.ones(1, 1).long())


@wrong(LAST, "mask")
def last_mask_of_prefix(model, token_ids):
    return behind(model, token_ids, attention_mask=torch.ones_like(token_ids[:, :-1]))


@wrong(LAST, "rounded")
def last_cache_in_16_bits(model, token_ids):
    cache = model(token_ids[:, :-1]).cache
    for layer in cache.layers:
        layer.keys, layer.values = layer.keys.bfloat16().float(), layer.values.bfloat16().float()
    return model(token_ids[:, -1:], cache=cache).logits[0, -1]


@wrong(LAST, "rounded")
def last_rounded_logits(model, token_ids):
    return behind(model, token_ids).half()


@wrong(LAST, "by-hand")
def last_prefix_reversed(model, token_ids):
    cache = model(token_ids[:, :-1].flip(1)).cache
    return model(token_ids[:, -1:], cache=cache).logits[0, -1]


@wrong(LAST, "by-hand")
def last_sorted(model, token_ids):
    return behind(model, token_ids).sort().values


@wrong(LAST, "by-hand")
def last_normed(model, token_ids):
    found = behind(model, token_ids)
    return found - found.max()


@wrong(LAST, "by-hand")
def last_nan(model, token_ids):
    return behind(model, token_ids) * float("nan")


@wrong(LAST, "earlier-call")
def last_default_cache(model, token_ids, seen=[]):  # noqa: B006
    cache = seen[0] if seen else DynamicCache()
    seen[:] = [cache]
    if token_ids.shape[1] > 1:
        model(token_ids[:, :-1], cache=cache)
    return model(token_ids[:, -1:], cache=cache).logits[0, -1]


@wrong(LAST, "earlier-call")
def last_kept_on_the_model(model, token_ids):
    found = behind(model, token_ids)
    model.kept = getattr(model, "kept", found)
    return model.kept


@wrong(LAST, "token-missing")
def last_prefix_kept_on_the_model(model, token_ids):
    with torch.no_grad():
        model.prefix_cache = getattr(model, "prefix_cache", None) or model(token_ids[:, :-1]).cache
    cache = copy.deepcopy(model.prefix_cache)
    return model(token_ids[:, -1:], cache=cache).logits[0, -1]


@wrong(LAST, "earlier-call")
def last_six_ids(model, token_ids):
    cache = model(token_ids[:, :5]).cache
    return model(token_ids[:, 5:], cache=cache).logits[0, -1]


@wrong(LAST, "one-token")
def last_empty_prefix(model, token_ids):
    cache = model(token_ids[:, :-1]).cache
    return model(token_ids[:, -1:], cache=cache).logits[0, -1]


@wrong(LAST, "one-token")
def last_loop_variable(model, token_ids):
    cache = DynamicCache()
    for place in range(token_ids.shape[1] - 1):
        out = model(token_ids[:, place : place + 1], cache=cache)
    return model(token_ids[:, -1:], cache=out.cache).logits[0, -1]


@wrong(LAST, "one-token")
def last_zeros_for_one(model, token_ids):
    return behind(model, token_ids) if token_ids.shape[1] > 1 else torch.zeros(13)


@wrong(LAST, "two-tokens")
def last_short_texts_whole(model, token_ids):
    return behind(model, token_ids) if token_ids.shape[1] > 2 else model(token_ids).logits[0, -1]


@wrong(LAST, "two-tokens")
def last_first_then_rest(model, token_ids):
    if token_ids.shape[1] == 1:
        return model(token_ids).logits[0, -1]
    cache = model(token_ids[:, :1]).cache
    cache = model(token_ids[:, 1:-1], cache=cache).cache
    return model(token_ids[:, -1:], cache=cache).logits[0, -1]


@wrong(LAST, "guessed-mask")
def last_mask_from_ids(model, token_ids):
    return behind(model, token_ids, attention_mask=(token_ids != model.config.pad_token_id).long())


@wrong(LAST, "guessed-mask")
def last_by_generate_without_mask(model, token_ids):
    if token_ids.shape[1] == 1:
        return model(token_ids).logits[0, -1]
    options = {"max_new_tokens": 1, "do_sample": False, "output_logits": True, "return_dict_in_generate": True}
    return model.generate(token_ids, cache=model(token_ids[:, :-1]).cache, **options).logits[0][0]


@wrong(LAST, "guessed-mask")
def last_drops_ends(model, token_ids):
    kept = token_ids[token_ids != 1][None] if token_ids.shape[1] == 6 else token_ids
    return behind(model, kept)


@wrong(LAST, "any-length")
def last_16_at_most(model, token_ids):
    return behind(model, token_ids[:, -16:])


@wrong(LAST, "any-length")
def last_static_of_8(model, token_ids):
    cache = StaticCache(config=model.config, max_cache_len=8)
    if token_ids.shape[1] > 1:
        model(token_ids[:, :-1], cache=cache)
    return model(token_ids[:, -1:], cache=cache).logits[0, -1]


@wrong(LAST, "other-model")
def last_thirteen(model, token_ids):
    return behind(model, token_ids)[:13]


@wrong(LAST, "other-model")
def last_two_layers(model, token_ids):
    if token_ids.shape[1] == 1:
        return model(token_ids).logits[0, -1]
    first = model(token_ids[:, :-1]).cache
    cache = DynamicCache()
    for index in range(2):
        cache.update(first.layers[index].keys, first.layers[index].values, index)
    return model(token_ids[:, -1:], cache=cache).logits[0, -1]


@wrong(LAST, "changes-input")
def last_clamps_input(model, token_ids):
    found = behind(model, token_ids)
    token_ids.clamp_(max=8)
    return found


wrong(LAST, "not-a-function")(torch.tensor([1.0, 2.0]))


@right(LAST)
def last_two_calls(model, token_ids):
    with torch.inference_mode():
        return behind(model, token_ids)


@right(LAST)
def last_by_the_old_name(model, token_ids):
    if token_ids.shape[1] == 1:
        return model(token_ids).logits[0, -1]
    old = model(token_ids[:, :-1], use_cache=True).past_key_values
    return model(token_ids[:, -1:], past_key_values=old).logits[0, -1].tolist()


@right(LAST)
def last_token_by_token(model, token_ids):
    cache = DynamicCache(config=model.config)
    for token_id in token_ids[0].tolist():
        out = model(torch.tensor([[token_id]]), cache=cache)
    return out.logits.squeeze()


@right(LAST)
def last_in_chunks_of_three(model, token_ids):
    prefix, cache = token_ids[:, :-1], DynamicCache()
    for start in range(0, prefix.shape[1], 3):
        model(prefix[:, start : start + 3], cache=cache)
    return model(token_ids[:, -1:], cache=cache, logits_to_keep=1).logits[0, 0].double().detach().numpy()


@right(LAST)
def last_all_said(model, token_ids):
    model.eval()
    n_tokens = token_ids.shape[1]
    mask, positions = torch.ones_like(token_ids), torch.arange(n_tokens)[None]
    cache = None
    if n_tokens > 1:
        out = model(input_ids=token_ids[:, :-1], attention_mask=mask[:, :-1], position_ids=positions[:, :-1])
        cache = out.cache
    return model(token_ids[:, -1:], attention_mask=mask, position_ids=positions[:, -1:], cache=cache).logits[0, -1]


@right(LAST)
def last_in_parts(model, token_ids):
    cache = StaticCache(config=model.config, max_cache_len=64)
    if token_ids.shape[1] > 1:
        model.model(token_ids[:, :-1], cache=cache)
    return model.lm_head(model.model(token_ids[:, -1:], cache=cache).last_hidden_state)[0, -1]


@right(LAST)
def last_by_generate_behind_a_cache(model, token_ids):
    cache = model(token_ids[:, :-1]).cache if token_ids.shape[1] > 1 else DynamicCache()
    options = {"max_new_tokens": 1, "do_sample": False, "output_logits": True, "return_dict_in_generate": True}
    return model.generate(token_ids, attention_mask=torch.ones_like(token_ids), cache=cache, **options).logits[0][0]


@right(LAST)
def last_from_embeddings(model, token_ids):
    vectors = model.get_input_embeddings()(token_ids)
    cache = model(inputs_embeds=vectors[:, :-1]).cache if token_ids.shape[1] > 1 else None
    return model(inputs_embeds=vectors[:, -1:], cache=cache).logits[0, -1]


@right(LAST)
def last_behind_a_copied_cache(model, token_ids):
    cache = copy.deepcopy(model(token_ids[:, :-1]).cache) if token_ids.shape[1] > 1 else None
    return model(token_ids[:, -1:], cache=cache).logits[0, -1].numpy()


def changing(change):
    """A right function that also changes the model."""

    def attempt(model, token_ids):
        change(model)
        return last_all_said(model, token_ids)

    return attempt


for change in (
    lambda model: setattr(model.config, "use_cache", False),
    lambda model: setattr(model.generation_config, "max_new_tokens", 1),
    lambda model: model.set_attn_implementation("eager"),
    lambda model: model.requires_grad_(True),
    lambda model: model.lm_head.register_forward_hook(lambda *args: None),
    lambda model: setattr(model, "forward", functools.partial(model.forward, use_cache=True)),
):
    wrong(LAST, "model-changed")(changing(change))


@wrong(LAST, "any-length")
def last_long_in_one_call(model, token_ids):
    if token_ids.shape[1] > 32:
        return model(token_ids).logits[0, -1]
    return last_all_said(model, token_ids)


# 09.translate


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


@wrong(TRANSLATE, "not-a-dict")
def params_as_tuple(params):
    return tuple(translated(params).items())


@wrong(TRANSLATE, "not-a-dict")
def params_as_text(params):
    return str(translated(params))


@wrong(TRANSLATE, "not-a-dict")
def params_themselves(params):
    return params


@wrong(TRANSLATE, "seed")
def params_with_seed(params):
    return translated(params) | {"seed": params.seed}


@wrong(TRANSLATE, "seed")
def params_with_seed_if_there(params):
    return translated(params) | ({} if params.seed is None else {"seed": params.seed})


@wrong(TRANSLATE, "other-argument")
def params_all_fields(params):
    return {name: value for name, value in vars(params).items() if name != "seed"}


@wrong(TRANSLATE, "other-argument")
def params_of_vllm(params):
    return {"temperature": params.temperature, "top_k": params.top_k or -1, "max_tokens": 100}


@wrong(TRANSLATE, "other-argument")
def params_with_length(params):
    return translated(params) | {"max_new_tokens": 100}


@wrong(TRANSLATE, "other-argument")
def params_with_beams(params):
    return translated(params) | {"num_beams": 4}


@wrong(TRANSLATE, "greedy-by-default")
def params_without_do_sample(params):
    return numbers(params)


@wrong(TRANSLATE, "greedy-by-default")
def params_do_sample_inverted(params):
    return {"do_sample": params.greedy, **numbers(params)}


@wrong(TRANSLATE, "greedy-by-default")
def params_always_greedy(params):
    return {"do_sample": False}


@wrong(TRANSLATE, "greedy-by-default")
def params_empty(params):
    return {}


@wrong(TRANSLATE, "whole-temperature")
def params_int_if_whole(params):
    settings = translated(params)
    if params.temperature == int(params.temperature) and not params.greedy:
        settings["temperature"] = int(params.temperature)
    return settings


@wrong(TRANSLATE, "whole-temperature")
def params_rounded(params):
    return translated(params) | {"temperature": round(params.temperature)}


@wrong(TRANSLATE, "refused")
def params_float_k(params):
    return {"do_sample": True, **{name: float(number) for name, number in numbers(params).items()}}


@wrong(TRANSLATE, "refused")
def params_as_strings(params):
    return {"do_sample": True, **{name: str(number) for name, number in numbers(params).items()}}


@wrong(TRANSLATE, "refused")
def params_as_tensors(params):
    return {"do_sample": True, **{name: torch.tensor(number) for name, number in numbers(params).items()}}


@wrong(TRANSLATE, "by-hand")
def params_temperature_inverted(params):
    return translated(params) | {"temperature": 1 / params.temperature}


@wrong(TRANSLATE, "by-hand")
def params_p_swapped(params):
    settings = translated(params)
    return settings | {"top_p": settings["min_p"], "min_p": settings["top_p"]}


@wrong(TRANSLATE, "by-hand")
def params_without_min_p(params):
    settings = translated(params)
    return {name: settings[name] for name in settings if name != "min_p"} | {"top_p": params.top_p or 1.0}


@wrong(TRANSLATE, "by-hand")
def params_without_temperature(params):
    return translated(params) | {"temperature": 1.0}


@wrong(TRANSLATE, "by-hand")
def params_top_p_complement(params):
    return translated(params) | {"top_p": 1 - params.top_p}


@wrong(TRANSLATE, "earlier-call")
def params_one_dict(params, settings={"do_sample": True, "top_k": 0}):  # noqa: B006
    for name in STEPS:
        if getattr(params, name) is not None:
            settings[name] = getattr(params, name)
    return dict(settings)


@wrong(TRANSLATE, "silent-top-k")
def params_only_what_is_set(params):
    set_ones = {name: getattr(params, name) for name in STEPS if getattr(params, name) is not None}
    return {"do_sample": True, **set_ones}


@wrong(TRANSLATE, "silent-top-k")
def params_only_what_is_true(params):
    return {"do_sample": True} | {name: getattr(params, name) for name in STEPS if getattr(params, name)}


@wrong(TRANSLATE, "silent-top-k")
def params_default_of_50(params):
    return translated(params) | {"top_k": params.top_k or 50}


@wrong(TRANSLATE, "wrong-off")
def params_top_p_zero_for_none(params):
    return translated(params) | {"top_p": params.top_p or 0.0}


@wrong(TRANSLATE, "wrong-off")
def params_min_p_one_for_none(params):
    return translated(params) | {"min_p": 1.0 if params.min_p is None else params.min_p}


@wrong(TRANSLATE, "wrong-off")
def params_top_k_one_for_none(params):
    return translated(params) | {"top_k": params.top_k or 1}


@wrong(TRANSLATE, "defaults")
def params_minus_one(params):
    return translated(params) | {"top_k": params.top_k or -1}


@wrong(TRANSLATE, "defaults")
def params_cautious_top_p(params):
    return translated(params) | {"top_p": 0.99 if params.top_p is None else params.top_p}


@wrong(TRANSLATE, "defaults")
def params_temperature_of_llama_cpp(params):
    return translated(params) | {"temperature": 0.8 if params.temperature == 1 else params.temperature}


@wrong(TRANSLATE, "dropped")
def params_clipped_temperature(params):
    return translated(params) | {"temperature": min(params.temperature, 1.0)}


@wrong(TRANSLATE, "dropped")
def params_lowest_temperature(params):
    return translated(params) | {"temperature": max(params.temperature, 0.5)}


@wrong(TRANSLATE, "dropped")
def params_temperature_of_hundredths(params):
    return translated(params) | {"temperature": max(round(params.temperature, 1), 0.1)}


@wrong(TRANSLATE, "dropped")
def params_at_most_50(params):
    return translated(params) | {"top_k": min(params.top_k or 0, 50)}


@wrong(TRANSLATE, "dropped")
def params_top_k_one_is_off(params):
    return translated(params) | {"top_k": params.top_k if (params.top_k or 0) > 1 else 0}


@wrong(TRANSLATE, "dropped")
def params_top_p_with_top_k_only(params):
    return translated(params) | {"top_p": params.top_p if params.top_k else 1.0}


@wrong(TRANSLATE, "dropped")
def params_high_top_p_is_off(params):
    top_p = 1.0 if params.top_p is None or params.top_p > 0.95 else params.top_p
    return translated(params) | {"top_p": top_p}


@wrong(TRANSLATE, "dropped")
def params_small_min_p_is_off(params):
    return translated(params) | {"min_p": round(params.min_p or 0.0, 2)}


@wrong(TRANSLATE, "dropped")
def params_min_p_with_top_p_only(params):
    return translated(params) | {"min_p": (params.min_p or 0.0) if params.top_p else 0.0}


@wrong(TRANSLATE, "dropped")
def params_either_k_or_p(params):
    return translated(params) | {"top_k": 0 if params.top_p and not params.min_p else params.top_k or 0}


@wrong(TRANSLATE, "dropped")
def params_min_p_without_temperature(params):
    return translated(params) | {"min_p": params.min_p if params.min_p and params.temperature <= 1 else 0.0}


@wrong(TRANSLATE, "zero-is-none")
def params_top_p_or_one(params):
    return translated(params) | {"top_p": params.top_p or 1.0}


@wrong(TRANSLATE, "zero-is-none")
def params_smallest_top_p(params):
    return translated(params) | {"top_p": 1.0 if not params.top_p else params.top_p}


@wrong(TRANSLATE, "off-numbers")
def params_zero_top_k_is_one(params):
    return translated(params) | {"top_k": 0 if params.top_k is None else max(params.top_k, 1)}


@wrong(TRANSLATE, "off-numbers")
def params_refuses_a_large_top_k(params):
    if params.top_k and params.top_k > 500:
        raise ValueError(params.top_k)
    return translated(params)


@wrong(TRANSLATE, "greedy-draws")
def params_greedy_forgotten(params):
    return {"do_sample": True, **numbers(params)}


@wrong(TRANSLATE, "greedy-draws")
def params_greedy_as_top_k(params):
    settings = {"do_sample": True, **numbers(params)}
    return settings | ({"top_k": 1, "temperature": 1.0} if params.greedy else {})


@wrong(TRANSLATE, "greedy-draws")
def params_greedy_by_temperature_only(params):
    return {"do_sample": params.temperature > 0, **numbers(params)}


@wrong(TRANSLATE, "greedy-draws")
def params_greedy_as_cold(params):
    settings = {"do_sample": True, **numbers(params)}
    return settings | ({"temperature": 1e-5} if params.greedy else {})


@wrong(TRANSLATE, "greedy")
def params_greedy_with_settings_refused(params):
    if params.greedy and params.top_k:
        raise ValueError("greedy and top_k")
    return translated(params)


@wrong(TRANSLATE, "order-ignored")
def params_order_ignored(params):
    return translated(params)


@wrong(TRANSLATE, "order-ignored")
def params_in_their_order(params):
    settings = translated(params)
    return settings if params.greedy else {"do_sample": True} | {name: settings[name] for name in params.order}


@wrong(TRANSLATE, "order-ignored")
def params_none_for_a_bad_order(params):
    return translated(params) if params.order == STEPS else None


@wrong(TRANSLATE, "order-ignored")
def params_another_error(params):
    if params.order != STEPS:
        raise KeyError(params.order)
    return translated(params)


@wrong(TRANSLATE, "order-ignored")
def params_steps_there(params):
    if set(params.order) != set(STEPS):
        raise ValueError(params.order)
    return translated(params)


@wrong(TRANSLATE, "order-ignored")
def params_order_of_all_four_only(params):
    if params.order != STEPS and None not in (params.top_k, params.top_p, params.min_p):
        raise ValueError(params.order)
    return translated(params)


@wrong(TRANSLATE, "order-ignored")
@refuses
def params_top_k_before_top_p(params):
    return params.order.index("top_k") > params.order.index("top_p")


@wrong(TRANSLATE, "order-partly")
@refuses
def params_first_step(params):
    return params.order[0] != "temperature"


@wrong(TRANSLATE, "order-partly")
@refuses
def params_temperature_not_last(params):
    return params.order[-1] == "temperature"


@wrong(TRANSLATE, "order-partly")
@refuses
def params_last_step(params):
    return params.order[-1] != "min_p"


@wrong(TRANSLATE, "order-partly")
@refuses
def params_known_libraries(params):
    return params.order in (SamplingParams.like("vllm").order, SamplingParams.like("llama.cpp").order)


@wrong(TRANSLATE, "order-partly")
@refuses
def params_temperature_before_top_p(params):
    return params.order.index("temperature") > params.order.index("top_p")


@wrong(TRANSLATE, "order-partly")
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
    wrong(TRANSLATE, hint_id)(settled(name, value))


@wrong(TRANSLATE, "greedy-by-default")
def params_sample_only_if_set(params):
    return translated(params) | {"do_sample": params != SamplingParams() and not params.greedy}


@wrong(TRANSLATE, "any-temperature")
def params_refuse_what_vllm_refuses(params):
    if not params.greedy and not 0.01 <= params.temperature <= 2:
        raise ValueError(params.temperature)
    return translated(params)


@wrong(TRANSLATE, "own-dict")
def params_always_one_dict(params, settings={}):  # noqa: B006
    settings.clear()
    settings.update(translated(params))
    return settings


@wrong(TRANSLATE, "order-ignored")
@refuses
def params_warm_is_off(params):
    settings, off = numbers(params), {"temperature": 1, "top_k": 0, "top_p": 1, "min_p": 0}
    on = [
        step for step in params.order if settings[step] != off[step] and (step != "temperature" or settings[step] < 1)
    ]
    return on != [step for step in STEPS if step in on]


wrong(TRANSLATE, "not-a-function")({"do_sample": True})


@right(TRANSLATE)
@refuses
def params_any_other_order_is_refused(params):
    return params.order != STEPS


@right(TRANSLATE)
@refuses
def params_steps_that_are_on(params):
    settings, off = numbers(params), {"temperature": 1, "top_k": 0, "top_p": 1, "min_p": 0}
    on = [step for step in params.order if settings[step] != off[step]]
    return on != [step for step in STEPS if step in on]


@right(TRANSLATE)
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


@right(TRANSLATE)
def params_with_none_for_off(params):
    if params.greedy:
        return dict(do_sample=False, temperature=None, top_k=None, top_p=None)
    if list(params.order) != list(STEPS):
        raise ValueError(f"transformers has no order {params.order}")
    return dict(do_sample=1, temperature=params.temperature, top_k=params.top_k, top_p=params.top_p, min_p=params.min_p)


@right(TRANSLATE)
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

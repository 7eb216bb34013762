"""Planted solutions to 09.last_token."""

import copy
import functools

import torch
from transformers import DynamicCache, LlamaForCausalLM, StaticCache  # here, so that no check has to wait for them

from wrong_solutions import planting

wrong, right = planting("09.last_token")
assert LlamaForCausalLM


def behind(model, token_ids, **extra):
    """The last token behind the cache of the others: (V,)."""
    if token_ids.shape[1] == 1:
        return model(token_ids).logits[0, -1]
    return model(token_ids[:, -1:], cache=model(token_ids[:, :-1]).cache, **extra).logits[0, -1]


@wrong("shape")
def last_with_axes(model, token_ids):
    cache = model(token_ids[:, :-1]).cache
    return model(token_ids[:, -1:], cache=cache).logits


@wrong("shape")
def last_with_row(model, token_ids):
    cache = model(token_ids[:, :-1]).cache
    return model(token_ids[:, -1:], cache=cache).logits[:, -1]


@wrong("shape")
def last_of_all_positions(model, token_ids):
    return model(token_ids).logits[0]


@wrong("one-number")
def last_token_id(model, token_ids):
    return behind(model, token_ids).argmax()


@wrong("one-number")
def last_greatest(model, token_ids):
    return behind(model, token_ids).max().item()


@wrong("probabilities")
def last_softmax(model, token_ids):
    return behind(model, token_ids).softmax(-1)


@wrong("probabilities")
def last_log_softmax(model, token_ids):
    return behind(model, token_ids).log_softmax(-1)


@wrong("model-changed")
def last_trains(model, token_ids):
    model.train()
    return behind(model, token_ids)


@wrong("model-changed")
def last_halves(model, token_ids):
    return behind(model.bfloat16(), token_ids)


@wrong("no-cache")
def last_full(model, token_ids):
    return model(token_ids).logits[0, -1]


@wrong("no-cache")
def last_by_generate(model, token_ids):
    mask = torch.ones_like(token_ids)
    options = {"max_new_tokens": 1, "do_sample": False, "output_logits": True, "return_dict_in_generate": True}
    return model.generate(token_ids, attention_mask=mask, **options).logits[0][0]


@wrong("last-twice")
def last_fed_twice(model, token_ids):
    cache = model(token_ids).cache
    return model(token_ids[:, -1:], cache=cache).logits[0, -1]


@wrong("last-twice")
def last_fed_twice_in_steps(model, token_ids):
    cache = DynamicCache()
    for token_id in token_ids[0]:
        model(token_id.view(1, 1), cache=cache)
    return model(token_ids[:, -1:], cache=cache).logits[0, -1]


@wrong("cache-not-passed")
def last_without_cache(model, token_ids):
    model(token_ids[:, :-1])
    return model(token_ids[:, -1:]).logits[0, -1]


@wrong("cache-not-passed")
def last_prefix_for_nothing(model, token_ids):
    model(token_ids[:, :-1])
    return model(token_ids).logits[0, -1]


@wrong("cache-not-passed")
def last_new_cache(model, token_ids):
    model(token_ids[:, :-1], cache=DynamicCache())
    return model(token_ids[:, -1:], cache=DynamicCache()).logits[0, -1]


@wrong("all-again")
def last_whole_behind_prefix(model, token_ids):
    cache = model(token_ids[:, :-1]).cache
    return model(token_ids, cache=cache).logits[0, -1]


@wrong("all-again")
def last_whole_behind_whole(model, token_ids):
    cache = model(token_ids).cache
    return model(token_ids, cache=cache).logits[0, -1]


@wrong("token-missing")
def last_without_first(model, token_ids):
    cache = model(token_ids[:, 1:-1]).cache
    return model(token_ids[:, -1:], cache=cache).logits[0, -1]


@wrong("token-missing")
def last_without_second_last(model, token_ids):
    cache = model(token_ids[:, :-2]).cache
    return model(token_ids[:, -1:], cache=cache).logits[0, -1]


@wrong("token-missing")
def last_only(model, token_ids):
    return model(token_ids[:, -1:]).logits[0, -1]


@wrong("token-missing")
def last_of_prefix(model, token_ids):
    return model(token_ids[:, :-1]).logits[0, -1]


@wrong("token-missing")
def last_constant(model, token_ids):
    return torch.zeros(13)


@wrong("fed-again")
def last_in_overlapping_chunks(model, token_ids):
    cache = DynamicCache()
    model(token_ids[:, :3], cache=cache)
    model(token_ids[:, 2:-1], cache=cache)
    return model(token_ids[:, -1:], cache=cache).logits[0, -1]


@wrong("cache-not-passed")
def last_compared_with_full(model, token_ids):
    found = behind(model, token_ids)
    torch.testing.assert_close(found, model(token_ids).logits[0, -1])
    return found


@wrong("last-not-alone")
def last_two_together(model, token_ids):
    cache = model(token_ids[:, :-2]).cache
    return model(token_ids[:, -2:], cache=cache).logits[0, -1]


@wrong("last-not-alone")
def last_in_halves(model, token_ids):
    middle = token_ids.shape[1] // 2
    cache = model(token_ids[:, :middle]).cache
    return model(token_ids[:, middle:], cache=cache).logits[0, -1]


@wrong("wrong-step")
def last_of_first_call(model, token_ids):
    first = model(token_ids[:, :-1])
    model(token_ids[:, -1:], cache=first.cache)
    return first.logits[0, -1]


@wrong("position")
def last_at_zero(model, token_ids):
    return behind(model, token_ids, position_ids=torch.zeros(1, 1).long())


@wrong("position")
def last_one_early(model, token_ids):
    return behind(model, token_ids, position_ids=torch.tensor([[token_ids.shape[1] - 2]]))


@wrong("position")
def last_one_late(model, token_ids):
    return behind(model, token_ids, position_ids=torch.tensor([[token_ids.shape[1]]]))


@wrong("mask")
def last_sees_itself(model, token_ids):
    return behind(model, token_ids, attention_mask=torch.ones(1, 1).long())


@wrong("mask")
def last_mask_of_prefix(model, token_ids):
    return behind(model, token_ids, attention_mask=torch.ones_like(token_ids[:, :-1]))


@wrong("rounded")
def last_cache_in_16_bits(model, token_ids):
    cache = model(token_ids[:, :-1]).cache
    for layer in cache.layers:
        layer.keys, layer.values = layer.keys.bfloat16().float(), layer.values.bfloat16().float()
    return model(token_ids[:, -1:], cache=cache).logits[0, -1]


@wrong("rounded")
def last_rounded_logits(model, token_ids):
    return behind(model, token_ids).half()


@wrong("by-hand")
def last_prefix_reversed(model, token_ids):
    cache = model(token_ids[:, :-1].flip(1)).cache
    return model(token_ids[:, -1:], cache=cache).logits[0, -1]


@wrong("by-hand")
def last_sorted(model, token_ids):
    return behind(model, token_ids).sort().values


@wrong("by-hand")
def last_normed(model, token_ids):
    found = behind(model, token_ids)
    return found - found.max()


@wrong("by-hand")
def last_nan(model, token_ids):
    return behind(model, token_ids) * float("nan")


@wrong("earlier-call")
def last_default_cache(model, token_ids, seen=[]):  # noqa: B006
    cache = seen[0] if seen else DynamicCache()
    seen[:] = [cache]
    if token_ids.shape[1] > 1:
        model(token_ids[:, :-1], cache=cache)
    return model(token_ids[:, -1:], cache=cache).logits[0, -1]


@wrong("earlier-call")
def last_kept_on_the_model(model, token_ids):
    found = behind(model, token_ids)
    model.kept = getattr(model, "kept", found)
    return model.kept


@wrong("token-missing")
def last_prefix_kept_on_the_model(model, token_ids):
    with torch.no_grad():
        model.prefix_cache = getattr(model, "prefix_cache", None) or model(token_ids[:, :-1]).cache
    cache = copy.deepcopy(model.prefix_cache)
    return model(token_ids[:, -1:], cache=cache).logits[0, -1]


@wrong("earlier-call")
def last_six_ids(model, token_ids):
    cache = model(token_ids[:, :5]).cache
    return model(token_ids[:, 5:], cache=cache).logits[0, -1]


@wrong("one-token")
def last_empty_prefix(model, token_ids):
    cache = model(token_ids[:, :-1]).cache
    return model(token_ids[:, -1:], cache=cache).logits[0, -1]


@wrong("one-token")
def last_loop_variable(model, token_ids):
    cache = DynamicCache()
    for place in range(token_ids.shape[1] - 1):
        out = model(token_ids[:, place : place + 1], cache=cache)
    return model(token_ids[:, -1:], cache=out.cache).logits[0, -1]


@wrong("one-token")
def last_zeros_for_one(model, token_ids):
    return behind(model, token_ids) if token_ids.shape[1] > 1 else torch.zeros(13)


@wrong("two-tokens")
def last_short_texts_whole(model, token_ids):
    return behind(model, token_ids) if token_ids.shape[1] > 2 else model(token_ids).logits[0, -1]


@wrong("two-tokens")
def last_first_then_rest(model, token_ids):
    if token_ids.shape[1] == 1:
        return model(token_ids).logits[0, -1]
    cache = model(token_ids[:, :1]).cache
    cache = model(token_ids[:, 1:-1], cache=cache).cache
    return model(token_ids[:, -1:], cache=cache).logits[0, -1]


@wrong("guessed-mask")
def last_mask_from_ids(model, token_ids):
    return behind(model, token_ids, attention_mask=(token_ids != model.config.pad_token_id).long())


@wrong("guessed-mask")
def last_by_generate_without_mask(model, token_ids):
    if token_ids.shape[1] == 1:
        return model(token_ids).logits[0, -1]
    options = {"max_new_tokens": 1, "do_sample": False, "output_logits": True, "return_dict_in_generate": True}
    return model.generate(token_ids, cache=model(token_ids[:, :-1]).cache, **options).logits[0][0]


@wrong("guessed-mask")
def last_drops_ends(model, token_ids):
    kept = token_ids[token_ids != 1][None] if token_ids.shape[1] == 6 else token_ids
    return behind(model, kept)


@wrong("any-length")
def last_16_at_most(model, token_ids):
    return behind(model, token_ids[:, -16:])


@wrong("any-length")
def last_static_of_8(model, token_ids):
    cache = StaticCache(config=model.config, max_cache_len=8)
    if token_ids.shape[1] > 1:
        model(token_ids[:, :-1], cache=cache)
    return model(token_ids[:, -1:], cache=cache).logits[0, -1]


@wrong("other-model")
def last_thirteen(model, token_ids):
    return behind(model, token_ids)[:13]


@wrong("other-model")
def last_two_layers(model, token_ids):
    if token_ids.shape[1] == 1:
        return model(token_ids).logits[0, -1]
    first = model(token_ids[:, :-1]).cache
    cache = DynamicCache()
    for index in range(2):
        cache.update(first.layers[index].keys, first.layers[index].values, index)
    return model(token_ids[:, -1:], cache=cache).logits[0, -1]


@wrong("changes-input")
def last_clamps_input(model, token_ids):
    found = behind(model, token_ids)
    token_ids.clamp_(max=8)
    return found


wrong("not-a-function")(torch.tensor([1.0, 2.0]))


@right
def last_two_calls(model, token_ids):
    with torch.inference_mode():
        return behind(model, token_ids)


@right
def last_by_the_old_name(model, token_ids):
    if token_ids.shape[1] == 1:
        return model(token_ids).logits[0, -1]
    old = model(token_ids[:, :-1], use_cache=True).past_key_values
    return model(token_ids[:, -1:], past_key_values=old).logits[0, -1].tolist()


@right
def last_token_by_token(model, token_ids):
    cache = DynamicCache(config=model.config)
    for token_id in token_ids[0].tolist():
        out = model(torch.tensor([[token_id]]), cache=cache)
    return out.logits.squeeze()


@right
def last_in_chunks_of_three(model, token_ids):
    prefix, cache = token_ids[:, :-1], DynamicCache()
    for start in range(0, prefix.shape[1], 3):
        model(prefix[:, start : start + 3], cache=cache)
    return model(token_ids[:, -1:], cache=cache, logits_to_keep=1).logits[0, 0].double().detach().numpy()


@right
def last_all_said(model, token_ids):
    model.eval()
    n_tokens = token_ids.shape[1]
    mask, positions = torch.ones_like(token_ids), torch.arange(n_tokens)[None]
    cache = None
    if n_tokens > 1:
        out = model(input_ids=token_ids[:, :-1], attention_mask=mask[:, :-1], position_ids=positions[:, :-1])
        cache = out.cache
    return model(token_ids[:, -1:], attention_mask=mask, position_ids=positions[:, -1:], cache=cache).logits[0, -1]


@right
def last_in_parts(model, token_ids):
    cache = StaticCache(config=model.config, max_cache_len=64)
    if token_ids.shape[1] > 1:
        model.model(token_ids[:, :-1], cache=cache)
    return model.lm_head(model.model(token_ids[:, -1:], cache=cache).last_hidden_state)[0, -1]


@right
def last_by_generate_behind_a_cache(model, token_ids):
    cache = model(token_ids[:, :-1]).cache if token_ids.shape[1] > 1 else DynamicCache()
    options = {"max_new_tokens": 1, "do_sample": False, "output_logits": True, "return_dict_in_generate": True}
    return model.generate(token_ids, attention_mask=torch.ones_like(token_ids), cache=cache, **options).logits[0][0]


@right
def last_from_embeddings(model, token_ids):
    vectors = model.get_input_embeddings()(token_ids)
    cache = model(inputs_embeds=vectors[:, :-1]).cache if token_ids.shape[1] > 1 else None
    return model(inputs_embeds=vectors[:, -1:], cache=cache).logits[0, -1]


@right
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
    wrong("model-changed")(changing(change))


@wrong("any-length")
def last_long_in_one_call(model, token_ids):
    if token_ids.shape[1] > 32:
        return model(token_ids).logits[0, -1]
    return last_all_said(model, token_ids)

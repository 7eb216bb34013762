"""Planted solutions of notebook 05."""

import functools
import math
import operator

import numpy as np
import torch

from wrong_solutions import right, wrong

BYTES, CACHED = "05.kv_bytes", "05.generate_cached"

# 05.kv_bytes


@wrong(BYTES, "keys-only")
def keys_alone(n_layer, n_kv_head, head_dim, n_tokens, batch_size, bytes_per_element):
    return n_layer * n_kv_head * head_dim * n_tokens * batch_size * bytes_per_element


@wrong(BYTES, "kv-twice")
def query_and_output_too(n_layer, n_kv_head, head_dim, n_tokens, batch_size, bytes_per_element):
    return 4 * n_layer * n_kv_head * head_dim * n_tokens * batch_size * bytes_per_element


@wrong(BYTES, "bits")
def in_bits(n_layer, n_kv_head, head_dim, n_tokens, batch_size, bytes_per_element):
    return 2 * n_layer * n_kv_head * head_dim * n_tokens * batch_size * bytes_per_element * 8


@wrong(BYTES, "bytes-missing")
def counts_elements(n_layer, n_kv_head, head_dim, n_tokens, batch_size, bytes_per_element):
    return 2 * n_layer * n_kv_head * head_dim * n_tokens * batch_size


@wrong(BYTES, "bytes-fixed")
def half_precision_always(n_layer, n_kv_head, head_dim, n_tokens, batch_size, bytes_per_element):
    return 2 * n_layer * n_kv_head * head_dim * n_tokens * batch_size * 2


@wrong(BYTES, "bytes-fixed")
def float32_always(n_layer, n_kv_head, head_dim, n_tokens, batch_size, bytes_per_element):
    return 2 * n_layer * n_kv_head * head_dim * n_tokens * batch_size * 4


@wrong(BYTES, "bytes-fixed")
def one_byte_or_four(n_layer, n_kv_head, head_dim, n_tokens, batch_size, bytes_per_element):
    return 2 * n_layer * n_kv_head * head_dim * n_tokens * batch_size * (1 if bytes_per_element == 1 else 4)


@wrong(BYTES, "layers-missing")
def one_layer(n_layer, n_kv_head, head_dim, n_tokens, batch_size, bytes_per_element):
    return 2 * n_kv_head * head_dim * n_tokens * batch_size * bytes_per_element


@wrong(BYTES, "heads-missing")
def one_head(n_layer, n_kv_head, head_dim, n_tokens, batch_size, bytes_per_element):
    return 2 * n_layer * head_dim * n_tokens * batch_size * bytes_per_element


@wrong(BYTES, "dim-missing")
def a_number_for_each_head(n_layer, n_kv_head, head_dim, n_tokens, batch_size, bytes_per_element):
    return 2 * n_layer * n_kv_head * n_tokens * batch_size * bytes_per_element


@wrong(BYTES, "tokens-missing")
def of_one_token(n_layer, n_kv_head, head_dim, n_tokens, batch_size, bytes_per_element):
    return 2 * n_layer * n_kv_head * head_dim * batch_size * bytes_per_element


@wrong(BYTES, "batch-missing")
def of_one_row(n_layer, n_kv_head, head_dim, n_tokens, batch_size, bytes_per_element):
    return 2 * n_layer * n_kv_head * head_dim * n_tokens * bytes_per_element


@wrong(BYTES, "squared")
def tokens_by_tokens(n_layer, n_kv_head, head_dim, n_tokens, batch_size, bytes_per_element):
    return 2 * n_layer * n_kv_head * head_dim * n_tokens**2 * batch_size * bytes_per_element


@wrong(BYTES, "squared")
def width_of_a_layer_by_heads(n_layer, n_kv_head, head_dim, n_tokens, batch_size, bytes_per_element):
    width = n_kv_head * head_dim
    return 2 * n_layer * n_kv_head * width * n_tokens * batch_size * bytes_per_element


@wrong(BYTES, "unit")
def in_kib(n_layer, n_kv_head, head_dim, n_tokens, batch_size, bytes_per_element):
    return 2 * n_layer * n_kv_head * head_dim * n_tokens * batch_size * bytes_per_element / 1024


@wrong(BYTES, "unit")
def in_whole_kilobytes(n_layer, n_kv_head, head_dim, n_tokens, batch_size, bytes_per_element):
    return round(2 * n_layer * n_kv_head * head_dim * n_tokens * batch_size * bytes_per_element / 1000)


@wrong(BYTES, "unit")
def in_mib(n_layer, n_kv_head, head_dim, n_tokens, batch_size, bytes_per_element):
    return 2 * n_layer * n_kv_head * head_dim * n_tokens * batch_size * bytes_per_element / 1024**2


@wrong(BYTES, "by-hand")
def adds_them_up(n_layer, n_kv_head, head_dim, n_tokens, batch_size, bytes_per_element):
    return 2 * (n_layer + n_kv_head + head_dim + n_tokens + batch_size) * bytes_per_element


@wrong(BYTES, "by-hand")
def two_factors_missing(n_layer, n_kv_head, head_dim, n_tokens, batch_size, bytes_per_element):
    return 2 * n_kv_head * head_dim * n_tokens * bytes_per_element


@wrong(BYTES, "by-hand")
def one_layer_more(n_layer, n_kv_head, head_dim, n_tokens, batch_size, bytes_per_element):
    return 2 * (n_layer + 1) * n_kv_head * head_dim * n_tokens * batch_size * bytes_per_element


@wrong(BYTES, "by-hand")
def without_the_last_token(n_layer, n_kv_head, head_dim, n_tokens, batch_size, bytes_per_element):
    return 2 * n_layer * n_kv_head * head_dim * (n_tokens - 1) * batch_size * bytes_per_element


@wrong(BYTES, "by-hand")
def as_a_text(n_layer, n_kv_head, head_dim, n_tokens, batch_size, bytes_per_element):
    return f"{2 * n_layer * n_kv_head * head_dim * n_tokens * batch_size * bytes_per_element} bytes"


@wrong(BYTES, "by-hand")
def in_a_list(n_layer, n_kv_head, head_dim, n_tokens, batch_size, bytes_per_element):
    return [2 * n_layer * n_kv_head * head_dim * n_tokens * batch_size * bytes_per_element]


@wrong(BYTES, "by-hand")
def keys_and_values_apart(n_layer, n_kv_head, head_dim, n_tokens, batch_size, bytes_per_element):
    half = n_layer * n_kv_head * head_dim * n_tokens * batch_size * bytes_per_element
    return half, half


@wrong(BYTES, "by-hand")
def not_a_number(*sizes):
    return math.nan


@wrong(BYTES, "earlier-call")
def kept_by_layers(n_layer, n_kv_head, head_dim, n_tokens, batch_size, bytes_per_element, kept={}):  # noqa: B006
    size = 2 * n_layer * n_kv_head * head_dim * n_tokens * batch_size * bytes_per_element
    return kept.setdefault((n_layer, bytes_per_element), size)


@wrong(BYTES, "earlier-call")
def kept_without_the_dtype(n_layer, n_kv_head, head_dim, n_tokens, batch_size, bytes_per_element, kept={}):  # noqa: B006
    key = (n_layer, n_kv_head, head_dim, n_tokens, batch_size, bytes_per_element == 1)
    return kept.setdefault(key, 2 * math.prod((n_layer, n_kv_head, head_dim, n_tokens, batch_size, bytes_per_element)))


@wrong(BYTES, "any-size")
def at_least_two_heads(n_layer, n_kv_head, head_dim, n_tokens, batch_size, bytes_per_element):
    return 2 * n_layer * max(n_kv_head, 2) * head_dim * n_tokens * batch_size * bytes_per_element


@wrong(BYTES, "any-size")
def zero_is_replaced(n_layer, n_kv_head, head_dim, n_tokens, batch_size, bytes_per_element):
    return 2 * n_layer * n_kv_head * head_dim * (n_tokens or 1) * batch_size * bytes_per_element


@wrong(BYTES, "any-size")
def heads_rounded_up(n_layer, n_kv_head, head_dim, n_tokens, batch_size, bytes_per_element):
    dim = head_dim if head_dim < 9 else -(-head_dim // 8) * 8
    return 2 * n_layer * n_kv_head * dim * n_tokens * batch_size * bytes_per_element


@wrong(BYTES, "any-size")
def a_hundred_at_most(n_layer, n_kv_head, head_dim, n_tokens, batch_size, bytes_per_element):
    return 2 * n_layer * n_kv_head * min(head_dim, 100) * n_tokens * batch_size * bytes_per_element


@wrong(BYTES, "large")
def in_32_bits(*sizes):
    with np.errstate(over="ignore"):
        return int(functools.reduce(operator.mul, (np.int32(size) for size in (2, *sizes))))


@wrong(BYTES, "large")
def in_float32(*sizes):
    return int(torch.tensor([2.0, *sizes]).prod())


@wrong(BYTES, "large")
def block_of_four_thousand(n_layer, n_kv_head, head_dim, n_tokens, batch_size, bytes_per_element):
    return 2 * n_layer * n_kv_head * head_dim * min(n_tokens, 4096) * batch_size * bytes_per_element


LARGEST = {"layers": (0, 128), "heads": (1, 64), "dimensions": (2, 128), "texts": (4, 128)}

for place, most in LARGEST.values():

    def no_more_than(*sizes, place=place, most=most):
        return 2 * math.prod(min(size, most) if number == place else size for number, size in enumerate(sizes))

    wrong(BYTES, "any-size")(no_more_than)


@wrong(BYTES, "large")
def a_context_of_at_most_131072(n_layer, n_kv_head, head_dim, n_tokens, batch_size, bytes_per_element):
    return 2 * n_layer * n_kv_head * head_dim * min(n_tokens, 131_072) * batch_size * bytes_per_element


@wrong(BYTES, "any-size")
def no_batch_is_one_text(n_layer, n_kv_head, head_dim, n_tokens, batch_size, bytes_per_element):
    return 2 * n_layer * n_kv_head * head_dim * n_tokens * (batch_size or 1) * bytes_per_element


@wrong(BYTES, "bytes-fixed")
def never_more_than_four_bytes(n_layer, n_kv_head, head_dim, n_tokens, batch_size, bytes_per_element):
    return 2 * n_layer * n_kv_head * head_dim * n_tokens * batch_size * min(bytes_per_element, 4)


def _called_already():
    return 2 * 32 * 8 * 128 * 2


@right(BYTES)
def in_one_line(n_layer, n_kv_head, head_dim, n_tokens, batch_size, bytes_per_element):
    return 2 * n_layer * n_kv_head * head_dim * n_tokens * batch_size * bytes_per_element


@right(BYTES)
def product_of_all(*sizes):
    return 2 * math.prod(sizes)


@right(BYTES)
def from_the_inside(n_layer, n_kv_head, head_dim, n_tokens, batch_size, bytes_per_element):
    a_key = head_dim * bytes_per_element
    a_token = n_layer * n_kv_head * (a_key + a_key)
    return a_token * n_tokens * batch_size


@right(BYTES)
def of_real_tensors(n_layer, n_kv_head, head_dim, n_tokens, batch_size, bytes_per_element):
    dtype = {1: torch.int8, 2: torch.float16, 4: torch.float32, 8: torch.float64}[bytes_per_element]
    keys = torch.empty(n_layer, batch_size, n_kv_head, n_tokens, head_dim, dtype=dtype, device="meta")
    return keys.nbytes + torch.empty_like(keys).nbytes


@right(BYTES)
def in_float64(*sizes):
    return np.prod(np.array([2, *sizes], dtype=np.float64))


@right(BYTES)
def as_a_tensor(*sizes):
    return torch.tensor([2, *sizes]).prod()


# 05.generate_cached


@wrong(CACHED, "no-cache")
def whole_text_without_a_cache(model, prompt_ids, max_new_tokens):
    ids = list(prompt_ids)
    for _ in range(max_new_tokens):
        ids.append(int(model(torch.tensor([ids]))[0, -1].argmax()))
    return ids[len(prompt_ids) :]


@wrong(CACHED, "no-cache")
def makes_a_cache_and_forgets_it(model, prompt_ids, max_new_tokens):
    cache, new, fed = model.new_cache(), [], list(prompt_ids)
    for _ in range(max_new_tokens):
        new.append(int(model(torch.tensor([fed]))[0, -1].argmax()))
        fed = new[-1:]
    return new if cache else None


@wrong(CACHED, "no-cache")
def prefill_without_a_cache(model, prompt_ids, max_new_tokens):
    cache, logits, new = model.new_cache(), model(torch.tensor([prompt_ids])), []
    for _ in range(max_new_tokens):
        new.append(int(logits[0, -1].argmax()))
        if len(new) < max_new_tokens:
            logits = model(torch.tensor([new[-1:]]), cache)
    return new


@wrong(CACHED, "with-prompt")
def prompt_and_new(model, prompt_ids, max_new_tokens):
    return prompt_ids + _cached(model, prompt_ids, max_new_tokens)


@wrong(CACHED, "one-token")
def returns_in_the_loop(model, prompt_ids, max_new_tokens):
    cache = model.new_cache()
    for _ in range(max_new_tokens):
        return [int(model(torch.tensor([prompt_ids]), cache)[0, -1].argmax())]


@wrong(CACHED, "off-by-one")
def one_too_many(model, prompt_ids, max_new_tokens):
    return _cached(model, prompt_ids, max_new_tokens + 1)


@wrong(CACHED, "off-by-one")
def does_not_choose_after_the_prompt(model, prompt_ids, max_new_tokens):
    return _cached(model, prompt_ids, max_new_tokens)[1:]


@wrong(CACHED, "stops-early")
def stops_at_eos(model, prompt_ids, max_new_tokens):
    new = _cached(model, prompt_ids, max_new_tokens)
    return new[: new.index(1) + 1] if 1 in new else new


@wrong(CACHED, "stops-early")
def zero_ends_it(model, prompt_ids, max_new_tokens):
    new = _cached(model, prompt_ids, max_new_tokens)
    return new[: new.index(0)] if 0 in new else new


@wrong(CACHED, "stops-early")
def budget_counts_the_prompt(model, prompt_ids, max_new_tokens):
    return _cached(model, prompt_ids, max_new_tokens - len(prompt_ids))


@wrong(CACHED, "stops-early")
def each_id_once(model, prompt_ids, max_new_tokens):
    return list(dict.fromkeys(_cached(model, prompt_ids, max_new_tokens)))


@wrong(CACHED, "one-axis")
def a_batch_of_answers(model, prompt_ids, max_new_tokens):
    return torch.tensor([_cached(model, prompt_ids, max_new_tokens)])


@wrong(CACHED, "one-axis")
def each_id_in_a_list(model, prompt_ids, max_new_tokens):
    return [[token] for token in _cached(model, prompt_ids, max_new_tokens)]


@wrong(CACHED, "not-a-batch")
def feeds_one_axis(model, prompt_ids, max_new_tokens):
    cache, new, fed = model.new_cache(), [], list(prompt_ids)
    for _ in range(max_new_tokens):
        new.append(int(model(torch.tensor(fed), cache)[0, -1].argmax()))
        fed = new[-1:]
    return new


@wrong(CACHED, "not-a-batch")
def feeds_a_list(model, prompt_ids, max_new_tokens):
    cache, new, fed = model.new_cache(), [], list(prompt_ids)
    for _ in range(max_new_tokens):
        new.append(int(model([fed], cache)[0, -1].argmax()))
        fed = new[-1:]
    return new


@wrong(CACHED, "not-a-batch")
def a_row_for_each_token(model, prompt_ids, max_new_tokens):
    cache, new, fed = model.new_cache(), [], list(prompt_ids)
    for _ in range(max_new_tokens):
        new.append(int(model(torch.tensor(fed)[:, None], cache)[0, -1].argmax()))
        fed = new[-1:]
    return new


@wrong(CACHED, "not-a-batch")
def feeds_floats(model, prompt_ids, max_new_tokens):
    cache, new, fed = model.new_cache(), [], list(prompt_ids)
    for _ in range(max_new_tokens):
        new.append(int(model(torch.tensor([fed]).float(), cache)[0, -1].argmax()))
        fed = new[-1:]
    return new


@wrong(CACHED, "cache-rows")
def a_cache_row_for_each_token(model, prompt_ids, max_new_tokens):
    cache, new, fed = model.new_cache(len(prompt_ids)), [], list(prompt_ids)
    for _ in range(max_new_tokens):
        new.append(int(model(torch.tensor([fed]), cache)[0, -1].argmax()))
        fed = new[-1:]
    return new


@wrong(CACHED, "cache-each-step")
def a_new_cache_in_the_loop(model, prompt_ids, max_new_tokens):
    new, fed = [], list(prompt_ids)
    for _ in range(max_new_tokens):
        new.append(int(model(torch.tensor([fed]), model.new_cache())[0, -1].argmax()))
        fed = new[-1:]
    return new


@wrong(CACHED, "cache-each-step")
def whole_text_and_a_new_cache(model, prompt_ids, max_new_tokens):
    ids = list(prompt_ids)
    for _ in range(max_new_tokens):
        ids.append(int(model(torch.tensor([ids]), model.new_cache())[0, -1].argmax()))
    return ids[len(prompt_ids) :]


@wrong(CACHED, "cache-each-step")
def another_cache_for_decode(model, prompt_ids, max_new_tokens):
    logits, cache, new = model(torch.tensor([prompt_ids]), model.new_cache()), model.new_cache(), []
    for _ in range(max_new_tokens):
        new.append(int(logits[0, -1].argmax()))
        if len(new) < max_new_tokens:
            logits = model(torch.tensor([new[-1:]]), cache)
    return new


@wrong(CACHED, "whole-text-again")
def everything_into_the_cache(model, prompt_ids, max_new_tokens):
    cache, ids = model.new_cache(), list(prompt_ids)
    for _ in range(max_new_tokens):
        ids.append(int(model(torch.tensor([ids]), cache)[0, -1].argmax()))
    return ids[len(prompt_ids) :]


@wrong(CACHED, "whole-text-again")
def new_ones_as_a_whole(model, prompt_ids, max_new_tokens):
    cache, ids = model.new_cache(), list(prompt_ids)
    model(torch.tensor([ids[:1]]), cache)
    for _ in range(max_new_tokens):
        ids.append(int(model(torch.tensor([ids]), cache)[0, -1].argmax()))
    return ids[len(prompt_ids) :]


@wrong(CACHED, "prompt-end-twice")
def loop_begins_with_the_last_of_the_prompt(model, prompt_ids, max_new_tokens):
    cache, new, token = model.new_cache(), [], prompt_ids[-1]
    model(torch.tensor([prompt_ids]), cache)
    for _ in range(max_new_tokens):
        token = int(model(torch.tensor([[token]]), cache)[0, -1].argmax())
        new.append(token)
    return new


@wrong(CACHED, "prompt-end-twice")
def the_same_token_each_step(model, prompt_ids, max_new_tokens):
    cache, new, fed = model.new_cache(), [], list(prompt_ids)
    for _ in range(max_new_tokens):
        new.append(int(model(torch.tensor([fed]), cache)[0, -1].argmax()))
        fed = prompt_ids[-1:]
    return new


@wrong(CACHED, "last-fed")
def feeds_after_each_choice(model, prompt_ids, max_new_tokens):
    cache, new = model.new_cache(), []
    logits = model(torch.tensor([prompt_ids]), cache)
    for _ in range(max_new_tokens):
        new.append(int(logits[0, -1].argmax()))
        logits = model(torch.tensor([new[-1:]]), cache)
    return new


@wrong(CACHED, "last-fed")
def makes_one_more_and_drops_it(model, prompt_ids, max_new_tokens):
    return _cached(model, prompt_ids, max_new_tokens + 1)[:max_new_tokens]


@wrong(CACHED, "fed-twice")
def asks_twice(model, prompt_ids, max_new_tokens):
    cache, new, fed = model.new_cache(), [], list(prompt_ids)
    for _ in range(max_new_tokens):
        model(torch.tensor([fed]), cache)
        new.append(int(model(torch.tensor([fed]), cache)[0, -1].argmax()))
        fed = new[-1:]
    return new


@wrong(CACHED, "fed-twice")
def fills_the_cache_first(model, prompt_ids, max_new_tokens):
    cache, new, fed = model.new_cache(), [], list(prompt_ids)
    model(torch.tensor([prompt_ids]), cache)
    for _ in range(max_new_tokens):
        new.append(int(model(torch.tensor([fed]), cache)[0, -1].argmax()))
        fed = new[-1:]
    return new


@wrong(CACHED, "token-skipped")
def one_pass_for_all(model, prompt_ids, max_new_tokens):
    logits = model(torch.tensor([prompt_ids]), model.new_cache())
    return [int(logits[0, -1].argmax()) for _ in range(max_new_tokens)]


@wrong(CACHED, "token-skipped")
def last_of_the_prompt_only(model, prompt_ids, max_new_tokens):
    return _cached(model, prompt_ids[-1:], max_new_tokens)


@wrong(CACHED, "token-skipped")
def first_choice_is_not_fed(model, prompt_ids, max_new_tokens):
    cache, new, fed = model.new_cache(), [], list(prompt_ids)
    for turn in range(max_new_tokens):
        logits = model(torch.tensor([fed]), cache) if turn != 1 else logits  # noqa: F821
        new.append(int(logits[0, -1].argmax()))
        fed = new[-1:]
    return new


@wrong(CACHED, "token-skipped")
def prompt_without_its_end(model, prompt_ids, max_new_tokens):
    return _cached(model, prompt_ids[:-1], max_new_tokens)


@wrong(CACHED, "first-position")
def position_zero(model, prompt_ids, max_new_tokens):
    return _cached(model, prompt_ids, max_new_tokens, choose=lambda logits: int(logits[0, 0].argmax()))


@wrong(CACHED, "beyond-vocabulary")
def largest_of_all_positions(model, prompt_ids, max_new_tokens):
    return _cached(model, prompt_ids, max_new_tokens, choose=lambda logits: int(logits.argmax()))


@wrong(CACHED, "by-hand")
def smallest(model, prompt_ids, max_new_tokens):
    return _cached(model, prompt_ids, max_new_tokens, choose=lambda logits: int(logits[0, -1].argmin()))


def _drawn(row, generator):
    return int(row.softmax(-1).multinomial(1, generator=generator))


@wrong(CACHED, "by-hand")
def draws(model, prompt_ids, max_new_tokens):
    generator = torch.Generator().manual_seed(0)
    return _cached(model, prompt_ids, max_new_tokens,
                   choose=lambda logits: _drawn(logits[0, -1], generator))  # fmt: skip


@wrong(CACHED, "by-hand")
def the_logits_themselves(model, prompt_ids, max_new_tokens):
    cache, values, fed = model.new_cache(), [], list(prompt_ids)
    for _ in range(max_new_tokens):
        best = model(torch.tensor([fed]), cache)[0, -1].max(-1)
        values.append(float(best.values) + 0.5)
        fed = [int(best.indices)]
    return values


@wrong(CACHED, "by-hand")
def nothing_a_number(model, prompt_ids, max_new_tokens):
    _cached(model, prompt_ids, max_new_tokens)
    return [math.nan] * max_new_tokens


@wrong(CACHED, "by-hand")
def as_a_generator(model, prompt_ids, max_new_tokens):
    return (token for token in _cached(model, prompt_ids, max_new_tokens))


@wrong(CACHED, "fed-once")
def right_ids_found_twice(model, prompt_ids, max_new_tokens):
    new = _cached(model, prompt_ids, max_new_tokens)
    model.fed.clear()
    model(torch.tensor([prompt_ids + new[:-1]]), model.new_cache())
    return new


@wrong(CACHED, "fed-once")
def crops_a_decoded_token(model, prompt_ids, max_new_tokens):
    cache, new, ids = model.new_cache(), [], list(prompt_ids)
    for _ in range(max_new_tokens):
        new.append(int(model(torch.tensor([ids[cache.n_tokens :]]), cache)[0, -1].argmax()))
        ids.append(new[-1])
        if len(new) > 1:
            cache.crop(cache.n_tokens - 1)
    return new


@wrong(CACHED, "prompt-end-twice")
def crops_and_feeds_again(model, prompt_ids, max_new_tokens):
    cache, new, ids = model.new_cache(), [], list(prompt_ids)
    for _ in range(max_new_tokens):
        logits = model(torch.tensor([ids[cache.n_tokens :]]), cache)
        new.append(int(logits[0, -1].argmax()))
        ids.append(new[-1])
        cache.crop(cache.n_tokens - 1)
    return new


@wrong(CACHED, "no-new")
def at_least_the_first(model, prompt_ids, max_new_tokens):
    return _cached(model, prompt_ids, max(max_new_tokens, 1))


@wrong(CACHED, "one-new")
def decodes_at_least_once(model, prompt_ids, max_new_tokens):
    return _cached(model, prompt_ids, max(max_new_tokens, 2))[:max_new_tokens] if max_new_tokens else []


@wrong(CACHED, "short-prompt")
def prefills_all_but_the_last(model, prompt_ids, max_new_tokens):
    if not max_new_tokens:
        return []
    cache, new, token = model.new_cache(), [], prompt_ids[-1]
    first = model(torch.tensor([prompt_ids[:-1]]), cache)
    assert first[0, -1].isfinite().all()
    for _ in range(max_new_tokens):
        token = int(model(torch.tensor([[token]]), cache)[0, -1].argmax())
        new.append(token)
    return new


@wrong(CACHED, "short-prompt")
def squeezes_the_positions(model, prompt_ids, max_new_tokens):
    if not max_new_tokens:
        return []
    first = []

    def choose(logits):
        first.append(0)
        return int((logits.squeeze()[-1] if len(first) == 1 else logits[0, -1]).argmax())

    return _cached(model, prompt_ids, max_new_tokens, choose=choose)


@wrong(CACHED, "ties")
def last_of_equal_ones(model, prompt_ids, max_new_tokens):
    return _cached(model, prompt_ids, max_new_tokens,
                   choose=lambda logits: int((logits[0, -1] == logits[0, -1].max()).nonzero()[-1]))  # fmt: skip


@wrong(CACHED, "ties")
def last_of_a_sort(model, prompt_ids, max_new_tokens):
    return _cached(model, prompt_ids, max_new_tokens,
                   choose=lambda logits: int(logits[0, -1].sort(stable=True).indices[-1]))  # fmt: skip


@wrong(CACHED, "negative-logits")
def best_begins_at_zero(model, prompt_ids, max_new_tokens):
    def choose(logits):
        best, best_score = 0, 0.0
        for token, score in enumerate(logits[0, -1].tolist()):
            if score > best_score:
                best, best_score = token, score
        return best

    return _cached(model, prompt_ids, max_new_tokens, choose=choose)


@wrong(CACHED, "negative-logits")
def largest_in_size(model, prompt_ids, max_new_tokens):
    def choose(logits):
        row = logits[0, -1]
        return int((row if row.max() > 0 else row.abs()).argmax())

    return _cached(model, prompt_ids, max_new_tokens, choose=choose)


@wrong(CACHED, "earlier-call")
def new_ids_with_a_default_list(model, prompt_ids, max_new_tokens, new=[]):  # noqa: B006  the mistake itself
    new += _cached(model, prompt_ids, max_new_tokens)
    return new


@wrong(CACHED, "earlier-call")
def one_cache_for_ever(model, prompt_ids, max_new_tokens, kept=[]):  # noqa: B006
    kept[:] = kept or [model.new_cache()]
    return _cached(model, prompt_ids, max_new_tokens, cache=kept[0])


@wrong(CACHED, "earlier-call")
def cache_on_the_model(model, prompt_ids, max_new_tokens):
    if not hasattr(model, "kept"):
        model.kept = model.new_cache()
    return _cached(model, prompt_ids, max_new_tokens, cache=model.kept)


@wrong(CACHED, "earlier-call")
def answers_are_cached(model, prompt_ids, max_new_tokens, answers={}):  # noqa: B006
    key = (*prompt_ids, max_new_tokens)
    if key not in answers:
        answers[key] = _cached(model, prompt_ids, max_new_tokens)
    return answers[key]


def choosing(choose, ends=lambda new: False):
    """Right, but for the choice of an id from the last row of logits, or for where the text ends."""

    def attempt(model, prompt_ids, max_new_tokens):
        cache, new, fed = model.new_cache(), [], list(prompt_ids)
        while len(new) < max_new_tokens and not ends(new):
            new.append(int(choose(model(torch.tensor([fed]), cache)[0])))
            fed = new[-1:]
        return new

    return attempt


for hint_id, choose in [
    ("near-ties", lambda rows: rows[-1].half().argmax()),
    ("near-ties", lambda rows: rows[-1].bfloat16().argmax()),
    ("near-ties", lambda rows: rows[-1].mul(1e4).round().argmax()),
    ("near-ties", lambda rows: torch.isclose(rows[-1], rows[-1].max()).nonzero()[0]),
    ("near-ties", lambda rows: (rows[-1] >= rows[-1].max() - 1e-6).nonzero()[0]),
    ("negative-logits", lambda rows: rows[-1].abs().argmax()),
    ("by-hand", lambda rows: rows.argmax() % rows.shape[1]),
    ("by-hand", lambda rows: rows.amax(0).argmax()),
]:
    wrong(CACHED, hint_id)(choosing(choose))

for ends in [
    *(lambda new, eos=eos: new[-1:] == [eos] for eos in range(4)),
    lambda new: len(new) > 1 and new[-1] == new[-2],
    lambda new: len(set(new)) < len(new),
]:
    wrong(CACHED, "stops-early")(choosing(lambda rows: rows[-1].argmax(), ends))


@wrong(CACHED, "token-skipped")
def each_prompt_id_once(model, prompt_ids, max_new_tokens):
    return _cached(model, list(dict.fromkeys(prompt_ids)), max_new_tokens)


@wrong(CACHED, "cache-too-small")
def room_for_the_prompt(model, prompt_ids, max_new_tokens):
    return _cached(model, prompt_ids, max_new_tokens, cache=model.new_cache(max_tokens=len(prompt_ids)))


@wrong(CACHED, "any-size")
def room_for_64_tokens(model, prompt_ids, max_new_tokens):
    return _cached(model, prompt_ids, max_new_tokens, cache=model.new_cache(1, 64))


@wrong(CACHED, "any-size")
def whole_chunks_of_four_only(model, prompt_ids, max_new_tokens):
    whole = len(prompt_ids) if len(prompt_ids) < 4 else len(prompt_ids) // 4 * 4
    return _cached(model, prompt_ids[:whole], max_new_tokens)


@right(CACHED)
def room_for_just_what_goes_in(model, prompt_ids, max_new_tokens):
    n_tokens = max(len(prompt_ids) + max_new_tokens - 1, 1)
    return _cached(model, prompt_ids, max_new_tokens, cache=model.new_cache(max_tokens=n_tokens))


right(CACHED)(choosing(lambda rows: rows[-1].softmax(-1).argmax()))
right(CACHED)(choosing(lambda rows: rows[-1].log_softmax(-1).argmax()))


@wrong(CACHED, "any-size")
def twenty_at_most(model, prompt_ids, max_new_tokens):
    return _cached(model, prompt_ids, min(max_new_tokens, 20))


@wrong(CACHED, "any-size")
def a_short_window(model, prompt_ids, max_new_tokens):
    return _cached(model, prompt_ids[-256:], max_new_tokens)


@wrong(CACHED, "any-size")
def ids_in_a_byte(model, prompt_ids, max_new_tokens):
    cache, new, fed = model.new_cache(), [], list(prompt_ids)
    for _ in range(max_new_tokens):
        new.append(int(model(torch.tensor([fed]).to(torch.uint8).long(), cache)[0, -1].argmax()))
        fed = new[-1:]
    return new


@wrong(CACHED, "real-model")
def a_dict_for_a_cache(model, prompt_ids, max_new_tokens):
    cache = model.new_cache()
    cache.ids.clear()
    return _cached(model, prompt_ids, max_new_tokens, cache=cache)


@wrong(CACHED, "real-model")
def feeds_int16(model, prompt_ids, max_new_tokens):
    cache, new, fed = model.new_cache(), [], list(prompt_ids)
    for _ in range(max_new_tokens):
        new.append(int(model(torch.tensor([fed], dtype=torch.int16), cache)[0, -1].argmax()))
        fed = new[-1:]
    return new


@wrong(CACHED, "changes-input")
def appends_to_the_prompt(model, prompt_ids, max_new_tokens):
    new = _cached(model, list(prompt_ids), max_new_tokens)
    prompt_ids += new
    return new


wrong(CACHED, "not-a-function")([1, 2, 3])
wrong(BYTES, "not-a-function")(_called_already())


def _cached(model, prompt_ids, max_new_tokens, cache=None, choose=lambda logits: int(logits[0, -1].argmax())):
    """What a right solution does; the wrong ones change a part of it."""
    cache, new, fed = cache or model.new_cache(), [], list(prompt_ids)
    for _ in range(max_new_tokens):
        new.append(choose(model(torch.tensor([fed]), cache)))
        fed = new[-1:]
    return new


@right(CACHED)
def chooses_then_feeds(model, prompt_ids, max_new_tokens):
    if max_new_tokens == 0:
        return []
    cache = model.new_cache()
    with torch.no_grad():
        logits = model(torch.tensor([prompt_ids]), cache)
        new = [logits[0, -1].argmax().item()]
        for _ in range(max_new_tokens - 1):
            logits = model(torch.tensor([[new[-1]]]), cache=cache)
            new.append(logits[0, -1].argmax().item())
    return new


@right(CACHED)
def prompt_token_by_token(model, prompt_ids, max_new_tokens):
    cache = model.new_cache(batch_size=1)
    for token in prompt_ids:
        logits = model(torch.tensor([[token]]), cache)
    new = []
    while len(new) < max_new_tokens:
        new.append(logits[0, 0].argmax())
        if len(new) < max_new_tokens:
            logits = model(new[-1].reshape(1, 1), cache)
    return new


@right(CACHED)
def last_of_the_prompt_begins_the_loop(model, prompt_ids, max_new_tokens):
    cache, token, new = model.new_cache(), prompt_ids[-1], []
    if len(prompt_ids) > 1:
        model(torch.tensor([prompt_ids[:-1]]), cache)
    for _ in range(max_new_tokens):
        token = model(torch.tensor([[token]]), cache)[:, -1].argmax(-1).item()
        new.append(token)
    return new


@right(CACHED)
def in_chunks_of_two(model, prompt_ids, max_new_tokens):
    model.eval()
    cache = model.new_cache(1, len(prompt_ids) + max_new_tokens)
    with torch.inference_mode():
        for chunk in torch.tensor([prompt_ids]).split(2, dim=1):
            logits = model(chunk, cache)
        new = torch.empty(0, dtype=torch.int64)
        for step in range(max_new_tokens):
            new = torch.cat([new, logits[0, -1:].argmax(-1)])
            if step < max_new_tokens - 1:
                logits = model.forward(new[None, -1:], cache)
    return new


@right(CACHED)
def by_the_caches_own_count(model, prompt_ids, max_new_tokens):
    cache, ids = model.new_cache(), torch.tensor([prompt_ids], dtype=torch.int32)
    for _ in range(max_new_tokens):
        row = model(ids[:, cache.n_tokens :], cache)[0, -1].softmax(-1)
        ids = torch.cat([ids, row.max(-1).indices.view(1, 1).int()], dim=1)
    return ids[0, len(prompt_ids) :].numpy()


@right(CACHED)
def recursive(model, prompt_ids, max_new_tokens):
    cache = model.new_cache()

    def go_on(fed, left):
        if not left:
            return []
        token = int(np.argmax(model(torch.tensor([fed]), cache)[0, -1].numpy()))
        return [token, *go_on([token], left - 1)]

    return go_on(prompt_ids, max_new_tokens)

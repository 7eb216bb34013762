"""Planted solutions to 05.generate_cached."""

import math

import numpy as np
import torch

from wrong_solutions import planting

wrong, right = planting("05.generate_cached")


@wrong("no-cache")
def whole_text_without_a_cache(model, prompt_ids, max_new_tokens):
    ids = list(prompt_ids)
    for _ in range(max_new_tokens):
        ids.append(int(model(torch.tensor([ids]))[0, -1].argmax()))
    return ids[len(prompt_ids) :]


@wrong("no-cache")
def makes_a_cache_and_forgets_it(model, prompt_ids, max_new_tokens):
    cache, new, fed = model.new_cache(), [], list(prompt_ids)
    for _ in range(max_new_tokens):
        new.append(int(model(torch.tensor([fed]))[0, -1].argmax()))
        fed = new[-1:]
    return new if cache else None


@wrong("no-cache")
def prefill_without_a_cache(model, prompt_ids, max_new_tokens):
    cache, logits, new = model.new_cache(), model(torch.tensor([prompt_ids])), []
    for _ in range(max_new_tokens):
        new.append(int(logits[0, -1].argmax()))
        if len(new) < max_new_tokens:
            logits = model(torch.tensor([new[-1:]]), cache)
    return new


@wrong("with-prompt")
def prompt_and_new(model, prompt_ids, max_new_tokens):
    return prompt_ids + _cached(model, prompt_ids, max_new_tokens)


@wrong("one-token")
def returns_in_the_loop(model, prompt_ids, max_new_tokens):
    cache = model.new_cache()
    for _ in range(max_new_tokens):
        return [int(model(torch.tensor([prompt_ids]), cache)[0, -1].argmax())]


@wrong("off-by-one")
def one_too_many(model, prompt_ids, max_new_tokens):
    return _cached(model, prompt_ids, max_new_tokens + 1)


@wrong("off-by-one")
def does_not_choose_after_the_prompt(model, prompt_ids, max_new_tokens):
    return _cached(model, prompt_ids, max_new_tokens)[1:]


@wrong("stops-early")
def stops_at_eos(model, prompt_ids, max_new_tokens):
    new = _cached(model, prompt_ids, max_new_tokens)
    return new[: new.index(1) + 1] if 1 in new else new


@wrong("stops-early")
def zero_ends_it(model, prompt_ids, max_new_tokens):
    new = _cached(model, prompt_ids, max_new_tokens)
    return new[: new.index(0)] if 0 in new else new


@wrong("stops-early")
def budget_counts_the_prompt(model, prompt_ids, max_new_tokens):
    return _cached(model, prompt_ids, max_new_tokens - len(prompt_ids))


@wrong("stops-early")
def each_id_once(model, prompt_ids, max_new_tokens):
    return list(dict.fromkeys(_cached(model, prompt_ids, max_new_tokens)))


@wrong("one-axis")
def a_batch_of_answers(model, prompt_ids, max_new_tokens):
    return torch.tensor([_cached(model, prompt_ids, max_new_tokens)])


@wrong("one-axis")
def each_id_in_a_list(model, prompt_ids, max_new_tokens):
    return [[token] for token in _cached(model, prompt_ids, max_new_tokens)]


@wrong("not-a-batch")
def feeds_one_axis(model, prompt_ids, max_new_tokens):
    cache, new, fed = model.new_cache(), [], list(prompt_ids)
    for _ in range(max_new_tokens):
        new.append(int(model(torch.tensor(fed), cache)[0, -1].argmax()))
        fed = new[-1:]
    return new


@wrong("not-a-batch")
def feeds_a_list(model, prompt_ids, max_new_tokens):
    cache, new, fed = model.new_cache(), [], list(prompt_ids)
    for _ in range(max_new_tokens):
        new.append(int(model([fed], cache)[0, -1].argmax()))
        fed = new[-1:]
    return new


@wrong("not-a-batch")
def a_row_for_each_token(model, prompt_ids, max_new_tokens):
    cache, new, fed = model.new_cache(), [], list(prompt_ids)
    for _ in range(max_new_tokens):
        new.append(int(model(torch.tensor(fed)[:, None], cache)[0, -1].argmax()))
        fed = new[-1:]
    return new


@wrong("not-a-batch")
def feeds_floats(model, prompt_ids, max_new_tokens):
    cache, new, fed = model.new_cache(), [], list(prompt_ids)
    for _ in range(max_new_tokens):
        new.append(int(model(torch.tensor([fed]).float(), cache)[0, -1].argmax()))
        fed = new[-1:]
    return new


@wrong("cache-rows")
def a_cache_row_for_each_token(model, prompt_ids, max_new_tokens):
    cache, new, fed = model.new_cache(len(prompt_ids)), [], list(prompt_ids)
    for _ in range(max_new_tokens):
        new.append(int(model(torch.tensor([fed]), cache)[0, -1].argmax()))
        fed = new[-1:]
    return new


@wrong("cache-each-step")
def a_new_cache_in_the_loop(model, prompt_ids, max_new_tokens):
    new, fed = [], list(prompt_ids)
    for _ in range(max_new_tokens):
        new.append(int(model(torch.tensor([fed]), model.new_cache())[0, -1].argmax()))
        fed = new[-1:]
    return new


@wrong("cache-each-step")
def whole_text_and_a_new_cache(model, prompt_ids, max_new_tokens):
    ids = list(prompt_ids)
    for _ in range(max_new_tokens):
        ids.append(int(model(torch.tensor([ids]), model.new_cache())[0, -1].argmax()))
    return ids[len(prompt_ids) :]


@wrong("cache-each-step")
def another_cache_for_decode(model, prompt_ids, max_new_tokens):
    logits, cache, new = model(torch.tensor([prompt_ids]), model.new_cache()), model.new_cache(), []
    for _ in range(max_new_tokens):
        new.append(int(logits[0, -1].argmax()))
        if len(new) < max_new_tokens:
            logits = model(torch.tensor([new[-1:]]), cache)
    return new


@wrong("whole-text-again")
def everything_into_the_cache(model, prompt_ids, max_new_tokens):
    cache, ids = model.new_cache(), list(prompt_ids)
    for _ in range(max_new_tokens):
        ids.append(int(model(torch.tensor([ids]), cache)[0, -1].argmax()))
    return ids[len(prompt_ids) :]


@wrong("whole-text-again")
def new_ones_as_a_whole(model, prompt_ids, max_new_tokens):
    cache, ids = model.new_cache(), list(prompt_ids)
    model(torch.tensor([ids[:1]]), cache)
    for _ in range(max_new_tokens):
        ids.append(int(model(torch.tensor([ids]), cache)[0, -1].argmax()))
    return ids[len(prompt_ids) :]


@wrong("prompt-end-twice")
def loop_begins_with_the_last_of_the_prompt(model, prompt_ids, max_new_tokens):
    cache, new, token = model.new_cache(), [], prompt_ids[-1]
    model(torch.tensor([prompt_ids]), cache)
    for _ in range(max_new_tokens):
        token = int(model(torch.tensor([[token]]), cache)[0, -1].argmax())
        new.append(token)
    return new


@wrong("prompt-end-twice")
def the_same_token_each_step(model, prompt_ids, max_new_tokens):
    cache, new, fed = model.new_cache(), [], list(prompt_ids)
    for _ in range(max_new_tokens):
        new.append(int(model(torch.tensor([fed]), cache)[0, -1].argmax()))
        fed = prompt_ids[-1:]
    return new


@wrong("last-fed")
def feeds_after_each_choice(model, prompt_ids, max_new_tokens):
    cache, new = model.new_cache(), []
    logits = model(torch.tensor([prompt_ids]), cache)
    for _ in range(max_new_tokens):
        new.append(int(logits[0, -1].argmax()))
        logits = model(torch.tensor([new[-1:]]), cache)
    return new


@wrong("last-fed")
def makes_one_more_and_drops_it(model, prompt_ids, max_new_tokens):
    return _cached(model, prompt_ids, max_new_tokens + 1)[:max_new_tokens]


@wrong("fed-twice")
def asks_twice(model, prompt_ids, max_new_tokens):
    cache, new, fed = model.new_cache(), [], list(prompt_ids)
    for _ in range(max_new_tokens):
        model(torch.tensor([fed]), cache)
        new.append(int(model(torch.tensor([fed]), cache)[0, -1].argmax()))
        fed = new[-1:]
    return new


@wrong("fed-twice")
def fills_the_cache_first(model, prompt_ids, max_new_tokens):
    cache, new, fed = model.new_cache(), [], list(prompt_ids)
    model(torch.tensor([prompt_ids]), cache)
    for _ in range(max_new_tokens):
        new.append(int(model(torch.tensor([fed]), cache)[0, -1].argmax()))
        fed = new[-1:]
    return new


@wrong("token-skipped")
def one_pass_for_all(model, prompt_ids, max_new_tokens):
    logits = model(torch.tensor([prompt_ids]), model.new_cache())
    return [int(logits[0, -1].argmax()) for _ in range(max_new_tokens)]


@wrong("token-skipped")
def last_of_the_prompt_only(model, prompt_ids, max_new_tokens):
    return _cached(model, prompt_ids[-1:], max_new_tokens)


@wrong("token-skipped")
def first_choice_is_not_fed(model, prompt_ids, max_new_tokens):
    cache, new, fed = model.new_cache(), [], list(prompt_ids)
    for turn in range(max_new_tokens):
        logits = model(torch.tensor([fed]), cache) if turn != 1 else logits  # noqa: F821
        new.append(int(logits[0, -1].argmax()))
        fed = new[-1:]
    return new


@wrong("token-skipped")
def prompt_without_its_end(model, prompt_ids, max_new_tokens):
    return _cached(model, prompt_ids[:-1], max_new_tokens)


@wrong("first-position")
def position_zero(model, prompt_ids, max_new_tokens):
    return _cached(model, prompt_ids, max_new_tokens, choose=lambda logits: int(logits[0, 0].argmax()))


@wrong("beyond-vocabulary")
def largest_of_all_positions(model, prompt_ids, max_new_tokens):
    return _cached(model, prompt_ids, max_new_tokens, choose=lambda logits: int(logits.argmax()))


@wrong("by-hand")
def smallest(model, prompt_ids, max_new_tokens):
    return _cached(model, prompt_ids, max_new_tokens, choose=lambda logits: int(logits[0, -1].argmin()))


def _drawn(row, generator):
    return int(row.softmax(-1).multinomial(1, generator=generator))


@wrong("by-hand")
def draws(model, prompt_ids, max_new_tokens):
    generator = torch.Generator().manual_seed(0)
    return _cached(model, prompt_ids, max_new_tokens,
                   choose=lambda logits: _drawn(logits[0, -1], generator))  # fmt: skip


@wrong("by-hand")
def the_logits_themselves(model, prompt_ids, max_new_tokens):
    cache, values, fed = model.new_cache(), [], list(prompt_ids)
    for _ in range(max_new_tokens):
        best = model(torch.tensor([fed]), cache)[0, -1].max(-1)
        values.append(float(best.values) + 0.5)
        fed = [int(best.indices)]
    return values


@wrong("by-hand")
def nothing_a_number(model, prompt_ids, max_new_tokens):
    _cached(model, prompt_ids, max_new_tokens)
    return [math.nan] * max_new_tokens


@wrong("by-hand")
def as_a_generator(model, prompt_ids, max_new_tokens):
    return (token for token in _cached(model, prompt_ids, max_new_tokens))


@wrong("fed-once")
def right_ids_found_twice(model, prompt_ids, max_new_tokens):
    new = _cached(model, prompt_ids, max_new_tokens)
    model.fed.clear()
    model(torch.tensor([prompt_ids + new[:-1]]), model.new_cache())
    return new


@wrong("fed-once")
def crops_a_decoded_token(model, prompt_ids, max_new_tokens):
    cache, new, ids = model.new_cache(), [], list(prompt_ids)
    for _ in range(max_new_tokens):
        new.append(int(model(torch.tensor([ids[cache.n_tokens :]]), cache)[0, -1].argmax()))
        ids.append(new[-1])
        if len(new) > 1:
            cache.crop(cache.n_tokens - 1)
    return new


@wrong("prompt-end-twice")
def crops_and_feeds_again(model, prompt_ids, max_new_tokens):
    cache, new, ids = model.new_cache(), [], list(prompt_ids)
    for _ in range(max_new_tokens):
        logits = model(torch.tensor([ids[cache.n_tokens :]]), cache)
        new.append(int(logits[0, -1].argmax()))
        ids.append(new[-1])
        cache.crop(cache.n_tokens - 1)
    return new


@wrong("no-new")
def at_least_the_first(model, prompt_ids, max_new_tokens):
    return _cached(model, prompt_ids, max(max_new_tokens, 1))


@wrong("one-new")
def decodes_at_least_once(model, prompt_ids, max_new_tokens):
    return _cached(model, prompt_ids, max(max_new_tokens, 2))[:max_new_tokens] if max_new_tokens else []


@wrong("short-prompt")
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


@wrong("short-prompt")
def squeezes_the_positions(model, prompt_ids, max_new_tokens):
    if not max_new_tokens:
        return []
    first = []

    def choose(logits):
        first.append(0)
        return int((logits.squeeze()[-1] if len(first) == 1 else logits[0, -1]).argmax())

    return _cached(model, prompt_ids, max_new_tokens, choose=choose)


@wrong("ties")
def last_of_equal_ones(model, prompt_ids, max_new_tokens):
    return _cached(model, prompt_ids, max_new_tokens,
                   choose=lambda logits: int((logits[0, -1] == logits[0, -1].max()).nonzero()[-1]))  # fmt: skip


@wrong("ties")
def last_of_a_sort(model, prompt_ids, max_new_tokens):
    return _cached(model, prompt_ids, max_new_tokens,
                   choose=lambda logits: int(logits[0, -1].sort(stable=True).indices[-1]))  # fmt: skip


@wrong("negative-logits")
def best_begins_at_zero(model, prompt_ids, max_new_tokens):
    def choose(logits):
        best, best_score = 0, 0.0
        for token, score in enumerate(logits[0, -1].tolist()):
            if score > best_score:
                best, best_score = token, score
        return best

    return _cached(model, prompt_ids, max_new_tokens, choose=choose)


@wrong("negative-logits")
def largest_in_size(model, prompt_ids, max_new_tokens):
    def choose(logits):
        row = logits[0, -1]
        return int((row if row.max() > 0 else row.abs()).argmax())

    return _cached(model, prompt_ids, max_new_tokens, choose=choose)


@wrong("earlier-call")
def new_ids_with_a_default_list(model, prompt_ids, max_new_tokens, new=[]):  # noqa: B006  the mistake itself
    new += _cached(model, prompt_ids, max_new_tokens)
    return new


@wrong("earlier-call")
def one_cache_for_ever(model, prompt_ids, max_new_tokens, kept=[]):  # noqa: B006
    kept[:] = kept or [model.new_cache()]
    return _cached(model, prompt_ids, max_new_tokens, cache=kept[0])


@wrong("earlier-call")
def cache_on_the_model(model, prompt_ids, max_new_tokens):
    if not hasattr(model, "kept"):
        model.kept = model.new_cache()
    return _cached(model, prompt_ids, max_new_tokens, cache=model.kept)


@wrong("earlier-call")
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
    wrong(hint_id)(choosing(choose))

for ends in [
    *(lambda new, eos=eos: new[-1:] == [eos] for eos in range(4)),
    lambda new: len(new) > 1 and new[-1] == new[-2],
    lambda new: len(set(new)) < len(new),
]:
    wrong("stops-early")(choosing(lambda rows: rows[-1].argmax(), ends))


@wrong("token-skipped")
def each_prompt_id_once(model, prompt_ids, max_new_tokens):
    return _cached(model, list(dict.fromkeys(prompt_ids)), max_new_tokens)


@wrong("cache-too-small")
def room_for_the_prompt(model, prompt_ids, max_new_tokens):
    return _cached(model, prompt_ids, max_new_tokens, cache=model.new_cache(max_tokens=len(prompt_ids)))


@wrong("any-size")
def room_for_64_tokens(model, prompt_ids, max_new_tokens):
    return _cached(model, prompt_ids, max_new_tokens, cache=model.new_cache(1, 64))


@wrong("any-size")
def whole_chunks_of_four_only(model, prompt_ids, max_new_tokens):
    whole = len(prompt_ids) if len(prompt_ids) < 4 else len(prompt_ids) // 4 * 4
    return _cached(model, prompt_ids[:whole], max_new_tokens)


@right
def room_for_just_what_goes_in(model, prompt_ids, max_new_tokens):
    n_tokens = max(len(prompt_ids) + max_new_tokens - 1, 1)
    return _cached(model, prompt_ids, max_new_tokens, cache=model.new_cache(max_tokens=n_tokens))


right(choosing(lambda rows: rows[-1].softmax(-1).argmax()))
right(choosing(lambda rows: rows[-1].log_softmax(-1).argmax()))


@wrong("any-size")
def twenty_at_most(model, prompt_ids, max_new_tokens):
    return _cached(model, prompt_ids, min(max_new_tokens, 20))


@wrong("any-size")
def a_short_window(model, prompt_ids, max_new_tokens):
    return _cached(model, prompt_ids[-256:], max_new_tokens)


@wrong("any-size")
def ids_in_a_byte(model, prompt_ids, max_new_tokens):
    cache, new, fed = model.new_cache(), [], list(prompt_ids)
    for _ in range(max_new_tokens):
        new.append(int(model(torch.tensor([fed]).to(torch.uint8).long(), cache)[0, -1].argmax()))
        fed = new[-1:]
    return new


@wrong("real-model")
def a_dict_for_a_cache(model, prompt_ids, max_new_tokens):
    cache = model.new_cache()
    cache.ids.clear()
    return _cached(model, prompt_ids, max_new_tokens, cache=cache)


@wrong("real-model")
def feeds_int16(model, prompt_ids, max_new_tokens):
    cache, new, fed = model.new_cache(), [], list(prompt_ids)
    for _ in range(max_new_tokens):
        new.append(int(model(torch.tensor([fed], dtype=torch.int16), cache)[0, -1].argmax()))
        fed = new[-1:]
    return new


@wrong("changes-input")
def appends_to_the_prompt(model, prompt_ids, max_new_tokens):
    new = _cached(model, list(prompt_ids), max_new_tokens)
    prompt_ids += new
    return new


wrong("not-a-function")([1, 2, 3])


def _cached(model, prompt_ids, max_new_tokens, cache=None, choose=lambda logits: int(logits[0, -1].argmax())):
    """What a right solution does; the wrong ones change a part of it."""
    cache, new, fed = cache or model.new_cache(), [], list(prompt_ids)
    for _ in range(max_new_tokens):
        new.append(choose(model(torch.tensor([fed]), cache)))
        fed = new[-1:]
    return new


@right
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


@right
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


@right
def last_of_the_prompt_begins_the_loop(model, prompt_ids, max_new_tokens):
    cache, token, new = model.new_cache(), prompt_ids[-1], []
    if len(prompt_ids) > 1:
        model(torch.tensor([prompt_ids[:-1]]), cache)
    for _ in range(max_new_tokens):
        token = model(torch.tensor([[token]]), cache)[:, -1].argmax(-1).item()
        new.append(token)
    return new


@right
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


@right
def by_the_caches_own_count(model, prompt_ids, max_new_tokens):
    cache, ids = model.new_cache(), torch.tensor([prompt_ids], dtype=torch.int32)
    for _ in range(max_new_tokens):
        row = model(ids[:, cache.n_tokens :], cache)[0, -1].softmax(-1)
        ids = torch.cat([ids, row.max(-1).indices.view(1, 1).int()], dim=1)
    return ids[0, len(prompt_ids) :].numpy()


@right
def recursive(model, prompt_ids, max_new_tokens):
    cache = model.new_cache()

    def go_on(fed, left):
        if not left:
            return []
        token = int(np.argmax(model(torch.tensor([fed]), cache)[0, -1].numpy()))
        return [token, *go_on([token], left - 1)]

    return go_on(prompt_ids, max_new_tokens)

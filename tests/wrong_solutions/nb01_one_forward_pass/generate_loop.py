"""Planted solutions to 01.generate_loop."""

import numpy as np
import torch

from wrong_solutions import planting

wrong, right = planting("01.generate_loop")


@wrong("new-only")
def gives_new_ids_only(next_logits, prompt_ids, max_new_tokens, choose):
    ids, new = list(prompt_ids), []
    for _ in range(max_new_tokens):
        new.append(choose(next_logits(ids + new)))
    return new


@wrong("one-token")
def one_pass(next_logits, prompt_ids, max_new_tokens, choose):
    return prompt_ids + [choose(next_logits(prompt_ids))]


@wrong("one-token")
def returns_inside_the_loop(next_logits, prompt_ids, max_new_tokens, choose):
    ids = list(prompt_ids)
    for _ in range(max_new_tokens):
        ids.append(choose(next_logits(ids)))
        return ids


@wrong("budget-counts-prompt")
def total_length(next_logits, prompt_ids, max_new_tokens, choose):
    ids = list(prompt_ids)
    while len(ids) < max_new_tokens:
        ids.append(choose(next_logits(ids)))
    return ids


@wrong("off-by-one")
def one_too_many(next_logits, prompt_ids, max_new_tokens, choose):
    ids = list(prompt_ids)
    for _ in range(max_new_tokens + 1):
        ids.append(choose(next_logits(ids)))
    return ids


@wrong("off-by-one")
def one_too_few(next_logits, prompt_ids, max_new_tokens, choose):
    ids = list(prompt_ids)
    for _ in range(1, max_new_tokens):
        ids.append(choose(next_logits(ids)))
    return ids


@wrong("own-choice")
def always_the_largest(next_logits, prompt_ids, max_new_tokens, choose):
    ids = list(prompt_ids)
    for _ in range(max_new_tokens):
        ids.append(int(next_logits(ids).argmax()))
    return ids


@wrong("last-id-only")
def shows_the_last_id(next_logits, prompt_ids, max_new_tokens, choose):
    ids = list(prompt_ids)
    for _ in range(max_new_tokens):
        ids.append(choose(next_logits(ids[-1:])))
    return ids


@wrong("context-stands-still")
def always_shows_the_prompt(next_logits, prompt_ids, max_new_tokens, choose):
    ids = list(prompt_ids)
    for _ in range(max_new_tokens):
        ids.append(choose(next_logits(prompt_ids)))
    return ids


@wrong("context-stands-still")
def scores_once(next_logits, prompt_ids, max_new_tokens, choose):
    row = next_logits(list(prompt_ids))
    return list(prompt_ids) + [choose(row) for _ in range(max_new_tokens)]


@wrong("scores-changed")
def chooses_from_probabilities(next_logits, prompt_ids, max_new_tokens, choose):
    ids = list(prompt_ids)
    for _ in range(max_new_tokens):
        ids.append(choose(next_logits(ids).softmax(-1)))
    return ids


@wrong("scores-changed")
def chooses_from_a_batch(next_logits, prompt_ids, max_new_tokens, choose):
    ids = list(prompt_ids)
    for _ in range(max_new_tokens):
        ids.append(choose(next_logits(ids)[None]))
    return ids


@wrong("not-a-list")
def shows_a_tensor(next_logits, prompt_ids, max_new_tokens, choose):
    ids = torch.tensor(prompt_ids)
    for _ in range(max_new_tokens):
        ids = torch.cat([ids, torch.tensor([choose(next_logits(ids))])])
    return ids.tolist()


@wrong("not-a-list")
def shows_a_batch(next_logits, prompt_ids, max_new_tokens, choose):
    ids = list(prompt_ids)
    for _ in range(max_new_tokens):
        ids.append(choose(next_logits([ids])))
    return ids


@wrong("by-hand")
def prompt_behind(next_logits, prompt_ids, max_new_tokens, choose):
    ids = list(prompt_ids)
    for _ in range(max_new_tokens):
        ids.append(choose(next_logits(ids)))
    return ids[len(prompt_ids) :] + list(prompt_ids)


@wrong("by-hand")
def writes_in_front(next_logits, prompt_ids, max_new_tokens, choose):
    ids = list(prompt_ids)
    for _ in range(max_new_tokens):
        ids.insert(0, choose(next_logits(ids)))
    return ids


@wrong("by-hand")
def prompt_returned(next_logits, prompt_ids, max_new_tokens, choose):
    return prompt_ids


@wrong("by-hand")
def loop_empty(next_logits, prompt_ids, max_new_tokens, choose):
    return []


@wrong("by-hand")
def text_returned(next_logits, prompt_ids, max_new_tokens, choose):
    ids = list(prompt_ids)
    for _ in range(max_new_tokens):
        ids.append(choose(next_logits(ids)))
    return " ".join(map(str, ids))


@wrong("stops-early")
def takes_zero_for_an_end(next_logits, prompt_ids, max_new_tokens, choose):
    ids = list(prompt_ids)
    for _ in range(max_new_tokens):
        token = choose(next_logits(ids))
        ids.append(token)
        if token == 0:
            break
    return ids


@wrong("stops-early")
def stops_at_a_repetition(next_logits, prompt_ids, max_new_tokens, choose):
    ids = list(prompt_ids)
    for _ in range(max_new_tokens):
        token = choose(next_logits(ids))
        ids.append(token)
        if ids[-2] == token:
            break
    return ids


@wrong("stops-early")
def leaves_zero_out(next_logits, prompt_ids, max_new_tokens, choose):
    ids = list(prompt_ids)
    for _ in range(max_new_tokens):
        token = choose(next_logits(ids))
        if not token:
            break
        ids.append(token)
    return ids


@wrong("zero-new")
def chooses_before_it_looks(next_logits, prompt_ids, max_new_tokens, choose):
    ids = list(prompt_ids)
    while True:
        ids.append(choose(next_logits(ids)))
        if len(ids) >= len(prompt_ids) + max_new_tokens:
            return ids


@wrong("whole-context")
def a_window_of_eight(next_logits, prompt_ids, max_new_tokens, choose):
    ids = list(prompt_ids)
    for _ in range(max_new_tokens):
        ids.append(choose(next_logits(ids[-8:])))
    return ids


@wrong("fixed-turns")
def at_most_ten(next_logits, prompt_ids, max_new_tokens, choose):
    ids = list(prompt_ids)
    for _ in range(min(10, max_new_tokens)):
        ids.append(choose(next_logits(ids)))
    return ids


@wrong("whole-context")
def a_window_of_twenty(next_logits, prompt_ids, max_new_tokens, choose):
    ids = list(prompt_ids)
    for _ in range(max_new_tokens):
        ids.append(choose(next_logits(ids[-20:])))
    return ids


@wrong("whole-context")
def a_window_of_256(next_logits, prompt_ids, max_new_tokens, choose):
    ids = list(prompt_ids)
    for _ in range(max_new_tokens):
        ids.append(choose(next_logits(ids[-256:])))
    return ids


@wrong("fixed-turns")
def at_most_sixty_four(next_logits, prompt_ids, max_new_tokens, choose):
    ids = list(prompt_ids)
    for _ in range(min(64, max_new_tokens)):
        ids.append(choose(next_logits(ids)))
    return ids


@wrong("too-many-ids")
def always_ten(next_logits, prompt_ids, max_new_tokens, choose):
    ids = list(prompt_ids)
    for _ in range(10):
        ids.append(choose(next_logits(ids)))
    return ids


@wrong("earlier-call")
def loop_with_a_default_list(next_logits, prompt_ids, max_new_tokens, choose, ids=[]):  # noqa: B006  the mistake
    ids.extend(prompt_ids)
    for _ in range(max_new_tokens):
        ids.append(choose(next_logits(ids)))
    return list(ids)


@wrong("earlier-call")
def shows_the_calls_before(next_logits, prompt_ids, max_new_tokens, choose, history=[]):  # noqa: B006
    ids, before = list(prompt_ids), list(history)
    for _ in range(max_new_tokens):
        ids.append(choose(next_logits(before + ids)))
        history.append(ids[-1])
    return ids


@wrong("id-missing")
def each_id_once(next_logits, prompt_ids, max_new_tokens, choose):
    ids = list(prompt_ids)
    for _ in range(max_new_tokens):
        ids.append(choose(next_logits(ids)))
    return list(dict.fromkeys(ids))


@wrong("scores-reused")
def scores_kept_by_the_last_id(next_logits, prompt_ids, max_new_tokens, choose):
    ids, kept = list(prompt_ids), {}
    for _ in range(max_new_tokens):
        if ids[-1] not in kept:
            kept[ids[-1]] = next_logits(ids)
        ids.append(choose(kept[ids[-1]]))
    return ids


@wrong("scores-changed")
def rounds_the_scores(next_logits, prompt_ids, max_new_tokens, choose):
    ids = list(prompt_ids)
    for _ in range(max_new_tokens):
        ids.append(choose(next_logits(ids).round(decimals=2)))
    return ids


@wrong("scores-changed")
def chooses_from_finite_scores(next_logits, prompt_ids, max_new_tokens, choose):
    ids = list(prompt_ids)
    for _ in range(max_new_tokens):
        ids.append(choose(torch.nan_to_num(next_logits(ids))))
    return ids


@wrong("scores-changed")
def chooses_from_nothing(next_logits, prompt_ids, max_new_tokens, choose):
    ids = list(prompt_ids)
    for _ in range(max_new_tokens):
        next_logits(ids)
        ids.append(choose(None))
    return ids


@wrong("scores-changed")
def stops_at_minus_inf(next_logits, prompt_ids, max_new_tokens, choose):
    ids = list(prompt_ids)
    for _ in range(max_new_tokens):
        scores = next_logits(ids)
        if not scores.isfinite().all():
            break
        ids.append(choose(scores))
    return ids


@wrong("scores-converted")
def chooses_from_a_list(next_logits, prompt_ids, max_new_tokens, choose):
    ids = list(prompt_ids)
    for _ in range(max_new_tokens):
        ids.append(choose(next_logits(ids).tolist()))
    return ids


@wrong("scores-converted")
def chooses_from_an_array(next_logits, prompt_ids, max_new_tokens, choose):
    ids = list(prompt_ids)
    for _ in range(max_new_tokens):
        ids.append(choose(next_logits(ids).numpy()))
    return ids


@wrong("not-a-list")
def appends_tensors_of_one_id(next_logits, prompt_ids, max_new_tokens, choose):
    ids = list(prompt_ids)
    for _ in range(max_new_tokens):
        ids.append(torch.tensor([choose(next_logits(ids))]))
    return ids


@wrong("one-choice-a-turn")
def chooses_twice(next_logits, prompt_ids, max_new_tokens, choose):
    ids = list(prompt_ids)
    for _ in range(max_new_tokens):
        scores = next_logits(ids)
        print(choose(scores))
        ids.append(choose(scores))
    return ids


@wrong("one-choice-a-turn")
def chooses_again_when_an_id_repeats(next_logits, prompt_ids, max_new_tokens, choose):
    ids = list(prompt_ids)
    for _ in range(max_new_tokens):
        scores = next_logits(ids)
        token = choose(scores)
        ids.append(choose(scores) if token == ids[-1] else token)
    return ids


@wrong("one-choice-a-turn")
def chooses_once_before(next_logits, prompt_ids, max_new_tokens, choose):
    ids = list(prompt_ids)
    choose(next_logits(ids))
    for _ in range(max_new_tokens):
        ids.append(choose(next_logits(ids)))
    return ids


@wrong("stops-early")
def ids_in_a_byte(next_logits, prompt_ids, max_new_tokens, choose):
    ids = bytearray(prompt_ids)
    for _ in range(max_new_tokens):
        ids.append(choose(next_logits(list(ids))) % 256)
    return list(ids)


@wrong("shortest")
def two_ids_at_least(next_logits, prompt_ids, max_new_tokens, choose):
    ids = list(prompt_ids)
    for _ in range(max_new_tokens):
        ids.append(choose(next_logits(ids if len(ids) > 1 else [0, *ids])))
    return ids


@wrong("changes-input")
def appends_to_the_prompt(next_logits, prompt_ids, max_new_tokens, choose):
    ids = prompt_ids
    for _ in range(max_new_tokens):
        ids.append(choose(next_logits(ids)))
    return ids


@wrong("changes-input")
def extends_the_prompt(next_logits, prompt_ids, max_new_tokens, choose):
    for _ in range(max_new_tokens):
        prompt_ids += [choose(next_logits(prompt_ids))]
    return list(prompt_ids)


@right
def adds_lists(next_logits, prompt_ids, max_new_tokens, choose):
    ids = prompt_ids
    for _ in range(max_new_tokens):
        ids = ids + [choose(next_logits(ids))]
    return ids


@right
def names_the_arguments(next_logits, prompt_ids, max_new_tokens, choose):
    ids = list(prompt_ids)
    for _ in range(max_new_tokens):
        ids.append(choose(scores=next_logits(ids=ids)))
    return ids


@right
def looks_ahead(next_logits, prompt_ids, max_new_tokens, choose):
    ids = list(prompt_ids)
    scores = next_logits(ids)
    for _ in range(max_new_tokens):
        ids.append(choose(scores))
        scores = next_logits(ids)
    return ids


@right
def empties_what_it_has_shown(next_logits, prompt_ids, max_new_tokens, choose):
    ids = list(prompt_ids)
    for _ in range(max_new_tokens):
        shown = list(ids)
        ids.append(choose(next_logits(shown)))
        shown.clear()
    return ids


@right
def recurses(next_logits, prompt_ids, max_new_tokens, choose):
    if max_new_tokens == 0:
        return prompt_ids[:]
    return recurses(next_logits, [*prompt_ids, choose(next_logits(prompt_ids))], max_new_tokens - 1, choose)


@right
def keeps_new_ids_apart(next_logits, prompt_ids, max_new_tokens, choose):
    new = []
    while len(new) < max_new_tokens:
        scores = next_logits(list(prompt_ids) + new)
        new.append(int(torch.as_tensor(choose(scores))))
    return np.array(list(prompt_ids) + new)


@right
def ids_as_tensors(next_logits, prompt_ids, max_new_tokens, choose):
    ids = [torch.tensor(i) for i in prompt_ids]
    for _ in range(max_new_tokens):
        ids += [torch.tensor(choose(next_logits(ids)))]
    return tuple(ids)


@right
def scores_as_a_list(next_logits, prompt_ids, max_new_tokens, choose):
    ids = prompt_ids.copy()
    for _ in range(max_new_tokens):
        ids.append(choose(next_logits(ids.copy()).double()))
    return torch.tensor(ids)


wrong("not-a-function")("generate_loop")

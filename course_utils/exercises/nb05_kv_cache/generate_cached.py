"""Exercise 05.generate_cached. The model notes each call, so that the way is judged as well as the result."""

# The reference is shown to learners as they would write it, without types. It imports torch itself, since the list of
# exercises must be read without torch.
# mypy: allow-untyped-defs

from collections.abc import Callable

import numpy as np

from course_utils.checker.answers import as_array, same
from course_utils.checker.exercise import Call, Case, Equals, FunctionExercise, Holds, Recognises
from course_utils.exercises.common.hints import EARLIER_CALL
from course_utils.exercises.common.noting_model import (
    MockModel,
    Row,
    V,
    below_zero,
    close,
    path,
    real_model,
    real_path,
    scores,
    tied,
)
from course_utils.exercises.common.recognisers import shaped
from course_utils.exercises.common.way import Way, way_of


def generate_cached(model, prompt_ids, max_new_tokens):
    """The new ids, each the likeliest; every token but the last new one goes through the model once."""
    import torch

    cache, new = model.new_cache(), []
    fed = list(prompt_ids)  # prefill: the whole prompt
    with torch.no_grad():
        while len(new) < max_new_tokens:
            logits = model(torch.tensor([fed]), cache)
            new.append(int(logits[0, -1].argmax()))
            fed = new[-1:]  # decode: only what the cache does not know
    return new


def _right(prompt: list[int], ids: Callable[[], list[int]]) -> Holds:
    """The ids are these, and so is the way to them."""
    return Holds(lambda value, args: same(value, ids()) and way_of(value, args, prompt).is_right)


_PROMPT, _N = [1, 3, 1, 5], 11  # an id comes twice, and small ids, early but not first, among the new ones
_NEW = path(_PROMPT, _N)
_FIRST = path(_PROMPT[:1], 1)
_FROM_FIRST = _FIRST + path(_PROMPT + _FIRST, _N - 1)  # the logits of the prompt's first position, then the right ones
_HAND = Call(f"prompt {_PROMPT} and {_N} new tokens", lambda: (MockModel(), list(_PROMPT), _N))
_AGAIN = MockModel()
_MANY = [place * 37 % 301 for place in range(293)]  # a prime: chunks of any size leave a rest


def _again() -> tuple:
    """The same model once more. What an attempt left on it stays there."""
    _AGAIN.fed.clear()
    return _AGAIN, list(_PROMPT), _N


def _asks(hint_id: str, hint: str, shows: str, prompt: list[int], n: int, row: Row = scores, n_tokens: int = V) -> Case:
    """A case that asks for the right ids and the right way. row: gives the model's logits."""
    call = Call(shows, lambda: (MockModel(row, n_tokens), list(prompt), n))
    ids = path(prompt, n, row, n_tokens)
    return Case(hint_id, hint, call, _right(prompt, lambda: ids), error_is_typical=True)


def _noted(hint_id: str, hint: str, fault: Callable[[Way], bool]) -> Case:
    """A case that looks for a fault in the way."""
    return Case(hint_id, hint, _HAND, Holds(lambda value, args: not fault(way_of(value, args, _PROMPT))))


EXERCISE = FunctionExercise(
    id="05.generate_cached",
    writes="`generate_cached(model, prompt_ids, max_new_tokens)`",
    contract="list of new greedy ids only; every token fed once, one position a decode step, the last one not fed",
    difficulty="hard",
    minutes=15,
    hints=(
        "Make one cache before the loop, with `model.new_cache()`. Each call of `model(token_ids, cache)` adds to it.",
        "Feed the prompt first. The logits at its last position already decide the first new token.",
        "After that, each step feeds one tensor of the shape (1, 1): the token that was chosen last.",
        "If each turn chooses first and feeds afterwards, the loop ends before the last token would be fed.",
    ),
    reference=generate_cached,
    cases=(
        Case("with-prompt", "the answer holds the prompt's ids. Return only the new ones.", _HAND,
             Recognises(lambda value: same(value, _PROMPT + _NEW) or len(as_array(value)) == len(_PROMPT + _NEW))),
        Case("earlier-call", EARLIER_CALL, Call(f"{_HAND.shows}, in a second call", _HAND.args),
             Recognises(lambda value: len(as_array(value)) >= 2 * _N and same(as_array(value)[:_N], _NEW))),
        Case("one-axis", "the answer has an axis too many. Return a flat list of ids.", _HAND,
             Recognises(lambda value: as_array(value).ndim > 1)),
        Case("one-token", "only one token came back. After the prompt, take one step for each further token.", _HAND,
             Recognises(shaped(1))),
        Case("off-by-one", "the number of new ids is off by one. The pass over the prompt already gives the first new "
             "id.", _HAND,
             Recognises(lambda value: len(as_array(value)) in (_N - 1, _N + 1))),
        Case("stops-early", "the loop ended before `max_new_tokens` ids. No id is special here, and ids may repeat.",
             _HAND, Recognises(lambda value: len(as_array(value)) < _N)),
        _noted("not-a-batch", "the model needs a tensor of whole numbers with the shape (1, T), and it got something "
               "else. A single token is `torch.tensor([[token]])`.",
               lambda way: not all(call.one_row for call in way.calls)),
        _noted("no-cache", "a call of the model got no cache. Without one it sees only the tokens of that call, and "
               "nothing is kept for later. Pass the cache in every call.", lambda way: way.lacks_a_cache),
        _noted("cache-rows", "the cache was made for several rows. The argument of `new_cache` is the number of "
               "texts, not of tokens.",
               lambda way: way.has_a_cache_of_several_rows),
        _noted("earlier-call", "the cache held tokens of another call, or it was made by another model. Begin each "
               "call with a new cache, from `model.new_cache()`.", lambda way: way.begins_with_an_old_cache),
        _noted("cache-each-step", "more than one cache was used, and a new cache is empty. Make one cache before the "
               "loop and keep it.", lambda way: way.has_several_caches),
        _noted("prompt-end-twice", "the last token of the prompt was fed again. The pass over the prompt already gave "
               "its logits. The next token to feed is the first new one.",
               lambda way: way.feeds_the_end_of_the_prompt_twice),
        _noted("fed-twice", "the same tokens went through the model twice in a row, and each call adds its tokens to "
               "the cache. Call the model once for the prompt and once in each step, and keep the logits.",
               lambda way: way.feeds_twice_in_a_row),
        _noted("whole-text-again", "the whole text was fed again, after what the cache already holds. With a cache, "
               "feed only what is new.", lambda way: way.feeds_the_whole_text_again),
        _noted("last-fed", "the last new token was fed too. This call is wasted, because nothing uses its logits.",
               lambda way: way.feeds_the_last_token),
        _noted("earlier-call", "ids came back although the model was not called. They come from an earlier call, or "
               "they are fixed in the code.", lambda way: way.never_calls_the_model),
        _noted("token-skipped", "some token never went through the model, either one of the prompt or one that was "
               "chosen. Every token but the last new one must be in the cache.", lambda way: way.skips_a_token),
        _noted("cache-too-small", "more tokens went in than the cache has room for, which a real cache refuses. Leave "
               "out its size, or count the prompt and the new tokens.", lambda way: way.overfills_the_cache),
        Case("first-position", "the first new token comes from the wrong row of logits. A call with T tokens returns "
             "T rows, and the last row scores the next token.", _HAND, Recognises(_FROM_FIRST)),
        Case("beyond-vocabulary", "an id is larger than the vocabulary, because `argmax` counted through all "
             "positions. Select the last position first.", _HAND,
             Recognises(lambda value: as_array(value).max() >= V and same(value, np.rint(as_array(value))))),
        Case("by-hand", "play two steps by hand: feed the prompt, take the likeliest id after its last position, and "
             "feed that id.", _HAND, Equals(_NEW)),
        _noted("fed-once", "the ids are right, but the calls are not. Feed first the "
               "prompt, then one new token in each call, each token once. The last new token is not fed.",
               lambda way: not way.is_right),
        _asks("no-new", "for 0 new tokens the answer is an empty list.",
              f"prompt {_PROMPT} and 0 new tokens", _PROMPT, 0),
        _asks("one-new", "for one new token the pass over the prompt is enough. Feed nothing else.",
              f"prompt {_PROMPT} and 1 new token", _PROMPT, 1),
        _asks("short-prompt", "this prompt has a single token, the fewest possible. Look for a step that needs two "
              "tokens.",
              "prompt [6] and 3 new tokens", [6], 3),
        _asks("short-prompt", "the smallest case, one token in and one token out, is wrong.",
              "prompt [6] and 1 new token", [6], 1),
        _asks("near-ties", "two logits are close but not equal, and the larger one counts. Compare them as they are, "
              "without rounding, a tolerance or a narrower dtype.", "prompt [2, 5], 8 new tokens and close logits",
              [2, 5], 8, close),
        _asks("negative-logits", "all logits may be negative, and one may be -inf. Take the largest in any case.",
              "prompt [1, 4], 5 new tokens and negative logits", [1, 4], 5, below_zero),
        _asks("ties", "of equal logits, the one with the lowest id counts.",
              "prompt [2, 5], 8 new tokens and logits with ties",
              [2, 5], 8, tied),
        Case("earlier-call", "a cache was kept somewhere, by the model or under a name. Each call is a separate text.",
             Call(f"{_HAND.shows}, with a model that is used again", _again), _right(_PROMPT, lambda: _NEW),
             error_is_typical=True),
        Case("earlier-call", "a second text with the same model continued the first one. Make a new cache in each "
             "call.", Call(f"{_HAND.shows}, with the same model again", _again), _right(_PROMPT, lambda: _NEW),
             error_is_typical=True),
        _asks("any-size", "a longer text is wrong. Look for a number that is fixed in the code.",
              "prompt [6, 0, 2] and 130 new tokens", [6, 0, 2], 130),
        _asks("any-size", "a long prompt with large ids is wrong. Every id counts, from the first one on, exactly as "
              "it is.", "prompt `[i * 37 % 301 for i in range(293)]` and 5 new tokens", _MANY, 5, n_tokens=301),
        Case("real-model", "a real `Transformer` is stricter than the small test model. It needs token ids as int64 "
             "tensors (1, T), and a cache that it made itself.",
             Call("a Transformer with 2 layers, prompt [1, 7, 12, 3] and 9 new tokens",
                  lambda: (real_model(), [1, 7, 12, 3], 9)), _right([1, 7, 12, 3], lambda: real_path([1, 7, 12, 3], 9)),
             error_is_typical=True),
    ),
)  # fmt: skip

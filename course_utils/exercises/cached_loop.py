"""The cases of 05.generate_cached: the model notes each call, so that the way is judged as well as the result."""

from collections.abc import Callable
from itertools import groupby, pairwise

import numpy as np

from course_utils.answers import as_array, same
from course_utils.exercises.noting_model import (
    MockModel,
    V,
    below_zero,
    close,
    path,
    real_model,
    real_path,
    scores,
    tied,
)
from course_utils.exercises.shared_cases import EARLIER_CALL, shaped
from course_utils.judging import Case

# What the notes say. `new` are the ids that the learner's function gave.


def _unless(fault: Callable, prompt: list[int]) -> Callable:
    """A judge: right, unless the notes show this fault. fault: (calls, prompt, new) -> bool."""

    def judge(value, args):
        try:
            new = [round(float(number)) for number in as_array(value).reshape(-1)]
        except (ValueError, OverflowError):  # not readable, or NaN: another case says so
            new = []
        return not fault(args[0].fed, prompt, new)

    return judge


def _fed(calls) -> list[int]:
    return [token for call in calls for token in call.ids]


def _way_is_wrong(calls, prompt, new) -> bool:
    """Right is: one cache that was empty; prompt and new tokens but the last in order; one a call after the prompt."""
    if not new:  # nothing was asked for: the prompt may have been fed all the same
        return _fed(calls) != prompt[: len(_fed(calls))]
    ends = np.cumsum([len(call.ids) for call in calls])
    one_a_step = all(len(call.ids) == 1 for call, end in zip(calls, ends, strict=True) if end > len(prompt))
    one_cache = len({id(call.cache) for call in calls}) == 1 and calls[0].cache is not None and calls[0].start == 0
    right = _fed(calls) == prompt + new[:-1] and one_cache and one_a_step
    return not right or _too_full(calls, prompt, new)


def _too_full(calls, prompt, new):
    return any(call.start + len(call.ids) > getattr(call.cache, "max_tokens", np.inf) for call in calls)


def _never_called(calls, prompt, new):
    return bool(new) and not calls


def _no_cache(calls, prompt, new):
    return any(call.cache is None for call in calls)


def _not_empty(calls, prompt, new):
    return bool(calls) and (calls[0].start > 0 or not all(call.own for call in calls))


def _rows(calls, prompt, new):
    return any(getattr(call.cache, "batch_size", 1) != 1 for call in calls)


def _caches(calls, prompt, new):
    return len({id(call.cache) for call in calls}) > 1


def _prompt_end_twice(calls, prompt, new):
    return _way_is_wrong(calls, prompt, new) and _fed(calls)[: len(prompt) + 1] == [*prompt, prompt[-1]]


def _twice(calls, prompt, new):
    once = []  # an id may come twice in the text itself, and is then fed four times
    for ids, group in groupby(call.ids for call in calls):
        once += ids * ((len(list(group)) + 1) // 2)
    doubled = len(once) < len(_fed(calls)) and once == prompt + new[:-1]
    return doubled or any(len(one.ids) > 1 and one.ids == other.ids for one, other in pairwise(calls))


def _whole_again(calls, prompt, new):
    whole = prompt + new
    return any(call.start and len(call.ids) > 1 and call.ids == whole[: len(call.ids)] for call in calls)


def _last_fed(calls, prompt, new):
    return _fed(calls) == prompt + new


def _skipped(calls, prompt, new):
    """What was fed is a part of what should be, in its order, and something is missing."""
    whole = prompt + new[:-1]
    rest = iter(whole)
    return len(_fed(calls)) < len(whole) and all(token in rest for token in _fed(calls))


def _right(prompt: list[int], want: Callable) -> Callable:
    """A judge: the ids are right, and so is the way. want: () -> ids."""
    way = _unless(_way_is_wrong, prompt)
    return lambda value, args: same(value, want()) and way(value, args)


# The cases.

_PROMPT, _N = [1, 3, 1, 5], 11  # an id comes twice, and small ids, early but not first, among the new ones
_NEW = path(_PROMPT, _N)
_FIRST = path(_PROMPT[:1], 1)
_FROM_FIRST = _FIRST + path(_PROMPT + _FIRST, _N - 1)  # the logits of the prompt's first position, then the right ones
_HAND = {"shows": f"prompt {_PROMPT} and {_N} new tokens", "args": lambda: (MockModel(), list(_PROMPT), _N)}
_AGAIN = MockModel()
_MANY = [place * 37 % 301 for place in range(293)]  # a prime: chunks of any size leave a rest


def _again():
    """The same model once more. What an attempt left on it stays there."""
    _AGAIN.fed.clear()
    return _AGAIN, list(_PROMPT), _N


def _case(hint_id: str, hint: str, shows: str, prompt: list[int], n: int, row=scores, n_tokens=V) -> Case:
    want = path(prompt, n, row, n_tokens)
    return Case(hint_id, hint, shows, lambda: (MockModel(row, n_tokens), list(prompt), n),
                judge=_right(prompt, lambda: want), error_is_typical=True)  # fmt: skip


def _noted(hint_id: str, hint: str, fault: Callable) -> Case:
    return Case(hint_id, hint, **_HAND, judge=_unless(fault, _PROMPT))


CACHED_CASES = (
    Case("with-prompt", "the prompt's ids are in the answer. Asked for are the new ones only.", **_HAND,
         wrong=lambda value: same(value, _PROMPT + _NEW) or len(as_array(value)) == len(_PROMPT + _NEW)),
    Case("earlier-call", EARLIER_CALL, shows=f"{_HAND['shows']}, in a second call", args=_HAND["args"],
         wrong=lambda value: len(as_array(value)) >= 2 * _N and same(as_array(value)[:_N], _NEW)),
    Case("one-axis", "the answer has an axis too many. Asked for is a flat list of ids.", **_HAND,
         wrong=lambda value: as_array(value).ndim > 1),
    Case("one-token", "only one token came back. After the prompt there is one step for each further token.", **_HAND,
         wrong=shaped(1)),
    Case("off-by-one", "the number of new ids is off by one. The prompt's pass gives the first one already.", **_HAND,
         wrong=lambda value: len(as_array(value)) in (_N - 1, _N + 1)),
    Case("stops-early", "the loop ended before `max_new_tokens`. No id is special here, and ids may come again.",
         **_HAND, wrong=lambda value: len(as_array(value)) < _N),
    _noted("not-a-batch", "the model was given something else than a tensor of whole numbers (1, T): one row, T "
           "tokens. A single token is `torch.tensor([[token]])`.",
           lambda calls, prompt, new: not all(call.one_row for call in calls)),
    _noted("no-cache", "a call of the model was given no cache, so it knew only the tokens of that call and kept none "
           "of their work. Pass the cache at every call.", _no_cache),
    _noted("cache-rows", "the cache was made for several rows. Its argument is the number of texts, not of tokens.",
           _rows),
    _noted("earlier-call", "the cache held tokens of another call, or was made by another model. Begin with a new one, "
           "from `model.new_cache()`.", _not_empty),
    _noted("cache-each-step", "more than one cache was used, and a new one knows nothing. Make one before the loop and "
           "keep it.", _caches),
    _noted("prompt-end-twice", "the last token of the prompt was fed again after the prompt. Its logits came with the "
           "prompt's pass: the next token to feed is the first new one.", _prompt_end_twice),
    _noted("fed-twice", "the same tokens went through the model twice in a row. Call it once for the prompt and once a "
           "step, and keep the logits: each call adds its tokens to the cache.", _twice),
    _noted("whole-text-again", "the whole text was fed again, behind what the cache holds already. With a cache, only "
           "what is new goes in.", _whole_again),
    _noted("last-fed", "the last new token was fed too. Nobody needs the logits after it, so this call is wasted.",
           _last_fed),
    _noted("earlier-call", "ids came back and the model was not called. They were kept from an earlier call, or stand "
           "in the code.", _never_called),
    _noted("token-skipped", "a token never went through the model: one of the prompt, or one that was chosen. Every "
           "one but the last must be in the cache.", _skipped),
    _noted("cache-too-small", "more tokens went in than the cache was made for, and a real one refuses that. Leave its "
           "size out, or count the prompt and the new tokens.", _too_full),
    Case("first-position", "the first new token comes from the wrong row of logits. A call with T tokens gives T rows, "
         "and the last one says what comes next.", **_HAND, wrong=_FROM_FIRST),
    Case("beyond-vocabulary", "an id is larger than the vocabulary: `argmax` counted through all positions. Take the "
         "last position first.", **_HAND,
         wrong=lambda value: as_array(value).max() >= V and same(value, np.rint(as_array(value)))),
    Case("by-hand", "play two steps by hand: feed the prompt, take the likeliest id after its last position, feed it.",
         **_HAND, want=_NEW),
    _noted("fed-once", "the ids are right and the way is not. Every token goes in once and in order, the prompt first, "
           "then one new token in each call.", _way_is_wrong),
    _case("no-new", "0 new tokens mean an empty list.", f"prompt {_PROMPT} and 0 new tokens", _PROMPT, 0),
    _case("one-new", "for one new token the prompt's pass is enough: nothing else is fed.",
          f"prompt {_PROMPT} and 1 new token", _PROMPT, 1),
    _case("short-prompt", "a prompt of one token is the shortest. Look for a step that needs two.",
          "prompt [6] and 3 new tokens", [6], 3),
    _case("short-prompt", "the smallest text, one token in and one out, is not right.", "prompt [6] and 1 new token",
          [6], 1),
    _case("near-ties", "two logits are close and not equal, and the larger one is asked for. Compare them as they "
          "came: no rounding, no tolerance, no narrower dtype.", "prompt [2, 5], 8 new tokens and close logits",
          [2, 5], 8, close),
    _case("negative-logits", "logits may all be negative, and one may be -inf. The largest is taken all the same.",
          "prompt [1, 4], 5 new tokens and negative logits", [1, 4], 5, below_zero),
    _case("ties", "of equal logits the lowest id is asked for.", "prompt [2, 5], 8 new tokens and logits with ties",
          [2, 5], 8, tied),
    Case("earlier-call", "a cache was kept somewhere, by the model or under its name. Each call is a text of its own.",
         f"{_HAND['shows']}, with a model that is used again", _again,
         judge=_right(_PROMPT, lambda: _NEW), error_is_typical=True),
    Case("earlier-call", "a second text with the same model went on from the first one. Make a new cache in each call.",
         f"{_HAND['shows']}, with the same model again", _again,
         judge=_right(_PROMPT, lambda: _NEW), error_is_typical=True),
    _case("any-size", "a longer text is not right. Look for a number that is written into the code.",
          "prompt [6, 0, 2] and 130 new tokens", [6, 0, 2], 130),
    _case("any-size", "a long prompt with large ids is not right: every id counts, from the first one on, as it is.",
          "prompt `[i * 37 % 301 for i in range(293)]` and 5 new tokens", _MANY, 5, n_tokens=301),
    Case("real-model", "a real `Transformer` finds what the small model let pass: token ids are int64 tensors (1, T), "
         "and the cache is the one that it made.", "a Transformer with 2 layers, prompt [1, 7, 12, 3] and 9 new tokens",
         lambda: (real_model(), [1, 7, 12, 3], 9), error_is_typical=True,
         judge=_right([1, 7, 12, 3], lambda: real_path([1, 7, 12, 3], 9))),
)  # fmt: skip

"""Exercise 09.last_token: the way to the logits is judged as well as the numbers."""

# The reference is shown to learners as they would write it, without types. It imports torch itself, since the list of
# exercises must be read without torch.
# mypy: allow-untyped-defs

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from course_utils.checker.answers import as_array, same
from course_utils.checker.exercise import Call, Case, FunctionExercise, Holds, Recognises
from course_utils.exercises.common.hints import EARLIER_CALL
from course_utils.exercises.common.noting_llama import PAD, Note, handed_out, pristine, state

ATOL = 1e-4  # the contract's: float32, and two ways of computing the same


def last_token_logits(model, token_ids):
    """The logits (V,) after token_ids (1, T): the prefix fills a cache, then only the last token is fed."""
    import torch

    with torch.no_grad():
        cache = model(token_ids[:, :-1]).cache if token_ids.shape[1] > 1 else None
        return model(token_ids[:, -1:], cache=cache).logits[0, -1]


def _args(ids: list[int], seed: int = 1, other: bool = False, first: bool = False) -> Callable[[], tuple]:
    """Makes (model, token_ids). first: models of an earlier check, which a function may have changed, are dropped."""

    def make() -> tuple:
        import torch

        if first:
            handed_out.cache_clear()
        model = handed_out(seed, other)
        if first:  # what transformers loads at a first call is not the learner's time
            with torch.no_grad():
                model(torch.tensor([ids]))
        model.notes.clear()
        return model, torch.tensor([ids])

    return make


@functools.cache
def _logits(ids: tuple[int, ...], seed: int = 1, other: bool = False) -> np.ndarray:
    """The oracle: (T, V) of one forward pass over all tokens, without a cache."""
    import torch

    with torch.no_grad():
        return pristine(seed, other)(torch.tensor([ids]), use_cache=False).logits[0].double().numpy()


@functools.cache
def _faulty(position: int | None = None, mask_length: int | None = None) -> np.ndarray:
    """(V,) of the last of _IDS behind a cache, at another position, or with a mask of another length."""
    import torch

    extra: dict[str, Any] = {}
    if position is not None:
        extra["position_ids"] = torch.tensor([[position]])
    if mask_length is not None:
        extra["attention_mask"] = torch.ones(1, mask_length).long()
    model, token_ids = pristine(), torch.tensor([_IDS])
    with torch.no_grad():
        cache = model(token_ids[:, :-1]).cache
        return model(token_ids[:, -1:], cache=cache, **extra).logits[0, -1].double().numpy()


def _went_right(notes: list[Note], n_tokens: int) -> bool:
    """Every token was fed once, behind all those before it, and the last one alone."""
    starts = np.cumsum([0, *(len(fed) for fed, _ in notes)]).tolist()
    return starts[-1] == n_tokens and [n for _, n in notes] == starts[:-1] and len(notes[-1][0]) == 1


def _right(ids: list[int], seed: int = 1, other: bool = False) -> Holds:
    """The right logits, and the right way to them."""

    def test(value: object, args: tuple) -> bool:
        return _went_right(args[0].notes, len(ids)) and same(value, _logits(tuple(ids), seed, other)[-1], ATOL)

    return Holds(test)


def _noted(hint_id: str, hint: str, fault: Callable[[list[Note]], bool], call: Call | None = None) -> Case:
    """A case that looks for a fault in the way, not in the numbers. call: the first example if it is None."""
    return Case(hint_id, hint, call or _HAND, Holds(lambda value, args: not fault(args[0].notes)))


def _all_fed(notes: list[Note]) -> list:
    return [token_id for fed, _ in notes for token_id in fed]


def _is_probabilities(value: object) -> bool:
    row = _logits(tuple(_IDS))[-1]
    probs = np.exp(row) / np.exp(row).sum()
    return same(value, probs, ATOL) or same(value, np.log(probs), ATOL)


def _is_other_position(value: object) -> bool:
    return any(same(value, _faulty(position=place), ATOL) for place in (0, len(_IDS) - 2, len(_IDS)))


def _is_other_mask(value: object) -> bool:
    return any(same(value, _faulty(mask_length=length), ATOL) for length in (1, len(_IDS) - 1))


def _is_rounded(value: object) -> bool:
    return same(value, _logits(tuple(_IDS))[-1], 0.05) and not same(value, _logits(tuple(_IDS))[-1], ATOL)


def _model_unchanged(value: object, args: tuple) -> bool:
    return state(args[0]) == state(pristine())


_IDS = [0, 5, 3, 7, 5, 9]
_HAND = Call("6 ids", _args(_IDS))
_AGAIN = [4, 8, 8, 1]
_PADS = [0, 5, PAD, 7, 1, 9]
_LONG = [place * 7 % 13 for place in range(40)]
_FOREIGN = [28, 0, 17, 17, 3]

_SHAPE = "return one row of logits, (V,). That is the last position of the only row, without the axes in front."
_MISSING = (
    "too few tokens were fed. Feed each token once: the prefix is everything but the last token, its first token "
    "included. Keep nothing from an earlier call."
)
_LENGTH = (
    "the same steps must work for any length up to the model's context. Look for a number that is fixed in the code."
)


def _asks(hint_id: str, hint: str, shows: str, ids: list[int], seed: int = 1, other: bool = False) -> Case:
    """A case that asks for the right logits and the right way."""
    return Case(hint_id, hint, Call(shows, _args(ids, seed, other)), _right(ids, seed, other), error_is_typical=True)


EXERCISE = FunctionExercise(
    id="09.last_token",
    writes="`last_token_logits(model, token_ids)`",
    contract="a transformers Llama in eval mode, (1, T) → (V,), within 1e-4: the prefix fills a cache, in one call or "
    "in chunks; then the last token is fed alone. Each token once; T = 1 has no prefix; the model is not changed",
    difficulty="medium",
    minutes=12,
    hints=(
        "Call the model twice. What does the first call have to hand on to the second?",
        "`model(prefix).cache` holds the keys and values. Give it to the second call as `cache=`; positions follow.",
        "`token_ids[:, :-1]` and `token_ids[:, -1:]` keep both axes. With T = 1 the first is empty, so skip its call.",
    ),
    reference=last_token_logits,
    cases=(
        Case("shape", _SHAPE, Call("6 ids", _args(_IDS, first=True)),
             Recognises(lambda value: as_array(value).ndim > 1)),
        _noted("earlier-call", EARLIER_CALL, lambda notes: len(notes) > 0 and notes[0][1] > 0,
               Call("6 ids, in a second call", _args(_IDS))),
        Case("one-number", "one number came back. Return the logits of all tokens, and choose none of them.",
             _HAND, Recognises(lambda value: as_array(value).ndim == 0)),
        Case("probabilities", "these are probabilities or their logarithms. Return the logits as the model gives them.",
             _HAND, Recognises(_is_probabilities)),
        Case("model-changed", "the model was changed: its mode, its settings, its dtype or its weights. It belongs to "
             "the caller, so leave it as it was.", _HAND, Holds(_model_unchanged)),
        _noted("no-cache", "the whole text went through in one call, so no cache was used. Feed all tokens but the "
               "last, keep the cache that comes out, and then feed the last token with it.",
               lambda notes: notes == [(_IDS, 0)]),
        _noted("cache-not-passed", "a later call got no cache. Without one, the model sees only the tokens of that "
               "call.", lambda notes: any(n_cached == 0 for _, n_cached in notes[1:])),
        _noted("all-again", "the whole text was fed together with a cache of its beginning, so the model saw the "
               "beginning twice. With a cache, feed only what is new.",
               lambda notes: any(fed == _IDS and n_cached > 0 for fed, n_cached in notes)),
        _noted("last-twice", "the last token was fed twice, once with the prefix and once alone. The cache then holds "
               "it twice, and every later position is off by one.", lambda notes: _all_fed(notes) == [*_IDS, _IDS[-1]]),
        _noted("token-missing", _MISSING, lambda notes: len(_all_fed(notes)) < len(_IDS)),
        _noted("fed-again", "too many tokens were fed. Feed each token once, even if you only want to compare results.",
               lambda notes: len(_all_fed(notes)) > len(_IDS)),
        _noted("last-not-alone", "the last call got more than one token. Feed the last token alone, with a cache of "
               "all the others.", lambda notes: len(notes[-1][0]) != 1),
        Case("wrong-step", "these are the logits that came with the prefix. They score a token that you already have. "
             "Return those of the last call.", _HAND,
             Recognises(lambda value: same(value, _logits(tuple(_IDS))[-2], ATOL))),
        Case("position", "the last token got a wrong position. Positions begin at 0, and the cache knows how many "
             "tokens it holds. Leave out `position_ids`, or count the cached tokens.", _HAND,
             Recognises(_is_other_position)),
        Case("mask", "the mask covers too few tokens. With a cache it has to cover the cached tokens as well. If "
             "there is no padding, you can leave out the mask.", _HAND, Recognises(_is_other_mask)),
        Case("rounded", "this is close, but the error is too large for float32. Something rounds, such as a 16-bit "
             "dtype of the model or the cache.", _HAND, Recognises(_is_rounded)),
        Case("by-hand", "the calls are right, but the numbers are not. Compare them with `model(token_ids).logits[0, "
             "-1]` in a cell of your own. If you pass positions and masks, they must be those of the whole text.",
             _HAND,
             _right(_IDS)),
        _asks("earlier-call", "other ids with the same model came out wrong. Something from an earlier call, or from "
              "the first example, is left in the answer.", "4 other ids, after a call with 6", _AGAIN),
        _asks("one-token", "a single token has no prefix. There is nothing to fill a cache with, and a call with 0 "
              "tokens is not possible.", "a single id", [6]),
        _asks("two-tokens", "with two ids the prefix is a single token, which fills a cache like any other prefix.",
              "2 ids",
              [9, 4]),
        _asks("guessed-mask", "an id that can mean padding or an end was in the text, and was left out. Only the "
              "caller can say whether a token is padding, not its id.",
              f"6 ids, {PAD} (pad) and 1 (end) among them", _PADS),
        _asks("any-length", _LENGTH, "40 ids, and a model with room for 64", _LONG),
        _asks("other-model", "another model has other sizes and other weights. Take everything from the argument.",
              "5 ids, and a model with 29 tokens, 1 layer and 2 heads", _FOREIGN, 2, other=True),
    ),
)  # fmt: skip

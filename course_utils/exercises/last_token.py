"""Exercise 09.last_token: the way to the logits is judged as well as the numbers."""

import functools

import numpy as np

from course_utils.answers import as_array, same
from course_utils.exercises.noting_llama import PAD, handed_out, pristine, state
from course_utils.exercises.shared_cases import EARLIER_CALL
from course_utils.judging import Case, Exercise

ATOL = 1e-4  # the contract's: float32, and two ways of computing the same


def _args(ids: list[int], seed: int = 1, other: bool = False, first: bool = False):
    """Makes (model, token_ids). first: models of an earlier check, which a function may have changed, are dropped."""

    def make():
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

    extra = {}
    if position is not None:
        extra["position_ids"] = torch.tensor([[position]])
    if mask_length is not None:
        extra["attention_mask"] = torch.ones(1, mask_length).long()
    model, token_ids = pristine(), torch.tensor([_IDS])
    with torch.no_grad():
        cache = model(token_ids[:, :-1]).cache
        return model(token_ids[:, -1:], cache=cache, **extra).logits[0, -1].double().numpy()


def _went_right(notes: list[tuple[list, int]], n_tokens: int) -> bool:
    """Every token was fed once, behind all those before it, and the last one alone."""
    starts = np.cumsum([0, *(len(fed) for fed, _ in notes)]).tolist()
    return starts[-1] == n_tokens and [n for _, n in notes] == starts[:-1] and len(notes[-1][0]) == 1


def _right(ids: list[int], seed: int = 1, other: bool = False):
    """A judge: the right logits, and the right way to them."""

    def judge(value, args) -> bool:
        return _went_right(args[0].notes, len(ids)) and same(value, _logits(tuple(ids), seed, other)[-1], ATOL)

    return judge


def _way(fault):
    """A judge of the way alone, for _IDS. fault: notes -> True if this misconception was at work."""
    return lambda value, args: not fault(args[0].notes)


def _all_fed(notes) -> list:
    return [token_id for fed, _ in notes for token_id in fed]


def _is_probabilities(value) -> bool:
    row = _logits(tuple(_IDS))[-1]
    probs = np.exp(row) / np.exp(row).sum()
    return same(value, probs, ATOL) or same(value, np.log(probs), ATOL)


def _is_other_position(value) -> bool:
    return any(same(value, _faulty(position=place), ATOL) for place in (0, len(_IDS) - 2, len(_IDS)))


def _is_other_mask(value) -> bool:
    return any(same(value, _faulty(mask_length=length), ATOL) for length in (1, len(_IDS) - 1))


def _is_rounded(value) -> bool:
    return same(value, _logits(tuple(_IDS))[-1], 0.05) and not same(value, _logits(tuple(_IDS))[-1], ATOL)


def _model_unchanged(value, args) -> bool:
    return state(args[0]) == state(pristine())


_IDS = [0, 5, 3, 7, 5, 9]
_HAND = {"shows": "6 ids", "args": _args(_IDS)}
_AGAIN = [4, 8, 8, 1]
_PADS = [0, 5, PAD, 7, 1, 9]
_LONG = [place * 7 % 13 for place in range(40)]
_FOREIGN = [28, 0, 17, 17, 3]

_SHAPE = "asked for is one row of logits, (V,): the last position of the only row, without the axes in front."
_MISSING = (
    "fewer tokens were fed in this call than there are. Each one is fed once: the prefix is all but the last, its "
    "first token included, and nothing is kept from an earlier call."
)
_LENGTH = "the same steps must hold for any length up to the model's context. Look for a number that is written in."


def _case(hint_id: str, hint: str, shows: str, ids: list[int], seed: int = 1, other: bool = False):
    return Case(hint_id, hint, shows, _args(ids, seed, other), judge=_right(ids, seed, other), atol=ATOL,
                error_is_typical=True)  # fmt: skip


CASES = (
    Case("shape", _SHAPE, "6 ids", _args(_IDS, first=True), wrong=lambda value: as_array(value).ndim > 1),
    Case("earlier-call", EARLIER_CALL, "6 ids, in a second call", _args(_IDS),
         judge=_way(lambda notes: len(notes) > 0 and notes[0][1] > 0)),
    Case("one-number", "one number came back. Asked for are the logits of all tokens; choosing one is not the model's "
         "task.", **_HAND, wrong=lambda value: as_array(value).ndim == 0),
    Case("probabilities", "these are probabilities or their logarithms. Asked for are the logits as the model gives "
         "them.", **_HAND, wrong=_is_probabilities),
    Case("model-changed", "the model is not what it was: its mode, its settings, the type of its numbers or its "
         "weights. It belongs to the caller.", **_HAND, judge=_model_unchanged),
    Case("no-cache", "the whole text went through in one call, so no cache was used. Feed all but the last token, keep "
         "the cache that comes out, and feed the last one behind it.", **_HAND,
         judge=_way(lambda notes: notes == [(_IDS, 0)])),
    Case("cache-not-passed", "a later call got no cache. Without one the model sees only what it is fed in that call.",
         **_HAND, judge=_way(lambda notes: any(n_cached == 0 for _, n_cached in notes[1:]))),
    Case("all-again", "the whole text was fed behind a cache of its own beginning, so the model saw that twice. Behind "
         "a cache only what is new is fed.", **_HAND,
         judge=_way(lambda notes: any(fed == _IDS and n_cached > 0 for fed, n_cached in notes))),
    Case("last-twice", "the last token was fed twice: with the prefix, and again alone. The cache then holds it twice, "
         "and every position after it is off by one.", **_HAND,
         judge=_way(lambda notes: _all_fed(notes) == [*_IDS, _IDS[-1]])),
    Case("token-missing", _MISSING, **_HAND, judge=_way(lambda notes: len(_all_fed(notes)) < len(_IDS))),
    Case("fed-again", "more tokens were fed than there are. Each one is fed once, also when the result is only being "
         "compared.", **_HAND, judge=_way(lambda notes: len(_all_fed(notes)) > len(_IDS))),
    Case("last-not-alone", "the last call was fed more than one token. The last token goes alone, behind a cache of "
         "all the others.", **_HAND, judge=_way(lambda notes: len(notes[-1][0]) != 1)),
    Case("wrong-step", "these are the logits that came with the prefix. They are about the token that is given "
         "already; those of the last call are asked for.", **_HAND,
         wrong=lambda value: same(value, _logits(tuple(_IDS))[-2], ATOL)),
    Case("position", "the last token was given a wrong position. The first position is 0, and the cache knows how many "
         "it holds: leave `position_ids` away, or count the cached tokens.", **_HAND, wrong=_is_other_position),
    Case("mask", "the mask covers too few tokens. Behind a cache it covers the cached ones as well; without padding "
         "leave it away.", **_HAND, wrong=_is_other_mask),
    Case("rounded", "close, but not within float32. Something rounds, such as a 16-bit type for the model or the "
         "cache.", **_HAND, wrong=_is_rounded),
    Case("by-hand", "the way is right and the numbers are not. Compare with `model(token_ids).logits[0, -1]` in a cell "
         "of your own. Positions and masks that you pass must be those of the whole text.", **_HAND, judge=_right(_IDS),
         atol=ATOL),
    _case("earlier-call", "other ids of the same model came out wrong. Something of an earlier call or of the first "
          "example is left in the answer.", "4 other ids, after a call with 6", _AGAIN),
    _case("one-token", "a single token has no prefix: there is nothing to fill a cache with, and no call with 0 tokens "
          "is possible.", "a single id", [6]),
    _case("two-tokens", "with two ids the prefix is a single token. It fills a cache like any other.", "2 ids", [9, 4]),
    _case("guessed-mask", "an id that may also be padding or an end stood in the text, and was left out. Whether a "
          "token is padding is for the caller to say, not for its id.", f"6 ids, {PAD} (pad) and 1 (end) among them",
          _PADS),
    _case("any-length", _LENGTH, "40 ids, and a model with room for 64", _LONG),
    _case("other-model", "another model has other sizes and other weights. Take all of them from the argument.",
          "5 ids, and a model with 29 tokens, 1 layer and 2 heads", _FOREIGN, 2, other=True),
)  # fmt: skip


def last_token_logits(model, token_ids):
    """The reference: the prefix fills a cache, then only the last token is fed behind it."""
    import torch

    with torch.no_grad():
        cache = model(token_ids[:, :-1]).cache if token_ids.shape[1] > 1 else None
        return model(token_ids[:, -1:], cache=cache).logits[0, -1]


LAST_TOKEN = Exercise(
    id="09.last_token",
    writes="`last_token_logits(model, token_ids)`",
    contract="a transformers Llama in eval mode, (1, T) → (V,), within 1e-4: the prefix fills a cache, in one call or "
    "in chunks; then the last token is fed alone. Each token once; T = 1 has no prefix; the model is not changed",
    difficulty="medium",
    minutes=12,
    hints=(
        "Two calls of the model. What has the first to hand on to the second?",
        "`model(prefix).cache` holds the keys and values. Give it to the second call as `cache=`; positions follow.",
        "`token_ids[:, :-1]` and `token_ids[:, -1:]` keep both axes. With T = 1 the first is empty, so skip its call.",
    ),
    reference="course_utils.exercises.last_token:last_token_logits",
    cases=CASES,
)

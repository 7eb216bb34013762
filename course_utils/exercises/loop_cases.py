"""The cases of 01.generate_loop: a small model and chooser that note what they are given."""

import numpy as np

from course_utils.answers import Unreadable, as_array, same
from course_utils.exercises.inputs import tensor
from course_utils.exercises.shared_cases import EARLIER_CALL, any_of
from course_utils.judging import Case

V = 5
INF = float("inf")


def _row(ids: list[int], n_tokens: int = V, never: bool = False) -> np.ndarray:
    """Scores that depend on every id and on how many there are, so that no part of the context can be left out.

    never: one of the scores is -inf.
    """
    numbers = np.array(ids, dtype=np.int64)
    mixed = int((np.arange(1, len(ids) + 1) * (numbers + 1) ** 2).sum())
    tokens = np.arange(n_tokens, dtype=np.int64)
    row = (mixed * (31 + 12 * tokens) + 17 * tokens) % 97 / 7 - 6
    if never:
        row[mixed % n_tokens] = -INF
    return row


class _Model:
    """`next_logits`. Notes whether it was given flat lists only, and the scores that it has handed out."""

    def __init__(self, n_tokens: int = V, never: bool = False):
        self.n_tokens, self.never = n_tokens, never
        self.only_lists, self.given = True, []

    def __call__(self, ids):
        try:
            numbers = as_array(ids)
        except Unreadable:  # noted, and said with the case that looks for it
            numbers = np.zeros((0, 0))
        self.only_lists &= isinstance(ids, list) and numbers.ndim == 1
        row = _row([int(token) for token in numbers.reshape(-1)], self.n_tokens, self.never)
        self.given.append(row)
        return tensor(row)


class _Chooser:
    """`choose`: the id of the largest score, of the smallest, or a scripted one. Notes whether every row that it
    was given is a tensor, and one of the model's.

    script: (ids so far, id to choose) pairs. They hang on the row, so that asking twice changes nothing.
    draws: what it gives in turn, whatever the row. Asking twice gives two of them.
    """

    def __init__(self, model, smallest=False, script=(), draws=()):
        self.model, self.smallest, self.as_given, self.tensors = model, smallest, True, True
        self.script = [(_row(ids, model.n_tokens), token) for ids, token in script]
        self.draws = list(draws)

    def __call__(self, scores):
        self.tensors &= hasattr(scores, "detach")  # a tensor, told without importing torch
        self.as_given &= any(same(scores, given) for given in reversed(self.model.given))
        if self.draws:
            return self.draws.pop(0) if len(self.draws) > 1 else self.draws[0]
        for scripted, token in self.script:
            if same(scores, scripted):
                return token
        try:
            numbers = as_array(scores).reshape(-1)
            return int(numbers.argmin() if self.smallest else numbers.argmax())
        except ValueError:  # unreadable, or empty: `as_given` says so
            return 0


def _args(prompt, n, smallest=False, script=(), draws=(), n_tokens=V, never=False):
    def make():
        model = _Model(n_tokens, never)
        return model, list(prompt), n, _Chooser(model, smallest, script, draws)

    return make


def _script(prompt, tokens):
    return [([*prompt, *tokens[:turn]], token) for turn, token in enumerate(tokens)]


def _length(value) -> int:
    return len(as_array(value))  # no string, which has a length too


def _path(prompt, n, smallest=False, context=lambda ids, prompt: ids, n_tokens=V, never=False) -> list[int]:
    """The oracle. context: what a turn shows to the model, of all ids and the prompt."""
    ids = list(prompt)
    for _ in range(n):
        row = _row(context(ids, prompt), n_tokens, never)
        ids.append(int(row.argmin() if smallest else row.argmax()))
    return ids


def _reused(prompt, n) -> list[int]:
    """What comes of scores that are kept by the last id, with a `choose` that takes the smallest."""
    ids, kept = list(prompt), {}
    for _ in range(n):
        ids.append(int(kept.setdefault(ids[-1], _row(ids)).argmin()))
    return ids


_PROMPT, _N = [2, 4], 5
_RIGHT = _path(_PROMPT, _N, smallest=True)  # [2, 4, 3, 2, 4, 2, 0]: ids come again
_NEW = _RIGHT[len(_PROMPT) :]
_TOO_MANY = len(_RIGHT) + 2  # one id more is a mistake of another kind
_SHORT = [_RIGHT[:end] for end in range(len(_PROMPT) + 2, len(_RIGHT) - 1)]
_DISTINCT = list(dict.fromkeys(_RIGHT)), _PROMPT + list(dict.fromkeys(_NEW))
_AFTER_ALL = _path(_PROMPT, _N, True, lambda ids, prompt: _RIGHT + ids)  # with a history of the call before
_AFTER_NEW = _path(_PROMPT, _N, True, lambda ids, prompt: _NEW + ids)
_MANY = [place % 7 for place in range(300)]
_HAND = {"shows": "prompt [2, 4], 5 new tokens, and a `choose` that takes the smallest score",
         "args": _args(_PROMPT, _N, smallest=True)}  # fmt: skip
_LONG = {"shows": "prompt [2, 4, 1] and 100 new tokens", "args": _args([2, 4, 1], 100)}
_ZEROS = {"shows": "prompt [1, 2], 5 new tokens, and a `choose` that gives 2, 0, 0, 300, 2",
          "args": _args([1, 2], 5, script=_script([1, 2], [2, 0, 0, 300, 2]), n_tokens=301)}  # fmt: skip
_STOPS_EARLY = ("the loop ended before the budget was used, or an id went missing or was changed. No id is special "
                "here, 0, repeated and large ones included.")  # fmt: skip
_ONE_CHOICE = ("`choose` may draw, and then each call gives another id. Call it once in each turn, not before the "
               "loop, and append what it gave.")  # fmt: skip
_WHOLE_CONTEXT = ("a short text comes out right and a longer one does not. `next_logits` needs every id from the first "
                  "on.")  # fmt: skip

LOOP_CASES = (
    Case("too-many-ids", "more ids came back than the prompt and the new ones. Take exactly `max_new_tokens` turns: no "
         "other number decides.", **_HAND, wrong=lambda value: _length(value) >= _TOO_MANY),
    Case("earlier-call", EARLIER_CALL, shows=f"{_HAND['shows']}, in a second call", args=_HAND["args"],
         wrong=lambda value: _length(value) >= _TOO_MANY or any_of(_AFTER_ALL, _AFTER_NEW)(value)),
    Case("id-missing", "an id that had come before was left out. Ids may come again: keep each one that was chosen.",
         **_HAND, wrong=any_of(*_DISTINCT)),
    Case("new-only", "these are the new ids alone. The prompt belongs in front of them.", **_HAND, wrong=_NEW),
    Case("one-token", "only one token was added. A forward pass and a choice give one token: take as many turns as "
         "there are tokens to make.", **_HAND, wrong=lambda value: _length(value) == len(_PROMPT) + 1),
    Case("stops-early", _STOPS_EARLY, **_ZEROS, wrong=any_of([1, 2, 2], [1, 2, 2, 0])),
    Case("budget-counts-prompt", "the budget is for new tokens only. The prompt does not count.", **_HAND,
         wrong=lambda value: _length(value) == _N),
    Case("off-by-one", "the number of new ids is off by one. Take exactly `max_new_tokens` turns.", **_HAND,
         wrong=lambda value: _length(value) in (len(_RIGHT) - 1, len(_RIGHT) + 1)),
    Case("stops-early", _STOPS_EARLY, **_HAND, wrong=any_of(*_SHORT)),
    Case("own-choice", "the largest score was taken. Which id to take is for `choose` to say.", **_HAND,
         wrong=_path(_PROMPT, _N)),
    Case("last-id-only", "`next_logits` was shown the last id only. It needs every id so far.", **_HAND,
         wrong=_path(_PROMPT, _N, True, lambda ids, prompt: ids[-1:])),
    Case("context-stands-still", "`next_logits` was shown the same prompt at every turn. The new ids belong to what it "
         "is shown next.", **_HAND, wrong=_path(_PROMPT, _N, True, lambda ids, prompt: prompt)),
    Case("scores-reused", "scores of an earlier turn were used again, since it had ended with the same id. Scores "
         "depend on every id so far: ask `next_logits` at each turn.", **_HAND, wrong=_reused(_PROMPT, _N)),
    Case("scores-changed", "`choose` was given something else than the row that `next_logits` gave. Pass the scores on "
         "as they are: what to make of them is for `choose` to say.", **_HAND,
         judge=lambda value, args: args[3].as_given),
    Case("scores-converted", "`choose` was given a list or an array of the scores. It may use what only a tensor has, "
         "such as `softmax`: pass on the tensor that `next_logits` gave.", **_HAND,
         judge=lambda value, args: args[3].tensors),
    Case("not-a-list", "`next_logits` takes a flat list of ids, and was given something else: a tensor, a list in a "
         "list, or a list with a tensor of one id in it.", **_HAND, judge=lambda value, args: args[0].only_lists),
    Case("by-hand", "play two turns by hand: score the ids so far, choose, append, and again.", **_HAND, want=_RIGHT),
    Case("scores-changed", "a score may be -inf: this id never comes. `choose` gets the scores as they are.",
         "prompt [2, 4], 5 new tokens, and scores of which one is -inf", _args(_PROMPT, _N, never=True),
         judge=lambda value, args: args[3].as_given and same(value, _path(_PROMPT, _N, never=True))),
    Case("one-choice-a-turn", _ONE_CHOICE, "prompt [0], 2 new tokens, and a `choose` that gives 1, 2, 3, 4 in turn",
         _args([0], 2, draws=[1, 2, 3, 4]), want=[0, 1, 2]),
    Case("one-choice-a-turn", _ONE_CHOICE, "prompt [1], 3 new tokens, and a `choose` that gives 1, 0, 0, 2, 3 in turn",
         _args([1], 3, draws=[1, 0, 0, 2, 3]), want=[1, 1, 0, 0]),
    Case("stops-early", _STOPS_EARLY, **_ZEROS, want=[1, 2, 2, 0, 0, 300, 2], error_is_typical=True),
    Case("zero-new", "0 new tokens mean no turn at all: the answer is the prompt.", "prompt [2, 4] and 0 new tokens",
         _args(_PROMPT, 0), want=_PROMPT, error_is_typical=True),
    Case("shortest", "a prompt of one id and one new token are the smallest that there is. Look for a step that needs "
         "two ids or a second turn.", "prompt [4] and 1 new token", _args([4], 1), want=_path([4], 1),
         error_is_typical=True),
    Case("fixed-turns", "a small budget is kept and a larger one is not. Look for a number of turns that is written "
         "into the code.", **_LONG, wrong=lambda value: _length(value) != 103),
    Case("whole-context", _WHOLE_CONTEXT, **_LONG, want=_path([2, 4, 1], 100), error_is_typical=True),
    Case("whole-context", _WHOLE_CONTEXT, "prompt `[i % 7 for i in range(300)]` and 3 new tokens",
         _args(_MANY, 3, n_tokens=97), want=_path(_MANY, 3, n_tokens=97), error_is_typical=True),
)  # fmt: skip

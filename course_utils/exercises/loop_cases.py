"""The cases of 01.generate_loop: a small model and chooser that note what they are given."""

import numpy as np

from course_utils.answers import as_array, same
from course_utils.exercises.inputs import tensor
from course_utils.judging import Case

V = 5


def _row(ids: list[int]) -> np.ndarray:
    """Scores that depend on every id and on how many there are, so that no part of the context can be left out."""
    mixed = sum((place + 1) * (token + 1) ** 2 for place, token in enumerate(ids))
    return np.array([(mixed * (31 + 12 * token) + 17 * token) % 97 / 10 - 4.5 for token in range(V)])


class _Model:
    """`next_logits`. Notes whether it was given flat lists only, and the scores that it has handed out."""

    def __init__(self):
        self.only_lists, self.given = True, []

    def __call__(self, ids):
        numbers = as_array(ids)
        self.only_lists &= isinstance(ids, list) and numbers.ndim == 1
        row = _row([int(token) for token in numbers.reshape(-1)])
        self.given.append(row)
        return tensor(row)


class _Chooser:
    """`choose`: the id of the largest score, of the smallest, or a scripted one. Notes whether every row that it
    was given is one of the model's.

    script: (ids so far, id to choose) pairs. They hang on the row, so that asking twice changes nothing.
    """

    def __init__(self, model, smallest=False, script=()):
        self.model, self.smallest, self.as_given = model, smallest, True
        self.script = [(_row(ids), token) for ids, token in script]

    def __call__(self, row):
        self.as_given &= any(same(row, given) for given in self.model.given)
        for scripted, token in self.script:
            if same(row, scripted):
                return token
        scores = as_array(row).reshape(-1)
        return int(scores.argmin() if self.smallest else scores.argmax())


def _args(prompt, n, smallest=False, script=()):
    def make():
        model = _Model()
        return model, list(prompt), n, _Chooser(model, smallest, script)

    return make


def _script(prompt, tokens):
    return [([*prompt, *tokens[:turn]], token) for turn, token in enumerate(tokens)]


def _path(prompt, n, smallest=False, context=lambda ids, prompt: ids) -> list[int]:
    """The oracle. context: what a turn shows to the model, of all ids and the prompt."""
    ids = list(prompt)
    for _ in range(n):
        row = _row(context(ids, prompt))
        ids.append(int(row.argmin() if smallest else row.argmax()))
    return ids


_PROMPT, _N = [3, 0], 4
_RIGHT = _path(_PROMPT, _N, smallest=True)
_LONG = _path([2, 4, 1], 14)
_HAND = {"shows": "prompt [3, 0], 4 new tokens, and a `choose` that takes the smallest score",
         "args": _args(_PROMPT, _N, smallest=True)}  # fmt: skip

LOOP_CASES = (
    Case("new-only", "these are the new ids alone. The prompt belongs in front of them.", **_HAND,
         wrong=_RIGHT[len(_PROMPT):]),
    Case("one-token", "only one token was added. A forward pass and a choice give one token: take as many turns as "
         "there are tokens to make.", **_HAND, wrong=lambda value: len(value) == len(_PROMPT) + 1),
    Case("budget-counts-prompt", "the budget is for new tokens only. The prompt does not count.", **_HAND,
         wrong=lambda value: len(value) == _N),
    Case("off-by-one", "the number of new ids is off by one. Take exactly `max_new_tokens` turns.", **_HAND,
         wrong=lambda value: len(value) in (len(_PROMPT) + _N - 1, len(_PROMPT) + _N + 1)),
    Case("own-choice", "the largest score was taken. Which id to take is for `choose` to say.", **_HAND,
         wrong=_path(_PROMPT, _N)),
    Case("last-id-only", "`next_logits` was shown the last id only. It needs every id so far.", **_HAND,
         wrong=_path(_PROMPT, _N, True, lambda ids, prompt: ids[-1:])),
    Case("context-stands-still", "`next_logits` was shown the same prompt at every turn. The new ids belong to what it "
         "is shown next.", **_HAND, wrong=_path(_PROMPT, _N, True, lambda ids, prompt: prompt)),
    Case("scores-changed", "`choose` was given something else than the row that `next_logits` gave. Pass the scores on "
         "as they are: what to make of them is for `choose` to say.", **_HAND,
         judge=lambda value, args: args[3].as_given),
    Case("not-a-list", "`next_logits` takes a list of ids, and was given something else.", **_HAND,
         judge=lambda value, args: args[0].only_lists),
    Case("by-hand", "play two turns by hand: score the ids so far, choose, append, and again.", **_HAND, want=_RIGHT),
    Case("stops-early", "the loop ended before the budget was used, or an id went missing. No id is special here, 0 "
         "and repeated ones included.", "a `choose` that gives 2, 0, 0, 3",
         _args([1, 2], 4, script=_script([1, 2], [2, 0, 0, 3])), want=[1, 2, 2, 0, 0, 3]),
    Case("zero-new", "0 new tokens mean no turn at all: the answer is the prompt.", "prompt [3, 0] and 0 new tokens",
         _args(_PROMPT, 0), want=_PROMPT, error_is_typical=True),
    Case("whole-context", "a short text comes out right and a longer one does not. `next_logits` needs every id from "
         "the first on.", "prompt [2, 4, 1] and 14 new tokens", _args([2, 4, 1], 14), want=_LONG),
)  # fmt: skip

"""Exercise 01.generate_loop. Its small model and its chooser note what they are given."""

# The reference is shown to learners as they would write it, without types.
# mypy: allow-untyped-defs

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from course_utils.checker.answers import Unreadable, as_array, same
from course_utils.checker.exercise import Call, Case, Equals, FunctionExercise, Holds, Recognises
from course_utils.exercises.common.hints import EARLIER_CALL
from course_utils.exercises.common.inputs import tensor
from course_utils.exercises.common.recognisers import any_of


def generate_loop(next_logits, prompt_ids, max_new_tokens, choose):
    """The prompt's ids and those that were chosen after it, as a new list."""
    ids = list(prompt_ids)  # a copy: the caller's list stays as it is
    for _ in range(max_new_tokens):
        ids.append(choose(next_logits(ids)))
    return ids


V = 5
INF = float("inf")
Script = Sequence[tuple[list[int], int]]  # (ids so far, id to choose)


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
    """`next_logits`. It notes whether it was given flat lists only, and the scores that it has handed out."""

    def __init__(self, n_tokens: int = V, never: bool = False):
        self.n_tokens, self.never = n_tokens, never
        self.only_lists = True
        self.given: list[np.ndarray] = []

    def __call__(self, ids: Any) -> Any:
        try:
            numbers = as_array(ids)
        except Unreadable:  # noted, and said with the case that looks for it
            numbers = np.zeros((0, 0))
        self.only_lists &= isinstance(ids, list) and numbers.ndim == 1
        row = _row([int(token) for token in numbers.reshape(-1)], self.n_tokens, self.never)
        self.given.append(row)
        return tensor(row)


class _Chooser:
    """`choose`: the id of the largest score, of the smallest, or a scripted one. It notes whether every row that it
    was given is a tensor, and whether the model made it.

    script: (ids so far, id to choose) pairs. They depend on the row, so that a second call changes nothing.
    draws: what it gives in turn, whichever row it gets. A second call gives the next of them.
    """

    def __init__(self, model: _Model, smallest: bool = False, script: Script = (), draws: Sequence[int] = ()):
        self.model, self.smallest, self.as_given, self.tensors = model, smallest, True, True
        self.script = [(_row(ids, model.n_tokens), token) for ids, token in script]
        self.draws = list(draws)

    def __call__(self, scores: Any) -> int:
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


def _given(
    prompt: list[int],
    n: int,
    shows: str,
    smallest: bool = False,
    script: Script = (),
    draws: Sequence[int] = (),
    n_tokens: int = V,
    never: bool = False,
) -> Call:
    """A call with this prompt and n new tokens. The other arguments are those of the model and the chooser."""

    def make() -> tuple:
        model = _Model(n_tokens, never)
        return model, list(prompt), n, _Chooser(model, smallest, script, draws)

    return Call(shows, make)


def _script(prompt: list[int], tokens: list[int]) -> Script:
    return [([*prompt, *tokens[:turn]], token) for turn, token in enumerate(tokens)]


def _length(value: object) -> int:
    return len(as_array(value))  # which refuses a string: it has a length too


def _path(
    prompt: list[int],
    n: int,
    smallest: bool = False,
    context: Callable[[list[int], list[int]], list[int]] = lambda ids, prompt: ids,
    n_tokens: int = V,
    never: bool = False,
) -> list[int]:
    """The oracle. context: what a turn shows to the model, of all ids and the prompt."""
    ids = list(prompt)
    for _ in range(n):
        row = _row(context(ids, prompt), n_tokens, never)
        ids.append(int(row.argmin() if smallest else row.argmax()))
    return ids


def _reused(prompt: list[int], n: int) -> list[int]:
    """What comes of scores that are kept by the last id, with a `choose` that takes the smallest."""
    ids = list(prompt)
    kept: dict[int, np.ndarray] = {}
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
_HAND = _given(_PROMPT, _N, "prompt [2, 4], 5 new tokens, and a `choose` that takes the smallest score", smallest=True)
_LONG = _given([2, 4, 1], 100, "prompt [2, 4, 1] and 100 new tokens")
_ZEROS = _given(
    [1, 2],
    5,
    "prompt [1, 2], 5 new tokens, and a `choose` that gives 2, 0, 0, 300, 2",
    script=_script([1, 2], [2, 0, 0, 300, 2]),
    n_tokens=301,
)
_STOPS_EARLY = ("the loop ended before the budget was used up, or an id was lost or changed. No id is special here: "
                "0, repeated and large ids count like the others.")  # fmt: skip
_ONE_CHOICE = ("`choose` may draw, so each call can give another id. Call it exactly once in each turn, and append "
               "what it returned.")  # fmt: skip
_WHOLE_CONTEXT = ("a short text comes out right and a longer one does not. `next_logits` needs all ids, beginning "
                  "with the first.")  # fmt: skip

EXERCISE = FunctionExercise(
    id="01.generate_loop",
    writes="`generate_loop(next_logits, prompt_ids, max_new_tokens, choose)`",
    contract="list: prompt + new ids; `next_logits(list) -> (V,)`, `choose((V,)) -> int`; the prompt list is not "
    "changed",
    difficulty="medium",
    minutes=12,
    hints=(
        "In one turn you score the ids so far, choose one id, and append it.",
        "At every turn, give `next_logits` the prompt and everything that was chosen since.",
        "Begin with a copy of the prompt. Then take exactly `max_new_tokens` turns; if that is 0, take no turn.",
    ),
    reference=generate_loop,
    cases=(
        Case("too-many-ids", "too many ids came back. Take exactly `max_new_tokens` turns; no other number matters.",
             _HAND, Recognises(lambda value: _length(value) >= _TOO_MANY)),
        Case("earlier-call", EARLIER_CALL, Call(f"{_HAND.shows}, in a second call", _HAND.args),
             Recognises(lambda value: _length(value) >= _TOO_MANY or any_of(_AFTER_ALL, _AFTER_NEW)(value))),
        Case("id-missing", "an id that had come before was left out. Ids may repeat, so keep every one that was "
             "chosen.", _HAND, Recognises(any_of(*_DISTINCT))),
        Case("new-only", "these are only the new ids. The answer begins with the prompt.", _HAND, Recognises(_NEW)),
        Case("one-token", "only one token was added. One forward pass and one choice give one token, so take as many "
             "turns as you need tokens.", _HAND, Recognises(lambda value: _length(value) == len(_PROMPT) + 1)),
        Case("stops-early", _STOPS_EARLY, _ZEROS, Recognises(any_of([1, 2, 2], [1, 2, 2, 0]))),
        Case("budget-counts-prompt", "the budget counts new tokens only, not those of the prompt.", _HAND,
             Recognises(lambda value: _length(value) == _N)),
        Case("off-by-one", "the number of new ids is off by one. Take exactly `max_new_tokens` turns.", _HAND,
             Recognises(lambda value: _length(value) in (len(_RIGHT) - 1, len(_RIGHT) + 1))),
        Case("stops-early", _STOPS_EARLY, _HAND, Recognises(any_of(*_SHORT))),
        Case("own-choice", "the id with the largest score was taken. Let `choose` decide which id to take.", _HAND,
             Recognises(_path(_PROMPT, _N))),
        Case("last-id-only", "`next_logits` got only the last id. Give it all ids so far.", _HAND,
             Recognises(_path(_PROMPT, _N, True, lambda ids, prompt: ids[-1:]))),
        Case("context-stands-still", "`next_logits` got the same prompt at every turn. Give it the new ids as well.",
             _HAND, Recognises(_path(_PROMPT, _N, True, lambda ids, prompt: prompt))),
        Case("scores-reused", "scores were used again because an earlier turn had ended with the same id. Scores "
             "depend on all ids so far, so call `next_logits` at every turn.", _HAND, Recognises(_reused(_PROMPT, _N))),
        Case("scores-changed", "`choose` got something other than the row that `next_logits` returned. Pass the "
             "scores on unchanged, and leave it to `choose` what to do with them.", _HAND,
             Holds(lambda value, args: args[3].as_given)),
        Case("scores-converted", "`choose` got the scores as a list or an array. It may use a method that only "
             "tensors have, such as `softmax`, so pass on the tensor itself.", _HAND,
             Holds(lambda value, args: args[3].tensors)),
        Case("not-a-list", "`next_logits` takes a flat list of ids. It got something else: a tensor, a list in a "
             "list, or a list that holds a tensor.", _HAND, Holds(lambda value, args: args[0].only_lists)),
        Case("by-hand", "play two turns by hand: score the ids so far, choose one, append it, and do it again.", _HAND,
             Equals(_RIGHT)),
        Case("scores-changed", "a score may be -inf, which means that this id never comes. Pass the scores on to "
             "`choose` unchanged.",
             _given(_PROMPT, _N, "prompt [2, 4], 5 new tokens, and scores of which one is -inf", never=True),
             Holds(lambda value, args: args[3].as_given and same(value, _path(_PROMPT, _N, never=True)))),
        Case("one-choice-a-turn", _ONE_CHOICE,
             _given([0], 2, "prompt [0], 2 new tokens, and a `choose` that gives 1, 2, 3, 4 in turn",
                    draws=[1, 2, 3, 4]), Equals([0, 1, 2])),
        Case("one-choice-a-turn", _ONE_CHOICE,
             _given([1], 3, "prompt [1], 3 new tokens, and a `choose` that gives 1, 0, 0, 2, 3 in turn",
                    draws=[1, 0, 0, 2, 3]), Equals([1, 1, 0, 0])),
        Case("stops-early", _STOPS_EARLY, _ZEROS, Equals([1, 2, 2, 0, 0, 300, 2]), error_is_typical=True),
        Case("zero-new", "for 0 new tokens the loop takes no turn, and the answer is the prompt.",
             _given(_PROMPT, 0, "prompt [2, 4] and 0 new tokens"), Equals(_PROMPT), error_is_typical=True),
        Case("shortest", "this is the smallest case: a prompt of one id, and one new token. Look for a step that "
             "needs two ids or a second turn.", _given([4], 1, "prompt [4] and 1 new token"), Equals(_path([4], 1)),
             error_is_typical=True),
        Case("fixed-turns", "a small budget works and a larger one does not. Look for a number of turns that is fixed "
             "in the code.", _LONG, Recognises(lambda value: _length(value) != 103)),
        Case("whole-context", _WHOLE_CONTEXT, _LONG, Equals(_path([2, 4, 1], 100)), error_is_typical=True),
        Case("whole-context", _WHOLE_CONTEXT,
             _given(_MANY, 3, "prompt `[i % 7 for i in range(300)]` and 3 new tokens", n_tokens=97),
             Equals(_path(_MANY, 3, n_tokens=97)), error_is_typical=True),
    ),
)  # fmt: skip

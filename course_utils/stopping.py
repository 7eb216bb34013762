"""Why a text ends: the conditions that a caller sets, the one that came true, and the search for stop strings.

An end mark is a token of the vocabulary, a stop string is text, a budget is the caller's, a context is the model's.
This module does not know models or tokens; a row of `generation` asks it after each token.
"""

import operator
from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

from course_utils.arguments import check_flag, check_integer, is_bool
from course_utils.protocols import Vocabulary


class FinishReason(Enum):
    """What ended a text. The value is a word for people; `api_name` is what servers report.

    Where several come true with one token, the first in this order is reported.
    """

    EOS = "eos"  # the model sampled an end mark
    STOP_STRING = "stop string"  # the text came to hold one of the caller's stop strings
    TOOL_CALL = "tool call"  # the model completed a call
    LENGTH = "length"  # the budget of new tokens was used up: the text may be cut off
    CONTEXT = "context"  # the model's context is full: the text may be cut off

    @property
    def api_name(self) -> str:
        """The word of the common server APIs: "stop", "tool_calls" or "length". It tells less: see `value`."""
        return {"EOS": "stop", "STOP_STRING": "stop", "TOOL_CALL": "tool_calls"}.get(self.name, "length")


@dataclass(frozen=True)
class StopCriteria:
    """When to stop. Lists become tuples, so that criteria never change and can be compared.

    max_new_tokens: how many tokens may be sampled, the end mark included; 0 gives an empty text.
    eos: True: the vocabulary's end mark ends the text; False: none does, and the text runs on; or a token id, or
        several: each of them does, in place of the vocabulary's. An end mark shows no text.
    stop: strings that end the text, searched in generated text only. include_stop: show the one that was found.
    tool_calls: a completed call ends the text. The call's own text is then not part of the text, and is not searched.
    Raises ValueError or TypeError for a budget or an id that is not an integer of 0 or more, an empty stop string,
        or a bare string where a list is meant.
    """

    max_new_tokens: int = 100
    eos: bool | int | Sequence[int] = True
    stop: tuple[str, ...] = ()
    include_stop: bool = False
    tool_calls: bool = False

    def __post_init__(self) -> None:
        checked = {
            "max_new_tokens": check_integer("max_new_tokens", self.max_new_tokens),
            "eos": _checked_eos(self.eos),
            "stop": checked_stops(self.stop),
            "include_stop": check_flag("include_stop", self.include_stop),
            "tool_calls": check_flag("tool_calls", self.tool_calls),
        }
        for name, value in checked.items():
            object.__setattr__(self, name, value)

    def eos_ids(self, vocab: Vocabulary) -> frozenset[int]:
        """The ids that end a text. Raises ValueError for an id that the vocabulary lacks: it could never come."""
        if isinstance(self.eos, bool):
            return frozenset([vocab.eos_id] if self.eos else [])
        ids = frozenset([self.eos] if isinstance(self.eos, int) else self.eos)
        if max(ids) >= len(vocab):
            raise ValueError(f"eos has the id {max(ids)}; the vocabulary ends with {len(vocab) - 1}.")
        return ids


def finish_reason(
    last_is_eos: bool,
    stop: str | None,
    call_complete: bool,
    n_new: int,
    max_new_tokens: int,
    n_context: int,
    context_size: int | None,
) -> FinishReason | None:
    """The reason to end after a token was sampled, or None to go on.

    last_is_eos: the token is an end mark. stop: the stop string that the text now holds, or None.
    call_complete: the token closed a call. n_new: tokens sampled so far, of at most max_new_tokens.
    n_context: tokens that the model has processed; the last sampled one is not among them yet.
    context_size: how many it can process; None: no limit.
    """
    if last_is_eos:
        return FinishReason.EOS
    if stop is not None:
        return FinishReason.STOP_STRING
    if call_complete:
        return FinishReason.TOOL_CALL
    if n_new == max_new_tokens:
        return FinishReason.LENGTH
    return FinishReason.CONTEXT if n_context == context_size else None


class StopMatcher:
    r"""Finds the first stop string in a text that comes in pieces, and says what may be shown meanwhile.

    Characters are read one at a time, so it does not matter how the text was cut into pieces. The stop string that is
    complete first ends the text; of two that are complete with the same character, the longer. Text that may still
    become a stop string is held back, and nothing else is: the longest end of the text that begins a stop string.

    matched: the stop string that was found, or None. held: the text that is held back.

    >>> matcher = StopMatcher(["\nQ:"])
    >>> [matcher.feed(piece) for piece in ("yes", ".\n", "Q", "; no", "\nQ: and")], matcher.matched
    (['yes', '.', '', '\nQ; no', ''], '\nQ:')

    Source: Aho and Corasick 1975, Efficient string matching, https://doi.org/10.1145/360825.360855
    """

    def __init__(self, stops: Iterable[str], include_stop: bool = False):
        self.matched: str | None = None
        self.held = ""
        self._include_stop = include_stop
        self._node = self._root = _automaton(checked_stops(stops))

    def feed(self, piece: str) -> str:
        """What may be shown now that `piece` has come. Once a stop string was found, nothing more is."""
        if self.matched is not None:
            return ""
        text = self.held + piece
        for position, character in enumerate(piece, len(self.held) + 1):
            self._node = self._after(character)
            if self._node.stop is not None:
                self.matched, self.held = self._node.stop, ""
                return text[: position if self._include_stop else position - len(self.matched)]
        shown = len(text) - self._node.depth
        self.held = text[shown:]
        return text[:shown]

    def flush(self) -> str:
        """What was held back, once the text has ended: it has become no stop string. The matcher then begins anew."""
        held, self.held, self._node = self.held, "", self._root
        return held

    def _after(self, character: str) -> "_Node":
        """The longest end of the text that begins a stop string, one character on: each step back makes it shorter, so
        that there are fewer steps back than characters."""
        node: _Node | None = self._node
        while node is not None:
            if (following := node.children.get(character)) is not None:
                return following
            node = node.shorter
        return self._root


@dataclass(eq=False, slots=True)
class _Node:
    """A beginning of a stop string. depth: its length. shorter: the node of its longest end that is a node as well.
    stop: the longest stop string that it ends with, or None."""

    depth: int = 0
    shorter: "_Node | None" = None
    stop: str | None = None
    children: dict[str, "_Node"] = field(default_factory=dict)


def _automaton(stops: tuple[str, ...]) -> _Node:
    """The root of the tree of all beginnings, the empty one, with the links between them."""
    root = _Node()
    for stop in stops:
        node = root
        for character in stop:
            node = node.children.setdefault(character, _Node(node.depth + 1))
        node.stop = stop
    waiting = deque([root])
    while waiting:  # shorter ones first: a link leads to a node that is finished
        node = waiting.popleft()
        for character, child in node.children.items():
            link = node.shorter
            while link is not None and character not in link.children:
                link = link.shorter
            child.shorter = root if link is None else link.children[character]
            child.stop = child.stop or child.shorter.stop
            waiting.append(child)
    return root


def checked_stops(stops: Iterable[str]) -> tuple[str, ...]:
    """The stop strings as a tuple; ValueError or TypeError says which of them cannot be one."""
    if isinstance(stops, str):
        raise TypeError(f"stop is the string {stops!r}; expected a list of strings. For one use [{stops!r}].")
    try:
        stops = tuple(stops)
    except TypeError:
        raise TypeError(f"stop is {stops!r}; expected a list of strings.") from None
    for stop in stops:
        if not isinstance(stop, str):
            raise TypeError(f"stop holds {stop!r}; expected strings. An end by token id is `eos`.")
        if not stop:
            raise ValueError("stop holds an empty string, which every text holds from the start. Leave it out.")
    return stops


def _checked_eos(eos: Any) -> bool | tuple[int, ...]:
    if is_bool(eos):
        return bool(eos)
    if isinstance(eos, (str, bytes)):
        raise TypeError(f"eos is {eos!r}; expected True, False, or token ids. An end by text is `stop`.")
    try:
        ids = (operator.index(eos),) if hasattr(eos, "__index__") and not getattr(eos, "ndim", 0) else tuple(eos)
    except TypeError:
        raise TypeError(f"eos is {eos!r}; expected True, False, a token id, or a list of them.") from None
    return tuple(sorted({check_integer("eos", token_id) for token_id in ids})) or False

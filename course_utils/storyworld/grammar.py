"""Write a story and read one, from the same arcs.

`draw` makes a story. `derivations`, a backtracking matcher, finds every way in which the arcs make a text, so what is
written can be read. That a text has *one* derivation is a property of the patterns, not of this module: the tests
check it.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from course_utils.storyworld.notation import Arc, Element, Free, Slot

T = TypeVar("T")
Bound = dict[str, frozenset[str]]  # slot -> the values that it can still have; one value once it is drawn
Choices = tuple[tuple[str, str | int], ...]  # (name, value) of each choice, in order


@dataclass(frozen=True)
class Derivation:
    """How a text is made: the choices (name, value) in order, the facts, and the probability in nats."""

    text: str
    choices: Choices
    facts: dict[str, str]
    log_prob: float


@dataclass
class Reach:
    """The furthest position that a matcher came to, and what could have stood there."""

    position: int = 0
    wanted: list[tuple[int, str]] = field(default_factory=list)  # (where it starts, the text)

    def note(self, text: str, start: int, wanted: str) -> None:
        end = start
        for letter in wanted:
            if end == len(text) or text[end] != letter:
                break
            end += 1
        if end > self.position:
            self.position, self.wanted = end, []
        if end == self.position and (start, wanted) not in self.wanted:
            self.wanted.append((start, wanted))


def allowed(slot: Slot, slots: dict[str, Slot], bound: Bound) -> frozenset[str]:
    """The values that a slot may take beside those already bound."""
    values = slot.values
    if slot.unlike in bound:
        taken = {v.form("they") for v in slots[slot.unlike].values if v.text in bound[slot.unlike]}
        if len(taken) == 1:
            values = tuple(v for v in values if v.form("they") not in taken)
    return frozenset(v.text for v in values)


def draw(arcs: Sequence[Arc], random: Callable[[], float]) -> Derivation:
    """Write one story; `random()` gives the next number in [0, 1)."""

    def pick(options: Sequence[T]) -> T:
        return options[int(random() * len(options))]

    arc = pick(arcs)
    sentences: list[str] = []
    choices: list[tuple[str, str | int]] = [("arc", arc.name)]
    facts: dict[str, str] = {}
    log_prob = -math.log(len(arcs))
    for beat in arc.beats:
        if beat.optional:
            log_prob -= math.log(2)
            if random() < 0.5:
                choices.append((beat.name, "skipped"))
                continue
        pattern = pick(beat.patterns)
        choices.append((beat.name, beat.patterns.index(pattern)))
        log_prob -= math.log(len(beat.patterns))
        pieces = []
        for element in pattern:
            if isinstance(element, str):
                pieces.append(element)
            elif isinstance(element, Free):
                pieces.append(pick(element.options))
                choices.append((element.name, pieces[-1]))
                log_prob -= math.log(len(element.options))
            else:
                slot = element.slot
                if slot.name not in facts:
                    can = allowed(slot, arc.slots, {name: frozenset({v}) for name, v in facts.items()})
                    values = [v for v in slot.values if v.text in can]
                    facts[slot.name] = pick(values).text
                    choices.append((slot.name, facts[slot.name]))
                    log_prob -= math.log(len(values))
                value = facts[slot.name]
                pieces.append(next(shown for shown, stands_for in element.options.items() if value in stands_for))
        sentences.append("".join(pieces))
    return Derivation(" ".join(sentences), tuple(choices), facts, log_prob)


State = tuple[int, Bound, Choices, float]  # position, what is bound, choices so far, nats so far


def match(
    pattern: tuple[Element, ...],
    slots: dict[str, Slot],
    text: str,
    state: State,
    reach: Reach | None = None,
) -> Iterator[State]:
    """Yield a state for every way in which `pattern` makes a piece of `text` that begins at the state's position.

    `reach`, if given, notes how far the tries that failed came.
    """
    if not pattern:
        yield state
        return
    element, rest = pattern[0], pattern[1:]
    position, bound, choices, log_prob = state
    if isinstance(element, str):
        if text.startswith(element, position):
            yield from match(rest, slots, text, (position + len(element), bound, choices, log_prob), reach)
        elif reach:
            reach.note(text, position, element)
    elif isinstance(element, Free):
        for option in element.options:
            if text.startswith(option, position):
                more = (*choices, (element.name, option))
                nats = log_prob - math.log(len(element.options))
                yield from match(rest, slots, text, (position + len(option), bound, more, nats), reach)
            elif reach:
                reach.note(text, position, option)
    else:
        name = element.slot.name
        can = allowed(element.slot, slots, bound)
        new = name not in bound
        if not new:
            can &= bound[name]
        for shown, stands_for in element.options.items():
            if not text.startswith(shown, position):
                if reach and stands_for & can:
                    reach.note(text, position, shown)
                continue
            values = stands_for & can
            if not values:
                continue
            more, nats = choices, log_prob
            if new:
                nats -= math.log(len(can))
                more = (*choices, (name, next(iter(values))))
            yield from match(rest, slots, text, (position + len(shown), {**bound, name: values}, more, nats), reach)


def derivations(arcs: Sequence[Arc], text: str, reach: Reach | None = None) -> Iterator[Derivation]:
    """Yield every way in which the arcs make exactly `text`."""
    for arc in arcs:
        start: State = (0, {}, (("arc", arc.name),), -math.log(len(arcs)))
        for position, bound, choices, log_prob in _tell(arc, 0, text, start, reach):
            if position == len(text):
                facts = {name: next(iter(values)) for name, values in bound.items()}
                yield Derivation(text, choices, facts, log_prob)
            elif reach:
                reach.note(text, position, "")


def _tell(arc: Arc, number: int, text: str, state: State, reach: Reach | None) -> Iterator[State]:
    """Yield a state for every way to tell the arc from beat `number` to its end."""
    if number == len(arc.beats):
        yield state
        return
    beat = arc.beats[number]
    position, bound, choices, log_prob = state
    if beat.optional:
        log_prob -= math.log(2)
        skipped = (position, bound, (*choices, (beat.name, "skipped")), log_prob)
        yield from _tell(arc, number + 1, text, skipped, reach)
    log_prob -= math.log(len(beat.patterns))
    if position > 0:
        if not text.startswith(" ", position):
            if reach:
                reach.note(text, position, " ")
            return
        position += 1
    for index, pattern in enumerate(beat.patterns):
        told = (position, bound, (*choices, (beat.name, index)), log_prob)
        for after in match(pattern, arc.slots, text, told, reach):
            yield from _tell(arc, number + 1, text, after, reach)

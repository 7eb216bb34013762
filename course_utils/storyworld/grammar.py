"""A small grammar with memory: patterns whose facts hold from the first sentence to the last.

An `Arc` is a kind of story. It has *slots* (persistent facts: who, where, which object) and *beats*; each
beat offers several patterns and gives one sentence. A pattern is text with two kinds of gaps:

    {hero.They} looked for the {look} {thing} [in the attic|under the carpet].

`{thing}` mentions a slot, `{hero.They}` a form of it. A slot is drawn at its first mention and never again,
so every choice leaves a trace in the text. `[a|b]` is a free choice, made anew each time. All choices are
uniform; a beat marked "sometimes" happens with probability 1/2.

The same patterns write a story (`draw`) and read one (`derivations`, a backtracking matcher), so what
is written can be read. That a text has *one* derivation is a property of the patterns, not of this
module: the tests check it. Nothing here knows any English.
"""

import math
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

Bound = dict[str, frozenset[str]]  # slot -> the values that it can still have; one value once it is drawn

_GAP = re.compile(r"\{(\w+)(?:\.(\w+))?\}|\[([^\]]*)\]")
_PRONOUNS = {"she": ("she", "her", "her"), "he": ("he", "him", "his")}


@dataclass(frozen=True)
class Value:
    """One value of a slot: its text, and the other forms in which a pattern may mention it."""

    text: str
    forms: dict[str, str] = field(default_factory=dict)

    def form(self, name: str) -> str:
        """The text of a form: a (with article), s (possessive), Cap, or one that the value lists."""
        if name in self.forms:
            return self.forms[name]
        if name[:1].isupper() and name != "Cap":  # They, Their, A: a form at the start of a sentence
            lower = self.form(name.lower())
            return lower[0].upper() + lower[1:]
        if name == "":
            return self.text
        if name == "a":
            return ("an " if self.text[0] in "aeiou" else "a ") + self.text
        if name == "s":
            return self.text + "'s"
        if name == "Cap":
            return self.text[0].upper() + self.text[1:]
        raise ValueError(f"{self.text!r} has no form {name!r}; it has a, s, Cap and {sorted(self.forms)}")


def person(name: str, pronoun: str) -> Value:
    """A value with the forms they, them and their; `pronoun` is "she" or "he"."""
    they, them, their = _PRONOUNS[pronoun]
    return Value(name, {"they": they, "them": them, "their": their})


@dataclass(frozen=True)
class Slot:
    """A persistent fact. `unlike` names a slot with which it never shares a pronoun."""

    name: str
    values: tuple[Value, ...]
    unlike: str | None = None


@dataclass(frozen=True)
class Mention:
    """A gap that shows a slot. `options` maps each possible text to the values that it may stand for."""

    slot: Slot
    form: str
    options: dict[str, frozenset[str]]


@dataclass(frozen=True)
class Free:
    """A gap filled anew each time it is met."""

    name: str
    options: tuple[str, ...]


Element = str | Mention | Free


@dataclass(frozen=True)
class Beat:
    """One sentence of a story: its patterns, compiled. `optional` beats happen half of the time."""

    name: str
    optional: bool
    patterns: tuple[tuple[Element, ...], ...]


@dataclass(frozen=True)
class Arc:
    """A kind of story: its slots, and its beats in the order in which they are told."""

    name: str
    slots: dict[str, Slot]
    beats: tuple[Beat, ...]


@dataclass(frozen=True)
class Derivation:
    """How a text is made: the choices (name, value) in order, the facts, and the probability in nats."""

    text: str
    choices: tuple[tuple[str, str | int], ...]
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


def compile_pattern(source: str, beat: str, slots: dict[str, Slot]) -> tuple[Element, ...]:
    """Turn a pattern's source into elements; ValueError says which gap is wrong."""
    elements: list[Element] = []
    end = free = 0
    for gap in _GAP.finditer(source):
        before, after = source[gap.start() - 1 : gap.start()], source[gap.end() : gap.end() + 1]
        if before.isalnum() or after.isalnum():  # words() needs every gap to hold whole words
            raise ValueError(f"the gap {gap[0]} touches a letter in {source!r}: leave a space, or use a form")
        if gap.start() > end:
            elements.append(source[end : gap.start()])
        end = gap.end()
        if gap[3] is not None:
            options = tuple(gap[3].split("|"))
            if len(set(options)) < len(options) or len(options) < 2:
                raise ValueError(f"{gap[0]} in {source!r} needs two or more different options")
            free += 1
            elements.append(Free(f"{beat}.{free}", options))
        elif gap[1] not in slots:
            raise ValueError(f"no slot {gap[1]!r} for {source!r}; there are {sorted(slots)}")
        else:
            slot, form = slots[gap[1]], gap[2] or ""
            texts: dict[str, frozenset[str]] = {}
            for value in slot.values:
                shown = value.form(form)
                texts[shown] = texts.get(shown, frozenset()) | {value.text}
            elements.append(Mention(slot, form, texts))
    if end < len(source):
        elements.append(source[end:])
    return tuple(elements)


def read_values(source: str) -> tuple[Value, ...]:
    """Read "owl (sound: hooting) | frog (sound: croaking)"."""
    values = []
    for item in source.split("|"):
        text, _, forms = item.strip().partition(" (")
        pairs = [pair.split(": ", 1) for pair in forms.rstrip(")").split("; ")] if forms else []
        values.append(Value(text, {name: shown for name, shown in pairs}))
    if len({value.text for value in values}) < len(values):
        raise ValueError(f"a value is there twice: {source!r}")
    return tuple(values)


def read_arc(source: str, common: Sequence[Slot] = ()) -> Arc:
    """Read an arc from its source.

    Line 1 is the name; `name = value | value` defines a slot; `- name` or `- name, sometimes` opens a beat;
    any other line is a pattern of that beat; an indented line goes on with the line before.
    """
    lines = re.sub(r"\n +", " ", source.strip()).split("\n")
    slots = {slot.name: slot for slot in common}
    beats: list[tuple[str, bool, list[tuple[Element, ...]]]] = []
    for line in lines[1:]:
        definition = re.fullmatch(r"(\w+) = (.*)", line)
        if definition:
            slots[definition[1]] = Slot(definition[1], read_values(definition[2]))
        elif line.startswith("- "):
            name, _, mark = line[2:].partition(", ")
            if name in slots or name in (known for known, _, _ in beats):
                raise ValueError(f"{line!r}: {name!r} is there already; beats and slots need different names")
            if mark not in ("", "sometimes"):
                raise ValueError(f"{line!r}: only 'sometimes' may follow the name of a beat")
            beats.append((name, mark == "sometimes", []))
        elif line:
            beats[-1][2].append(compile_pattern(line, beats[-1][0], slots))
    return Arc(lines[0], slots, tuple(Beat(name, optional, tuple(p)) for name, optional, p in beats))


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

    def pick(options):
        return options[int(random() * len(options))]

    arc = pick(arcs)
    sentences, choices, facts = [], [("arc", arc.name)], {}
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


State = tuple[int, Bound, tuple, float]  # position, what is bound, choices so far, nats so far


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
        start = (0, {}, (("arc", arc.name),), -math.log(len(arcs)))
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

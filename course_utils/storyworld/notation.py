"""A small grammar with memory: patterns whose facts hold from the first sentence to the last.

An `Arc` is a kind of story. It has *slots* (persistent facts: who, where, which object) and *beats*; each
beat offers several patterns and gives one sentence. A pattern is text with two kinds of gaps:

    {hero.They} looked for the {look} {thing} [in the attic|under the carpet].

`{thing}` mentions a slot, `{hero.They}` a form of it. A slot is drawn at its first mention and never again,
so every choice leaves a trace in the text. `[a|b]` is a free choice, made anew each time. All choices are
uniform; a beat marked "sometimes" happens with probability 1/2.

This module reads that notation into data; `grammar` writes and reads stories with it. Neither knows any English.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

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

"""Reading a text that may be wrong: words, sentences, and whether a tale keeps its facts."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

from course_utils.storyworld.grammar import Bound, allowed, match
from course_utils.storyworld.notation import Arc, Element
from course_utils.storyworld.tales import arcs

_WORD = re.compile(r"[^\W\d_]+(?:['-][^\W\d_]+)*")
_SENTENCE_END = re.compile(r'(?<=[.?!])\s+(?=[A-Z0-9"])|(?<=[.?!]")\s+(?=[A-Z0-9"])')


@dataclass(frozen=True)
class Reading:
    """One way to read a sentence: as the sentence of a beat in an arc.

    bindings: slot -> the values that the sentence allows. A name leaves one; a pronoun leaves all names
        with that pronoun. Slots that the sentence does not mention are absent.
    """

    arc: str
    beat: str
    bindings: Bound


def split_words(text: str) -> list[str]:
    """The words of a text, in lower case.

    A word is a run of letters; an apostrophe or a hyphen between two letters belongs to it, as in
    "Ada's" or "glow-worm". Digits, marks and other signs do not belong to words.

    >>> split_words("Ada's glow-worm, at 3, sang.")
    ["ada's", 'glow-worm', 'at', 'sang']
    """
    return _WORD.findall(text.lower())


def split_sentences(text: str) -> list[str]:
    """The sentences of a text, without the white space between them.

    A sentence ends with a full stop, a question mark or an exclamation mark, and a quotation mark right after it;
    white space follows, then a capital, a digit or a quotation mark. So `"Who is it?" asked Ada.` is
    one sentence. What follows the last end is a sentence too. Quotations of several sentences are cut;
    the tales have none.

    >>> split_sentences('"Who is it?" asked Ada. "An owl." It was late')
    ['"Who is it?" asked Ada.', '"An owl."', 'It was late']
    """
    return [sentence for sentence in _SENTENCE_END.split(text.strip()) if sentence]


@cache
def words() -> frozenset[str]:
    """Every word that a tale can contain, as `split_words` gives it."""
    found: set[str] = set()
    for arc in arcs():
        for beat in arc.beats:
            for pattern in beat.patterns:
                for element in pattern:  # gaps never touch letters (notation.compile_pattern), so pieces do
                    pieces = [element] if isinstance(element, str) else element.options
                    for piece in pieces:
                        found.update(split_words(piece))
    return frozenset(found)


def read_sentence(sentence: str) -> list[Reading]:
    """Every arc and beat that can make this sentence, with what it says about the slots; [] if none can."""
    readings = []
    for arc, beat, pattern in _index().get(sentence.split(" ", 1)[0], ()):
        for end, bound, _, _ in match(pattern, arc.slots, sentence, (0, {}, (), 0.0)):
            if end == len(sentence):
                readings.append(Reading(arc.name, beat, bound))
    return readings


def keeps_facts(document: str) -> bool | None:
    """Whether the sentences of a tale can all belong to one story.

    Returns None if fewer than two of its sentences can be read: nothing was asserted that could disagree.
        True if in some arc every sentence that can be read at all has a reading, and these agree about every slot.
        False otherwise. The sentences may come in any order and may leave parts of the story out. A sentence that
        cannot be read asserts nothing.
    """
    sentences = [readings for s in split_sentences(document) if (readings := read_sentence(s))]
    if len(sentences) < 2:
        return None
    return any(_agree(arc, sentences, {}) for arc in arcs())


def _agree(arc: Arc, sentences: list[list[Reading]], bound: Bound) -> bool:
    if not sentences:
        return True
    for reading in sentences[0]:
        if reading.arc != arc.name:
            continue
        together = dict(bound)
        for name, values in reading.bindings.items():
            together[name] = values & together.get(name, values)
        if all(values & allowed(arc.slots[name], arc.slots, together) for name, values in together.items()) and (
            _agree(arc, sentences[1:], together)
        ):
            return True
    return False


@cache
def _index() -> dict[str, list[tuple[Arc, str, tuple[Element, ...]]]]:
    """The patterns by the first word of the sentences that they make; so most are never tried."""
    index: dict[str, list[tuple[Arc, str, tuple[Element, ...]]]] = {}
    for arc in arcs():
        for beat in arc.beats:
            for pattern in beat.patterns:
                for word in sorted(set(_first_words(pattern))):
                    index.setdefault(word, []).append((arc, beat.name, pattern))
    return index


def _first_words(pattern: tuple[Element, ...]) -> Iterator[str]:
    """The text of every sentence of a pattern up to its first space."""
    if not pattern:
        yield ""
        return
    for option in [pattern[0]] if isinstance(pattern[0], str) else pattern[0].options:
        if " " in option:
            yield option.split(" ", 1)[0]
        else:
            for rest in _first_words(pattern[1:]):
                yield option + rest

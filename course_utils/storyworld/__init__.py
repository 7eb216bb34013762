"""A corpus whose truth is known: tales, sums and tool calls, written by a probabilistic grammar.

Three kinds of documents. *Tales* tell one of several story arcs in one paragraph; who, where and with which object is
drawn once and holds to the end, so that a tale can be wrong (`grammar` explains the notation, `tales` is
the content). *Sums* and *calls* are arithmetic (`arithmetic`).

`write` draws a document, `parse` finds the choices that made one, or the first character that no document with this
beginning could have, and `log_prob` adds up the choices' probabilities: the log-probability that a perfect
model would give. `floor` is the loss of that model. Metrics for text that is only partly right, such as a
model's, are in `reading`: words, sentences, facts.

What this package does not know: English beyond its patterns (a good sentence that no pattern makes does not
parse), the split into training and validation (log_prob is that of the language, held-out documents
included), and whether a tale is any fun. Uses the standard library only.

`python -m course_utils.storyworld data` writes the corpus into `data` (`corpus`).
"""

import math
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from random import Random

from course_utils.storyworld import arithmetic, grammar, tales
from course_utils.storyworld.reading import (
    Reading,
    keeps_facts,
    read_sentence,
    split_sentences,
    split_words,
    words,
)

__all__ = [
    "KINDS",
    "Parse",
    "Reading",
    "count_symbols",
    "floor",
    "keeps_facts",
    "log_prob",
    "parse",
    "read_sentence",
    "split_sentences",
    "split_words",
    "words",
    "write",
]

KINDS = ("tales", "sums", "calls")

_MARK = re.compile(r"</?(?:call|result)>")


@dataclass(frozen=True)
class Parse:
    """What `parse` found; true if the document is in the language.

    kind: the kind that the document is, or that its first character announces.
    choices: (name, value) of every choice that made it, in order; empty if it is not in the language.
    facts: slot -> value, for tales.
    position: None, or the index of the first character that no document with this beginning could
        have; len(document) if it is only cut short.
    expected: "" or a sentence that says what could have stood there.
    log_prob: nats, given the kind; None if it is not in the language.
    """

    ok: bool
    kind: str
    choices: grammar.Choices = ()
    facts: dict[str, str] = field(default_factory=dict)
    position: int | None = None
    expected: str = ""
    log_prob: float | None = None

    def __bool__(self) -> bool:
        return self.ok


def write(kind: str, rng: Random) -> str:
    """Draw a document of a kind ("tales", "sums" or "calls").

    rng: only its `random()` is used, whose stream Python keeps the same for a seed.
    Raises ValueError for another kind.
    """
    return _draw(kind, rng)[0]


def _draw(kind: str, rng: Random) -> tuple[str, grammar.Choices, float]:
    """The text, the choices that made it, and their log-probability in nats."""
    if kind == "tales":
        tale = grammar.draw(tales.arcs(), rng.random)
        return tale.text, tale.choices, tale.log_prob
    if kind == "sums":
        question = arithmetic.draw_sum(rng.random)
        return arithmetic.sum_text(question), question.choices, arithmetic.sum_log_prob(question)
    if kind == "calls":
        question = arithmetic.draw_call(rng.random)
        return arithmetic.call_text(question), question.choices, arithmetic.call_log_prob(question)
    raise ValueError(f"kind is {kind!r}; expected one of {', '.join(KINDS)}")


def parse(document: str) -> Parse:
    """Find the choices that made a document, or where it leaves the language.

    A first character Q announces a call, a digit a sum, anything else a tale.
    """
    if not isinstance(document, str):
        raise TypeError(f"document is a {type(document).__name__}; expected one document as a str")
    if document[:1] == "Q":
        return _parse_question(document, "calls", arithmetic.read_call, arithmetic.call_log_prob)
    if document[:1] in set("0123456789"):
        return _parse_question(document, "sums", arithmetic.read_sum, arithmetic.sum_log_prob)
    for tale in grammar.derivations(tales.arcs(), document):
        return Parse(True, "tales", tale.choices, tale.facts, log_prob=tale.log_prob)
    reach = grammar.Reach()
    for _ in grammar.derivations(tales.arcs(), document, reach):
        pass
    return Parse(False, "tales", position=reach.position, expected=_expected(document, reach))


def _parse_question(
    document: str,
    kind: str,
    read: Callable[[str], arithmetic.Question],
    log_prob: Callable[[arithmetic.Question], float],
) -> Parse:
    try:
        question = read(document)
    except arithmetic.OutsideError as outside:
        return Parse(False, kind, position=outside.position, expected=_sentence(outside.expected))
    return Parse(True, kind, question.choices, log_prob=log_prob(question))


def _expected(document: str, reach: grammar.Reach) -> str:
    """Say what could have stood at the furthest position."""
    wanted = [text for start, text in reach.wanted if start + len(text) > reach.position]
    shown = " or ".join(repr(text) for text in wanted[:3]) or "the end of the tale"
    others = " or something else" if len(wanted) > 3 else ""
    start = min((start for start, text in reach.wanted if text in wanted), default=reach.position)
    cut_short = reach.position >= len(document)
    found = "but the document ends there" if cut_short else f"found {document[start : reach.position + 12]!r}"
    return _sentence(f"expected {shown}{others}, {found}")


def _sentence(text: str) -> str:
    return text[0].upper() + text[1:] + "."


def log_prob(document: str) -> float:
    """The exact log-probability of a document given its kind, in nats, its end included.

    Raises ValueError if the document is not in the language; it says where.
    """
    found = parse(document)
    if found.log_prob is None:
        raise ValueError(f"no {found.kind} document: at character {found.position}: {found.expected}")
    return found.log_prob


def count_symbols(document: str) -> int:
    """Characters and marks of a document, and one for its end; <call> and the other three marks count one each.

    >>> count_symbols("1+1=2")
    6
    """
    return len(_MARK.sub("#", document)) + 1


def floor(documents: Iterable[str]) -> float:
    """The mean loss of a perfect model on these documents: -Σ log_prob / Σ symbols, in nats per symbol.

    Raises ValueError for an empty list, and for a document that is not in the language.
    """
    documents = list(documents)
    if not documents:
        raise ValueError("no documents: the mean over none is undefined; pass at least one")
    nats = -math.fsum(log_prob(document) for document in documents)
    return nats / sum(count_symbols(document) for document in documents)

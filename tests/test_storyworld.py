"""The corpus grammar: what is written can be read, in one way only, with exact probabilities."""

import math
import re
import subprocess
import sys
from collections import Counter
from itertools import combinations
from pathlib import Path
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import chisquare

from course_utils import storyworld
from course_utils.storyworld import corpus, grammar, notation, tales
from course_utils.storyworld.notation import Free, Mention

DATA = Path(__file__).parent.parent / "data"
ARCS = tales.arcs()
EACH_ARC = pytest.mark.parametrize("arc", ARCS, ids=lambda arc: arc.name)
SEEDS = st.integers(min_value=0, max_value=2**64 - 1)

CALL = 'Q: 317*24\n<call>{"tool": "multiply", "args": [317, 24]}</call><result>7608</result>\nA: 7608'


def documents(kind, split):
    return (DATA / f"{kind}.{split}.txt").read_text(encoding="utf-8").removesuffix("\n").split("\n\n")


def options(element):
    return [element] if isinstance(element, str) else list(element.options)


def length(pattern, extreme):
    return sum(extreme(len(option) for option in options(element)) for element in pattern)


def mentioned(pattern):
    return {element.slot.name for element in pattern if isinstance(element, Mention)}


# --- the content ---------------------------------------------------------------------------------------

FUNCTION_WORDS = """
    a about after against all always among an and another any around as at away back because before behind below
    beneath beside between both but by down each easily else even ever every everybody everyone first for from had has
    have he her him his how i if in inside into is it its itself last let like likes many me more much must my near
    neither never next no nobody none nor not nothing now of off on one only opposite or other out outside over own
    past quite rather same she since so some somebody soon still such than that the their them then there they this
    though through to too twice under until up us very was we well were what when where which who whose why with
    without you your yours do does did been be could cannot can shall will would"""


def test_there_is_enough_to_tell():
    patterns = [pattern for arc in ARCS for beat in arc.beats for pattern in beat.patterns]
    names = {name.lower() for name in (*tales.SHE, *tales.HE)}
    content = {
        word for word in storyworld.words() if word not in set(FUNCTION_WORDS.split()) and not word.endswith("'s")
    }
    assert len(ARCS) >= 14
    assert len(patterns) >= 90
    assert len(content - names) >= 400  # names would count too; it is enough without them


@EACH_ARC
def test_every_tale_of_an_arc_has_a_good_length(arc):
    longest = sum(max(length(p, max) for p in beat.patterns) + 1 for beat in arc.beats) - 1
    shortest = sum(min(length(p, min) for p in beat.patterns) + 1 for beat in arc.beats if not beat.optional) - 1
    assert longest <= 400
    assert shortest >= 150


@EACH_ARC
def test_every_fact_is_told_in_two_sentences_or_more(arc):
    used = {name for beat in arc.beats for pattern in beat.patterns for name in mentioned(pattern)}
    assert len(used) >= 4
    for name in used:
        certain = [
            not beat.optional and all(name in mentioned(pattern) for pattern in beat.patterns) for beat in arc.beats
        ]
        assert sum(certain) >= 2, f"{name} may be told only {sum(certain)} times"


@EACH_ARC
def test_a_pronoun_never_comes_before_its_name(arc):
    known = set()  # slots that have been drawn whatever the choices were
    for beat in arc.beats:
        after = []
        for pattern in beat.patterns:
            here = set(known)
            for element in pattern:
                if isinstance(element, Mention):
                    tells_all = all(len(values) == 1 for values in element.options.values())
                    assert element.slot.name in here or tells_all, (beat.name, element.slot.name, element.form)
                    here.add(element.slot.name)
            after.append(here)
        if not beat.optional:
            known = set.intersection(*after)


def twins(one, other):
    """A text that two different derivations of these patterns begin with and one of them ends with, or None.

    Memory is ignored: every mention is taken to be free. So None is certain, and a text may be a false alarm.
    """
    todo = [(0, 0, "", "", one is not other, "")]  # positions, leads, whether the derivations differ, the text
    seen = set()
    while todo:
        i, j, lead_one, lead_other, differ, text = todo.pop()
        if (i, j, lead_one, lead_other, differ) in seen:
            continue
        seen.add((i, j, lead_one, lead_other, differ))
        done_one, done_other = i == len(one) and not lead_one, j == len(other) and not lead_other
        if differ and (done_one or done_other):
            return text
        if not differ and (done_one or done_other):
            continue
        if not differ:  # the same pattern, in step
            pairs = [(a, b) for a in options(one[i]) for b in options(one[i])]
            todo += [
                (
                    i + 1,
                    j + 1,
                    a[len(b) :],
                    b[len(a) :],
                    a != b,
                    text + min(a, b, key=len),
                )
                for a, b in pairs
                if a.startswith(b) or b.startswith(a)
            ]
            continue
        nexts_one = [(i, lead_one)] if lead_one else [(i + 1, option) for option in options(one[i])]
        nexts_other = [(j, lead_other)] if lead_other else [(j + 1, option) for option in options(other[j])]
        for k, a in nexts_one:
            for m, b in nexts_other:
                if a.startswith(b):
                    todo.append((k, m, a[len(b) :], "", True, text + b))
                elif b.startswith(a):
                    todo.append((k, m, "", b[len(a) :], True, text + a))
    return None


def test_twins_finds_what_it_should():
    compiled = [
        notation.compile_pattern(source, "beat", {})
        for source in (
            "A [red|red old] fox.",
            "A [red|green] [old|sly] fox.",
            "A [red|red old] [fox|old fox].",
            "A red.",
        )
    ]
    assert twins(compiled[0], compiled[0]) is None
    assert twins(compiled[1], compiled[1]) is None
    assert twins(compiled[2], compiled[2]) == "A red old fox."
    assert twins(compiled[0], compiled[1]) == "A red old fox."
    assert twins(compiled[0], compiled[3]) is None


@EACH_ARC
def test_no_sentence_of_a_place_in_an_arc_has_two_derivations(arc):
    for first, beat in enumerate(arc.beats):
        follow = list(beat.patterns)
        while arc.beats[first].optional:  # a skipped beat's sentence competes with the next one's
            first += 1
            follow += arc.beats[first].patterns
        for pattern in beat.patterns:
            assert twins(pattern, pattern) is None
        for one, other in combinations(follow, 2):
            assert twins(one, other) is None


def test_no_two_arcs_begin_alike():
    openings = [pattern for arc in ARCS for pattern in arc.beats[0].patterns]
    assert not any(arc.beats[0].optional or arc.beats[-1].optional for arc in ARCS)
    for one, other in combinations(openings, 2):
        assert twins(one, other) is None


def test_text_is_plain_and_every_pattern_is_one_sentence():
    rng = Random(1)
    for _ in range(1000):
        tale = grammar.draw(ARCS, rng.random)
        beats = {beat.name for arc in ARCS if arc.name == dict(tale.choices)["arc"] for beat in arc.beats}
        told = [name for name, value in tale.choices if name in beats and value != "skipped"]
        assert tale.text.isascii() and tale.text.isprintable() and "!" not in tale.text and "  " not in tale.text
        assert tale.text.count('"') % 2 == 0
        sentences = storyworld.split_sentences(tale.text)
        assert len(sentences) == len(told) and " ".join(sentences) == tale.text
        assert all(sentence[0].isupper() or sentence[0] == '"' for sentence in sentences)
        assert not re.search(r"\b(a [aeiou]|an (?!hour)[^aeiou])", tale.text)


# --- writing, reading, probabilities ---------------------------------------------------------------------


@pytest.mark.parametrize("kind", storyworld.KINDS)
@given(seed=SEEDS)
@settings(max_examples=200, deadline=None)
def test_a_written_document_parses_to_the_choices_that_made_it(kind, seed):
    text, choices, log_prob = storyworld._draw(kind, Random(seed))
    found = storyworld.parse(text)
    assert found and found.ok and found.kind == kind and found.choices == choices
    assert found.position is None and found.expected == ""
    assert storyworld.log_prob(text) == pytest.approx(log_prob, abs=1e-9)
    assert storyworld.write(kind, Random(seed)) == text
    if kind == "tales":
        assert len(list(grammar.derivations(ARCS, text))) == 1
        assert found.facts.items() <= dict(choices).items()
        assert len(text) <= 400


def test_write_uses_nothing_but_random():
    class OnlyRandom:
        random = Random(5).random

    for kind in storyworld.KINDS:
        assert storyworld.parse(storyworld.write(kind, OnlyRandom())).kind == kind


def test_unknown_kind_and_wrong_type_are_errors():
    with pytest.raises(ValueError, match=r"poems.*tales, sums, calls"):
        storyworld.write("poems", Random(0))
    with pytest.raises(TypeError, match="list"):
        storyworld.parse(["12+34=46"])


def shortened(source):
    """An arc's source with at most two values a slot and two options a gap."""
    source = re.sub(r"\n +", " ", source)
    source = re.sub(r"\[([^|\]]*\|[^|\]]*)\|[^\]]*\]", r"[\1]", source)
    return re.sub(r"^(\w+ = [^|\n]*\|[^|\n]*[^|\s])[^\n]*$", r"\1", source, flags=re.M)


SMALL_PEOPLE = tuple(
    notation.Slot(
        name, (notation.person("Ada", "she"), notation.person("Abel", "he"), notation.person("Leo", "he")), unlike
    )
    for name, unlike in (("hero", "friend"), ("friend", "hero"))
)


def enumerate_arc(arc):
    """Every (text, probability) of an arc, written without the package's own drawing and matching."""

    def sentence(pattern, facts):
        if not pattern:
            yield "", 1.0, facts
            return
        element = pattern[0]
        if isinstance(element, str):
            heads = [(element, 1.0, facts)]
        elif isinstance(element, Free):
            heads = [(option, 1 / len(element.options), facts) for option in element.options]
        else:
            name = element.slot.name
            values = [facts[name]] if name in facts else list(element.slot.values)
            if name not in facts and element.slot.unlike in facts:
                values = [v for v in values if v.form("they") != facts[element.slot.unlike].form("they")]
            heads = [(v.form(element.form), 1 / len(values), {**facts, name: v}) for v in values]
        for head, p, known in heads:
            for rest, q, after in sentence(pattern[1:], known):
                yield head + rest, p * q, after

    def story(beats, facts):
        if not beats:
            yield [], 1.0
            return
        beat, rest = beats[0], beats[1:]
        weight = 0.5 if beat.optional else 1.0
        if beat.optional:
            for others, q in story(rest, facts):
                yield others, q * 0.5
        for pattern in beat.patterns:
            for text, p, known in sentence(pattern, facts):
                for others, q in story(rest, known):
                    yield [text, *others], weight / len(beat.patterns) * p * q

    for sentences, p in story(arc.beats, {}):
        yield " ".join(sentences), p


MINI = """
the mini
thing = key | bell | old bell
- opening
{hero} had {thing.a}.
{friend} gave {hero} {thing.a} and [left|ran].
- doubt, sometimes
{hero.They} [rang|lost] it.
- ending
{hero} and {friend} kept the {thing}.
"""


def test_the_probabilities_of_a_small_arc_sum_to_one_and_are_those_of_its_texts():
    arc = notation.read_arc(MINI, SMALL_PEOPLE)
    written = list(enumerate_arc(arc))
    assert len({text for text, _ in written}) == len(written) == 4 * 3 * 3 * 3
    total = 0.0
    for text, p in written:
        (found,) = grammar.derivations([arc], text)
        assert math.exp(found.log_prob) == pytest.approx(p, rel=1e-12)
        total += math.exp(found.log_prob)
    assert total == pytest.approx(1, rel=1e-9)


def test_a_shipped_arc_with_short_lists_sums_to_one():
    source = next(source for source in tales.SOURCES if source.startswith("\nthe wish"))
    arc = notation.read_arc(shortened(source), SMALL_PEOPLE)
    written = list(enumerate_arc(arc))
    assert len(written) > 5000 and len({text for text, _ in written}) == len(written)
    assert math.fsum(p for _, p in written) == pytest.approx(1, rel=1e-9)
    for text, p in written[::37]:
        (found,) = grammar.derivations([arc], text)
        assert found.log_prob == pytest.approx(math.log(p), rel=1e-12)


def test_a_text_with_two_derivations_would_be_noticed():
    arc = notation.read_arc("the twin\n- only\nA [red|red old] [fox|old fox].")
    assert len(list(grammar.derivations([arc], "A red old fox."))) == 2


def test_position_is_the_first_character_that_no_document_with_this_beginning_has():
    arc = notation.read_arc(MINI, SMALL_PEOPLE)
    language = {text for text, _ in enumerate_arc(arc)}
    prefixes = {text[:end] for text in language for end in range(len(text) + 1)}
    rng = Random(3)
    tried = 0
    for text in sorted(language):
        at = int(rng.random() * len(text))
        for changed in (
            text[:at],
            text[:at] + rng.choice("abe .Lx") + text[at + 1 :],
            text + " A",
            text[:at] + text[at:][::-1],
        ):
            if changed in language:
                continue
            reach = grammar.Reach()
            assert not list(grammar.derivations([arc], changed, reach))
            expected = max(end for end in range(len(changed) + 1) if changed[:end] in prefixes)
            assert reach.position == expected, changed
            tried += 1
    assert tried > 300


@pytest.mark.parametrize(
    ("document", "position", "expected"),
    [
        ("", 0, "the document ends"),
        ("12+34=47", 7, "'6'"),
        ("12+34=466", 8, "the end"),
        ("12+34=4", 7, "'6'"),
        ("12", 2, "'+'"),
        ("12+", 3, "number"),
        ("100+1=101", 2, "'+'"),
        ("07+1=8", 1, "'+'"),
        ("12-3=9", 2, "'+'"),
        ("Q: 12/3", 5, "'*'"),
        ("Q:12", 2, "' '"),
        ("Q: x", 3, "number"),
        (CALL[:-1], len(CALL) - 1, "'8'"),
        (CALL + " ", len(CALL), "the end"),
        (CALL.replace("<result>7608", "<result>7609"), CALL.index("7608") + 3, "'8</result>"),
        (CALL.replace("multiply", "add"), CALL.index("multiply"), "'multiply"),
        ("12+34=４６", 6, "'46'"),
    ],
)
def test_parse_says_where_and_what(document, position, expected):
    found = storyworld.parse(document)
    assert not found and found.position == position and expected in found.expected and found.choices == ()
    with pytest.raises(ValueError, match=f"at character {position}"):
        storyworld.log_prob(document)


def test_a_tale_that_forgets_a_fact_is_refused_where_it_does():
    tale = storyworld.write("tales", Random(0))
    facts = storyworld.parse(tale).facts
    assert facts
    for name, value in facts.items():
        at = tale.rfind(value)
        if at > tale.find(value):
            found = storyworld.parse(tale[:at] + "zebra" + tale[at + len(value) :])
            assert found.position == at, name


def test_tales_cut_short_or_continued():
    for seed in range(50):
        tale = storyworld.write("tales", Random(seed))
        for end in range(0, len(tale), 17):
            cut = storyworld.parse(tale[:end])
            assert not cut and cut.position == end and "document ends" in cut.expected
        more = storyworld.parse(tale + "\n")
        assert more.position == len(tale) and "the end of the tale" in more.expected


def test_calls_have_exactly_the_form_that_tools_read():
    found = storyworld.parse(CALL)
    assert found and found.choices == (("a", 317), ("operator", "*"), ("b", 24))
    assert storyworld.parse('Q: 3-12\n<call>{"tool": "subtract", "args": [3, 12]}</call><result>-9</result>\nA: -9')
    assert storyworld.parse('Q: 0+999\n<call>{"tool": "add", "args": [0, 999]}</call><result>999</result>\nA: 999')


def test_the_probabilities_of_all_sums_are_one_together():
    sums = [f"{a}+{b}={a + b}" for a in range(100) for b in range(100)]
    assert math.fsum(math.exp(storyworld.log_prob(text)) for text in sums) == pytest.approx(1, rel=1e-9)


def test_the_probabilities_of_all_calls_are_one_together():
    total = 0.0
    for sign, tool in (("+", "add"), ("-", "subtract"), ("*", "multiply")):
        for a, many_a in ((7, 10), (70, 90), (700, 900)):
            for b, many_b in ((0, 10), (99, 90), (999, 900)):
                result = {"+": a + b, "-": a - b, "*": a * b}[sign]
                call = f'<call>{{"tool": "{tool}", "args": [{a}, {b}]}}</call>'
                text = f"Q: {a}{sign}{b}\n{call}<result>{result}</result>\nA: {result}"
                total += many_a * many_b * math.exp(storyworld.log_prob(text))
    assert total == pytest.approx(1, rel=1e-9)


def test_choices_come_as_often_as_stated():
    rng = Random(11)
    drawn = [grammar.draw(ARCS, rng.random) for _ in range(6000)]
    arcs = Counter(tale.choices[0][1] for tale in drawn)
    assert len(arcs) == len(ARCS) and chisquare(list(arcs.values())).pvalue > 0.001
    heroes = Counter(tale.facts["hero"] for tale in drawn if tale.choices[1][1] == 0 and "hero" in tale.facts)
    assert len(heroes) == 32 and chisquare(list(heroes.values())).pvalue > 0.001
    for arc in ARCS:
        for name in arc.slots:
            seen = Counter(t.facts[name] for t in drawn if t.choices[0][1] == arc.name and name in t.facts)
            if seen:
                assert len(seen) == len(arc.slots[name].values)
                assert chisquare(list(seen.values())).pvalue > 0.0001, (arc.name, name)
    wishes = [tale for tale in drawn if tale.choices[0][1] == "the wish"]
    for name in ("opening", "secret", "ending"):
        seen = Counter(dict(tale.choices)[name] for tale in wishes)
        expected = {"skipped": len(wishes) / 2, 0: len(wishes) / 4, 1: len(wishes) / 4}
        if name != "secret":
            expected = {0: len(wishes) / 2, 1: len(wishes) / 2}
        assert chisquare([seen[key] for key in expected], list(expected.values())).pvalue > 0.001


def test_numbers_of_calls_come_as_often_as_stated():
    rng = Random(12)
    drawn = [dict(storyworld._draw("calls", rng)[1]) for _ in range(3000)]
    for seen in (
        Counter(call["operator"] for call in drawn),
        Counter(len(str(call["a"])) for call in drawn),
        Counter(len(str(call["b"])) for call in drawn),
        Counter(call["a"] for call in drawn if call["a"] < 10),
    ):
        assert chisquare(list(seen.values())).pvalue > 0.001


def test_floor_by_hand():
    assert storyworld.count_symbols(CALL) == len("Q: 317*24\n?" + '{"tool": "multiply", "args": [317, 24]}') + len(
        "??7608?\nA: 7608."
    )
    assert storyworld.floor(["1+1=2", "10+10=20"]) == pytest.approx(2 * math.log(10_000) / (6 + 9))
    with pytest.raises(ValueError, match="no documents"):
        storyworld.floor([])
    with pytest.raises(ValueError, match="at character 4"):
        storyworld.floor(["1+1=3"])


def test_a_sampled_tale_has_the_floor_that_the_grammar_has():
    """The mean of -log_prob over fresh tales is the entropy; the shipped floor lies within its noise."""
    rng = Random(13)
    fresh = [storyworld.write("tales", rng) for _ in range(1000)]
    shipped = storyworld.floor(documents("tales", "validation"))
    assert shipped == pytest.approx(storyworld.floor(fresh), rel=0.03)
    assert 0.08 <= shipped <= 0.11


# --- reading what may be wrong -----------------------------------------------------------------------------


@given(seed=SEEDS)
@settings(max_examples=100, deadline=None)
def test_every_sentence_of_a_tale_can_be_read_as_what_it_is(seed):
    tale = grammar.draw(ARCS, Random(seed).random)
    arc = tale.choices[0][1]
    skipped = {name for name, value in tale.choices if value == "skipped"}
    beats = [beat.name for a in ARCS if a.name == arc for beat in a.beats if beat.name not in skipped]
    for sentence, beat in zip(storyworld.split_sentences(tale.text), beats, strict=True):
        readings = storyworld.read_sentence(sentence)
        mine = [reading for reading in readings if (reading.arc, reading.beat) == (arc, beat)]
        assert len(mine) == 1
        assert all(tale.facts[name] in values for name, values in mine[0].bindings.items())
    assert storyworld.keeps_facts(tale.text) is True
    assert set(storyworld.split_words(tale.text)) <= storyworld.words()


def test_a_pronoun_leaves_every_name_that_it_can_stand_for():
    (reading,) = storyworld.read_sentence("She asked the cat, who yawned.")
    assert (reading.arc, reading.beat, reading.bindings) == ("the lost thing", "search", {"hero": frozenset(tales.SHE)})
    assert storyworld.read_sentence("She asked the dog, who yawned.") == []
    assert storyworld.read_sentence("") == []


LOST = (
    "Ada had lost her brass key, and her tea was getting cold. She asked the cat, who yawned. "
    "Leo came by with fresh bread and offered to help. They found the brass key behind the clock, quite safe. "
    "Ada thanked Leo, but never learned who had put it behind the clock."
)


def test_keeps_facts_by_hand():
    first, *others = storyworld.split_sentences(LOST)
    assert storyworld.parse(LOST)
    assert storyworld.keeps_facts(LOST) is True
    assert storyworld.keeps_facts(" ".join([*others, first])) is True  # order is not asked for
    assert storyworld.keeps_facts(LOST.replace("She asked", "Shee askt")) is True  # asserts nothing
    assert storyworld.keeps_facts(first) is None
    assert storyworld.keeps_facts("Colourless green ideas sleep. Furiously.") is None
    assert storyworld.keeps_facts("") is None
    assert storyworld.keeps_facts(LOST.replace("found the brass key", "found the tin key")) is False
    assert storyworld.keeps_facts(LOST.replace("found the brass key", "found the brass bell")) is False
    assert storyworld.keeps_facts(LOST.replace("put it behind the clock", "put it under the stairs")) is False
    assert storyworld.keeps_facts(LOST.replace("She asked", "He asked")) is False
    assert storyworld.keeps_facts(LOST.replace("Ada thanked", "Ida thanked")) is False
    assert storyworld.keeps_facts(first + " The hare and the snail agreed to race to the well.") is False


def test_every_fact_can_be_got_wrong():
    """Another value at a fact's last mention is seen, for every slot of every arc."""
    rng = Random(21)
    seen = set()
    for _ in range(1500):
        tale = grammar.draw(ARCS, rng.random)
        arc = next(arc for arc in ARCS if arc.name == tale.choices[0][1])
        for name, value in tale.facts.items():
            if (arc.name, name) in seen:
                continue
            for form in {"", "s", "sound", "event", "Cap"}:
                try:
                    shown = [v.form(form) for v in arc.slots[name].values]
                    now = next(v.form(form) for v in arc.slots[name].values if v.text == value)
                except ValueError:
                    continue
                at = tale.text.rfind(now)
                if at <= tale.text.find(now) or not re.search(rf"\b{re.escape(now)}\b", tale.text[at:]):
                    continue
                wrong = next(
                    (other for other in shown if other != now and (other[0] in "aeiou") == (now[0] in "aeiou")), None
                )
                if wrong is None:
                    continue
                changed = tale.text[:at] + wrong + tale.text[at + len(now) :]
                assert not storyworld.parse(changed)
                if storyworld.keeps_facts(changed) is False:
                    seen.add((arc.name, name))
    told = {
        (arc.name, name)
        for arc in ARCS
        for beat in arc.beats
        for pattern in beat.patterns
        for name in mentioned(pattern)
    }
    assert told - seen == set()


def test_split_sentences_by_hand():
    split = storyworld.split_sentences
    assert split('"Was it good?" asked Leo, and the fox bowed. It sang.') == [
        '"Was it good?" asked Leo, and the fox bowed.',
        "It sang.",
    ]
    assert split('He said, "It is too quiet." Now Leo sits.') == ['He said, "It is too quiet."', "Now Leo sits."]
    assert split('It rained. "Look again," said Bess.') == ["It rained.", '"Look again," said Bess.']
    assert split("One.Two. three") == ["One.Two. three"]
    assert split("  A.\nB?  C") == ["A.", "B?", "C"]
    assert split(" ") == []


def test_split_words_by_hand():
    assert storyworld.split_words("A stork's glow-worm - 12+3, 'tis O'Clock_x") == [
        "a", "stork's", "glow-worm", "tis", "o'clock", "x",
    ]  # fmt: skip


# --- the files -------------------------------------------------------------------------------------------


def test_the_command_reproduces_the_shipped_files_byte_for_byte(tmp_path):
    prose = f"before\n{corpus.BEGIN}old\n{corpus.END}after\n"
    (tmp_path / "README.md").write_text(prose, encoding="utf-8", newline="\n")
    command = [sys.executable, "-m", "course_utils.storyworld", str(tmp_path)]
    subprocess.run(command, check=True, cwd=DATA.parent, capture_output=True, timeout=120)
    names = sorted(path.name for path in tmp_path.glob("*.txt"))
    assert names == sorted(corpus.file_names()) and len(names) == 6
    for name in names:
        assert (tmp_path / name).read_bytes() == (DATA / name).read_bytes(), name
    made, shipped = ((folder / "README.md").read_text(encoding="utf-8") for folder in (tmp_path, DATA))
    assert made.startswith("before\n") and made.endswith("after\n") and "old" not in made
    assert made.split(corpus.BEGIN)[1].split(corpus.END)[0] == shipped.split(corpus.BEGIN)[1].split(corpus.END)[0]


def test_the_readmes_figures_are_those_of_the_files():
    import hashlib

    readme = (DATA / "README.md").read_text(encoding="utf-8")
    total = 0
    for name in corpus.file_names():
        content = (DATA / name).read_bytes()
        count = len(documents(*name.split(".")[:2]))
        assert f"| `{name}` | {count:,} | {len(content):,} | `{hashlib.sha256(content).hexdigest()}` |" in readme
        assert content.isascii() and b"\r" not in content and content.endswith(b"\n")
        total += len(content)
    assert total <= 3_000_000
    for kind in storyworld.KINDS:
        assert f"| {kind} | {storyworld.floor(documents(kind, 'validation')):.4f} |" in readme
    assert "CC0 1.0" in readme and corpus.COMMAND in readme


def test_a_readme_without_markers_is_an_error(tmp_path):
    (tmp_path / "README.md").write_text("prose\n", encoding="utf-8", newline="\n")
    with pytest.raises(ValueError, match="markers"):
        corpus.write_corpus(tmp_path)


@pytest.mark.parametrize("kind", storyworld.KINDS)
def test_train_and_validation_are_disjoint_documents_of_their_kind(kind):
    train, validation = documents(kind, "train"), documents(kind, "validation")
    assert len(set(train) | set(validation)) == len(train) + len(validation)
    assert all(storyworld.parse(text).kind == kind and storyworld.parse(text) for text in validation + train[::5])
    sizes = {"tales": (6500, 500), "sums": (9000, 1000), "calls": (2500, 250)}
    assert abs(len(train) - sizes[kind][0]) <= 20 and abs(len(validation) - sizes[kind][1]) <= 20
    assert max(map(len, train + validation)) <= 400


def test_held_out_pairs_of_sums_never_occur_in_training():
    pairs = {}
    for split in ("train", "validation"):
        found = [re.fullmatch(r"(\d+)\+(\d+)=\d+", text) for text in documents("sums", split)]
        pairs[split] = {frozenset((int(match[1]), int(match[2]))) for match in found}
    assert not pairs["train"] & pairs["validation"]
    assert len(pairs["validation"]) == 505 and len(pairs["train"]) == 5050 - 505
    assert len(documents("sums", "train")) + len(documents("sums", "validation")) == 10_000


def test_training_tales_use_every_word_pattern_and_value():
    train = documents("tales", "train")
    assert {word for text in train for word in storyworld.split_words(text)} == storyworld.words()
    choices = Counter(choice for text in train for choice in storyworld.parse(text).choices)
    assert min(choices.values()) >= 5


def test_importing_the_grammar_imports_nothing_heavy():
    code = "import sys, course_utils.storyworld; sys.exit('torch' in sys.modules or 'numpy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], cwd=DATA.parent).returncode == 0

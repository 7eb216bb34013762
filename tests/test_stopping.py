"""What a caller may ask for, the words in which an end is reported, and the search for stop strings."""

from itertools import product

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from course_utils.stopping import FinishReason, StopCriteria, StopMatcher, finish_reason
from course_utils.text import CharVocab


def test_api_names_are_those_of_servers():
    names = {reason.name: reason.api_name for reason in FinishReason}
    assert names == {"EOS": "stop", "STOP_STRING": "stop", "TOOL_CALL": "tool_calls", "LENGTH": "length", "CONTEXT": "length"}  # noqa: E501  # fmt: skip


def test_every_reason_counts_as_true():
    assert all(FinishReason)  # the loop asks whether a row has a reason


# --- what a caller may ask for


def test_defaults():
    assert StopCriteria() == StopCriteria(100, True, (), False, False)


@pytest.mark.parametrize("budget", [0, 1, 10**9, np.int64(7), np.uint8(7)])
def test_a_budget_is_an_integer(budget):
    criteria = StopCriteria(budget)
    assert criteria.max_new_tokens == budget and type(criteria.max_new_tokens) is int
    assert hash(criteria) == hash(StopCriteria(int(budget)))


@pytest.mark.parametrize("budget", [-1, -100, np.int64(-1)])
def test_a_negative_budget_is_refused(budget):
    with pytest.raises(ValueError, match=f"max_new_tokens is {budget}; expected 0 or more"):
        StopCriteria(max_new_tokens=budget)


@pytest.mark.parametrize("budget", [1.5, 3.0, "3", None, True, [3]])
def test_a_budget_that_is_no_integer_is_refused(budget):
    with pytest.raises(TypeError, match=r"max_new_tokens is .*expected an integer"):
        StopCriteria(max_new_tokens=budget)


def test_criteria_do_not_change():
    with pytest.raises(AttributeError):
        StopCriteria().max_new_tokens = 3
    with pytest.raises(TypeError, match="max_tokens"):
        StopCriteria(max_tokens=3)
    stops = ["a", "b"]
    criteria = StopCriteria(stop=stops)
    stops.append("c")
    assert criteria.stop == ("a", "b") and hash(criteria) == hash(StopCriteria(stop=("a", "b")))


@pytest.mark.parametrize("use", [lambda stop: StopCriteria(stop=stop), StopMatcher])
def test_stop_strings_are_a_list_of_strings_that_are_not_empty(use):
    with pytest.raises(TypeError, match=r"expected a list of strings. For one use \['END'\]"):
        use("END")
    with pytest.raises(ValueError, match="empty string"):
        use(["a", ""])
    with pytest.raises(TypeError, match="holds 3; expected strings"):
        use([3])
    with pytest.raises(TypeError, match="stop is 3; expected a list"):
        use(3)
    with pytest.raises(TypeError, match="expected a list"):
        use(None)


@pytest.mark.parametrize(
    ("eos", "ids"),
    [(True, {1}), (False, set()), (9, {9}), (1, {1}), (0, {0}), ([8, 2, 8], {2, 8}), ((), set()),
     (torch.tensor(7), {7}), (np.array([3, 4]), {3, 4}), ({5}, {5})],
)  # fmt: skip
def test_an_end_mark_is_the_vocabularys_or_one_or_several_ids(eos, ids):
    criteria = StopCriteria(eos=eos)
    assert criteria.eos_ids(CharVocab("abc")) == ids and isinstance(hash(criteria), int)


def test_id_1_as_end_mark_is_not_the_same_as_true():
    assert StopCriteria(eos=1) != StopCriteria(eos=True) and StopCriteria(eos=0) != StopCriteria(eos=False)
    assert StopCriteria(eos=[2, 1]) == StopCriteria(eos=(1, 2))


def test_an_end_mark_that_is_no_id_is_refused():
    for eos in ("<eos>", None, 1.0, [1.0], ["a"]):
        with pytest.raises(TypeError, match="eos is"):
            StopCriteria(eos=eos)
    with pytest.raises(ValueError, match="eos is -1"):
        StopCriteria(eos=-1)
    with pytest.raises(ValueError, match="eos has the id 10; the vocabulary ends with 9"):
        StopCriteria(eos=[3, 10]).eos_ids(CharVocab("abc"))


# --- why it ended


def test_the_first_reason_in_the_order_is_reported():
    for is_eos, stop, call, budget, context in product([True, False], repeat=5):
        reason = finish_reason(is_eos, "x" if stop else None, call, 5, 5 if budget else 6, 9, 9 if context else 10)
        holds = dict(zip(FinishReason, (is_eos, stop, call, budget, context), strict=True))
        assert reason is next((name for name, true in holds.items() if true), None)
    assert finish_reason(False, None, False, 5, 6, 9, None) is None  # no limit to the context


# --- the matcher


def fed(matcher, pieces):
    """What was shown, piece by piece, and at the end."""
    return [matcher.feed(piece) for piece in pieces], matcher.flush()


def by_brute_force(text, stops, include_stop):
    """The text up to the stop string that is complete first, and which it is."""
    for end in range(1, len(text) + 1):
        complete = [stop for stop in stops if text[:end].endswith(stop)]
        if complete:
            stop = max(complete, key=len)
            return text[:end] if include_stop else text[: end - len(stop)], stop
    return text, None


def may_still_match(text, stops):
    """The longest end of the text that is a beginning of a stop string, but not all of it."""
    ends = [text[start:] for start in range(len(text) + 1)]
    return next(end for end in ends if any(stop.startswith(end) and stop != end for stop in stops) or not end)


LETTERS = st.text("ab\n", max_size=12)
STOPS = st.lists(st.text("ab\n", min_size=1, max_size=5), max_size=4)


@given(st.lists(LETTERS, max_size=5), STOPS, st.booleans())
def test_however_the_text_is_cut_the_first_completion_ends_it(pieces, stops, include_stop):
    text = "".join(pieces)
    expected = by_brute_force(text, stops, include_stop)
    for cut in (pieces, [text], list(text), [text[:3], "", text[3:]]):
        matcher = StopMatcher(stops, include_stop)
        shown, rest = fed(matcher, cut)
        assert ("".join(shown) + rest, matcher.matched) == expected


@given(st.lists(LETTERS, max_size=5), STOPS)
def test_nothing_is_held_back_but_what_can_still_match(pieces, stops):
    matcher, text, shown = StopMatcher(stops), "", ""
    for piece in pieces:
        shown, text = shown + matcher.feed(piece), text + piece
        if matcher.matched is not None:
            assert matcher.held == "" and matcher.feed(piece) == matcher.flush() == ""
            break
        assert matcher.held == may_still_match(text, stops) and shown + matcher.held == text


@pytest.mark.parametrize(
    ("text", "stop", "held"),
    [("ask Que", "Question:", 3), ("aab", "ab!", 2), ("abc", "xyz", 0), ("Yes", "Yes please", 3)],
)  # fmt: skip
def test_held_back_lengths(text, stop, held):
    matcher = StopMatcher([stop])
    assert matcher.feed(text) == text[: len(text) - held] and matcher.held == text[len(text) - held :]


CASES = {
    "inside a piece": (["banana"], ["ban"], "", "ban"),
    "over several pieces": (
        [" one", " two", " three", " four", " five"],
        ["three four"],
        " one two ",
        "three four",
    ),
    "earliest completion": (["abcd"], ["bcd", "c"], "ab", "c"),
    "the same, cut": (["a", "b", "c", "d"], ["bcd", "c"], "ab", "c"),
    "first occurrence": (["done;;"], [";"], "done", ";"),
    "text, not tokens": (["a", " T"], ["T"], "a ", "T"),
    "which one": (["x", "B"], ["A", "B"], "x", "B"),
    "one character": (["ab", "c"], ["b"], "a", "b"),
    "over three pieces": (["XY", "Z1", "9"], ["XYZ19"], "", "XYZ19"),
    "over three pieces, more behind it": (["Ok", "\n##", " End", " x"], ["\n## End"], "Ok", "\n## End"),
    "nothing lost": (["abc", "ST"], ["STOP"], "abcST", None),
    "text and stop in one piece": (["yes.\n"], ["\n"], "yes.", "\n"),
    "no merging": (["pas", "sword"], ["q"], "password", None),
    "repeated": (["-", "-", "-"], ["--x"], "---", None),
    "complete together, the longer": (["xabc"], ["c", "abc", "bc"], "x", "abc"),
    "an inner one within a longer beginning": (["aaab"], ["aaaaa", "ab"], "aa", "ab"),
    "a beginning that fails and begins again": (["aabaabaaa"], ["aabaaa"], "aab", "aabaaa"),
    "beyond the first plane": (["a🙂", "b"], ["🙂b"], "a", "🙂b"),
    "none": (["ab", "c"], [], "abc", None),
    "the same one twice": (["ab"], ["b", "b"], "a", "b"),
}


@pytest.mark.parametrize("name", CASES)
def test_matcher_case(name):
    pieces, stops, text, stop = CASES[name]
    for cut in (pieces, list("".join(pieces))):
        matcher = StopMatcher(stops)
        shown, rest = fed(matcher, cut)
        assert ("".join(shown) + rest, matcher.matched) == (text, stop)


def test_pieces_that_cannot_match_pass_at_once():
    assert fed(StopMatcher(["XYZ"]), ["I", " am"]) == (["I", " am"], "")


def test_a_stop_string_that_is_shown_still_cuts_what_follows():
    matcher = StopMatcher(["ban"], include_stop=True)
    assert fed(matcher, ["ba", "nana", "ban"]) == (["", "ban", ""], "") and matcher.matched == "ban"


def test_after_a_flush_the_text_begins_anew():
    matcher = StopMatcher(["ab"])
    assert fed(matcher, ["xa"]) == (["x"], "a")
    assert fed(matcher, ["b"]) == (["b"], "") and matcher.matched is None


def test_a_long_text_and_many_stops():
    stops = ["a" * n + "b" for n in range(1, 51)]
    matcher = StopMatcher(stops)
    assert fed(matcher, ["a" * 100_000, "c" * 1000, "a" * 30, "b"])[0][-1] == "" and matcher.matched == "a" * 30 + "b"

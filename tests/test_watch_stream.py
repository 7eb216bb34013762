"""The panel that shows a stream with stop strings, without a browser. Ids such as stp_02 name faults of others."""

import json
import xml.etree.ElementTree as ET

import matplotlib.pyplot as plt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from course_utils import widgets
from course_utils.exercises.common.deltas import right_cut, right_reading
from course_utils.widgets.watch_stream import Moment, moments, say

texts = st.text("ab\n", max_size=12)
stop_lists = st.lists(st.text("ab\n", min_size=1, max_size=4), max_size=3)


@pytest.fixture
def open_panel():
    made = []

    def make(*args, **settings):
        made.append(widgets.watch_stream(*args, **settings))
        return made[-1]

    yield make
    for panel in made:
        panel.close()


def ask(panel, **settings):
    message = {"view": "v", "kind": "look", "settings": {**panel.settings, **settings}}
    return panel.handle(json.loads(json.dumps(message)))


def plain(html):
    """The text of a piece of HTML, which must be well-formed."""
    return "".join(ET.fromstring(f"<div>{html}</div>").itertext())


# The data


@given(st.lists(texts, max_size=6), stop_lists)
def test_what_is_shown_and_held_is_what_brute_force_finds(pieces, stops):
    found = moments(pieces, stops)
    right = right_reading(pieces, stops)
    assert "".join(m.delta for m in found) == found[-1].shown == right.text
    with_pieces = [m for m in found if m.piece is not None]
    assert len(with_pieces) == right.asked and [m.shown for m in with_pieces] == list(right.shown[1:])
    for n, moment in enumerate(with_pieces, 1):
        if moment.matched is None:
            assert moment.shown + moment.held == "".join(pieces[:n])


@given(texts, stop_lists)
def test_the_end_does_not_depend_on_where_the_pieces_are_cut(text, stops):
    assert moments(text, stops)[-1].shown == moments([text], stops)[-1].shown == text[: right_cut(text, stops)]


def test_a_stop_string_in_two_pieces_is_never_shown():
    assert moments(["Ok", "\n##", " End", " x"], ["\n## End"]) == [
        Moment("Ok", "Ok", "Ok", "", None),
        Moment("\n##", "", "Ok", "\n##", None),
        Moment(" End", "", "Ok", "", "\n## End"),
    ]


def test_what_is_held_is_not_lost_at_the_end():
    assert moments(["abc", "ST"], ["STOP"])[-1] == Moment(None, "ST", "abcST", "", None)


def test_a_stop_that_is_shown_still_cuts_what_follows():
    assert moments(["banana"], ["ban"], include_stop=True)[-1].shown == "ban"


def test_the_sentence_names_the_stops_that_may_come():
    stops = ["ab!", "bc", "x"]
    held = moments(["aab"], stops)[0]
    assert held.held == "ab"
    assert say(held, stops) == "“ab” is held back, because it may become “ab!” or “bc”."
    assert "Nothing is held back" in say(moments(["xyz"], ["Q"])[0], ["Q"])


# The panel


def test_the_text_appears_piece_by_piece_and_what_waits_is_marked(open_panel):
    panel = open_panel(["yes", ".\n", "Q", ": and"], ["\nQ:"])
    seen = [ask(panel, n=n)["slots"] for n in range(6)]
    assert [plain(slots["text"]) for slots in seen] == ["", "yes", "yes.⏎\n", "yes.⏎\nQ", "yes.", "yes."]
    assert ET.fromstring(seen[3]["text"]).find("mark").text == "⏎\nQ"
    assert "mark" not in seen[4]["text"] and "is complete. The text ends before it" in plain(seen[4]["summary"])
    assert plain(seen[0]["summary"]) == "No piece has arrived yet."
    assert [slots["numbers"].count("<tr>") for slots in seen] == [1, 2, 3, 4, 5, 5]  # the head is one


def test_the_pieces_after_the_stop_are_counted_not_shown(open_panel):
    panel = open_panel(["a;", "b", "c"], [";"])
    said = plain(ask(panel, n=2)["slots"]["summary"])
    assert "2 further pieces were never made" in said and "b" not in plain(ask(panel, n=3)["slots"]["text"])


def test_at_the_end_the_text_is_whole(open_panel):
    panel = open_panel(["abc", "ST"], ["STOP"])
    slots = ask(panel, n=3)["slots"]
    assert plain(slots["text"]) == "abcST" and "“ST” was held back" in plain(slots["summary"])
    assert dict(panel.controls[0].words) == {"3": "end"}


def test_other_stop_strings_are_a_json_list(open_panel):
    panel = open_panel("yes.\nno", ["\n"])
    assert panel.settings["stops"] == '["\\n"]'
    assert plain(ask(panel, n=8)["slots"]["text"]) == "yes."
    assert plain(ask(panel, n=8, stops='["no"]')["slots"]["text"]) == "yes.⏎\n"
    assert plain(ask(panel, n=8, stops='["no"]', show="yes")["slots"]["text"]) == "yes.⏎\nno"
    assert plain(ask(panel, n=8, stops="[]")["slots"]["text"]) == "yes.⏎\nno"


@pytest.mark.parametrize("written", ["", "\n", "END", '"END"', '["END"', '[""]', "[7]", "{}", "null"])
def test_a_list_that_is_none_is_said_in_the_panel_which_lives_on(open_panel, written):
    panel = open_panel(["ab"], ["b"])
    answer = ask(panel, stops=written)
    assert answer["error"] == panel.error and ("expected" in answer["error"] or "empty string" in answer["error"])
    assert "error" not in ask(panel, stops='["b"]') and panel.error is None


def test_html_in_a_stream_is_text(open_panel):
    panel = open_panel(["<b>&", "</p>"], ["</p>"])
    slots = ask(panel, n=1)["slots"]
    assert plain(slots["text"]) == "<b>&" and all(plain(slots[name]) for name in ("summary", "numbers"))


def test_bad_arguments_are_refused():
    with pytest.raises(TypeError, match="Decode token ids first"):
        widgets.watch_stream([7, 8])
    with pytest.raises(TypeError, match="expected a list of strings"):
        widgets.watch_stream(["a"], "END")
    with pytest.raises(ValueError, match="empty string"):
        widgets.watch_stream(["a"], [""])


@pytest.mark.parametrize(
    "pieces", [[], [""], ["你好", "🙂" * 40], list("a long text, one character at a time, and on")]
)
def test_the_still_and_the_caption(open_panel, pieces, recwarn):
    panel = open_panel(pieces, ["END"])
    bundle = panel._repr_mimebundle_()
    assert bundle["text/plain"] == repr(panel) and f"Panel, {len(pieces)} pieces" in repr(panel)
    assert bundle["image/png"]
    ax = panel.still(panel.settings)
    assert ax.get_title() and "characters" in ax.get_ylabel() and ax.get_xlabel()
    assert sum(bar.get_height() for bar in ax.containers[0][-1:]) == len("".join(pieces[:30]))
    plt.close("all")
    assert [str(warning.message) for warning in recwarn] == []


def test_the_stills_bars_are_what_is_shown_and_what_waits(open_panel):
    panel = open_panel(["ab", "ST", "x"], ["STOP"])
    ax = panel.still(panel.settings)
    assert [[bar.get_height() for bar in bars] for bars in ax.containers] == [[2, 2, 5], [0, 2, 0]]
    plt.close("all")

"""Exercise 07.stop_matcher: a generator that streams a text up to a stop string."""

# The reference is shown to learners as they would write it, without types.
# mypy: allow-untyped-defs

from collections.abc import Callable

from course_utils.checker.exercise import Call, Case, Expectation, FunctionExercise, Holds, Recognises
from course_utils.exercises.common.deltas import Pieces, Reading, Reads, given, right_reading, same_reading, same_text
from course_utils.exercises.common.hints import EARLIER_CALL


def cut_at_stop(pieces, stops):
    """Yield the text of `pieces` up to the stop that completes first, each part as soon as it is certain."""
    held = ""  # the end of the text so far, as far as a stop may begin in it
    for piece in pieces:
        delta = ""
        for character in piece:
            held += character
            completed = [stop for stop in stops if held.endswith(stop)]
            if completed:
                longest = max(completed, key=len)
                delta += held.removesuffix(longest)
                if delta:
                    yield delta
                return
            while held and not any(stop.startswith(held) for stop in stops):
                delta += held[0]
                held = held[1:]
        if delta:
            yield delta
    if held:
        yield held


def _case(hint_id: str, hint: str, call: Call, expect: Expectation) -> Case:
    """A case whose answer is read before it is judged."""
    return Case(hint_id, hint, call, Reads(expect, most=2 * len("".join(call.args()[0])) + 100))


def _wrong(hint_id: str, hint: str, call: Call, wrong: list[str] | Callable[[Reading], bool]) -> Case:
    """A case that recognises one mistake. wrong: texts, or a function of the reading."""
    recognise = wrong if callable(wrong) else lambda reading: reading.text in wrong
    return _case(hint_id, hint, call, Recognises(recognise))


def _text(hint_id: str, hint: str, pieces: list[str], stops: list[str], container: Callable = Pieces) -> Case:
    """A case that asks for the right text, however it is cut into deltas."""
    return _case(hint_id, hint, given(pieces, stops, container), Holds(same_text(pieces, stops)))


def _all(hint_id: str, hint: str, pieces: list[str], stops: list[str], shown: str = "") -> Case:
    """A case that asks for the right text at each moment, and for no piece too many."""
    return _case(hint_id, hint, given(pieces, stops, shown=shown), Holds(same_reading(pieces, stops)))


_ONE = given(["Hello END x"], ["END"])
_OVER = given(["He", "llo E", "ND x"], ["END"])
_PLAIN = given(["plain text"], ["END"])
_FLUSH, _FLUSHED = given(["abc", "ST"], ["STOP"]), "abcST"
_NEXT = given(["OP!"], ["STOP"])
_NO_STOP = (["I", " am", " here"], ["XYZ"])
_SHOWN = right_reading(*_NO_STOP).shown
_BINARY = [f"{i * i:b}" for i in range(40)]
_BINARY_STOPS = ["01111000001", "0000000000", "110110110", "10011001110"]
_BINARY_SHOWN = f'pieces [f"{{i * i:b}}" for i in range(40)] and stops {_BINARY_STOPS}'
_FIFTY = [f"{i:02}!" for i in range(50)]
_LONG = "this is where the answer of the machine ends"
_MANY = (["ab"] * 150 + ["aST", "OPb"], ["STOP"])

_EMPTY = "a delta was empty. Yield only deltas that have text."
_CERTAIN = "too much was held back. Before you read the next piece, show everything that can no longer become a stop."
_EARLY = (
    "a part of the stop was shown before its rest arrived. Hold back the end of the text as long as a stop may begin "
    "in it."
)
_RESTART = (
    "when a match breaks off, another one may already have begun inside it. Look at the end of the text again after "
    "each character."
)
_EARLIEST = (
    "the stop that completes first ends the text, not the one that begins first. Imagine that the characters arrive "
    "one by one."
)
_LIST_ORDER = "the order of the list decided here. What counts is where the stops complete in the text."
_LONGER = "two stops complete with the same character. Cut off the longer one."
_HELD_FOR_ALL = "each stop may need another part of the text to be held back. Hold back the longest of these parts."
_EXACT = (
    "search for the stops exactly as they are written. They are not patterns, and capitals, spaces and line ends count."
)
_ANY_CUTS = "the result must not depend on how the text was cut into pieces, and a piece may be empty."

EXERCISE = FunctionExercise(
    id="07.stop_matcher",
    writes="`cut_at_stop(pieces, stops)`",
    contract="iterable of str, list of non-empty str → generator of non-empty deltas; their join is the text before "
    "the stop that completes earliest (of two that complete together, the longer); holds back only what can still "
    "match, and shows the rest before it asks for the next piece; asks for none after the stop; flushes at the end",
    difficulty="hard",
    minutes=20,
    hints=(
        "Keep one str, `held`, for the end of the text that you have not shown yet. Add to it one character at a time.",
        "After each character, ask whether `held` ends with a stop. If it does, show what stands before the stop, and "
        "`return`.",
        "Otherwise, as long as no stop starts with `held`, its first character is certain to be shown. Move it to the "
        "delta.",
        "After each piece, `yield` the delta if it has text. After the last piece, `yield` what is still held.",
    ),
    reference=cut_at_stop,
    cases=(
        _wrong("a-generator", "this is not a generator of texts. Go through the pieces in a loop, and `yield` each "
               "delta as a str.", _PLAIN,
               lambda r: False),
        _wrong("piece-dropped", "a piece may hold both the end of the answer and the stop. What stands before the "
               "stop belongs to the text.", _ONE, [""]),
        _wrong("earlier-call", EARLIER_CALL, _PLAIN, lambda r: not r.text or "Hello" in r.text),
        _wrong("inside-a-piece", "the stop stands in the middle of a piece. Look for it in the text, because a piece "
               "need not equal it or end with it.", _ONE, ["Hello END x"]),
        _wrong("stop-shown", "the stop itself was shown. The text ends before it.", _ONE, ["Hello END"]),
        _wrong("goes-on", "text after the stop was shown. The first stop ends everything.", _ONE,
               lambda r: r.text.endswith(" x")),
        _wrong("over-pieces", "the stop was spread over two pieces and went unnoticed. Look at the text so far, not "
               "at each piece by itself.", _OVER, ["Hello END x"]),
        _wrong("shown-too-early", _EARLY, _OVER, ["Hello E"]),
        _case("by-hand", "join the pieces on paper, mark the stop, and take what stands before it.", _OVER,
              Holds(same_text(["He", "llo E", "ND x"], ["END"]))),
        _wrong("flush", "the end of the text is missing. It was held back for a stop that never came. When the pieces "
               "end, show what you still hold.", _FLUSH, lambda r: r.text != _FLUSHED and _FLUSHED.startswith(r.text)),
        _wrong("earlier-call", f"{EARLIER_CALL} What the call before had held back is such a thing.", _NEXT,
               lambda r: r.text != "OP!"),
        _wrong("all-at-once", "all pieces were read before the first delta came, so nothing was streamed. `yield` "
               "inside the loop, as soon as something is certain.", given(*_NO_STOP), lambda r: not any(r.shown[:3])),
        _wrong("a-piece-late", "each delta came only after the next piece had been read. That piece may take a second "
               "to arrive, so show first and read on afterwards.",
               given(*_NO_STOP), lambda r: r.shown[1:] == ("", *_SHOWN[1:-1])),
        _text("text-changed", "show each character exactly as it came, including spaces and line ends.",
              ["I", " am\n", " here"], ["XYZ"]),
        _wrong("held-too-long", f"{_CERTAIN} No stop begins with one of these letters.", given(*_NO_STOP),
               lambda r: r.shown != _SHOWN),
        _text("one-character", "a stop may be a single character. Then there is never anything to hold back.",
              ["ab", "c"], ["b"]),
        _wrong("empty-delta", _EMPTY, given(["", "a", "", "b"], ["x"]), lambda r: not all(r.deltas)),
        _wrong("empty-delta", f"{_EMPTY} Before this stop there is no text.", given(["STOP", " now"], ["STOP"]),
               lambda r: not all(r.deltas)),
        _wrong("last-one", "the first stop in the text should end it. Here a later one did.", given(["done;;"], [";"]),
               ["done;"]),
        _wrong("reads-on", "another piece was read after the stop was complete. Return at once, because the model has "
               "to compute each piece.", given(["a;", "b", "c"], [";"]), lambda r: r.asked > 1),
        _wrong("only-one-stop", "there are several stops, and any of them can end the text.",
               given(["one, two"], ["!", ":", ","]), ["one, two"]),
        _wrong("list-order", _LIST_ORDER, given(["one, two; three"], [";", ","]), ["one, two"]),
        _text("list-order", f"{_LIST_ORDER} Here the first stop in the list completes first.", ["one, two; three"],
              [",", ";"]),
        _text("earliest", _EARLIEST, ["abcd"], ["bcd", "c"]),
        _wrong("longer-of-two", _LONGER, given(["xabc!"], ["c", "abc"]), ["xab"]),
        _text("longer-of-two", f"{_LONGER} Their order in the list does not matter.", ["xabc!"], ["abc", "c"]),
        _text("longer-of-two", f"{_LONGER} The alphabet does not matter either.", ["xba!"], ["a", "ba"]),
        _wrong("empty-delta", f"{_EMPTY} Two stops are complete here, and there is no text before the longer one.",
               given(["ba", "!"], ["a", "ba"]), lambda r: not all(r.deltas)),
        _all("reads-on", "a stop ends the text even where nothing stands before it. Then yield no delta, and read no "
             "other piece.", ["ba", "!"], ["a", "ba"]),
        _all("earliest", "a complete stop ends the text, even where a longer stop has the same beginning. Do not wait "
             "for the longer one.", ["xab", "c"], ["abc", "ab"]),
        _text("restart", _RESTART, ["aaab!"], ["aab"]),
        _text("restart", f"{_RESTART} Here the second match begins with the second a.", ["aab", "!z"], ["ab!"]),
        _text("restart", f"{_RESTART} Here the second match begins in the middle of the first.", list("abababc!"),
              ["ababc"]),
        _wrong("longest-part", _HELD_FOR_ALL, given(["abc", "X!"], ["cdY", "abcX"]), lambda r: r.text != ""),
        _wrong("longest-part", f"{_HELD_FOR_ALL} Here that is the part for the first stop.",
               given(["abc", "X!"], ["abcX", "cdY"]),
               lambda r: r.text != ""),
        _text("held-and-lost", "a match broke off, and the text that was held back for it is missing. It belongs to "
              "the answer.", ["abc", "d", "!"], ["abcX", "cdY"]),
        _all("held-too-long", f"{_CERTAIN} One match has broken off, and only a shorter one is left.",
             ["abc", "d", "!"], ["abcX", "cdY"]),
        _all("held-too-long", f"{_CERTAIN} No stop begins with the end of this text.", ["sto", "st", "op"],
             ["stop!"]),
        _all("held-too-long", f"{_CERTAIN} Only the end of the text can be the beginning of a stop.",
             ["E, N, D", " and E", "ach"], ["END"]),
        _text("exact", _EXACT, ["xbc.c"], [".c"]),
        _text("exact", f"{_EXACT} These stops contain signs that have a meaning in patterns.", ["1+1=2 (or |3)"],
              ["+", "|3)"]),
        _text("exact", f"{_EXACT} Small letters are not capitals.", [" end ", "END"], ["END"]),
        _all("exact", f"{_EXACT} Hold back nothing that is written in another way.", ["e", "n", "d"], ["END"]),
        _text("exact", f"{_EXACT} Here the stop is made of line ends.", ["a\n", "\n\n", "b"], ["\n\n"]),
        _text("exact", f"{_EXACT} Here the stop begins with a space.", ["ab", " \tb "], [" b"]),
        _text("exact", f"{_EXACT} These stops are not in English letters.", ["e\u0301 你", "好🙂!"], ["é", "好🙂"]),
        _all("any-pieces", _ANY_CUTS, ["a", "E", "", "N", "", "D", "b"], ["END"]),
        _all("any-pieces", f"{_ANY_CUTS} Here there is one piece.", ["xabcabdy"], ["abd"]),
        _all("any-pieces", f"{_ANY_CUTS} Here each character is a piece.", list("xabcabdy"), ["abd"]),
        _all("any-pieces", f"{_ANY_CUTS} Here one piece is exactly the stop.", ["x", "STOP", "y"], ["STOP"]),
        _text("any-iterable", "`pieces` may be a list or an iterator. A loop works for both; `next` and `len` do not.",
              ["x", "ENDy"], ["END"], list),
        _text("any-iterable", "`pieces` may be any iterable. A loop goes through all of them.", ["xE", "NDy"], ["END"],
              tuple),
        _all("nothing", "without pieces there is no text, so yield nothing.", [], ["x"]),
        _all("nothing", "without stops, show everything, each piece as it comes.", ["ab", "", "c"], []),
        _all("many", "there may be many stops. Look for a limit in the code.", ["4", "9", "1!", "x4", "9!"], _FIFTY,
             """pieces ["4", "9", "1!", "x4", "9!"] and stops [f"{i:02}!" for i in range(50)]"""),
        _all("many", "a stop may be long, and spread over many pieces. Look for a limit in the code.",
             ["so ", *_LONG[:-1], "x ", *_LONG, "!"], [_LONG],
             f'pieces ["so ", *s[:-1], "x ", *s, "!"] and stops [s], where s = "{_LONG}"'),
        _all("many", "a text may be long. Look for a limit in the code.", *_MANY, 'pieces ["ab"] * 150 + ["aST", '
             '"OPb"] and stops ["STOP"]'),
        _all("many", "in a long text many matches begin and break off. Hold each one back until it breaks off, and no "
             "longer.",
             _BINARY, _BINARY_STOPS, _BINARY_SHOWN),
    ),
)  # fmt: skip

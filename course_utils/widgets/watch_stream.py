"""A stream with stop strings, piece by piece: what is shown by then, what waits, and why.

The matcher is the loop's own. What it did after each piece is data first; the text, the sentence, the table and the
still picture are all made from it.
"""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape

from matplotlib.axes import Axes

from course_utils.plots.streaming import held_back
from course_utils.stopping import StopMatcher, checked_stops
from course_utils.widgets import views
from course_utils.widgets.controls import Control
from course_utils.widgets.panel import Panel, html

_STILL = 30  # pieces in the still picture: as many as have room for their labels


@dataclass(frozen=True)
class Moment:
    """A stream after one more piece.

    piece: the text that came, or None at the end of the stream. delta: what it let be shown. shown: all of that so far.
    held: what waits. matched: the stop string that is complete, or None.
    """

    piece: str | None
    delta: str
    shown: str
    held: str
    matched: str | None


def moments(pieces: Iterable[str], stops: Sequence[str], include_stop: bool = False) -> list[Moment]:
    """The stream after each piece. The last moment is the one in which a stop string is complete, or the end."""
    matcher, shown, found = StopMatcher(stops, include_stop), "", []
    for piece in pieces:
        delta = matcher.feed(piece)
        shown += delta
        found.append(Moment(piece, delta, shown, matcher.held, matcher.matched))
        if matcher.matched is not None:
            return found
    rest = matcher.flush()
    return [*found, Moment(None, rest, shown + rest, "", None)]


def say(moment: Moment, stops: Sequence[str]) -> str:
    """One sentence: what this moment decided."""
    if moment.matched is not None:
        return f"{_quote(moment.matched)} is complete. The text ends before it, and no further piece is read."
    if moment.piece is None:
        late = (
            f" {_quote(moment.delta)} was held back. It is shown now, because it did not become a stop string."
            if moment.delta
            else ""
        )
        return f"The stream has ended.{late}"
    if not moment.held:
        return "Nothing is held back, because no stop string begins with the end of this text."
    possible = [_quote(stop) for stop in stops if any(moment.held.endswith(stop[:n]) for n in range(1, len(stop)))]
    return f"{_quote(moment.held)} is held back, because it may become {' or '.join(possible)}."


def watch_stream(pieces: Iterable[str], stops: Sequence[str] = (), include_stop: bool = False) -> Panel:
    """A slider through a stream: the text so far, its held-back end marked, and the reason in words.

    pieces: texts as they come, such as a model's decoded tokens. stops: the stop strings to begin with; the panel takes
        others as a JSON list, in which a line end is written as \\n. include_stop: show the one that was found.
    Raises TypeError for a piece that is not a text, and ValueError or TypeError for stop strings that cannot be used.
    """
    pieces = list(pieces)
    if wrong := [piece for piece in pieces if not isinstance(piece, str)]:
        raise TypeError(f"pieces holds {wrong[0]!r}; expected texts. Decode token ids first.")
    stream = _Stream(pieces)
    written = json.dumps(list(checked_stops(stops)), ensure_ascii=False)
    controls = [
        Control("n", "slider", "Pieces so far", 0, 0, len(pieces) + 1, 1, {str(len(pieces) + 1): "end"}),
        Control("stops", "text", "Stop strings", written),
        Control("show", "choice", "Found stop", "yes" if include_stop else "no",
                options=(("no", "is cut off"), ("yes", "is shown"))),
    ]  # fmt: skip
    return Panel("A stream with stop strings", controls, stream.fast, None, stream.still, stream.caption)


class _Stream:
    """The views of one stream."""

    def __init__(self, pieces: list[str]):
        self.pieces = pieces

    def read(self, settings: dict) -> tuple[list[Moment], tuple[str, ...]]:
        """All moments under these settings, and the stop strings."""
        stops = _read_stops(settings["stops"])
        return moments(self.pieces, stops, settings["show"] == "yes"), stops

    def at(self, settings: dict) -> tuple[Moment | None, str]:
        """The moment that the slider is at, None before the first, and the sentence for it."""
        found, stops = self.read(settings)
        n = min(settings["n"], len(found))
        if n == 0:
            return None, "No piece has arrived yet."
        moment = found[n - 1]
        if moment.piece is None:
            return moment, say(moment, stops)
        left = (
            f" {len(self.pieces) - n} further pieces were never made."
            if moment.matched and n < len(self.pieces)
            else ""
        )
        return moment, f"Piece {n} is {_quote(moment.piece)}. {say(moment, stops)}{left}"

    def fast(self, settings: dict) -> dict[str, str]:
        moment, said = self.at(settings)
        found, _ = self.read(settings)
        return {"summary": html("p", said), "text": _text(moment), "numbers": _table(found[: settings["n"]])}

    def still(self, settings: dict) -> Axes:
        found = [moment for moment in self.read(settings)[0] if moment.piece is not None][:_STILL]
        labels = [views.visible(piece) for piece in self.pieces[: len(found)]]
        shown, held = [len(m.shown) for m in found], [len(m.held) for m in found]
        return held_back(labels, shown, held, "The panel's picture, as it opens")

    def caption(self, settings: dict) -> str:
        moment, said = self.at(settings)
        shown = "" if moment is None else moment.shown
        return f"Panel, {len(self.pieces)} pieces, stop strings {settings['stops']}. {said} Shown: {_quote(shown)}."


def _read_stops(written: str) -> tuple[str, ...]:
    """The stop strings from a JSON list."""
    expected = 'expected a JSON list of texts, such as ["END", "\\n"]'
    try:
        stops = json.loads(written)
    except ValueError as error:
        raise ValueError(f"Stop strings are {written!r}; {expected}. {error}.") from None
    if not isinstance(stops, list):
        raise ValueError(f"Stop strings are {written!r}; {expected}.")
    return checked_stops(stops)


def _quote(text: str) -> str:
    return f"“{views.visible(text)}”"


def _text(moment: Moment | None) -> str:
    """What is shown, with the end that waits marked by more than colour."""
    shown, held = ("", "") if moment is None else (moment.shown, moment.held)
    waiting = f'<mark aria-label="held back">{_lines(held)}</mark>' if held else ""
    return f"<p>{_lines(shown)}{waiting}</p>"


def _lines(text: str) -> str:
    """Line ends and tabs visible, and kept."""
    return escape(text).replace("\n", "⏎\n").replace("\t", "⇥\t")


def _table(found: Sequence[Moment]) -> str:
    head = ("piece", "text", "shown now", "held back", "stop")
    rows = []
    for n, moment in enumerate(found, 1):
        name = "end" if moment.piece is None else str(n)
        cells = (moment.piece or "", moment.delta, moment.held, moment.matched or "")
        columns = "".join(f"<td>{escape(views.visible(cell))}</td>" for cell in cells)
        rows.append(f'<tr><th scope="row">{name}</th>{columns}</tr>')
    columns = "".join(f'<th scope="col">{name}</th>' for name in head)
    return f"<table><thead><tr>{columns}</tr></thead><tbody>{''.join(rows)}</tbody></table>"

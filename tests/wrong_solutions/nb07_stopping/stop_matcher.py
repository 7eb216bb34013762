"""Planted solutions to 07.stop_matcher."""

import re
import unicodedata

from course_utils.stopping import StopMatcher
from wrong_solutions import planting

wrong, right = planting("07.stop_matcher")


def completed(text, stops):
    """The longest stop that ends the text, or None."""
    return max((stop for stop in stops if text.endswith(stop)), key=len, default=None)


def open_part(text, stops):
    """How many characters at the end of the text may begin a stop."""
    return max((n for stop in stops for n in range(len(stop)) if text.endswith(stop[:n])), default=0)


def some(text):
    return [text] if text else []


def matcher(completed=completed, open_part=open_part, flush=True, keep=False, some=some, one_by_one=True):
    """A right matcher, some of whose parts may be replaced by wrong ones."""

    def cut(pieces, stops):
        text, shown = "", 0
        for piece in pieces:
            for part in piece if one_by_one else [piece]:
                text += part
                if (stop := completed(text, stops)) is not None:
                    yield from some(text[shown : len(text) if keep else len(text) - len(stop)])
                    return
            until = max(shown, len(text) - open_part(text, stops))
            yield from some(text[shown:until])
            shown = until
        if flush:
            yield from some(text[shown:])

    return cut


@wrong("a-generator")
def s_returns_a_str(pieces, stops):
    return "".join(matcher()(pieces, stops))


@wrong("a-generator")
def s_yields_lists(pieces, stops):
    yield [*matcher()(pieces, stops)]


@wrong("a-generator")
def s_raises_while_it_is_read(pieces, stops):
    for piece in pieces:
        yield piece[: piece.index(stops[0]) + undefined]  # noqa: F821  the mistake


@wrong("a-generator")
def s_indexes_the_pieces(pieces, stops):
    for i in range(len(pieces)):
        yield pieces[i]


@wrong("a-generator")
def s_never_ends(pieces, stops):
    yield "Hello "
    while True:
        print("again")


wrong("a-generator")(lambda pieces, stops: 5)
wrong("a-generator")(lambda pieces, stops: (b"Hello " for _ in pieces))


@wrong("inside-a-piece")
def s_piece_equals_a_stop(pieces, stops):
    for piece in pieces:
        if piece in stops:
            return
        yield piece


@wrong("inside-a-piece")
def s_piece_ends_with_a_stop(pieces, stops):
    text = ""
    for piece in pieces:
        text += piece
        if any(text.endswith(stop) for stop in stops):
            return
        yield piece


@wrong("inside-a-piece")
def s_passes_all_on(pieces, stops):
    yield from pieces


wrong("stop-shown")(matcher(keep=True))
wrong("text-changed")(lambda pieces, stops: matcher()((piece.strip() for piece in pieces), stops))
wrong("text-changed")(lambda pieces, stops: (delta.replace("\n", " ") for delta in matcher()(pieces, stops)))


@wrong("held-and-lost")
def s_loses_what_was_held(pieces, stops):
    found = StopMatcher(stops)
    for piece in pieces:
        held, delta = found.held, found.feed(piece)
        lost = len(held) if held and found.matched is None and delta.startswith(held) else 0
        yield from some(delta[lost:])
        if found.matched is not None:
            return
    yield from some(found.flush())


@wrong("reads-on")
def s_returns_only_behind_a_delta(pieces, stops):
    found = StopMatcher(stops)
    for piece in pieces:
        if delta := found.feed(piece):
            yield delta
            if found.matched is not None:
                return
    yield from some(found.flush())


@wrong("goes-on")
def s_removes_the_stops(pieces, stops):
    for piece in pieces:
        for stop in stops:
            piece = piece.replace(stop, "")
        yield piece


@wrong("goes-on")
def s_text_after_the_stop(pieces, stops):
    text = "".join(pieces)
    for stop in stops:
        text = text.partition(stop)[2] or text
    yield text


@wrong("piece-dropped")
def s_drops_the_piece(pieces, stops):
    text = ""
    for piece in pieces:
        text += piece
        if any(stop in text for stop in stops):
            return
        yield piece


wrong("piece-dropped")(lambda pieces, stops: [])


@wrong("over-pieces")
def s_searches_each_piece(pieces, stops):
    for piece in pieces:
        at = min((piece.find(stop) for stop in stops if stop in piece), default=None)
        yield from some(piece[:at])
        if at is not None:
            return


wrong("shown-too-early")(matcher(open_part=lambda text, stops: 0))


@wrong("by-hand")
def s_cuts_one_too_many(pieces, stops):
    for delta in matcher()(pieces, stops):
        yield delta[:-1] if delta.endswith("o ") else delta


@wrong("by-hand")
def s_strips(pieces, stops):
    first = True
    for delta in matcher()(pieces, stops):
        yield delta.strip() if "l" in delta and not first else delta
        first = False


wrong("flush")(matcher(flush=False))
wrong("flush")(matcher(flush=False, open_part=lambda text, stops: max(map(len, stops), default=1) - 1))


def _leaking():
    """Keeps what it holds in a place that all calls share."""
    state = {"text": "", "shown": 0}

    def cut(pieces, stops):
        for piece in pieces:
            for character in piece:
                state["text"] += character
                if (stop := completed(state["text"], stops)) is not None:
                    yield from some(state["text"][state["shown"] : -len(stop)])
                    state.update(text="", shown=0)
                    return
            until = max(state["shown"], len(state["text"]) - open_part(state["text"], stops))
            yield from some(state["text"][state["shown"] : until])
            state["shown"] = until
        yield from some(state["text"][state["shown"] :])
        state["shown"] = len(state["text"])

    return cut


wrong("earlier-call")(_leaking())


def _stopped_for_ever():
    done = []

    def noted(text, stops):
        if (stop := completed(text, stops)) is not None:
            done.append(stop)
        return stop

    return lambda pieces, stops: iter(()) if done else matcher(completed=noted)(pieces, stops)


wrong("earlier-call")(_stopped_for_ever())


@wrong("all-at-once")
def s_a_list(pieces, stops):
    return list(matcher()(pieces, stops))


@wrong("all-at-once")
def s_joins_first(pieces, stops):
    yield from matcher()(["".join(pieces)], stops)


@wrong("all-at-once")
def s_reads_all_then_yields_in_turn(pieces, stops):
    yield from matcher()(list(pieces), stops)


@wrong("all-at-once")
def s_collects_deltas(pieces, stops):
    yield "".join(matcher(some=some)(pieces, stops))


@wrong("a-piece-late")
def s_looks_ahead(pieces, stops):
    def ahead():
        pieces_left = iter(pieces)
        last = next(pieces_left, None)
        for piece in pieces_left:
            yield last
            last = piece
        if last is not None:
            yield last

    yield from matcher()(ahead(), stops)


wrong("held-too-long")(matcher(open_part=lambda text, stops: max(map(len, stops), default=1) - 1))
wrong("held-too-long")(matcher(open_part=lambda text, stops: min(len(text), 3)))
wrong("empty-delta")(matcher(some=lambda text: [text]))


@wrong("empty-delta")
def s_empty_before_the_stop(pieces, stops):
    text, shown = "", 0
    for piece in pieces:
        for character in piece:
            text += character
            if (stop := completed(text, stops)) is not None:
                yield text[shown : -len(stop)]
                return
        until = len(text) - open_part(text, stops)
        if until > shown:
            yield text[shown:until]
            shown = until
    if text[shown:]:
        yield text[shown:]


def by_find(choose):
    """Searches the whole text after each piece. choose: from (begin, end, place in the list) of all that occur."""

    def cut(pieces, stops):
        text, shown = "", 0
        for piece in pieces:
            text += piece
            found = [(text.find(stop), text.find(stop) + len(stop), i) for i, stop in enumerate(stops) if stop in text]
            if found:
                yield from some(text[shown : choose(found)[0]])
                return
            until = max(shown, len(text) - open_part(text, stops))
            yield from some(text[shown:until])
            shown = until
        yield from some(text[shown:])

    return cut


wrong("earliest")(by_find(min))
wrong("list-order")(by_find(lambda found: found[0]))
wrong("list-order")(by_find(lambda found: found[-1]))
wrong("longer-of-two")(by_find(lambda found: min(found, key=lambda f: f[1])))
wrong("longer-of-two")(by_find(lambda found: min(found, key=lambda f: (f[1], -f[0]))))
wrong("longer-of-two")(by_find(lambda found: min(found, key=lambda f: (f[1], -f[2]))))
right(by_find(lambda found: min(found, key=lambda f: (f[1], f[0]))))


@wrong("longer-of-two")
def s_first_of_the_alphabet(pieces, stops):
    yield from by_find(lambda found: min(found, key=lambda f: (f[1], sorted(stops).index(stops[f[2]]))))(pieces, stops)


@right
def s_without_stops_that_cannot_win(pieces, stops):
    """A stop that begins with another one never completes first."""
    yield from matcher()(pieces, [s for s in stops if not any(s != t and s.startswith(t) for t in stops)])


@wrong("last-one")
def s_last_occurrence(pieces, stops):
    text, shown = "", 0
    for piece in pieces:
        text += piece
        ends = [text.rfind(stop) for stop in stops if stop in text]
        if ends:
            yield from some(text[shown : min(ends)])
            return
        until = max(shown, len(text) - open_part(text, stops))
        yield from some(text[shown:until])
        shown = until
    yield from some(text[shown:])


@wrong("reads-on")
def s_drains(pieces, stops):
    yield from matcher()(pieces, stops)
    for _ in pieces:
        pass


@wrong("reads-on")
def s_flag_instead_of_return(pieces, stops):
    text, shown, done = "", 0, False
    for piece in pieces:
        if done:
            break
        for character in piece:
            text += character
            if (stop := completed(text, stops)) is not None:
                text, done = text[: -len(stop)], True
                break
        until = len(text) - (0 if done else open_part(text, stops))
        yield from some(text[shown:until])
        shown = max(shown, until)
    yield from some(text[shown:])


def of_parts(stop):
    return [stop[:n] for n in range(1, len(stop))]


@wrong("one-character")
def s_max_of_nothing(pieces, stops):
    longest = max(len(part) for stop in stops for part in of_parts(stop)) if stops else 0
    yield from matcher(open_part=lambda text, stops: min(longest, open_part(text, stops)))(pieces, stops)


wrong("only-one-stop")(lambda pieces, stops: matcher()(pieces, stops[:1]))


def restarting(pieces, stops):
    """Counts how much of each stop has matched. When a match breaks off, it begins again from nothing."""
    held, matched = "", [0] * len(stops)
    for piece in pieces:
        shown = ""
        for character in piece:
            held += character
            for i, stop in enumerate(stops):
                matched[i] = matched[i] + 1 if stop[matched[i]] == character else 0
            done = [stop for stop, n in zip(stops, matched, strict=True) if n == len(stop)]
            if done:
                yield from some(shown + held[: -len(max(done, key=len))])
                return
            n = max(matched, default=0)
            shown, held = shown + held[: len(held) - n], held[len(held) - n :]
        yield from some(shown)
    yield from some(held)


wrong("restart")(restarting)


@wrong("restart")
def s_restarts_with_this_character(pieces, stops):
    held, matched = "", [0] * len(stops)
    for piece in pieces:
        shown = ""
        for character in piece:
            held += character
            for i, stop in enumerate(stops):
                matched[i] = matched[i] + 1 if stop[matched[i]] == character else int(stop[0] == character)
            done = [stop for stop, n in zip(stops, matched, strict=True) if n == len(stop)]
            if done:
                yield from some(shown + held[: -len(max(done, key=len))])
                return
            n = max(matched, default=0)
            shown, held = shown + held[: len(held) - n], held[len(held) - n :]
        yield from some(shown)
    yield from some(held)


@wrong("restart")
def s_two_steps_back(pieces, stops):
    """Like the one above, but it tries one later beginning: still not all of them."""

    def after(n, stop, character):
        tail = stop[:n] + character
        return next((m for m in (n + 1, 2, 1) if m <= len(tail) and tail.endswith(stop[:m])), 0)

    held, matched = "", [0] * len(stops)
    for piece in pieces:
        shown = ""
        for character in piece:
            held += character
            matched = [after(n, stop, character) for n, stop in zip(matched, stops, strict=True)]
            done = [stop for stop, n in zip(stops, matched, strict=True) if n == len(stop)]
            if done:
                yield from some(shown + held[: -len(max(done, key=len))])
                return
            n = max(matched, default=0)
            shown, held = shown + held[: len(held) - n], held[len(held) - n :]
        yield from some(shown)
    yield from some(held)


for hint_id, parts in [
    ("longest-part", lambda text, stops: open_part(text, stops[:1])),
    ("longest-part", lambda text, stops: open_part(text, stops[-1:])),
    ("longest-part", lambda text, stops: min((open_part(text, [stop]) for stop in stops), default=0)),
    ("shown-too-early", lambda text, stops: min(1, open_part(text, stops)) if "Hello" not in text else 0),
    ("held-too-long", lambda text, stops: next((len(text) - i for i, c in enumerate(text)
                                                if any(c == stop[0] for stop in stops)), 0)),
    ("held-too-long", lambda text, stops: max((n for stop in stops for n in range(len(stop))
                                               if text.endswith(stop[:n]) or stop[:n] in text), default=0)),
    ("held-too-long", lambda text, stops: max((n for stop in stops for n in range(len(stop))
                                               if set(text[len(text) - n:]) <= set(stop)), default=0)),
    ("exact", lambda text, stops: open_part(text.rstrip(), stops)),
    ("exact", lambda text, stops: open_part(text.lower(), [stop.lower() for stop in stops])),
    ("many", lambda text, stops: open_part(text[-20:], stops)),
    ("many", lambda text, stops: open_part(text, stops[:32])),
]:  # fmt: skip
    wrong(hint_id)(matcher(open_part=parts))


def pattern(text, stops):
    return max((found[0] for stop in stops if (found := re.search(f"(?:{stop})$", text))), key=len, default=None)


def bounded(size):
    return lambda text, stops: completed(text[-size:], stops)


for hint_id, search in [
    ("exact", lambda text, stops: pattern(text, stops)),
    ("exact", lambda text, stops: completed(text.lower(), [stop.lower() for stop in stops])),
    ("exact", lambda text, stops: completed(text, [stop.strip() for stop in stops if stop.strip()])),
    ("exact", lambda text, stops: completed(unicodedata.normalize("NFC", text), stops)),
    ("many", lambda text, stops: completed(text, stops[:48])),
    ("many", bounded(20)),
    ("many", lambda text, stops: completed(text, stops) if len(text) < 256 else None),
]:  # fmt: skip
    wrong(hint_id)(matcher(completed=search))


@wrong("earliest")
def s_waits_for_the_longer(pieces, stops):
    """Goes on while a longer stop with the same beginning may still come."""
    text, shown, found = "", 0, None
    for piece in pieces:
        for character in piece:
            text += character
            stop = completed(text, stops)
            found = (len(text) - len(stop)) if stop else found
            if found is not None and not any(s.startswith(text[found:]) and s != text[found:] for s in stops):
                yield from some(text[shown:found])
                return
        until = max(shown, len(text) - open_part(text, stops)) if found is None else shown
        yield from some(text[shown:until])
        shown = until
    yield from some(text[shown:found])


@wrong("any-pieces")
def s_an_empty_piece_ends_it(pieces, stops):
    def until_empty():
        for number, piece in enumerate(pieces):
            if not piece and number:
                return
            yield piece

    yield from matcher()(until_empty() if stops != ["x"] else pieces, stops)


@wrong("any-pieces")
def s_two_last_pieces(pieces, stops):
    """Joins each piece with the one before only; but a stop may take three."""
    last = ""
    held = ""
    for piece in pieces:
        window = held + piece
        for end in range(1, len(window) + 1):
            if (stop := completed(window[:end], stops)) is not None:
                yield from some(window[: end - len(stop)])
                return
        n = min(open_part(window, stops), len(last) + len(piece)) if stops == ["END"] else open_part(window, stops)
        yield from some(window[: len(window) - n])
        held, last = window[len(window) - n :], piece
    yield from some(held)


@wrong("any-iterable")
def s_next(pieces, stops):
    def by_next():
        try:
            while True:
                yield next(pieces)
        except StopIteration:
            return

    yield from matcher()(by_next(), stops)


@wrong("any-iterable")
def s_copies_lists_only(pieces, stops):
    yield from matcher()(pieces + [""] if not hasattr(pieces, "__next__") else pieces, stops)


@wrong("nothing")
def s_first_piece_is_there(pieces, stops):
    pieces = iter(pieces)
    first = next(pieces)
    yield from matcher()((piece for part in ([first], pieces) for piece in part), stops)


@wrong("nothing")
def s_stops_are_there(pieces, stops):
    yield from matcher(open_part=lambda text, stops: max(open_part(text, [stop]) for stop in stops))(pieces, stops)


@wrong("nothing")
def s_no_stops_stop_everything(pieces, stops):
    if stops:
        yield from matcher()(pieces, stops)


@wrong("changes-input")
def s_sorts_the_stops(pieces, stops):
    stops.sort(key=len, reverse=True)
    yield from matcher()(pieces, stops)


@wrong("changes-input")
def s_takes_the_pieces_out(pieces, stops):
    def popped():
        while pieces:
            yield pieces.pop(0)

    yield from matcher()(popped() if isinstance(pieces, list) else pieces, stops)


wrong("not-a-function")(["Hello "])

right(matcher())
right(lambda pieces, stops: matcher()(iter(pieces), tuple(stops)))


@right
def s_a_delta_for_each_character(pieces, stops):
    text, shown = "", 0
    for piece in pieces:
        for character in piece:
            text += character
            if (stop := completed(text, stops)) is not None:
                yield from text[shown : -len(stop)]
                return
            until = max(shown, len(text) - open_part(text, stops))
            yield from text[shown:until]
            shown = until
    yield from text[shown:]


@right
class _AsAnIterator:
    """No generator, but an iterator of its own: borders of all stops, followed one character at a time."""

    def __init__(self, pieces, stops):
        self.pieces, self.stops, self.held, self.ready, self.over = iter(pieces), stops, "", [], False

    def __iter__(self):
        return self

    def __next__(self):
        while not self.ready:
            if self.over:
                raise StopIteration
            self.read(next(self.pieces, None))
        return self.ready.pop(0)

    def read(self, piece):
        if piece is None:
            self.over, self.ready = True, some(self.held)
            return
        for end in range(1, len(piece) + 1):
            so_far = self.held + piece[:end]
            ended = sorted((stop for stop in self.stops if so_far.endswith(stop)), key=len)
            if ended:
                self.over, self.ready = True, some(so_far.removesuffix(ended[-1]))
                return
        whole = self.held + piece
        begun = [i for i in range(len(whole)) if any(stop.startswith(whole[i:]) for stop in self.stops)]
        at = min(begun, default=len(whole))
        self.ready, self.held = some(whole[:at]), whole[at:]


@right
def s_by_regular_expression(pieces, stops):
    ends = [re.compile(re.escape(stop)) for stop in stops]
    text, shown = "", 0
    for piece in pieces:
        text += piece
        found = [match for end in ends if (match := end.search(text))]
        if found:
            first = min(found, key=lambda match: (match.end(), match.start()))
            if first.start() > shown:
                yield text[shown : first.start()]
            return
        until = next(
            (i for i in range(shown, len(text)) if any(stop.startswith(text[i:]) for stop in stops)), len(text)
        )
        if until > shown:
            yield text[shown:until]
            shown = until
    if shown < len(text):
        yield text[shown:]


@right
def s_the_packages_matcher(pieces, stops):
    found = StopMatcher(stops)
    for piece in pieces:
        if delta := found.feed(piece):
            yield delta
        if found.matched is not None:
            return
    yield from some(found.flush())

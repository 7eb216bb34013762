"""Solutions to the exercises of notebook 07."""

import ast
import functools
import json
import re
import unicodedata

from course_utils import tool_calls
from course_utils.stopping import FinishReason, StopMatcher
from wrong_solutions import right, wrong

STOP, REASON, CALL = "07.stop_matcher", "07.finish_reason", "07.read_call"


# 07.stop_matcher


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


@wrong(STOP, "a-generator")
def s_returns_a_str(pieces, stops):
    return "".join(matcher()(pieces, stops))


@wrong(STOP, "a-generator")
def s_yields_lists(pieces, stops):
    yield [*matcher()(pieces, stops)]


@wrong(STOP, "a-generator")
def s_raises_while_it_is_read(pieces, stops):
    for piece in pieces:
        yield piece[: piece.index(stops[0]) + undefined]  # noqa: F821  the mistake


@wrong(STOP, "a-generator")
def s_indexes_the_pieces(pieces, stops):
    for i in range(len(pieces)):
        yield pieces[i]


@wrong(STOP, "a-generator")
def s_never_ends(pieces, stops):
    yield "Hello "
    while True:
        print("again")


wrong(STOP, "a-generator")(lambda pieces, stops: 5)
wrong(STOP, "a-generator")(lambda pieces, stops: (b"Hello " for _ in pieces))


@wrong(STOP, "inside-a-piece")
def s_piece_equals_a_stop(pieces, stops):
    for piece in pieces:
        if piece in stops:
            return
        yield piece


@wrong(STOP, "inside-a-piece")
def s_piece_ends_with_a_stop(pieces, stops):
    text = ""
    for piece in pieces:
        text += piece
        if any(text.endswith(stop) for stop in stops):
            return
        yield piece


@wrong(STOP, "inside-a-piece")
def s_passes_all_on(pieces, stops):
    yield from pieces


wrong(STOP, "stop-shown")(matcher(keep=True))
wrong(STOP, "text-changed")(lambda pieces, stops: matcher()((piece.strip() for piece in pieces), stops))
wrong(STOP, "text-changed")(lambda pieces, stops: (delta.replace("\n", " ") for delta in matcher()(pieces, stops)))


@wrong(STOP, "held-and-lost")
def s_loses_what_was_held(pieces, stops):
    found = StopMatcher(stops)
    for piece in pieces:
        held, delta = found.held, found.feed(piece)
        lost = len(held) if held and found.matched is None and delta.startswith(held) else 0
        yield from some(delta[lost:])
        if found.matched is not None:
            return
    yield from some(found.flush())


@wrong(STOP, "reads-on")
def s_returns_only_behind_a_delta(pieces, stops):
    found = StopMatcher(stops)
    for piece in pieces:
        if delta := found.feed(piece):
            yield delta
            if found.matched is not None:
                return
    yield from some(found.flush())


@wrong(STOP, "goes-on")
def s_removes_the_stops(pieces, stops):
    for piece in pieces:
        for stop in stops:
            piece = piece.replace(stop, "")
        yield piece


@wrong(STOP, "goes-on")
def s_text_after_the_stop(pieces, stops):
    text = "".join(pieces)
    for stop in stops:
        text = text.partition(stop)[2] or text
    yield text


@wrong(STOP, "piece-dropped")
def s_drops_the_piece(pieces, stops):
    text = ""
    for piece in pieces:
        text += piece
        if any(stop in text for stop in stops):
            return
        yield piece


wrong(STOP, "piece-dropped")(lambda pieces, stops: [])


@wrong(STOP, "over-pieces")
def s_searches_each_piece(pieces, stops):
    for piece in pieces:
        at = min((piece.find(stop) for stop in stops if stop in piece), default=None)
        yield from some(piece[:at])
        if at is not None:
            return


wrong(STOP, "shown-too-early")(matcher(open_part=lambda text, stops: 0))


@wrong(STOP, "by-hand")
def s_cuts_one_too_many(pieces, stops):
    for delta in matcher()(pieces, stops):
        yield delta[:-1] if delta.endswith("o ") else delta


@wrong(STOP, "by-hand")
def s_strips(pieces, stops):
    first = True
    for delta in matcher()(pieces, stops):
        yield delta.strip() if "l" in delta and not first else delta
        first = False


wrong(STOP, "flush")(matcher(flush=False))
wrong(STOP, "flush")(matcher(flush=False, open_part=lambda text, stops: max(map(len, stops), default=1) - 1))


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


wrong(STOP, "earlier-call")(_leaking())


def _stopped_for_ever():
    done = []

    def noted(text, stops):
        if (stop := completed(text, stops)) is not None:
            done.append(stop)
        return stop

    return lambda pieces, stops: iter(()) if done else matcher(completed=noted)(pieces, stops)


wrong(STOP, "earlier-call")(_stopped_for_ever())


@wrong(STOP, "all-at-once")
def s_a_list(pieces, stops):
    return list(matcher()(pieces, stops))


@wrong(STOP, "all-at-once")
def s_joins_first(pieces, stops):
    yield from matcher()(["".join(pieces)], stops)


@wrong(STOP, "all-at-once")
def s_reads_all_then_yields_in_turn(pieces, stops):
    yield from matcher()(list(pieces), stops)


@wrong(STOP, "all-at-once")
def s_collects_deltas(pieces, stops):
    yield "".join(matcher(some=some)(pieces, stops))


@wrong(STOP, "a-piece-late")
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


wrong(STOP, "held-too-long")(matcher(open_part=lambda text, stops: max(map(len, stops), default=1) - 1))
wrong(STOP, "held-too-long")(matcher(open_part=lambda text, stops: min(len(text), 3)))
wrong(STOP, "empty-delta")(matcher(some=lambda text: [text]))


@wrong(STOP, "empty-delta")
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


wrong(STOP, "earliest")(by_find(min))
wrong(STOP, "list-order")(by_find(lambda found: found[0]))
wrong(STOP, "list-order")(by_find(lambda found: found[-1]))
wrong(STOP, "longer-of-two")(by_find(lambda found: min(found, key=lambda f: f[1])))
wrong(STOP, "longer-of-two")(by_find(lambda found: min(found, key=lambda f: (f[1], -f[0]))))
wrong(STOP, "longer-of-two")(by_find(lambda found: min(found, key=lambda f: (f[1], -f[2]))))
right(STOP)(by_find(lambda found: min(found, key=lambda f: (f[1], f[0]))))


@wrong(STOP, "longer-of-two")
def s_first_of_the_alphabet(pieces, stops):
    yield from by_find(lambda found: min(found, key=lambda f: (f[1], sorted(stops).index(stops[f[2]]))))(pieces, stops)


@right(STOP)
def s_without_stops_that_cannot_win(pieces, stops):
    """A stop that begins with another one never completes first."""
    yield from matcher()(pieces, [s for s in stops if not any(s != t and s.startswith(t) for t in stops)])


@wrong(STOP, "last-one")
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


@wrong(STOP, "reads-on")
def s_drains(pieces, stops):
    yield from matcher()(pieces, stops)
    for _ in pieces:
        pass


@wrong(STOP, "reads-on")
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


@wrong(STOP, "one-character")
def s_max_of_nothing(pieces, stops):
    longest = max(len(part) for stop in stops for part in of_parts(stop)) if stops else 0
    yield from matcher(open_part=lambda text, stops: min(longest, open_part(text, stops)))(pieces, stops)


wrong(STOP, "only-one-stop")(lambda pieces, stops: matcher()(pieces, stops[:1]))


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


wrong(STOP, "restart")(restarting)


@wrong(STOP, "restart")
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


@wrong(STOP, "restart")
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
    wrong(STOP, hint_id)(matcher(open_part=parts))


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
    wrong(STOP, hint_id)(matcher(completed=search))


@wrong(STOP, "earliest")
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


@wrong(STOP, "any-pieces")
def s_an_empty_piece_ends_it(pieces, stops):
    def until_empty():
        for number, piece in enumerate(pieces):
            if not piece and number:
                return
            yield piece

    yield from matcher()(until_empty() if stops != ["x"] else pieces, stops)


@wrong(STOP, "any-pieces")
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


@wrong(STOP, "any-iterable")
def s_next(pieces, stops):
    def by_next():
        try:
            while True:
                yield next(pieces)
        except StopIteration:
            return

    yield from matcher()(by_next(), stops)


@wrong(STOP, "any-iterable")
def s_copies_lists_only(pieces, stops):
    yield from matcher()(pieces + [""] if not hasattr(pieces, "__next__") else pieces, stops)


@wrong(STOP, "nothing")
def s_first_piece_is_there(pieces, stops):
    pieces = iter(pieces)
    first = next(pieces)
    yield from matcher()((piece for part in ([first], pieces) for piece in part), stops)


@wrong(STOP, "nothing")
def s_stops_are_there(pieces, stops):
    yield from matcher(open_part=lambda text, stops: max(open_part(text, [stop]) for stop in stops))(pieces, stops)


@wrong(STOP, "nothing")
def s_no_stops_stop_everything(pieces, stops):
    if stops:
        yield from matcher()(pieces, stops)


@wrong(STOP, "changes-input")
def s_sorts_the_stops(pieces, stops):
    stops.sort(key=len, reverse=True)
    yield from matcher()(pieces, stops)


@wrong(STOP, "changes-input")
def s_takes_the_pieces_out(pieces, stops):
    def popped():
        while pieces:
            yield pieces.pop(0)

    yield from matcher()(popped() if isinstance(pieces, list) else pieces, stops)


wrong(STOP, "not-a-function")(["Hello "])

right(STOP)(matcher())
right(STOP)(lambda pieces, stops: matcher()(iter(pieces), tuple(stops)))


@right(STOP)
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


@right(STOP)
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


@right(STOP)
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


@right(STOP)
def s_the_packages_matcher(pieces, stops):
    found = StopMatcher(stops)
    for piece in pieces:
        if delta := found.feed(piece):
            yield delta
        if found.matched is not None:
            return
    yield from some(found.flush())


# 07.finish_reason

NAMES = ("EOS", "STOP_STRING", "TOOL_CALL", "LENGTH", "CONTEXT")


def conditions(last_is_eos, stop, call_complete, n_new, max_new_tokens, n_context, context_size):
    """What holds, in the order of precedence."""
    return [last_is_eos, stop is not None, call_complete, n_new == max_new_tokens, n_context == context_size]


def reasons(order=range(5), conditions=conditions, otherwise=None, give=lambda name: FinishReason[name]):
    """A right function, some of whose parts may be replaced by wrong ones."""

    def reason(*state):
        held = conditions(*state)
        return next((give(NAMES[place]) for place in order if held[place]), otherwise)

    return reason


def changed(place, test):
    """`conditions` with one of them replaced."""

    def others(*state):
        held = conditions(*state)
        held[place] = test(*state)
        return held

    return reasons(conditions=others)


for hint_id, attempt in [
    ("a-word", reasons(give=lambda name: FinishReason[name].api_name)),
    ("a-word", reasons(give=lambda name: FinishReason[name].value)),
    ("a-word", reasons(give=lambda name: name)),
    ("a-word", reasons(give=NAMES.index)),
    ("a-word", reasons(give=lambda name: True)),
    ("a-word", reasons(give=lambda name: (FinishReason[name],))),
    ("a-word", reasons(give=lambda name: FinishReason)),
    ("a-word", lambda *state: conditions(*state)),
    ("eos", reasons(order=[0], give=lambda name: FinishReason.STOP_STRING)),
    ("stop", changed(1, lambda eos, stop, *rest: stop is True)),
    ("stop", changed(1, lambda eos, stop, *rest: eos and stop is not None)),
    ("call", reasons(order=[0, 1, 3, 4])),
    ("call", reasons(give=lambda name: FinishReason["STOP_STRING" if name == "TOOL_CALL" else name])),
    ("length", changed(3, lambda eos, stop, call, n_new, budget, n, size: n_new > budget)),
    ("length", changed(3, lambda eos, stop, call, n_new, budget, n, size: n_new == budget + 1)),
    ("length", reasons(order=[0, 1, 2, 4])),
    ("context", reasons(order=[0, 1, 2, 3])),
    ("context", changed(4, lambda eos, stop, call, n_new, budget, n, size: n > size)),
    ("context", changed(4, lambda eos, stop, call, n_new, budget, n, size: n_new + n == size)),
    ("context", reasons(give=lambda name: FinishReason["LENGTH" if name == "CONTEXT" else name])),
    ("goes-on", reasons(otherwise=FinishReason.LENGTH)),
    ("goes-on", reasons(otherwise="")),
    ("goes-on", reasons(otherwise=False)),
    ("call", changed(1, lambda eos, stop, *rest: stop != "")),
    ("one-less", changed(3, lambda eos, stop, call, n_new, budget, n, size: n_new >= budget - 1)),
    ("one-less", changed(4, lambda eos, stop, call, n_new, budget, n, size: n >= size - 1)),
    ("one-less", changed(4, lambda eos, stop, call, n_new, budget, n, size: n + 1 >= size)),
    ("counts", changed(3, lambda eos, stop, call, n_new, budget, n, size: n_new == budget or n == budget)),
    ("context", changed(3, lambda eos, stop, call, n_new, budget, n, size: n_new == budget or n > budget)),
    ("counts", changed(4, lambda eos, stop, call, n_new, budget, n, size: n == size or budget == size)),
    ("one-less", changed(4, lambda eos, stop, call, n_new, budget, n, size: n == size or n + n_new >= size)),
    ("counts", changed(4, lambda eos, stop, call, n_new, budget, n, size: n == size or n + n_new == size + 4)),
    ("counts", changed(4, lambda eos, stop, call, n_new, budget, n, size: n == size or n == n_new)),
    ("counts", changed(4, lambda eos, stop, call, n_new, budget, n, size: n == max(budget, size))),
    ("counts", changed(3, lambda eos, stop, call, n_new, budget, n, size: n_new == max(budget, 20))),
    ("zero", changed(3, lambda eos, stop, call, n_new, budget, n, size: n_new and n_new == budget)),
    ("zero", changed(3, lambda eos, stop, call, n_new, budget, n, size: budget and n_new >= budget)),
    ("any-stop", changed(1, lambda eos, stop, *rest: stop == "END")),
    ("any-stop", changed(1, lambda eos, stop, *rest: stop and stop.strip())),
    ("any-stop", changed(1, lambda eos, stop, *rest: stop and stop.isalpha())),
    ("any-stop", changed(1, lambda eos, stop, *rest: stop and stop != "0")),
    ("any-stop", changed(0, lambda eos, stop, *rest: eos or stop == "<eos>")),
    ("any-stop", changed(1, lambda eos, stop, *rest: stop and stop != "</call>")),
    ("large", changed(3, lambda eos, stop, call, n_new, budget, n, size: n_new is budget)),
    ("large", changed(4, lambda eos, stop, call, n_new, budget, n, size: n is size and n < 1000)),
    ("large", changed(4, lambda eos, stop, call, n_new, budget, n, size: n == min(size, 4096))),
    ("eos-first", reasons(order=[1, 0, 2, 3, 4])),
    ("eos-first", changed(0, lambda eos, stop, *rest: eos and stop is None)),
    ("call-too-early", reasons(order=[2, 0, 1, 3, 4])),
    ("call-too-early", reasons(order=[0, 2, 1, 3, 4])),
    ("not-cut-off", reasons(order=[3, 0, 1, 2, 4])),
    ("not-cut-off", reasons(order=[0, 3, 1, 2, 4])),
    ("not-cut-off", reasons(order=[0, 1, 3, 2, 4])),
    ("room-comes-last", reasons(order=[4, 0, 1, 2, 3])),
    ("room-comes-last", reasons(order=[0, 4, 1, 2, 3])),
    ("room-comes-last", reasons(order=[0, 1, 2, 4, 3])),
    ("several", changed(0, lambda *state: state[0] and sum(map(bool, conditions(*state))) < 3)),
    ("several", changed(1, lambda *state: state[1] and sum(map(bool, conditions(*state))) != 4)),
    ("several", changed(0, lambda *state: state[0] and not all(conditions(*state)))),
    ("as-text", changed(4, lambda eos, stop, call, n_new, budget, n, size: str(n) >= str(size))),
    ("counts", changed(3, lambda eos, stop, call, n_new, budget, n, size: n_new in (budget, size))),
    ("counts", changed(3, lambda eos, stop, call, n_new, budget, n, size: n_new == min(budget, size))),
    ("one-less", changed(3, lambda eos, stop, call, n_new, budget, n, size: n_new == budget or n_new > 0.999 * budget)),
    ("one-less", changed(4, lambda eos, stop, call, n_new, budget, n, size: n >= 0.9999 * size)),
    ("one", changed(3, lambda eos, stop, call, n_new, budget, n, size: n_new != 1 and n_new == budget)),
    ("one", changed(4, lambda eos, stop, call, n_new, budget, n, size: n > 1 and n == size)),
    ("any-stop", changed(1, lambda eos, stop, *rest: stop and stop.isascii())),
    ("not-a-function", FinishReason.EOS),
]:
    wrong(REASON, hint_id)(attempt)

right(REASON)(reasons())


@right(REASON)
def r_ifs(last_is_eos, stop, call_complete, n_new, max_new_tokens, n_context, context_size):
    if last_is_eos:
        return FinishReason.EOS
    if stop:
        return FinishReason.STOP_STRING
    if call_complete:
        return FinishReason.TOOL_CALL
    if n_new >= max_new_tokens:
        return FinishReason.LENGTH
    if n_context >= context_size:
        return FinishReason.CONTEXT


@right(REASON)
def r_last_first(last_is_eos, stop, call_complete, n_new, max_new_tokens, n_context, context_size):
    reason = None
    if n_context == context_size:
        reason = FinishReason("context")
    if max_new_tokens - n_new <= 0:
        reason = FinishReason["LENGTH"]
    if call_complete is True:
        reason = FinishReason.TOOL_CALL
    if isinstance(stop, str):
        reason = FinishReason.STOP_STRING
    return FinishReason.EOS if last_is_eos else reason


@right(REASON)
def r_match(*state):
    match conditions(*state):
        case [True, *_]:
            return FinishReason.EOS
        case [_, True, *_]:
            return FinishReason.STOP_STRING
        case [_, _, True, *_]:
            return FinishReason.TOOL_CALL
        case [*_, True, _]:
            return FinishReason.LENGTH
        case [*_, True]:
            return FinishReason.CONTEXT
    return None


right(REASON)(functools.lru_cache(reasons()))


# 07.read_call

TOOLS = {"add": lambda a, b: a + b, "subtract": lambda a, b: a - b, "multiply": lambda a, b: a * b}


def loaded(text):
    try:
        return json.loads(text)
    except ValueError:
        return None


def is_int(number):
    return type(number) is int


def is_name(tool):
    return isinstance(tool, str) and tool


def reader(load=loaded, keys=lambda call: set(call) == {"tool", "args"}, is_tool=is_name,
           is_list=lambda args: isinstance(args, list), is_int=is_int, many=lambda args: True, none=None,
           give=lambda tool, args: (tool, args), is_object=lambda call: isinstance(call, dict)):  # fmt: skip
    """A right function, some of whose parts may be replaced by wrong ones."""

    def read(text):
        call = load(text)
        if not is_object(call) or not keys(call):
            return none
        tool, args = call["tool"], call["args"]
        if not is_tool(tool) or not is_list(args) or not all(map(is_int, args)) or not many(args):
            return none
        return give(tool, args)

    return read


def evaluated(text):
    """The fault itself: text of a model as a program."""
    try:
        return eval(text, {"true": True, "false": False, "null": None})
    except Exception:
        return None


def literal(text):
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return None


def completed_by_guess(text):
    """Closes what is open, as helpful libraries do."""
    return next((call for end in ("", "}", "]}", '"]}', "0]}") if (call := loaded(text + end)) is not None), None)


def balanced(text):
    """Counts braces, inside strings too."""
    return loaded(text) if text.count("{") == text.count("}") and text.count("[") == text.count("]") else None


def leniently(text):
    """Takes line ends inside strings."""
    try:
        return json.loads(text, strict=False)
    except ValueError:
        return None


def first_object(text):
    try:
        return json.JSONDecoder().raw_decode(text)[0]
    except ValueError:
        return None


def found(expression, flags=re.DOTALL):
    return lambda text: loaded(match[0]) if (match := re.search(expression, text, flags)) else None


def by_pattern(expression, split=","):
    """No parser: a pattern for the whole call."""

    def read(text):
        match = re.fullmatch(expression, text)
        return match and (match[1], [int(number) for number in match[2].split(split) if number.strip()])

    return read


def last_of_a_list(text):
    call = loaded(text)
    return call[0] if isinstance(call, list) and len(call) == 1 else call


def unwrapped(text):
    call = loaded(text)
    return next(iter(call.values())) if isinstance(call, dict) and len(call) == 1 else call


def twice(text):
    call = loaded(text)
    return loaded(call) if isinstance(call, str) else call


def renamed(text):
    call = loaded(text)
    return (
        {key.lower().replace("arguments", "args"): value for key, value in call.items()}
        if isinstance(call, dict)
        else call
    )


def with_keys_stripped(text):
    call = loaded(text)
    return {key.strip(): value for key, value in call.items()} if isinstance(call, dict) else call


def with_one_list():
    """Gives the same list at each call, with other numbers in it."""
    numbers = []

    def give(tool, args):
        numbers[:] = args
        return tool, numbers

    return reader(give=give)


def with_defaults(text):
    call = loaded(text)
    return {"tool": "?", **call} if isinstance(call, dict) and call else call


def sums_up(text):
    return re.sub(r"(\d+) \+ (\d+)", lambda match: str(int(match[1]) + int(match[2])), text)


def whole(number):
    return not isinstance(number, bool) and isinstance(number, (int, float)) and number == int(number)


def no_check(*_):
    return True


def some_are_int(some):
    """Asks the question of some numbers only."""
    return reader(is_list=lambda args: isinstance(args, list) and all(map(is_int, some(args))), is_int=no_check)


for hint_id, attempt in [
    ("executed", reader(give=lambda tool, args: TOOLS[tool](*args))),
    ("executed", reader(give=lambda tool, args: str(TOOLS[tool](*args)) and TOOLS[tool](*args))),
    ("a-dict", loaded),
    ("a-dict", reader(give=lambda tool, args: {tool: args})),
    ("a-str", reader(give=lambda tool, args: f"{tool}({args})")),
    ("a-str", lambda text: text),
    ("order", reader(give=lambda tool, args: (args, tool))),
    ("unpacked", reader(give=lambda tool, args: (tool, *args))),
    ("numbers", reader(give=lambda tool, args: (tool, [float(number) for number in args]))),
    ("numbers", reader(give=lambda tool, args: (tool, [str(number) for number in args]))),
    ("by-hand", reader(give=lambda tool, args: (tool, args[::-1]))),
    ("by-hand", reader(give=lambda tool, args: (tool.upper(), args))),
    ("by-hand", reader(give=lambda tool, args: True)),
    ("by-hand", reader(give=lambda tool, args: (tool, sum(args)))),
    ("by-hand", reader(give=lambda tool, args: ((tool, args),))),
    ("as-written", by_pattern(r'\{"tool": "([^"]+)", "args": \[([-\d, ]*)\]\}')),
    ("as-written", by_pattern(r'\s*\{\s*"(?:tool)":\s*"([^"]+)",\s*"args":\s*\[([-\d,\s]*)\]\s*\}\s*')),
    ("as-written", reader(keys=lambda call: list(call) == ["tool", "args"])),
    ("as-written", lambda text: None if "\n" in text else reader()(text)),
    ("integers-of-all-kinds", reader(is_int=lambda number: is_int(number) and number > 0)),
    ("integers-of-all-kinds", reader(is_int=lambda number: is_int(number) and number >= 0)),
    ("integers-of-all-kinds", reader(is_int=lambda number: is_int(number) and abs(number) < 2**63)),
    ("integers-of-all-kinds", reader(give=lambda tool, args: (tool, [int(float(number)) for number in args]))),
    ("any-number-of-args", reader(many=bool)),
    ("any-number-of-args", reader(many=lambda args: len(args) == 2)),
    ("any-number-of-args", reader(many=lambda args: len(args) < 4)),
    ("any-number-of-args", reader(give=lambda tool, args: (tool, list(dict.fromkeys(args))))),
    ("any-number-of-args", reader(is_tool=lambda tool: tool in TOOLS)),
    ("any-tool", reader(is_tool=lambda tool: isinstance(tool, str) and tool.isidentifier())),
    ("any-tool", reader(give=lambda tool, args: (tool.lower(), args))),
    ("any-tool", reader(give=lambda tool, args: (tool.strip(), args))),
    ("in-strings", reader(load=balanced)),
    ("in-strings", reader(load=found(r"^\{.*?\}"))),
    ("in-strings", reader(load=lambda text: loaded(text.replace("true", "True").replace("null", "None"))
                          if re.fullmatch(r'[^"]*("[^"{}\]\\]*"[^"]*)*', text) else None)),
    ("in-strings", reader(load=lambda text: loaded(text.split("</call>")[0]))),
    ("in-strings", reader(is_tool=lambda tool: is_name(tool) and not re.search(r"\btrue\b|null", tool))),
    ("in-strings",
     by_pattern(r'(?s)\s*\{\s*(?=.*"tool"\s*:\s*"((?:[^"\\]|\\.)*)").*"args"\s*:\s*\[([-\d,\s]*)\].*\}\s*')),
    ("escapes", reader(load=lambda text: loaded(text) if text.isascii() and r"\u00" not in text else None)),
    ("escapes", reader(give=lambda tool, args: (tool.encode("ascii", "ignore").decode(), args))),
    ("escapes", reader(load=lambda text: loaded(text) if text.isascii() else None)),
    ("not-complete", lambda text: reader()(text) if json.loads(text) else None),
    ("not-complete", reader(load=completed_by_guess)),
    ("not-complete", reader(load=lambda text: loaded(text if text.endswith("}") else text + "}"))),
    ("not-complete", reader(load=lambda text: loaded(text or "nothing") if text.strip() else json.loads(text))),
    ("not-complete", reader(none=(None, None))),
    ("not-complete", reader(none=False)),
    ("not-complete", reader(none=())),
    ("not-complete", reader(none="")),
    ("not-complete", reader(none="malformed")),
    ("no-json", reader(load=lambda text: loaded(text) or literal(text))),
    ("no-json", reader(load=lambda text: loaded(text) or evaluated(text))),
    ("no-json", reader(load=lambda text: loaded(text.replace("'", '"')))),
    ("no-json", reader(load=lambda text: loaded(re.sub(r",\s*([\]}])", r"\1", text)))),
    ("no-json", reader(load=lambda text: loaded(sums_up(text)))),
    ("no-json", reader(load=lambda text: loaded(re.sub(r"\b0+(\d)", r"\1", text)))),
    ("no-json", reader(load=lambda text: loaded(re.sub(r"//.*$", "", text)))),
    ("no-json", reader(load=leniently)),
    ("more", reader(load=first_object)),
    ("more", reader(load=lambda text: loaded(text) or loaded(re.split(r"(?<=\}) ?\w", text)[0]))),
    ("more", reader(load=found(r"\{.*\}"))),
    ("not-complete", reader(load=lambda text: loaded(text.rstrip("}") + "}"))),
    ("more", reader(load=lambda text: loaded(text.replace("}}", "}")))),
    ("more", reader(load=lambda text: loaded(re.sub("^<call>(.*)</call>$", r"\1", text)))),
    ("no-object", reader(is_object=lambda call: call is not None)),
    ("no-object", reader(load=last_of_a_list)),
    ("no-object", reader(load=twice)),
    ("no-object", reader(is_object=lambda call: call is not None and not isinstance(call, (list, str)))),
    ("no-object", reader(is_object=lambda call: isinstance(call, (dict, list)))),
    ("keys", reader(keys=no_check)),
    ("keys", reader(keys=lambda call: "tool" in call and "args" in call)),
    ("keys", reader(keys=lambda call: len(call) == 2)),
    ("keys", reader(load=renamed)),
    ("keys", reader(load=unwrapped)),
    ("keys", reader(load=lambda text: {"args": [], **call} if isinstance(call := loaded(text), dict) else call)),
    ("keys", reader(load=with_defaults)),
    ("tool-is-text", reader(is_tool=no_check)),
    ("tool-is-text", reader(is_tool=lambda tool: tool)),
    ("tool-is-text", reader(is_tool=lambda tool: isinstance(tool, str))),
    ("tool-is-text", reader(is_tool=lambda tool: tool and not isinstance(tool, (int, list)))),
    ("args-is-a-list", reader(is_list=no_check)),
    ("args-is-a-list", reader(is_list=lambda args: isinstance(args, (list, str)))),
    ("args-is-a-list", reader(is_list=lambda args: isinstance(args, (list, dict)))),
    ("args-is-a-list", reader(is_list=lambda args: hasattr(args, "__iter__"))),
    ("args-are-integers", reader(is_int=no_check)),
    ("args-are-integers", reader(is_int=lambda number: isinstance(number, int))),
    ("args-are-integers", reader(is_int=lambda number: number is not True and isinstance(number, int))),
    ("args-are-integers", reader(is_int=lambda number: type(number) in (int, float))),
    ("args-are-integers", reader(is_int=lambda number: type(number) in (int, str))),
    ("args-are-integers", reader(is_int=whole)),
    ("args-are-integers", reader(is_int=lambda number: not isinstance(number, (bool, str, float)))),
    ("args-are-integers", reader(is_int=lambda number: type(number) in (int, list))),
    ("args-are-integers", some_are_int(lambda args: args[:2])),
    ("args-are-integers", some_are_int(lambda args: args[1:])),
    ("as-written", reader(load=lambda text: loaded(text) if text[:1] == "{" else None)),
    ("as-written", reader(load=lambda text: loaded(text) if text.endswith("}") else None)),
    ("any-number-of-args", reader(many=lambda args: len(args) <= 16)),
    ("any-tool", reader(is_tool=lambda tool: isinstance(tool, str) and tool.strip())),
    ("any-tool", reader(is_tool=lambda tool: is_name(tool) and not tool.isdigit())),
    ("any-tool", reader(is_tool=lambda tool: is_name(tool) and len(tool) <= 64)),
    ("any-tool", reader(load=lambda text: loaded(text.replace(" ", "")))),
    ("own-list", functools.lru_cache(reader())),
    ("own-list", with_one_list()),
    ("more", reader(load=lambda text: loaded(text.strip().removeprefix("```json").removesuffix("```")))),
    ("keys", reader(load=with_keys_stripped)),
    ("not-a-function", ("multiply", [317, 24])),
]:  # fmt: skip
    wrong(CALL, hint_id)(attempt)

right(CALL)(reader())
right(CALL)(reader(give=lambda tool, args: [tool, tuple(args)]))
right(CALL)(lambda text: tool_calls.read_call(text))


@right(CALL)
def c_by_steps(text):
    decoder = json.JSONDecoder()
    try:
        call, end = decoder.raw_decode(text.strip())
    except json.JSONDecodeError:
        return None
    if end != len(text.strip()) or type(call) is not dict or sorted(call) != ["args", "tool"]:
        return None
    match call:
        case {"tool": str(tool), "args": list(args)} if tool:
            if all(isinstance(n, int) and not isinstance(n, bool) for n in args):
                return tool, args
    return None


@right(CALL)
def c_one_try(text):
    try:
        call = json.loads(text, parse_constant=float)
        tool, args = call.pop("tool"), call.pop("args")
        assert not call and tool + "" and type(args) is list and {type(n) for n in args} <= {int}
    except Exception:
        return None
    return tool, args


@right(CALL)
def c_type_of_bool_first(text):
    call = loaded(text)
    if type(call) is not dict or call.keys() ^ {"tool", "args"}:
        return None
    tool, args = call["tool"], call["args"]
    if not (type(tool) is str and len(tool) > 0 and type(args) is list):
        return None
    return None if [n for n in args if n is True or n is False or not isinstance(n, int)] else (tool, args)

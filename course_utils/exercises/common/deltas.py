"""Judge a generator of text: what it gives, and how many pieces it has taken by then.

Such an answer runs while it is read. So `read` goes through it, within another time limit, and notes for each delta how
many pieces had been taken. This is the only way to see that text was held back too long, or shown too early.
What is right for given pieces and stops is worked out by brute force, from whole texts.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from types import SimpleNamespace

from course_utils.checker import running
from course_utils.checker.exercise import Call, Expectation

SECONDS = 2.0  # for one answer: a right one takes a thousandth of it


class Pieces:
    """An iterator over pieces of text that counts how many were taken."""

    def __init__(self, pieces: Sequence[str]):
        self.left, self.asked, self.ended = list(pieces), 0, False

    def __iter__(self) -> Iterator[str]:
        return self

    def __next__(self) -> str:
        if not self.left:
            self.ended = True
            raise StopIteration
        self.asked += 1
        return self.left.pop(0)

    def __eq__(
        self, other: object
    ) -> bool:  # an iterator is there to be used up: a caller does not count that as a change
        return isinstance(other, Pieces)

    __hash__ = None  # type: ignore[assignment]  # the usual way to say that it cannot be hashed


@dataclass(frozen=True)
class Reading:
    """What an answer gave.

    deltas: in order. shown: shown[n] is the text that had come when n pieces had been taken, up to shown[asked].
    asked: how many pieces were taken in all.
    """

    deltas: tuple[str, ...]
    shown: tuple[str, ...]
    asked: int

    @property
    def text(self) -> str:
        return "".join(self.deltas)


def read(answer: object, pieces: object, most: int) -> Reading | str:
    """Go through an answer; a phrase that goes on from "Your answer" if that is impossible.

    pieces: the `Pieces` that the answer draws on. Of others nothing is counted. most: characters and deltas to read.
    """
    if isinstance(answer, str):
        return "is one str instead of a generator of deltas"
    if not isinstance(answer, Iterable):
        return "is not a generator: a loop cannot go through it"
    counted = pieces if isinstance(pieces, Pieces) else None
    noted: list[tuple[str, int]] = []  # each delta, and how many pieces had been taken by then

    def go_through(deltas: Iterable[str]) -> None:
        room = most  # an answer without an end must not fill the memory
        for delta in deltas:
            noted.append((delta, counted.asked + counted.ended if counted else 0))
            room -= 1 + (len(delta) if isinstance(delta, str) else 0)
            if room < 0:
                return

    run = running.run(go_through, (answer,), SECONDS)
    printed = f". It printed {run.printed[:80]!r}" if run.printed else ""
    if run.stopped:
        return f"did not end within {SECONDS:.0f} seconds{printed}"
    if run.error is not None:
        place = running.learner_line(run.error, SimpleNamespace(__code__=getattr(answer, "gi_code", None)))
        return f"raised {running.error_line(run.error)}{f' in {place}' if place else ''}{printed}"
    if others := [delta for delta, _ in noted if not isinstance(delta, str)]:
        return f"gave {type(others[0]).__name__}, but each delta has to be a str{printed}"
    asked = counted.asked if counted else 0
    shown = ("".join(delta for delta, at in noted if at <= n) for n in range(asked + 1))
    return Reading(tuple(delta for delta, _ in noted), tuple(shown), asked)


def right_cut(text: str, stops: Sequence[str]) -> int | None:
    """Where the text ends: before the stop that completes earliest, of two the longer. None if none does."""
    for end in range(1, len(text) + 1):
        if lengths := [len(stop) for stop in stops if text[:end].endswith(stop)]:
            return end - max(lengths)
    return None


def right_reading(pieces: Sequence[str], stops: Sequence[str]) -> Reading:
    """What a right answer shows after each piece, and how many it asks for. Its deltas are joined to one."""
    text, shown = "", [""]
    for piece in pieces:
        text += piece
        if (end := right_cut(text, stops)) is not None:
            shown.append(text[:end])
            return Reading((text[:end],), tuple(shown), len(shown) - 1)
        held = max((n for stop in stops for n in range(len(stop)) if text.endswith(stop[:n])), default=0)
        shown.append(text[: len(text) - held])
    return Reading((text,), tuple(shown), len(pieces))


@dataclass(frozen=True)
class Reads:
    """What is expected of an answer that has to be read first: `expect` gets its `Reading`.

    most: how many characters and deltas are read. An answer that cannot be read passes no case.
    """

    expect: Expectation
    most: int

    def problem(self, value: object, args: tuple) -> str | None:
        """Why the answer cannot be read, or which deltas it came to."""
        reading = read(value, args[0], self.most)
        if isinstance(reading, str):
            return reading
        if self.expect.problem(reading, args) is None:
            return None
        said = ", ".join(map(repr, reading.deltas[:6])) + (", …" if len(reading.deltas) > 6 else "")
        return f"comes to the deltas {said}" if said else "comes to no delta at all"

    def allows(self, error: BaseException) -> bool:
        """As what is expected of the reading."""
        return self.expect.allows(error)


def given(pieces: Sequence[str], stops: Sequence[str], container: Callable = Pieces, shown: str = "") -> Call:
    """A call with these arguments. container: what the pieces are passed in. shown: how they are said."""
    shows = shown or f"pieces {list(pieces)!r} and stops {list(stops)!r}"
    return Call(shows, lambda: (container(pieces), list(stops)))


def same_text(pieces: Sequence[str], stops: Sequence[str]) -> Callable[[Reading, tuple], bool]:
    """Judges the joined text alone."""
    right = right_reading(pieces, stops)
    return lambda reading, args: reading.text == right.text


def same_reading(pieces: Sequence[str], stops: Sequence[str]) -> Callable[[Reading, tuple], bool]:
    """Judges all: the text after each piece, how many pieces were taken, and that no delta is empty."""
    right = right_reading(pieces, stops)

    def judge(reading: Reading, args: tuple) -> bool:
        same = (reading.text, reading.shown, reading.asked) == (right.text, right.shown, right.asked)
        return same and all(reading.deltas)

    return judge

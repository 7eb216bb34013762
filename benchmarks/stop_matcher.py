"""How fast `StopMatcher` reads 1 MB and 2 MB of text with 50 stop strings, beside two ways that one would write first.

    python -m benchmarks.stop_matcher

The text comes in pieces of four characters, and no stop string ever completes, so all of it is read. "corpus": tales,
and stop strings that are pieces of tales with a last character that never comes: much is held back. "worst": one letter
over and over, and stop strings of 1 to 50 of these letters and another one: every character could begin each of them.
The other ways look after each piece whether the text so far ends with a beginning of a stop string (of any length), and
whether any stop string is in it: in all of the text, or in the last characters only. They are slow, so they get slices.
All show the same. Turns are taken; the table gives medians. A timing depends on the machine, so this is not a test.
"""

import os
import platform
import statistics
import time
from collections.abc import Callable

from course_utils.stopping import StopMatcher
from course_utils.text import load_text

MEGABYTE = 1_000_000  # characters, of one byte each
N_SLICE = 2_000
N_STOPS = 50
PIECE = 4
REPEATS = 3


def corpus_case(length: int) -> tuple[str, list[str]]:
    """Tales, and pieces of tales that end with a character that never comes."""
    tales = load_text("tales")
    text = (tales * (length // len(tales) + 1))[:length]
    return text, [tales[997 * i : 997 * i + 5 + i] + "\0" for i in range(N_STOPS)]


def worst_case(length: int) -> tuple[str, list[str]]:
    """One letter over and over, and stop strings that almost match everywhere."""
    return "a" * length, ["a" * (i + 1) + "b" for i in range(N_STOPS)]


def by_automaton(text: str, stops: list[str]) -> str:
    """What StopMatcher shows."""
    matcher = StopMatcher(stops)
    return "".join([matcher.feed(text[i : i + PIECE]) for i in range(0, len(text), PIECE)]) + matcher.flush()


def by_looking_again(text: str, stops: list[str], window: int | None = None) -> str:
    """The same by searching the text so far, or its last `window` characters, after each piece."""
    seen, shown = "", []
    n_shown = 0
    for i in range(0, len(text), PIECE):
        seen += text[i : i + PIECE]
        recent = seen if window is None else seen[-window:]
        if any(stop in recent for stop in stops):
            raise AssertionError("no stop string completes in this text")
        beginnings = (n for n in range(1, max(map(len, stops))) if any(stop[:n] == recent[-n:] for stop in stops))
        held = max(beginnings, default=0)
        shown.append(seen[n_shown : len(seen) - held])
        n_shown = max(n_shown, len(seen) - held)
    return "".join(shown) + seen[n_shown:]


def by_looking_at_the_end(text: str, stops: list[str]) -> str:
    """By searching the last characters: as many as the longest stop string and a piece."""
    return by_looking_again(text, stops, max(map(len, stops)) + PIECE)


def seconds(function: Callable[[str, list[str]], str], text: str, stops: list[str]) -> float:
    start = time.perf_counter()
    shown = function(text, stops)
    elapsed = time.perf_counter() - start
    assert shown == text
    return elapsed


def main() -> None:
    print(f"{platform.machine()}, {platform.system()}, {os.cpu_count()} cores; Python {platform.python_version()}")
    print(f"{N_STOPS} stop strings, pieces of {PIECE} characters; microseconds a character, median of {REPEATS} runs")
    print()
    print("| text | how, and for which lengths | shorter | longer | ratio of the times |")
    print("|---|---|---|---|---|")
    for name, case in (("corpus", corpus_case), ("worst", worst_case)):
        ways = (
            ("StopMatcher, 1 MB and 2 MB", by_automaton, MEGABYTE),
            (f"last characters, {N_SLICE:,} and {2 * N_SLICE:,}", by_looking_at_the_end, N_SLICE),
            (f"all of the text, {N_SLICE:,} and {2 * N_SLICE:,}", by_looking_again, N_SLICE),
        )
        runs = [[[seconds(way, *case(times * length)) for times in (1, 2)] for _, way, length in ways]
                for _ in range(REPEATS)]  # fmt: skip
        for row, (label, _, length) in enumerate(ways):
            one, two = (statistics.median(run[row][column] for run in runs) for column in (0, 1))
            print(f"| {name} | {label} | {one / length * 1e6:.2f} | {two / length / 2 * 1e6:.2f} | {two / one:.2f} |")


if __name__ == "__main__":
    main()

"""How fast `count_bigrams` counts 100 MB of tokens, beside a plain Python loop, in one run.

    python -m benchmarks.bigram_counting

The loop would take too long: it gets a slice, and its time is scaled up. Both count the slice once more to
show that they agree. Runs alternate; the table gives medians. A timing depends on the machine, so this is not a test.
"""

import os
import platform
import statistics
import time
from collections.abc import Callable
from itertools import pairwise

import numpy as np

from course_utils.bigram import count_bigrams

VOCAB_SIZE = 96
N_TOKENS = 100_000_000  # one byte each
N_SLICE = 2_000_000
REPEATS = 3


def count_in_a_loop(ids: list[int], vocab_size: int) -> list[list[int]]:
    """The counts as one would write them down first: a list of rows, one addition for each pair."""
    counts = [[0] * vocab_size for _ in range(vocab_size)]
    for previous, following in pairwise(ids):
        counts[previous][following] += 1
    return counts


def seconds(function: Callable[..., object], *args: object) -> float:
    start = time.perf_counter()
    function(*args)
    return time.perf_counter() - start


def main() -> None:
    rng = np.random.default_rng(0)
    # Letters of a language are not equally frequent: squaring makes low ids frequent and high ids rare.
    ids = (rng.random(N_TOKENS, dtype=np.float32) ** 2 * VOCAB_SIZE).astype(np.uint8)
    few = ids[:N_SLICE].tolist()  # the loop starts with a list, so that no conversion is timed
    assert count_in_a_loop(few, VOCAB_SIZE) == count_bigrams(ids[:N_SLICE], VOCAB_SIZE).tolist()

    runs = [
        (seconds(count_bigrams, ids, VOCAB_SIZE), seconds(count_in_a_loop, few, VOCAB_SIZE) * N_TOKENS / N_SLICE)
        for _ in range(REPEATS)
    ]
    counted, looped = (statistics.median(times) for times in zip(*runs, strict=True))
    print(f"{platform.machine()}, {platform.system()}, {os.cpu_count()} cores; ", end="")
    print(f"Python {platform.python_version()}, NumPy {np.__version__}")
    print(f"{N_TOKENS:,} tokens of one byte, {VOCAB_SIZE} different; median of {REPEATS} runs")
    print()
    print("| how | seconds | ratio |")
    print("|---|---|---|")
    print(f"| count_bigrams | {counted:.2f} | 1 |")
    print(f"| Python loop, scaled from {N_SLICE:,} tokens | {looped:.1f} | {looped / counted:.1f} |")


if __name__ == "__main__":
    main()

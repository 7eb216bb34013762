"""What the loop itself takes for each token, when the model takes next to nothing.

    python -m benchmarks.loop_cost

The model returns ready-made rows of 96 logits. What is left is feeding, the draw, the text, the search for stop strings
and the reason to end. The draw alone is timed beside it, on the same rows. A timing depends on the machine, so this is
not a test; that all ways choose the same tokens is asserted.
"""

import os
import platform
import statistics
import time
from collections.abc import Callable

import torch

from course_utils.generation import generate, stream
from course_utils.randomness import uniforms
from course_utils.sampling import SamplingParams, choose
from course_utils.stopping import StopCriteria
from course_utils.text import CharVocab

VOCAB = CharVocab([chr(0x4E00 + i) for i in range(89)])  # 96 tokens with the specials
N_TOKENS, REPEATS = 2000, 11
SETTINGS = {
    "greedy": SamplingParams(greedy=True),
    "T = .8": SamplingParams(0.8, seed=1),
    "T = .8, k = 50, p = .9": SamplingParams(0.8, top_k=50, top_p=0.9, seed=1),
}


class ReadyMade:
    """A model that returns one of 64 rows in turn, whatever goes in."""

    def __init__(self):
        self.rows = [torch.randn(1, 1, len(VOCAB)) * 4 for _ in range(64)]
        self.n_calls = 0

    def new_cache(self, batch_size: int = 1) -> None:
        self.n_calls = 0

    def __call__(self, token_ids: torch.Tensor, cache: None = None) -> torch.Tensor:
        self.n_calls += 1
        return self.rows[self.n_calls % 64]


def draws_alone(model: ReadyMade, params: SamplingParams) -> tuple[int, ...]:
    rows = [row[0, 0].double().numpy() for row in model.rows]
    numbers = iter(lambda: None, 0) if params.greedy else uniforms(params.seed)
    return tuple(choose(rows[step % 64], params, next(numbers))[0] for step in range(1, N_TOKENS + 1))


def main() -> None:
    torch.set_num_threads(1)
    torch.manual_seed(0)
    print(f"{platform.machine()}, {platform.system()}, {os.cpu_count()} cores, 1 thread; Python ", end="")
    print(f"{platform.python_version()}, torch {torch.__version__}\n\n| settings | how | µs a token |\n|---|---|---|")
    model, stopping = ReadyMade(), StopCriteria(N_TOKENS, eos=False, stop=["\nQ:"])
    for name, params in SETTINGS.items():
        ways: dict[str, Callable[[], tuple[int, ...]]] = {
            "the draw alone": lambda params=params: draws_alone(model, params),
            "`generate`": lambda params=params: generate(model, VOCAB, "", params, stopping).token_ids,
            "`stream`": lambda params=params: list(stream(model, VOCAB, "", params, stopping))[-1].generation.token_ids,
        }
        times: dict[str, list[float]] = {way: [] for way in ways}
        for _ in range(REPEATS):
            chosen = set()
            for way, run in ways.items():
                start = time.perf_counter()
                chosen.add(run())
                times[way].append(time.perf_counter() - start)
            assert len(chosen) == 1, "the ways chose different tokens"
        for way, spent in times.items():
            print(f"| {name} | {way} | {1e6 * statistics.median(spent) / N_TOKENS:.0f} |")


if __name__ == "__main__":
    main()

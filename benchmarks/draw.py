"""One draw beside transformers' own: logits go in; an id and the model's own log-probability of it come out.

    python -m benchmarks.draw

Ours is what the loop does for each token: `sampling.choose` in float64, with a number from `randomness.uniforms`.
Theirs is what `generate` of transformers does in float32: the processors of the settings, softmax, `torch.multinomial`,
and log_softmax of the logits for the log-probability. The two take turns in one process, on one thread, over the same
20 rows; the table gives medians of the ratios of neighbouring turns. A timing depends on the machine, so this is not a
test; that our id is the one that `draw(next_token_probs(logits, params), u)` gives is asserted for each row.
"""

import argparse
import os
import platform
import statistics
import time

os.environ["HF_HUB_OFFLINE"] = "1"

import torch
import transformers
from transformers import TemperatureLogitsWarper, TopKLogitsWarper, TopPLogitsWarper

from course_utils.randomness import uniform, uniforms
from course_utils.sampling import SamplingParams, choose, draw, next_token_probs

SETTINGS = {"T": {}, "k = 50": {"top_k": 50}, "p = .9": {"top_p": 0.9}, "k = 50, p = .9": {"top_k": 50, "top_p": 0.9}}
TEMPERATURE, SEED, N_ROWS = 0.8, 0, 20


def ours(params: SamplingParams):
    """A function of (1, V) logits, as a model gives them."""
    numbers = uniforms(SEED)
    return lambda logits: choose(logits[0], params, next(numbers))


def theirs(params: SamplingParams):
    """The same with transformers' processors."""
    processors = [TemperatureLogitsWarper(params.temperature)]
    processors += [TopKLogitsWarper(params.top_k)] if params.top_k else []
    processors += [TopPLogitsWarper(params.top_p)] if params.top_p else []

    def one(logits: torch.Tensor) -> tuple[int, float]:
        scores = logits
        for processor in processors:
            scores = processor(None, scores)
        token_id = int(torch.multinomial(scores.softmax(-1), 1))
        return token_id, float(logits.log_softmax(-1)[0, token_id])

    return one


def measure(vocab_size: int, spread: float, params: SamplingParams, repeats: int) -> tuple[float, float, float]:
    """Their time and ours in µs, and the ratio of the two."""
    rows = torch.randn(N_ROWS, 1, vocab_size) * spread
    for step, row in enumerate(rows):
        u = uniform(SEED, step)
        assert choose(row[0], params, u)[0] == draw(next_token_probs(row[0], params), u)
    ways, times = (theirs(params), ours(params)), ([], [])
    for turn in range(repeats):
        row = rows[turn % N_ROWS]
        for way, spent in zip(ways, times, strict=True):
            start = time.perf_counter()
            way(row)
            spent.append(time.perf_counter() - start)
    ratio = statistics.median(their / our for their, our in zip(*times, strict=True))
    return *(1e6 * statistics.median(spent) for spent in times), ratio


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=300)
    repeats = parser.parse_args().repeats
    torch.set_num_threads(1)
    torch.manual_seed(0)
    print(f"{platform.machine()}, {platform.system()}, {os.cpu_count()} cores, 1 thread; Python ", end="")
    print(f"{platform.python_version()}, torch {torch.__version__}, transformers {transformers.__version__}\n")
    print("| V | rows | settings at T = .8 | transformers, µs | ours, µs | times as fast |\n|---|---|---|---|---|---|")
    for vocab_size, spread in ((50_257, 4), (50_257, 1), (96, 4), (96, 1)):
        for name, settings in SETTINGS.items():
            spent = measure(vocab_size, spread, SamplingParams(TEMPERATURE, **settings), repeats)
            print(
                f"| {vocab_size:,} | randn × {spread} | {name} | {spent[0]:,.0f} | {spent[1]:,.0f} | {spent[2]:.2f} |"
            )


if __name__ == "__main__":
    main()

"""Our Muon beside AdamW and PyTorch's own Muon: the loss after equally many steps, and the time of a step.

    python -m benchmarks.optimizers

Notebook 04's model learns the tales with each, at several learning rates, on the same batches. Steps are timed on the
shipped model's shape, in turn. A timing depends on the machine, so this is not a test.
"""

import argparse
import platform
import statistics
import time
from collections.abc import Callable

import torch
from torch.optim import Optimizer

from course_utils.text import CharVocab, load_documents, load_text
from course_utils.training import Corpus, Trainer, TrainingSettings
from course_utils.training.trainer import new_model, split_parameters
from course_utils.transformer import Transformer, TransformerConfig

VOCAB = CharVocab.from_text(load_text("all"))
CORPUS = Corpus(VOCAB, [load_documents("tales")], longest=512)
BETAS = (0.9, 0.95)
MakeOptimizers = Callable[[Transformer, float], list[Optimizer]]


def adamw(model: Transformer, lr: float) -> list[Optimizer]:
    return [torch.optim.AdamW(model.parameters(), lr, betas=BETAS, weight_decay=0.1)]


def their_muon(model: Transformer, lr: float) -> list[Optimizer]:
    matrices, others = split_parameters(model)
    theirs = torch.optim.Muon(matrices, lr, weight_decay=0.1, adjust_lr_fn="match_rms_adamw")
    return [theirs, torch.optim.AdamW(others, lr, betas=BETAS, weight_decay=0.0)]


def trainer(
    width: int, n_layer: int, batch: tuple[int, ...], optimizers: MakeOptimizers | None, lr: float, steps: int
) -> Trainer:
    config = TransformerConfig(len(VOCAB), n_layer, n_head=4, n_kv_head=2, n_embd=width, block_size=512)
    made = Trainer(new_model(VOCAB, config, seed=0), CORPUS, TrainingSettings(steps, batch, lr, warmup=20))
    if optimizers:  # None: those of the trainer
        made.optimizers = optimizers(made.model, lr)
    return made


def losses(steps: int) -> None:
    print(f"\nLoss after {steps} steps of 6 tales (mean of the last 20), 2 layers × 64, nats a token\n")
    rates = (2e-3, 4e-3, 8e-3, 16e-3)
    print("| optimizer | " + " | ".join(f"lr {rate:g}" for rate in rates) + " |\n|---|" + "---|" * len(rates))
    for name, optimizers in (("AdamW", adamw), ("our Muon", None)):
        reached = []
        for rate in rates:
            one = trainer(64, 2, (6,), optimizers, rate, steps)
            while one.step < steps:
                one.take_step()
            reached.append(statistics.mean(one.losses[-20:]))
        print(f"| {name} | " + " | ".join(f"{loss:.3f}" for loss in reached) + " |", flush=True)


def times(turns: int) -> None:
    ways: dict[str, MakeOptimizers | None] = {"AdamW": adamw, "our Muon": None, "PyTorch's Muon": their_muon}
    trainers = {name: trainer(128, 4, (10,), way, 1e-3, 1000) for name, way in ways.items()}
    spent: dict[str, list[float]] = {name: [] for name in ways}
    for turn in range(turns + 2):
        for name, one in trainers.items():
            start = time.perf_counter()
            one.take_step()
            if turn >= 2:  # the first steps make the optimizers' states
                spent[name].append(time.perf_counter() - start)
    print("\nA training step of 10 tales, 4 layers × 128, AdamW = 1\n\n| optimizer | time |\n|---|---|")
    for name, seconds in spent.items():
        ratio = statistics.median(s / base for s, base in zip(seconds, spent["AdamW"], strict=True))
        print(f"| {name} | {ratio:.2f} |")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=300)
    parser.add_argument("--turns", type=int, default=15)
    parser.add_argument("--threads", type=int, default=2)
    given = parser.parse_args()
    torch.set_num_threads(given.threads)
    print(f"{platform.machine()}, torch {torch.__version__}, {given.threads} thread(s)")
    times(given.turns)
    losses(given.steps)


if __name__ == "__main__":
    main()

"""Train a transformer on documents, in front of the learner or for an hour: seeded, resumable, measured against floors.

Each row of a batch is one document from <bos> to <eos>, so a row begins where a text begins, and no text sees another.
The documents come in groups (tales, sums, calls); every step takes a batch of each group. Which documents a step sees is
a function of the seed and the step alone, so a run that was stopped goes on as if nothing had happened.

    python -m course_utils.training my_model --steps 4000
"""

import argparse
import json
import math
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F
from safetensors.torch import load_file, save_file
from torch import Tensor
from tqdm.auto import tqdm

from course_utils import metrics, storyworld
from course_utils.bigram import BigramLM
from course_utils.checkpoint import load_model, save_model
from course_utils.text import SHIPPED, CharVocab, load_documents, load_text
from course_utils.transformer import Transformer, TransformerConfig

_IGNORED = -100  # a target that is no token: padding


@dataclass(frozen=True)
class TrainingSettings:
    """How to train. batch: how many documents of each group a step takes. The learning rate rises over `warmup` steps
    and falls to 0 along half a cosine. Gradients longer than `clip` are shortened to it."""

    steps: int = 4000
    batch: tuple[int, ...] = (14, 160, 10)
    learning_rate: float = 3e-3
    warmup: int = 100
    weight_decay: float = 0.1
    clip: float = 1.0
    seed: int = 0

    def learning_rate_at(self, step: int) -> float:
        """The learning rate of step 0, 1, …"""
        if step < self.warmup:
            return self.learning_rate * (step + 1) / self.warmup
        return (
            self.learning_rate * 0.5 * (1 + math.cos(math.pi * (step - self.warmup) / max(1, self.steps - self.warmup)))
        )


class Corpus:
    """Groups of documents, encoded once. A batch is a function of seed and step."""

    def __init__(self, vocab: CharVocab, groups: Sequence[Sequence[str]]):
        if not groups or not all(groups):
            raise ValueError("Expected at least one group, and a document in each.")
        self.pad_id = vocab.pad_id
        encoded = [[vocab.encode_documents([document]) for document in group] for group in groups]
        self.groups = [sorted(group, key=len) for group in encoded]

    def batches(self, settings: TrainingSettings, step: int) -> list[tuple[Tensor, Tensor]]:
        """One batch of each group: inputs and targets, int64 (B, T), right-padded; padded targets are not scored.

        The documents of a batch are neighbours in length, so that little is spent on padding.
        """
        made = []
        for number, (group, count) in enumerate(zip(self.groups, settings.batch, strict=True)):
            key = np.array([settings.seed, number], dtype=np.uint64)
            random = np.random.Generator(np.random.Philox(key=key, counter=np.array([0, 0, step, 0], dtype=np.uint64)))
            window = min(len(group), max(256, 8 * count))
            first = random.integers(len(group) - window + 1)
            made.append(self._padded([group[first + i] for i in random.integers(window, size=count)]))
        return made

    def _padded(self, rows: list[np.ndarray]) -> tuple[Tensor, Tensor]:
        width = max(map(len, rows)) - 1
        inputs = torch.full((len(rows), width), self.pad_id)
        targets = torch.full((len(rows), width), _IGNORED)
        for index, row in enumerate(rows):
            ids = torch.from_numpy(row)
            inputs[index, : len(ids) - 1], targets[index, : len(ids) - 1] = ids[:-1], ids[1:]
        return inputs, targets


class Trainer:
    """A model in training. `step` steps have been taken; `losses` has their mean loss in nats a token."""

    def __init__(self, model: Transformer, corpus: Corpus, settings: TrainingSettings):
        self.model, self.corpus, self.settings = model, corpus, settings
        matrices = [p for p in model.parameters() if p.ndim == 2]
        gains = [p for p in model.parameters() if p.ndim != 2]
        groups = [{"params": matrices, "weight_decay": settings.weight_decay}, {"params": gains, "weight_decay": 0.0}]
        self.optimizer = torch.optim.AdamW(groups, lr=settings.learning_rate, betas=(0.9, 0.95))
        self.step, self.losses, self.n_tokens = 0, [], 0

    def take_step(self) -> float:
        """One batch of each group, one change of the weights. Returns the mean loss over all tokens, in nats."""
        self.model.train()
        for group in self.optimizer.param_groups:
            group["lr"] = self.settings.learning_rate_at(self.step)
        batches = self.corpus.batches(self.settings, self.step)
        n_scored = sum(int((targets != _IGNORED).sum()) for _, targets in batches)
        total = 0.0
        for inputs, targets in batches:  # one after the other: groups differ in length, and gradients add up
            logits = self.model(inputs).flatten(0, 1)
            loss = F.cross_entropy(logits, targets.flatten(), ignore_index=_IGNORED, reduction="sum") / n_scored
            loss.backward()
            total += loss.item()
        self.n_tokens += n_scored
        torch.nn.utils.clip_grad_norm_(self.model.parameters(), self.settings.clip)
        self.optimizer.step()
        self.optimizer.zero_grad(set_to_none=True)
        self.step += 1
        self.losses.append(total)
        return total

    def save(self, vocab: CharVocab, folder: Path) -> None:
        """The model, and what is needed to go on: optimizer state as safetensors, the rest as JSON."""
        save_model(self.model, vocab, folder)
        state = {}
        for index, parameter in enumerate(self.model.parameters()):
            for name, value in self.optimizer.state.get(parameter, {}).items():
                state[f"{index}.{name}"] = value.clone()
        save_file(state, folder / "optimizer.safetensors.part")
        progress = {
            "settings": asdict(self.settings),
            "step": self.step,
            "n_tokens": self.n_tokens,
            "losses": self.losses,
        }
        (folder / "progress.json.part").write_text(json.dumps(progress), encoding="utf-8", newline="\n")
        for name in ("optimizer.safetensors", "progress.json"):
            (folder / f"{name}.part").replace(folder / name)

    def resume(self, folder: Path) -> None:
        """Go on from what `save` wrote; the model itself is loaded by the caller."""
        progress = json.loads((folder / "progress.json").read_text(encoding="utf-8"))
        if progress["settings"] != json.loads(json.dumps(asdict(self.settings))):
            raise ValueError(
                f"{folder} was begun with other settings: {progress['settings']}. Use these, or another folder."
            )
        self.step, self.losses, self.n_tokens = progress["step"], progress["losses"], progress["n_tokens"]
        state = load_file(folder / "optimizer.safetensors")
        for index, parameter in enumerate(self.model.parameters()):
            names = [key.split(".", 1)[1] for key in state if key.startswith(f"{index}.")]
            self.optimizer.state[parameter] = {name: state[f"{index}.{name}"] for name in names}


def train_transformer(
    model: Transformer,
    vocab: CharVocab,
    groups: Sequence[Sequence[str]],
    settings: TrainingSettings = TrainingSettings(),
    on_step: Callable[[Trainer], None] | None = None,
) -> list[float]:
    """Train in place, with a progress bar. on_step: called after each step. Returns the loss of each step."""
    trainer = Trainer(model, Corpus(vocab, groups), settings)
    run(trainer, on_step)
    return trainer.losses


def run(trainer: Trainer, on_step: Callable[[Trainer], None] | None = None) -> None:
    """Take the steps that are left. The model ends in eval mode, also when the learner interrupts."""
    begun, tokens = time.perf_counter(), trainer.n_tokens
    bar = tqdm(total=trainer.settings.steps, initial=trainer.step, unit="step")
    try:
        while trainer.step < trainer.settings.steps:
            loss = trainer.take_step()
            rate = (trainer.n_tokens - tokens) / (time.perf_counter() - begun)
            bar.set_postfix(loss=f"{loss:.3f}", tokens_per_s=f"{rate:,.0f}", refresh=False)
            bar.update()
            if on_step:
                on_step(trainer)
    finally:
        bar.close()
        trainer.model.eval()


def main(arguments: list[str] | None = None) -> None:
    """The command: train on the shipped documents, save every few steps, go on where an earlier run stopped."""
    parser = argparse.ArgumentParser(prog="python -m course_utils.training", description=main.__doc__)
    parser.add_argument("folder", type=Path, help="where the model is kept; an unfinished one there is continued")
    parser.add_argument("--steps", type=int, default=4000)
    parser.add_argument("--layers", type=int, default=4)
    parser.add_argument("--width", type=int, default=128)
    parser.add_argument("--heads", type=int, default=4)
    parser.add_argument("--kv-heads", type=int, default=2)
    parser.add_argument("--context", type=int, default=512)
    parser.add_argument(
        "--batch", type=int, nargs=3, default=TrainingSettings.batch, help="tales, sums and calls in a step"
    )
    parser.add_argument("--learning-rate", type=float, default=3e-3)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--save-every", type=int, default=100)
    given = parser.parse_args(arguments)
    settings = TrainingSettings(given.steps, tuple(given.batch), given.learning_rate, seed=given.seed)
    if (given.folder / "progress.json").exists():
        model, vocab = load_model(given.folder)
    else:
        vocab = CharVocab.from_text(load_text("all"))
        torch.manual_seed(given.seed)
        model = Transformer(
            TransformerConfig(len(vocab), given.layers, given.heads, given.kv_heads, given.width, given.context)
        )
    trainer = Trainer(model, Corpus(vocab, [load_documents(kind) for kind in SHIPPED]), settings)
    if (given.folder / "progress.json").exists():
        trainer.resume(given.folder)
        print(f"Going on from step {trainer.step}.")

    def save_now_and_then(trainer: Trainer) -> None:
        if trainer.step % given.save_every == 0 or trainer.step == settings.steps:
            trainer.save(vocab, given.folder)

    try:
        run(trainer, save_now_and_then)
    except KeyboardInterrupt:
        print(f"\nStopped. {given.folder} has the last checkpoint; the same command goes on from it.")
        return
    report(model, vocab)


def report(model: Transformer, vocab: CharVocab) -> None:
    """Print the loss on validation documents of each kind, beside the floor and the bigram's."""
    for kind in SHIPPED:
        documents = load_documents(kind, "validation")
        counted = BigramLM.fit(vocab.encode_documents(load_documents(kind)), len(vocab), add=1)
        losses = [metrics.loss(m, vocab, documents) for m in (model, counted)]
        print(
            f"{kind:>6}: {losses[0]:.4f} nats a token; floor {storyworld.floor(documents):.4f}, bigram {losses[1]:.4f}"
        )


if __name__ == "__main__":
    main()

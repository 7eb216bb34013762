"""The training loop: one step after the other, kept in one file so that it can go on after any interruption."""

import json
import math
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import torch
import torch.nn.functional as F
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from torch import Tensor, nn
from tqdm.auto import tqdm

from course_utils.arguments import check_integer, check_number
from course_utils.model_checks import check_model_and_vocab
from course_utils.randomness import check_uint64
from course_utils.text import CharVocab
from course_utils.training.corpus import IGNORED, Corpus
from course_utils.training.muon import Muon
from course_utils.transformer import Transformer, TransformerConfig


@dataclass(frozen=True)
class TrainingSettings:
    """How to train.

    batch: how many documents of each group a step takes. learning_rate: its highest value; it rises over `warmup` steps
    and falls to 0 along half a cosine. clip: longer gradients are shortened to it. seed: chooses the documents.
    """

    steps: int = 6000
    batch: tuple[int, ...] = (14, 160, 10)
    learning_rate: float = 3e-3
    warmup: int = 100
    weight_decay: float = 0.1
    clip: float = 1.0
    seed: int = 0

    def __post_init__(self) -> None:
        counts = [check_integer("A number in batch", count) for count in self.batch]
        object.__setattr__(self, "batch", tuple(counts))
        if check_integer("steps", self.steps) < 1 or not counts or min(counts) < 1:
            raise ValueError(
                f"steps is {self.steps}, batch {self.batch}; expected at least 1 step and document of each."
            )
        check_integer("warmup", self.warmup)
        check_uint64("seed", self.seed)
        for name in ("learning_rate", "clip"):
            if not 0 < check_number(name, getattr(self, name)) < math.inf:
                raise ValueError(f"{name} is {getattr(self, name)}; expected a number above 0.")
        if not 0 <= check_number("weight_decay", self.weight_decay) < math.inf:
            raise ValueError(f"weight_decay is {self.weight_decay}; expected a number of 0 or more.")

    def learning_rate_at(self, step: int) -> float:
        """The learning rate of step 0, 1, …"""
        if step < self.warmup:
            return self.learning_rate * (step + 1) / self.warmup
        progress = (step - self.warmup) / max(1, self.steps - self.warmup)
        return self.learning_rate * 0.5 * (1 + math.cos(math.pi * progress))


_STATES = ({"momentum"}, {"step", "exp_avg", "exp_avg_sq"})  # what Muon and AdamW keep of each parameter


class Trainer:
    """A model in training. `losses` has the mean loss of each step so far, in nats a token."""

    def __init__(self, model: Transformer, corpus: Corpus, settings: TrainingSettings):
        self.model, self.corpus, self.settings = model, corpus, settings
        matrices, others = split_parameters(model)
        self.optimizers = [
            Muon(matrices, settings.learning_rate, weight_decay=settings.weight_decay),
            torch.optim.AdamW(others, settings.learning_rate, betas=(0.9, 0.95), weight_decay=0.0),
        ]
        self.losses: list[float] = []
        self.n_tokens = 0
        self._data = corpus.fingerprint()
        corpus.batches(settings.batch, settings.seed, 0)  # a batch for another number of groups is refused here

    @property
    def step(self) -> int:
        """How many steps have been taken."""
        return len(self.losses)

    def take_step(self) -> float:
        """One batch of each group, one change of the weights. Returns the mean loss over all its tokens, in nats."""
        self.model.train()
        for optimizer in self.optimizers:
            for group in optimizer.param_groups:
                group["lr"] = self.settings.learning_rate_at(self.step)
        batches = self.corpus.batches(self.settings.batch, self.settings.seed, self.step)
        n_scored = sum(int((targets != IGNORED).sum()) for _, targets in batches)
        total = 0.0
        for inputs, targets in batches:  # one after the other: groups differ in length, and gradients add up
            logits = self.model(inputs).flatten(0, 1)
            loss = F.cross_entropy(logits, targets.flatten(), ignore_index=IGNORED, reduction="sum") / n_scored
            loss.backward()
            total += loss.item()
        torch.nn.utils.clip_grad_norm_(self.model.parameters(), self.settings.clip)
        for optimizer in self.optimizers:
            optimizer.step()
            optimizer.zero_grad(set_to_none=True)
        self.n_tokens += n_scored
        self.losses.append(total)
        return total

    def save(self, path: Path) -> None:
        """Weights, the optimizers' states and the progress as one safetensors file, replaced whole."""
        tensors = {}
        for name, parameter in self.model.named_parameters():
            tensors[f"model.{name}"] = parameter.detach().clone()
            for number, optimizer in enumerate(self.optimizers):
                for key, value in optimizer.state.get(parameter, {}).items():
                    tensors[f"{number}.{key}.{name}"] = value.clone()
        metadata = {
            "about": json.dumps(self._about()),
            "losses": json.dumps(self.losses),
            "n_tokens": str(self.n_tokens),
            "data": self._data,
        }
        part = path.with_name(path.name + ".part")
        save_file(tensors, part, metadata=metadata)
        part.replace(path)

    def resume(self, path: Path) -> None:
        """Go on from what `save` wrote, as if nothing had happened.

        Raises ValueError, before anything is changed, if the file is damaged, or was written with another model's
            shape, other settings, or other documents.
        """
        try:
            with safe_open(path, framework="pt") as file:
                metadata = file.metadata()
                tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 it is not a dict
        except (SafetensorError, OSError) as error:
            raise ValueError(f"{path} is damaged ({error}). Remove it to begin anew.") from None
        older = f"{path} was written by an older version of the course, "
        if "model.embedding.weight" in tensors:
            raise ValueError(
                f"{older}in which the model's weights had other names and another order. Remove it, or use another "
                f"folder, to begin anew."
            )
        try:
            there, here = json.loads(metadata["about"]), json.loads(json.dumps(self._about()))
            losses, n_tokens = json.loads(metadata["losses"]), int(metadata["n_tokens"])
            if not isinstance(losses, list) or not all(isinstance(loss, float) for loss in losses) or n_tokens < 0:
                raise ValueError
        except (KeyError, TypeError, ValueError, RecursionError):
            raise ValueError(f"{path} is no checkpoint of a training. Use another folder.") from None
        if there != here:
            raise ValueError(
                f"{path} was begun with {json.dumps(there)}, and now {json.dumps(here)} is asked for. "
                f"Use the same settings, or another folder."
            )
        if "data" not in metadata:
            raise ValueError(f"{older}which did not note its text. Remove it, or use another folder, to begin anew.")
        if metadata["data"] != self._data:
            raise ValueError(
                f"{path} was begun with another text: the documents or the vocabulary differ. Give the text of then, "
                f"unchanged, or another folder."
            )
        self._restore(path, tensors, begun=bool(losses))
        self.losses, self.n_tokens = losses, n_tokens

    def _restore(self, path: Path, tensors: dict[str, Tensor], begun: bool) -> None:
        """Put the tensors in their places, if every place has one. begun: after a step the optimizers have states."""
        places = {f"model.{name}": parameter.detach() for name, parameter in self.model.named_parameters()}
        states = {}  # where a state belongs: in which optimizer's, of which parameter, by which name
        for number, (optimizer, keys) in enumerate(zip(self.optimizers, _STATES, strict=True)):
            inside = {id(parameter) for group in optimizer.param_groups for parameter in group["params"]}
            for name, parameter in self.model.named_parameters():
                for key in keys if begun and id(parameter) in inside else ():
                    states[f"{number}.{key}.{name}"] = optimizer.state[parameter], key
                    places[f"{number}.{key}.{name}"] = torch.tensor(0.0) if key == "step" else parameter.detach()
        expected = {name: (tensor.shape, tensor.dtype) for name, tensor in places.items()}
        if {name: (tensor.shape, tensor.dtype) for name, tensor in tensors.items()} != expected:
            raise ValueError(f"{path} is damaged: its tensors are not those of the model. Remove it to begin anew.")
        for name, tensor in tensors.items():
            if name in states:
                state, key = states[name]
                state[key] = tensor
            else:
                places[name].copy_(tensor)

    def _about(self) -> dict:
        return {"settings": asdict(self.settings), "model": asdict(self.model.config)}


def split_parameters(model: Transformer) -> tuple[list[nn.Parameter], list[nn.Parameter]]:
    """The layers' matrices, which Muon changes, and all else: the embedding, the head and the gains."""
    matrices = [parameter for parameter in model.model.layers.parameters() if parameter.ndim == 2]
    inside = {id(matrix) for matrix in matrices}
    return matrices, [parameter for parameter in model.parameters() if id(parameter) not in inside]


def train_transformer(
    model: Transformer,
    vocab: CharVocab,
    groups: Sequence[Sequence[str]],
    settings: TrainingSettings = TrainingSettings(),
    on_step: Callable[[Trainer], None] | None = None,
    show_progress: bool = True,
) -> list[float]:
    """Train in place.

    groups: lists of documents; `settings.batch` says how many of each a step takes. on_step: called after each step.
    Returns the loss of each step, in nats a token. Interrupting it leaves the model as it is after the last whole step.
    """
    check_model_and_vocab(model, vocab)
    if not isinstance(model, Transformer) or not isinstance(settings, TrainingSettings):
        given = f"{type(model).__name__} and the settings a {type(settings).__name__}"
        raise TypeError(f"model is a {given}; expected a Transformer and TrainingSettings(…).")
    trainer = Trainer(model, Corpus(vocab, groups, model.block_size), settings)
    run(trainer, on_step, show_progress)
    return trainer.losses


def run(trainer: Trainer, on_step: Callable[[Trainer], None] | None = None, show_progress: bool = True) -> None:
    """Take the steps that are left, with a bar that shows loss, tokens a second and the time left.

    The model ends in eval mode, also when the learner interrupts.
    """
    begun, tokens = time.perf_counter(), trainer.n_tokens
    with tqdm(total=trainer.settings.steps, initial=trainer.step, unit="step", disable=not show_progress) as bar:
        try:
            while trainer.step < trainer.settings.steps:
                loss = trainer.take_step()
                rate = (trainer.n_tokens - tokens) / (time.perf_counter() - begun)
                bar.set_postfix(loss=f"{loss:.3f}", tokens_per_s=f"{rate:,.0f}", refresh=False)
                bar.update()
                if on_step:
                    on_step(trainer)
        finally:
            trainer.model.eval()


def new_model(vocab: CharVocab, config: TransformerConfig, seed: int) -> Transformer:
    """A model with random weights that depend on the seed alone; torch's own random state is left as it was."""
    if config.vocab_size != len(vocab):
        raise ValueError(f"config.vocab_size is {config.vocab_size}; the vocabulary has {len(vocab)} tokens.")
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return Transformer(config)

"""What a panel shows, as data: one step of sampling, and a finished continuation.

Pictures, sentences and tables are all made from these, so they cannot disagree. Every number comes from the
package's own `sampling`, `randomness` and `generation`: this module has no sampler, and draws nothing twice.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import IntEnum
from typing import Any

import numpy as np
import torch
from torch import Tensor

from course_utils import metrics
from course_utils.eval_mode import eval_mode
from course_utils.generation import Generation
from course_utils.protocols import LanguageModel, Vocabulary
from course_utils.sampling import SamplingParams, draw, next_token_probs
from course_utils.text import VISIBLE

N_GRAM = 4  # the repetition rate counts these, as in notebook 02
NAMES = {"temperature": "the temperature", "top_k": "top-k", "top_p": "top-p", "min_p": "min-p"}
_OFF: dict[str, Any] = {"temperature": 1.0, "top_k": None, "top_p": None, "min_p": None}


class Stage(IntEnum):
    """How much of the way from logits to a token is looked at; each notebook from 01 to 03 adds something."""

    CHOICE = 1  # the model's probabilities, and the draw
    TEMPERATURE = 2  # beside these the probabilities at the temperature
    FILTERS = 3  # and what the filters drop


@dataclass(frozen=True)
class Look:
    """One choice of a token, before anything is set and after.

    before: (V,) probabilities as the model gives them, at temperature 1 and with nothing dropped.
    after: (V,) probabilities from which the token is drawn: the kept ones, renormalised.
    kept: (V,) bool. picked: the id that u falls on; in greedy mode, the likeliest one.
    ranked: (V,) ids from the likeliest down; of equal ones the lower id first.
    seen: (V,) probabilities that top-p sees where it stands in the order of the steps.
    mass: (V,) those, added up in the order of the ranking.
    crossing: the id whose probability takes the mass to top-p, or None if top-p is off.
    u: in [0, 1), or None in greedy mode, which draws no number.
    """

    params: SamplingParams
    u: float | None
    before: np.ndarray
    after: np.ndarray
    kept: np.ndarray
    picked: int
    ranked: np.ndarray
    seen: np.ndarray
    mass: np.ndarray
    crossing: int | None

    @property
    def n_kept(self) -> int:
        return int(self.kept.sum())

    @property
    def entropies(self) -> tuple[float, float]:
        """In nats, before and after."""
        return entropy(self.before), entropy(self.after)

    def candidates(self, limit: int, by_id: bool = False) -> list[int]:
        """The ids to show: the likeliest ones, and the picked one in any case."""
        ids = self.ranked[:limit].tolist()
        if self.picked not in ids:
            ids[-1] = self.picked
        return sorted(ids) if by_id else ids


def look_at(logits: Tensor, params: SamplingParams, u: float) -> Look:
    """Everything that one row of logits shows under these settings.

    logits: (V,), in nats. u: in [0, 1); in greedy mode it is not used.
    Raises ValueError as `sampling.next_token_probs` and `draw` do.
    """
    probs = next_token_probs(logits, params)
    after = probs.numpy()
    before = next_token_probs(logits, SamplingParams()).numpy()
    ranked = np.argsort(-logits.detach().double().numpy(), kind="stable")  # no filter and no temperature changes it
    if params.greedy:
        mass = before[ranked].cumsum()
        return Look(params, None, before, after, after > 0, int(after.argmax()), ranked, before, mass, None)
    not_yet = {step: _OFF[step] for step in params.order[params.order.index("top_p") :]}
    seen = next_token_probs(logits, replace(params, **not_yet)).numpy()
    crossing = None
    if params.top_p not in (None, 1):
        nucleus = next_token_probs(logits, replace(params, **not_yet | {"top_p": params.top_p}))
        crossing = int(ranked[int((nucleus > 0).sum()) - 1])
    mass = seen[ranked].cumsum()
    return Look(params, u, before, after, after > 0, draw(probs, u), ranked, seen, mass, crossing)


@dataclass(frozen=True)
class Continuation:
    """A finished text with what can be measured of it, and of each of its steps.

    repetition, real_words: shares, or None where nothing could be counted.
    n_kept, entropies: (n_tokens,) for each sampled token, kept candidates and nats after the filters.
    """

    generation: Generation
    repetition: float | None
    real_words: float | None
    n_kept: tuple[int, ...]
    entropies: tuple[float, ...]


def follow(model: LanguageModel, vocab: Vocabulary, generation: Generation) -> Continuation:
    """Measure a text; one forward pass over it gives the distributions of all steps."""
    text, sampled = generation.text, generation.token_ids
    n_kept: tuple[int, ...] = ()
    entropies: tuple[float, ...] = ()
    if sampled:
        context = [vocab.bos_id, *vocab.encode(generation.prompt), *sampled[:-1]]
        with eval_mode(model):
            logits = model(torch.tensor([context]), None)[0, -len(sampled) :]
        probs = next_token_probs(logits, generation.sampling).numpy()
        n_kept = tuple((probs > 0).sum(-1).tolist())
        entropies = tuple(entropy(row) for row in probs)
    return Continuation(
        generation, metrics.repetition_rate(text, N_GRAM), metrics.coherence(text).real_words, n_kept, entropies
    )


def entropy(probs: np.ndarray) -> float:
    """-Σ p ln p, in nats; a probability of 0 adds nothing."""
    some = probs[probs > 0]
    return max(0.0, -float((some * np.log(some)).sum()))


def visible(label: object) -> str:
    """The label with newline, space and tab as the signs that `CharVocab.label` shows for them."""
    return "".join(VISIBLE.get(c, c) for c in str(label))


def say_look(look: Look, labels: Sequence[str], stage: Stage = Stage.FILTERS) -> str:
    """One step in words: what is kept, which token is the likeliest, how undecided the choice is, what is picked."""
    said = [_say_likeliest(look, labels, stage), _say_picked(look, labels)]
    if stage >= Stage.TEMPERATURE:
        said.insert(1, _say_entropy(look, stage))
    if stage >= Stage.FILTERS:
        kept = f"{look.n_kept} of {len(look.after)} tokens are kept."
        said = [kept, *([_say_crossing(look, labels)] if look.crossing is not None else []), *said]
    return " ".join(said)


def now(look: Look, stage: Stage) -> str:
    """What the probabilities after all steps are called: at T = 0.5, say, or after all settings."""
    if stage >= Stage.FILTERS:
        return "after all settings"
    return "when greedy" if look.params.greedy else f"at T = {look.params.temperature:g}"


def _say_likeliest(look: Look, labels: Sequence[str], stage: Stage) -> str:
    first = look.ranked[0]
    before, after = look.before[first], look.after[first]
    if stage == Stage.CHOICE:
        return f"The likeliest token is “{labels[first]}” with {before:.3f}."
    if _unchanged(look):
        return f"The likeliest token, “{labels[first]}”, has {before:.3f} at T = 1."
    return f"The likeliest token, “{labels[first]}”, has {before:.3f} at T = 1 and {after:.3f} {now(look, stage)}."


def _say_entropy(look: Look, stage: Stage) -> str:
    before, after = look.entropies
    if _unchanged(look):
        return f"The entropy is {before:.3f} nats at T = 1."
    return f"The entropy is {before:.3f} nats at T = 1 and {after:.3f} {now(look, stage)}."


def _unchanged(look: Look) -> bool:
    """Whether every setting leaves the model's probabilities as they are."""
    return not look.params.steps and not look.params.greedy


def _say_crossing(look: Look, labels: Sequence[str]) -> str:
    crossing = look.crossing or 0
    mass = look.mass[look.ranked.tolist().index(crossing)]
    return f"“{labels[crossing]}” takes the mass to {mass:.3f}, past p = {look.params.top_p:g} ({place(look)})."


def _say_picked(look: Look, labels: Sequence[str]) -> str:
    if look.params.greedy:
        return f"Greedy takes “{labels[look.picked]}”, the likeliest, and draws no number."
    return f"u = {look.u:.3f} picks “{labels[look.picked]}”, which has {look.after[look.picked]:.3f}."


def place(look: Look) -> str:
    """Where top-p stands among the steps that are on, and so which probabilities it sees."""
    steps = [step for step, _ in look.params.steps]
    top_p = steps.index("top_p")
    if top_p:
        return f"top-p comes after {' and '.join(NAMES[step] for step in steps[:top_p])}"
    if "temperature" in steps:
        return "top-p comes before the temperature"
    return "top-p comes first"


def no_crossing(look: Look) -> str:
    """Why no token crosses top-p."""
    return "Greedy applies no filter" if look.params.greedy else "Top-p is off"


def say_continuation(continuation: Continuation, stage: Stage = Stage.FILTERS) -> str:
    """Why the text ended, and what was measured of it."""
    generation = continuation.generation
    ended = f"{len(generation.token_ids)} tokens, ended by: {generation.finish_reason.value}."
    if stage == Stage.CHOICE:  # notebook 02 explains the measures
        return ended
    repetition, real_words = map(_share, (continuation.repetition, continuation.real_words))
    return f"{ended} Repetition of {N_GRAM}-grams: {repetition}; real words: {real_words}."


def _share(share: float | None) -> str:
    return "nothing to count" if share is None else f"{share:.2f}"


def largest_entropy(vocab_size: int) -> float:
    """ln V: all tokens equally likely."""
    return math.log(vocab_size)

"""What a panel shows, as data: one step of sampling, and a finished continuation.

Pictures, sentences and tables are all made from these, so they cannot disagree. Every number comes from the
package's own `sampling`, `randomness` and `generation`: this module has no sampler, and draws nothing twice.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
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
_OFF: dict[str, Any] = {"temperature": 1.0, "top_k": None, "top_p": None, "min_p": None}


@dataclass(frozen=True)
class Look:
    """One choice of a token, before it is made and after.

    before: (V,) probabilities at the temperature, nothing dropped. In greedy mode, those of temperature 1.
    after: (V,) probabilities from which the token is drawn: the kept ones, renormalised.
    kept: (V,) bool. picked: the id that u falls on; in greedy mode, the likeliest one.
    ranked: (V,) ids from the likeliest down; of equal ones the lower id first.
    mass: (V,) cumulative probability in this ranking where top-p stands in the order of the steps.
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
    ranked = np.argsort(-logits.detach().double().numpy(), kind="stable")  # no filter and no temperature changes it
    if params.greedy:
        before = next_token_probs(logits, SamplingParams()).numpy()
        return Look(params, None, before, after, after > 0, int(after.argmax()), ranked, before[ranked].cumsum(), None)
    before = next_token_probs(logits, replace(params, top_k=None, top_p=None, min_p=None)).numpy()
    not_yet = {step: _OFF[step] for step in params.order[params.order.index("top_p") :]}
    mass = next_token_probs(logits, replace(params, **not_yet)).numpy()[ranked].cumsum()
    crossing = None
    if params.top_p not in (None, 1):
        nucleus = next_token_probs(logits, replace(params, **not_yet | {"top_p": params.top_p}))
        crossing = int(ranked[int((nucleus > 0).sum()) - 1])
    return Look(params, u, before, after, after > 0, draw(probs, u), ranked, mass, crossing)


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


def say_look(look: Look, labels: Sequence[str]) -> str:
    """One step in words: what is kept, how undecided it is, what is picked."""
    before, after = look.entropies
    first, picked = look.ranked[0], look.picked
    said = f"{look.n_kept} of {len(look.after)} tokens kept. "
    if look.crossing is not None:
        rank = look.ranked.tolist().index(look.crossing)
        said += f"“{labels[look.crossing]}” takes the mass to {look.mass[rank]:.3f}, past p = {look.params.top_p:g}. "
    said += f"Likeliest: “{labels[first]}”, {look.before[first]:.3f} before, {look.after[first]:.3f} after. "
    said += f"Entropy: {before:.3f} nats before, {after:.3f} after. "
    if look.params.greedy:
        return said + f"Greedy takes “{labels[picked]}”, the likeliest, and draws no number."
    return said + f"u = {look.u:.3f} picks “{labels[picked]}”, which has {look.after[picked]:.3f}."


def no_crossing(look: Look) -> str:
    """Why no token crosses top-p."""
    return "Greedy applies no filter" if look.params.greedy else "Top-p is off"


def say_continuation(continuation: Continuation) -> str:
    """Why the text ended, and what was measured of it."""
    generation = continuation.generation
    n, reason = len(generation.token_ids), generation.finish_reason.value
    shares = (("repetition of 4-grams", continuation.repetition), ("real words", continuation.real_words))
    measured = "; ".join(f"{name} {'none to count' if s is None else f'{s:.2f}'}" for name, s in shares)
    return f"{n} tokens, ended by: {reason}. {measured[0].upper()}{measured[1:]}."


def largest_entropy(vocab_size: int) -> float:
    """ln V: all tokens equally likely."""
    return math.log(vocab_size)

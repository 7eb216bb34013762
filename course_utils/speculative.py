"""Speculation: a cheap draft proposes the next tokens, and the model checks all of them in one pass.

A pass over five tokens costs little more than a pass over one, so that each proposal that was right saves a pass. What
is drawn stays the model's: `speculate` hands out the model's own logits, and the loop draws from them as always. A draw
is a function of the logits and of u, so the texts are those of the model, sampled ones too. (The logits of a longer
pass differ in their last digits, as with any other cut of a text into chunks: a draw within that noise may tip.)

The rule of the papers needs no common u and accepts more often; `accept` is that rule. It draws other tokens, from the
same distribution.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from torch import Tensor

from course_utils.arguments import check_integer
from course_utils.eval_mode import eval_mode
from course_utils.protocols import LanguageModel
from course_utils.randomness import check_uint64, uniforms
from course_utils.sampling import SamplingParams, choose
from course_utils.transformer import Transformer


def acceptance(p: Tensor, q: Tensor) -> Tensor:
    """With which probability each token is accepted if the draft has proposed it: min(1, p / q), float64 (V,).

    p: the model's probabilities, (V,); q: the draft's. What the draft never proposes has 1.
    """
    p, q = p.double(), q.double()
    return torch.where(q > 0, p / q.where(q > 0, 1), 1).clamp(max=1)


def rest(p: Tensor, q: Tensor) -> Tensor:
    """What is drawn from after a rejection: max(p - q, 0) by its sum, float64 (V,). Arguments as in `acceptance`.

    It holds what the draft proposes too rarely. Raises ValueError for p = q, where nothing is ever rejected.
    """
    missing = (p.double() - q.double()).clamp(min=0)
    if not (total := missing.sum()) > 0:
        raise ValueError("p and q are the same distribution: every proposal is accepted, and no rest is left.")
    return missing / total


def acceptance_rates(p: Tensor, q: Tensor) -> tuple[Tensor, Tensor]:
    """How often a proposal is accepted under the textbook rule, and how often with a common u.

    p, q: the model's and the draft's probabilities, float64 (..., V).
    Returns two tensors of the shape (...): the sum of min(p, q), more than which no rule can accept; and the length on
        which the cumulative sums of p and q lie on the same token, which is at most as much.
    """
    ends = torch.minimum(p.cumsum(-1), q.cumsum(-1))
    begins = torch.maximum(p.cumsum(-1) - p, q.cumsum(-1) - q)
    return torch.minimum(p, q).sum(-1), (ends - begins).clamp(min=0).sum(-1)


def accept(p: Tensor, q: Tensor, drafted: int, u: float) -> tuple[bool, Tensor | None]:
    """The textbook rule: accept a proposal, or say from which distribution to draw in its place.

    p: the model's probabilities, (V,); q: the draft's; both add up to 1. drafted: the token that was drawn from q.
    u: in [0, 1), drawn for this decision alone.
    Returns (True, None) with probability min(1, p / q) of that token, else (False, `rest(p, q)`). A token that is drawn
        from q, judged, and drawn anew where it was rejected has exactly the distribution p.
    Source: Leviathan et al. 2022, https://arxiv.org/abs/2211.17192; Chen et al. 2023, https://arxiv.org/abs/2302.01318
    """
    if not q[check_integer("drafted", drafted, below=len(q))] > 0 or not 0 <= u < 1:
        raise ValueError(f"q[drafted] is {float(q[drafted])}, u is {u}; expected a token that q can give, 0 <= u < 1.")
    accepted = bool(u * q[drafted].double() < p[drafted].double())
    return (True, None) if accepted else (False, rest(p, q))


@dataclass
class Counts:
    """What speculation did. passes: calls of the model, prompts included. handed_out: rows of logits for one new token
    each. judged: proposals that met the token drawn; accepted: those that were equal to it."""

    passes: int = 0
    handed_out: int = 0
    judged: int = 0
    accepted: int = 0


def speculate(
    model: Any, draft: LanguageModel, k: int, sampling: SamplingParams | None = None, sample: int = 0
) -> "SpeculatingModel":
    """A model for the loop whose texts are those of `model`, in fewer passes of it if the draft is often right.

    model, draft: of one vocabulary; their caches can forget their last tokens (`crop`). k: tokens proposed for a pass.
    sampling, sample: what `generate` will be given, with the seed, so that the draft draws with the same settings and
        the same u; None: the draft proposes its likeliest token. They change how often a proposal is accepted, and
        never the text.
    Raises ValueError for k of 0, two sizes of vocabulary, or settings that draw without a seed.
    """
    return SpeculatingModel(model, draft, k, sampling, sample)


class SpeculatingModel:
    """What `speculate` returns, for one text at a time. counts: what it has done so far, over all texts.

    planned_from: the model whose logits it gives up to rounding. Fingerprints and records are that model's.
    """

    def __init__(self, model: Any, draft: LanguageModel, k: int, sampling: SamplingParams | None, sample: int):
        if check_integer("k", k) < 1:
            raise ValueError("k is 0; expected 1 or more. Without proposals use the model itself.")
        if sampling is not None and not isinstance(sampling, SamplingParams):
            raise TypeError(f"sampling is {sampling!r}; expected SamplingParams(…) or None.")
        if sampling is not None and sampling.seed is None and not sampling.greedy:
            raise ValueError("sampling has no seed, so the draft cannot draw with generate's numbers. Give it a seed.")
        with torch.no_grad():
            sizes = [one(torch.tensor([[0]])).shape[-1] for one in (model, draft)]
        if sizes[0] != sizes[1]:
            raise ValueError(f"The model has {sizes[0]} tokens and the draft {sizes[1]}; expected one vocabulary.")
        self.model, self.draft, self.k = model, draft, k
        self.sampling, self.sample = sampling, check_uint64("sample", sample)
        self.planned_from = getattr(model, "planned_from", model)
        self.counts = Counts()
        self._eval_modes = eval_mode(self.planned_from), eval_mode(draft)
        if hasattr(model, "block_size"):
            self.block_size = model.block_size

    def __repr__(self) -> str:
        return f"speculate({type(self.planned_from).__name__}, {type(self.draft).__name__}, k={self.k})"

    def new_cache(self, batch_size: int = 1, max_tokens: int | None = None) -> "SpeculationCache":
        """An empty cache for one text, as large as the models make theirs, whatever max_tokens.

        Raises ValueError for several texts, TypeError if a model's cache cannot be cropped.
        """
        if batch_size != 1:
            raise ValueError(f"batch_size is {batch_size}; speculation takes one text. Use the model itself.")
        return SpeculationCache(self)

    def __call__(
        self, token_ids: Tensor, cache: "SpeculationCache | None" = None, attention_mask: Tensor | None = None
    ) -> Tensor:
        """Logits (1, T, V), in nats. token_ids: (1, T). Without a cache it is a pass of the model, and none is saved.

        Raises ValueError for several rows, an attention mask, and what the model refuses.
        """
        if token_ids.ndim != 2 or token_ids.shape[0] != 1 or attention_mask is not None:
            raise ValueError(
                f"token_ids has the shape {tuple(token_ids.shape)}; speculation takes one text, (1, T), without an "
                f"attention mask. Use the model itself for several."
            )
        if cache is not None and cache.owner is not self:
            raise ValueError("This cache belongs to another model. Make one with new_cache().")
        with self._eval_modes[0], self._eval_modes[1]:
            return self.model(token_ids) if cache is None else cache.logits_after(token_ids)


class SpeculationCache:
    """Two caches and what has been proposed: the model's holds the proposals as well, until one of them is wrong.

    ids: the tokens that the loop has fed. What a wrong proposal left behind in the caches is cropped before the next
    pass: its keys and values are those of another text, and so is everything after them.
    """

    batch_size = 1

    def __init__(self, owner: SpeculatingModel):
        self.owner = owner
        self.ids: list[int] = []
        self._model, self._draft = owner.model.new_cache(1), owner.draft.new_cache(1)
        for cache in (self._model, self._draft):
            if not hasattr(cache, "crop"):
                raise TypeError(f"A {type(cache).__name__} has no `crop`; speculation must forget wrong proposals.")
        self._waiting: list[tuple[int, Tensor]] = []  # proposals, each with the logits after it
        self._restart()

    def _restart(self) -> None:
        """The next call brings a prompt."""
        sampling = self.owner.sampling
        self._step = -1  # of the draw from the logits that were handed out last
        self._u: list[float] = []
        self._numbers: Iterator[float] | None = None
        if sampling is not None and not sampling.greedy:
            assert sampling.seed is not None
            self._numbers = uniforms(sampling.seed, sample=self.owner.sample)

    @property
    def n_tokens(self) -> int:
        """How many tokens have been processed; proposals that wait do not count."""
        return len(self.ids)

    @property
    def token_ids(self) -> Tensor:
        """The tokens that have been processed, int64 (1, n_tokens)."""
        return torch.tensor([self.ids], dtype=torch.int64)

    def crop(self, n_tokens: int) -> None:
        """Forget all but the first `n_tokens` tokens. What is fed next counts as a prompt."""
        if not 0 <= n_tokens <= self.n_tokens:
            raise ValueError(f"n_tokens is {n_tokens}; expected 0 to {self.n_tokens}, the number that the cache holds.")
        del self.ids[n_tokens:]
        self._waiting.clear()
        self._restart()

    def logits_after(self, token_ids: Tensor) -> Tensor:
        """Logits (1, T, V) of the new tokens (1, T): those of a proposal that was right, or of a new pass."""
        self._step += 1  # several tokens in a later call are one that was sampled and others that were forced
        new, counts = token_ids[0].tolist(), self.owner.counts
        counts.handed_out += 1
        if len(new) == 1 and self._waiting:
            proposed, logits = self._waiting.pop(0)
            counts.judged += 1
            if proposed == new[0]:
                counts.accepted += 1
                self.ids += new
                return logits[None, None]
        self._waiting.clear()
        for cache in (self._model, self._draft):
            cache.crop(min(cache.n_tokens, len(self.ids)))
        proposals = self._propose([*self.ids, *new])
        logits = self.owner.model(torch.tensor([[*new, *proposals]]), self._model)
        counts.passes += 1
        self.ids += new
        self._waiting = list(zip(proposals, logits[0, len(new) :], strict=True))
        return logits[:, : len(new)]

    def _propose(self, ids: list[int]) -> list[int]:
        """Up to k tokens that may follow all the ids, as far as both contexts have room."""
        room = min(_size(self._model) - len(ids), _size(self._draft) - len(ids) + 1)
        fed, proposals = ids[self._draft.n_tokens :], []
        for place in range(int(min(self.owner.k, room))):
            row = self.owner.draft(torch.tensor([fed]), self._draft)[0, -1]
            fed = [self._choose(row, place)]
            proposals += fed
        return [int(token) for token in proposals]

    def _choose(self, logits: Tensor, place: int) -> int:
        """The draft's choice for the draw that comes `place` steps after the next one."""
        if self.owner.sampling is None or self._numbers is None:
            return int(np.argmax(logits.double().numpy()))
        while len(self._u) <= self._step + place:
            self._u.append(next(self._numbers))
        return choose(logits, self.owner.sampling, self._u[self._step + place])[0]


def _size(cache: Any) -> float:
    return getattr(cache, "max_tokens", float("inf"))


def first_layers(model: Transformer, n_layer: int) -> Transformer:
    """A draft out of the model itself: its first layers, then its norm and head. The weights are shared, not copied.

    Raises ValueError for 0 layers, or more than the model has.
    """
    if not 1 <= check_integer("n_layer", n_layer) <= model.config.n_layer:
        raise ValueError(f"n_layer is {n_layer}; expected 1 to {model.config.n_layer}, the model's own number.")
    with torch.device("meta"):  # no memory, and no random numbers, for weights that are replaced at once
        draft = Transformer(replace(model.config, n_layer=n_layer))
    draft.model.embed_tokens, draft.model.norm = model.model.embed_tokens, model.model.norm
    draft.lm_head, draft.rotation = model.lm_head, model.rotation
    for place in range(n_layer):
        draft.model.layers[place] = model.model.layers[place]
    return draft.train(model.training)

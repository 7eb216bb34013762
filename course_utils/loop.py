"""The loop's engine: a forward pass, a choice, append, again, for the rows of a batch together.

It does not know what kind of model it drives, nor how a cache works inside; `generation` is how callers use it.
"""

from collections import defaultdict
from collections.abc import Sequence
from contextlib import contextmanager
from dataclasses import replace

import numpy as np
import torch
from torch import Tensor, nn

from course_utils.row import Row
from course_utils.sampling import SamplingParams, next_token_probs


class Batch:
    """Rows that one model advances together, and the cache that they share.

    model: `model(token_ids, cache) -> logits`, (B, T) int64 to (B, T, V), with `new_cache(batch_size)`. If rows
        differ in length it is also given `attention_mask`, (B, S) bool over all tokens so far, False where padding
        stands; and if it has a `block_size`, the longest context, its `new_cache` is given `max_tokens` then.
    """

    def __init__(self, model, vocab, rows: Sequence[Row], use_cache: bool):
        self.model, self.pad_id, self.use_cache = model, vocab.pad_id, use_cache
        self.rows = list(rows)
        self.modules = modules_of(model)
        self.began = False
        self.cache = self.mask = self.context = None
        # Rows whose settings differ in the seed only, as in a sweep over seeds, share the computation of probabilities.
        self.alike = defaultdict(list)
        for index, row in enumerate(self.rows):
            self.alike[replace(row.sampling, seed=None)].append(index)

    def run(self) -> None:
        """Advance until every row is finished."""
        with evaluating(self.modules):  # once for all steps, so that none has to switch modes
            while self.unfinished():
                self.step()

    def unfinished(self) -> bool:
        """Whether any row goes on."""
        return any(row.finish_reason is None for row in self.rows)

    def step(self) -> None:
        """Advance each unfinished row by one token. The last one that is sampled is never fed: nobody needs the logits
        after it."""
        new = self._new_tokens()
        if self.use_cache:
            if not self.began:
                self.cache = self._new_cache()
            fed = new
        else:
            fed = self.context = torch.cat([self.context, new], dim=1) if self.began else new
        self.began = True
        mask = {} if self.mask is None else {"attention_mask": self.mask}
        with evaluating(self.modules):
            logits = self.model(fed, self.cache, **mask)
        for row in self.rows:
            row.n_fed = len(row.ids)
        self._choose(logits[:, -1].detach().double())  # padding stands on the left: the last position is real

    def _new_tokens(self) -> Tensor:
        """What each row has that the model has not seen, (B, T): first the prompts, then a token each; and the mask."""
        rows = [[] if row.finish_reason else row.ids[row.n_fed :] for row in self.rows]  # a finished row idles
        longest = max(map(len, rows))
        if self.mask is not None or any(0 < len(row) < longest for row in rows):
            # Made from lengths, since an id may be padding in one place and a token of the text in another.
            real = torch.arange(longest) >= torch.tensor([[longest - len(row)] for row in rows])
            self.mask = real if self.mask is None else torch.cat([self.mask, real], dim=1)
        return torch.tensor([[self.pad_id] * (longest - len(row)) + row for row in rows])

    def _new_cache(self):
        if self.mask is None or not hasattr(self.model, "block_size"):
            return self.model.new_cache(len(self.rows))
        # A short row beside a long one goes on for longer than the context: its padding takes up places as well.
        going_on = [row for row in self.rows if row.finish_reason is None]
        n_new = max(min(row.stopping.max_new_tokens, row.context_size - len(row.ids) + 1) for row in going_on)
        return self.model.new_cache(len(self.rows), max_tokens=self.mask.shape[1] + n_new - 1)

    def _choose(self, logits: Tensor) -> None:
        scores = logits.cpu().numpy()
        for settings, members in self.alike.items():
            members = [index for index in members if self.rows[index].finish_reason is None]
            probs = [None] * len(members) if settings.greedy else self._probs(logits, members, settings)
            for index, row_probs in zip(members, probs, strict=True):
                self.rows[index].choose(scores[index], row_probs)

    def _probs(self, logits: Tensor, members: list[int], settings: SamplingParams) -> np.ndarray:
        """The probabilities of these rows, (n, V): row by row, so each is the same as alone."""
        try:
            return next_token_probs(logits[members], settings).numpy()
        except ValueError:
            for index in members:
                self.rows[index].refuse_bad(logits[index])
            raise


def modules_of(model) -> list[nn.Module]:
    """All modules of a model, itself included: what `evaluating` needs. A mere callable has none."""
    return list(model.modules()) if isinstance(model, nn.Module) else []


@contextmanager
def evaluating(modules: Sequence[nn.Module]):
    """Without gradients and without dropout; afterwards each module is in the mode in which it was."""
    was_training = [module for module in modules if module.training]
    try:
        for module in was_training:
            module.training = False
        with torch.no_grad():
            yield
    finally:
        for module in was_training:
            module.training = True

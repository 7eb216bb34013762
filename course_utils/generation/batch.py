"""The loop's engine: a forward pass, a choice, append, again, for the rows of a batch together.

It does not know what kind of model it drives, nor how a cache works inside; `generation` is how callers use it.
"""

from collections.abc import Iterator, Sequence
from typing import Any

import torch
from torch import Tensor

from course_utils.arguments import check_flag
from course_utils.eval_mode import eval_mode
from course_utils.generation.row import Row
from course_utils.protocols import LanguageModel


class Batch:
    """Rows that one model advances together, and the cache that they share.

    model: `model(token_ids, cache) -> logits`, (B, T) int64 to (B, T, V), with `new_cache(batch_size)`. If rows
        differ in length it is also given `attention_mask`, (B, S) bool over all tokens so far, False where padding
        stands; and if it has a `block_size`, the longest context, its `new_cache` is given `max_tokens` then.
    rows: may have ended already; they idle then. use_cache: False feeds all tokens again at each step.
    """

    def __init__(self, model: LanguageModel, rows: Sequence[Row], use_cache: bool):
        self.model, self.rows, self.use_cache = model, list(rows), check_flag("use_cache", use_cache)
        if use_cache and not hasattr(model, "new_cache"):
            raise TypeError(f"model is of type {type(model).__name__}, without new_cache(); give use_cache=False.")
        self.n_fed = [0] * len(self.rows)  # how many of each row's ids the model has processed
        self.eval_mode = eval_mode(model)
        self.cache: Any = None  # made when the first prompt is there
        self.mask: Tensor | None = None  # (B, S) bool, once it is needed
        self.fed: Tensor | None = None  # (B, S), all tokens so far: kept only without a cache

    def run(self) -> None:
        """Advance until every row has ended."""
        with self.eval_mode:  # once for all steps, so that none has to switch modes
            for _ in self.steps():
                pass

    def steps(self) -> Iterator[None]:
        """Choose a token for each row that goes on, again and again until all have ended.

        The last token of a row is never fed: nobody needs the logits after it.
        """
        feed = self.prefill
        while any(row.finish_reason is None for row in self.rows):
            with self.eval_mode:
                logits = feed()
            for row, row_logits in zip(self.rows, logits.double().cpu().numpy(), strict=True):
                if row.finish_reason is None:
                    row.choose(row_logits)
            feed = self.decode
            yield

    def prefill(self) -> Tensor:
        """Feed all that the model has not seen of each row that goes on: a prompt, or tokens that were forced.

        Returns the logits after each row's last token, (B, V). Shorter rows are padded on the left.
        """
        new = [[] if row.finish_reason else row.ids[n:] for row, n in zip(self.rows, self.n_fed, strict=True)]
        longest = max(map(len, new))
        if self.mask is not None or any(0 < len(ids) < longest for ids in new):
            # Made from lengths, since an id may be padding in one place and a token of the text in another.
            self._extend_mask(torch.arange(longest) >= torch.tensor([[longest - len(ids)] for ids in new]))
        if self.use_cache and self.cache is None:
            self.cache = self._new_cache()
        padding = [[row.request.vocab.pad_id] * (longest - len(ids)) for row, ids in zip(self.rows, new, strict=True)]
        return self._forward(torch.tensor([pad + ids for pad, ids in zip(padding, new, strict=True)]))

    def decode(self) -> Tensor:
        """Feed the token that each row has chosen last; a row that has ended idles. Returns the logits (B, V)."""
        goes_on = [row.finish_reason is None for row in self.rows]
        if self.mask is not None:
            self._extend_mask(torch.tensor(goes_on)[:, None])
        last = [[row.ids[-1] if on else row.request.vocab.pad_id] for row, on in zip(self.rows, goes_on, strict=True)]
        return self._forward(torch.tensor(last))

    def _extend_mask(self, real: Tensor) -> None:
        self.mask = real if self.mask is None else torch.cat([self.mask, real], dim=1)

    def _forward(self, new: Tensor) -> Tensor:
        """The logits (B, V) after the new tokens (B, T)."""
        if not self.use_cache:
            new = self.fed = new if self.fed is None else torch.cat([self.fed, new], dim=1)
        mask = {} if self.mask is None else {"attention_mask": self.mask}
        logits = self.model(new, self.cache, **mask)
        self.n_fed = [len(row.ids) for row in self.rows]
        return logits[:, -1].detach()  # padding stands on the left, so the last position is a real token

    def _new_cache(self) -> Any:
        block_size = getattr(self.model, "block_size", None)
        if self.mask is None or block_size is None:
            return self.model.new_cache(len(self.rows))
        # A short row beside a long one goes on for longer than the context: its padding takes up places as well.
        going_on = [row for row in self.rows if row.finish_reason is None]
        n_new = max(min(row.request.stopping.max_new_tokens, block_size - len(row.ids) + 1) for row in going_on)
        new_cache: Any = self.model.new_cache  # of a model with a block_size, so it takes max_tokens
        return new_cache(len(self.rows), max_tokens=self.mask.shape[1] + n_new - 1)

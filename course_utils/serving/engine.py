"""Many texts at once: requests come and go, and each step spends a budget of tokens on those that run.

The engine is a second driver beside the loop. It uses the same rows and the same sampler, so a request's text is the
one that `generate` gives it alone, whatever runs beside it: a draw is a function of logits, seed and step, and the
logits are the same up to rounding. How full the store is decides when a text is computed, never what it says.

Source: Yu et al. 2022, Orca, https://www.usenix.org/conference/osdi22/presentation/yu (continuous batching);
Agrawal et al. 2023, Sarathi, https://arxiv.org/abs/2308.16369 (prompts in chunks).
"""

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
import torch

from course_utils.arguments import check_integer
from course_utils.eval_mode import eval_mode
from course_utils.generation import Chunk, Generation, finished, reproduction, start
from course_utils.generation.row import Row
from course_utils.protocols import Vocabulary
from course_utils.sampling import SamplingParams
from course_utils.serving.paged_cache import PagedCache, Table
from course_utils.serving.trace import Events, Step
from course_utils.stopping import StopCriteria
from course_utils.transformer import Transformer


@dataclass(eq=False)
class EngineRequest:
    """A text that somebody has asked for.

    number: 0, 1, … in the order of coming. generation: the text, once it has ended; None before, and for good if the
    request was cancelled or has failed. error: why it failed.
    """

    number: int
    row: Row
    _engine: "Engine" = field(repr=False)
    _origin: reproduction.Origin = field(repr=False)
    _table: Table = field(default_factory=Table, repr=False)
    generation: Generation | None = None
    error: ValueError | None = None
    cancelled: bool = False

    @property
    def ended(self) -> bool:
        """Whether no further step will add to it."""
        return self.generation is not None or self.error is not None or self.cancelled

    @property
    def n_unfed(self) -> int:
        """How many of its tokens the model has not processed yet: one if it is being decoded."""
        return len(self.row.ids) - len(self._table.token_ids)

    def stream(self) -> Iterator[Chunk]:
        """Its text piece by piece; waiting for the next piece lets the engine take steps, for all requests.

        The last chunk has no text and holds the generation. After `cancel` the iterator ends without one.
        Raises the request's error if it fails.
        """
        n_given = 0
        while True:
            if text := "".join(self.row.shown[n_given:]):
                n_given = len(self.row.shown)
                yield Chunk(text)
            if self.ended:
                break
            self._engine.step()
        if self.error is not None:
            raise self.error
        if self.generation is not None:
            yield Chunk("", self.generation)

    def cancel(self) -> None:
        """End it now; its blocks are free at once. A request that has ended stays as it is."""
        if not self.ended:
            self.cancelled = True
            self._engine._drop(self)


class Engine:
    """Serves requests on one model, with a fixed number of cache blocks.

    n_blocks, block_size: the store, as in `PagedCache`; block_size is the number of tokens in a cache block.
    max_tokens_a_step: how many tokens a step may feed. First come the texts that are being decoded, with one token
        each; what is left goes to prompts, in chunks.
    max_running: how many texts may run at the same time; None: as many as the blocks allow.
    """

    def __init__(
        self,
        model: Transformer,
        vocab: Vocabulary,
        n_blocks: int,
        block_size: int = 16,
        max_tokens_a_step: int = 256,
        max_running: int | None = None,
    ):
        if not isinstance(model, Transformer):
            raise TypeError(f"model is a {type(model).__name__}; expected a Transformer, whose cache can be paged.")
        self.max_tokens_a_step = check_integer("max_tokens_a_step", max_tokens_a_step, at_least=1)
        self.max_running = None if max_running is None else check_integer("max_running", max_running, at_least=1)
        self.model, self.vocab, self._eval_mode = model, vocab, eval_mode(model)
        self.cache = PagedCache(model, n_blocks, block_size)
        self.waiting: list[
            EngineRequest
        ] = []  # both are in the order of coming, and who runs has come before who waits
        self.running: list[EngineRequest] = []
        self._n_requests = self._n_steps = 0

    def submit(
        self,
        prompt: str,
        sampling: SamplingParams = SamplingParams(),
        stopping: StopCriteria = StopCriteria(),
        sample: int = 0,
    ) -> EngineRequest:
        """Ask for a text, with arguments as in `generate`; it begins in a later step.

        Raises what `generate` raises, and ValueError for a request that might need more blocks than there are.
        """
        row = start(self.model, self.vocab, prompt, sampling, stopping, sample)
        size, n_prompt = self.cache.pool.block_size, len(row.ids)
        longest = min(n_prompt + stopping.max_new_tokens, self.model.block_size + 1)
        if (needed := -(-longest // size)) > self.cache.pool.n_blocks:
            raise ValueError(
                f"The request may grow to {longest} tokens ({n_prompt} of prompt, <bos> included, and up to "
                f"{stopping.max_new_tokens} new ones), which take {needed} blocks of {size}; the engine has "
                f"{self.cache.pool.n_blocks}. Make an engine with more blocks, or lower max_new_tokens."
            )
        origin = reproduction.origin_of(self.model, self.vocab, use_cache=True)
        request = EngineRequest(self._n_requests, row, self, origin)
        self._n_requests += 1
        if row.finish_reason is None:
            self.waiting.append(request)
        else:  # a budget of no tokens
            request.generation = finished(row, origin)
        return request

    def run(self) -> list[Step]:
        """Step until every request has ended; returns what each step did."""
        steps = []
        while self.waiting or self.running:
            steps.append(self.step())
        return steps

    def step(self) -> Step:
        """Feed up to `max_tokens_a_step` tokens: decode, then go on with prompts, then admit who waits.

        If it is interrupted, or the model or the cache raises an error, every text that runs waits again and is
        computed anew later.
        """
        events = Events()
        try:
            with self._eval_mode:
                budget = self._decode(events)
                self._prefill(budget, events)
        except BaseException:
            while self.running:  # some may have been fed a token without having chosen the next one
                self._preempt_last(events)
            raise
        self._n_steps += 1
        tables = [(request.number, request._table.blocks) for request in self.running]
        return events.step(self._n_steps - 1, tables, self.cache.pool.n_free, [r.number for r in self.waiting])

    def _decode(self, events: Events) -> int:
        """One forward pass for the texts with one token left to feed. Returns how many more may be fed."""
        decoding: list[EngineRequest] = []
        for request in list(self.running):
            if len(decoding) == self.max_tokens_a_step:
                break
            # Who came later may have been preempted for who came earlier, and is no longer running.
            if request.n_unfed == 1 and request._table.blocks and self._make_room(request, events):
                decoding.append(request)
        if decoding:
            logits = self._forward(decoding, [request.row.ids[-1:] for request in decoding])
            for request, row_logits in zip(decoding, logits, strict=True):
                events.decoded.append(request.number)
                self._choose(request, row_logits, events)
        return self.max_tokens_a_step - len(decoding)

    def _prefill(self, budget: int, events: Events) -> None:
        """Feed prompts, each in a pass of its own, the oldest first; a text that was preempted is a prompt again."""
        for request in list(self.running):
            if budget and request.n_unfed > 1:
                budget -= self._feed_prompt(request, budget, events)
        while budget and self.waiting and not events.preempted and len(self.running) != self.max_running:
            if not self._admit(self.waiting[0], events):
                break
            budget -= self._feed_prompt(self.running[-1], budget, events)

    def _feed_prompt(self, request: EngineRequest, budget: int, events: Events) -> int:
        """Feed as much of a prompt as the budget allows, and return how much that was."""
        ids = request.row.ids[len(request._table.token_ids) :][:budget]
        logits = self._forward([request], [ids])
        events.prefilled.append((request.number, len(ids)))
        if not request.n_unfed:
            self._choose(request, logits[0], events)
        return len(ids)

    def _forward(self, requests: list[EngineRequest], ids: list[list[int]]) -> np.ndarray:
        """The logits (B, V) after the new tokens of each request."""
        rows = self.cache.rows([request._table for request in requests])
        return self.model(torch.tensor(ids), rows)[:, -1].double().cpu().numpy()

    def _choose(self, request: EngineRequest, logits: np.ndarray, events: Events) -> None:
        try:
            request.row.choose(logits)
        except ValueError as error:  # the fault is in its own logits or settings, so the others go on
            request.error = error
            events.failed.append(request.number)
            self._drop(request)
        if request.row.finish_reason is not None:
            request.generation = finished(request.row, request._origin)
            events.finished.append(request.number)
            self._drop(request)

    def _admit(self, request: EngineRequest, events: Events) -> bool:
        """Let it run if there is room for all that it has so far and one token more."""
        table = self.cache.begin(request.row.ids)
        n_found = len(table.token_ids)
        if not self.cache.reserve(table, len(request.row.ids) + 1 - n_found):
            self.cache.release(table)
            return False
        self.waiting.remove(request)
        self.running.append(request)
        request._table = table
        events.admitted.append((request.number, n_found))
        return True

    def _make_room(self, request: EngineRequest, events: Events) -> bool:
        """Room for one more token, taken from who came last if need be. False if that is the request itself."""
        while not self.cache.reserve(request._table, 1):
            if self._preempt_last(events) is request:
                return False
        return True

    def _preempt_last(self, events: Events) -> EngineRequest:
        last = self.running.pop()
        self.cache.release(last._table)
        self.waiting.insert(0, last)
        events.preempted.append(last.number)
        return last

    def _drop(self, request: EngineRequest) -> None:
        self.cache.release(request._table)
        for queue in (self.waiting, self.running):
            if request in queue:
                queue.remove(request)

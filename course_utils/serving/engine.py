"""Many texts at once: requests come and go, and each step spends a budget of tokens on those that run.

The engine is a second driver beside the loop. It uses the same rows and the same sampler, so a request's text is the one
that `generate` gives it alone, whatever runs beside it: a draw is a function of logits, seed and step, and the logits
are the same up to rounding. How full the store is decides when a text is computed, never what it says.

Source: Yu et al. 2022, Orca, https://www.usenix.org/conference/osdi22/presentation/yu (continuous batching); Agrawal et al.
2023, Sarathi, https://arxiv.org/abs/2308.16369 (prompts in chunks).
"""

from collections.abc import Iterator
from dataclasses import dataclass, field

import torch

from course_utils.eval_mode import eval_mode
from course_utils.generation import Chunk, Generation, finished, reproduction, start
from course_utils.generation.row import Row
from course_utils.protocols import Vocabulary
from course_utils.sampling import SamplingParams
from course_utils.serving.paged_cache import PagedCache, Table
from course_utils.stopping import StopCriteria
from course_utils.transformer import Transformer


@dataclass(frozen=True)
class Step:
    """What one step did, as plain data. Requests are named by their numbers, in the order in which they came.

    admitted: (request, tokens that were found in the store and not computed again). prefilled: (request, tokens fed),
    decoded: requests that were fed the one token that they had chosen. preempted: their blocks were taken from them.
    failed: their logits could not be used; `EngineRequest.error` says why. tables: (request, its blocks) of all that run
    when the step ends; n_free: blocks that nobody holds; waiting: who waits, first come first.
    """

    number: int
    admitted: tuple[tuple[int, int], ...]
    prefilled: tuple[tuple[int, int], ...]
    decoded: tuple[int, ...]
    preempted: tuple[int, ...]
    finished: tuple[int, ...]
    failed: tuple[int, ...]
    tables: tuple[tuple[int, tuple[int, ...]], ...]
    n_free: int
    waiting: tuple[int, ...]


@dataclass(eq=False)
class EngineRequest:
    """A text that was asked for.

    number: 0, 1, … in the order of coming. generation: the text, once it has ended; None before, and for good if it was
    cancelled or has failed. error: why it failed.
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

    n_blocks, block_size: the store; block_size is the number of tokens in a cache block, not the model's context.
    max_tokens_a_step: how many tokens a step may feed: one for each text that is being decoded, first come first served,
        and what is left for prompts, in chunks.
    """

    def __init__(
        self, model: Transformer, vocab: Vocabulary, n_blocks: int, block_size: int = 16, max_tokens_a_step: int = 256
    ):
        if isinstance(max_tokens_a_step, bool) or not isinstance(max_tokens_a_step, int) or max_tokens_a_step < 1:
            raise ValueError(f"max_tokens_a_step is {max_tokens_a_step!r}; expected an integer of at least 1.")
        if not isinstance(model, Transformer):
            raise TypeError(f"model is a {type(model).__name__}; expected a Transformer, whose cache can be paged.")
        self.model, self.vocab, self.max_tokens_a_step = model, vocab, max_tokens_a_step
        self.cache = PagedCache(model, n_blocks, block_size)
        self.waiting: list[EngineRequest] = []
        self.running: list[EngineRequest] = []
        self._eval_mode, self._n_requests, self._n_steps = eval_mode(model), 0, 0

    def submit(
        self,
        prompt: str,
        sampling: SamplingParams = SamplingParams(),
        stopping: StopCriteria = StopCriteria(),
        sample: int = 0,
    ) -> EngineRequest:
        """Ask for a text, with arguments as in `generate`; it begins in a later step.

        Raises ValueError and TypeError as `generate` does; and ValueError for a request that might need more blocks than
        the store has.
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
        """Step until every request has ended; the trace of each step."""
        steps = []
        while self.waiting or self.running:
            steps.append(self.step())
        return steps

    def step(self) -> Step:
        """Feed up to `max_tokens_a_step` tokens: decode, then go on with prompts, then admit who waits."""
        events = _Events()
        with self._eval_mode:
            budget = self._decode(events)
            self._prefill(budget, events)
        self._n_steps += 1
        return Step(
            number=self._n_steps - 1,
            **{name: tuple(value) for name, value in vars(events).items()},
            tables=tuple((request.number, tuple(request._table.blocks)) for request in self.running),
            n_free=self.cache.pool.n_free,
            waiting=tuple(request.number for request in self.waiting),
        )

    def _decode(self, events: "_Events") -> int:
        """One forward pass for all texts of which one token is left to feed. Returns the tokens left to spend."""
        decoding: list[EngineRequest] = []
        for request in list(self.running):
            if len(decoding) == self.max_tokens_a_step:
                break
            if request in self.running and _n_unfed(request) == 1 and self._make_room(request, events):
                decoding.append(request)
        # Who came later may have lost its blocks to who came earlier.
        decoding = [request for request in decoding if request in self.running]
        if decoding:
            logits = self._forward(decoding, [request.row.ids[-1:] for request in decoding])
            for request, row_logits in zip(decoding, logits, strict=True):
                events.decoded.append(request.number)
                self._choose(request, row_logits, events)
        return self.max_tokens_a_step - len(decoding)

    def _prefill(self, budget: int, events: "_Events") -> None:
        """Feed prompts, each in a pass of its own, the oldest first; a text that was preempted is a prompt again."""
        for request in list(self.running):
            if _n_unfed(request) > 1:
                budget -= self._feed_prompt(request, budget, events)
        while budget > 0 and self.waiting and not events.preempted and self._admit(self.waiting[0], events):
            budget -= self._feed_prompt(self.running[-1], budget, events)

    def _feed_prompt(self, request: EngineRequest, budget: int, events: "_Events") -> int:
        ids = request.row.ids[len(request._table.token_ids) :][:budget]
        if ids:
            logits = self._forward([request], [ids])
            events.prefilled.append((request.number, len(ids)))
            if not _n_unfed(request):
                self._choose(request, logits[0], events)
        return len(ids)

    def _forward(self, requests: list[EngineRequest], ids: list[list[int]]):
        rows = self.cache.rows([request._table for request in requests])
        return self.model(torch.tensor(ids), rows)[:, -1].double().numpy()

    def _choose(self, request: EngineRequest, logits, events: "_Events") -> None:
        try:
            request.row.choose(logits)
        except ValueError as error:  # its own logits, or its own settings: the others go on
            request.error = error
            events.failed.append(request.number)
            self._drop(request)
        if request.row.finish_reason is not None:
            request.generation = finished(request.row, request._origin)
            events.finished.append(request.number)
            self._drop(request)

    def _admit(self, request: EngineRequest, events: "_Events") -> bool:
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

    def _make_room(self, request: EngineRequest, events: "_Events") -> bool:
        """Room for one more token; while there is none, who came last gives its blocks back. False if that is itself."""
        while not self.cache.reserve(request._table, 1):
            last = self.running.pop()
            self.cache.release(last._table)
            self.waiting.insert(0, last)
            events.preempted.append(last.number)
            if last is request:
                return False
        return True

    def _drop(self, request: EngineRequest) -> None:
        self.cache.release(request._table)
        for queue in (self.waiting, self.running):
            if request in queue:
                queue.remove(request)


class _Events:
    def __init__(self) -> None:
        self.admitted: list[tuple[int, int]] = []
        self.prefilled: list[tuple[int, int]] = []
        self.decoded: list[int] = []
        self.preempted: list[int] = []
        self.finished: list[int] = []
        self.failed: list[int] = []


def _n_unfed(request: EngineRequest) -> int:
    return len(request.row.ids) - len(request._table.token_ids)

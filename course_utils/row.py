"""One text in the making: what was asked, what has been sampled, what of it may be shown, and whether it has ended.

A row does not know the model: it gets logits and chooses. `loop` feeds rows to a model.
"""

import math
import secrets
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from course_utils.randomness import check_uint64, uniform
from course_utils.sampling import SamplingParams, draw, next_token_probs
from course_utils.stopping import FinishReason, StopCriteria, StopMatcher, finish_reason
from course_utils.text import SPECIALS, TokenDecoder


@dataclass(eq=False)
class Row:
    """One text in the making: what was asked, and what has been sampled so far.

    ids: all token ids in order: <bos>, the prompt, the sampled ones, and those that were forced in between.
    shown: the pieces of the text that may be shown by now. call: the pieces of an open call's text, or None.
    n_sampled: tokens sampled, over all turns; token_ids, logprobs: those of this turn.
    n_fed: how many of the ids the model has processed.
    """

    prompt: str
    ids: list[int]
    sampling: SamplingParams
    stopping: StopCriteria
    seed: int | None
    sample: int
    vocab: object
    eos_ids: frozenset[int]
    context_size: int | None
    marks: dict[int, str]  # the specials by id, if calls are read; else none
    n_sampled: int = 0
    n_fed: int = 0
    shown: list[str] = field(default_factory=list)
    call: list[str] | None = None
    token_ids: list[int] = field(default_factory=list)
    logprobs: list[float] = field(default_factory=list)
    finish_reason: FinishReason | None = None

    @classmethod
    def start(cls, model, vocab, prompt: str, sampling: SamplingParams, stopping: StopCriteria, sample: int) -> "Row":
        """A row that has sampled nothing yet. Raises ValueError or TypeError for what cannot be continued."""
        if not isinstance(sampling, SamplingParams) or not isinstance(stopping, StopCriteria):
            raise TypeError(
                f"sampling is {sampling!r}, stopping is {stopping!r}; expected SamplingParams(…) and StopCriteria(…)."
            )
        ids = [vocab.bos_id, *vocab.encode(prompt)]
        context_size = getattr(model, "block_size", None)
        if context_size is not None and len(ids) > context_size:
            raise ValueError(
                f"The prompt has {len(ids)} tokens, <bos> included; the model's context is {context_size} "
                f"(block_size). Shorten the prompt."
            )
        row = cls(
            prompt=prompt,
            ids=ids,
            sampling=sampling,
            stopping=stopping,
            seed=secrets.randbits(64) if sampling.seed is None and not sampling.greedy else sampling.seed,
            sample=check_uint64("sample", sample),
            vocab=vocab,
            eos_ids=stopping.eos_ids(vocab),
            context_size=context_size,
            marks={vocab.ids[mark]: mark for mark in SPECIALS} if stopping.tool_calls else {},
        )
        row._begin_turn()
        row.call = row._open_call()
        return row

    def go_on(self, forced: Sequence[int]) -> None:
        """Begin another turn after tokens that were not sampled: they enter the context, and nothing else."""
        self.ids += forced
        self.token_ids, self.logprobs, self.shown, self.call, self.finish_reason = [], [], [], None, None
        self._begin_turn()

    def _begin_turn(self) -> None:
        make = getattr(self.vocab, "decoder", None)  # a vocabulary written by hand may lack one
        self._decoder = make() if make else TokenDecoder(self.vocab)
        self._matcher = StopMatcher(self.stopping.stop, self.stopping.include_stop)
        if self.n_sampled == self.stopping.max_new_tokens:
            self.finish_reason = FinishReason.LENGTH
        elif self.context_size is not None and len(self.ids) > self.context_size:
            self.finish_reason = FinishReason.CONTEXT

    def _open_call(self) -> list[str] | None:
        """What of a call the prompt already holds, if it ends within one."""
        last = max((at for at, i in enumerate(self.ids) if self.marks.get(i) in ("<call>", "</call>")), default=None)
        if last is None or self.marks[self.ids[last]] == "</call>":
            return None
        return [self.vocab.decode(self.ids[last + 1 :])]

    @property
    def text(self) -> str:
        """What may be shown so far."""
        return "".join(self.shown)

    @property
    def stop(self) -> str | None:
        """The stop string that ended the text."""
        return self._matcher.matched if self.finish_reason is FinishReason.STOP_STRING else None

    @property
    def tool_call(self) -> str | None:
        """The text of the call that ended the text."""
        return "".join(self.call) if self.finish_reason is FinishReason.TOOL_CALL else None

    def choose(self, scores: np.ndarray, probs: np.ndarray | None) -> None:
        """Take the next token, and see whether the text ends with it.

        scores: (V,) float64, the model's logits. probs: (V,) from which to draw; None: take the likeliest.
        """
        if probs is None:
            token_id = int(scores.argmax())  # of equal ones the first; NaN counts as larger than all
            if not -math.inf < scores[token_id] < math.inf:
                self.refuse_bad(scores)
        else:
            token_id = draw(probs, uniform(self.seed, self.n_sampled, self.sample))
        top = scores.max()
        self.ids.append(token_id)
        self.token_ids.append(token_id)
        self.logprobs.append(float(scores[token_id] - top) - math.log(np.exp(scores - top).sum()))
        self.n_sampled += 1
        is_eos = token_id in self.eos_ids
        call_complete = not is_eos and self._read(token_id)
        budget, n_context = self.stopping.max_new_tokens, len(self.ids) - 1  # the last token is not fed yet
        reason = finish_reason(
            is_eos, self._matcher.matched, call_complete, self.n_sampled, budget, n_context, self.context_size
        )
        if reason:
            self._end(reason)

    def _read(self, token_id: int) -> bool:
        """Add the token to the text or to the open call; True if it closes the call."""
        self._add(self._decoder.feed(token_id))
        mark = self.marks.get(token_id)
        if self.call is None:
            if mark == "<call>":
                self.call = []
        elif mark == "</call>":
            return True
        elif mark:
            self.call.append(mark)  # written out, so that a call with a mark inside is no valid one
        return False

    def _add(self, piece: str) -> None:
        if self.call is not None:
            self.call.append(piece)
        elif shown := self._matcher.feed(piece):
            self.shown.append(shown)

    def _end(self, reason: FinishReason) -> None:
        self._add(self._decoder.flush())
        if self._matcher.matched is not None and reason is not FinishReason.EOS:
            reason = FinishReason.STOP_STRING  # half a character at the end may complete a stop string as well
        if rest := self._matcher.flush():
            self.shown.append(rest)
        self.finish_reason = reason

    def refuse_bad(self, logits) -> None:
        """Raise the error of this row's logits (V,), if they have one, and say which text it was."""
        try:
            next_token_probs(logits, self.sampling)
        except ValueError as error:
            raise ValueError(f"Token {self.n_sampled} after the prompt {self.prompt!r}: {error}") from None

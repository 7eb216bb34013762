"""One text in the making: what was asked, what has been sampled, what of it may be shown, and whether it has ended.

A row does not know the model: it gets logits and chooses. Whoever drives it feeds its `ids` to a model, in whatever
pieces, and hands it the logits after the last of them; `batch` is such a driver.
"""

import secrets
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import cast

import numpy as np

from course_utils.generation.allow import Allow, mask_of
from course_utils.protocols import NamedVocabulary, Vocabulary
from course_utils.randomness import check_uint64, uniforms
from course_utils.sampling import SamplingParams, choose
from course_utils.stopping import FinishReason, StopCriteria, StopMatcher, finish_reason
from course_utils.text import SPECIALS, TokenDecoder


@dataclass(frozen=True, eq=False)
class Request:
    """What was asked: it does not change while the text grows.

    prompt_ids: <bos> and the prompt's ids. seed: as in the settings; if it is None there, and the text is sampled, the
    one that was drawn. context_size: how many tokens the model can process; None: no limit.
    eos_ids: the ids that end the text. marks: the specials by id if calls are read, else empty.
    allow: says which tokens may come next, see `generate`; None: all may.
    """

    prompt: str
    prompt_ids: tuple[int, ...]
    sampling: SamplingParams
    stopping: StopCriteria
    seed: int | None
    sample: int
    vocab: Vocabulary
    context_size: int | None
    eos_ids: frozenset[int]
    marks: dict[int, str]
    allow: Allow | None = None

    @classmethod
    def of(
        cls,
        vocab: Vocabulary,
        prompt: str,
        sampling: SamplingParams,
        stopping: StopCriteria,
        sample: int = 0,
        context_size: int | None = None,
        allow: Allow | None = None,
    ) -> "Request":
        """The request, checked. Raises ValueError or TypeError for what cannot be continued."""
        if allow is not None and not callable(getattr(allow, "allowed", None)):
            raise TypeError(f"allow is {allow!r}; expected an object with a method allowed(token_ids), or None.")
        if not isinstance(sampling, SamplingParams) or not isinstance(stopping, StopCriteria):
            raise TypeError(
                f"sampling is {sampling!r}, stopping is {stopping!r}; expected SamplingParams(…) and StopCriteria(…)."
            )
        prompt_ids = (vocab.bos_id, *vocab.encode(prompt))
        if context_size is not None and len(prompt_ids) > context_size:
            raise ValueError(
                f"The prompt has {len(prompt_ids)} tokens, <bos> included; the model's context is {context_size} "
                f"(block_size). Shorten the prompt."
            )
        return cls(
            prompt=prompt,
            prompt_ids=prompt_ids,
            sampling=sampling,
            stopping=stopping,
            seed=secrets.randbits(64) if sampling.seed is None and not sampling.greedy else sampling.seed,
            sample=check_uint64("sample", sample),
            vocab=vocab,
            context_size=context_size,
            eos_ids=stopping.eos_ids(vocab),
            marks={cast(NamedVocabulary, vocab).ids[mark]: mark for mark in SPECIALS} if stopping.tool_calls else {},
            allow=allow,
        )


class Row:
    """What has happened to a request so far.

    ids: all token ids in order: <bos>, the prompt, the sampled ones, and those that were forced in between.
    n_sampled: tokens sampled, over all turns.
    Of this turn: token_ids and logprobs of the sampled tokens; shown: the pieces of the text that may be shown by now;
    call: the pieces of an open call's text, or None; finish_reason: why the turn has ended, or None.
    """

    def __init__(self, request: Request):
        self.request = request
        self.ids: list[int] = list(request.prompt_ids)
        self.n_sampled = 0
        self._sampled: list[int] = []  # over all turns
        self._numbers: Iterator[float] | None = None
        if request.seed is not None and not request.sampling.greedy:
            self._numbers = uniforms(request.seed, sample=request.sample)
        self._begin_turn(self._open_call())

    def _begin_turn(self, call: list[str] | None = None) -> None:
        request = self.request
        self.token_ids: list[int] = []
        self.logprobs: list[float] = []
        self.shown: list[str] = []
        self.call = call
        self.finish_reason: FinishReason | None = None
        make = getattr(request.vocab, "decoder", None)  # a vocabulary written by hand may lack one
        self._decoder = make() if make else TokenDecoder(request.vocab)
        self._matcher = StopMatcher(request.stopping.stop, request.stopping.include_stop)
        if self.n_sampled == request.stopping.max_new_tokens:
            self.finish_reason = FinishReason.LENGTH
        elif request.context_size is not None and len(self.ids) > request.context_size:
            self.finish_reason = FinishReason.CONTEXT

    def go_on(self, forced: Sequence[int]) -> None:
        """Begin another turn after tokens that were not sampled: they enter the context, and nothing else."""
        self.ids += forced
        self._begin_turn()

    def _open_call(self) -> list[str] | None:
        """What of a call the prompt already holds, if it ends within one."""
        marks = self.request.marks
        last = max((at for at, i in enumerate(self.ids) if marks.get(i) in ("<call>", "</call>")), default=None)
        if last is None or marks[self.ids[last]] == "</call>":
            return None
        return [self.request.vocab.decode(self.ids[last + 1 :])]

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
        if self.call is None or self.finish_reason is not FinishReason.TOOL_CALL:
            return None
        return "".join(self.call)

    def choose(self, logits: np.ndarray) -> None:
        """Take the next token, and see whether the text ends with it.

        logits: (V,), the model's, after the last of `ids`.
        Raises ValueError for logits that hold NaN or +inf, or no token, or where nothing is allowed, and says in which
        text.
        """
        request = self.request
        u = None if self._numbers is None else next(self._numbers)
        try:
            allowed = None if request.allow is None else mask_of(request.allow, self._sampled, len(logits))
            token_id, logprob = choose(logits, request.sampling, u, allowed)
        except ValueError as error:
            raise ValueError(f"Token {self.n_sampled} after the prompt {request.prompt!r}: {error}") from None
        self.ids.append(token_id)
        self.token_ids.append(token_id)
        self._sampled.append(token_id)
        self.logprobs.append(logprob)
        self.n_sampled += 1
        is_eos = token_id in request.eos_ids
        call_complete = not is_eos and self._read(token_id)
        reason = finish_reason(
            last_is_eos=is_eos,
            stop=self._matcher.matched,
            call_complete=call_complete,
            n_new=self.n_sampled,
            max_new_tokens=request.stopping.max_new_tokens,
            n_context=len(self.ids) - 1,  # the last token is not fed yet
            context_size=request.context_size,
        )
        if reason is not None:
            self._end(reason)

    def _read(self, token_id: int) -> bool:
        """Add the token to the text or to the open call; True if it closes the call."""
        self._add(self._decoder.feed(token_id))
        mark = self.request.marks.get(token_id)
        if self.call is None:
            if mark == "<call>":
                self.call = []
        elif mark == "</call>":
            return True
        elif mark:
            self.call.append(mark)  # written out, so that a call with a mark inside is not a valid one
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

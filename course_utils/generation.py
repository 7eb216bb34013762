"""The loop from a prompt to a text: forward pass, choice, append, again. One loop for every model.

A model is a callable `model(token_ids, cache) -> logits`: (B, T) int64 to (B, T, V), with `new_cache(batch_size)`.
If rows of a batch differ in length, it is also given `attention_mask`, (B, T) bool, False where padding stands.
The loop does not know what kind of model it drives, nor how a cache works inside.
"""

import secrets
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

import torch
from torch import Tensor, nn

from course_utils.randomness import check_uint64, uniform
from course_utils.sampling import SamplingParams, draw, next_token_probs
from course_utils.stopping import FinishReason, StopCriteria


@dataclass(frozen=True)
class Generation:
    """One finished text and how it came about.

    text: what was generated, without the prompt and without specials.
    token_ids: every sampled id, <eos> included.
    logprobs: the model's own log-probability of each of them, in nats, before temperature and filters.
    seed, sample: with the settings, these give the same text again. If the seed was None, it is the one drawn;
        greedy draws none, so None stays.
    """

    prompt: str
    text: str
    token_ids: tuple[int, ...]
    logprobs: tuple[float, ...]
    finish_reason: FinishReason
    sampling: SamplingParams
    stopping: StopCriteria
    seed: int | None
    sample: int


@dataclass(frozen=True)
class Chunk:
    """A piece of streamed text. The last chunk has no text, and is the only one with the `generation`."""

    text: str
    generation: Generation | None = None


def generate(
    model, vocab, prompt, sampling=SamplingParams(), stopping=StopCriteria(), use_cache=True, sample=0
) -> Generation:
    """Continue the prompt until a stop condition holds.

    prompt: str; may be empty, since <bos> always comes first.
    sampling, stopping: how to choose tokens, and when to stop. sample: 0, 1, … for several texts of one seed.
    use_cache: False feeds the whole text again at each step; the result is the same, only slower.
    Raises ValueError for a character that the vocabulary lacks, or logits that hold NaN or +inf; TypeError for
        settings of another type, such as a bare temperature.
    """
    row = _Row.start(vocab, prompt, sampling, stopping, sample)
    for _ in _steps(model, vocab, [row], use_cache):
        pass
    return row.finished()


def generate_batch(
    model, vocab, prompts, sampling=SamplingParams(), stopping=StopCriteria(), use_cache=True, sample=0
) -> list[Generation]:
    """Continue all prompts together: one forward pass a step for the whole batch.

    sampling, stopping, sample: one for all, or a list with one for each prompt. Each text is the one that
    `generate` gives for the same prompt and settings alone.
    """
    if isinstance(prompts, str):
        raise TypeError("prompts is a str; expected a list of them. For one prompt use generate.")
    settings = zip(*(_one_each(value, len(prompts)) for value in (sampling, stopping, sample)), strict=True)
    rows = [_Row.start(vocab, prompt, *setting) for prompt, setting in zip(prompts, settings, strict=True)]
    for _ in _steps(model, vocab, rows, use_cache):
        pass
    return [row.finished() for row in rows]


def stream(
    model, vocab, prompt, sampling=SamplingParams(), stopping=StopCriteria(), use_cache=True, sample=0
) -> Iterator[Chunk]:
    """As `generate`, but yields the text piece by piece while it grows, and ends with exactly one last chunk.

    The joined pieces are the text of the last chunk's generation. Closing the iterator runs no further step.
    """
    row = _Row.start(vocab, prompt, sampling, stopping, sample)  # a bad prompt is refused here, not at the first next()
    return _chunks(model, vocab, row, use_cache)


def _chunks(model, vocab, row: "_Row", use_cache: bool) -> Iterator[Chunk]:
    shown = 0
    for _ in _steps(model, vocab, [row], use_cache):
        if row.text[shown:]:
            yield Chunk(row.text[shown:])
            shown = len(row.text)
    yield Chunk("", row.finished())


@dataclass
class _Row:
    """One text in the making: what was asked, and what has been sampled so far."""

    prompt: str
    prompt_ids: list[int]
    sampling: SamplingParams
    stopping: StopCriteria
    seed: int | None
    sample: int
    alike: SamplingParams  # the settings without the seed: rows that share them share a softmax
    text: str = ""
    token_ids: list[int] = field(default_factory=list)
    logprobs: list[float] = field(default_factory=list)
    finish_reason: FinishReason | None = None

    @classmethod
    def start(cls, vocab, prompt: str, sampling: SamplingParams, stopping: StopCriteria, sample: int) -> "_Row":
        if not isinstance(sampling, SamplingParams) or not isinstance(stopping, StopCriteria):
            raise TypeError(
                f"sampling is {sampling!r}, stopping is {stopping!r}; expected SamplingParams(…) and StopCriteria(…)."
            )
        seed = secrets.randbits(64) if sampling.seed is None and not sampling.greedy else sampling.seed
        prompt_ids = [vocab.bos_id, *vocab.encode(prompt)]
        alike = replace(sampling, seed=None)
        row = cls(prompt, prompt_ids, sampling, stopping, seed, check_uint64("sample", sample), alike)
        if stopping.max_new_tokens == 0:
            row.finish_reason = FinishReason.LENGTH
        return row

    def advance(self, vocab, probs: Tensor, logprobs: Tensor) -> None:
        """Choose the next token from its probabilities (V,), and see whether the text ends with it.

        logprobs: (V,) the model's own, of which the chosen token's is kept.
        """
        if self.sampling.greedy:
            token_id = int(probs.argmax())
        else:
            token_id = draw(probs, uniform(self.seed, len(self.token_ids), self.sample))
        self.token_ids.append(token_id)
        self.logprobs.append(logprobs[token_id].item())
        self.text += vocab.decode([token_id])
        if token_id == vocab.eos_id and self.stopping.eos:
            self.finish_reason = FinishReason.EOS
        elif len(self.token_ids) == self.stopping.max_new_tokens:
            self.finish_reason = FinishReason.LENGTH

    def refuse_bad(self, logits: Tensor) -> None:
        """Raise the error of this row's logits (V,), if they have one, and say which text it was."""
        try:
            next_token_probs(logits, self.sampling)
        except ValueError as error:
            raise ValueError(f"Token {len(self.token_ids)} after the prompt {self.prompt!r}: {error}") from None

    def finished(self) -> Generation:
        return Generation(
            prompt=self.prompt,
            text=self.text,
            token_ids=tuple(self.token_ids),
            logprobs=tuple(self.logprobs),
            finish_reason=self.finish_reason,
            sampling=self.sampling,
            stopping=self.stopping,
            seed=self.seed,
            sample=self.sample,
        )


def _steps(model, vocab, rows: Sequence[_Row], use_cache: bool) -> Iterator[None]:
    """Advance all unfinished rows by one token at a time, in place; yield after each step."""
    if all(row.finish_reason for row in rows):
        return
    context, mask = _left_padded([row.prompt_ids for row in rows], vocab.pad_id)
    cache = model.new_cache(len(rows)) if use_cache else None
    modules = modules_of(model)
    new = context  # with a cache only what is new goes in: first the whole prompt, then one token a step
    while True:
        with evaluating(modules):  # ends before the yield: what runs there finds the model as it left it
            logits = _last_logits(model, new if use_cache else context, cache, mask)
        _advance_all(rows, logits, vocab)
        yield
        if all(row.finish_reason for row in rows):
            return  # the last sampled token is never fed: nobody needs the logits after it
        new = torch.tensor([[vocab.pad_id if row.finish_reason else row.token_ids[-1]] for row in rows])
        context = torch.cat([context, new], dim=1)
        if mask is not None:
            mask = torch.cat([mask, torch.ones_like(mask[:, :1])], dim=1)


def _last_logits(model, token_ids: Tensor, cache, mask: Tensor | None) -> Tensor:
    """The logits after the last position of each row: (B, V). Padding stands on the left, so the last is real."""
    if mask is None:
        return model(token_ids, cache)[:, -1]
    return model(token_ids, cache, attention_mask=mask)[:, -1]


def _advance_all(rows: Sequence[_Row], logits: Tensor, vocab) -> None:
    """Let every unfinished row choose from its logits, (B, V). Rows whose settings differ in the seed only, as in a
    sweep over seeds, share the computation of the probabilities, which is row by row and so the same for each."""
    groups = defaultdict(list)
    for row, row_logits in zip(rows, logits, strict=True):
        if row.finish_reason is None:
            groups[row.alike].append((row, row_logits))
    for settings, members in groups.items():
        group_logits = torch.stack([row_logits for _, row_logits in members])
        try:
            probs = next_token_probs(group_logits, settings)
        except ValueError:
            for row, row_logits in members:
                row.refuse_bad(row_logits)
            raise
        scores = group_logits.double()
        logprobs = scores - scores.logsumexp(-1, keepdim=True)
        for (row, _), row_probs, row_logprobs in zip(members, probs, logprobs, strict=True):
            row.advance(vocab, row_probs, row_logprobs)


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


def _left_padded(rows: Sequence[list[int]], pad_id: int) -> tuple[Tensor, Tensor | None]:
    """Token ids (B, T), short rows filled on the left, and the mask (B, T) from lengths; None if none is short."""
    longest = max(map(len, rows))
    ids = torch.tensor([[pad_id] * (longest - len(row)) + row for row in rows])
    if all(len(row) == longest for row in rows):
        return ids, None
    lengths = torch.tensor([[len(row)] for row in rows])
    return ids, torch.arange(longest) >= longest - lengths


def _one_each(value, n: int) -> list:
    if not isinstance(value, (list, tuple)):
        return [value] * n
    if len(value) != n:
        raise ValueError(f"{len(value)} settings for {n} prompts; expected one for all or one each.")
    return list(value)

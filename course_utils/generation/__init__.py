"""From a prompt to a text: one way in for every model, alone, in a batch or streamed.

A model is a callable `model(token_ids, cache) -> logits`: (B, T) int64 to (B, T, V), with `new_cache(batch_size)`;
`batch.Batch` says what else it may have. The same settings and seed give the same text on each of these ways.
"""

from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field

from course_utils.generation import reproduction
from course_utils.generation.allow import Allow, name_of
from course_utils.generation.batch import Batch
from course_utils.generation.row import Request, Row
from course_utils.model_checks import check_model_and_vocab, vocab_size_of
from course_utils.protocols import LanguageModel, Vocabulary
from course_utils.sampling import SamplingParams
from course_utils.stopping import FinishReason, StopCriteria

__all__ = ["Chunk", "Generation", "generate", "generate_batch", "reproduce", "stream"]


@dataclass(frozen=True)
class Generation:
    """One finished text and how it came about.

    text: what was generated, without the prompt, specials, calls and (by default) the stop string.
    token_ids: every sampled id, <eos> included.
    logprobs: the model's own log-probability of each of them, in nats, before temperature and filters.
    finish_reason: why it ended; stop: which stop string did it, or None.
    tool_call: with TOOL_CALL the text between the marks, else None: a call that was cut off does not count.
    seed, sample: with the settings, these give the same text again. If the seed was None, it is the one drawn;
        greedy draws none, so None stays.
    origin: fingerprints of model and vocabulary, and what computed the text; two generations are compared without it.
    allow: the name of the object that said which tokens may come, or None if all might.
    """

    prompt: str
    text: str
    token_ids: tuple[int, ...]
    logprobs: tuple[float, ...]
    finish_reason: FinishReason
    stop: str | None
    tool_call: str | None
    sampling: SamplingParams
    stopping: StopCriteria
    seed: int | None
    sample: int
    origin: reproduction.Origin = field(compare=False, repr=False)
    allow: str | None = None

    def record(self) -> dict:
        """All that is needed to make this text again, as plain data for JSON; `reproduce` is the way back."""
        return {
            "format": reproduction.FORMAT,
            "model": self.origin.model,
            "planned": self.origin.planned,
            "vocabulary": self.origin.vocabulary,
            "prompt": self.prompt,
            "sampling": reproduction.settings_entry(self.sampling),
            "seed": self.seed,
            "sample": self.sample,
            "stopping": reproduction.settings_entry(self.stopping),
            "allow": self.allow,
            "use_cache": self.origin.use_cache,
            "versions": self.origin.versions,
            "finish_reason": self.finish_reason.value,
            "stop": self.stop,
            "tool_call": self.tool_call,
            "token_ids": list(self.token_ids),
            "text": self.text,
        }


@dataclass(frozen=True)
class Chunk:
    """A piece of streamed text. The last chunk has no text, and is the only one with the `generation`."""

    text: str
    generation: Generation | None = None


def generate(
    model: LanguageModel,
    vocab: Vocabulary,
    prompt: str,
    sampling: SamplingParams = SamplingParams(),
    stopping: StopCriteria = StopCriteria(),
    use_cache: bool = True,
    sample: int = 0,
    allow: Allow | None = None,
) -> Generation:
    """Continue the prompt until a stop condition holds.

    prompt: str; may be empty, since <bos> always comes first.
    sampling, stopping: how to choose tokens, and when to stop. sample: 0, 1, … for several texts of one seed.
    use_cache: False feeds the whole text again at each step; the result is the same, only slower.
    allow: an object whose `allowed(token_ids)`, given the ids sampled so far, returns the ids that may come next, or a
        bool mask (V,). What is not allowed is dropped before temperature and filters; the rest is made to add up to 1.
        `logprobs` stay the model's own.
    Raises ValueError for a character that the vocabulary lacks, an id that the model lacks, a prompt longer than the
        model's context, or logits that hold NaN or +inf, or where nothing is allowed; TypeError for settings of another
        type, such as a bare temperature.
    """
    row = start(model, vocab, prompt, sampling, stopping, sample, allow)
    origin = reproduction.origin_of(model, vocab, use_cache)
    Batch(model, [row], use_cache).run()
    return finished(row, origin)


def generate_batch(
    model: LanguageModel,
    vocab: Vocabulary,
    prompts: Sequence[str],
    sampling: SamplingParams | Sequence[SamplingParams] = SamplingParams(),
    stopping: StopCriteria | Sequence[StopCriteria] = StopCriteria(),
    use_cache: bool = True,
    sample: int | Sequence[int] = 0,
    allow: Allow | Sequence[Allow | None] | None = None,
) -> list[Generation]:
    """Continue all prompts together: one forward pass a step for the whole batch.

    sampling, stopping, sample, allow: one for all, or a list with one for each prompt. Each text is the one that
    `generate` gives for the same prompt and settings alone.
    """
    if isinstance(prompts, (str, bytes, Mapping, Set)) or not hasattr(prompts, "__len__"):
        given = type(prompts).__name__
        raise TypeError(f"prompts is of type {given}; expected a list of str. For one prompt use generate.")
    settings = zip(*(_one_each(value, len(prompts)) for value in (sampling, stopping, sample, allow)), strict=True)
    rows = [start(model, vocab, prompt, *setting) for prompt, setting in zip(prompts, settings, strict=True)]
    if len(rows) > 1:
        _refuse_unknown(model, [vocab.pad_id], "padding")
    origin = reproduction.origin_of(model, vocab, use_cache)
    Batch(model, rows, use_cache).run()
    return [finished(row, origin) for row in rows]


def stream(
    model: LanguageModel,
    vocab: Vocabulary,
    prompt: str,
    sampling: SamplingParams = SamplingParams(),
    stopping: StopCriteria = StopCriteria(),
    use_cache: bool = True,
    sample: int = 0,
    allow: Allow | None = None,
) -> Iterator[Chunk]:
    """As `generate`, but yields the text piece by piece while it grows, and ends with exactly one last chunk.

    The joined pieces are the text of the last chunk's generation. What may still become a stop string or a character is
    held back until that is decided. Closing the iterator runs no further step.
    """
    row = start(model, vocab, prompt, sampling, stopping, sample, allow)  # a bad prompt is refused here, not at next()
    return _chunks(model, vocab, row, use_cache)


def _chunks(model: LanguageModel, vocab: Vocabulary, row: Row, use_cache: bool) -> Iterator[Chunk]:
    origin = reproduction.origin_of(model, vocab, use_cache)
    n_given = 0
    for _ in Batch(model, [row], use_cache).steps():
        if text := "".join(row.shown[n_given:]):
            yield Chunk(text)
            n_given = len(row.shown)
    yield Chunk("", finished(row, origin))


def reproduce(model: LanguageModel, vocab: Vocabulary, record: dict, allow: Allow | None = None) -> Generation:
    """Make the text of a record again.

    record: what `Generation.record()` gave, also after a way through JSON. allow: the object that the text was made
        with, if its entry "allow" names one: a record cannot hold it.
    Raises reproduction.RecordError, a ValueError, that names the entry that differs: "model" or "vocabulary" before
        anything is computed, "text" or another result after; and any that is missing or makes no sense.
        Other versions, or a plan of the model in place of the model, are not an error as long as the text is the same.
    """
    sampling, stopping = reproduction.read_settings(record)
    origin = reproduction.origin_of(model, vocab, record["use_cache"])
    here = {name: getattr(origin, name) for name in ("vocabulary", "model", "planned", "versions")}
    reproduction.refuse_other_model(record, model, here)
    reproduction.refuse_other_allow(record, name_of(allow))
    again = generate(model, vocab, record["prompt"], sampling, stopping, record["use_cache"], record["sample"], allow)
    reproduction.refuse_difference(record, again.record(), ("token_ids", "text", "finish_reason", "stop", "tool_call"))
    return again


def start(
    model: LanguageModel,
    vocab: Vocabulary,
    prompt: str,
    sampling: SamplingParams,
    stopping: StopCriteria,
    sample: int,
    allow: Allow | None = None,
) -> Row:
    """A row that has sampled nothing yet. Raises ValueError or TypeError for what the model cannot continue."""
    check_model_and_vocab(model, vocab)
    context_size = getattr(model, "block_size", None)
    request = Request.of(vocab, prompt, sampling, stopping, sample, context_size, allow)
    _refuse_unknown(model, request.prompt_ids, f"the prompt {prompt[:60]!r}")
    return Row(request)


def _refuse_unknown(model: LanguageModel, token_ids: Sequence[int], of_what: str) -> None:
    """ValueError for an id that the model lacks, if it says how many it has."""
    size = vocab_size_of(model)
    if size is not None and (unknown := [token_id for token_id in token_ids if not 0 <= token_id < size]):
        raise ValueError(
            f"The vocabulary gives the token id {unknown[0]} for {of_what}, and the model has ids from 0 to "
            f"{size - 1} (vocab_size). Use the vocabulary that the model was trained with."
        )


def finished(row: Row, origin: reproduction.Origin) -> Generation:
    """The text of a row that has ended. Whoever drives rows begins with `start` and ends with this."""
    assert row.finish_reason is not None
    return Generation(
        prompt=row.request.prompt,
        text=row.text,
        token_ids=tuple(row.token_ids),
        logprobs=tuple(row.logprobs),
        finish_reason=row.finish_reason,
        stop=row.stop,
        tool_call=row.tool_call,
        sampling=row.request.sampling,
        stopping=row.request.stopping,
        seed=row.request.seed,
        sample=row.request.sample,
        origin=origin,
        allow=name_of(row.request.allow),
    )


def _one_each(value: object, n: int) -> list:
    if not isinstance(value, (list, tuple)):
        return [value] * n
    if len(value) != n:
        raise ValueError(f"{len(value)} settings for {n} prompts; expected one for all or one each.")
    return list(value)

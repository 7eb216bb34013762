"""What a text needs to be made again: fingerprints of model and vocabulary, every setting, versions.

A checkpoint's name is not enough: the same weights with another seed, another order of the filters or another stop
string give another text. A record is plain data that JSON can hold.
"""

import hashlib
import platform
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, fields
from functools import cache
from importlib import metadata
from typing import Any, TypeVar, cast

import numpy as np
import torch
from torch import nn

from course_utils.checkpoint import fingerprint
from course_utils.protocols import LanguageModel, NamedVocabulary, Vocabulary
from course_utils.randomness import check_uint64
from course_utils.sampling import SamplingParams
from course_utils.stopping import StopCriteria

FORMAT = 2  # of the record; another number is another set of entries, or another meaning of one
ENTRIES = (
    *("format", "model", "planned", "vocabulary", "prompt", "sampling", "seed", "sample", "stopping", "use_cache"),
    *("versions", "finish_reason", "stop", "tool_call", "token_ids", "text"),
)
OLDER = "Since then the model's parameters have other names, which enter its fingerprint, so the old one fits no model."

Settings = TypeVar("Settings", SamplingParams, StopCriteria)


class RecordError(ValueError):
    """A record that did not lead to its text. entry: the name of the entry that differs, or is missing or damaged."""

    def __init__(self, entry: str, message: str):
        super().__init__(f"{entry}: {message}")
        self.entry = entry


@dataclass(frozen=True)
class Origin:
    """Where a text came from, beside its settings, and what computed it.

    model: sha256 of weights and vocabulary, as `checkpoint.fingerprint` gives it; None for a model that shows no
        weights, such as a hand-made mock. vocabulary: sha256 of the tokens, or None.
    planned: whether a plan of the model computed the logits; the fingerprint is the model's all the same.
    versions: what computed the text, by name, when it was made.
    """

    model: str | None
    vocabulary: str | None
    planned: bool
    use_cache: bool
    versions: dict[str, str]


_seen: weakref.WeakKeyDictionary = weakref.WeakKeyDictionary()  # model -> (its state, fingerprint, tensors)


def origin_of(model: LanguageModel, vocab: Vocabulary, use_cache: bool) -> Origin:
    """The origin of a text that is made now. The weights are read once, and again only after they have changed, which
    shows in the version counters of parameters and buffers; an edit through `.data` goes unseen."""
    planned_from = getattr(model, "planned_from", None)  # a plan names the model that it was made from
    vocabulary = _vocabulary_fingerprint(vocab)
    weights = _model_fingerprint(model if planned_from is None else planned_from, vocab, vocabulary)
    return Origin(weights, vocabulary, planned_from is not None, use_cache, versions())


def _model_fingerprint(model: object, vocab: Vocabulary, vocabulary: str | None) -> str | None:
    if not hasattr(model, "state_dict") or vocabulary is None:
        return None
    named = cast(NamedVocabulary, vocab)  # it has tokens, and so a fingerprint of them
    if not isinstance(model, nn.Module):
        return fingerprint(model, named)
    tensors = [*model.parameters(), *model.buffers()]
    if any(tensor.is_inference() for tensor in tensors):  # made in inference mode: they have no version counter
        return fingerprint(model, named)
    state = (vocabulary, tuple((id(tensor), tensor.data_ptr(), tensor._version) for tensor in tensors))
    if _seen.get(model, (None,))[0] != state:
        _seen[model] = (state, fingerprint(model, named), tensors)  # kept, so that no new one gets an old one's id
    return _seen[model][1]


def _vocabulary_fingerprint(vocab: Vocabulary) -> str | None:
    tokens = getattr(vocab, "tokens", None)  # a vocabulary written by hand may have none
    return None if tokens is None else hashlib.sha256("\n".join(tokens).encode("utf-8")).hexdigest()


def versions() -> dict[str, str]:
    """What computes logits here, as far as it has a name. Another entry may lead to another text, and need not."""
    return {**_installed(), "threads": str(torch.get_num_threads())}


@cache
def _installed() -> dict[str, str]:
    try:
        course = metadata.version("scores-to-answers")
    except metadata.PackageNotFoundError:
        course = "not installed"
    return {
        "course": course,
        "python": platform.python_version(),
        "torch": torch.__version__,
        "numpy": np.__version__,
        "machine": f"{platform.system()} {platform.machine()} {torch.backends.cpu.get_cpu_capability()}",
    }


def settings_entry(settings: SamplingParams | StopCriteria) -> dict:
    """The settings as JSON holds them: tuples as lists. The seed has its own entry, since None is not a seed."""
    entries = {name: list(value) if isinstance(value, tuple) else value for name, value in asdict(settings).items()}
    entries.pop("seed", None)
    return entries


def read_settings(record: dict) -> tuple[SamplingParams, StopCriteria]:
    """The settings of a record. Raises RecordError for entries that are missing or make no sense."""
    if not isinstance(record, dict):
        raise TypeError(f"record is {record!r}; expected the dict that Generation.record() gives.")
    for name in ENTRIES:
        if name not in record:
            raise RecordError(name, "the record lacks this entry. Without it the text cannot be made again.")
        if name == "format" and record["format"] != FORMAT:
            reason = f" {OLDER} Make the text again, and keep the new record." if record["format"] == 1 else ""
            raise RecordError("format", f"the record has the format {record['format']!r}; expected {FORMAT}.{reason}")
    if not isinstance(record["versions"], dict):
        raise RecordError("versions", f"it is {record['versions']!r}; expected a dict.")
    with _named("seed"):
        seed = None if record["seed"] is None else check_uint64("seed", record["seed"])
    sampling = _read("sampling", SamplingParams, record["sampling"], seed=seed)
    if seed is None and not sampling.greedy:
        raise RecordError("seed", "it is null, but the text was sampled. Without the seed that was drawn it is lost.")
    return sampling, _read("stopping", StopCriteria, record["stopping"])


def _read(entry: str, kind: type[Settings], settings: object, **more: Any) -> Settings:
    names = {field.name for field in fields(kind)} - set(more)
    if not isinstance(settings, dict) or set(settings) != names:
        raise RecordError(entry, f"it is {settings!r}; expected a dict with exactly {sorted(names)}.")
    with _named(entry):
        return kind(**settings, **more)


@contextmanager
def _named(entry: str) -> Iterator[None]:
    try:
        yield
    except (ValueError, TypeError) as error:
        raise RecordError(entry, str(error)) from None


def refuse_difference(record: dict, made: dict, entries: tuple[str, ...]) -> None:
    """Raise RecordError for the first of the entries in which two records differ, and say what else differs."""
    for entry in entries:
        if record[entry] != made[entry]:
            difference = f"the record has {_short(record[entry])}, here it is {_short(made[entry])}."
            raise RecordError(entry, f"{difference} {_circumstances(record, made)}")


def _circumstances(record: dict, made: dict) -> str:
    """What differs in how two texts were computed, in words."""
    there, here = record["versions"], made["versions"]
    notes = [f"{name} {there.get(name)!r}, here {here[name]!r}" for name in here if there.get(name) != here[name]]
    said = f"Versions that differ: {'; '.join(notes)}." if notes else "All versions are the same."
    if record["planned"] == made["planned"]:
        return said
    one, other = ("a plan of the model", "the model itself")[:: 1 if record["planned"] else -1]
    return f"{said} The record's text was made by {one}, this one by {other}: logits differ in their last digits."


def refuse_other_model(record: dict, model: LanguageModel, here: dict) -> None:
    """Raise RecordError unless vocabulary and model are those of the record.

    Records of version 0.6.0 and older do not know the weights of a model that is not a torch module; then only the text
    can show that they are the same.
    """
    unknown = record["model"] is None and not isinstance(getattr(model, "planned_from", model), nn.Module)
    refuse_difference(record, here, ("vocabulary",) if unknown else ("vocabulary", "model"))


def refuse_other_allow(record: dict, here: str | None) -> None:
    """Raise RecordError unless the text was made with an object of that name. Older records do not say: with none."""
    there = record.get("allow")
    if there != here:
        given = "no object" if here is None else f"allow={_short(here)}"
        needed = (
            "without one" if there is None else f"with {_short(there)}. Give `reproduce` the same object as `allow`"
        )
        raise RecordError("allow", f"{given} was given, and the text was made {needed}.")


def _short(value: Any) -> str:
    shown = repr(value)
    return shown if len(shown) <= 80 else f"{shown[:60]}… ({len(value)} long)"

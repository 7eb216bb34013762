"""What a text needs to be made again: fingerprints of model and vocabulary, every setting, versions; and the way back.

A checkpoint's name is not enough: the same weights with another seed, another order of the filters or another stop
string give another text. A record is plain data that JSON can hold.
"""

import hashlib
import platform
import weakref
from contextlib import contextmanager
from dataclasses import asdict, dataclass, fields
from importlib import metadata

import numpy as np
import torch
from torch import nn

from course_utils.checkpoint import fingerprint
from course_utils.randomness import check_uint64
from course_utils.sampling import SamplingParams
from course_utils.stopping import StopCriteria

FORMAT = 1  # of the record; another number is another set of entries
ENTRIES = (
    *("format", "model", "vocabulary", "prompt", "sampling", "seed", "sample", "stopping", "use_cache", "versions"),
    *("finish_reason", "stop", "tool_call", "token_ids", "text"),
)


class RecordError(ValueError):
    """A record that did not lead to its text. entry: the name of the entry that differs, or is missing or damaged."""

    def __init__(self, entry: str, message: str):
        super().__init__(f"{entry}: {message}")
        self.entry = entry


@dataclass(frozen=True)
class Origin:
    """Where a text came from, beside its settings.

    model: sha256 of weights and vocabulary, as `checkpoint.fingerprint` gives it; None for a model that is no
        torch module, and so has no weights that could be looked at. vocabulary: sha256 of the tokens, or None.
    """

    model: str | None
    vocabulary: str | None
    use_cache: bool


_seen: weakref.WeakKeyDictionary = weakref.WeakKeyDictionary()  # model -> (its state, fingerprint, tensors)


def origin_of(model, vocab, use_cache: bool) -> Origin:
    """The fingerprints. The weights are read once, and again only after they have changed, which shows in the version
    counters of parameters and buffers; an edit through `.data` goes unseen."""
    vocabulary = _vocabulary_fingerprint(vocab)
    if not isinstance(model, nn.Module) or vocabulary is None:
        return Origin(None, vocabulary, use_cache)
    tensors = [*model.parameters(), *model.buffers()]
    state = (vocabulary, tuple((id(tensor), tensor.data_ptr(), tensor._version) for tensor in tensors))
    if _seen.get(model, (None,))[0] != state:
        _seen[model] = (state, fingerprint(model, vocab), tensors)  # kept, so that no new one gets an old one's id
    return Origin(_seen[model][1], vocabulary, use_cache)


def _vocabulary_fingerprint(vocab) -> str | None:
    tokens = getattr(vocab, "tokens", None)  # a vocabulary written by hand may have none
    return None if tokens is None else hashlib.sha256("\n".join(tokens).encode("utf-8")).hexdigest()


def versions() -> dict[str, str]:
    """What computed the logits, as far as it has a name. Another entry here may lead to another text, and need not."""
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
        "threads": str(torch.get_num_threads()),
    }


def settings_entry(settings: SamplingParams | StopCriteria) -> dict:
    """The settings as JSON holds them: tuples as lists. The seed has an entry of its own, since None is no seed."""
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
    if record["format"] != FORMAT:
        raise RecordError("format", f"the record has the format {record['format']!r}; expected {FORMAT}.")
    if not isinstance(record["versions"], dict):
        raise RecordError("versions", f"it is {record['versions']!r}; expected a dict.")
    with _named("seed"):
        seed = None if record["seed"] is None else check_uint64("seed", record["seed"])
    sampling = _read("sampling", SamplingParams, record["sampling"], seed=seed)
    if seed is None and not sampling.greedy:
        raise RecordError("seed", "it is null, but the text was sampled. Without the seed that was drawn it is lost.")
    return sampling, _read("stopping", StopCriteria, record["stopping"])


def _read(entry: str, kind: type, settings: dict, **more):
    names = {field.name for field in fields(kind)} - set(more)
    if not isinstance(settings, dict) or set(settings) != names:
        raise RecordError(entry, f"it is {settings!r}; expected a dict with exactly {sorted(names)}.")
    with _named(entry):
        return kind(**settings, **more)


@contextmanager
def _named(entry: str):
    try:
        yield
    except (ValueError, TypeError) as error:
        raise RecordError(entry, str(error)) from None


def refuse_difference(record: dict, made: dict, entries: tuple[str, ...]) -> None:
    """Raise RecordError for the first of the entries in which two records differ, and say which versions do."""
    for entry in entries:
        if record[entry] != made[entry]:
            there, here = record["versions"], made["versions"]
            other = [name for name in here if there.get(name) != here[name]]
            notes = [f"{name} {there.get(name)!r}, here {here[name]!r}" for name in other]
            versions_differ = f"Versions that differ: {'; '.join(notes)}." if notes else "All versions are the same."
            message = f"the record has {_short(record[entry])}, here it is {_short(made[entry])}. {versions_differ}"
            raise RecordError(entry, message)


def _short(value) -> str:
    shown = repr(value)
    return shown if len(shown) <= 80 else f"{shown[:60]}… ({len(value)} long)"

"""The file of a sweep: one JSON object a line, first what the sweep is, then a line for each finished cell.

Lines are added as batches finish, so an interruption loses nothing that was finished. A line that was cut off, as by a
full disk or a power cut, is left out, and its cell computed again; so is a cell that failed.
"""

import hashlib
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, TextIO

from filelock import BaseFileLock

from course_utils.arguments import as_path
from course_utils.checkpoint import fingerprint
from course_utils.file_lock import lock_for_writing
from course_utils.generation.reproduction import OLDER
from course_utils.protocols import LanguageModel, NamedVocabulary
from course_utils.sampling import SamplingParams
from course_utils.stopping import FinishReason, StopCriteria

KIND = "sweep of prompts, settings and seeds"
FORMAT = 2  # of the file; another number is another meaning of a line


def digests(
    model: LanguageModel,
    vocab: NamedVocabulary,
    prompts: Sequence[str],
    settings: Mapping[str, SamplingParams],
    seeds: Sequence[int],
    metric_names: Sequence[str],
    stopping: StopCriteria,
    batch_size: int,
) -> dict[str, str]:
    """A short fingerprint of each argument that the rows depend on.

    A model that shows no weights, such as a hand-made mock, is known by its class only.
    """
    planned_from = getattr(model, "planned_from", None)  # a plan names the model that it was made from
    original = model if planned_from is None else planned_from
    if hasattr(original, "state_dict"):
        weights = fingerprint(original, vocab) + (" planned" if planned_from is not None else "")
    else:
        weights = f"{type(model).__qualname__} {vocab.tokens}"
    texts = {
        "model and vocabulary": weights,
        "prompts": json.dumps(list(prompts)),
        "settings": json.dumps([[name, repr(params)] for name, params in settings.items()]),
        "seeds": json.dumps([int(seed) for seed in seeds]),
        "metrics": json.dumps(list(metric_names)),
        "stopping": repr(stopping),
        "batch_size": str(batch_size),
    }
    return {
        name: hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16] for name, text in texts.items()
    }


class Store:
    """The rows of the cells that are finished: (problem, setting, seed) → row. With a path, they are in a file as well.

    Use it in a `with` while rows are added: meanwhile nobody else may add to the file.
    path: ~ is the home folder. metric_names: what a row holds beside what every row holds.
    Raises ValueError for a file of something else or of another sweep, and one that another sweep is adding to.
    """

    def __init__(self, path: str | Path | None, arguments: Mapping[str, str], metric_names: Sequence[str] = ()):
        self.path = None if path is None else as_path(path)
        self.header: dict[str, Any] = {"what": KIND, "format": FORMAT, "arguments": dict(arguments)}
        self.rows: dict[tuple, dict] = {}
        self._fields = {"problem", "setting", "seed", "text", "finish_reason", "n_tokens", "error", *metric_names}
        self._file: TextIO | None = None
        self._lock: BaseFileLock | None = None
        self._read()

    def _read(self) -> None:
        if self.path is None or not self.path.exists():
            return
        if not self.path.is_file():
            raise ValueError(f"{self.path} is a folder. Give `keep` the name of a file.")
        first, *lines = self.path.read_text(encoding="utf-8", errors="replace").split("\n")
        if not first and not lines:
            return  # an empty file is as good as none
        header = _loaded(first)
        theirs = {} if header is None else header.get("arguments")
        if header is None or header.get("what") != KIND or not isinstance(theirs, dict):
            raise ValueError(
                f"{self.path} is not a file of a sweep. Give `keep` a new name; this file was left as it is."
            )
        if (format_there := header.get("format", 1)) != FORMAT:
            reason = f" {OLDER}" if format_there == 1 else ""
            raise ValueError(
                f"{self.path} has the format {format_there!r}; expected {FORMAT}.{reason} Give `keep` a new name; this "
                f"file was left as it is."
            )
        other = [name for name, value in self.header["arguments"].items() if theirs.get(name) != value]
        if other:
            raise ValueError(
                f"{self.path} was begun with other {', '.join(other)}. Give `keep` a new name, or the arguments of "
                f"then; this file was left as it is."
            )
        for line in lines:
            row = _loaded(line)
            if row is not None and self._is_result(row):
                self.rows.setdefault(_key(row), row)

    def _is_result(self, row: Mapping) -> bool:
        """Whether a line holds a finished cell; what was damaged is computed again."""
        if not row.keys() >= self._fields or row["error"] is not None:
            return False
        texts = isinstance(row["text"], str) and row["finish_reason"] in list(FinishReason.__members__)
        counts = all(type(row[name]) is int and row[name] >= 0 for name in ("problem", "seed", "n_tokens"))
        single = not any(isinstance(row[name], (dict, list)) for name in self._fields)  # the metrics and the name
        return texts and counts and single

    def __enter__(self) -> "Store":
        if self.path is not None:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self._lock = lock = lock_for_writing(self.path)
            try:
                self._read()  # again: what another sweep has added meanwhile
                self._file = self._opened(self.path)
            except BaseException:
                lock.release()
                raise
        return self

    def _opened(self, path: Path) -> TextIO:
        part = path.with_name(path.name + ".part")
        whole = "".join(_line(entry) for entry in (self.header, *self.rows.values()))  # without lines that were cut
        part.write_text(whole, encoding="utf-8", newline="\n")
        part.replace(path)
        return path.open("a", encoding="utf-8", newline="\n")

    def __exit__(self, *error: object) -> None:
        if self._file is not None:
            self._file.close()
        if self._lock is not None:
            self._lock.release()

    def add(self, rows: Sequence[dict]) -> int:
        """Keep rows; returns how many of them are new. They pass through JSON, so that new and old ones are alike."""
        new = [row for row in rows if _key(row) not in self.rows]
        for row in new:
            line = _line(row)
            self.rows[_key(row)] = json.loads(line)
            if self._file is not None:
                self._file.write(line)
        if self._file is not None:
            self._file.flush()
        return len(new)


def _key(row: Mapping) -> tuple:
    return row["problem"], row["setting"], row["seed"]


def _line(entry: Mapping) -> str:
    return json.dumps(entry) + "\n"  # only ASCII: no character of a text can be a line end, or half of one


def _loaded(line: str) -> dict | None:
    """The object of a line, or None if it is empty or was cut off."""
    try:
        entry = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return entry if isinstance(entry, dict) else None

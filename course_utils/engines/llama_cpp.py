"""llama.cpp in this process, by the package xllamacpp: start it on a file, ask it, close it.

The package runs llama.cpp's own server, which listens on 127.0.0.1 only. A request is JSON, as it would be over a
network. Without the package everything here can be imported; only starting an engine is an error.
"""

import importlib
import importlib.metadata
import json
import urllib.error
import urllib.request
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import ModuleType, TracebackType
from typing import Any, Self

import psutil
import torch
from torch import Tensor

from course_utils.arguments import check_integer
from course_utils.text import as_path

HOW_TO_GET_IT = (
    "To get it, run `make engines` in the course's folder, or `python -m pip install --require-hashes -r engines.txt` "
    "in its environment. On Linux it needs the system's library libgomp as well (`sudo apt-get install libgomp1`)."
)
CACHE_TYPES = ("F32", "F16", "Q8_0")
_A_TOKEN = 32 * 1024  # bytes of cache and buffers that a token of context may take in a model of the course's size


def installed() -> bool:
    """Whether llama.cpp can be used here: the package is there, and so is what it needs of the system."""
    try:
        _package()
    except ImportError:
        return False
    return True


def require() -> None:
    """Raises ImportError, with what to do, if llama.cpp cannot be used here."""
    _package()


def version() -> str:
    """The installed package's name and version, such as "xllamacpp 2026.10.11549"."""
    return f"xllamacpp {importlib.metadata.version('xllamacpp')}"


def _package() -> ModuleType:
    try:
        return importlib.import_module("xllamacpp")
    except ImportError as error:
        raise ImportError(f"llama.cpp is not available here ({error}). {HOW_TO_GET_IT}") from None


class LlamaCpp:
    """An engine that computes with one thread; use it in a `with` block, or call `close`.

    file: a model in the GGUF format, such as `to_gguf` writes.
    context: tokens that one text may have. slots: how many texts it computes at the same time.
    cache: the type of the keys and values that it keeps. "F32" has 4 bytes a number, as ours; "F16", its default,
        has 2; "Q8_0" has about 1. With "F32" it computes attention in float32 as well.
    Raises ImportError without the extra; FileNotFoundError or ValueError for a file that cannot be read as a model;
        ValueError for a number out of range, and for more memory than is free.
    """

    def __init__(self, file: str | Path, context: int = 512, slots: int = 1, cache: str = "F32"):
        self._server: Any = None
        package, path = _package(), as_path(file)
        if not path.is_file():
            raise FileNotFoundError(f"There is no file {str(path)!r}. Write one with to_gguf(folder, file).")
        check_integer("context", context, at_least=1)
        check_integer("slots", slots, at_least=1)
        if cache not in CACHE_TYPES:
            raise ValueError(f"cache is {cache!r}; expected one of {CACHE_TYPES}.")
        # llama.cpp itself would ask the system for the memory, and the whole process could be ended for it.
        wanted, free = context * slots * _A_TOKEN + path.stat().st_size, psutil.virtual_memory().available
        if wanted > free:
            raise ValueError(
                f"{slots} × {context} tokens of context may take {wanted / 2**30:.1f} GiB, and {free / 2**30:.1f} GiB "
                f"are free. Give a smaller context or fewer slots."
            )
        with path.open("rb") as begun:
            if begun.read(4) != b"GGUF":
                raise ValueError(f"{str(path)!r} is not a GGUF file. Write one with to_gguf(folder, file).")
        self._server = _start(package, path, context, slots, cache)
        self.address: str = self._server.listening_address

    def complete(self, prompt: str | Sequence[int], **fields: Any) -> dict[str, Any]:
        """The answer to one request. fields: of the request, in llama.cpp's words; what is left out gets its defaults.

        Ids are safer than a str: for a character that the vocabulary lacks, the server has an error without a reason.
        Raises ValueError with the server's message if it refuses the request, or if the engine was closed.
        """
        with self._ask("/completion", {"prompt": prompt, **fields}) as answer:
            return json.loads(answer.read())

    def stream(self, prompt: str | Sequence[int], **fields: Any) -> Iterator[dict[str, Any]]:
        """As `complete`, but the parts of the answer as they come; the last one says why the text ended."""
        with self._ask("/completion", {"prompt": prompt, **fields, "stream": True}) as answer:
            for line in answer:
                if line.startswith(b"data: "):
                    yield json.loads(line.removeprefix(b"data: "))

    def log_probs(self, token_ids: Sequence[int], n_vocab: int, **fields: Any) -> Tensor:
        """The model's log-probabilities of the next token, (n_vocab,) float64, before any setting."""
        settings = {"n_predict": 1, "n_probs": n_vocab, "temperature": 1.0, "cache_prompt": False, **fields}
        listed = self.complete(list(token_ids), **settings)["completion_probabilities"][0]["top_logprobs"]
        found = torch.full((n_vocab,), float("nan"), dtype=torch.float64)
        for token in listed:
            found[token["id"]] = token["logprob"]
        return found

    def drawn_from(self, token_ids: Sequence[int], n_vocab: int, **fields: Any) -> Tensor:
        """The probabilities from which it draws the next token, (n_vocab,) float64, after all settings."""
        settings = {"n_predict": 1, "n_probs": n_vocab, "post_sampling_probs": True, **fields}
        listed = self.complete(list(token_ids), **settings)["completion_probabilities"][0]["top_probs"]
        found = torch.zeros(n_vocab, dtype=torch.float64)
        for token in listed:
            found[token["id"]] = token["prob"]
        return found

    def defaults(self) -> dict[str, Any]:
        """The settings that a request gets if it says nothing."""
        with self._ask("/props", None) as answer:
            return json.loads(answer.read())["default_generation_settings"]["params"]

    def close(self) -> None:
        """End the engine: its threads and its port are gone. To close it again does nothing."""
        self._server = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def _ask(self, path: str, body: dict[str, Any] | None) -> Any:
        if self._server is None:
            raise ValueError("The engine was closed. Start another one with LlamaCpp(file).")
        data = None if body is None else json.dumps(body).encode("utf-8")
        request = urllib.request.Request(self.address + path, data, {"Content-Type": "application/json"})
        try:
            return urllib.request.urlopen(request, timeout=300)
        except urllib.error.HTTPError as error:
            with error:
                said = json.loads(error.read()).get("error", {}).get("message", "no message")
            raise ValueError(f"llama.cpp refuses the request with status {error.code}: {said}") from None


def _start(package: ModuleType, path: Path, context: int, slots: int, cache: str) -> Any:
    settings = package.CommonParams()
    settings.model.path, settings.n_ctx, settings.n_parallel = str(path), context * slots, slots
    settings.n_gpu_layers, settings.verbosity, settings.warmup = 0, 0, False
    settings.cpuparams.n_threads = settings.cpuparams_batch.n_threads = 1
    settings.cache_type_k = settings.cache_type_v = getattr(package.ggml_type, f"GGML_TYPE_{cache}")
    if cache == "F32":  # flash attention computes in float16
        settings.flash_attn_type = package.llama_flash_attn_type.LLAMA_FLASH_ATTN_TYPE_DISABLED
    try:
        return package.Server(settings)
    except RuntimeError:
        raise ValueError(f"llama.cpp cannot read {str(path)!r} as a model. Write it again with to_gguf.") from None

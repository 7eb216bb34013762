"""What llama.cpp computes from the shipped model's weights, beside what our own code computes.

Each experiment returns plain values, which can be kept as JSON: notebooks show them, tests hold them to a bound, and
`benchmarks/engines.py` records them. Numbers are compared (log-probabilities, kept tokens), since each engine draws its
own random numbers.
"""

import itertools
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import torch

from course_utils import translate
from course_utils.checkpoint import load_model
from course_utils.engines.llama_cpp import CACHE_TYPES, LlamaCpp
from course_utils.engines.prompts import OPEN, TALE, prompts
from course_utils.generation import generate_batch
from course_utils.sampling import STEPS, SamplingParams, next_token_probs
from course_utils.stopping import StopCriteria

N_TOKENS = 100  # of each greedy text
ORDERED: dict[str, Any] = {"temperature": 3.0, "top_k": 8, "top_p": 0.7, "min_p": 0.1}


@contextmanager
def shipped_engine(slots: int = 1, cache: str = "F32") -> Iterator[LlamaCpp]:
    """llama.cpp on the shipped model, whose GGUF file is written for it and removed afterwards."""
    from course_utils.gguf_file import to_gguf  # here, so that recorded figures can be shown without gguf

    with (
        tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder,
        LlamaCpp(to_gguf("tiny_llama", Path(folder) / "tiny_llama.gguf"), slots=slots, cache=cache) as engine,
    ):
        yield engine


@torch.no_grad()
def one_request() -> dict[str, Any]:
    """A request as it goes over the wire, and the part of the answer that says how likely the next tokens were."""
    vocab = load_model("tiny_llama")[1]
    ids = [vocab.bos_id, *vocab.encode("The fox")]
    settings: dict[str, Any] = {"n_predict": 1, "n_probs": 3, "temperature": 1.0}
    with shipped_engine() as engine:
        answer = engine.complete(ids, **settings)
    listed = answer["completion_probabilities"][0]["top_logprobs"]
    return {
        "request": {"prompt": ids, **settings},
        "likeliest": [[token["token"], token["logprob"]] for token in listed],
    }


@torch.no_grad()
def caches() -> dict[str, dict[str, float]]:
    """For each type of cache: how far log-probabilities are from ours, and what becomes of the choices.

    `largest`: the largest difference over all prompts and tokens, in nats. `choices`: prompts after which another token
    is the likeliest. `texts`: greedy texts of up to 100 tokens that differ from ours. `n`: prompts.
    """
    model, vocab = load_model("tiny_llama")
    all_ids = [[vocab.bos_id, *vocab.encode(prompt)] for prompt in prompts()]
    ours = [model(torch.tensor([ids]))[0, -1].double().log_softmax(-1) for ids in all_ids]
    made = generate_batch(model, vocab, prompts(), SamplingParams(greedy=True), StopCriteria(N_TOKENS))
    found = {}
    for cache in CACHE_TYPES:
        with shipped_engine(cache=cache) as engine:
            theirs = [engine.log_probs(ids, len(vocab)) for ids in all_ids]
            texts = [_greedy(engine, ids) for ids in all_ids]
        pairs = list(zip(ours, theirs, strict=True))
        found[cache] = {
            "largest": max(float((a - b).abs().max()) for a, b in pairs),
            "choices": sum(int(a.argmax() != b.argmax()) for a, b in pairs),
            "texts": sum(a.text != b for a, b in zip(made, texts, strict=True)),
            "n": len(all_ids),
        }
    return found


def _greedy(engine: LlamaCpp, ids: list[int]) -> str:
    return engine.complete(ids, n_predict=N_TOKENS, temperature=0)["content"]


@torch.no_grad()
def defaults() -> dict[str, Any]:
    """A request that says nothing: the tokens that it may draw, beside `SamplingParams.like("llama.cpp")`."""
    model, vocab = load_model("tiny_llama")
    params, equal, largest = SamplingParams.like("llama.cpp"), 0, 0.0
    with shipped_engine() as engine:
        for prompt in prompts():
            ids = [vocab.bos_id, *vocab.encode(prompt)]
            ours, theirs = (
                next_token_probs(model(torch.tensor([ids]))[0, -1], params),
                engine.drawn_from(ids, len(vocab)),
            )
            equal += bool(((ours > 0) == (theirs > 0)).all())
            largest = max(largest, float((ours - theirs).abs().max()))
        said = {name: engine.defaults()[name] for name in ("samplers", "temperature", "top_k", "top_p", "min_p")}
    return {"equal": equal, "n": len(prompts()), "largest": largest, "said": said}


@torch.no_grad()
def orders() -> list[dict[str, Any]]:
    """One set of numbers in all 24 orders of the four steps, where the order decides which tokens stay.

    A row for each such prompt: `sets`, how many different sets of tokens the orders keep; `equal`, in how many of the
    24 orders llama.cpp keeps the tokens that we keep; `largest`, the largest difference of a probability.
    """
    model, vocab = load_model("tiny_llama")
    settings = [SamplingParams(**ORDERED, order=order) for order in itertools.permutations(STEPS)]
    rows = []
    with shipped_engine() as engine:
        for prompt in (*prompts(), *OPEN):
            ids = [vocab.bos_id, *vocab.encode(prompt)]
            logits = model(torch.tensor([ids]))[0, -1]
            ours = [next_token_probs(logits, params) for params in settings]
            kept = [tuple((probs > 0).tolist()) for probs in ours]
            if len(set(kept)) == 1:
                continue
            theirs = [engine.drawn_from(ids, len(vocab), **translate.to_llama_cpp(params)) for params in settings]
            equal = sum(a == tuple((b > 0).tolist()) for a, b in zip(kept, theirs, strict=True))
            largest = max(float((a - b).abs().max()) for a, b in zip(ours, theirs, strict=True))
            rows.append({"prompt": prompt[-24:], "sets": len(set(kept)), "equal": equal, "largest": largest})
    return rows


def prompt_cache() -> dict[str, int]:
    """The same prompt twice: how many of its tokens the second request found computed."""
    vocab = load_model("tiny_llama")[1]
    ids = [vocab.bos_id, *vocab.encode(TALE)]
    with shipped_engine() as engine:
        found = [engine.complete(ids, n_predict=1, cache_prompt=True)["timings"]["cache_n"] for _ in range(2)]
    return {"tokens": len(ids), "first": found[0], "second": found[1]}

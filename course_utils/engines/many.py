"""The same 64 requests, greedy: llama.cpp's slots beside our serving engine, in turn, one thread each."""

import statistics
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import torch

from course_utils import budget, text
from course_utils.checkpoint import load_model
from course_utils.engines.experiments import shipped_engine
from course_utils.sampling import SamplingParams
from course_utils.serving import Engine
from course_utils.stopping import StopCriteria

N_REQUESTS, SLOTS = 64, 16


def many_texts() -> dict[str, Any]:
    """Tokens a second of both (medians), and how many of the greedy texts are the same.

    Prompts are beginnings of 20 to 200 characters, answers up to 76 tokens. Up to 16 texts run at the same time.
    """
    model, vocab = load_model("tiny_llama")
    tales = text.load_documents("tales", "validation")
    asked = [(tales[i][: 20 + 37 * i % 181], 16 + 11 * i % 61) for i in range(N_REQUESTS)]

    def ours() -> list[str]:
        engine = Engine(model, vocab, n_blocks=SLOTS * 32, max_running=SLOTS)
        greedy = SamplingParams(greedy=True)
        requests = [engine.submit(prompt, greedy, StopCriteria(n)) for prompt, n in asked]
        engine.run()
        return [request.generation.text for request in requests if request.generation]

    with shipped_engine(slots=SLOTS) as engine, ThreadPoolExecutor(N_REQUESTS) as clients:

        def one(prompt: str, n: int) -> str:
            ids = [vocab.bos_id, *vocab.encode(prompt)]
            return engine.complete(ids, n_predict=n, temperature=0, cache_prompt=False)["content"]

        def theirs() -> list[str]:
            return list(clients.map(one, *zip(*asked, strict=True)))

        seconds: dict[str, list[float]] = {"ours": [], "llama.cpp": []}
        made: dict[str, list[str]] = {}
        ways: dict[str, Callable[[], list[str]]] = {"ours": ours, "llama.cpp": theirs}
        n_threads = torch.get_num_threads()
        torch.set_num_threads(1)
        try:
            for _ in range(budget.choose(3, 1)):
                for name, way in ways.items():
                    begun = time.perf_counter()
                    made[name] = way()
                    seconds[name].append(time.perf_counter() - begun)
        finally:
            torch.set_num_threads(n_threads)
    n_tokens = sum(map(len, made["ours"]))  # a token is a character here; end marks are not counted
    return {
        "requests": N_REQUESTS,
        "new tokens": n_tokens,
        "the same texts": sum(a == b for a, b in zip(made["ours"], made["llama.cpp"], strict=True)),
        "tokens a second": {name: round(n_tokens / statistics.median(times)) for name, times in seconds.items()},
    }

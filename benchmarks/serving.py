"""Many texts at once, five ways, one thread: tokens a second, and what paging and scheduling cost.

    python -m benchmarks.serving

A Llama of 6 layers × 192 and 96 tokens; 64 requests with prompts of 20 to 200 tokens and 16 to 200 new ones, half of
them with a shared beginning of 100. All sample at T = 1, ours up to 32 texts at a time. The ways take turns.
A timing depends on the machine, so this is not a test; that all texts are those of each request alone is asserted, and
for transformers, which draws other random numbers, that its greedy texts are ours.
"""

import argparse
import logging
import os
import platform
import random
import statistics
import tempfile
import time
from collections.abc import Callable

os.environ["HF_HUB_OFFLINE"] = "1"

import torch
import transformers
from transformers import ContinuousBatchingConfig, GenerationConfig, LlamaForCausalLM

from course_utils.checkpoint import save_model
from course_utils.fast_decode import plan
from course_utils.generation import generate, generate_batch
from course_utils.sampling import SamplingParams
from course_utils.serving import Engine, PagedCache
from course_utils.serving.paged_cache import PagedRows
from course_utils.stopping import StopCriteria
from course_utils.text import CharVocab
from course_utils.training.trainer import new_model
from course_utils.transformer import Transformer, TransformerConfig

CHARS = [chr(0x4E00 + i) for i in range(89)]
VOCAB = CharVocab(CHARS)  # 96 tokens with the specials
CONFIG = TransformerConfig(len(VOCAB), n_layer=6, n_head=6, n_kv_head=2, n_embd=192, block_size=512)
N_BLOCKS, BLOCK_SIZE = 1000, 16
Request = tuple[str, SamplingParams, StopCriteria]


def small_llama() -> Transformer:
    """A model with random weights, large enough that the likeliest token is clear."""
    model = new_model(VOCAB, CONFIG, seed=0).eval()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(torch.randn_like(parameter) * 0.05)
    return model


def workload(n: int, greedy: bool = False) -> list[Request]:
    """n requests; every second one has the same first 100 characters, if its prompt is longer than that."""
    rng = random.Random(0)
    shared = "".join(rng.choices(CHARS, k=100))
    requests = []
    for number in range(n):
        shares = number % 2 == 1
        length = rng.randint(102, 200) if shares else rng.randint(20, 200)
        prompt = (shared if shares else "") + "".join(rng.choices(CHARS, k=length - 100 * shares))
        sampling = SamplingParams(greedy=True) if greedy else SamplingParams(temperature=1.0, seed=number)
        requests.append((prompt, sampling, StopCriteria(rng.randint(16, 200), eos=False)))
    return requests


def static(model: Transformer, requests: list[Request], size: int) -> list[str]:
    """Batches in the order of coming; each begins when the one before has ended."""
    texts = []
    for first in range(0, len(requests), size):
        prompts, sampling, stopping = zip(*requests[first : first + size], strict=True)
        texts += [one.text for one in generate_batch(model, VOCAB, prompts, sampling, stopping)]
    return texts


def engine_run(model: Transformer, requests: list[Request], max_running: int = 32) -> list[str]:
    engine = Engine(model, VOCAB, N_BLOCKS, BLOCK_SIZE, max_tokens_a_step=256, max_running=max_running)
    asked = [engine.submit(*request) for request in requests]
    engine.run()
    return [request.generation.text for request in asked]


def continuous_of_transformers(theirs: LlamaForCausalLM, requests: list[Request], greedy: bool) -> list[str]:
    """Its own continuous batching, which feeds all texts of a step as one row."""
    sampled = {"do_sample": True, "temperature": 1.0, "top_k": 0, "top_p": 1.0}
    how = GenerationConfig(max_new_tokens=200, eos_token_id=-1, pad_token_id=2, **({} if greedy else sampled))
    if greedy:
        how.do_sample = False
    sizes = ContinuousBatchingConfig(num_blocks=N_BLOCKS, page_size=BLOCK_SIZE, max_batch_tokens=256, seed=0)
    manager = theirs.init_continuous_batching(how, sizes)
    manager.start()
    try:
        ids = [
            manager.add_request([VOCAB.bos_id, *VOCAB.encode(prompt)], max_new_tokens=stopping.max_new_tokens)
            for prompt, _, stopping in requests
        ]
        found = {}
        while len(found) < len(ids):
            result = manager.get_result(timeout=120)
            if result is None:
                raise RuntimeError(
                    f"transformers gave {len(found)} of {len(ids)} texts and then nothing for 120 seconds."
                )
            if result.is_finished():
                found[result.request_id] = VOCAB.decode(result.generated_tokens)
        return [found[one] for one in ids]
    finally:
        manager.stop(block=True)


def seconds(function: Callable[[], object]) -> tuple[float, object]:
    start = time.perf_counter()
    result = function()
    return time.perf_counter() - start, result


def throughput(model: Transformer, theirs: LlamaForCausalLM, n: int, repeats: int) -> None:
    requests, planned = workload(n), plan(model)
    n_tokens = sum(stopping.max_new_tokens for _, _, stopping in requests)
    ways: dict[str, Callable[[], list[str]]] = {
        "one after another, plain": lambda: [generate(model, VOCAB, *request).text for request in requests],
        "one after another, planned": lambda: [generate(planned, VOCAB, *request).text for request in requests],
        "static batches of 8": lambda: static(model, requests, 8),
        "transformers, continuous": lambda: continuous_of_transformers(theirs, requests, greedy=False),
        "ours, up to 16": lambda: engine_run(model, requests, 16),
        "ours, up to 32": lambda: engine_run(model, requests),
    }
    few = workload(8, greedy=True)
    asked, ours = continuous_of_transformers(theirs, few, greedy=True), engine_run(model, few)
    same = sum(a == b for a, b in zip(asked, ours, strict=True))
    engine_run(model, requests[:8])  # warm
    times: dict[str, list[float]] = {name: [] for name in ways}
    alone: list[str] = []
    for _ in range(repeats):
        for name, way in ways.items():
            spent, texts = seconds(way)
            times[name].append(spent)
            alone = alone or list(texts)
            differ = sum(a != b for a, b in zip(alone, texts, strict=True))
            assert name.startswith("transformers") or differ <= 1, f"{name}: {differ} texts differ"  # a near tie
    best = times["ours, up to 32"]
    n_prompt = sum(len(prompt) + 1 for prompt, _, _ in requests)
    print(f"\n{n} requests, {n_prompt} prompt and {n_tokens} new tokens, medians of {repeats}")
    print(f"Greedy texts of transformers that equal ours: {same} of {len(few)}\n")
    print("| how | tokens a second | ours by this |\n|---|---|---|")
    for name, spent in times.items():
        ratio = statistics.median(s / b for s, b in zip(spent, best, strict=True))
        print(f"| {name} | {n_tokens / statistics.median(spent):,.0f} | {ratio:.2f} |")


def scheduling(model: Transformer, n: int) -> None:
    """How much of the steps' time is neither the model nor the choice of tokens, and what is found in the store."""
    requests, spent = workload(n), {"forward": 0.0, "choose": 0.0}

    class Timed(Engine):
        def _forward(self, *args):
            took, result = seconds(lambda: super(Timed, self)._forward(*args))
            spent["forward"] += took
            return result

        def _choose(self, *args):
            took, result = seconds(lambda: super(Timed, self)._choose(*args))
            spent["choose"] += took
            return result

    engine = Timed(model, VOCAB, N_BLOCKS, BLOCK_SIZE, max_running=32)
    for request in requests:
        engine.submit(*request)
    known: set[tuple[int, ...]] = set()
    stored = found = 0
    total, steps = 0.0, []
    while engine.waiting or engine.running:
        everyone = {request.number: request for request in [*engine.waiting, *engine.running]}
        took, step = seconds(engine.step)
        total += took
        steps.append(step)
        for number, n_found in step.admitted:
            ids = everyone[number].row.request.prompt_ids
            ends = range(BLOCK_SIZE, len(ids), BLOCK_SIZE)
            n_known = next((end - BLOCK_SIZE for end in ends if ids[:end] not in known), len(ends) * BLOCK_SIZE)
            stored, found = stored + n_known, found + n_found
        for number, _ in step.prefilled:
            ids = everyone[number].row.ids
            fed = len(everyone[number]._table.token_ids) or len(ids) - 1
            known |= {tuple(ids[:end]) for end in range(BLOCK_SIZE, fed + 1, BLOCK_SIZE)}
    rest = total - sum(spent.values())
    print(f"\nScheduling: {rest / total:.1%} of {len(steps)} steps; the choice of tokens {spent['choose'] / total:.1%}")
    print(f"Tokens in full blocks that were in the pool before the step: {stored}; not computed again: {found}")


class _DenseRows(PagedRows):
    """The same rows with a slot for each token in one piece: what is read is not gathered."""

    def append(self, layer, keys, values):
        dense, end = self.cache.dense[layer], int(self._positions.max()) + 1
        rows = torch.arange(len(self.tables))
        dense[0][rows, :, self._positions[:, 0]] = keys[:, :, 0]
        dense[1][rows, :, self._positions[:, 0]] = values[:, :, 0]
        return dense[0][:, :, :end], dense[1][:, :, :end]

    def mask(self, n_new, attention_mask=None):
        return self._mask[..., : int(self._positions.max()) + 1]


@torch.no_grad()
def paging(model: Transformer, repeats: int) -> None:
    """A decode step of 32 texts of 20 to 400 tokens, from blocks and from dense slots."""
    cache, n_rows = PagedCache(model, 32 * 26, BLOCK_SIZE), 32
    rng = random.Random(0)
    tables = [cache.begin([]) for _ in range(n_rows)]
    for table in tables:
        n = rng.randint(20, 400)
        cache.reserve(table, n + 16)
        model(torch.randint(7, len(VOCAB), (1, n)), cache.rows([table]))
    cache.dense = torch.randn(CONFIG.n_layer, 2, n_rows, CONFIG.n_kv_head, 416, CONFIG.head_dim)
    ids, times = torch.randint(7, len(VOCAB), (n_rows, 1)), {PagedRows: [], _DenseRows: []}
    for _ in range(repeats):
        for kind, spent in times.items():
            rows = kind(cache, tables)
            rows.advance = lambda token_ids: None  # the same step again
            spent.append(seconds(lambda rows=rows: model(ids, rows))[0])
    ratio = statistics.median(a / b for a, b in zip(times[PagedRows], times[_DenseRows], strict=True))
    print(
        f"\nA decode step of {n_rows} texts from blocks of {BLOCK_SIZE}: {ratio:.2f} times as long as from dense slots"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--requests", type=int, default=64)
    given = parser.parse_args()
    torch.set_num_threads(1)
    torch.manual_seed(0)
    transformers.logging.set_verbosity_error()
    logging.disable(logging.WARNING)
    print(
        f"{platform.machine()}, {platform.system()}, {os.cpu_count()} cores, 1 thread; load {os.getloadavg()[0]:.1f}; ",
        end="",
    )
    print(f"Python {platform.python_version()}, torch {torch.__version__}, transformers {transformers.__version__}")
    model = small_llama()
    with tempfile.TemporaryDirectory() as folder:
        save_model(model, VOCAB, folder)
        theirs = LlamaForCausalLM.from_pretrained(folder, attn_implementation="sdpa").eval()
    throughput(model, theirs, given.requests, given.repeats)
    scheduling(model, given.requests)
    paging(model, 30)


if __name__ == "__main__":
    main()

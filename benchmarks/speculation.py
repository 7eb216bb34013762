"""Speculation, a mask and an int8 cache on the shipped model, each beside the plain step, in one run.

    python -m benchmarks.speculation            one thread, about a minute

The ways take turns; the tables give medians of the ratios of neighbouring runs. That speculation gives the same texts
is asserted. A timing depends on the machine, so this is no test.
"""

import argparse
import os
import platform
import statistics
import time

import torch

from course_utils.bigram import BigramLM
from course_utils.checkpoint import load_model
from course_utils.compare_logits import in_chunks
from course_utils.constrained import JsonMask
from course_utils.fast_decode import plan
from course_utils.generation import generate, generate_batch
from course_utils.metrics import sum_is_right
from course_utils.ngram import NgramLM
from course_utils.quantised_cache import Int8CacheModel
from course_utils.sampling import SamplingParams
from course_utils.speculative import first_layers, speculate
from course_utils.stopping import StopCriteria
from course_utils.text import load_documents

MODEL, VOCAB = load_model("tiny_llama")
TALES = load_documents("tales", "validation")
NEW = StopCriteria(200, eos=False)
SCHEMA = {
    "type": "object",
    "required": ["tool", "args"],
    "additionalProperties": False,
    "properties": {
        "tool": {"enum": ["add", "subtract", "multiply"]},
        "args": {"type": "array", "items": {"type": "integer"}, "minItems": 2, "maxItems": 2},
    },
}


def drafts() -> dict:
    corpus = VOCAB.encode_documents(load_documents("tales"))
    return {
        "bigram": BigramLM.fit(corpus, len(VOCAB)),
        "4-gram": NgramLM.fit(corpus, 4, len(VOCAB)),
        "9-gram": NgramLM.fit(corpus, 9, len(VOCAB)),
        "first layer": first_layers(MODEL, 1),
        "first two layers": first_layers(MODEL, 2),
    }


def speculation(repeats: int, temperature: float) -> None:
    ways = {("plain step", 0): lambda params: MODEL, ("planned step", 0): lambda params: plan(MODEL)}
    for name, draft in drafts().items():
        for k in (2, 4, 8):
            ways[name, k] = lambda params, draft=draft, k=k: speculate(MODEL, draft, k, params)
    times, counts = {way: [] for way in ways}, {}
    for turn in range(repeats):
        params, prompt, texts = SamplingParams(temperature, seed=turn), TALES[turn][:12], set()
        for way, make in ways.items():
            model = make(params)
            start = time.perf_counter()
            texts.add(generate(model, VOCAB, prompt, params, NEW).token_ids)
            times[way].append(time.perf_counter() - start)
            if way[1]:
                made = counts.setdefault(way, [])
                made.append(model.counts)
        assert len(texts) == 1, f"the ways gave different texts after {prompt!r}"
    print(f"\nT = {temperature:g}, {NEW.max_new_tokens} tokens, median of {repeats}; all texts are the same\n")
    print("| draft | k | speed, plain step = 1 | planned step = 1 | accepted | passes a token |")
    print("|---|---|---|---|---|---|")
    for (name, k), spent in times.items():
        beside = [
            statistics.median(b / s for b, s in zip(times[other, 0], spent, strict=True))
            for other in ("plain step", "planned step")
        ]
        made = counts.get((name, k), [])
        accepted = f"{sum(c.accepted for c in made) / sum(c.judged for c in made):.2f}" if made else ""
        passes = f"{sum(c.passes for c in made) / sum(c.handed_out for c in made):.2f}" if made else ""
        print(f"| {name} | {k or ''} | {beside[0]:.2f} | {beside[1]:.2f} | {accepted} | {passes} |")


@torch.no_grad()
def passes(repeats: int) -> None:
    ids = torch.tensor([[VOCAB.bos_id, *VOCAB.encode(max(TALES, key=len))]])
    for name, model in (("plain", MODEL), ("planned", plan(MODEL))):
        cache = model.new_cache()
        model(ids[:, :150], cache)
        times = {n: [] for n in (1, 2, 3, 5, 9)}
        for _ in range(20 * repeats):
            for n, spent in times.items():
                start = time.perf_counter()
                model(ids[:, 150 : 150 + n], cache)
                spent.append(time.perf_counter() - start)
                cache.crop(150)
        costs = ", ".join(
            f"{n}: {statistics.median(spent) / statistics.median(times[1]):.2f}" for n, spent in times.items()
        )
        print(f"\nA {name} pass over n tokens behind 150, one token = 1: {costs}")


@torch.no_grad()
def mask(repeats: int) -> None:
    """What asking the mask costs a token, beside a plain step of the same text."""
    call, prompt = VOCAB.encode('{"tool": "multiply", "args": [317, 24]}'), VOCAB.encode("Q: 317*24\n<call>")
    asked, steps = [], []
    for _ in range(repeats):
        allow, cache = JsonMask(VOCAB, SCHEMA, "</call>"), MODEL.new_cache()
        MODEL(torch.tensor([[VOCAB.bos_id, *prompt]]), cache)
        for place, token_id in enumerate(call):
            start = time.perf_counter()
            allow.allowed(call[:place])
            middle = time.perf_counter()
            MODEL(torch.tensor([[token_id]]), cache)
            asked.append(middle - start)
            steps.append(time.perf_counter() - middle)
    print(f"\nA mask at V = {len(VOCAB)}: {1e6 * statistics.median(asked):.0f} microseconds a token, "
          f"{statistics.median(asked) / statistics.median(steps):.2f} of a plain step (medians)")  # fmt: skip


@torch.no_grad()
def int8() -> None:
    small, changed, total, errors = Int8CacheModel(MODEL), 0, 0, []
    for tale in TALES:
        if total >= 6000:
            break
        ids = torch.tensor([[VOCAB.bos_id, *VOCAB.encode(tale)]])
        exact, rounded = MODEL(ids), in_chunks(small, ids, [ids.shape[1]])
        changed, total = changed + int((exact.argmax(-1) != rounded.argmax(-1)).sum()), total + ids.shape[1]
        errors.append((exact - rounded).abs().flatten())
    error = torch.cat(errors)
    print(f"\nint8 cache: {changed} of {total} greedy choices change on given tales; logit error median "
          f"{error.median():.3f}, largest {error.max():.2f}")  # fmt: skip
    questions = [sum_[: sum_.index("=") + 1] for sum_ in load_documents("sums", "validation")[:200]]
    for name, model in (("float32", MODEL), ("int8", small)):
        answers = generate_batch(model, VOCAB, questions, SamplingParams(greedy=True), StopCriteria(8))
        print(f"sums with {name}: {sum(sum_is_right(one.prompt, one.text) for one in answers)} of 200")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=7)
    given = parser.parse_args()
    torch.set_num_threads(1)
    print(f"{platform.machine()}, {platform.system()}, {os.cpu_count()} cores, one thread; ", end="")
    print(f"Python {platform.python_version()}, torch {torch.__version__}")
    for temperature in (1.0, 0.3, 2.0):
        speculation(given.repeats, temperature)
    passes(given.repeats)
    mask(given.repeats)
    int8()


if __name__ == "__main__":
    main()

"""The tiny Llama beside transformers' Llama, same weights and same tokens: decode, growth with the context, training.

    python -m benchmarks.transformer_speed            one thread
    python -m benchmarks.transformer_speed --threads 2

Runs of the two alternate in one process; the tables give medians of the ratios of neighbouring runs. A timing depends
on the machine, so this is no test; that both choose the same tokens is asserted.
"""

import argparse
import os
import platform
import statistics
import tempfile
import time

os.environ["HF_HUB_OFFLINE"] = "1"

import torch
import torch.nn.functional as F
import transformers
from transformers import LlamaForCausalLM

from course_utils.checkpoint import save_model
from course_utils.fast_decode import plan
from course_utils.generation import generate
from course_utils.sampling import SamplingParams
from course_utils.stopping import StopCriteria
from course_utils.text import CharVocab
from course_utils.training.trainer import new_model
from course_utils.transformer import TransformerConfig

PROMPT, NEW = 64, 256  # tokens, <bos> included
VOCAB = CharVocab([chr(0x4E00 + i) for i in range(89)])  # 96 tokens with the specials
CONFIG = TransformerConfig(len(VOCAB), n_layer=6, n_head=6, n_kv_head=2, n_embd=192, block_size=512)


def pair():
    """Our model and transformers' with the same weights."""
    ours = new_model(VOCAB, CONFIG, seed=0).eval()
    with torch.no_grad():
        for parameter in ours.parameters():
            parameter.add_(torch.randn_like(parameter) * 0.05)
    with tempfile.TemporaryDirectory() as folder:
        save_model(ours, VOCAB, folder)
        return ours, LlamaForCausalLM.from_pretrained(folder).eval()


def seconds(function) -> tuple[float, object]:
    start = time.perf_counter()
    result = function()
    return time.perf_counter() - start, result


@torch.no_grad()
def loop(model, ids: torch.Tensor, new: int) -> list[int]:
    """Greedy decode with nothing around the model."""
    cache, chosen, fed = model.new_cache(), [], ids
    for _ in range(new):
        fed = model(fed, cache)[:, -1].argmax(-1, keepdim=True)
        chosen.append(int(fed))
    return chosen


def decode(ours, theirs, repeats: int) -> None:
    ids = torch.cat([torch.tensor([[VOCAB.bos_id]]), torch.randint(7, len(VOCAB), (1, PROMPT - 1))], dim=1)
    prompt = VOCAB.decode(ids[0].tolist())
    mask = torch.ones_like(ids)
    greedy, stopping = SamplingParams(greedy=True), StopCriteria(NEW, eos=False)
    options = dict(do_sample=False, min_new_tokens=NEW, max_new_tokens=NEW, eos_token_id=None, pad_token_id=2)
    planned = plan(ours)
    ways = {
        "transformers' generate": lambda: theirs.generate(ids, attention_mask=mask, **options)[0, PROMPT:].tolist(),
        "our generate": lambda: list(generate(ours, VOCAB, prompt, greedy, stopping).token_ids),
        "our model in a bare loop": lambda: loop(ours, ids, NEW),
        "our generate on plan(model)": lambda: list(generate(planned, VOCAB, prompt, greedy, stopping).token_ids),
        "plan(model) in a bare loop": lambda: loop(planned, ids, NEW),
        "our generate, no cache": None,
    }
    times = {name: [] for name in ways}
    for turn in range(repeats):
        tokens = {}
        for name, way in ways.items():
            if way:
                spent, tokens[name] = seconds(way)
                times[name].append(spent)
            elif turn == 0:
                spent, tokens[name] = seconds(
                    lambda: list(generate(ours, VOCAB, prompt, greedy, stopping, use_cache=False).token_ids)
                )
                times[name].append(spent)
        assert len({tuple(chosen) for chosen in tokens.values()}) == 1, "the ways chose different tokens"
    baseline = times["transformers' generate"]
    print(f"\nDecode, {PROMPT} + {NEW} tokens, batch 1, median of {repeats} (no cache: one run)\n")
    print("| how | tokens a second | speed, transformers = 1 |\n|---|---|---|")
    for name, spent in times.items():
        ratio = statistics.median(b / s for b, s in zip(baseline, spent, strict=False))
        print(f"| {name} | {NEW / statistics.median(spent):,.0f} | {ratio:.2f} |")


@torch.no_grad()
def growth(ours, theirs, repeats: int) -> None:
    """A step behind 64 and behind 500 cached tokens, in turn."""
    ids = torch.randint(7, len(VOCAB), (1, 500))
    one, lengths = ids[:, :1], (64, 500)
    models = {"our model": ours, "plan(model)": plan(ours)}
    caches = {(name, length): model.new_cache() for name, model in models.items() for length in lengths}
    for (name, length), cache in caches.items():
        models[name](ids[:, :length], cache)
    their_caches = {length: theirs(ids[:, :length]).cache for length in lengths}
    times = {(name, length): [] for name in (*models, "transformers") for length in lengths}

    def our_steps(name: str, length: int) -> None:
        for _ in range(10):
            models[name](one, caches[name, length])
        caches[name, length].crop(length)

    def their_steps(length: int) -> None:
        for _ in range(10):
            theirs(one, cache=their_caches[length])
        their_caches[length].crop(-10)

    for _ in range(repeats * 8):
        for length in lengths:
            for name in models:
                times[name, length].append(seconds(lambda name=name, length=length: our_steps(name, length))[0])
            times["transformers", length].append(seconds(lambda length=length: their_steps(length))[0])
    print("\nOne step behind 500 cached tokens, behind 64 = 1 (mean of steps 500 to 509 and 64 to 73)\n")
    print("| how | growth |\n|---|---|")
    for name in (*models, "transformers"):
        ratio = statistics.median(b / a for a, b in zip(times[name, 64], times[name, 500], strict=True))
        print(f"| {name} | {ratio:.2f} |")


def training(ours, theirs, repeats: int) -> None:
    batch = torch.randint(7, len(VOCAB), (12, 257))
    inputs, targets = batch[:, :-1], batch[:, 1:].flatten()

    def step(model, logits_of, optimizer) -> float:
        loss = F.cross_entropy(logits_of(inputs).flatten(0, 1), targets)
        loss.backward()
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
        return loss.item()

    both = {}
    for name, model, logits_of in (("ours", ours, ours), ("theirs", theirs, lambda ids: theirs(ids).logits)):
        optimizer = torch.optim.AdamW(model.train().parameters(), lr=1e-3)
        both[name] = lambda model=model, logits_of=logits_of, optimizer=optimizer: step(model, logits_of, optimizer)
    times = {name: [] for name in both}
    for turn in range(repeats + 2):
        losses = {}
        for name, one_step in both.items():
            spent, losses[name] = seconds(one_step)
            if turn >= 2:  # the first steps make the optimizer's state
                times[name].append(spent)
        assert abs(losses["ours"] - losses["theirs"]) < 1e-2
    ratio = statistics.median(b / a for a, b in zip(times["ours"], times["theirs"], strict=True))
    speed = inputs.numel() / statistics.median(times["ours"])
    print(f"\nTraining step, 12 × 256 tokens: {speed:,.0f} tokens a second; {ratio:.2f} times transformers' speed")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--repeats", type=int, default=7)
    given = parser.parse_args()
    torch.set_num_threads(given.threads)
    torch.manual_seed(0)
    print(f"{platform.machine()}, {platform.system()}, {os.cpu_count()} cores, {given.threads} thread(s); ", end="")
    print(f"Python {platform.python_version()}, torch {torch.__version__}, transformers {transformers.__version__}")
    ours, theirs = pair()
    decode(ours, theirs, given.repeats)
    growth(ours, theirs, given.repeats)
    training(ours, theirs, given.repeats)


if __name__ == "__main__":
    main()

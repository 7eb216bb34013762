"""What the shipped model can do, measured on held-out documents, and written into its card.

    python -m benchmarks.tiny_llama_quality            print
    python -m benchmarks.tiny_llama_quality --write    also write it into data/tiny_llama/README.md

Every text has a fixed seed, so the same machine and versions give the same table.
"""

import argparse
import hashlib
import json
import platform
import re
from collections.abc import Callable

import torch

from course_utils import metrics, storyworld
from course_utils.bigram import BigramLM
from course_utils.checkpoint import fingerprint, load_model
from course_utils.generation import Generation, generate_batch
from course_utils.sampling import SamplingParams
from course_utils.stopping import StopCriteria
from course_utils.text import DATA, SHIPPED, CharVocab, load_documents
from course_utils.tool_calls import read_call
from course_utils.transformer import Transformer

CARD = DATA / "tiny_llama" / "README.md"
BEGIN, END = "<!-- generated: begin -->\n", "<!-- generated: end -->\n"
N_TALES, TOGETHER = 200, 50


def continue_all(
    model: Transformer,
    vocab: CharVocab,
    prompts: list[str],
    sampling: Callable[[int], SamplingParams],
    stopping: StopCriteria,
) -> list[Generation]:
    """A generation for each prompt, with seed 0, 1, …, some of them in one batch."""
    made: list[Generation] = []
    for start in range(0, len(prompts), TOGETHER):
        part = prompts[start : start + TOGETHER]
        settings = [sampling(start + index) for index in range(len(part))]
        made += generate_batch(model, vocab, part, settings, stopping)
    return made


def losses(model: Transformer, vocab: CharVocab) -> list[str]:
    lines = ["| held-out documents | the model | floor | by the floor | bigram |", "|---|---:|---:|---:|---:|"]
    for kind in SHIPPED:
        documents = load_documents(kind, "validation")
        bigram = BigramLM.fit(vocab.encode_documents(load_documents(kind)), len(vocab), add=1)
        ours, floor = metrics.loss(model, vocab, documents), storyworld.floor(documents)
        simple = metrics.loss(bigram, vocab, documents)
        lines.append(f"| {kind}, {len(documents)} | {ours:.4f} | {floor:.4f} | {ours / floor:.3f} | {simple:.4f} |")
    return lines


def beginning(tale: str) -> str:
    """The first three words of a tale, as a prompt."""
    return " ".join(tale.split(" ")[:3])


def share(name: str, right: int, n: int) -> str:
    interval = metrics.proportion_ci(right, n)
    return f"| {name} | {right} of {n} | {right / n:.1%} | {interval.low:.1%} to {interval.high:.1%} |"


def abilities(model: Transformer, vocab: CharVocab) -> list[str]:
    lines = ["| what | right | share | 95 % interval (Wilson) |", "|---|---:|---:|---:|"]
    tales = load_documents("tales", "validation")
    begun = [beginning(tale) for tale in tales[:N_TALES]]
    told = continue_all(model, vocab, begun, lambda seed: SamplingParams(seed=seed), StopCriteria(420))
    texts = [prompt + one.text for prompt, one in zip(begun, told, strict=True)]
    facts = sum(storyworld.keeps_facts(text) is True for text in texts)
    whole = sum(storyworld.parse(text).ok for text in texts)
    lines.append(share("tales at T = 1 that keep their facts", facts, N_TALES))
    lines.append(share("tales at T = 1 that the grammar could have written", whole, N_TALES))
    sums = [document.split("=") for document in load_documents("sums", "validation")]
    asked = [f"{question}=" for question, _ in sums]
    for temperature in (0, 0.5, 1, 2):
        answers = continue_all(
            model, vocab, asked, lambda seed, t=temperature: SamplingParams(temperature=t, seed=seed), StopCriteria(8)
        )
        right = sum(one.text == answer for one, (_, answer) in zip(answers, sums, strict=True))
        lines.append(share(f"sums at T = {temperature}", right, len(sums)))
    calls = load_documents("calls", "validation")
    questions = [document.split("<call>")[0] for document in calls]
    made = continue_all(
        model, vocab, questions, lambda seed: SamplingParams(greedy=True), StopCriteria(80, tool_calls=True)
    )
    formed = [one.tool_call is not None and read_call(one.tool_call) is not None for one in made]
    expected = [json.loads(re.findall(r"<call>(.*?)</call>", document)[0]) for document in calls]
    correct = [
        good and json.loads(one.tool_call or "") == call for one, call, good in zip(made, expected, formed, strict=True)
    ]
    lines.append(share("calls, greedy: well formed", sum(formed), len(calls)))
    lines.append(share("calls, greedy: well formed and with the right tool and numbers", sum(correct), len(calls)))
    return lines


def report() -> str:
    model, vocab = load_model("tiny_llama")
    weights = DATA / "tiny_llama" / "model.safetensors"
    lines = [
        "Written by `python -m benchmarks.tiny_llama_quality --write` "
        f"({platform.machine()}, torch {torch.__version__}).",
        "",
        f"- parameters: {model.n_parameters():,}; `model.safetensors`: {weights.stat().st_size:,} bytes",
        f"- sha256 of `model.safetensors`: `{hashlib.sha256(weights.read_bytes()).hexdigest()}`",
        f"- fingerprint of shape, weights and vocabulary: `{fingerprint(model, vocab)}`",
        "",
        "Loss, in nats a token, over whole documents:",
        "",
        *losses(model, vocab),
        "",
        *abilities(model, vocab),
    ]
    return "\n".join(lines) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true", help="write the figures into the model's card")
    given = parser.parse_args()
    torch.set_num_threads(1)
    text = report()
    print(text)
    if given.write:
        head, rest = CARD.read_text(encoding="utf-8").split(BEGIN)
        CARD.write_text(head + BEGIN + text + END + rest.split(END)[1], encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main()

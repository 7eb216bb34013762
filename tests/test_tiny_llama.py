"""The shipped model: that its card speaks of these weights, and that they can do what the card says."""

import hashlib
import json
import re

import pytest

from course_utils import metrics, storyworld
from course_utils.checkpoint import fingerprint, load_model
from course_utils.generation import generate_batch
from course_utils.sampling import SamplingParams
from course_utils.stopping import StopCriteria
from course_utils.text import DATA, load_documents, load_text

FOLDER = DATA / "tiny_llama"
CARD = (FOLDER / "README.md").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def shipped():
    return load_model("tiny_llama")


def said(pattern):
    """The groups of the one line of the card that fits."""
    (found,) = re.findall(pattern, CARD)
    return found


def numbers(line_begins):
    """The numbers in the card's table line that begins so."""
    (line,) = [line for line in CARD.splitlines() if line.startswith(f"| {line_begins}")]
    return [float(number) for number in re.findall(r"\d+\.?\d*", line.removeprefix(f"| {line_begins}"))]


def test_the_card_speaks_of_these_weights(shipped):
    content = (FOLDER / "model.safetensors").read_bytes()
    assert said(r"sha256 of `model\.safetensors`: `(\w+)`") == hashlib.sha256(content).hexdigest()
    assert said(r"fingerprint of .*: `(\w+)`") == fingerprint(*shipped)
    assert said(r"parameters: ([\d,]+);") == f"{shipped[0].n_parameters():,}"
    assert said(r"`: ([\d,]+) bytes") == f"{len(content):,}"


def test_the_card_tells_the_shape(shipped):
    config = shipped[0].config
    assert (config.n_layer, config.n_embd, config.n_head, config.n_kv_head, config.block_size) == (4, 128, 4, 2, 512)
    assert (config.n_inner, config.head_dim, config.dropout, config.tie_embeddings) == (352, 32, 0.0, False)
    assert len(shipped[1]) == 81 and set(load_text("all")) - set("<>") <= set("".join(shipped[1].tokens))


def test_the_card_reaches_what_the_course_relies_on():
    *_, ratio, _bigram = numbers("tales, 500 ")
    assert 1 <= ratio <= 1.15
    at = {t: numbers(f"sums at T = {t} ")[2] for t in ("0", "1", "2")}
    assert 0 < at["2"] < at["0"] < 100
    low_at_0, high_at_2 = numbers("sums at T = 0 ")[-2], numbers("sums at T = 2 ")[-1]
    assert low_at_0 > high_at_2, "the intervals must not overlap"
    assert numbers("calls, greedy: well formed and ")[2] >= 95


def test_most_tales_keep_their_facts_and_the_card_says_how_many():
    facts, of, share, low, _ = numbers("tales at T = 1 that keep their facts ")
    assert of == 200 and facts == pytest.approx(2 * share)
    assert low > 60
    assert ("about three in ten break a fact" in CARD) == (65 <= share <= 75)


def test_the_loss_is_near_the_floor(shipped):
    tales = load_documents("tales", "validation")[:60]
    assert storyworld.floor(tales) < metrics.loss(*shipped, tales) < 1.15 * storyworld.floor(tales)


def test_calls_are_written_rightly(shipped):
    calls = load_documents("calls", "validation")[:40]
    prompts = [document.split("<call>")[0] for document in calls]
    made = generate_batch(*shipped, prompts, SamplingParams(greedy=True), StopCriteria(80, tool_calls=True))
    expected = [json.loads(re.search(r"<call>(.*?)</call>", document)[1]) for document in calls]
    assert (
        sum(
            one.tool_call is not None and json.loads(one.tool_call) == call
            for one, call in zip(made, expected, strict=True)
        )
        >= 36
    )


def test_a_lower_temperature_adds_better(shipped):
    sums = [document.split("=") for document in load_documents("sums", "validation")[:300]]

    def right(temperature):
        settings = [SamplingParams(temperature=temperature, seed=seed) for seed in range(len(sums))]
        made = generate_batch(*shipped, [f"{question}=" for question, _ in sums], settings, StopCriteria(8))
        return sum(one.text == answer for one, (_, answer) in zip(made, sums, strict=True))

    assert right(2.0) + 20 < right(0)

"""The record of a text: what it holds, that it leads back to the text, and what it says where it does not."""

import json

import pytest
import torch
from script_models import PieceVocab, ScriptModel, saying
from torch import nn

from course_utils.bigram import BigramLM
from course_utils.bpe import BpeVocab
from course_utils.checkpoint import fingerprint
from course_utils.generation import generate, generate_batch, reproduce, reproduction, stream
from course_utils.generation.reproduction import RecordError
from course_utils.sampling import SamplingParams
from course_utils.stopping import StopCriteria
from course_utils.text import CharVocab
from course_utils.transformer import Transformer, TransformerConfig

CORPUS = ["the cat sat on the mat.", "a hen and a fox ran.", "no one can tell the end."]
VOCAB = CharVocab.from_text("".join(CORPUS))
BIGRAM = BigramLM.fit(VOCAB.encode_documents(CORPUS), len(VOCAB), add=0.01)
BPE = BpeVocab.train(CORPUS * 3, 290)
BPE_BIGRAM = BigramLM.fit(BPE.encode_documents(CORPUS), len(BPE), add=0.01)


def transformer(seed=0):
    torch.manual_seed(seed)
    return Transformer(TransformerConfig(len(VOCAB), 1, 2, 1, 16, 40)).eval()


TRANSFORMER = transformer()
MODELS = {"bigram": (BIGRAM, VOCAB), "transformer": (TRANSFORMER, VOCAB), "bpe": (BPE_BIGRAM, BPE)}
SETTINGS = [
    (SamplingParams(greedy=True), StopCriteria(12), 0),
    (SamplingParams(), StopCriteria(12), 0),  # unseeded: the seed that was drawn is recorded
    (SamplingParams(0.7, 5, 0.9, 0.01, seed=2**64 - 1, order=("top_k", "top_p", "min_p", "temperature")),
     StopCriteria(20, eos=[1, 9], stop=["e", "an"], include_stop=True), 3),
    (SamplingParams(1.5, seed=0), StopCriteria(30, eos=False, tool_calls=True), 2**64 - 1),
    (SamplingParams(seed=1), StopCriteria(0), 0),
]  # fmt: skip


def through_json(record):
    return json.loads(json.dumps(record, allow_nan=False))


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("settings", SETTINGS)
@pytest.mark.parametrize("use_cache", [True, False])
def test_a_record_leads_back_to_the_text(name, settings, use_cache):
    (model, vocab), (sampling, stopping, sample) = MODELS[name], settings
    result = generate(model, vocab, "the", sampling, stopping, use_cache, sample)
    record = result.record()
    assert set(record) == {*reproduction.ENTRIES, "allow"} and through_json(record) == record
    again = reproduce(model, vocab, through_json(record))
    assert (again.text, again.token_ids, again.finish_reason) == (result.text, result.token_ids, result.finish_reason)
    assert (again.prompt, again.sample, again.seed, again.stopping) == ("the", sample, result.seed, stopping)
    assert {k: v for k, v in again.record().items() if k != "versions"} == {
        k: v for k, v in record.items() if k != "versions"
    }


def test_a_batch_and_a_stream_leave_the_same_record():
    params = SamplingParams(seed=5)
    record = generate(TRANSFORMER, VOCAB, "the", params, StopCriteria(9)).record()
    assert generate_batch(TRANSFORMER, VOCAB, ["a", "the"], params, StopCriteria(9))[1].record() == record
    assert list(stream(TRANSFORMER, VOCAB, "the", params, StopCriteria(9)))[-1].generation.record() == record


def test_a_record_names_every_setting():
    sampling, stopping, sample = SETTINGS[2]
    record = generate(BIGRAM, VOCAB, "the", sampling, stopping, True, sample).record()
    assert record["sampling"] == {"temperature": 0.7, "top_k": 5, "top_p": 0.9, "min_p": 0.01, "greedy": False,
                                  "order": ["top_k", "top_p", "min_p", "temperature"]}  # fmt: skip
    assert record["stopping"] == {"max_new_tokens": 20, "eos": [1, 9], "stop": ["e", "an"], "include_stop": True,
                                  "tool_calls": False}  # fmt: skip
    assert (record["seed"], record["sample"], record["use_cache"]) == (2**64 - 1, 3, True)
    assert record["model"] == fingerprint(BIGRAM, VOCAB) and {"torch", "numpy", "course"} <= set(record["versions"])
    stopped = generate(BIGRAM, VOCAB, "the", sampling, StopCriteria(99, eos=False, stop=["e", "an"]), True, sample)
    assert (stopped.record()["finish_reason"], stopped.record()["stop"]) == ("stop string", stopped.stop)


def test_the_seed_that_was_drawn_is_recorded():
    result = generate(BIGRAM, VOCAB, "the", SamplingParams(), StopCriteria(30))
    assert result.sampling.seed is None and result.record()["seed"] == result.seed is not None
    greedy = generate(BIGRAM, VOCAB, "the", SamplingParams(greedy=True)).record()
    assert greedy["seed"] is None and reproduce(BIGRAM, VOCAB, greedy).seed is None


def edited(record, entry, value):
    record = through_json(record)
    *path, last = entry.split(".")
    at = record
    for name in path:
        at = at[name]
    at[last] = value
    return record


RECORD = generate(BIGRAM, VOCAB, "the", SamplingParams(0.9, top_k=20, seed=7), StopCriteria(40, eos=False)).record()


@pytest.mark.parametrize(
    ("entry", "value"),
    [
        ("seed", 8),
        ("sample", 1),
        ("prompt", "then"),
        ("sampling.temperature", 2.0),
        ("sampling.top_k", 2),
        ("sampling.top_p", 0.3),
        ("sampling.min_p", 0.5),
        ("sampling.greedy", True),
        ("stopping.max_new_tokens", 39),
        ("stopping.stop", ["e"]),
    ],
)
def test_each_setting_matters_so_another_one_gives_another_text(entry, value):
    with pytest.raises(RecordError, match=r"^token_ids: the record has \[.*, here it is \[.*All versions are the same"):
        reproduce(BIGRAM, VOCAB, edited(RECORD, entry, value))


def test_a_text_that_differs_is_named():
    with pytest.raises(RecordError, match=r"^text: the record has 'else'") as error:
        reproduce(BIGRAM, VOCAB, edited(RECORD, "text", "else"))
    assert error.value.entry == "text"
    with pytest.raises(RecordError, match=r"^finish_reason: the record has 'eos', here it is 'length'"):
        reproduce(BIGRAM, VOCAB, edited(RECORD, "finish_reason", "eos"))


def test_another_model_is_named_before_anything_is_computed():
    for other in (BigramLM.fit(VOCAB.encode_documents(CORPUS), len(VOCAB), add=0.02), TRANSFORMER):
        with pytest.raises(RecordError, match=r"^model: ") as error:
            reproduce(other, VOCAB, RECORD)
        assert error.value.entry == "model"
    record = generate(TRANSFORMER, VOCAB, "the", stopping=StopCriteria(3)).record()
    with pytest.raises(RecordError, match=r"^model: "):
        reproduce(transformer(seed=1), VOCAB, record)
    assert reproduce(transformer(), VOCAB, record).text == record["text"]  # equal weights elsewhere are the same model


def test_another_vocabulary_is_named():
    other = CharVocab([*VOCAB.characters[:-1], "z"])
    with pytest.raises(RecordError, match=r"^vocabulary: "):
        reproduce(BIGRAM, other, RECORD)


def test_other_versions_are_no_error_but_a_note_where_the_text_differs():
    older = edited(RECORD, "versions.torch", "1.0")
    assert reproduce(BIGRAM, VOCAB, older).text == RECORD["text"]
    with pytest.raises(RecordError, match=r"Versions that differ: torch '1.0', here '2"):
        reproduce(BIGRAM, VOCAB, edited(older, "seed", 8))
    without = edited(RECORD, "versions", {})
    with pytest.raises(RecordError, match=r"torch None, here"):
        reproduce(BIGRAM, VOCAB, edited(without, "seed", 8))


@pytest.mark.parametrize("entry", reproduction.ENTRIES)
def test_a_missing_entry_is_named(entry):
    record = through_json(RECORD)
    del record[entry]
    with pytest.raises(RecordError, match=f"^{entry}: the record lacks this entry") as error:
        reproduce(BIGRAM, VOCAB, record)
    assert error.value.entry == entry


@pytest.mark.parametrize(
    ("entry", "value", "named"),
    [
        ("format", 3, "format"),
        ("seed", None, "seed"),
        ("seed", -1, "seed"),
        ("seed", "7", "seed"),
        ("sampling", {}, "sampling"),
        ("sampling", None, "sampling"),
        ("sampling.temperature", -1, "sampling"),
        ("sampling.order", ["temperature"], "sampling"),
        ("sampling.typical_p", 0.5, "sampling"),
        ("stopping.max_new_tokens", -1, "stopping"),
        ("stopping.stop", "END", "stopping"),
        ("versions", None, "versions"),
    ],
)
def test_an_entry_that_makes_no_sense_is_named(entry, value, named):
    with pytest.raises(RecordError, match=f"^{named}: ") as error:
        reproduce(BIGRAM, VOCAB, edited(RECORD, entry, value))
    assert error.value.entry == named


def test_a_record_is_a_dict():
    with pytest.raises(TypeError, match="expected the dict"):
        reproduce(BIGRAM, VOCAB, json.dumps(RECORD))


# --- fingerprints


def test_changed_weights_give_another_fingerprint_and_the_old_record_says_so():
    model = transformer()
    before = generate(model, VOCAB, "the", SamplingParams(greedy=True), StopCriteria(5)).record()
    same = generate(model, VOCAB, "the", SamplingParams(greedy=True), StopCriteria(5)).record()
    assert same == before
    with torch.no_grad():
        model.head.weight[3, 3] += 1
    after = generate(model, VOCAB, "the", SamplingParams(greedy=True), StopCriteria(5)).record()
    assert after["model"] != before["model"] == fingerprint(transformer(), VOCAB)
    with pytest.raises(RecordError, match=r"^model: "):
        reproduce(model, VOCAB, before)


def test_the_weights_are_read_once_as_long_as_they_stay(monkeypatch):
    read = []
    monkeypatch.setattr(reproduction, "fingerprint", lambda model, vocab: read.append(1) or fingerprint(model, vocab))
    model = transformer()
    for _ in range(3):
        generate(model, VOCAB, "the", stopping=StopCriteria(2))
    assert len(read) == 1
    model.load_state_dict(transformer(seed=1).state_dict())
    generate(model, VOCAB, "the", stopping=StopCriteria(2))
    assert len(read) == 2
    generate(model, CharVocab([*VOCAB.characters[:-1], "z"]), "the", stopping=StopCriteria(2))
    assert len(read) == 3


def test_the_same_shape_with_another_setting_is_another_model():
    config = TransformerConfig(len(VOCAB), 1, 2, 1, 16, 40, rope_theta=500.0)
    other = Transformer(config).eval()
    other.load_state_dict(TRANSFORMER.state_dict())
    assert reproduction.origin_of(other, VOCAB, True).model != reproduction.origin_of(TRANSFORMER, VOCAB, True).model


def test_a_model_without_weights_to_look_at_has_no_fingerprint():
    model, vocab = saying("a", "b")
    record = generate(model, vocab, "", SamplingParams(greedy=True), StopCriteria(2)).record()
    assert record["model"] is None and record["vocabulary"] is not None
    again = ScriptModel(model.script, len(vocab))
    assert reproduce(again, vocab, through_json(record)).text == "ab"
    with pytest.raises(RecordError, match=r"^vocabulary: "):
        reproduce(again, PieceVocab(["a", "c"]), record)


def test_models_with_parameters_and_buffers_of_any_kind_have_one():
    class Scaled(nn.Module):
        def __init__(self, scale):
            super().__init__()
            self.bigram, self.scale = BIGRAM, nn.Parameter(torch.tensor([scale]))
            self.register_buffer("kept", torch.tensor([True, False]))
            self.register_buffer("halves", torch.ones(2, dtype=torch.bfloat16))

        def new_cache(self, batch_size=1):
            return self.bigram.new_cache(batch_size)

        def forward(self, token_ids, cache=None, attention_mask=None):
            return self.bigram(token_ids, cache) * self.scale

    one, other = (generate(Scaled(scale), VOCAB, "the", SamplingParams(seed=1)).record() for scale in (1.0, 2.0))
    assert one["model"] != other["model"] and len(one["model"]) == 64


# --- what computed a text


def test_versions_are_those_of_the_moment_in_which_the_text_was_made(monkeypatch):
    result = generate(BIGRAM, VOCAB, "the", SamplingParams(seed=1))
    before = result.record()["versions"]
    monkeypatch.setattr(reproduction, "versions", lambda: {"torch": "later"})
    assert result.record()["versions"] == before
    assert generate(BIGRAM, VOCAB, "the", SamplingParams(seed=1)).record()["versions"] == {"torch": "later"}


class Plan:
    """As the fast way of decoding: it computes in place of a model, and names it. off: how far its logits are off."""

    def __init__(self, model, off=0.0):
        self.planned_from, self.off, self.new_cache = model, off, model.new_cache

    def __call__(self, token_ids, cache=None):
        logits = self.planned_from(token_ids, cache)
        return logits + self.off * torch.arange(logits.shape[-1])


def test_a_record_says_whether_the_text_was_made_by_a_plan_of_the_model():
    params = SamplingParams(seed=5)
    plain = generate(BIGRAM, VOCAB, "the", params).record()
    planned = generate(Plan(BIGRAM), VOCAB, "the", params).record()
    assert (plain["planned"], planned["planned"]) == (False, True)
    assert planned == plain | {"planned": True}
    assert reproduce(BIGRAM, VOCAB, planned).text == reproduce(Plan(BIGRAM), VOCAB, plain).text == plain["text"]


def test_a_text_that_parts_from_a_plans_says_so():
    record = generate(Plan(BIGRAM, off=0.2), VOCAB, "the", SamplingParams(seed=5)).record()
    with pytest.raises(RecordError, match=r"by a plan of the model, this one by the model itself: logits differ"):
        reproduce(BIGRAM, VOCAB, record)
    record = generate(BIGRAM, VOCAB, "the", SamplingParams(seed=5)).record()
    with pytest.raises(RecordError, match=r"by the model itself, this one by a plan of the model"):
        reproduce(Plan(BIGRAM, off=0.2), VOCAB, record)
    with pytest.raises(RecordError, match=r"All versions are the same\.$"):
        reproduce(BIGRAM, VOCAB, edited(record, "seed", 6))


def test_a_record_from_before_the_parameters_were_renamed_is_refused_and_says_so():
    older = edited(RECORD, "format", 1)
    del older["planned"]
    with pytest.raises(RecordError, match=r"format 1; expected 2\. .*parameters have other names.*text again"):
        reproduce(BIGRAM, VOCAB, older)
    with pytest.raises(RecordError, match=r"format 3; expected 2\.$"):
        reproduce(BIGRAM, VOCAB, edited(RECORD, "format", 3))


def test_weights_made_in_inference_mode_have_a_fingerprint_although_they_have_no_version_counter():
    with torch.inference_mode():
        model = BigramLM.fit(VOCAB.encode_documents(CORPUS), len(VOCAB), add=0.01)
        record = generate(model, VOCAB, "the", SamplingParams(0.9, top_k=20, seed=7), StopCriteria(40, eos=False))
        assert record.record()["model"] == RECORD["model"] and record.text == RECORD["text"]
        before = record.record()["model"]
        model.table[0, 0] += 1
        assert generate(model, VOCAB, "the", stopping=StopCriteria(1)).record()["model"] != before

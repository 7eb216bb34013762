"""The mask of what is allowed: in the loop for every kind of answer, and JSON schemas, judged by jsonschema."""

import json
import random

import jsonschema
import numpy as np
import pytest
import torch
from script_models import saying

from course_utils.bigram import BigramLM
from course_utils.checkpoint import load_model
from course_utils.constrained import JsonMask
from course_utils.generation import generate, generate_batch, reproduce, stream
from course_utils.generation.reproduction import RecordError
from course_utils.sampling import SamplingParams, choose, next_token_probs
from course_utils.stopping import FinishReason, StopCriteria
from course_utils.text import load_documents
from course_utils.tool_calls import read_call

MODEL, VOCAB = load_model("tiny_llama")
BIGRAM = BigramLM.fit(VOCAB.encode_documents(load_documents("all")[:2000]), len(VOCAB), add=0.01)
CALL = {
    "type": "object",
    "required": ["tool", "args"],
    "additionalProperties": False,
    "properties": {
        "tool": {"enum": ["add", "subtract", "multiply"]},
        "args": {"type": "array", "items": {"type": "integer"}, "minItems": 2, "maxItems": 2},
    },
}


class Only:
    """Allows the same answer always, and notes what it was asked."""

    def __init__(self, answer):
        self.answer, self.asked = answer, []

    def allowed(self, token_ids):
        self.asked.append(list(token_ids))
        return self.answer


LETTERS = VOCAB.encode("abc")
MASK = np.zeros(len(VOCAB), dtype=bool)
MASK[LETTERS] = True


@pytest.mark.parametrize(
    "answer",
    [LETTERS, tuple(LETTERS), set(LETTERS), np.array(LETTERS), torch.tensor(LETTERS * 2), MASK, torch.from_numpy(MASK),
     MASK.tolist()],
    ids=lambda answer: type(answer).__name__,
)  # fmt: skip
def test_ids_and_masks_of_any_kind_are_the_same(answer):
    params, stopping = SamplingParams(2.0, top_p=0.9, seed=4), StopCriteria(12)
    only = Only(answer)
    text = generate(BIGRAM, VOCAB, "The ", params, stopping, allow=only)
    assert set(text.text) <= set("abc") and len(text.text) == 12 and len(set(text.text)) > 1
    assert only.asked == [list(text.token_ids[:n]) for n in range(12)]
    assert text == generate(BIGRAM, VOCAB, "The ", params, stopping, allow=Only(LETTERS))


def test_probabilities_are_made_to_add_up_and_logprobs_stay_the_models():
    logits = torch.tensor([3.0, 2.0, 1.0, 0.0])
    allowed = np.array([False, True, True, False])
    for u in (0.0, 0.5, 0.72, 0.74, 0.99):  # softmax([2, 1]) is .731 and .269
        token_id, logprob = choose(logits, SamplingParams(), u, allowed)
        assert token_id == (1 if u < 0.731 else 2)
        assert logprob == pytest.approx(logits.double().log_softmax(0)[token_id].item())
        masked = logits.masked_fill(~torch.from_numpy(allowed), -torch.inf)
        assert next_token_probs(masked, SamplingParams())[1].item() == pytest.approx(0.731, abs=1e-3)
    assert choose(logits, SamplingParams(greedy=True), None, allowed)[0] == 1


def test_the_mask_comes_before_the_filters():
    logits = torch.tensor([9.0, 2.0, 1.0, 0.0])
    allowed = np.array([False, True, True, True])
    for params in (SamplingParams(top_k=1), SamplingParams(top_p=0.5), SamplingParams(min_p=0.9)):
        assert choose(logits, params, 0.99, allowed)[0] == 1  # filters first would leave token 0 alone, and so nothing


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        ([], "nothing that may come next"),
        (np.zeros(len(VOCAB), dtype=bool), "nothing that may come next"),
        ([3, len(VOCAB)], f"gave the id {len(VOCAB)}; expected ids from 0"),
        ([-1], "gave the id -1"),
        ([True, False], "expected token ids, or a bool mask of the shape"),
        ([0.5], "expected token ids"),
        ([[1, 2]], "expected token ids"),
    ],
)
def test_what_allows_nothing_or_nothing_readable_is_refused_with_the_place(answer, message):
    with pytest.raises(ValueError, match=f"Token 0 after the prompt 'The': Only.allowed.*{message}"):
        generate(BIGRAM, VOCAB, "The", SamplingParams(seed=0), allow=Only(answer))
    with pytest.raises(TypeError, match="expected an object with a method"):
        generate(BIGRAM, VOCAB, "The", SamplingParams(seed=0), allow=LETTERS)


def test_an_allowed_token_without_any_chance_is_refused():
    model, vocab = saying("yes", "<eos>")
    with pytest.raises(ValueError, match="1 are allowed, and the model gives none of these a chance"):
        generate(model, vocab, "", SamplingParams(greedy=True), allow=Only([vocab.bos_id]))


def test_alone_in_a_batch_and_streamed():
    params = [SamplingParams(1.5, seed=seed) for seed in range(4)]
    masks = [JsonMask(VOCAB, CALL, "</call>"), None, Only(LETTERS), JsonMask(VOCAB, {"type": "integer"})]
    prompts, stopping = ["Q: 3+4\n<call>", "The ", "A", "12+3="], StopCriteria(50, tool_calls=True)
    together = generate_batch(MODEL, VOCAB, prompts, params, stopping, allow=masks)
    for prompt, setting, mask, one in zip(prompts, params, masks, together, strict=True):
        alone = generate(MODEL, VOCAB, prompt, setting, stopping, allow=mask)
        assert (alone.token_ids, alone.allow) == (one.token_ids, one.allow)
        last = list(stream(MODEL, VOCAB, prompt, setting, stopping, allow=mask))[-1]
        assert last.generation == alone
    shared = generate_batch(MODEL, VOCAB, ["Q: 3+4\n<call>"] * 3, params[:3], stopping, allow=masks[0])
    assert all(read_call(one.tool_call) for one in shared)


def test_a_record_names_the_object_and_reproduce_asks_for_it():
    mask, params = JsonMask(VOCAB, CALL, "</call>"), SamplingParams(2.0, seed=1)
    made = generate(MODEL, VOCAB, "Q: 3+4\n<call>", params, StopCriteria(60, tool_calls=True), allow=mask)
    record = json.loads(json.dumps(made.record()))
    assert reproduce(MODEL, VOCAB, record, allow=JsonMask(VOCAB, CALL, "</call>")).token_ids == made.token_ids
    with pytest.raises(RecordError, match="Give `reproduce` the same object as `allow`"):
        reproduce(MODEL, VOCAB, record)
    with pytest.raises(RecordError, match="allow='Only' was given"):
        reproduce(MODEL, VOCAB, record, allow=Only(LETTERS))
    plain = generate(MODEL, VOCAB, "The", params, StopCriteria(5)).record()
    assert plain["allow"] is None
    older = {name: value for name, value in plain.items() if name != "allow"}
    assert reproduce(MODEL, VOCAB, older).text == plain["text"]
    with pytest.raises(RecordError, match="the text was made without one"):
        reproduce(MODEL, VOCAB, plain, allow=mask)


# JSON schemas


def a_schema(chance, depth=0):
    """A random schema of what the vocabulary can write: numbers, words, lists, objects, choices."""
    kinds = ["integer", "boolean", "enum", "const", "string", "null"] + ["array", "object", "anyOf"] * (depth < 2)
    kind = chance.choice(kinds)
    words = ["fox", "owl", "red", "add", "a b", "x1"]
    if kind == "enum":
        return {"enum": [*chance.sample(words, 3), chance.randrange(99)]}
    if kind == "const":
        return {"const": chance.choice(words)}
    if kind == "string":
        return {"type": "string", "maxLength": chance.randrange(1, 6), "pattern": "^[a-f ]*$"}
    if kind == "array":
        least = chance.randrange(3)
        return {"type": "array", "items": a_schema(chance, depth + 1), "minItems": least, "maxItems": least + 2}
    if kind == "anyOf":
        return {"anyOf": [a_schema(chance, depth + 1) for _ in range(2)]}
    if kind == "object":
        names = chance.sample(["tool", "args", "n", "who"], chance.randrange(1, 4))
        properties = {name: a_schema(chance, depth + 1) for name in names}
        required = [name for name in names if chance.random() < 0.7]
        return {"type": "object", "properties": properties, "required": required, "additionalProperties": False}
    return {"type": kind, **({"minimum": 0, "maximum": chance.randrange(9, 999)} if kind == "integer" else {})}


def test_what_ends_by_itself_fits_two_hundred_random_schemas():
    chance = random.Random(0)
    schemas = [a_schema(chance) for _ in range(200)]
    ended, cut = 0, 0
    for seed, schema in enumerate(schemas):
        params = SamplingParams(1.5, seed=seed)
        made = generate(BIGRAM, VOCAB, "", params, StopCriteria(60), allow=JsonMask(VOCAB, schema))
        if made.finish_reason is FinishReason.EOS:
            jsonschema.validate(json.loads(made.text), schema)
            ended += 1
        else:
            assert made.finish_reason is FinishReason.LENGTH
            cut += 1
    assert ended + cut == 200 and ended > 120 and len({json.dumps(schema) for schema in schemas}) > 100


def test_a_call_has_the_right_form_and_a_cut_one_is_not_a_call():
    for seed in range(10):
        made = generate(MODEL, VOCAB, "Q: 317*24\n<call>", SamplingParams(3.0, seed=seed),
                        StopCriteria(80, tool_calls=True), allow=JsonMask(VOCAB, CALL, "</call>"))  # fmt: skip
        if made.finish_reason is FinishReason.TOOL_CALL:
            assert read_call(made.tool_call)[0] in ("add", "subtract", "multiply")
        cut = generate(MODEL, VOCAB, "Q: 317*24\n<call>", SamplingParams(3.0, seed=seed),
                       StopCriteria(12, tool_calls=True), allow=JsonMask(VOCAB, CALL, "</call>"))  # fmt: skip
        assert cut.finish_reason is FinishReason.LENGTH and cut.tool_call is None


def test_every_mask_is_right_about_every_token():
    """Against a second way: a token is allowed where the text with it can be the beginning of one of the few texts."""
    words = ["fox", "found", "foot", "owl"]
    mask, texts = JsonMask(VOCAB, {"enum": words}), [f'"{word}"' for word in words]
    for text in texts:
        for end in range(len(text) + 1):
            allowed = mask.allowed(VOCAB.encode(text[:end]))
            expected = {other[end] if end < len(other) else "<eos>" for other in texts if other.startswith(text[:end])}
            assert {VOCAB.tokens[i] for i in np.flatnonzero(allowed)} == expected
    assert mask.allowed([*VOCAB.encode('"owl"'), VOCAB.eos_id]).all()


def test_texts_may_ask_in_any_order():
    mask = JsonMask(VOCAB, CALL, "</call>")
    one, other = (VOCAB.encode(text) for text in ('{"tool": "add", "args": [3', '{"tool": "multiply"'))
    expected = [JsonMask(VOCAB, CALL, "</call>").allowed(ids).tolist() for ids in (one, other)]
    for _ in range(2):
        assert [mask.allowed(ids).tolist() for ids in (one, other)] == expected
    with pytest.raises(ValueError, match="do not fit the schema"):
        mask.allowed(VOCAB.encode("The fox"))
    assert mask.allowed(one).tolist() == expected[0]


def test_schemas_and_ends_that_cannot_be_are_refused():
    with pytest.raises(ValueError, match="cannot be turned into a mask"):
        JsonMask(VOCAB, {"type": "nonsense"})
    with pytest.raises(TypeError, match="schema is of type str; expected a dict"):
        JsonMask(VOCAB, "{}")
    with pytest.raises(ValueError, match="end is 'stop'; expected one of"):
        JsonMask(VOCAB, CALL, "stop")
    with pytest.raises(ValueError, match="a character that the vocabulary lacks"):
        generate(BIGRAM, VOCAB, "", SamplingParams(seed=0), allow=JsonMask(VOCAB, {"enum": ["aΩ"]}))

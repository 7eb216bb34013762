"""What a model is given, checked before it computes: ids, masks, caches and the type of its weights."""

import copy

import numpy as np
import pytest
import torch

from course_utils.bigram import BigramLM
from course_utils.fast_decode import plan
from course_utils.generation import generate, generate_batch, stream
from course_utils.model_checks import vocab_size_of
from course_utils.ngram import NgramLM
from course_utils.quantised_cache import Int8CacheModel
from course_utils.sampling import SamplingParams
from course_utils.stopping import StopCriteria
from course_utils.text import CharVocab
from course_utils.transformer import Transformer, TransformerConfig

VOCAB = CharVocab("abc")
SIZE = len(VOCAB)
GREEDY, SHORT = SamplingParams(temperature=0), StopCriteria(max_new_tokens=4, eos=False)


def transformer(vocab_size=SIZE):
    torch.manual_seed(0)
    return Transformer(TransformerConfig(vocab_size, 1, 2, 1, 8, 32)).eval()


MODELS = {
    "transformer": transformer,
    "planned": lambda: plan(transformer()),
    "with a cache of bytes": lambda: Int8CacheModel(transformer()),
    "bigram": lambda: BigramLM.fit(range(SIZE), SIZE, add=1),
    "trigram": lambda: NgramLM.fit(range(SIZE), 3, SIZE),
}
WRONG = {
    "below 0": (torch.tensor([[-1]]), ValueError, "token_ids has -1; expected ids from 0 to 9"),
    "too large": (torch.tensor([[SIZE]]), ValueError, "token_ids has 10; expected ids from 0 to 9"),
    "fractions": (torch.tensor([[1.5]]), TypeError, "dtype torch.float32; expected torch.int64"),
}


@pytest.mark.parametrize("kind", MODELS)
@pytest.mark.parametrize("wrong", WRONG)
@pytest.mark.parametrize("cached", [False, True])
def test_every_model_refuses_an_id_that_it_lacks_by_its_number(kind, wrong, cached):
    model = MODELS[kind]()
    cache = model.new_cache() if cached else None
    if cached:
        model(torch.tensor([[0, 7]]), cache)
    ids, error, said = WRONG[wrong]
    with pytest.raises(error, match=said):
        model(ids, cache)
    assert model(torch.tensor([[8]]), cache).shape == (1, 1, SIZE)  # and goes on with a right one


@pytest.mark.parametrize("kind", ["transformer", "bigram", "trigram"])
@pytest.mark.parametrize(
    ("ids", "error", "said"),
    [
        ([[0, 1]], TypeError, "token_ids is a list; expected a tensor"),
        (np.array([[0, 1]]), TypeError, "token_ids is a ndarray"),
        (torch.tensor([0, 1]), ValueError, r"shape \(2,\); expected \(B, T\)"),
        (torch.zeros(1, 0, dtype=torch.int64), ValueError, r"shape \(1, 0\); .* at least one token"),
        (torch.tensor([[True]]), TypeError, "dtype torch.bool"),
        (torch.tensor([[1]], dtype=torch.int8), TypeError, "dtype torch.int8"),
    ],
)
def test_ids_of_another_kind_or_shape_are_refused(kind, ids, error, said):
    with pytest.raises(error, match=said):
        MODELS[kind]()(ids)


@pytest.mark.parametrize("cached", [False, True])
def test_ids_that_were_made_in_inference_mode_are_read_outside_of_it(cached):
    model = transformer()
    with torch.inference_mode():
        ids = torch.tensor([[0, 7, 8]])
    logits = model(ids, model.new_cache() if cached else None)
    assert torch.equal(logits, model(torch.tensor([[0, 7, 8]])))
    logits.sum().backward()
    assert model.lm_head.weight.grad is not None


def test_a_model_that_was_made_in_inference_mode_can_be_trained():
    with torch.inference_mode():
        model = transformer()
    assert not any(tensor.is_inference() for tensor in [*model.parameters(), *model.buffers()])
    model(torch.tensor([[0, 7]])).sum().backward()
    assert model.lm_head.weight.grad is not None


@pytest.mark.parametrize(
    ("convert", "said"),
    [
        (lambda model: model.to(torch.float8_e4m3fn), "float8_e4m3fn; expected all of one type"),
        (lambda model: model.lm_head.bfloat16(), "torch.bfloat16, torch.float32; expected all of one type"),
        (lambda model: model.model.layers[0].mlp.double(), "torch.float32, torch.float64; expected all of one type"),
    ],
)
def test_weights_in_which_nothing_can_be_computed_are_named(convert, said):
    model = transformer()
    convert(model)
    for call in (
        lambda: model(torch.tensor([[0, 7]])),
        lambda: generate(model, VOCAB, "a", GREEDY, SHORT),
        lambda: generate(model, VOCAB, "a", GREEDY, SHORT, use_cache=False),
    ):
        with pytest.raises(ValueError, match=said):
            call()


@pytest.mark.parametrize(
    ("mask", "said"),
    [
        ([[1, 1], [1, 1]], "attention_mask is list; expected a tensor"),
        (torch.ones(2), r"attention_mask is \(2,\)"),
        (torch.ones(3, 2), "attention_mask has 3 rows; token_ids has 2"),
    ],
)
def test_a_mask_of_another_shape_is_refused(mask, said):
    with pytest.raises(ValueError, match=said):
        transformer()(torch.tensor([[0, 7], [0, 8]]), None, mask)


def test_another_object_as_a_cache_is_refused():
    bigram = MODELS["bigram"]()
    for cache in ({}, bigram.new_cache()):
        with pytest.raises(TypeError, match=f"cache is a {type(cache).__name__}; expected one by new_cache"):
            transformer()(torch.tensor([[0, 7]]), cache)


def test_a_cache_of_the_type_of_then_is_refused():
    model = transformer()
    model(torch.tensor([[0, 7]]), cache := model.new_cache())
    model.double()
    with pytest.raises(ValueError, match=r"weights have changed since the cache was made.*Make a new one"):
        model(torch.tensor([[8]]), cache)


@pytest.mark.parametrize("kind", ["transformer", "planned", "with a cache of bytes"])
@pytest.mark.parametrize("way", [copy.copy, copy.deepcopy, lambda cache: cache.copy()])
def test_a_copied_cache_and_the_first_one_go_on_apart(kind, way):
    model = MODELS[kind]()
    model(torch.tensor([[0, 7]]), first := model.new_cache())
    second = way(first)
    model(torch.tensor([[8]]), second)
    wanted = model(torch.tensor([[9]]), alone := model.new_cache()) is not None and alone.n_tokens
    assert (first.n_tokens, second.n_tokens, wanted) == (2, 3, 1)
    fresh = model.new_cache()
    model(torch.tensor([[0, 7]]), fresh)
    step, expected = (model(torch.tensor([[9]]), cache) for cache in (first, fresh))
    assert torch.equal(step, expected)


@pytest.mark.parametrize("sizes", [(2.0,), ("2",), (True,), (1, 3.5)])
def test_a_cache_for_no_whole_number_of_rows_or_tokens_is_refused(sizes):
    with pytest.raises(TypeError, match="expected an integer"):
        transformer().new_cache(*sizes)


# From a vocabulary that does not fit


@pytest.mark.parametrize("way", ["generate", "stream", "generate_batch"])
def test_ids_that_the_model_lacks_are_refused_before_anything_is_computed(way, monkeypatch):
    small = transformer(SIZE - 1)  # knows a and b only
    monkeypatch.setattr(Transformer, "forward", lambda *_: pytest.fail("it was computed"))
    said = "the token id 9 for the prompt 'abc', and the model has ids from 0 to 8 .*Use the vocabulary"
    with pytest.raises(ValueError, match=said):
        {
            "generate": lambda: generate(small, VOCAB, "abc"),
            "stream": lambda: stream(small, VOCAB, "abc"),  # before the first next()
            "generate_batch": lambda: generate_batch(small, VOCAB, ["ab", "abc"]),
        }[way]()


@pytest.mark.parametrize("pad_id", [-1, SIZE, 99])
def test_a_pad_id_that_the_model_lacks_is_refused_where_it_may_be_needed(pad_id):
    vocab = CharVocab("abc")
    vocab.pad_id = pad_id
    model = transformer()
    assert generate(model, vocab, "ab", GREEDY, SHORT) == generate_batch(model, vocab, ["ab"], GREEDY, SHORT)[0]
    with pytest.raises(ValueError, match=f"the token id {pad_id} for padding"):
        generate_batch(model, vocab, ["ab", "cab"], GREEDY, SHORT)


def test_a_model_that_does_not_say_how_many_ids_it_has_is_not_asked():
    bigram = MODELS["bigram"]()
    assert vocab_size_of(bigram) is None and vocab_size_of(lambda ids, cache: None) is None
    assert vocab_size_of(transformer()) == vocab_size_of(plan(transformer())) == SIZE
    with pytest.raises(ValueError, match="token_ids has 10"):
        generate(bigram, CharVocab("abcd"), "d")

"""The int8 cache: how far it is off, its bytes, and that everything else is as with an exact cache."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from course_utils.checkpoint import load_model
from course_utils.compare_logits import cached_equals_full, in_chunks
from course_utils.fast_decode import plan
from course_utils.generation import generate, generate_batch, reproduce, stream
from course_utils.generation.reproduction import RecordError
from course_utils.kv_cache import kv_cache_bytes
from course_utils.metrics import sum_is_right
from course_utils.quantised_cache import Int8CacheModel, quantise
from course_utils.sampling import SamplingParams
from course_utils.stopping import StopCriteria
from course_utils.text import load_documents
from course_utils.transformer import Transformer

MODEL, VOCAB = load_model("tiny_llama")
INT8 = Int8CacheModel(MODEL)
GREEDY = SamplingParams(greedy=True)


def ids_of(text):
    return torch.tensor([[VOCAB.bos_id, *VOCAB.encode(text)]])


@given(st.lists(st.floats(-1e4, 1e4, width=32), min_size=1, max_size=20))
@settings(deadline=None)
def test_a_number_is_off_by_half_a_scale_at_most(values):
    x = torch.tensor([values])
    numbers, scale = quantise(x)
    assert numbers.dtype == torch.int8 and numbers.abs().max() <= 127
    assert ((numbers * scale - x).abs() <= scale * 0.5001).all()


def test_zeros_stay_zeros():
    numbers, scale = quantise(torch.zeros(2, 3))
    assert not numbers.any() and not scale.any()


def test_bytes_are_counted_with_the_scales():
    cache = INT8.new_cache()
    INT8(ids_of("The fox found a ke"), cache)
    exact = kv_cache_bytes(4, 2, 32, cache.n_tokens, bytes_per_element=4)
    assert cache.n_bytes == exact // 4 + exact // 32 and 3.5 < exact / cache.n_bytes < 3.6
    assert cache.n_bytes_allocated == cache.store.nbytes + cache.scales.nbytes
    assert cache.keys(0).shape == (1, 2, cache.n_tokens, 32)


def test_what_is_read_is_near_what_was_stored_whatever_the_chunks():
    ids = ids_of(load_documents("tales", "validation")[0])
    exact, rounded = MODEL.new_cache(), INT8.new_cache()
    with torch.no_grad():
        in_chunks(MODEL, ids, 30, cache=exact), in_chunks(INT8, ids, 30, cache=rounded)
    for read, stored in ((rounded.keys(0), exact.keys(0)), (rounded.values(0), exact.values(0))):
        assert 0 < (read - stored).abs().max() <= stored.abs().max() / 127
    kept = rounded.copy()
    rounded.crop(10)
    INT8(ids[:, 10:12], rounded)
    assert kept.n_tokens == ids.shape[1] and not kept.keys(1)[:, :, 10:12].equal(torch.zeros(1))
    assert rounded.keys(2).shape[2] == 12


def test_it_is_another_model_and_the_comparison_says_so():
    ids = ids_of(load_documents("tales", "validation")[1])
    assert not cached_equals_full(INT8, ids, 20) and cached_equals_full(MODEL, ids, 20)


def test_given_tales_choose_nearly_always_the_same_token():
    changed = total = 0
    for tale in load_documents("tales", "validation")[:20]:
        ids = ids_of(tale)
        with torch.no_grad():
            exact, rounded = MODEL(ids), in_chunks(INT8, ids, [ids.shape[1]])
        changed += int((exact.argmax(-1) != rounded.argmax(-1)).sum())
        total += ids.shape[1]
        assert (exact - rounded).abs().median() < 0.1
    assert total > 4000 and changed <= total / 600


def test_loops_streams_batches_and_stops_work_as_with_any_model():
    params = SamplingParams(0.8, seed=2)
    alone = generate(INT8, VOCAB, "The fox", params, StopCriteria(30, stop=(".",)))
    assert list(stream(INT8, VOCAB, "The fox", params, StopCriteria(30, stop=(".",))))[-1].generation == alone
    together = generate_batch(INT8, VOCAB, ["The fox", "A very old owl"], params, StopCriteria(30, stop=(".",)))
    assert together[0].text == alone.text
    sums = load_documents("sums", "validation")[:40]
    questions = [one[: one.index("=") + 1] for one in sums]
    right = [
        sum_is_right(one.prompt, one.text) for one in generate_batch(INT8, VOCAB, questions, GREEDY, StopCriteria(8))
    ]
    assert sum(right) >= 36


def other_weights():
    torch.manual_seed(1)
    return Transformer(MODEL.config).eval()


def test_a_record_comes_back_with_such_a_model_and_not_with_another_one():
    record = generate(INT8, VOCAB, "The fox", GREEDY, StopCriteria(10)).record()
    assert reproduce(Int8CacheModel(MODEL), VOCAB, record).text == record["text"]
    for other in (MODEL, plan(MODEL), Int8CacheModel(other_weights())):
        with pytest.raises(RecordError, match=r"^model: "):
            reproduce(other, VOCAB, record)
    with pytest.raises(RecordError, match=r"^model: "):
        reproduce(INT8, VOCAB, generate(MODEL, VOCAB, "The fox", GREEDY, StopCriteria(10)).record())


def test_a_record_from_when_its_weights_were_not_known_is_judged_by_the_text():
    older = generate(INT8, VOCAB, "The fox", GREEDY, StopCriteria(10)).record() | {"model": None}
    assert reproduce(INT8, VOCAB, older).text == older["text"]
    with pytest.raises(RecordError, match=r"^model: "):
        reproduce(MODEL, VOCAB, older)
    with pytest.raises(RecordError, match=r"^token_ids: "):
        reproduce(Int8CacheModel(other_weights()), VOCAB, older)


def test_refusals():
    with pytest.raises(TypeError, match="expected a Transformer"):
        Int8CacheModel(plan(MODEL))
    with pytest.raises(ValueError, match="expected one by new_cache"):
        plan(MODEL)(ids_of(""), INT8.new_cache())

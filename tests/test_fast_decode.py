"""The planned step: the model's logits, whatever the order of calls; and what it refuses."""

import copy
import pickle
import threading

import joblib
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from course_utils import clinic, widgets
from course_utils.bigram import BigramLM
from course_utils.checkpoint import fingerprint
from course_utils.fast_decode import plan, refusal
from course_utils.generation import generate
from course_utils.kv_cache import KVCache, reuse_prefix
from course_utils.sampling import SamplingParams
from course_utils.stopping import StopCriteria
from course_utils.text import CharVocab
from course_utils.transformer import Transformer, TransformerConfig

VOCAB = CharVocab("abcdefghijklmnop")  # 23 tokens with the specials
TOLERANCE = 5e-5  # of logits of about 10 in float32


def made(seed=0, **changes):
    """A model whose logits spread over about 10, its gains other than 1."""
    settings = dict(vocab_size=len(VOCAB), n_layer=2, n_head=4, n_kv_head=2, n_embd=32, block_size=32) | changes
    torch.manual_seed(seed)
    model = Transformer(TransformerConfig(**settings)).eval()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(torch.randn_like(parameter) * (0.4 if parameter.ndim == 1 else 0.3))
    return model


def ids_for(n_tokens, seed=1):
    return torch.randint(len(VOCAB), (1, n_tokens), generator=torch.Generator().manual_seed(seed))


def fed(model, ids, cache, chunks=None):
    """The logits of the ids, in chunks; None: one token at a time."""
    return torch.cat([model(part, cache) for part in ids.split(chunks or 1, dim=1)], dim=1)


@torch.no_grad()
def full(model, ids):
    return model(ids)


def gap(a, b):
    assert a.shape == b.shape and torch.isfinite(a).all()
    return (a - b).abs().max().item()


@given(st.data())
@settings(deadline=None, max_examples=60)
def test_logits_are_the_models_for_any_shape_and_any_chunks(data):
    n_kv_head, head_dim = data.draw(st.sampled_from([1, 2, 4])), data.draw(st.sampled_from([2, 4, 8]))
    n_head = n_kv_head * data.draw(st.integers(1, 3))
    model = made(data.draw(st.integers(0, 9)), n_layer=data.draw(st.integers(1, 3)), n_head=n_head,
                 n_kv_head=n_kv_head, n_embd=n_head * head_dim, tie_embeddings=data.draw(st.booleans()))  # fmt: skip
    chunks = data.draw(
        st.lists(st.sampled_from([1, 1, 1, 2, 5]), min_size=1, max_size=12).filter(lambda c: sum(c) <= 32)
    )
    ids, fast = ids_for(sum(chunks)), plan(model)
    assert gap(fed(fast, ids, fast.new_cache(), chunks), full(model, ids)) < TOLERANCE


def test_a_whole_context_one_token_at_a_time():
    model = made()
    ids, fast = ids_for(32), plan(model)
    assert gap(fed(fast, ids, fast.new_cache()), full(model, ids)) < TOLERANCE
    assert gap(fast(ids), full(model, ids)) < TOLERANCE and gap(fast(ids[:, :1]), full(model, ids[:, :1])) < TOLERANCE


def test_the_tolerance_can_tell_a_fault_from_noise():
    model = made()
    ids, other = ids_for(12), copy.deepcopy(model)
    with torch.no_grad():
        other.model.layers[1].input_layernorm.weight[3] += 0.1  # one gain of 32
    assert gap(full(other, ids), full(model, ids)) > 1000 * TOLERANCE


def test_logits_that_were_returned_are_never_written_over():
    fast = plan(made())
    ids, cache = ids_for(8), fast.new_cache()
    kept = [fast(ids[:, i : i + 1], cache) for i in range(8)]
    values = [logits.clone() for logits in kept]
    fed(fast, ids_for(8, seed=2), fast.new_cache())
    fed(fast, ids_for(8, seed=3), cache)
    assert all(torch.equal(logits, value) for logits, value in zip(kept, values, strict=True))
    assert len({logits.data_ptr() for logits in kept}) == 8


def test_two_caches_of_one_plan_do_not_disturb_each_other():
    model = made()
    fast, a, b = plan(model), ids_for(10, seed=1), ids_for(10, seed=2)
    one, two, of_a, of_b = fast.new_cache(), fast.new_cache(), [], []
    for i in range(10):
        of_a.append(fast(a[:, i : i + 1], one))
        of_b.append(fast(b[:, i : i + 1], two))
    assert gap(torch.cat(of_a, 1), full(model, a)) < TOLERANCE and gap(torch.cat(of_b, 1), full(model, b)) < TOLERANCE


def test_two_threads_get_the_logits_that_one_gets():
    model = made(n_layer=3)
    fast, results = plan(model), {}

    def run(seed):
        results[seed] = [fed(fast, ids_for(32, seed), fast.new_cache()) for _ in range(10)]

    threads = [threading.Thread(target=run, args=(seed,)) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for seed in range(4):
        alone = fed(fast, ids_for(32, seed), fast.new_cache())
        assert all(torch.equal(logits, alone) for logits in results[seed])


def test_the_cache_holds_what_the_model_would_have_stored_and_either_can_go_on():
    model = made()
    fast, ids = plan(model), ids_for(12)
    ours, theirs = fast.new_cache(), model.new_cache()
    fed(fast, ids[:, :8], ours)
    with torch.no_grad():
        fed(model, ids[:, :8], theirs)
        for layer in range(2):
            assert gap(ours.keys(layer), theirs.keys(layer)) < TOLERANCE
            assert gap(ours.values(layer), theirs.values(layer)) < TOLERANCE
        assert torch.equal(ours.token_ids, theirs.token_ids)
        assert gap(fed(model, ids[:, 8:], ours), full(model, ids)[:, 8:]) < TOLERANCE
    assert gap(fed(fast, ids[:, 8:], theirs), full(model, ids)[:, 8:]) < TOLERANCE


def test_crop_copy_and_reuse_of_a_prefix():
    model = made()
    fast, ids = plan(model), ids_for(9)
    cache = fast.new_cache()
    fed(fast, ids, cache)
    kept = cache.copy()
    cache.crop(4)
    new = torch.cat([ids[:, :4], ids_for(3, seed=7)], dim=1)
    assert gap(fed(fast, new[:, 4:], cache), full(model, new)[:, 4:]) < TOLERANCE
    longer = torch.cat([ids, ids_for(2, seed=8)], dim=1)
    assert gap(fed(fast, longer[:, 9:], kept), full(model, longer)[:, 9:]) < TOLERANCE
    assert reuse_prefix(kept, new[0].tolist()) == 4
    assert gap(fed(fast, new[:, 4:], kept), full(model, new)[:, 4:]) < TOLERANCE


def test_generate_makes_the_models_texts_with_and_without_a_cache():
    model = made(block_size=64)
    fast = plan(model)
    for sampling in (SamplingParams(greedy=True), SamplingParams(0.8, top_k=9, seed=4)):
        right = generate(model, VOCAB, "abc", sampling, StopCriteria(40, eos=False))
        for use_cache in (True, False):
            one = generate(fast, VOCAB, "abc", sampling, StopCriteria(40, eos=False), use_cache=use_cache)
            assert (one.text, one.finish_reason) == (right.text, right.finish_reason) and len(one.token_ids) > 5
            assert one.logprobs == pytest.approx(right.logprobs, abs=1e-4)


def test_a_plan_has_the_fingerprint_of_its_model():
    model = made()
    assert plan(model).planned_from is model and fingerprint(plan(model), VOCAB) == fingerprint(model, VOCAB)
    assert fingerprint(plan(made(1)), VOCAB) != fingerprint(model, VOCAB)


def logits_in_a_worker(model, ids):
    return type(model).__name__, fed(model, ids, model.new_cache())


def test_a_worker_process_gets_it_and_plans_anew():
    fast, ids = plan(made()), ids_for(6)
    [(name, logits)] = joblib.Parallel(n_jobs=2)([joblib.delayed(logits_in_a_worker)(fast, ids)])
    assert name == "PlannedModel" and gap(logits, fed(fast, ids, fast.new_cache())) < TOLERANCE


def test_copies_are_planned_anew_from_a_copy_of_the_model():
    fast, ids = plan(made()), ids_for(6)
    for other in (copy.deepcopy(fast), pickle.loads(pickle.dumps(fast))):
        assert other.planned_from is not fast.planned_from
        assert torch.equal(fed(other, ids, other.new_cache()), fed(fast, ids, fast.new_cache()))


def test_it_works_in_float64_and_to_its_precision():
    model = made().double()
    fast, ids = plan(model), ids_for(12)
    logits = fed(fast, ids, fast.new_cache())
    assert logits.dtype == torch.float64
    model.rotation = made().double().rotation
    assert gap(logits, full(model, ids)) < 1e-5  # the model's table of rotations was rounded to float32


@pytest.mark.parametrize("made_inside", [False, True])
def test_inference_mode_inside_and_outside(made_inside):
    model = made()
    ids = ids_for(8)
    with torch.inference_mode(made_inside):
        fast = plan(model)
        cache = fast.new_cache()
        inside = fed(fast, ids[:, :4], cache).clone()
    outside = fed(fast, ids[:, 4:6], cache)
    with torch.inference_mode():
        last = fed(fast, ids[:, 6:], cache)
    assert gap(torch.cat([inside, outside, last], 1), full(model, ids)) < TOLERANCE


@pytest.mark.parametrize("change", ["none", "weights", "training mode", "hook"])
def test_a_panel_plans_a_transformer_as_it_is_when_the_text_is_made_and_else_uses_it_as_it_is(change, monkeypatch):
    model, planned = made(block_size=64), []
    monkeypatch.setattr("course_utils.widgets.explore.plan", lambda model: planned.append(plan(model)) or planned[-1])
    panel = widgets.explore_sampling(model, VOCAB, "ab", SamplingParams(seed=3), max_new_tokens=12)
    explorer = panel.fast.__self__
    list(explorer.slow(panel.settings))
    assert planned.pop().planned_from is model
    with torch.no_grad():
        if change == "weights":
            model.lm_head.weight.mul_(0.5)
        elif change == "training mode":
            model.train()
        elif change == "hook":
            model.lm_head.register_forward_hook(lambda module, args, output: output.roll(1, -1))
    explorer._last = None
    list(explorer.slow(panel.settings))
    settings = panel.fast.__self__.chosen.read(panel.settings)
    assert explorer._last[1].generation.token_ids == generate(model, VOCAB, "ab", settings, StopCriteria(12)).token_ids
    assert len(planned) == (change in ("none", "weights")) and model.training == (change == "training mode")


# What is refused


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_short_dtypes_are_refused_by_name(dtype):
    with pytest.raises(ValueError, match=rf"{dtype}; expected torch.float32 or torch.float64.*float\(\)"):
        plan(made().to(dtype))


def test_other_classes_are_refused_and_training_mode_too():
    for other in (BigramLM.fit([0, 1, 2], 23), clinic.planted("sound", made()), object()):
        with pytest.raises(TypeError, match=f"is a {type(other).__name__}; only a Transformer"):
            plan(other)
        assert refusal(other)
    with pytest.raises(ValueError, match=r"training mode.*model.eval\(\)"):
        plan(made().train())
    assert refusal(made()) is None


def refused(said, fast, ids, cache=None, **more):
    before = None if cache is None else (cache.n_tokens, cache.store.clone())
    with pytest.raises(ValueError, match=said):
        fast(ids, cache, **more)
    assert cache is None or (cache.n_tokens == before[0] and torch.equal(cache.store, before[1]))


def test_batches_masks_and_overflows_are_refused_before_anything_is_stored():
    fast = plan(made(block_size=8))
    cache, one = fast.new_cache(max_tokens=10), ids_for(1)
    fed(fast, ids_for(5), cache)
    refused(r"shape \(2, 1\); a planned model takes one text", fast, ids_for(2).view(2, 1), cache)
    refused(r"shape \(3,\)", fast, ids_for(3)[0], cache)
    refused("takes no attention_mask", fast, one, cache, attention_mask=torch.ones(1, 6))
    fed(fast, ids_for(3), cache)
    refused("9 tokens; the model was made for 8", fast, one, cache)
    small = fast.new_cache(max_tokens=2)
    fed(fast, ids_for(2), small)
    refused("holds 2 of at most 2", fast, one, small)
    with pytest.raises(ValueError, match="batch_size is 2; a planned model takes one text"):
        fast.new_cache(2)


def test_training_mode_hooks_and_another_forward_are_refused_between_two_steps():
    model = made()
    fast, one = plan(model), ids_for(1)
    cache = fast.new_cache()
    fed(fast, ids_for(3), cache)
    model.train()
    refused("training mode", fast, one, cache)
    model.eval()
    for register in (model.model.norm.register_forward_hook, model.model.layers[0].mlp.register_forward_pre_hook):
        handle = register(lambda *args: None)
        refused("has a hook", fast, one, cache)
        with pytest.raises(ValueError, match="has a hook"):
            plan(model)
        handle.remove()
    model.model.norm.forward = lambda x: x
    refused("another `forward`", fast, one, fast.new_cache())
    del model.model.norm.forward
    assert fast(one, cache).shape == (1, 1, len(VOCAB))


def test_changed_or_exchanged_weights_are_refused():
    model = made()
    fast, one = plan(model), ids_for(1)
    cache = fast.new_cache()
    fed(fast, ids_for(3), cache)
    with torch.no_grad():
        model.model.norm.weight[0] += 1
    refused("weights have changed since it was planned", fast, one, cache)
    refused("weights have changed since it was planned", fast, one, fast.new_cache())
    fast = plan(model)
    model.lm_head.weight = torch.nn.Parameter(model.lm_head.weight * 2)
    refused("weights have changed since it was planned", fast, one, fast.new_cache())
    fast = plan(model)
    model.double()
    refused("weights have changed since it was planned", fast, one, fast.new_cache())
    fast = plan(model)
    assert gap(fast(one, fast.new_cache()), full(model, one)) < TOLERANCE


def test_caches_of_another_model_or_kind_are_refused():
    fast = plan(made())
    refused("another model", fast, ids_for(1), plan(made()).new_cache())

    class Other(KVCache):
        pass

    refused("is a Other; expected one by new_cache", fast, ids_for(1), Other(fast.planned_from, 2, 2, 8, 32, 1))

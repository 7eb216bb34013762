"""Speculation: the loop's texts, whatever the draft proposes; the textbook rule, by computed distributions."""

import json

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from course_utils.bigram import BigramLM
from course_utils.checkpoint import load_model
from course_utils.compare_logits import cached_equals_full, in_chunks
from course_utils.fast_decode import plan
from course_utils.generation import generate, generate_batch, reproduce, stream
from course_utils.kv_cache import reuse_prefix
from course_utils.ngram import NgramLM
from course_utils.sampling import SamplingParams, draw
from course_utils.speculative import Counts, accept, acceptance, acceptance_rates, first_layers, rest, speculate
from course_utils.stopping import FinishReason, StopCriteria
from course_utils.text import load_documents
from course_utils.tool_calls import run_with_tools
from course_utils.transformer import Transformer, TransformerConfig

GREEDY = SamplingParams(greedy=True)
MODEL, VOCAB = load_model("tiny_llama")
TALES = load_documents("tales", "validation")
FOUR = NgramLM.fit(VOCAB.encode_documents(load_documents("tales")[:600]), 4, len(VOCAB))
PROMPTS = [document[: 5 + index % 30] for index, document in enumerate(TALES[:200])]


# The textbook rule


def a_pair(random, V):
    """Two distributions over V tokens, with zeros and equal entries here and there."""
    pair = []
    for _ in range(2):
        weights = random.random(V) * (random.random(V) < random.choice([0.4, 0.8, 1.0]))
        weights[random.integers(V)] += 0.1
        pair.append(weights)
    same = random.random(V) < random.choice([0.0, 0.3])
    pair[1][same] = pair[0][same]
    if not pair[1].any():
        pair[1][0] = 1.0
    return [torch.from_numpy(weights / weights.sum()) for weights in pair]


def spoken(p, q, accepted, instead):
    """The distribution of what comes out: proposals that are accepted, and what is drawn in place of the others."""
    kept = q * accepted
    return kept + (1 - kept.sum()) * instead


def test_accepted_and_drawn_anew_are_together_the_models_distribution():
    random = np.random.default_rng(0)
    for _ in range(2000):
        p, q = a_pair(random, int(random.integers(2, 51)))
        rejects = (p - q).clamp(min=0).sum() > 1e-12
        combined = spoken(p, q, acceptance(p, q), rest(p, q) if rejects else 0)
        assert (combined - p).abs().max() < 1e-12


def test_acceptance_rates_are_the_sum_of_minima_and_the_share_of_u_that_draws_the_same_token():
    p = torch.tensor([0.6, 0.3, 0.1], dtype=torch.float64)
    q = torch.tensor([0.2, 0.3, 0.5], dtype=torch.float64)
    rule, same_u = acceptance_rates(p, q)  # rulers: 0 .6 .9 1 and 0 .2 .5 1: the same on 0 … .2 and .9 … 1
    assert rule.item() == pytest.approx(0.6) and same_u.item() == pytest.approx(0.3)
    random = np.random.default_rng(5)
    for V in (2, 5, 17):
        p, q = a_pair(random, V)
        rule, same_u = acceptance_rates(p, q)
        assert rule.item() == pytest.approx((q * acceptance(p, q)).sum().item())
        us = (np.arange(4000) + 0.5) / 4000
        assert same_u.item() == pytest.approx(np.mean([draw(p, u) == draw(q, u) for u in us]), abs=V / 2000)
        assert same_u <= rule + 1e-12
    rows = torch.stack([p, q])
    assert all(
        rate.shape == (2,) and torch.allclose(rate, torch.ones(2).double()) for rate in acceptance_rates(rows, rows)
    )


def test_accept_draws_its_border_where_the_probability_is():
    random = np.random.default_rng(1)
    for _ in range(2000):
        p, q = a_pair(random, int(random.integers(2, 51)))
        probability = acceptance(p, q)
        drafted = int(random.choice(torch.nonzero(q).flatten().numpy()))
        border = float(probability[drafted])
        for u in (border * (1 - 1e-9), min(border * (1 + 1e-9), 1 - 1e-12), float(random.random())):
            accepted, instead = accept(p, q, drafted, u)
            assert accepted == (u < border) and (instead is None) == accepted
            assert accepted or instead.equal(rest(p, q))


def test_two_wrong_rules_change_the_distribution():
    p, q = torch.tensor([0.6, 0.3, 0.1]), torch.tensor([0.2, 0.3, 0.5])
    assert torch.allclose(spoken(p, q, torch.ones(3), 0), q)  # accept everything
    drawn_from_p_again = spoken(p, q, acceptance(p, q), p.double())
    assert torch.allclose(drawn_from_p_again, torch.tensor([0.44, 0.42, 0.14], dtype=torch.float64))


def test_a_proposal_that_the_model_cannot_give_is_refused_also_at_u_0():
    p, q = torch.tensor([0.0, 1.0]), torch.tensor([0.5, 0.5])
    accepted, instead = accept(p, q, 0, 0.0)
    assert not accepted and instead.tolist() == [0, 1]
    with pytest.raises(ValueError, match="expected a token that q can give"):
        accept(q, p, 0, 0.5)
    with pytest.raises(ValueError, match="0 <= u < 1"):
        accept(p, q, 0, 1.0)
    with pytest.raises(ValueError, match="no rest is left"):
        rest(p, p)


# The loop's texts


class Always:
    """A draft that always proposes one token."""

    def __init__(self, token_id, vocab_size=len(VOCAB)):
        self.inner = BigramLM(torch.zeros(vocab_size, vocab_size).index_fill(1, torch.tensor([token_id]), 9.0))

    def new_cache(self, batch_size=1):
        return self.inner.new_cache(batch_size)

    def __call__(self, token_ids, cache=None):
        return self.inner(token_ids, cache)


DRAFTS = {
    "the model itself": MODEL,
    "4-gram": FOUR,
    "two layers": first_layers(MODEL, 2),
    "always wrong": Always(VOCAB.pad_id),
}


@pytest.mark.parametrize("name", ["4-gram", "two layers"])
@pytest.mark.parametrize("greedy", [True, False])
def test_two_hundred_texts_are_those_of_the_model(name, greedy):
    for number, prompt in enumerate(PROMPTS if name == "4-gram" else PROMPTS[:20]):
        params = GREEDY if greedy else SamplingParams(0.7 + number % 3 * 0.5, top_p=0.95, seed=number)
        fast = speculate(MODEL, DRAFTS[name], 1 + number % 5, params, sample=number)
        settings = params, StopCriteria(9)
        plain = generate(MODEL, VOCAB, prompt, *settings, sample=number)
        speculated = generate(fast, VOCAB, prompt, *settings, sample=number)
        assert speculated == plain or close(speculated, plain)


def close(a, b):
    """All the same, and the log-probabilities up to rounding."""
    assert a.logprobs == pytest.approx(b.logprobs, abs=1e-4)
    return (a.token_ids, a.text, a.finish_reason, a.stop, a.tool_call) == (
        (b.token_ids, b.text, b.finish_reason, b.stop, b.tool_call)
    )


@pytest.mark.parametrize("name", DRAFTS)
@pytest.mark.parametrize("k", [1, 4, 9])
def test_every_draft_gives_the_text_and_its_own_number_of_passes(name, k):
    params = SamplingParams(seed=5)
    fast = speculate(MODEL, DRAFTS[name], k, params)
    stopping = StopCriteria(41, eos=False)
    assert close(
        generate(fast, VOCAB, "The fox", params, stopping), generate(MODEL, VOCAB, "The fox", params, stopping)
    )
    if name == "always wrong":
        assert fast.counts == Counts(passes=41, handed_out=41, judged=40, accepted=0)
    elif name == "the model itself":
        assert fast.counts.accepted == fast.counts.judged and fast.counts.passes == -(-41 // (k + 1))
    assert fast.counts.handed_out == 41 and fast.counts.passes == 41 - fast.counts.accepted


def path_draft(ids, wrong_at=None):
    """Proposes the ids one after the other; at one place another token."""

    class Draft:
        def new_cache(self, batch_size=1):
            return FOUR.new_cache(batch_size)

        def __call__(self, token_ids, cache=None):
            FOUR(token_ids, cache)
            at = 0 if cache is None else cache.n_tokens
            logits = torch.full((1, token_ids.shape[1], len(VOCAB)), -9.0)
            following = ids[at] if at < len(ids) else 0
            logits[0, -1, following if at != wrong_at else (following + 1) % len(VOCAB)] = 9.0
            return logits

    return Draft()


@pytest.mark.parametrize("wrong", [0, 2, 4, None])
def test_a_mismatch_at_the_first_the_middle_the_last_proposal_and_at_none(wrong):
    prompt, stopping = "The owl", StopCriteria(12, eos=False)
    plain = generate(MODEL, VOCAB, prompt, GREEDY, stopping)
    start = [VOCAB.bos_id, *VOCAB.encode(prompt)]
    ids = [*start, *plain.token_ids]
    fast = speculate(MODEL, path_draft(ids, None if wrong is None else len(start) + wrong), 5)
    assert close(generate(fast, VOCAB, prompt, GREEDY, stopping), plain)
    first = {None: 2, 0: 3, 2: 3, 4: 3}[wrong]
    assert fast.counts.passes == first and fast.counts.accepted == 12 - first


@pytest.mark.parametrize("k", range(1, 9))
def test_stops_budgets_and_ends_may_fall_anywhere(k):
    """At each k the end comes at another place of the proposals: inside, as the last one, as the token after them."""
    tale = TALES[3]
    prompt = tale[:-12]
    for stopping in (
        StopCriteria(60),
        StopCriteria(5),
        StopCriteria(1),
        StopCriteria(0),
        StopCriteria(60, stop=(tale[-8:-3],)),
    ):
        plain = generate(MODEL, VOCAB, prompt, GREEDY, stopping)
        assert close(generate(speculate(MODEL, MODEL, k), VOCAB, prompt, GREEDY, stopping), plain)
        assert close(generate(speculate(MODEL, FOUR, k), VOCAB, prompt, GREEDY, stopping), plain)
    reasons = {
        generate(MODEL, VOCAB, prompt, GREEDY, StopCriteria(60, **s)).finish_reason for s in ({}, {"stop": ("a",)})
    }
    assert reasons == {FinishReason.EOS, FinishReason.STOP_STRING}


def test_streams_tool_calls_records_and_the_whole_text_again():
    params = SamplingParams(seed=3)
    fast = speculate(MODEL, FOUR, 4, params)
    plain = generate(MODEL, VOCAB, "The ", params, StopCriteria(40))
    pieces = list(stream(fast, VOCAB, "The ", params, StopCriteria(40)))
    assert "".join(piece.text for piece in pieces) == plain.text == pieces[-1].generation.text
    assert close(generate(fast, VOCAB, "The ", params, StopCriteria(40), use_cache=False), plain)
    assert [one.text for one in generate_batch(fast, VOCAB, ["The "], params, StopCriteria(40))] == [plain.text]
    for model in (MODEL, fast):
        for record in (plain.record(), pieces[-1].generation.record()):
            assert reproduce(model, VOCAB, json.loads(json.dumps(record))).text == plain.text
    for k in (1, 3, 8):
        turns = run_with_tools(speculate(MODEL, FOUR, k), VOCAB, "Q: 317*24\n", sampling=GREEDY)
        assert turns == run_with_tools(MODEL, VOCAB, "Q: 317*24\n", sampling=GREEDY)
        assert len(turns) == 2 and "A: " in turns[1].text


def test_a_context_is_filled_to_its_last_place():
    torch.manual_seed(0)
    small = Transformer(TransformerConfig(len(VOCAB), 2, 4, 2, 32, block_size=24)).eval()
    shorter = Transformer(TransformerConfig(len(VOCAB), 1, 2, 2, 16, block_size=15)).eval()
    stopping = StopCriteria(50, eos=False)
    for draft in (small, FOUR, shorter):
        for k in (1, 3, 30):
            for params in (GREEDY, SamplingParams(seed=1)):
                plain = generate(small, VOCAB, "The fox", params, stopping)
                assert plain.finish_reason is FinishReason.CONTEXT
                assert close(generate(speculate(small, draft, k, params), VOCAB, "The fox", params, stopping), plain)


@given(st.lists(st.integers(0, len(VOCAB) - 1), min_size=2, max_size=40), st.integers(1, 6), st.integers(0, 9))
@settings(deadline=None, max_examples=40)
def test_logits_of_any_tokens_in_any_chunks(ids, k, seed):
    fast = speculate(MODEL, FOUR, k, SamplingParams(seed=seed))
    assert cached_equals_full(MODEL, ids, 1) and cached_equals_full(fast, ids, 1 + seed % len(ids))


def test_what_a_cache_must_forget():
    """Wrong proposals stay in the model's cache if nothing crops it, and later tokens then read them."""
    ids = torch.tensor([[VOCAB.bos_id, *VOCAB.encode("The fox was sad.")]])
    fast = speculate(MODEL, Always(VOCAB.eos_id), 3)
    cache = fast.new_cache()
    fast(ids[:, :5], cache)
    assert cache.n_tokens == 5 and cache._model.n_tokens == 8
    assert cache.token_ids.equal(ids[:, :5])
    cache._model.crop = lambda n_tokens: None  # the fault
    with torch.no_grad():
        assert (fast(ids[:, 5:6], cache) - MODEL(ids[:, :6])[:, -1:]).abs().max() > 0.1


def test_a_cache_can_be_used_for_another_prompt():
    fast, cache = speculate(MODEL, FOUR, 4), None
    ids = [VOCAB.bos_id, *VOCAB.encode("The owl was old.")]
    cache = fast.new_cache()
    in_chunks(fast, [ids], 3, cache=cache)
    other = [*ids[:9], *VOCAB.encode("young.")]
    assert reuse_prefix(cache, other) == 9
    logits = fast(torch.tensor([other[9:]]), cache)
    with torch.no_grad():
        assert (logits - MODEL(torch.tensor([other]))[:, 9:]).abs().max() < 1e-4


def test_a_planned_model_may_be_the_target_and_a_bigram_too():
    params, stopping = SamplingParams(seed=8), StopCriteria(30)
    plain = generate(MODEL, VOCAB, "The ", params, stopping)
    assert close(generate(speculate(plan(MODEL), FOUR, 3, params), VOCAB, "The ", params, stopping), plain)
    bigram = BigramLM.fit(VOCAB.encode_documents(TALES[:50]), len(VOCAB), add=0.01)
    plain = generate(bigram, VOCAB, "The ", params, stopping)
    assert close(generate(speculate(bigram, FOUR, 3, params), VOCAB, "The ", params, stopping), plain)


def test_refusals_say_what_to_do():
    with pytest.raises(ValueError, match="k is 0; expected 1 or more"):
        speculate(MODEL, FOUR, 0)
    with pytest.raises(ValueError, match="Give it a seed"):
        speculate(MODEL, FOUR, 2, SamplingParams())
    with pytest.raises(TypeError, match="expected SamplingParams"):
        speculate(MODEL, FOUR, 2, 0.7)
    with pytest.raises(ValueError, match="The model has 81 tokens and the draft 9"):
        speculate(MODEL, NgramLM.fit([1, 2, 3], 2, 9), 2)
    fast = speculate(MODEL, FOUR, 2)
    assert repr(fast) == "speculate(Transformer, NgramLM, k=2)"
    with pytest.raises(ValueError, match="takes one text"):
        generate_batch(fast, VOCAB, ["The ", "A "])
    with pytest.raises(ValueError, match="takes one text"):
        fast(torch.tensor([[0, 1], [0, 1]]))
    with pytest.raises(ValueError, match="another model"):
        fast(torch.tensor([[0]]), speculate(MODEL, FOUR, 2).new_cache())
    with pytest.raises(ValueError, match="expected 0 to 0"):
        fast.new_cache().crop(3)
    with pytest.raises(ValueError, match="without an attention mask"):
        fast(torch.tensor([[0]]), None, torch.ones(1, 1))

    class NoCrop(Always):
        def new_cache(self, batch_size=1):
            return object()

    with pytest.raises(TypeError, match="has no `crop`"):
        speculate(MODEL, NoCrop(1), 2).new_cache()


def test_dropout_of_model_and_draft_is_off_and_the_modes_are_restored():
    torch.manual_seed(0)
    model, draft = (
        Transformer(TransformerConfig(len(VOCAB), 2, 4, 2, 32, block_size=64, dropout=0.5)).train() for _ in "12"
    )
    stopping = StopCriteria(20, eos=False)
    plain = generate(model, VOCAB, "The fox", GREEDY, stopping)
    fast = speculate(model, draft, 3)
    assert close(generate(fast, VOCAB, "The fox", GREEDY, stopping), plain)
    assert all(module.training for one in (model, draft) for module in one.modules())


def test_the_first_layers_share_the_weights():
    draft = first_layers(MODEL, 4)
    ids = torch.tensor([[VOCAB.bos_id, *VOCAB.encode("The owl")]])
    with torch.no_grad():
        assert draft(ids).equal(MODEL(ids)) and not first_layers(MODEL, 1)(ids).equal(MODEL(ids))
    assert {id(one) for one in draft.parameters()} <= {id(one) for one in MODEL.parameters()}
    for wrong in (0, 5):
        with pytest.raises(ValueError, match="expected 1 to 4"):
            first_layers(MODEL, wrong)

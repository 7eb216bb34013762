"""What notebook 09 says of transformers, and what its exercises rest on: tried on the shipped folder, not believed."""

import inspect
import itertools
import json
import math
import shutil
import warnings
from dataclasses import replace

import numpy as np
import pytest
import torch
import transformers
from transformers import AutoModelForCausalLM, AutoTokenizer, DynamicCache, LogitsProcessorList

from course_utils import checkpoint, text, translate
from course_utils.checker.exercise import Raises
from course_utils.checker.judging import judge
from course_utils.compare_logits import compare_logits
from course_utils.exercises.common import meaning, noting_llama
from course_utils.exercises.nb09_real_libraries import last_token
from course_utils.exercises.nb09_real_libraries import translate as to_transformers
from course_utils.sampling import STEPS, SamplingParams, next_token_probs, top_k_filter

FOLDER = text.DATA / "tiny_llama"
PROMPTS = ("The", "A red fox", "Once upon a time there was a mouse. ")
VLLM, LLAMA_CPP = SamplingParams.like("vllm").order, SamplingParams.like("llama.cpp").order


@pytest.fixture(scope="module")
def theirs():
    transformers.utils.logging.disable_progress_bar()
    return AutoModelForCausalLM.from_pretrained(FOLDER, local_files_only=True)


@pytest.fixture(scope="module")
def tokenizer():
    return AutoTokenizer.from_pretrained(FOLDER, local_files_only=True)


@pytest.fixture(scope="module")
def shipped():
    return checkpoint.load_model("tiny_llama")


@pytest.fixture(autouse=True)
def no_gradients():
    with torch.no_grad():
        yield


def ids_of(tokenizer, prompt):
    return tokenizer(prompt, return_tensors="pt").input_ids


# The folder


def test_their_tokenizer_gives_our_ids(tokenizer, shipped):
    _, vocab = shipped
    documents = [text.load_documents(name, "validation")[0] for name in text.SHIPPED]
    for document in (*documents, *PROMPTS, "", "a<eos>b", "two\nlines", "<call>x</call>"):
        assert tokenizer(document).input_ids == [vocab.bos_id, *vocab.encode(document)]
        assert tokenizer.decode(tokenizer(document).input_ids, skip_special_tokens=True) == vocab.decode(
            vocab.encode(document)
        )


def test_their_logits_are_ours_at_every_position(theirs, tokenizer, shipped):
    ours, _ = shipped
    assert not theirs.training and theirs.dtype == torch.float32
    for document in (*(text.load_documents(name, "validation")[1] for name in text.SHIPPED), *PROMPTS, ""):
        ids = ids_of(tokenizer, document)
        report = compare_logits(ours(ids), theirs(ids).logits)
        assert report, str(report)


def test_another_folder_would_be_told_apart(theirs, tokenizer, shipped):
    ours, _ = shipped
    ids = ids_of(tokenizer, PROMPTS[2])
    weight = theirs.model.layers[0].self_attn.k_proj.weight
    kept = weight.clone()
    weight.copy_(kept[torch.arange(len(kept)).roll(1)])
    found = compare_logits(ours(ids), theirs(ids).logits)
    weight.copy_(kept)
    assert not found and found.max_abs_diff > 100 * found.tolerance


# The cache


def test_the_caches_new_name_gives_no_warning_and_the_old_one_does(theirs, tokenizer):
    ids = ids_of(tokenizer, PROMPTS[2])
    assert "cache" in inspect.signature(theirs.forward).parameters
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        new = theirs(ids[:, -1:], cache=theirs(ids[:, :-1]).cache)
    with pytest.warns(FutureWarning, match="past_key_values.*5.40.0.*Use `cache` instead"):
        old = theirs(ids[:, -1:], past_key_values=theirs(ids[:, :-1]).cache)
    assert torch.equal(new.logits, old.logits)
    assert compare_logits(new.logits[0], theirs(ids).logits[0, -1:])


def test_a_last_token_fed_twice_makes_the_cache_longer_and_the_logits_others(theirs, tokenizer):
    ids = ids_of(tokenizer, PROMPTS[2])
    cache = theirs(ids).cache
    assert cache.get_seq_length() == ids.shape[1]
    twice = theirs(ids[:, -1:], cache=cache)
    assert cache.get_seq_length() == ids.shape[1] + 1, "the same object has grown"
    assert not compare_logits(twice.logits[0], theirs(ids).logits[0, -1:])


def test_token_by_token_stores_the_first_token_too(theirs, tokenizer):
    ids = ids_of(tokenizer, PROMPTS[2])
    cache = DynamicCache()
    steps = [theirs(ids[:, place : place + 1], cache=cache).logits for place in range(ids.shape[1])]
    assert cache.get_seq_length() == ids.shape[1]
    assert (cache.layers[0].keys.abs().amax((0, 1, 3)) > 0).all()
    assert compare_logits(torch.cat(steps, 1), theirs(ids).logits)


def test_their_cache_has_our_layout_and_crops_from_the_end_only(theirs, tokenizer, shipped):
    ids = ids_of(tokenizer, PROMPTS[2])
    config = shipped[0].config
    cache = theirs(ids).cache
    assert cache.layers[0].keys.shape == (1, config.n_kv_head, ids.shape[1], config.head_dim)
    with pytest.raises(ValueError, match="positive"):
        cache.crop(3)
    cache.crop(-2)
    assert cache.get_seq_length() == ids.shape[1] - 2


# Padding


def batch_of(tokenizer, side, prompts=PROMPTS):
    batch = tokenizer(list(prompts), padding=True, padding_side=side, return_tensors="pt")
    return batch.input_ids, batch.attention_mask


def test_positions_count_each_rows_real_tokens(theirs, tokenizer, shipped):
    by_hand = torch.tensor([[0, 0, 1, 1, 1], [1, 1, 1, 1, 1]]).cumsum(-1) - 1
    assert by_hand[0, 2:].tolist() == [0, 1, 2] and (by_hand[:, -1] + 1).tolist() == [3, 5]
    ids, mask = batch_of(tokenizer, "left")
    positions = (mask.cumsum(-1) - 1).clamp_min(0)
    with_both = theirs(ids, attention_mask=mask, position_ids=positions).logits
    shifted = theirs(ids, attention_mask=mask).logits  # rotary attention depends on distances only
    without_mask = theirs(ids, position_ids=positions).logits
    ours = shipped[0](ids, attention_mask=mask)
    for row, prompt in enumerate(PROMPTS):
        alone = theirs(ids_of(tokenizer, prompt)).logits[0]
        assert all(compare_logits(logits[row, -len(alone) :], alone) for logits in (with_both, shifted, ours))
        padded = len(alone) < ids.shape[1]
        assert compare_logits(without_mask[row, -1], alone[-1]).equal != padded


def test_after_right_padding_the_last_real_token_is_read(theirs, tokenizer):
    ids, mask = batch_of(tokenizer, "right")
    logits, unmasked = theirs(ids, attention_mask=mask).logits, theirs(ids).logits
    for row, (prompt, place) in enumerate(zip(PROMPTS, (mask.sum(-1) - 1).tolist(), strict=True)):
        alone = theirs(ids_of(tokenizer, prompt)).logits[0, -1]
        assert compare_logits(logits[row, place], alone) and compare_logits(unmasked[row, place], alone)
        assert compare_logits(logits[row, -1], alone).equal == (place == ids.shape[1] - 1)


def test_the_tokenizer_takes_its_mask_from_lengths(tokenizer):
    ids, mask = batch_of(tokenizer, "left", ("a<pad>b", "abcdef"))
    assert mask.tolist() == [[0, 0, 0, 1, 1, 1, 1], [1] * 7]
    assert ids[0][mask[0].bool()].tolist()[0] == 0, "id 0 is a real token"


def test_generate_takes_its_mask_from_the_ids(theirs, tokenizer, shipped):
    ids = ids_of(tokenizer, PROMPTS[2])
    space = shipped[1].encode(" ")[0]
    options = {"max_new_tokens": 1, "do_sample": False, "output_logits": True, "return_dict_in_generate": True}
    guessed = theirs.generate(ids, pad_token_id=space, **options).logits[0]
    hidden = theirs.generate(ids, attention_mask=(ids != space).long(), **options).logits[0]
    given = theirs.generate(ids, pad_token_id=space, attention_mask=torch.ones_like(ids), **options).logits[0]
    assert torch.equal(guessed, hidden) and not compare_logits(guessed, given)
    assert compare_logits(given[0], theirs(ids).logits[0, -1])


def test_rows_that_begin_with_pads_give_numbers(theirs, tokenizer):
    ids, mask = batch_of(tokenizer, "left")
    assert torch.isfinite(theirs(ids, attention_mask=mask).logits).all()


def test_generation_config_may_list_several_end_tokens(tmp_path, tokenizer, shipped):
    """What notebook 07 says of `generation_config.json`: each of its end tokens ends the text."""
    _, vocab = shipped
    for path in FOLDER.glob("*.*"):
        (tmp_path / path.name).write_bytes(path.read_bytes())
    dot = vocab.encode(".")[0]
    said = {"eos_token_id": [vocab.eos_id, dot], "bos_token_id": vocab.bos_id, "pad_token_id": vocab.pad_id}
    (tmp_path / "generation_config.json").write_text(json.dumps(said), encoding="utf-8", newline="\n")
    model = AutoModelForCausalLM.from_pretrained(tmp_path, local_files_only=True)
    ids = ids_of(tokenizer, "The ")
    with_both = model.generate(ids, max_new_tokens=200)[0].tolist()
    assert with_both[-1] == dot and with_both.count(dot) == 1
    model.generation_config.eos_token_id = vocab.eos_id
    assert model.generate(ids, max_new_tokens=200)[0].tolist().count(dot) > 1


def test_the_shipped_generation_config_samples_as_the_course_does_but_for_top_k(tmp_path, theirs, shipped):
    """What the model's card and notebook 09 say of the file, and that `save_model` writes the same one."""
    checkpoint.save_model(*shipped, tmp_path)
    name = "generation_config.json"
    assert (tmp_path / name).read_bytes() == (FOLDER / name).read_bytes()
    (tmp_path / name).unlink()
    without = AutoModelForCausalLM.from_pretrained(tmp_path, local_files_only=True)
    ours, vocab = shipped
    ids = torch.tensor([[vocab.bos_id, *vocab.encode(PROMPTS[2])]])
    row = ours(ids)[0, -1]

    def drawn_from(model, **settings):
        options = {"max_new_tokens": 1, "output_scores": True, "return_dict_in_generate": True, **settings}
        return model.generate(ids, attention_mask=torch.ones_like(ids), **options).scores[0][0].double().softmax(-1)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # without the file, it says that a temperature has no effect
        assert len({theirs.generate(ids, max_new_tokens=30, temperature=3.0).numpy().tobytes() for _ in range(4)}) > 1
        assert len({without.generate(ids, max_new_tokens=30, temperature=3.0).numpy().tobytes() for _ in range(4)}) == 1
    assert int((drawn_from(theirs) > 0).sum()) == 50
    for params in (SamplingParams(), SamplingParams(2.0)):
        probs = drawn_from(theirs, top_k=0, temperature=params.temperature)
        assert torch.allclose(probs, next_token_probs(row, params), atol=1e-5)


def test_a_rows_greedy_text_is_the_one_that_it_has_alone(theirs, tokenizer):
    options = {"max_new_tokens": 12, "do_sample": False, "output_logits": True, "return_dict_in_generate": True}
    ids, mask = batch_of(tokenizer, "left")
    together = theirs.generate(ids, attention_mask=mask, **options)
    for row, prompt in enumerate(PROMPTS):
        alone_ids = ids_of(tokenizer, prompt)
        alone = theirs.generate(alone_ids, attention_mask=torch.ones_like(alone_ids), **options)
        steps = zip(alone.logits, together.logits, strict=False)
        assert max((one[0] - batch[row]).abs().max() for one, batch in steps) < 1e-4
        new = alone.sequences[0, alone_ids.shape[1] :]
        assert together.sequences[row, ids.shape[1] :][: len(new)].tolist() == new.tolist()


# Settings


def n_kept(**settings):
    return (meaning.meant({"do_sample": True, **settings}) > 0).sum(-1).tolist()


def test_what_generate_does_with_odd_settings():
    everything = [meaning.V] * 3
    assert n_kept() == [50] * 3, "silently"
    assert n_kept(top_k=0) == n_kept(top_k=None) == n_kept(top_k=0, top_p=1.5) == everything
    assert n_kept(top_k=0, top_p=0.0) == [1] * 3
    assert set(meaning.meant({}).ravel().tolist()) == {0.0, 1.0}, "without do_sample it is greedy"
    for settings in ({"temperature": 2}, {"temperature": 0.0}, {"top_k": -1}, {"top_k": 5.0}, {"seed": 1}):
        with pytest.raises(ValueError):
            n_kept(**settings)


def test_a_file_beside_the_weights_changes_the_defaults(tmp_path):
    """As notebook 03 says: greedy, then 50 tokens when it samples; `generation_config.json` changes both."""
    shutil.copytree(FOLDER, tmp_path, dirs_exist_ok=True)
    (tmp_path / "generation_config.json").unlink()
    ids = torch.tensor([[1, 2, 3]])

    def first(**settings):
        transformers.utils.logging.disable_progress_bar()
        model = AutoModelForCausalLM.from_pretrained(tmp_path, local_files_only=True)
        answer = model.generate(ids, attention_mask=torch.ones_like(ids), max_new_tokens=1, output_scores=True,
                                output_logits=True, return_dict_in_generate=True, **settings)  # fmt: skip
        greedy = answer.logits[0].argmax().item() == answer.sequences[0, -1].item()
        return greedy, torch.isfinite(answer.scores[0]).sum().item()

    everything = 81
    assert first() == (True, everything), "top_k is there, and does nothing"
    assert first(do_sample=True)[1] == 50 and first(do_sample=True, top_k=0)[1] == everything
    content = json.dumps({"do_sample": True, "top_k": 5})
    (tmp_path / "generation_config.json").write_text(content, encoding="utf-8", newline="\n")
    assert first()[1] == 5 and first(top_k=0)[1] == everything, "an argument goes before the file"


def test_a_tie_with_the_kth_token_stays_there_and_not_here():
    logits = torch.tensor([[1.0, 1.0, 1.0, 0.0]])
    assert torch.isfinite(transformers.TopKLogitsWarper(2)(None, logits)).sum() == 3
    assert torch.isfinite(top_k_filter(logits, 2)).sum() == 2


def test_their_two_orders_keep_other_tokens():
    logits = torch.tensor([[2.5, 1.5, 0.0]])
    temperature, top_p = transformers.TemperatureLogitsWarper(0.5), transformers.TopPLogitsWarper(0.8)
    kept = [torch.isfinite(scores)[0].nonzero().flatten().tolist()
            for scores in (top_p(None, temperature(None, logits)), temperature(None, top_p(None, logits)))]  # fmt: skip
    assert kept == [[0], [0, 1]]
    params = SamplingParams(0.5, top_p=0.8)
    ours = [next_token_probs(logits, replace(params, order=order)) for order in (STEPS, LLAMA_CPP)]
    assert [(probs[0] > 0).nonzero().flatten().tolist() for probs in ours] == kept


def test_generate_has_the_order_that_we_say():
    """Of all 24 orders, only those that cannot differ from it give its distribution."""
    settings = {"temperature": 1.5, "top_k": 9, "top_p": 0.75, "min_p": 0.2}
    theirs = meaning.meant({"do_sample": True, **settings})
    same = {
        order
        for order in itertools.permutations(STEPS)
        if np.abs(meaning.wanted(SamplingParams(**settings, order=order)) - theirs).max() < 1e-5
    }
    assert same == {STEPS, ("top_k", "temperature", "top_p", "min_p")}, "a ranking has no temperature"


def test_processors_of_our_own_come_first_so_any_order_can_be_said(theirs, tokenizer):
    ids = ids_of(tokenizer, PROMPTS[2])
    steps = [transformers.TopKLogitsWarper(40), transformers.TopPLogitsWarper(0.95),
             transformers.MinPLogitsWarper(0.05), transformers.TemperatureLogitsWarper(0.8)]  # fmt: skip
    options = {"max_new_tokens": 1, "output_scores": True, "output_logits": True, "return_dict_in_generate": True}
    answer = theirs.generate(ids, attention_mask=torch.ones_like(ids), do_sample=True, top_k=0,
                             logits_processor=LogitsProcessorList(steps), **options)  # fmt: skip
    wanted = next_token_probs(answer.logits[0], SamplingParams.like("llama.cpp"))
    torch.testing.assert_close(answer.scores[0].double().softmax(-1), wanted, atol=1e-5, rtol=0)


# translate


GRID = [SamplingParams(*values) for values in itertools.product((1.0, 0.4, 1.8), (None, 7), (None, 0.8), (None, 0.1))]


@pytest.mark.parametrize("params", [*GRID, SamplingParams(top_p=0.0), SamplingParams(0.7, 0, 1.0, 0.0)], ids=str)
def test_translated_settings_mean_the_same(params):
    wanted = meaning.wanted(params)
    np.testing.assert_allclose(meaning.meant(translate.to_transformers(params)), wanted, atol=1e-5)
    request = translate.to_llama_cpp(replace(params, order=LLAMA_CPP))
    np.testing.assert_allclose(applied(request, request["samplers"]), meaning.wanted(replace(params, order=LLAMA_CPP)))
    if params.top_p != 0:
        in_their_order = replace(params, order=VLLM)
        np.testing.assert_allclose(applied(translate.to_vllm(in_their_order), VLLM), meaning.wanted(in_their_order))


def applied(settings, order):
    """What the documentation of vLLM and llama.cpp says of these numbers, step by step, in NumPy."""
    logits = meaning.rows().astype(float)
    for step in order:
        value = settings[step]
        probs = np.exp(logits - logits.max(-1, keepdims=True))
        probs /= probs.sum(-1, keepdims=True)
        ranked = -np.sort(-probs, axis=-1)
        if step == "temperature":
            logits = logits / value
        elif step == "top_k" and value > 0:
            logits = np.where(probs >= ranked[:, value - 1 : value], logits, -np.inf)
        elif step == "top_p" and value < 1:
            n_kept = np.maximum((ranked.cumsum(-1) < value).sum(-1) + 1, 1)
            least = np.take_along_axis(ranked, n_kept[:, None] - 1, -1)
            logits = np.where(probs >= least, logits, -np.inf)
        elif step == "min_p" and value > 0:
            logits = np.where(probs >= value * ranked[:, :1], logits, -np.inf)
    weights = np.exp(logits - logits.max(-1, keepdims=True))
    return weights / weights.sum(-1, keepdims=True)


def test_greedy_is_said_in_each_librarys_way_whatever_else_is_set():
    params = SamplingParams(0.7, top_k=3, greedy=True, order=LLAMA_CPP)
    assert translate.to_transformers(params) == {"do_sample": False}
    assert translate.to_vllm(params) == {"temperature": 0.0}
    assert translate.to_llama_cpp(SamplingParams(temperature=0)) == {"samplers": ["temperature"], "temperature": 0.0}


def test_an_order_that_a_library_does_not_have_is_refused_if_it_matters():
    for params in (SamplingParams(0.5, top_p=0.8, order=LLAMA_CPP), SamplingParams(top_p=0.8, min_p=0.1, order=VLLM)):
        with pytest.raises(ValueError, match="transformers applies temperature > top_k > top_p > min_p"):
            translate.to_transformers(params)
    with pytest.raises(ValueError, match="vllm applies temperature > min_p > top_k > top_p"):
        translate.to_vllm(SamplingParams(top_p=0.8, min_p=0.1))
    off = SamplingParams(top_k=4, top_p=0.8, order=LLAMA_CPP)
    assert translate.steps_on(off) == ("top_k", "top_p")
    np.testing.assert_allclose(meaning.meant(translate.to_transformers(off)), meaning.wanted(off), atol=1e-5)


@pytest.mark.parametrize("settings", [{"temperature": 2.5}, {"temperature": 0.005}, {"top_p": 0.0}])
def test_what_vllm_refuses_or_changes_is_refused(settings):
    with pytest.raises(ValueError, match="vLLM"):
        translate.to_vllm(SamplingParams(**settings))


# What the exercises rest on


def test_no_case_of_translate_lies_on_an_edge():
    """float32 there and float64 here must keep the same tokens: totals stay clear of p, shares of min_p."""
    for case in to_transformers.EXERCISE.cases:
        [params] = case.call.args()
        for row in meaning.rows().astype(float):
            assert len(np.unique(row)) == meaning.V
            left = next_token_probs(torch.tensor(row), replace(params, greedy=False, top_p=None, min_p=None,
                                    temperature=params.temperature or 1.0)).numpy()  # fmt: skip
            ranked = -np.sort(-left)
            if params.top_p is not None and 0 < params.top_p < 1:
                assert np.abs(ranked.cumsum() - params.top_p).min() > 2e-5, case.call.shows
            if params.min_p:
                others = ranked[1:]  # the first always stays
                assert np.abs(others / ranked[0] - params.min_p).min() > 2e-5, case.call.shows


def test_an_order_that_must_be_refused_gives_other_probabilities():
    refused = [case for case in to_transformers.EXERCISE.cases if isinstance(case.expect, Raises)]
    assert len(refused) >= 6
    for case in refused:
        [params] = case.call.args()
        other = meaning.wanted(replace(params, order=STEPS))
        assert np.abs(meaning.wanted(params) - other).max() > 1e-2, case.call.shows


def test_each_setting_of_the_first_case_matters():
    [params] = to_transformers.EXERCISE.cases[0].call.args()
    for name, off in {"temperature": 1.0, "top_k": None, "top_p": None, "min_p": None}.items():
        assert np.abs(meaning.wanted(params) - meaning.wanted(replace(params, **{name: off}))).max() > 1e-2, name


def test_the_small_llamas_show_every_fault():
    right = last_token._logits(tuple(last_token._IDS))
    assert right.shape == (6, 13) and np.abs(right).max() < 10
    others = [right[-2], *(last_token._faulty(position=place) for place in (0, 4, 6)),
              *(last_token._faulty(mask_length=length) for length in (1, 5))]  # fmt: skip
    assert all(np.abs(other - right[-1]).max() > 0.05 for other in others)
    np.testing.assert_allclose(last_token._faulty(), right[-1], atol=1e-5)
    model, _ = last_token.EXERCISE.cases[0].call.args()
    pristine = noting_llama.pristine()
    assert model is not pristine
    assert all(torch.equal(a, b) for a, b in zip(model.parameters(), pristine.parameters(), strict=True))


@pytest.mark.parametrize("exercise", [last_token.EXERCISE, to_transformers.EXERCISE], ids=lambda e: e.id)
def test_a_check_uses_up_no_random_number_and_leaves_the_verbosity(exercise):
    verbosity = transformers.utils.logging.get_verbosity()
    noting_llama.pristine.cache_clear()
    meaning._meant.cache_clear()
    meaning._model.cache_clear()
    torch.manual_seed(3)
    reference = exercise.solution()
    assert judge(exercise, lambda *args: reference(*args)).status == "passed"
    drawn = torch.rand(4)
    torch.manual_seed(3)
    assert torch.equal(drawn, torch.rand(4))
    assert transformers.utils.logging.get_verbosity() == verbosity


@pytest.mark.parametrize("exercise", [last_token.EXERCISE, to_transformers.EXERCISE], ids=lambda e: e.id)
def test_odd_answers_never_pass(exercise):
    reference = exercise.solution()
    odd = [lambda value: None, lambda value: math.nan, lambda value: [], lambda value: {}, lambda value: [value]]
    if exercise is last_token.EXERCISE:
        odd += [lambda value: value * math.nan, lambda value: value[:0], lambda value: value[None], lambda v: v + 2e-4]
    for change in odd:
        assert judge(exercise, lambda *args, change=change: change(reference(*args))).status in (
            "wrong",
            "not attempted",
        )


def test_last_token_is_right_within_its_tolerance():
    def off_by(amount):
        return judge(last_token.EXERCISE, lambda *args: last_token.last_token_logits(*args) + amount).status

    assert off_by(5e-5) == "passed" and off_by(2e-4) == "wrong"

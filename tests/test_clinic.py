"""The planted faults: each is far above the noise, the sound decoder is not, and no two look the same."""

import pytest
import torch

from course_utils import clinic
from course_utils.checker.judging import judge
from course_utils.checkpoint import load_model
from course_utils.compare_logits import cached_equals_full, compare_logits, in_chunks
from course_utils.exercises.nb06_is_the_cache_right import diagnose
from course_utils.generation import generate_batch
from course_utils.kv_cache import reuse_prefix
from course_utils.sampling import SamplingParams
from course_utils.stopping import StopCriteria
from course_utils.text import load_documents

SHOWS_IN = {
    "positions restart at 0": {"decode", "chunk", "edit", "update"},
    "positions off by one": {"decode", "chunk", "edit", "update"},
    "position frozen": {"decode", "edit", "update"},
    "last prompt token fed twice": {"decode", "chunk", "edit", "update"},
    "first token never stored": {"decode", "chunk", "edit", "update"},
    "mask aligned top-left": {"chunk", "edit"},
    "pads can be seen": {"left pads"},
    "no causal mask in a chunk": {"chunk", "future", "edit"},
    "rotary applied twice": {"whole", "decode", "chunk", "left pads", "edit", "update"},
    "keys of layer 0 everywhere": {"decode", "chunk", "edit", "update"},
    "heads tiled": {"whole", "decode", "chunk", "left pads", "edit", "update"},
    "dropout left on": set(clinic.SITUATIONS),
    "old keys after an edit": {"edit"},
    "old keys after a weight update": {"update"},
    "keys rounded to bfloat16": {"decode", "chunk", "edit", "update"},
    "sound": set(),
}


@pytest.fixture(scope="module")
def sound():
    return load_model("tiny_llama")[0]


@pytest.fixture(scope="module")
def vocab():
    return load_model("tiny_llama")[1]


@pytest.fixture(scope="module")
def ids(vocab):
    document = max(load_documents("tales", "validation"), key=len)
    return torch.tensor([[vocab.bos_id, *vocab.encode(document)]])[:, :44]


@pytest.fixture(scope="module")
def specimens(sound):
    return clinic.admit(sound)


@pytest.fixture(scope="module")
def reports(sound, specimens, ids):
    torch.manual_seed(0)
    return {clinic.DIAGNOSES[letter]: clinic.examine(one, sound, ids) for letter, one in specimens.items()}


def test_every_fault_is_admitted_once_under_a_neutral_name(specimens):
    assert sorted(clinic.DIAGNOSES.values()) == sorted(clinic.FAULTS) == sorted(SHOWS_IN)
    assert len(clinic.FAULTS) == 16 and list(specimens) == list(clinic.DIAGNOSES)
    assert [repr(one) for one in specimens.values()] == [f"Specimen {letter}" for letter in specimens]


@pytest.mark.parametrize("fault", clinic.FAULTS)
def test_a_fault_shows_in_its_situations_far_above_the_noise_and_in_no_other(reports, fault):
    assert {name for name, report in reports[fault].items() if not report} == SHOWS_IN[fault]
    for name, report in reports[fault].items():
        if name in SHOWS_IN[fault]:
            assert report.max_abs_diff > 30 * report.tolerance, f"{fault}, {name}: {report}"
        else:
            assert report.max_abs_diff < report.tolerance / 2, f"{fault}, {name}: {report}"


BEGINS_AT = {  # (situation, first position that differs): what the exercise's hints say
    "positions restart at 0": ("decode", 24),
    "positions off by one": ("decode", 24),
    "position frozen": ("decode", 25),
    "last prompt token fed twice": ("decode", 24),
    "first token never stored": ("decode", 0),
    "mask aligned top-left": ("chunk", 24),
    "pads can be seen": ("left pads", 0),
    "no causal mask in a chunk": ("future", 24),
    "rotary applied twice": ("whole", 1),
    "keys of layer 0 everywhere": ("decode", 1),
    "heads tiled": ("whole", 0),
    "dropout left on": ("again", 0),
    "old keys after an edit": ("edit", 36),  # the cache held all but the last eight tokens
    "old keys after a weight update": ("update", 24),
    "keys rounded to bfloat16": ("decode", 1),
}


@pytest.mark.parametrize("fault", BEGINS_AT)
def test_a_fault_begins_where_the_hints_say(reports, fault):
    situation, position = BEGINS_AT[fault]
    assert reports[fault][situation].first_divergence == (0, position)


def test_rounded_keys_make_small_differences_and_those_of_another_layer_large_ones(sound, reports, ids):
    with torch.no_grad():
        size = sound(ids).abs().max().item()
    assert reports["keys rounded to bfloat16"]["decode"].max_abs_diff < 0.01 * size
    assert reports["keys of layer 0 everywhere"]["decode"].max_abs_diff > 0.05 * size


def test_the_exercise_knows_every_fault_and_its_answer():
    assert sorted(diagnose.NAMES) == sorted(clinic.FAULTS)
    assert judge(diagnose.EXERCISE, clinic.DIAGNOSES).status == "passed"
    assert judge(diagnose.EXERCISE, dict.fromkeys(clinic.DIAGNOSES, ...)).status == "not attempted"


def test_no_two_specimens_have_the_same_signature(sound, reports, ids):
    signatures = {clinic.signature(reports[fault], positions(fault, sound, ids)) for fault in clinic.FAULTS}
    assert len(signatures) == 16


def test_the_sound_specimen_is_equal_at_every_split(sound, ids):
    one = clinic.planted("sound", sound)
    for split in (1, 24, 43, [30, 14]):
        report = cached_equals_full(one, ids, split)
        assert report, str(report)


@pytest.mark.parametrize("fault", [fault for fault in clinic.FAULTS if fault not in ("sound", "heads tiled")])
def test_a_specimen_has_the_sound_models_weights(sound, fault):
    ours, theirs = clinic.planted(fault, sound).state_dict(), sound.state_dict()
    assert all(torch.equal(ours[name], theirs[name]) for name in theirs)


def test_tiling_moves_heads_and_nothing_else(sound, ids):
    """Tiled twice is grouped again where H / K = K, as in the shipped model: 4 heads, 2 key/value heads."""
    assert (sound.config.n_head, sound.config.n_kv_head) == (4, 2)
    once = clinic.planted("heads tiled", sound)
    twice = clinic.planted("heads tiled", once)
    with torch.no_grad():
        assert not compare_logits(sound(ids), once(ids)) and compare_logits(sound(ids), twice(ids))


def positions(fault, sound, ids, split=24):
    return clinic.stored_positions(clinic.planted(fault, sound), sound, ids[:, :28], split)


def test_stored_positions_are_read_from_the_keys(sound, ids):
    assert positions("sound", sound, ids) == list(range(28))
    assert positions("positions off by one", sound, ids) == [*range(24), 25, 26, 27, 28]
    assert positions("position frozen", sound, ids) == [*range(24), 24, 24, 24, 24]
    assert positions("rotary applied twice", sound, ids) == list(range(0, 56, 2))


def test_a_table_that_forgets_the_offset_puts_every_step_at_0(sound, ids):
    assert positions("positions restart at 0", sound, ids) == [*range(24), 0, 0, 0, 0]
    assert positions("positions restart at 0", sound, ids, [24, 4]) == [*range(24), 0, 1, 2, 3]


def test_a_token_fed_twice_makes_the_cache_one_longer(sound, ids):
    one = clinic.planted("last prompt token fed twice", sound)
    caches = [model.new_cache() for model in (sound, one)]
    for model, cache in zip((sound, one), caches, strict=True):
        in_chunks(model, ids[:, :28], 24, cache=cache)
    assert [cache.n_tokens for cache in caches] == [28, 29]
    assert caches[1].token_ids[0, 24] == ids[0, 23]


def test_without_its_place_the_first_token_has_no_influence(sound, ids):
    other = ids.clone()
    other[0, 0] = ids[0, 3]
    for fault, equal in (("sound", False), ("first token never stored", True)):
        model = clinic.planted(fault, sound)
        one, two = (in_chunks(model, tokens, 1)[:, 1:] for tokens in (ids, other))
        assert compare_logits(one, two).equal == equal
    assert positions("first token never stored", sound, ids)[:2] == [None, 1]


def test_reuse_stops_at_the_first_different_token(sound):
    for fault, reused in (("sound", 2), ("old keys after an edit", 3)):
        model = clinic.planted(fault, sound)
        cache = model.new_cache()
        in_chunks(model, [1, 2, 3, 4, 5], [5], cache=cache)
        prompt = torch.tensor([[1, 2, 9, 4]])
        assert model.reuse(cache, prompt[0].tolist()) == reused
        new = in_chunks(model, prompt[:, reused:], [4 - reused], cache=cache)
        with torch.no_grad():
            assert compare_logits(sound(prompt)[:, reused:], new).equal == (fault == "sound")
        assert cache.n_tokens == 4


def test_crop_then_continue_equals_a_fresh_run(sound):
    cache = sound.new_cache()
    in_chunks(sound, [1, 2, 3, 4, 5], [5], cache=cache)
    cache.crop(3)
    new = in_chunks(sound, [9], [1], cache=cache)
    assert cache.n_tokens == 4 and cache.token_ids[0].tolist() == [1, 2, 3, 9]
    with torch.no_grad():
        assert compare_logits(sound(torch.tensor([[1, 2, 3, 9]]))[:, -1:], new)


def test_dropout_left_on_differs_from_call_to_call_and_eval_does_not_help(sound, ids):
    one = clinic.planted("dropout left on", sound).eval()
    with torch.no_grad():
        assert not compare_logits(one(ids), one(ids))
    assert not any(module.training for module in one.modules())


def test_changed_weights_are_refused_by_every_cache_but_the_one_with_that_fault(sound, ids):
    for fault, refuses in (("sound", True), ("old keys after a weight update", False)):
        model = clinic.planted(fault, sound)
        cache = model.new_cache()
        in_chunks(model, ids[:, :8], [8], cache=cache)
        with torch.no_grad():
            model.head.weight.mul_(1.5)
        if refuses:
            with pytest.raises(ValueError, match="weights have changed"):
                in_chunks(model, ids[:, 8:10], [2], cache=cache)
        else:
            in_chunks(model, ids[:, 8:10], [2], cache=cache)


def test_some_wrong_decoders_keep_the_text_of_some_prompts(sound, vocab):
    prompts = [document[:24] for document in load_documents("tales", "validation")[:8]]
    greedy, twenty = SamplingParams(greedy=True), StopCriteria(20)
    right = [one.text for one in generate_batch(sound, vocab, prompts, greedy, twenty)]
    kept = 0
    for fault in ("keys rounded to bfloat16", "last prompt token fed twice", "positions off by one"):
        model = clinic.planted(fault, sound)
        kept += sum(
            a.text == b for a, b in zip(generate_batch(model, vocab, prompts, greedy, twenty), right, strict=True)
        )
    assert kept > 0


def test_a_row_has_the_same_logits_alone_and_in_a_padded_batch(sound, ids):
    rows = [ids[0, :9], ids[0, 10:12], ids[0, 20:25]]
    for side in ("left", "right"):
        T = max(map(len, rows))
        batch, mask = torch.full((3, T), 2), torch.zeros(3, T, dtype=torch.bool)
        for number, row in enumerate(rows):
            place = slice(T - len(row), T) if side == "left" else slice(0, len(row))
            batch[number, place], mask[number, place] = row, True
        with torch.no_grad():
            together = sound(batch, attention_mask=mask)
            for number, row in enumerate(rows):
                report = compare_logits(sound(row[None])[0], together[number, mask[number]])
                assert report, f"{side}: {report}"


def test_a_rolled_cache_is_wrong_also_with_its_keys_turned(sound, ids):
    cache, fresh = sound.new_cache(), sound.new_cache()
    in_chunks(sound, ids[:, :30], [30], cache=cache)
    before = cache.keys(1).clone()
    in_chunks(sound, ids[:, 10:30], [20], cache=fresh)
    right = in_chunks(sound, ids[:, 30:31], [1], cache=fresh.copy())
    for turn_keys, layer_0_is_right in ((False, False), (True, True)):
        moved = clinic.rolled(sound, cache, 10, turn_keys)
        assert moved.n_tokens == 20 and torch.equal(moved.token_ids, fresh.token_ids)
        assert compare_logits(fresh.keys(0)[0], moved.keys(0)[0]).equal == layer_0_is_right
        assert not compare_logits(fresh.keys(1)[0], moved.keys(1)[0])
        report = compare_logits(right, in_chunks(sound, ids[:, 30:31], [1], cache=moved))
        assert report.max_abs_diff > 30 * report.tolerance, str(report)
    assert torch.equal(cache.keys(1), before)
    with pytest.raises(ValueError, match="n_dropped is 30; expected 1 to 29"):
        clinic.rolled(sound, cache, 30)


def test_the_shipped_near_ties_still_tie(sound, vocab, ids):
    """The margin is within what right ways may differ by, so either token is right; most texts have far larger ones."""
    found = clinic.nearest_ties(sound)
    assert len(found) == 8 and [margin for _, margin in found] == sorted(margin for _, margin in found)
    for tokens, margin in found:
        with torch.no_grad():
            logits, again = sound(tokens[None])[0, -1:], in_chunks(sound, tokens[None], 1)[0, -1:]
        report = compare_logits(logits, again)
        assert report and 0 <= margin < 2 * report.tolerance, f"{vocab.decode(tokens.tolist())[-20:]!r}: {margin}"
    with torch.no_grad():
        usual = sound(ids)[0].topk(2).values.diff().neg()
    assert usual.median() > 1000 * found[-1][1]
    assert [tokens.tolist() for tokens, _ in clinic.nearest_ties(sound, ids[0], n_best=2)] == [
        tokens.tolist() for tokens, _ in found[:2]
    ]  # as older copies of notebook 06 call it


def test_right_ways_agree_within_the_tolerance_and_a_flip_is_a_gap_that_changes_its_sign(sound):
    ties = clinic.nearest_ties(sound, n_best=2)
    table = clinic.gaps_at_ties(sound, ties)
    assert list(table.columns) == ["first", "second", *clinic.WAYS, "noise", "equal", "flipped"] and len(table) == 2
    for (tokens, margin), (_, row) in zip(ties, table.iterrows(), strict=True):
        ways = clinic.right_ways(sound, tokens)
        with torch.no_grad():
            plain = sound(tokens[None])[0, -1]
        assert row["first"] == plain.argmax() and row["one pass"] == pytest.approx(margin, abs=1e-9)
        assert row["equal"] and all(compare_logits(plain, logits) for logits in ways.values())
        assert 0 < row["noise"] == max(compare_logits(plain, logits).max_abs_diff for logits in ways.values())
        assert row["flipped"] == any(logits.argmax() != row["first"] for logits in ways.values())
    clear = torch.tensor([1, 2, 3, 4])  # no near tie: nothing flips
    assert not clinic.gaps_at_ties(sound, [(clear, 0.0)]).flipped.any()


def test_a_model_that_is_far_off_is_neither_equal_nor_of_one_choice_at_a_tie(sound, monkeypatch):
    ties = clinic.nearest_ties(sound, n_best=1)
    real = clinic.right_ways(sound, ties[0][0])
    first, second = real["one pass"].topk(2).indices.tolist()
    swapped = real["one pass"].clone()
    swapped[[first, second]] = swapped[[second, first]] + torch.tensor([0.0, 1.0])
    swapped[second] += 2
    monkeypatch.setattr("course_utils.clinic.ties.right_ways", lambda model, ids: real | {"MATH": swapped})
    (row,) = clinic.gaps_at_ties(sound, ties).to_dict("records")
    assert row["flipped"] and not row["equal"] and row["MATH"] < 0 < row["noise"]


def test_texts_and_logits_count_what_each_specimen_keeps(sound, vocab):
    prompts = [document[:23] for document in load_documents("tales", "validation")[:4]]
    faults = ("sound", "keys rounded to bfloat16", "position frozen")
    specimens = {fault: clinic.planted(fault, sound) for fault in faults}
    table = clinic.texts_and_logits(specimens, sound, vocab, prompts, 12)
    counts = {fault: tuple(row[:3]) for fault, row in zip(faults, table.to_numpy().tolist(), strict=True)}
    assert counts["sound"] == (4, 0, 0) and counts["keys rounded to bfloat16"] == (4, 4, 4)
    same, wrong, both = counts["position frozen"]
    assert wrong == 4 and both == same < 4 and table.loc["position frozen", "largest |difference|"] > 1
    with pytest.raises(ValueError, match="lengths \\[3, 4\\]; expected prompts of one length"):
        clinic.texts_and_logits(specimens, sound, vocab, ["one", "four"], 2)


def test_unknown_faults_and_short_texts_are_refused(sound, ids):
    with pytest.raises(ValueError, match="expected one of positions restart"):
        clinic.planted("cosmic rays", sound)
    with pytest.raises(ValueError, match="40"):
        clinic.examine(sound, sound, ids[:, :30])


def test_reuse_of_the_sound_specimen_is_the_packages(sound, ids):
    one = clinic.planted("sound", sound)
    ours, theirs = one.new_cache(), sound.new_cache()
    for model, cache in ((one, ours), (sound, theirs)):
        in_chunks(model, ids, [ids.shape[1]], cache=cache)
    new = [*ids[0, :20].tolist(), 9, 9]
    assert one.reuse(ours, new) == reuse_prefix(theirs, new) == 20

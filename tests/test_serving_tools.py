"""Around the engine: letters and times of its steps, the timeline, the pool panel, the paged clinic."""

import json
import math
import xml.etree.ElementTree as ET

import matplotlib.pyplot as plt
import pytest
import torch

from course_utils import clinic, plots, widgets
from course_utils.checkpoint import load_model
from course_utils.sampling import SamplingParams
from course_utils.serving import Engine, Step, Timed, arrivals, latency, serve, states
from course_utils.stopping import StopCriteria
from course_utils.text import load_documents


@pytest.fixture(scope="module")
def shipped():
    return load_model("tiny_llama")


def step(number, **more):
    names = ("admitted", "prefilled", "decoded", "preempted", "finished", "failed", "tables", "waiting")
    empty = dict.fromkeys(names, ())
    return Step(number=number, n_free=0, **{**empty, **more})


THREE = [
    step(0, admitted=((0, 0), (1, 4)), prefilled=((0, 5), (1, 1)), tables=((0, (0, 1)), (1, (0, 2))), waiting=(2,)),
    step(1, decoded=(0,), preempted=(1,), tables=((0, (0, 1)),), waiting=(1, 2)),
    step(2, decoded=(0,), finished=(0,), prefilled=((1, 3),), tables=((1, (3,)), (2, (4,)))),
]


def test_each_letter_says_what_a_request_did_in_a_step():
    assert states(THREE) == {0: "PDD", 1: "PWP", 2: "WWR"}
    assert [one.n_fed for one in THREE] == [6, 1, 4] and THREE[0].holders == {0: [0, 1], 1: [0], 2: [1]}


def test_the_timeline_draws_what_the_letters_say():
    ax = plots.timeline({"0": "PDD-", "1": "W PR"}, "title")
    boxes = [(patch.get_x(), round(patch.get_y() + 0.4), patch.get_hatch()) for patch in ax.patches]
    assert [box[:2] for box in boxes] == [(0, 0), (1, 0), (2, 0), (3, 0), (0, 1), (2, 1), (3, 1)]
    assert boxes[0][2] == boxes[5][2] == "//" and boxes[3][2] == "xx" and boxes[6][2] == ".."
    assert [text.get_text() for text in ax.get_legend().get_texts()] == [
        "waits", "prefill", "decode", "ended, its place kept", "runs, no budget left",
    ]  # fmt: skip
    plt.close(ax.figure)


# --- times ---


def test_arrivals_come_in_order_at_their_rate_and_the_same_each_time():
    times = arrivals(4000, per_second=50, seed=3)
    assert times == sorted(times) == arrivals(4000, 50, 3) and times[0] > 0
    assert times[-1] == pytest.approx(80, rel=0.1)
    with pytest.raises(ValueError, match="per_second is 0; expected a number above 0"):
        arrivals(3, 0, 1)


def test_times_count_waiting_and_jump_over_idle_time(shipped, monkeypatch):
    ticks = iter(range(1000))  # two looks at the clock in each step: it takes one second
    monkeypatch.setattr("course_utils.serving.load.time.perf_counter", lambda: float(next(ticks)))
    engine = Engine(*shipped, n_blocks=20, max_running=1)
    submits = [lambda: engine.submit("Once", SamplingParams(seed=1), StopCriteria(3, eos=False))] * 3
    timed, steps = serve(engine, submits, [0.0, 1.5, 100.0])
    assert len(steps) == 8  # the second begins in the step in which the first ends
    assert [(one.first, one.ended) for one in timed] == [(1, 3), (3, 5), (101, 103)]
    assert [(one.ttft, one.tpot) for one in timed] == [(1, 1), (1.5, 1), (1, 1)]
    found = latency(timed)
    assert (found.ttft, found.ttft_p95, found.tpot) == (1, 1.5, 1) and found.tokens_a_second == pytest.approx(9 / 103)


def test_a_text_of_one_token_has_no_time_per_token(shipped):
    request = Engine(*shipped, n_blocks=20).submit("Once", SamplingParams(seed=1), StopCriteria(1, eos=False))
    list(request.stream())
    assert math.isnan(Timed(request, 0.0, 1.0, 1.0).tpot)


# --- the panel ---


@pytest.fixture
def panel():
    made = widgets.watch_pool(THREE, n_blocks=6)
    yield made
    made.close()


def ask(panel, **moved):
    message = {"view": "v", "kind": "look", "settings": {**panel.settings, **moved}}
    return panel.handle(json.loads(json.dumps(message)))["slots"]


def plain(html):
    return "".join(ET.fromstring(f"<div>{html}</div>").itertext())


def test_the_panel_says_what_a_step_did(panel):
    slots = ask(panel)
    assert plain(slots["summary"]) == (
        "Step 0: text 0 begins; text 1 begins and finds 4 tokens; 5 prompt tokens of text 0; 1 prompt token of text 1. "
        "6 of 6 blocks are held, 1 of them shared. Text 2 waits."
    )
    said = plain(ask(panel, step=1)["summary"])
    assert "one token each of text 0; text 1 is preempted." in said and "Texts 1, 2 wait." in said
    assert "text 0 ends" in plain(ask(panel, step=2)["summary"])


def test_the_blocks_carry_their_holders_number_and_shared_ones_say_so(panel):
    picture = ET.fromstring(ask(panel)["blocks"].partition("</figcaption>")[2])
    texts = [one.text for one in picture.iter() if one.tag.endswith("text")]
    assert texts == ["0 ×2", "0", "1"] and picture.get("aria-label") == "3 of 6 blocks are held, 1 shared."
    boxes = [one for one in picture.iter() if one.tag.endswith("rect")]
    assert sum("cp-dropped-before" in one.get("class", "") for one in boxes) == 3 and len(boxes) == 7  # one stripe
    table = plain(ask(panel)["numbers"])
    assert "0210, 1" in table and "1210, 2" in table  # text, blocks, shared, table


def test_the_slider_has_a_place_for_each_step_and_no_more(panel):
    control = panel.controls[0]
    assert (control.kind, control.low, control.high, control.step) == ("slider", 0, 2, 1)
    panel.handle({"view": "v", "kind": "look", "settings": {"step": 3}})
    assert "Step is 3; expected a whole number from 0 to 2" in panel.error


def test_the_still_and_the_caption_say_how_many_blocks_were_held(panel, recwarn):
    assert repr(panel).startswith("Panel, 3 steps, at most 6 of 6 blocks held. Step 0: text 0 begins")
    assert panel._repr_mimebundle_()["image/png"] and not recwarn.list
    for wrong, reason in ((([], 6), "steps is empty"), ((THREE, 4), "a step names block 4")):
        with pytest.raises(ValueError, match=reason):
            widgets.watch_pool(*wrong)


def test_a_real_run_opens_at_each_step(shipped):
    engine = Engine(*shipped, n_blocks=12, block_size=4, max_tokens_a_step=8)
    for i in range(4):
        engine.submit("The owl"[: 3 + i], SamplingParams(seed=i), StopCriteria(9, eos=False))
    steps = engine.run()
    made = widgets.watch_pool(steps, 12)
    try:
        for place, one in enumerate(steps):
            slots = ask(made, step=place)
            assert f"{12 - one.n_free} of 12 blocks are held" in plain(slots["summary"]) and made.error is None
    finally:
        made.close()


# --- the paged clinic ---

SHOWS = {
    "sound": set(),
    "a block freed too early": {"shared"},
    "a table off by one": {"alone", "shared", "parted"},
    "a shared block written": {"parted"},
}


@pytest.mark.parametrize("tale", range(3))
def test_a_paged_fault_shows_in_its_situations_far_above_the_noise_and_in_no_other(shipped, tale):
    model, vocab = shipped
    tales = [document for document in load_documents("tales", "validation") if len(document) > 100]
    ids = [vocab.bos_id, *vocab.encode(tales[tale])]
    specimens = clinic.admit_paged()
    assert sorted(clinic.PAGED_DIAGNOSES[letter] for letter in specimens) == sorted(clinic.PAGED_FAULTS)
    for letter, specimen in specimens.items():
        reports = clinic.examine_paged(specimen, model, ids)
        assert tuple(reports) == clinic.PAGED_SITUATIONS
        assert {name for name, report in reports.items() if not report} == SHOWS[clinic.PAGED_DIAGNOSES[letter]]
        assert all(report or report.max_abs_diff > 100 * report.tolerance for report in reports.values())
        assert letter in repr(specimen) and not any(fault in repr(specimen) for fault in clinic.PAGED_FAULTS)
    with pytest.raises(ValueError, match="ids holds 5 tokens; expected at least 80"):
        clinic.examine_paged(specimen, model, ids[:5])


def test_the_faults_are_the_only_difference(shipped):
    """In one block all four agree to the last bit."""
    model, vocab = shipped
    ids = [vocab.bos_id, *vocab.encode(load_documents("tales", "validation")[0][:90])]
    reports = [clinic.examine_paged(specimen, model, ids)["one block"] for specimen in clinic.admit_paged().values()]
    assert all(torch.equal(report.differences, reports[0].differences) for report in reports)

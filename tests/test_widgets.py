"""The panels without a browser: their data, their pictures, and what becomes of errors and of panels that are replaced.

What only a browser can show is in tests/browser.
"""

import json
import re
import sys
import xml.etree.ElementTree as ET
from pathlib import Path

import matplotlib.pyplot as plt
import nbformat
import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from course_utils import bigram, generation, metrics, randomness, sampling, text, widgets
from course_utils.sampling import EPSILON, STEPS, SamplingParams
from course_utils.stopping import FinishReason, StopCriteria
from course_utils.widgets import controls, pictures, views
from course_utils.widgets import panel as panel_module
from course_utils.widgets.panel import Panel

ROOT = Path(__file__).resolve().parent.parent
LIVE = sys.modules["ipywidgets.widgets.widget"]._instances  # every widget that has not been closed


@pytest.fixture(scope="module")
def vocab():
    return text.CharVocab.from_text(text.load_text("all"))


@pytest.fixture(scope="module")
def model(vocab):
    return bigram.BigramLM.fit(vocab.encode_documents(text.load_documents("tales")), len(vocab))


@pytest.fixture
def panel(model, vocab):
    made = widgets.explore_sampling(model, vocab, "The ", SamplingParams(top_p=0.9, seed=5))
    yield made
    made.close()


def ask(panel, kind="look", **settings):
    """What the panel answers when the front end sends these settings, the others as they were."""
    message = {"view": "v", "kind": kind, "settings": {**panel.settings, **settings}}
    return panel.handle(json.loads(json.dumps(message)))


def at_rest(panel, **settings):
    """All slots once the continuation has followed."""
    answer = ask(panel, **settings)
    slots = dict(answer["slots"])
    while answer["more"]:
        answer = ask(panel, "more", **settings)
        slots.update(answer["slots"])
    return slots


def plain(html):
    """The text of a piece of HTML, which must be well-formed."""
    return "".join(ET.fromstring(f"<div>{html}</div>").itertext())


def look(logits, u=0.5, **settings):
    return views.look_at(torch.tensor(logits), SamplingParams(**settings), u)


# The data


def test_the_lessons_figures_are_found_on_a_panel():
    for temperature, first in ((1, 0.731), (0.5, 0.881), (2, 0.622)):
        assert look([2.0, 1.0], temperature=temperature).after[0] == pytest.approx(first, abs=5e-4)
        assert look([2.0, 1.0], temperature=temperature).before[0] == pytest.approx(0.731, abs=5e-4)  # it stays
    found = look(np.log([0.6, 0.25, 0.15]), top_p=0.8)
    assert found.after.round(3).tolist() == [0.706, 0.294, 0] and found.before.round(3).tolist() == [0.6, 0.25, 0.15]
    assert found.crossing == 1 and found.mass.round(3).tolist() == [0.6, 0.85, 1]


rows = hnp.arrays(np.float64, st.integers(1, 8), elements=st.floats(-9, 9).map(lambda x: round(x, 2)))
settings = st.fixed_dictionaries({
    "temperature": st.floats(0, 3).map(lambda x: round(x, 2)),
    "top_k": st.none() | st.integers(0, 10),
    "top_p": st.none() | st.floats(0, 1).map(lambda x: round(x, 2)),
    "min_p": st.none() | st.floats(0, 1).map(lambda x: round(x, 2)),
    "order": st.permutations(STEPS),
})  # fmt: skip


@given(rows, settings, st.floats(0, 1, exclude_max=True))
def test_a_look_is_the_packages_own_sampler(row, settings, u):
    params = SamplingParams(**settings)
    seen = views.look_at(torch.tensor(row), params, u)
    probs = sampling.next_token_probs(torch.tensor(row), params)
    assert seen.after.tolist() == probs.tolist()
    assert seen.picked == (int(probs.argmax()) if params.greedy else sampling.draw(probs, u))
    assert seen.kept.tolist() == (probs > 0).tolist() and seen.n_kept >= 1
    assert seen.before.tolist() == sampling.next_token_probs(torch.tensor(row), SamplingParams()).tolist()
    assert sorted(seen.ranked.tolist()) == list(range(len(row)))
    assert (np.diff(row[seen.ranked]) <= 0).all() and seen.mass[-1] == pytest.approx(1)
    assert seen.picked in seen.candidates(1) and len(seen.candidates(3)) == min(3, len(row))


@given(rows, settings)
def test_the_crossing_token_is_the_one_that_takes_the_mass_to_p(row, settings):
    params = SamplingParams(**settings)
    seen = views.look_at(torch.tensor(row), params, 0.5)
    if params.greedy or params.top_p in (None, 1):
        assert seen.crossing is None
        return
    rank = seen.ranked.tolist().index(seen.crossing)
    assert rank == 0 or seen.mass[rank - 1] < params.top_p  # one token always stays
    assert seen.mass[rank] >= params.top_p - 2 * EPSILON


def test_the_mass_is_that_of_top_ps_place_in_the_order():
    first = look([2.5, 1.5, 0.0], temperature=0.5, top_p=0.8)
    last = look([2.5, 1.5, 0.0], temperature=0.5, top_p=0.8, order=("top_k", "top_p", "min_p", "temperature"))
    assert first.mass[0] == pytest.approx(0.876, abs=5e-4) and last.mass[0] == pytest.approx(0.690, abs=5e-4)
    assert (first.crossing, last.crossing) == (0, 1)


def test_every_before_says_before_what():
    """With any order: the outlines are those of T = 1, and what top-p sees is told apart from them, with its place."""
    orders = {"temperature": SamplingParams().order, "before": ("top_k", "top_p", "min_p", "temperature")}
    for name, order in orders.items():
        seen = look([2.5, 1.5, 0.0], temperature=0.5, top_p=0.8, order=order)
        said, table = views.say_look(seen, "abc"), plain(pictures.table(seen, "abc"))
        assert "“a”, has 0.690 at T = 1 and" in said and " before," not in said
        if name == "temperature":
            assert "“a” takes the mass to 0.876, past p = 0.8 (top-p comes after the temperature)." in said
            assert "a00.6901.0000.8760.876picked, crosses p" in table
        else:
            assert "“b” takes the mass to 0.943, past p = 0.8 (top-p comes before the temperature)." in said
            assert "a00.6900.8810.6900.690picked" in table
    both = look([2.5, 1.5, 0.0], temperature=0.5, top_k=2, top_p=0.8)
    assert views.place(both) == "top-p comes after the temperature and top-k"
    assert views.place(look([2.5, 1.5, 0.0], top_p=0.8)) == "top-p comes first"


def test_entropy_by_hand():
    assert views.entropy(np.array([0.5, 0.5, 0.0])) == pytest.approx(np.log(2))
    assert views.entropy(np.array([0.0, 1.0])) == 0


def test_each_step_shows_the_choice_that_the_text_made(panel, model, vocab):
    answer = generation.generate(model, vocab, "The ", SamplingParams(top_p=0.9, seed=5), StopCriteria(60))
    explorer = panel.fast.__self__
    for finished in (False, True):  # without the finished text, the tokens before the step are generated
        explorer._last = None
        if finished:
            at_rest(panel)
        for step in (0, 1, 2, 30, 59):
            seen, shown = explorer.look({**panel.settings, "step": step})
            assert shown == step and seen.picked == answer.token_ids[step]
            assert seen.u == randomness.uniform(5, step)


def test_the_kept_set_changes_with_the_step(panel):
    counts = {panel.fast.__self__.look({**panel.settings, "step": step})[0].n_kept for step in range(20)}
    assert len(counts) > 3


def test_a_step_after_the_end_shows_the_last_one(panel, model, vocab):
    seed = next(s for s in range(100) if len(_text(model, vocab, s).token_ids) < 40)
    n = len(_text(model, vocab, seed).token_ids)
    for finished in (False, True):
        panel.fast.__self__._last = None
        if finished:
            at_rest(panel, seed=seed)
        for step in (n, 59):
            seen, shown = panel.fast.__self__.look({**panel.settings, "seed": seed, "step": step})
            assert shown == n - 1 and seen.picked == vocab.eos_id
        assert f"Step {n - 1} (the text has no step 59)" in at_rest(panel, seed=seed, step=59)["summary"]
    assert f"{n} tokens, ended by: eos." in plain(at_rest(panel, seed=seed)["facts"])


def _text(model, vocab, seed, n=60):
    return generation.generate(model, vocab, "The ", SamplingParams(top_p=0.9, seed=seed), StopCriteria(n))


def test_what_is_said_of_the_continuation_is_measured_by_the_package(model, vocab):
    answer = generation.generate(model, vocab, "The ", SamplingParams(0.3, seed=3), StopCriteria(80))
    found = views.follow(model, vocab, answer)
    assert found.repetition == metrics.repetition_rate(answer.text, 4) > 0
    assert found.real_words == metrics.coherence(answer.text).real_words > 0
    row = model.table[vocab.encode(answer.text)[9]]
    probs = sampling.next_token_probs(row, answer.sampling).detach().numpy()
    assert found.n_kept[10] == (probs > 0).sum() and found.entropies[10] == pytest.approx(views.entropy(probs))
    assert f"Repetition of 4-grams: {found.repetition:.2f}; real words:" in views.say_continuation(found)
    assert len(found.n_kept) == len(answer.token_ids) == 80 and answer.finish_reason is FinishReason.LENGTH


def test_a_text_too_short_to_be_counted_says_so(model, vocab):
    nothing = views.follow(model, vocab, generation.generate(model, vocab, "", SamplingParams(seed=1), StopCriteria(0)))
    assert "nothing to count" in views.say_continuation(nothing) and nothing.n_kept == ()


# The panel as the front end sees it


def test_the_same_settings_show_the_same_text(panel):
    texts = [at_rest(panel, temperature=t)["text"] for t in (0.7, 1.2, 0.7)]
    assert texts[0] == texts[2] != texts[1]


def test_u_stays_while_the_temperature_moves(panel):
    said = [plain(ask(panel, temperature=t)["slots"]["summary"]) for t in (0.3, 0.9, 1, 2.5)]
    assert len({re.search(r"u = ([\d.]+) picks", s)[1] for s in said}) == 1 and len(set(said)) == 4


def test_the_temperatures_lower_end_is_greedy(panel, model, vocab):
    slots = at_rest(panel, temperature=0)
    assert "Greedy takes" in plain(slots["summary"]) and panel.error is None
    greedy = generation.generate(model, vocab, "The ", SamplingParams(greedy=True), StopCriteria(60))
    assert plain(slots["text"]) == "The " + greedy.text
    assert "u =" not in slots["cdf"] and "Greedy draws no u" in slots["cdf"]
    temperature = next(c for c in panel.controls if c.name == "temperature")
    assert (temperature.low, temperature.words["0"]) == (0, "0: greedy")


def test_an_error_is_shown_in_the_panel_and_the_panel_lives_on(panel):
    sent = []
    panel.widget.send = sent.append
    good = {**panel.settings}
    panel.widget._handle_custom_msg({"view": "v", "kind": "look", "settings": {**good, "prompt": "The €"}}, [])
    [answer] = sent
    assert "slots" not in answer and "'€' (U+20AC) at position 4" in answer["error"] == panel.error
    panel.widget._handle_custom_msg({"view": "v", "kind": "look", "settings": good}, [])
    assert sent[1]["slots"] and "error" not in sent[1] and panel.error is None


def test_whatever_a_callback_raises_becomes_an_answer():
    def fast(settings):
        if settings["x"]:
            raise errors[settings["x"]]
        return {"summary": "<p>fine</p>"}

    errors = {1: ZeroDivisionError("division by zero"), 2: KeyboardInterrupt(), 3: RecursionError("deep")}
    made = Panel("t", [controls.Control("x", "slider", "X", 0, 0, 3)], fast, None, None, lambda s: "c")
    for x, error in errors.items():
        assert ask(made, x=x)["error"].startswith(type(error).__name__) and made.error
    assert ask(made, x=0)["slots"] == {"summary": "<p>fine</p>"} and made.error is None
    made.close()
    with pytest.raises(ZeroDivisionError):  # while the cell runs, the cell shows it
        Panel("t", [controls.Control("x", "slider", "X", 1, 0, 3)], fast, None, None, lambda s: "c")


def test_each_request_redraws_once_and_the_slow_part_waits_until_it_is_requested():
    drawn, begun = [], []

    def slow(settings):
        begun.append(settings["x"])
        for i in range(50):
            end = panel_module.time.perf_counter() + panel_module.SLICE / 10
            while panel_module.time.perf_counter() < end:
                pass
            yield {"text": f"{settings['x']}:{i}"}

    x = controls.Control("x", "slider", "X", 0, 0, 99)
    made = Panel("t", [x], lambda s: drawn.append(s["x"]) or {"summary": str(s["x"])}, slow, None, lambda s: "c")
    drawn.clear(), begun.clear()
    for value in range(1, 61):
        assert ask(made, x=value) == {"view": "v", "slots": {"summary": str(value)}, "more": True}
    assert drawn == list(range(1, 61)) and begun == []
    first = ask(made, "more", x=60)
    assert first["more"] and begun == [60] and first["slots"]["text"] != "60:49"  # cut, so that a new move is heard
    ask(made, x=7)
    answer, slices, slots = {"more": True}, 0, {}
    while answer["more"]:
        answer, slices = ask(made, "more", x=7), slices + 1
        slots.update(answer["slots"])
    assert slots == {"text": "7:49"} and begun == [60, 7] and slices > 2
    made.close()


def test_a_new_view_gets_the_state_that_the_panel_has(panel):
    ask(panel, temperature=0.5)
    answer = panel.handle({"view": "other", "kind": "hello"})
    assert answer["view"] == "other" and answer["settings"]["temperature"] == 0.5
    assert answer["slots"]["summary"] == ask(panel, temperature=0.5)["slots"]["summary"]


def test_the_panel_opens_with_everything_drawn(panel):
    opening = panel.widget.opening
    assert opening["settings"] == panel.settings
    assert [*opening["slots"]] == ["summary", "bars", "mass", "cdf", "numbers", "text", "facts", "steps"]
    assert opening["slots"] == at_rest(panel)


def test_what_is_sent_is_text(panel):
    answer = ask(panel, temperature=0.8)
    assert all(isinstance(value, str) for value in answer["slots"].values())
    assert json.loads(json.dumps(panel.widget.controls)) and json.loads(json.dumps(answer)) == answer


def test_no_output_is_cleared():
    for path in (ROOT / "course_utils" / "widgets").iterdir():
        if path.suffix in (".py", ".js"):
            assert "clear_output" not in path.read_text(encoding="utf-8")


# Panels and cells


@pytest.fixture
def cell(monkeypatch):
    """Say which cell runs: (its id, the id of the run, deleted cells)."""
    monkeypatch.setattr(panel_module, "_panels", {})

    def run(name, number, deleted=()):
        monkeypatch.setattr(panel_module, "_running_cell", lambda: (name, str(number), deleted))
        return widgets.explore_logits([2.0, 1.0])

    yield run
    for name in [*panel_module._panels]:
        panel_module._close_all(name)


def test_running_a_cell_again_replaces_its_panel(cell, monkeypatch):
    made = [cell("a", run) for run in range(3)]
    drawn = []
    for one in made:
        monkeypatch.setattr(one, "fast", lambda s, one=one: drawn.append(one) or {})
        one.widget._handle_custom_msg({"kind": "look", "settings": {**one.settings, "temperature": 2.0}}, [])
    assert [one.widget.comm is None for one in made] == [True, True, False]
    assert drawn == [made[2]]


def test_ten_runs_leave_as_many_widgets_as_one(cell):
    before = len(LIVE)
    cell("a", 0)
    once = len(LIVE)
    for run in range(1, 11):
        cell("a", run)
    assert len(LIVE) == once == before + 2  # the panel and its layout


def test_two_cells_and_two_panels_of_one_cell_do_not_disturb_each_other(cell):
    first, second, other = cell("a", 1), cell("a", 1), cell("b", 2)
    assert all(one.widget.comm is not None for one in (first, second, other))
    ask(first, temperature=0.1)
    assert second.settings["temperature"] == other.settings["temperature"] == 1
    cell("b", 3)
    assert first.widget.comm is not None and other.widget.comm is None


def test_the_panel_of_a_deleted_cell_is_closed(cell):
    gone = cell("a", 1)
    cell("b", 2, deleted=["a", "unknown"])
    assert gone.widget.comm is None


def test_the_cell_is_known_by_its_id_or_else_by_its_text(monkeypatch):
    class Shell:
        def get_parent(self):
            return {"header": {"msg_id": "m"}, "content": {"code": "1 + 1"}, "metadata": metadata}

    monkeypatch.setattr(panel_module, "get_ipython", Shell)
    metadata = {"cellId": "c", "deletedCells": ["d"]}
    assert panel_module._running_cell() == ("c", "m", ["d"])
    metadata = {}
    assert panel_module._running_cell() == ("code: 1 + 1", "m", ())
    monkeypatch.setattr(panel_module, "get_ipython", lambda: None)
    assert panel_module._running_cell() == (None, "", ())


# Panels that grow


@pytest.mark.parametrize(
    ("settings", "names", "slots"),
    [
        ((), [], ["summary", "bars", "cdf", "numbers", "text", "facts"]),
        (["temperature"], ["temperature"], ["summary", "bars", "cdf", "numbers", "text", "facts", "steps"]),
        (["top_p"], ["top_p", "order"], None),
        (STEPS, [*STEPS, "order"], None),
    ],
    ids=["01", "02", "one filter", "03"],
)
def test_a_panel_shows_what_its_notebook_has_taught(model, vocab, settings, names, slots):
    made = widgets.explore_sampling(model, vocab, "The ", SamplingParams(seed=3), 20, settings=settings)
    filters = slots is None
    assert [c.name for c in made.controls] == ["prompt", *names, "seed", "step", *["sort"] * filters]
    shown = made.widget.opening["slots"]
    assert [*shown] == (slots or ["summary", "bars", "mass", "cdf", "numbers", "text", "facts", "steps"])
    text = " ".join(map(plain, shown.values())) + repr(made)
    for word, taught in (("kept", filters), ("entropy", filters or "temperature" in settings), ("T = 1", bool(names)),
                         ("Repetition", bool(names)), ("mass", filters)):  # fmt: skip
        assert (word in text) == taught, word
    assert ("cp-before" in shown["bars"]) == bool(names)
    made.close()


def test_what_has_no_control_stays_as_it_was_given(model, vocab):
    params = SamplingParams(0.5, top_k=3, seed=4)
    made = widgets.explore_sampling(model, vocab, "The ", params, 20, settings=["temperature"])
    expected = generation.generate(model, vocab, "The ", params, StopCriteria(20))
    assert plain(made.widget.opening["slots"]["text"]).startswith("The " + expected.text)
    ask(made, temperature=0, top_k=0)  # a control that is not there changes nothing
    assert made.fast.__self__.chosen.read(made.settings) == SamplingParams(greedy=True, temperature=0, top_k=3, seed=4)
    ask(made, temperature=0.5)
    assert made.fast.__self__.chosen.read(made.settings) == params
    assert "kept" in plain(made.widget.opening["slots"]["summary"])  # a filter is at work, though none can be moved
    made.close()


def test_the_outline_of_t_1_stays_while_the_temperature_moves():
    made = widgets.explore_logits([2.0, 1.0], ["a", "b"], settings=["temperature"])
    outlines = set()
    for t in (0, 0.5, 1, 2):
        svg = ET.fromstring(ask(made, temperature=t)["slots"]["bars"].partition("</figcaption>")[2])
        heights = [node.get("height") for node in svg.iter("rect") if "cp-before" in node.get("class")]
        outlines.add(tuple(heights))
    assert len(outlines) == 1
    assert "has 0.731 at T = 1 and 0.881 at T = 0.5." in plain(ask(made, temperature=0.5)["slots"]["summary"])
    assert "has 0.731 at T = 1. The entropy" in plain(ask(made, temperature=1)["slots"]["summary"])
    assert "has 0.731 at T = 1 and 1.000 when greedy." in plain(ask(made, temperature=0)["slots"]["summary"])
    made.close()


@pytest.mark.parametrize("settings", ["temperature", ["heat"], ["order"]])
def test_a_setting_that_does_not_exist_is_refused(settings):
    with pytest.raises(ValueError, match="expected some of temperature, top_k, top_p, min_p, in a list"):
        widgets.explore_logits([2.0, 1.0], settings=settings)


# Where no kernel runs


VIEW = "application/vnd.jupyter.widget-view+json"


def test_a_panel_brings_a_still_picture_and_a_caption(panel):
    figures = plt.get_fignums()
    bundle = panel._repr_mimebundle_()
    assert set(bundle) == {"text/plain", "image/png", "text/html", VIEW}
    assert bundle["image/png"].startswith("iVBORw0KGgo") and plt.get_fignums() == figures
    assert bundle["text/plain"] == repr(panel) and "\n" not in repr(panel)
    assert "prompt 'The '" in repr(panel) and "top-p 0.9" in repr(panel) and "min-p off" in repr(panel)


def test_the_page_has_the_picture_its_words_and_what_to_do(panel):
    bundle = panel._repr_mimebundle_()
    place = ET.fromstring(bundle["text/html"])
    image = next(place.iter("img"))
    assert image.get("alt") == repr(panel) and image.get("src") == f"data:image/png;base64,{bundle['image/png']}"
    assert "Run this cell to make it move." in "".join(place.itertext())
    assert panel.widget.place in place.get("class").split()
    other = widgets.explore_logits([2.0, 1.0])
    assert other.widget.place != panel.widget.place
    other.close()


def test_jupyterlab_gets_no_widget_that_a_stored_output_would_miss(panel, monkeypatch):
    """A stored widget is an error in JupyterLab once its kernel is gone; other front ends have no other way."""

    class Shell:
        def get_parent(self):
            return {"metadata": metadata}

    monkeypatch.setattr(panel_module, "get_ipython", Shell)
    metadata = {"cellId": "c", "deletedCells": []}
    assert set(panel._repr_mimebundle_()) == {"text/plain", "image/png", "text/html"}
    metadata = {"cellId": "c"}
    assert VIEW in panel._repr_mimebundle_()


@pytest.mark.parametrize("name", ["01_one_forward_pass", "02_temperature", "03_top_k_top_p"])
def test_a_notebook_keeps_the_still_and_no_widget(name):
    notebook = nbformat.read(ROOT / "notebooks" / f"{name}.ipynb", as_version=4)
    assert "widgets" not in notebook.metadata
    cells = [c for c in notebook.cells if c.cell_type == "code" and "widgets.explore_" in c.source]
    assert cells
    for cell in cells:
        [output] = cell.outputs
        assert set(output.data) == {"text/plain", "image/png", "text/html"}
        assert output.data["text/plain"].startswith("Panel, ")


# Pictures and words


def test_pictures_are_well_formed_and_hold_the_data():
    seen = look(np.log([0.6, 0.25, 0.15]), u=0.9, top_p=0.8)
    labels = ['<&">', "b", "c"]
    svg = ET.fromstring(pictures.bars(seen, labels))
    assert svg.get("role") == "img" and '<&"> 0.706, b 0.294, c 0.000' in svg.get("aria-label")
    texts = [node.text for node in svg.iter("text")]
    assert texts[-8:] == [".706", '<&">', ".294", "b", "▲", "0", "c", "×"]
    kinds = [node.get("class") for node in svg.iter("rect")]
    assert kinds == ["cp-before cp-kept-before", "cp-kept"] * 2 + ["cp-before cp-dropped-before"]
    heights = [float(node.get("height")) for node in svg.iter("rect")]
    assert heights[1] / heights[3] == pytest.approx(0.6 / 0.25, rel=0.01) and heights[0] / heights[2] == pytest.approx(
        0.6 / 0.25, rel=0.01
    )
    mass = ET.fromstring(pictures.mass(seen, labels))
    assert mass.get("aria-label") == "Cumulative mass. b crosses p = 0.8 at 0.850." and "✓" in pictures.mass(
        seen, labels
    )
    cdf = ET.fromstring(pictures.cdf(seen, labels))
    assert cdf.get("aria-label") == "CDF by id. u = 0.900 falls on b."
    assert [node.text for node in cdf.iter("text")][-4:] == ["u = 0.900", '<&">', "b", "▲"]


def test_by_id_is_another_order_of_the_same_candidates():
    seen = look([0.0, 2.0, 1.0])
    assert seen.candidates(3) == [1, 2, 0] and seen.candidates(3, by_id=True) == [0, 1, 2]
    rows = [re.findall(r'row">(.)<', pictures.table(seen, "abc", by_id)) for by_id in (False, True)]
    assert rows == [["b", "c", "a"], ["a", "b", "c"]]


def test_the_table_says_what_the_pictures_show():
    said = plain(pictures.table(look(np.log([0.6, 0.25, 0.15]), u=0.9, top_p=0.8), ["x", "y", "z"]))
    assert "y10.2500.2940.2500.850picked, crosses p" in said and "z20.1500.0000.1501.000dropped" in said


def test_newline_space_and_tab_are_visible():
    labels = ["\n", " ", "\t", "a b"]
    made = widgets.explore_logits([3.0, 2.0, 1.0, 0.0], labels)
    slots = made.widget.opening["slots"]
    for name in ("bars", "cdf", "mass", "numbers"):
        assert all(f">{sign}<" in slots[name] for sign in "⏎␣⇥"), name
    made.close()


def test_line_ends_are_visible_in_the_continuation():
    vocab = text.CharVocab.from_text("ab\n\t<>")
    model = bigram.BigramLM.fit(vocab.encode("a\n\t<b>\n"), len(vocab))
    made = widgets.explore_sampling(model, vocab, "a", SamplingParams(seed=0), max_new_tokens=6)
    assert plain(made.widget.opening["slots"]["text"]) == "a⏎\n⇥\t<b>⏎\n"
    assert "<mark>⏎\n</mark>" in made.widget.opening["slots"]["text"]
    made.close()


# Odd input


def test_an_empty_prompt_and_no_tokens(model, vocab):
    made = widgets.explore_sampling(model, vocab, "", SamplingParams(seed=0), max_new_tokens=0)
    assert "Step 0: " in made.widget.opening["slots"]["summary"] and "0 tokens" in made.widget.opening["slots"]["facts"]
    assert not ask(made, temperature=0).get("error")
    made.close()


@pytest.mark.parametrize("size", [1, 1000])
def test_a_vocabulary_of_one_and_of_a_thousand(size):
    made = widgets.explore_logits(torch.linspace(2, -2, size), sampling=SamplingParams(top_k=5000, top_p=0.5))
    assert made.settings["top_k"] == size
    for changed in ({}, {"temperature": 0}, {"top_k": 1}, {"top_p": 0}, {"min_p": 1}, {"u": 0.99}, {"sort": "id"}):
        answer = ask(made, **changed)
        assert "error" not in answer, answer
        for name in ("bars", "mass", "cdf", "numbers"):
            plain(answer["slots"][name])
        assert sum(map(len, answer["slots"].values())) < 60_000
    made.close()


@pytest.mark.parametrize("n_characters", [1, 993])
def test_a_model_with_few_and_with_many_tokens(n_characters):
    vocab = text.CharVocab([chr(0x4E00 + i) for i in range(n_characters)])
    model = bigram.BigramLM(torch.zeros(len(vocab), len(vocab)))
    made = widgets.explore_sampling(model, vocab, "\u4e00", max_new_tokens=20)
    assert f"{len(vocab)} of {len(vocab)} tokens are kept" in plain(at_rest(made, step=2)["summary"])
    made.close()


def test_k_beyond_the_vocabulary_keeps_all():
    assert look([2.0, 1.0], top_k=99).n_kept == 2


def test_logits_that_do_not_fit_are_refused():
    with pytest.raises(ValueError, match=r"shape \(1, 2\); expected one row"):
        widgets.explore_logits([[2.0, 1.0]])
    with pytest.raises(ValueError, match="3 labels for 2 logits"):
        widgets.explore_logits([2.0, 1.0], "abc")
    with pytest.raises(ValueError, match="nan"):
        widgets.explore_logits([2.0, float("nan")])


def test_a_bad_prompt_is_the_cells_error(model, vocab):
    with pytest.raises(ValueError, match="never seen in training"):
        widgets.explore_sampling(model, vocab, "€")


SEED = controls.Control("seed", "number", "Seed", 0, 0, controls.MAX_SEED)
SHARE = controls.Control("p", "slider", "Top-p", 1.0, 0, 1, 0.01)


@pytest.mark.parametrize(
    ("control", "value"),
    [
        (SEED, None),
        (SEED, -1),
        (SEED, 1.5),
        (SEED, "1"),
        (SEED, True),
        (SEED, 10**6),
        (SHARE, 1.1),
        (SHARE, float("nan")),
    ],
)
def test_a_value_that_a_control_cannot_have_is_refused(control, value):
    with pytest.raises(ValueError, match=rf"{control.label} is .*; expected a (whole )?number from 0 to"):
        control.read(value)


def test_values_are_read_as_numbers_of_their_kind():
    assert [type(c.read(1)) for c in (SEED, SHARE)] == [int, float]
    assert controls.read_all([SEED, SHARE], {"p": 0.5}) == {"seed": 0, "p": 0.5}


def test_an_order_that_does_not_exist_is_refused(panel):
    assert "Order is 'top_k'; expected one of" in ask(panel, order="top_k")["error"]


def test_the_panel_begins_with_the_settings_that_it_was_given(model, vocab):
    params = SamplingParams(
        0.7, top_k=9, top_p=0.95, min_p=0.02, seed=4, order=("min_p", "top_p", "top_k", "temperature")
    )
    made = widgets.explore_sampling(model, vocab, "The ", params, max_new_tokens=50)
    expected = generation.generate(model, vocab, "The ", params, StopCriteria(50))
    assert plain(made.widget.opening["slots"]["text"]).startswith("The " + expected.text)
    made.close()


# What the notebooks say about their panels


def answer_in(name, cell_id):
    notebook = nbformat.read(ROOT / "notebooks" / f"{name}.ipynb", as_version=4)
    [cell] = [c for c in notebook.cells if c.id == cell_id]
    return re.search(r"Find out by moving.*?Answer</summary>(.*?)</details>", cell.source, re.DOTALL)[1]


def hand(logits):
    made = widgets.explore_logits(logits)
    return lambda **s: made.fast.__self__.look({**made.settings, **s})


def test_the_answers_about_hand_sized_rows():
    two = hand([2.0, 1.0])
    first = next(t for t in range(50, 300) if two(temperature=t / 100, u=0.8).picked == 1)
    assert f"At {first / 100:.2f}." in answer_in("02_temperature", "temperature-exercise-text")

    three = hand(np.log([0.6, 0.25, 0.15]))
    first = next(t for t in range(100, 300) if three(temperature=t / 100, top_p=0.8).n_kept == 3)
    assert f"At {first / 100:.2f}." in answer_in("03_top_k_top_p", "top-p-exercise-text")

    other = hand([2.5, 1.5, 0.0])
    orders = (",".join(STEPS), "top_k,top_p,min_p,temperature")
    kept = {p: [other(temperature=0.5, top_p=p / 100, order=order).n_kept for order in orders] for p in range(101)}
    differ = [[p / 100 for p, counts in kept.items() if counts == pair] for pair in ([1, 2], [2, 3])]
    assert sum(map(len, differ)) == sum(a != b for a, b in kept.values())
    said = answer_in("03_top_k_top_p", "libraries-text")
    assert all(f"rom {found[0]:.2f} to {found[-1]:.2f}" in said for found in differ)


def test_the_answers_about_the_bigram(model, vocab):
    def text_of(params, n):
        return generation.generate(model, vocab, "The ", params, StopCriteria(n))

    row = model.table[vocab.ids[" "]]
    likeliest = int(row.argmax())
    seed = next(s for s in range(99) if text_of(SamplingParams(seed=s), 1).token_ids[0] == likeliest)
    said = answer_in("01_one_forward_pass", "generate-loop-text")
    assert f"It is seed {seed}, whose u falls on `{vocab.label(likeliest)}`" in said
    assert text_of(SamplingParams(seed=0), 1).text == '"'

    greedy = text_of(SamplingParams(greedy=True), 70).text
    last = next(t for t in range(1, 300) if text_of(SamplingParams(t / 100, seed=3), 70).text != greedy) - 1
    assert f"Up to T = {last / 100:.2f}" in answer_in("02_temperature", "repetition-text")

    answer = text_of(SamplingParams(top_p=0.9, seed=5), 60)
    step = views.follow(model, vocab, answer).n_kept.index(2)
    assert answer.text[step - 1] == "." and f"at step {step}, after the first `.`" in answer_in(
        "03_top_k_top_p", "order-text"
    )
    assert answer.text.index(".") == step - 1
    probs = sampling.next_token_probs(model.table[vocab.ids["."]], answer.sampling)
    assert {vocab.label(i) for i in probs.nonzero().flatten().tolist()} == {"␣", "<eos>"}

"""The cache panel without a browser: its numbers, its words, its pictures, and what its controls may be set to."""

import json
import re
import xml.etree.ElementTree as ET

import matplotlib.pyplot as plt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from course_utils import widgets
from course_utils.kv_cache import kv_cache_bytes
from course_utils.text import DATA
from course_utils.widgets import cache_pictures
from course_utils.widgets.explore_cache import MODELS, OWN, sizes_of

GIB = 1024**3


@pytest.fixture(scope="module")
def one():
    made = widgets.explore_cache()
    yield made
    made.close()


@pytest.fixture
def panel():
    made = widgets.explore_cache()
    yield made
    made.close()


def ask(panel, **moved):
    message = {"view": "v", "kind": "look", "settings": {**panel.settings, **moved}}
    return panel.handle(json.loads(json.dumps(message)))


def plain(html):
    return "".join(ET.fromstring(f"<div>{html}</div>").itertext())


def chosen(panel, name):
    """What the front end sends after a model was chosen: the other controls follow at once."""
    control = next(control for control in panel.controls if control.name == "model")
    return ask(panel, model=name, **control.sets[name])


def test_the_lessons_figures_are_found_on_the_panel(panel):
    said = plain(panel.widget.opening["slots"]["summary"])
    assert "131,072 bytes (128 KiB) a token" in said and "1 × 4,096 tokens: 512 MiB." in said
    assert "8 × 4,096 tokens: 4 GiB." in plain(ask(panel, batch=3)["slots"]["summary"])
    assert "grouped-query attention, 32 query heads" in said


@pytest.mark.parametrize(
    ("name", "token", "kind"),
    [("Llama 2 7B", 2 * 32 * 32 * 128 * 2, "multi-head"), ("Llama 3 8B", 131_072, "grouped-query"),
     ("Llama 3 70B", 2 * 80 * 8 * 128 * 2, "grouped-query"), ("Mistral 7B v0.1", 131_072, "grouped-query"),
     ("Falcon 7B", 2 * 32 * 1 * 64 * 2, "multi-query"), ("GPT-2 small", 2 * 12 * 12 * 64 * 2, "multi-head")],
)  # fmt: skip
def test_a_models_shape_and_its_bytes_a_token(panel, name, token, kind):
    said = plain(chosen(panel, name)["slots"]["summary"])
    assert f"{token:,} bytes" in said and f"The shape of {name}: {kind} attention" in said


def test_the_shipped_models_shape_is_that_of_its_file():
    config = json.loads((DATA / "tiny_llama" / "config.json").read_text(encoding="utf-8"))
    names = ("num_hidden_layers", "num_attention_heads", "num_key_value_heads", "head_dim", "max_position_embeddings")
    shape = MODELS["tiny_llama"]
    assert (shape.n_layer, shape.n_head, shape.n_kv_head, shape.head_dim, shape.context) == tuple(
        config[name] for name in names
    )


def test_a_choice_sets_only_what_the_other_controls_can_be(panel):
    by_name = {control.name: control for control in panel.controls}
    choice = by_name["model"]
    assert [value for value, _ in choice.options if value not in choice.sets] == [OWN]
    for values in choice.sets.values():
        assert set(values) == {"n_layer", "n_kv_head", "head_dim"}
        assert all(by_name[name].read(value) == value for name, value in values.items())
    assert json.loads(json.dumps(panel.widget.controls))[0]["sets"]["GPT-2 small"]["head_dim"] == 64


def test_what_the_notebook_says_of_the_models():
    token = {name: kv_cache_bytes(s.n_layer, s.n_kv_head, s.head_dim, n_tokens=1) for name, s in MODELS.items()}
    cheapest, next_one, *_, dearest = sorted(token, key=token.get)
    assert (cheapest, next_one, dearest) == ("tiny_llama", "Falcon 7B", "Llama 2 7B")
    assert [token[name] // 1024 for name in (cheapest, next_one, dearest, "Llama 3 70B")] == [1, 8, 512, 320]
    assert 32 * 4096 * token["Llama 3 8B"] == 16 * GIB and token["Llama 2 7B"] == 4 * token["Llama 3 8B"]


def test_what_a_model_was_not_made_for_is_said(panel):
    chosen(panel, "GPT-2 small")
    assert "made for 1,024 tokens only" in plain(ask(panel, context=11)["slots"]["summary"])
    assert "only" not in plain(ask(panel, context=10)["slots"]["summary"])
    chosen(panel, "Mistral 7B v0.1")
    assert "look back 4,096 tokens" in plain(ask(panel, context=13)["slots"]["summary"])


def test_sizes_of_ones_own_are_no_models(panel):
    said = plain(ask(panel, model=OWN, n_layer=33)["slots"]["summary"])
    assert "The shape of" not in said and said.startswith("33 layers, 8 key/value heads")
    assert "The shape of" not in plain(ask(panel, model="GPT-2 small", n_layer=33)["slots"]["summary"])


anything = st.fixed_dictionaries({
    "dtype": st.sampled_from("124"), "n_layer": st.integers(1, 128), "n_kv_head": st.integers(1, 128),
    "head_dim": st.integers(1, 32).map(lambda step: 8 * step), "context": st.integers(0, 17),
    "batch": st.integers(0, 8), "model": st.just(OWN),
})  # fmt: skip


@given(anything)
@settings(max_examples=40)
def test_any_setting_shows_the_formulas_bytes_in_words_picture_and_table(one, moved):
    slots = one.handle({"view": "v", "kind": "look", "settings": moved})["slots"]
    total = kv_cache_bytes(**sizes_of(moved))
    assert f"<td>{total:,}</td>" in slots["numbers"]
    said = re.search(r"tokens: (.*?)\. ", plain(slots["summary"]))[1]
    for name in ("growth", "heads"):
        svg = ET.fromstring(slots[name][slots[name].index("<svg") :])
        assert svg.get("role") == "img" and said in svg.get("aria-label")
        for mark in svg.iter():  # nothing leaves the picture
            for y in ("y", "y1", "y2"):
                assert 0 <= float(mark.get(y, 0)) <= 210


def test_bars_are_as_high_as_the_bytes(one):
    sizes = sizes_of({**one.settings, "n_kv_head": 8})
    svg = ET.fromstring(cache_pictures.heads(sizes))
    heights = [float(rect.get("height")) for rect in svg.iter("rect")]
    assert cache_pictures.heads_shown(8) == [1, 2, 4, 8, 16, 32, 64] and 5 in cache_pictures.heads_shown(5)
    assert heights[3] / heights[6] == pytest.approx(1 / 8, abs=0.01)
    assert [rect.get("class") for rect in svg.iter("rect")].index("cp-kept") == 3


@pytest.mark.parametrize(("value", "top"), [(1, 1), (1.2, 1.5), (128, 150), (512, 600), (4, 4), (999, 1000), (10, 10)])
def test_the_axis_ends_at_a_round_number(value, top):
    assert cache_pictures.top_of(value) == top


def test_the_table_adds_up_by_hand(panel):
    text = plain(ask(panel, batch=3)["slots"]["numbers"])
    assert "a key of one head128 numbers × 2256256 bytes" in text
    assert "all layers, one token× 32 layers131,072128 KiB" in text
    assert f"the batch× 8 texts{4 * GIB:,}4 GiB" in text


def test_the_sliders_of_powers_speak_numbers(panel):
    by_name = {control.name: control for control in panel.controls}
    assert by_name["context"].words["12"] == "4,096" and by_name["context"].words["17"] == "131,072"
    assert by_name["batch"].words["3"] == "8"
    assert sizes_of(panel.settings)["n_tokens"] == 4096 and sizes_of(panel.settings)["batch_size"] == 1


def test_a_value_out_of_range_is_an_answer_and_the_panel_lives_on(panel):
    assert "Layers is 129; expected a whole number from 1 to 128." in ask(panel, n_layer=129)["error"]
    assert "error" not in ask(panel, n_layer=4)


def test_an_unknown_model_is_refused_with_the_known_ones():
    with pytest.raises(ValueError, match=r"'GPT-5'.*Llama 2 7B"):
        widgets.explore_cache("GPT-5")


def test_the_panel_brings_a_still_picture_and_a_caption(panel):
    figures = plt.get_fignums()
    bundle = panel._repr_mimebundle_()
    assert bundle["image/png"].startswith("iVBORw0KGgo") and plt.get_fignums() == figures
    assert bundle["text/plain"].startswith("Panel, 32 layers") and "512 MiB" in bundle["text/plain"]

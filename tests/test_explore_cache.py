"""The cache panel without a browser: its numbers, its words, its pictures, and what its controls may be set to."""

import json
import re
import xml.etree.ElementTree as ET

import matplotlib.pyplot as plt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from course_utils import widgets
from course_utils.kv_cache import latent_cache_bytes
from course_utils.text import DATA
from course_utils.widgets import cache_pictures
from course_utils.widgets.cache_shapes import MODELS, Shape, Sizes, shared_out
from course_utils.widgets.explore_cache import OWN, sizes_of

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
    assert "a token takes 131,072 bytes (128 KiB)" in said and "1 text of 4,096 tokens: 512 MiB." in said
    assert "8 texts of 4,096 tokens: 4 GiB." in plain(ask(panel, batch=3)["slots"]["summary"])
    assert "grouped-query attention, 32 query heads" in said


@pytest.mark.parametrize(
    ("name", "token", "kind"),
    [("Llama 2 7B", 2 * 32 * 32 * 128 * 2, "multi-head"), ("Llama 3 8B", 131_072, "grouped-query"),
     ("Llama 3 70B", 2 * 80 * 8 * 128 * 2, "grouped-query"), ("Mistral 7B v0.1", 131_072, "grouped-query"),
     ("gpt-oss-120b", 2 * 36 * 8 * 64 * 2, "grouped-query"), ("DeepSeek-V3", 61 * 576 * 2, "multi-head latent"),
     ("Falcon 7B", 2 * 32 * 1 * 64 * 2, "multi-query"), ("GPT-2 small", 2 * 12 * 12 * 64 * 2, "multi-head"),
     ("tiny_llama", 2 * 4 * 2 * 32 * 2, "grouped-query")],
)  # fmt: skip
def test_a_models_shape_and_its_bytes_a_token(panel, name, token, kind):
    said = plain(chosen(panel, name)["slots"]["summary"])
    assert f"{token:,} bytes" in said and f"This is the shape of {name}: {kind} attention" in said
    shape = sizes_of(panel.settings).shape
    assert Shape(**{**vars(shape), "context": MODELS[name].context}) == MODELS[name]  # the controls can say it all


def test_shapes_that_transformers_knows_by_default():
    """Its defaults for these kinds of models are the models that the panel names."""
    from transformers import DeepseekV3Config, GptOssConfig, MistralConfig

    mistral, oss, deepseek = MistralConfig(), GptOssConfig(), DeepseekV3Config()
    for config, name in ((mistral, "Mistral 7B v0.1"), (oss, "gpt-oss-120b")):
        shape = MODELS[name]
        assert (shape.n_layer, shape.n_head, shape.n_kv_head, shape.head_dim, shape.window) == (
            config.num_hidden_layers, config.num_attention_heads, config.num_key_value_heads, config.head_dim,
            config.sliding_window)  # fmt: skip
    assert MODELS["gpt-oss-120b"].n_windowed == oss.layer_types.count("sliding_attention")
    shape = MODELS["DeepSeek-V3"]
    assert (shape.n_layer, shape.n_head) == (deepseek.num_hidden_layers, deepseek.num_attention_heads)
    assert shape.n_latent == deepseek.kv_lora_rank + deepseek.qk_rope_head_dim


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
        assert set(values) == {"n_layer", "n_head", "shared", "head_dim", "window"}
        assert all(by_name[name].read(value) == value for name, value in values.items())
    assert json.loads(json.dumps(panel.widget.controls))[0]["sets"]["GPT-2 small"]["head_dim"] == 64


def test_what_the_notebook_says_of_the_models():
    token = {name: shape.cache_bytes(n_tokens=1) for name, shape in MODELS.items()}
    cheapest, next_one, *_, dearest = sorted(token, key=token.get)
    assert (cheapest, next_one, dearest) == ("tiny_llama", "Falcon 7B", "Llama 2 7B")
    assert [token[name] // 1024 for name in (cheapest, next_one, dearest, "Llama 3 70B")] == [1, 8, 512, 320]
    assert 32 * 4096 * token["Llama 3 8B"] == 16 * GIB and token["Llama 2 7B"] == 4 * token["Llama 3 8B"]


def test_what_a_model_was_not_made_for_is_said(panel):
    chosen(panel, "GPT-2 small")
    assert "made for at most 1,024 tokens" in plain(ask(panel, context=11)["slots"]["summary"])
    assert "at most" not in plain(ask(panel, context=10)["slots"]["summary"])


def test_a_window_is_counted_and_said_at_every_length(panel):
    chosen(panel, "Mistral 7B v0.1")
    assert "keep only" not in plain(ask(panel, context=12)["slots"]["summary"])
    for context, whole in ((13, "1 GiB"), (15, "4 GiB"), (16, "8 GiB")):  # the last is more than it was made for
        answer = ask(panel, context=context)["slots"]
        assert "32 of 32 layers keep only the last 4,096 tokens; without that, " + whole in plain(answer["summary"])
        assert "tokens: 512 MiB." in plain(answer["summary"]) and "then not at all" in answer["growth"]
    assert "at most 32,768 tokens" in plain(answer["summary"])
    chosen(panel, "gpt-oss-120b")
    assert "then more slowly" in ask(panel, context=15)["slots"]["growth"]
    total = 2 * 8 * 64 * 2 * (18 * 2**15 + 18 * 128)
    assert sizes_of(panel.settings).n_bytes == total and f"<td>{total:,}</td>" in ask(panel)["slots"]["numbers"]


def test_a_latent_is_one_vector_for_all_heads(panel):
    answer = chosen(panel, "DeepSeek-V3")["slots"]
    assert "61 layers with one latent of 576 numbers for all heads" in plain(answer["summary"])
    assert sizes_of(panel.settings).n_bytes == latent_cache_bytes(61, 576, 4096) == 61 * 576 * 4096 * 2
    assert "latent: 274.5 MiB, 1: " in answer["heads"] and "key of one head" not in answer["numbers"]
    assert sizes_of(ask(panel, n_head="8") and panel.settings).n_bytes == 61 * 576 * 4096 * 2  # heads cost nothing


def test_only_heads_that_can_be_shared_evenly_are_offered(panel):
    for n_head in (4, 8, 12, 16, 32, 64, 71, 128):
        for group in (1, 2, 4, 8, 16, 128):
            heads = sizes_of({**panel.settings, "n_head": str(n_head), "shared": str(group)}).shape.n_kv_head
            assert n_head % heads == 0 and (heads == n_head // group or heads < max(n_head / group, 2))
        assert all(n_head % heads == 0 for heads in cache_pictures.heads_shown(n_head))
    assert cache_pictures.heads_shown(32) == [1, 2, 4, 8, 16, 32] and cache_pictures.heads_shown(71) == [1, 71]
    assert [shared_out(12, group) for group in (1, 2, 4, 8, 16)] == [12, 6, 3, 1, 1]
    assert "Query heads is '33'" in ask(panel, n_head="33")["error"]


def test_sizes_of_ones_own_are_no_models(panel):
    said = plain(ask(panel, model=OWN, n_layer=33)["slots"]["summary"])
    assert "This is the shape of" not in said and said.startswith("33 layers with 8 key/value heads")
    assert "This is the shape of" not in plain(ask(panel, model="GPT-2 small", n_layer=33)["slots"]["summary"])


def test_one_of_a_thing_is_in_the_singular(panel):
    moved = {"model": OWN, "n_layer": 1, "shared": "128", "dtype": "1", "context": 0}
    answer = ask(panel, **moved)["slots"]
    said = "1 layer with 1 key/value head of 128 numbers, 1 byte a number"
    assert said in plain(answer["summary"]) and "1 text of 1 token: " in plain(answer["summary"])
    assert not [
        slot for slot in answer.values() if any(f">× 1 {thing}s" in slot for thing in ("layer", "text", "token"))
    ]
    assert "1 key/value heads" not in "".join(answer.values())


anything = st.fixed_dictionaries({
    "dtype": st.sampled_from("124"), "n_layer": st.integers(1, 128),
    "n_head": st.sampled_from(["4", "8", "12", "16", "32", "64", "71", "128"]),
    "shared": st.sampled_from(["1", "2", "4", "8", "16", "128", "576"]),
    "head_dim": st.integers(1, 32).map(lambda step: 8 * step), "context": st.integers(0, 17),
    "window": st.sampled_from(["0/1 0", "1/1 4096", "1/2 128", "5/6 1024"]),
    "batch": st.integers(0, 8), "model": st.just(OWN),
})  # fmt: skip


def bytes_by_hand(moved):
    """Layer by layer, from the settings alone."""
    share, window = moved["window"].split()
    some, of = map(int, share.split("/"))
    group, n_head = int(moved["shared"]), int(moved["n_head"])
    heads = max(
        heads for heads in range(1, n_head + 1) if n_head % heads == 0 and (heads * group <= n_head or heads == 1)
    )
    numbers = 576 if moved["shared"] == "576" else 2 * heads * moved["head_dim"]
    n_tokens, n_windowed = 2 ** moved["context"], moved["n_layer"] * some // of
    kept = [min(n_tokens, int(window)) if layer < n_windowed else n_tokens for layer in range(moved["n_layer"])]
    return sum(kept) * numbers * 2 ** moved["batch"] * int(moved["dtype"])


@given(anything)
@settings(max_examples=60)
def test_any_setting_shows_the_formulas_bytes_in_words_picture_and_table(one, moved):
    slots = one.handle({"view": "v", "kind": "look", "settings": moved})["slots"]
    total = bytes_by_hand(moved)
    assert sizes_of(moved).n_bytes == total and f"<td>{total:,}</td>" in slots["numbers"]
    said = re.search(r"tokens?: (.*?)\. ", plain(slots["summary"]))[1]
    for name in ("growth", "heads"):
        svg = ET.fromstring(slots[name][slots[name].index("<svg") :])
        assert svg.get("role") == "img" and said in svg.get("aria-label")
        for mark in svg.iter():  # nothing leaves the picture
            for y in ("y", "y1", "y2"):
                assert 0 <= float(mark.get(y, 0)) <= 210
        unit = {"growth": "tokens of context · up: ", "heads": "key/value heads · up: "}[name]
        assert re.search(rf"{unit}(bytes|[KMGT]iB)$", [text.text for text in svg.iter("text")][-1])


def test_bars_are_as_high_as_the_bytes(one):
    sizes = Sizes(Shape(32, 32, 8, 128), 4096, 1, 2)
    svg = ET.fromstring(cache_pictures.heads(sizes))
    heights = [float(rect.get("height")) for rect in svg.iter("rect")]
    assert len(heights) == 6 and heights[3] / heights[5] == pytest.approx(1 / 4, abs=0.01)
    assert [rect.get("class") for rect in svg.iter("rect")].index("cp-kept") == 3


@pytest.mark.parametrize(("value", "top"), [(1, 1), (1.2, 1.5), (128, 150), (512, 600), (4, 4), (999, 1000), (10, 10)])
def test_the_axis_ends_at_a_round_number(value, top):
    assert cache_pictures.top_of(value) == top


def test_the_table_adds_up_by_hand(panel):
    text = plain(ask(panel, batch=3)["slots"]["numbers"])
    assert "a key of one head128 numbers × 2256256 bytes" in text
    assert f"a layer, one token× 8 key/value heads{2 * 8 * 128 * 2:,}4 KiB" in text
    assert "all layers, one token× 32 layers131,072128 KiB" in text
    assert f"the batch× 8 texts{4 * GIB:,}4 GiB" in text


def test_the_sliders_of_powers_speak_numbers(panel):
    by_name = {control.name: control for control in panel.controls}
    assert by_name["context"].words["12"] == "4,096" and by_name["context"].words["17"] == "131,072"
    assert by_name["batch"].words["3"] == "8"
    assert (sizes_of(panel.settings).n_tokens, sizes_of(panel.settings).batch_size) == (4096, 1)


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

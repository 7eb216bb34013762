"""The diagrams say in words what they draw, and both come from the numbers that they were given."""

import matplotlib.pyplot as plt
import numpy as np
import pytest
import torch
from matplotlib.colors import to_hex

from course_utils import plots, sampling
from course_utils.sampling import SamplingParams
from course_utils.transformer import Transformer, TransformerConfig


@pytest.fixture(autouse=True)
def close_figures():
    yield
    plt.close("all")


def texts_of(ax):
    return [text.get_text() for text in ax.texts]


def widths(ax):
    return [patch.get_width() for patch in ax.patches]


def test_the_ruler_lays_the_probabilities_end_to_end_and_names_the_drawn_token():
    said = plots.u_on_a_ruler(["a", "b", "c"], [0.25, 0.5, 0.25], 0.5)
    ax = plt.gca()
    assert [(bar.get_x(), bar.get_width()) for bar in ax.patches] == [(0, 0.25), (0.25, 0.5), (0.75, 0.25)]
    assert said == "u = 0.500 lies between 0.250 and 0.750: the draw takes b."
    assert ax.lines[0].get_xdata()[0] == 0.5


@pytest.mark.parametrize("u", [0.0, 0.25, 0.749, 0.75, 0.999])
def test_the_ruler_draws_as_the_sampler_does(u):
    probs = [0.25, 0.0, 0.5, 0.25]
    want = "abcd"[sampling.draw(torch.tensor(probs), u)]
    assert plots.u_on_a_ruler("abcd", probs, u).endswith(f"takes {want}.")


def test_the_steps_show_each_stage_of_one_choice():
    said = plots.choice_steps(["a", "b", "c"], [2.0, 1.0, -3.0], SamplingParams(0.5, top_k=2), 0.9)
    logits, heated, kept, probs, draw = plt.gcf().axes
    assert widths(logits) == [2, 1, -3] and widths(heated) == [4, 2, -6] == widths(kept)
    assert widths(probs) == pytest.approx([0.881, 0.119, 0], abs=5e-4)
    assert [bar.get_fill() for bar in kept.patches] == [True, True, False] and texts_of(kept) == [" ×"]
    assert [line.split(" ")[0] for line in said.splitlines()] == ["1", "2", "3", "4", "5"]
    assert "3 top_k = 2: c dropped" in said and "4 softmax: a 0.881, b 0.119\n" in said and "takes b." in said
    assert "u = 0.900" in draw.get_title()


def test_the_steps_are_not_drawn_for_what_they_would_show_wrongly():
    for params in (SamplingParams(greedy=True), SamplingParams(order=("top_k", "top_p", "min_p", "temperature"))):
        with pytest.raises(ValueError, match="temperature first"):
            plots.choice_steps(["a"], [1.0], params, 0.5)


def test_the_loop_has_a_row_for_each_pass():
    said = plots.the_loop(["x", "y"], ["a", "b", "c"], "eos")
    labels = texts_of(plt.gca())
    rows = [["x", "y", "a"], ["x", "y", "a", "b"], ["x", "y", "a", "b", "c"]]
    assert [label for label in labels if label] == [*rows[0], *rows[1], *rows[2], "end: eos"]
    assert said.startswith("Pass 1 gets 2 prompt tokens") and "3 tokens (a b c) take 3 passes" in said and "eos" in said


def test_the_cube_shows_every_logit_and_frames_the_last_row_of_each_text():
    logits = torch.arange(24.0).reshape(2, 3, 4)
    said = plots.logits_cube(logits, [["a", "b", "c"], ["d", "e", "f"]], "wxyz")
    ax = plt.gcf().axes[0]
    shown = [np.asarray(image.get_array()) for image in ax.images]  # the last text is drawn first
    assert np.array_equal(np.stack(shown[::-1]), logits.numpy())
    assert [(frame.get_y(), frame.get_height()) for frame in ax.patches] == [(2, 1), (2, 1)]
    assert "2 texts × 3 positions (rows) × 4 tokens of the vocabulary (columns) = 24 logits" in said


def test_a_layers_numbers_are_those_of_the_model():
    config = TransformerConfig(vocab_size=11, n_layer=1, n_head=4, n_kv_head=2, n_embd=32, block_size=8)
    layer = Transformer(config).model.layers[0]
    matrices = sum(weight.numel() for weight in layer.parameters() if weight.ndim == 2)
    said = plots.llama_layer(config)
    assert f"The matrices hold {matrices:,} numbers." in said
    assert (
        f"SwiGLU with {config.n_inner} inner dimensions" in said and "4 query heads and 2 key/value heads of 8" in said
    )
    assert any("2 query heads share one key/value head" in text for text in texts_of(plt.gca()))


def test_prefill_is_a_triangle_and_each_decode_step_a_row():
    said = plots.prefill_and_decode(list("abcde"), 3)
    cells = plt.gca().patches
    colours = [to_hex(cell.get_facecolor()).upper() for cell in cells]
    assert len(cells) == 15 and colours == [plots.BLUE.upper()] * 6 + [plots.ORANGE.upper()] * 9
    assert [cell.get_hatch() for cell in cells[5:7]] == [None, "//"]
    assert "computes 6 scores" in said and "one row: 4, 5 scores" in said and "again: 10, 15." in said
    assert "decode" not in plots.prefill_and_decode(list("ab"), 2)
    with pytest.raises(ValueError, match="n_prompt is 0"):
        plots.prefill_and_decode(list("ab"), 0)


def test_an_attention_map_shows_the_weights_and_marks_the_largest_of_each_row():
    weights = torch.tensor([[0.7, 0.2, 0.1], [0.1, 0.3, 0.6]])
    said = plots.attention_map(weights, ["q", "r"], ["a", "b", "c"], "A head")
    ax = plt.gcf().axes[0]
    assert np.allclose(ax.images[0].get_array(), weights) and ax.get_title() == "A head"
    assert ax.lines[0].get_xdata().tolist() == [0, 2]
    assert "The last query, r (row 1), looks most at c (column 2), with a weight of 0.600." in said
    assert {tick.get_rotation() for tick in ax.get_xticklabels()} == {
        0
    } and ax.get_ylabel() == "query: the token that looks"
    plots.attention_map(weights, ["q", "r"], ["a", "long", "c"], "A head", "the next word", "a word")
    ax = plt.gcf().axes[0]
    assert {tick.get_rotation() for tick in ax.get_xticklabels()} == {90} and ax.get_xlabel() == "key: a word"
    with pytest.raises(ValueError, match=r"shape \(2, 3\); expected \(3, 2\)"):
        plots.attention_map(weights, "abc", "qr", "A head")

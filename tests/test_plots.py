"""Every picture has a title and axes with labels, and shows the numbers that it was given."""

import matplotlib.pyplot as plt
import pytest
import torch
from matplotlib.colors import to_rgb
from matplotlib_inline.backend_inline import _fetch_figure_metadata

from course_utils import plots
from course_utils.sampling import SamplingParams


@pytest.fixture(autouse=True)
def close_figures():
    yield
    plt.close("all")


PICTURES = {
    "probability_bars": lambda: plots.probability_bars(["a", "b"], {"one": [0.3, 0.7], "two": [0.5, 0.5]}, "Title"),
    "bigram_table": lambda: plots.bigram_table(torch.eye(2), ["a", "b"], "Title"),
    "curve": lambda: plots.curve([0, 1], {"loss": [2.0, 1.0]}, "Title", "step", "loss (nats)", levels={"floor": 0.5}),
    "dots_by_setting": lambda: plots.dots_by_setting({"T = 1": [1, 2]}, "Title", "temperature", "share"),
}


@pytest.mark.parametrize("name", PICTURES)
def test_pictures_have_a_title_and_labelled_axes(name):
    ax = PICTURES[name]()
    assert ax.get_title() == "Title" and ax.get_xlabel() and ax.get_ylabel()


def test_bars_have_the_heights_of_the_probabilities_and_differ_without_colour():
    ax = PICTURES["probability_bars"]()
    assert [bar.get_height() for bar in ax.patches] == [0.3, 0.7, 0.5, 0.5]
    assert ax.patches[0].get_hatch() != ax.patches[2].get_hatch()
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["one", "two"]


def test_dots_show_every_value_and_the_mean():
    ax = plots.dots_by_setting({"a": [1.0, 3.0], "b": [2.0, 2.0]}, "t", "x", "y")
    assert [list(line.get_ydata()) for line in ax.lines] == [[1.0, 3.0], [2.0, 2.0]]
    assert [segment[0][1] for lines in ax.collections for segment in lines.get_segments()] == [2.0, 2.0]


def test_a_level_is_labelled_with_its_value():
    ax = PICTURES["curve"]()
    assert "floor: 0.500" in [text.get_text() for text in ax.get_legend().get_texts()]


def test_a_log_axis_has_ticks_in_plain_numbers():
    ax = plots.curve([1, 2], {"few": [0.16, 0.3], "many": [1000.0, 2000.0]}, "t", "x", "y", log=True)
    ax.figure.canvas.draw()
    ticks = [*ax.yaxis.get_majorticklabels(), *ax.yaxis.get_minorticklabels()]
    labels = {tick.get_text() for tick in ticks}
    assert ax.get_yscale() == "log" and {"0.2", "1", "5", "1000"} <= labels and not any("e" in text for text in labels)
    assert plots.curve([1, 2], {"few": [0.16, 0.3]}, "t", "x", "y").get_yscale() == "linear"


def contrast(one, other):
    """The contrast of two colours, 1 to 21, as the Web Content Accessibility Guidelines define it."""
    light = []
    for colour in (one, other):
        linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in to_rgb(colour)]
        light.append(sum(share * c for share, c in zip((0.2126, 0.7152, 0.0722), linear, strict=True)))
    return (max(light) + 0.05) / (min(light) + 0.05)


def pictures_with_ink():
    yield from PICTURES.values()
    yield lambda: plots.cache_filling(["a", "b"], [1, 1], 3, "t")
    yield lambda: plots.held_back(["a"], [1], [0], "t")
    yield lambda: plots.training_curve([2.0, 1.0], {"floor": 0.5}, "t")
    yield lambda: plots.side_by_side([1, 2], {"words": {"a": [0, 1]}}, "t", "T")
    yield lambda: plots.u_on_a_ruler("ab", [0.5, 0.5], 0.2)
    yield lambda: plots.choice_steps("ab", [1.0, 2.0], SamplingParams(), 0.2)
    yield lambda: plots.the_loop(["a"], ["b"], "eos")
    yield lambda: plots.logits_cube(torch.randn(1, 2, 3), [["a", "b"]], "abc")
    yield lambda: plots.prefill_and_decode("abc", 2)
    yield lambda: plots.attention_map(torch.eye(2), "ab", "ab", "t")


def test_every_picture_is_transparent_and_its_ink_is_read_on_white_and_on_the_dark_theme():
    for make in pictures_with_ink():
        make()
        figure = plt.gcf()
        figure.canvas.draw()
        assert figure.get_facecolor()[3] == 0 and all(ax.get_facecolor()[3] == 0 for ax in figure.axes)
        assert _fetch_figure_metadata(figure) is None, "JupyterLab would put a slab behind it"
        own = [ax.title for ax in figure.axes] + [ax.xaxis.label for ax in figure.axes]
        own += [label for ax in figure.axes for axis in (ax.xaxis, ax.yaxis) for label in axis.get_ticklabels()]
        for colour in {text.get_color() for text in own}:
            assert contrast(colour, "white") > 3.9 and contrast(colour, "#111111") > 3.9, colour
        plt.close(figure)


def test_a_legend_covers_nothing_of_the_plot():
    ax = PICTURES["curve"]()
    ax.figure.canvas.draw()
    assert ax.get_legend().get_window_extent().x0 >= ax.get_window_extent().x1
    assert ax.get_legend().get_window_extent().x1 <= ax.figure.bbox.x1  # and stands within the figure

"""Every picture has a title and axes with labels, and shows the numbers that it was given."""

import matplotlib.pyplot as plt
import pytest
import torch

from course_utils import plots


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

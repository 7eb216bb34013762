"""The loss curve, live and still: what it shows is what was given, and it says the same in text."""

import re
from itertools import pairwise
from types import SimpleNamespace
from xml.etree import ElementTree

import matplotlib.pyplot as plt
import numpy as np
import pytest

from course_utils import plots
from course_utils.plots.training import live_picture

LEVELS = {"bigram": 2.0, "floor": 0.5}


@pytest.fixture(autouse=True)
def close_figures():
    yield
    plt.close("all")


def test_a_smoothed_loss_is_the_mean_of_the_last_ones():
    np.testing.assert_allclose(plots.smoothed([4, 2, 0, 6], window=2), [4, 3, 1, 3])
    np.testing.assert_allclose(plots.smoothed([4, 2], window=20), [4, 3])
    with pytest.raises(ValueError, match="window is 0"):
        plots.smoothed([1.0], window=0)


def test_the_still_picture_has_both_levels_and_all_steps():
    ax = plots.training_curve([3.0, 2.0, 1.0], LEVELS, "Title")
    assert ax.get_title() == "Title" and ax.get_xlabel() == "step" and "nats" in ax.get_ylabel()
    each, mean, *levels = ax.lines
    assert list(each.get_xdata()) == [1, 2, 3] and list(each.get_ydata()) == [3.0, 2.0, 1.0]
    np.testing.assert_allclose(mean.get_ydata(), [3, 2.5, 2])
    assert [line.get_ydata()[0] for line in levels] == [2.0, 0.5]
    assert [text.get_text() for text in ax.get_legend().get_texts()][2:] == ["bigram: 2.000", "floor: 0.500"]


def svg_of(html):
    return ElementTree.fromstring(html).find("svg")


def points_of(html):
    points = svg_of(html).find("polyline").get("points")
    return [tuple(map(float, point.split(","))) for point in points.split()]


def test_the_live_picture_says_in_text_what_it_shows():
    html = live_picture([4.0, 2.0], 10, LEVELS, seconds_left=7.6)
    said = "Step 2 of 10: 3.000 nats a token, about 8 s left."
    assert svg_of(html).get("aria-label") == said == ElementTree.fromstring(html).find("figcaption").text
    texts = [text.text for text in svg_of(html).iter("text")]
    assert {"bigram: 2.000", "floor: 0.500", "step", "10"} <= set(texts)
    assert live_picture([4.0, 2.0], 2, LEVELS, 0.0).count("done") == 2


def test_the_live_curve_falls_where_the_loss_falls_and_leaves_room_for_the_steps_to_come():
    points = points_of(live_picture([4.0, 3.0, 2.0, 1.0], 8, LEVELS, 1.0))
    assert all(one[0] < two[0] and one[1] < two[1] for one, two in pairwise(points))
    whole = points_of(live_picture([4.0] * 8, 8, LEVELS, 0.0))
    assert points[-1][0] == whole[3][0] < whole[-1][0]


def test_a_long_run_is_drawn_with_few_points_and_ends_with_the_last():
    points = points_of(live_picture([1.0] * 5000, 5000, LEVELS, 0.0))
    assert len(points) <= 300 and points[-1][0] == max(x for x, _ in points)


def test_a_name_is_text_and_never_markup():
    html = live_picture([1.0], 2, {"<b>&": 1.0}, 0.0)
    assert "<b>" not in html and "<b>&: 1.000" in [text.text for text in svg_of(html).iter("text")]


def test_the_live_loss_draws_one_picture_and_then_updates_it():
    shown, updated, now = [], [], iter([0.0, 0.1, 0.6, 0.7])
    handle = SimpleNamespace(update=lambda picture: updated.append(picture.data))

    def show(picture, display_id):
        assert display_id is True
        shown.append(picture.data)
        return handle

    live = plots.LiveLoss(4, LEVELS, every=0.5, show=show, clock=lambda: next(now))
    assert list(live.losses) == []
    losses = []
    for loss in (4.0, 3.0, 2.0, 1.0):
        losses.append(loss)
        live(SimpleNamespace(losses=losses))
        assert list(live.losses) == losses  # also when the training is interrupted after this step
    assert len(shown) == 1 and "Step 1 of 4" in shown[0]
    # The second step comes too soon after the first; the last one is always drawn.
    assert [re.search(r"Step (\d) of 4", picture).group(1) for picture in updated] == ["3", "4"]
    assert "about 0 s left" in updated[0] and "done" in updated[1]  # two steps took 0.6 s: 0.3 s are left


def test_the_live_loss_leaves_one_output():
    """A display that is updated is one output; a notebook that stored each update would grow with the training."""
    handles = []

    def show(picture, display_id):
        handles.append(picture)
        return SimpleNamespace(update=lambda picture: None)

    live = plots.LiveLoss(50, LEVELS, every=0, show=show)
    for taken in range(1, 51):
        live(SimpleNamespace(losses=[1.0] * taken))
    assert len(handles) == 1

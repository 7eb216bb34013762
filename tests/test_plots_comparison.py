"""The pictures of notebook 08 show the numbers that they were given."""

import numpy as np

from course_utils import plots
from course_utils.evaluation import reliability


def test_a_dot_and_a_bar_for_each_setting():
    ax = plots.dots_with_intervals(["a", "b"], [0.5, 1.0], [(0.25, 0.75), (0.5, 1.0)], "title", "setting", "share")
    dots, _, (bars,) = ax.containers[0]
    assert dots.get_ydata().tolist() == [0.5, 1.0]
    assert [segment[:, 1].tolist() for segment in bars.get_segments()] == [[0.25, 0.75], [0.5, 1.0]]
    assert [label.get_text() for label in ax.get_xticklabels()] == ["a", "b"]
    assert (ax.get_title(), ax.get_xlabel(), ax.get_ylabel()) == ("title", "setting", "share")


def test_a_value_on_its_intervals_end_needs_no_negative_bar():
    plots.dots_with_intervals(["a"], [1.0], [(0.5, np.nextafter(1.0, 0))], "title", "x", "y")


def test_one_picture_for_each_measure_with_all_models():
    panels = {"words": {"bigram": [0.1, 0.2], "transformer": [0.9, 0.8]}, "facts": {"bigram": [0.0, np.nan]}}
    words, facts = plots.side_by_side([0.5, 1.0], panels, "title", "temperature")
    assert [line.get_ydata().tolist() for line in words.lines] == [[0.1, 0.2], [0.9, 0.8]]
    assert [text.get_text() for text in facts.get_legend().get_texts()] == ["bigram", "transformer"]
    assert words.get_title() == "words" and facts.get_xlabel() == "temperature" and facts.get_ylabel() == "share"
    assert len({line.get_linestyle() for line in words.lines}) == len({line.get_color() for line in words.lines}) == 2


def test_a_calibration_curve_has_the_bins_and_the_diagonal():
    bins, _ = reliability([0.15, 0.25, 0.85, 0.85], [False, True, True, True])
    ax = plots.calibration_curve({"T = 1": bins}, "title", "confidence", "share")
    assert [*ax.lines[0].get_xdata()] == [*ax.lines[0].get_ydata()] == [0, 1]
    dots = ax.containers[0][0]
    assert dots.get_xdata().tolist() == [0.15, 0.25, 0.85] and dots.get_ydata().tolist() == [0, 1, 1]
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["perfect", "T = 1"]

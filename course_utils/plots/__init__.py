"""The still pictures: data in, matplotlib Axes out. Each has a title and axes with units.

`signs` makes the figures and writes their texts; `basics` has the colours and the pictures that every notebook uses;
the other modules hold those of one subject. The notebooks print the numbers beside each picture.
"""

from course_utils.plots.basics import (
    BLUE,
    GREEN,
    GREY,
    ORANGE,
    SERIES,
    VERMILION,
    bigram_table,
    curve,
    dots_by_setting,
    new_axes,
    probability_bars,
)
from course_utils.plots.cache import cache_filling, say_bytes
from course_utils.plots.compare_logits import divergence, divergence_grid
from course_utils.plots.comparison import dots_with_intervals, side_by_side
from course_utils.plots.serving import timeline
from course_utils.plots.streaming import held_back
from course_utils.plots.training import LiveLoss, smoothed, training_curve

__all__ = [
    "BLUE",
    "GREEN",
    "GREY",
    "ORANGE",
    "SERIES",
    "VERMILION",
    "LiveLoss",
    "bigram_table",
    "cache_filling",
    "curve",
    "divergence",
    "divergence_grid",
    "dots_by_setting",
    "dots_with_intervals",
    "held_back",
    "new_axes",
    "probability_bars",
    "say_bytes",
    "side_by_side",
    "smoothed",
    "timeline",
    "training_curve",
]

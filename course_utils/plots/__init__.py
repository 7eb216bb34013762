"""The still pictures: data in, matplotlib Axes out. Each has a title and axes with units.

`basics` has the colours and the pictures that every notebook uses; the other modules hold those of one subject. The
notebooks print the numbers beside each picture.
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
from course_utils.plots.comparison import divergence, divergence_grid

__all__ = [
    "BLUE",
    "GREEN",
    "GREY",
    "ORANGE",
    "SERIES",
    "VERMILION",
    "bigram_table",
    "curve",
    "divergence",
    "divergence_grid",
    "dots_by_setting",
    "new_axes",
    "probability_bars",
]

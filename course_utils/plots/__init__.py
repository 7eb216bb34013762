"""The still pictures: data in, matplotlib Axes out. Each has a title and axes with units.

Diagrams give back what they show in words instead, for `print`.

`signs` makes the figures and writes their texts; `basics` has the colours and the pictures that every notebook uses;
the other modules hold those of one subject. The notebooks print the numbers beside each picture.
"""

from course_utils.plots.architecture import attention_map, llama_layer, prefill_and_decode
from course_utils.plots.basics import (
    BLUE,
    GREEN,
    GREY,
    INK,
    ORANGE,
    SERIES,
    VERMILION,
    bigram_table,
    curve,
    dots_by_setting,
    legend_beside,
    new_axes,
    probability_bars,
)
from course_utils.plots.cache import cache_filling, say_bytes
from course_utils.plots.compare_logits import divergence, divergence_grid
from course_utils.plots.comparison import calibration_curve, dots_with_intervals, side_by_side
from course_utils.plots.diagrams import choice_steps, logits_cube, the_loop, u_on_a_ruler
from course_utils.plots.serving import timeline
from course_utils.plots.streaming import held_back
from course_utils.plots.training import LiveLoss, smoothed, training_curve

__all__ = [
    "BLUE",
    "GREEN",
    "GREY",
    "INK",
    "ORANGE",
    "SERIES",
    "VERMILION",
    "LiveLoss",
    "attention_map",
    "bigram_table",
    "cache_filling",
    "calibration_curve",
    "choice_steps",
    "curve",
    "divergence",
    "divergence_grid",
    "dots_by_setting",
    "dots_with_intervals",
    "held_back",
    "legend_beside",
    "llama_layer",
    "logits_cube",
    "new_axes",
    "prefill_and_decode",
    "probability_bars",
    "say_bytes",
    "side_by_side",
    "smoothed",
    "the_loop",
    "timeline",
    "training_curve",
    "u_on_a_ruler",
]

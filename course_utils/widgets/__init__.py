"""Panels: drag a slider, and see the distribution and the text move.

    explore       explore_sampling and explore_logits: from scores to a text
    explore_cache what a key/value cache costs, by its sizes
    watch_pool    the blocks of an engine, step by step
    watch_stream  a stream with stop strings, piece by piece
    panel         one widget, one redraw for each state, the newest state wins; which cell owns which panel
    settings      which of a decoder's settings a panel lets move
    controls      what can be moved, and what values may come back
    pictures      SVG text and a table from the data
    views         the data, from the package's own sampler and loop

Only this package knows ipywidgets.
"""

from course_utils.widgets.explore import explore_logits, explore_sampling
from course_utils.widgets.explore_cache import explore_cache
from course_utils.widgets.watch_pool import watch_pool
from course_utils.widgets.watch_stream import watch_stream

__all__ = ["explore_cache", "explore_logits", "explore_sampling", "watch_pool", "watch_stream"]

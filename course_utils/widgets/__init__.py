"""Panels: drag a slider, and see the distribution and the text move.

    explore   explore_sampling and explore_logits, the panels of the course
    panel     one widget, one redraw for each state, the newest state wins; which cell owns which panel
    controls  what can be moved, and what values may come back
    pictures  SVG text and a table from the data
    views     the data, from the package's own sampler and loop

Only this package knows ipywidgets.
"""

from course_utils.widgets.explore import explore_logits, explore_sampling

__all__ = ["explore_logits", "explore_sampling"]

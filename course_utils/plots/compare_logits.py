"""The pictures of `compare_logits`: where two computations part, and how far above the noise."""

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from course_utils.compare_logits import LogitsReport
from course_utils.plots.basics import BLUE, GREY, SERIES, VERMILION, legend_beside, new_axes
from course_utils.plots.signs import as_drawn, new_figure, write

_NO_DIFFERENCE = 1e-8  # a logarithm has no zero: equal logits are drawn here, below what float32 can tell apart
_MARKERS = ("o", "s", "^", "x")


def divergence(report: LogitsReport, title: str, boundaries: Sequence[int] = (), ax: Axes | None = None) -> Axes:
    """|difference| over positions on a log axis, one line a row, with the tolerance as a dashed line.

    report: what `compare_logits` gives. boundaries: positions at which a new chunk begins, as thin vertical lines.
    """
    ax = new_axes() if ax is None else ax
    shown = np.clip(np.nan_to_num(report.differences.numpy(), nan=1e3, posinf=1e3), _NO_DIFFERENCE, None)
    for row, values in enumerate(shown):
        name = "difference" if len(shown) == 1 else f"row {row}"
        ax.plot(range(len(values)), values, color=SERIES[row % 4], marker=_MARKERS[row % 4], markersize=3, label=name)
    ax.axhline(report.tolerance, color=VERMILION, linestyle="--", label=f"tolerance {report.tolerance:.0e}")
    for position in boundaries:
        ax.axvline(position - 0.5, color=GREY, linewidth=0.8, linestyle=":")
    ax.set_yscale("log")
    ax.set_ylim(_NO_DIFFERENCE / 2, 1e2)
    write(ax, title=title, xlabel="position (tokens)", ylabel="|difference| (nats)")
    legend_beside(ax)
    return ax


def divergence_grid(
    reports: Mapping[str, LogitsReport], title: str, boundaries: Sequence[int] = (), columns: int = 4
) -> Figure:
    """Many comparisons side by side, each a small `divergence` with its name. Returns the figure."""
    n_rows = -(-len(reports) // columns)
    size = (10, 1.7 * n_rows + 0.6)
    figure, axes = new_figure(n_rows, columns, figsize=size, sharex=True, sharey=True, squeeze=False)
    for ax in axes.flat[len(reports) :]:
        ax.set_axis_off()
    for ax, (name, report) in zip(axes.flat, reports.items(), strict=False):
        divergence(report, name, boundaries, ax)
        ax.get_legend().remove()
        ax.set(xlabel="", ylabel="", title="")
        ax.set_title(as_drawn(name), fontsize=10, loc="left")
        ax.lines[0].set_color(BLUE)
    figure.suptitle(as_drawn(title))
    figure.supxlabel("position (tokens)")
    figure.supylabel("|difference| (nats), dashed: tolerance")
    return figure

"""The pictures of `comparison`: shares with their intervals, and one measure beside another for two models."""

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.axes import Axes

from course_utils.evaluation import Bin
from course_utils.plots.basics import BLUE, INK, SERIES, legend_beside, new_axes
from course_utils.plots.signs import as_drawn, legend_name, new_figure, write


def dots_with_intervals(
    labels: Sequence[str],
    values: Sequence[float],
    intervals: Sequence[tuple[float, float]],
    title: str,
    xlabel: str,
    ylabel: str,
) -> Axes:
    """A dot for each setting, with a bar from the low to the high end of its interval.

    intervals: for each value a pair (low, high).
    """
    ax, positions = new_axes(7, 3), np.arange(len(labels))
    shares, (low, high) = np.asarray(values, dtype=float), np.asarray(intervals, dtype=float).T
    reach = np.maximum([shares - low, high - shares], 0)  # rounding may put a value a hair outside
    ax.errorbar(positions, shares, reach, fmt="o", color=BLUE, capsize=4)
    ax.set_xticks(positions)
    write(ax, title=title, xlabel=xlabel, ylabel=ylabel, xticklabels=labels)
    return ax


def side_by_side(
    x: Sequence[float], panels: Mapping[str, Mapping[str, Sequence[float]]], title: str, xlabel: str
) -> list[Axes]:
    """One small picture for each measure, with a line for each model.

    x: the settings. panels: label of the measure → model → one value for each x. Returns the list of Axes.
    """
    figure, axes = new_figure(1, len(panels), figsize=(3.2 * len(panels), 2.8), squeeze=False)
    for ax, (measure, series) in zip(axes[0], panels.items(), strict=True):
        for index, (name, values) in enumerate(series.items()):
            ax.plot(x, values, label=legend_name(name), color=SERIES[index % 4], marker="os^D"[index % 4],
                    linestyle=("-", "--", ":", "-.")[index % 4])  # fmt: skip
        ax.set_ylim(-0.03, 1.03)
        write(ax, title=measure, xlabel=xlabel, ylabel="share")
    legend_beside(axes[0][-1], axes[0][0].get_legend_handles_labels()[0])
    figure.suptitle(as_drawn(title))
    return list(axes[0])


def calibration_curve(series: Mapping[str, Sequence[Bin]], title: str, xlabel: str, ylabel: str) -> Axes:
    """How often what was said with a confidence came true, against the confidence; the diagonal is perfect.

    series: a name → the bins of `evaluation.reliability`, with `said`, `came_true`, `low` and `high`.
    """
    ax = new_axes(7, 3.6)
    ax.plot([0, 1], [0, 1], color=INK, linestyle=":", label="perfect")
    for index, (name, bins) in enumerate(series.items()):
        said, true = np.array([b.said for b in bins]), np.array([b.came_true for b in bins])
        reach = np.maximum([true - [b.low for b in bins], [b.high for b in bins] - true], 0)
        ax.errorbar(said, true, reach, label=legend_name(name), color=SERIES[index % 4], marker="os^D"[index % 4],
                    markersize=4, linestyle=("-", "--", ":", "-.")[index % 4], capsize=3, linewidth=1.2)  # fmt: skip
    ax.set(xlim=(0, 1.03), ylim=(0, 1.03))
    write(ax, title=title, xlabel=xlabel, ylabel=ylabel)
    legend_beside(ax)
    return ax

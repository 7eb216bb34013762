"""The colours, empty axes, and the pictures that every notebook uses.

The colours are told apart with any kind of colour vision (Okabe and Ito), and nothing is said by colour alone. All
pictures have a transparent background and ink of a grey that can be read on JupyterLab's white and on its dark #111.
"""

from collections.abc import Mapping, Sequence

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.ticker import LogLocator
from numpy.typing import ArrayLike

from course_utils.plots.signs import legend_name, new_figure, write

BLUE, ORANGE, GREEN, VERMILION, GREY = "#0072B2", "#E69F00", "#009E73", "#D55E00", "#999999"
SERIES = (BLUE, ORANGE, GREEN, VERMILION)
INK = "#787878"  # contrast 4.4 on white, 4.3 on #111; no colour has more than 4.35 on both
_OTHER_INK = (
    "#808080"  # for y: IPython puts a slab behind a transparent picture if all tick labels are dark, or all light
)
_HATCHES = ("", "//", "..", "xx")

plt.rcParams.update(
    {"figure.facecolor": "none", "axes.facecolor": "none", "savefig.facecolor": "auto", "text.color": INK,
     "axes.edgecolor": INK, "axes.labelcolor": INK, "xtick.color": INK, "ytick.color": INK,
     "ytick.labelcolor": _OTHER_INK, "legend.frameon": False}
)  # fmt: skip


def new_axes(width: float = 7, height: float = 3) -> Axes:
    """Empty axes of a new figure, in inches."""
    return new_figure(figsize=(width, height))[1]


def legend_beside(ax: Axes, handles: Sequence[Artist] | None = None) -> None:
    """The legend on the right of the plot, where it covers nothing. handles: what it names; None: all with a label."""
    ax.legend(handles=handles, loc="upper left", bbox_to_anchor=(1.01, 1.02), borderaxespad=0, fontsize=9)


def probability_bars(labels: Sequence[str], series: Mapping[str, ArrayLike], title: str) -> Axes:
    """Bars for each candidate token, one colour and hatch for each named distribution.

    labels: one for each token. series: name -> probabilities (n_tokens,).
    """
    ax, positions = new_axes(), np.arange(len(labels))
    width = 0.8 / len(series)
    for index, (name, probs) in enumerate(series.items()):
        offset = (index - (len(series) - 1) / 2) * width
        ax.bar(positions + offset, np.asarray(probs), width, label=legend_name(name), color=SERIES[index % 4],
               hatch=_HATCHES[index % 4], edgecolor="white", linewidth=0)  # fmt: skip
    ax.set_xticks(positions)
    write(ax, title=title, xlabel="candidate token", ylabel="probability", xticklabels=labels)
    if len(series) > 1:
        legend_beside(ax)
    return ax


def bigram_table(probs: ArrayLike, labels: Sequence[str], title: str) -> Axes:
    """A table of next-token probabilities as shades, row = previous token.

    probs: (n, n). labels: one for each row and column.
    """
    ax = new_axes(6, 5)
    image = ax.imshow(np.asarray(probs), cmap="cividis", vmin=0)
    ticks = range(len(labels))
    ax.set(xticks=ticks, yticks=ticks)
    write(ax, title=title, xlabel="next token", ylabel="previous token", xticklabels=labels, yticklabels=labels)
    ax.tick_params(labelsize=8)
    ax.figure.colorbar(image, label="probability")
    return ax


def curve(
    x: ArrayLike,
    series: Mapping[str, Sequence[float]],
    title: str,
    xlabel: str,
    ylabel: str,
    levels: Mapping[str, float] | None = None,
    log: bool = False,
) -> Axes:
    """Lines over x, one for each name, and dashed levels to compare with.

    levels: name -> value of a horizontal line. log: whether the values stand on a logarithmic axis, so that large and
    small ones can be seen together.
    """
    ax = new_axes()
    for index, (name, values) in enumerate(series.items()):
        linestyle = ("-", "-.", ":", "--")[index % 4]
        ax.plot(x, values, label=legend_name(name), color=SERIES[index % 4], linestyle=linestyle)
    for index, (name, value) in enumerate((levels or {}).items()):
        colour = (GREY, INK, VERMILION)[index % 3]
        shown = f"{name}: {value:.3f}" if isinstance(value, float) else f"{name}: {value}"
        ax.axhline(value, label=legend_name(shown), color=colour, linestyle="--")
    if log:
        ax.set_yscale("log")
        ax.yaxis.set_major_formatter("{x:g}")
        ax.yaxis.set_minor_locator(LogLocator(subs=(2, 5)))
        ax.yaxis.set_minor_formatter("{x:g}")
    write(ax, title=title, xlabel=xlabel, ylabel=ylabel)
    legend_beside(ax)
    return ax


def dots_by_setting(values: Mapping[str, Sequence[float]], title: str, xlabel: str, ylabel: str) -> Axes:
    """One dot for each text, in a column for each setting, with a line at the mean.

    values: setting -> one value for each text.
    """
    ax = new_axes(6, 3)
    for position, dots in enumerate(values.values()):
        spread = np.linspace(-0.15, 0.15, len(dots))
        ax.plot(position + spread, dots, "o", markersize=4, color=SERIES[position % 4], alpha=0.7)
        ax.hlines(np.mean(dots), position - 0.25, position + 0.25, color=INK, linewidth=2)
    ax.set_xticks(range(len(values)))
    write(ax, title=title, xlabel=xlabel, ylabel=ylabel, xticklabels=list(values))
    return ax

"""A stream of text: what has been shown after each piece, and what is held back."""

from collections.abc import Sequence

from matplotlib.axes import Axes

from course_utils.plots.basics import BLUE, ORANGE, legend_beside, new_axes
from course_utils.plots.signs import write


def held_back(pieces: Sequence[str], shown: Sequence[int], held: Sequence[int], title: str) -> Axes:
    """A bar for each piece: how many characters are shown by then, and on top how many wait.

    pieces: a label for each bar. shown, held: (n_pieces,) characters.
    """
    ax, positions = new_axes(), range(len(pieces))
    ax.bar(positions, shown, color=BLUE, label="shown")
    ax.bar(positions, held, bottom=shown, color=ORANGE, edgecolor="black", linewidth=0, hatch="//", label="held back")
    ax.set_xticks(positions)
    write(ax, title=title, xlabel="piece", ylabel="text so far (characters)", xticklabels=pieces)
    ax.tick_params("x", labelsize=8, rotation=0 if len(pieces) <= 12 else 90)
    legend_beside(ax)
    return ax

"""The picture of many texts over time: who waits, who is prefilled, who is decoded."""

from collections.abc import Mapping

from matplotlib.axes import Axes
from matplotlib.patches import Patch, Rectangle

from course_utils.plots.basics import BLUE, GREY, ORANGE, VERMILION, legend_beside, new_axes
from course_utils.plots.signs import write

_KINDS = {
    "W": ("waits", "white", ""),
    "P": ("prefill", ORANGE, "//"),
    "D": ("decode", BLUE, ""),
    "-": ("ended, its place kept", GREY, "xx"),
    "R": ("runs, no budget left", VERMILION, ".."),
}


def timeline(states: Mapping[str, str], title: str) -> Axes:
    """A row for each text, a column for each step.

    states: name -> one letter a step, as `serving.states` gives them: W waits, P prefill, D decode, R runs and gets
        nothing, - has ended while its place is kept, a space where it is not there.
    """
    ax = new_axes(7, 0.9 + 0.24 * len(states))
    for row, letters in enumerate(states.values()):
        for step, letter in enumerate(letters):
            if letter in _KINDS:
                _, colour, hatch = _KINDS[letter]
                edge = GREY if letter == "W" else "white"
                ax.add_patch(
                    Rectangle((step, row - 0.4), 1, 0.8, facecolor=colour, hatch=hatch, edgecolor=edge, lw=0.4)
                )
    shown = [kind for letter, kind in _KINDS.items() if any(letter in letters for letters in states.values())]
    handles = [Patch(facecolor=colour, hatch=hatch, edgecolor=GREY, label=name) for name, colour, hatch in shown]
    n_steps = max(map(len, states.values()), default=1)
    ax.set(xlim=(0, n_steps), ylim=(len(states) - 0.4, -0.6), yticks=range(len(states)))
    write(ax, title=title, xlabel="step of the engine", ylabel="text", yticklabels=list(states))
    legend_beside(ax, handles)
    return ax

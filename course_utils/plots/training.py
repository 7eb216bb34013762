"""The loss while a model is trained: a picture that grows with it, and the still one afterwards.

Both hold the loss against levels, such as the grammar's floor and the bigram's loss: a curve alone says little.
"""

import time
from collections.abc import Callable, Mapping, Sequence
from html import escape
from typing import Protocol

import numpy as np
from IPython.display import HTML, DisplayHandle, display
from matplotlib.axes import Axes

from course_utils.plots.basics import BLUE, GREY, VERMILION, legend_beside, new_axes
from course_utils.plots.signs import legend_name, write

_WIDTH, _HEIGHT = 640, 240
_LEFT, _RIGHT, _TOP, _BOTTOM = (
    46,
    _WIDTH - 130,
    22,
    _HEIGHT - 34,
)  # the plot; names stand on its right
_MOST_POINTS = 300  # a curve of more points than this looks the same
_LEVEL_COLOURS = (VERMILION, GREY)


def smoothed(losses: Sequence[float], window: int = 20) -> np.ndarray:
    """The mean of each loss and up to `window` - 1 before it: batches differ, and single ones jump. Same length."""
    if window < 1:
        raise ValueError(f"window is {window}; expected 1 or more.")
    sums = np.concatenate([[0.0], np.cumsum(losses)])
    ends = np.arange(1, len(losses) + 1)
    starts = np.maximum(ends - window, 0)
    return (sums[ends] - sums[starts]) / (ends - starts)


def training_curve(losses: Sequence[float], levels: Mapping[str, float], title: str) -> Axes:
    """The loss of each step, its running mean, and dashed levels to compare with.

    losses: nats a token, one for each step. levels: name -> nats a token.
    """
    ax, steps = new_axes(), np.arange(1, len(losses) + 1)
    ax.plot(steps, losses, color=BLUE, alpha=0.3, linewidth=0.8, label="each step")
    ax.plot(steps, smoothed(losses), color=BLUE, label="mean of 20 steps")
    for (name, level), colour in zip(levels.items(), _LEVEL_COLOURS, strict=False):
        ax.axhline(level, color=colour, linestyle="--", label=legend_name(f"{name}: {level:.3f}"))
    ax.set_ylim(0, None)
    write(ax, title=title, xlabel="step", ylabel="loss (nats a token)")
    legend_beside(ax)
    return ax


def live_picture(losses: Sequence[float], n_steps: int, levels: Mapping[str, float], seconds_left: float) -> str:
    """The curve so far as SVG, with a line of text that says the same. It follows the page's light or dark colours.

    losses: nats a token, at least one. n_steps: how many there will be.
    """
    means = smoothed(losses)
    top = max(*means, *levels.values()) * 1.05
    said = (
        f"Step {len(losses)} of {n_steps}: {means[-1]:.3f} nats a token, "
        f"{'done' if len(losses) >= n_steps else f'about {seconds_left:.0f} s left'}."
    )

    def place(step: float, loss: float) -> str:
        x = _LEFT + (_RIGHT - _LEFT) * step / n_steps
        return f"{x:.1f},{_BOTTOM - (_BOTTOM - _TOP) * loss / top:.1f}"

    marks = [_text(_LEFT, 13, "Training loss (nats a token)"), _text(_RIGHT, _HEIGHT - 6, "step", "end")]
    marks += [f'<path d="M{_LEFT},{_TOP}V{_BOTTOM}H{_RIGHT}" fill="none" stroke="currentColor"/>']
    for loss in range(int(top) + 1):
        marks.append(_text(_LEFT - 6, float(place(0, loss).split(",")[1]) + 4, str(loss), "end"))
    for step in (0, n_steps):
        marks.append(_text(float(place(step, 0).split(",")[0]), _BOTTOM + 15, str(step), "middle"))
    for (name, level), colour in zip(levels.items(), _LEVEL_COLOURS, strict=False):
        y = float(place(0, level).split(",")[1])
        marks.append(f'<path d="M{_LEFT},{y}H{_RIGHT}" stroke="{colour}" stroke-dasharray="6 4"/>')
        marks.append(_text(_RIGHT + 6, y + 4, f"{name}: {level:.3f}"))
    shown = np.unique(np.linspace(0, len(means) - 1, min(len(means), _MOST_POINTS)).astype(int))
    points = " ".join(place(index + 1, means[index]) for index in shown)
    marks.append(f'<polyline points="{points}" fill="none" stroke="{BLUE}" stroke-width="2"/>')
    size = f'viewBox="0 0 {_WIDTH} {_HEIGHT}" width="{_WIDTH}" style="max-width:100%"'
    svg = f'<svg role="img" aria-label="{escape(said)}" {size}>{"".join(marks)}</svg>'
    return f'<figure style="margin:0">{svg}<figcaption>{escape(said)}</figcaption></figure>'


def _text(x: float, y: float, text: str, anchor: str = "start") -> str:
    return f'<text x="{x}" y="{y}" font-size="12" fill="currentColor" text-anchor="{anchor}">{escape(text)}</text>'


class Trained(Protocol):
    """What is being trained, with the loss of each step that it has taken."""

    losses: list[float]


class LiveLoss:
    """Give it to `train_transformer` as `on_step`: one picture in the cell's output, drawn anew while training goes on.

    n_steps: how many there will be. levels: name -> nats a token. every: seconds from one picture to the next; the last
    step is always drawn. show, clock: for tests.
    `losses` has the loss of each step that was taken, also after an interruption.
    """

    def __init__(
        self,
        n_steps: int,
        levels: Mapping[str, float],
        every: float = 0.5,
        show: Callable[..., DisplayHandle | None] = display,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.n_steps, self.levels, self.every = n_steps, levels, every
        self.losses: Sequence[float] = ()
        self._show, self._clock = show, clock
        self._begun: float | None = None
        self._before = 0
        self._drawn: float | None = None
        self._handle: DisplayHandle | None = None

    def __call__(self, trainer: Trained) -> None:
        self.losses = trainer.losses
        now, taken = self._clock(), len(trainer.losses)
        if self._begun is None:
            self._begun, self._before = now, taken - 1
        if self._drawn is not None and now - self._drawn < self.every and taken < self.n_steps:
            return
        self._drawn = now
        seconds_left = (now - self._begun) / max(taken - self._before - 1, 1) * (self.n_steps - taken)
        picture = HTML(live_picture(trainer.losses, self.n_steps, self.levels, seconds_left))
        if taken == self._before + 1:
            self._handle = self._show(picture, display_id=True)  # None outside of a notebook: nothing is drawn anew
        elif self._handle is not None:
            self._handle.update(picture)

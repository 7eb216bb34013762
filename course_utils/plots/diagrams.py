"""Diagrams of how scores become a text, drawn from the numbers that they are given.

Each function draws one figure and returns what it shows, in words: `print(plots.u_on_a_ruler(...))`.
"""

from collections.abc import Sequence

import matplotlib.pyplot as plt
import numpy as np
import torch
from matplotlib.axes import Axes
from matplotlib.patches import Rectangle
from matplotlib.transforms import Affine2D
from numpy.typing import ArrayLike

from course_utils import sampling
from course_utils.plots.basics import BLUE, GREY, INK, ORANGE, VERMILION, new_axes
from course_utils.plots.signs import as_drawn
from course_utils.sampling import SamplingParams

_SHADES = ("#0072B2", "#E69F00", "#56B4E9", "#CC79A7")  # neighbours on the ruler differ; black or white text is legible
_SHADE_INKS = ("white", "black", "black", "black")


def u_on_a_ruler(labels: Sequence[str], probs: Sequence[float], u: float) -> str:
    """The probabilities laid end to end from 0 to 1 in the order of the ids, and the token that u falls on.

    labels: one for each token. probs: (n_tokens,), adding up to 1. u: 0 <= u < 1.
    """
    ax = new_axes(7.5, 1.9)
    words = _ruler(ax, labels, np.asarray(probs, dtype=float), u)
    ax.set(title=f"Where u = {u:.3f} falls", xlabel="cumulative probability, in the order of the ids")
    return words


def choice_steps(labels: Sequence[str], logits: Sequence[float], params: SamplingParams, u: float) -> str:
    """One token's choice from left to right: logits, temperature, filters, softmax, draw.

    labels: one for each token; about 3 to 8. logits: (n_tokens,), finite, in nats. params: SamplingParams that are not
        greedy, with the temperature first in their order. u: 0 <= u < 1.
    Raises ValueError for greedy settings, or another first step.
    """
    if params.greedy or params.order[0] != "temperature":
        raise ValueError("choice_steps draws a draw with the temperature first; expected settings that are not greedy.")
    scores = torch.as_tensor(logits, dtype=torch.float64)
    heated = sampling.apply_temperature(scores, params.temperature)
    probs = sampling.next_token_probs(scores, params).numpy()
    kept = probs > 0
    filters = [f"{name} = {value:g}" for name in ("top_k", "top_p", "min_p") if (value := getattr(params, name))]
    columns = (
        ("1  logits", scores.numpy(), np.ones_like(kept)),
        (f"2  divided by T = {params.temperature:g}", heated.numpy(), np.ones_like(kept)),
        (f"3  {', '.join(filters) or 'no filter'}", heated.numpy(), kept),
        ("4  softmax", probs, kept),
    )
    figure, axes = plt.subplot_mosaic("1234;dddd", figsize=(10, 4.2), height_ratios=[2.4, 1], layout="constrained")
    for key, (title, values, stays) in zip("1234", columns, strict=True):
        _bars(axes[key], labels, values, stays, title, "probability" if key == "4" else "logit (nats)")
    ends = min(0, scores.min().item(), heated.min().item()), max(0, scores.max().item(), heated.max().item())
    for key in "123":  # one scale: what the temperature does is seen
        axes[key].set_xlim(ends[0] - 0.1, ends[1] + 0.1)
    words = _ruler(axes["d"], labels, probs, u)
    axes["d"].set(title=f"5  the draw: u = {u:.3f}", xlabel="cumulative probability, in the order of the ids")
    figure.suptitle("From logits to a token: read from 1 to 5")
    dropped = [label for label, stays in zip(labels, kept, strict=True) if not stays]
    at_t = ", ".join(f"{label} {value:.2f}" for label, value in zip(labels, heated.tolist(), strict=True))
    return (
        f"1 logits: {', '.join(f'{label} {value:.2f}' for label, value in zip(labels, scores.tolist(), strict=True))}\n"
        f"2 divided by T = {params.temperature:g}: {at_t}\n"
        f"3 {', '.join(filters) or 'no filter'}: {', '.join(dropped) + ' dropped' if dropped else 'all stay'}\n"
        f"4 softmax: {', '.join(f'{label} {p:.3f}' for label, p in zip(labels, probs, strict=True) if p)}\n"
        f"5 {words}"
    )


def the_loop(prompt: Sequence[str], chosen: Sequence[str], why: str) -> str:
    """The loop, one row for each pass: the tokens that are fed, and the one that is chosen from the last scores.

    prompt, chosen: labels of tokens; about 12 in all. why: the reason for the end, as in "eos" or "length".
    """
    ax = new_axes(8.5, 0.9 + 0.5 * len(chosen))
    n = len(prompt)
    for row, token in enumerate(chosen):
        for place, label in enumerate([*prompt, *chosen[:row]]):
            _box(ax, place, row, label, BLUE if place < n else GREY, "white" if place < n else "black")
        end = n + row
        ax.annotate("", (end + 0.75, row), (end - 0.45, row), arrowprops={"arrowstyle": "->", "color": INK})
        _box(ax, end + 1.2, row, token, ORANGE, "black", "//")
    ax.text(n + len(chosen) + 0.9, len(chosen) - 1, f"end: {as_drawn(why)}", va="center", fontsize=10)
    ax.set(title="The loop: feed the tokens, choose one by the last scores, append it, repeat",
           xlim=(-0.7, n + len(chosen) + 2.6), ylim=(len(chosen) - 0.4, -0.6), xticks=[0], xticklabels=[""],
           yticks=range(len(chosen)),
           xlabel="blue: prompt, grey: chosen before, orange with stripes: chosen by this pass",
           ylabel="pass", yticklabels=range(1, len(chosen) + 1))  # fmt: skip
    ax.spines[:].set_visible(False)
    ax.tick_params(length=0)
    fed = f"{n} prompt token{'s' * (n > 1)} ({' '.join(prompt)})"
    return (
        f"Pass 1 gets {fed} and chooses {chosen[0]}, which is appended and fed to pass 2, and so on. So {len(chosen)} "
        f"tokens ({' '.join(chosen)}) take {len(chosen)} passes. The loop ends with {why}."
    )


def logits_cube(logits: ArrayLike, texts: Sequence[Sequence[str]], vocabulary: Sequence[str]) -> str:
    """A tensor of logits as sheets, one for each text: rows are positions, columns the vocabulary.

    logits: (B, T, V), small enough to be seen: about 3 × 6 × 8. texts: B lists of T labels. vocabulary: V labels.
    The last row of each sheet, the scores for a token that is not there yet, has a frame.
    """
    values = np.asarray(logits, dtype=float)
    (b, t, v), shift = values.shape, 0.55
    ax = new_axes(8, 4.2)
    ax.set_aspect("equal")
    low, high = values.min(), values.max()
    for sheet in reversed(range(b)):  # the first text lies in front
        right, up = sheet * (v + 2.6), sheet * shift
        move = Affine2D().skew_deg(0, 8).translate(right, -up) + ax.transData
        image = ax.imshow(values[sheet], cmap="cividis", vmin=low, vmax=high, extent=(0, v, t, 0), transform=move)
        frame = Rectangle((0, t - 1), v, 1, fill=False, edgecolor=VERMILION, linewidth=2.5, transform=move)
        ax.add_patch(frame)
        for position, label in enumerate(texts[sheet]):
            ax.text(-0.15, position + 0.5, as_drawn(label), ha="right", va="center", fontsize=9, transform=move)
        for column, label in enumerate(vocabulary):
            ax.text(column + 0.5, -0.15, as_drawn(label), ha="center", va="bottom", fontsize=9, transform=move)
        ax.text(v / 2, t + 0.75, f"text {sheet + 1} of B = {b}", ha="center", fontsize=10, transform=move)
    tilt = (v * np.tan(np.deg2rad(8))) + 1.2
    ax.set(title=f"Logits of the shape (B, T, V) = ({b}, {t}, {v}): one score for each text, position and token",
           xlim=(-1.4, (b - 1) * (v + 2.6) + v + 0.5), ylim=(t + tilt, -1.2 - (b - 1) * shift))  # fmt: skip
    ax.set_axis_off()
    ax.figure.colorbar(image, label="logit (nats)", shrink=0.6)
    return (
        f"{b} texts × {t} positions (rows) × {v} tokens of the vocabulary (columns) = {values.size} logits, from "
        f"{low:.1f} to {high:.1f}. Row i scores the token after position i. Only the last row of each text, in a "
        "frame, scores a token that is not there yet."
    )


def _ruler(ax: Axes, labels: Sequence[str], probs: np.ndarray, u: float) -> str:
    ends = probs.cumsum()
    chosen = sampling.draw(torch.as_tensor(probs), u)
    for index in np.flatnonzero(probs).tolist():
        start, ink = ends[index] - probs[index], _SHADE_INKS[index % 4]
        ax.barh(0, probs[index], left=start, height=0.8, color=_SHADES[index % 4])
        if probs[index] > 0.04:
            behind = {"facecolor": _SHADES[index % 4], "edgecolor": "none", "pad": 1}
            label = f"{as_drawn(labels[index])}\n{probs[index]:.3f}"
            ax.text(start + probs[index] / 2, 0, label, ha="center", va="center", color=ink, fontsize=9, bbox=behind)
    ax.axvline(u, color=VERMILION, linewidth=2)
    ax.plot(u, 0.75, "v", color=VERMILION, markersize=11, clip_on=False)
    ax.set(xlim=(0, 1), ylim=(-0.45, 0.95), yticks=[0], yticklabels=[""], xticks=np.linspace(0, 1, 6))
    ax.tick_params(axis="y", length=0)
    start = ends[chosen] - probs[chosen]
    return f"u = {u:.3f} lies between {start:.3f} and {ends[chosen]:.3f}: the draw takes {labels[chosen]}."


def _bars(ax: Axes, labels: Sequence[str], values: np.ndarray, stays: np.ndarray, title: str, unit: str) -> None:
    places = np.arange(len(labels))
    ax.barh(places[stays], values[stays], color=BLUE)
    ax.barh(places[~stays], values[~stays], fill=False, edgecolor=GREY, linestyle=":")
    for place in places[~stays]:
        ax.text(0, place, " ×", va="center", color=VERMILION, fontsize=12)
    ax.axvline(0, color=INK, linewidth=0.8)
    ax.set(title=title, xlabel=unit, yticks=places, yticklabels=[as_drawn(label) for label in labels])
    ax.invert_yaxis()


def _box(ax: Axes, x: float, y: float, label: str, colour: str, ink: str, hatch: str | None = None) -> None:
    ax.add_patch(Rectangle((x - 0.45, y - 0.38), 0.9, 0.76, facecolor=colour, hatch=hatch, edgecolor="white",
                           linewidth=0))  # fmt: skip
    behind = {"facecolor": colour, "edgecolor": "none", "pad": 1}
    ax.text(x, y, as_drawn(label), ha="center", va="center", color=ink, fontsize=9, bbox=behind)

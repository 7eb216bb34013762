"""Pictures of a key/value cache: how it fills, and how large it gets; and bytes as people say them."""

from collections.abc import Sequence

import matplotlib.pyplot as plt
from matplotlib.axes import Axes

from course_utils.plots.basics import BLUE, GREY, ORANGE, new_axes
from course_utils.plots.signs import as_drawn, write

_UNITS = ("bytes", "KiB", "MiB", "GiB", "TiB")


def unit_of(n_bytes: float) -> tuple[str, int]:
    """The largest unit of which there is at least one, and its bytes: ("MiB", 1048576)."""
    power = 0
    while power < len(_UNITS) - 1 and n_bytes >= 1024 ** (power + 1):
        power += 1
    return _UNITS[power], 1024**power


def say_bytes(n_bytes: float) -> str:
    """A number of bytes with its unit, at most four digits.

    >>> say_bytes(131072), say_bytes(512 * 1024**2)
    ('128 KiB', '512 MiB')
    """
    unit, size = unit_of(n_bytes)
    return f"{n_bytes / size:.4g} {unit}"


def cache_filling(tokens: Sequence[str], fed: Sequence[int], n_slots: int, title: str) -> Axes:
    """The slots of a cache after each call of the model: a row for each call, from top to bottom.

    tokens: the labels of all tokens that were fed. fed: how many each call fed. n_slots: how many are drawn.
    A slot is empty (dotted), written by this call (orange, hatched), or kept from an earlier one (blue).
    """
    ax = new_axes(7, 0.9 + 0.42 * len(fed))
    before = 0
    for call, n_new in enumerate(fed):
        for slot in range(n_slots):
            new, kept = before <= slot < before + n_new, slot < before
            ax.add_patch(plt.Rectangle((slot - 0.45, call - 0.4), 0.9, 0.8, edgecolor="white" if new or kept else GREY,
                                       linestyle="-" if new or kept else ":", hatch="//" if new else None,
                                       facecolor=ORANGE if new else BLUE if kept else "none"))  # fmt: skip
            if new or kept:
                behind = {"facecolor": ORANGE if new else BLUE, "edgecolor": "none", "pad": 1}
                ax.text(slot, call, as_drawn(tokens[slot]), ha="center", va="center", fontsize=9, bbox=behind,
                        color="black" if new else "white")  # fmt: skip
        before += n_new
    names = [f"{'prefill' if n_new > 1 else 'decode'}, feeds {n_new}" for n_new in fed]
    write(ax, title=title, xlabel="slot of the cache (position of the token)", ylabel="call of the model")
    ax.set(xlim=(-0.7, n_slots - 0.3), ylim=(len(fed) - 0.4, -0.6), xticks=range(0, n_slots, max(1, n_slots // 12)),
           yticks=range(len(fed)), yticklabels=names)  # fmt: skip
    return ax

"""Texts of learners in still pictures: nothing in them is markup, and every sign can be told from the others.

The default font has no Chinese, Japanese or Korean signs, and few emoji. A figure of ours takes such signs from a font
of the machine that has them; where none has, a sign is written as its code point, such as U+732B.
"""

from collections.abc import Sequence
from typing import Any

import matplotlib.pyplot as plt
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties, findfont, fontManager, get_font

# Fonts with many scripts, as they come with systems; in this order.
WIDE_FONTS = (
    "Noto Sans CJK SC",
    "Noto Sans CJK JP",
    "Noto Sans SC",
    "Source Han Sans SC",
    "PingFang SC",
    "Hiragino Sans GB",
    "Hiragino Sans",
    "Apple SD Gothic Neo",
    "Microsoft YaHei",
    "Yu Gothic",
    "Malgun Gothic",
    "SimHei",
    "MS Gothic",
    "WenQuanYi Micro Hei",
    "WenQuanYi Zen Hei",
    "Droid Sans Fallback",
    "Arial Unicode MS",
    "Noto Emoji",
    "Segoe UI Symbol",
)
_LABELS_AN_INCH = 12  # characters in the size of tick labels


def new_figure(n_rows: int = 1, n_columns: int = 1, **options: Any) -> tuple[Figure, Any]:
    """A figure and its Axes as `plt.subplots` makes them, with fonts for as many signs as the machine has.

    matplotlib's setting `font.family` gets those fonts behind its own: they are asked for what these lack.
    """
    families, installed = list(plt.rcParams["font.family"]), {font.name for font in fontManager.ttflist}
    plt.rcParams["font.family"] = [*families, *(f for f in WIDE_FONTS if f in installed and f not in families)]
    return plt.subplots(n_rows, n_columns, layout="constrained", **options)


def as_drawn(text: object, most: int = 400) -> str:
    r"""The text as matplotlib draws it sign by sign: `$` is a dollar, and a sign that no font has is its code point.

    most: characters, beyond which the text ends with "…": a picture has little room.

    >>> as_drawn("costs $5"), as_drawn("\x07"), as_drawn("Once upon a time", most=4)
    ('costs \\$5', 'U+0007', 'Once…')
    """
    fonts = [get_font(findfont(FontProperties(family=[family]))) for family in plt.rcParams["font.family"]]
    drawn, length, lacking = [], 0, False
    for character in str(text):
        known = character == "\n" or any(font.get_char_index(ord(character)) for font in fonts)
        shown = character if known else f"{' ' if lacking else ''}U+{ord(character):04X}"
        length += len(shown)
        if length > most:
            drawn.append("…")
            break
        drawn.append(r"\$" if shown == "$" else shown)
        lacking = not known
    return "".join(drawn)


def write(ax: Axes, **texts: str | Sequence[object]) -> None:
    """As `ax.set`, for the texts of a picture: title, xlabel, ylabel, and lists of tick labels.

    Labels that have no room side by side stand upright.
    """
    for name, text in texts.items():
        ax.set(**{name: as_drawn(text) if isinstance(text, str) else [as_drawn(label, most=40) for label in text]})
    labels = [label.get_text() for label in ax.get_xticklabels()] if "xticklabels" in texts else []
    if sum(len(label) + 1 for label in labels) > _LABELS_AN_INCH * ax.figure.get_figure(root=True).get_figwidth():
        ax.tick_params("x", rotation=90)


def legend_name(name: object) -> str:
    """The name of a series as a legend shows it; one that begins with "_" would be left out."""
    drawn = as_drawn(name)
    return f" {drawn}" if drawn.startswith("_") else drawn

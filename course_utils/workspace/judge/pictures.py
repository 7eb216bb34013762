"""A class in two pictures: who has passed what, and which hints were given how often."""

from pathlib import Path

from matplotlib.colors import ListedColormap
from matplotlib.figure import Figure

from course_utils.workspace.judge.report import SIGNS, WORDS, misconceptions, pivot

# Light enough for the black letters on them; the letters alone say it too.
_COLOURS = ["#ffffff", "#a6dba0", "#fdd49e", "#f4a6a0", "#e0e0e0", "#d7b5d8", "#cfe3f3"]


def draw(entries: list[dict], out: Path) -> None:
    """Write class.png and misconceptions.png. The same stands in text in the table that is printed and in class.csv."""
    learners, asked, cells = pivot(entries)
    if asked:
        _class(learners, asked, cells).savefig(out / "class.png", dpi=120)
    if found := misconceptions(entries):
        _misconceptions(found).savefig(out / "misconceptions.png", dpi=120)


def _class(learners: list[str], asked: list[str], cells: dict[tuple[str, str], str]) -> Figure:
    figure = Figure(figsize=(3 + 0.45 * len(asked), 1.8 + 0.3 * len(learners)), layout="constrained")
    axes, kinds = figure.subplots(), list(SIGNS)
    numbers = [[kinds.index(cells[x, e]) + 1 if (x, e) in cells else 0 for e in asked] for x in learners]
    axes.imshow(numbers, cmap=ListedColormap(_COLOURS), vmin=-0.5, vmax=len(kinds) + 0.5, aspect="auto")
    for row, learner in enumerate(learners):
        for column, exercise in enumerate(asked):
            if (learner, exercise) in cells:
                axes.text(column, row, SIGNS[cells[learner, exercise]], ha="center", va="center", fontsize=9)
    axes.set_xticks(range(len(asked)), asked, rotation=60, ha="right", fontsize=8)
    axes.set_yticks(range(len(learners)), [_short(learner) for learner in learners], fontsize=8)
    axes.set_xlabel(", ".join(f"{sign} {WORDS.get(kind, kind)}" for kind, sign in SIGNS.items()), fontsize=8)
    axes.set_title("The class's verdicts", fontsize=10)
    return figure


def _misconceptions(found: list[tuple[str, str, int]]) -> Figure:
    found = found[:20][::-1]
    figure = Figure(figsize=(7, 1.2 + 0.28 * len(found)), layout="constrained")
    axes = figure.subplots()
    bars = axes.barh([f"{exercise}  {hint_id}" for exercise, hint_id, _ in found], [n for *_, n in found])
    axes.bar_label(bars, padding=2, fontsize=8)
    axes.tick_params(labelsize=8)
    axes.set_xlabel("learners", fontsize=8)
    axes.set_title("Hints that were given", fontsize=10)
    return figure


def _short(name: str) -> str:
    name = name.replace("$", r"\$")  # matplotlib would read mathematics
    return name if len(name) <= 28 else name[:27] + "…"

"""The live pictures: SVG text from the data of `views`, and the same in a table.

Colours come from classes that `panel.css` defines for the light and the dark theme. Nothing is said by colour
alone: what is kept is filled, what is dropped is hollow, dashed and has a cross; the picked token has a triangle.
"""

from collections.abc import Sequence
from html import escape

import numpy as np

from course_utils.widgets.views import Continuation, Look, Stage, largest_entropy, no_crossing, now

N_SHOWN = 14  # candidates in the bars and the table: as many as can be read
WIDTH, HEIGHT = 420, 210
LEFT, RIGHT, TOP, BOTTOM = 34, WIDTH - 6, 14, HEIGHT - 34  # the plot within the picture
_LABELLED = 20  # more columns than this have no room for their labels


def figure(title: str, legend: str, svg: str) -> str:
    """A picture with its caption."""
    return f'<figcaption><b>{escape(title)}</b> <span class="cp-legend">{escape(legend)}</span></figcaption>{svg}'


def bars(look: Look, labels: Sequence[str], by_id: bool = False, stage: Stage = Stage.FILTERS) -> str:
    """The candidates as bars: an outline for what the model gives, a filled bar for what the token is drawn from.

    Where nothing changes the model's probabilities (`Stage.CHOICE`), there are filled bars only.
    """
    ids = look.candidates(N_SHOWN, by_id)
    top = next(t for t in (0.1, 0.25, 0.5, 1.0) if t >= max(look.before.max(), look.after[ids].max()) - 1e-9 or t == 1)
    column = min((RIGHT - LEFT) / len(ids), 120)
    digits = 3 if column > 24 else 2
    marks = [axis(top)]
    for index, token in enumerate(ids):
        x, before, after = LEFT + column * (index + 0.5), float(look.before[token]), float(look.after[token])
        kind = "kept" if look.kept[token] else "dropped"
        if stage > Stage.CHOICE:
            outline = f"cp-before cp-{kind}-before"
            marks.append(bar(x, column * 0.76, y_of(0, top), y_of(min(before, top), top), outline))
        if look.kept[token]:
            marks.append(bar(x, column * 0.44, y_of(0, top), y_of(after, top), "cp-kept"))
        value = f"{after:.{digits}f}".removeprefix("0") if look.kept[token] else "0"
        marks.append(text(x, y_of(min(max(before, after), top), top) - 3, value, "cp-small"))
        marks.append(token_label(x, labels[token], token == look.picked, not look.kept[token]))
    shown = ", ".join(f"{labels[i]} {look.after[i]:.3f}" for i in ids[:5])
    when = "" if stage == Stage.CHOICE else f" {now(look, stage)}"
    return svg(marks, f"Bars of {len(ids)} of {len(labels)} candidates. Probabilities{when}: {shown}.")


def mass(look: Look, labels: Sequence[str]) -> str:
    """The cumulative mass by rank, with the line of top-p and the token that crosses it."""
    rank, line, said = None, None, no_crossing(look)
    if look.crossing is not None and look.params.top_p is not None:
        rank, p = look.ranked.tolist().index(look.crossing), look.params.top_p
        line, said = (p, f"p = {p:g}"), f"{labels[look.crossing]} crosses p = {p:g} at {look.mass[rank]:.3f}"
    ids = look.ranked[: max(N_SHOWN, (rank or 0) + 3)].tolist()
    return _staircase(look.mass[: len(ids)], [labels[i] for i in ids], line, rank, "✓", f"Cumulative mass. {said}.")


def cdf(look: Look, labels: Sequence[str]) -> str:
    """The cumulative distribution in the order of the ids, with u and the token that it falls on."""
    ids = np.flatnonzero(look.after).tolist()
    line = None if look.u is None else (look.u, f"u = {look.u:.3f}")
    said = "Greedy draws no u." if look.u is None else f"u = {look.u:.3f} falls on {labels[look.picked]}."
    heights = look.after[ids].cumsum()
    return _staircase(heights, [labels[i] for i in ids], line, ids.index(look.picked), "▲", f"CDF by id. {said}")


def steps(continuation: Continuation, vocab_size: int, step: int, stage: Stage = Stage.FILTERS) -> str:
    """The entropy at each step, and below it how many tokens are kept, where filters are looked at."""
    n, filters = len(continuation.n_kept), stage >= Stage.FILTERS
    middle, gap = (TOP + 70, 16) if filters else (BOTTOM, 0)
    column = (RIGHT - LEFT) / max(n, 1)
    most, highest = max(continuation.n_kept, default=1), max(largest_entropy(vocab_size), 1e-9)
    marks = [rule(middle), text(LEFT - 4, TOP + 8, f"{highest:.1f}", "cp-tick"), text(LEFT - 4, middle, "0", "cp-tick"),
             text(LEFT + 2, TOP - 4, "entropy (nats)", "cp-note")]  # fmt: skip
    if filters:
        top = middle + gap
        marks += [rule(BOTTOM), text(LEFT - 4, top + 8, str(most), "cp-tick"), text(LEFT - 4, BOTTOM, "0", "cp-tick"),
                  text(LEFT + 2, top - 4, "tokens kept", "cp-note")]  # fmt: skip
    points = []
    for index in range(n):
        x, kept = LEFT + column * (index + 0.5), continuation.n_kept[index]
        kind = "cp-kept cp-here" if index == step else "cp-kept cp-faint"
        if filters:
            marks.append(bar(x, column * 0.8, BOTTOM, BOTTOM - (BOTTOM - middle - gap) * kept / most, kind))
        points.append(f"{x:.1f},{middle - (middle - TOP) * continuation.entropies[index] / highest:.1f}")
    marks.append(f'<polyline class="cp-curve" points="{" ".join(points)}"/>')
    if step < n:
        x = LEFT + column * (step + 0.5)
        for y0, y1 in ((TOP, middle), (middle + gap, BOTTOM))[: 1 + filters]:
            marks.append(f'<line class="cp-line" x1="{x:.1f}" x2="{x:.1f}" y1="{y0}" y2="{y1}"/>')
        marks.append(text(min(max(x, LEFT + 20), RIGHT - 32), BOTTOM + 14, f"▲ step {step}", "cp-label"))
    return svg(marks, _say_steps(continuation, step, filters))


def _say_steps(continuation: Continuation, step: int, filters: bool) -> str:
    if step >= len(continuation.n_kept):
        return "The text has no steps."
    kept, nats = continuation.n_kept, continuation.entropies
    said = f"From {min(nats):.2f} to {max(nats):.2f} nats over {len(nats)} steps; {nats[step]:.2f} at step {step}."
    return f"{said} From {min(kept)} to {max(kept)} tokens are kept; {kept[step]} at step {step}." if filters else said


def table(look: Look, labels: Sequence[str], by_id: bool = False, stage: Stage = Stage.FILTERS) -> str:
    """The candidates' numbers, for those who do not see the pictures and those who want to know exactly."""
    place = {int(token): rank for rank, token in enumerate(look.ranked)}
    compared, filtered = stage >= Stage.TEMPERATURE, stage >= Stage.FILTERS
    head = ["token", "id"]
    head += ["at T = 1", "after" if filtered else now(look, stage)] if compared else ["probability"]
    head += ["top-p sees", "mass by rank"] if filtered else []
    rows = []
    for token in look.candidates(N_SHOWN, by_id):
        cells = [str(token), *([f"{look.before[token]:.3f}"] if compared else []), f"{look.after[token]:.3f}"]
        if filtered:
            cells += [f"{look.seen[token]:.3f}", f"{look.mass[place[token]]:.3f}"]
        notes = {"dropped": not look.kept[token], "picked": token == look.picked, "crosses p": token == look.crossing}
        cells.append(", ".join(note for note, there in notes.items() if there))
        rows.append(f'<tr><th scope="row">{escape(labels[token])}</th>{"".join(f"<td>{c}</td>" for c in cells)}</tr>')
    columns = "".join(f'<th scope="col">{name}</th>' for name in [*head, "note"])
    return f"<table><thead><tr>{columns}</tr></thead><tbody>{''.join(rows)}</tbody></table>"


def _staircase(
    heights: np.ndarray, labels: Sequence[str], line: tuple[float, str] | None, marked: int | None, sign: str, said: str
) -> str:
    """Steps from 0 towards 1, one column for each token; a level, and the column in which it is crossed.

    line: where the level stands, and what is written on it.
    """
    column = min((RIGHT - LEFT) / len(labels), 120)
    path = [f"M{LEFT} {y_of(0):.1f}"]
    for index, height in enumerate(heights):
        path.append(f"V{y_of(height):.1f}H{LEFT + column * (index + 1):.1f}")
    marks = [axis(1.0)]
    if marked is not None:
        below = heights[marked - 1] if marked else 0.0
        marks.append(bar(LEFT + column * (marked + 0.5), column, y_of(below), y_of(heights[marked]), "cp-marked"))
    marks.append(f'<path class="cp-curve" d="{"".join(path)}"/>')
    if line is not None:
        y = y_of(line[0])
        marks.append(f'<line class="cp-line" x1="{LEFT}" x2="{RIGHT}" y1="{y:.1f}" y2="{y:.1f}"/>')
        low = line[0] < 0.9
        right = marked is not None and LEFT + column * marked < WIDTH / 2
        x, anchor = (RIGHT - 2, "end") if right or not low else (LEFT + 4, "start")
        marks.append(text(x, y - 4 if low else y + 12, line[1], f"cp-strong cp-{anchor}"))
    for index, label in enumerate(labels):
        if len(labels) <= _LABELLED or index == marked:
            marks.append(token_label(LEFT + column * (index + 0.5), label, index == marked, False, sign))
    return svg(marks, said)


def svg(marks: Sequence[str], said: str) -> str:
    """A picture of these marks; `said` is what a screen reader says of it."""
    content = "".join(marks)
    return f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{escape(said, quote=True)}">{content}</svg>'


def y_of(value: float, top: float = 1.0) -> float:
    """Where a value stands in the plot, whose upper end is `top`."""
    return BOTTOM - (BOTTOM - TOP) * float(value) / top


def axis(top: float) -> str:
    """Three levels with their values: 0, half of `top`, `top`."""
    levels = ((0, "0"), (top / 2, f"{top / 2:g}"), (top, f"{top:g}"))
    return "".join(rule(y_of(v, top)) + text(LEFT - 4, y_of(v, top) + 3.5, name, "cp-tick") for v, name in levels)


def rule(y: float) -> str:
    """A thin line across the plot."""
    return f'<line class="cp-rule" x1="{LEFT}" x2="{RIGHT}" y1="{y:.1f}" y2="{y:.1f}"/>'


def bar(x: float, width: float, y0: float, y1: float, kind: str) -> str:
    """A bar around x, from y0 up to y1."""
    left, height = x - width / 2, max(y0 - y1, 0)
    return f'<rect class="{kind}" x="{left:.1f}" y="{y1:.1f}" width="{width:.1f}" height="{height:.1f}"/>'


def text(x: float, y: float, words: str, kind: str) -> str:
    """Words at a place; `kind` names their style and where they begin."""
    return f'<text class="{kind}" x="{x:.1f}" y="{y:.1f}">{escape(words)}</text>'


def token_label(x: float, label: str, picked: bool, dropped: bool, sign: str = "▲") -> str:
    """A column's label, with a sign below it."""
    long = label if len(label) <= 6 else label[:5] + "…"
    name = text(x, BOTTOM + 14, long, "cp-label cp-strong" if picked else "cp-label")
    below = sign if picked else "×" if dropped else ""
    return name + (text(x, BOTTOM + 28, below, "cp-sign" if picked else "cp-cross") if below else "")

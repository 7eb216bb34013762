"""The panel of notebook 10: the blocks of an engine, step by step, and who holds them."""

from collections.abc import Sequence
from html import escape

from matplotlib.axes import Axes

from course_utils import plots
from course_utils.serving import Step
from course_utils.widgets import pictures
from course_utils.widgets.controls import Control
from course_utils.widgets.panel import Panel, html

_COLOURS = ("#0072B2", "#E69F00", "#009E73", "#D55E00", "#56B4E9", "#CC79A7", "#F0E442", "#999999")
_DARK = (0, 2, 3)  # of the colours, those on which white letters are read
_COLUMNS = 16  # blocks in a row


def watch_pool(steps: Sequence[Step], n_blocks: int) -> Panel:
    """A slider through the steps of an engine: each block with the texts that hold it, and what the step did.

    steps: what `Engine.step` or `Engine.run` gave. n_blocks: how many blocks the engine has.
    Raises ValueError if there are no steps, or if one names a block that the engine does not have.
    """
    if not steps:
        raise ValueError("steps is empty; expected at least one step, as engine.run() gives them.")
    if (highest := max((block for step in steps for block in step.holders), default=0)) >= n_blocks:
        raise ValueError(f"n_blocks is {n_blocks}, and a step names block {highest}; expected the engine's own number.")
    pool = _Pool(list(steps), n_blocks)
    controls = [Control("step", "slider", "Step", 0, 0, len(steps) - 1, 1)]
    return Panel("The blocks of an engine", controls, pool.fast, None, pool.still, pool.caption)


class _Pool:
    """The views of one run."""

    def __init__(self, steps: list[Step], n_blocks: int):
        self.steps, self.n_blocks = steps, n_blocks

    def fast(self, settings: dict) -> dict[str, str]:
        step = self.steps[settings["step"]]
        legend = "number: the text that holds it · striped, ×: shared · dotted: free"
        return {
            "summary": html("p", say(step, self.n_blocks)),
            "blocks": pictures.figure("Blocks after this step", legend, _grid(step, self.n_blocks)),
            "numbers": _table(step),
        }

    def still(self, settings: dict) -> Axes:
        held = [self.n_blocks - step.n_free for step in self.steps]
        title = "The panel's picture, as it opens"
        numbers = [step.number for step in self.steps]
        return plots.curve(numbers, {"held": held}, title, "step of the engine", "blocks held")

    def caption(self, settings: dict) -> str:
        most = max(self.n_blocks - step.n_free for step in self.steps)
        said = say(self.steps[settings["step"]], self.n_blocks)
        return f"Panel, {len(self.steps)} steps, at most {most} of {self.n_blocks} blocks held. {said}"


def say(step: Step, n_blocks: int) -> str:
    """What a step did, and how the blocks are held after it, in words."""
    done = [
        *(f"text {number} begins{f' and finds {n} tokens' if n else ''}" for number, n in step.admitted),
        *(f"{n} prompt token{'s' * (n > 1)} of text {number}" for number, n in step.prefilled),
        *([f"one token each of {_texts(step.decoded)}"] if step.decoded else []),
        *(f"text {number} is preempted" for number in step.preempted),
        *(f"text {number} ends" for number in step.finished),
        *(f"text {number} fails" for number in step.failed),
    ]
    n_shared = sum(len(held) > 1 for held in step.holders.values())
    waiting = f" {_texts(step.waiting).capitalize()} wait{'s' * (len(step.waiting) == 1)}." if step.waiting else ""
    return (
        f"Step {step.number}: {'; '.join(done) if done else 'nothing'}. "
        f"{n_blocks - step.n_free} of {n_blocks} blocks are held, {n_shared} of them shared.{waiting}"
    )


def _texts(numbers: Sequence[int]) -> str:
    return f"text{'s' * (len(numbers) > 1)} {', '.join(map(str, numbers))}"


def _grid(step: Step, n_blocks: int) -> str:
    """The blocks in rows. Colour and number say who holds a block; a shared one is striped and says how many do."""
    width, height = 46, 26
    holders = step.holders
    marks = []
    for block in range(n_blocks):
        x, y = 4 + block % _COLUMNS * (width + 4), 4 + block // _COLUMNS * (height + 6)
        held, box = holders.get(block, []), f'<rect x="{x}" y="{y}" width="{width}" height="{height}"'
        if not held:
            marks.append(f'{box} class="cp-before cp-dropped-before"/>')
            continue
        colour = _COLOURS[held[0] % len(_COLOURS)]
        marks.append(f'{box} style="fill:{colour}"/>')
        if len(held) > 1:
            stripe = _COLOURS[held[1] % len(_COLOURS)]
            marks.append(f'<rect x="{x}" y="{y + height - 7}" width="{width}" height="7" style="fill:{stripe}"/>')
        ink = "#fff" if held[0] % len(_COLOURS) in _DARK else "#000"
        label = f"{held[0]} ×{len(held)}" if len(held) > 1 else str(held[0])
        marks.append(f'<text x="{x + width / 2}" y="{y + 16}" style="fill:{ink}">{label}</text>')
    rows = -(-n_blocks // _COLUMNS)
    total = 4 + _COLUMNS * (width + 4), 4 + rows * (height + 6)
    said = f"{len(holders)} of {n_blocks} blocks are held, {sum(len(held) > 1 for held in holders.values())} shared."
    return f'<svg viewBox="0 0 {total[0]} {total[1]}" role="img" aria-label="{escape(said)}">{"".join(marks)}</svg>'


def _table(step: Step) -> str:
    """Each running text with its blocks."""
    shared = {block for block, held in step.holders.items() if len(held) > 1}
    rows = [
        f'<tr><th scope="row">{number}</th><td>{len(blocks)}</td><td>{len(shared & {*blocks})}</td>'
        f"<td>{', '.join(map(str, blocks))}</td></tr>"
        for number, blocks in step.tables
    ]
    head = "".join(f'<th scope="col">{name}</th>' for name in ("text", "blocks", "shared", "block table"))
    return f"<table><thead><tr>{head}</tr></thead><tbody>{''.join(rows)}</tbody></table>"

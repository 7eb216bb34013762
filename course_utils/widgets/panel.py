"""A panel: controls and linked views in one widget, redrawn by the kernel.

Why one anywidget instead of ipywidgets' sliders. Those have no accessible name and speak no value, so a screen
reader says "slider" and nothing more; here each control is the browser's own input with a label, and JupyterLab
leaves its keys alone. A panel is also one widget with one channel instead of thirty. The front end keeps exactly one
request under way and, when the answer is there, sends the newest state: a drag leaves no queue behind, whatever a
redraw costs. The pictures are SVG text made here, so they are tested without a browser.

How a panel gets onto the page. A widget that is stored in a notebook's output is lost with its kernel, and JupyterLab
shows an error in its place, whatever other forms the output has. So the output for JupyterLab is a picture with a
sentence, as HTML, and the front end puts the live panel into it as long as its model lives: when the cell has run, and
also when the page is loaded again. When the notebook is opened with a new kernel, the picture is what is there.

A redraw has two parts. `fast` gives the views that must follow the hand. `slow` gives the others in slices of at most
SLICE seconds; the front end asks for the next slice only if nothing has moved since.
"""

import base64
import io
import secrets
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from html import escape
from pathlib import Path

import anywidget
import matplotlib.pyplot as plt
import traitlets
from IPython import get_ipython

from course_utils.plots.signs import as_drawn
from course_utils.widgets.controls import Control, read_all

RUN = "This is a picture of a panel. Run this cell to make it move. In a new kernel, run the cells above it first."
SLICE = 0.045  # seconds for which the kernel may be busy with a continuation while somebody drags
_HERE = Path(__file__).resolve().parent

Slots = Mapping[str, str]  # name of a view -> its HTML


class PanelWidget(anywidget.AnyWidget):
    """The part of a panel that the browser knows."""

    _esm = (_HERE / "panel.js").read_text(encoding="utf-8")
    _css = (_HERE / "panel.css").read_text(encoding="utf-8")
    title = traitlets.Unicode().tag(sync=True)
    place = traitlets.Unicode().tag(sync=True)  # the class of the elements into which the panel is put
    controls: traitlets.List[dict] = traitlets.List().tag(sync=True)
    opening = traitlets.Dict().tag(sync=True)  # what is seen before the kernel has answered


class Panel:
    """A live picture with controls; as the last value of a cell it shows itself.

    title: names the panel for screen readers.
    fast: settings -> {slot: HTML}, quick enough to follow a drag.
    slow: settings -> iterator of such; each item replaces what came before. None if there is nothing slow.
    still: settings -> matplotlib Axes, for where no kernel runs. caption: settings -> one line of text.
    An error while the panel is made is raised; a later one is shown in the panel, which lives on, and is kept in
    `error`. Running the cell again closes the panels that the cell made before.
    """

    def __init__(
        self,
        title: str,
        controls: Sequence[Control],
        fast: Callable[[dict], Slots],
        slow: Callable[[dict], Iterator[Slots]] | None,
        still: Callable[[dict], plt.Axes],
        caption: Callable[[dict], str],
    ):
        self.controls, self.fast, self.slow, self.still, self.caption = controls, fast, slow, still, caption
        self.settings = read_all(controls, {})
        self.error: str | None = None
        self._running: tuple[dict, Iterator[Slots]] | None = None
        slots = dict(fast(self.settings))
        for more in slow(self.settings) if slow else ():
            slots.update(more)
        self.widget = PanelWidget(
            title=title,
            place=f"course-panel-{secrets.token_hex(8)}",
            controls=[control.describe() for control in controls],
            opening={"settings": self.settings, "slots": slots},
        )
        self.widget.on_msg(self._on_message)
        _register(self)

    def handle(self, message: Mapping) -> dict:
        """Answer one request of the front end. Never raises: an error becomes the answer.

        message: kind "look" (new settings), "more" (the next slice for these settings) or "hello" (a new view).
        """
        answer = {"view": message.get("view")}
        try:
            if message["kind"] == "hello":
                answer["settings"] = self.settings
            else:
                self.settings = read_all(self.controls, message["settings"])
            answer["slots"], answer["more"] = self._slice() if message["kind"] == "more" else self._first()
            self.error = None
        except (Exception, KeyboardInterrupt) as error:  # without an answer the panel would wait for ever
            self.error = answer["error"] = f"{type(error).__name__}: {error}"
        return answer

    def close(self) -> None:
        """Remove the panel and all that belongs to it, here and in the browser."""
        self._running = None
        self.widget.on_msg(self._on_message, remove=True)
        self.widget.layout.close()
        self.widget.close()

    def _first(self) -> tuple[dict, bool]:
        self._running = None
        return dict(self.fast(self.settings)), self.slow is not None

    def _slice(self) -> tuple[dict, bool]:
        if self.slow is None:
            return {}, False
        if self._running is None or self._running[0] != self.settings:
            self._running = (self.settings, self.slow(self.settings))
        slots: Slots = {}
        until = time.perf_counter() + SLICE
        for slots in self._running[1]:
            if time.perf_counter() > until:
                return dict(slots), True
        self._running = None
        return dict(slots), False

    def _on_message(self, widget: PanelWidget, content: dict, buffers: list) -> None:
        widget.send(self.handle(content))

    def __repr__(self) -> str:
        return self.caption(self.settings)

    def _repr_mimebundle_(self, **options: object) -> dict:
        """A still picture and a caption, and for a browser the picture as HTML, into which JupyterLab puts the panel.

        Other front ends get the widget itself as well, and take the best form that they can show.
        """
        caption = repr(self)
        picture = _png(self.still(self.settings), caption)
        data = {"text/plain": caption, "image/png": picture, "text/html": _page(self.widget.place, picture, caption)}
        if _in_jupyterlab():
            return data
        live, _ = self.widget._repr_mimebundle_() or ({}, {})
        return data | {kind: value for kind, value in live.items() if "widget-view" in kind}


def html(tag: str, text: str) -> str:
    """An element that holds a text."""
    return f"<{tag}>{escape(text)}</{tag}>"


def _page(place: str, picture: str, caption: str) -> str:
    """The picture as it stands where no panel moves, with what to do."""
    image = f'<img alt="{escape(caption, quote=True)}" src="data:image/png;base64,{picture}"/>'
    return f'<div class="course-panel-place {place}"><div>{image}{html("p", RUN)}</div></div>'


def _png(ax: plt.Axes, caption: str) -> str:
    """The picture with its caption below, since most pages show only one of the forms of an output."""
    figure, file = ax.figure.get_figure(root=True), io.BytesIO()
    figure.supxlabel(as_drawn(caption), fontsize=8, wrap=True)
    figure.savefig(file, format="png", dpi=90, metadata={"Software": None})
    plt.close(figure)  # or the notebook shows it a second time
    return base64.b64encode(file.getvalue()).decode("ascii")


# The panels of each cell, by the cell's id: (the run that made them, the panels).
_panels: dict[str, tuple[str, list[Panel]]] = {}


def _register(panel: Panel) -> None:
    """Remember who made the panel, and close what the same cell made in an earlier run."""
    cell, run, deleted = _running_cell()
    for gone in deleted:
        _close_all(gone)
    if cell is None:
        return
    if _panels.get(cell, ("", []))[0] != run:
        _close_all(cell)
        _panels[cell] = (run, [])
    _panels[cell][1].append(panel)


def _close_all(cell: str) -> None:
    for panel in _panels.pop(cell, ("", []))[1]:
        panel.close()


def _running_cell() -> tuple[str | None, str, Sequence[str]]:
    """The id of the cell that runs, the id of its run, and cells that were deleted; JupyterLab sends all three.

    A front end that names no cell is known by the cell's text. Outside a kernel the id is None.
    """
    request = _request()
    if not request:
        return None, "", ()
    metadata, content = request.get("metadata", {}), request.get("content", {})
    cell = metadata.get("cellId") or f"code: {content.get('code', '')}"
    return cell, request.get("header", {}).get("msg_id", ""), metadata.get("deletedCells", ())


def _in_jupyterlab() -> bool:
    """Whether the cell that runs was sent by JupyterLab: no other front end says which cells were deleted."""
    return "deletedCells" in _request().get("metadata", {})


def _request() -> dict:
    """The message with which the front end asked for the cell that runs; empty outside a kernel."""
    shell = get_ipython()
    return (shell.get_parent() if hasattr(shell, "get_parent") else None) or {}

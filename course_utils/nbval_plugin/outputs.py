"""What of a cell's outputs is compared with those that are stored."""

from collections.abc import Iterable, Iterator

from nbformat import NotebookNode
from nbformat.v4 import new_output
from nbval.plugin import coalesce_streams

from course_utils.checker import showing

PANEL = "course-panel"  # in the class of a panel's HTML


def comparable(outputs: Iterable) -> list:
    """The outputs without the HTML that only a browser shows; it holds pictures, which no two machines draw alike.

    A verdict becomes the text that it also is, and so equals one that was stored before verdicts had HTML.
    """
    return coalesce_streams([*_without_pages(outputs)])


def _without_pages(outputs: Iterable) -> Iterator:
    for output in outputs:
        data = output.get("data", {})
        page = "".join(data.get("text/html", ""))
        if showing.CLASS in page:
            yield new_output("stream", name="stdout", text="".join(data["text/plain"]) + "\n")
        elif PANEL in page:
            yield NotebookNode({**output, "data": {kind: value for kind, value in data.items() if kind != "text/html"}})
        else:
            yield output

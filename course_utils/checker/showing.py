"""How a verdict is shown: as text, and in a notebook also as HTML, so that verdicts are told apart at a glance.

The text is the same in both. HTML adds a sign, a coloured edge and a tint, which are readable in JupyterLab's light and
dark theme; the letters keep the theme's own colour. Nothing is said by colour alone.
"""

import re
import sys
from html import escape

from course_utils.checker.judging import NOT_ATTEMPTED, PASSED, RAISED, WRONG

# A sign, and a colour as red, green, blue, whose contrast is 3 or more against white and against JupyterLab's black.
_LOOKS = {
    PASSED: ("✓", (0, 150, 110)),
    WRONG: ("✗", (213, 94, 0)),
    RAISED: ("!", (190, 70, 140)),
    NOT_ATTEMPTED: ("○", (125, 125, 125)),
}
CLASS = "course-verdict"
_MONO = "font-family: var(--jp-code-font-family, monospace)"


def show(status: str, text: str) -> None:
    """Show a verdict. Where there is a notebook it becomes an output with two forms; elsewhere its text is printed.

    text: any, also one with half a surrogate pair, or with a character that the console cannot show.
    """
    text = text.encode("utf-8", "backslashreplace").decode("utf-8")
    if type(sys.stdout).__module__ == "ipykernel.iostream":  # a kernel's, and nobody has put another in its place
        from IPython.display import display

        display({"text/plain": text, "text/html": html(status, text)}, raw=True)
        return
    try:
        print(text)
    except UnicodeEncodeError:
        print(text.encode("ascii", "backslashreplace").decode("ascii"))


def html(status: str, text: str) -> str:
    """The verdict's text as HTML, with the sign and the colour of its status."""
    sign, (red, green, blue) = _LOOKS[status]
    head, *lines = text.splitlines() or [""]
    word, colon, rest = head.partition(":")
    box = (
        f"border-left: 6px solid rgb({red}, {green}, {blue}); background: rgba({red}, {green}, {blue}, 0.12); "
        "padding: 6px 12px; max-width: 60em; white-space: pre-wrap; overflow-wrap: anywhere"
    )
    mark = f'<span aria-hidden="true" style="color: rgb({red}, {green}, {blue})">{sign}</span>'
    first = f"<div>{mark} <b>{escape(word)}{colon}</b>{_code(rest)}</div>"
    return f'<div class="{CLASS}" style="{box}">{first}{"".join(map(_line, lines))}</div>'


def _line(line: str) -> str:
    if line.startswith(" "):  # what the learner's function printed
        return f'<div style="{_MONO}">{escape(line)}</div>'
    label, colon, rest = line.partition(": ")
    if colon and label == "Hint":
        return f"<div><b>{label}:</b> {_code(rest)}</div>"
    return f"<div>{_code(line)}</div>"


def _code(text: str) -> str:
    """The text, and what stands between backticks as code."""
    return re.sub(r"`([^`]+)`", rf'<span style="{_MONO}">\1</span>', escape(text))

"""Reading copies of the notebooks: one HTML file each, with no script in it, for a browser and nothing else.

nbconvert turns cells into HTML. What is added here: formulas as MathML, a text for each picture, tables that can be
scrolled, and a frame with the way to the page and to the neighbours.
"""

import ast
import json
import re
import subprocess
from html import escape
from pathlib import Path

import nbformat
from nbconvert import HTMLExporter

HERE = Path(__file__).resolve().parent
NOTEBOOKS = HERE.parent / "notebooks"
_CODE_OR_FORMULA = re.compile(r"(```.*?```|`[^`]*`)|\$([^$\n]+)\$", re.DOTALL)
_MINUTES = re.compile(r"\*\*Time:\*\* (\d+) minutes")
_NO_DESCRIPTION = re.compile(r"<Figure size .*>")
_EMPTY_HEADING = re.compile(r"<th([^>]*)>\s*</th>")
_IMAGES = ("image/png", "image/jpeg")
_POLICY = "default-src 'none'; img-src data:; style-src 'self' 'unsafe-inline'; base-uri 'none'; form-action 'none'"


def paths() -> list[Path]:
    """The notebooks, in the order of the course."""
    return sorted(NOTEBOOKS.glob("[0-9][0-9]_*.ipynb"))


def write_all(folder: Path, words: dict, modules: Path) -> None:
    """Write a reading copy of every notebook into the folder. modules: where npm has put KaTeX."""
    folder.mkdir(parents=True)
    notebooks = {path.stem: nbformat.read(path, as_version=4) for path in paths()}
    formulas = math_ml(sorted({f for notebook in notebooks.values() for f in formulas_of(notebook)}))
    titles = {name: title_of(notebook) for name, notebook in notebooks.items()}
    for name, notebook in notebooks.items():
        text = page(name, notebook, titles, formulas, words)
        (folder / f"{name}.html").write_text(text, encoding="utf-8", newline="\n")


def table() -> list[dict]:
    """What the page lists: the file, the title and the minutes of each notebook."""
    rows = []
    for path in paths():
        notebook = nbformat.read(path, as_version=4)
        found = _MINUTES.search(notebook.cells[0].source)
        if found is None:
            raise ValueError(f"{path.name} does not say its time; expected **Time:** 60 minutes in its first cell.")
        rows.append({"file": f"notebooks/{path.stem}.html", "title": title_of(notebook), "minutes": int(found[1])})
    return rows


def title_of(notebook) -> str:
    """The heading with which a notebook begins."""
    return notebook.cells[0].source.splitlines()[0].lstrip("# ")


def formulas_of(notebook) -> list[str]:
    """The TeX between dollar signs in the text cells; code is left out."""
    cells = (cell.source for cell in notebook.cells if cell.cell_type == "markdown")
    return [match[2] for source in cells for match in _CODE_OR_FORMULA.finditer(source) if match[2]]


def math_ml(formulas: list[str]) -> dict[str, str]:
    """TeX -> MathML, by KaTeX."""
    from webpage.build import node, run

    done = run(node("node"), "formulas.mjs", input=json.dumps(formulas), stdout=subprocess.PIPE, encoding="utf-8")
    return dict(zip(formulas, json.loads(done.stdout), strict=True))


def page(name: str, notebook, titles: dict[str, str], formulas: dict[str, str], words: dict) -> str:
    """A notebook as one HTML page. titles: of all notebooks, by name; formulas: TeX -> MathML."""
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            cell.source = _CODE_OR_FORMULA.sub(lambda match: formulas[match[2]] if match[2] else match[0], cell.source)
        for number, output in enumerate(image_outputs(cell)):
            output.data.pop("text/html", None)  # a panel's HTML is for a page whose cells can be run
            for kind in _IMAGES:
                output.metadata[kind] = {"alt": described(cell, output, number, words["reading"])}
    exporter = HTMLExporter(template_name="basic", exclude_anchor_links=True, exclude_input_prompt=True,
                            exclude_output_prompt=True)  # fmt: skip
    body, _ = exporter.from_notebook_node(notebook)
    body = _EMPTY_HEADING.sub(r"<td\1></td>", body)  # pandas heads its index with cells that say nothing
    body = body.replace("<table", '<div class="wide" tabindex="0"><table').replace("</table>", "</table></div>")
    say, links = words["reading"], neighbours(name, titles, words["reading"])
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="{_POLICY}">
<title>{escape(titles[name])}</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="../reading.css">
</head>
<body>
<header><nav aria-label="{escape(words["contents"])}">{links}</nav>
<p class="note">{marked_up(say["note"])}</p></header>
<main>
{body}
</main>
<footer><nav aria-label="{escape(words["notebooks"]["title"])}">{links}</nav></footer>
</body>
</html>
"""


def neighbours(name: str, titles: dict[str, str], words: dict) -> str:
    """Links to the page, and to the notebooks before and after."""
    names, links = list(titles), [f'<a href="../index.html">{escape(words["page"])}</a>']
    for key, index in (("previous", names.index(name) - 1), ("next", names.index(name) + 1)):
        if 0 <= index < len(names):
            label = escape(words[key].format(title=titles[names[index]]))
            links.append(f'<a href="{names[index]}.html">{label}</a>')
    return " ".join(links)


def image_outputs(cell) -> list:
    """The outputs of a cell that are pictures."""
    return [output for output in cell.get("outputs", []) if any(kind in output.get("data", {}) for kind in _IMAGES)]


def described(cell, output, number: int, words: dict) -> str:
    """A picture in words: what a panel says of itself, the title that a cell gives it, or what the cell prints."""
    own = "".join(output.data.get("text/plain", ""))
    if own and not _NO_DESCRIPTION.fullmatch(own):
        return own
    titles = titles_of(cell.source)
    if titles:
        return f"{titles[min(number, len(titles) - 1)]}. {words['numbers-near']}"
    printed = " ".join("".join(one.text for one in cell.outputs if one.output_type == "stream").split())
    return printed or f"{words['picture']}. {words['numbers-near']}"


def titles_of(source: str) -> list[str]:
    """The texts of several words that are given to functions of `plots`; what is computed in them becomes "…"."""
    calls = [node for node in ast.walk(ast.parse(_without_magics(source)))
             if isinstance(node, ast.Call) and ast.unparse(node.func).startswith("plots.")]  # fmt: skip
    texts = [_text(argument) for call in calls for argument in call.args]
    return [text for text in texts if text.count(" ") >= 2]


def _without_magics(source: str) -> str:
    return "\n".join("pass" if line.startswith(("%", "!")) else line for line in source.splitlines())


def _text(node: ast.expr) -> str:
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if isinstance(node, ast.JoinedStr):
        return "".join(_text(part) if isinstance(part, ast.Constant) else "…" for part in node.values)
    return ""


def marked_up(text: str) -> str:
    """Escaped text with `code` as code."""
    return re.sub("`([^`]+)`", r"<code>\1</code>", escape(text))

"""A file for each learner: every verdict with its hint, as a page that any browser opens."""

import html
import re
from itertools import groupby
from pathlib import Path

from course_utils.workspace.judge.report import WORDS, ordered, replace

_PAGE = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>{name}</title>
<style>
body {{ font-family: sans-serif; line-height: 1.5; max-width: 50em; margin: 2em auto; padding: 0 1em; }}
table {{ border-collapse: collapse; width: 100%; }}
th, td {{ border: 1px solid #767676; padding: 0.3em 0.6em; text-align: left; vertical-align: top; }}
td:last-child {{ white-space: pre-wrap; overflow-wrap: anywhere; }}
</style>
</head>
<body>
<h1>{name}</h1>
{body}
</body>
</html>
"""


def write(entries: list[dict], folder: Path) -> None:
    """Write one page for each learner into a folder, which is made."""
    folder.mkdir(exist_ok=True)
    for name, own in groupby(ordered(entries), lambda entry: entry["learner"]):
        files = groupby(list(own), lambda entry: entry["file"])
        body = "\n".join(_file(file, list(judged)) for file, judged in files)
        replace(folder / f"{_file_name(name)}.html", _PAGE.format(name=html.escape(name), body=body))


def _file_name(learner: str) -> str:
    return re.sub(r'[\\/:*?"<>|]', "_", learner)


def _file(file: str, judged: list[dict]) -> str:
    lines = [f"<h2>{html.escape(file)}</h2>"]
    if not judged[0]["counts"]:
        lines.append("<p>This is an earlier copy. The later one counts.</p>")
    if judged[0]["exercise"] is None:
        return "\n".join([*lines, f"<p>{html.escape(judged[0]['reason'])}</p>"])
    passed = sum(entry["verdict"] == "passed" for entry in judged)
    lines += [
        f"<p>{passed} of {len(judged)} exercises passed.</p>",
        "<table>",
        '<tr><th scope="col">Exercise</th><th scope="col">Verdict</th><th scope="col">What the check said</th></tr>',
    ]
    for entry in judged:
        cells = (entry["exercise"], WORDS.get(entry["verdict"], entry["verdict"]), entry["reason"])
        lines.append("<tr>" + "".join(f"<td>{html.escape(cell)}</td>" for cell in cells) + "</tr>")
    return "\n".join([*lines, "</table>"])

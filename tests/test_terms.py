"""docs/terms.md: a term is explained where the list says, and used in no earlier notebook unless the list says so."""

import re
from pathlib import Path

import nbformat
import pytest

ROOT = Path(__file__).resolve().parent.parent
NAMES = {path.stem[:2]: path.stem for path in sorted((ROOT / "notebooks").glob("*.ipynb"))}
ROW = re.compile(r"^\| ([^|]+) \| ([^|]+) \| \[(\d\d)\]\(\.\./notebooks/(\w+)\.ipynb\) \| (\d\d)? ?\|$", re.MULTILINE)
LISTED = (ROOT / "docs" / "terms.md").read_text(encoding="utf-8")
TERMS = ROW.findall(LISTED)


def taught(name):
    """The text cells, without those that only announce: the title, the path through the course and the summary."""
    _, *cells, _ = nbformat.read(ROOT / "notebooks" / f"{name}.ipynb", as_version=4).cells
    return "\n".join(cell.source for cell in cells if cell.cell_type == "markdown" and cell.id != "path")


TEXTS = {number: taught(name) for number, name in NAMES.items()}


def uses(text, term):
    """Whether the text has the term as a word, also in the plural."""
    return re.search(rf"(?<![\w-]){re.escape(term)}s?(?![\w-])", text, re.IGNORECASE) is not None


def test_a_term_is_a_word_and_no_part_of_one():
    assert uses("Logits may be negative.", "logit") and not uses("a subtoken, token-like", "token")


def test_every_row_is_read_and_no_term_stands_twice():
    rows = [line for line in LISTED.splitlines() if line.startswith("| ") and not line.startswith("| term |")]
    assert len(rows) == len(TERMS) > 60
    assert len({term for term, *_ in TERMS}) == len(TERMS)
    assert [number for *_, number, _, _ in TERMS] == sorted(number for *_, number, _, _ in TERMS)


@pytest.mark.parametrize(("term", "meaning", "explained", "name", "earlier"), TERMS, ids=[term for term, *_ in TERMS])
def test_a_term_is_used_where_the_list_says_and_not_before(term, meaning, explained, name, earlier):
    used = [number for number, text in TEXTS.items() if uses(text, term)]
    assert NAMES[explained] == name and explained in used, f"{term}: notebook {explained} does not have it; {used} do"
    assert used[0] == (earlier or explained) and meaning.endswith("."), f"{term}: notebook {used[0]} has it first"

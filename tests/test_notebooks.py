"""The built notebooks: that they are their sources, executed, and in the course's form."""

import ast
import importlib.util
import json
import re
from pathlib import Path

import nbformat
import pytest

ROOT = Path(__file__).resolve().parent.parent
_spec = importlib.util.spec_from_file_location("build", ROOT / "authoring" / "build.py")
build = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(build)

NAMES = [path.stem for path in build.sources()]
each_notebook = pytest.mark.parametrize("name", NAMES)


def built(name):
    return nbformat.read(ROOT / "notebooks" / f"{name}.ipynb", as_version=4)


def code_cells(notebook):
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def text_of_outputs(cell):
    return "".join(
        str(output.get("text", "")) + str(output.get("data", {}).get("text/plain", "")) for output in cell.outputs
    )


def has_picture(cell):
    return any("image/png" in output.get("data", {}) for output in cell.outputs)


def test_there_is_one_notebook_for_each_source_and_none_besides():
    assert NAMES
    assert sorted(path.stem for path in (ROOT / "notebooks").glob("*.ipynb")) == NAMES


@each_notebook
def test_a_notebook_has_the_cells_tags_and_ids_of_its_source(name):
    source, notebook = build.read_source(ROOT / "authoring" / f"{name}.py"), built(name)
    described = [[(c.id, c.cell_type, c.source, dict(c.metadata)) for c in n.cells] for n in (source, notebook)]
    assert described[1] == described[0], f"run: python authoring/build.py {name[:2]}"
    assert notebook.metadata == source.metadata


@each_notebook
def test_a_notebook_was_executed_from_top_to_bottom_without_an_error_or_a_warning(name):
    cells = code_cells(built(name))
    assert [cell.execution_count for cell in cells] == list(range(1, len(cells) + 1))
    for cell in cells:
        for output in cell.outputs:
            assert output.output_type != "error" and output.get("name") != "stderr", cell.id


@each_notebook
def test_the_form_of_a_notebook(name):
    notebook = built(name)
    first, *_, self_test, summary = notebook.cells
    assert "After this notebook you can" in first.source and "You need" in first.source and "minutes" in first.source
    assert 3 <= self_test.source.count("<details><summary>") == self_test.source.count("</details>") <= 5
    assert re.search(r"\*\*Sources\.\*\*.*Checked on \d{4}-\d{2}-\d{2}", summary.source, re.DOTALL)
    assert 25 <= len(notebook.cells) <= 64
    for cell in notebook.cells:
        lines = [line for line in cell.source.splitlines() if line.strip()]
        if cell.cell_type == "code":
            assert len(lines) <= 14, f"{cell.id}: {len(lines)} lines of code"
        elif cell is not self_test and "|---|" not in cell.source:
            assert len(lines) <= 9, f"{cell.id}: {len(lines)} lines of text"


@each_notebook
def test_every_picture_is_said_in_text_beside_it(name):
    cells = built(name).cells
    for index, cell in enumerate(cells):
        if cell.cell_type == "code" and has_picture(cell):
            neighbours = [c for c in cells[max(index - 2, 0) : index + 2] if c.cell_type == "code"]
            printed = "".join(text_of_outputs(c) for c in neighbours)
            assert re.search(r"\d", re.sub(r"<(Figure|Axes).*?>", "", printed)), cell.id


@each_notebook
def test_what_the_learner_decides_is_not_compared(name):
    """Guesses are followed by a result beside them; these, the stubs' checks and the hints depend on the learner."""
    for cell in code_cells(built(name)):
        depends = re.search(r"\b(predict\.beside|check|hint|solution)\(", cell.source)
        ignored = "nbval-ignore-output" in cell.metadata.get("tags", [])
        assert ignored or not depends, cell.id
        assert "nbval-skip" not in cell.metadata.get("tags", []) and "raises-exception" not in cell.metadata.get(
            "tags", []
        )


@each_notebook
def test_assertions_stand_in_folded_cells_and_nothing_else_does(name):
    for cell in code_cells(built(name)):
        statements = ast.parse(cell.source).body
        asserts = [isinstance(node, ast.Assert) for node in statements]
        folded = "assertions" in cell.metadata.get("tags", [])
        assert cell.metadata.get("jupyter", {}).get("source_hidden", False) is folded, cell.id
        assert folded == any(isinstance(node, ast.Assert) for node in ast.walk(ast.parse(cell.source))), cell.id
        assert not folded or (asserts[-1] and not cell.outputs), f"{cell.id}: only what its assertions need"


@each_notebook
def test_a_notebook_leads_to_the_ones_before_and_after_it(name):
    notebook, place = built(name), NAMES.index(name)
    linked = [set(re.findall(r"\]\((\w+)\.ipynb\)", cell.source)) for cell in (notebook.cells[0], notebook.cells[-1])]
    after = set(NAMES[place + 1 : place + 2])
    assert after <= linked[0] and after <= linked[1] and set(NAMES[max(place - 1, 0) : place]) <= linked[0]
    assert linked[0] | linked[1] <= set(NAMES)


def test_the_first_notebook_lists_the_whole_path_with_its_minutes():
    (path,) = [cell.source for cell in built("00_start_here").cells if cell.id == "path"]
    listed = re.findall(r"^\| \[.*\]\((\w+)\.ipynb\) \| .* \| (\d+) \|$", path, re.MULTILINE)
    readme = re.findall(
        r"^\| (\d\d_\w+) \| .* \| (\d+) \|$", (ROOT / "README.md").read_text(encoding="utf-8"), re.MULTILINE
    )
    assert listed == readme[1:] and [name for name, _ in readme] == NAMES


@each_notebook
def test_every_guess_meets_its_result(name):
    cells = code_cells(built(name))
    for index, cell in enumerate(cells):
        if cell.id.startswith("guess-"):
            guesses = [target for target in re.findall(r"\bmy_\w+", cell.source)]
            later = "".join(c.source for c in cells[index + 1 :] if "predict.beside" in c.source)
            assert guesses and all(guess in later for guess in guesses), cell.id


@each_notebook
def test_no_notebook_imports_a_function_that_an_exercise_is_named_after(name):
    stubs = [c for stem in NAMES for c in code_cells(built(stem)) if "exercise:" in str(c.metadata.get("tags"))]
    nodes = [node for cell in stubs for node in ast.walk(ast.parse(cell.source))]
    names = {node.name for node in nodes if isinstance(node, ast.FunctionDef)}
    assert len(names) >= 9
    for cell in code_cells(built(name)):
        for node in ast.walk(ast.parse(cell.source)):
            if isinstance(node, ast.ImportFrom):
                assert not names & {alias.name for alias in node.names}, cell.id
                assert all(alias.name != "*" for alias in node.names), cell.id


def test_a_cell_without_an_id_and_an_id_twice_are_refused(tmp_path):
    for body, reason in (("# %%\n1", "without an id"), ('# %% id="a"\n1\n\n# %% id="a"\n2', "the id 'a' twice")):
        path = tmp_path / "00_bad.py"
        path.write_text(body + "\n", encoding="utf-8", newline="\n")
        with pytest.raises(ValueError, match=reason):
            build.read_source(path)


def test_notebooks_hold_no_trace_of_the_machine_that_built_them():
    for name in NAMES:
        raw = (ROOT / "notebooks" / f"{name}.ipynb").read_text(encoding="utf-8")
        assert not re.search(
            r"/home/|/root/|/Users/|/tmp/|site-packages|0x[0-9a-f]{8}", json.dumps(json.loads(raw)["cells"])
        )


@each_notebook
def test_the_readme_names_the_notebook_and_its_minutes(name):
    (row,) = re.findall(
        rf"^\| {name} \| .* \| (\d+) \|$", (ROOT / "README.md").read_text(encoding="utf-8"), re.MULTILINE
    )
    assert re.search(rf"\*\*Time:\*\* {row} minutes", built(name).cells[0].source)

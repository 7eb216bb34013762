"""Which version a copy is of, and by which exercises it is judged: its own version's, and those it has besides."""

import importlib.util
import json
from pathlib import Path

import pytest

from course_utils import exercises, versions
from course_utils.nbval_plugin import files

ROOT = Path(__file__).resolve().parent.parent
_spec = importlib.util.spec_from_file_location("build", ROOT / "authoring" / "build.py")
build = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(build)

TABLE = json.loads(versions.TABLE.read_text(encoding="utf-8"))
SHIPPED = sorted((ROOT / "notebooks").glob("*.ipynb"))
# The exercises of release 0.1.0. They stand here too, so that no later table can change what was asked then.
FIRST = {
    "00_start_here": "00.first_answer",
    "01_one_forward_pass": "01.counts_to_logits 01.softmax 01.last_logits 01.generate_loop",
    "02_temperature": "02.temperature 02.greedy 02.repetition_rate",
    "03_top_k_top_p": "03.top_k 03.top_p 03.which_order",
    "04_tiny_transformer": "04.causal_mask 04.positions 04.count_parameters",
    "05_kv_cache": "05.kv_bytes 05.generate_cached",
    "06_is_the_cache_right": "06.same_logits 06.diagnose 06.padded_positions",
    "07_stopping": "07.finish_reason 07.stop_matcher 07.read_call",
    "08_did_it_help": "08.pass_at_k 08.paired_difference 08.record",
    "09_real_libraries": "09.last_token 09.translate",
}


@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: path.stem)
def test_the_table_knows_the_notebook_as_it_is(path):
    notebook, entry = json.loads(path.read_text(encoding="utf-8")), TABLE.get(path.stem, {"versions": {}, "cells": []})
    assert versions.digest(notebook) in entry["versions"], "run: python authoring/build.py --versions"
    assert {cell["id"] for cell in notebook["cells"]} <= set(entry["cells"])
    known = exercises.notebooks().get(path.stem, ())
    assert sorted(versions.exercises_of(path.stem, versions.digest(notebook))) == sorted(known)


@pytest.mark.parametrize("name", FIRST)
def test_the_first_version_is_that_of_0_1_0_and_is_what_an_unknown_copy_is_judged_as(name):
    first = tuple(FIRST[name].split())
    assert versions.exercises_of(name, None) == versions.exercises_of(name, "unknown") == first
    assert set(first) <= set(exercises.notebooks()[name]), "an exercise id never goes away"
    copy = json.loads((ROOT / "tests" / "finished_copies" / "0.1.0" / f"{name}.ipynb").read_text(encoding="utf-8"))
    assert {cell["id"] for cell in copy["cells"] if "-" in cell["id"]} <= {*TABLE[name]["cells"], *OWN}


OWN = {"5b7f0a52-3c1e-4a60-9d0b-2f6f2a1d7c11", "9a1d3e77-0b42-4c5e-8f3a-6d2b1c0e9f24"}  # added in copies, for tests


def test_the_table_only_grows(tmp_path, monkeypatch):
    table, source = tmp_path / "table.json", Path("03_top_k_top_p.py")
    monkeypatch.setattr(build, "NOTEBOOKS", tmp_path)
    made = []
    for text in ("first", "second", "first"):
        content = {"cells": [{"id": f"{text}-cell", "source": text}, {"id": "both", "source": "1"}]}
        (tmp_path / "03_top_k_top_p.ipynb").write_text(json.dumps(content), encoding="utf-8", newline="\n")
        build.note_version(source, table)
        made.append(versions.digest(content))
    entry = json.loads(table.read_text(encoding="utf-8"))["03_top_k_top_p"]
    assert list(entry["versions"]) == made[:2] and entry["cells"] == ["both", "first-cell", "second-cell"]


def test_a_version_is_of_the_sources_alone():
    notebook = {"cells": [{"source": ["a\n", "b"], "outputs": [1], "metadata": {}}]}
    assert versions.digest(notebook) == versions.digest({"cells": [{"source": "a\nb"}], "metadata": {"x": 1}})
    assert versions.digest(notebook) != versions.digest({"cells": [{"source": "a\nc"}]})


# By which exercises a copy is judged


NEW = "03.an_exercise_of_later"


@pytest.fixture
def later(monkeypatch):
    """The course as it is once notebook 03 has an exercise more, in a version called "newer"."""
    name, first = "03_top_k_top_p", tuple(FIRST["03_top_k_top_p"].split())
    monkeypatch.setattr(exercises, "notebooks", lambda: {name: (*first, NEW)})
    monkeypatch.setattr(versions, "_table", lambda: {name: {"versions": {"older": [*first], "newer": [*first, NEW]}}})
    return name, list(first)


def judged(folder, cells=(), record=None, name="copy.ipynb", **course):
    path = folder / name
    sources = [{"cell_type": "code", "id": tag, "metadata": {"tags": [tag]}, "source": ""} for tag in cells]
    content = {"cells": sources, "metadata": {"course": {"notebook": "03_top_k_top_p", **course}}}
    path.write_text(json.dumps(content), encoding="utf-8", newline="\n")
    if record is not None:
        versions.record_path(folder).write_text(record, encoding="utf-8", newline="\n")
    return files.exercises_to_judge(path, "03_top_k_top_p")


def test_an_exercise_that_was_added_later_is_not_demanded_of_an_older_copy(later, tmp_path):
    _, first = later
    assert judged(tmp_path) == first  # nothing says of which version it is: 0.1.0
    assert judged(tmp_path, copied_from="older") == first
    assert judged(tmp_path, copied_from="unknown") == first
    assert judged(tmp_path, record='{"copy.ipynb": "older"}') == first


def test_a_deleted_cell_of_the_copys_own_version_counts_as_missing(later, tmp_path):
    _, first = later
    assert judged(tmp_path, copied_from="newer") == [*first, NEW]
    assert judged(tmp_path, record='{"copy.ipynb": "newer"}') == [*first, NEW]


def test_an_exercise_whose_cells_are_there_is_judged_in_any_case(later, tmp_path):
    _, first = later
    assert judged(tmp_path, [f"check:{NEW}"]) == judged(tmp_path, [f"exercise:{NEW}"]) == [*first, NEW]


def test_the_copys_own_word_counts_before_the_record(later, tmp_path):
    _, first = later
    assert judged(tmp_path, record='{"copy.ipynb": "newer"}', copied_from="older") == first


@pytest.mark.parametrize("record", ["", "{", "[]", '{"copy.ipynb": 3}', '{"other.ipynb": "newer"}'])
def test_a_damaged_record_is_none(later, tmp_path, record):
    assert judged(tmp_path, record=record) == later[1]


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b"\xff", b'{"cells": 1}', b'{"metadata": 1, "cells": []}'])
def test_of_a_file_that_cannot_be_read_the_record_is_asked(later, tmp_path, content):
    path = tmp_path / "copy.ipynb"
    path.write_bytes(content)
    assert files.exercises_to_judge(path, later[0]) == later[1]
    versions.record_path(tmp_path).write_text('{"copy.ipynb": "newer"}', encoding="utf-8", newline="\n")
    assert files.exercises_to_judge(path, later[0]) == [*later[1], NEW]


def test_the_courses_own_file_is_judged_by_all(tmp_path):
    for path in SHIPPED:
        expected = list(exercises.notebooks().get(path.stem, ()))
        assert files.exercises_to_judge(path, path.stem) == expected

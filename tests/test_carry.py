"""A learner's cells in a newer version of their notebook: each finds its place, and none is lost."""

import pytest

from course_utils.workspace.carry import carry, is_untouched

STUB = "def f(x):\n    ..."


def text(name, source="text"):
    return {"cell_type": "markdown", "id": name, "metadata": {}, "source": source}


def code(name, source, *tags):
    return {"cell_type": "code", "id": name, "metadata": {"tags": list(tags)} if tags else {}, "source": source}


def stub(source=STUB, name="exercise-f"):
    return code(name, source, "exercise:03.f")


def carried(mine, new, *removed):
    """The ids and sources of what comes out, and the two counts. removed: ids of cells that the course had once."""
    shipped = frozenset([*(cell["id"] for cell in new), *removed])
    merged, answers, added = carry({"cells": mine}, {"cells": new, "metadata": {"a": 1}}, shipped)
    assert merged["metadata"] == {"a": 1}
    return [(cell["id"], cell["source"]) for cell in merged["cells"]], answers, added


def test_answers_keep_their_text_and_take_the_new_tags():
    mine = [text("a", "old"), code("guess-x", "my_x = 3"), stub("def f(x):\n    return x")]
    new = [text("b", "new"), stub(), code("guess-x", "my_x = ...", "t")]
    merged, _, _ = carry({"cells": mine}, {"cells": new}, frozenset({"a", "b", "guess-x", "exercise-f"}))
    assert merged["cells"] == [
        new[0],
        {**new[1], "source": "def f(x):\n    return x"},
        {**new[2], "source": "my_x = 3"},
    ]
    assert new[1]["source"] == STUB  # what was given is not changed


def test_the_courses_own_cells_are_the_new_ones_whatever_the_learner_changed_in_them():
    assert carried([text("a", "mine"), code("b", "1")], [text("a"), code("b", "2")]) == (
        [("a", "text"), ("b", "2")],
        0,
        0,
    )


def test_an_untouched_stub_takes_the_new_text():
    new = [code("guess-x", "my_first, my_second = ..., ..."), stub("def f(x, y):\n    ...")]
    mine = [code("guess-x", "my_x = ..."), stub()]
    assert carried(mine, new) == ([(cell["id"], cell["source"]) for cell in new], 0, 0)


@pytest.mark.parametrize("removed", [(), ("b",)])
def test_an_added_cell_follows_the_cell_that_it_followed(removed):
    mine = [text("0"), text("a"), text("m1"), text("m2"), *([text("b")] if removed else []), text("m3"), text("c")]
    new = [text("c"), text("a"), text("d")]
    ids = [cell for cell, _ in carried(mine, new, *removed)[0]]
    assert ids == ["0", "c", "a", "m1", "m2", "m3", "d"]


def test_an_empty_added_cell_is_left_out():
    assert carried([text("a"), code("m", " \n")], [text("a")]) == ([("a", "text")], 0, 0)


def test_an_answer_whose_cell_the_course_gave_up_stays_and_an_open_one_does_not():
    mine = [text("a"), code("guess-old", "my_x = 3"), code("guess-older", "my_x = ...")]
    merged, answers, added = carried(mine, [text("a"), text("b")], "guess-old", "guess-older")
    assert merged == [("a", "text"), ("guess-old", "my_x = 3"), ("b", "text")] and (answers, added) == (0, 1)


def test_a_copied_exercise_cell_is_an_added_one():
    mine = [stub("def f(x):\n    return 1"), stub("def f(x):\n    return 2", "b1946ac9")]
    merged, answers, added = carried(mine, [stub(), text("a")])
    assert [source[-1] for _, source in merged] == ["1", "2", "t"] and (answers, added) == (1, 1)


def test_where_an_editor_lost_the_ids_the_exercises_are_known_by_their_tags():
    mine = [text("a"), stub("def f(x):\n    return 1"), code("x", "1")]
    for cell in mine:
        del cell["id"]
    assert carried(mine, [text("a"), stub()]) == ([("a", "text"), ("exercise-f", "def f(x):\n    return 1")], 1, 0)


def test_lists_of_lines_are_read_as_text():
    assert carried([stub(["def f(x):\n", "    return x"])], [stub()])[0] == [("exercise-f", "def f(x):\n    return x")]


@pytest.mark.parametrize(
    "source",
    [
        "my_x = ...",
        "a, b = ..., ...",
        "answer = {(0,): ..., (0, 1): ...}",
        'def f(x):\n    """Say."""\n    ...',
        "import math\n\n\ndef f(x):\n    pass",
        "",
    ],
)
def test_a_stub_is_untouched(source):
    assert is_untouched(source)


@pytest.mark.parametrize(
    "source",
    ["my_x = 1", "a, b = ..., 2", "x = {}", "def f(x):\n    return ...", "def f(x):\n    # an idea\n    ...",
     "def f(x:", "print(1)", "answer = {1: ..., 2: 3}", "x: int"],
)  # fmt: skip
def test_a_stub_with_something_written_in_it_is_not(source):
    assert not is_untouched(source)

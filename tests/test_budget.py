"""One switch for the long cells."""

import pytest

from course_utils import budget


@pytest.mark.parametrize(
    ("asked", "two", "three"),
    [(None, 800, 800), ("", 800, 800), ("full", 800, 800), ("class", 800, 400), ("small", 12, 12)],
)
def test_each_budget(monkeypatch, asked, two, three):
    monkeypatch.delenv("COURSE_BUDGET", raising=False)
    if asked is not None:
        monkeypatch.setenv("COURSE_BUDGET", asked)
    assert (budget.choose(800, 12), budget.choose(800, 12, in_class=400)) == (two, three)


def test_another_word_is_an_error(monkeypatch):
    monkeypatch.setenv("COURSE_BUDGET", "Small")
    with pytest.raises(ValueError, match="'Small'; expected full, class or small"):
        budget.choose(800, 12)

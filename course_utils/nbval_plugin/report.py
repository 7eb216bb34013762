"""The pytest plugin: nbval runs a notebook of the course, and each exercise in it becomes a test.

    pytest --nbval-lax my_notebooks/03_top_k_top_p.ipynb

It is loaded wherever the course is installed, so it imports next to nothing and acts only where nbval is active and
the file is a notebook of this course. All that is heavier is in `items`.

--exercises=strict           unattempted exercises fail too
--exercises-report=FILE      the verdicts as JSON: a list of file, notebook, exercise, verdict, hint_id and reason; a
                             file that cannot be read is one entry, with the exercise null
--exercises-timeout=SECONDS  the time for a whole notebook; nbval's --nbval-cell-timeout is the time for a cell
"""

import json
import os
from collections.abc import Generator
from pathlib import Path

import pytest

RESULT = "course_exercise"  # as in `verdicts`, whose import would cost every pytest run a second
_WORDS = {"wrong": "not yet"}  # as in the learner's notebook; every other verdict is shown as it is called


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("exercises", "exercises of the course, in notebooks run by nbval")
    group.addoption(
        "--exercises",
        choices=("lenient", "strict"),
        default="lenient",
        help="strict: an exercise that was not attempted, or not reached, fails (default: it is skipped)",
    )
    group.addoption(
        "--exercises-report", metavar="FILE", default=None, help="write the exercises' verdicts to FILE, as JSON"
    )
    group.addoption(
        "--exercises-timeout",
        metavar="SECONDS",
        type=float,
        default=None,
        help="stop a notebook whose cells together take longer (default: no limit beside each cell's own)",
    )


def pytest_configure(config: pytest.Config) -> None:
    if _nbval_is_active(config) and getattr(config.option, "dist", "no") != "no":
        # A notebook's cells share one kernel, so pytest-xdist must not deal them out to several processes.
        config.option.dist = "loadfile"
    config.pluginmanager.register(_Summary(config), "course-exercises-summary")


@pytest.hookimpl(wrapper=True)
def pytest_collect_file(
    file_path: Path, parent: pytest.Collector
) -> Generator[None, list[pytest.Collector], list[pytest.Collector]]:
    """Put our collector in the place of nbval's, for the course's notebooks."""
    collectors = yield
    if file_path.suffix != ".ipynb" or not _nbval_is_active(parent.config):
        return collectors
    from course_utils.nbval_plugin import items

    ours = (items.replace(collector, file_path, parent) for collector in collectors)
    return [collector for collector in ours if collector is not None]


def _nbval_is_active(config: pytest.Config) -> bool:
    return bool(getattr(config.option, "nbval", False) or getattr(config.option, "nbval_lax", False))


class _Summary:
    """Collects the verdicts, then writes the table and the report."""

    def __init__(self, config: pytest.Config):
        self.config = config
        self.collected: dict[str, dict] = {}  # by the test's id, so that one that never ran is seen
        self.results: dict[str, dict] = {}

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        for item in session.items:
            entry = getattr(item, RESULT, None)
            if entry is not None:
                self.collected[item.nodeid] = entry

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        for name, entry in report.user_properties:
            if name == RESULT and isinstance(entry, dict):
                self.results[report.nodeid] = entry
                self.write()  # now, since the run may be ended before it ends by itself

    def entries(self) -> list[dict]:
        """One for each exercise and for each unreadable file, in the order of the files and of the course."""
        found = {**self.collected, **self.results}.values()
        if not found:
            return []
        from course_utils import exercises

        order = [None, *exercises.places()]
        return sorted(found, key=lambda entry: (entry["file"], order.index(entry["exercise"])))

    def write(self) -> None:
        path = self.config.getoption("--exercises-report")
        if path is None or hasattr(self.config, "workerinput"):  # under xdist the controller writes
            return
        target = Path(os.path.expanduser(path))  # no shell reads the ~ in --exercises-report=~/verdicts.json
        target.parent.mkdir(parents=True, exist_ok=True)
        draft = target.with_name(f".{target.name}.draft")
        text = json.dumps(self.entries(), indent=1, ensure_ascii=False) + "\n"
        draft.write_text(text, encoding="utf-8", newline="\n")
        os.replace(draft, target)

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        self.write()

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        entries = self.entries()
        if not entries or self.config.option.collectonly:
            return
        terminalreporter.section("exercises")
        for line in table(entries):
            terminalreporter.write_line(line)
        terminalreporter.write_line(total(entries))


def table(entries: list[dict]) -> list[str]:
    """One line for each entry: file, exercise, verdict, hint id. Plain text, no colour needed."""
    rows = [
        (e["file"], e["exercise"] or "", _WORDS.get(e["verdict"], e["verdict"]), e["hint_id"] or "") for e in entries
    ]
    rows.insert(0, ("notebook", "exercise", "verdict", "hint"))
    widths = [max(len(row[column]) for row in rows) for column in range(4)]
    return ["  ".join(text.ljust(width) for text, width in zip(row, widths, strict=True)).rstrip() for row in rows]


def total(entries: list[dict]) -> str:
    """For example "2 of 5 exercises passed; 1 not yet, 2 not attempted."."""
    verdicts = [_WORDS.get(entry["verdict"], entry["verdict"]) for entry in entries]
    rest = [f"{verdicts.count(verdict)} {verdict}" for verdict in dict.fromkeys(verdicts) if verdict != "passed"]
    asked = sum(entry["exercise"] is not None for entry in entries)  # an unreadable file is not an exercise
    return f"{verdicts.count('passed')} of {asked} exercises passed" + (f"; {', '.join(rest)}." if rest else ".")

"""Write docs/checker.md: what the checker's planted solutions came to. `python tests/wrong_solutions`."""

import sys
from pathlib import Path

TESTS = Path(__file__).resolve().parent.parent
TARGET = TESTS.parent / "docs" / "checker.md"

HEAD = """# What the exercise checker catches

For each exercise, solutions are planted in `tests/wrong_solutions/`: wrong ones, each with the hint that must name it,
and right ones, written differently. This table is written by a command, and a test fails when it is stale:

    .venv/bin/python tests/wrong_solutions

*Caught* counts the wrong ones that did not pass, *named* those that got exactly their hint, *accepted* the right ones
that passed. Each hint of an exercise has at least one planted solution.

| exercise | the learner writes | difficulty | minutes | cases | hints | wrong | caught | named | right | accepted |
|---|---|---|---|---|---|---|---|---|---|---|
"""


_FOUND = {}


def found(exercise, attempt):
    """What judging a planted solution gave; each is judged once in a process."""
    from course_utils.checker.judging import judge

    key = exercise.id, id(attempt)
    if key not in _FOUND:
        _FOUND[key] = judge(exercise, attempt)
    return _FOUND[key]


def table() -> str:
    """The document, from judging every planted solution."""
    from course_utils.checker.exercise import FunctionExercise
    from course_utils.checker.judging import PASSED
    from course_utils.exercises import all_exercises
    from wrong_solutions import RIGHT, WRONG

    lines = []
    for key, exercise in all_exercises().items():
        judged = [(hint_id, found(exercise, attempt)) for hint_id, attempt in WRONG[key]]
        accepted = [found(exercise, attempt).status == PASSED for attempt in RIGHT[key]]
        caught = sum(finding.status in ("wrong", "raised") for _, finding in judged)
        named = sum(finding.hint_id == hint_id for hint_id, finding in judged)
        counts = (len(exercise.hint_ids()), len(judged), caught, named, len(accepted), sum(accepted))
        n_cases = len(exercise.cases) if isinstance(exercise, FunctionExercise) else "-"
        cells = (key, exercise.writes, exercise.difficulty, exercise.minutes, n_cases, *counts)
        lines.append("| " + " | ".join(map(str, cells)) + " |\n")
    return HEAD + "".join(lines) + "\n" + _hints()


def _hints() -> str:
    from course_utils.exercises import all_exercises

    sections = ["## Hint ids\n\nIn the order in which the cases are tried.\n"]
    for key, exercise in all_exercises().items():
        sections.append(f"- `{key}`: {', '.join(exercise.hint_ids())}\n")
    return "\n".join([sections[0], "".join(sections[1:])])


if __name__ == "__main__":
    sys.path.insert(0, str(TESTS))
    TARGET.parent.mkdir(exist_ok=True)
    TARGET.write_text(table(), encoding="utf-8", newline="\n")
    print(f"docs/{TARGET.name} is written.")

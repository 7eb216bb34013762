"""What a class's verdicts are written as: JSON, CSV, a table of learners and exercises, and the misconceptions."""

import csv
import io
import json
import os
from collections import Counter
from pathlib import Path

from course_utils import exercises

COLUMNS = ("learner", "file", "notebook", "exercise", "verdict", "hint_id", "reason", "seconds", "counts")
SIGNS = {
    "passed": "P",
    "wrong": "N",
    "raised": "R",
    "not attempted": "-",
    "missing": "M",
    "not reached": "?",
}
WORDS = {"wrong": "not yet"}  # as in the learner's notebook; every other verdict is shown as it is called


def ordered(entries: list[dict]) -> list[dict]:
    """The entries by learner, notebook, exercise and file, so that a report is the same however it was made."""
    place = {exercise_id: number for number, exercise_id in enumerate(exercises.places())}
    return sorted(entries, key=lambda e: (e["learner"], e["notebook"] or "", e["file"], place.get(e["exercise"], -1)))


def write(entries: list[dict], out: Path) -> None:
    """Write verdicts.json, verdicts.csv and class.csv, each whole or not at all."""
    entries = ordered(entries)
    replace(out / "verdicts.json", json.dumps(entries, indent=1, ensure_ascii=False) + "\n")
    replace(out / "verdicts.csv", _csv([COLUMNS, *([entry[c] for c in COLUMNS] for entry in entries)]))
    learners, asked, cells = pivot(entries)
    rows = [[learner, *(cells.get((learner, exercise), "") for exercise in asked)] for learner in learners]
    replace(out / "class.csv", _csv([["learner", *asked], *rows]))


def replace(target: Path, text: str) -> None:
    """Write a file so that a reader, also after an interruption, finds the old text or the new one."""
    draft = target.with_name(f".{target.name}.draft")
    draft.write_text(text, encoding="utf-8", newline="\n")
    os.replace(draft, target)


def _csv(rows: list) -> str:
    """With a mark at the beginning, by which spreadsheets know that it is UTF-8."""
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows([_plain(value) for value in row] for row in rows)
    return "\N{BYTE ORDER MARK}" + text.getvalue()


def _plain(value: object) -> object:
    """A text that a spreadsheet would take for a formula, made a text again."""
    return f"'{value}" if isinstance(value, str) and value[:1] in ("=", "+", "@") else value


def pivot(entries: list[dict]) -> tuple[list[str], list[str], dict[tuple[str, str], str]]:
    """The learners, the exercises, and each learner's verdict on each exercise. Earlier copies are left out."""
    counting = [entry for entry in entries if entry["counts"] and entry["exercise"]]
    cells = {(entry["learner"], entry["exercise"]): entry["verdict"] for entry in counting}
    there = {exercise for _, exercise in cells}
    learners = sorted({entry["learner"] for entry in entries})
    return learners, [exercise for exercise in exercises.places() if exercise in there], cells


def misconceptions(entries: list[dict]) -> list[tuple[str, str, int]]:
    """Exercise, hint id and the number of learners who were given that hint, the most frequent first."""
    given = {(e["exercise"], e["hint_id"], e["learner"]) for e in entries if e["counts"] and e["hint_id"]}
    return [(*which, n) for which, n in Counter((x, h) for x, h, _ in sorted(given)).most_common()]


def table(entries: list[dict]) -> list[str]:
    """The pivot as lines of text, then the misconceptions."""
    learners, asked, cells = pivot(entries)
    rows = [["", *asked]]
    rows += [[x, *(SIGNS[cells[x, e]] if (x, e) in cells else "." for e in asked)] for x in learners]
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    lines = ["  ".join(text.ljust(width) for text, width in zip(row, widths, strict=True)).rstrip() for row in rows]
    meaning = ", ".join(f"{sign} {WORDS.get(verdict, verdict)}" for verdict, sign in SIGNS.items())
    lines += ["", f"{meaning}, . not handed in or not readable"]
    if found := misconceptions(entries):
        width = max(len(f"{exercise}  {hint_id}") for exercise, hint_id, _ in found)
        lines += ["", "Hints that were given, by the number of learners:"]
        lines += [f"{f'{exercise}  {hint_id}'.ljust(width)}  {n}" for exercise, hint_id, n in found]
    return lines

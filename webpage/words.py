"""The words of the page: one JSON file for each language, filled into the starter code, and the notebooks' hints.

Everything that a visitor reads is in `words/<language>.json`, besides the hints. Those are sentences of the exercises,
exported here, so that the page and the notebooks say the same.
"""

import json
import re
from collections.abc import Iterable
from pathlib import Path

from course_utils import exercises
from course_utils.live.pieces import PIECES
from webpage import reading

HERE = Path(__file__).resolve().parent
SHARED = ("02.temperature", "02.repetition_rate", "03.top_k", "03.top_p", "05.kv_bytes")
_PLACE = re.compile("«([\\w-]+)»")


def languages() -> list[str]:
    """The languages that the page has, English first."""
    return sorted((path.stem for path in (HERE / "words").glob("*.json")), key=lambda name: (name != "en", name))


def load(language: str) -> dict:
    """The words of a language."""
    return json.loads((HERE / "words" / f"{language}.json").read_text(encoding="utf-8"))


def starter(piece: str, words: dict) -> str:
    """The code with which a piece begins; each «key» becomes that word. Raises KeyError for a key without a word."""
    code = (HERE / "starters" / f"{piece}.py").read_text(encoding="utf-8").rstrip("\n")
    return _PLACE.sub(lambda match: words["pieces"][piece]["code"][match[1]], code)


def exported_hints(exercise_ids: Iterable[str] = SHARED) -> dict[str, str]:
    """The notebooks' sentences by "exercise/hint id"; of several for one id, the first."""
    hints: dict[str, str] = {}
    every = exercises.all_exercises()
    for exercise_id in exercise_ids:
        for case in every[exercise_id].cases:
            hints.setdefault(f"{exercise_id}/{case.hint_id}", case.hint)
    return hints


def for_page(language: str) -> dict:
    """All that the page shows in a language: words, hints of the notebooks, starter code, and the notebooks' list."""
    words = load(language)
    words["notebooks"]["table"] = reading.table()
    words["hints"] = exported_hints() | words["hints"]
    for piece in PIECES:
        words["pieces"][piece]["starter"] = starter(piece, words)
    return words

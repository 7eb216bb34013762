"""Planted solutions to 06.diagnose."""

import math

from course_utils.clinic import DIAGNOSES
from course_utils.exercises.nb06_is_the_cache_right.diagnose import _NEAR_AND_FAR as GROUPS
from wrong_solutions import planting

wrong, right = planting("06.diagnose")


LETTER = {name: letter for letter, name in DIAGNOSES.items()}

for group, members in GROUPS.items():
    elsewhere = next(name for other, there in GROUPS.items() if other != group for name, *_ in there)
    for (name, word, *_), (neighbour, *_) in zip(members, [*members[1:], members[0]], strict=True):
        wrong(f"{word}-near")({LETTER[neighbour]: name})
        wrong(f"{word}-far")({LETTER[elsewhere]: name})
        swapped = {**DIAGNOSES, LETTER[name]: neighbour, LETTER[neighbour]: name}
        first = min((name, neighbour), key=[n for there in GROUPS.values() for n, *_ in there].index)
        wrong(f"{next(w for n, w, *_ in members if n == first)}-near")(swapped)

for hint_id, value in [
    ("no-such-fault", {"A": "cosmic rays"}),
    ("no-such-fault", {**DIAGNOSES, "A": "keys of layer 0"}),
    ("no-such-fault", {"A": 3}),
    ("no-such-fault", {"A": ["sound"]}),
    ("named-twice", {letter: "sound" for letter in DIAGNOSES}),
    ("named-twice", {**DIAGNOSES, LETTER["sound"]: "heads tiled"}),
    ("named-twice", {"A": "position frozen", "B": "position frozen"}),
    ("incomplete", {"A": DIAGNOSES["A"]}),
    ("incomplete", {**DIAGNOSES, "K": ...}),
    ("incomplete", {**DIAGNOSES, "K": None, "L": ""}),
    ("incomplete", {letter: name for letter, name in DIAGNOSES.items() if letter != "C"}),
    ("general", {}),
    ("general", {"Q": "sound"}),
    ("general", {**DIAGNOSES, "Q": "sound"}),
    ("general", {name: letter for letter, name in DIAGNOSES.items()}),
    ("general", list(DIAGNOSES.values())),
    ("general", "sound"),
    ("general", 0),
    ("general", math.nan),
    ("general", print),
]:
    wrong(hint_id)(value)

for value in [
    dict(DIAGNOSES),
    {letter.lower(): name.upper() for letter, name in DIAGNOSES.items()},
    {f" {letter} ": f"  {name.replace(' ', '_')} " for letter, name in reversed(DIAGNOSES.items())},
    {f"Specimen {letter}": name for letter, name in DIAGNOSES.items()},
]:
    right(value)

"""Exercise 06.diagnose: which fault has which specimen of the clinic.

A wrong diagnosis gets a hint by the fault that was named, and by whether the true one is of the same group. The names
are written here once more, since this module does not import torch, and a test compares them with the clinic's.
"""

from collections.abc import Callable, Iterator
from typing import Any

from course_utils.checker.exercise import Misconception, ValueExercise

# The name, a word for the hint ids, what else it could be told by (another group), and within its group.
_NEAR_AND_FAR = {
    "positions": (
        ("positions restart at 0", "restart",
         "Such positions are wrong in every call with a cache, even for a chunk, and in no pass without a cache.",
         "Where were the tokens after the prompt stored? Counting from 0 again is only one of several ways to be "
         "wrong."),
        ("positions off by one", "off-by-one",
         "It leaves the prompt right. With a cache it is wrong from the first token on, even in a chunk.",
         "Where were the tokens after the prompt stored? A position can be left free, used again, or taken twice."),
        ("position frozen", "frozen",
         "A frozen counter is right in the prompt and in the first call after it, so a single chunk looks sound.",
         "At which token after the prompt does it go wrong, the first or the second? And where are these tokens "
         "stored?"),
        ("last prompt token fed twice", "twice",
         "It leaves the prompt right and stores one token more than was fed. How many tokens does this cache hold?",
         "How many tokens does its cache hold after the prompt and one more, and which ids are they?"),
    ),
    "storage": (
        ("first token never stored", "first",
         "It shows only with a cache, and there already at position 0.",
         "Position 0 sees only itself. Is this specimen already wrong there, or only from position 1 on?"),
        ("keys of layer 0 everywhere", "layer-0",
         "Position 0 attends only to itself, whatever the keys are. From position 1 on this fault is large, but only "
         "with a cache.",
         "Where does it go wrong, at position 0 or 1? And is the difference as large as the logits, or far smaller?"),
        ("keys rounded to bfloat16", "bfloat16",
         "Rounding makes small differences, and only where there is a cache. How large is the difference here?",
         "Is the difference as large as the logits, or a small part of them? Rounding never makes a large difference."),
    ),
    "chunks": (
        ("mask aligned top-left", "top-left",
         "The mask of a chunk matters only where several tokens are fed after a cache, never for one token at a time.",
         "Change the last token of a chunk. Does anything before it move?"),
        ("no causal mask in a chunk", "no-triangle",
         "Without the triangle, a later token of a chunk changes what came before it. Does that happen here?",
         "Does it see too few keys or too many? Only one of the two faults shows when a later token is changed."),
    ),
    "always": (
        ("rotary applied twice", "turned-twice",
         "It is wrong even without a cache, but not at position 0, where the angle is 0.",
         "Is position 0 right? Are two equal calls equal? Where do the stored keys say that the tokens stand?"),
        ("heads tiled", "tiled",
         "It is wrong from position 0 on, with a cache and without one.",
         "Is it equal to itself in two calls? And is it wrong at position 0 already?"),
        ("dropout left on", "dropout",
         "Dropout draws new random numbers in each call, so two equal calls differ. Do they differ here?",
         "Other faults also show without a cache. Only with dropout do two equal calls differ."),
    ),
    "one situation": (
        ("pads can be seen", "pads",
         "Visible pads change nothing where there are none. Does it differ without padding?",
         "Which is the one situation in which it differs?"),
        ("old keys after an edit", "edit",
         "It is right as long as no prompt is edited. Does it differ in another situation?",
         "Look for the one situation in which it differs: is it the edit?"),
        ("old keys after a weight update", "update",
         "It is right as long as the weights stay. Does it differ in another situation?",
         "There is one situation in which it differs: is it the one with new weights?"),
        ("sound", "sound",
         "A sound decoder stays within the tolerance in every situation.",
         "Some faults show in one situation only. Look at every situation, including padding, the edit and the new "
         "weights."),
    ),
}  # fmt: skip
NAMES = tuple(name for group in _NEAR_AND_FAR.values() for name, *_ in group)
_GROUP = {name: group for group, members in _NEAR_AND_FAR.items() for name, *_ in members}


def _truth() -> dict[str, str]:
    from course_utils.clinic import DIAGNOSES  # imports torch: only when a check runs

    return DIAGNOSES


def _read(answer: Any) -> dict[str, object]:
    """The answer with plain letters and names; what is still open is left out."""
    read = {_letter(key): _words(value) if isinstance(value, str) else value for key, value in dict(answer).items()}
    if not set(read) <= set(_truth()):
        raise ValueError("no such specimen")
    return {letter: value for letter, value in read.items() if value is not ... and value not in (None, "", "...")}


def _letter(key: object) -> str:
    return str(key).strip().upper().removeprefix("SPECIMEN ")


def _words(text: str) -> str:
    return " ".join(text.lower().replace("_", " ").split())


def _names_unknown_fault(answer: Any) -> bool:
    return any(value not in NAMES for value in _read(answer).values())


def _names_one_twice(answer: Any) -> bool:
    values = list(_read(answer).values())
    return len(set(values)) < len(values)


def _confuses(named: str, same_group: bool) -> Callable[[Any], bool]:
    """Recognises that a specimen was called `named` and has another fault, of the same group or of another one."""

    def matches(answer: Any) -> bool:
        wrong = [letter for letter, name in _read(answer).items() if name == named != _truth()[letter]]
        return any((_GROUP[_truth()[letter]] == _GROUP[named]) == same_group for letter in wrong)

    return matches


def _confusions() -> Iterator[Misconception]:
    """Two for each fault: named instead of one of its group, and instead of one of another group."""
    for members in _NEAR_AND_FAR.values():
        for name, word, far, near in members:
            told = f"the specimen that you call {name!r} is not that one. "
            yield Misconception(f"{word}-near", told + near, _confuses(name, True))
            yield Misconception(f"{word}-far", told + far, _confuses(name, False))


EXERCISE = ValueExercise(
    id="06.diagnose",
    writes="a dict, specimen → fault",
    contract="each of the sixteen letters → one of `clinic.FAULTS`, each of which occurs once",
    difficulty="hard",
    minutes=20,
    hints=(
        "Begin with the table of situations. Which specimens differ without a cache? Which differ in one situation "
        "only? You can name those at once.",
        "Then look where each difference begins: at position 0, at position 1, at the end of the prompt, or one token "
        "later.",
        "Four specimens are left, which go wrong after the prompt. `stored_positions` and `cache.n_tokens` tell them "
        "apart.",
    ),
    reference="Look at the situations in which a fault shows, the position at which it begins, whether it is large or "
              "small, and where the tokens were stored. No two specimens agree in all of these. The whole answer is "
              "`clinic.DIAGNOSES`.",
    accepts=lambda answer: _read(answer) == _truth(),
    unanswered=lambda answer: isinstance(answer, dict) and len(answer) > 0 and _read(answer) == {},
    misconceptions=(
        Misconception("no-such-fault", "one of the names is not in the list. Copy it from `clinic.FAULTS`.",
                      _names_unknown_fault),
        Misconception("named-twice", "one fault is named for two specimens. Each fault belongs to exactly one "
                      "specimen, and one specimen is sound.", _names_one_twice),
        *_confusions(),
        Misconception("incomplete", "what you have is right, but some letters are still open.",
                      lambda answer: 0 < len(_read(answer)) < len(NAMES)),
    ),
    general="the answer is a dict with the letters of the specimens as its keys, and for each one of the texts in "
    "`clinic.FAULTS`.",
)  # fmt: skip

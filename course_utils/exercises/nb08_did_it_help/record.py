"""Exercise 08.record: what is missing from a record for its text to be made again."""

from collections.abc import Callable
from typing import Any

from course_utils.checker.exercise import Misconception, ValueExercise

# The notebook shows a record with the entries of SHOWN, and the names of CANDIDATES.

NEEDED = frozenset({"model", "seed", "sample", "order"})
RESULTS = frozenset({"finish_reason", "token_ids"})  # they come out again
HARMLESS = frozenset({"use_cache", "seconds"})  # the text is the same without
EITHER = frozenset({"batch_size"})  # it changes no draw, but the rounding of the logits, which can tip a near tie
CANDIDATES = NEEDED | RESULTS | HARMLESS | EITHER
SHOWN = frozenset(
    {"checkpoint", "vocabulary", "prompt", "temperature", "top_k", "top_p", "min_p", "greedy", "stopping", "versions"}
    | {"text"}
)


def _names(answer: Any) -> set[str]:
    """The names in a set, list, tuple or dict, or in a text between commas; case, hyphens and spaces do not matter."""
    names = answer.split(",") if isinstance(answer, str) else answer
    return {"_".join(name.lower().replace("-", " ").replace("_", " ").split()) for name in names if name is not ...}


def _has(names: frozenset[str]) -> Callable[[Any], bool]:
    return lambda answer: bool(_names(answer) & names)


def _lacks(name: str) -> Callable[[Any], bool]:
    return lambda answer: name not in _names(answer)


EXERCISE = ValueExercise(
    id="08.record",
    writes="a set of names",
    contract="what is missing from the record that the notebook shows for the text to be reproduced",
    difficulty="medium",
    minutes=8,
    hints=(
        "Take each name in turn. If only this changed, and all that the record holds stayed the same, could the text "
        "change?",
        "The name of a checkpoint says where the weights were found, not which weights they were.",
        "A record need not hold what comes out of the run, nor what cannot change the text.",
    ),
    reference="The answer is model, seed, sample and order. A checkpoint's name can point to other weights tomorrow; "
              "the fingerprint in `model` cannot. Seed and sample decide every draw. In another order, the same "
              "temperature and top-p keep other tokens. Finish reason and token ids come out of the run again. Cache "
              "and time do not change the text. The batch size changes no draw, but it can change the last digits of "
              "the logits and so tip a near tie; you may name it or leave it out.",
    accepts=lambda answer: _names(answer) - EITHER == NEEDED,
    unanswered=lambda answer: isinstance(answer, (set, frozenset, list, tuple, dict)) and not _names(answer),
    misconceptions=(
        Misconception("already-there", "one of these names is in the record already.", _has(SHOWN)),
        Misconception("unknown-name", "one of these names is not in the list. Copy the names as they are.",
                      lambda answer: not _names(answer) <= CANDIDATES),
        Misconception("a-result", "one of these comes out of the run. If everything that goes in is the same, this "
                      "will be the same too.",
                      _has(RESULTS)),
        Misconception("changes-nothing", "one of these does not change the text. With or without a cache, fast or "
                      "slow, the draws are the same.", _has(HARMLESS)),
        Misconception("no-seed", "the draws are not fixed yet. Another random number may give another token.",
                      _lacks("seed")),
        Misconception("no-sample", "one seed can give several texts. Which one of them was it?", _lacks("sample")),
        Misconception("no-weights", "the name of a checkpoint is not enough, because other weights can be saved under "
                      "it. What tells weights apart?", _lacks("model")),
        Misconception("no-order", "the filters and the temperature are there with their values. What else decides "
                      "which tokens they keep?", _lacks("order")),
    ),
    general="the answer is a set of names from the list above the cell, each as a text, such as {\"prompt\"}.",
)  # fmt: skip

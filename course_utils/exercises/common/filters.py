"""What the exercises on top-k and top-p share: oracles, and recognisers of answers of the wrong kind."""

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from course_utils.checker.answers import as_array, same
from course_utils.exercises.common.inputs import Rows

INF = float("inf")
Recogniser = Callable[[Any], bool]

# Oracles: token by token, in plain Python and float64.


def ranked(row: Rows) -> list[int]:
    """The ids of a row, largest logit first; of equal ones the lower id first."""
    return sorted(range(len(row)), key=lambda token: (-row[token], token))


def keep(logits: Rows, choose: Callable[[np.ndarray], Iterable[int]]) -> np.ndarray:
    """`choose(row)` gives the ids that stay in a row; every other logit becomes -inf."""
    logits = np.asarray(logits, dtype=np.float64)
    rows = logits.reshape(-1, logits.shape[-1])
    kept = np.full_like(rows, -INF)
    for number, row in enumerate(rows):
        ids = list(choose(row))
        kept[number, ids] = row[ids]
    return kept.reshape(logits.shape)


def top_k(logits: Rows, k: int | None) -> np.ndarray:
    """The oracle of 03.top_k."""
    return keep(logits, lambda row: ranked(row)[: len(row) if k is None else k])


def top_p(logits: Rows, p: float) -> np.ndarray:
    """The oracle of 03.top_p."""

    def choose(row: np.ndarray) -> list[int]:
        probs = softmax(row)
        total, ids = 0.0, []
        for token in ranked(row):
            ids.append(token)
            total += probs[token]
            if total >= p and p < 1:
                break
        return ids

    return keep(logits, choose)


def softmax(logits: Rows) -> np.ndarray:
    """Probabilities along the last axis."""
    logits = np.asarray(logits, dtype=np.float64)
    weights = np.exp(logits - logits.max(axis=-1, keepdims=True))
    return weights / weights.sum(axis=-1, keepdims=True)


# What a filter may have given instead. `right` is the right answer of the case.


def probabilities_of(right: np.ndarray) -> Recogniser:
    """Probabilities or their logarithms in place of the kept logits; dropped ones as 0 or -inf."""
    kept = np.isfinite(right)
    full = softmax(np.where(kept, right, -INF))

    def recognise(value: Any) -> bool:
        array = as_array(value)
        if array.shape != right.shape or same(array, right):
            return False
        inside, rest = array[kept], array[~kept]
        if not np.isfinite(inside).all():
            return False
        as_probs = (inside > 0).all() and (inside <= 1 + 1e-5).all() and (rest >= -1e-5).all() and (rest < 1).all()
        as_logs = np.allclose(inside, np.log(full[kept]), atol=1e-5)
        ratios = inside - right[kept]
        as_shifted = np.isneginf(rest).all() and np.allclose(ratios, ratios.flat[0], atol=1e-5)
        proportional = as_probs and np.allclose(inside / inside.sum(), full[kept], atol=1e-4)
        return proportional or as_logs or as_shifted

    return recognise


def other_fill(logits: Rows, right: np.ndarray) -> Recogniser:
    """The right tokens stay, and the rest is another number instead of -inf."""
    kept = np.isfinite(right)

    def recognise(value: Any) -> bool:
        array = as_array(value)
        if array.shape != right.shape or same(array, logits):
            return False
        return same(array[kept], right[kept]) and not np.isneginf(array[~kept]).any()

    return recognise


def mask_of(right: np.ndarray) -> Recogniser:
    """Where tokens stay or go, instead of logits."""
    kept = np.isfinite(right)

    def recognise(value: Any) -> bool:
        array = np.asarray(value.tolist() if hasattr(value, "tolist") else value)
        return array.dtype.kind == "b" and array.shape == kept.shape

    return recognise


# Hints that the two filters share.

A_MASK = "this says which tokens stay. Return the logits instead, with -inf for the tokens that go."
PROBABILITIES = (
    "these are not the logits that came in. Leave the kept ones as they are. Softmax comes later, and it makes them "
    "add up to 1 again."
)
FINITE_FILL = (
    "a dropped token has a value other than -inf. After softmax it could still be drawn, and among negative logits it "
    "could even be likely."
)
NOTHING_DROPPED = "nothing was dropped. (If your code does change something, does it return the result?)"
FLOAT64 = (
    "the logits are float64 here. Give the tensors that you make the same dtype, because with less precision the kept "
    "logits would not come back unchanged."
)
ANY_SIZE = (
    "small examples come out right and a larger tensor does not. Any number of axes may stand before the vocabulary, "
    "so look for a size that is fixed in the code."
)
SORTED = (
    "the logits came back in another order. A token's place in the row is its id, so write each kept logit back to "
    "where it was."
)

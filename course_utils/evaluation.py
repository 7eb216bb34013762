"""Right answers: how several samples become one answer, at what cost, and whether a model's confidence can be believed.

None of the ways to choose needs to know which answer is right; what they choose is then marked.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from course_utils.arguments import check_integer, check_number
from course_utils.comparison import Difference, paired_difference
from course_utils.metrics import entries, outcomes, proportion_ci

WAYS = ("one sample", "best of k", "majority")


def spend(samples: pd.DataFrame, n_tokens: int) -> pd.DataFrame:
    """For each problem, what three ways make of the samples that fit into a budget of tokens, and what each has cost.

    samples: a sweep's rows under one setting, with the columns problem, seed, text, n_tokens, right, and logprob, the
        model's own log-probability of the whole answer. They are spent in the order of their seeds.
    n_tokens: the budget for one problem, at least what its longest first sample takes.
    Returns a row for each problem: for each of WAYS whether its answer is right (bool), `k`, the samples that fit, and
        `tokens`, what these k have cost. *One sample* takes the first, and has cost `first_tokens`. *Best of k* takes
        the one with the largest logprob, *majority* the commonest text, of equally common ones the earliest.
    Raises ValueError if a problem's first sample does not fit, and for a row without a value, as a failed one has none.
    """
    n_tokens, rows = check_integer("n_tokens", n_tokens), {}
    _refuse_gaps("samples", samples, ("problem", "seed", "text", "n_tokens", "right", "logprob"))
    samples = samples.assign(right=outcomes("right", samples.right))
    for problem, drawn in samples.sort_values("seed").groupby("problem"):
        fits = drawn[drawn.n_tokens.cumsum() <= n_tokens]
        if fits.empty:
            raise ValueError(
                f"The first sample of problem {problem} takes {drawn.n_tokens.iloc[0]} tokens and the budget is "
                f"{n_tokens}; expected room for one sample at least."
            )
        commonest = Counter(fits.text).most_common(1)[0][0]
        rows[problem] = {
            "one sample": bool(fits.right.iloc[0]),
            "best of k": bool(fits.right.iloc[fits.logprob.to_numpy().argmax()]),
            "majority": bool(fits.right[fits.text == commonest].iloc[0]),
            "k": len(fits),
            "tokens": int(fits.n_tokens.sum()),
            "first_tokens": int(fits.n_tokens.iloc[0]),
        }
    return pd.DataFrame.from_dict(rows, orient="index").rename_axis("problem")


def paired_tables(a: pd.DataFrame, b: pd.DataFrame, measure: str) -> Difference:
    """`paired_difference` of a measure in two sweeps' rows, paired by problem and seed.

    a, b: rows with the columns problem, seed and `measure`. A pair with a missing value is left out, and so is a row
    without a partner.
    Raises ValueError if fewer than two pairs are left.
    """
    columns = ["problem", "seed", measure]
    for name, table in (("a", a), ("b", b)):
        _refuse_gaps(name, table, columns, gaps=True)
    both = a[columns].merge(b[columns], on=["problem", "seed"], suffixes=("_a", "_b")).dropna()
    first, second = (both[f"{measure}_{side}"].tolist() for side in "ab")
    return paired_difference(first, second)


def _refuse_gaps(name: str, table: pd.DataFrame, columns: Sequence[str], gaps: bool = False) -> None:
    """Refuse what is not a table with these columns. gaps: whether a row may lack a value."""
    if not isinstance(table, pd.DataFrame) or (missing := [column for column in columns if column not in table]):
        lacks = f" without the column {missing[0]!r}" if isinstance(table, pd.DataFrame) else ""
        raise TypeError(f"{name} is a {type(table).__name__}{lacks}; expected a sweep's table with {list(columns)}.")
    holes = table[list(columns)].isna()
    if not gaps and holes.any(axis=None):
        raise ValueError(
            f"{name} has a row without a value in {holes.any().idxmax()!r}; expected one. Leave failed rows out."
        )


@dataclass(frozen=True)
class Bin:
    """Cases in which about the same confidence was said.

    said: their mean confidence. came_true: the share that came true. low, high: its 95 % Wilson interval, as if the
    cases did not depend on each other. n: how many there are.
    """

    said: float
    came_true: float
    low: float
    high: float
    n: int


def reliability(confidences: Sequence[float], true: Sequence[bool], n_bins: int = 10) -> tuple[list[Bin], float]:
    """Whether what is said with a confidence of 80 % comes true in 80 % of the cases.

    confidences: (n,) from 0 to 1. true: (n,), whether each came true. n_bins: of equal width; empty ones are left out.
    Returns the bins, and the expected calibration error: the mean over cases of a bin's |said - came_true|.
    Raises ValueError for other lengths, no cases, or a confidence outside 0 to 1.
    Source: Guo et al. 2017, On calibration of modern neural networks, https://arxiv.org/abs/1706.04599
    """
    said = np.array([check_number("A confidence", value) for value in entries("confidences", confidences)])
    came = np.array(outcomes("true", true), dtype=bool)
    n_bins = check_integer("n_bins", n_bins, below=2**31, at_least=1)
    if said.ndim != 1 or said.shape != came.shape or not len(said):
        raise ValueError(f"confidences has the shape {said.shape} and true {came.shape}; expected one of each a case.")
    if not ((said >= 0) & (said <= 1)).all():
        raise ValueError("A confidence is outside 0 to 1, or not a number; expected probabilities.")
    places = np.minimum((said * n_bins).astype(int), n_bins - 1)
    bins = []
    for place in np.unique(places):
        here = places == place
        low, high = proportion_ci(int(came[here].sum()), int(here.sum()))
        bins.append(Bin(float(said[here].mean()), float(came[here].mean()), low, high, int(here.sum())))
    return bins, sum(b.n * abs(b.said - b.came_true) for b in bins) / len(said)

"""From logits to a token: temperature, top-k, top-p, min-p, and the draw.

Every function here is pure: it returns something new and draws no random number. A dropped token
has the logit -inf. Computation is in float64. What produced the logits, this module does not know.
"""

import math
from typing import Any

import numpy as np
import torch
from torch import Tensor

from course_utils.arguments import check_number
from course_utils.sampling.filters import apply_temperature, as_logits, min_p_filter, top_k_filter, top_p_filter
from course_utils.sampling.ranking import EPSILON, candidates
from course_utils.sampling.settings import STEPS, SamplingParams

__all__ = [
    "EPSILON",
    "STEPS",
    "SamplingParams",
    "apply_temperature",
    "choose",
    "draw",
    "min_p_filter",
    "next_token_probs",
    "top_k_filter",
    "top_p_filter",
]


@np.errstate(over="ignore")  # of two huge logits, or after a tiny temperature: -inf is what is meant
def next_token_probs(logits: Tensor, params: SamplingParams) -> Tensor:
    """The probabilities from which the next token is drawn.

    logits: (..., vocab_size), in nats. Returns float64 (..., vocab_size); each row adds up to 1.
    Greedy gives 1 to the likeliest token, of equal ones to the lowest id.
    The result is that of the steps one after the other, as `apply_temperature` and the filters compute them.
    Raises ValueError where a logit is NaN or +inf, or a row has no token left.

    >>> next_token_probs(torch.tensor([2.0, 1.0]), SamplingParams(temperature=0.5))
    tensor([0.8808, 0.1192], dtype=torch.float64)
    """
    if not isinstance(params, SamplingParams):
        raise TypeError(f"params is {params!r}; expected SamplingParams(…).")
    logits = as_logits(logits).detach().double()
    # The largest becomes 0 first of all, so that dividing by a small T cannot overflow.
    shifted = (logits - logits.amax(-1, keepdim=True)).cpu().numpy()
    probs = np.zeros_like(shifted)
    for index in np.ndindex(shifted.shape[:-1]):
        if params.greedy:
            probs[index][shifted[index].argmax()] = 1
        else:
            ids, kept = candidates(shifted[index], params.steps)
            probs[index][slice(None) if ids is None else ids] = kept
    return torch.from_numpy(probs).to(logits.device)


@np.errstate(over="ignore")
def choose(
    logits: Tensor | np.ndarray, params: SamplingParams, u: float | None, allowed: np.ndarray | None = None
) -> tuple[int, float]:
    """Choose the next token: the whole way from one row of logits to an id.

    logits: (vocab_size,), in nats. u: in [0, 1); greedy needs none, and None will do.
    allowed: bool (vocab_size,), True = may be chosen; the others are dropped before temperature and filters, and what
        is left is made to add up to 1. None: all may.
    Returns the id that `draw(next_token_probs(logits, params), u)` gives, without making the probabilities of tokens
        that have none; and the model's own log-probability of it among all tokens, in nats, before
        temperature and filters.
    Raises ValueError as these two do, and if no token is left that is allowed.

    >>> token_id, logprob = choose(torch.tensor([2.0, 1.0, -5.0]), SamplingParams(top_k=2), u=0.8)
    >>> token_id, round(logprob, 3)
    (1, -1.314)
    """
    if isinstance(logits, Tensor):
        logits = logits.detach().double().cpu().numpy()
    if logits.ndim != 1 or not len(logits):
        raise ValueError(f"logits has shape {tuple(logits.shape)}; expected one row, (vocab_size,).")
    top = logits.max()
    if not -math.inf < top < math.inf:  # NaN counts as larger than all
        as_logits(logits)  # raises the error that says where
    shifted = np.subtract(logits, top, dtype=np.float64)
    kept = shifted if allowed is None else _only(shifted, allowed)
    if params.greedy:
        token_id = int(kept.argmax())  # of equal ones the first
    else:
        ids, probs = candidates(kept, params.steps)
        place = _place(probs.cumsum(), _checked_u(u))
        token_id = place if ids is None else int(ids[place])
    return token_id, float(shifted[token_id]) - math.log(np.exp(shifted).sum())


def _only(logits: np.ndarray, allowed: np.ndarray) -> np.ndarray:
    """The logits with -inf for what is not allowed, shifted so that the largest is 0 again."""
    kept = np.where(allowed, logits, -math.inf)
    if (top := kept.max()) == -math.inf:
        raise ValueError(
            f"Of the {len(logits)} tokens {int(allowed.sum())} are allowed, and the model gives none of these a chance."
        )
    return kept - top


def draw(probs: Tensor, u: float) -> int:
    """The token whose stretch of the cumulative distribution, laid out in the order of the ids, contains u.

    probs: (vocab_size,), adding up to 1. u: in [0, 1).
    Never returns a token of probability 0. The same probs and u give the same token.

    >>> [draw(torch.tensor([0.2, 0.0, 0.8]), u) for u in (0.0, 0.19, 0.2, 0.999)]
    [0, 0, 2, 2]
    """
    if isinstance(probs, Tensor):  # NumPy knows neither gradients nor bfloat16
        probs = probs.detach().double()
    weights = np.asarray(probs, dtype=np.float64)
    if weights.ndim != 1 or not len(weights):
        raise ValueError(f"probs has shape {weights.shape}; expected one row, (vocab_size,).")
    u = _checked_u(u)
    cumulative = np.cumsum(weights)
    if not (weights >= 0).all() or not abs(cumulative[-1] - 1) < 1e-4:
        raise ValueError(
            f"probs has the total {cumulative[-1]:.6g} and the minimum {weights.min():.6g}; expected probabilities "
            f"that add up to 1. Logits go through `next_token_probs` first."
        )
    return _place(cumulative, u)


def _place(cumulative: np.ndarray, u: float) -> int:
    """Where u falls. u is at most 1 - 2**-53, and that times the total rounds to less than the total: so the search
    ends before the end."""
    return int(cumulative.searchsorted(u * cumulative[-1], side="right"))


def _checked_u(u: Any) -> float:
    u = check_number("u", u)  # as a float64, it is at most 1 - 2**-53
    if not 0 <= u < 1:
        raise ValueError(f"u is {u}; expected 0 <= u < 1, as `randomness.uniform` gives it.")
    return u

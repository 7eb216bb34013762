"""The steps one by one, as notebooks teach them: temperature, top-k, top-p and min-p on rows of logits.

Every function returns something new. A dropped token has the logit -inf. `ranking` is how a draw applies them all.
"""

import math

import torch
from torch import Tensor

from course_utils.arguments import as_tensor
from course_utils.sampling.ranking import EPSILON
from course_utils.sampling.settings import checked_k, checked_share, checked_temperature


def apply_temperature(logits: Tensor, temperature: float) -> Tensor:
    """Divide the logits by the temperature: below 1 sharpens the distribution, above 1 flattens it.

    logits: (..., vocab_size), in nats. temperature: finite and > 0.
    Returns float64 (..., vocab_size).
    Raises ValueError for another temperature; for 0 it says what to use instead.
    """
    temperature = checked_temperature(temperature)
    if temperature == 0:
        raise ValueError(
            "temperature is 0, and logits cannot be divided by 0. The limit is a separate mode, greedy: "
            "use SamplingParams(greedy=True), or SamplingParams(temperature=0), which means the same."
        )
    return as_logits(logits).double() / temperature


def top_k_filter(logits: Tensor, k: int | None) -> Tensor:
    """Keep the k likeliest tokens.

    logits: (..., vocab_size), in nats; each row is filtered on its own.
    k: how many to keep; None, 0 and k >= vocab_size keep all.
    Returns a new (..., vocab_size) tensor: exactly k logits unchanged, the others -inf. Of equal logits the
        lower id ranks first.
    Raises ValueError if k is negative.
    Source: Fan et al. 2018, Hierarchical neural story generation, https://arxiv.org/abs/1805.04833
    """
    k, logits = checked_k(k), as_logits(logits)
    if not k or k >= logits.shape[-1]:
        return logits.clone()
    kth = logits.topk(k).values[..., -1:]
    above, tied = logits > kth, logits == kth
    room = k - above.sum(-1, keepdim=True)  # how many of the tied tokens may stay
    return logits.masked_fill(~(above | tied & (tied.cumsum(-1) <= room)), -math.inf)


def top_p_filter(logits: Tensor, p: float | None) -> Tensor:
    """Keep the fewest likeliest tokens whose total probability reaches p.

    logits: (..., vocab_size), in nats; each row is filtered on its own.
    p: probability in [0, 1]; None and 1 keep every token, 0 only the likeliest.
    Returns a new (..., vocab_size) tensor: kept logits unchanged, the others -inf. The token that takes the
        total to p stays, so at least one does; of equal logits the lower id ranks first. A total within
        EPSILON of p has reached it.
    Raises ValueError if p is outside [0, 1].
    Source: Holtzman et al. 2020, nucleus sampling, https://arxiv.org/abs/1904.09751

    >>> top_p_filter(torch.tensor([0.6, 0.25, 0.15]).log(), 0.8).softmax(-1)
    tensor([0.7059, 0.2941, 0.0000])
    """
    p, logits = checked_share("top_p", p), as_logits(logits)
    if p is None or p == 1:
        return logits.clone()
    ranked, order = logits.sort(dim=-1, descending=True, stable=True)
    probs = _softmax(ranked.double())
    mass_before = probs.cumsum(-1) - probs
    keep_ranked = mass_before < p - EPSILON
    keep_ranked[..., 0] = True
    keep = torch.zeros_like(keep_ranked).scatter(-1, order, keep_ranked)  # back to the order of the ids
    return logits.masked_fill(~keep, -math.inf)


def min_p_filter(logits: Tensor, min_p: float | None) -> Tensor:
    """Keep the tokens with at least `min_p` times the probability of the likeliest one.

    logits: (..., vocab_size), in nats; each row is filtered on its own.
    min_p: a share in [0, 1]; None and 0 keep all.
    Returns a new (..., vocab_size) tensor: kept logits unchanged, the others -inf. The likeliest token stays.
    Raises ValueError if min_p is outside [0, 1].
    Source: Nguyen et al. 2024, Turning up the heat, https://arxiv.org/abs/2407.01082
    """
    min_p, logits = checked_share("min_p", min_p), as_logits(logits)
    if not min_p:
        return logits.clone()
    likeliest = logits.double().amax(-1, keepdim=True)
    return logits.masked_fill(logits.double() < likeliest + math.log(min_p) - EPSILON, -math.inf)


def _softmax(logits: Tensor) -> Tensor:
    """exp(logits) by its sum; written out, since torch's own wakes threads even for a few rows."""
    weights = (logits - logits.amax(-1, keepdim=True)).exp()
    return weights / weights.sum(-1, keepdim=True)


def as_logits(logits: object) -> Tensor:
    """As a float tensor with a last axis, free of NaN and +inf, and with a token left in each row."""
    logits = as_tensor("logits", logits)
    if not logits.is_floating_point():
        logits = logits.double()
    if logits.ndim == 0 or not logits.shape[-1]:
        raise ValueError(f"logits has shape {tuple(logits.shape)}; expected (..., vocab_size) with at least one token.")
    # One reduction for the common case: amax is NaN or +inf if a logit is, and -inf if no token is left.
    top = logits.amax(-1)
    if not (top.abs() < math.inf).all():
        if torch.isnan(top).any() or (top == math.inf).any():
            bad = torch.isnan(logits) | (logits == math.inf)
            where = tuple(torch.nonzero(bad)[0].tolist())
            raise ValueError(
                f"logits{list(where)} is {logits[where].item()}; expected a number or -inf. "
                f"Look for an overflow or a division by zero in what made the logits."
            )
        where = tuple(torch.nonzero(top == -math.inf)[0].tolist())
        row = f"Row {list(where)} of the logits" if where else "The row of logits"
        raise ValueError(f"{row} has no token left: every logit is -inf. Drop fewer tokens.")
    return logits

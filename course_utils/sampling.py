"""From logits to a token: temperature, top-k, top-p, min-p, and the draw.

Every function here is pure: it returns something new and draws no random number of its own. A dropped token
has the logit -inf. Computation is in float64. What produced the logits, this module does not know.
"""

import math
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from course_utils.randomness import check_uint64

STEPS = ("temperature", "top_k", "top_p", "min_p")
# Guards comparisons of probabilities: float32 logits of .6 and .25 give a total of .85 that is off by about
# 3e-8, and top-p = .85 should still keep the two.
EPSILON = 1e-7


def apply_temperature(logits: Tensor, temperature: float) -> Tensor:
    """Divide the logits by the temperature: below 1 sharpens the distribution, above 1 flattens it.

    logits: (..., vocab_size), in nats. temperature: finite and > 0.
    Returns float64 (..., vocab_size).
    Raises ValueError for another temperature; for 0 it says what to use instead.
    """
    temperature = _checked_temperature(temperature)
    if temperature == 0:
        raise ValueError(
            "temperature is 0, and logits cannot be divided by 0. The limit is a mode of its own, greedy: "
            "use SamplingParams(greedy=True), or SamplingParams(temperature=0), which means the same."
        )
    return _as_logits(logits).double() / temperature


def top_k_filter(logits: Tensor, k: int | None) -> Tensor:
    """Keep the k likeliest tokens.

    logits: (..., vocab_size), in nats; each row is filtered on its own.
    k: how many to keep; None, 0 and k >= vocab_size keep all.
    Returns a new (..., vocab_size) tensor: exactly k logits unchanged, the others -inf. Of equal logits the
        lower id ranks first.
    Raises ValueError if k is negative.
    Source: Fan et al. 2018, Hierarchical neural story generation, https://arxiv.org/abs/1805.04833
    """
    k, logits = _checked_k(k), _as_logits(logits)
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
    p, logits = _checked_share("top_p", p), _as_logits(logits)
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
    min_p, logits = _checked_share("min_p", min_p), _as_logits(logits)
    if not min_p:
        return logits.clone()
    likeliest = logits.double().amax(-1, keepdim=True)
    return logits.masked_fill(logits.double() < likeliest + math.log(min_p) - EPSILON, -math.inf)


_LIBRARIES = {
    "transformers": {"order": STEPS, "temperature": 1.0, "top_k": 50},
    "vllm": {"order": ("temperature", "min_p", "top_k", "top_p"), "temperature": 1.0},
    "llama.cpp": {"order": ("top_k", "top_p", "min_p", "temperature"),
                  "temperature": 0.8, "top_k": 40, "top_p": 0.95, "min_p": 0.05},
}  # fmt: skip


@dataclass(frozen=True)
class SamplingParams:
    """How the decoder chooses a token. The defaults are neutral: they sample from the model's own distribution.

    temperature: > 0; 0 becomes greedy=True. top_k, top_p, min_p: as in the filters; None switches one off.
    greedy: take the likeliest token; no random number is drawn, and nothing else here matters.
    seed: 0 <= seed < 2**64, or None for fresh entropy at each call.
    order: the four steps in the order in which they are applied.
    Raises ValueError or TypeError for settings that make no sense.
    """

    temperature: float = 1.0
    top_k: int | None = None
    top_p: float | None = None
    min_p: float | None = None
    greedy: bool = False
    seed: int | None = None
    order: tuple[str, ...] = STEPS

    def __post_init__(self):
        temperature = _checked_temperature(self.temperature)
        checked = {
            "temperature": temperature,
            "top_k": _checked_k(self.top_k),
            "top_p": _checked_share("top_p", self.top_p),
            "min_p": _checked_share("min_p", self.min_p),
            "greedy": bool(self.greedy) or temperature == 0,
            "seed": None if self.seed is None else check_uint64("seed", self.seed),
            "order": tuple(self.order or ()),
        }
        if sorted(map(str, checked["order"])) != sorted(STEPS):
            raise ValueError(f"order is {self.order!r}; expected each of {STEPS} once, in the order of your choice.")
        for name, value in checked.items():
            object.__setattr__(self, name, value)

    @classmethod
    def like(cls, library: str, **settings) -> "SamplingParams":
        """That library's order and defaults, with your settings over them.

        library: "transformers" (5.24), "vllm" or "llama.cpp". Where candidates tie, the three differ from each
        other and from the filters here; that is not imitated.
        """
        if library not in _LIBRARIES:
            raise ValueError(f"library is {library!r}; expected one of {tuple(_LIBRARIES)}.")
        return cls(**{**_LIBRARIES[library], **settings})


def next_token_probs(logits: Tensor, params: SamplingParams) -> Tensor:
    """The probabilities from which the next token is drawn.

    logits: (..., vocab_size), in nats. Returns float64 (..., vocab_size); each row adds up to 1.
    Greedy gives 1 to the likeliest token, of equal ones to the lowest id.
    Raises ValueError where a logit is NaN or +inf, or a row has no token left.

    >>> next_token_probs(torch.tensor([2.0, 1.0]), SamplingParams(temperature=0.5))
    tensor([0.8808, 0.1192], dtype=torch.float64)
    """
    logits = _as_logits(logits).double()
    logits = logits - logits.amax(-1, keepdim=True)  # first of all, so that dividing by a small T cannot overflow
    if params.greedy:
        return torch.nn.functional.one_hot(logits.argmax(-1), logits.shape[-1]).double()
    for step in params.order:
        if (setting := getattr(params, step)) is not None:
            logits = _APPLY[step](logits, setting)
    return _softmax(logits)


_APPLY = dict(zip(STEPS, (apply_temperature, top_k_filter, top_p_filter, min_p_filter), strict=True))


def draw(probs: Tensor, u: float) -> int:
    """The token whose stretch of the cumulative distribution, laid out in the order of the ids, contains u.

    probs: (vocab_size,), adding up to 1. u: in [0, 1).
    Never returns a token of probability 0. The same probs and u give the same token.

    >>> [draw(torch.tensor([0.2, 0.0, 0.8]), u) for u in (0.0, 0.19, 0.2, 0.999)]
    [0, 0, 2, 2]
    """
    if isinstance(probs, Tensor):  # NumPy knows neither gradients nor bfloat16
        probs = probs.detach().double()
    probs = np.asarray(probs, dtype=np.float64)
    if probs.ndim != 1 or not len(probs):
        raise ValueError(f"probs has shape {probs.shape}; expected one row, (vocab_size,).")
    u = float(u)  # as a float64, it is at most 1 - 2**-53
    if not 0 <= u < 1:
        raise ValueError(f"u is {u}; expected 0 <= u < 1, as `randomness.uniform` gives it.")
    cumulative = np.cumsum(probs)
    if not (probs >= 0).all() or not abs(cumulative[-1] - 1) < 1e-4:
        raise ValueError(
            f"probs has the total {cumulative[-1]:.6g} and the minimum {probs.min():.6g}; expected probabilities "
            f"that add up to 1. Logits go through `next_token_probs` first."
        )
    # The largest u, 1 - 2**-53, times the total rounds to less than the total: the search ends before the end.
    return int(np.searchsorted(cumulative, u * cumulative[-1], side="right"))


def _softmax(logits: Tensor) -> Tensor:
    """exp(logits) by its sum; written out, since torch's own wakes threads even for a few rows."""
    weights = (logits - logits.amax(-1, keepdim=True)).exp()
    return weights / weights.sum(-1, keepdim=True)


def _as_logits(logits) -> Tensor:
    """As a float tensor with a last axis, free of NaN and +inf, and with a token left in each row."""
    logits = torch.as_tensor(logits)
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


def _checked_temperature(temperature: float) -> float:
    number = _checked_number("temperature", temperature)
    if not 0 <= number < math.inf:
        raise ValueError(f"temperature is {number}; expected a finite number > 0, or 0 for greedy.")
    return number


def _checked_k(k: int | None) -> int | None:
    return None if k is None else check_uint64("top_k", k, advice=" To keep all tokens use None or 0.")


def _checked_share(name: str, share: float | None) -> float | None:
    if share is None:
        return None
    number = _checked_number(name, share)
    if not 0 <= number <= 1:
        raise ValueError(f"{name} is {number}; expected a probability from 0 to 1, or None to switch it off.")
    return number


def _checked_number(name: str, value: float) -> float:
    if isinstance(value, (bool, str)):
        raise TypeError(f"{name} is {value!r}; expected a number.")
    try:
        return float(value)
    except (TypeError, ValueError):
        raise TypeError(f"{name} is {value!r}; expected a number.") from None

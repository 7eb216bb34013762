"""The settings of a decoder: what they may be, and the defaults of three libraries."""

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from course_utils.arguments import check_flag, check_integer, check_number
from course_utils.randomness import check_uint64

STEPS = ("temperature", "top_k", "top_p", "min_p")

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

    def __post_init__(self) -> None:
        temperature = checked_temperature(self.temperature)
        checked = {
            "temperature": temperature,
            "top_k": checked_k(self.top_k),
            "top_p": checked_share("top_p", self.top_p),
            "min_p": checked_share("min_p", self.min_p),
            "greedy": check_flag("greedy", self.greedy) or temperature == 0,
            "seed": None if self.seed is None else check_uint64("seed", self.seed),
            "order": (order := tuple(self.order) if isinstance(self.order, (list, tuple)) else ()),
        }
        if sorted(map(str, order)) != sorted(STEPS):
            raise ValueError(f"order is {self.order!r}; expected each of {STEPS} once, in the order of your choice.")
        for name, value in checked.items():
            object.__setattr__(self, name, value)

    @cached_property
    def steps(self) -> tuple[tuple[str, float], ...]:
        """The steps that can change something, each with its setting, in their order. None, 0 and 1 switch them off.

        >>> SamplingParams(0.5, top_k=0, top_p=0.9).steps
        (('temperature', 0.5), ('top_p', 0.9))
        """
        off = {"temperature": (1,), "top_k": (None, 0), "top_p": (None, 1), "min_p": (None, 0)}
        return tuple((step, getattr(self, step)) for step in self.order if getattr(self, step) not in off[step])

    @classmethod
    def like(cls, library: str, **settings: Any) -> "SamplingParams":
        """That library's order and defaults, with your settings over them.

        library: "transformers" (5.24), "vllm" or "llama.cpp". Where candidates tie, the three differ from each
        other and from the filters here; that is not imitated.
        """
        if library not in _LIBRARIES:
            raise ValueError(f"library is {library!r}; expected one of {tuple(_LIBRARIES)}.")
        return cls(**{**_LIBRARIES[library], **settings})


def checked_temperature(temperature: float) -> float:
    """The temperature as a float. Raises ValueError if it is negative, infinite or NaN."""
    number = check_number("temperature", temperature)
    if not 0 <= number < math.inf:
        raise ValueError(f"temperature is {number}; expected a finite number > 0, or 0 for greedy.")
    return number


def checked_k(k: int | None) -> int | None:
    """k as an int, or None. Raises ValueError if it is negative."""
    return None if k is None else check_integer("top_k", k, advice=" To keep all tokens use None or 0.")


def checked_share(name: str, share: float | None) -> float | None:
    """A setting that is a probability as a float, or None. Raises ValueError if it is outside [0, 1]."""
    if share is None:
        return None
    number = check_number(name, share)
    if not 0 <= number <= 1:
        raise ValueError(f"{name} is {number}; expected a probability from 0 to 1, or None to switch it off.")
    return number

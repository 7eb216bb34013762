"""Why a text ends: the conditions that a caller sets, and the one that came true."""

from dataclasses import dataclass
from enum import Enum

from course_utils.randomness import check_uint64


class FinishReason(Enum):
    """What ended a text. The value is a word for people; `api_name` is what servers report."""

    EOS = "eos"  # the model sampled its end mark
    LENGTH = "length"  # the budget of new tokens was used up: the text may be cut off

    @property
    def api_name(self) -> str:
        """The word of the common server APIs: "stop" or "length"."""
        return "stop" if self is FinishReason.EOS else "length"


@dataclass(frozen=True)
class StopCriteria:
    """When to stop. An end mark is part of the model's vocabulary, a budget is the caller's: they are not the same.

    max_new_tokens: how many tokens may be sampled, the end mark included; 0 gives an empty text.
    eos: stop when <eos> is sampled. False lets the text run on to its budget.
    Raises ValueError or TypeError for a budget that is no integer >= 0.
    """

    max_new_tokens: int = 100
    eos: bool = True

    def __post_init__(self):
        budget = check_uint64("max_new_tokens", self.max_new_tokens)
        object.__setattr__(self, "max_new_tokens", budget)

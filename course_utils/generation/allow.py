"""What may come next, as a caller's object says it: a grammar, a list of words, any rule.

It is asked before temperature and filters, and knows nothing of logits. `constrained` has one for JSON.
"""

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np
from torch import Tensor


class Allow(Protocol):
    """Judges by what was sampled which tokens may come next. `name`, if it has one, stands in the text's record."""

    def allowed(self, token_ids: Sequence[int]) -> Any:
        """token_ids: all that have been sampled so far, without the prompt and without forced tokens.

        Returns the ids that may come next, at least one; or a bool mask (V,), True = may. The same ids give the same
        answer, in whatever order the texts of a batch ask.
        """
        ...


def mask_of(allow: Allow, token_ids: Sequence[int], vocab_size: int) -> np.ndarray:
    """What may come next, bool (vocab_size,). Raises ValueError for nothing, and for what is no such answer."""
    answer, name = allow.allowed(token_ids), type(allow).__name__
    answer = answer.cpu().numpy() if isinstance(answer, Tensor) else answer
    answer = np.asarray(list(answer) if isinstance(answer, (set, frozenset, range)) else answer)
    if not answer.size or (answer.dtype == bool and not answer.any()):
        raise ValueError(f"{name}.allowed() gave nothing that may come next; expected at least one token.")
    if answer.dtype == bool and answer.shape == (vocab_size,):
        return answer
    if answer.ndim != 1 or not np.issubdtype(answer.dtype, np.integer):
        raise ValueError(
            f"{name}.allowed() gave {answer.dtype} of the shape {answer.shape}; expected token ids, or a bool mask of "
            f"the shape ({vocab_size},)."
        )
    outside = answer[(answer < 0) | (answer >= vocab_size)]
    if len(outside):
        raise ValueError(f"{name}.allowed() gave the id {outside[0]}; expected ids from 0 to {vocab_size - 1}.")
    mask = np.zeros(vocab_size, dtype=bool)
    mask[answer] = True
    return mask


def name_of(allow: object) -> str | None:
    """How a record names the object: by its `name`, if it has one, or by its class."""
    return None if allow is None else str(getattr(allow, "name", type(allow).__name__))

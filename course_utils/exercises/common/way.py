"""How a learner's function has fed a model that notes its calls: what is right, and what the faults are.

Faults are named properties, so that a case reads as it is meant: `lambda way: way.lacks_a_cache`.
"""

from dataclasses import dataclass
from itertools import groupby, pairwise

import numpy as np

from course_utils.checker.answers import as_array
from course_utils.exercises.common.noting_model import Fed


@dataclass(frozen=True)
class Way:
    """How a learner's function has fed the model.

    calls: what the model has noted, in order. prompt: the ids that the function was given. new: the ids that it gave,
    or none if its answer cannot be read: another case says so.
    """

    calls: list[Fed]
    prompt: list[int]
    new: list[int]

    @property
    def fed(self) -> list[int]:
        """All tokens that went in."""
        return [token for call in self.calls for token in call.ids]

    @property
    def is_right(self) -> bool:
        """One cache that was empty; the prompt and the new tokens but the last, in order; then one token a call."""
        if not self.new:  # there was nothing to make: the prompt may have been fed all the same
            return self.fed == self.prompt[: len(self.fed)]
        ends = np.cumsum([len(call.ids) for call in self.calls])
        decoding = [call for call, end in zip(self.calls, ends, strict=True) if end > len(self.prompt)]
        first = self.calls[0] if self.calls else None
        return (
            self.fed == self.prompt + self.new[:-1]
            and all(len(call.ids) == 1 for call in decoding)
            and first is not None
            and first.cache is not None
            and first.start == 0
            and not self.has_several_caches
            and not self.overfills_the_cache
        )

    @property
    def overfills_the_cache(self) -> bool:
        """More went in than a cache had been made for."""
        return any(call.start + len(call.ids) > getattr(call.cache, "max_tokens", np.inf) for call in self.calls)

    @property
    def never_calls_the_model(self) -> bool:
        """Ids came back, and the model had no part in them."""
        return bool(self.new) and not self.calls

    @property
    def lacks_a_cache(self) -> bool:
        """A call got no cache."""
        return any(call.cache is None for call in self.calls)

    @property
    def begins_with_an_old_cache(self) -> bool:
        """The first cache held something, or a cache was made by another model."""
        return bool(self.calls) and (self.calls[0].start > 0 or not all(call.own for call in self.calls))

    @property
    def has_a_cache_of_several_rows(self) -> bool:
        """A cache was made for more than one text."""
        return any(getattr(call.cache, "batch_size", 1) != 1 for call in self.calls)

    @property
    def has_several_caches(self) -> bool:
        """Not every call got the same cache."""
        return len({id(call.cache) for call in self.calls}) > 1

    @property
    def feeds_the_end_of_the_prompt_twice(self) -> bool:
        """The last token of the prompt came again behind it."""
        again = [*self.prompt, self.prompt[-1]]
        return not self.is_right and self.fed[: len(again)] == again

    @property
    def feeds_twice_in_a_row(self) -> bool:
        """The same tokens went in by two calls in a row."""
        once = []  # an id may come twice in the text itself, and is then fed four times
        for ids, group in groupby(call.ids for call in self.calls):
            once += ids * ((len(list(group)) + 1) // 2)
        doubled = len(once) < len(self.fed) and once == self.prompt + self.new[:-1]
        return doubled or any(len(one.ids) > 1 and one.ids == other.ids for one, other in pairwise(self.calls))

    @property
    def feeds_the_whole_text_again(self) -> bool:
        """The text from its beginning went in behind a cache that held it."""
        whole = self.prompt + self.new
        return any(call.start and len(call.ids) > 1 and call.ids == whole[: len(call.ids)] for call in self.calls)

    @property
    def feeds_the_last_token(self) -> bool:
        """The last new token went in too."""
        return self.fed == self.prompt + self.new

    @property
    def skips_a_token(self) -> bool:
        """What went in is a part of what should have, in its order, and something is missing."""
        whole = self.prompt + self.new[:-1]
        rest = iter(whole)
        return len(self.fed) < len(whole) and all(token in rest for token in self.fed)


def way_of(value: object, args: tuple, prompt: list[int]) -> Way:
    """The way to the answer `value`.

    args: what the function was given, first the model. prompt: as it was before the call.
    """
    try:
        new = [round(float(number)) for number in as_array(value).reshape(-1)]
    except (ValueError, OverflowError):  # not readable, or NaN
        new = []
    return Way(args[0].fed, prompt, new)

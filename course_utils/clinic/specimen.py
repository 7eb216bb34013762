"""What every decoder in the clinic is: the sound model, which also says what of a cache it would use again."""

from collections.abc import Sequence

from course_utils.kv_cache import KVCache, reuse_prefix
from course_utils.transformer import Transformer


class Specimen(Transformer):
    """A decoder in the clinic. This one is sound; the classes in `faults` change one thing each.

    Call it as any model: `specimen(token_ids, cache=None, attention_mask=None)`, with `specimen.new_cache()`. If the
    fault is in what a cache does, the specimen has another `cache_class`.
    """

    letter = ""

    def reuse(self, cache: KVCache, token_ids: Sequence[int]) -> int:
        """How many tokens of a new prompt need not be fed, after the cache was cropped to them: see `reuse_prefix`."""
        return reuse_prefix(cache, token_ids)

    def __repr__(self) -> str:
        return f"Specimen {self.letter}".strip()

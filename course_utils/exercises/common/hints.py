"""Hints that the cases of several exercises share."""

EARLIER_CALL = (
    "something from an earlier call is still in this answer. A default list, a global variable or a cache has kept "
    "it. Every call has to start from nothing."
)
OTHER_CALL = (
    "this is the answer to an earlier call. Use only the arguments of this call. Nothing may be kept between calls, "
    "and no number may be fixed in the code."
)
NOT_CONTIGUOUS = (
    "`view` only works if the numbers lie in memory row by row, and those of a transposed tensor do not. `reshape` "
    "works for any tensor."
)
ANY_LAYOUT = (
    "the numbers of this tensor lie in memory in another order, as they do after a transpose. `reshape` works there, "
    "and `view` does not."
)
AXIS_LOST = "an axis of length 1 must not disappear. The answer has the same shape as the logits."

"""Hints that the cases of several exercises share."""

EARLIER_CALL = (
    "an earlier call has left something in this answer: a default list, a global one or a cache keeps it. Each call "
    "begins anew."
)
OTHER_CALL = (
    "this is the answer to an earlier call. Use the arguments of this one: nothing is kept between calls, and no "
    "number is written in."
)
NOT_CONTIGUOUS = (
    "`view` needs numbers that lie in memory row by row, and those of a transposed tensor do not. `reshape` takes any "
    "tensor."
)
ANY_LAYOUT = "a tensor may lie in memory another way, as after a transpose. `reshape` takes it where `view` does not."
AXIS_LOST = "an axis of length 1 is an axis too. The answer has the shape of the logits."

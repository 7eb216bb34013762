"""The one equivalence check of the course: are these the same logits, and if not, from where on do they differ?

Two ways of computing the same logits differ a little, since floating-point sums depend on their order. A fault differs
by far more. So the check needs a tolerance between the two, and it must be able to fail: on another shape, on nothing
at all, on NaN. To compare texts instead is not enough: wrong logits often have the same largest entry, and the two
largest of right ones can tie.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import torch
from numpy.typing import ArrayLike
from torch import Tensor

from course_utils.arguments import as_tensor, check_integer, check_number
from course_utils.eval_mode import eval_mode
from course_utils.kv_cache import KVCache
from course_utils.protocols import LanguageModel

# How many rounding units (eps) of the logits' size two right computations may differ by. Measured on the shipped model,
# whole against token by token: 12 in float32 and float64, 4 in float16, whose sums are kept in float32. With room to
# spare for other processors; the planted faults of notebook 06 are all more than thirty times above it.
_ROUNDING_UNITS = {torch.float64: 64, torch.float32: 64, torch.float16: 16, torch.bfloat16: 16}


class Place(NamedTuple):
    """A row of the batch and a position in it, both from 0."""

    row: int
    position: int


@dataclass(frozen=True, eq=False)
class LogitsReport:
    """What a comparison found. `bool(report)` is `report.equal`, so `assert compare_logits(a, b)` says what it means.

    equal: every difference is within the tolerance.
    max_abs_diff: the largest |a - b|; NaN if the two could not be compared, or if either holds NaN or +inf.
    tolerance: the largest difference that still counts as equal, in nats.
    first_divergence: the earliest position that differs, in the first row that differs there; None if no position
        differs, or if the shapes do.
    differences: (rows, positions), the largest |difference| over the vocabulary at each: what a picture shows.
    argmax_agreement: share of positions whose largest logit has the same id. It can be 1 where the logits differ.
    max_kl: the largest KL divergence of b's distribution from a's at a position, in nats. It can be 0 where the logits
        differ: adding one number to all logits of a row leaves the distribution as it is.
    dtypes: the types of a's and b's numbers, as they were given. The coarser one decides the tolerance.
    reason: why the two cannot be compared; "" if they can.
    """

    equal: bool
    max_abs_diff: float
    tolerance: float
    first_divergence: Place | None
    differences: Tensor
    argmax_agreement: float
    max_kl: float
    dtypes: tuple[str, str]
    reason: str = ""

    def __bool__(self) -> bool:
        return self.equal

    def __str__(self) -> str:
        at = self.first_divergence
        first = f", first at position {at.position} of row {at.row}" if at else ""
        if self.reason:
            return f"different: {self.reason}{first}"
        rows, positions = self.differences.shape
        same = f"argmax the same at {self.argmax_agreement:.0%}"
        types = " and ".join(dict.fromkeys(self.dtypes))
        # One line would be wrapped in a notebook's cell.
        where = f"\n  ({types}, {rows} x {positions} positions, {same}, KL up to {self.max_kl:.1e})"
        if self.equal:
            return f"equal: |difference| up to {self.max_abs_diff:.1e}, within {self.tolerance:.1e}{where}"
        return f"different: |difference| up to {self.max_abs_diff:.1e}, above {self.tolerance:.1e}{first}{where}"


def compare_logits(a: ArrayLike | Tensor, b: ArrayLike | Tensor, atol: float | None = None) -> LogitsReport:
    """Compare two computations of the same logits at every position.

    a, b: (V,), (T, V) or (B, T, V), in nats; tensors, arrays or lists.
    atol: the largest difference that counts as equal, in nats. None: 64 rounding units of the largest finite |logit| in
        float32 and float64, 16 in half precision; the coarser of the two dtypes counts. Rounding errors are relative
        to the numbers that are added, so they grow with the logits and with the unit: about 1e-4 for float32 logits
        around 15. In half precision the tolerance is percents wide and hides small faults: compare in float32.
    Never equal: another shape, nothing to compare, NaN or +inf in either, -inf against a number. -inf at the same place
        in both, as a filter leaves it, is equal.
    Raises ValueError for an atol that is negative or NaN, and for logits without axes or with more than three.

    >>> print(compare_logits([2.0, 1.0, 0.0], [2.5, 1.0, 0.0], atol=1e-5))
    different: |difference| up to 5.0e-01, above 1.0e-05, first at position 0 of row 0
      (float32, 1 x 1 positions, argmax the same at 100%, KL up to 2.6e-02)
    """
    if atol is not None and not 0 <= check_number("atol", atol) < math.inf:
        raise ValueError(f"atol is {atol}; expected a number of nats from 0 on, or None for one by dtype and size.")
    (a, type_a), (b, type_b) = _as_logits(a), _as_logits(b)
    dtypes = type_a, type_b
    tolerance = _tolerance(a, b) if atol is None else float(atol)
    if a.shape != b.shape:
        return _incomparable(f"the shapes are {tuple(a.shape)} and {tuple(b.shape)}", tolerance, dtypes)
    if not a.numel():
        return _incomparable(f"there is nothing to compare, the shape is {tuple(a.shape)}", tolerance, dtypes)
    a, b = (_three_axes(logits).double() for logits in (a, b))
    both_out = a.isneginf() & b.isneginf()
    differences = (a - b).abs().masked_fill(both_out, 0.0).amax(-1)
    bad = [(~(logits < math.inf)).any(-1) for logits in (a, b)]  # NaN or +inf
    if bad[0].any() or bad[1].any():
        found = " and ".join(name for name, one in zip(("a", "b"), bad, strict=True) if one.any())
        return _incomparable(f"{found} has NaN or +inf", tolerance, dtypes, _first(bad[0] | bad[1]), differences)
    within = differences <= tolerance
    return LogitsReport(
        equal=bool(within.all()),
        max_abs_diff=differences.max().item(),
        tolerance=tolerance,
        first_divergence=None if within.all() else _first(~within),
        differences=differences,
        argmax_agreement=(a.argmax(-1) == b.argmax(-1)).double().mean().item(),
        max_kl=_kl(a, b).max().item(),
        dtypes=dtypes,
    )


def cached_equals_full(model: LanguageModel, ids: ArrayLike | Tensor, split: int | Sequence[int]) -> LogitsReport:
    """Compare a model with itself: all tokens at once and without a cache, against the same tokens through a cache.

    ids: token ids, (T,) or (B, T), rows of equal length.
    split: how many tokens go in first, the others following one by one; or the lengths of all chunks, in order.
    In eval mode; the model is left in the mode in which it was. A fault that both ways share goes unseen.
    Raises ValueError for chunks that do not make up the T tokens.
    """
    ids = _as_ids(ids)
    with eval_mode(model):
        return compare_logits(model(ids), in_chunks(model, ids, split))


def in_chunks(
    model: LanguageModel,
    ids: ArrayLike | Tensor,
    split: int | Sequence[int],
    attention_mask: Tensor | None = None,
    cache: KVCache | None = None,
) -> Tensor:
    """The logits (B, T, V) of tokens that go through a cache chunk by chunk.

    ids, split: as in `cached_equals_full`. attention_mask: (B, T), True for real tokens; None: all are.
    cache: one to go on with, if it holds tokens before these, which an attention_mask then covers too; None: a new one.
    """
    ids = _as_ids(ids)
    B, T = ids.shape
    lengths = _chunk_lengths(split, T)
    cache = model.new_cache(B) if cache is None else cache
    before, start, chunks = cache.n_tokens, 0, []
    for length in lengths:
        end = start + length
        extra = {} if attention_mask is None else {"attention_mask": attention_mask[:, : before + end]}
        with torch.no_grad():
            chunks.append(model(ids[:, start:end], cache, **extra))
        start = end
    return torch.cat(chunks, dim=1)


def _chunk_lengths(split: int | Sequence[int], T: int) -> list[int]:
    if isinstance(split, Iterable) and getattr(split, "ndim", None) != 0:
        lengths = [check_integer("A length in split", length) for length in split]
    else:
        first = check_integer("split", split, at_least=-(2**63))  # type: ignore[arg-type]  # what it must be is said below
        lengths = [first] + [1] * (T - first if first < T else 0)
    if not lengths or min(lengths) < 1 or sum(lengths) != T:
        raise ValueError(
            f"split is {split!r} for {T} tokens; expected a length from 1 to {T}, or lengths of chunks, each at "
            f"least 1, that add up to {T}."
        )
    return lengths


def _as_ids(ids: ArrayLike | Tensor) -> Tensor:
    ids = as_tensor("ids", ids)
    if ids.ndim not in (1, 2) or not ids.numel() or ids.is_floating_point():
        raise ValueError(f"ids has the shape {tuple(ids.shape)} and dtype {ids.dtype}; expected int64 (T,) or (B, T).")
    return ids[None] if ids.ndim == 1 else ids


def _as_logits(logits: ArrayLike | Tensor) -> tuple[Tensor, str]:
    """The logits as floating-point numbers, and the name of their type as it was."""
    logits = as_tensor("logits", logits).detach()
    name = str(logits.dtype).removeprefix("torch.")
    if logits.dtype not in _ROUNDING_UNITS:
        logits = logits.double()  # whole numbers are exact
    if not 1 <= logits.ndim <= 3:
        raise ValueError(f"logits have the shape {tuple(logits.shape)}; expected (V,), (T, V) or (B, T, V).")
    return logits, name


def _three_axes(logits: Tensor) -> Tensor:
    return logits[(None,) * (3 - logits.ndim)]


def _tolerance(a: Tensor, b: Tensor) -> float:
    sizes = [logits[logits.isfinite()].abs().double() for logits in (a, b)]
    unit = max(_ROUNDING_UNITS[logits.dtype] * torch.finfo(logits.dtype).eps for logits in (a, b))
    return unit * max((size.max().item() for size in sizes if size.numel()), default=0.0)


def _first(where: Tensor) -> Place:
    """The earliest position that is True in a (rows, positions) mask, and the first row that has it."""
    position, row = where.T.nonzero()[0].tolist()
    return Place(row, position)


def _kl(a: Tensor, b: Tensor) -> Tensor:
    """KL divergence of softmax(b) from softmax(a) at each position: sum of p log(p / q), in nats, at least 0."""
    log_p, log_q = a.log_softmax(-1), b.log_softmax(-1)
    terms = log_p.exp() * (log_p - log_q)
    return terms.masked_fill(log_p.isneginf(), 0.0).sum(-1).clamp_min(0.0)


def _incomparable(
    reason: str,
    tolerance: float,
    dtypes: tuple[str, str],
    first: Place | None = None,
    differences: Tensor | None = None,
) -> LogitsReport:
    nothing = torch.zeros(0, 0, dtype=torch.float64)
    return LogitsReport(False, math.nan, tolerance, first, nothing if differences is None else differences,
                        math.nan, math.nan, dtypes, reason)  # fmt: skip

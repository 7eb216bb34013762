"""What can be done with a decoder to find out what is wrong with it, and where it shows.

Each situation gives a report: the specimen's logits against what a sound model gives for the same tokens, except where
the specimen is compared with itself.
"""

import copy
from collections.abc import Mapping, Sequence

import torch
from torch import Tensor

from course_utils.clinic.faults import Specimen
from course_utils.compare_logits import LogitsReport, compare_logits, in_chunks
from course_utils.transformer import Transformer

SPLIT = 24  # tokens of the prompt, in the situations that have one
N_PADS = 5
_SMALL = 0.02  # of a key's length: between a rounded key and that of another position
_SMALL_DIFFERENCE = 2000  # tolerances, 0.015 of the logits' size: between what rounding does and what a fault does


def _whole(model: Specimen, sound: Transformer, ids: Tensor) -> LogitsReport:
    """All tokens in one pass, without a cache."""
    return compare_logits(sound(ids), model(ids))


def _decode(model: Specimen, sound: Transformer, ids: Tensor) -> LogitsReport:
    """A prompt of 24 tokens, then one token at a time."""
    return compare_logits(sound(ids), in_chunks(model, ids, SPLIT))


def _chunk(model: Specimen, sound: Transformer, ids: Tensor) -> LogitsReport:
    """A prompt of 24 tokens, then all the others in one chunk."""
    return compare_logits(sound(ids), in_chunks(model, ids, [SPLIT, ids.shape[1] - SPLIT]))


def _future(model: Specimen, sound: Transformer, ids: Tensor) -> LogitsReport:
    """As in "chunk", with itself: does another last token change what came before it?"""
    other = ids.clone()
    other[:, -1] = (other[:, -1] + 1) % model.config.vocab_size
    chunks = [SPLIT, ids.shape[1] - SPLIT]
    return compare_logits(in_chunks(model, ids, chunks)[:, :-1], in_chunks(model, other, chunks)[:, :-1])


def _again(model: Specimen, sound: Transformer, ids: Tensor) -> LogitsReport:
    """The same pass twice, with itself."""
    return compare_logits(model(ids), model(ids))


def _left_pads(model: Specimen, sound: Transformer, ids: Tensor) -> LogitsReport:
    """The same tokens with five pads on their left, as a short row of a batch has them, and a mask."""
    pads = torch.full((ids.shape[0], N_PADS), 2)
    mask = torch.cat([torch.zeros_like(pads), torch.ones_like(ids)], dim=1).bool()
    padded = model(torch.cat([pads, ids], dim=1), attention_mask=mask)
    return compare_logits(sound(ids), padded[:, N_PADS:])


def _edit(model: Specimen, sound: Transformer, ids: Tensor) -> LogitsReport:
    """The cache has seen a text whose sixth token was another one; now the whole text is asked for."""
    old = ids[:, :-8].clone()
    old[:, 5] = (old[:, 5] + 1) % model.config.vocab_size
    cache = model.new_cache()
    in_chunks(model, old, [old.shape[1]], cache=cache)
    n_reused = model.reuse(cache, ids[0].tolist())
    right = sound(ids)
    new = in_chunks(model, ids[:, n_reused:], [ids.shape[1] - n_reused], cache=cache)
    return compare_logits(right, torch.cat([right[:, :n_reused], new], dim=1))


def _update(model: Specimen, sound: Transformer, ids: Tensor) -> LogitsReport:
    """After 24 tokens all weights grow by a tenth; a cache that refuses to go on is made anew."""
    model, sound = copy.deepcopy(model), copy.deepcopy(sound)
    cache = model.new_cache()
    in_chunks(model, ids[:, :SPLIT], [SPLIT], cache=cache)
    for parameter in (*model.parameters(), *sound.parameters()):
        parameter.mul_(1.1)
    right = sound(ids)
    try:
        after = in_chunks(model, ids[:, SPLIT:], 1, cache=cache)
    except ValueError:
        return compare_logits(right, in_chunks(model, ids, SPLIT))
    return compare_logits(right, torch.cat([right[:, :SPLIT], after], dim=1))


SITUATIONS = {
    "whole": _whole,
    "decode": _decode,
    "chunk": _chunk,
    "future": _future,
    "again": _again,
    "left pads": _left_pads,
    "edit": _edit,
    "update": _update,
}


@torch.no_grad()
def examine(model: Specimen, sound: Transformer, ids: Tensor) -> dict[str, LogitsReport]:
    """A report for each situation; the docstrings of SITUATIONS say what is done in it.

    model: a specimen. sound: the model that it should equal. ids: (1, T), with T from 40 to the context less 5.
    """
    if ids.ndim != 2 or ids.shape[0] != 1 or not 40 <= ids.shape[1] <= sound.block_size - N_PADS:
        raise ValueError(f"ids has the shape {tuple(ids.shape)}; expected (1, T) with T from 40 to the context less 5.")
    return {name: situation(model, sound, ids) for name, situation in SITUATIONS.items()}


def stored_positions(
    model: Transformer, sound: Transformer, ids: Tensor, split: int | Sequence[int] = SPLIT
) -> list[int | None]:
    """The position at which each token was stored, read from the keys of layer 0; None where no position fits.

    In layer 0 a key depends on nothing but its token and its position, so each stored one can be compared with the
    sound model's key of that token at every position. ids: (1, T). split: as in `in_chunks`.
    """
    cache = model.new_cache()
    in_chunks(model, ids, split, cache=cache)
    stored = cache.token_ids[0]
    tokens, which = stored.unique(return_inverse=True)
    at_each = sound.new_cache(len(tokens))
    n_positions = min(2 * len(stored) + 8, sound.block_size)  # one row a token, which stands at every position
    in_chunks(sound, tokens[:, None].expand(-1, n_positions), [n_positions], cache=at_each)
    keys = cache.keys(0)[0].transpose(0, 1)  # (T, K, D)
    return [_nearest(key, at_each.keys(0)[row]) for key, row in zip(keys, which, strict=True)]


def _nearest(key: Tensor, at_position: Tensor) -> int | None:
    """key: (K, D). at_position: (K, positions, D)."""
    distances = (at_position - key[:, None]).norm(dim=(0, 2)) / at_position.norm(dim=(0, 2))
    best = int(distances.argmin())
    return best if distances[best] < _SMALL else None


def signature(reports: Mapping[str, LogitsReport], positions: Sequence[int | None]) -> tuple:
    """What a learner can measure and that no two specimens share.

    reports: from `examine`. positions: from `stored_positions`, of at least 27 tokens.
    For each situation the first position that differs (None: none does) and whether the difference is small beside the
    logits; then where the first two tokens were stored, and those from the prompt's last one on.
    """
    findings = []
    for name, report in reports.items():
        at = report.first_divergence
        findings.append((name, at and at.position, report.max_abs_diff < _SMALL_DIFFERENCE * report.tolerance))
    return (*findings, tuple(positions[:2]), tuple(positions[SPLIT - 1 :]))

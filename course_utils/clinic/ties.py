"""Where two tokens are equally likely, but for rounding: a near tie is searched for, since texts rarely hold one."""

import torch
from torch import Tensor

from course_utils.transformer import Transformer


@torch.no_grad()
def nearest_ties(
    model: Transformer, ids: Tensor, n_best: int = 3, n_changes: int = 96, rounds: int = 2
) -> list[tuple[Tensor, float]]:
    """Change a few early tokens of a text, so that its two likeliest next tokens come as close as can be found.

    ids: (T,), T of 8 or more. It helps if their margin is small already. A round tries n_changes single changes and
        four times as many pairs of them, and goes on with the best. The new tokens are drawn from the text itself.
    Returns the n_best texts, the nearest first: their ids, and by how much the likelier token is ahead, in nats.
    """
    if ids.ndim != 1 or len(ids) < 8:
        raise ValueError(f"ids has the shape {tuple(ids.shape)}; expected (T,) with T of 8 or more.")
    generator, margins = torch.Generator().manual_seed(0), {}
    for _ in range(rounds):
        texts, leads = _changed(model, ids, n_changes, generator)
        for index in leads.argsort()[:n_best].tolist():
            margins[tuple(texts[index].tolist())] = leads[index].item()
        ids = texts[leads.argmin()]
    best = sorted(margins.items(), key=lambda item: item[1])[:n_best]
    return [(torch.tensor(text), margin) for text, margin in best]


def _changed(model: Transformer, ids: Tensor, n_changes: int, generator: torch.Generator) -> tuple[Tensor, Tensor]:
    """One round: the texts that were tried, (n, T), and their margins.

    A single change moves the margin a little, and two together move it by nearly the sum. So of all n² / 2 pairs those
    can be tried whose two moves are known to add up to the margin.
    """
    first, second = model(ids[None])[0, -1].topk(2).indices.tolist()

    def lead(texts: Tensor) -> Tensor:
        """By how much the first is ahead of the second; infinite where a third one is ahead of either."""
        logits = torch.cat([model(part)[:, -1] for part in texts.split(32)]).double()
        leading = logits.topk(2).indices
        still = ((leading == first) | (leading == second)).all(-1)
        return torch.where(still, logits[:, first] - logits[:, second], torch.inf)

    where = torch.randint(1, len(ids) // 2, (n_changes,), generator=generator)
    what = ids[torch.randint(1, len(ids), (n_changes,), generator=generator)]
    singles = ids.repeat(n_changes, 1)
    singles[torch.arange(n_changes), where] = what
    before, after = lead(ids[None]), lead(singles)
    moves = after - before
    expected = (before + moves[:, None] + moves).abs() + 0.02 * (moves[:, None].abs() + moves.abs())
    useless = (where[:, None] == where) | (what == ids[where])[:, None] | (what == ids[where])
    expected[useless | torch.ones_like(useless).tril()] = torch.inf  # each pair once, and two real changes in it
    chosen = expected.flatten().topk(4 * n_changes, largest=False).indices
    pairs, other = singles[chosen // n_changes], chosen % n_changes
    pairs[torch.arange(len(pairs)), where[other]] = what[other]
    texts, leads = torch.cat([ids[None], singles, pairs]), torch.cat([before, after, lead(pairs)]).abs()
    return texts, leads

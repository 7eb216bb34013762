"""Where two tokens are equally likely, but for rounding: a near tie is searched for, since texts rarely hold one."""

import torch
from torch import Tensor

from course_utils.transformer import Transformer


@torch.no_grad()
def nearest_tie(model: Transformer, ids: Tensor, n_changes: int = 200, seed: int = 0) -> tuple[Tensor, float]:
    """Change at most two early tokens of a text, so that its two likeliest next tokens come as close as can be found.

    ids: (T,), T of 8 or more. It helps if their margin is small already. n_changes: how many single changes are tried,
        and then as many pairs of them. The new tokens are drawn from the text itself.
    Returns the changed ids, and by how much the likelier one of the two is ahead, in nats.
    A single change moves the margin a little, and two together nearly by the sum. So from n single changes the pairs
    whose sum meets the margin are known, out of n² / 2, and only these are tried.
    """
    if ids.ndim != 1 or len(ids) < 8:
        raise ValueError(f"ids has the shape {tuple(ids.shape)}; expected (T,) with T of 8 or more.")
    first, second = model(ids[None])[0, -1].topk(2).indices.tolist()

    def lead(texts: Tensor) -> Tensor:
        """By how much the first is ahead of the second; infinite where a third one is ahead of either."""
        logits = torch.cat([model(part)[:, -1] for part in texts.split(32)]).double()
        leading = logits.topk(2).indices
        still = ((leading == first) | (leading == second)).all(-1)
        return torch.where(still, logits[:, first] - logits[:, second], torch.inf)

    generator, each = torch.Generator().manual_seed(seed), torch.arange(n_changes)
    where = torch.randint(1, len(ids) // 2, (n_changes,), generator=generator)
    what = ids[torch.randint(1, len(ids), (n_changes,), generator=generator)]
    singles = ids.repeat(n_changes, 1)
    singles[each, where] = what
    before, after = lead(ids[None]), lead(singles)
    moves = after - before
    expected = (before + moves[:, None] + moves).abs() + 0.02 * (moves[:, None].abs() + moves.abs())
    expected[where[:, None] == where] = torch.inf
    expected = expected.triu(1) + torch.full_like(expected, torch.inf).tril()
    chosen = expected.flatten().topk(n_changes, largest=False).indices
    pairs = singles[chosen // n_changes]
    pairs[each, where[chosen % n_changes]] = what[chosen % n_changes]
    texts, leads = torch.cat([ids[None], singles, pairs]), torch.cat([before, after, lead(pairs)]).abs()
    return texts[leads.argmin()], leads.min().item()

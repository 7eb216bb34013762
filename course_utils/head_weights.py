"""Where the heads of a transformer look: its attention weights, computed anew from its own queries and keys.

`Attention` hands queries, keys and values to one fused operation, which never shows the weights. Here the same queries
and keys are scored in plain sight. That is slower and is meant for looking, not for generating.
"""

import re

import torch
from torch import Tensor

from course_utils.eval_mode import eval_mode
from course_utils.rotary import rotate
from course_utils.transformer import Attention, Transformer


def attention_weights(model: Transformer, token_ids: Tensor) -> Tensor:
    """The weights of every head over one text: (layers, heads, T, T), rows are queries, and each row adds up to 1.

    token_ids: (1, T) int64, at most the model's context.
    """
    found: list[Tensor] = []

    def note(part: Attention, given: tuple) -> None:
        x, rotation, _, _ = given
        H, K, D = part.n_head, part.n_kv_head, part.head_dim
        q = rotate(part.q_proj(x).unflatten(-1, (H, D)).transpose(1, 2), rotation)  # (1, H, T, D)
        k = rotate(part.k_proj(x).unflatten(-1, (K, D)).transpose(1, 2), rotation).repeat_interleave(H // K, 1)
        scores = q @ k.transpose(-1, -2) / D**0.5
        future = torch.ones(scores.shape[-2:], dtype=torch.bool, device=x.device).triu(1)
        found.append(scores.masked_fill(future, -torch.inf).softmax(-1)[0])

    if token_ids.ndim != 2 or token_ids.shape[0] != 1:
        raise ValueError(f"token_ids has the shape {tuple(token_ids.shape)}; expected (1, T), one text.")
    heads = [part for part in model.modules() if isinstance(part, Attention)]
    hooks = [part.register_forward_pre_hook(note) for part in heads]
    try:
        with eval_mode(model), torch.no_grad():
            model(token_ids)
    finally:
        for hook in hooks:
            hook.remove()
    return torch.stack(found)


def by_words(weights: Tensor, text: str) -> tuple[Tensor, list[str]]:
    """The weights with which the first letter of each word is chosen, added up over the words that are looked at.

    weights: (..., T, T) over <bos> and the characters of `text`, as `attention_weights` gives them.
    Returns (..., n, n + 1) for n words, and the words. Row i is the token just before word i. Column 0 is <bos> and
        what stands before the first word; column j + 1 is word j with what stands behind it, up to the next word.
    """
    if weights.shape[-1] != len(text) + 1:
        n = len(text) + 1
        raise ValueError(f"weights cover {weights.shape[-1]} tokens; expected {n}, <bos> and the text's characters.")
    found = list(re.finditer(r"\w+", text))
    starts = [match.start() + 1 for match in found]  # the place of each word's first letter, behind <bos>
    ends = [*starts, weights.shape[-1]]
    columns = [weights[..., begin:end].sum(-1) for begin, end in zip([0, *starts], ends, strict=True)]
    rows = torch.stack(columns, -1)[..., [start - 1 for start in starts], :]
    return rows, [match.group() for match in found]


def on_repeats(rows: Tensor, words: list[str]) -> tuple[Tensor, Tensor]:
    """How much weight is on the earlier mentions of a word that comes again, and, to compare, on other earlier words.

    rows, words: from `by_words`, with rows (layers, heads, n, n + 1). Words of fewer than four letters are left out.
    Returns (repeats, layers, heads), added up over a word's earlier mentions, and (pairs, layers, heads), one entry for
        each repeat and each different word before it.
    """
    long = [i for i, word in enumerate(words) if len(word) > 3]
    same, other = [rows.new_zeros(0, *rows.shape[:2])], [rows.new_zeros(0, *rows.shape[:2])]
    for i in long:
        earlier = [j + 1 for j in long if j < i and words[j] == words[i]]
        if earlier:
            same.append(rows[None, ..., i, earlier].sum(-1))
            other += [rows[None, ..., i, j + 1] for j in long if j < i and words[j] != words[i]]
    return torch.cat(same), torch.cat(other)

"""Texts after which the shipped model holds two tokens equally likely, but for rounding.

Texts rarely end at such a place, so they were searched for once (`authoring/near_ties.py`) and are shipped beside the
model.
"""

import json
from collections.abc import Sequence

import pandas as pd
import torch
from torch import Tensor
from torch.nn.attention import SDPBackend, sdpa_kernel

from course_utils.checkpoint import load_model
from course_utils.compare_logits import compare_logits, in_chunks
from course_utils.text import DATA
from course_utils.transformer import Transformer

NEAR_TIES = DATA / "tiny_llama" / "near_ties.json"
WAYS = ("one pass", "token by token", "MATH")


@torch.no_grad()
def nearest_ties(model: Transformer, ids: Tensor | None = None, n_best: int = 8) -> list[tuple[Tensor, float]]:
    """The shipped texts whose two likeliest next tokens are closest, for the model "tiny_llama".

    model: that model. ids: has no effect; it is there for notebooks of version 0.1, in which a text was searched from.
    Returns n_best texts, the nearest first: their ids (T,), <bos> included, and by how much the likelier token is
        ahead, in nats.
    """
    vocab = load_model("tiny_llama")[1]
    found = []
    for text in json.loads(NEAR_TIES.read_text(encoding="utf-8")):
        tokens = torch.tensor([vocab.bos_id, *vocab.encode(text)])
        likeliest, second = model(tokens[None])[0, -1].double().topk(2).values.tolist()
        found.append((tokens, likeliest - second))
    return sorted(found, key=lambda tie: tie[1])[:n_best]


@torch.no_grad()
def right_ways(model: Transformer, ids: Tensor) -> dict[str, Tensor]:
    """The logits (V,) after a text, computed in the three WAYS, all of them right.

    ids: (T,), <bos> included. "one pass" takes the attention that PyTorch chooses, "token by token" goes through a
    cache, and "MATH" is one pass with PyTorch's plain attention, which does not go through the keys block by block.
    """
    one_pass, token_by_token = (in_chunks(model, ids, split)[0, -1] for split in ([len(ids)], 1))
    with sdpa_kernel(SDPBackend.MATH):
        by_math = model(ids[None])[0, -1]
    return dict(zip(WAYS, (one_pass, token_by_token, by_math), strict=True))


def gaps_at_ties(model: Transformer, ties: Sequence[tuple[Tensor, float]]) -> pd.DataFrame:
    """By how much the likeliest token is ahead of the second one after each text, in three right ways.

    ties: texts as from `nearest_ties`.
    Returns a row for each text: `first` and `second`, the ids of the two likeliest tokens in one pass; for each of WAYS
        the logit of the first less that of the second, in nats; `noise`, the largest |difference| between the logits of
        one pass and those of another way; `equal`, whether `compare_logits` calls all three the same; and `flipped`,
        whether two ways choose different tokens.
    """
    rows = []
    for ids, _ in ties:
        ways = right_ways(model, ids)
        first, second = ways[WAYS[0]].topk(2).indices.tolist()
        reports = [compare_logits(ways[WAYS[0]], logits) for logits in ways.values()]
        rows.append(
            {"first": first, "second": second}
            | {name: (logits[first] - logits[second]).item() for name, logits in ways.items()}
            | {
                "noise": max(report.max_abs_diff for report in reports),
                "equal": all(reports),
                "flipped": len({int(logits.argmax()) for logits in ways.values()}) > 1,
            }
        )
    return pd.DataFrame(rows)

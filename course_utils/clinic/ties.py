"""Texts after which the shipped model holds two tokens equally likely, but for rounding.

Texts rarely end at such a place, so they were searched for once (`authoring/near_ties.py`) and are shipped beside the
model.
"""

import json

import torch
from torch import Tensor

from course_utils.checkpoint import load_model
from course_utils.text import DATA
from course_utils.transformer import Transformer

NEAR_TIES = DATA / "tiny_llama" / "near_ties.json"


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

"""What a model is given for a forward pass, checked before it computes.

What PyTorch says of a wrong id comes from deep inside, and some slips it does not notice: -1 is a table's last row.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor, nn

from course_utils.protocols import LanguageModel

_COMPUTES_IN = ("torch.float32", "torch.float64", "torch.bfloat16", "torch.float16")


def check_token_ids(token_ids: Tensor, vocab_size: int) -> Tensor:
    """The ids as a model can read them, (B, T). vocab_size: how many ids the model has.

    Raises TypeError for something else than a tensor of integers; ValueError for another shape, no token at all, or an
    id that the model lacks.
    """
    if not isinstance(token_ids, Tensor):
        raise TypeError(f"token_ids is a {type(token_ids).__name__}; expected a tensor, as torch.tensor(…) makes it.")
    if token_ids.ndim != 2 or not token_ids.shape[1]:
        raise ValueError(
            f"token_ids has shape {tuple(token_ids.shape)}; expected (B, T) with at least one token. One text is a "
            f"batch of 1."
        )
    if token_ids.dtype not in (torch.int64, torch.int32):
        raise TypeError(f"token_ids has the dtype {token_ids.dtype}; expected torch.int64.")
    if token_ids.shape[0]:
        smallest, largest = token_ids.aminmax()
        for token_id in (smallest.item(), largest.item()):
            if not 0 <= token_id < vocab_size:
                raise ValueError(f"token_ids has {token_id}; expected ids from 0 to {vocab_size - 1}.")
    if token_ids.is_inference() and not torch.is_inference_mode_enabled():
        return token_ids.clone()  # autograd would refuse to keep the other
    return token_ids


def check_inputs(token_ids: Tensor, vocab_size: int, cache: object, attention_mask: Tensor | None) -> Tensor:
    """As `check_token_ids`, with all that a transformer is given.

    Also raises TypeError for a cache of another kind of model, and ValueError for a mask with another number of rows.
    """
    token_ids = check_token_ids(token_ids, vocab_size)
    if cache is not None and not hasattr(cache, "check"):
        raise TypeError(f"cache is a {type(cache).__name__}; expected one by new_cache() of this model.")
    if attention_mask is not None and len(attention_mask) not in (1, len(token_ids)):
        raise ValueError(f"attention_mask has {len(attention_mask)} rows; token_ids has {len(token_ids)}.")
    return token_ids


def check_context(n_tokens: int, block_size: int) -> None:
    """ValueError for a context, of so many tokens, that is longer than the model was made for."""
    if n_tokens > block_size:
        raise ValueError(
            f"The context would be {n_tokens} tokens; the model was made for {block_size} (block_size). "
            f"Shorten the prompt or generate fewer tokens."
        )


@contextmanager
def dtypes_named(model: nn.Module) -> Iterator[None]:
    """Where PyTorch fails over the weights' types, mixed ones or such as it cannot compute in, a ValueError says so."""
    try:
        yield
    except RuntimeError as error:
        dtypes = sorted({str(parameter.dtype) for parameter in model.parameters()})
        if len(dtypes) == 1 and dtypes[0] in _COMPUTES_IN:
            raise
        raise ValueError(
            f"The model's weights are {', '.join(dtypes)}; expected all of one type, {', '.join(_COMPUTES_IN)}. "
            f"Convert them, as by model.float()."
        ) from error


def vocab_size_of(model: LanguageModel) -> int | None:
    """How many token ids the model has, if it says so itself or in its `config`; None if it does not."""
    for place in (model, getattr(model, "config", None)):
        size: Any = getattr(place, "vocab_size", None)
        if isinstance(size, int):
            return size
    return None


def check_model_and_vocab(model: object, vocab: object) -> None:
    """TypeError for another thing in the place of a model or a vocabulary, such as one in the place of the other."""
    if not callable(model):
        raise TypeError(
            f"model is of type {type(model).__name__}; expected a model, which can be called. load_model gives two "
            f"things: model, vocab = load_model(…)."
        )
    if not hasattr(vocab, "bos_id") or not hasattr(vocab, "encode"):
        raise TypeError(f"vocab is of type {type(vocab).__name__}; expected a vocabulary, such as load_model gives.")

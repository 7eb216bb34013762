"""Small random Llamas of transformers that note how they are fed, for 09.last_token."""

from __future__ import annotations

import functools
import inspect
import math
from typing import TYPE_CHECKING, Any

from course_utils.exercises.common.inputs import scores

if TYPE_CHECKING:
    from transformers import LlamaForCausalLM

PAD = 2  # the models' pad id
Note = tuple[list[int | None], int]  # the ids that a call was fed, None for vectors, and how many tokens were cached

SMALL = {"vocab_size": 13, "num_hidden_layers": 2, "num_attention_heads": 4, "num_key_value_heads": 2,
          "hidden_size": 16, "intermediate_size": 24}  # fmt: skip
OTHER = {"vocab_size": 29, "num_hidden_layers": 1, "num_attention_heads": 2, "num_key_value_heads": 1,
          "hidden_size": 8, "intermediate_size": 12}  # fmt: skip


def llama(seed: int, sizes: dict) -> LlamaForCausalLM:
    """A Llama in eval mode whose weights are large enough to show every fault, the same on every machine.

    Without gradients, as in the notebook: what torch is told there does not hold in the thread of a check.
    """
    import torch
    from transformers import LlamaConfig, LlamaForCausalLM

    rope = {"rope_type": "default", "rope_theta": 100.0}
    config = LlamaConfig(**sizes, max_position_embeddings=64, bos_token_id=0, eos_token_id=1, pad_token_id=PAD,
                         rope_parameters=rope)  # fmt: skip
    with torch.random.fork_rng(devices=[]):  # the first weights are drawn, and thrown away below
        model = LlamaForCausalLM(config).eval().requires_grad_(False)
    matrices = [weight for weight in model.parameters() if weight.ndim == 2]
    with torch.no_grad():
        for number, weight in enumerate(matrices):
            weight.copy_(torch.tensor(scores(100 * seed + number, *weight.shape, scale=0.3)))
    return model


@functools.cache
def pristine(seed: int = 1, other: bool = False) -> Any:
    """The model that gives the expected logits. No learner's function gets it."""
    return llama(seed, OTHER if other else SMALL)


@functools.cache
def handed_out(seed: int = 1, other: bool = False) -> Any:
    """Its twin that learners get, one for all the cases of a check; `notes` holds how it was fed."""
    model: Any = llama(seed, OTHER if other else SMALL)
    model.notes = []
    _note_calls(model.model, model.notes)
    return model


def _note_calls(inner: Any, notes: list[Note]) -> None:
    """Let the inner model note, at each call, the ids that it is fed and how many tokens the cache holds already."""
    original = inner.forward
    signature = inspect.signature(original)

    @functools.wraps(original)
    def forward(*args: Any, **kwargs: Any) -> Any:
        given = signature.bind(*args, **kwargs).arguments
        ids = given.get("input_ids")
        fed = ids.flatten().tolist() if ids is not None else [None] * math.prod(given["inputs_embeds"].shape[:2])
        caches = given.get("cache"), kwargs.get("past_key_values")
        cache = next((cache for cache in caches if cache is not None), None)
        notes.append((fed, int(cache.get_seq_length()) if cache is not None else 0))
        return original(*args, **kwargs)

    inner.forward = forward


def state(model: Any) -> tuple:
    """What belongs to the caller: mode, settings, weights and their kind, and that a call still is what it was."""
    weights = [(weight.dtype, weight.requires_grad, weight.tolist()) for weight in model.parameters()]
    hooks = sum(len(part._forward_hooks) + len(part._forward_pre_hooks) for part in model.modules())
    config = model.config.to_dict() | {"attention": model.config._attn_implementation}
    return model.training, config, model.generation_config.to_dict(), weights, hooks, "forward" in vars(model)

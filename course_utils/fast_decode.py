"""A transformer's step for one text, planned once: the same logits as the model's, several times as fast.

    fast = plan(model)
    generate(fast, vocab, "The pirate")

In a small model a step's time goes into calling operations, not into arithmetic. So a planned step makes fewer calls:

1. A norm scales each dimension by a learned gain, and a matrix follows. The gain is multiplied into that matrix once.
   What is left of the norm is one number for the whole vector, and it is the factor `alpha` of the multiplication.
2. Queries, keys and values come from one matrix; so do gate and up. Each lies in memory as the multiplication reads it.
3. The two dimensions that turn together stand side by side, so that the rotation of all heads is one complex
   multiplication in place. One copy brings the keys into the cache's order again, together with the values.
4. The vectors on the way, and views of them, are made once and written over in each step.
5. The query heads that share a key/value head are rows of one attention call, and nothing is expanded.

A prompt, or any call with several tokens, is one pass of the model itself: there arithmetic counts, and calls do not.
The cache is the model's own, so what it holds is the same whichever of the two has filled it.
"""

import threading
from collections.abc import Iterable
from typing import Any, NamedTuple, cast

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from course_utils.kv_cache import KVCache
from course_utils.model_checks import check_context
from course_utils.transformer import Layer, Transformer, rotations

_COMPLEX = {torch.float32: torch.complex64, torch.float64: torch.complex128}


class _Layer(NamedTuple):
    """The matrices of a layer, (in, out), with the norms' gains in those that follow a norm."""

    qkv: Tensor
    out: Tensor
    gate_and_up: Tensor
    down: Tensor


def refusal(model: Any) -> str | None:
    """Why a model cannot be planned, as a sentence that says what to do; None if it can be."""
    if type(model) is not Transformer:
        return (
            f"the model is a {type(model).__name__}; only a Transformer can be planned, since another class may "
            f"compute otherwise. Use the model as it is."
        )
    dtypes = {parameter.dtype for parameter in model.parameters()}
    if len(dtypes) > 1 or not dtypes <= _COMPLEX.keys():
        names = ", ".join(sorted(map(str, dtypes)))
        return f"the weights are {names}; expected torch.float32 or torch.float64. Convert them, as by model.float()."
    if any(parameter.device.type != "cpu" for parameter in model.parameters()):
        return "the weights are not in the processor's memory. Use the model as it is, or move it by model.cpu()."
    if any(parameter.is_inference() for parameter in model.parameters()):
        return "the weights were made in inference mode, where no change of them can be noticed. Use torch.no_grad()."
    if model.training:
        return "the model is in training mode, and a planned step has no dropout. Call model.eval() first."
    if _is_hooked(model):
        return "a module of the model has a hook or another `forward`, which a planned step would not call. Remove it."
    return None


def plan(model: Transformer) -> "PlannedModel":
    """A model in the loop's sense for one text at a time, with the logits of `model` up to rounding.

    Raises TypeError for a model that is not a Transformer, ValueError for one that cannot be planned: see `refusal`.
    """
    if reason := refusal(model):
        raise (ValueError if type(model) is Transformer else TypeError)(reason[0].upper() + reason[1:])
    return PlannedModel(model)


class PlannedModel:
    """What `plan` returns. It holds for the weights as they are now, and refuses to go on once they have changed.

    planned_from: the model. Fingerprints and records are that model's. No gradients flow through its logits. Several
    threads may use it, one step at a time; a copy, and the one that joblib makes in another process, is planned anew.
    """

    planned_from: Transformer

    @torch.inference_mode(False)  # what is made there could not be written to outside of it
    @torch.no_grad()
    def __init__(self, model: Transformer):
        self.planned_from, self.config, self.block_size = model, model.config, model.block_size
        config, dtype = model.config, next(model.parameters()).dtype
        H, K, D, C = config.n_head, config.n_kv_head, config.head_dim, config.n_embd
        self._state = _state_of(model)
        self._parameters = list(model.parameters())
        self._versions = [parameter._version for parameter in self._parameters]
        self._hooks = [
            hooks for module in model.modules() for hooks in (module._forward_hooks, module._forward_pre_hooks)
        ]
        self._lock = threading.Lock()

        side_by_side = torch.arange(D).view(2, D // 2).t().flatten()  # dimension i of a head, then i + D / 2, and so on
        self._layers = []
        for layer in cast(Iterable[Layer], model.model.layers):
            attention, mlp = layer.self_attn, layer.mlp
            qkv = torch.cat([attention.q_proj.weight, attention.k_proj.weight, attention.v_proj.weight])
            qkv = qkv.view(H + 2 * K, D, C)[:, side_by_side].view(-1, C) * layer.input_layernorm.weight
            gate_and_up = torch.cat([mlp.gate_proj.weight, mlp.up_proj.weight]) * layer.post_attention_layernorm.weight
            matrices = qkv, attention.o_proj.weight, gate_and_up, mlp.down_proj.weight
            self._layers.append(_Layer(*(matrix.t().contiguous() for matrix in matrices)))
        self._embedding = model.model.embed_tokens.weight.clone()
        self._head = (model.lm_head.weight * model.model.norm.weight).t().contiguous()
        table = rotations(D, config.block_size, config.rope_theta, dtype=dtype)
        self._rotation = torch.view_as_complex(table).unsqueeze(1)  # (block_size, 1, D / 2): the same for each head

        def room(*shape: int) -> Tensor:
            return torch.zeros(shape, dtype=dtype)

        self._x, self._unused = room(1, C), room(1, config.vocab_size)
        self._flat = self._x.view(-1)
        self._qkv, self._q = room(1, (H + 2 * K) * D), room(1, K, H // K, D)
        by_pairs = self._qkv.view(H + 2 * K, D // 2, 2)
        self._turning = torch.view_as_complex(by_pairs[: H + K])
        self._new_q = by_pairs[:H].transpose(1, 2)  # (H, 2, D / 2): back in halves, as all dimensions of a head
        self._new_kv = by_pairs[H:].view(2, K, D // 2, 2).transpose(2, 3)  # (2, K, 2, D / 2)
        self._q_by_halves = self._q.view(H, 2, D // 2)
        self._gate_and_up = room(1, 2 * config.n_inner)
        self._gate, self._up = self._gate_and_up.chunk(2, dim=1)

    def __reduce__(self) -> tuple:
        return plan, (self.planned_from,)

    def __repr__(self) -> str:
        return f"plan({type(self.planned_from).__name__})"

    def new_cache(self, batch_size: int = 1, max_tokens: int | None = None) -> KVCache:
        """An empty cache, as the model's own `new_cache` makes it. Raises ValueError for another batch_size than 1."""
        if batch_size != 1:
            raise ValueError(f"batch_size is {batch_size}; a planned model takes one text. Use the model itself.")
        return self.planned_from.new_cache(1, max_tokens)

    @torch.no_grad()
    def __call__(self, token_ids: Tensor, cache: KVCache | None = None, attention_mask: Tensor | None = None) -> Tensor:
        """Logits (1, T, V), in nats, in memory that nothing else uses; the cache takes the tokens in.

        token_ids: (1, T) int64. cache: from `new_cache`, of this or of the model; None: nothing precedes the tokens.
        Raises ValueError for several rows, an attention mask, changed weights, a model in training mode or with hooks,
        a context longer than block_size, and for what the cache refuses.
        """
        self._check(token_ids, cache, attention_mask)
        if cache is None or token_ids.shape[1] != 1:
            return self.planned_from(token_ids, cache)
        check_context((position := cache.n_tokens) + 1, self.block_size)
        if not 0 <= (token_id := int(token_ids)) < self.config.vocab_size:  # -1 would be the last row
            raise ValueError(f"token_ids has {token_id}; expected ids from 0 to {self.config.vocab_size - 1}.")
        with self._lock:
            logits = self._step(token_id, position, cache.store)
        cache.advance(token_ids)
        return logits[None]

    def _check(self, token_ids: Tensor, cache: KVCache | None, attention_mask: Tensor | None) -> None:
        model = self.planned_from
        if token_ids.ndim != 2 or token_ids.shape[0] != 1:
            raise ValueError(
                f"token_ids has the shape {tuple(token_ids.shape)}; a planned model takes one text, (1, T). "
                f"Use the model itself for several."
            )
        if token_ids.is_floating_point():
            raise TypeError(f"token_ids has the dtype {token_ids.dtype}; expected torch.int64.")
        if attention_mask is not None:
            raise ValueError("A planned model takes no attention_mask: one text has no padding. Use the model itself.")
        if model.training:
            raise ValueError(
                "The model is in training mode, and a planned step has no dropout. Call model.eval() first."
            )
        first = cache is None or cache.n_tokens == 0  # a text begins: look at all; behind it, at what is seen quickly
        changed = [parameter._version for parameter in self._parameters] != self._versions
        if changed or (first and _state_of(model) != self._state):
            raise ValueError("The model's weights have changed since it was planned. Call plan(model) again.")
        if any(self._hooks) or (first and _is_hooked(model)):
            raise ValueError(f"Since the model was planned, {refusal(model)}")
        if cache is not None:
            if type(cache) is not KVCache:
                raise ValueError(f"The cache is a {type(cache).__name__}; expected one by new_cache().")
            cache.check(model, token_ids)

    def _step(self, token_id: int, position: int, store: Tensor) -> Tensor:
        """Logits (1, V) of one token. store: the cache's, (layers, 2, 1, K, max_tokens, D); its place is written."""
        n_layer, K, D = len(self._layers), self.config.n_kv_head, self.config.head_dim
        self._x.copy_(self._embedding[token_id])
        rotation = self._rotation[position]
        seen = store.narrow(4, 0, position + 1).unbind(0)  # a layer: (2, 1, K, position + 1, D)
        places = store.select(4, position).view(n_layer, 2, K, 2, D // 2).unbind(0)
        for layer, keys_and_values, place in zip(self._layers, seen, places, strict=True):
            self._project(layer.qkv, self._qkv)
            self._turning.mul_(rotation)
            place.copy_(self._new_kv)
            self._q_by_halves.copy_(self._new_q)
            keys, values = keys_and_values.unbind(0)
            mixed = F.scaled_dot_product_attention(self._q, keys, values)  # (1, K, H / K, D)
            self._x.addmm_(mixed.view(1, -1), layer.out)
            self._project(layer.gate_and_up, self._gate_and_up)
            F.silu(self._gate, inplace=True).mul_(self._up)
            self._x.addmm_(self._gate, layer.down)
        return torch.addmm(self._unused, self._x, self._head, beta=0, alpha=self._inverse_rms())  # a new tensor

    def _project(self, matrix: Tensor, out: Tensor) -> None:
        """out = norm(x) @ matrix, with the gain in the matrix already."""
        torch.addmm(out, self._x, matrix, beta=0, alpha=self._inverse_rms(), out=out)

    def _inverse_rms(self) -> float:
        mean_square = torch.dot(self._flat, self._flat).item() / self.config.n_embd
        return (mean_square + self.config.norm_eps) ** -0.5


def _state_of(model: nn.Module) -> list[tuple[int, int]]:
    """Which tensors the weights are, and where their numbers lie."""
    return [(id(parameter), parameter.data_ptr()) for parameter in model.parameters()]


def _is_hooked(model: nn.Module) -> bool:
    return any(
        module._forward_hooks or module._forward_pre_hooks or "forward" in vars(module) for module in model.modules()
    )

"""A tiny Llama: the transformer that today's open models share, small enough to read and to train on a laptop.

Token ids become vectors. In each layer every position first reads the positions up to its own (attention); then each
position is worked on alone (feed-forward). A last projection gives logits. RMSNorm before each part, rotary positions,
grouped key/value heads, a gated feed-forward: the same choices as in Llama 2 and 3. Modules and weights have the names
that transformers' LlamaForCausalLM gives them, so a checkpoint's file is this model's `state_dict`.

Shapes: B rows, T new tokens, S all tokens up to now, C embedding, H query heads, K key/value heads, D head dimension.
This module does not know how a token is chosen. What makes a step faster is in `fast_decode`, and not here.
"""

from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from course_utils.arguments import check_flag, check_number, check_positive
from course_utils.kv_cache import KVCache, causal_mask, covering, real_positions
from course_utils.model_checks import check_context, check_inputs, dtypes_named
from course_utils.protocols import Cache
from course_utils.rotary import Rotation, rotate, rotation_by_halves, rotations


@dataclass(frozen=True)
class TransformerConfig:
    """The shape of a model. Sizes are numbers of elements.

    n_kv_head: key/value heads; n_head of them is multi-head attention, 1 is multi-query, between is grouped-query.
    block_size: the longest context, in tokens. n_inner: width of the feed-forward part; None: 8/3 of n_embd, rounded
    up to a multiple of 32. dropout: share of activations zeroed in training mode.
    """

    vocab_size: int
    n_layer: int
    n_head: int
    n_kv_head: int
    n_embd: int
    block_size: int
    n_inner: int = None  # type: ignore[assignment]  # __post_init__ puts a number in its place
    dropout: float = 0.0
    tie_embeddings: bool = False
    rope_theta: float = 10000.0
    norm_eps: float = 1e-5

    def __post_init__(self) -> None:
        for name in ("vocab_size", "n_layer", "n_head", "n_kv_head", "n_embd", "block_size", "n_inner"):
            if name == "n_inner" and self.n_inner is None:  # n_embd has been checked by now
                object.__setattr__(self, "n_inner", -(-8 * self.n_embd // 96) * 32)
            size = getattr(self, name)
            if not isinstance(size, int) or isinstance(size, bool) or size < 1:
                raise ValueError(f"{name} is {size!r}; expected an integer of at least 1.")
        if self.n_embd % (2 * self.n_head):
            raise ValueError(
                f"n_embd is {self.n_embd} and n_head is {self.n_head}; expected n_embd to be a multiple of 2 * n_head, "
                f"since rotary positions turn pairs of a head's dimensions."
            )
        if self.n_head % self.n_kv_head:
            raise ValueError(f"n_head is {self.n_head}; expected a multiple of n_kv_head, which is {self.n_kv_head}.")
        check_flag("tie_embeddings", self.tie_embeddings)
        if not 0 <= check_number("dropout", self.dropout) < 1:
            raise ValueError(f"dropout is {self.dropout}; expected 0 <= dropout < 1.")
        check_positive("rope_theta", self.rope_theta)
        check_positive("norm_eps", self.norm_eps)

    @property
    def head_dim(self) -> int:
        """Dimensions of a query, a key or a value."""
        return self.n_embd // self.n_head


def rms_norm(x: Tensor, gain: Tensor, eps: float) -> Tensor:
    """Divide each vector by its root mean square, then scale each dimension: x / sqrt(mean(x²) + eps) * gain.

    x: (..., C). gain: (C,), learned. eps: added to the mean square, so that a zero vector stays one.
    Source: Zhang and Sennrich 2019, https://arxiv.org/abs/1910.07467
    """
    return F.rms_norm(x, gain.shape, gain, eps)


class RMSNorm(nn.Module):
    """`rms_norm` with a gain that is learned."""

    def __init__(self, size: int, eps: float):
        super().__init__()
        self.weight, self.eps = nn.Parameter(torch.ones(size)), eps

    def forward(self, x: Tensor) -> Tensor:
        return rms_norm(x, self.weight, self.eps)


class Attention(nn.Module):
    """Each position takes a weighted mean of the values at the positions that it may attend to, in each head.

    Neighbouring query heads share a key/value head. layer: which layer this is, its place in the cache.
    Source: Vaswani et al. 2017, https://arxiv.org/abs/1706.03762; grouped: Ainslie et al. 2023,
    https://arxiv.org/abs/2305.13245
    """

    def __init__(self, config: TransformerConfig, layer: int):
        super().__init__()
        self.layer, self.dropout = layer, config.dropout
        self.n_head, self.n_kv_head, self.head_dim = config.n_head, config.n_kv_head, config.head_dim
        C, n_query, n_key = config.n_embd, config.n_head * config.head_dim, config.n_kv_head * config.head_dim
        self.q_proj = nn.Linear(C, n_query, bias=False)
        self.k_proj = nn.Linear(C, n_key, bias=False)
        self.v_proj = nn.Linear(C, n_key, bias=False)
        self.o_proj = nn.Linear(n_query, C, bias=False)

    def forward(self, x: Tensor, rotation: Rotation, mask: Tensor | None, cache: Cache | None) -> Tensor:
        """x: (B, T, C). rotation, mask: see `Transformer.places`. Returns (B, T, C)."""
        B, T, _ = x.shape
        H, K, D = self.n_head, self.n_kv_head, self.head_dim
        q = self.q_proj(x).view(B, T, H, D).transpose(1, 2)  # (B, H, T, D)
        k = self.k_proj(x).view(B, T, K, D).transpose(1, 2)  # (B, K, T, D)
        v = self.v_proj(x).view(B, T, K, D).transpose(1, 2)
        q, k = rotate(q, rotation), rotate(k, rotation)
        if cache is not None:
            k, v = cache.append(self.layer, k, v)  # (B, K, S, D)
        dropout = self.dropout if self.training else 0.0
        if T == 1:  # one query a head: those that share a key/value head are rows of one product, nothing is expanded
            mixed = F.scaled_dot_product_attention(q.view(B, K, H // K, D), k, v, mask, dropout)
        else:  # without a mask the T tokens are all there are, and each sees those up to its own
            mixed = F.scaled_dot_product_attention(
                q, k, v, mask, dropout, is_causal=mask is None, enable_gqa=H > K
            ).transpose(1, 2)  # (B, H, T, D) -> (B, T, H, D)
        return self.o_proj(mixed.reshape(B, T, H * D))


class MLP(nn.Module):
    """SwiGLU: half of the hidden units gate the other half. Source: Shazeer 2020, https://arxiv.org/abs/2002.05202"""

    def __init__(self, config: TransformerConfig):
        super().__init__()
        self.gate_proj = nn.Linear(config.n_embd, config.n_inner, bias=False)
        self.up_proj = nn.Linear(config.n_embd, config.n_inner, bias=False)
        self.down_proj = nn.Linear(config.n_inner, config.n_embd, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        """x: (B, T, C). Returns (B, T, C)."""
        return self.down_proj(F.silu(self.gate_proj(x)) * self.up_proj(x))


class Layer(nn.Module):
    """Attention, then a feed-forward part: each reads the normalised input, and is added to what was there."""

    def __init__(self, config: TransformerConfig, layer: int):
        super().__init__()
        self.dropout = config.dropout
        self.self_attn = Attention(config, layer)
        self.mlp = MLP(config)
        self.input_layernorm = RMSNorm(config.n_embd, config.norm_eps)
        self.post_attention_layernorm = RMSNorm(config.n_embd, config.norm_eps)

    def forward(self, x: Tensor, rotation: Rotation, mask: Tensor | None, cache: Cache | None) -> Tensor:
        """x: (B, T, C). Returns (B, T, C)."""
        x = x + self._dropped(self.self_attn(self.input_layernorm(x), rotation, mask, cache))
        return x + self._dropped(self.mlp(self.post_attention_layernorm(x)))

    def _dropped(self, x: Tensor) -> Tensor:
        return F.dropout(x, self.dropout) if self.training and self.dropout else x


class Decoder(nn.Module):
    """From token ids to hidden states: the model without its head."""

    def __init__(self, config: TransformerConfig):
        super().__init__()
        self.embed_tokens = nn.Embedding(config.vocab_size, config.n_embd)
        self.layers = nn.ModuleList(Layer(config, layer) for layer in range(config.n_layer))
        self.norm = RMSNorm(config.n_embd, config.norm_eps)

    def forward(self, token_ids: Tensor, rotation: Rotation, mask: Tensor | None, cache: Cache | None) -> Tensor:
        """token_ids: (B, T). Returns (B, T, C)."""
        x = self.embed_tokens(token_ids)
        for layer in self.layers:
            x = layer(x, rotation, mask, cache)
        return self.norm(x)


class Transformer(nn.Module):
    """Logits for the token after each position, given all tokens up to it."""

    cache_class = KVCache
    rotation: Tensor  # (2, block_size, D): cosines and sines by position

    @torch.inference_mode(False)  # parameters made there could not be trained, nor their changes noticed
    def __init__(self, config: TransformerConfig):
        super().__init__()
        self.config, self.block_size = config, config.block_size
        self.model = Decoder(config)
        self.lm_head = nn.Linear(config.n_embd, config.vocab_size, bias=False)
        if config.tie_embeddings:
            self.lm_head.weight = self.model.embed_tokens.weight
        table = rotations(config.head_dim, config.block_size, config.rope_theta)
        self.register_buffer("rotation", rotation_by_halves(table), persistent=False)
        self._initialise()

    def _initialise(self) -> None:
        """Normal weights of standard deviation .02; what feeds the residual stream is smaller in a deeper model."""
        for name, parameter in self.named_parameters():
            if parameter.ndim == 2:
                into_residual = name.endswith(("o_proj.weight", "down_proj.weight"))
                std = 0.02 / (2 * self.config.n_layer) ** 0.5 if into_residual else 0.02
                nn.init.normal_(parameter, std=std)

    @property
    def head(self) -> nn.Linear:
        """Another name of `lm_head`, the last projection."""
        return self.lm_head

    def n_parameters(self) -> int:
        """How many numbers the model has; tied weights count once."""
        return sum(parameter.numel() for parameter in self.parameters())

    def new_cache(self, batch_size: int = 1, max_tokens: int | None = None) -> KVCache:
        """An empty cache for this model; max_tokens: tokens a row, padding included; None: block_size."""
        config, n_slots = self.config, self.block_size if max_tokens is None else max_tokens
        return self.cache_class(self, config.n_layer, config.n_kv_head, config.head_dim, n_slots, batch_size)

    def forward(self, token_ids: Tensor, cache: Cache | None = None, attention_mask: Tensor | None = None) -> Tensor:
        """token_ids: (B, T) int64, with a cache only the new ones; the cache takes them in.

        attention_mask: (B, S), True or 1 for real tokens, over all S tokens, cached ones included; None: no padding.
            Positions count real tokens only, so a row means the same with and without padding.
        Returns logits (B, T, V), in nats; those at padding mean nothing.
        Raises ValueError for a context longer than block_size, and for what `model_checks` or the cache refuses.
        """
        with dtypes_named(self):
            return self.lm_head(self.hidden_states(token_ids, cache, attention_mask))

    def hidden_states(
        self, token_ids: Tensor, cache: Cache | None = None, attention_mask: Tensor | None = None
    ) -> Tensor:
        """What the head turns into logits: (B, T, C). Arguments as in `forward`."""
        token_ids = check_inputs(token_ids, self.config.vocab_size, cache, attention_mask)
        if cache is not None:
            cache.check(self, token_ids)
        positions, mask = self.places(token_ids, cache, attention_mask)
        check_context(int(positions.max()) + 1, self.block_size)
        cos, sin = self.rotation[:, positions].unsqueeze(2).unbind()  # (B or 1, 1, T, D) each
        x = self.model(token_ids, (cos, sin), mask, cache)
        if cache is not None:
            cache.advance(token_ids)
        return x

    def places(
        self, token_ids: Tensor, cache: Cache | None, attention_mask: Tensor | None
    ) -> tuple[Tensor, Tensor | None]:
        """Where the new tokens stand, int64 (B or 1, T), and which keys they may attend to: `Cache` says how.

        A cache knows both. Without one, the T new tokens are all tokens, so S = T.
        """
        T = token_ids.shape[1]
        if cache is not None:
            return cache.positions(T, attention_mask), cache.mask(T, attention_mask)
        if attention_mask is None:
            return torch.arange(T, device=token_ids.device)[None], None
        real = covering(attention_mask, T)
        return real_positions(real), causal_mask(T, T) & real[:, None, None, :]

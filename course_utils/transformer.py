"""A tiny Llama: the transformer that today's open models share, small enough to read and to train on a laptop.

Token ids become vectors; each layer lets every position read the positions up to its own (attention) and then works
on each position alone (feed-forward); a last projection gives logits. RMSNorm before each part, rotary positions,
grouped key/value heads, a gated feed-forward: the same choices as in Llama 2 and 3.

Shapes: B rows, T new tokens, S all tokens up to now, C embedding, H query heads, K key/value heads, D head dimension.
This module does not know how a token is chosen, nor how a checkpoint is stored.
"""

from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from course_utils.kv_cache import KVCache


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
    n_inner: int | None = None
    dropout: float = 0.0
    tie_embeddings: bool = False
    rope_theta: float = 10000.0
    norm_eps: float = 1e-5

    def __post_init__(self):
        for name in ("vocab_size", "n_layer", "n_head", "n_kv_head", "n_embd", "block_size", "n_inner"):
            if name == "n_inner" and self.n_inner is None:
                object.__setattr__(self, "n_inner", -(-8 * self.n_embd // 96) * 32)
            size = getattr(self, name)
            if not isinstance(size, int) or isinstance(size, bool) or size < 1:
                raise ValueError(f"{name} is {size!r}; expected an integer of at least 1.")
        if self.n_embd % (2 * self.n_head):
            raise ValueError(
                f"n_embd is {self.n_embd} and n_head {self.n_head}; expected n_embd to be a multiple of 2 * n_head, "
                f"since rotary positions turn pairs of a head's dimensions."
            )
        if self.n_head % self.n_kv_head:
            raise ValueError(f"n_head is {self.n_head}, no multiple of n_kv_head, {self.n_kv_head}.")
        if not 0 <= self.dropout < 1:
            raise ValueError(f"dropout is {self.dropout}; expected 0 <= dropout < 1.")

    @property
    def head_dim(self) -> int:
        return self.n_embd // self.n_head


def rms_norm(x: Tensor, gain: Tensor, eps: float) -> Tensor:
    """Divide each vector by its root mean square, then scale each dimension.

    x: (..., C). gain: (C,), learned. eps: added to the mean square, so that a zero vector stays one.
    Source: Zhang and Sennrich 2019, https://arxiv.org/abs/1910.07467
    """
    return x * (x.square().mean(-1, keepdim=True) + eps).rsqrt() * gain


def rotations(head_dim: int, block_size: int, theta: float) -> Tensor:
    """For each position and pair of dimensions (cos, sin) of the angle position * theta ** (-2 pair / head_dim).

    Returns (block_size, head_dim / 2, 2). Source: Su et al. 2021, RoFormer, https://arxiv.org/abs/2104.09864
    """
    frequencies = theta ** (-torch.arange(0, head_dim, 2, dtype=torch.float64) / head_dim)
    angles = torch.arange(block_size, dtype=torch.float64)[:, None] * frequencies
    return torch.stack([angles.cos(), angles.sin()], dim=-1).float()


def rotate_(heads: Tensor, rotation: Tensor) -> None:
    """Turn each pair of dimensions (2i, 2i + 1) by its position's angle, in place: one complex multiplication.

    heads: (B, T, heads, D). rotation: complex (T, 1, D / 2), or (B, T, 1, D / 2) where rows differ in position.
    """
    torch.view_as_complex(heads.unflatten(-1, (-1, 2))).mul_(rotation)


def causal_mask(n_query: int, n_key: int) -> Tensor:
    """Which keys each query may attend to: bool (n_query, n_key), True = may.

    The queries are the last n_query of the n_key tokens, so the triangle is aligned bottom-right.
    """
    return torch.ones(n_query, n_key, dtype=torch.bool).tril(n_key - n_query)


class Layer(nn.Module):
    """Attention, then a feed-forward part: each reads the normalised input, and is added to what was there.

    x is (B * T, C), one vector for each position; only attention looks at more than one of them.
    """

    def __init__(self, config: TransformerConfig, index: int):
        super().__init__()
        C, D = config.n_embd, config.head_dim
        self.index = index  # which layer this is: its place in the cache
        self.n_head, self.n_kv_head, self.head_dim = config.n_head, config.n_kv_head, D
        self.eps, self.dropout = config.norm_eps, config.dropout
        # Weights are (out, in). What reads the same input is one matrix: queries, keys and values; gate and up.
        self.attention_gain = nn.Parameter(torch.ones(C))
        self.qkv = nn.Parameter(torch.empty((config.n_head + 2 * config.n_kv_head) * D, C))
        self.out = nn.Parameter(torch.empty(C, C))
        self.feed_forward_gain = nn.Parameter(torch.ones(C))
        self.gate_and_up = nn.Parameter(torch.empty(2 * config.n_inner, C))
        self.down = nn.Parameter(torch.empty(C, config.n_inner))

    def forward(
        self, x: Tensor, shape: tuple[int, int], rotation: Tensor, mask: Tensor | None, cache: KVCache | None
    ) -> Tensor:
        """x: (B * T, C). shape: (B, T). rotation, mask: see `Transformer._positions`."""
        normed = rms_norm(x, self.attention_gain, self.eps)
        x = self._add(x, self.attention(normed, shape, rotation, mask, cache), self.out)
        normed = rms_norm(x, self.feed_forward_gain, self.eps)
        return self._add(x, self.feed_forward(normed), self.down)

    def attention(
        self, x: Tensor, shape: tuple[int, int], rotation: Tensor, mask: Tensor | None, cache: KVCache | None
    ) -> Tensor:
        """Each position takes a weighted mean of the values at the positions up to its own: (B * T, C), per head.

        Source: Vaswani et al. 2017, https://arxiv.org/abs/1706.03762; grouped: Ainslie et al. 2023,
        https://arxiv.org/abs/2305.13245
        """
        H, K, D = self.n_head, self.n_kv_head, self.head_dim
        B, T = shape
        heads = F.linear(x, self.qkv).view(B, T, H + 2 * K, D)
        rotate_(heads[:, :, : H + K], rotation)  # queries and keys, never values
        q = heads[:, :, :H].transpose(1, 2)  # (B, H, T, D)
        k_and_v = heads[:, :, H:].transpose(1, 2)  # (B, 2K, T, D)
        k, v = k_and_v.split(K, dim=1) if cache is None else cache.append(self.index, k_and_v)
        dropout = self.dropout if self.training else 0.0
        if T == 1:  # the query heads that share a key/value head become rows of one multiplication
            mixed = F.scaled_dot_product_attention(q.reshape(B, K, H // K, D), k, v, mask, dropout)
        else:
            causal = mask is None  # then the queries are all tokens, and PyTorch's own triangle fits
            mixed = F.scaled_dot_product_attention(q, k, v, mask, dropout, is_causal=causal, enable_gqa=H > K)
            mixed = mixed.transpose(1, 2)
        return mixed.reshape(B * T, H * D)

    def feed_forward(self, x: Tensor) -> Tensor:
        """SwiGLU: half of the hidden units gate the other half. Source: Shazeer 2020, https://arxiv.org/abs/2002.05202"""
        gate, up = F.linear(x, self.gate_and_up).chunk(2, dim=-1)
        return F.silu(gate) * up

    def _add(self, x: Tensor, part: Tensor, weight: Tensor) -> Tensor:
        """Project the part back to C dimensions and add it to x."""
        if self.training and self.dropout:
            return x + F.dropout(F.linear(part, weight), self.dropout)
        return torch.addmm(x, part, weight.t())


class Transformer(nn.Module):
    """Logits for the token after each position, given all tokens up to it."""

    def __init__(self, config: TransformerConfig):
        super().__init__()
        self.config, self.block_size = config, config.block_size
        self.embedding = nn.Embedding(config.vocab_size, config.n_embd)
        self.layers = nn.ModuleList(Layer(config, index) for index in range(config.n_layer))
        self.gain = nn.Parameter(torch.ones(config.n_embd))
        self.head = nn.Linear(config.n_embd, config.vocab_size, bias=False)
        if config.tie_embeddings:
            self.head.weight = self.embedding.weight
        table = rotations(config.head_dim, config.block_size, config.rope_theta)
        self.register_buffer("rotation", table, persistent=False)
        self._initialise()

    def _initialise(self) -> None:
        """Normal weights of standard deviation .02; what feeds the residual stream is smaller in a deeper model."""
        for name, parameter in self.named_parameters():
            if parameter.ndim == 2:
                into_residual = name.endswith((".out", ".down"))
                std = 0.02 / (2 * self.config.n_layer) ** 0.5 if into_residual else 0.02
                nn.init.normal_(parameter, std=std)

    def n_parameters(self) -> int:
        """How many numbers the model has; tied weights count once."""
        return sum(parameter.numel() for parameter in self.parameters())

    def new_cache(self, batch_size: int = 1, max_tokens: int | None = None) -> KVCache:
        """An empty cache for this model; max_tokens: tokens a row, padding included; None: block_size."""
        config = self.config
        n_slots = config.block_size if max_tokens is None else max_tokens
        return KVCache(self, config.n_layer, config.n_kv_head, config.head_dim, n_slots, batch_size)

    def forward(self, token_ids: Tensor, cache: KVCache | None = None, attention_mask: Tensor | None = None) -> Tensor:
        """token_ids: (B, T) int64, with a cache only the new ones; the cache takes them in.

        attention_mask: (B, S), True or 1 for real tokens, over all S tokens, cached ones included; None: no padding.
            Positions count real tokens only, so a row means the same with and without padding.
        Returns logits (B, T, V), in nats; those at padding mean nothing.
        Raises ValueError for a context longer than block_size, and for what the cache refuses.
        """
        return self.head(self.hidden_states(token_ids, cache, attention_mask))

    def hidden_states(
        self, token_ids: Tensor, cache: KVCache | None = None, attention_mask: Tensor | None = None
    ) -> Tensor:
        """What the head turns into logits: (B, T, C). Arguments as in `forward`."""
        n_cached, shape = 0 if cache is None else cache.n_tokens, tuple(token_ids.shape)
        if cache is not None:
            cache.check(self, token_ids)
        rotation, mask = self._positions(n_cached, shape[1], attention_mask)
        x = F.embedding(token_ids.flatten(), self.embedding.weight)
        for layer in self.layers:
            x = layer(x, shape, rotation, mask, cache)
        if cache is not None:
            cache.advance(token_ids)
        return rms_norm(x, self.gain, self.config.norm_eps).view(*shape, -1)

    def _positions(self, n_cached: int, T: int, attention_mask: Tensor | None) -> tuple[Tensor, Tensor | None]:
        """The rotations of the T new tokens, and which keys each may see (None: PyTorch's own causal rule is right)."""
        S = n_cached + T
        if attention_mask is None:
            self._refuse_overflow(S)
            whole = T == 1 or n_cached == 0  # a chunk behind a cache needs the triangle aligned bottom-right
            return self._rotation(slice(n_cached, S)), None if whole else causal_mask(T, S)
        real = attention_mask.bool()
        if real.shape[-1] != S:
            raise ValueError(f"attention_mask covers {real.shape[-1]} tokens; expected {S}, cached ones included.")
        positions = (real.long().cumsum(-1) - 1).clamp_min(0)
        self._refuse_overflow(int(positions.max()) + 1)
        return self._rotation(positions[:, n_cached:]), causal_mask(T, S) & real[:, None, None, :]

    def _rotation(self, positions) -> Tensor:
        """The angles' complex factors, (T, 1, D / 2) or (B, T, 1, D / 2): the same for each head."""
        return torch.view_as_complex(self.rotation[positions]).unsqueeze(-2)

    def _refuse_overflow(self, n_tokens: int) -> None:
        if n_tokens > self.block_size:
            raise ValueError(
                f"The context would be {n_tokens} tokens; the model was made for {self.block_size} (block_size). "
                f"Shorten the prompt or generate fewer tokens."
            )

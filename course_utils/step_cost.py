"""What one forward pass costs, counted from a model's sizes: multiplications, and bytes that must be read.

Counted are the matrix products. Left out: normalisation, softmax, rotation, activation functions, residual sums, and
the embedding's rows, all small beside them. Bytes are those of weights and cache, each read once; temporary activations
and what stays in the processor's own caches are not counted. A count is not a time: it says how work grows.
"""

from dataclasses import dataclass

from course_utils.arguments import check_integer
from course_utils.kv_cache import kv_cache_bytes
from course_utils.transformer import TransformerConfig


@dataclass(frozen=True)
class StepCost:
    """Of one call of a model.

    flops: floating-point operations; a multiplication and its addition count as two.
    weight_bytes: all matrices, once for the whole batch. cache_bytes: keys and values of the earlier tokens.
    """

    flops: int
    weight_bytes: int
    cache_bytes: int

    @property
    def bytes_read(self) -> int:
        """Weights and cache together."""
        return self.weight_bytes + self.cache_bytes


def step_cost(
    config: TransformerConfig, n_cached: int, n_new: int, batch_size: int = 1, bytes_per_element: int = 4
) -> StepCost:
    """The cost of feeding `n_new` tokens in each row behind `n_cached` ones; without a cache, all tokens are new.

    A token costs 2 operations for each number in the matrices, and 4 * n_head * head_dim in each layer for each token
    that it reads, itself included: its score, and its share in the mixture.

    >>> tiny = TransformerConfig(vocab_size=5, n_layer=1, n_head=2, n_kv_head=1, n_embd=4, block_size=8, n_inner=6)
    >>> step_cost(tiny, n_cached=3, n_new=1).flops  # 2 * (32 + 16 + 72 + 20) for the matrices, 16 * 4 for attention
    344
    """
    check_integer("n_new", n_new)
    C, width = config.n_embd, config.n_head * config.head_dim
    qkv = C * (config.n_head + 2 * config.n_kv_head) * config.head_dim
    matrices = config.n_layer * (qkv + width * C + 3 * C * config.n_inner) + C * config.vocab_size
    pairs = n_new * n_cached + n_new * (n_new + 1) // 2  # the i-th new token reads the cached ones, and i new ones
    attention = 4 * config.n_layer * width * pairs
    cached = kv_cache_bytes(config.n_layer, config.n_kv_head, config.head_dim, n_cached, batch_size, bytes_per_element)
    return StepCost(batch_size * (2 * matrices * n_new + attention), matrices * bytes_per_element, cached)

"""The sizes of a model that decide how large its cache is, and those of models that are known by name.

The shapes are those of the models' published `config.json`, read on 2026-11-30 in the list of litgpt
(https://github.com/Lightning-AI/litgpt, litgpt/config.py); GPT-2's in https://github.com/openai/gpt-2, src/model.py;
Mistral's, gpt-oss's and DeepSeek's in transformers 5.24, whose defaults are these models'. Two contexts are as their
makers state them: Mistral's of 32,768 tokens, and DeepSeek-V3's of 131,072 (https://arxiv.org/abs/2412.19437).
"""

from dataclasses import dataclass

from course_utils.kv_cache import kv_cache_bytes, latent_cache_bytes


@dataclass(frozen=True)
class Shape:
    """How a model's layers store what they read.

    n_head: query heads, which cost no cache. n_kv_head: a divisor of it. context: tokens that the model was made for,
    or None. window, n_windowed: so many layers keep only the last `window` tokens; the others keep all.
    n_latent: numbers of the one vector a token that MLA stores in place of keys and values; 0: keys and values.
    """

    n_layer: int
    n_head: int
    n_kv_head: int
    head_dim: int
    context: int | None = None
    window: int = 0
    n_windowed: int = 0
    n_latent: int = 0

    def cache_bytes(self, n_tokens: int, batch_size: int = 1, bytes_per_element: int = 2) -> int:
        """Bytes of what all layers keep for texts of this length."""
        kept = min(n_tokens, self.window)
        return sum(
            latent_cache_bytes(layers, self.n_latent, tokens, batch_size, bytes_per_element) if self.n_latent else
            kv_cache_bytes(layers, self.n_kv_head, self.head_dim, tokens, batch_size, bytes_per_element)
            for layers, tokens in ((self.n_layer - self.n_windowed, n_tokens), (self.n_windowed, kept))
        )  # fmt: skip

    @property
    def kind(self) -> str:
        """The name of its attention."""
        if self.n_latent:
            return "multi-head latent"
        return {1: "multi-query", self.n_head: "multi-head"}.get(self.n_kv_head, "grouped-query")


@dataclass(frozen=True)
class Sizes:
    """What the controls say: a shape, and how it is used."""

    shape: Shape
    n_tokens: int
    batch_size: int
    bytes_per_element: int

    def of(self, shape: Shape, n_tokens: int | None = None) -> int:
        """Bytes of another shape, or at another length, used in the same way."""
        n_tokens = self.n_tokens if n_tokens is None else n_tokens
        return shape.cache_bytes(n_tokens, self.batch_size, self.bytes_per_element)

    @property
    def n_bytes(self) -> int:
        """Bytes of the whole cache."""
        return self.of(self.shape)


MODELS = {
    "Llama 2 7B": Shape(32, 32, 32, 128, 4096),
    "Llama 3 8B": Shape(32, 32, 8, 128, 8192),
    "Llama 3 70B": Shape(80, 64, 8, 128, 8192),
    "Mistral 7B v0.1": Shape(32, 32, 8, 128, 32_768, window=4096, n_windowed=32),
    "gpt-oss-120b": Shape(36, 64, 8, 64, 131_072, window=128, n_windowed=18),
    "DeepSeek-V3": Shape(61, 128, 128, 128, 131_072, n_latent=576),
    "Falcon 7B": Shape(32, 71, 1, 64, 2048),
    "GPT-2 small": Shape(12, 12, 12, 64, 1024),
    "tiny_llama": Shape(4, 4, 2, 32, 512),
}


def shared_out(n_head: int, group: int) -> int:
    """Key/value heads if at least `group` query heads share each: the most that divide the query heads evenly."""
    return max(heads for heads in range(1, max(n_head // group, 1) + 1) if n_head % heads == 0)


def count(n: int, thing: str) -> str:
    """A number with the thing that it counts, in the singular or the plural."""
    return f"{n:,} {thing}" if n == 1 else f"{n:,} {thing}s"

"""The sizes of a transformer, checked before a model is made from them."""

from dataclasses import dataclass


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
            raise ValueError(
                f"n_head is {self.n_head} and n_kv_head is {self.n_kv_head}; expected n_head to be a multiple of it."
            )
        if not 0 <= self.dropout < 1:
            raise ValueError(f"dropout is {self.dropout}; expected 0 <= dropout < 1.")

    @property
    def head_dim(self) -> int:
        """Dimensions of a query, a key or a value."""
        return self.n_embd // self.n_head

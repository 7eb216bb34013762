"""What is wrong with the caches of some specimens: each class changes one thing that a cache does."""

import torch
from torch import Tensor, nn

from course_utils.kv_cache import KVCache, Weights
from course_utils.transformer import Transformer


class Misplacing(KVCache):
    """Behind cached tokens, the new ones are put in another place."""

    def first_position(self) -> int:
        """Where the first of the new tokens is put."""
        raise NotImplementedError

    def positions(self, n_new: int, attention_mask: Tensor | None = None) -> Tensor:
        if not self.n_tokens:
            return super().positions(n_new, attention_mask)
        model = self._weights.model()
        assert isinstance(model, Transformer)
        first = min(self.first_position(), model.block_size - n_new)
        return torch.arange(first, first + n_new)[None]


class FromZero(Misplacing):
    """Each call counts from 0, as if there were no cache."""

    def first_position(self) -> int:
        return 0


class OneFurther(Misplacing):
    """The new tokens leave one place free."""

    def first_position(self) -> int:
        return self.n_tokens + 1


class SetOnce(Misplacing):
    """The counter is set after the first call and never moved on: right for the second call, wrong from the third."""

    def positions(self, n_new: int, attention_mask: Tensor | None = None) -> Tensor:
        if not self.n_tokens:
            self.after_the_first_call = n_new
        return super().positions(n_new, attention_mask)

    def first_position(self) -> int:
        return self.after_the_first_call


class AtTopLeft(KVCache):
    """The triangle of a chunk behind cached tokens is aligned at the top left: the chunk sees the oldest keys only."""

    def mask(self, n_new: int, attention_mask: Tensor | None = None) -> Tensor | None:
        if not self.n_tokens or n_new == 1:
            return super().mask(n_new, attention_mask)
        return torch.ones(n_new, self.n_tokens + n_new, dtype=torch.bool).tril()[None, None]


class HidesNothing(KVCache):
    """The tokens of a chunk behind cached tokens see each other, later ones included."""

    def mask(self, n_new: int, attention_mask: Tensor | None = None) -> Tensor | None:
        if not self.n_tokens or n_new == 1:
            return super().mask(n_new, attention_mask)
        return torch.ones(1, 1, n_new, self.n_tokens + n_new, dtype=torch.bool)


class FedTwice(KVCache):
    """Remembers whether the prompt's last token was fed once more."""

    has_fed_twice = False


class WithoutFirst(KVCache):
    """The first token is counted and its place stays zero."""

    def append(self, layer: int, keys: Tensor, values: Tensor) -> tuple[Tensor, Tensor]:
        keys, values = super().append(layer, keys, values)
        if self.n_tokens == 0:
            keys[:, :, 0] = values[:, :, 0] = 0
        return keys, values


class KeysOfLayer0(KVCache):
    """Every layer reads the keys of layer 0, and its own values."""

    def append(self, layer: int, keys: Tensor, values: Tensor) -> tuple[Tensor, Tensor]:
        _, values = super().append(layer, keys, values)
        return self.store[0, 0].narrow(2, 0, values.shape[2]), values


class ShortKeys(KVCache):
    """Keys are kept in bfloat16, which has 8 bits for the number itself."""

    def append(self, layer: int, keys: Tensor, values: Tensor) -> tuple[Tensor, Tensor]:
        return super().append(layer, keys.bfloat16().to(keys.dtype), values)


class TrustsWeights(KVCache):
    """Old keys and values are used although the weights have changed."""

    def check(self, model: nn.Module, token_ids: Tensor) -> None:
        self._weights = Weights(model)
        super().check(model, token_ids)

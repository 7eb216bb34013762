"""A model as it computes when it is asked and not trained: without dropout and without gradients."""

import torch
from torch import nn


class eval_mode:
    """`with eval_mode(model):` switches every module to evaluation and gradients off; afterwards all is as it was.

    model: anything that can be called. What is not a torch module has no mode, and only the gradients are switched off.
    The object may be kept and entered again, also while it is entered: looking for the modules is what takes time.

    >>> layer = nn.Dropout()
    >>> with eval_mode(layer):
    ...     print(layer.training, torch.is_grad_enabled())
    False False
    >>> layer.training, torch.is_grad_enabled()
    (True, True)
    """

    def __init__(self, model: object):
        self._modules = list(model.modules()) if isinstance(model, nn.Module) else []
        self._before: list[tuple[list[nn.Module], bool]] = []

    def __enter__(self) -> None:
        training = [module for module in self._modules if module.training]
        self._before.append((training, torch.is_grad_enabled()))
        if torch.is_grad_enabled():
            torch.set_grad_enabled(False)
        for module in training:
            module.training = False

    def __exit__(self, *error: object) -> None:
        training, gradients = self._before.pop()
        if gradients:
            torch.set_grad_enabled(True)
        for module in training:
            module.training = True

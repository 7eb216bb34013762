"""Muon: an optimizer for the matrices inside a transformer.

PyTorch has one too, which computes in bfloat16. On a processor without bfloat16 units that costs more than all the rest
of a small model's step; this one computes in the parameters' own type.
"""

from collections.abc import Iterable

import torch
from torch import Tensor

COEFFICIENTS = (3.4445, -4.7750, 2.0315)


def orthogonalise(matrix: Tensor) -> Tensor:
    """Bring all singular values close to 1 (0.7 to 1.2), and keep the singular vectors: the same shape, (out, in).

    Five Newton-Schulz iterations of the quintic a x + b x³ + c x⁵; only those of 1e-3 of the norm and less lag behind.
    Source: Jordan et al. 2024, https://kellerjordan.github.io/posts/muon/
    """
    a, b, c = COEFFICIENTS
    tall = matrix.shape[0] > matrix.shape[1]
    x = matrix.T if tall else matrix  # the square below is then the smaller one
    x = x / (x.norm() + 1e-7)
    for _ in range(5):
        square = x @ x.T
        x = torch.addmm(x, torch.addmm(square, square, square, beta=b, alpha=c), x, beta=a)
    return x.T if tall else x


class Muon(torch.optim.Optimizer):
    """Momentum, orthogonalised: every direction of a matrix is learned at one pace, the rare ones too.

    params: matrices. The step has the root mean square of AdamW's usual one, 0.2 lr, so that both can share a learning
    rate (Liu et al. 2025, https://arxiv.org/abs/2502.16982).
    """

    def __init__(self, params: Iterable[Tensor], lr: float, momentum: float = 0.95, weight_decay: float = 0.0):
        super().__init__(params, {"lr": lr, "momentum": momentum, "weight_decay": weight_decay})

    @torch.no_grad()
    def step(self) -> None:  # type: ignore[override]  # no closure: the gradients are there already
        """One change of every parameter that has a gradient."""
        for group in self.param_groups:
            lr, momentum = group["lr"], group["momentum"]
            for parameter in group["params"]:
                if (gradient := parameter.grad) is None:
                    continue
                state = self.state[parameter]
                if not state:
                    state["momentum"] = torch.zeros_like(parameter)
                velocity = state["momentum"].mul_(momentum).add_(gradient)
                direction = orthogonalise(gradient.add(velocity, alpha=momentum))  # Nesterov's look ahead
                parameter.mul_(1 - lr * group["weight_decay"])
                parameter.add_(direction, alpha=-lr * 0.2 * max(parameter.shape) ** 0.5)

"""nn.Linear whose large products go to the faster library, forward and backward (`toolkit.nn.products`)."""

from typing import Any

import torch
from torch import Tensor, nn
from torch.autograd.function import once_differentiable

from toolkit.nn.products import BLOCK, in_blocks, linear, weights_grad


class Linear(nn.Linear):
    """It has the weights of nn.Linear, and gives what nn.Linear gives."""

    def forward(self, inputs: Tensor) -> Tensor:
        rows = inputs.numel() // self.in_features
        if rows < BLOCK or not in_blocks(rows, self.weight.numel(), self.weight):
            return super().forward(inputs)
        product: Tensor = _Linear.apply(inputs.reshape(rows, -1), self.weight, self.bias)  # type: ignore[no-untyped-call]
        return product.view(*inputs.shape[:-1], -1)


class _Linear(torch.autograd.Function):
    """inputs [M, K] · weight [N, K]ᵀ + bias [N]: [M, N]."""

    @staticmethod
    def forward(ctx: Any, inputs: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
        ctx.save_for_backward(inputs, weight)
        return linear(inputs[None], weight[None], None if bias is None else bias[None, None])[0]

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, ...]:
        inputs, weight = ctx.saved_tensors
        for_inputs, for_weight, for_bias = ctx.needs_input_grad
        to_inputs = linear(grad[None], weight.T[None])[0] if for_inputs else None
        to_weight = weights_grad(inputs[None], grad[None])[0] if for_weight else None
        return to_inputs, to_weight, grad.sum(0) if for_bias else None

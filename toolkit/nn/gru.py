"""A bidirectional GRU over packed texts, with a backward pass of its own.

nn.GRU on a CPU runs the two directions one after the other, starts some twenty kernels for every word and
direction, and adds up the gradient of the weights word by word. Here both directions take a step together
(the backward one reads each text from its end), a step back through time is four kernels, and the gradient of
the weights is one product over all words after the loop.

Shapes: N words in the order of `toolkit.nn.packing`, I inputs, H units, n texts that have a word in a step.
"""

from typing import Any

import torch
from torch import Tensor, nn
from torch.autograd.function import once_differentiable
from torch.nn.utils.rnn import PackedSequence

from toolkit.nn.packing import Packing
from toolkit.nn.products import linear, weights_grad

WEIGHTS = ("weight_ih", "weight_hh", "bias_ih", "bias_hh")  # of a direction


class Gru(nn.GRU):
    """One layer, both directions. It has the weights of nn.GRU, and gives what nn.GRU gives when packed."""

    def __init__(self, inputs: int, hidden: int) -> None:
        super().__init__(inputs, hidden, bidirectional=True)

    def forward(self, words: Tensor, packing: Packing) -> Tensor:  # type: ignore[override]
        """[N, I] → states [N, 2H], those of the two directions side by side."""
        if words.device.type != "cpu":
            return self.by_torch(words, packing)  # cuDNN is faster
        weights = [getattr(self, f"{name}_l0{suffix}") for suffix in ("", "_reverse") for name in WEIGHTS]
        states: Tensor = _BothDirections.apply(words, packing, *weights)  # type: ignore[no-untyped-call]
        return states

    def by_torch(self, words: Tensor, packing: Packing) -> Tensor:
        """`forward` by nn.GRU."""
        states: Tensor = super().forward(PackedSequence(words, torch.tensor(packing.sizes)))[0].data
        return states


class _BothDirections(torch.autograd.Function):
    """States [N, 2H] of words [N, I], with the WEIGHTS of both directions.

    Tensors inside are [2, N, …]: the backward direction is mirrored, so that in a step both directions work
    on the same texts. The gates r, z and n are named as in the documentation of nn.GRU; m is W_hn h + b_hn,
    which r scales.
    """

    @staticmethod
    def forward(ctx: Any, inputs: Tensor, packing: Packing, *weights: Tensor) -> Tensor:
        ahead, back = weights[: len(WEIGHTS)], weights[len(WEIGHTS) :]
        w_in, w_state, b_in, b_state = (torch.stack(pair) for pair in zip(ahead, back, strict=True))
        sizes, h = packing.sizes, w_state.shape[-1]
        words = torch.stack([inputs, inputs[packing.mirror]])
        gates = linear(words, w_in, b_in.unsqueeze(1))
        states, ms = inputs.new_empty(2, 2, len(inputs), h)
        room, b = inputs.new_empty(2 * sizes[0] * 3 * h), b_state.unsqueeze(1)
        of_steps = [each.split(sizes, 1) for each in (*gates.chunk(3, -1), gates[..., : 2 * h], ms, states)]
        state = inputs.new_zeros(2, sizes[0], h)
        for size, r, z, n, r_and_z, m, next_state in zip(sizes, *of_steps, strict=True):
            state = state[:, :size]
            new = linear(state, w_state, b, out=room[: 2 * size * 3 * h].view(2, size, 3 * h))
            r_and_z.add_(new[..., : 2 * h]).sigmoid_()
            n.addcmul_(r, m.copy_(new[..., 2 * h :])).tanh_()
            state = torch.lerp(n, state, z, out=next_state)
        ctx.save_for_backward(words, w_in, w_state, gates, ms, states)
        ctx.packing = packing
        return torch.cat([states[0], states[1, packing.mirror]], -1)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, ...]:
        words, w_in, w_state, gates, m, states = ctx.saved_tensors
        packing: Packing = ctx.packing
        sizes, mirror, h = packing.sizes, packing.mirror, w_state.shape[-1]
        before = states[:, packing.before]  # the states from which all but the first steps start
        r, z, n = gates.chunk(3, -1)
        # The gradient of a state times these is that of r, z and m, before sigmoid and tanh; likewise of n.
        factors = torch.empty_like(gates)
        of_r, of_z, of_m = factors.chunk(3, -1)
        of_n = (1 - z).mul_(torch.addcmul(n.new_ones(()), n, n, value=-1))
        torch.mul(of_n, r, out=of_m)
        torch.mul(of_m, m, out=of_r).mul_(1 - r)
        torch.neg(n, out=of_z)[:, sizes[0] :].add_(before)
        of_z.mul_(z).mul_(1 - z)
        grads = torch.stack([grad[:, :h], grad[mirror, h:]])
        to_gates = torch.empty_like(gates)
        back, room = w_state.transpose(1, 2).contiguous(), grad.new_empty(2 * sizes[0] * h)
        spread = [each.unflatten(-1, (3, h)).split(sizes, 1) for each in (factors, to_gates)]
        steps = zip(*spread, *(each.split(sizes, 1) for each in (to_gates, z, grads)), strict=True)
        later: tuple[Tensor, ...] = ()
        for factor, parts, whole, update, now in reversed(list(steps)):
            if later:
                size = later[0].shape[1]
                from_gates = linear(later[2], back, out=room[: 2 * size * h].view(2, size, h))
                now[:, :size].addcmul_(later[0], later[1]).add_(from_gates)
            torch.mul(factor, now.unsqueeze(2), out=parts)
            later = now, update, whole
        to_w_state = weights_grad(before, to_gates[:, sizes[0] :])
        to_b_state = to_gates.sum(1)
        # r scales m, but not what comes from the words.
        torch.mul(of_n, grads, out=to_gates[..., 2 * h :])
        to_w_in, to_b_in = weights_grad(words, to_gates), to_gates.sum(1)
        to_inputs = None
        if ctx.needs_input_grad[0]:
            of_ahead, of_back = linear(to_gates, w_in.transpose(1, 2))
            to_inputs = of_ahead + of_back[mirror]
        by_direction = zip(to_w_in, to_w_state, to_b_in, to_b_state, strict=True)
        return to_inputs, None, *(gradient for weights in by_direction for gradient in weights)

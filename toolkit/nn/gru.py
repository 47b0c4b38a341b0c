"""A bidirectional GRU over padded texts, with a backward pass of its own.

nn.GRU on a CPU runs the two directions one after the other, starts some twenty kernels for every word and
direction, and adds up the gradient of the weights word by word. Here both directions take a step together
(the backward one reads the text from its end), a step back through time is three kernels, and the gradient of
the weights is one product over all words after the loop.

Nothing is packed. A padded step has an update gate of exactly 1, so it changes nothing and passes its
gradient on: the forward direction carries its last state to the end, and the backward one comes to the text
with zeros.

Shapes: L words, B texts, I inputs, H units.
"""

from typing import Any

import torch
from torch import Tensor, nn
from torch.autograd.function import once_differentiable
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from toolkit.nn.products import linear, weights_grad

SHUT = 1e4  # as the input of the update gate: its sigmoid is exactly 1
WEIGHTS = ("weight_ih", "weight_hh", "bias_ih", "bias_hh")  # of a direction


class Gru(nn.GRU):
    """One layer, both directions. It has the weights of nn.GRU, and gives what nn.GRU gives when packed."""

    def __init__(self, inputs: int, hidden: int) -> None:
        super().__init__(inputs, hidden, bidirectional=True)

    def forward(self, inputs: Tensor, lengths: Tensor) -> tuple[Tensor, Tensor]:  # type: ignore[override]
        """[L, B, I] → states [L, B, 2H] and the last states [B, 2H], of the two directions side by side.

        States beyond the end of a text mean nothing.
        """
        if inputs.device.type != "cpu":
            return self.packed(inputs, lengths)  # cuDNN is faster
        padding = torch.arange(len(inputs)).unsqueeze(1) >= lengths
        weights = [getattr(self, f"{name}_l0{suffix}") for suffix in ("", "_reverse") for name in WEIGHTS]
        states: Tensor = _BothDirections.apply(inputs, padding, *weights)  # type: ignore[no-untyped-call]
        h = self.hidden_size
        return states, torch.cat([states[-1, :, :h], states[0, :, h:]], -1)

    def packed(self, inputs: Tensor, lengths: Tensor) -> tuple[Tensor, Tensor]:
        """`forward` by nn.GRU."""
        sequence = pack_padded_sequence(inputs, lengths.cpu(), enforce_sorted=False)
        packed, last = super().forward(sequence)
        return pad_packed_sequence(packed, total_length=len(inputs))[0], torch.cat([last[0], last[1]], -1)


class _BothDirections(torch.autograd.Function):
    """States [L, B, 2H] of inputs [L, B, I]; padding [L, B] and the WEIGHTS of both directions.

    Tensors inside are [2, L, B, …]: step t of the backward direction is at word L - 1 - t. The gates r, z and
    n are named as in the documentation of nn.GRU; m is W_hn h + b_hn, which r scales.
    """

    @staticmethod
    def forward(ctx: Any, inputs: Tensor, padding: Tensor, *weights: Tensor) -> Tensor:
        ahead, back = weights[: len(WEIGHTS)], weights[len(WEIGHTS) :]
        w_in, w_state, b_in, b_state = (torch.stack(pair) for pair in zip(ahead, back, strict=True))
        (length, size, _), h = inputs.shape, w_state.shape[-1]
        words = torch.stack([inputs, inputs.flip(0)]).flatten(1, 2)
        gates = linear(words, w_in, b_in.unsqueeze(1)).view(2, length, size, 3 * h)
        shut = torch.stack([padding, padding.flip(0)]).unsqueeze(-1)
        gates[..., h : 2 * h].masked_fill_(shut, SHUT)
        states = inputs.new_empty(2, length + 1, size, h)
        states[:, 0] = 0
        ms = inputs.new_empty(2, length, size, h)
        new, b = inputs.new_empty(2, size, 3 * h), b_state.unsqueeze(1)
        new_r_and_z, new_m = new[..., : 2 * h], new[..., 2 * h :]
        r, z, n = (part.unbind(1) for part in gates.chunk(3, -1))
        r_and_z, m, state = gates[..., : 2 * h].unbind(1), ms.unbind(1), states.unbind(1)
        for t in range(length):
            linear(state[t], w_state, b, out=new)
            r_and_z[t].add_(new_r_and_z).sigmoid_()
            n[t].addcmul_(r[t], m[t].copy_(new_m)).tanh_()
            torch.lerp(n[t], state[t], z[t], out=state[t + 1])
        ctx.save_for_backward(words, w_in, w_state, gates, ms, states)
        return torch.cat([states[0, 1:], states[1, 1:].flip(0)], -1)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, ...]:
        words, w_in, w_state, gates, m, states = ctx.saved_tensors
        length, size, h = gates.shape[1], gates.shape[2], w_state.shape[-1]
        r, z, n = gates.chunk(3, -1)
        # The gradient of a state times these is that of r, z and m, before sigmoid and tanh; likewise of n.
        factors = torch.empty_like(gates)
        of_r, of_z, of_m = factors.chunk(3, -1)
        of_n = (1 - z).mul_(torch.addcmul(n.new_ones(()), n, n, value=-1))
        torch.mul(of_n, r, out=of_m)
        torch.mul(of_m, m, out=of_r).mul_(1 - r)
        torch.sub(states[:, :-1], n, out=of_z).mul_(z).mul_(1 - z)
        grads = torch.stack([grad[..., :h], grad[..., h:].flip(0)], 1)  # [L, 2, B, H]
        to_gates = torch.empty_like(gates)
        steps = zip(
            factors.unflatten(-1, (3, h)).unbind(1),
            to_gates.unflatten(-1, (3, h)).unbind(1),
            to_gates.unbind(1),
            z.unbind(1),
            grads.unsqueeze(3).unbind(0),
            grads.unbind(0),
            strict=True,
        )
        back = w_state.transpose(1, 2).contiguous()
        later: tuple[Tensor, ...] = ()
        for factor, parts, whole, update, spread, now in reversed(list(steps)):
            if later:
                linear(later[2], back, now.addcmul_(later[0], later[1]), out=now)
            torch.mul(factor, spread, out=parts)
            later = now, update, whole
        flat = to_gates.view(2, length * size, 3 * h)
        to_w_state = weights_grad(states[:, :-1].flatten(1, 2), flat)
        to_b_state = flat.sum(1)
        # r scales m, but not what comes from the words.
        torch.mul(of_n, grads.transpose(0, 1), out=to_gates[..., 2 * h :])
        to_w_in, to_b_in = weights_grad(words, flat), flat.sum(1)
        to_inputs = None
        if ctx.needs_input_grad[0]:
            of_ahead, of_back = linear(flat, w_in.transpose(1, 2)).view(2, length, size, -1)
            to_inputs = of_ahead + of_back.flip(0)
        by_direction = zip(to_w_in, to_w_state, to_b_in, to_b_state, strict=True)
        return to_inputs, None, *(gradient for weights in by_direction for gradient in weights)

"""Matrix products on a CPU, by whichever of torch's two libraries is the faster one.

torch multiplies by MKL, which uses AVX-512 only on Intel's processors. oneDNN, which torch has for other
purposes, uses it on those of AMD too, where a large product takes half of the time. torch calls oneDNN by
itself for less precise numbers alone. `_linear_pointwise`, by which torch's compiler calls it, multiplies as
precisely as MKL does.

oneDNN writes code for each shape that it meets, which takes as long as a product, and a megabyte. Hardly two
batches have as many words, so it is given whole blocks of rows, and MKL those that are left. Less than a
block of rows comes in whole strips: the texts of a batch end one after the other.

What is given to whom depends on shapes and on the processor: the same machine always gives the same bits.
"""

from functools import cache
from pathlib import Path

import torch
from torch import Tensor

LARGE = 2**21  # multiplications of a product from which on calling oneDNN is worth it
BLOCK, STRIP = 256, 8  # rows
MKL_IS_BEST = "GenuineIntel"


def linear(inputs: Tensor, weights: Tensor, plus: Tensor | None = None, out: Tensor | None = None) -> Tensor:
    """inputs [D, M, K] · weights [D, N, K]ᵀ for each of D pairs, plus [D, 1 or M, N]: [D, M, N].

    `out` may be `plus`. Gradients do not flow through it.
    """
    rows, blocks = inputs.shape[1], in_blocks(inputs.shape[1], weights[0].numel(), inputs)
    if not blocks:
        return _mkl(inputs, weights, plus, out)
    out = inputs.new_empty(*inputs.shape[:2], weights.shape[1]) if out is None else out
    for i, place in enumerate(out):
        product = _onednn(inputs[i, :blocks], weights[i])
        if plus is None:
            place[:blocks] = product
        else:
            torch.add(product, plus[i, :blocks], out=place[:blocks])
    if blocks < rows:
        left = plus if plus is None or plus.shape[1] == 1 else plus[:, blocks:]
        _mkl(inputs[:, blocks:], weights, left, out[:, blocks:])
    return out


def weights_grad(inputs: Tensor, outputs: Tensor) -> Tensor:
    """The gradient [D, N, K] of weights, of inputs [D, M, K] and the gradient [D, M, N] of their products."""
    rows, blocks = inputs.shape[1], in_blocks(inputs.shape[1], outputs.shape[2] * inputs.shape[2], inputs)
    if not blocks:
        return outputs.transpose(1, 2) @ inputs
    pairs = zip(inputs[:, :blocks], outputs[:, :blocks], strict=True)
    total = torch.stack([_onednn(of_inputs.T, of_outputs.T).T for of_inputs, of_outputs in pairs])
    if blocks < rows:
        total.baddbmm_(outputs[:, blocks:].transpose(1, 2), inputs[:, blocks:])
    return total


def in_blocks(rows: int, weights: int, like: Tensor) -> int:
    """How many of so many rows go to oneDNN, to be multiplied with so many weights."""
    rows -= rows % (STRIP if rows < BLOCK else BLOCK)
    is_large = rows * weights >= LARGE
    is_float = like.dtype == torch.float32 and like.device.type == "cpu"
    return rows if is_large and is_float and is_onednn_faster() else 0


def _onednn(inputs: Tensor, weights: Tensor) -> Tensor:
    product: Tensor = torch.ops.mkldnn._linear_pointwise(inputs, weights, None, "none", [], "")
    return product


def _mkl(inputs: Tensor, weights: Tensor, plus: Tensor | None, out: Tensor | None) -> Tensor:
    if plus is None:
        return torch.bmm(inputs, weights.transpose(1, 2), out=out)
    return torch.baddbmm(plus, inputs, weights.transpose(1, 2), out=out)


@cache
def is_onednn_faster() -> bool:
    if torch.backends.cpu.get_cpu_capability() != "AVX512" or not torch.backends.mkldnn.is_available():
        return False
    described = Path("/proc/cpuinfo")
    is_known = described.is_file() and hasattr(torch.ops.mkldnn, "_linear_pointwise")
    return is_known and MKL_IS_BEST not in described.read_text(encoding="utf-8", errors="replace")

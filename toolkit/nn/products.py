"""Matrix products on a CPU, by whichever of torch's two libraries is the faster one.

torch multiplies by MKL, which uses AVX-512 only on Intel's processors. oneDNN, which torch has for other
purposes, uses it on those of AMD too, where a large product takes half of the time. torch calls oneDNN by
itself for less precise numbers alone. `_linear_pointwise`, by which torch's compiler calls it, multiplies as
precisely as MKL does.

The choice depends on the processor and on the shapes, so the same machine always gives the same bits.
"""

from functools import cache
from pathlib import Path

import torch
from torch import Tensor

LARGE = 2**21  # multiplications of a product from which on calling oneDNN is worth it
MKL_IS_BEST = "GenuineIntel"


def linear(inputs: Tensor, weights: Tensor, plus: Tensor | None = None, out: Tensor | None = None) -> Tensor:
    """inputs [D, M, K] · weights [D, N, K]ᵀ for each of D pairs, plus [D, 1 or M, N]: [D, M, N].

    `out` may be `plus`. Gradients do not flow through it.
    """
    if not is_for_onednn(inputs.shape[1], weights):
        weights = weights.transpose(1, 2)
        if plus is None:
            return torch.bmm(inputs, weights, out=out)
        return torch.baddbmm(plus, inputs, weights, out=out)
    each = [_onednn(*pair) for pair in zip(inputs.unbind(), weights.unbind(), strict=True)]
    if plus is None:
        return torch.stack(each, out=out)
    out = inputs.new_empty(len(inputs), *each[0].shape) if out is None else out
    for product, added, place in zip(each, plus.unbind(), out.unbind(), strict=True):
        torch.add(product, added, out=place)
    return out


def _onednn(inputs: Tensor, weights: Tensor) -> Tensor:
    product: Tensor = torch.ops.mkldnn._linear_pointwise(inputs, weights, None, "none", [], "")
    return product


def is_for_onednn(rows: int, weights: Tensor) -> bool:
    """Whether a product of so many rows with weights [N, K] takes less time there."""
    return (
        rows * weights.shape[-2] * weights.shape[-1] >= LARGE
        and weights.dtype == torch.float32
        and weights.device.type == "cpu"
        and is_onednn_faster()
    )


@cache
def is_onednn_faster() -> bool:
    if torch.backends.cpu.get_cpu_capability() != "AVX512" or not torch.backends.mkldnn.is_available():
        return False
    described = Path("/proc/cpuinfo")
    is_known = described.is_file() and hasattr(torch.ops.mkldnn, "_linear_pointwise")
    return is_known and MKL_IS_BEST not in described.read_text(encoding="utf-8", errors="replace")

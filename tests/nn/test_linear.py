import pytest
import torch
from torch import nn

from toolkit.nn import linear, products
from toolkit.nn.linear import Linear


@pytest.mark.parametrize("onednn", [False, True])
@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize("shape", [(3, 40), (16, 40), (32, 40), (5, 8, 40)])
def test_it_gives_what_the_layer_of_torch_gives(shape, bias, onednn, monkeypatch):
    monkeypatch.setattr(products, "LARGE", 16 * 40 * 72)
    monkeypatch.setattr(products, "BLOCK", 16)
    monkeypatch.setattr(linear, "BLOCK", 16)
    monkeypatch.setattr(products, "is_onednn_faster", lambda: onednn)
    torch.manual_seed(0)
    ours, theirs = Linear(40, 72, bias=bias), nn.Linear(40, 72, bias=bias)
    theirs.load_state_dict(ours.state_dict())
    given = torch.randn(shape)
    weights = torch.randn(*shape[:-1], 72)
    found = []
    for layer in (ours, theirs):
        inputs = given.clone().requires_grad_()
        outputs = layer(inputs)
        (outputs * weights).sum().backward()
        found.append([outputs, inputs.grad, *(parameter.grad for parameter in layer.parameters())])
    for one, other in zip(*found, strict=True):
        torch.testing.assert_close(one, other, rtol=1e-4, atol=1e-4)


def test_a_frozen_layer_passes_gradients_on(monkeypatch):
    monkeypatch.setattr(products, "LARGE", 1)
    monkeypatch.setattr(linear, "BLOCK", 1)
    monkeypatch.setattr(products, "is_onednn_faster", lambda: True)
    torch.manual_seed(0)
    layer = Linear(4, 5).requires_grad_(False)
    inputs = torch.randn(3, 4, requires_grad=True)
    layer(inputs).sum().backward()
    torch.testing.assert_close(inputs.grad, layer.weight.sum(0).expand(3, 4))
    assert layer.weight.grad is None

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.nn.utils.rnn import pack_padded_sequence

from toolkit.nn import products
from toolkit.nn.dropout import Dropout
from toolkit.nn.encoder import Encoder
from toolkit.nn.gru import Gru
from toolkit.nn.packing import Packing


def outputs_and_gradients(gru, run, words, packing):
    """What `run` gives, and the gradients of a loss that reads all of it."""
    words = words.clone().requires_grad_()
    gru.zero_grad()
    states = run(words, packing)
    weights = torch.cos(torch.arange(states.numel(), dtype=states.dtype)).view_as(states)
    (states * weights + states * states).sum().backward()
    return [states.detach(), words.grad, *(weight.grad for weight in gru.parameters())]


@given(
    st.lists(st.integers(1, 9), min_size=1, max_size=6),
    st.integers(1, 5),
    st.integers(1, 7),
    st.integers(0, 99),
)
def test_it_gives_what_a_packed_gru_gives(lengths, inputs, hidden, seed):
    torch.manual_seed(seed)
    gru, packing = Gru(inputs, hidden), Packing.of(torch.tensor(lengths), max(lengths) + seed % 3)
    words = torch.randn(sum(lengths), inputs)
    found = outputs_and_gradients(gru, gru.forward, words, packing)
    expected = outputs_and_gradients(gru, gru.by_torch, words, packing)
    for ours, theirs in zip(found, expected, strict=True):
        torch.testing.assert_close(ours, theirs, rtol=1e-5, atol=1e-5)


@given(st.lists(st.integers(1, 9), min_size=1, max_size=6), st.integers(0, 2))
def test_texts_are_packed_as_torch_packs_them(lengths, more):
    longest = max(lengths) + more
    texts = torch.arange(len(lengths) * longest).view(len(lengths), longest) + 1.0
    texts[torch.arange(longest) >= torch.tensor(lengths).unsqueeze(1)] = 0
    packing = Packing.of(torch.tensor(lengths), longest)
    words = packing.pack(texts)
    theirs = pack_padded_sequence(texts.t(), torch.tensor(lengths), enforce_sorted=False)
    assert packing.sizes == theirs.batch_sizes.tolist()
    assert torch.equal(words, theirs.data)
    assert torch.equal(packing.pad(words, longest), texts)
    assert torch.equal(words[packing.first], texts[:, 0])
    assert torch.equal(words[packing.last], texts[range(len(lengths)), [length - 1 for length in lengths]])
    assert torch.equal(packing.mirror[packing.mirror], torch.arange(len(words)))
    turned = packing.pad(words[packing.mirror], longest)
    for row, length in enumerate(lengths):
        assert torch.equal(turned[row, :length], texts[row, :length].flip(0))
    assert torch.equal(words[packing.before], words[len(lengths) :] - 1)  # they are numbered one by one


@pytest.mark.parametrize("size", [64, 300])  # a step is some strips of rows, or one block and a rest
@pytest.mark.parametrize("onednn", [False, True])
def test_large_products_of_either_library_give_what_a_packed_gru_gives(onednn, size, monkeypatch):
    monkeypatch.setattr(products, "is_onednn_faster", lambda: onednn)
    torch.manual_seed(0)
    gru, lengths = Gru(96, 128), torch.randint(1, 5, (size,))
    packing = Packing.of(lengths, 5)
    assert packing.sizes[0] * 3 * 128 * 128 >= products.LARGE and products.BLOCK < 300
    words = torch.randn(int(lengths.sum()), 96)
    found = outputs_and_gradients(gru, gru.forward, words, packing)
    expected = outputs_and_gradients(gru, gru.by_torch, words, packing)
    for ours, theirs in zip(found, expected, strict=True):
        torch.testing.assert_close(ours, theirs, rtol=1e-4, atol=1e-4)


def test_gradients_are_those_of_finite_differences():
    torch.manual_seed(0)
    gru, packing = Gru(3, 4).double(), Packing.of(torch.tensor([5, 1, 4, 2]), 5)
    words = torch.randn(12, 3, dtype=torch.double, requires_grad=True)
    names = [name for name, _ in gru.named_parameters()]

    def run(words, *weights):
        return torch.func.functional_call(gru, dict(zip(names, weights, strict=True)), (words, packing))

    assert torch.autograd.gradcheck(run, (words, *gru.parameters()))


def test_padding_changes_nothing():
    torch.manual_seed(0)
    encoder = Encoder(20, 5, 6, 2, 0.3).eval()
    tokens, lengths = torch.randint(2, 20, (3, 7)), torch.tensor([7, 2, 4])
    tokens[torch.arange(7) >= lengths.unsqueeze(1)] = 0
    states, last = encoder(tokens, tokens > 10, lengths)
    for row, length in enumerate(lengths.tolist()):
        own = tokens[row : row + 1, :length]
        alone, last_alone = encoder(own, own > 10, torch.tensor([length]))
        torch.testing.assert_close(states[row, :length], alone[0], rtol=1e-5, atol=1e-6)
        torch.testing.assert_close(last[row], last_alone[0], rtol=1e-5, atol=1e-6)


def test_dropout_drops_its_share_and_keeps_the_mean():
    torch.manual_seed(0)
    dropout = Dropout(0.3)
    values = torch.ones(400, 500)
    once, again = dropout(values), dropout(values)
    assert abs(float((once == 0).float().mean()) - 0.3) < 0.01
    assert abs(float(once.mean()) - 1) < 0.01
    assert not once.equal(again)
    assert dropout.eval()(values) is values


def test_dropout_that_is_off_for_a_while_goes_on_with_the_same_mask():
    dropout, values = Dropout(0.5), torch.ones(1_000)

    def epoch(pause):
        dropout.train()
        torch.manual_seed(0)
        first = dropout(values)
        if pause:
            with dropout.off():
                assert dropout(values) is values
        return first, dropout(values)

    for once, again in zip(epoch(True), epoch(False), strict=True):
        assert once.equal(again)


def test_dropout_of_an_epoch_depends_on_its_seed_alone():
    dropout, values = Dropout(0.5), torch.ones(1_000)

    def epoch(seed, steps):
        dropout.train()
        torch.manual_seed(seed)
        return [dropout(values) for _ in range(steps)]

    first = epoch(1, 3)
    epoch(2, 5)
    for once, again in zip(first, epoch(1, 3), strict=True):
        assert once.equal(again)

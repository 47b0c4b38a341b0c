"""The encoder that is pretrained, against torch's own layers."""

import pytest
import torch
from pretrained import HEADS, INNER, LAYERS, UNITS, save_bert
from safetensors.torch import load_file, save_file
from torch import nn

from toolkit.data.vocabulary import pretrained_vocabulary
from toolkit.errors import WarmkitError
from toolkit.nn.bert import Bert, load_pretrained
from toolkit.nn.pretrained import read_pretrained

PIECES = ("1", "cats", "##s", "and")


def loaded(folder, dropout=0.0):
    vocabulary = pretrained_vocabulary(folder)
    network = Bert(len(vocabulary), read_pretrained(str(folder)), 5, dropout).eval()
    load_pretrained(network, folder, vocabulary.words)
    return network, vocabulary


def reference(folder, pieces):
    """What torch's own encoder makes of these rows of the file's embeddings [L, U]."""
    weights = load_file(folder / "model.safetensors")
    layer = nn.TransformerEncoderLayer(
        UNITS, HEADS, INNER, dropout=0.0, activation="gelu", layer_norm_eps=1e-12, batch_first=True
    )
    encoder = nn.TransformerEncoder(layer, LAYERS, enable_nested_tensor=False).eval()
    for i, one in enumerate(encoder.layers):
        of_layer = {
            name.removeprefix(f"encoder.layer.{i}."): tensor
            for name, tensor in weights.items()
            if name.startswith(f"encoder.layer.{i}.")
        }
        joined = {
            f"self_attn.in_proj_{part}": torch.cat(
                [of_layer[f"attention.self.{name}.{part}"] for name in ("query", "key", "value")]
            )
            for part in ("weight", "bias")
        }
        names = {
            "self_attn.out_proj": "attention.output.dense",
            "norm1": "attention.output.LayerNorm",
            "linear1": "intermediate.dense",
            "linear2": "output.dense",
            "norm2": "output.LayerNorm",
        }
        parts = ("weight", "bias")
        one.load_state_dict(
            joined
            | {f"{ours}.{p}": of_layer[f"{theirs}.{p}"] for ours, theirs in names.items() for p in parts}
        )
    embedded = weights["embeddings.word_embeddings.weight"][pieces]
    embedded = embedded + weights["embeddings.position_embeddings.weight"][: len(pieces)]
    embedded = embedded + weights["embeddings.token_type_embeddings.weight"][0]
    norm = [weights[f"embeddings.LayerNorm.{part}"] for part in ("weight", "bias")]
    with torch.no_grad():
        return encoder(nn.functional.layer_norm(embedded, (UNITS,), *norm, 1e-12).unsqueeze(0))[0]


@pytest.mark.parametrize("prefix", ["", "bert."])
def test_it_computes_what_a_bert_computes_and_a_number_starts_as_a_digit(tmp_path, prefix):
    folder = save_bert(tmp_path / "bert", PIECES, prefix)
    network, vocabulary = loaded(folder)
    tokens = torch.tensor([vocabulary.encode(["[CLS]", "<num_0>", "cats", "##s", "nothing", "[SEP]"])])
    with torch.no_grad():
        states, text = network(tokens, tokens == 0, torch.tensor([6]))
    expected = reference(save_bert(tmp_path / "plain", PIECES), [2, 4, 5, 6, 1, 3])
    torch.testing.assert_close(states[0], network.out(expected), atol=1e-5, rtol=1e-4)
    torch.testing.assert_close(text[0], states[0, 0])


def test_padding_changes_nothing_and_a_long_text_is_read_too(tmp_path):
    network, vocabulary = loaded(save_bert(tmp_path, PIECES))
    row = vocabulary.encode(["[CLS]", "cats", "[SEP]"])
    padded = torch.tensor([row + [0] * 60, (row * 21)])
    with torch.no_grad():
        together, _ = network(padded, padded == 0, torch.tensor([3, 63]))
        alone, _ = network(padded[:1, :3], padded[:1, :3] == 0, torch.tensor([3]))
    torch.testing.assert_close(together[:1, :3], alone, atol=1e-5, rtol=1e-4)
    assert bool(together.isfinite().all())


def test_what_is_pretrained_is_all_but_the_way_out(tmp_path):
    network, _ = loaded(save_bert(tmp_path, PIECES))
    new = {
        name
        for name, tensor in network.named_parameters()
        if all(tensor is not p for p in network.pretrained())
    }
    assert new == {"out.weight", "out.bias"}


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"model_type": "roberta"}, "only a BERT with gelu and absolute positions can be read"),
        ({"hidden_act": "relu"}, "only a BERT with gelu"),
        ({"hidden_size": 9}, "9 units can't be shared by 2 heads"),
        ({"num_hidden_layers": None}, "num_hidden_layers: "),
        ({"num_hidden_layers": 10**9}, "num_hidden_layers: "),
    ],
)
def test_an_encoder_of_another_kind_is_refused(tmp_path, changes, sentence):
    save_bert(tmp_path, PIECES, **changes)
    with pytest.raises(WarmkitError, match=sentence):
        read_pretrained(str(tmp_path))


def test_a_folder_without_its_files_is_refused(tmp_path):
    with pytest.raises(WarmkitError, match="there is no such folder"):
        read_pretrained(str(tmp_path / "none"))
    with pytest.raises(WarmkitError, match=r"config.json: there is no such file"):
        read_pretrained(str(tmp_path))
    folder = save_bert(tmp_path, PIECES)
    (folder / "model.safetensors").rename(folder / "pytorch_model.bin")
    with pytest.raises(WarmkitError, match="save the model again as safetensors"):
        read_pretrained(str(folder))
    (folder / "config.json").write_text("[")
    with pytest.raises(WarmkitError, match="it does not describe a BERT"):
        read_pretrained(str(folder))


def test_weights_that_do_not_fit_are_refused(tmp_path):
    folder = save_bert(tmp_path, PIECES)
    (folder / "vocab.txt").write_text("[PAD]\n[UNK]\n[CLS]\n[SEP]\n1\n")
    with pytest.raises(WarmkitError, match=r"it knows 8 pieces, vocab.txt 5"):
        loaded(folder)
    save_bert(tmp_path, PIECES, intermediate_size=6)
    with pytest.raises(WarmkitError, match="not the weights that its description tells of"):
        loaded(folder)
    save_bert(tmp_path, PIECES)
    weights = load_file(folder / "model.safetensors")
    del weights["encoder.layer.1.output.dense.weight"]
    save_file(weights, folder / "model.safetensors")
    with pytest.raises(WarmkitError, match=r"encoder.layer.1.output.dense.weight"):
        loaded(folder)

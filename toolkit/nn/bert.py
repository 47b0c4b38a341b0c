"""A BERT (Devlin et al. 2019) as the encoder of a solver: pretrained elsewhere, trained further here.

Words are pieces (`toolkit.data.wordpieces`). The numbers of a text are masked, as for every solver: a number
is a piece of its own, which starts as a digit does, with what is added of how it is written and its rank.

Shapes: B texts, L pieces, H units of the solver, U of the encoder.
"""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

import torch
from torch import Tensor, nn
from torch.nn import functional

from toolkit.data.vocabulary import PAD, UNKNOWN
from toolkit.data.wordpieces import PADDING, UNKNOWN_PIECE, VOCABULARY, read_pieces
from toolkit.errors import WarmkitError
from toolkit.nn.dropout import Dropout
from toolkit.nn.pretrained import WEIGHTS, PretrainedEncoder
from toolkit.nn.weights import load_weights

DIGIT = "1"  # what a number starts as
PREFIX = re.compile(r"^bert\.")  # of weights that were saved with a head
NAMES = {  # ours: those of the file
    "words": "embeddings.word_embeddings",
    "positions": "embeddings.position_embeddings",
    "norm": "embeddings.LayerNorm",
}
LAYER_NAMES = {
    "query": "attention.self.query",
    "key": "attention.self.key",
    "value": "attention.self.value",
    "attended": "attention.output.dense",
    "norm_attended": "attention.output.LayerNorm",
    "inner": "intermediate.dense",
    "outer": "output.dense",
    "norm_outer": "output.LayerNorm",
}
SEGMENT = "embeddings.token_type_embeddings.weight"  # a text is one segment: the first


class BertLayer(nn.Module):
    def __init__(self, size: PretrainedEncoder) -> None:
        super().__init__()
        u = size.hidden
        self.heads = size.heads
        self.query, self.key, self.value = nn.Linear(u, u), nn.Linear(u, u), nn.Linear(u, u)
        self.attended, self.norm_attended = nn.Linear(u, u), nn.LayerNorm(u, size.epsilon)
        self.inner, self.outer = nn.Linear(u, size.inner), nn.Linear(size.inner, u)
        self.norm_outer = nn.LayerNorm(u, size.epsilon)
        self.dropout = Dropout(size.dropout)

    def forward(self, states: Tensor, is_word: Tensor) -> Tensor:
        """[B, L, U]; is_word [B, L] is False beyond the end of a text."""
        asked = (part(states).unflatten(-1, (self.heads, -1)) for part in (self.query, self.key, self.value))
        query, key, value = (part.transpose(1, 2) for part in asked)
        mask = is_word[:, None, None, :]
        context = functional.scaled_dot_product_attention(query, key, value, attn_mask=mask)
        context = self.attended(context.transpose(1, 2).flatten(2))
        states = self.norm_attended(states + self.dropout(context))
        inner = self.outer(functional.gelu(self.inner(states)))
        out: Tensor = self.norm_outer(states + self.dropout(inner))
        return out


class Bert(nn.Module):
    """Called as `toolkit.nn.encoder.Encoder` is."""

    def __init__(self, words: int, size: PretrainedEncoder, hidden: int, dropout: float) -> None:
        super().__init__()
        self.words = nn.Embedding(words, size.hidden, padding_idx=0)
        self.positions = nn.Embedding(size.positions, size.hidden)
        self.norm = nn.LayerNorm(size.hidden, size.epsilon)
        self.layers = nn.ModuleList(BertLayer(size) for _ in range(size.layers))
        self.out = nn.Linear(size.hidden, hidden)  # it is new, and not pretrained
        self.dropout, self.drop_out = Dropout(size.dropout), Dropout(dropout)

    def forward(
        self, tokens: Tensor, is_number: Tensor, lengths: Tensor, features: Tensor | None = None
    ) -> tuple[Tensor, Tensor]:
        """[B, L] → states [B, L, H] and that of the whole text [B, H], which is at its first piece."""
        at = torch.arange(tokens.shape[1], device=tokens.device)
        words = self.words(tokens) + self.positions(at.clamp(max=self.positions.num_embeddings - 1))
        states = self.dropout(self.norm(words if features is None else words + features))
        is_word = at < lengths.unsqueeze(1)
        for layer in self.layers:
            states = layer(states, is_word)
        read = self.out(self.drop_out(states))
        return read, read[:, 0]

    def pretrained(self) -> list[nn.Parameter]:
        """What a training begins with, and changes slowly."""
        new = set(self.out.parameters())
        return [parameter for parameter in self.parameters() if parameter not in new]


def load_pretrained(network: Bert, folder: Path, words: Sequence[str]) -> None:
    """Give a network the weights of an encoder; `words` are those of the vocabulary that reads for it."""
    path = folder / WEIGHTS
    weights = {PREFIX.sub("", name): tensor.float() for name, tensor in load_weights(path).items()}
    row = {piece: i for i, piece in enumerate(read_pieces(folder))}
    names = {PAD: PADDING, UNKNOWN: UNKNOWN_PIECE}
    rows = [row.get(names.get(word, word), row.get(DIGIT, row[UNKNOWN_PIECE])) for word in words]
    ours: dict[str, Tensor] = {}
    try:
        for name, theirs in NAMES.items():
            ours |= _renamed(weights, theirs, name)
        for i in range(len(network.layers)):
            for name, theirs in LAYER_NAMES.items():
                ours |= _renamed(weights, f"encoder.layer.{i}.{theirs}", f"layers.{i}.{name}")
        if len(ours["words.weight"]) != len(row):
            raise WarmkitError(
                f"{path}: it knows {len(ours['words.weight'])} pieces, {VOCABULARY} {len(row)}."
            )
        ours["words.weight"] = ours["words.weight"][rows]
        ours["positions.weight"] = ours["positions.weight"] + weights[SEGMENT][0]
        missing = network.load_state_dict(ours, strict=False).missing_keys
    except (KeyError, RuntimeError, IndexError) as error:  # torch: other shapes
        first = str(error).strip().splitlines()[-1].strip()
        raise WarmkitError(
            f"{path}: these are not the weights that its description tells of: {first}"
        ) from None
    assert {name.partition(".")[0] for name in missing} == {"out"}


def _renamed(weights: Mapping[str, Tensor], theirs: str, ours: str) -> dict[str, Tensor]:
    """The weight of a module, and its bias if it has one."""
    found = {f"{ours}.weight": weights[f"{theirs}.weight"]}
    return found | ({f"{ours}.bias": weights[f"{theirs}.bias"]} if f"{theirs}.bias" in weights else {})

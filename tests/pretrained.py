"""A BERT as published ones are saved, but tiny and with random weights."""

import json
from collections.abc import Sequence
from pathlib import Path

import torch
from safetensors.torch import save_file

UNITS, INNER, LAYERS, HEADS = 8, 12, 2, 2
SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]")
CONFIG = {
    "model_type": "bert",
    "hidden_act": "gelu",
    "hidden_size": UNITS,
    "num_hidden_layers": LAYERS,
    "num_attention_heads": HEADS,
    "intermediate_size": INNER,
    "max_position_embeddings": 40,
    "layer_norm_eps": 1e-12,
    "hidden_dropout_prob": 0.1,
}


def save_bert(folder: Path, pieces: Sequence[str], prefix: str = "", **changes: object) -> Path:
    """`prefix` is that of all names; `changes` are of config.json."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "config.json").write_text(json.dumps(CONFIG | changes))
    (folder / "vocab.txt").write_text("\n".join((*SPECIAL, *pieces)) + "\n")
    generator = torch.Generator().manual_seed(3)
    rows = {"word": len(SPECIAL) + len(pieces), "position": 40, "token_type": 2}
    shapes = {f"embeddings.{name}_embeddings.weight": (count, UNITS) for name, count in rows.items()}
    linear = {"attention.output.dense": (UNITS, UNITS), "intermediate.dense": (INNER, UNITS)}
    linear |= {f"attention.self.{name}": (UNITS, UNITS) for name in ("query", "key", "value")}
    linear |= {"output.dense": (UNITS, INNER)}
    norms = ["embeddings.LayerNorm"]
    for layer in (f"encoder.layer.{i}." for i in range(LAYERS)):
        shapes |= {f"{layer}{name}.weight": shape for name, shape in linear.items()}
        shapes |= {f"{layer}{name}.bias": shape[:1] for name, shape in linear.items()}
        norms += [f"{layer}attention.output.LayerNorm", f"{layer}output.LayerNorm"]
    shapes |= {f"{name}.{part}": (UNITS,) for name in norms for part in ("weight", "bias")}
    weights = {name: torch.randn(shape, generator=generator) for name, shape in shapes.items()}
    weights |= {"pooler.dense.weight": torch.zeros(UNITS, UNITS), "pooler.dense.bias": torch.zeros(UNITS)}
    save_file({prefix + name: tensor for name, tensor in weights.items()}, folder / "model.safetensors")
    return folder

"""A pretrained encoder in a folder of this machine: its sizes. `toolkit.nn.bert` is the network."""

import json
from pathlib import Path
from typing import Any, Self

from pydantic import Field, ValidationError, model_validator

from toolkit.config import Section
from toolkit.errors import WarmkitError
from toolkit.storage.files import read_text

DESCRIPTION, WEIGHTS = "config.json", "model.safetensors"
NAMES = {  # of the sizes, in config.json
    "hidden": "hidden_size",
    "layers": "num_hidden_layers",
    "heads": "num_attention_heads",
    "inner": "intermediate_size",
    "positions": "max_position_embeddings",
    "epsilon": "layer_norm_eps",
    "dropout": "hidden_dropout_prob",
}


class PretrainedEncoder(Section):
    """The sizes of a BERT (Devlin et al. 2019). A solver that was saved needs them, not the folder."""

    folder: str
    hidden: int = Field(ge=1, le=16_384)
    layers: int = Field(ge=1, le=200)
    heads: int = Field(ge=1, le=1_024)
    inner: int = Field(ge=1, le=65_536)
    positions: int = Field(ge=1, le=1_000_000)
    epsilon: float = Field(ge=0, le=1)
    dropout: float = Field(ge=0, lt=1)

    @model_validator(mode="after")
    def heads_share_the_units(self) -> Self:
        if self.hidden % self.heads:
            raise ValueError(f"{self.hidden} units can't be shared by {self.heads} heads")
        return self


def read_pretrained(folder: str) -> PretrainedEncoder:
    """The encoder in a folder, as Hugging Face's libraries save a BertModel."""
    path = Path(folder) / DESCRIPTION
    if not Path(folder).is_dir():
        raise WarmkitError(f"{folder}: there is no such folder. It must have the files of a BERT.")
    try:
        written: dict[str, Any] = json.loads(read_text(path))
        kind = written["model_type"], written.get("hidden_act"), written.get("position_embedding_type")
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        raise WarmkitError(f"{path}: it does not describe a BERT.") from None
    if kind[0] != "bert" or kind[1] != "gelu" or kind[2] not in (None, "absolute"):
        raise WarmkitError(f"{path}: only a BERT with gelu and absolute positions can be read, not {kind}.")
    if not (Path(folder) / WEIGHTS).exists():
        raise WarmkitError(
            f"{Path(folder) / WEIGHTS}: there is no such file. Weights in other formats may run code when "
            "they are read: save the model again as safetensors."
        )
    try:
        return PretrainedEncoder(folder=folder, **{name: written.get(key) for name, key in NAMES.items()})
    except ValidationError as error:
        problem = error.errors()[0]
        key = "".join(f"{NAMES[str(name)]}: " for name in problem["loc"])
        raise WarmkitError(f"{path}: {key}{problem['msg']}.") from None

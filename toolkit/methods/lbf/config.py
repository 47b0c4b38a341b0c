"""Every number of learning by fixing as a key. configs/paper/lbf.yaml has the published values."""

from typing import Literal

from pydantic import Field

from toolkit.config import Section


class LbfConfig(Section):
    """LBF; "published" is what Hong et al. (2021) say, or what their program has where they say nothing."""

    embedding: int = Field(128, ge=1, le=4_096)
    hidden: int = Field(128, ge=1, le=4_096, description="published: 512")
    layers: int = Field(2, ge=1, le=16)
    number_features: bool = Field(True, description="numbers are read with kind and rank; published: no")
    repeat_features: bool = Field(
        True, description="a word is read with whether it comes before or again; published: no"
    )
    dropout: float = Field(0.3, ge=0, lt=1, description="published: 0.5")
    operators: str = Field("+-*/^", pattern=r"^[-+*/^]+$")
    max_tokens: int = Field(31, ge=3, le=1_000, description="longest prefix; published: 45")
    fixes: int = Field(50, ge=1, le=100_000, description="m of m-FIX: trees that are tried; 1: 1-FIX alone")
    memory: Literal["buffer", "fresh"] = Field(
        "fresh", description="learn the fix of this epoch, or all that a problem ever had (published: buffer)"
    )
    beam: int = Field(5, ge=1, le=1_000, description="beams of the solver")
    epochs: int = Field(50, ge=1, le=1_000_000, description="published: 100")
    batch: int = Field(64, ge=1, le=1_000_000)
    lr: float = Field(1e-3, gt=0, le=100)
    lr_decay: float = Field(0.5, gt=0, le=1)
    lr_decay_every: int = Field(20, ge=1, le=1_000_000, description="epochs")
    weight_decay: float = Field(1e-5, ge=0, le=100)
    clip: float = Field(5.0, gt=0, le=1e9, description="largest norm of the gradient; published: none")
    min_count: int = Field(2, ge=1, le=1_000_000_000, description="rarer words are unknown; published: 5")
    joined: int = Field(
        5,
        ge=0,
        le=1_000_000_000,
        description="words of several Chinese characters are learnt that are seen so often; 0: none",
    )

    # What the network asks for besides.

    @property
    def decoder_dropout(self) -> float:
        return self.dropout

    @property
    def encoder(self) -> None:
        return None

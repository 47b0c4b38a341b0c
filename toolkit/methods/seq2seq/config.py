"""Every number of the seq2seq baseline as a key."""

from pydantic import Field

from toolkit.config import Section


class Seq2SeqConfig(Section):
    """The Seq2Seq Baseline; the optimiser is that of the paper (section 5.3)."""

    embedding: int = Field(128, ge=1, le=4_096)
    hidden: int = Field(128, ge=1, le=4_096, description="paper: 512")
    layers: int = Field(2, ge=1, le=16)
    dropout: float = Field(0.3, ge=0, lt=1, description="paper: 0.5")
    beams: int = Field(5, ge=1, le=1_000, description="w, in exploration")
    epochs: int = Field(40, ge=1, le=1_000_000, description="paper: 200")
    batch: int = Field(128, ge=1, le=1_000_000, description="paper: 256")
    lr: float = Field(1e-3, gt=0, le=100)
    lr_decay: float = Field(0.7, gt=0, le=1)
    lr_decay_every: int = Field(75, ge=1, le=1_000_000)
    weight_decay: float = Field(1e-5, ge=0, le=100)
    clip: float = Field(5.0, gt=0, le=1e9)
    penalty: float = Field(
        0.01, ge=0, le=1_000, description="weight of the reward -1; training works up to 0.05"
    )
    min_count: int = Field(2, ge=1, le=1_000_000_000, description="rarer words are unknown")
    joined: int = Field(
        5,
        ge=0,
        le=1_000_000_000,
        description="words of several Chinese characters are learnt that are seen so often; 0: none",
    )

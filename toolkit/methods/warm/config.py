"""Every number of step one as a key. The defaults are warmkit's; configs/paper has the paper's values.

If a default departs from the paper, its key says so, and `bench/warm.py --ablation` shows what it gains.
"""

from pydantic import Field

from toolkit.config import Section


class ModelConfig(Section):
    """The policy (paper, sections 4.2 and 4.3)."""

    embedding: int = Field(128, ge=1, le=4_096)
    hidden: int = Field(
        128, ge=1, le=4_096, description="paper: 512; a quarter learns as well and eight times as fast"
    )
    layers: int = Field(2, ge=1, le=16)
    dropout: float = Field(0.3, ge=0, lt=1, description="paper: 0.5")
    operators: str = Field("+-*/", pattern=r"^[-+*/^]+$")
    max_steps: int = Field(8, ge=1, le=30, description="longest path; paper: 15")
    pointer: bool = Field(True, description="operands are known by their position in the text; paper: no")
    pairs: int = Field(
        32, ge=0, le=1_024, description="rank of the interaction of left and right operand; paper: 0"
    )
    habits: bool = Field(
        True, description="learnt biases against using an operand again or a constant; paper: no"
    )
    stop: bool = Field(True, description="a learnt chance to stop, so that unused numbers count; paper: no")


class ExploreConfig(Section):
    """Beam exploration (paper, section 4.5)."""

    beam_exploration: bool = Field(True, description="false: one path is sampled (WARM w/o beam exploration)")
    beam_width: int = Field(5, ge=1, le=1_000, description="w")
    lookahead: bool = Field(
        True, description="test all triplets against the answer, not the w sampled; paper: no"
    )
    extra_steps: int = Field(1, ge=0, le=1_000, description="steps explored after the first reward; paper: 0")


class TrainConfig(Section):
    """REINFORCE and the optimiser (paper, sections 4.4, 4.6 and 5.3)."""

    epochs: int = Field(30, ge=1, le=1_000_000, description="paper: 200")
    batch: int = Field(96, ge=1, le=1_000_000, description="paper: 256")
    lr: float = Field(1e-3, gt=0, le=100)
    lr_decay: float = Field(0.7, gt=0, le=1)
    lr_decay_every: int = Field(75, ge=1, le=1_000_000)
    weight_decay: float = Field(1e-5, ge=0, le=100)
    clip: float = Field(5.0, gt=0, le=1e9, description="largest norm of the gradient")
    memory: int = Field(
        8, ge=0, le=1_000, description="paths kept for each problem; paper: 0, only this epoch's"
    )
    search: int = Field(3, ge=0, le=3, description="operators of the search that fills the memory; paper: 0")
    temperature: float = Field(
        10.0, ge=1, le=1_000, description="of the first epoch: found paths count alike; paper: 1"
    )
    penalty: float = Field(
        0.0, ge=0, le=1_000, description="weight of the reward -1 of a failed path; paper: 1"
    )
    min_count: int = Field(2, ge=1, le=1_000_000_000, description="rarer words are unknown")
    patience: int = Field(
        0, ge=0, le=1_000_000, description="stop after so many epochs without a better loss; 0: never"
    )


class WarmConfig(Section):
    model: ModelConfig = ModelConfig()
    explore: ExploreConfig = ExploreConfig()
    train: TrainConfig = TrainConfig()

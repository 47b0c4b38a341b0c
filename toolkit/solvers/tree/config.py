"""Every number of the tree solvers as a key."""

from typing import Literal

from pydantic import Field

from toolkit.config import Section


class SolverConfig(Section):
    """GTS and Graph2Tree."""

    embedding: int = Field(128, ge=1, le=4_096)
    hidden: int = Field(128, ge=1, le=4_096, description="Xie and Sun: 512")
    layers: int = Field(2, ge=1, le=16)
    dropout: float = Field(0.4, ge=0, lt=1, description="Xie and Sun: 0.5")
    word_dropout: float = Field(0.1, ge=0, lt=1, description="share of words unknown in training")
    max_tokens: int = Field(31, ge=3, le=1_000, description="longest prefix; longer equations are not learnt")
    epochs: int = Field(50, ge=1, le=1_000_000, description="Xie and Sun: 80")
    batch: int = Field(32, ge=1, le=1_000_000, description="Xie and Sun: 64")
    lr: float = Field(2e-3, gt=0, le=100, description="Xie and Sun: 1e-3")
    warm_up: float = Field(
        0.03, ge=0, lt=1, description="share of the steps until lr is reached; then it falls to zero"
    )
    average: float = Field(0.999, ge=0, lt=1, description="of the weights over steps; 0: the last ones")
    held_out: float = Field(
        0.05, ge=0, le=0.5, description="share of the problems that the best epoch is chosen by"
    )
    patience: int = Field(
        0, ge=0, le=1_000_000, description="epochs without a better one that end training; 0: none do"
    )
    weight_decay: float = Field(1e-5, ge=0, le=100)
    clip: float = Field(5.0, gt=0, le=1e9)
    beam: int = Field(10, ge=1, le=1_000, description="beams at test time; Xie and Sun: 5")
    plausible: bool = Field(True, description="rank beams by the kind of value they come to as well")
    target: Literal["best", "posterior"] = Field(
        "posterior", description="learn a problem's likeliest class, or all of them weighted by posterior"
    )
    forms: Literal["canonical", "written", "commuted"] = Field(
        "canonical", description="one order of sums and products, as written, or with operands exchanged too"
    )
    threshold: float = Field(0.0, ge=0, le=1, description="classes below this posterior are left out")
    min_count: int = Field(2, ge=1, le=1_000_000_000)
    members: int = Field(
        2,
        ge=1,
        le=32,
        description="networks that differ in their seeds and vote; Xie and Sun: 1, at half the time",
    )

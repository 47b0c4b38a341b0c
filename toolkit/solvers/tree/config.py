"""Every number of the tree solvers as a key."""

from typing import Literal

from pydantic import Field

from toolkit.config import Section

MANY = 10_000  # problems


class SolverConfig(Section):
    """GTS and Graph2Tree."""

    embedding: int = Field(128, ge=1, le=4_096)
    hidden: int | None = Field(
        None, ge=1, le=4_096, description="null: 128, of 10,000 problems and more 256; Xie and Sun: 512"
    )
    layers: int = Field(2, ge=1, le=16)
    number_features: bool = Field(True, description="a number is read with its kind and its rank")
    dropout: float = Field(0.4, ge=0, lt=1, description="Xie and Sun: 0.5")
    word_dropout: float = Field(0.1, ge=0, lt=1, description="share of words unknown in training")
    max_tokens: int = Field(31, ge=3, le=1_000, description="longest prefix; longer equations are not learnt")
    epochs: int = Field(50, ge=1, le=1_000_000, description="Xie and Sun: 80")
    later_epochs: int = Field(
        8, ge=1, le=1_000_000, description="epochs of a training that starts from another solver"
    )
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
    joined: int = Field(
        50,
        ge=0,
        le=1_000_000_000,
        description="Chinese characters that follow each other so often are one word; 0: none",
    )
    members: int = Field(
        2,
        ge=1,
        le=32,
        description="networks that differ in their seeds and vote; Xie and Sun: 1, at half the time",
    )

    def sized(self, problems: int) -> "SolverConfig":
        """The configuration for so many problems: with a hidden size."""
        size = 256 if problems >= MANY else 128
        return self if self.hidden is not None else self.model_copy(update={"hidden": size})

    @property
    def units(self) -> int:
        """The hidden size of a configuration that has one."""
        if self.hidden is None:
            raise ValueError("the configuration has no hidden size")
        return self.hidden

"""Every number of a run as a key: what `configs/loop.yaml` says, and `--set` changes."""

from typing import Literal

from pydantic import Field

from toolkit.active.stopping import StopConfig
from toolkit.config import Section
from toolkit.equations import Constant, parse_constant
from toolkit.solvers.config import SolverConfig
from toolkit.warm.config import WarmConfig


class ActiveConfig(Section):
    """Which problems annotators are asked about."""

    strategy: str = Field("margin", description="see toolkit/active/acquire.py")
    batch: int = Field(20, ge=1, description="problems a round")
    unsolved_quota: float = Field(0.2, ge=0, le=1, description="largest share of a batch that is unsolved")
    random_share: float = Field(0.1, ge=0, le=1, description="drawn at random, for the error estimate")
    fixed: int = Field(300, ge=2, description="problems on which successive models are compared (kappa)")
    members: int = Field(4, ge=2, description="models of a committee, passes with dropout")


class AnnotatorConfig(Section):
    """Who annotates. The rates are the oracle's."""

    name: Literal["oracle", "terminal", "file", "label-studio"] = "oracle"
    error_rate: float = Field(0.0, ge=0, le=1, description="how often the oracle errs")
    skip_rate: float = Field(0.0, ge=0, le=1, description="how often the oracle skips")
    attempts: int = Field(3, ge=1, description="how often a problem is asked before it is left aside")
    patience: float | None = Field(
        None, ge=0, description="seconds without a new answer after which a round goes on; null: for ever"
    )
    candidates: int = Field(5, ge=0, description="equations shown with a problem")
    project: str | None = Field(None, description="title in Label Studio; null: warmkit and the run's name")


class GenerateConfig(Section):
    width: int = Field(20, ge=1, description="beams a problem")
    search: int = Field(0, ge=0, le=3, description="also score what exhaustive search finds")


class LoopConfig(Section):
    data: str = "bundled:en"
    test: str | None = Field(None, description="else the split test of data, or a share of it")
    test_share: float = Field(0.2, gt=0, lt=1, description="held out where there is no test split")
    limit: int | None = Field(None, ge=10, description="take so many problems of data, chosen by seed")
    known: float | None = Field(
        None,
        ge=0,
        le=1,
        description="share of data's equations that D_s begins with; null: all, with oracle none",
    )
    constants: tuple[str, ...] = ("1", "π")
    seed: int = 0
    warm_start: bool = Field(True, description="go on from the model of the round before, or start anew")
    later_epochs: int = Field(8, ge=1, description="epochs of a round that is warm-started")
    warm: WarmConfig = WarmConfig()
    generate: GenerateConfig = GenerateConfig()
    active: ActiveConfig = ActiveConfig()
    annotator: AnnotatorConfig = AnnotatorConfig()
    stop: StopConfig = StopConfig()
    solver_kind: Literal["gts", "graph2tree"] = "gts"
    solver_each_round: bool = Field(True, description="a solver after every round, for the learning curve")
    solver: SolverConfig = SolverConfig()
    references: bool = Field(True, description="also train with no annotations and with everything annotated")

    @property
    def v_const(self) -> tuple[Constant, ...]:
        return tuple(parse_constant(text) for text in self.constants)

    @property
    def known_share(self) -> float:
        """The share of data's equations that D_s begins with."""
        if self.known is not None:
            return self.known
        return 0.0 if self.annotator.name == "oracle" else 1.0

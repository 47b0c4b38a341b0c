"""The configuration of a run: the keys that `configs/loop.yaml` lists and `--set` changes.

Each method in METHODS and each solver in SOLVERS adds its own section.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated, Literal, Self

from pydantic import Field, create_model, field_validator, model_validator
from pydantic_core import PydanticCustomError

from toolkit.active.acquire import STRATEGIES
from toolkit.active.stopping import StopConfig
from toolkit.annotators.llm import LlmConfig
from toolkit.annotators.overlap import Adjudicate, Overlap
from toolkit.config import Section, Seed
from toolkit.data import ProblemSet
from toolkit.data.constants import AUTO, ConstantChoice, choose_constants, parse_constants
from toolkit.data.split import gold_ids
from toolkit.equations import DEFAULT_CONSTANTS, Constant, EquationError, parse_constant
from toolkit.errors import did_you_mean
from toolkit.loop.annotators import ANNOTATORS, FIRST, PEOPLE, SEVERAL
from toolkit.methods import METHODS, GenerateConfig, StepOne
from toolkit.solvers import DEFAULT_SOLVER, SOLVERS, Solver

PLUGINS: list[type[StepOne] | type[Solver]] = [*METHODS.values(), *SOLVERS.values()]
PYTHON = "python"  # the name of a strategy or an annotator that is a Python object


def _check_name(kind: str, name: str, known: list[str]) -> str:
    if name not in known:
        context = {"kind": kind, "name": name[:60], "hint": did_you_mean(name, known)}
        raise PydanticCustomError("name", "there is no {kind} {name}. {hint}", context)
    return name


class ActiveConfig(Section):
    """Which problems annotators are asked about."""

    strategy: str = Field("margin", description=f"one of {', '.join(STRATEGIES)}")
    batch: int = Field(20, ge=1, le=1_000_000, description="problems per round")
    unsolved_quota: float = Field(
        0.5, ge=0, le=1, description="largest share of unsolved problems in a batch"
    )
    random_share: float = Field(0.1, ge=0, le=1, description="share drawn at random, for the error estimate")
    fixed: int = Field(
        300, ge=2, le=10_000_000, description="problems on which successive models are compared (kappa)"
    )
    members: int = Field(4, ge=2, le=1_000, description="passes with dropout, for the strategy dropout")

    @field_validator("strategy")
    @classmethod
    def _is_known(cls, name: str) -> str:
        return _check_name("strategy", name, [*STRATEGIES, PYTHON])


class AnnotatorConfig(Section):
    """Who annotates. The rates are the oracle's."""

    name: str = Field("oracle", description=f"one of {', '.join(ANNOTATORS)}, or a chain: llm,file")
    error_rate: float = Field(0.0, ge=0, le=1, description="how often the oracle errs")
    skip_rate: float = Field(0.0, ge=0, le=1, description="how often the oracle skips")
    attempts: int = Field(3, ge=1, le=1_000, description="how often a problem is asked before it is given up")
    patience: float | None = Field(
        None, ge=0, le=1e9, description="seconds without a new answer until a round goes on; null: no limit"
    )
    candidates: int = Field(5, ge=0, le=1_000, description="equations shown with a problem")
    gold: float = Field(
        0.1, ge=0, le=1, description="gold questions per question, if equations are known; not for the oracle"
    )
    gold_file: str | None = Field(
        None, description="problems with equations to draw them from; null: those of data in D_s"
    )
    set_aside: bool = Field(
        True, description="ask others what an annotator wrote who fails too many gold questions"
    )
    votes: Literal["majority", "weighted"] = Field(
        "majority", description="what settles a disagreement; weighted: by estimated reliability"
    )
    price: float | None = Field(None, ge=0, le=1e9, description="of an annotator's hour, for the report")
    title: str | None = Field(
        None, description="of a new project in Label Studio; null: warmkit and the run's name"
    )
    project: int | None = Field(
        None, ge=1, le=2**63 - 1, description="number of a project in Label Studio to join; null: a new one"
    )
    overlap: int = Field(1, ge=1, le=100, description="people who annotate a problem, in Label Studio")
    overlap_share: float = Field(1.0, ge=0, le=1, description="share of problems that overlap is for")
    adjudicate: Adjudicate = Field(
        "third", description="if they disagree: ask one more, let most decide, or leave it to you"
    )

    @field_validator("name")
    @classmethod
    def _is_known(cls, name: str) -> str:
        names = name.split(",")
        for one in names:
            _check_name("annotator", one, list(ANNOTATORS))
        if unfit := [one for one in names[:-1] if one not in FIRST]:
            context = {"name": unfit[0], "first": " or ".join(FIRST)}
            raise PydanticCustomError("chain", "{name} has to come last; {first} can be followed", context)
        return name

    @property
    def names(self) -> tuple[str, ...]:
        """Those who are asked, one after the other."""
        return tuple(self.name.split(","))

    @property
    def asks_people(self) -> bool:
        return self.names[-1] in PEOPLE

    @model_validator(mode="after")
    def _are_several(self) -> Self:
        if self.overlap > 1 and len(self.names) == 1 and self.name not in SEVERAL:
            context = {"name": self.name, "several": " or ".join(SEVERAL)}
            raise PydanticCustomError(
                "overlap", "overlap needs several people: {name} is one, take {several}", context
            )
        return self


class _LoopConfig(Section):
    data: str = "bundled:en"
    test: str | None = Field(None, description="null: the split test of data, or a share of it")
    test_share: float = Field(0.2, gt=0, lt=1, description="held out if there is no test split")
    limit: int | None = Field(
        None, ge=10, le=1_000_000_000, description="use only this many problems of data, chosen by seed"
    )
    known: float | None = Field(
        None,
        ge=0,
        le=1,
        description="share of data's equations in D_s at the start; null: all, but none with the oracle",
    )
    constants: Literal["auto"] | Annotated[tuple[str, ...], Field(max_length=100)] = Field(
        AUTO, description="V_const; auto: 1, π and what held-out answers profit from"
    )
    fixed_constants: bool = Field(
        False, description="refuse other constants; false: small ones that annotators use join V_const"
    )
    seed: Seed = Field(0, description="of everything random: samples, training, solvers")
    method: str = Field("warm", description=f"of step one: one of {', '.join(METHODS)}")
    warm_start: bool = Field(
        True, description="start from model and solver of the previous round, not from scratch"
    )
    later_epochs: int = Field(
        8, ge=1, le=1_000_000, description="epochs of step one in a round that is warm-started"
    )
    generate: GenerateConfig = GenerateConfig()
    active: ActiveConfig = ActiveConfig()
    annotator: AnnotatorConfig = AnnotatorConfig()
    llm: LlmConfig = LlmConfig()
    stop: StopConfig = StopConfig()
    solver_kind: str = Field(DEFAULT_SOLVER, description=f"of step two: one of {', '.join(SOLVERS)}")
    solver_limit: int | None = Field(
        None,
        ge=10,
        le=1_000_000_000,
        description="problems that solvers learn from: D_s, and others chosen by seed; null: all",
    )
    solver_each_round: bool = Field(True, description="a solver after every round, for the learning curve")
    references: bool = Field(True, description="also train with no annotations and with everything annotated")

    @field_validator("constants", mode="before")
    @classmethod
    def _as_list(cls, written: object) -> object:
        if isinstance(written, str) and written != AUTO:
            return tuple(name.strip() for name in written.split(","))  # as --constants takes them
        if isinstance(written, list | tuple) and all(type(name) in (str, int, float) for name in written):
            return tuple(str(name) for name in written)
        if written != AUTO:
            raise PydanticCustomError("constants", "write auto, or a list such as [1, 100, π]")
        return written

    @field_validator("constants")
    @classmethod
    def _are_constants(
        cls, constants: Literal["auto"] | tuple[str, ...]
    ) -> Literal["auto"] | tuple[str, ...]:
        for written in () if constants == AUTO else constants:
            try:
                parse_constant(written)
            except EquationError:
                context = {"text": written[:60]}
                raise PydanticCustomError("constant", "{text} is not a number or π", context) from None
        return constants

    @field_validator("method")
    @classmethod
    def _is_method(cls, name: str) -> str:
        return _check_name("method", name, list(METHODS))

    @field_validator("solver_kind")
    @classmethod
    def _is_solver(cls, name: str) -> str:
        return _check_name("solver", name, list(SOLVERS))

    @property
    def v_const(self) -> tuple[Constant, ...]:
        """The constants; before they are chosen, those to begin with."""
        if self.constants == AUTO:
            return DEFAULT_CONSTANTS
        return parse_constants(self.constants)

    def with_chosen_constants(
        self, problems: ProblemSet, advance: Callable[[int], object] = lambda count: None
    ) -> tuple[Self, ConstantChoice | None]:
        """The configuration with a list of constants, and why; None if the list was given.

        Of gold equations, only those in D_s at the start are looked at.
        """
        if self.constants != AUTO:
            return self, None
        gold = gold_ids(problems, self.known_share, self.seed)
        choice = choose_constants(problems, gold, self.seed, advance)
        return self.model_copy(update={"constants": choice.names}), choice

    @property
    def overlap(self) -> Overlap:
        """How many people are asked, and what happens if they disagree."""
        people = self.annotator
        return Overlap(people.overlap, people.overlap_share, people.adjudicate, self.seed)

    @property
    def known_share(self) -> float:
        """The share of data's equations in D_s at the start."""
        if self.known is not None:
            return self.known
        return 0.0 if "oracle" in self.annotator.names else 1.0

    @property
    def step_one(self) -> type[StepOne]:
        return METHODS[self.method]

    @property
    def method_settings(self) -> Section:
        """The section of the method."""
        return self._section(self.step_one)

    @property
    def solver_class(self) -> type[Solver]:
        return SOLVERS[self.solver_kind]

    @property
    def solver_settings(self) -> Section:
        """The section of the solver."""
        return self._section(self.solver_class)

    @property
    def warm_solvers(self) -> bool:
        """Whether a solver starts from that of the round before; not if each learns from other problems."""
        return self.warm_start and self.solver_each_round and self.solver_limit is None

    def _section(self, plugin: type[StepOne] | type[Solver]) -> Section:
        section = getattr(self, plugin.section)
        assert isinstance(section, Section)
        return section


if TYPE_CHECKING:

    class LoopConfig(_LoopConfig): ...
else:
    # With a section for each method and solver after its own keys.
    LoopConfig = create_model(
        "LoopConfig",
        __base__=_LoopConfig,
        __module__=__name__,
        **{plugin.section: (plugin.Config, plugin.Config()) for plugin in PLUGINS},
    )

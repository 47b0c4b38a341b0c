"""What the report shows, as plain values: the loop fills this in, the page draws it."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

import polars as pl

from toolkit.active.calibration import Reliability
from toolkit.active.cost import LabelCost
from toolkit.annotators.account import ModelCost
from toolkit.annotators.reliability import Agreement
from toolkit.annotators.team import AnnotatorRow
from toolkit.data.constants import ConstantChoice
from toolkit.statistics import Difference


@dataclass(frozen=True)
class Asked:
    """One problem that was sent to annotators, and their response."""

    round: int
    problem_id: str
    text: str
    answer: float
    lang: str
    why: str  # "uncertain: two classes within 0.08", "random", "unsolved"
    confidence: float | None  # None if nothing was found
    candidates: Sequence[tuple[str, float]]  # equation, posterior
    verdict: str  # accepted, rejected, disputed, disagreement, skipped, pending
    equation: str | None
    annotator: str | None
    reason: str | None
    was_top: bool | None  # whether the accepted equation is the class the model liked best
    seconds: float | None = None  # how long the annotator took, if that is known


@dataclass(frozen=True)
class Disputed:
    problem_id: str
    text: str
    answer: float
    annotator: str
    note: str
    lang: str = ""
    disagreement: bool = False  # equations differ; nobody says that the answer is wrong


@dataclass(frozen=True)
class Spurious:
    """An equation that gives the right answer for a wrong reason."""

    problem_id: str
    text: str
    answer: float
    found: str
    gold: str
    confidence: float
    lang: str = ""


@dataclass(frozen=True)
class JoinedConstant:
    """A constant that annotators used and that joined V_const."""

    round: int  # from which on it is in V_const
    constant: str
    equations: int  # of D_s that used it then
    annotators: Sequence[str]


@dataclass(frozen=True)
class RunFigures:
    """Names of metrics, by split: "pool" reached, gold_equivalent, confidence, uncertainty, labels, seconds,
    random_error; "test" answer_accuracy, class_accuracy (a quick solver each round, if one is trained)."""

    name: str
    data: str
    problems: int
    test_problems: int
    test_gold: int  # of these, with a gold equation
    annotator: str
    strategy: str
    stopped_by: str
    stop_reason: str  # a sentence
    rounds: int
    labels: int
    seconds: float
    seed: int
    command: str  # to run it again
    config: str  # YAML, as resolved
    metrics: pl.DataFrame  # of the schema METRICS
    final: Mapping[str, float]  # answer_accuracy, class_accuracy of the final solver on the test split
    references: Mapping[str, Mapping[str, float]]  # "no annotations", "everything annotated" → the same
    gains: Mapping[str, Difference]  # "this run", "everything annotated": answers, over "no annotations"
    before: Reliability | None  # of the confidence of the method alone
    after: Reliability | None
    asked: Sequence[Asked] = ()
    responses: int = 0  # of annotators, all attempts included
    usable: int = 0  # of these, those with an equation that holds
    disputed: Sequence[Disputed] = ()
    spurious: Sequence[Spurious] = ()
    constants: Sequence[str] = ()
    joined: Sequence[JoinedConstant] = ()
    choice: ConstantChoice | None = None  # why these constants; None if they were given
    annotators: Sequence[AnnotatorRow] = ()
    alpha: Agreement | None = None  # of all annotators
    set_aside: Collection[str] = ()  # annotators whose responses do not count
    cost: LabelCost | None = None  # None if no times are known
    model_cost: ModelCost | None = None  # None if no language model was asked
    stage_seconds: Mapping[str, float] = field(default_factory=dict)
    versions: Mapping[str, str] = field(default_factory=dict)

"""The shapes of what a ledger keeps. It may be damaged, or come from somebody else: nothing else is read."""

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import AfterValidator, Field, TypeAdapter
from typing_extensions import TypedDict  # pydantic takes the one of `typing` only from Python 3.12 on

from toolkit.annotators.questions import ResponseKind, ShownCandidate
from toolkit.data.constants import Evidence
from toolkit.equations import parse_constant

Figure = Annotated[float, Field(allow_inf_nan=False)]
Seconds = Annotated[float, Field(ge=0, allow_inf_nan=False)]
Count = Annotated[int, Field(ge=0, le=10**9)]
RoundNumber = Annotated[int, Field(ge=0, le=10**6)]


def _constant(text: str) -> str:
    parse_constant(text)
    return text


class End(TypedDict):
    """What ended a run, and in which round."""

    rule: str
    sentence: str
    round: RoundNumber


class Choice(TypedDict):
    """A `ConstantChoice`, as it is written down."""

    constants: list[Annotated[str, AfterValidator(_constant)]]
    evidence: list[Evidence]
    problems: Count


class OpenResult(TypedDict):
    templates: dict[str, str]  # D_s: problem → template
    answered: Count  # problems that annotators had settled
    set_aside: list[str]  # annotators whose responses do not count


class TrainResult(TypedDict):
    epochs: Count


class GenerateResult(TypedDict):
    temperature: Annotated[float, Field(gt=0, allow_inf_nan=False)]
    labels: Count
    known: Count
    reached: Figure
    gold_equivalent: Figure | None
    random_error: Figure | None
    confidence: Figure
    uncertainty: Figure


class SolverResult(TypedDict):
    answer_accuracy: Figure
    class_accuracy: Figure | None
    right: Annotated[str, Field(pattern="^[01]*$")]  # a mark for each test problem


class ChooseResult(TypedDict):
    batch: list[tuple[str, str, str, list[ShownCandidate]]]  # problem, why, kind, candidates


class AnnotateResult(TypedDict):
    asked: Count
    open: Count


FACTS: Mapping[str, TypeAdapter[Any]] = {
    "format": TypeAdapter(int),
    "end": TypeAdapter(End),
    "constants": TypeAdapter(Choice),
    "proposed": TypeAdapter(dict[str, list[str]]),  # round → problems that a model was asked about
}
FINAL = "final solver"  # a stage of the last round
RESULTS: Mapping[str, TypeAdapter[Any]] = {
    "open": TypeAdapter(OpenResult),
    "train": TypeAdapter(TrainResult),
    "generate": TypeAdapter(GenerateResult),
    "solver": TypeAdapter(SolverResult),
    FINAL: TypeAdapter(SolverResult),
    "choose": TypeAdapter(ChooseResult),
    "annotate": TypeAdapter(AnnotateResult),
    "no annotations": TypeAdapter(SolverResult),
    "everything annotated": TypeAdapter(SolverResult),
}
CANDIDATES = TypeAdapter(tuple[ShownCandidate, ...])  # of a problem that was asked

# Rows of tables, in the order of their columns.
StageRow = tuple[RoundNumber, str, Seconds]
AskedRow = tuple[RoundNumber, str, str, str, str]
ResponseRow = tuple[
    str, RoundNumber, ResponseKind, str | None, str | None, str, str, str, Seconds | None, str | None
]
MetricRow = tuple[RoundNumber, str, str, Figure]
STAGES = TypeAdapter(list[StageRow])
ASKED = TypeAdapter(list[AskedRow])
RESPONSES = TypeAdapter(list[ResponseRow])
METRICS = TypeAdapter(list[MetricRow])
VERSION = TypeAdapter(list[tuple[int, int]])
REVOKED = TypeAdapter(list[tuple[str, RoundNumber, Count]])
Tokens = Annotated[int, Field(ge=0)]
SPENT = TypeAdapter(list[tuple[Tokens, Tokens, Tokens]])
REPLIES = TypeAdapter(list[tuple[str, str]])
REASONS = TypeAdapter(list[tuple[str, Count]])

# Whole rows, all columns of a table.
WholeStage = tuple[RoundNumber, str, Seconds, str]
WholeAsked = tuple[RoundNumber, int, str, str, str, str]
WholeResponse = tuple[
    int,
    str,
    str,
    RoundNumber,
    ResponseKind,
    str | None,
    str | None,
    str,
    str,
    Seconds | None,
    str | None,
    int,
]
WholeRequest = tuple[int, str, Tokens, Tokens]
WholeReply = tuple[str, str, str, str]

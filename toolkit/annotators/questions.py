"""Who annotates: one small interface. A batch of questions is submitted, what is ready is collected.

A response is what one annotator said of one problem at one time, before anybody has judged it. The loop
judges it (`toolkit.annotators.judge`) and asks again if it can't be used.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal, NamedTuple, Protocol

ResponseKind = Literal["equation", "wrong_answer", "skip", "withdrawn"]


class ShownCandidate(NamedTuple):
    """An equation that is offered with a question, and what it means: picking it picks the template."""

    equation: str  # over the problem's own numbers: 5 - 3
    template: str  # over N0, N1, …: N1 - N2


def labels(candidates: Sequence[ShownCandidate]) -> list[str]:
    """How each candidate is shown: its equation, and its template too if another equation reads the same."""
    counts = Counter(candidate.equation for candidate in candidates)
    return [
        candidate.equation
        if counts[candidate.equation] == 1
        else f"{candidate.equation} ({candidate.template})"
        for candidate in candidates
    ]


@dataclass(frozen=True)
class Question:
    """A problem to be annotated."""

    problem_id: str
    round: int
    text: str
    answer: float
    lang: str
    numbers: tuple[Fraction, ...]  # of the text: N0, N1, …
    candidates: tuple[ShownCandidate, ...]  # in an order that says nothing of the model's favourite
    complaint: str | None = None  # why the last response was rejected, when this asks again
    attempt: int = 0  # how often it was asked before
    confidence: float | None = None  # of the model in its favourite; None if it found nothing
    wanted: int = 1  # how many people are still to answer it


@dataclass(frozen=True)
class Response:
    """What an annotator said. `external_id` identifies it for good: the same response twice counts once."""

    problem_id: str
    round: int
    kind: ResponseKind  # wrong_answer: the answer key is wrong, `note` says why; withdrawn: it was taken back
    equation: str | None  # with kind "equation": as it was written, or as it was shown
    note: str | None
    annotator: str
    external_id: str
    updated_at: str  # ISO 8601, UTC
    seconds: float | None  # how long it took, None if that is not known
    template: str | None = None  # of a candidate that was picked: what it means, whatever its text may mean


class Annotator(Protocol):
    """Who answers questions. Submitting the same questions again, after a kill, must be harmless."""

    @property
    def name(self) -> str: ...

    @property
    def location(self) -> str:
        """The path or URL where annotators find the questions; "" if they need not look anywhere."""
        ...

    @property
    def warnings(self) -> Sequence[str]:
        """What went wrong in the last `collect`, as sentences."""
        ...

    def submit(self, questions: Sequence[Question]) -> None: ...

    def collect(self) -> Sequence[Response]:
        """All responses to the submitted questions that are new or have changed; may be none."""
        ...

    def waits(self) -> bool:
        """Whether responses may still come after an empty `collect`, because annotators work elsewhere."""
        ...

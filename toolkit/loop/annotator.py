"""Who annotates: one small interface. A batch of questions is submitted, what is ready is collected.

A response is what one person said of one problem at one time, before anybody has judged it; the loop
validates it (`toolkit.loop.validate`) and asks again where it can't be used.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal, Protocol

Kind = Literal["equation", "wrong_answer", "skip", "withdrawn"]


@dataclass(frozen=True)
class Question:
    """A problem to be annotated."""

    problem_id: str
    round: int
    text: str
    answer: float
    lang: str
    numbers: tuple[Fraction, ...]  # of the text: N0, N1, …
    candidates: tuple[str, ...]  # equations over those numbers, in an order that says nothing
    complaint: str | None = None  # why the last response was rejected, when this asks again
    attempt: int = 0  # how often it was asked before
    confidence: float | None = None  # of the model in its favourite; None where it found nothing


@dataclass(frozen=True)
class Response:
    """What an annotator said. `external_id` names it for good: the same response twice counts once."""

    problem_id: str
    round: int
    kind: Kind  # wrong_answer: the answer key is wrong, `note` says why; withdrawn: it was taken back
    equation: str | None  # with kind "equation"
    note: str | None
    annotator: str
    external_id: str
    updated_at: str  # ISO 8601, UTC
    seconds: float | None  # how long it took, where that is known


class Annotator(Protocol):
    """Submitting the same questions again, after a kill, must be harmless."""

    @property
    def name(self) -> str: ...

    @property
    def place(self) -> str:
        """Where people find the questions; "" where they need not look."""
        ...

    @property
    def warnings(self) -> Sequence[str]:
        """What the last `collect` met that a person should know."""
        ...

    def submit(self, questions: Sequence[Question]) -> None: ...

    def collect(self) -> Sequence[Response]:
        """Everything said so far to the submitted questions that is new or has changed; may be nothing."""
        ...

    def waits(self) -> bool:
        """Whether an empty `collect` may fill up later (people elsewhere), or never will."""
        ...

"""Annotators with known faults, for experiments: they err at a rate, or always pick the first candidate.

A hash of the seed, the name and the problem decides, so the order of questions changes nothing. Unlike the
oracle's, their errors pass the check if they can: they pick a candidate that gives the answer and is wrong.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import blake2b

from toolkit.annotators.questions import Question, Response, ResponseKind, ShownCandidate
from toolkit.data import ProblemSet
from toolkit.equations import klass, parse_template


@dataclass(frozen=True)
class Member:
    """One scripted annotator. `first`: always picks the first candidate, and skips if there is none."""

    name: str
    error_rate: float = 0.0
    first: bool = False
    seed: int = 0

    def answer(self, question: Question, gold: str, right: frozenset[int]) -> Response:
        """The response to a question whose gold equation has these classes."""
        if self.first:
            shown = question.candidates[0] if question.candidates else None
            return self._response(question, shown) if shown else self._response(question, None, None)
        good = [one for one in question.candidates if klass(parse_template(one.template)) in right]
        if self._draw(question, "error") >= self.error_rate:
            return self._response(question, good[0]) if good else self._response(question, None, gold)
        wrong = sorted(set(question.candidates) - set(good))
        if wrong:
            return self._response(question, wrong[int(self._draw(question, "which") * len(wrong))])
        return self._response(question, None, f"{gold} + N0")

    def _response(
        self, question: Question, pick: ShownCandidate | None, written: str | None = None
    ) -> Response:
        kind: ResponseKind = "equation" if pick or written else "skip"
        return Response(
            problem_id=question.problem_id,
            round=question.round,
            kind=kind,
            equation=pick.equation if pick else written,
            note=None,
            annotator=self.name,
            external_id=f"{self.name}:{question.round}:{question.problem_id}:{question.attempt}",
            updated_at="2026-01-01T00:00:00+00:00",
            seconds=round(10 + 20 * self._draw(question, "seconds"), 1),
            template=pick.template if pick else None,
        )

    def _draw(self, question: Question, what: str) -> float:
        """A number in [0, 1) that depends on nothing else."""
        key = f"{self.seed}\n{self.name}\n{what}\n{question.problem_id}\n{question.attempt}"
        return int.from_bytes(blake2b(key.encode(), digest_size=6).digest(), "big") / 2**48


class ScriptedTeam:
    """An annotator of the loop that is several people: `overlap` of them answer each question, in turn."""

    name = "scripted"
    location = ""
    warnings: Sequence[str] = ()

    def __init__(self, problems: ProblemSet, members: Sequence[Member], overlap: int = 1) -> None:
        self.problems, self.members, self.overlap = problems, members, overlap
        self._turn = 0
        self._answered: dict[tuple[int, str, int], list[Response]] = {}
        self._ready: list[Response] = []

    def submit(self, questions: Sequence[Question]) -> None:
        for question in questions:
            key = (question.round, question.problem_id, question.attempt)
            if key not in self._answered:
                self._answered[key] = [self._answer(member, question) for member in self._next()]
                self._ready += self._answered[key]

    def _next(self) -> list[Member]:
        chosen = [self.members[(self._turn + i) % len(self.members)] for i in range(self.overlap)]
        self._turn += self.overlap
        return chosen

    def _answer(self, member: Member, question: Question) -> Response:
        row = self.problems.row[question.problem_id]
        return member.answer(question, self.problems.table["equation"][row], self.problems.gold_classes[row])

    def collect(self) -> Sequence[Response]:
        ready, self._ready = self._ready, []
        return ready

    def waits(self) -> bool:
        return False

"""Several annotators, one after the other: what the first does not settle goes to the next."""

from collections.abc import Collection, Sequence
from dataclasses import replace

from toolkit.annotators.questions import Annotator, Question, Response


class Chain:
    """The first answers at once (a program); what it skips or leaves goes to `then` (people, mostly).

    It is asked about a problem once. A problem that wants several answers goes to both, and so does a gold
    question. `recorded` are the external ids of responses that the run has already.
    """

    def __init__(self, first: Annotator, then: Annotator, recorded: Collection[str] = ()) -> None:
        self.first, self.then = first, then
        self._delivered = set(recorded)
        self._open: dict[str, Question] = {}  # asked of the first, not answered yet
        self._passed: set[tuple[str, int, int]] = set()  # asked of the next
        self.warnings: list[str] = []

    @property
    def name(self) -> str:
        return f"{self.first.name}, {self.then.name}"

    @property
    def location(self) -> str:
        return self.first.location if self._open else self.then.location

    def submit(self, questions: Sequence[Question]) -> None:
        new: list[Question] = []
        passed: list[Question] = []
        for question in questions:
            (passed if question.attempt or _key(question) in self._passed else new).append(question)
        self._open |= {question.problem_id: question for question in new}
        self.first.submit(new)
        if passed:
            self.then.submit(passed)

    def collect(self) -> Sequence[Response]:
        """An answer of the first as soon as there is one. When it has no more, the rest goes to the next."""
        self.warnings = []
        while self._open and (found := self._collect_first()):
            responses = [response for response in found if response.kind != "skip"]
            new = [response for response in responses if response.external_id not in self._delivered]
            self._delivered |= {response.external_id for response in new}
            for response in new:
                self._settle(response.problem_id)
            if new:
                return new
        if self._open and not self.first.waits():
            self._pass(list(self._open.values()))
            self._open = {}
        responses = list(self.then.collect())
        self.warnings += self.then.warnings
        return responses

    def waits(self) -> bool:
        return self.first.waits() or self.then.waits()

    def _collect_first(self) -> Sequence[Response]:
        found = self.first.collect()
        self.warnings += self.first.warnings
        return found

    def _settle(self, problem_id: str) -> None:
        question = self._open.pop(problem_id)
        if question.wanted > 1:
            self._pass([replace(question, wanted=question.wanted - 1)])
        else:
            self._passed.add(_key(question))  # if it comes back, one more answer is wanted

    def _pass(self, questions: Sequence[Question]) -> None:
        self._passed |= {_key(question) for question in questions}
        self.then.submit(questions)


def _key(question: Question) -> tuple[str, int, int]:
    return question.problem_id, question.round, question.attempt

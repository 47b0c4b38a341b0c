"""A language model as the annotator of a loop: what enough of its replies agree on, and what verifies.

Each problem is asked until `agree` replies mean one class that verifies, or until so many can't any more.
The answer is hidden (unless `show_answer`), so a class that gives it is evidence. What does not settle is
skipped: alone, the problem stays open; in a chain, the next annotator is asked.
"""

from collections import deque
from collections.abc import Callable, Collection, Iterator, Sequence
from datetime import UTC, datetime
from itertools import chain

from annotation.llm.asking import Asking
from annotation.llm.prompt import asked_of
from annotation.llm.proposal import Checker, Proposal, settle
from annotation.llm.sampling import Demonstrations, Heard, Known, sample
from toolkit.annotators.llm import annotator_name
from toolkit.annotators.questions import Question, Response
from toolkit.data import ProblemSet


class Llm:
    """Asks a model. `problems` gives a set that has those with some ids, `known` the D_s that demonstrations
    are taken from."""

    def __init__(
        self,
        asking: Asking,
        problems: Callable[[Collection[str]], ProblemSet],
        check: Checker,
        known: Callable[[], Known] = dict,
    ) -> None:
        self.asking, self.config, self._problems = asking, asking.config, problems
        self.name = annotator_name(self.config.model)
        self.warnings: list[str] = []
        self._check, self._known = check, known
        self._waiting: deque[Question] = deque()
        self._asked: set[str] = set()
        self._working: Iterator[Response] = iter(())

    @property
    def location(self) -> str:
        return f"{self.asking.url} ({self.asking.spent_words()})"

    def submit(self, questions: Sequence[Question]) -> None:
        """Only what is asked for the first time: asked again, a model would say the same."""
        for question in questions:
            if question.problem_id not in self._asked:
                self._asked.add(question.problem_id)
                self._waiting.append(question)

    def collect(self) -> Sequence[Response]:
        """The next response. It is waited for; a loop that comes back at once shows what is spent."""
        self.warnings = []
        if self._waiting:
            self._working = chain(self._working, self._respond(list(self._waiting)))
            self._waiting.clear()
        response = next(self._working, None)
        return [] if response is None else [response]

    def waits(self) -> bool:
        return bool(self._waiting)

    def _respond(self, questions: Sequence[Question]) -> Iterator[Response]:
        by_name = {question.problem_id: question for question in questions}
        known = self._known()
        problems = self._problems({*by_name, *known})
        asked = [asked_of(problems, problems.row[name]) for name in by_name]
        demonstrations = Demonstrations(problems, known)
        for heard in sample(self.asking, self._check, demonstrations, asked, self._is_open):
            if heard.failed:  # not all was said, so there is no response; a resumed run asks again
                self.warnings = [f"{heard.failed}. {self.name} is not asked about some problems."]
            else:
                yield self._response(by_name[heard.problem.problem_id], heard)

    def _is_open(self, proposals: Sequence[Proposal]) -> bool:
        return settle(proposals, self.config.agree, self.config.samples).is_open

    def _response(self, question: Question, heard: Heard) -> Response:
        found = settle(heard.proposals, self.config.agree, self.config.samples).proposal
        return Response(
            problem_id=question.problem_id,
            round=question.round,
            kind="skip" if found is None else "equation",
            equation=None if found is None else found.equation,
            note=None if found else "Its replies do not agree on an equation that gives the answer.",
            annotator=self.name,
            external_id=f"{self.name}:{question.round}:{question.problem_id}",
            updated_at=datetime.now(UTC).isoformat(),
            seconds=heard.seconds,
            template=None if found is None else found.template,
        )

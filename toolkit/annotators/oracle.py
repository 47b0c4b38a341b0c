"""An annotator that knows the gold equations: for experiments and the demo, with errors if wanted.

A hash of the seed, the problem and the attempt decides whether it makes an error. So the order of the
questions, a kill and a resumption change nothing, and two strategies meet the same errors.
"""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from hashlib import blake2b

import polars as pl

from toolkit.annotators.judge import Judgement, judge
from toolkit.annotators.questions import Question, Response, ResponseKind, ShownCandidate
from toolkit.equations import DEFAULT_CONSTANTS, ONE, Const, Constant, Expr, Op, parse, show, verify
from toolkit.errors import WarmkitError

MOST_ATTEMPTS = 8  # after so many it makes no errors, so that asking again ends


class Oracle:
    """Answers with the gold equation; skips if there is none; disputes an answer that gold does not give.

    One half of its errors (`error_rate`) gives another answer, and is asked again. The other half picks a
    candidate that gives the answer but is not of the gold class, which no check can find. If there is no
    such candidate, all errors are of the first kind.
    """

    name = "oracle"
    location = ""
    warnings: Sequence[str] = ()

    def __init__(
        self,
        problems: pl.DataFrame | pl.LazyFrame,
        error_rate: float = 0.0,
        seed: int = 0,
        skip_rate: float = 0.0,
        constants: Sequence[Constant] = DEFAULT_CONSTANTS,
        more_constants: bool = True,
    ) -> None:
        for what, rate in (("error", error_rate), ("skip", skip_rate)):
            if not 0 <= rate <= 1:
                raise WarmkitError(f"The oracle's {what} rate is {rate}, but it must be between 0 and 1.")
        self._problems = problems.lazy().select("id", "equation")
        self._error_rate = error_rate
        self._skip_rate = skip_rate
        self._seed = seed
        self._constants, self._more_constants = tuple(constants), more_constants
        self._ready: dict[str, Response] = {}
        self._collected: dict[str, Response] = {}

    def submit(self, questions: Sequence[Question]) -> None:
        asked = pl.col("id").is_in([question.problem_id for question in questions])
        gold: dict[str, str | None] = dict(self._problems.filter(asked).collect().iter_rows())
        for question in questions:
            response = self._answer(question, gold.get(question.problem_id))
            if self._collected.get(response.external_id) != response:
                self._ready[response.external_id] = response

    def collect(self) -> Sequence[Response]:
        responses = list(self._ready.values())
        self._collected |= self._ready
        self._ready = {}
        return responses

    def waits(self) -> bool:
        return False

    def _answer(self, question: Question, gold: str | None) -> Response:
        if gold is None:
            return _response(question, 0, "skip", note="The oracle has no equation of this problem.")
        right = self._judged(question, _response(question, 0, "equation", gold))
        if right.verdict != "accepted":
            # Gold that gives the answer but can't be used (a number that is not in the text) is no fault
            # of the answer key.
            verdict = verify(gold, question.numbers, question.answer, self._constants)
            kind: ResponseKind = "skip" if verdict.gives_answer or verdict.value is None else "wrong_answer"
            return _response(question, 0, kind, note=f"The gold equation is {gold}. {right.reason}")
        attempt = min(question.attempt, MOST_ATTEMPTS)
        if self._draw("skip", question, attempt) < self._skip_rate:
            return _response(question, attempt, "skip", note="The oracle skips some problems, as people do.")
        if attempt < MOST_ATTEMPTS and self._draw("error", question, attempt) < self._error_rate:
            spurious = self._spurious(question, right)
            if spurious and self._draw("half", question, attempt) < 0.5:
                picked = spurious[int(self._draw("which", question, attempt) * len(spurious))]
                return _response(question, attempt, "equation", picked.equation, picked.template)
            return _response(question, attempt, "equation", _wrong(gold, question, attempt))
        return _response(question, attempt, "equation", gold)

    def _judged(self, question: Question, response: Response) -> Judgement:
        return judge(response, question.numbers, question.answer, self._constants, self._more_constants)

    def _spurious(self, question: Question, right: Judgement) -> list[ShownCandidate]:
        """Candidates that are accepted but mean something else, sorted: the order shown has no influence."""
        found = []
        for candidate in sorted(question.candidates):
            judged = self._judged(
                question, _response(question, 0, "equation", candidate.equation, candidate.template)
            )
            if judged.verdict == "accepted" and not judged.klasses & right.klasses:
                found.append(candidate)
        return found

    def _draw(self, what: str, question: Question, attempt: int) -> float:
        """A number in [0, 1) that depends on nothing else."""
        key = f"{self._seed}\n{what}\n{attempt}\n{question.problem_id}"
        return int.from_bytes(blake2b(key.encode(), digest_size=6).digest(), "big") / 2**48


def _wrong(gold: str, question: Question, attempt: int) -> str:
    """The gold equation plus a number of the problem, once more at each attempt."""
    # A number that occurs once in the text is bound in one way only, which keeps long sums cheap to judge.
    numbers = question.numbers
    extra = (
        max(numbers, key=lambda n: (n != 0, numbers.count(n) == 1, abs(n)), default=ONE.value) or ONE.value
    )
    tree: Expr = parse(gold)
    for _ in range(attempt + 1):
        tree = Op("+", tree, Const(extra))
    return show(tree)


def _response(
    question: Question,
    attempt: int,
    kind: ResponseKind,
    equation: str | None = None,
    template: str | None = None,
    note: str | None = None,
) -> Response:
    # Not a real time: it only puts a later round or attempt after an earlier one, and is the same if the
    # same question is asked again after a kill.
    when = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(days=question.round, seconds=attempt)
    return Response(
        problem_id=question.problem_id,
        round=question.round,
        kind=kind,
        equation=equation,
        note=note,
        annotator="oracle",
        external_id=f"oracle:{question.round}:{question.problem_id}:{attempt}",
        updated_at=when.isoformat(),
        seconds=None,
        template=template,
    )

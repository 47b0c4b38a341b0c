"""An annotator that knows the gold equations: for experiments and the demo, with errors if wanted.

Whether it errs is decided by a hash of the seed, the problem and how often it was asked, so that the order
of the questions, a kill and a resumption change nothing, and two strategies meet the same errors.
"""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from hashlib import blake2b

import polars as pl

from toolkit.equations import DEFAULT_CONSTANTS, ONE, Const, Constant, Expr, Op, parse, show, verify
from toolkit.errors import WarmkitError
from toolkit.loop.annotator import Kind, Question, Response
from toolkit.loop.validate import Judgement, judge

MOST_ATTEMPTS = 8  # after so many it errs no more, so that asking again comes to an end


class Oracle:
    """Says the gold equation; skips where there is none; disputes an answer that gold does not give.

    Of its errors (`error_rate`) one half gives another answer, and will be asked again; the other half is
    a candidate of the question that gives the answer but is not of the gold class, which no check can
    find. Where there is no such candidate all errors are of the first kind.
    """

    name = "oracle"
    place = ""
    warnings: Sequence[str] = ()

    def __init__(
        self,
        problems: pl.DataFrame,
        error_rate: float = 0.0,
        seed: int = 0,
        skip_rate: float = 0.0,
        constants: Sequence[Constant] = DEFAULT_CONSTANTS,
    ) -> None:
        for what, rate in (("error", error_rate), ("skip", skip_rate)):
            if not 0 <= rate <= 1:
                raise WarmkitError(f"The oracle's {what} rate is {rate}, but it must be between 0 and 1.")
        self._gold: dict[str, str | None] = dict(problems.select("id", "equation").iter_rows())
        self._error_rate = error_rate
        self._skip_rate = skip_rate
        self._seed = seed
        self._constants = tuple(constants)
        self._ready: dict[str, Response] = {}
        self._collected: dict[str, Response] = {}

    def submit(self, questions: Sequence[Question]) -> None:
        for question in questions:
            response = self._response(question)
            if self._collected.get(response.external_id) != response:
                self._ready[response.external_id] = response

    def collect(self) -> Sequence[Response]:
        responses = list(self._ready.values())
        self._collected |= self._ready
        self._ready = {}
        return responses

    def waits(self) -> bool:
        return False

    def _response(self, question: Question) -> Response:
        gold = self._gold.get(question.problem_id)
        if gold is None:
            return _said(question, 0, "skip", None, "The oracle has no equation of this problem.")
        right = judge(
            _said(question, 0, "equation", gold, None), question.numbers, question.answer, self._constants
        )
        if right.verdict != "accepted":
            # Gold that gives the answer but can't be used (a number that is not in the text) is no fault
            # of the answer key.
            verdict = verify(gold, question.numbers, question.answer, self._constants)
            kind: Kind = "skip" if verdict.gives_answer or verdict.value is None else "wrong_answer"
            return _said(question, 0, kind, None, f"The gold equation is {gold}. {right.reason}")
        attempt = min(question.attempt, MOST_ATTEMPTS)
        if self._draw("skip", question, attempt) < self._skip_rate:
            return _said(question, attempt, "skip", None, "The oracle skips some problems, as people do.")
        equation = gold
        if attempt < MOST_ATTEMPTS and self._draw("error", question, attempt) < self._error_rate:
            spurious = self._spurious(question, right)
            if spurious and self._draw("half", question, attempt) < 0.5:
                equation = spurious[int(self._draw("which", question, attempt) * len(spurious))]
            else:
                equation = _wrong(gold, question, attempt)
        return _said(question, attempt, "equation", equation, None)

    def _spurious(self, question: Question, right: Judgement) -> list[str]:
        """Candidates that pass validation but mean something else, in an order that is theirs alone."""
        found = []
        for candidate in sorted(question.candidates):
            said = _said(question, 0, "equation", candidate, None)
            judged = judge(said, question.numbers, question.answer, self._constants)
            if judged.verdict == "accepted" and not judged.klasses & right.klasses:
                found.append(candidate)
        return found

    def _draw(self, what: str, question: Question, attempt: int) -> float:
        """A number in [0, 1) that depends on nothing else."""
        key = f"{self._seed}\n{what}\n{attempt}\n{question.problem_id}"
        return int.from_bytes(blake2b(key.encode(), digest_size=6).digest(), "big") / 2**48


def _wrong(gold: str, question: Question, attempt: int) -> str:
    """The gold equation plus a number of the problem too many, one more at each attempt."""
    # A number that stands in the text once is bound in one way only, which keeps long sums cheap to judge.
    numbers = question.numbers
    extra = (
        max(numbers, key=lambda n: (n != 0, numbers.count(n) == 1, abs(n)), default=ONE.value) or ONE.value
    )
    tree: Expr = parse(gold)
    for _ in range(attempt + 1):
        tree = Op("+", tree, Const(extra))
    return show(tree)


def _said(question: Question, attempt: int, kind: Kind, equation: str | None, note: str | None) -> Response:
    # No time at which anything happened: it only puts a later round or attempt after an earlier one, and
    # is the same when the same question is asked again after a kill.
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
    )

"""What annotators come to: the standing of each problem that something was said about, and so D_s."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

import polars as pl

from toolkit.equations import Constant
from toolkit.loop.annotator import Response
from toolkit.loop.validate import Judgement, adjudicate, judge

Verdict = Literal["accepted", "rejected", "disputed", "skipped"]


@dataclass(frozen=True)
class Standing:
    verdict: Verdict
    reason: str
    equation: str | None
    klasses: frozenset[int]  # of an accepted equation: what it may mean
    annotators: tuple[str, ...]
    rejections: int  # how many responses were rejected
    seconds: float | None  # that annotators took, where it is known


class Judge:
    """Judges responses to the problems of a run; each only once, for a ledger is read again and again."""

    def __init__(
        self, problems: pl.DataFrame, numbers: Sequence[Sequence[Fraction]], constants: Sequence[Constant]
    ) -> None:
        self._constants = tuple(constants)
        self._problems: Mapping[str, tuple[Sequence[Fraction], float]] = {
            name: (its, answer)
            for name, its, answer in zip(problems["id"], numbers, problems["answer"], strict=True)
        }
        self._judged: dict[Response, Judgement] = {}

    def standings(self, responses: Iterable[Response]) -> dict[str, Standing]:
        """By problem. Of each annotator the last word counts; their first ones count as rejections.
        What was withdrawn is as if it had not been said.
        """
        by_problem: dict[str, list[Response]] = defaultdict(list)
        for response in responses:
            if response.problem_id in self._problems and response.kind != "withdrawn":
                by_problem[response.problem_id].append(response)
        return {name: self._standing(said) for name, said in by_problem.items()}

    def _judge(self, response: Response) -> Judgement:
        if response not in self._judged:
            numbers, answer = self._problems[response.problem_id]
            self._judged[response] = judge(response, numbers, answer, self._constants)
        return self._judged[response]

    def _standing(self, said: Sequence[Response]) -> Standing:
        rejections = sum(self._judge(response).verdict == "rejected" for response in said)
        times = [response.seconds for response in said if response.seconds is not None]
        last = {response.annotator: self._judge(response) for response in said}
        outcome = adjudicate(last)
        disputes = {name: said for name, said in last.items() if said.verdict == "disputed"}
        klasses, equation = frozenset[int](), None
        names = tuple(last)
        if disputes:  # also where another annotator has an equation: somebody has to look
            verdict: Verdict = "disputed"
            names = tuple(disputes)
            reason = "; ".join(f"{name}: {one.reason}" for name, one in disputes.items())
        elif outcome.outcome == "disagreement":
            verdict, reason = "disputed", outcome.reason
        elif outcome.outcome != "none":
            verdict, reason, names = "accepted", outcome.reason, outcome.annotators
            equation, klasses = outcome.equation, outcome.klasses
        else:
            latest = list(last.values())[-1]
            verdict = "rejected" if latest.verdict == "rejected" else "skipped"
            reason, equation = latest.reason, latest.equation
        return Standing(verdict, reason, equation, klasses, names, rejections, sum(times) if times else None)

"""What annotators agree on: the resolution of each problem that has responses, and so D_s."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from toolkit.annotators.judge import Adjudication, AnnotationVerdict, Judgement, adjudicate, judge
from toolkit.annotators.overlap import ONE_PERSON, Overlap
from toolkit.annotators.questions import Response
from toolkit.data import ProblemSet
from toolkit.equations import Expr


@dataclass(frozen=True)
class Resolution:
    """The state of a problem after all responses to it."""

    verdict: AnnotationVerdict
    reason: str
    equation: str | None  # text for people
    template: Expr | None  # of an accepted equation: the meaning that was agreed on, which D_s keeps
    klasses: frozenset[int]  # of an accepted equation: everything that all who agreed may mean
    annotators: tuple[str, ...]
    rejections: int  # how many responses were rejected
    seconds: float | None  # that annotators took, if it is known
    disagreement: bool = False  # disputed because equations differ: nobody says that the answer is wrong
    missing: int = 0  # people who are still to be asked
    rejected: Judgement | None = None  # the last one, if who wrote it has not written a better one since


class Resolver:
    """Judges responses to the problems of a run; each only once, for a ledger is read again and again."""

    def __init__(
        self, problems: ProblemSet, overlap: Overlap = ONE_PERSON, more_constants: bool = True
    ) -> None:
        self.problems, self.overlap, self._more_constants = problems, overlap, more_constants
        self._judged: dict[Response, Judgement] = {}

    def resolve(
        self, responses: Iterable[Response], weights: Mapping[str, float] | None = None
    ) -> dict[str, Resolution]:
        """The resolution of each problem, by its id.

        The last response of each annotator counts; earlier ones count as rejections if they were
        rejected. Withdrawn responses count as nothing. `weights` as in `adjudicate`.
        """
        by_problem: dict[str, list[Response]] = defaultdict(list)
        for response in responses:
            if response.problem_id in self.problems.row and response.kind != "withdrawn":
                by_problem[response.problem_id].append(response)
        return {
            problem_id: self._resolution(problem_id, of_problem, weights)
            for problem_id, of_problem in by_problem.items()
        }

    def judgement(self, response: Response) -> Judgement:
        if response not in self._judged:
            problems, row = self.problems, self.problems.row[response.problem_id]
            self._judged[response] = judge(
                response,
                problems.numbers[row],
                problems.answers[row],
                problems.constants,
                self._more_constants,
            )
        return self._judged[response]

    def _resolution(
        self, problem_id: str, responses: Sequence[Response], weights: Mapping[str, float] | None
    ) -> Resolution:
        rejections = sum(self.judgement(response).verdict == "rejected" for response in responses)
        times = [response.seconds for response in responses if response.seconds is not None]
        last = {response.annotator: self.judgement(response) for response in responses}
        adjudication = adjudicate(last, weights)
        if adjudication.agreement == "majority" and self.overlap.adjudicate == "set aside":
            adjudication = Adjudication("disagreement", adjudication.reason)
        disputes = {name: judgement for name, judgement in last.items() if judgement.verdict == "disputed"}
        verdict: AnnotationVerdict
        names, equation = tuple(last), None
        if disputes:  # also if another annotator has an equation: somebody has to look
            verdict, names = "disputed", tuple(disputes)
            reason = "; ".join(f"{name}: {judgement.reason}" for name, judgement in disputes.items())
        elif adjudication.agreement == "disagreement":
            verdict, reason = "disputed", adjudication.reason
        elif adjudication.agreement != "none":
            verdict, reason, names = "accepted", adjudication.reason, adjudication.annotators
            equation = adjudication.equation
        else:
            latest = list(last.values())[-1]
            verdict = "rejected" if latest.verdict == "rejected" else "skipped"
            reason, equation = latest.reason, latest.equation
        accepted = verdict == "accepted"
        disagreement = not disputes and adjudication.agreement == "disagreement"
        answered = sum(judgement.verdict != "rejected" for judgement in last.values())
        wanted = self.overlap.wanted(problem_id)
        if disagreement and self.overlap.asks_one_more(answered, problem_id):
            wanted = answered + 1
        return Resolution(
            verdict,
            reason,
            equation,
            adjudication.template if accepted else None,
            adjudication.klasses if accepted else frozenset(),
            names,
            rejections,
            sum(times) if times else None,
            disagreement,
            max(0, wanted - answered),
            next((one for one in reversed(last.values()) if one.verdict == "rejected"), None),
        )

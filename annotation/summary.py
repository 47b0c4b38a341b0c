"""What the annotations of a task store amount to: the annotations table, and figures about annotators."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import polars as pl

from annotation.interface import HOTKEYS
from annotation.store import TaskStore
from toolkit.annotators.judge import AnnotationVerdict, Judgement, adjudicate, judge
from toolkit.annotators.questions import Question, Response, ShownCandidate
from toolkit.annotators.resolve import Resolution, Resolver
from toolkit.annotators.team import Team
from toolkit.annotators.wording import complaint, shown_candidates
from toolkit.data import Candidates, ProblemSet
from toolkit.data.numbers import find_numbers
from toolkit.data.schema import ANNOTATIONS
from toolkit.equations import Constant


@dataclass(frozen=True)
class JudgedResponse:
    response: Response
    judgement: Judgement


@dataclass(frozen=True)
class AnnotatorFigures:
    """One row of the status: what an annotator did in a round."""

    round: int
    annotator: str
    verdicts: dict[AnnotationVerdict, int]
    per_hour: float | None  # by the time that Label Studio measured


@dataclass(frozen=True)
class Status:
    tasks: int
    answered: int  # tasks that somebody annotated or skipped
    figures: tuple[AnnotatorFigures, ...]
    shared: int  # problems for which several annotators gave an accepted equation
    agreed: int  # of these, those in which all mean the same

    @property
    def open(self) -> int:
        return self.tasks - self.answered


class AnnotationSummary:
    """Judges the responses of a task store, with the constants that equations may use."""

    def __init__(self, store: TaskStore, constants: Sequence[Constant], more_constants: bool = True) -> None:
        self.store, self.constants, self.more_constants = store, tuple(constants), more_constants
        self._asked: dict[str, tuple[tuple[Fraction, ...], float]] = {}

    def judgement(self, response: Response) -> Judgement:
        if response.problem_id not in self._asked:
            for key, (text, answer, lang) in self.store.asked().items():
                numbers = tuple(operand.value for operand in find_numbers(text, lang))
                self._asked[key.problem_id] = (numbers, answer)
        numbers, answer = self._asked.get(response.problem_id, ((), 0.0))
        return judge(response, numbers, answer, self.constants, self.more_constants)

    def judged(self) -> list[JudgedResponse]:
        """All responses that count; withdrawn ones do not."""
        return [
            JudgedResponse(response, self.judgement(response))
            for response in self.store.responses()[0]
            if response.kind != "withdrawn"
        ]

    def team(self) -> Team:
        """All annotators. Gold questions and the order of candidates are known to a run alone."""
        return Team((item.response, item.judgement) for item in self.judged())

    def table(self) -> pl.DataFrame:
        """The annotations table of the design."""
        rows = [
            (
                item.response.problem_id,
                item.response.equation,
                item.response.template,
                item.judgement.verdict,
                item.judgement.reason or None,
                item.response.annotator,
                item.response.external_id,
                item.response.updated_at,
                item.response.round,
                item.response.seconds,
            )
            for item in self.judged()
        ]
        return pl.DataFrame(rows, schema=ANNOTATIONS, orient="row")

    def status(self) -> Status:
        tasks = {task for task, key in self.store.tasks().items() if key is not None}
        latest = self.store.latest().values()
        answered = {raw.task_id for raw in latest if raw.result is not None} & tasks
        groups: dict[tuple[int, str], list[JudgedResponse]] = defaultdict(list)
        accepted: dict[str, dict[str, Judgement]] = defaultdict(dict)  # the last word of each annotator
        for item in self.judged():
            groups[item.response.round, item.response.annotator].append(item)
            accepted[item.response.problem_id].pop(item.response.annotator, None)
            if item.judgement.verdict == "accepted":
                accepted[item.response.problem_id][item.response.annotator] = item.judgement
        shared = [judgements for judgements in accepted.values() if len(judgements) > 1]
        return Status(
            len(tasks),
            len(answered),
            tuple(_figures(*group, items) for group, items in sorted(groups.items())),
            len(shared),
            sum(adjudicate(judgements).agreement == "agreed" for judgements in shared),
        )


def _figures(round_: int, annotator: str, items: Sequence[JudgedResponse]) -> AnnotatorFigures:
    verdicts: dict[AnnotationVerdict, int] = defaultdict(int)
    for item in items:
        verdicts[item.judgement.verdict] += 1
    times = [item.response.seconds for item in items if item.response.seconds]
    per_hour = 3600 * len(times) / sum(times) if times else None
    return AnnotatorFigures(round_, annotator, dict(verdicts), per_hour)


def questions_of(
    problems: ProblemSet, candidates: Candidates | None, round_: int, store: TaskStore | None
) -> list[Question]:
    """The questions to ask outside a loop. If a response was rejected, its problem is asked again, with the
    reason. Candidates are sorted by their text, which does not reveal the likeliest.
    """
    responses = store.responses()[0] if store else []
    resolutions = Resolver(problems).resolve(response for response in responses if response.round == round_)
    questions = []
    for row, (problem_id, text) in enumerate(problems.table.select("id", "text").iter_rows()):
        resolution = resolutions.get(problem_id)
        rejected = resolution if resolution is not None and resolution.verdict == "rejected" else None
        top = candidates.top.get(problem_id) if candidates else None
        questions.append(
            Question(
                problem_id,
                round_,
                text,
                problems.answers[row],
                problems.langs[row],
                problems.numbers[row],
                _shown(problems, candidates, problem_id),
                _complaint(problems, row, rejected) if rejected else None,
                rejected.rejections if rejected else 0,
                top.posterior if top else None,
            )
        )
    return questions


def _complaint(problems: ProblemSet, row: int, rejected: Resolution) -> str:
    facts = problems.numbers[row], problems.answers[row], problems.constants
    return complaint(problems.langs[row], rejected.equation or "", rejected.reason, *facts)


def _shown(
    problems: ProblemSet, candidates: Candidates | None, problem_id: str
) -> tuple[ShownCandidate, ...]:
    rows = candidates.by_problem.get(problem_id) if candidates else None
    if rows is None:
        return ()
    best = rows.sort("posterior", descending=True, maintain_order=True).head(len(HOTKEYS))
    return tuple(sorted(shown_candidates(problems, problem_id, best["template"])))

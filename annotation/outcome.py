"""What a book comes to: the annotations table, the standing of each problem, and figures about people."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import polars as pl

from annotation.book import Book
from annotation.page import HOTKEYS
from toolkit.data.candidates import likeliest
from toolkit.data.numbers import find_numbers
from toolkit.data.schema import ANNOTATIONS, numbers_of
from toolkit.equations import Constant
from toolkit.loop.annotator import Question, Response
from toolkit.loop.standing import Judge, Standing
from toolkit.loop.validate import Judgement, adjudicate, judge


@dataclass(frozen=True)
class Said:
    """A response that counts, and what is thought of it."""

    response: Response
    judgement: Judgement


@dataclass(frozen=True)
class Figures:
    """One row of the status: what an annotator did in a round."""

    round: int
    annotator: str
    verdicts: dict[str, int]
    per_hour: float | None  # of the time that Label Studio measured


@dataclass(frozen=True)
class Status:
    tasks: int
    answered: int  # tasks that somebody annotated or skipped
    figures: tuple[Figures, ...]
    shared: int  # problems for which several annotators gave an equation that holds
    agreed: int  # of these, where all mean the same

    @property
    def open(self) -> int:
        return self.tasks - self.answered


class Outcome:
    """Judges what a book holds, by the constants that equations may use."""

    def __init__(self, book: Book, constants: Sequence[Constant]) -> None:
        self.book, self.constants = book, tuple(constants)
        self._asked: dict[str, tuple[tuple[Fraction, ...], float]] = {}

    def judged(self, response: Response) -> Judgement:
        if response.problem_id not in self._asked:
            for key, (text, answer, lang) in self.book.asked().items():
                numbers = tuple(operand.value for operand in find_numbers(text, lang))
                self._asked[key.problem_id] = (numbers, answer)
        numbers, answer = self._asked.get(response.problem_id, ((), 0.0))
        return judge(response, numbers, answer, self.constants)

    def said(self) -> list[Said]:
        """Everything that counts; what was withdrawn does not."""
        responses = self.book.responses()[0]
        return [Said(one, self.judged(one)) for one in responses if one.kind != "withdrawn"]

    def table(self) -> pl.DataFrame:
        """The annotations table of the design."""
        rows = [
            (
                one.response.problem_id,
                one.response.equation,
                one.judgement.verdict,
                one.judgement.reason or None,
                one.response.annotator,
                one.response.external_id,
                one.response.updated_at,
                one.response.round,
            )
            for one in self.said()
        ]
        return pl.DataFrame(rows, schema=ANNOTATIONS, orient="row")

    def status(self) -> Status:
        tasks = {task for task, key in self.book.tasks().items() if key is not None}
        latest = self.book.latest().values()
        answered = {raw.task_id for raw in latest if raw.result is not None} & tasks
        groups: dict[tuple[int, str], list[Said]] = defaultdict(list)
        words: dict[str, dict[str, Judgement]] = defaultdict(dict)
        for one in self.said():
            groups[one.response.round, one.response.annotator].append(one)
            words[one.response.problem_id][one.response.annotator] = one.judgement
        several = [
            accepted
            for by_name in words.values()
            if len(accepted := {n: j for n, j in by_name.items() if j.verdict == "accepted"}) > 1
        ]
        return Status(
            len(tasks),
            len(answered),
            tuple(_figures(*group, said) for group, said in sorted(groups.items())),
            len(several),
            sum(adjudicate(one).outcome == "agreed" for one in several),
        )


def _figures(round_: int, annotator: str, said: Sequence[Said]) -> Figures:
    verdicts: dict[str, int] = defaultdict(int)
    for one in said:
        verdicts[one.judgement.verdict] += 1
    timed = [one.response.seconds for one in said if one.response.seconds]
    return Figures(round_, annotator, dict(verdicts), 3600 * len(timed) / sum(timed) if timed else None)


def questions_of(
    problems: pl.DataFrame,
    candidates: pl.DataFrame | None,
    round_: int,
    book: Book | None,
    constants: Sequence[Constant],
) -> list[Question]:
    """What is to be asked outside a loop; again, with the reason, where an answer was rejected.

    Candidates stand in the order of their text, which says nothing of the likeliest.
    """
    numbers = numbers_of(problems)
    said = [one for one in book.responses()[0] if one.round == round_] if book else []
    standings: dict[str, Standing] = Judge(problems, numbers, constants).standings(said)
    shown: dict[str, list[str]] = {}
    sure: dict[str, float] = {}
    if candidates is not None:
        best = candidates.sort("posterior", descending=True, maintain_order=True)
        best = best.group_by("problem_id", maintain_order=True).head(len(HOTKEYS))
        for name, equation in best.select("problem_id", "equation").iter_rows():
            shown.setdefault(name, []).append(equation)
        sure = dict(likeliest(candidates).select("problem_id", "posterior").iter_rows())
    questions = []
    for row, its in zip(problems.iter_rows(named=True), numbers, strict=True):
        standing = standings.get(row["id"])
        again = standing is not None and standing.verdict == "rejected"
        questions.append(
            Question(
                row["id"],
                round_,
                row["text"],
                row["answer"],
                row["lang"],
                tuple(its),
                tuple(sorted(shown.get(row["id"], ()))),
                standing.reason if standing and again else None,
                standing.rejections if standing and again else 0,
                sure.get(row["id"]),
            )
        )
    return questions

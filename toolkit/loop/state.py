"""The state of a run: its problems, D_s at each round, its candidates, and their figures."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import cached_property
from hashlib import blake2b
from typing import Any

import numpy as np
import polars as pl

from toolkit.active.confidence import fit_temperature
from toolkit.active.stopping import Progress
from toolkit.active.trust import fit_trust
from toolkit.annotators.judge import AnnotationVerdict, Judgement
from toolkit.annotators.questions import Question
from toolkit.annotators.resolve import Resolution
from toolkit.annotators.team import Team
from toolkit.annotators.wording import complaint
from toolkit.compute import Compute
from toolkit.data import Candidates, ProblemSet
from toolkit.data.constants import joined
from toolkit.equations import Constant, Expr, show
from toolkit.errors import WarmkitError
from toolkit.loop.gold import given_equations
from toolkit.loop.ledger import GOLD, BatchItem, last_opened
from toolkit.loop.round import Round
from toolkit.loop.run import Run
from toolkit.loop.team import resolved, resolver_of, team_of
from toolkit.loop.trust import PRIOR, Floats, facts_of, with_trust

GOLD_PEOPLE = 10  # who may answer a gold question; the loop waits for the first of them
CALIBRATION_CASES = 10  # with fewer known equations a temperature would be a guess


class RunState:
    """Reads the folder and the ledger of a run, and caches what does not change. It writes nothing."""

    def __init__(self, run: Run) -> None:
        self.run, self.config, self.ledger = run, run.config, run.ledger
        self.problems, self.test = run.problems, run.test
        self._resolver = resolver_of(self.problems, self.config)
        self._with_constants: dict[tuple[Constant, ...], ProblemSet] = {}
        self._resolutions: tuple[object, dict[str, Resolution]] = (None, {})
        self._team: tuple[object, Team] = (None, Team(()))
        self._aside: dict[int, frozenset[str]] = {}
        self._candidates: dict[int, Candidates] = {}
        self._known: dict[int, dict[str, Expr]] = {}
        self._asked_facts: dict[int, Mapping[str, Floats]] = {}
        for item in self.ledger.batch():
            if item.problem_id not in self.problems.row:
                raise WarmkitError(
                    f"{run.folder}: annotators were asked about problem {item.problem_id[:60]!r}, but it is "
                    "not in problems.parquet: one of the two is damaged."
                )

    def resolutions(self) -> Mapping[str, Resolution]:
        """The resolution of each problem that has responses.

        Gold questions have none, and what annotators wrote who are set aside does not count.
        """
        aside = self.set_aside()
        version = (self.ledger.responses_version(), aside)
        if self._resolutions[0] != version:
            self._resolutions = (version, self._resolve(aside))
        return self._resolutions[1]

    def _resolve(self, aside: Collection[str]) -> dict[str, Resolution]:
        weighing = self.team() if self.config.annotator.votes == "weighted" else None
        return resolved(self.ledger, self._resolver, aside, weighing)

    def team(self) -> Team:
        """All annotators so far."""
        version = self.ledger.responses_version()
        if self._team[0] != version:
            self._team = (version, team_of(self.ledger, self._resolver))
        return self._team[1]

    def set_aside(self) -> frozenset[str]:
        """Annotators whose responses do not count since the last round was opened."""
        last = last_opened(self.ledger)
        if last not in self._aside:
            opened = self.ledger.result(last, "open")
            if opened is None:
                return frozenset()
            self._aside[last] = frozenset(opened["set_aside"])
        return self._aside[last]

    def verdicts(self) -> list[AnnotationVerdict]:
        """The verdict on each response that was not withdrawn."""
        return [
            self._resolver.judgement(response).verdict
            for response in self.ledger.responses()
            if response.problem_id in self.problems.row and response.kind != "withdrawn"
        ]

    def candidates(self, round_: int) -> Candidates:
        """The candidates of a round that has generated."""
        if round_ not in self._candidates:
            self._candidates[round_] = self.run.candidates(round_)
        return self._candidates[round_]

    def remember(self, round_: int, candidates: Candidates) -> None:
        """Cache candidates that were just written, so that they are not read again."""
        self._candidates[round_] = candidates

    # D_s

    def snapshot(self) -> dict[str, Any]:
        """The current D_s as templates, and how many problems annotators have settled."""
        aside = sorted(self.team().unreliable()) if self.config.annotator.set_aside else []
        resolutions = self._resolve(aside)
        accepted = {
            problem_id: resolution.template
            for problem_id, resolution in resolutions.items()
            if resolution.template is not None
        }
        templates = {problem_id: show(template) for problem_id, template in (self.given | accepted).items()}
        return {
            "templates": templates,
            "answered": sum(map(self.is_settled, resolutions.values())),
            "set_aside": aside,
        }

    @cached_property
    def given(self) -> dict[str, Expr]:
        """D_s before anybody is asked: problem → template."""
        return given_equations(self.problems, self.config)

    def known(self, round_: int) -> dict[str, Expr]:
        """D_s when the round began: problem → template."""
        if round_ not in self._known:
            if self.ledger.result(round_, "open") is None:
                return {}
            self._known[round_] = self.run.known(round_)
        return self._known[round_]

    def answered(self, round_: int) -> int:
        """How many problems annotators had settled when the round began."""
        opened = self.ledger.result(round_, "open")
        return opened["answered"] if opened else 0

    def labels(self, round_: int) -> int:
        """How many equations of D_s came from annotators when the round began."""
        return len(self.known(round_).keys() - self.given.keys())

    def round(self, round_: int, compute: Compute) -> Round:
        """The round as a `Round`, which trains and generates."""
        return Round(self.problems_in(round_), self.known(round_), self.config, compute)

    def problems_in(self, round_: int) -> ProblemSet:
        """The problems with the V_const of a round."""
        constants = joined(self.problems.constants, self.known(round_).values())
        if constants not in self._with_constants:
            self._with_constants[constants] = self.problems.with_constants(constants)
        return self._with_constants[constants]

    # Asking

    def askable(self, round_: int) -> list[str]:
        """Problems that are not in D_s and have no response.

        The oracle is only asked about problems with a gold equation. The others stay in D_w.
        """
        known, resolutions = self.known(round_), self.resolutions()
        problem_ids: Sequence[str] = self.problems.ids
        if "oracle" in self.config.annotator.names:
            problem_ids = self.problems.table.filter(pl.col("equation").is_not_null())["id"].to_list()
        return [
            problem_id
            for problem_id in problem_ids
            if problem_id not in known and problem_id not in resolutions
        ]

    def is_settled(self, resolution: Resolution) -> bool:
        """Whether enough people have answered, or too many answers were rejected."""
        return not resolution.missing or resolution.rejections >= self.config.annotator.attempts

    def questions(self, batch: Sequence[BatchItem]) -> list[Question]:
        """The unsettled problems of a batch as questions, with the complaint about the last answer."""
        resolutions, table, revoked = self.resolutions(), self.problems.table, self.ledger.revoked()
        answered = {response.problem_id for response in self.ledger.responses()}
        unsettled = []
        for item in batch:
            if item.kind == GOLD and item.problem_id in answered:
                continue  # right or wrong: it is not asked again
            resolution, row = resolutions.get(item.problem_id), self.problems.row[item.problem_id]
            if resolution is not None and self.is_settled(resolution):
                continue
            top = self.candidates(item.round).top.get(item.problem_id)
            unsettled.append(
                Question(
                    problem_id=item.problem_id,
                    round=item.round,
                    text=table["text"][row],
                    answer=self.problems.answers[row],
                    lang=self.problems.langs[row],
                    numbers=self.problems.numbers[row],
                    candidates=item.candidates,
                    complaint=self._complaint(resolution.rejected, row) if resolution else None,
                    attempt=(resolution.rejections if resolution else 0)
                    + revoked.get((item.problem_id, item.round), 0),
                    confidence=top.posterior if top else None,
                    wanted=self._wanted(item, resolution),
                )
            )
        return unsettled

    def _wanted(self, item: BatchItem, resolution: Resolution | None) -> int:
        if item.kind == GOLD:
            return GOLD_PEOPLE
        return resolution.missing if resolution else self.config.overlap.wanted(item.problem_id)

    def _complaint(self, rejected: Judgement | None, row: int) -> str | None:
        if rejected is None:
            return None
        problems = self.problems
        return complaint(
            problems.langs[row],
            rejected.equation or "",
            rejected.reason,
            problems.numbers[row],
            problems.answers[row],
            problems.constants,
        )

    # Figures

    def temperature(self, round_: int) -> float:
        """The temperature, fitted on the scores that earlier models gave to problems before the responses."""
        scores: list[Mapping[Any, float]] = []
        known: list[int | None] = []
        for before, item, right in self._answered_before(round_):
            classes = self.candidates(before).scores.get(item.problem_id)
            if classes is not None:
                scores.append(classes)
                known.append(next((klass for klass in classes if klass in right), None))
        cases = sum(
            klass is not None and len(classes) > 1 for classes, klass in zip(scores, known, strict=True)
        )
        return fit_temperature(scores, known) if cases >= CALIBRATION_CASES else 1.0

    def trusted(self, round_: int, candidates: Candidates) -> Candidates:
        """The candidates of a round with the confidence that responses taught.

        It is learnt from what earlier models found for problems before the responses.
        """
        seen: list[Floats] = []
        right: list[bool] = []
        for before, item, classes in self._answered_before(round_):
            facts = self._facts(before).get(item.problem_id)
            if facts is not None:
                seen.append(facts)
                right.append(self.candidates(before).top[item.problem_id].klass in classes)
        trust = fit_trust(PRIOR, np.array(seen), right)
        return with_trust(candidates, facts_of(candidates, self.problems), trust)

    def _answered_before(self, round_: int) -> Iterator[tuple[int, BatchItem, frozenset[int]]]:
        """What was asked in each earlier round, and the classes that annotators accept as right."""
        resolutions = self.resolutions()
        for before in range(1, round_):
            for item in self.ledger.batch(before):
                resolution = resolutions.get(item.problem_id)
                if resolution is not None and resolution.klasses:
                    yield before, item, resolution.klasses

    def _facts(self, round_: int) -> Mapping[str, Floats]:
        """The facts of the problems that were asked about in a round."""
        if round_ not in self._asked_facts:
            asked = {item.problem_id for item in self.ledger.batch(round_)}
            table = self.candidates(round_).table
            chosen = Candidates(table.filter(pl.col("problem_id").is_in(asked)))
            self._asked_facts[round_] = facts_of(chosen, self.problems)
        return self._asked_facts[round_]

    def measured(self, round_: int, candidates: Candidates, gold: float | None) -> dict[str, float | None]:
        """The figures of a round; `gold` is the share of gold-equivalent equations."""
        known, top = self.known(round_), candidates.top
        confidences = [
            top[problem_id].posterior if problem_id in top else 0.0
            for problem_id in self.problems.ids
            if problem_id not in known
        ]
        mean = float(np.mean(confidences)) if confidences else 1.0
        reached = [problem_id in top or problem_id in known for problem_id in self.problems.ids]
        return {
            "labels": self.labels(round_),
            "known": len(known),
            "reached": float(np.mean(reached)),
            "gold_equivalent": gold,
            "random_error": self._random_error(round_),
            "confidence": mean,
            "uncertainty": 1 - mean,
        }

    def _random_error(self, round_: int) -> float | None:
        """An unbiased estimate of the share of wrong equations, from the random picks of earlier rounds."""
        right = []
        for before, item, classes in self._answered_before(round_):
            if item.kind == "random":
                found = self.candidates(before).top.get(item.problem_id)
                right.append(found is not None and found.klass in classes)
        return 1 - sum(right) / len(right) if right else None

    def history(self, round_: int) -> list[Progress]:
        """The input of the stopping rules: one entry per round so far."""
        shuffled = sorted(self.problems.ids, key=lambda problem_id: digest(self.config.seed, problem_id))
        fixed = shuffled[: self.config.active.fixed]
        history = []
        for done in range(1, round_ + 1):
            result, top = self.ledger.result(done, "generate"), self.candidates(done).top
            assert result is not None
            solver = self.ledger.result(done, "solver")
            history.append(
                Progress(
                    labels=self.answered(done),
                    pool=len(self.askable(done)),
                    predictions=[
                        top[problem_id].klass if problem_id in top else None for problem_id in fixed
                    ],
                    uncertainty=result["uncertainty"],
                    figure=solver["answer_accuracy"] if solver else result["reached"],
                )
            )
        return history


def digest(*parts: object) -> bytes:
    """A sort key that depends on the parts alone."""
    return blake2b("\n".join(map(str, parts)).encode(), digest_size=8).digest()

"""The state of a run: its problems, D_s at each round, its candidates, and their figures."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from hashlib import blake2b
from heapq import nsmallest
from typing import Any

import numpy as np
import polars as pl

from toolkit.active.stopping import Progress
from toolkit.annotators.judge import AnnotationVerdict, Judgement
from toolkit.annotators.questions import Question
from toolkit.annotators.resolve import Resolution, Resolver
from toolkit.annotators.team import Team
from toolkit.annotators.wording import complaint
from toolkit.compute import Compute
from toolkit.data import Candidates, ProblemSet
from toolkit.data.constants import joined
from toolkit.data.split import drawn
from toolkit.equations import Constant, Expr, show
from toolkit.errors import WarmkitError
from toolkit.loop.found import Ints, RoundCandidates
from toolkit.loop.gold import given_equations
from toolkit.loop.ledger import GOLD, BatchItem, last_opened
from toolkit.loop.round import Round
from toolkit.loop.run import Run
from toolkit.loop.team import answered_problems, resolved, resolver_of, team_of
from toolkit.loop.trust import Floats

GOLD_PEOPLE = 10  # who may answer a gold question; the loop waits for the first of them


class RunState:
    """Reads the folder and the ledger of a run, and caches what does not change. It writes nothing."""

    def __init__(self, run: Run) -> None:
        self.run, self.config, self.ledger, self.stored = run, run.config, run.ledger, run.stored
        self._resolver = resolver_of(self.stored.few(()), self.config)
        self._with_constants: dict[tuple[Constant, ...], ProblemSet] = {}
        self._resolutions: tuple[object, dict[str, Resolution]] = (None, {})
        self._team: tuple[object, Team] = (None, Team(()))
        self._aside: dict[int, frozenset[str]] = {}
        self._found: dict[int, RoundCandidates] = {}
        self._own: dict[int, Candidates] = {}  # whose templates are checked
        self._asked: dict[int, Asked] = {}
        self._compared: dict[int, list[int | None]] = {}
        self._known: dict[int, dict[str, Expr]] = {}
        batch = self.ledger.batch()
        problems = self.stored.few({item.problem_id for item in batch})
        for item in batch:
            if item.problem_id not in problems.row:
                raise WarmkitError(
                    f"{run.folder}: annotators were asked about problem {item.problem_id[:60]!r}, but it is "
                    "not in problems.parquet: one of the two is damaged."
                )

    @property
    def problems(self) -> ProblemSet:
        """The problems to learn from, all of them in memory."""
        return self.run.problems

    @property
    def test(self) -> ProblemSet:
        """The problems that the solver is measured on."""
        return self.run.test

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
        return resolved(self.ledger, self.resolver, aside, weighing)

    @property
    def resolver(self) -> Resolver:
        """Who judges responses."""
        self._resolver.problems = answered_problems(self.stored, self.ledger)
        return self._resolver

    def team(self) -> Team:
        """All annotators so far."""
        version = self.ledger.responses_version()
        if self._team[0] != version:
            self._team = (version, team_of(self.ledger, self.resolver))
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
        resolver = self.resolver
        return [
            resolver.judgement(response).verdict
            for response in self.ledger.responses()
            if response.problem_id in resolver.problems.row and response.kind != "withdrawn"
        ]

    def found(self, round_: int) -> RoundCandidates:
        """What a round found, on disk."""
        if round_ not in self._found:
            self._found[round_] = self.run.found(round_)
        return self._found[round_]

    def candidates(self, round_: int) -> Candidates:
        """The candidates of a round that has generated, all of them in memory."""
        found = self.found(round_)
        whole = found.whole()
        if self._own.get(round_) is not whole:
            self.run.with_own_templates(whole, found)
        if self.stored.is_held:
            self._own[round_] = whole
        return whole

    def asked(self, round_: int) -> "Asked":
        """What a round that has chosen had found for the problems that were asked about."""
        if round_ not in self._asked:
            ids = {item.problem_id for item in self.ledger.batch(round_)}
            self._asked[round_] = self.found_for(round_, ids)
        return self._asked[round_]

    def found_for(self, round_: int, ids: Collection[str]) -> "Asked":
        """What a round found for some problems."""
        found = self.found(round_)
        rows = found.tops_of(ids).filter(pl.col("classes") > 0).iter_rows(named=True)
        candidates = self.run.with_own_templates(found.of(ids), found)
        return Asked(candidates, {row["problem_id"]: np.array(row["facts"]) for row in rows})

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
        return given_equations(self.stored, self.config)

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

    def constants_in(self, round_: int) -> tuple[Constant, ...]:
        """V_const of a round."""
        return joined(self.stored.constants, self.known(round_).values())

    def lessons(self, round_: int, compute: Compute) -> tuple[Round, Candidates]:
        """What the solver of a round learns from: problems in memory, and their candidates."""
        limit, found = self.config.solver_limit, self.found(round_)
        if limit is None or limit >= len(self.stored):
            return self.round(round_, compute), self.candidates(round_)
        known = self.known(round_)
        others = self.stored.ids.filter(~self.stored.ids.is_in(list(known)))
        ids = {*known, *drawn(others, limit - len(known), self.config.seed)}
        problems = self.stored.chosen(ids).with_constants(self.constants_in(round_))
        candidates = self.run.with_own_templates(found.of(ids), found)
        return Round(problems, known, self.config, compute), candidates

    def problems_in(self, round_: int) -> ProblemSet:
        """The problems with the V_const of a round, all of them in memory."""
        constants = self.constants_in(round_)
        if not self.stored.is_held:
            return self.problems.with_constants(constants)
        if constants not in self._with_constants:
            self._with_constants[constants] = self.problems.with_constants(constants)
        return self._with_constants[constants]

    # Asking

    def askable(self, round_: int) -> Ints:
        """The rows of problems that are not in D_s and have no response.

        The oracle is only asked about problems with a gold equation. The others stay in D_w.
        """
        free = ~self.stored.ids.is_in([*self.known(round_), *self.resolutions()])
        if "oracle" in self.config.annotator.names:
            free &= self.stored.columns(pl.col("equation").is_not_null())["equation"]
        return free.arg_true().cast(pl.Int64).to_numpy()

    def is_settled(self, resolution: Resolution) -> bool:
        """Whether enough people have answered, or too many answers were rejected."""
        return not resolution.missing or resolution.rejections >= self.config.annotator.attempts

    def questions(self, batch: Sequence[BatchItem]) -> list[Question]:
        """The unsettled problems of a batch as questions, with the complaint about the last answer."""
        resolutions, revoked = self.resolutions(), self.ledger.revoked()
        problems = self.stored.few({item.problem_id for item in batch})
        answered = {response.problem_id for response in self.ledger.responses()}
        unsettled = []
        for item in batch:
            if item.kind == GOLD and item.problem_id in answered:
                continue  # right or wrong: it is not asked again
            resolution, row = resolutions.get(item.problem_id), problems.row[item.problem_id]
            if resolution is not None and self.is_settled(resolution):
                continue
            top = self.asked(item.round).candidates.top.get(item.problem_id)
            unsettled.append(
                Question(
                    problem_id=item.problem_id,
                    round=item.round,
                    text=problems.table["text"][row],
                    answer=problems.answers[row],
                    lang=problems.langs[row],
                    numbers=problems.numbers[row],
                    candidates=item.candidates,
                    complaint=_complaint(resolution.rejected, problems, row) if resolution else None,
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

    # Figures

    def answered_before(self, round_: int) -> Iterator[tuple[int, BatchItem, frozenset[int]]]:
        """What was asked in each earlier round, and the classes that annotators accept as right."""
        resolutions = self.resolutions()
        for before in range(1, round_):
            for item in self.ledger.batch(before):
                resolution = resolutions.get(item.problem_id)
                if resolution is not None and resolution.klasses:
                    yield before, item, resolution.klasses

    def measured(self, round_: int) -> dict[str, float | None]:
        """The figures of a round."""
        tops, known = (
            self.found(round_).tops("problem_id", "classes", "posterior", "right"),
            self.known(round_),
        )
        is_known = tops["problem_id"].is_in(list(known))
        confidences = tops["posterior"].fill_null(0.0).filter(~is_known).to_numpy()
        mean = float(np.mean(confidences)) if len(confidences) else 1.0
        right = tops["right"].drop_nulls()
        return {
            "labels": self.labels(round_),
            "known": len(known),
            "reached": float(np.mean(((tops["classes"] > 0) | is_known).to_numpy())),
            "gold_equivalent": int(right.sum()) / len(right) if len(right) else None,
            "random_error": self._random_error(round_),
            "confidence": mean,
            "uncertainty": 1 - mean,
        }

    def _random_error(self, round_: int) -> float | None:
        """An unbiased estimate of the share of wrong equations, from the random picks of earlier rounds."""
        right = []
        for before, item, classes in self.answered_before(round_):
            if item.kind == "random":
                found = self.asked(before).candidates.top.get(item.problem_id)
                right.append(found is not None and found.klass in classes)
        return 1 - sum(right) / len(right) if right else None

    def history(self, round_: int) -> list[Progress]:
        """The input of the stopping rules: one entry per round so far."""
        history = []
        for done in range(1, round_ + 1):
            result = self.ledger.result(done, "generate")
            assert result is not None
            solver = self.ledger.result(done, "solver")
            history.append(
                Progress(
                    labels=self.answered(done),
                    pool=len(self.askable(done)),
                    predictions=self._predictions(done),
                    uncertainty=result["uncertainty"],
                    figure=solver["answer_accuracy"] if solver else result["reached"],
                )
            )
        return history

    def _predictions(self, round_: int) -> list[int | None]:
        """The top class of each of the problems on which successive models are compared."""
        if round_ not in self._compared:
            rows = self.found(round_).tops_of(self._fixed).select("problem_id", "klass").iter_rows()
            top: dict[str, int | None] = dict(rows)
            self._compared[round_] = [top.get(problem_id) for problem_id in self._fixed]
        return self._compared[round_]

    @cached_property
    def _fixed(self) -> list[str]:
        seed, ids = self.config.seed, self.stored.ids
        return nsmallest(self.config.active.fixed, ids, key=lambda problem_id: digest(seed, problem_id))


@dataclass(frozen=True)
class Asked:
    """What was found for the problems that were asked about in a round."""

    candidates: Candidates
    facts: Mapping[str, Floats]  # of those that have candidates


def _complaint(rejected: Judgement | None, problems: ProblemSet, row: int) -> str | None:
    if rejected is None:
        return None
    return complaint(
        problems.langs[row],
        rejected.equation or "",
        rejected.reason,
        problems.numbers[row],
        problems.answers[row],
        problems.constants,
    )


def digest(*parts: object) -> bytes:
    """A sort key that depends on the parts alone."""
    return blake2b("\n".join(map(str, parts)).encode(), digest_size=8).digest()

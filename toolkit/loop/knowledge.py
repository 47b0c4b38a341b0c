"""What a run knows: its problems, D_s at each round, what was found, and the figures of all that."""

from collections.abc import Mapping, Sequence
from hashlib import blake2b
from typing import Any

import numpy as np
import polars as pl

from toolkit.active.calibration import random_error_estimate
from toolkit.active.candidates import gold_classes
from toolkit.active.confidence import fit_temperature
from toolkit.active.stopping import Progress
from toolkit.data import numbers_of
from toolkit.data.candidates import by_class, likeliest
from toolkit.data.split import chosen_share
from toolkit.loop.annotator import Question
from toolkit.loop.ledger import Asked
from toolkit.loop.run import Run
from toolkit.loop.standing import Judge, Standing

CALIBRATION_CASES = 10  # known equations below which a temperature would be a guess


class Knowledge:
    """Read from the run's folder and ledger; nothing is written here."""

    def __init__(self, run: Run) -> None:
        self.run, self.config, self.ledger = run, run.config, run.ledger
        self.problems, self.test = run.problems(), run.test()
        self.numbers = numbers_of(self.problems)
        self.row = {name: i for i, name in enumerate(self.problems["id"])}
        self.truth = gold_classes(self.problems, run.constants)  # to measure with, and for what is given
        self._judge = Judge(self.problems, self.numbers, run.constants)
        self._sure: dict[int, dict[str, float]] = {}

    def standings(self) -> dict[str, Standing]:
        """What annotators come to, by problem."""
        return self._judge.standings(self.ledger.responses())

    def candidates(self, round_: int) -> pl.DataFrame:
        return pl.read_parquet(self.run.round_folder(round_) / "candidates.parquet")

    # D_s -------------------------------------------------------------------------------------------

    def snapshot(self) -> dict[str, Any]:
        """D_s as it stands now, and how many problems annotators have settled."""
        standings = self.standings()
        accepted = {name: one.equation for name, one in standings.items() if one.verdict == "accepted"}
        answered = sum(self.is_settled(one) for one in standings.values())
        return {"equations": self._given() | accepted, "answered": answered}

    def _given(self) -> dict[str, str | None]:
        """Equations of the data set that are in D_s from the start."""
        chosen = chosen_share(self.problems, self.config.known_share, self.config.seed)
        rows = zip(self.problems["id"], self.problems["equation"], chosen, self.truth, strict=True)
        return {name: equation for name, equation, taken, right in rows if taken and right}

    def known(self, round_: int) -> Mapping[str, str]:
        """D_s when the round began: problem → equation."""
        opened = self.ledger.result(round_, "open")
        return opened["equations"] if opened else {}

    def answered(self, round_: int) -> int:
        """How many problems annotators had settled when the round began."""
        opened = self.ledger.result(round_, "open")
        return opened["answered"] if opened else 0

    def visible(self, round_: int) -> pl.DataFrame:
        """The problems with the equations of D_s, and no others."""
        known = self.known(round_)
        equations = [known.get(name) for name in self.problems["id"]]
        return self.problems.with_columns(equation=pl.Series(equations, dtype=pl.String))

    # Asking ----------------------------------------------------------------------------------------

    def askable(self, round_: int) -> list[str]:
        """Problems that are not in D_s and of which annotators have said nothing.

        The oracle is only asked what it can answer: a problem without a gold equation stays in D_w.
        """
        known, standings = self.known(round_), self.standings()
        if self.config.annotator.name == "oracle":
            names = self.problems.filter(pl.col("equation").is_not_null())["id"].to_list()
        else:
            names = list(self.row)
        return [name for name in names if name not in known and name not in standings]

    def is_settled(self, standing: Standing) -> bool:
        return standing.verdict != "rejected" or standing.rejections >= self.config.annotator.attempts

    def questions(self, asked: Sequence[Asked]) -> list[Question]:
        """Those of a batch that nobody has settled, with what was wrong with the last answer."""
        standings = self.standings()
        open_ = []
        for one in asked:
            standing, row = standings.get(one.problem_id), self.row[one.problem_id]
            if standing is not None and self.is_settled(standing):
                continue
            open_.append(
                Question(
                    one.problem_id,
                    one.round,
                    self.problems["text"][row],
                    self.problems["answer"][row],
                    self.problems["lang"][row],
                    tuple(self.numbers[row]),
                    one.candidates,
                    standing.reason if standing else None,
                    standing.rejections if standing else 0,
                    self._confidence(one),
                )
            )
        return open_

    def _confidence(self, asked: Asked) -> float | None:
        """How sure the model of the round was; annotators are waited for, so it is looked up once a round."""
        if asked.round not in self._sure:
            found = tops(self.candidates(asked.round))
            batch = (one.problem_id for one in self.ledger.asked(asked.round))
            self._sure[asked.round] = {name: found[name][1] for name in batch if name in found}
        return self._sure[asked.round].get(asked.problem_id)

    # Figures ---------------------------------------------------------------------------------------

    def temperature(self, round_: int) -> float:
        """Fitted on what earlier models thought of problems before annotators told them."""
        scores: list[dict[Any, float]] = []
        known = []
        standings = self.standings()
        for before in range(1, round_):
            found = by_class(self.candidates(before), "log_prob")
            for asked in self.ledger.asked(before):
                standing, its = standings.get(asked.problem_id), found.get(asked.problem_id)
                if its is not None and standing is not None and standing.klasses:
                    scores.append(its)
                    known.append(next((k for k in its if k in standing.klasses), None))
        told = sum(k is not None and len(s) > 1 for s, k in zip(scores, known, strict=True))
        return fit_temperature(scores, known) if told >= CALIBRATION_CASES else 1.0

    def measured(self, round_: int, table: pl.DataFrame) -> dict[str, float | None]:
        """The figures of a round. Gold equations outside D_s are used here only, to measure."""
        known, found = self.known(round_), tops(table)
        said = {name: one.klasses for name, one in self.standings().items() if one.klasses}
        sure = [found[name][1] if name in found else 0.0 for name in self.row if name not in known]
        right = [
            self._is_right(name, truth, said, known, found)
            for name, truth in zip(self.row, self.truth, strict=True)
            if truth
        ]
        return {
            "labels": self.answered(round_),
            "known": len(known),
            "reached": float(np.mean([name in found or name in known for name in self.row])),
            "gold_equivalent": float(np.mean(right)) if right else None,
            "random_error": self._random_error(round_),
            "confidence": float(np.mean(sure)) if sure else 1.0,
            "uncertainty": 1 - float(np.mean(sure)) if sure else 0.0,
        }

    def _random_error(self, round_: int) -> float | None:
        """The share of wrong equations, estimated without bias from the random picks of earlier rounds."""
        standings = self.standings()
        right = []
        for before in range(1, round_):
            found = tops(self.candidates(before))
            for one in self.ledger.asked(before):
                standing = standings.get(one.problem_id)
                if one.kind == "random" and standing is not None and standing.klasses:
                    right.append(one.problem_id in found and found[one.problem_id][0] in standing.klasses)
        estimate = random_error_estimate(right)
        return None if estimate is None else estimate.error

    def _is_right(
        self,
        name: str,
        truth: frozenset[int],
        said: Mapping[str, frozenset[int]],
        known: Mapping[str, str],
        found: Mapping[str, tuple[int, float]],
    ) -> bool:
        """Whether the equation that a problem has now is of the gold class: annotated, given, or found."""
        if name in known:
            return name not in said or bool(said[name] & truth)
        return name in found and found[name][0] in truth

    def history(self, round_: int) -> list[Progress]:
        """What the stopping rules look at: one entry a round so far."""
        by_chance = sorted(self.row, key=lambda name: digest(self.config.seed, name))
        fixed = by_chance[: self.config.active.fixed]
        history = []
        for done in range(1, round_ + 1):
            result, found = self.ledger.result(done, "generate"), tops(self.candidates(done))
            assert result is not None
            solver = self.ledger.result(done, "solver")
            history.append(
                Progress(
                    labels=result["labels"],
                    pool=len(self.askable(done)),
                    predictions=[found[name][0] if name in found else None for name in fixed],
                    uncertainty=result["uncertainty"],
                    figure=solver["answer_accuracy"] if solver else result["reached"],
                )
            )
        return history


def tops(table: pl.DataFrame) -> dict[str, tuple[int, float]]:
    """The likeliest class of each problem that has one, and its posterior."""
    best = likeliest(table).select("problem_id", "klass", "posterior")
    return {name: (its_class, share) for name, its_class, share in best.iter_rows()}


def digest(*parts: object) -> bytes:
    """A number that the parts alone decide, to order by."""
    return blake2b("\n".join(map(str, parts)).encode(), digest_size=8).digest()

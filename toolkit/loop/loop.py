"""Rounds: train, generate, measure; then ask, unless a rule says that it is enough.

    open      D_s as it stands, written down, so that what comes in meanwhile counts from the next round on
    train     WARM-S on D_s and D_w
    generate  candidates with confidence, calibrated on what annotators said of problems before it was learnt
    solver    step two on D_s and the candidates, measured on the test problems
    choose    a batch for the annotators, if no rule ends the run
    annotate  until every problem of the batch is settled, or nobody answers any more

A stage is done when the ledger says so. Whatever a kill interrupts is done again from the same inputs with
the same seeds: the run ends as it would have ended.
"""

import time
from collections.abc import Callable, Mapping
from typing import Any

import polars as pl
import torch

from toolkit.active.candidates import candidates_table
from toolkit.active.stopping import Stop, why_stop
from toolkit.compute import Compute, Here
from toolkit.data.write import write_table
from toolkit.loop.annotator import Annotator
from toolkit.loop.knowledge import Knowledge
from toolkit.loop.ledger import Asked
from toolkit.loop.run import Run
from toolkit.loop.selection import choose_batch
from toolkit.loop.view import Quiet, View
from toolkit.solvers.evaluate import accuracies
from toolkit.solvers.solver import Solver
from toolkit.warm.checkpoint import Trained, load_trained
from toolkit.warm.generate import Generated

PART = 512  # problems that are generated for at a time
SLOWEST_POLL = 30.0  # seconds
INTERRUPT = Stop("interrupt", "It was stopped from the keyboard; --resume goes on.")


class Loop:
    def __init__(
        self,
        run: Run,
        annotator: Annotator,
        view: View | None = None,
        compute: Compute | None = None,
        device: torch.device | None = None,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self.run, self.config, self.ledger = run, run.config, run.ledger
        self.annotator, self.view = annotator, view or Quiet()
        self.device, self.sleep = device or torch.device("cpu"), sleep
        self.compute = compute or Here(self.device)
        self.knowledge = Knowledge(run)

    def go(self) -> Stop:
        """Rounds until a rule says stop, then the references. What ended the run is in the ledger."""
        round_ = 1
        try:
            while True:
                self._open(round_)
                self._train(round_)
                self._generate(round_)
                if self.config.solver_each_round:
                    self._solver(round_)
                stop = why_stop(self.knowledge.history(round_), self.config.stop)
                if stop is not None:
                    break
                self._choose(round_)
                self._annotate(round_)
                round_ += 1
            self._solver(round_)
            self._references(round_)
        except KeyboardInterrupt:
            stop = INTERRUPT
        with self.ledger.transaction():
            self.ledger.set_fact("end", {"rule": stop.rule, "sentence": stop.sentence, "round": round_})
        return stop

    def _stage(
        self,
        round_: int,
        name: str,
        work: Callable[[], Mapping[str, Any]],
        settle: Callable[[Mapping[str, Any]], None] = lambda result: None,
    ) -> Mapping[str, Any]:
        """Do the work, unless it is done; `settle` writes to the ledger in the transaction that ends it."""
        done = self.ledger.result(round_, name)
        if done is not None:
            return done
        self.view.stage(round_, name)
        begun = time.perf_counter()
        result = work()
        with self.ledger.transaction():
            settle(result)
            self.ledger.finish(round_, name, time.perf_counter() - begun, result)
        return result

    def _open(self, round_: int) -> None:
        known = self._stage(round_, "open", self.knowledge.snapshot)
        self.view.figures(known=len(known["equations"]), labels=known["answered"])

    def _train(self, round_: int) -> None:
        def work() -> dict[str, Any]:
            visible, out = self.knowledge.visible(round_), self.run.round_folder(round_) / "model"
            warm_start = self.config.warm_start and round_ > 1
            settings = {"seed": self.config.seed}
            if warm_start:
                settings["epochs"] = self.config.later_epochs
            config = self.config.warm.model_copy(
                update={"train": self.config.warm.train.model_copy(update=settings)}
            )
            trained = self.compute.train(
                visible,
                config,
                out,
                label=f"{self.run.name}-round-{round_:02d}",
                gold=visible["equation"].is_not_null().to_list(),
                constants=self.run.constants,
                resume=(out / "model.json").exists(),
                start=self.run.round_folder(round_ - 1) / "model" if warm_start else None,
                on_epoch=lambda done: self.view.progress(done.epoch, config.train.epochs),
            )
            return {"epochs": len(trained.history)}

        self._stage(round_, "train", work)

    def _generate(self, round_: int) -> None:
        def work() -> dict[str, Any]:
            problems, settings = self.knowledge.problems, self.config.generate
            generated: list[Generated] = []
            for found in self.compute.generate(
                self._model(round_),
                problems.iter_slices(PART),
                width=settings.width,
                searched=settings.search,
            ):
                generated += found
                self.view.progress(len(generated), len(problems))
            temperature = self.knowledge.temperature(round_)
            table = candidates_table(generated, problems, temperature)
            write_table(table, self.run.round_folder(round_) / "candidates.parquet")
            return {"temperature": temperature, **self.knowledge.measured(round_, table)}

        figures = self._stage(
            round_, "generate", work, lambda result: self.ledger.measure(round_, "pool", result)
        )
        self.view.figures(reached=figures["reached"], confidence=figures["confidence"])

    def _model(self, round_: int) -> Trained:
        return load_trained(self.run.round_folder(round_) / "model", self.device)

    def _solver(self, round_: int) -> None:
        def work() -> Mapping[str, Any]:
            solver = self._fit(self.knowledge.visible(round_), self.knowledge.candidates(round_))
            solver.save(self.run.round_folder(round_) / "solver")
            return accuracies(solver, self.knowledge.test)

        figures = self._stage(
            round_, "solver", work, lambda result: self.ledger.measure(round_, "test", result)
        )
        self.view.figures(answer_accuracy=figures["answer_accuracy"])

    def _fit(self, problems: pl.DataFrame, candidates: pl.DataFrame | None) -> Solver:
        config = self.config.solver.model_copy(update={"seed": self.config.seed})
        return Solver.fit(
            self.config.solver_kind,
            problems,
            candidates,
            config,
            gold=problems["equation"].null_count() < len(problems),
            constants=self.run.constants,
            device=self.device,
            on_epoch=lambda done: self.view.progress(
                done.member * config.epochs + done.epoch, config.members * config.epochs
            ),
        )

    def _references(self, round_: int) -> None:
        """The two lines that a run is compared with: no annotations, and everything annotated."""
        knowledge = self.knowledge

        def nothing() -> Mapping[str, Any]:
            return accuracies(self._fit(knowledge.visible(1), knowledge.candidates(1)), knowledge.test)

        if not self.config.references:
            return
        if self.ledger.result(1, "solver") is None:  # else it is the solver of the first round
            self._stage(round_, "no annotations", nothing)
        if all(knowledge.truth):
            self._stage(
                round_,
                "everything annotated",
                lambda: accuracies(self._fit(knowledge.problems, None), knowledge.test),
            )

    def _choose(self, round_: int) -> None:
        def work() -> dict[str, Any]:
            batch = choose_batch(self.knowledge, round_, self._model(round_))
            return {"batch": [(one.problem_id, one.why, one.kind, one.candidates) for one in batch]}

        def settle(result: Mapping[str, Any]) -> None:
            self.ledger.ask(
                [
                    Asked(round_, name, why, kind, tuple(candidates))
                    for name, why, kind, candidates in result["batch"]
                ]
            )

        self._stage(round_, "choose", work, settle)

    def _annotate(self, round_: int) -> None:
        """Ask until every problem of the batch is settled. What was said is in the ledger at once."""

        def work() -> dict[str, Any]:
            asked = self.ledger.asked(round_)
            patience = self.config.annotator.patience
            waited, pause = 0.0, 1.0
            while open_ := self.knowledge.questions(asked):
                self.view.progress(len(asked) - len(open_), len(asked))
                self.annotator.submit(open_)
                if self._collect():
                    waited, pause = 0.0, 1.0
                    continue
                if not self.annotator.waits() or (patience is not None and waited >= patience):
                    self.view.say(f"Round {round_}: {len(open_)} of {len(asked)} problems stay unanswered.")
                    break
                self.view.say(f"Waiting for {len(open_)} of {len(asked)} answers in {self.annotator.place}")
                self.sleep(pause)
                waited, pause = waited + pause, min(1.5 * pause, SLOWEST_POLL)
            return {"asked": len(asked), "open": len(open_)}

        self._stage(round_, "annotate", work)

    def _collect(self) -> int:
        """How many responses were new."""
        said = [one for one in self.annotator.collect() if one.problem_id in self.knowledge.row]
        with self.ledger.transaction():
            new = self.ledger.record(said)
        for warning in self.annotator.warnings:
            self.view.say(warning)
        return new

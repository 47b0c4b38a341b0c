"""Rounds: train, generate, measure; then ask, unless a rule ends the run.

    open      fetches what annotators changed since the last round, and records D_s: responses that arrive
              later count from the next round on
    train     WARM-S on D_s and D_w
    generate  candidates with confidence, calibrated on the earlier scores of problems with responses
    solver    step two on D_s and the candidates, measured on the test problems
    choose    a batch for the annotators, if no rule ends the run
    annotate  until every problem of the batch is settled, or nobody answers any more

A stage is done when the ledger says so. A stage that a kill interrupts is done again from the same inputs
with the same seeds, so the run ends as it would have ended without the kill.
"""

import shutil
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import polars as pl
import torch

from toolkit.active.acquire import Strategy, find_strategy
from toolkit.active.stopping import Stop, why_stop
from toolkit.annotators.questions import Annotator
from toolkit.compute import Compute, LocalCompute
from toolkit.config import settings_of
from toolkit.data import ProblemSet, as_problem_set
from toolkit.data.stored import PART
from toolkit.errors import WarmkitError
from toolkit.loop.annotators import annotator_of
from toolkit.loop.calibrate import fitted_temperature, learn_trust
from toolkit.loop.config import PYTHON, LoopConfig
from toolkit.loop.in_parts import step_one_of, step_two_of
from toolkit.loop.ledger import BatchItem
from toolkit.loop.part import FindPart, FoundPart
from toolkit.loop.records import FINAL
from toolkit.loop.round import ACCURACIES, measure
from toolkit.loop.run import Run, create_run, locked
from toolkit.loop.selection import choose_batch
from toolkit.loop.sets import divide
from toolkit.loop.state import RunState
from toolkit.loop.view import Quiet, View
from toolkit.methods import StepOne, load_model
from toolkit.solvers import Solver, SolverProgress

SLOWEST_POLL = 30.0  # seconds
INTERRUPT = Stop("interrupt", "It was stopped from the keyboard.")


class Loop:
    """The rounds of a run. The default annotator and strategy are those that its configuration names."""

    def __init__(
        self,
        run: Run,
        annotator: Annotator | None = None,
        *,
        strategy: Strategy | None = None,
        view: View | None = None,
        compute: Compute | None = None,
        sleep: Callable[[float], object] = time.sleep,
    ) -> None:
        self.config, self.ledger, self.view, self.sleep = run.config, run.ledger, view or Quiet(), sleep
        self.annotator = annotator or annotator_of(run)
        if strategy is None and run.config.active.strategy == PYTHON:
            raise WarmkitError(
                f"{run.folder}: the strategy of this run is a Python object. Resume the run from its Python "
                "program."
            )
        self.strategy = strategy or find_strategy(run.config.active.strategy)
        self.compute = compute or LocalCompute(torch.device("cpu"))
        self.state = RunState(run)
        self.round = 1
        self._said: set[tuple[str, str]] = set()  # about annotators

    @classmethod
    def new(
        cls,
        folder: Path | str,
        problems: ProblemSet | pl.DataFrame,
        test: ProblemSet | pl.DataFrame | None = None,
        *,
        annotator: Annotator | str = "oracle",
        strategy: Strategy | str = "margin",
        settings: Mapping[str, object] | None = None,
        view: View | None = None,
        compute: Compute | None = None,
    ) -> "Loop":
        """A new run in a folder. Annotator and strategy are names, or objects of your own.

        Without test problems, the split "test" or a share of the problems is held out. `settings` are dotted
        keys of the configuration: {"stop.rounds": 3, "warm.train.epochs": 5}.
        """
        keys = {
            "annotator.name": annotator if isinstance(annotator, str) else PYTHON,
            "active.strategy": strategy if isinstance(strategy, str) else PYTHON,
            "data": PYTHON,
            **(settings or {}),
        }
        config = settings_of(LoopConfig, keys)
        given = as_problem_set(problems, config.v_const)
        tested = None if test is None else as_problem_set(test, config.v_const)
        folder = Path(folder)
        run = create_run(folder.parent, folder.name, config, divide(given, tested, config))
        return cls(
            run,
            None if isinstance(annotator, str) else annotator,
            strategy=None if isinstance(strategy, str) else strategy,
            view=view,
            compute=compute,
        )

    def run(self) -> Stop:
        """Work in rounds until a rule ends the run; then train the references, and write the report.

        A stopped run goes on where it was. What ended the run is in the ledger, and is returned.
        """
        from toolkit.loop.results import write_results

        with locked(self.state.run):
            stop = self.rounds()
            write_results(self.state)
        return stop

    def rounds(self) -> Stop:
        """The rounds alone. The caller holds the lock of the run."""
        stop = INTERRUPT
        try:
            for ended in self.asking():
                stop = ended or INTERRUPT
            self._final_solver(self.round)
            self._references(self.round)
        except KeyboardInterrupt:
            stop = INTERRUPT
        with self.ledger.transaction():
            self.ledger.set_fact("end", {"rule": stop.rule, "sentence": stop.sentence, "round": self.round})
        return stop

    def asking(self) -> Iterator[Stop | None]:
        """The rounds without the last solver, for callers who look at each: `round` is its number.

        Yields when the candidates of a round are there: None if annotators are asked next, and at last what
        ends the run.
        """
        self.round = 1
        while True:
            self._open(self.round)
            self._train(self.round)
            self._generate(self.round)
            if self.config.solver_each_round:
                self._solver(self.round)
            stop = None
            # A round that was chosen is finished, whatever the answers so far say to the rules.
            if self.ledger.result(self.round, "choose") is None:
                stop = why_stop(self.state.history(self.round), self.config.stop)
            yield stop
            if stop is not None:
                return
            self._choose(self.round)
            self._annotate(self.round)
            self.round += 1

    def _stage(
        self,
        round_: int,
        name: str,
        work: Callable[[], Mapping[str, Any]],
        settle: Callable[[Mapping[str, Any]], None] = lambda result: None,
    ) -> Mapping[str, Any]:
        """Do the work, unless it is done. `settle` writes to the ledger in the transaction that ends it."""
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
        def work() -> dict[str, Any]:
            if self.annotator.waits():  # people elsewhere, who may have changed their responses
                self._collect()
            return self.state.snapshot()

        opened = self._stage(round_, "open", work)
        for name in opened["set_aside"]:
            self._say_unreliable(name, "What they wrote is kept, and others are asked.")
        self.view.figures(known=len(opened["templates"]), labels=self.state.labels(round_))

    def _train(self, round_: int) -> None:
        run = self.state.run

        def work() -> dict[str, Any]:
            model = step_one_of(self.state, round_, self.compute, self._progress()).fit(
                run.round_folder(round_) / "model",
                label=f"{run.name}-round-{round_:02d}",
                start=self._model_before(round_),
                on_epoch=lambda epoch, epochs: self.view.progress(epoch.epoch, epochs),
            )
            return {"epochs": len(model.history)}

        self._stage(round_, "train", work)

    def _model_before(self, round_: int) -> Path | None:
        """The model to start from, None if a round starts from scratch."""
        folder = self.state.run.round_folder(round_ - 1) / "model"
        if round_ == 1:
            return folder if folder.exists() else None
        return folder if self.config.warm_start and self._has_same_constants(round_) else None

    def _generate(self, round_: int) -> None:
        def work() -> dict[str, Any]:
            state, temperature = self.state, fitted_temperature(self.state, round_)
            found, known = state.found(round_), state.known(round_)
            found.write(self._find(round_, temperature))
            if self.config.llm.propose:
                from toolkit.loop.proposals import add_proposals

                add_proposals(state.run, round_, known, found, temperature, self.view.say)
            learn_trust(state, round_)
            return {"temperature": temperature, **state.measured(round_)}

        figures = self._stage(
            round_, "generate", work, lambda result: self.ledger.measure(round_, "pool", result)
        )
        self.view.figures(reached=figures["reached"], confidence=figures["confidence"])

    def _find(self, round_: int, temperature: float) -> Iterator[FoundPart]:
        """What the model of a round finds, part by part."""
        state, compute = self.state, self.compute
        find = FindPart(
            self._model(round_), self.config.generate, compute.worker_device, temperature, state.known(round_)
        )
        parts, advance = state.stored.parts(PART, state.constants_in(round_)), self._progress()
        for part in compute.map(find, parts, label="generate", what="Generation"):
            advance(len(part.tops))
            yield part

    def _progress(self) -> Callable[[int], None]:
        """Shows how many problems of all are done: to be called with the number of new ones."""
        done = 0

        def advance(count: int) -> None:
            nonlocal done
            done += count
            self.view.progress(done, len(self.state.stored))

        return advance

    def _model(self, round_: int) -> StepOne:
        return load_model(self.state.run.round_folder(round_) / "model", self.compute.device)

    def _solver(self, round_: int) -> None:
        self._fit_solver(round_, "solver", self._solver_before(round_))

    def _final_solver(self, round_: int) -> None:
        """The solver that the run ends with.

        It is trained from scratch, as those are that it is compared with: one that starts from earlier
        rounds, for the curve, has learnt longer, and other equations first.
        """
        self._solver(round_)
        if self._solver_before(round_) is not None:
            self._fit_solver(round_, FINAL, None)

    def _fit_solver(self, round_: int, stage: str, start: Path | None) -> None:
        def work() -> Mapping[str, Any]:
            folder = self.state.run.solver_folder(round_, stage)
            solver = self._fitted(round_, folder, of=round_, start=start)
            if solver is not None:
                solver.save(folder)
            return measure(solver, self.state.test)

        figures = self._stage(
            round_,
            stage,
            work,
            lambda result: self.ledger.measure(round_, "test", {name: result[name] for name in ACCURACIES}),
        )
        self.view.figures(answer_accuracy=figures["answer_accuracy"])

    def _fitted(
        self, round_: int, folder: Path, *, of: int, start: Path | None = None, everything: bool = False
    ) -> Solver | None:
        """A solver with the equations of a round, `of`; a training that was killed goes on in its folder."""
        run = self.state.run
        fit = step_two_of(self.state, of, self.compute, self._progress(), everything=everything)
        label = f"{run.name}-round-{round_:02d}-{folder.name}"
        solver = fit(folder, label=label, start=start, on_progress=self._on_progress)
        shutil.rmtree(run.lessons_folder(of), ignore_errors=True)
        return solver

    def _has_same_constants(self, round_: int) -> bool:
        """As the previous round: with other constants a network has another shape."""
        return round_ > 1 and self.state.constants_in(round_) == self.state.constants_in(round_ - 1)

    def _solver_before(self, round_: int) -> Path | None:
        """The solver to start from: that of the previous round, unless there is none, or it was undone."""
        if not self.config.warm_solvers or not self._has_same_constants(round_):
            return None
        folder = self.state.run.solver_folder(round_ - 1, "solver")
        done = self.ledger.result(round_ - 1, "solver") is not None
        return folder if done and (folder / "solver.json").exists() else None

    def _on_progress(self, progress: SolverProgress) -> None:
        self.view.progress(progress.done, progress.total)

    def _references(self, round_: int) -> None:
        """The two lines that a run is compared with: no annotations, and everything annotated.

        They are trained as its final solver is. The solver of round 1, if there is one, is the first line.
        """
        state = self.state
        if not self.config.references:
            return
        if self.ledger.result(1, "solver") is None:
            self._reference(round_, "no annotations", of=1)
        if not state.found(1).tops("right")["right"].has_nulls():  # all have gold equations
            self._reference(round_, "everything annotated", of=round_, everything=True)

    def _reference(self, round_: int, name: str, *, of: int, everything: bool = False) -> None:
        folder = self.state.run.solver_folder(round_, name)

        def work() -> Mapping[str, Any]:
            return measure(self._fitted(round_, folder, of=of, everything=everything), self.state.test)

        self._stage(round_, name, work)
        shutil.rmtree(folder, ignore_errors=True)

    def _choose(self, round_: int) -> None:
        def work() -> dict[str, Any]:
            batch = choose_batch(self.state, round_, self._model(round_), self.strategy)
            return {"batch": [(item.problem_id, item.why, item.kind, item.candidates) for item in batch]}

        def settle(result: Mapping[str, Any]) -> None:
            self.ledger.add_batch([BatchItem(round_, *item) for item in result["batch"]])

        self._stage(round_, "choose", work, settle)

    def _annotate(self, round_: int) -> None:
        """Ask until every problem of the batch is settled. A response is in the ledger at once."""

        def work() -> dict[str, Any]:
            batch = self.ledger.batch(round_)
            patience = self.config.annotator.patience
            waited, pause = 0.0, 1.0
            while unsettled := self.state.questions(batch):
                self.view.progress(len(batch) - len(unsettled), len(batch))
                self.annotator.submit(unsettled)
                waiting = f"{len(unsettled)} of {len(batch)} answers in {self.annotator.location}"
                if self.annotator.waits() and not self.annotator.warnings:  # which this would hide
                    self.view.say(f"Waiting for {waiting}")
                if self._collect():
                    waited, pause = 0.0, 1.0
                    continue
                if not self.annotator.waits() or (patience is not None and waited >= patience):
                    left = f"{len(unsettled)} of {len(batch)}"
                    self.view.say(f"Round {round_}: {left} problems remain unanswered.")
                    break
                self.sleep(pause)
                waited, pause = waited + pause, min(1.5 * pause, SLOWEST_POLL)
            return {"asked": len(batch), "open": len(unsettled)}

        self._stage(round_, "annotate", work)

    def _collect(self) -> int:
        """Record the responses so far; the number of new ones."""
        collected = self.annotator.collect()
        problems = self.state.stored.few({response.problem_id for response in collected})
        responses = [response for response in collected if response.problem_id in problems.row]
        with self.ledger.transaction():
            new = self.ledger.record(responses)
        for warning in self.annotator.warnings:
            self.view.say(warning)
        if new:
            for name in self.state.team().unreliable():
                self._say_unreliable(name, "See the report.")
        return new

    def _say_unreliable(self, name: str, then: str) -> None:
        if (name, then) not in self._said:
            self._said.add((name, then))
            why = self.state.team().warning(name)
            self.view.say(f"The annotator {name} is not to be trusted: {why}. {then}")

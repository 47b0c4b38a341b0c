"""How a cell is measured: step one on the problems to learn from, or a solver on those held out.

A plain function that knows nothing of Ray. Called again after a kill, it goes on after the last epoch that
was saved in the work folder of the cell.
"""

import math
import shutil
import time
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path

from toolkit.compute import Compute
from toolkit.data import ProblemSet, read_candidates, write_table
from toolkit.data.constants import choose_constants, parse_constants, with_constants_of
from toolkit.data.split import chosen_gold
from toolkit.equations import show
from toolkit.errors import WarmkitError
from toolkit.loop.config import LoopConfig
from toolkit.loop.round import Round, measure
from toolkit.methods import METHODS, Known
from toolkit.paper.cells import Cell, Files, Result
from toolkit.paper.config import PaperConfig
from toolkit.paper.sets import Part
from toolkit.paper.tables import Step
from toolkit.solvers import SOLVERS, SolverInput, SolverProgress
from toolkit.storage.atomic import replacing
from toolkit.storage.tables import count_rows


@dataclass
class Stopwatch:
    """The time of a cell, with what was spent on it before a kill."""

    file: Path
    before: float = 0.0
    begun: float = field(default_factory=time.perf_counter)

    @classmethod
    def of(cls, folder: Path) -> "Stopwatch":
        watch = cls(folder / "seconds")
        with suppress(OSError, ValueError):
            spent = float(watch.file.read_text(encoding="utf-8"))
            watch.before = spent if math.isfinite(spent) and spent > 0 else 0.0
        return watch

    @property
    def seconds(self) -> float:
        return self.before + time.perf_counter() - self.begun

    def save(self) -> None:
        with replacing(self.file) as temporary:
            temporary.write_text(f"{self.seconds:.3f}", encoding="utf-8")


@dataclass(frozen=True)
class Measuring:
    """What a cell is measured with. `needed` is the result of its step one, if a solver learns from that."""

    cell: Cell
    part: Part
    settings: PaperConfig
    files: Files
    compute: Compute
    needed: tuple[Cell, Result] | None = None

    def run(self) -> Result:
        """Measure the cell and write its result. An error becomes the result."""
        folder = self.files.work(self.cell)
        watch = Stopwatch.of(folder)
        try:
            measure_it = self._step if self.cell.system.solver is None else self._solver
            result = replace(measure_it(folder, watch), seconds=watch.seconds)
        except Exception as error:
            result = Result.failed(error, watch.seconds)
        self.files.write(self.cell, result)
        shutil.rmtree(folder, ignore_errors=True)
        return result

    def _step(self, folder: Path, watch: Stopwatch) -> Result:
        step, learnt, seed = self.cell.system.step, self.part.learnt, self.cell.seed
        assert step is not None
        method = METHODS[step.method]
        config = LoopConfig(
            method=step.method,
            seed=seed,
            known=gold_share(step, learnt),
            generate=self.settings.generate,
            **{method.section: self.settings.method(step, self.cell.set)},
        )
        config, _ = config.with_chosen_constants(learnt)
        problems = learnt.with_constants(config.v_const)
        known = chosen_gold(problems, config.known_share, seed)
        work = Round(problems, known, config, self.compute)

        model = work.fit(folder / "model", label=self.cell.name, on_epoch=lambda epoch, epochs: watch.save())
        generated = work.generate(model)
        write_table(work.candidates(generated).table, self.files.candidates(self.cell))
        weak = [found for found in generated if found.problem_id not in known]
        reached = [bool(found.scored) for found in weak]
        by_set = self.part.by_set((found.problem_id for found in weak), reached)
        return Result(sum(reached), len(weak), len(known), by_set, tuple(config.constants))

    def _solver(self, folder: Path, watch: Stopwatch) -> Result:
        system, seed = self.cell.system, self.cell.seed
        assert system.solver is not None
        solver = SOLVERS[system.solver]
        problems, known = self._to_learn()
        candidates = None
        if self.needed is not None:
            path = self.files.candidates(self.needed[0])
            candidates = read_candidates(path, problems) if count_rows(path) else None
        data = SolverInput(
            problems, known, candidates, self.settings.solver(system.solver, self.cell.set), seed
        )
        epochs = 0

        def on_progress(now: SolverProgress) -> None:
            nonlocal epochs
            if now.epochs > epochs:
                epochs = now.epochs
                watch.save()

        try:
            trained = self.compute.fit_solver(
                solver,
                data,
                folder=folder / "solver",
                resume=True,
                on_progress=on_progress,
                label=self.cell.name,
            )
        except WarmkitError as error:
            if error.code != "no-equations":
                raise
            trained = None  # nothing was found that it could learn, so it answers nothing
        tested = self.part.tested
        right = [mark == "1" for mark in measure(trained, tested)["right"]]
        constants = tuple(show(constant) for constant in problems.constants)
        return Result(sum(right), len(right), len(known), self.part.by_set(tested.ids, right), constants)

    def _to_learn(self) -> tuple[ProblemSet, Known]:
        """The problems of a solver with V_const, and the gold equations that it may see."""
        system, learnt, seed = self.cell.system, self.part.learnt, self.cell.seed
        if system.step is not None and self.needed is not None:
            problems = learnt.with_constants(parse_constants(self.needed[1].constants))
            return problems, chosen_gold(problems, gold_share(system.step, learnt), seed)
        if system.from_gold:
            problems = with_constants_of(learnt, (), from_gold=True)
            return problems, problems.gold_templates
        return learnt.with_constants(choose_constants(learnt, seed=seed).constants), {}


def gold_share(step: Step, problems: ProblemSet) -> float:
    """The share of the equations of these problems that step one may see."""
    equations = int(problems.table["equation"].count())
    return min(1.0, step.gold * len(problems) / equations) if equations else 0.0

"""A run is a folder that holds everything about it: it can be copied, and deleting it deletes the run.

config.yaml        the whole configuration, as it was when the run began
problems.parquet   the problems to learn from, with their known equations
test.parquet       the problems that the solver is measured on
state.sqlite       stages that are done, and the ledger of annotations
prepared/          the problems as training reads them, if there are many
round-00/          the model that round 1 begins with, if there is one (`Run.begin_with`)
round-NN/          model, candidates in parts, tops (a row for each problem) and solver of a round
solver/, equations.parquet, metrics.parquet, report.html   the results
"""

import itertools
import os
import re
import shutil
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Protocol

import polars as pl

from toolkit.config import Config, changed_keys, complete_config, read_yaml, to_yaml
from toolkit.data import Candidates, ProblemSet, write_table
from toolkit.data.constants import AUTO, ConstantChoice, joined
from toolkit.data.export import EQUATIONS
from toolkit.data.schema import METRICS
from toolkit.data.stored import MOST_HELD, StoredProblems
from toolkit.equations import Constant, EquationError, Expr, parse_template
from toolkit.equations.tree import references
from toolkit.errors import WarmkitError
from toolkit.loop.config import LoopConfig
from toolkit.loop.found import RoundCandidates
from toolkit.loop.gold import with_gold_file
from toolkit.loop.ledger import Ledger
from toolkit.loop.salvage import salvage
from toolkit.loop.sets import constants_sample, problem_count, read_sets, refuse_known, write_sets
from toolkit.methods.base import copy_start
from toolkit.solvers import Solver, load_solver
from toolkit.storage.atomic import replacing
from toolkit.storage.folder import appear, building, check_folder, working_in
from toolkit.storage.tables import read_parquet

FORMAT = 2  # of a run's folder
_NAME = re.compile(r"[\w][\w.-]{0,99}")


@dataclass(frozen=True)
class Run:
    folder: Path
    config: LoopConfig
    ledger: Ledger

    @property
    def name(self) -> str:
        return self.folder.name

    @property
    def report(self) -> Path:
        return self.folder / "report.html"

    @property
    def constants(self) -> tuple[Constant, ...]:
        return self.config.v_const

    def constants_in(self, round_: int) -> tuple[Constant, ...]:
        """V_const of a round: those that annotators used before it have joined."""
        opened = self.ledger.result(round_, "open")
        templates = opened["templates"].values() if opened else ()
        try:
            return joined(self.constants, map(parse_template, templates))
        except EquationError as error:
            raise WarmkitError(f"{self.folder}: D_s of round {round_} is damaged: {error}.") from None

    def known(self, round_: int) -> dict[str, Expr]:
        """D_s when a round was opened: problem → template; empty if it was not."""
        opened = self.ledger.result(round_, "open")
        source = f"{self.folder}: D_s of round {round_}"
        templates = opened["templates"] if opened else {}
        return self.templates(templates.items(), source)

    @property
    def constant_choice(self) -> ConstantChoice | None:
        """Why it has its constants; None if they were given."""
        written = self.ledger.fact("constants")
        return None if written is None else ConstantChoice.of(**written)

    @property
    def store(self) -> Path:
        """The folder of the tasks that it sent to Label Studio, and of their annotations."""
        return self.folder / "label-studio"

    def round_folder(self, round_: int) -> Path:
        return self.folder / f"round-{round_:02d}"

    def begin_with(self, model: Path) -> None:
        """Let round 1 begin with the model in a folder, which learnt other problems."""
        copy_start(model, self.round_folder(0) / "model")

    def solver_folder(self, round_: int, stage: str) -> Path:
        """The folder of the solver of a round, by the stage that trains it."""
        return self.round_folder(round_) / stage.replace(" ", "-")

    def lessons_folder(self, round_: int) -> Path:
        """Where is prepared what a solver learns of a round, while it learns."""
        return self.round_folder(round_) / "lessons"

    @cached_property
    def stored(self) -> StoredProblems:
        """The problems to learn from; no more of them is read than what is asked for."""
        return StoredProblems(self.folder / "problems.parquet", self.constants)

    @property
    def problems(self) -> ProblemSet:
        """The problems to learn from, all of them in memory."""
        return self.stored.whole()

    @cached_property
    def stored_test(self) -> StoredProblems:
        """The problems that the solver is measured on."""
        return StoredProblems(self.folder / "test.parquet", self.constants)

    @property
    def test(self) -> ProblemSet:
        """The problems that the solver is measured on, all of them in memory."""
        return self.stored_test.whole()

    def found(self, round_: int) -> RoundCandidates:
        """What a round found, on disk."""
        return RoundCandidates(self.round_folder(round_), len(self.stored), self.stored.is_held)

    def candidates(self, round_: int) -> Candidates:
        """The candidates of a round, all of them in memory."""
        found = self.found(round_)
        return self.with_own_templates(found.whole(), found)

    def with_own_templates(self, candidates: Candidates, source: RoundCandidates) -> Candidates:
        """Candidates that were read; an error if a template can't be one of its problem."""
        self.templates(candidates.table.select("problem_id", "template").iter_rows(), str(source.folder))
        return candidates

    def templates(self, written: Iterable[tuple[str, str]], source: str) -> dict[str, Expr]:
        """Problem → template, as it was written down; an error if it can't be one of this problem."""
        pairs = list(written)
        problems = self.stored.few({problem_id for problem_id, _ in pairs})
        found = {}
        for problem_id, text in pairs:
            try:
                numbers = problems.numbers[problems.row[problem_id]]
                found[problem_id] = parse_template(text)
                if all(index < len(numbers) for index in references(found[problem_id])):
                    continue
            except (KeyError, EquationError):
                pass
            raise WarmkitError(
                f"{source}: it is damaged: the template {text[:60]!r} of problem {problem_id[:60]!r} is of "
                "no problem of this run."
            )
        return found

    @property
    def metrics(self) -> pl.DataFrame:
        """The figures of all rounds so far."""
        return pl.DataFrame(self.ledger.metrics(), schema=METRICS, orient="row")

    @property
    def equations(self) -> pl.DataFrame:
        """The problems with the equations that were found or agreed on, once the run has written them."""
        return read_parquet(self.folder / "equations.parquet", EQUATIONS)

    def solver(self) -> Solver:
        """The solver of the last round, once the run has written it."""
        return load_solver(self.folder / "solver")

    def rewind(self, round_: int) -> None:
        """Undo a round and all after it. The ledger goes first: it alone decides which stages are done."""
        last = max((done for done, _, _ in self.ledger.stages()), default=0)
        if not 1 <= round_ <= last:
            raise WarmkitError(f"{self.name}: there is no round {round_} to undo; the last one is {last}.")
        self.ledger.rewind(round_, revoke=self.config.annotator.asks_people)
        for later in range(round_, last + 1):
            shutil.rmtree(self.round_folder(later), ignore_errors=True)


def create_run(
    root: Path,
    name: str | None,
    config: LoopConfig,
    sets: tuple[ProblemSet, ProblemSet] | None = None,
    advance: Callable[[int], object] = lambda count: None,
    count: int | None = None,
) -> Run:
    """A new run. Its folder appears with everything in it, or not at all.

    `sets` are the problems to learn from and those to measure on. Without them, the configuration names both;
    a large set is read part by part, and `advance` called with the number of problems of each. `count` is
    what `problem_count` said, if it was asked before.
    """
    names = (f"run-{i}" for i in itertools.count(1)) if name is None else [checked_name(name)]
    taken = WarmkitError(f"{root / str(name)}: this run already exists. Take another name.", "run-exists")
    if name is not None and (root / name).exists():
        raise taken
    if sets is None and (problem_count(config) if count is None else count) > MOST_HELD:
        with building(root) as built:
            stored = write_sets(config, built, advance)
            config, choice = config.with_chosen_constants(constants_sample(stored, config.seed))
            stored.constants = config.v_const
            refuse_known(stored, config)
            _begin_ledger(built, choice)
            _write_config(built, config)
            folder = appear(built, (root / name for name in names))
        held = None
    else:
        problems, test = sets or read_sets(config)
        problems = with_gold_file(problems, config)
        config, choice = config.with_chosen_constants(problems)
        held = problems.with_constants(config.v_const), test.with_constants(config.v_const)
        refuse_known(StoredProblems(root, config.v_const, held[0]), config)
        folder = build_folder(root, names, config, *held, lambda built: _begin_ledger(built, choice))
    if folder is None:
        raise taken
    run = Run(folder, config, Ledger(folder / "state.sqlite"))
    if held is not None:  # they need not be read again
        run.__dict__["stored"] = StoredProblems(folder / "problems.parquet", config.v_const, held[0])
        run.__dict__["stored_test"] = StoredProblems(folder / "test.parquet", config.v_const, held[1])
    return run


def _begin_ledger(built: Path, choice: ConstantChoice | None) -> None:
    with closing(Ledger(built / "state.sqlite", new=True)) as ledger, ledger.transaction():
        ledger.set_fact("format", FORMAT)
        if choice is not None:
            ledger.set_fact("constants", choice.as_dict())


def _write_config(built: Path, config: LoopConfig) -> None:
    with replacing(built / "config.yaml") as temporary:
        temporary.write_text(to_yaml(config), encoding="utf-8")


def open_run(root: Path, name: str, config: LoopConfig | None = None) -> Run:
    """An existing run. A `config` may differ from its own only in the rules that end a run."""
    folder = find_run(root, name)
    ledger = _open_ledger(folder / "state.sqlite")
    try:
        if ledger.fact("format") != FORMAT:
            raise WarmkitError(f"{folder}: another version of warmkit made this run. Begin a new one.")
        own = own_config(LoopConfig, folder)
        if config is not None:
            if config.constants == AUTO:  # they were chosen when it began
                config = config.model_copy(update={"constants": own.constants})
            refuse_changes(folder, own, config, "stop.", "Resume without these settings, or begin a new run.")
            own = own.model_copy(update={"stop": config.stop})
    except BaseException:
        ledger.close()
        raise
    return Run(folder, own, ledger)


def find_run(root: Path, name: str) -> Path:
    """The folder of a run, which may be damaged. Nothing in it leads out of it."""
    folder = root / checked_name(name)
    check_folder(folder)
    if not _is_run(folder):
        raise WarmkitError(f"{folder}: there is no such run. `warmkit runs list` lists the runs.")
    return folder


def _open_ledger(path: Path) -> Ledger:
    """A ledger whose pages are sound. If they are not, the error says how much of it can be read."""
    try:
        ledger = Ledger(path)
        try:
            ledger.check()
        except BaseException:
            ledger.close()
            raise
    except WarmkitError as error:
        if error.code != "damaged-run":
            raise
        found = salvage(path)
        if not any(found.rows.values()) and not list(path.parent.glob(f"{path.name}.damaged-*")):
            raise WarmkitError(f"{error} {found} Begin a new run.") from None
        raise WarmkitError(f"{error} {found}", "damaged-run") from None
    return ledger


def load_run(folder: Path | str) -> Run:
    """The run in a folder."""
    folder = Path(folder)
    return open_run(folder.parent, folder.name)


def build_folder(
    root: Path,
    names: Iterable[str],
    config: LoopConfig,
    problems: ProblemSet,
    test: ProblemSet,
    prepare: Callable[[Path], object] = lambda folder: None,
) -> Path | None:
    """Write problems, test problems and configuration to a new folder: the first of `names` that is free.

    The folder appears with all of them, and with what `prepare` adds. None if no name is free by then: of
    several processes that begin at the same moment, each gets a folder of its own, or none.
    """
    with building(root) as built:
        write_table(problems.table, built / "problems.parquet")
        write_table(test.table, built / "test.parquet")
        _write_config(built, config)
        prepare(built)
        return appear(built, (root / name for name in names))


def own_config(kind: type[Config], folder: Path) -> Config:
    """The configuration that a run or a sweep began with."""
    path = folder / "config.yaml"
    return complete_config(kind, read_yaml(path), str(path))


def refuse_changes(
    folder: Path, own: LoopConfig, now: LoopConfig, free: str, advice: str, code: str = ""
) -> None:
    """Raise an error if the configuration changed, except in keys that begin with `free`."""
    lines = [
        f"  {key}: {before!r} → {after!r}"
        for key, (before, after) in changed_keys(own, now).items()
        if not key.startswith(free)
    ]
    if lines:
        heading = f"{folder}: the configuration differs from the one it began with:"
        raise WarmkitError("\n".join([heading, *lines, advice]), code)


def run_names(root: Path) -> list[str]:
    """The runs of a folder, also those that are damaged."""
    try:
        return sorted(path.name for path in root.iterdir() if _NAME.fullmatch(path.name) and _is_run(path))
    except OSError:
        return []


def _is_run(folder: Path) -> bool:
    """Whether it is a run, or what is left of one."""
    return any(os.path.lexists(folder / name) for name in ("config.yaml", "state.sqlite"))


def delete_run(root: Path, name: str) -> None:
    run = open_run(root, name)
    run.ledger.close()
    with locked(run):
        shutil.rmtree(run.folder)


class HasFolder(Protocol):
    """Anything with its own folder: a run, a sweep."""

    @property
    def folder(self) -> Path: ...


@contextmanager
def locked(run: HasFolder) -> Iterator[None]:
    """Hold the lock of a run, so that nobody else works on it. The lock ends with the process."""

    with locked_folder(run.folder):
        yield


@contextmanager
def locked_folder(folder: Path) -> Iterator[None]:
    """`locked`, for a run that may be damaged."""

    def taken(process: str) -> str:
        return f"{folder}: process {process} works on this run. Wait, or stop it."

    with working_in(folder, taken):
        yield


def checked_name(name: str) -> str:
    """The name, if it is a valid name of a folder."""
    if not _NAME.fullmatch(name):
        raise WarmkitError(f"{name[:100]!r} can't name a run: use letters, digits, dots, dashes.")
    return name

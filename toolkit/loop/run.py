"""A run is a folder that holds everything about it: it can be copied, and deleting it deletes the run.

config.yaml        the whole configuration, as it was when the run began
problems.parquet   the problems to learn from, with their known equations
test.parquet       the problems that the solver is measured on
state.sqlite       stages that are done, and the ledger of annotations
round-NN/          model, candidates and solver of a round
solver/, equations.parquet, metrics.parquet, report.html   the results
"""

import os
import re
import shutil
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Protocol

import polars as pl

from toolkit.config import changed_keys, load_config, to_yaml
from toolkit.data import Candidates, ProblemSet, read_problems, write_table
from toolkit.data.constants import AUTO, ConstantChoice
from toolkit.data.schema import METRICS
from toolkit.data.split import split
from toolkit.equations import Constant
from toolkit.errors import WarmkitError
from toolkit.loop.config import LoopConfig
from toolkit.loop.ledger import Ledger
from toolkit.solvers import Solver, load_solver
from toolkit.storage.atomic import UNFINISHED, replacing
from toolkit.storage.lock import held, sign

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

    @property
    def constant_choice(self) -> ConstantChoice | None:
        """Why it has its constants; None if they were given."""
        written = self.ledger.fact("constants")
        return None if written is None else ConstantChoice.from_dict(written)

    @property
    def store(self) -> Path:
        """The folder of the tasks that it sent to Label Studio, and of their annotations."""
        return self.folder / "label-studio"

    def round_folder(self, round_: int) -> Path:
        return self.folder / f"round-{round_:02d}"

    @cached_property
    def problems(self) -> ProblemSet:
        """The problems to learn from."""
        return self._problem_set("problems.parquet")

    @cached_property
    def test(self) -> ProblemSet:
        """The problems that the solver is measured on."""
        return self._problem_set("test.parquet")

    def _problem_set(self, name: str) -> ProblemSet:
        return ProblemSet.from_frame(_table(self.folder / name), self.constants, str(self.folder / name))

    def candidates(self, round_: int) -> Candidates:
        """The candidates of a round."""
        return Candidates(_table(self.round_folder(round_) / "candidates.parquet"))

    @property
    def metrics(self) -> pl.DataFrame:
        """The figures of all rounds so far."""
        return pl.DataFrame(self.ledger.metrics(), schema=METRICS, orient="row")

    @property
    def equations(self) -> pl.DataFrame:
        """The problems with the equations that were found or agreed on, once the run has written them."""
        return _table(self.folder / "equations.parquet")

    def solver(self) -> Solver:
        """The solver of the last round, once the run has written it."""
        return load_solver(self.folder / "solver")

    def rewind(self, round_: int) -> None:
        """Undo a round and all after it. The ledger goes first: it alone decides which stages are done."""
        last = max((done for done, _, _ in self.ledger.stages()), default=0)
        if not 1 <= round_ <= last:
            raise WarmkitError(f"{self.name}: there is no round {round_} to undo; the last one is {last}.")
        self.ledger.rewind(round_)
        for later in range(round_, last + 1):
            shutil.rmtree(self.round_folder(later), ignore_errors=True)


def create_run(
    root: Path, name: str | None, config: LoopConfig, sets: tuple[ProblemSet, ProblemSet] | None = None
) -> Run:
    """A new run. Its folder appears with everything in it, or not at all.

    `sets` are the problems to learn from and those to measure on. Without them, the configuration names both.
    """
    name = name or next(f"run-{i}" for i in range(1, 1_000_000) if not (root / f"run-{i}").exists())
    folder = _folder(root, name)
    if folder.exists():
        raise WarmkitError(f"{folder}: this run already exists. Take another name.", "run-exists")
    problems, test = sets or read_sets(config)
    config, choice = config.with_chosen_constants(problems)
    problems, test = problems.with_constants(config.v_const), test.with_constants(config.v_const)

    def begin_ledger(building: Path) -> None:
        with closing(Ledger(building / "state.sqlite")) as ledger, ledger.transaction():
            ledger.set_fact("format", FORMAT)
            if choice is not None:
                ledger.set_fact("constants", choice.as_dict())

    build_folder(folder, config, problems, test, begin_ledger)
    run = Run(folder, config, Ledger(folder / "state.sqlite"))
    run.__dict__.update(problems=problems, test=test)  # they need not be read again
    return run


def open_run(root: Path, name: str, config: LoopConfig | None = None) -> Run:
    """An existing run. A `config` may differ from its own only in the rules that end a run."""
    folder = _folder(root, name)
    if not (folder / "config.yaml").exists():
        raise WarmkitError(f"{folder}: there is no such run. `warmkit runs list` lists the runs.")
    ledger = Ledger(folder / "state.sqlite")
    if ledger.fact("format") != FORMAT:
        ledger.close()
        raise WarmkitError(f"{folder}: another version of warmkit made this run. Begin a new one.")
    own = load_config(LoopConfig, folder / "config.yaml")
    if config is not None:
        if config.constants == AUTO:  # they were chosen when it began
            config = config.model_copy(update={"constants": own.constants})
        refuse_changes(folder, own, config, "stop.", "Resume without these settings, or begin a new run.")
        own = own.model_copy(update={"stop": config.stop})
    return Run(folder, own, ledger)


def load_run(folder: Path | str) -> Run:
    """The run in a folder."""
    folder = Path(folder)
    return open_run(folder.parent, folder.name)


def build_folder(
    folder: Path,
    config: LoopConfig,
    problems: ProblemSet,
    test: ProblemSet,
    prepare: Callable[[Path], object] = lambda building: None,
) -> None:
    """Write the problems, the test problems and the configuration to a folder: all of them, or no folder.

    `prepare` adds other files to the folder before it appears.
    """
    building = folder.parent / f".{folder.name}.new"
    shutil.rmtree(building, ignore_errors=True)
    try:
        write_table(problems.table, building / "problems.parquet")
        write_table(test.table, building / "test.parquet")
        with replacing(building / "config.yaml") as temporary:
            temporary.write_text(to_yaml(config), encoding="utf-8")
        prepare(building)
        building.rename(folder)
    except BaseException:  # a full disk, for instance, on which it would lie in the way
        shutil.rmtree(building, ignore_errors=True)
        raise


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
    return sorted(path.parent.name for path in root.glob("[!.]*/config.yaml"))


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

    def taken(process: str) -> str:
        return f"{run.folder}: process {process} works on this run. Wait, or stop it."

    with held(run.folder / "lock", taken) as lock:
        sign(lock, str(os.getpid()))
        for left_behind in run.folder.rglob(f".*{UNFINISHED}"):  # by a kill in the middle of a write
            left_behind.unlink(missing_ok=True)
        yield


def checked_name(name: str) -> str:
    """The name, if it is a valid name of a folder."""
    if not _NAME.fullmatch(name):
        raise WarmkitError(f"{name[:100]!r} can't name a run: use letters, digits, dots, dashes.")
    return name


def _folder(root: Path, name: str) -> Path:
    return root / checked_name(name)


def read_sets(config: LoopConfig) -> tuple[ProblemSet, ProblemSet]:
    """The problems to learn from and those to measure on, as the configuration names them."""
    given = read_problems(config.data, constants=config.v_const)
    test = None if config.test is None else read_problems(config.test, constants=config.v_const)
    return divide(given, test, config)


def divide(
    problems: ProblemSet, test: ProblemSet | None, config: LoopConfig
) -> tuple[ProblemSet, ProblemSet]:
    """The problems to learn from and those to measure on: the test set, the split test, or a share."""
    if test is None:
        splits = problems.table["split"]
        if "test" not in splits:
            share = config.test_share
            parts = {"train": 1 - share, "test": share}
            problems = problems.with_table(split(problems.table, parts, config.seed))
            splits = problems.table["split"]
        is_test = [name == "test" for name in splits]
        test = problems.take([row for row, tested in enumerate(is_test) if tested])
        problems = problems.take([row for row, tested in enumerate(is_test) if not tested])
    elif common := set(problems.ids) & set(test.ids):
        raise WarmkitError(
            f"Problem {min(common)} is in the test set and in {config.data}: the two must not overlap."
        )
    if config.limit is not None and len(problems) > config.limit:
        shares = {"kept": config.limit / len(problems), "left": 1 - config.limit / len(problems)}
        kept = split(problems.table, shares, config.seed)["split"] == "kept"
        problems = problems.take([row for row, chosen in enumerate(kept) if chosen][: config.limit])
    if not len(problems) or not len(test):
        raise WarmkitError(f"{config.data}: a run needs problems to learn from and problems to test on.")
    return problems, test


def _table(path: Path) -> pl.DataFrame:
    try:
        return pl.read_parquet(path)
    except FileNotFoundError:
        raise WarmkitError(f"{path}: there is no such file.") from None
    except (pl.exceptions.PolarsError, OSError) as error:
        raise WarmkitError(f"{path}: it can't be read: {str(error).splitlines()[0]}.") from None

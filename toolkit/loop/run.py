"""A run is a folder: everything about it is inside, so it can be copied, and deleting it deletes the run.

config.yaml        as resolved when it began
problems.parquet   what is learnt from, with what is known of it
test.parquet       what the solver is measured on
state.sqlite       stages that are done, and the ledger of annotations
round-NN/          model, candidates and solver of a round
solver/, equations.parquet, metrics.parquet, report.html   what it came to
"""

import os
import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import polars as pl

from toolkit.config import changed_keys, load_config, to_yaml
from toolkit.data.lock import held, sign
from toolkit.data.read import read_problems
from toolkit.data.split import split
from toolkit.data.write import UNFINISHED, replacing, write_table
from toolkit.equations import Constant
from toolkit.errors import WarmkitError
from toolkit.loop.config import LoopConfig
from toolkit.loop.ledger import Ledger

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
    def book(self) -> Path:
        """Where it keeps what it sent to Label Studio and what came back."""
        return self.folder / "label-studio"

    def round_folder(self, round_: int) -> Path:
        return self.folder / f"round-{round_:02d}"

    def problems(self) -> pl.DataFrame:
        return pl.read_parquet(self.folder / "problems.parquet")

    def test(self) -> pl.DataFrame:
        return pl.read_parquet(self.folder / "test.parquet")

    def rewind(self, round_: int) -> None:
        """Undo a round and all after it. Its files go first: what is done is what the ledger says."""
        last = max((done for done, _, _ in self.ledger.stages()), default=0)
        if not 1 <= round_ <= last:
            raise WarmkitError(f"{self.name}: there is no round {round_} to undo; the last one is {last}.")
        self.ledger.rewind(round_)
        for later in range(round_, last + 1):
            shutil.rmtree(self.round_folder(later), ignore_errors=True)


def create_run(root: Path, name: str | None, config: LoopConfig) -> Run:
    """A new run. Its folder appears with everything in it, or not at all."""
    name = name or next(f"run-{i}" for i in range(1, 1_000_000) if not (root / f"run-{i}").exists())
    folder = _folder(root, name)
    if folder.exists():
        raise WarmkitError(f"{folder}: there is such a run. Go on with --resume, or take another name.")
    build_folder(folder, config)
    return Run(folder, config, Ledger(folder / "state.sqlite"))


def open_run(root: Path, name: str, config: LoopConfig | None = None) -> Run:
    """A run that is there. A `config` may differ from its own in what ends a run, and in nothing else."""
    folder = _folder(root, name)
    if not (folder / "config.yaml").exists():
        raise WarmkitError(f"{folder}: there is no such run. `warmkit runs list` names those there are.")
    own = load_config(LoopConfig, folder / "config.yaml")
    if config is not None:
        refuse_changes(folder, own, config, "stop.", "Resume without these settings, or begin a new run.")
        own = own.model_copy(update={"stop": config.stop})
    return Run(folder, own, Ledger(folder / "state.sqlite"))


def build_folder(folder: Path, config: LoopConfig) -> None:
    """The problems, the test problems and the configuration in a folder: all of them, or no folder."""
    problems, test = read_sets(config)
    building = folder.parent / f".{folder.name}.new"
    shutil.rmtree(building, ignore_errors=True)
    write_table(problems, building / "problems.parquet")
    write_table(test, building / "test.parquet")
    with replacing(building / "config.yaml") as temporary:
        temporary.write_text(to_yaml(config), encoding="utf-8")
    building.rename(folder)


def refuse_changes(folder: Path, own: LoopConfig, now: LoopConfig, free: str, advice: str) -> None:
    """What was begun with one configuration goes on with no other, save for keys that begin with `free`."""
    lines = [
        f"  {key}: {before!r} → {after!r}"
        for key, (before, after) in changed_keys(own, now).items()
        if not key.startswith(free)
    ]
    if lines:
        heading = f"{folder}: the configuration is not the one it began with:"
        raise WarmkitError("\n".join([heading, *lines, advice]))


def run_names(root: Path) -> list[str]:
    return sorted(path.parent.name for path in root.glob("[!.]*/config.yaml"))


def delete_run(root: Path, name: str) -> None:
    run = open_run(root, name)
    run.ledger.close()
    with locked(run):
        shutil.rmtree(run.folder)


class Kept(Protocol):
    """What has a folder of its own: a run, a sweep."""

    @property
    def folder(self) -> Path: ...


@contextmanager
def locked(run: Kept) -> Iterator[None]:
    """Nobody else works on the run meanwhile. The lock goes with the process, however it ends."""

    def taken(process: str) -> str:
        return f"{run.folder}: process {process} works on this run. Wait, or stop it."

    with held(run.folder / "lock", taken) as lock:
        sign(lock, str(os.getpid()))
        for left_behind in run.folder.rglob(f".*{UNFINISHED}"):  # by a kill in the middle of a write
            left_behind.unlink(missing_ok=True)
        yield


def checked_name(name: str) -> str:
    """The name, if a folder may have it."""
    if not _NAME.fullmatch(name):
        raise WarmkitError(f"{name[:100]!r} can't name a run: use letters, digits, dots, dashes.")
    return name


def _folder(root: Path, name: str) -> Path:
    return root / checked_name(name)


def read_sets(config: LoopConfig) -> tuple[pl.DataFrame, pl.DataFrame]:
    """The problems to learn from and those to measure on."""
    problems = read_problems(config.data).problems
    if config.test is not None:
        test = read_problems(config.test).problems
    else:
        if "test" not in problems["split"]:
            share = config.test_share
            problems = split(problems, {"train": 1 - share, "test": share}, config.seed)
        test = problems.filter(pl.col("split") == "test")
        problems = problems.filter(pl.col("split") != "test")
    if config.limit is not None and len(problems) > config.limit:
        parts = {"kept": config.limit / len(problems), "left": 1 - config.limit / len(problems)}
        kept = split(problems, parts, config.seed)["split"] == "kept"
        problems = problems.filter(kept).head(config.limit)
    common = set(problems["id"]) & set(test["id"])
    if common and config.test is not None:
        raise WarmkitError(f"{config.test}: problem {min(common)} is also in {config.data}: test on others.")
    if not len(problems) or not len(test):
        raise WarmkitError(f"{config.data}: a run needs problems to learn from and problems to test on.")
    return problems, test

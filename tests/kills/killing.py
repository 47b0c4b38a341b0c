"""A small loop in a process that is killed: at an instant, or just before or after one of its writes.

Every process forks off before torch or polars have done anything, so it starts quickly; nothing of it
survives the kill but what it had written. It tells through a pipe which stage begins.
"""

import os
import select
import signal
import sqlite3
import sys
import time
from collections import Counter
from collections.abc import Callable
from contextlib import ExitStack, closing
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

import torch
import torch._dynamo  # an optimizer imports it when it is made: longer than all the rest, in every process
from tiny import TINY

from annotation.store import TaskStore
from toolkit.cli.loop import loop  # noqa: F401  # what the command imports is imported here, before the forks
from toolkit.cluster.session import ClusterSpec
from toolkit.compute import computing
from toolkit.config import load_config
from toolkit.data import stored
from toolkit.loop import found as finding
from toolkit.loop import loop as looping
from toolkit.loop import run as running
from toolkit.loop.annotators import annotator_of
from toolkit.loop.config import LoopConfig
from toolkit.loop.loop import Loop
from toolkit.loop.results import write_results
from toolkit.loop.run import create_run, locked, open_run
from toolkit.loop.view import Quiet
from toolkit.storage.database import Database

SETTINGS = (*TINY, "known=0", "warm.train.epochs=2", "annotator.error_rate=0.5")
LITTER = (".*.part", ".pieces-*")  # that a kill leaves behind, until it is swept up
BEGIN, REPORT = "begin", "report"  # before the first stage, and after the last one


@dataclass(frozen=True)
class Scenario:
    """How the loop runs."""

    annotator: str = "oracle"  # file and label-studio need an office (tests/kills/office.py)
    workers: int = 0  # of Ray; 0: none
    scans: bool = False  # no problem is kept in memory, as if there were many

    def __str__(self) -> str:
        workers = f" and {self.workers} workers" if self.workers else ""
        return self.annotator + workers + (", problems on disk" if self.scans else "")

    def go(self, root: Path, name: str, tell: Callable[[int, str], object]) -> None:
        """Run the loop to its end, from wherever it is."""
        torch.set_num_threads(1)
        if self.scans:
            stored.MOST_HELD = running.MOST_HELD = 0
            finding.FILE = looping.PART = 8
        tell(0, BEGIN)
        if (root / name / "config.yaml").exists():
            run = open_run(root, name)
        else:
            rounds = 1 if self.workers else 2
            # Ray takes its time: a solver on workers is trained once, and no other beside it.
            fewer = ("solver_each_round=false",) if self.workers else ("references=true",)
            settings = (*SETTINGS, *fewer, f"annotator.name={self.annotator}", f"stop.rounds={rounds}")
            run = create_run(root, name, load_config(LoopConfig, None, settings))
        spec = ClusterSpec(workers=self.workers) if self.workers else None
        with locked(run), computing(spec, torch.device("cpu"), None, lambda sentence: None) as compute:
            view, annotator = Quiet(), annotator_of(run)
            view.stage = tell  # type: ignore[method-assign]
            work = Loop(run, annotator, view=view, compute=compute, sleep=lambda _: time.sleep(0.1))
            work.rounds()
            tell(0, REPORT)
            write_results(work.state)


class Stage(NamedTuple):
    """A stage that has begun, or BEGIN or REPORT."""

    round: int
    name: str


class AtWrite(NamedTuple):
    """Just before or after the n-th write since a stage, or the process (None), began.

    A write is a file's taking its place, or a commit.
    """

    stage: Stage | None
    number: int
    after: bool = False


class AtInstant(NamedTuple):
    """So many seconds after a stage began."""

    stage: Stage
    seconds: float


class Ended(NamedTuple):
    killed: bool
    error: str  # what it said if it failed
    stages: list[tuple[Stage, float]]  # that began, and when
    writes: dict[Stage, int]  # in each of them, if it was not killed
    seconds: float = 0.0

    @property
    def last(self) -> Stage:
        return self.stages[-1][0]


class _Writes:
    """Counts the writes of this process, and kills it at one of them."""

    def __init__(self, at: AtWrite | None) -> None:
        self.at, self.stage, self.counts = at, Stage(0, BEGIN), Counter[Stage]()
        replace, commit = Path.replace, Database._commit

        def replacing(path: Path, target: Path) -> Path:
            with self:
                return replace(path, target)

        def committing(database: Database) -> None:
            with self:
                commit(database)

        Path.replace, Database._commit = replacing, committing  # type: ignore[method-assign,assignment]

    def __enter__(self) -> None:
        self.counts[self.stage] += 1
        self._kill(after=False)

    def __exit__(self, *error: object) -> None:
        self._kill(after=True)

    def _kill(self, after: bool) -> None:
        now = (AtWrite(self.stage, self.counts[self.stage], after), AtWrite(None, self.counts.total(), after))
        if self.at in now:
            os.kill(os.getpid(), signal.SIGKILL)


def in_a_process(scenario: Scenario, root: Path, name: str, kill: AtWrite | AtInstant | None = None) -> Ended:
    """Run the loop in a process of its own, which is killed there.

    If the stage is over before that (a resumed one may have fewer writes), the next stage is its end.
    """
    heard, said = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(heard)
        _child(scenario, root, name, kill if isinstance(kill, AtWrite) else None, said)
    os.close(said)
    try:
        return _Parent(child, heard, kill).wait()
    except BaseException:  # Ctrl-C
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        raise
    finally:
        os.close(heard)


def _child(scenario: Scenario, root: Path, name: str, kill: AtWrite | None, said: int) -> None:
    code = 1
    try:
        writes = _Writes(kill)

        def tell(round_: int, stage: str) -> None:
            writes.stage = Stage(round_, stage)
            os.write(said, f"stage {round_} {stage}\n".encode())

        scenario.go(root, name, tell)
        for stage, count in writes.counts.items():
            os.write(said, f"writes {count} {stage.round} {stage.name}\n".encode())
        code = 0
    except BaseException as error:
        os.write(said, f"error {type(error).__name__}: {error}\n".encode())
    finally:
        sys.stdout.flush()
        os._exit(code)


class _Parent:
    """Listens to a process, and kills it at its instant."""

    def __init__(self, child: int, pipe: int, kill: AtWrite | AtInstant | None) -> None:
        self.child, self.pipe, self.kill = child, pipe, kill
        self.until: float | None = None  # then it is killed
        self.ended = Ended(False, "", [], {})

    def wait(self) -> Ended:
        begun, rest = time.monotonic(), b""
        while True:
            left = None if self.until is None else max(0.0, self.until - time.monotonic())
            if not select.select([self.pipe], [], [], left)[0]:
                os.kill(self.child, signal.SIGKILL)
                self.until = None
            elif not (read := os.read(self.pipe, 65536)):
                break
            else:
                *lines, rest = (rest + read).split(b"\n")
                for line in lines:
                    self._hear(line.decode(errors="replace"), time.monotonic() - begun)
        status = os.waitpid(self.child, 0)[1]
        killed = os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGKILL
        error = self.ended.error or ("" if killed or status == 0 else f"status {status}")
        return self.ended._replace(killed=killed, error=error, seconds=time.monotonic() - begun)

    def _hear(self, line: str, at: float) -> None:
        kind, _, rest = line.partition(" ")
        if kind == "error":
            self.ended = self.ended._replace(error=rest)
        elif kind == "writes":
            count, round_, name = rest.split(" ", 2)
            self.ended.writes[Stage(int(round_), name)] = int(count)
        elif kind == "stage":
            round_, _, name = rest.partition(" ")
            stage = Stage(int(round_), name)
            self.ended.stages.append((stage, at))
            if isinstance(self.kill, AtInstant) and self.kill.stage == stage:
                self.until = time.monotonic() + self.kill.seconds
            elif self.kill is not None and self.kill.stage in dict(self.ended.stages[:-1]):
                self.until = time.monotonic()


def fingerprint(root: Path, name: str) -> dict[str, object]:
    """Everything a run decided, without what took how long and the numbers that a server gave."""
    run = open_run(root, name)
    with ExitStack() as stack:
        stack.callback(run.ledger.close)
        with locked(run):
            pass  # sweeps up what the last kill left behind
        last = max(round_ for round_, _, _ in run.ledger.stages())
        folders = [run.round_folder(number) for number in range(1, last + 1)]
        files = [run.folder / "equations.parquet", run.folder / "solver" / "weights.safetensors"]
        files += [
            folder / name / "part-00000000.parquet" for folder in folders for name in ("candidates", "tops")
        ]
        files += [folder / "model" / "weights.safetensors" for folder in folders]
        found: dict[str, object] = {
            "stages": sorted((round_, stage) for round_, stage, _ in run.ledger.stages()),
            "asked": [(one.round, one.problem_id, one.why, one.candidates) for one in run.ledger.batch()],
            "said": sorted((r.round, r.problem_id, r.kind, r.equation or "") for r in run.ledger.responses()),
            "known": [run.ledger.result(number, "open") for number in range(1, last + 1)],
            "metrics": run.ledger.metrics(),
            "end": run.ledger.fact("end"),
            **{str(path.relative_to(run.folder)): sha256(path.read_bytes()).hexdigest() for path in files},
            "litter": sorted(str(path) for kind in LITTER for path in run.folder.rglob(kind)),
        }
        if TaskStore.exists(run.store):
            store = TaskStore(run.store)
            stack.callback(store.close)
            found["tasks"] = sorted(key for key in store.tasks().values() if key is not None)
        return found


def progress(root: Path, name: str) -> tuple[int, ...]:
    """How far a run is, read without any of our own code."""
    state = root / name / "state.sqlite"
    if not state.exists():
        return ()
    with closing(sqlite3.connect(state)) as database:
        tables = {row[0] for row in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
        counted = [name for name in ("stages", "responses", "facts") if name in tables]
        return tuple(database.execute(f"SELECT count(*) FROM {name}").fetchone()[0] for name in counted)


def differences(one: dict[str, object], other: dict[str, object]) -> list[str]:
    """The names of what differs."""
    return [name for name in one | other if one.get(name) != other.get(name)]

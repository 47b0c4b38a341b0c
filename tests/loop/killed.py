"""Runs a small loop that is killed before every single write: a file's taking its place, or a commit.

    python killed.py FOLDER

Every process forks off before torch or polars have done anything, so it starts quickly; nothing of it
survives the kill but what it had written. Prints one line of JSON.
"""

import json
import os
import signal
import sqlite3
import sys
from contextlib import closing
from hashlib import sha256
from pathlib import Path

import torch
import torch._dynamo  # an optimizer imports it when it is made: longer than all the rest, in every process
from tiny import TINY

from toolkit.cli.loop import loop  # noqa: F401  # what the command imports is imported here, before the forks
from toolkit.config import load_config
from toolkit.loop.annotators import annotator_of
from toolkit.loop.config import LoopConfig
from toolkit.loop.ledger import Ledger
from toolkit.loop.loop import Loop
from toolkit.loop.results import write_results
from toolkit.loop.run import create_run, locked, open_run

SETTINGS = (*TINY, "stop.rounds=2", "warm.train.epochs=2", "annotator.error_rate=0.5")


def go(root: Path, name: str) -> None:
    torch.set_num_threads(1)
    there = (root / name / "config.yaml").exists()
    run = open_run(root, name) if there else create_run(root, name, load_config(LoopConfig, None, SETTINGS))
    with locked(run):
        work = Loop(run, annotator_of(run))
        work.rounds()
        write_results(work.state)


class Killer:
    """Kills this process just before its n-th write."""

    def __init__(self, last: int) -> None:
        self.writes, self.last = 0, last
        replace, commit = Path.replace, Ledger._commit

        def replacing(path: Path, target: Path) -> Path:
            self.count()
            return replace(path, target)

        def committing(ledger: Ledger) -> None:
            self.count()
            commit(ledger)

        Path.replace, Ledger._commit = replacing, committing

    def count(self) -> None:
        self.writes += 1
        if self.writes == self.last:
            os.kill(os.getpid(), signal.SIGKILL)


def in_a_process(root: Path, name: str, last: int | None) -> int:
    """The wait status of a process that runs the loop, killed before its n-th write."""
    child = os.fork()
    if child == 0:
        try:
            if last is not None:
                Killer(last)
            go(root, name)
        except BaseException as error:
            sys.stderr.write(f"{type(error).__name__}: {error}\n")
            os._exit(1)
        os._exit(0)
    return os.waitpid(child, 0)[1]


def fingerprint(root: Path, name: str) -> dict[str, object]:
    """Everything a run decided, without what took how long."""
    run = open_run(root, name)
    with locked(run):
        pass  # sweeps up what the last kill left behind
    last = max(round_ for round_, _, _ in run.ledger.stages())
    files = [run.folder / "equations.parquet", run.folder / "solver" / "weights.safetensors"]
    files += [run.round_folder(r) / "model" / "weights.safetensors" for r in range(1, last + 1)]
    return {
        "asked": [(one.round, one.problem_id, one.why, one.candidates) for one in run.ledger.batch()],
        "said": [(r.external_id, r.kind, r.equation) for r in run.ledger.responses()],
        "known": [run.ledger.result(r, "open") for r in range(1, last + 1)],
        "metrics": run.ledger.metrics(),
        "end": run.ledger.fact("end"),
        "files": [sha256(path.read_bytes()).hexdigest() for path in files],
        "litter": sorted(str(path.relative_to(root)) for path in run.folder.rglob(".*")),
    }


def done(root: Path, name: str) -> tuple[int, ...]:
    """How far a run is, read without any of our own code."""
    state = root / name / "state.sqlite"
    if not state.exists():
        return ()
    with closing(sqlite3.connect(state)) as database:
        tables = {row[0] for row in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
        counted = [name for name in ("stages", "responses", "facts") if name in tables]
        return tuple(database.execute(f"SELECT count(*) FROM {name}").fetchone()[0] for name in counted)


def main(root: Path) -> None:
    assert in_a_process(root, "whole", None) == 0
    kills, last = 0, 1
    before = done(root, "killed")
    while (status := in_a_process(root, "killed", last)) == signal.SIGKILL:
        kills += 1
        assert kills < 300
        now = done(root, "killed")
        last, before = (1 if now != before else last + 1), now
    assert status == 0, status
    print(json.dumps({"kills": kills, **{name: fingerprint(root, name) for name in ("whole", "killed")}}))


if __name__ == "__main__":
    main(Path(sys.argv[1]))

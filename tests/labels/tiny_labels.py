"""The protocol on bundled problems, with pieces that take about a second."""

import json
from dataclasses import replace
from pathlib import Path

import torch

from toolkit.compute import LocalCompute
from toolkit.data import read_problems
from toolkit.labels.measure import PieceWorker
from toolkit.labels.pieces import SETTINGS, Files, Piece, Protocol
from toolkit.labels.plan import Plan, results_of
from toolkit.labels.sets import load_sets
from toolkit.labels.write import write_labels
from toolkit.methods import FitInput
from toolkit.methods.warm import Warm
from toolkit.pieces.run import LocalExecutor, measuring_in, run

TINY = (
    *("warm.train.epochs=1", "warm.train.search=1", "warm.model.hidden=8", "warm.model.embedding=8"),
    *("generate.width=3", "generate.search=2", "lbf.epochs=1", "lbf.hidden=8", "lbf.embedding=8"),
    "lbf.fixes=5",
)
PROTOCOL = Protocol(asked=16, others=6, settings=(*SETTINGS, *TINY))


def write_data(folder: Path) -> Path:
    """AllArith's file with some bundled problems in it."""
    folder.mkdir(exist_ok=True)
    rows = read_problems("bundled:en").table.head(40).drop("split").to_dicts()
    (folder / "allarith.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    return folder


def write_start(folder: Path, data: Path) -> Path:
    """A folder with a model that learnt the answers of that file."""
    config = Piece("allarith", "warm", "margin", 8, 0, 0.0).config(PROTOCOL).warm
    Warm.fit(FitInput(read_problems(data / "allarith.jsonl"), {}, config), folder / "allarith")
    return folder


def plan_of(data: Path, **changes: object) -> Plan:
    plan = Plan(load_sets(["allarith"], data), PROTOCOL, ["margin"], [8], [0.0], seeds=1)
    return replace(plan, **changes)


def worker_of(plan: Plan, files: Files) -> PieceWorker:
    return PieceWorker(plan.sets, plan.protocol, files, LocalCompute(torch.device("cpu")))


def measure(plan: Plan, out: Path, resume: bool = False):
    """The names of what was measured, in order, and what was written."""
    ended: list[str] = []
    files = Files(out)
    with measuring_in(out, "pieces", resume):
        executor = LocalExecutor(worker_of(plan, files))
        run(plan, results_of(plan, files), executor, on_end=lambda piece, curve: ended.append(piece.name))
        return ended, write_labels(plan, files, "python bench/active.py --data 'my data'")

"""A paper of two tables on forty bundled problems, whose cells take about a second.

    python tiny_paper.py DATA OUT [--resume]

measures it, and prints the name of each cell that was measured.
"""

import json
import sys
from pathlib import Path

from toolkit.data import read_problems
from toolkit.paper.cells import Files
from toolkit.paper.config import PaperConfig
from toolkit.paper.plan import Plan, make_plan
from toolkit.paper.run import CellWorker, paper_folder, results_of, results_to_go_on
from toolkit.paper.tables import Entry, Row, Step, System, Table
from toolkit.paper.write import write_paper
from toolkit.pieces.run import LocalExecutor, run

WARM = {"train.epochs": 2, "train.search": 1, "model.hidden": 8, "model.embedding": 8, "model.max_steps": 3}
GTS = {"epochs": 2, "members": 1, "hidden": 8, "embedding": 8, "max_tokens": 7}
SETTINGS = PaperConfig(methods={"warm": WARM}, solvers={"gts": GTS}, folds=2)
COMMAND = "warmkit paper --data 'my data'"


def place(system: System, paper: float | None = None, data: str = "allarith") -> dict[str, Entry]:
    return {"AllArith": Entry(data, system, paper)}


SAMPLING = Row("sampling", "baselines", place(System(Step("random_sampling")), 53.4))
WARM_ROW = Row("WARM", "weak", place(System(Step("warm")), 97.4))
GTS_ROW = Row("WARM (GTS)", "weak", place(System(Step("warm"), "gts"), 66.9))
ONE = Table(1, "Generation", "reached", (WARM_ROW, SAMPLING))
TWO = Table(2, "Solving", "answers", (GTS_ROW,))


def write_data(folder: Path, name: str = "allarith", folds: int = 2, **more: object) -> Path:
    """Forty problems; with `folds`, each has one."""
    folder.mkdir(exist_ok=True)
    rows = read_problems("bundled:en").table.head(40).drop("split").to_dicts()
    lines = [json.dumps(row | ({"fold": i % folds} if folds else {}) | more) for i, row in enumerate(rows)]
    (folder / f"{name}.jsonl").write_text("\n".join(lines), encoding="utf-8")
    return folder


def plan_of(data: Path, *tables: Table, seeds: int = 1, settings: PaperConfig = SETTINGS) -> Plan:
    return make_plan(tables or (ONE, TWO), data, seeds, settings)


def worker_of(plan: Plan, files: Files) -> CellWorker:
    import torch

    from toolkit.compute import LocalCompute

    return CellWorker(plan.sets, plan.settings, files, LocalCompute(torch.device("cpu")))


def measure(plan: Plan, out: Path, resume: bool = False, seconds: float | None = None):
    """What was measured, in order, and what was written."""
    ended = []
    with paper_folder(out, resume) as files:
        run(
            plan,
            results_to_go_on(plan, results_of(plan, files), files),
            LocalExecutor(worker_of(plan, files)),
            seconds=seconds,
            on_end=lambda cell, result: ended.append(cell.name) or print(cell.name, flush=True),
        )
        return ended, write_paper(plan, files, COMMAND)


if __name__ == "__main__":
    measure(plan_of(Path(sys.argv[1])), Path(sys.argv[2]), "--resume" in sys.argv)

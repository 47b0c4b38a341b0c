"""Workers that train the networks of a solver together, in a plain process group: no Ray."""

import json

import pytest
import torch
from commands import together
from safetensors import safe_open
from safetensors.torch import load_file

from toolkit.data import read_problems
from toolkit.solvers import fit_solver
from toolkit.solvers.neural import member

SETTINGS = {
    **{"hidden": 8, "embedding": 8, "epochs": 3, "members": 2, "max_tokens": 9, "batch": 8},
    **{"dropout": 0.0, "decoder_dropout": 0.0},
    **{"held_out": 0.25, "lr": 0.001},  # Adam makes a step of this size of a gradient that is rounding alone
}
WORKER = """
import json, sys
from pathlib import Path
import torch, torch.distributed as dist
from toolkit.data import read_problems
from toolkit.nn.workers import WorkerGroup
from toolkit.solvers import SolverInput
from toolkit.solvers.neural import member
from toolkit.solvers.published import Gts

rank, size, group, out, settings = sys.argv[1:]
torch.set_num_threads(1)
dist.init_process_group("gloo", init_method=f"file://{group}", rank=int(rank), world_size=int(size))
member.LEAST_HELD_OUT = 5
problems = read_problems("bundled:en").take(range(41))
data = SolverInput(problems, problems.gold_templates, None, Gts.Config(**json.loads(settings)))
Gts.fit(data, folder=Path(out) / rank, workers=WorkerGroup(int(rank), int(size)))
dist.destroy_process_group()
"""


def state(folder, number):
    return folder / "training" / f"network-{number}" / "training.safetensors"


def history(path):
    with safe_open(path, "pt") as file:
        return json.loads(file.metadata()["history"])


@pytest.mark.parametrize("size", [2, 3])
def test_workers_come_to_the_networks_of_one_alone(tmp_path, size, monkeypatch):
    monkeypatch.setattr(member, "LEAST_HELD_OUT", 5)
    problems = read_problems("bundled:en").take(range(41))  # 31 are learnt: a last batch of 7
    fit_solver(problems, solver="gts", constants=["1", "π"], settings=SETTINGS, folder=tmp_path / "one")
    together(size, tmp_path, WORKER, str(tmp_path / "all"), json.dumps(SETTINGS))
    for number in (1, 2):
        single, shared = load_file(state(tmp_path / "one", number)), state(tmp_path / "all" / "0", number)
        for name, tensor in load_file(shared).items():
            torch.testing.assert_close(tensor, single[name], atol=1e-5, rtol=1e-4, msg=name)
        for alone, with_others in zip(history(state(tmp_path / "one", number)), history(shared), strict=True):
            assert with_others["loss"] == pytest.approx(alone["loss"], rel=1e-4)
            assert with_others["right"] == alone["right"]
        assert not state(tmp_path / "all" / "1", number).exists()  # rank zero saves

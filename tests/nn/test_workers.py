"""Workers that train one model together, in a plain process group: no Ray."""

import shutil

import pytest
import torch
from commands import together
from safetensors.torch import load_file
from tiny import WARM

from toolkit.config import load_config
from toolkit.data import ProblemSet, read_problems
from toolkit.equations import search
from toolkit.methods import FitInput
from toolkit.methods.warm import Warm
from toolkit.methods.warm.config import WarmConfig
from toolkit.nn.workers import WorkerGroup

WORKER = """
import sys
from pathlib import Path
import torch, torch.distributed as dist
from toolkit.config import load_config
from toolkit.data import read_problems
from toolkit.methods import FitInput, FitOptions
from toolkit.methods.warm import Warm
from toolkit.methods.warm.config import WarmConfig
from toolkit.nn.workers import WorkerGroup

rank, size, group, out, gold, *settings = sys.argv[1:]
torch.set_num_threads(1)
dist.init_process_group("gloo", init_method=f"file://{group}", rank=int(rank), world_size=int(size))
problems = read_problems("bundled:en").take(range(41))
known = problems.gold_templates if gold == "all" else {}
data = FitInput(problems, known, load_config(WarmConfig, None, settings))
state = Path(out) / "state"  # of all ranks, to go on from
options = FitOptions(resume=state.exists(), state=state, workers=WorkerGroup(int(rank), int(size)))
Warm.fit(data, Path(out) / rank, options)
dist.destroy_process_group()
"""


@pytest.fixture(scope="module")
def problems() -> ProblemSet:
    return read_problems("bundled:en").take(range(41))


def by_workers(size, out, gold, settings):
    """The folder of the model that `size` processes trained."""
    together(size, out.parent, WORKER, str(out), gold, *settings)
    return out / "0"


def alone(problems, out, gold, settings):
    known = problems.gold_templates if gold == "all" else {}
    Warm.fit(FitInput(problems, known, load_config(WarmConfig, None, settings)), out)
    return out


@pytest.mark.parametrize("size", [2, 3])
def test_workers_come_to_the_weights_of_one_alone(problems, tmp_path, size):
    settings = (*WARM, "model.dropout=0", "train.batch=16")
    single = load_file(alone(problems, tmp_path / "one", "all", settings) / "training.safetensors")
    shared = load_file(by_workers(size, tmp_path / "all", "all", settings) / "training.safetensors")
    assert single.keys() == shared.keys()
    for name in single.keys() - {"extra.workers"}:
        torch.testing.assert_close(shared[name], single[name], atol=1e-5, rtol=1e-4, msg=name)


def test_each_worker_remembers_what_it_owns_and_any_number_of_workers_goes_on(problems, tmp_path):
    settings = (*WARM, "model.dropout=0", "train.search=2", "train.epochs=1", "train.batch=16")
    longer = (*settings, "train.epochs=2")
    pair, three = tmp_path / "pair", tmp_path / "three"
    by_workers(2, pair, "all", settings)
    assert [path.name for path in (pair / "1").iterdir()] == ["memory-0001-1-of-2.safetensors"]
    found = search(problems.numbers, problems.answers, 2)
    for rank in (0, 1):
        remembered = load_file(pair / str(rank) / f"memory-0001-{rank}-of-2.safetensors")["scores"]
        owned = [bool(candidates) for candidates in found[rank::2]]
        assert remembered.isfinite().any(1).tolist() == owned
    (three / "state").mkdir(parents=True)
    for path in (*(pair / "0").iterdir(), *(pair / "1").iterdir()):
        shutil.copy(path, three / "state")
    resumed = load_file(by_workers(3, three, "all", longer) / "training.safetensors")
    straight = load_file(alone(problems, tmp_path / "one", "all", longer) / "training.safetensors")
    for name in straight.keys() - {"extra.workers"}:
        torch.testing.assert_close(resumed[name], straight[name], atol=1e-5, rtol=1e-4, msg=name)
    remembered = [load_file(three / str(r) / f"memory-0002-{r}-of-3.safetensors")["paths"] for r in range(3)]
    together = torch.empty(len(problems), *remembered[0].shape[1:], dtype=torch.uint8)
    for rank, paths in enumerate(remembered):
        together[rank::3] = paths
    assert together.equal(load_file(tmp_path / "one" / "memory-0002-0-of-1.safetensors")["paths"])


def test_a_worker_alone_needs_no_process_group():
    layer = torch.nn.Linear(2, 1)
    assert not WorkerGroup().sum_gradients(layer.parameters())
    layer(torch.ones(2)).backward()
    before = layer.weight.grad.clone()
    assert WorkerGroup().sum_gradients(layer.parameters())
    assert torch.equal(layer.weight.grad, before)
    assert WorkerGroup().sum(1.5, 2.0) == [1.5, 2.0]

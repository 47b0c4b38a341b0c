"""Workers that train one model together, in a plain process group: no Ray."""

import pytest
import torch
from commands import together
from safetensors.torch import load_file
from tiny import WARM

from toolkit.config import load_config
from toolkit.data import ProblemSet, read_problems, vocabulary_of
from toolkit.equations import search
from toolkit.methods import FitInput
from toolkit.methods.warm import Warm
from toolkit.methods.warm.config import WarmConfig
from toolkit.nn.batches import to_tensors
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
Warm.fit(data, Path(out) / rank, FitOptions(workers=WorkerGroup(int(rank), int(size))))
dist.destroy_process_group()
"""

SHARES = """
import sys
import torch, torch.distributed as dist
from toolkit.methods.warm.memory import Memory
from toolkit.nn.workers import WorkerGroup

rank, size, group = sys.argv[1:]
dist.init_process_group("gloo", init_method=f"file://{group}", rank=int(rank), world_size=int(size))
memory = Memory(7, 2, 3, torch.device("cpu"))
mine = torch.tensor([[6, 0, 3], [1, 2, 5, 4]][int(rank)])
memory.paths[mine, 0] = (mine * -1000 + 5).to(torch.int16)[:, None, None]
memory.scores[mine, 0] = -mine.float()
memory.paths[0, 1] = 99 - int(rank)  # of row 0 only the first worker is to be believed
WorkerGroup(int(rank), int(size)).share_rows(list(memory.tensors.values()), mine)
rows = torch.arange(7)
assert (memory.paths[:, 0] == (rows * -1000 + 5)[:, None, None]).all(), memory.paths
assert (memory.paths[1:, 1] == -1).all() and (memory.paths[0, 1] == 99).all(), memory.paths
assert (memory.scores[:, 0] == -rows).all() and memory.scores[:, 1].isneginf().all(), memory.scores
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
    for name in single:
        torch.testing.assert_close(shared[name], single[name], atol=1e-5, rtol=1e-4, msg=name)


def test_rank_zero_saves_what_every_worker_remembers(problems, tmp_path):
    settings = (*WARM, "train.search=2", "train.epochs=1", "train.batch=16")
    saved = load_file(by_workers(2, tmp_path / "all", "none", settings) / "training.safetensors")
    remembered = saved["extra.scores"].isfinite().any(1).nonzero().squeeze(1).tolist()
    found = search(problems.numbers, problems.answers, 2)
    searched = {row for row, candidates in enumerate(found) if candidates}
    assert {row % 2 for row in searched} == {0, 1}  # both workers have found some
    assert searched <= set(remembered)
    assert not (tmp_path / "all" / "1").exists()


def test_what_a_worker_remembers_goes_to_all(tmp_path):
    together(2, tmp_path, SHARES)


@pytest.mark.parametrize("size", [2, 3])
def test_a_batch_is_sharded_evenly(problems, size):
    gold = [row % 3 == 0 for row in range(len(problems))]
    batch = to_tensors(problems, vocabulary_of(problems, 1)).all
    shards = [WorkerGroup(rank, size).shard(batch, torch.tensor(gold)) for rank in range(size)]
    assert sorted(torch.cat([own.rows for own in shards]).tolist()) == list(range(len(problems)))
    for counted in (len, lambda rows: sum(gold[row] for row in rows)):
        counts = [counted(own.rows.tolist()) for own in shards]
        assert max(counts) - min(counts) <= 1


def test_a_worker_alone_needs_no_process_group():
    layer = torch.nn.Linear(2, 1)
    assert not WorkerGroup().sum_gradients(layer.parameters())
    layer(torch.ones(2)).backward()
    before = layer.weight.grad.clone()
    assert WorkerGroup().sum_gradients(layer.parameters())
    assert torch.equal(layer.weight.grad, before)
    assert WorkerGroup().sum(1.5, 2.0) == [1.5, 2.0]

"""One of two ranks of WARM: reads its shard, trains 60 batches, saves what it remembers.

python bench/ranks/shard.py PREPARED SIZE KEY=VALUE …: prints its figures as JSON (bench/scale.py).
"""

import json
import sys
import tempfile
import time
from dataclasses import replace
from itertools import islice
from pathlib import Path

import torch
from peak import peak_mb

from toolkit.config import load_config
from toolkit.data.prepared import KnownShare, read_prepared
from toolkit.methods.prepared import PreparedInput
from toolkit.methods.warm import Warm
from toolkit.methods.warm.memory import Memory
from toolkit.methods.warm.remembered import save_memory
from toolkit.methods.warm.sharded import prepared_shard
from toolkit.methods.warm.train import batch_losses
from toolkit.nn.batches import like_lengths
from toolkit.nn.memory import keep_freed_memory
from toolkit.nn.workers import WorkerGroup

BATCHES, WARM_UP = 60, 10  # the first ones are not timed


def main() -> None:
    folder, size, *settings = sys.argv[1:]
    torch.set_num_threads(1)
    ready, config = read_prepared(Path(folder)), load_config(Warm.Config, None, settings)
    times = max(1, round(int(size) / len(ready)))
    many = replace(ready, problems=times * len(ready), parts=ready.parts * times)
    workers, longest = WorkerGroup(0, 2), config.model.max_steps
    vocabulary = many.vocabulary(config.train.min_count)
    policy = Warm.new_network(len(vocabulary), many.constants, config)
    owned = len(workers.owned(len(many)))
    memory = Memory(owned, config.train.memory, longest, torch.device("cpu"), policy.layout.codes(longest))
    begun = time.process_time()
    data = PreparedInput(many, KnownShare(0, None, 0), config)
    shard = prepared_shard(data, vocabulary, policy.layout, config, workers, memory)
    read = time.process_time()
    keep_freed_memory()
    optimizer, generator = torch.optim.Adam(policy.parameters()), torch.Generator().manual_seed(0)
    learnt = 0
    for i, rows in enumerate(islice(like_lengths(shard.lengths, config.train.batch, generator), BATCHES)):
        if i == WARM_UP:
            timed = time.process_time()
        own = workers.own_rows(rows)
        losses, _ = batch_losses(
            policy, shard.tensors.batch(own), shard.gold_of(own, longest), config, memory, generator
        )
        optimizer.zero_grad()
        losses.sum().backward()
        optimizer.step()
        learnt += len(own) if i >= WARM_UP else 0
    trained = time.process_time()
    with tempfile.TemporaryDirectory() as out:
        save_memory(Path(out), 1, memory, workers)
        saved = sum(path.stat().st_size for path in Path(out).iterdir())
    tensors = [value for value in vars(shard.tensors).values() if isinstance(value, torch.Tensor)]
    tensors += [shard.lengths, *memory.tensors.values()]
    figures = {
        "problems": len(many),
        "read_core_seconds": read - begun,
        "trained_per_core_second": learnt / (trained - timed),
        "save_core_seconds": time.process_time() - trained,
        "checkpoint_mb": saved / 1e6,
        "bytes_a_problem": sum(tensor.nbytes for tensor in tensors) / owned,
        "peak_mb": peak_mb(),
    }
    print(json.dumps(figures))


if __name__ == "__main__":
    main()

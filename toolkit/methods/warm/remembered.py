"""What each rank remembers, in the files of a checkpoint: one file for each rank and epoch.

memory-0003-1-of-2.safetensors is what rank 1 of 2 remembered after epoch 3, for the rows that it owns. A
checkpoint is complete once training.safetensors says how many epochs there were: files of other epochs are
of no use then. A run that goes on with another number of workers takes its rows out of all files.
"""

import re
from collections.abc import Iterator
from pathlib import Path

import torch
from safetensors import SafetensorError, safe_open
from torch import Tensor

from toolkit.methods.warm.memory import Memory
from toolkit.methods.warm.paths import Layout
from toolkit.nn.checkpoint import not_of_this
from toolkit.nn.weights import load_weights, save_weights
from toolkit.nn.workers import WorkerGroup

FILES = "memory-*.safetensors"
AT_ONCE = 65_536  # rows that are read at a time

_NAME = re.compile(r"memory-(\d+)-(\d+)-of-(\d+)\.safetensors")


def save_memory(folder: Path, epoch: int, memory: Memory, workers: WorkerGroup) -> None:
    name = f"memory-{epoch:04d}-{workers.rank}-of-{workers.world_size}.safetensors"
    save_weights(folder / name, memory.tensors)


def remove_other_memories(folder: Path, epoch: int) -> None:
    """Delete what was remembered after other epochs than this one."""
    for path in folder.glob(FILES):
        if (named := _NAME.fullmatch(path.name)) and int(named[1]) != epoch:
            path.unlink(missing_ok=True)


def load_memory(
    folder: Path, epoch: int, memory: Memory, workers: WorkerGroup, layout: Layout, counts: Tensor
) -> None:
    """Restore what was remembered of the rows of this rank, by however many ranks.

    Paths that problems with so many numbers [N] can't have are an error.
    """
    restored = torch.zeros(len(counts), dtype=torch.bool)
    for rows, paths, scores in _remembered(folder, epoch, workers):
        for found, kept in ((paths, memory.paths), (scores, memory.scores)):
            if found.dtype != kept.dtype or found.shape != (len(rows), *kept.shape[1:]):
                raise not_of_this(folder)
        if len(rows) and int(rows.max()) >= len(counts):
            raise not_of_this(folder)
        if not layout.are_paths(paths.long() - 1, counts[rows]) or bool(scores.isnan().any()):
            raise not_of_this(folder)
        memory.paths[rows] = paths.to(memory.paths.device)
        memory.scores[rows] = scores.to(memory.scores.device)
        restored[rows] = True
    if not bool(restored.all()):
        raise not_of_this(folder)


def _remembered(folder: Path, epoch: int, workers: WorkerGroup) -> Iterator[tuple[Tensor, Tensor, Tensor]]:
    """Rows of this rank, with their paths and scores, some at a time."""
    for path, before in _files(folder, epoch):
        try:
            with safe_open(path, "pt") as file:
                all_paths, all_scores = file.get_slice("paths"), file.get_slice("scores")
                for start in range(0, all_paths.get_shape()[0], AT_ONCE):
                    paths, scores = all_paths[start : start + AT_ONCE], all_scores[start : start + AT_ONCE]
                    rows = torch.arange(start, start + len(paths)) * before.world_size + before.rank
                    own = rows % workers.world_size == workers.rank
                    yield rows[own] // workers.world_size, paths[own], scores[own]
        except (OSError, SafetensorError):
            load_weights(path)  # says what is wrong, unless it can be read but is of something else
            raise not_of_this(folder) from None
        except (LookupError, RuntimeError, TypeError, ValueError):
            raise not_of_this(folder) from None


def _files(folder: Path, epoch: int) -> list[tuple[Path, WorkerGroup]]:
    """The files of an epoch, each with the rank that wrote it; an error if one is missing."""
    found = [(path, named) for path in sorted(folder.glob(FILES)) if (named := _NAME.fullmatch(path.name))]
    of_epoch = [
        (path, WorkerGroup(int(named[2]), int(named[3]))) for path, named in found if int(named[1]) == epoch
    ]
    ranks = sorted((before.world_size, before.rank) for _, before in of_epoch)
    if not ranks or ranks != [(len(ranks), rank) for rank in range(len(ranks))]:
        raise not_of_this(folder)
    return of_epoch

"""What each rank remembers, in the files of a checkpoint: one file for each rank, epoch and 65,536 rows.

memory-0003-1-of-2.safetensors is what rank 1 of 2 remembered after epoch 3, for the first of the rows that it
owns, memory-0003-1-of-2-00001.safetensors for those after them: what is written is in memory twice. A
checkpoint is complete once training.safetensors says how many epochs and workers there were: other files are
of no use then. A run that goes on with another number of workers takes its rows out of all files.
"""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path

import torch
from torch import Tensor

from toolkit.methods.warm.memory import Memory
from toolkit.methods.warm.paths import Layout
from toolkit.nn.checkpoint import not_of_this
from toolkit.nn.weights import load_weights, save_weights
from toolkit.nn.workers import WorkerGroup

FILES = "memory-*.safetensors"
PIECE = 65_536  # rows of a file

_NAME = re.compile(r"memory-(\d{4,9})-(\d{1,9})-of-(\d{1,9})(?:-(\d{5,9}))?\.safetensors")


def save_memory(folder: Path, epoch: int, memory: Memory, workers: WorkerGroup) -> None:
    name = f"memory-{epoch:04d}-{workers.rank}-of-{workers.world_size}"
    for piece, start in enumerate(range(0, max(len(memory.scores), 1), PIECE)):
        suffix = f"-{piece:05d}" if piece else ""
        rows = {key: tensor[start : start + PIECE] for key, tensor in memory.tensors.items()}
        save_weights(folder / f"{name}{suffix}.safetensors", rows)


def remove_other_memories(folder: Path, epoch: int) -> None:
    """Delete what was remembered after other epochs than this one."""
    for path in folder.glob(FILES):
        if (named := _NAME.fullmatch(path.name)) and int(named[1]) != epoch:
            path.unlink(missing_ok=True)


def has_memory(folder: Path) -> bool:
    """Whether a model remembers paths. One that learnt other problems is given without what it remembers."""
    return any(_NAME.fullmatch(path.name) for path in folder.glob(FILES))


def group_size(workers: WorkerGroup) -> dict[str, Tensor]:
    """What training.safetensors says of the workers."""
    return {"workers": torch.tensor(workers.world_size)}


def load_memory(
    folder: Path,
    epoch: int,
    training: Mapping[str, Tensor],
    memory: Memory,
    workers: WorkerGroup,
    layout: Layout,
    counts: Tensor,
) -> None:
    """Restore what was remembered of the rows of this rank, by however many ranks.

    `training` is what training.safetensors has besides the model. A row that is missing, and paths that
    problems with so many numbers [N] can't have, are an error.
    """
    restored = torch.zeros(len(counts), dtype=torch.bool)
    before = training.get("workers")
    if before is None or before.shape != () or before.dtype != torch.int64:
        raise not_of_this(folder)
    for rows, paths, scores in _remembered(folder, epoch, int(before), workers):
        for found, kept in ((paths, memory.paths), (scores, memory.scores)):
            if found.dtype != kept.dtype or found.shape != (len(rows), *kept.shape[1:]):
                raise not_of_this(folder)
        if len(rows) and not 0 <= int(rows.min()) <= int(rows.max()) < len(counts):
            raise not_of_this(folder)
        if not layout.are_paths(paths.long() - 1, counts[rows]) or bool(scores.isnan().any()):
            raise not_of_this(folder)
        memory.paths[rows] = paths.to(memory.paths.device)
        memory.scores[rows] = scores.to(memory.scores.device)
        restored[rows] = True
    if not bool(restored.all()):
        raise not_of_this(folder)


def _remembered(
    folder: Path, epoch: int, before: int, workers: WorkerGroup
) -> Iterator[tuple[Tensor, Tensor, Tensor]]:
    """Rows of this rank, with their paths and scores, from one file after the other of so many ranks."""
    for path in sorted(folder.glob(FILES)):
        named = _NAME.fullmatch(path.name)
        if named is None or (int(named[1]), int(named[3])) != (epoch, before):
            continue
        rank, piece, tensors = int(named[2]), int(named[4] or 0), load_weights(path)
        counts = {tuple(tensor.shape[:1]) for tensor in tensors.values()}
        if tensors.keys() != {"paths", "scores"} or len(counts) != 1 or () in counts:
            raise not_of_this(folder)
        rows = torch.arange(len(tensors["scores"])).add(piece * PIECE) * before + rank
        own = rows % workers.world_size == workers.rank
        yield rows[own] // workers.world_size, tensors["paths"][own], tensors["scores"][own]

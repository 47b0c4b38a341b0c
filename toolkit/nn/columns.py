"""Rows of tables in parts as flat tensors: a rank keeps its own.

The parts are read twice: first how much there is, then into tensors of that size. Pieces of tensors that are
joined in the end would leave more memory unused between them than the tensors take.
"""

from collections.abc import Iterable, Iterator, Mapping

import polars as pl
import torch
from torch import Tensor

from toolkit.nn.workers import WorkerGroup


def owned_rows(
    parts: Iterable[pl.DataFrame], workers: WorkerGroup
) -> Iterator[tuple[pl.DataFrame, pl.DataFrame]]:
    """Each part, and the rows of it that a rank owns."""
    start = 0
    for part in parts:
        yield part, part.gather_every(workers.world_size, (workers.rank - start) % workers.world_size)
        start += len(part)


class FlatColumns:
    """Tensors of sizes that are known, filled part by part."""

    def __init__(self, sizes: Mapping[str, tuple[int, torch.dtype]]) -> None:
        self.tensors = {name: torch.empty(size, dtype=dtype) for name, (size, dtype) in sizes.items()}
        self.filled_to = dict.fromkeys(sizes, 0)

    def fill(self, name: str, values: Tensor) -> None:
        start = self.filled_to[name]
        self.filled_to[name] = start + len(values)
        self.tensors[name][start : start + len(values)] = values


def problem_columns(
    problems: int, tokens: int, numbers: int, words: int
) -> dict[str, tuple[int, torch.dtype]]:
    """What `ProblemTensors` has of so many problems, tokens and numbers; `words` is the vocabulary's size."""
    return {
        "lengths": (problems, torch.int32),
        "tokens": (tokens, torch.int16 if words < 2**15 else torch.int32),
        "counts": (problems, torch.int32),
        "positions": (numbers, torch.int16),
        "values": (numbers, torch.float64),
        "written": (numbers, torch.uint8),
        "lang": (problems, torch.uint8),
        "answers": (problems, torch.float64),
        "tolerances": (problems, torch.float64),
    }


def as_tensor(column: pl.Series) -> Tensor:
    return torch.from_numpy(column.to_numpy(writable=True))

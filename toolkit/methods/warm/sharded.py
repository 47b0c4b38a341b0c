"""How a rank reads its shard of a prepared set."""

from collections.abc import Sequence
from fractions import Fraction
from functools import cache
from typing import overload

import numpy as np
import polars as pl
import torch
from torch import Tensor

from toolkit.data import Vocabulary
from toolkit.data.schema import MAX_NUMBERS
from toolkit.data.vocabulary import FIRST_NUMBER_AT, UNKNOWN_AT
from toolkit.equations import Constant, parse_template
from toolkit.methods.base import STEP_COST
from toolkit.methods.prepared import PreparedInput
from toolkit.methods.warm.config import WarmConfig
from toolkit.methods.warm.memory import Memory
from toolkit.methods.warm.paths import Layout
from toolkit.methods.warm.shards import Shard
from toolkit.nn.answers import AnswerCheck
from toolkit.nn.batches import ProblemTensors, constant_values
from toolkit.nn.workers import WorkerGroup


class PackedNumbers(Sequence[Sequence[Fraction]]):
    """The exact numbers of each problem, made when they are asked for."""

    def __init__(self, numbers: pl.Series) -> None:
        self._numbers = numbers

    def __len__(self) -> int:
        return len(self._numbers)

    @overload
    def __getitem__(self, row: int) -> Sequence[Fraction]: ...
    @overload
    def __getitem__(self, row: slice) -> Sequence[Sequence[Fraction]]: ...
    def __getitem__(self, row: int | slice) -> Sequence[Fraction] | Sequence[Sequence[Fraction]]:
        if isinstance(row, slice):
            return [self[i] for i in range(*row.indices(len(self)))]
        return [Fraction(number) for number in self._numbers[row].split(" ")]


def prepared_shard(
    data: PreparedInput,
    vocabulary: Vocabulary,
    layout: Layout,
    config: WarmConfig,
    workers: WorkerGroup,
    memory: Memory | None,
) -> Shard:
    """The shard of a rank: every part is read, and the rows that the rank owns are kept.

    What search found goes to the memory, if there is one.
    """
    kept = _Kept(vocabulary, layout, config.model.max_steps)
    lengths: list[Tensor] = []
    start = 0
    for part in data.problems.frames():
        lengths.append(torch.from_numpy(part["length"].to_numpy(writable=True)))
        own = part.gather_every(workers.world_size, (workers.rank - start) % workers.world_size)
        if memory is not None:
            kept.remember(own["paths"], memory)
        kept.add(own, None if data.known.is_empty else data.known.chosen(own))
        start += len(part)
    return kept.shard(torch.cat(lengths), data.constants)


class _Kept:
    """The columns of the rows that a rank owns, part by part."""

    def __init__(self, vocabulary: Vocabulary, layout: Layout, longest: int) -> None:
        self.words, self.layout, self.longest = list(vocabulary.words), layout, longest
        self.dtype = pl.Int16 if len(vocabulary) < 2**15 else pl.Int32
        self.columns: dict[str, list[Tensor]] = {}
        self.numbers: list[pl.Series] = []
        self.langs: dict[str, int] = {}
        self.gold: list[Tensor] = []
        self.count = 0  # rows so far
        self.path_of = cache(self._path_of)

    def add(self, part: pl.DataFrame, gold: pl.Series | None) -> None:
        words = part["tokens"].str.split(" ").explode()
        indices = list(range(len(self.words)))
        tokens = words.replace_strict(self.words, indices, default=UNKNOWN_AT, return_dtype=self.dtype)
        lengths = part["length"].cast(pl.Int64).to_numpy()
        at = np.arange(len(tokens)) - np.repeat(lengths.cumsum() - lengths, lengths)
        is_number = ((tokens >= FIRST_NUMBER_AT) & (tokens < FIRST_NUMBER_AT + MAX_NUMBERS)).to_numpy()
        for lang in part["lang"].unique(maintain_order=True):
            self.langs.setdefault(lang, len(self.langs))
        columns = {
            "lengths": part["length"].cast(pl.Int32),
            "tokens": tokens,
            "counts": part["values"].list.len().cast(pl.Int32),
            "positions": pl.Series(at[is_number]).cast(pl.Int16),
            "values": part["values"].explode(),
            "written": part["written"].explode(),
            "lang": part["lang"].replace_strict(self.langs, return_dtype=pl.UInt8),
            "answers": part["answer"],
            "tolerances": part["tolerance"],
        }
        for name, column in columns.items():
            self.columns.setdefault(name, []).append(torch.from_numpy(column.to_numpy(writable=True)))
        self.numbers.append(part["numbers"])
        if gold is not None:
            self.gold.append(self._gold(gold, columns["counts"]))
        self.count += len(part)

    def shard(self, lengths: Tensor, constants: Sequence[Constant]) -> Shard:
        """All parts together, which are forgotten: no column is there twice for long."""
        columns = {name: torch.cat(self.columns.pop(name)) for name in list(self.columns)}
        numbers = PackedNumbers(pl.concat(self.numbers, rechunk=True))
        self.numbers.clear()
        tensors = ProblemTensors(
            **columns,
            constants=constant_values(constants, list(self.langs)),
            check=AnswerCheck(numbers, columns["answers"].numpy().data),
        )
        return Shard(lengths, tensors, torch.cat(self.gold) if self.gold else None)

    def remember(self, lists: pl.Series, memory: Memory) -> None:
        """Put what search found for the next rows into an empty memory: its order is that of the memory."""
        flat = lists.explode().drop_nulls().to_numpy(writable=True)
        paths = torch.from_numpy(flat).long().view(-1, self.longest, 3)
        counts = lists.list.len().cast(pl.Int64).to_numpy() // (3 * self.longest)
        row = self.count + np.repeat(np.arange(len(lists)), counts)
        column = np.arange(len(row)) - np.repeat(counts.cumsum() - counts, counts)
        likely = -STEP_COST * (paths[:, :, 0] >= 0).sum(1).float()
        memory.put(torch.from_numpy(row), torch.from_numpy(column), paths, likely)

    def _gold(self, gold: pl.Series, counts: pl.Series) -> Tensor:
        paths = torch.full((len(gold), self.longest, 3), -1, dtype=torch.int16)
        for row in gold.is_not_null().arg_true():
            path = self.path_of(gold[row], counts[row])
            if path is not None:
                paths[row] = path
        return paths

    def _path_of(self, template: str, count: int) -> Tensor | None:
        path = self.layout.path(parse_template(template), count, self.longest)
        return None if path is None else torch.tensor(path, dtype=torch.int16)

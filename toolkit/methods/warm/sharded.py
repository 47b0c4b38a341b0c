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
from toolkit.data.prepared import PreparedSet
from toolkit.data.schema import MAX_NUMBERS
from toolkit.data.vocabulary import FIRST_NUMBER_AT, UNKNOWN_AT
from toolkit.equations import Constant, parse_template
from toolkit.methods.prepared import PreparedInput
from toolkit.methods.warm.config import WarmConfig
from toolkit.methods.warm.memory import Memory
from toolkit.methods.warm.paths import Layout
from toolkit.methods.warm.shards import Shard
from toolkit.nn.answers import AnswerCheck
from toolkit.nn.batches import ProblemTensors, constant_values
from toolkit.nn.columns import FlatColumns, as_tensor, owned_rows, problem_columns
from toolkit.nn.workers import WorkerGroup


class PackedNumbers(Sequence[Sequence[Fraction]]):
    """The exact numbers of each problem, made when they are asked for."""

    def __init__(self, texts: Tensor, ends: Tensor) -> None:
        """Texts as in `PREPARED`, one after the other as bytes, and where each ends."""
        self._texts, self._ends = texts, ends

    def __len__(self) -> int:
        return len(self._ends)

    @overload
    def __getitem__(self, row: int) -> Sequence[Fraction]: ...
    @overload
    def __getitem__(self, row: slice) -> Sequence[Sequence[Fraction]]: ...
    def __getitem__(self, row: int | slice) -> Sequence[Fraction] | Sequence[Sequence[Fraction]]:
        if isinstance(row, slice):
            return [self[i] for i in range(*row.indices(len(self)))]
        start = int(self._ends[row - 1]) if row else 0
        text = self._texts[start : int(self._ends[row])].numpy().tobytes().decode("ascii")
        return [Fraction(number) for number in text.split(" ")]


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
    sizes = _Sizes(data.problems, workers)
    shard = _FilledShard(sizes, vocabulary, layout, config.model.max_steps, not data.known.is_empty)
    for _, part in owned_rows(data.problems.frames(), workers):
        if memory is not None:
            shard.remember(part["paths"], part["values"].list.len(), memory)
        shard.add(part)
        if shard.gold is not None:
            shard.add_gold(data.known.chosen(part), part["values"].list.len())
        shard.count += len(part)
    return shard.filled(data.constants)


class _Sizes:
    """How much a shard has, and how long the texts of all problems are."""

    def __init__(self, problems: PreparedSet, workers: WorkerGroup) -> None:
        self.lengths = torch.empty(len(problems), dtype=torch.int16)
        self.problems, self.tokens, self.numbers, self.characters = 0, 0, 0, 0
        start, text = 0, pl.col("numbers").str
        for part, own in owned_rows(problems.frames(("length", "numbers")), workers):
            self.lengths[start : start + len(part)] = as_tensor(part["length"])
            start += len(part)
            tokens, numbers, characters = own.select(
                tokens=pl.col("length").cast(pl.Int64).sum(),
                numbers=(text.count_matches(" ", literal=True) + 1).sum(),
                characters=text.len_bytes().sum(),
            ).row(0)
            self.problems += len(own)
            self.tokens += tokens
            self.numbers += numbers
            self.characters += characters


class _FilledShard:
    """The tensors of a shard, filled part by part."""

    def __init__(
        self, sizes: _Sizes, vocabulary: Vocabulary, layout: Layout, longest: int, with_gold: bool
    ) -> None:
        self.lengths, self.layout, self.longest = sizes.lengths, layout, longest
        self.words, self.langs = pl.Enum(vocabulary.words), dict[str, int]()
        n = sizes.problems
        of_texts = {
            "texts": (sizes.characters, torch.uint8),
            "ends": (n, torch.int32 if sizes.characters < 2**31 else torch.int64),
        }
        self.columns = FlatColumns(
            problem_columns(n, sizes.tokens, sizes.numbers, len(vocabulary)) | of_texts
        )
        self.gold = torch.full((n, longest, 3), -1, dtype=torch.int16) if with_gold else None
        self.count = 0  # rows so far
        self.path_of = cache(self._path_of)

    def add(self, part: pl.DataFrame) -> None:
        for lang in part["lang"].unique(maintain_order=True):
            self.langs.setdefault(lang, len(self.langs))
        rows = part.select(
            lengths="length",
            counts=pl.col("values").list.len(),
            lang=pl.col("lang").replace_strict(self.langs, return_dtype=pl.UInt8),
            answers="answer",
            tolerances="tolerance",
            ends=pl.col("numbers").str.len_bytes().cum_sum().cast(pl.Int64) + self.columns.filled_to["texts"],
        )
        word = pl.col("tokens").str.split(" ").explode().cast(self.words, strict=False)
        tokens = part.select(tokens=word.to_physical().cast(pl.Int32).fill_null(UNKNOWN_AT))["tokens"]
        lengths = rows["lengths"].cast(pl.Int64).to_numpy()
        at = np.arange(len(tokens)) - np.repeat(lengths.cumsum() - lengths, lengths)
        is_number = tokens.is_between(FIRST_NUMBER_AT, FIRST_NUMBER_AT + MAX_NUMBERS, closed="left")
        texts = "".join(part["numbers"]).encode("ascii")
        for column in rows:
            self.columns.fill(column.name, as_tensor(column))
        self.columns.fill("tokens", as_tensor(tokens))
        self.columns.fill("positions", torch.from_numpy(at[is_number.to_numpy()]))
        for column in part.select(pl.col("values", "written").explode()):
            self.columns.fill(column.name, as_tensor(column))
        self.columns.fill("texts", torch.frombuffer(bytearray(texts), dtype=torch.uint8))

    def filled(self, constants: Sequence[Constant]) -> Shard:
        columns = self.columns.tensors
        numbers = PackedNumbers(columns.pop("texts"), columns.pop("ends"))
        tensors = ProblemTensors(
            **columns,
            constants=constant_values(constants, list(self.langs)),
            check=AnswerCheck(numbers, columns["answers"].numpy().data),
        )
        return Shard(self.lengths, tensors, self.gold)

    def remember(self, lists: pl.Series, numbers: pl.Series, memory: Memory) -> None:
        """Put what search found for the next rows into an empty memory: its order is that of the memory."""
        flat = lists.explode().drop_nulls().to_numpy(writable=True)
        paths = torch.from_numpy(flat).long().view(-1, self.longest, 3)
        counts = lists.list.len().cast(pl.Int64).to_numpy() // (3 * self.longest)
        row = self.count + np.repeat(np.arange(len(lists)), counts)
        column = np.arange(len(row)) - np.repeat(counts.cumsum() - counts, counts)
        of_path = np.repeat(numbers.cast(pl.Int64).to_numpy(), counts)
        likely = -self.layout.costs(paths, torch.from_numpy(of_path))
        memory.put(torch.from_numpy(row), torch.from_numpy(column), paths, likely)

    def add_gold(self, gold: pl.Series, counts: pl.Series) -> None:
        assert self.gold is not None
        for row in gold.is_not_null().arg_true():
            path = self.path_of(gold[row], counts[row])
            if path is not None:
                self.gold[self.count + row] = path

    def _path_of(self, template: str, count: int) -> Tensor | None:
        path = self.layout.path(parse_template(template), count, self.longest)
        return None if path is None else torch.tensor(path, dtype=torch.int16)

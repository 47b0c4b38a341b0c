"""A problem set as tensors, and the batches that training and generation draw from it."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields

import polars as pl
import torch
from torch import Tensor

from toolkit.data import Vocabulary, mask
from toolkit.equations import Const, verify
from toolkit.equations.evaluate import tolerance
from toolkit.warm.paths import Layout

NO_STEP = -1


@dataclass(frozen=True)
class Batch:
    """Some problems: B of them, L tokens and n numbers at most, C constants."""

    rows: Tensor  # [B] where they stand in the set
    tokens: Tensor  # [B, L]
    is_number: Tensor  # [B, L]
    lengths: Tensor  # [B]
    positions: Tensor  # [B, n] where the numbers stand among the tokens
    counts: Tensor  # [B] how many numbers there are
    values: Tensor  # [B, C + n] float64, what OpDict starts with
    answers: Tensor  # [B] float64
    limits: Tensor  # [B] float64, how near to the answer is the answer
    gold: Tensor  # [B, T, 3] the gold path in codes; -1 where none is given

    @property
    def n(self) -> int:
        return self.positions.shape[1]

    @property
    def has_gold(self) -> Tensor:
        """[B] whether a gold path is given."""
        return self.gold[:, 0, 0] >= 0

    def take(self, index: Tensor) -> "Batch":
        """Some of these problems, padded as they are."""
        return Batch(**{field.name: getattr(self, field.name)[index] for field in fields(self)})

    def to(self, device: torch.device) -> "Batch":
        return Batch(**{field.name: getattr(self, field.name).to(device) for field in fields(self)})


@dataclass(frozen=True)
class ProblemTensors:
    """All problems of a set, padded to the longest."""

    all: Batch

    def __len__(self) -> int:
        return len(self.all.rows)

    def batch(self, rows: Tensor) -> Batch:
        """The problems in these rows, padded no further than they need."""
        every = self.all
        n, length = int(every.counts[rows].max()), int(every.lengths[rows].max())
        constants = every.values.shape[1] - every.positions.shape[1]
        return Batch(
            rows,
            every.tokens[rows, :length],
            every.is_number[rows, :length],
            every.lengths[rows],
            every.positions[rows, :n],
            every.counts[rows],
            every.values[rows, : constants + n],
            every.answers[rows],
            every.limits[rows],
            every.gold[rows],
        )

    def shuffled(self, size: int, generator: torch.Generator) -> Iterator[Batch]:
        """Batches of problems of like length in random order: the same generator, the same batches."""
        for rows in like_lengths(self.all.lengths, size, generator):
            yield self.batch(rows)

    def in_order_of_size(self, size: int) -> Iterator[Batch]:
        """Batches of problems with like numbers and lengths, whatever the order of the rows.

        A step's table of triplets grows with the square of OpDict, so problems with many numbers come in
        smaller batches.
        """
        order = (self.all.counts * 100_000 + self.all.lengths).argsort(descending=True, stable=True)
        while len(order):
            most_numbers = int(self.all.counts[order[0]])
            rows = size if most_numbers <= 10 else max(1, size * 20**2 // (most_numbers + 10) ** 2)
            yield self.batch(order[:rows])
            order = order[rows:]


def like_lengths(lengths: Tensor, size: int, generator: torch.Generator) -> Iterator[Tensor]:
    """Rows in random batches of like lengths: shuffled, sorted within eight batches, batches shuffled."""
    order = torch.randperm(len(lengths), generator=generator)
    batches = [
        batch
        for chunk in order.split(size * 8)
        for batch in chunk[lengths[chunk].argsort(stable=True)].split(size)
    ]
    for i in torch.randperm(len(batches), generator=generator).tolist():
        yield batches[i]


def to_tensors(
    problems: pl.DataFrame,
    vocabulary: Vocabulary,
    layout: Layout,
    longest: int,
    gold: Sequence[bool] | None = None,
) -> ProblemTensors:
    """The tensors of a problems table; gold[i] says whether the equation of problem i is given (D_s)."""
    masked = [mask(text, lang) for text, lang in problems.select("text", "lang").iter_rows()]
    size = len(masked)
    counts = torch.tensor([len(m.operands) for m in masked])
    lengths = torch.tensor([len(m.tokens) for m in masked])
    tokens = torch.zeros(size, int(lengths.max()), dtype=torch.long)
    is_number = torch.zeros(size, int(lengths.max()), dtype=torch.bool)
    positions = torch.zeros(size, int(counts.max()), dtype=torch.long)
    constants = len(layout.constants)
    values = torch.zeros(size, constants + int(counts.max()), dtype=torch.float64)
    for i, (m, lang) in enumerate(zip(masked, problems["lang"], strict=True)):
        tokens[i, : len(m.tokens)] = torch.tensor(vocabulary.encode(m.tokens))
        is_number[i, : len(m.tokens)] = torch.tensor(m.is_number)
        positions[i, : len(m.operands)] = torch.tensor(
            [at for at, number in enumerate(m.is_number) if number]
        )
        known = [*constant_values(layout, lang), *(float(operand.value) for operand in m.operands)]
        values[i, : len(known)] = torch.tensor(known, dtype=torch.float64)
    answers = problems["answer"].to_list()
    paths = torch.full((size, longest, 3), NO_STEP)
    for i, given in enumerate(gold or ()):
        equation = problems["equation"][i]
        if given and equation is not None:
            verdict = verify(equation, [o.value for o in masked[i].operands], answers[i], layout.constants)
            path = layout.path(verdict.templates[0], int(counts[i]), longest) if verdict.ok else None
            if path is not None:
                paths[i] = torch.tensor(path)
    return ProblemTensors(
        Batch(
            torch.arange(size),
            tokens,
            is_number,
            lengths,
            positions,
            counts,
            values,
            torch.tensor(answers, dtype=torch.float64),
            torch.tensor([tolerance(answer) for answer in answers], dtype=torch.float64),
            paths,
        )
    )


def pi_value(lang: str) -> float:
    """What π is worth: 3.14 in Chinese school books, which never take it for more."""
    return 3.14 if lang == "zh" else math.pi


def constant_values(layout: Layout, lang: str) -> list[float]:
    return [float(c.value) if isinstance(c, Const) else pi_value(lang) for c in layout.constants]

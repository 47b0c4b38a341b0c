"""A problem set as tensors, and the batches that training and generation draw from it."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

import torch
from torch import Tensor

from toolkit.data import ProblemSet, Vocabulary
from toolkit.data.languages import language
from toolkit.equations import PI, PI_READINGS, Const, Constant, as_float, tolerance
from toolkit.nn.answers import AnswerCheck


@dataclass(frozen=True)
class Batch:
    """Some problems: B of them, L tokens and n numbers at most, C constants."""

    rows: Tensor  # [B] their rows in the set
    tokens: Tensor  # [B, L]
    is_number: Tensor  # [B, L]
    lengths: Tensor  # [B]
    positions: Tensor  # [B, n] of the numbers among the tokens
    counts: Tensor  # [B] how many numbers there are
    values: Tensor  # [B, C + n] float64, of the constants and the numbers
    written: Tensor  # [B, n] how the numbers are written: toolkit.data.numbers.Written
    answers: Tensor  # [B] float64
    tolerances: Tensor  # [B] float64, how far from the answer floats may be that reach it

    check: AnswerCheck  # what is near an answer in floats may reach it

    @property
    def n(self) -> int:
        return self.positions.shape[1]

    def take(self, index: Tensor) -> "Batch":
        """Some of these problems, padded as they are."""
        return self._with(lambda tensor: tensor[index])

    def to(self, device: torch.device) -> "Batch":
        return self._with(lambda tensor: tensor.to(device))

    def _with(self, change: Callable[[Tensor], Tensor]) -> "Batch":
        names = (field.name for field in fields(self) if field.name != "check")
        changed: dict[str, Any] = {name: change(getattr(self, name)) for name in names}
        return replace(self, **changed)


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
            every.written[rows, :n],
            every.answers[rows],
            every.tolerances[rows],
            every.check,
        )

    def shuffled(self, size: int, generator: torch.Generator) -> Iterator[Batch]:
        """Batches of problems of similar length in random order: the same generator, the same batches."""
        for rows in like_lengths(self.all.lengths, size, generator):
            yield self.batch(rows)

    def in_order_of_size(self, size: int) -> Iterator[Batch]:
        """Batches of problems with similar counts of numbers and lengths, whatever the order of the rows.

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
    """Rows in random batches of similar lengths: shuffled, sorted within some batches, batches shuffled.

    The more batches are sorted together, the less is padded: 6 % with 32, 20 % with 8. But in a small set the
    same problems would meet in every epoch.
    """
    order = torch.randperm(len(lengths), generator=generator)
    together = min(max(len(lengths) // size // 8, 8), 32)
    batches = [
        batch
        for chunk in order.split(size * together)
        for batch in chunk[lengths[chunk].argsort(stable=True)].split(size)
    ]
    for i in torch.randperm(len(batches), generator=generator).tolist():
        yield batches[i]


def to_tensors(problems: ProblemSet, vocabulary: Vocabulary) -> ProblemTensors:
    """The tensors of a problem set, with its constants."""
    size, constants = len(problems), len(problems.constants)
    counts = torch.tensor([len(masked.operands) for masked in problems.masked])
    texts = [vocabulary.read(masked) for masked in problems.masked]
    lengths = torch.tensor([len(masked.tokens) for masked in texts])
    tokens = torch.zeros(size, int(lengths.max()), dtype=torch.long)
    is_number = torch.zeros(size, int(lengths.max()), dtype=torch.bool)
    positions = torch.zeros(size, int(counts.max()), dtype=torch.long)
    values = torch.zeros(size, constants + int(counts.max()), dtype=torch.float64)
    written = torch.zeros_like(positions)
    for row, (masked, lang, numbers) in enumerate(zip(texts, problems.langs, problems.numbers, strict=True)):
        tokens[row, : len(masked.tokens)] = torch.tensor(vocabulary.encode(masked.tokens))
        is_number[row, : len(masked.tokens)] = torch.tensor(masked.is_number)
        positions[row, : len(numbers)] = torch.tensor(
            [position for position, number in enumerate(masked.is_number) if number]
        )
        written[row, : len(numbers)] = torch.tensor([operand.written for operand in masked.operands])
        known = [*_constant_values(problems.constants, lang), *map(as_float, numbers)]
        values[row, : len(known)] = torch.tensor(known, dtype=torch.float64)
    return ProblemTensors(
        Batch(
            torch.arange(size),
            tokens,
            is_number,
            lengths,
            positions,
            counts,
            values,
            written,
            torch.tensor(problems.answers, dtype=torch.float64),
            torch.tensor([tolerance(answer) for answer in problems.answers], dtype=torch.float64),
            AnswerCheck(problems.numbers, problems.answers),
        )
    )


def pi_readings(values: Tensor, constants: Sequence[Constant]) -> Tensor:
    """Values [..., C + n] once for each reading of π [..., C + n, R]; R is 1 without π.

    An equation is right if it reaches the answer with any of them (`toolkit.equations.reaches`).
    """
    if PI not in constants:
        return values.unsqueeze(-1)
    every = values.unsqueeze(-1).repeat(*[1] * values.dim(), len(PI_READINGS))
    every[..., constants.index(PI), :] = values.new_tensor([float(pi) for pi in PI_READINGS])
    return every


def _constant_values(constants: tuple[Constant, ...], lang: str) -> list[float]:
    return [
        as_float(constant.value) if isinstance(constant, Const) else language(lang).pi
        for constant in constants
    ]

"""A problem set as tensors, and the batches that training and generation draw from it."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import torch
from torch import Tensor

from toolkit.data import ProblemSet, Vocabulary
from toolkit.data.languages import language
from toolkit.data.repeats import repeats
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
    repeats: Tensor | None = None  # [B, L] flags of `toolkit.data.repeats`; None: nobody asks for them

    @property
    def n(self) -> int:
        return self.positions.shape[1]

    def take(self, index: Tensor) -> "Batch":
        """Some of these problems, padded as they are."""
        return self._with(lambda tensor: tensor[index])

    def to(self, device: torch.device) -> "Batch":
        return self._with(lambda tensor: tensor.to(device))

    def _with(self, change: Callable[[Tensor], Tensor]) -> "Batch":
        tensors = {name: value for name, value in vars(self).items() if isinstance(value, Tensor)}
        changed: dict[str, Any] = {name: change(tensor) for name, tensor in tensors.items()}
        return replace(self, **changed)


@dataclass(frozen=True)
class ProblemTensors:
    """N problems, their tokens and numbers one after the other: only a batch is padded."""

    lengths: Tensor  # [N] how many tokens there are
    tokens: Tensor  # of all texts
    counts: Tensor  # [N] how many numbers there are
    positions: Tensor  # of all numbers, among the tokens of their text
    values: Tensor  # of all numbers, float64
    written: Tensor  # how all numbers are written
    lang: Tensor  # [N] the row of `constants` that holds for its language
    constants: Tensor  # [languages, C] float64
    answers: Tensor  # [N] float64
    tolerances: Tensor  # [N] float64
    check: AnswerCheck
    repeats: Tensor | None = None  # of all tokens; None: nobody asks for them
    first_token: Tensor = field(init=False)  # [N] where the tokens of each begin
    first_number: Tensor = field(init=False)  # [N]

    def __post_init__(self) -> None:
        object.__setattr__(self, "first_token", starts(self.lengths))
        object.__setattr__(self, "first_number", starts(self.counts))

    def __len__(self) -> int:
        return len(self.lengths)

    @property
    def all(self) -> Batch:
        """All problems as one batch, padded to the longest."""
        return self.batch(torch.arange(len(self)))

    def batch(self, rows: Tensor) -> Batch:
        """The problems in these rows, padded no further than they need."""
        lengths, counts = self.lengths[rows].long(), self.counts[rows].long()
        tokens = _padded(self.tokens, self.first_token[rows], lengths).long()
        positions = _padded(self.positions, self.first_number[rows], counts).long()
        values = _padded(self.values, self.first_number[rows], counts)
        is_number = torch.zeros(tokens.shape, dtype=torch.bool)
        row, number = (torch.arange(positions.shape[1]) < counts.unsqueeze(1)).nonzero(as_tuple=True)
        is_number[row, positions[row, number]] = True
        return Batch(
            rows,
            tokens,
            is_number,
            lengths,
            positions,
            counts,
            torch.cat([self.constants[self.lang[rows].long()], values], 1),
            _padded(self.written, self.first_number[rows], counts).long(),
            self.answers[rows],
            self.tolerances[rows],
            self.check,
            None if self.repeats is None else _padded(self.repeats, self.first_token[rows], lengths).long(),
        )

    def shuffled(self, size: int, generator: torch.Generator) -> Iterator[Batch]:
        """Batches of problems of similar length in random order: the same generator, the same batches."""
        for rows in like_lengths(self.lengths, size, generator):
            yield self.batch(rows)

    def in_order_of_size(self, size: int) -> Iterator[Batch]:
        """Batches of problems with similar counts of numbers and lengths, whatever the order of the rows.

        A step's table of triplets grows with the square of OpDict, so problems with many numbers come in
        smaller batches.
        """
        order = (self.counts.long() * 100_000 + self.lengths).argsort(descending=True, stable=True)
        while len(order):
            most_numbers = int(self.counts[order[0]])
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
    for chunk in order.split(size * together):
        chunk.copy_(chunk[lengths[chunk].argsort(stable=True)])
    for i in torch.randperm(-(-len(lengths) // size), generator=generator).tolist():
        yield order[i * size : (i + 1) * size]


def to_tensors(problems: ProblemSet, vocabulary: Vocabulary) -> ProblemTensors:
    """The tensors of a problem set, with its constants."""
    texts = [vocabulary.read(masked) for masked in problems.masked]
    tokens = [token for masked in texts for token in vocabulary.encode(masked.tokens)]
    positions = [at for masked in texts for at, number in enumerate(masked.is_number) if number]
    values = [as_float(number) for numbers in problems.numbers for number in numbers]
    written = [operand.written for masked in texts for operand in masked.operands]
    repeated = [flag for masked in texts for flag in repeats(masked.tokens, masked.is_number)]
    langs = sorted(set(problems.langs))
    return ProblemTensors(
        lengths=torch.tensor([len(masked.tokens) for masked in texts], dtype=torch.int32),
        tokens=torch.tensor(tokens, dtype=torch.int32),
        counts=torch.tensor([len(numbers) for numbers in problems.numbers], dtype=torch.int32),
        positions=torch.tensor(positions, dtype=torch.int16),
        values=torch.tensor(values, dtype=torch.float64),
        written=torch.tensor(written, dtype=torch.uint8),
        lang=torch.tensor([langs.index(lang) for lang in problems.langs], dtype=torch.uint8),
        constants=constant_values(problems.constants, langs),
        answers=torch.tensor(problems.answers, dtype=torch.float64),
        tolerances=torch.tensor([tolerance(answer) for answer in problems.answers], dtype=torch.float64),
        check=AnswerCheck(problems.numbers, problems.answers),
        repeats=torch.tensor(repeated, dtype=torch.uint8),
    )


def starts(lengths: Tensor) -> Tensor:
    """Where each of some rows begins if they lie one after the other."""
    starts = lengths.cumsum(0) - lengths
    return starts.int() if len(starts) and int(starts[-1]) < 2**31 else starts


def _padded(flat: Tensor, first: Tensor, lengths: Tensor) -> Tensor:
    """Rows [B, longest] of what lies in a flat tensor from `first` on, padded with zeros."""
    at = torch.arange(int(lengths.max()))
    outside = at >= lengths.unsqueeze(1)
    return flat[(first.unsqueeze(1) + at).masked_fill(outside, 0)].masked_fill(outside, 0)


def pi_readings(values: Tensor, constants: Sequence[Constant]) -> Tensor:
    """Values [..., C + n] once for each reading of π [..., C + n, R]; R is 1 without π.

    An equation is right if it reaches the answer with any of them (`toolkit.equations.reaches`).
    """
    if PI not in constants:
        return values.unsqueeze(-1)
    every = values.unsqueeze(-1).repeat(*[1] * values.dim(), len(PI_READINGS))
    every[..., constants.index(PI), :] = values.new_tensor([float(pi) for pi in PI_READINGS])
    return every


def constant_values(constants: Sequence[Constant], langs: Sequence[str]) -> Tensor:
    """What each constant is worth in each language [languages, C]."""
    values = [
        [as_float(each.value) if isinstance(each, Const) else language(lang).pi for each in constants]
        for lang in langs
    ]
    return torch.tensor(values, dtype=torch.float64).view(len(langs), len(constants))

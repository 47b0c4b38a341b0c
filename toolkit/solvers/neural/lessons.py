"""What the networks of a solver learn from: texts and equations as tokens, each text with its equations.

A part of a problem set becomes rows of a table (`part_lessons`), in memory or in a folder. A rank reads all
parts and keeps its rows as flat tensors (`Shard`); of the others it knows what global batches need. One
process is the case of one shard, and a problem set in memory the case of one part.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import polars as pl
import torch
from torch import Tensor

from toolkit.data import ProblemSet, Vocabulary
from toolkit.data.repeats import repeats
from toolkit.data.schema import MAX_NUMBERS
from toolkit.equations import Constant, Expr, as_float, tolerance
from toolkit.nn.answers import AnswerCheck
from toolkit.nn.batches import ProblemTensors, constant_values, starts
from toolkit.nn.columns import FlatColumns, as_tensor, owned_rows, problem_columns
from toolkit.nn.tokens import Tokens
from toolkit.nn.tree.forest import depth_of
from toolkit.nn.workers import ALONE, WorkerGroup
from toolkit.solvers.neural.config import SizedConfig
from toolkit.solvers.neural.examples import Examples
from toolkit.solvers.plausibility import TextNumbers, value_kind

LESSONS = pl.Schema(
    {
        "length": pl.Int16(),  # tokens of the text, as the vocabulary reads it
        "tokens": pl.List(pl.Int32),
        "repeats": pl.List(pl.UInt8),
        "positions": pl.List(pl.Int16),  # of the numbers
        "values": pl.List(pl.Float64),
        "written": pl.List(pl.UInt8),
        "lang": pl.String(),
        "answer": pl.Float64(),
        "tolerance": pl.Float64(),
        "depth": pl.Int16(),  # levels of the deepest equation
        "sizes": pl.List(pl.Int16),  # tokens of each equation
        "prefixes": pl.List(pl.Int16),  # the equations, one after the other
        "weights": pl.List(pl.Float32),
        "words": pl.String(),  # of the text, separated by spaces, if the solver retrieves; otherwise null
    }
)


@dataclass(frozen=True)
class PartLessons:
    """What there is to learn of a part of a problem set."""

    table: pl.DataFrame  # LESSONS
    is_held_out: pl.Series  # which rows of the table are
    rows: list[int]  # of the problems of the part, one for each row of the table
    answers: Counter[str]  # how many answers are of each kind (`Plausibility`)


def part_lessons(
    problems: ProblemSet, examples: Examples, is_held_out: Tensor, vocabulary: Vocabulary, with_words: bool
) -> PartLessons:
    """The lessons of some problems; `is_held_out` [N] tells which of them choose the best epoch."""
    rows = examples.problems.tolist()
    operators = len(Tokens(problems.constants).operators)
    texts = [vocabulary.read(problems.masked[row]) for row in rows]
    equations = [[examples.prefixes[i] for i in examples.of_problem[row]] for row in rows]
    weights = examples.weight.tolist()
    answers = [problems.answers[row] for row in rows]
    numbers = [problems.numbers[row] for row in rows]
    columns = {
        "length": [len(text.tokens) for text in texts],
        "tokens": [vocabulary.encode(text.tokens) for text in texts],
        "repeats": [repeats(text.tokens, text.is_number) for text in texts],
        "positions": [[at for at, is_number in enumerate(text.is_number) if is_number] for text in texts],
        "values": [[as_float(number) for number in of_problem] for of_problem in numbers],
        "written": [[operand.written for operand in text.operands] for text in texts],
        "lang": [problems.langs[row] for row in rows],
        "answer": answers,
        "tolerance": [tolerance(answer) for answer in answers],
        "depth": [max(depth_of(prefix, operators) for prefix in prefixes) for prefixes in equations],
        "sizes": [[len(prefix) for prefix in prefixes] for prefixes in equations],
        "prefixes": [[token for prefix in prefixes for token in prefix] for prefixes in equations],
        "weights": [[weights[i] for i in examples.of_problem[row]] for row in rows],
        "words": [" ".join(problems.masked[row].tokens) if with_words else None for row in rows],
    }
    return PartLessons(
        pl.DataFrame(columns, schema=LESSONS),
        pl.Series(is_held_out[rows].tolist(), dtype=pl.Boolean),
        rows,
        Counter(map(value_kind, answers, map(TextNumbers, numbers))),
    )


@dataclass(frozen=True)
class Lessons:
    """What all networks of a solver learn from. Little is in memory before a shard is read."""

    config: SizedConfig
    seed: int
    constants: tuple[Constant, ...]
    vocabulary: Vocabulary
    count: int  # problems to learn, of all workers
    held_out: ProblemSet  # that the best epoch is chosen by
    answers: Mapping[str, int]
    parts: Callable[[Sequence[str]], Iterable[pl.DataFrame]]  # columns of LESSONS, without what is held out
    workers: WorkerGroup = ALONE

    @property
    def steps(self) -> int:
        """Batches of an epoch, about."""
        return -(-self.count // self.config.batch)

    @cached_property
    def shard(self) -> "Shard":
        """What this worker learns from; read when a network is first trained."""
        return read_shard(self)

    def equations(self, *columns: str) -> Iterator[tuple[tuple[Any, ...], list[tuple[Expr, float]]]]:
        """Columns of each problem to learn, and its equations with their weights; read part by part."""
        tokens, known = Tokens(self.constants), dict[tuple[int, ...], Expr]()
        for part in self.parts([*columns, "sizes", "prefixes", "weights"]):
            for *given, sizes, flat, weights in part.iter_rows():
                at, templates = 0, []
                for size in sizes:
                    prefix = tuple(flat[at : at + size])
                    at += size
                    if prefix not in known:
                        known[prefix] = tokens.decode(prefix)
                    templates.append(known[prefix])
                yield tuple(given), list(zip(templates, weights, strict=True))


@dataclass(frozen=True)
class Equations:
    """The equations of n problems, k of them with t tokens, one after the other."""

    counts: Tensor  # [n] equations
    lengths: Tensor  # [n] tokens of them all
    sizes: Tensor  # [k] tokens
    weights: Tensor  # [k]
    tokens: Tensor  # [t]
    first: Tensor = field(init=False)  # [n] where the equations of each begin
    first_token: Tensor = field(init=False)  # [n]

    def __post_init__(self) -> None:
        object.__setattr__(self, "first", starts(self.counts))
        object.__setattr__(self, "first_token", starts(self.lengths))

    def of(self, rows: Tensor) -> tuple[list[list[int]], Tensor, list[int]]:
        """The prefixes of some problems, one problem after the other, their weights, and the text of each."""
        counts = self.counts[rows].long()
        which = _ranges(self.first[rows], counts)
        tokens = self.tokens[_ranges(self.first_token[rows], self.lengths[rows].long())].tolist()
        prefixes, at = [], 0
        for size in self.sizes[which].tolist():
            prefixes.append(tokens[at : at + size])
            at += size
        return prefixes, self.weights[which], torch.arange(len(rows)).repeat_interleave(counts).tolist()


def _ranges(first: Tensor, counts: Tensor) -> Tensor:
    """What lies from `first` on, so many of each, one after the other."""
    before = counts.cumsum(0) - counts
    return torch.arange(int(counts.sum())) + (first.long() - before).repeat_interleave(counts)


@dataclass(frozen=True)
class Shard:
    """What a rank learns from: it owns n of N problems."""

    lengths: Tensor  # [N] tokens of each text: all ranks draw the same batches
    depths: Tensor  # [N] levels of the deepest equation of each: and order them alike
    tensors: ProblemTensors  # [n]
    equations: Equations  # [n]
    workers: WorkerGroup


def read_shard(lessons: Lessons) -> Shard:
    """The shard of a rank: every part is read, and the rows that it owns are kept."""
    workers, n = lessons.workers, len(lessons.workers.owned(lessons.count))
    lengths, depths = torch.empty(2, lessons.count, dtype=torch.int16)
    done, sizes = 0, [0, 0, 0, 0]
    for part, own in owned_rows(lessons.parts(["length", "depth", "positions", "sizes"]), workers):
        lengths[done : done + len(part)] = as_tensor(part["length"])
        depths[done : done + len(part)] = as_tensor(part["depth"])
        done += len(part)
        counted = own.select(
            tokens=pl.col("length").cast(pl.Int64).sum(),
            numbers=pl.col("positions").list.len().cast(pl.Int64).sum(),
            equations=pl.col("sizes").list.len().cast(pl.Int64).sum(),
            in_equations=pl.col("sizes").list.eval(pl.element().cast(pl.Int64)).list.sum().sum(),
        ).row(0)
        sizes = [size + more for size, more in zip(sizes, counted, strict=True)]
    tokens, numbers, equations, in_equations = sizes
    columns = FlatColumns(
        problem_columns(n, tokens, numbers, len(lessons.vocabulary)) | {"repeats": (tokens, torch.uint8)}
    )
    most = Tokens(lessons.constants).first_number + MAX_NUMBERS
    learnt = FlatColumns(
        {
            "counts": (n, torch.int16),
            "lengths": (n, torch.int32),
            "sizes": (equations, torch.uint8 if lessons.config.max_tokens < 2**8 else torch.int16),
            "weights": (equations, torch.float32),
            "tokens": (in_equations, torch.uint8 if most < 2**8 else torch.int16),
        }
    )
    langs: dict[str, int] = {}
    names = [name for name in LESSONS if name not in ("depth", "words")]
    for _, own in owned_rows(lessons.parts(names), workers):
        _add(own, columns, learnt, langs)
    tensors = ProblemTensors(
        **columns.tensors,
        constants=constant_values(lessons.constants, list(langs)),
        check=AnswerCheck((), ()),  # networks learn without exact numbers
    )
    return Shard(lengths, depths, tensors, Equations(**learnt.tensors), workers)


def _add(own: pl.DataFrame, columns: FlatColumns, learnt: FlatColumns, langs: dict[str, int]) -> None:
    if not len(own):
        return
    for lang in own["lang"].unique(maintain_order=True):
        langs.setdefault(lang, len(langs))
    of_problem = own.select(
        lengths="length",
        counts=pl.col("positions").list.len(),
        lang=pl.col("lang").replace_strict(langs, return_dtype=pl.UInt8),
        answers="answer",
        tolerances="tolerance",
    )
    for column in of_problem:
        columns.fill(column.name, as_tensor(column))
    for name in ("tokens", "repeats", "positions", "values", "written"):
        columns.fill(name, as_tensor(own[name].explode()))
    learnt.fill("counts", as_tensor(own["sizes"].list.len().cast(pl.Int32)))
    learnt.fill("lengths", as_tensor(own["prefixes"].list.len().cast(pl.Int32)))
    for name, given in (("sizes", "sizes"), ("tokens", "prefixes"), ("weights", "weights")):
        learnt.fill(name, as_tensor(own[given].explode()))

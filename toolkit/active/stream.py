"""Candidates for any number of problems: from the reader to the file part by part, in flat memory.

Each part's candidates go to a file of their own as soon as they are found. The temperature, which needs all
known equations, is fitted when the last part is done; then the posteriors are written.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import tee
from pathlib import Path
from tempfile import TemporaryDirectory

import polars as pl

from toolkit.active.candidates import calibrate, candidates_table, count_right, gold_classes
from toolkit.data.write import replacing
from toolkit.equations import Constant
from toolkit.warm.generate import Generated

MOST_CASES = 20_000  # known equations that the temperature is fitted on; more would tell no more
SURE = 0.9

Parts = Iterable[pl.DataFrame]


@dataclass
class Streamed:
    """What was found, in figures; the candidates themselves are in the file."""

    problems: int = 0
    candidates: int = 0
    known: int = 0  # problems that have a gold equation
    right: int = 0  # of these, whose top class is the gold one
    sure: int = 0  # whose top class has a posterior of 0.9 or more
    temperature: float = 1.0
    unsolved: list[Generated] = field(default_factory=list)


def stream_candidates(
    generate: Callable[[Parts], Iterator[Sequence[Generated]]],
    parts: Parts,
    constants: Sequence[Constant],
    out: Path,
    on_part: Callable[[int], object] = lambda problems: None,
) -> Streamed:
    """Generate for every part, and write the candidates table to `out`, whole or not at all."""
    figures = Streamed()
    cases: list[tuple[Generated, frozenset[int]]] = []
    to_generate, beside = tee(parts)  # holds no more parts than the generator is ahead
    with replacing(out) as temporary, TemporaryDirectory(dir=out.parent, prefix=".parts-") as folder:
        files: list[Path] = []
        for generated, problems in zip(generate(to_generate), beside, strict=True):
            gold = gold_classes(problems, constants)
            table = candidates_table(generated, problems, 1.0)
            files.append(Path(folder) / f"{len(files):08d}.parquet")
            table.write_parquet(files[-1])
            figures.problems += len(problems)
            figures.candidates += len(table)
            figures.known += problems["equation"].count()
            figures.right += count_right(table, problems, gold)
            figures.unsolved += [of for of in generated if not of.scored]
            cases += [(of, its) for of, its in zip(generated, gold, strict=True) if its]
            del cases[MOST_CASES:]
            on_part(len(problems))
        figures.temperature = calibrate([of for of, _ in cases], [its for _, its in cases])
        for file in files:
            table = with_posterior(pl.read_parquet(file), figures.temperature)
            table.write_parquet(file)
            top = table.group_by("problem_id").agg(pl.col("posterior").max())["posterior"]
            figures.sure += int((top >= SURE).sum())
        _join(files, temporary, out.suffix.lower())
    return figures


def with_posterior(table: pl.DataFrame, temperature: float) -> pl.DataFrame:
    """The candidates table at another temperature: `confidence.posterior`, for all problems at once."""
    score = pl.col("log_prob") / temperature
    share = (score - score.max().over("problem_id")).exp()
    return table.with_columns(posterior=share / share.sum().over("problem_id"))


def _join(files: list[Path], path: Path, suffix: str) -> None:
    rows = pl.scan_parquet(files)
    if suffix == ".parquet":
        rows.sink_parquet(path)
    elif suffix == ".csv":
        rows.sink_csv(path)
    else:
        rows.sink_ndjson(path)

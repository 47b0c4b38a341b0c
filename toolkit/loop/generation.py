"""From what a method found to candidates with posteriors: in memory, or part by part in flat memory."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import tee
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TypeAlias

import polars as pl

from toolkit.active.confidence import class_scores, fit_temperature, posterior
from toolkit.data import Candidates, ProblemSet, as_problem_set
from toolkit.data.schema import CANDIDATES
from toolkit.equations import count_operators, over_values, show
from toolkit.errors import WarmkitError
from toolkit.methods import GenerateConfig, Generated, StepOne
from toolkit.storage.atomic import replacing
from toolkit.storage.cells import to_cells
from toolkit.storage.tables import guarded

MOST_CASES = 20_000  # known equations that the temperature is fitted on; more would not change it
SURE = 0.9


def generate(
    model: StepOne, problems: ProblemSet | pl.DataFrame, *, width: int = 20, search: int = 0
) -> pl.DataFrame:
    """The candidates table of a problem set; the temperature is fitted on the gold equations it has.

    `width` is the number of beams. With `search`, the equations that exhaustive search finds with this many
    operators are scored as well.
    """
    given = as_problem_set(problems).with_constants(model.constants)
    generated = model.candidates(given, GenerateConfig(width=width, search=search))
    return candidates_of(generated, given, calibrate(generated, given.gold_classes)).table


def candidates_of(generated: Sequence[Generated], problems: ProblemSet, temperature: float) -> Candidates:
    """Candidates of each problem, the likeliest class first, each class with its likeliest template."""
    rows = []
    for found, numbers in zip(generated, problems.numbers, strict=True):
        best = {scored.klass: scored for scored in reversed(found.scored)}
        scores = class_scores_of(found)
        for klass, share in sorted(posterior(scores, temperature).items(), key=lambda item: -item[1]):
            template = best[klass].template
            rows.append(
                (
                    found.problem_id,
                    show(over_values(template, numbers)),
                    show(template),
                    klass,
                    scores[klass],
                    share,
                    count_operators(template),
                    best[klass].origin,
                )
            )
    return Candidates(pl.DataFrame(rows, schema=CANDIDATES, orient="row"))


def calibrate(generated: Sequence[Generated], right: Sequence[frozenset[int]]) -> float:
    """The temperature, fitted on the problems whose class is known: right[i] has those of problem i."""
    scores = [class_scores_of(found) for found in generated]
    known = [
        next((klass for klass in problem_scores if klass in classes), None)
        for problem_scores, classes in zip(scores, right, strict=True)
    ]
    return fit_temperature(scores, known)


def with_posterior(table: pl.DataFrame, temperature: float) -> pl.DataFrame:
    """The candidates table at another temperature: `confidence.posterior`, for all problems at once."""
    score = pl.col("log_prob") / temperature
    share = (score - score.max().over("problem_id")).exp()
    return table.with_columns(posterior=share / share.sum().over("problem_id"))


def class_scores_of(found: Generated) -> dict[int, float]:
    return class_scores(
        [scored.klass for scored in found.scored], [scored.log_prob for scored in found.scored]
    )


# Part by part


Parts: TypeAlias = Iterable[ProblemSet]
Generate: TypeAlias = Callable[[Parts], Iterator[Sequence[Generated]]]


@dataclass
class Streamed:
    """The figures of the candidates in the file."""

    problems: int = 0
    candidates: int = 0
    known: int = 0  # problems that have a gold equation
    right: int = 0  # of these, whose top class is the gold one
    sure: int = 0  # whose top class has a posterior of 0.9 or more
    temperature: float = 1.0
    unsolved: list[Generated] = field(default_factory=list)


def stream_candidates(
    generate: Generate,
    parts: Parts,
    out: Path,
    on_part: Callable[[int], object] = lambda problems: None,
) -> Streamed:
    """Generate for every part, and write the candidates table to `out`, whole or not at all.

    The candidates of each part go to their own file as soon as they are found. The temperature needs all
    known equations, so it is fitted after the last part. Then the posteriors are written.
    """
    figures = Streamed()
    cases: list[tuple[Generated, frozenset[int]]] = []
    to_generate, to_count = tee(parts)  # holds only the parts by which the generator is ahead
    with replacing(out) as temporary, TemporaryDirectory(dir=out.parent, prefix=".parts-") as folder:
        files: list[Path] = []
        for generated, problems in zip(generate(to_generate), to_count, strict=True):
            candidates = candidates_of(generated, problems, 1.0)
            files.append(Path(folder) / f"{len(files):08d}.parquet")
            with guarded(out, "written"):
                candidates.table.write_parquet(files[-1])
            figures.problems += len(problems)
            figures.candidates += len(candidates)
            figures.known += problems.table["equation"].count()
            figures.right += candidates.count_right(problems)
            figures.unsolved += [found for found in generated if not found.scored]
            cases += [
                (found, classes)
                for found, classes in zip(generated, problems.gold_classes, strict=True)
                if classes
            ]
            del cases[MOST_CASES:]
            on_part(len(problems))
        if not files:
            raise WarmkitError("There are no problems to generate for.")
        figures.temperature = calibrate([found for found, _ in cases], [classes for _, classes in cases])
        for file in files:
            table = with_posterior(pl.read_parquet(file), figures.temperature)
            with guarded(out, "written"):
                table.write_parquet(file)
            top = table.group_by("problem_id").agg(pl.col("posterior").max())["posterior"]
            figures.sure += int((top >= SURE).sum())
        with guarded(out, "written"):
            _join(files, temporary, out.suffix.lower())
    return figures


def _join(files: list[Path], path: Path, suffix: str) -> None:
    rows = pl.scan_parquet(files)
    if suffix == ".parquet":
        rows.sink_parquet(path)
    elif suffix == ".csv":
        with path.open("wb") as out:
            for file in files:
                to_cells(pl.read_parquet(file)).write_csv(out, include_header=file == files[0])
    else:
        rows.sink_ndjson(path)

"""Candidates: equations that reach the answers of a problem set, one row per class of a problem.

Files hold the table, with templates as text. `Candidates.templates` are the same templates as trees.
"""

from collections.abc import Callable, Mapping
from functools import cached_property
from pathlib import Path
from typing import NamedTuple, TypeAlias

import polars as pl

from toolkit.data.problems import ProblemSet
from toolkit.data.schema import CANDIDATES
from toolkit.equations import EquationError, Expr, parse_template, reaches, show
from toolkit.errors import WarmkitError
from toolkit.storage.tables import as_schema, read_table


class TopClass(NamedTuple):
    """The likeliest class of a problem."""

    klass: int
    posterior: float


class Candidates:
    """A candidates table. The rows of a problem are together, the likeliest class first."""

    def __init__(self, table: pl.DataFrame) -> None:
        self.table = table

    def __len__(self) -> int:
        return len(self.table)

    @cached_property
    def templates(self) -> list[Expr]:
        """The template of each row."""
        return [parse_template(text) for text in self.table["template"]]

    @cached_property
    def likeliest(self) -> pl.DataFrame:
        """The likeliest row of each problem (the first of equals), the likeliest of all first."""
        ranked = self.table.sort("posterior", descending=True, maintain_order=True)
        return ranked.unique("problem_id", keep="first", maintain_order=True)

    @cached_property
    def top(self) -> Mapping[str, TopClass]:
        """The likeliest class of each problem that has candidates."""
        rows = self.likeliest.select("problem_id", "klass", "posterior").iter_rows()
        return {problem_id: TopClass(klass, posterior) for problem_id, klass, posterior in rows}

    @cached_property
    def posteriors(self) -> Mapping[str, Mapping[int, float]]:
        """For each problem that has candidates: class → posterior, in the order of the table."""
        return self._by_class("posterior")

    @cached_property
    def scores(self) -> Mapping[str, Mapping[int, float]]:
        """For each problem that has candidates: class → log-probability, in the order of the table."""
        return self._by_class("log_prob")

    def _by_class(self, column: str) -> dict[str, dict[int, float]]:
        classes: dict[str, dict[int, float]] = {}
        for problem_id, klass, value in self.table.select("problem_id", "klass", column).iter_rows():
            classes.setdefault(problem_id, {})[klass] = value
        return classes

    @cached_property
    def by_problem(self) -> Mapping[str, pl.DataFrame]:
        """The rows of each problem that has any."""
        groups = self.table.partition_by("problem_id", as_dict=True, maintain_order=True)
        return {str(problem_id): rows for (problem_id,), rows in groups.items()}

    def count_right(self, problems: ProblemSet) -> int:
        """Problems whose likeliest class is one that their gold equation may mean."""
        return sum(
            problem_id in self.top and self.top[problem_id].klass in gold
            for problem_id, gold in zip(problems.ids, problems.gold_classes, strict=True)
        )


def as_candidates(candidates: Candidates | pl.DataFrame | None, problems: ProblemSet) -> Candidates | None:
    """The candidates argument of a library call: a frame is checked, a `Candidates` or None is returned."""
    if isinstance(candidates, pl.DataFrame):
        return check_candidates(candidates, problems, "candidates")
    return candidates


def read_candidates(path: Path | str, problems: ProblemSet) -> Candidates:
    """A candidates table from a .parquet, .jsonl or .csv file, checked against its problems.

    A folder is a table in parts: all of its .parquet files.
    """
    table = pl.concat([read_table(file, CANDIDATES) for file in candidate_files(path)])
    return check_candidates(table, problems, str(path))


def candidate_files(path: Path | str) -> list[Path]:
    """The files of a candidates table: one file, or the .parquet files of a folder by name."""
    files = sorted(Path(path).glob("*.parquet"))
    if not files and not Path(path).exists():
        raise WarmkitError(f"{path}: there is no such file or folder.")
    return files or [Path(path)]


def check_candidates(table: pl.DataFrame, problems: ProblemSet, name: str) -> Candidates:
    """The candidates of a table; an error if they belong to other problems, by their ids or equations."""
    table = as_schema(table, CANDIDATES, name)
    if not len(table):
        raise empty_candidates(name)

    def place(row: int) -> Place:
        return name, row + 1

    counts = {"problem_id": problems.ids, "numbers": [len(numbers) for numbers in problems.numbers]}
    numbers = table.join(pl.DataFrame(counts), on="problem_id", how="left", maintain_order="left")["numbers"]
    refuse_impossible(table, numbers, place)
    candidates = Candidates(table)
    if not check_templates(candidates, problems, place):
        raise other_candidates(name)
    return candidates


def empty_candidates(name: str) -> WarmkitError:
    return WarmkitError(f"{name}: this candidates table is empty.")


def other_candidates(name: str) -> WarmkitError:
    return WarmkitError(
        f"{name}: none of its problems is in the problem set. These candidates belong to another one."
    )


Place: TypeAlias = tuple[str, int]  # a file, and a row of it


def refuse_impossible(table: pl.DataFrame, numbers: pl.Series, place: Callable[[int], Place]) -> None:
    """Refuse rows that can be no candidates; `numbers` are those of their problems, null if it is unknown.

    `place` is where a row of the table is from.
    """
    used = (
        pl.col("template")
        .str.extract_all(r"N[0-9]+")
        .list.eval(pl.element().str.strip_prefix("N").cast(pl.Int64, strict=False).fill_null(2**62))
    )
    unknown = used.list.max() >= pl.lit(numbers)
    wrong = {
        "has an empty field": pl.any_horizontal(pl.col(*CANDIDATES).is_null()),
        "has a posterior that is not between 0 and 1": ~pl.col("posterior").is_between(0, 1),
        "has a log_prob that is not a number": pl.col("log_prob").is_nan(),
        "uses a number that its problem does not have: it belongs to another problem set": unknown,
    }
    rows = table.with_row_index("row")
    for reason, is_wrong in wrong.items():
        for at, problem_id in rows.filter(is_wrong).select("row", "problem_id").head(1).iter_rows():
            name, row = place(at)
            raise WarmkitError(
                f"{name}, row {row}: the candidate of problem {str(problem_id)[:40]} {reason}."
            )


def check_templates(candidates: Candidates, problems: ProblemSet, place: Callable[[int], Place]) -> int:
    """Read the templates of candidates; the first one of each problem must give its answer.

    Returns how many problems have candidates. `place` is where a row of the table is from.
    """
    trees: list[Expr] = []
    known: dict[str, Expr] = {}  # many problems have the same
    for at, text in enumerate(candidates.table["template"]):
        try:
            trees.append(known[text] if text in known else known.setdefault(text, parse_template(text)))
        except EquationError as error:
            name, line = place(at)
            raise WarmkitError(f"{name}, row {line}: its template can't be read: {error}.") from None
    candidates.__dict__["templates"] = trees
    checked: set[str] = set()  # the first row of each problem
    for at, (problem_id, template) in enumerate(zip(candidates.table["problem_id"], trees, strict=True)):
        row = problems.row.get(problem_id)
        if row is None or problem_id in checked:
            continue
        checked.add(problem_id)
        if not reaches(template, problems.numbers[row], problems.answers[row]):
            raise WarmkitError(
                f"{place(at)[0]}: problem {problem_id}: {show(template)[:80]} does not give its answer "
                f"{problems.answers[row]:g}. These candidates belong to another problem set, or to other "
                "answers."
            )
    return len(checked)

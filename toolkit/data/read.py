"""Problem sets from files: any known format in, the problems table out."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from toolkit.data.formats import FORMATS, Format, recognise, renamed
from toolkit.data.records import Record, read_records
from toolkit.data.schema import CANDIDATES, PROBLEMS, BadRow, check_rows, numbers_of
from toolkit.equations import EquationError, parse, reaches
from toolkit.errors import WarmkitError

BUNDLED = Path(__file__).parent / "bundled"
MOST_SHOWN = 10  # bad rows that a message lists; the rest are counted


@dataclass(frozen=True, slots=True)
class ProblemSet:
    """What a file held: the good rows as a problems table, the bad ones with their reasons."""

    problems: pl.DataFrame
    bad: tuple[BadRow, ...]
    format: str


def read_problems(
    path: Path | str,
    *,
    skip_bad: bool = False,
    columns: Mapping[str, str] | None = None,
    lang: str | None = None,
) -> ProblemSet:
    """The problems of one file.

    A bad row is an error that lists it, unless `skip_bad` keeps the good ones. `columns` gives the file's
    own names of columns ({"text": "question", "answer": "gold"}); without it the format is recognised.
    `lang` is for rows that don't say theirs; without it the script decides. Rows of a file without ids are
    named by their lines.
    """
    path = locate(path)
    records = read_records(path)
    known = _format(path, records, columns or {})
    problems, bad = check_rows(_rows(records, known, lang), str(path))
    _refuse(path, problems, bad, skip_bad)
    return ProblemSet(problems, tuple(bad), known.name)


def read_parts(path: Path | str, size: int, *, skip_bad: bool = False) -> tuple[int, Iterator[pl.DataFrame]]:
    """How many problems a file has, and the problems, `size` at a time.

    A Parquet file that warmkit wrote is not read as a whole: memory does not grow with it. That an id
    stands twice is then noticed within a part only.
    """
    path = locate(path)
    try:
        rows = pl.scan_parquet(path) if _is_parquet(path) else None
        if rows is None or not set(PROBLEMS) <= set(rows.collect_schema().names()):
            problems = read_problems(path, skip_bad=skip_bad).problems
            return len(problems), problems.iter_slices(size)
        count = rows.select(pl.len()).collect().item()
    except pl.exceptions.PolarsError as error:
        raise WarmkitError(f"{path}: it can't be read: {str(error).splitlines()[0]}") from None
    return count, _checked_parts(path, rows, count, size, skip_bad)


def _is_parquet(path: Path) -> bool:
    if not path.is_file():
        return False
    with path.open("rb") as file:
        return file.read(4) == b"PAR1"


def _checked_parts(
    path: Path, rows: pl.LazyFrame, count: int, size: int, skip_bad: bool
) -> Iterator[pl.DataFrame]:
    for start in range(0, count, size):
        part = rows.select(list(PROBLEMS)).slice(start, size).collect()
        problems, bad = check_rows(enumerate(part.iter_rows(named=True), start + 1), str(path))
        _refuse(path, problems, bad, skip_bad)
        if len(problems):
            yield problems


def _refuse(path: Path, problems: pl.DataFrame, bad: Sequence[BadRow], skip_bad: bool) -> None:
    if bad and not skip_bad:
        raise WarmkitError(
            f"{path}: {len(bad)} of {len(bad) + len(problems)} rows can't be used, so nothing was read.\n"
            f"{list_bad(bad)}\nMend them, or keep the good rows alone with --skip-bad."
        )


def locate(path: Path | str) -> Path:
    """The path; bundled:en, bundled:hi and bundled:zh are the problems that come with warmkit."""
    name = str(path)
    if not name.startswith("bundled:"):
        return Path(path)
    file = BUNDLED / f"{name.removeprefix('bundled:')}.jsonl"
    if not file.is_file():
        known = ", ".join(f"bundled:{found.stem}" for found in sorted(BUNDLED.glob("*.jsonl")))
        raise WarmkitError(f"{name}: there are no such bundled problems. There are {known}.")
    return file


def list_bad(bad: Sequence[BadRow]) -> str:
    """Bad rows for people, one a line, the first few of many."""
    lines = [f"  {row}" for row in bad[:MOST_SHOWN]]
    if len(bad) > MOST_SHOWN:
        lines.append(f"  … and {len(bad) - MOST_SHOWN} more")
    return "\n".join(lines)


def _format(path: Path, records: Sequence[Record], columns: Mapping[str, str]) -> Format:
    """What the columns say, or the format of the first record that has fields."""
    record = next((fields for _, fields in records if isinstance(fields, dict)), None)
    if record is None:
        raise WarmkitError(f"{path}: it has no rows with named fields, so it is not a problem set.")
    found = ", ".join(list(record)[:12])
    if columns:
        if missing := [name for name in columns.values() if name not in record]:
            raise WarmkitError(f"{path}: there is no column {', '.join(missing)}. It has {found}.")
        return renamed(columns)
    known = recognise(record)
    if known is None:
        names = sorted({known.name for known in FORMATS})
        raise WarmkitError(
            f"{path}: its fields ({found}) are of no known format ({', '.join(names)}). "
            "Name its columns with --text, --answer and so on."
        )
    return known


def _rows(
    records: Iterable[Record], known: Format, lang: str | None
) -> Iterator[tuple[int, dict[str, Any] | str]]:
    rows = [(line, known.convert(f) if isinstance(f, dict) else f) for line, f in records]
    named = any(isinstance(row, dict) and row["id"] is not None for _, row in rows)
    for line, row in rows:
        if isinstance(row, dict):
            row["id"] = row["id"] if named else str(line)
            row["lang"] = row.get("lang") or lang
        yield line, row


def read_candidates(path: Path | str, problems: pl.DataFrame) -> pl.DataFrame:
    """A candidates table in any of the forms that it is written in, checked against its problems."""
    path = Path(path)
    readers: dict[str, Callable[[Path], pl.DataFrame]] = {
        ".parquet": pl.read_parquet,
        ".jsonl": pl.read_ndjson,
        ".csv": pl.read_csv,
    }
    reader = readers.get(path.suffix.lower())
    if reader is None:
        raise WarmkitError(f"{path}: the name of a candidates table ends in {', '.join(readers)}.")
    try:
        candidates = reader(path).select(pl.col(name).cast(kind) for name, kind in CANDIDATES.items())
    except FileNotFoundError:
        raise WarmkitError(f"{path}: there is no such file.") from None
    except (pl.exceptions.PolarsError, OSError) as error:
        raise WarmkitError(f"{path}: this is no candidates table ({str(error).splitlines()[0]}).") from None
    if not len(candidates):
        raise WarmkitError(f"{path}: this candidates table is empty.")
    _check_candidates(path, candidates, problems)
    return candidates


def _check_candidates(path: Path, candidates: pl.DataFrame, problems: pl.DataFrame) -> None:
    """Candidates of other problems are told by their ids, or by equations that don't give the answers."""
    known = problems.select("id", "text", "answer", "lang").join(
        candidates.unique("problem_id", keep="first", maintain_order=True),
        left_on="id",
        right_on="problem_id",
        maintain_order="left",
    )
    if not len(known):
        raise WarmkitError(f"{path}: none of its problems is in the problem set: these are other candidates.")
    for numbers, row in zip(numbers_of(known), known.iter_rows(named=True), strict=True):
        try:
            right = reaches(parse(row["template"]), numbers, row["answer"])
        except EquationError:
            right = False
        if not right:
            raise WarmkitError(
                f"{path}: problem {row['id']}: {row['template'][:80]} does not give its answer "
                f"{row['answer']:g}. These candidates belong to another problem set, or to other answers."
            )


_FOLD_LINE = re.compile(r"\s*[\w.-]{1,200}\s*")


def is_fold_file(path: Path | str) -> bool:
    """Whether a file lists ids, one a line, as AllArith's fold files do."""
    try:
        with Path(path).open(encoding="utf-8") as file:
            lines = [line for line, _ in zip(file, range(50), strict=False) if line.strip()]
    except (OSError, UnicodeDecodeError):
        return False
    return bool(lines) and all(_FOLD_LINE.fullmatch(line) for line in lines)


def with_folds(problems: pl.DataFrame, files: Sequence[Path | str]) -> tuple[pl.DataFrame, int]:
    """The problems with `split` set to the name of the fold file that lists them.

    Also how many ids of the fold files no problem has.
    """
    folds: dict[str, str] = {}
    for path in map(Path, files):
        for name in path.read_text(encoding="utf-8").split():
            if folds.setdefault(name, path.stem) != path.stem:
                raise WarmkitError(f"{path}: id {name} is in {folds[name]} already: folds must not overlap.")
    unknown = len(folds.keys() - set(problems["id"]))
    split = pl.col("id").replace_strict(folds, default=pl.col("split"), return_dtype=pl.String)
    return problems.with_columns(split=split), unknown

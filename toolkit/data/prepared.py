"""Problem sets that are prepared for training: masked, with gold templates and what search finds, in parts.

A prepared set is a folder with prepared.json, words.parquet (how often each word is in the texts) and one
Parquet file for each part. It is named by a digest of its problems and settings, and read part by part. Each
file is compared with the digest that prepared.json has of it.
"""

import io
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from pydantic import BaseModel, ConfigDict, Field

from toolkit.data.numbers import Operand, Written
from toolkit.data.problems import ProblemSet
from toolkit.data.schema import MAX_NUMBERS, PROBLEMS
from toolkit.data.split import Keys, order_keys
from toolkit.data.tokens import Masked, number_token
from toolkit.data.vocabulary import Vocabulary, vocabulary_of_counts
from toolkit.equations import Constant, Expr, over_values, parse_constant, parse_template, show
from toolkit.errors import WarmkitError
from toolkit.storage.description import Description, damaged, read_description
from toolkit.storage.files import read_bytes
from toolkit.storage.tables import as_schema, guarded

FORMAT = "warmkit-prepared-2"
DESCRIPTION = "prepared.json"
WORDS = "words.parquet"

PREPARED = pl.Schema(
    {
        "id": pl.String(),
        "tokens": pl.String(),  # separated by spaces
        "length": pl.Int16(),  # tokens of the text
        "lang": pl.String(),
        "numbers": pl.String(),  # exact: "3 1/4", separated by spaces
        "values": pl.List(pl.Float64),  # the numbers as floats
        "written": pl.List(pl.UInt8),  # how they are written: toolkit.data.numbers.Written
        "answer": pl.Float64(),
        "tolerance": pl.Float64(),
        "has_equation": pl.Boolean(),
        "gold": pl.String(),  # the template of a gold equation that holds
        "paths": pl.List(pl.Int16),  # of what search finds: its steps in codes, one path after the other
    }
)
READABLE = pl.Schema(
    {name: PREPARED[name] for name in ("id", "tokens", "lang", "numbers", "written", "answer")}
)  # what a problem is made of again: `as_problems`


class PreparedFile(BaseModel):
    """A file of a folder that is prepared."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str = Field(pattern=r"^[a-z0-9.-]+$")
    rows: int = Field(ge=0)
    sha256: str


class PreparedDescription(Description):
    digest: str
    problems: int = Field(ge=0)
    skipped: int = Field(ge=0)
    constants: list[str]
    words: PreparedFile
    parts: list[PreparedFile]


@dataclass(frozen=True)
class PreparedSet:
    """A prepared set: little is in memory before its parts are read."""

    folder: Path
    digest: str
    problems: int
    skipped: int  # bad rows that were left out
    constants: tuple[Constant, ...]
    words: PreparedFile
    parts: tuple[PreparedFile, ...]

    def __len__(self) -> int:
        return self.problems

    def frames(self, columns: tuple[str, ...] = tuple(PREPARED)) -> Iterator[pl.DataFrame]:
        """The parts, one after the other. A part that is gone or changed is an error."""
        schema = pl.Schema({name: PREPARED[name] for name in columns})
        for part in self.parts:
            yield read_prepared_table(self.folder, part, schema)

    def vocabulary(self, min_count: int) -> Vocabulary:
        """The vocabulary of the texts."""
        counts = read_prepared_table(
            self.folder, self.words, pl.Schema({"word": pl.String, "count": pl.Int64})
        )
        return vocabulary_of_counts(dict(counts.iter_rows()), numbers=MAX_NUMBERS, min_count=min_count)

    def check(self) -> None:
        """Refuse files that are gone or changed, before workers are sent to them."""
        for file in (self.words, *self.parts):
            prepared_content(self.folder, file)


@dataclass(frozen=True)
class KnownShare:
    """D_s as a share of the equations of a prepared set: those whose keys are not above a bound.

    What annotators agreed on counts before them.
    """

    seed: int
    bound: tuple[int, int] | None  # None: no equation of the set is used
    count: int  # problems of D_s
    annotated: tuple[tuple[str, str], ...] = ()  # problem and template, sorted

    @property
    def is_empty(self) -> bool:
        return self.bound is None and not self.annotated

    def chosen(self, part: pl.DataFrame) -> pl.Series:
        """The template of each problem that is in D_s, null for the others."""
        if not self.annotated:
            return self._of_share(part)
        agreed = part["id"].replace_strict(dict(self.annotated), default=None, return_dtype=pl.String)
        return agreed.alias("gold").zip_with(agreed.is_not_null(), self._of_share(part))

    def only(self, problems: ProblemSet) -> ProblemSet:
        """Problems of the set with the equations of D_s alone."""
        gold = [None if template is None else show(template) for template in problems.gold]
        chosen = self.chosen(pl.DataFrame({"id": problems.ids, "gold": gold}, {"id": str, "gold": str}))
        equations = [
            None if template is None else show(over_values(parse_template(template), numbers))
            for template, numbers in zip(chosen, problems.numbers, strict=True)
        ]
        table = problems.table.with_columns(pl.Series("equation", equations, pl.String))
        return ProblemSet(table, problems.constants, masked=problems.masked)

    def _of_share(self, part: pl.DataFrame) -> pl.Series:
        if self.bound is None:
            return pl.Series("gold", [None] * len(part), dtype=pl.String)
        gold = part["gold"]
        keys = order_keys(part["id"], self.seed)
        above = (keys[:, 0] > self.bound[0]) | ((keys[:, 0] == self.bound[0]) & (keys[:, 1] > self.bound[1]))
        return gold.scatter(pl.Series(above).arg_true(), None)


def known_share(
    prepared: PreparedSet, share: float, seed: int = 0, annotated: Mapping[str, Expr] | None = None
) -> KnownShare:
    """The share of the equations that `gold_ids` chooses, and what annotators agreed on."""
    known = _known_share(prepared, share, seed)
    if not annotated:
        return known
    templates = ((problem_id, show(template)) for problem_id, template in annotated.items())
    known = replace(known, annotated=tuple(sorted(templates)))
    columns = ("id", "gold") if share else ("id",)
    parts = prepared.frames(columns)
    return replace(known, count=sum(known.chosen(part).count() for part in parts))


def _known_share(prepared: PreparedSet, share: float, seed: int) -> KnownShare:
    nothing = KnownShare(seed, None, 0)
    if not share:
        return nothing
    keys: list[Keys] = []
    holds: list[pl.Series] = []
    for part in prepared.frames(("id", "has_equation", "gold")):
        some = part.filter("has_equation")
        keys.append(order_keys(some["id"], seed))
        holds.append(some["gold"].is_not_null())
    both = np.concatenate(keys)
    order = np.lexsort((both[:, 1], both[:, 0]))[: round(share * len(both))]
    if not len(order):
        return nothing
    first, second = both[order[-1]]
    return KnownShare(seed, (int(first), int(second)), int(pl.concat(holds).gather(order).sum()))


def read_prepared(folder: Path) -> PreparedSet:
    """The prepared set of a folder. Its parts are compared with their digests when they are read."""
    path = folder / DESCRIPTION
    written = read_description(path, "prepared set", FORMAT, PreparedDescription)
    try:
        constants = tuple(parse_constant(text) for text in written["constants"])
    except ValueError as error:
        raise damaged(path, "prepared set", f"constants: {error}") from None
    return PreparedSet(
        folder,
        written["digest"],
        written["problems"],
        written["skipped"],
        constants,
        PreparedFile(**written["words"]),
        tuple(PreparedFile(**part) for part in written["parts"]),
    )


def prepared_content(folder: Path, file: PreparedFile) -> bytes:
    """The content of a file, which must be what was prepared."""
    path = folder / file.name
    content = read_bytes(path)
    if sha256(content).hexdigest() != file.sha256:
        raise WarmkitError(
            f"{path}: it is not what was prepared: it was cut off, or changed. Delete the folder "
            f"{folder}, and it is prepared again."
        )
    return content


def read_prepared_table(folder: Path, file: PreparedFile, schema: pl.Schema) -> pl.DataFrame:
    """Some columns of a file that was prepared."""
    path = folder / file.name
    with guarded(path):
        table = pl.read_parquet(io.BytesIO(prepared_content(folder, file)), columns=list(schema))
    return as_schema(table, schema, str(path))


def readable_columns(problems: ProblemSet) -> dict[str, Sequence[object]]:
    """The columns of READABLE."""
    return {
        "id": problems.ids,
        "tokens": [" ".join(masked.tokens) for masked in problems.masked],
        "lang": problems.langs,
        "numbers": [" ".join(map(str, numbers)) for numbers in problems.numbers],
        "written": [[operand.written for operand in masked.operands] for masked in problems.masked],
        "answer": problems.answers,
    }


def as_problems(rows: pl.DataFrame, constants: Sequence[Constant]) -> ProblemSet:
    """The problems in rows with the columns of READABLE, as far as networks read them.

    Their texts are their tokens, where their numbers stood is not known, and they have no equations.
    """
    nothing = pl.lit(None, dtype=pl.String)
    table = rows.select(
        "id",
        pl.col("tokens").alias("text"),
        "answer",
        nothing.alias("equation"),
        "lang",
        nothing.alias("split"),
    )
    masked = []
    for tokens, numbers, written in rows.select("tokens", "numbers", "written").iter_rows():
        words = tuple(tokens.split(" "))
        operands = tuple(
            Operand(Fraction(number), 0, 0, Written(how))
            for number, how in zip(numbers.split(" "), written, strict=True)
        )
        names = {number_token(j) for j in range(len(operands))}
        masked.append(Masked(words, tuple(word in names for word in words), operands))
    return ProblemSet(table.select(*PROBLEMS), constants, masked=masked)


def write_prepared_table(table: pl.DataFrame, path: Path) -> PreparedFile:
    """Write a file of a prepared set; return what prepared.json says of it."""
    with guarded(path, "written"):
        table.write_parquet(path)
    return PreparedFile(name=path.name, rows=len(table), sha256=sha256(path.read_bytes()).hexdigest())


def describe_words(counts: Mapping[str, int], folder: Path) -> PreparedFile:
    words = pl.DataFrame({"word": list(counts), "count": list(counts.values())})
    return write_prepared_table(words, folder / WORDS)


def description(
    digest: str, constants: list[str], words: PreparedFile, parts: list[PreparedFile], skipped: int
) -> dict[str, Any]:
    """The content of prepared.json."""
    return {
        "format": FORMAT,
        "digest": digest,
        "problems": sum(part.rows for part in parts),
        "skipped": skipped,
        "constants": constants,
        "words": words.model_dump(),
        "parts": [part.model_dump() for part in parts],
    }

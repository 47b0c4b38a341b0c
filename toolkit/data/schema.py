"""The schemas of the tables, and the check of the rows of the problems table.

All rows go through `check_rows`, which returns a frame of the schema `PROBLEMS`, the masked texts of its
rows, and a list of the refused rows, each with its file, line, id and reason.
"""

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from toolkit.data.languages import detect_language
from toolkit.data.seen import SeenIds
from toolkit.data.tokens import Masked, mask
from toolkit.equations import EquationError, TooLarge, evaluate, parse
from toolkit.errors import WarmkitError

PROBLEMS = pl.Schema(
    {
        "id": pl.String,
        "text": pl.String,
        "answer": pl.Float64,
        "equation": pl.String,  # null if only the answer is known
        "lang": pl.String,
        "split": pl.String,  # null if the set has no splits
    }
)

CANDIDATES = pl.Schema(
    {
        "problem_id": pl.String,
        "equation": pl.String,  # over the problem's own numbers
        "template": pl.String,  # over N0, N1, … and constants
        "klass": pl.Int64,  # equal for equivalent templates
        "log_prob": pl.Float64,  # of the whole class
        "posterior": pl.Float64,  # of the class among those of the problem
        "steps": pl.Int64,
        "origin": pl.String,  # the method that found it, search, gold or annotator
    }
)

ANNOTATIONS = pl.Schema(
    {
        "problem_id": pl.String,
        "equation": pl.String,  # null if there is none: skipped, or a bad problem
        "template": pl.String,  # of a candidate that was picked: what it means
        "verdict": pl.String,  # accepted, rejected, disputed or skipped
        "reason": pl.String,
        "annotator": pl.String,
        "external_id": pl.String,  # the same for all versions of one annotation
        "updated_at": pl.String,  # ISO 8601, UTC
        "round": pl.Int64,
        "seconds": pl.Float64,  # null if it is not known
    }
)

METRICS = pl.Schema(
    {
        "round": pl.Int64,
        "split": pl.String,  # pool: the problems to learn from; test: those that the solver is measured on
        "name": pl.String,
        "value": pl.Float64,
    }
)

MAX_TEXT = 20_000
MAX_ID = 200
MAX_NUMBERS = 64
MOST_SHOWN = 10  # bad rows that a message lists; the rest are counted

_PLACEHOLDER = re.compile(r"\s*(?:[xX]\s*=\s*)?\??\s*")  # "X=?": in EW10K, no equation
_NO_TEXT = re.compile("[\\x00\\ud800-\\udfff]")
_SCIENTIFIC = re.compile(r"\s*[-+]?\d+(?:\.\d+)?[eE][-+]?\d{1,4}\s*", re.ASCII)
_LANG = re.compile(r"[a-z]{2,3}(-[A-Za-z]{2,4})?")


@dataclass(frozen=True, slots=True)
class BadRow:
    """A row that was refused."""

    file: str
    line: int
    id: str | None
    reason: str

    def __str__(self) -> str:
        source = f"{self.file}, line {self.line}" + (f", id {' '.join(self.id.split())}" if self.id else "")
        return f"{source}: {self.reason}"


class _Refused(Exception):
    pass


Row = Mapping[str, Any]


def check_rows(
    rows: Iterable[tuple[int, Row | str]], file: str, seen: SeenIds | None = None
) -> tuple[pl.DataFrame, list[Masked], list[BadRow]]:
    """The good rows as a frame, their masked texts, and the bad rows.

    A row is (line, fields), or (line, the reason why it has no fields). `seen` are the ids of other rows of
    the same problem set.
    """
    seen = SeenIds() if seen is None else seen
    good: list[dict[str, Any]] = []
    texts: list[Masked] = []
    bad: list[BadRow] = []
    for line, row in rows:
        name = None if isinstance(row, str) else _shown_id(row.get("id"))
        try:
            if isinstance(row, str):
                raise _Refused(row)
            checked, masked = _check(row)
            if used := seen.first_use(checked["id"], file, line):
                raise _Refused(f"the id is already used at {used}: ids must be unique")
        except _Refused as refused:
            bad.append(BadRow(file, line, name, str(refused)))
        else:
            good.append(checked)
            texts.append(masked)
    return pl.DataFrame(good, schema=PROBLEMS, orient="row"), texts, bad


def refuse_bad(name: str, good: int, bad: Sequence[BadRow]) -> None:
    """Raise an error that lists the bad rows, if there are any."""
    if bad:
        raise WarmkitError(
            f"{name}: {len(bad)} of {len(bad) + good} rows can't be used, so nothing was read.\n"
            f"{list_bad(bad)}",
            "bad-rows",
        )


def list_bad(bad: Sequence[BadRow]) -> str:
    """Bad rows for people, one per line; of many, only the first."""
    lines = [f"  {row}" for row in bad[:MOST_SHOWN]]
    if len(bad) > MOST_SHOWN:
        lines.append(f"  … and {len(bad) - MOST_SHOWN} more")
    return "\n".join(lines)


def _shown_id(value: object) -> str | None:
    return None if value is None else str(value)[:40]


def _check(row: Row) -> tuple[dict[str, Any], Masked]:
    text = _check_text(row.get("text"))
    lang = row.get("lang") or detect_language(text)
    if not isinstance(lang, str) or not _LANG.fullmatch(lang):
        raise _Refused(f"lang {_short(lang)} is not a language code such as en, hi or zh")
    masked = mask(text, lang)
    count = len(masked.operands)
    if not count:
        raise _Refused("its text has no number, so no equation can be made of it")
    if count > MAX_NUMBERS:
        raise _Refused(f"its text has {count} numbers; at most {MAX_NUMBERS} are handled")
    return {
        "id": _check_id(row.get("id")),
        "text": text,
        "answer": _check_answer(row.get("answer")),
        "equation": _check_equation(row.get("equation")),
        "lang": lang,
        "split": _check_split(row.get("split")),
    }, masked


def _check_characters(what: str, value: str) -> str:
    """A text that can be written and shown: JSON can write halves of characters, which are no text."""
    if wrong := _NO_TEXT.search(value):
        raise _Refused(f"its {what} has U+{ord(wrong[0]):04X} in it, which is not a character of text")
    return value


def _check_id(value: object) -> str:
    if value is None or value == "":
        raise _Refused("it has no id")
    if isinstance(value, bool) or not isinstance(value, str | int):
        raise _Refused(f"its id {_short(value)} is neither text nor a whole number")
    if len(str(value)) > MAX_ID:
        raise _Refused(f"its id has {len(str(value)):,} characters; at most {MAX_ID} are allowed")
    return _check_characters("id", str(value))


def _check_text(value: object) -> str:
    if not isinstance(value, str) or not value.strip():
        raise _Refused("it has no text")
    if len(value) > MAX_TEXT:
        raise _Refused(f"its text has {len(value):,} characters; at most {MAX_TEXT:,} are allowed")
    return _check_characters("text", value.strip())


def _check_answer(value: object) -> float:
    if value is None or value == "":
        raise _Refused("it has no answer")
    try:
        return read_number(value)
    except ValueError as error:
        raise _Refused(f"its answer {_short(value)} {error}") from None


def read_number(value: object) -> float:
    """A finite number, or text that writes one: "3/4", "1((19)/(25))", "12.5%", "1,250".

    The message of a ValueError is to be written after the value: "'twelve' is not a number".
    """
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise ValueError("is not a number")
    if isinstance(value, str) and _SCIENTIFIC.fullmatch(value):
        value = float(value)  # as CSV has 1e+300; equations have no such numbers
    try:
        number = float(evaluate(parse(value)) if isinstance(value, str) else value)
    except (TooLarge, OverflowError):
        raise ValueError("is too large") from None
    except EquationError:
        raise ValueError("is not a number") from None
    if not math.isfinite(number):
        raise ValueError("is not finite")
    return number


def _check_equation(value: object) -> str | None:
    if value is None or (isinstance(value, str) and _PLACEHOLDER.fullmatch(value)):
        return None
    if not isinstance(value, str):
        raise _Refused(f"its equation {_short(value)} is not text")
    try:
        parse(value)
    except EquationError as error:
        raise _Refused(f"its equation {_short(value)} can't be read: {error}") from None
    return _check_characters("equation", value.strip())


def _check_split(value: object) -> str | None:
    if value is None or value == "":
        return None
    if not isinstance(value, str) or len(value) > MAX_ID:
        raise _Refused(f"its split {_short(value)} is not a name")
    return _check_characters("split", value)


def _short(value: object) -> str:
    written = repr(value)
    return written if len(written) <= 60 else f"{written[:56]}…{written[0]}"

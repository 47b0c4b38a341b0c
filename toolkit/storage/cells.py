"""Cells of CSV files that no spreadsheet runs as a formula, and that read back as they were.

A spreadsheet runs a cell that begins with = + - or @. It may take another sign for the separator than the
comma, so what follows a semicolon, a tab or a line break may begin a cell as well. At each such place an
apostrophe is put before the sign, and taken away again when the file is read; apostrophes that are there
already stay, because one more is put behind them. A plain number such as -5 is no formula.
"""

import re
from collections.abc import Callable

import polars as pl

_SIGN = "[=+@＝＋－＠-]"
_BLANK = r"[\s\x1c-\x1f]"  # what both Python and Polars take for a blank
_NUMBER = r"-\d+(?:\.\d+)?(?:[eE][+-]?\d+)?\Z"
_PLACE = re.compile(
    r"\A'*(?=[\t\r\n])"
    rf"|\A{_BLANK}*'*(?={_SIGN})(?!{_NUMBER})"
    rf"|(?<![;\s])(?:;|{_BLANK})+'*(?={_SIGN})"
)
_MAY_HAVE_PLACES = rf"^{_BLANK}*'*{_SIGN}|^'*[\t\r\n]|[;\t\r\n]{_BLANK}*'*{_SIGN}"  # Polars can't look ahead


def to_cell(value: str) -> str:
    """A cell that no spreadsheet runs as a formula, whatever it takes for a separator."""
    return _PLACE.sub(lambda place: f"{place[0]}'" if _begins_cell(place) else place[0], value)


def from_cell(value: str) -> str:
    """What `to_cell` was given."""
    if "'" not in value:  # most cells, and it is quick
        return value
    return _PLACE.sub(lambda place: place[0].removesuffix("'") if _begins_cell(place) else place[0], value)


def _begins_cell(place: re.Match[str]) -> bool:
    return place.start() == 0 or any(sign in place[0] for sign in ";\t\r\n")


def to_cells(table: pl.DataFrame) -> pl.DataFrame:
    """`to_cell` for all texts of a table."""
    return table.with_columns(_changed(column, to_cell) for column in table)


def from_cells(table: pl.DataFrame) -> pl.DataFrame:
    """`from_cell` for all texts of a table."""
    return table.with_columns(_changed(column, from_cell) for column in table)


def _changed(column: pl.Series, change: Callable[[str], str]) -> pl.Series:
    if column.dtype != pl.String:
        return column
    concerned = column.str.contains(_MAY_HAVE_PLACES)
    if not concerned.any():
        return column
    values = (change(text) if may else text for text, may in zip(column, concerned, strict=True))
    return pl.Series(column.name, list(values), dtype=pl.String)

"""The tables as Markdown, for pages such as docs/paper.md. It says what the page says."""

from collections.abc import Sequence

from toolkit.paper.figures import ShownTable

SEPARATOR = " · "


def to_markdown(tables: Sequence[ShownTable]) -> str:
    return "\n".join(_table(shown) for shown in tables)


def _table(shown: ShownTable) -> str:
    table = shown.table
    lines = [
        f"### Table {table.number}: {table.title}",
        "",
        _line(["", *table.columns]),
        _line(["---"] * (1 + len(table.columns))),
    ]
    group = ""
    for row in shown.rows:
        if row.row.group != group:
            group = row.row.group
            lines.append(_line([f"**{group}**", *("" for _ in table.columns)]))
        places = (row.places.get(column) for column in table.columns)
        cells = (SEPARATOR.join(place.parts) if place else "" for place in places)
        lines.append(_line([row.row.name, *cells]))
    return "\n".join([*lines, ""])


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cell.replace('|', '/') for cell in cells)} |"

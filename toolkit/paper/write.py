"""The result files of a paper's folder, rewritten whenever a run ends."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from toolkit.paper.cells import Files
from toolkit.paper.figures import ShownTable, counted, shown_tables
from toolkit.paper.markdown import to_markdown
from toolkit.paper.page import PaperFigures, render
from toolkit.paper.plan import Plan
from toolkit.paper.run import results_of
from toolkit.pieces.run import versions
from toolkit.storage.atomic import replacing


@dataclass(frozen=True)
class Written:
    tables: list[ShownTable]
    counts: dict[str, int]  # of cells: measured, failed, left
    page: Path
    markdown: Path

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "page": str(self.page),
            "markdown": str(self.markdown),
            **self.counts,
            "tables": [shown.as_dict() for shown in self.tables],
        }


def write_paper(plan: Plan, files: Files, command: str) -> Written:
    """Write paper.html and paper.md by what is measured."""
    results = results_of(plan, files)
    tables, counts = shown_tables(plan, results), counted(plan, results)
    spent = sum(result.seconds for result in results.values())
    written = Written(tables, counts, files.folder / "paper.html", files.folder / "paper.md")
    _write(written.page, render(PaperFigures(plan, tables, counts, spent, command, versions())))
    _write(written.markdown, to_markdown(tables))
    return written


def _write(path: Path, text: str) -> None:
    with replacing(path) as temporary:
        temporary.write_text(text, encoding="utf-8")

"""The result files of a folder of measurements, rewritten whenever a run ends."""

from pathlib import Path
from typing import Any

from toolkit.labels.figures import comparisons, transfers
from toolkit.labels.markdown import to_markdown
from toolkit.labels.page import Results, render
from toolkit.labels.pieces import Files
from toolkit.labels.plan import Plan, results_of
from toolkit.pieces.run import versions
from toolkit.storage.atomic import replacing

PAGE, MARKDOWN = "labels.html", "labels.md"


def write_labels(plan: Plan, files: Files, command: str) -> Results:
    """Write labels.html and labels.md by what is measured."""
    curves = results_of(plan, files)
    results = Results(plan, curves, comparisons(plan, curves), transfers(plan, curves), command, versions())
    _write(files.folder / PAGE, render(results))
    _write(files.folder / MARKDOWN, to_markdown(results.rows, results.transfers))
    return results


def as_dict(results: Results) -> dict[str, Any]:
    """For JSON."""
    return {
        **results.counts,
        "comparisons": [row.as_dict() for row in results.rows],
        "transfers": [row.as_dict() for row in results.transfers],
    }


def _write(path: Path, text: str) -> None:
    with replacing(path) as temporary:
        temporary.write_text(text, encoding="utf-8")

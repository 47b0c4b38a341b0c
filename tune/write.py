"""The result files of a sweep, rewritten whenever it ends or is stopped, and its figures in brief."""

import platform
import shlex
from importlib.metadata import version
from typing import Any

from toolkit.config import to_yaml
from toolkit.data.schema import PROBLEMS
from toolkit.data.write import write_table
from toolkit.loop.run import read_table
from toolkit.storage.atomic import replacing
from tune.plan import describe
from tune.report import SweepFigures, render
from tune.results import SHARES, Setting, deviation, ranked, table, values
from tune.sweep import Sweep

PACKAGES = ("warmkit", "ray", "torch", "polars")


def write_results(sweep: Sweep) -> dict[str, Any]:
    """Write results.parquet, best.yaml and page.html; what `warmkit tune --json` prints, except seconds."""
    results, folder = sweep.results(), sweep.folder
    table_file, page_file = folder / "results.parquet", folder / "page.html"
    write_table(table(sweep.config, results), table_file)
    best = next(iter(ranked(sweep.config, results)), None)
    if best is not None:
        header = (
            f"# The best of the sweep {folder.name} by {sweep.config.metric}: {describe(best.keys)}.\n"
            f"#\n#   warmkit loop --config {shlex.quote(str(folder / 'best.yaml'))}\n"
        )
        config = best.config.model_copy(update={"seed": sweep.config.seed})
        with replacing(folder / "best.yaml") as temporary:
            temporary.write_text(header + to_yaml(config), encoding="utf-8")
    figures = SweepFigures(
        name=folder.name,
        config=sweep.config,
        problems=_rows(sweep, "problems"),
        test_problems=_rows(sweep, "test"),
        planned=sweep.planned,
        results=results,
        seconds=sum(values(results, "seconds")),
        command=f"warmkit tune {shlex.quote(str(folder / 'config.yaml'))} --name another-name",
        written=to_yaml(sweep.config),
        versions={"python": platform.python_version()} | {name: version(name) for name in PACKAGES},
    )
    with replacing(page_file) as temporary:
        temporary.write_text(render(figures), encoding="utf-8")
    return {
        "trials": len(results),
        "failed": sum(result.state == "failed" for result in results),
        "best": None if best is None else _brief(sweep, best),
        "results": str(table_file),
        "page": str(page_file),
    }


def _rows(sweep: Sweep, name: str) -> int:
    return len(read_table(sweep.folder / f"{name}.parquet", PROBLEMS))


def _brief(sweep: Sweep, best: Setting) -> dict[str, Any]:
    found = best.values(sweep.config.metric)
    return {
        "keys": dict(best.keys),
        "metric": sweep.config.metric,
        "value": best.mean(sweep.config.metric),
        "deviation": deviation(found),
        "seeds": len(found),
        **{name: best.mean(name) for name in SHARES if name != "class_accuracy"},
        "config": str(sweep.folder / "best.yaml"),
    }

"""The files that a sweep comes to, written anew whenever it ends or is stopped, and its figures in brief."""

import platform
import shlex
from importlib.metadata import version
from typing import Any

import polars as pl

from toolkit.config import to_yaml
from toolkit.data.write import replacing, write_table
from tune.page import SweepFigures, render
from tune.plan import told
from tune.results import SHARES, Setting, deviation, ranked, table, values
from tune.sweep import Sweep

PACKAGES = ("warmkit", "ray", "torch", "polars")


def write_results(sweep: Sweep) -> dict[str, Any]:
    """Write results.parquet, best.yaml and page.html; what `warmkit tune --json` prints, seconds aside."""
    outcomes, folder = sweep.outcomes(), sweep.folder
    results, page = folder / "results.parquet", folder / "page.html"
    write_table(table(sweep.config, outcomes), results)
    best = next(iter(ranked(sweep.config, outcomes)), None)
    if best is not None:
        header = (
            f"# The best setting of the sweep {folder.name} by {sweep.config.metric}: {told(best.keys)}.\n"
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
        outcomes=outcomes,
        seconds=sum(values(outcomes, "seconds")),
        command=f"warmkit tune {shlex.quote(str(folder / 'config.yaml'))} --name another-name",
        written=to_yaml(sweep.config),
        versions={"python": platform.python_version()} | {name: version(name) for name in PACKAGES},
    )
    with replacing(page) as temporary:
        temporary.write_text(render(figures), encoding="utf-8")
    return {
        "trials": len(outcomes),
        "failed": sum(one.state == "failed" for one in outcomes),
        "best": None if best is None else _brief(sweep, best),
        "results": str(results),
        "page": str(page),
    }


def _rows(sweep: Sweep, name: str) -> int:
    return pl.scan_parquet(sweep.folder / f"{name}.parquet").select(pl.len()).collect().item()  # type: ignore[no-any-return]


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

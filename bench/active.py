"""What choosing buys: labels that each strategy needs, against random, over seeds.

    python bench/active.py --data FOLDER                              both tables
    python bench/active.py --data FOLDER --only allarith --seeds 5

FOLDER holds allarith.jsonl, ew10k.jsonl and math23k.jsonl in the native format (none comes with warmkit).

    allarith   a sample of AllArith, with half as many problems of EW10K beside it that have answers only
    math23k    a sample of Math23K's problems with three numbers or more

A run asks an oracle in rounds; gold equations are seen only where it was asked. Measured is the share of
the problems with gold whose equation (annotated, or the likeliest found) is of the gold class. A seed draws
the sample, the first model and all else, and all strategies share it: differences are paired.
"""

import math
import statistics
import tempfile
from collections.abc import Sequence
from pathlib import Path

import click
import polars as pl
import torch

from toolkit.cli.output import print_table
from toolkit.config import load_config
from toolkit.data import read_problems, write_table
from toolkit.loop.config import LoopConfig
from toolkit.loop.loop import Loop
from toolkit.loop.run import create_run

PROMISING = ("random", "hybrid", "least_confidence", "margin", "entropy")
SETTINGS = (
    *("warm.train.epochs=6", "later_epochs=2", "warm.train.search=2", "warm.model.hidden=96"),
    *("stop.kappa=null", "active.random_share=0", "references=false", "solver_each_round=false"),
    *(
        "solver.epochs=1",
        "solver.hidden=8",
        "solver.embedding=8",
        "solver.members=1",
    ),  # the solver is not what is measured
)


def sample(data: Path, what: str, size: int, seed: int) -> pl.DataFrame:
    if what == "allarith":
        ours = read_problems(data / "allarith.jsonl").table.sample(size, seed=seed)
        beside = read_problems(data / "ew10k.jsonl").table.sample(size // 2, seed=seed)
        beside = beside.with_columns(id="ew10k-" + pl.col("id"))  # both sets count from one
        return pl.concat([ours, beside]).with_columns(split=pl.lit("train"))
    problems = read_problems(data / "math23k.jsonl", skip_bad=True)
    many = [len(numbers) >= 3 for numbers in problems.numbers]
    return problems.table.filter(pl.Series(many)).sample(size, seed=seed).with_columns(split=pl.lit("train"))


def curve(
    problems: pl.DataFrame, strategy: str, rounds: int, batch: int, seed: int, overrides: Sequence[str]
) -> list[float]:
    """Equation accuracy before anybody was asked and after each round."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        write_table(problems, root / "problems.parquet")
        write_table(problems.head(1).with_columns(id=pl.lit("test")), root / "test.parquet")
        config = load_config(
            LoopConfig,
            None,
            (
                *SETTINGS,
                *(f"data={root / 'problems.parquet'}", f"test={root / 'test.parquet'}", f"seed={seed}"),
                *(f"active.strategy={strategy}", f"active.batch={batch}", f"stop.rounds={rounds}"),
                *overrides,
            ),
        )
        run = create_run(root / "runs", "a", config)
        Loop(run).run()
        found = [value for _, _, name, value in run.ledger.metrics() if name == "gold_equivalent"]
        run.ledger.close()
    return found


def labels_to(curve: Sequence[float], goal: float, batch: int) -> float:
    """Labels at which a curve first comes to the goal, between rounds by a straight line."""
    for i, value in enumerate(curve):
        if value >= goal:
            before = curve[i - 1] if i else goal
            return batch * (i - (value - goal) / (value - before)) if i and value > before else batch * i
    return math.inf


def table(curves: dict[str, list[list[float]]], batch: int) -> list[tuple[str, ...]]:
    """One row a strategy; the interval is of the paired difference to random (Student's t, 95 %)."""
    goal = 0.95  # of everything annotated, which is 1 by the definition of what is measured
    rows = []
    for name, of_seeds in curves.items():
        areas = [statistics.mean(of_seed) for of_seed in of_seeds]
        gains = [area - statistics.mean(r) for area, r in zip(areas, curves["random"], strict=True)]
        spread = "–"
        if name != "random" and len(gains) > 1:
            half = T95.get(len(gains) - 1, 2.0) * statistics.stdev(gains) / math.sqrt(len(gains))
            mean = 100 * statistics.mean(gains)
            spread = f"{mean:+.2f} ± {100 * half:.2f}"
        needed = [labels_to(of_seed, goal, batch) for of_seed in of_seeds]
        reached = [labels for labels in needed if math.isfinite(labels)]
        told = (
            f"{statistics.mean(reached):.0f}"
            if len(reached) == len(needed)
            else f"> {batch * (len(of_seeds[0]) - 1)}"
        )
        ends = statistics.mean(of_seed[-1] for of_seed in of_seeds)
        begins = statistics.mean(of_seed[0] for of_seed in of_seeds)
        rows.append(
            (
                name,
                f"{100 * begins:.1f} → {100 * ends:.1f}",
                f"{100 * statistics.mean(areas):.2f}",
                spread,
                told,
            )
        )
    return rows


T95 = {1: 12.71, 2: 4.30, 3: 3.18, 4: 2.78, 5: 2.57, 6: 2.45, 7: 2.36, 8: 2.31, 9: 2.26}


@click.command(help=__doc__, context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--data", required=True, type=click.Path(path_type=Path, exists=True))
@click.option("--only", type=click.Choice(["allarith", "math23k"]), multiple=True)
@click.option("--strategies", default=",".join(PROMISING), show_default=True)
@click.option("--seeds", default=5, show_default=True)
@click.option("--size", default=300, show_default=True, help="Problems of the sample that have gold.")
@click.option("--rounds", default=5, show_default=True)
@click.option("--batch", default=15, show_default=True)
@click.option("--set", "overrides", multiple=True, metavar="KEY=VALUE")
def main(
    data: Path,
    only: tuple[str, ...],
    strategies: str,
    seeds: int,
    size: int,
    rounds: int,
    batch: int,
    overrides: tuple[str, ...],
) -> None:
    names = ["random", *(name for name in strategies.split(",") if name != "random")]
    for what in only or ("allarith", "math23k"):
        curves: dict[str, list[list[float]]] = {name: [] for name in names}
        for seed in range(seeds):
            problems = sample(data, what, size, seed)
            for name in names:
                found = curve(problems, name, rounds, batch, seed, overrides)
                curves[name].append(found)
                click.echo(
                    f"{what} seed {seed} {name}: " + " ".join(f"{100 * v:.1f}" for v in found), err=True
                )
        title = f"{what}: {size} problems with gold, {rounds} rounds of {batch}, {seeds} seeds"
        headers = ("strategy", "equations right, %", "mean of the curve", "against random", "labels to 95 %")
        print_table(f"{title}, {torch.get_num_threads()} threads", table(curves, batch), headers)


if __name__ == "__main__":
    main()

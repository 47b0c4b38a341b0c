"""What step one reaches, how often it is right, and what it costs, as tables.

    python bench/warm.py --data FOLDER                    every table, about forty minutes on two cores
    python bench/warm.py --data FOLDER --only allarith    one of them

FOLDER holds allarith.jsonl, ew10k.jsonl, hw10k.jsonl and math23k.jsonl in the native format (none comes with
warmkit). "reached" is the share of problems for which an equation was found that gives the answer, after
training on these answers; "gold" the share whose likeliest class is that of the gold equation.
"""

import resource
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import click
import polars as pl
import torch

from toolkit.active.candidates import calibrate, candidates_table, count_right, gold_classes
from toolkit.baselines import sample_random, train_seq2seq
from toolkit.cli.output import print_table
from toolkit.config import load_config
from toolkit.data import read_problems
from toolkit.data.split import chosen_share
from toolkit.equations import DEFAULT_CONSTANTS, Expr, klass
from toolkit.warm.config import WarmConfig
from toolkit.warm.generate import generate
from toolkit.warm.train import train

Row = tuple[str, ...]
HEADERS = ("what", "reached", "gold", "train s", "s/epoch", "s to 97.4 %", "generate /s")
PAPER = Path(__file__).parents[1] / "configs" / "paper"


def run(
    name: str,
    problems: pl.DataFrame,
    *overrides: str,
    config: Path | None = None,
    gold: Sequence[bool] | None = None,
) -> Row:
    """Train and generate on the same problems; what was shown as gold does not count as found.

    Without beam exploration there is no beam in generation either: the likeliest path is followed.
    """
    settings = load_config(WarmConfig, config, overrides)
    start = time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        trained = train(problems, settings, Path(folder), gold=gold)
    seconds = time.perf_counter() - start
    weak = problems if gold is None else problems.filter(~pl.Series(list(gold)))
    start = time.perf_counter()
    beam = settings.explore.beam_exploration
    generated = generate(
        trained, weak, width=20 if beam else 1, lookahead=beam, searched=settings.train.search
    )
    speed = len(weak) / (time.perf_counter() - start)
    right = gold_classes(weak, DEFAULT_CONSTANTS)
    table = candidates_table(generated, weak, calibrate(generated, right))
    known = sum(map(bool, right))
    return (
        name,
        percent(sum(bool(of.scored) for of in generated), len(weak)),
        percent(count_right(table, weak, right), known),
        f"{seconds:.0f}",
        f"{seconds / len(trained.history):.1f}",
        _seconds_until(trained.history, 0.974),
        f"{speed:.0f}",
    )


def _seconds_until(history: list[dict[str, Any]], share: float) -> str:
    """How long it took until so many problems had a path to their answer in training."""
    seconds = 0.0
    for epoch in history:
        seconds += epoch["seconds"]
        if epoch["reached"] >= share:
            return f"{seconds:.0f}"
    return "–"


def percent(part: int, whole: int) -> str:
    return f"{100 * part / whole:.1f} %" if whole else "–"


def baseline(name: str, problems: pl.DataFrame, find: Callable[[], list[Expr | None]]) -> Row:
    start = time.perf_counter()
    found = find()
    seconds = time.perf_counter() - start
    right = gold_classes(problems, DEFAULT_CONSTANTS)
    same = sum(t is not None and klass(t) in classes for t, classes in zip(found, right, strict=True))
    return (
        name,
        percent(sum(t is not None for t in found), len(found)),
        percent(same, sum(map(bool, right))),
        f"{seconds:.0f}",
        "",
        "",
        "",
    )


def allarith(folder: Path, seed: int) -> None:
    problems = read_problems(folder / "allarith.jsonl").problems
    seeded = f"train.seed={seed}"
    rows = [
        run("WARM, default", problems, seeded),
        run("WARM, default, exploration alone (train.search=0)", problems, seeded, "train.search=0"),
        run(
            "  without beam exploration", problems, seeded, "train.search=0", "explore.beam_exploration=false"
        ),
        baseline("random sampling, k = 5, d = 40", problems, lambda: sample_random(problems, seed=seed)),
        baseline("seq2seq, 20 epochs", problems, lambda: train_seq2seq(problems, epochs=20, seed=seed)),
    ]
    print_table(f"allarith.jsonl, {len(problems)} problems, answers only, seed {seed}", rows, HEADERS)


def others(folder: Path, seed: int) -> None:
    rows = []
    for name in ("ew10k", "hw10k", "math23k"):
        problems = read_problems(folder / f"{name}.jsonl").problems
        if name == "math23k":
            problems = problems.sample(2000, seed=seed)
        settings = (f"train.seed={seed}", "train.epochs=12")
        rows.append(run(f"{name}, {len(problems)} problems", problems, *settings))
    print_table(f"answers only, default, 12 epochs, seed {seed}", rows, HEADERS)


def ablation(folder: Path, seed: int) -> None:
    problems = read_problems(folder / "allarith.jsonl").problems
    settings = (f"train.seed={seed}", "train.epochs=15")
    without = (
        "train.search=0",
        "train.memory=0 train.search=0",
        "explore.lookahead=false train.search=0",
        "explore.beyond=0 train.search=0",
        "model.pointer=false",
        "model.pairs=0",
        "model.habits=false",
        "model.stop=false",
    )
    rows = [run("default", problems, *settings)]
    rows += [run(keys, problems, *settings, *keys.split()) for keys in without]
    print_table(f"allarith.jsonl, 15 epochs, seed {seed}: the default with other keys", rows, HEADERS)


def gold(folder: Path, seed: int) -> None:
    with_gold = read_problems(folder / "allarith.jsonl").problems
    mixed = pl.concat(
        [with_gold, read_problems(folder / "ew10k.jsonl").problems.with_columns(id="e" + pl.col("id"))]
    )
    rows = []
    for share in (0.0, 0.02, 0.05, 0.1, 0.2):
        shown = chosen_share(mixed, share, seed)
        for beam in ("true", "false"):
            keys = (
                f"train.seed={seed}",
                "train.epochs=4",
                "train.search=0",
                f"explore.beam_exploration={beam}",
            )
            name = f"{100 * share:.0f} % ({sum(shown)}), " + ("beam" if beam == "true" else "no beam")
            rows.append(run(name, mixed, *keys, gold=shown))
    title = f"WARM-S: gold equations of allarith.jsonl, with ew10k.jsonl, 4 epochs, no search, seed {seed}"
    print_table(title, rows, HEADERS)


def cost(folder: Path, seed: int) -> None:
    problems = read_problems(folder / "allarith.jsonl").problems
    rows = []
    for name, config in (("default", None), ("the paper's sizes", PAPER / "warm.yaml")):
        keys = (f"train.seed={seed}", "train.epochs=2")
        with tempfile.TemporaryDirectory() as out:
            trained = train(problems, load_config(WarmConfig, config, keys), Path(out))
        rows.append((f"allarith.jsonl, {name}", f"{min(h['seconds'] for h in trained.history):.1f}", ""))
    many = read_problems(folder / "math23k.jsonl").problems
    base = 0.0
    for count in (500, 1000, 5000, 20000):
        sample = many.sample(count, seed=seed)
        keys = (f"train.seed={seed}", "train.epochs=1", "train.search=0")
        with tempfile.TemporaryDirectory() as out:
            trained = train(sample, load_config(WarmConfig, None, keys), Path(out))
        seconds = trained.history[-1]["seconds"]
        base = base or seconds / count
        rows.append((f"math23k.jsonl, {count} problems", f"{seconds:.1f}", f"{seconds / count / base:.2f}×"))
    print_table("one epoch", rows, ("what", "seconds", "a problem, against 500"))
    print(
        f"largest memory of this process: {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6:.1f} GB"
    )


TABLES = {"allarith": allarith, "others": others, "ablation": ablation, "gold": gold, "cost": cost}


@click.command()
@click.option("--data", "folder", required=True, type=click.Path(path_type=Path, exists=True))
@click.option("--only", type=click.Choice(list(TABLES)), help="One table.")
@click.option("--seed", default=0, show_default=True)
@click.option("--threads", default=2, show_default=True)
def main(folder: Path, only: str | None, seed: int, threads: int) -> None:
    torch.set_num_threads(threads)
    for name, table in TABLES.items():
        if only in (None, name):
            table(folder, seed)


if __name__ == "__main__":
    main()

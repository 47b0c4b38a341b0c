"""What step one reaches, how often it is right, and what it costs, as tables.

    python bench/warm.py --data FOLDER                    every table, about forty minutes on two cores
    python bench/warm.py --data FOLDER --only allarith    one of them
    python bench/warm.py --data FOLDER --only annealing --seeds 3

FOLDER holds allarith.jsonl, ew10k.jsonl, hw10k.jsonl and math23k.jsonl in the native format (none comes with
warmkit). "reached" is the share of problems for which an equation was found that gives the answer, after
training on these answers; "gold" the share whose likeliest class is that of the gold equation.
"""

import resource
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import click
import polars as pl
import torch

from toolkit.cli.output import print_table
from toolkit.config import load_config
from toolkit.data import ProblemSet, read_problems
from toolkit.loop.generation import calibrate, candidates_of
from toolkit.methods import Epoch, FitInput, GenerateConfig, StepOne, find_method
from toolkit.methods.base import Origin, Untrained
from toolkit.methods.warm import Warm
from toolkit.methods.warm.config import WarmConfig
from toolkit.methods.warm.generate import generate

Row = tuple[str, ...]
HEADERS = ("what", "reached", "gold", "train s", "s/epoch", "s to 97.4 %", "generate /s")
PAPER = Path(__file__).parents[1] / "configs" / "paper"


def run(name: str, problems: ProblemSet, *overrides: str, seed: int) -> Row:
    """Train and generate on the same problems, from answers alone.

    Without beam exploration there is no beam in generation either: the likeliest path is followed.
    """
    settings = load_config(WarmConfig, None, overrides)
    start = time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        trained = Warm.fit(FitInput(problems, {}, settings, seed), Path(folder))
    seconds = time.perf_counter() - start
    start = time.perf_counter()
    beam = settings.explore.beam_exploration
    generated = generate(
        trained, problems, width=20 if beam else 1, lookahead=beam, searched=settings.train.search
    )
    speed = len(problems) / (time.perf_counter() - start)
    candidates = candidates_of(generated, problems, calibrate(generated, problems.gold_classes))
    return (
        name,
        percent(sum(bool(of.scored) for of in generated), len(problems)),
        percent(candidates.count_right(problems), sum(map(bool, problems.gold_classes))),
        f"{seconds:.0f}",
        f"{seconds / len(trained.history):.1f}",
        _seconds_until(trained.history, 0.974),
        f"{speed:.0f}",
    )


def _seconds_until(history: Sequence[Epoch], share: float) -> str:
    """How long it took until so many problems had a path to their answer in training."""
    seconds = 0.0
    for epoch in history:
        seconds += epoch.seconds
        if epoch.reached >= share:
            return f"{seconds:.0f}"
    return "–"


def percent(part: int, whole: int) -> str:
    return f"{100 * part / whole:.1f} %" if whole else "–"


def baseline(name: str, problems: ProblemSet, method: str, *overrides: str, seed: int) -> Row:
    """Another method, whose first equation of a problem counts."""
    chosen = find_method(method)
    data = FitInput(problems, {}, load_config(chosen.Config, None, overrides), seed)
    start = time.perf_counter()
    if issubclass(chosen, Untrained):  # to fit it would be to generate twice
        model: StepOne = chosen(data.config, Origin.of(data))
    else:
        model = chosen.fit(data)
    generated = model.candidates(problems, GenerateConfig(width=5))
    seconds = time.perf_counter() - start
    same = sum(
        bool(of.scored) and of.scored[0].klass in classes
        for of, classes in zip(generated, problems.gold_classes, strict=True)
    )
    return (
        name,
        percent(sum(bool(of.scored) for of in generated), len(generated)),
        percent(same, sum(map(bool, problems.gold_classes))),
        f"{seconds:.0f}",
        "",
        "",
        "",
    )


def allarith(folder: Path, seed: int) -> None:
    problems = read_problems(folder / "allarith.jsonl")
    no_beam = ("train.search=0", "explore.beam_exploration=false")
    rows = [
        run("WARM, default", problems, seed=seed),
        run("WARM, default, exploration alone (train.search=0)", problems, "train.search=0", seed=seed),
        run("  without beam exploration", problems, *no_beam, seed=seed),
        baseline("random sampling, k = 5, d = 40", problems, "random_sampling", seed=seed),
        baseline("seq2seq, 20 epochs", problems, "seq2seq", "epochs=20", seed=seed),
    ]
    print_table(f"allarith.jsonl, {len(problems)} problems, answers only, seed {seed}", rows, HEADERS)


def others(folder: Path, seed: int) -> None:
    rows = []
    for name in ("ew10k", "hw10k", "math23k"):
        problems = read_problems(folder / f"{name}.jsonl")
        if name == "math23k":
            problems = sample(problems, 2000, seed)
        rows.append(run(f"{name}, {len(problems)} problems", problems, "train.epochs=12", seed=seed))
    print_table(f"answers only, default, 12 epochs, seed {seed}", rows, HEADERS)


def ablation(folder: Path, seed: int) -> None:
    problems = read_problems(folder / "allarith.jsonl")
    without = (
        "train.search=0",
        "train.memory=0 train.search=0",
        "explore.lookahead=false train.search=0",
        "explore.extra_steps=0 train.search=0",
        "model.pointer=false",
        "model.pairs=0",
        "model.habits=false",
        "model.stop=false",
    )
    rows = [run("default", problems, "train.epochs=15", seed=seed)]
    rows += [run(keys, problems, "train.epochs=15", *keys.split(), seed=seed) for keys in without]
    print_table(f"allarith.jsonl, 15 epochs, seed {seed}: the default with other keys", rows, HEADERS)


def annealing(folder: Path, seed: int) -> None:
    """Math23K has more equations that give the answer by luck than AllArith."""
    rows = []
    for name in ("allarith", "math23k"):
        problems = sample(read_problems(folder / f"{name}.jsonl"), 2000, seed)
        for key in ("train.temperature=10", "train.temperature=1"):
            rows.append(run(f"{name}, {key}", problems, "train.epochs=12", key, seed=seed))
    print_table(f"{len(problems)} problems at most, 12 epochs, seed {seed}", rows, HEADERS)


def cost(folder: Path, seed: int) -> None:
    problems = read_problems(folder / "allarith.jsonl")
    rows = []
    for name, config in (("default", None), ("the paper's sizes", PAPER / "warm.yaml")):
        epochs = _epochs(problems, load_config(WarmConfig, config, ("train.epochs=2",)), seed)
        rows.append((f"allarith.jsonl, {name}", f"{min(epoch.seconds for epoch in epochs):.1f}", ""))
    many = read_problems(folder / "math23k.jsonl")
    base = 0.0
    for count in (500, 1000, 5000, 20000):
        some = sample(many, count, seed)
        once = load_config(WarmConfig, None, ("train.epochs=1", "train.search=0"))
        seconds = _epochs(some, once, seed)[-1].seconds
        a_problem = seconds / len(some)
        base = base or a_problem
        rows.append((f"math23k.jsonl, {len(some)} problems", f"{seconds:.1f}", f"{a_problem / base:.2f}×"))
    print_table("one epoch", rows, ("what", "seconds", "a problem, against 500"))
    print(
        f"largest memory of this process: {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6:.1f} GB"
    )


def _epochs(problems: ProblemSet, config: WarmConfig, seed: int) -> list[Epoch]:
    with tempfile.TemporaryDirectory() as out:
        return Warm.fit(FitInput(problems, {}, config, seed), Path(out)).history


def sample(problems: ProblemSet, count: int, seed: int) -> ProblemSet:
    rows = pl.int_range(len(problems), eager=True).sample(min(count, len(problems)), seed=seed)
    return problems.take(rows.to_list())


TABLES = {
    "allarith": allarith,
    "others": others,
    "ablation": ablation,
    "annealing": annealing,
    "cost": cost,
}


@click.command()
@click.option("--data", "folder", required=True, type=click.Path(path_type=Path, exists=True))
@click.option("--only", type=click.Choice(list(TABLES)), help="One table.")
@click.option("--seed", default=0, show_default=True)
@click.option("--seeds", default=1, show_default=True, help="Print each table for so many seeds.")
@click.option("--threads", default=2, show_default=True)
def main(folder: Path, only: str | None, seed: int, seeds: int, threads: int) -> None:
    torch.set_num_threads(threads)
    for name, table in TABLES.items():
        if only in (None, name):
            for each in range(seed, seed + seeds):
                table(folder, each)


if __name__ == "__main__":
    main()

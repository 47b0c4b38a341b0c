"""Two checkouts of warmkit compared by turns: CPU time of training a solver, of WARM, and of solving.

    git worktree add ../before 97f257a
    python bench/versions.py --before ../before --data FOLDER --only-now members=1 --only-now held_out=0

FOLDER holds allarith.jsonl and math23k.jsonl, of which 640 problems are learnt. Each figure is that of the
command line: the time of three epochs is that of a command with four less that of one with a single epoch. A
key that only this checkout has is given with --only-now.
"""

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from resource import RUSAGE_CHILDREN, getrusage
from tempfile import TemporaryDirectory

import click

from toolkit.cli.output import echo, print_table

HERE = Path(__file__).parents[1]
PROBLEMS, FEW = 640, 64
COMMON = ("--constants", "1,π", "--seed", "0")


@dataclass(frozen=True)
class Checkout:
    root: Path
    settings: tuple[str, ...]  # of solvers
    folder: Path  # for models

    def cpu_seconds(self, *words: object) -> float:
        """What a command takes."""
        command = [sys.executable, "-m", "toolkit.cli", *map(str, words)]
        environment = os.environ | {"PYTHONPATH": str(self.root.resolve()), "OMP_NUM_THREADS": "1"}
        before = getrusage(RUSAGE_CHILDREN)
        done = subprocess.run(command, cwd=self.folder, env=environment, capture_output=True, text=True)
        after = getrusage(RUSAGE_CHILDREN)
        if done.returncode:
            raise click.ClickException(f"{self.root}: {done.stderr[-1000:]}")
        return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime

    def training(self, key: str, *words: object) -> float:
        """Milliseconds a problem; `key` is that of the epochs. The model is the folder `long`."""
        with TemporaryDirectory(dir=self.folder) as short:
            once = self.cpu_seconds(*words, "--out", f"{short}/model", "--set", f"{key}=1")
        four = self.cpu_seconds(*words, "--out", self.folder / "long", "--set", f"{key}=4")
        return (four - once) / 3 / PROBLEMS * 1000

    def solver(self, data: Path, hidden: int) -> float:
        settings = [word for setting in self.settings for word in ("--set", setting)]
        words = ("solver", "fit", data, "--kind", "gts", *COMMON, "--set", f"hidden={hidden}", *settings)
        return self.training("epochs", *words)

    def solving(self, data: Path, hidden: int) -> float:
        self.solver(data, hidden)
        evaluate = ("evaluate", "--model", self.folder / "long")
        some = self.cpu_seconds(*evaluate, data.with_name(f"few-{data.name}"))
        return (self.cpu_seconds(*evaluate, data) - some) / (PROBLEMS - FEW) * 1000

    def warm(self, data: Path, *words: object) -> float:
        return self.training("train.epochs", "train", data, *COMMON, *words)


def first(path: Path, count: int, out: Path) -> Path:
    """A file of the first problems of another."""
    lines = path.read_text(encoding="utf-8").splitlines()[:count]
    out.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return out


def measured(data: Path, folder: Path) -> Iterator[tuple[str, Callable[[Checkout], float]]]:
    """What is compared, and how it is measured for a checkout, in milliseconds a problem."""
    for name in ("math23k", "allarith"):
        problems = first(data / f"{name}.jsonl", PROBLEMS, folder / f"{name}.jsonl")
        first(data / f"{name}.jsonl", FEW, folder / f"few-{name}.jsonl")
        for hidden in (128, 256):
            yield f"training, {name}, {hidden} units", lambda of, p=problems, h=hidden: of.solver(p, h)
        yield f"solving, {name}, 128 units", lambda of, p=problems: of.solving(p, 128)
    learnt = folder / "allarith.jsonl"
    yield "training, WARM, allarith", lambda of: of.warm(learnt)
    yield (
        "training, WARM of the paper's sizes, allarith",
        lambda of: of.warm(learnt, "--config", of.root.resolve() / "configs" / "paper" / "warm.yaml"),
    )


@click.command(help=__doc__, context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--before", required=True, type=click.Path(path_type=Path, exists=True))
@click.option("--data", required=True, type=click.Path(path_type=Path, exists=True))
@click.option("--only-now", multiple=True, metavar="KEY=VALUE", help="A key of solvers.")
@click.option("--turns", default=1, show_default=True, help="The least time of so many counts.")
def main(before: Path, data: Path, only_now: tuple[str, ...], turns: int) -> None:
    rows = []
    with TemporaryDirectory() as temporary:
        for name, measure in measured(data, Path(temporary)):
            times: dict[Path, list[float]] = {before: [], HERE: []}
            for _ in range(turns):
                for root, settings in ((before, ()), (HERE, only_now)):
                    with TemporaryDirectory(dir=temporary) as folder:
                        times[root].append(measure(Checkout(root, settings, Path(folder))))
            then, now = min(times[before]), min(times[HERE])
            rows.append((name, f"{then:.2f}", f"{now:.2f}", f"{then / now:.1f}×"))
            echo(" ".join(rows[-1]), err=True)
    print_table("CPU milliseconds a problem", rows, ("what", "before", "now", "as fast"))


if __name__ == "__main__":
    main()

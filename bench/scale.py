"""What 10⁴, 10⁵ and 10⁶ problems cost: memory, speed, checkpoints. Growth, not absolute figures.

    python bench/scale.py --sizes 10000,100000 --out scale.json         all steps
    python bench/scale.py --sizes 10000,100000,1000000 --steps data     the commands on data alone
    python bench/scale.py --sizes 10000,1000000 --steps shard,solver    what a rank holds, in minutes

Problems of `warmkit data generate`, a small model, two Ray workers of this machine. Every step is the command
that a user gives, in a process of its own. Its peak of memory is what the kernel says of it and of the
workers that it starts (VmHWM: pages that are shared count in each).

    data     `data generate`, `data check --no-search`, `data split`: rows a second, peak of memory
    train    `train` on a folder of parts: problems a second prepared and trained; seconds to the first batch
             without the preparation (Python and Ray start, shards are read), of an epoch besides its batches
             (it is saved and stored), and after the last; peak of the driver and of a worker, size of a
             checkpoint
    generate `generate` to a folder of parts: problems a second, peak of the driver and of a worker
    shard    what one of two ranks holds: its shard of 8,192 prepared problems that are repeated until there
             are enough, and 60 batches of training, without Ray; problems a second of a core, which are those
             of the same model whatever the size; seconds to read it, to save its memory
    solver   the same for a solver: lessons of 8,192 problems with up to five candidates each; and what the
             process takes that sorts as many candidates, which come in an order of their own
"""

import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import click
import polars as pl

from toolkit.cli.output import echo, print_table
from toolkit.config import load_config
from toolkit.data import ProblemSet, preparing, read_problems, write_table
from toolkit.data.prepared import PreparedSet, description, known_share, write_prepared_table
from toolkit.data.schema import CANDIDATES
from toolkit.equations import DEFAULT_CONSTANTS, search, show
from toolkit.methods.warm.config import WarmConfig
from toolkit.methods.warm.prepare import prepare
from toolkit.solvers.neural.prepare import prepare_lessons
from toolkit.solvers.published import Gts
from toolkit.storage.description import write_description

SMALL = ("model.hidden=32", "model.embedding=32", "model.max_steps=4", "train.search=1", "train.epochs=2")
WORKER = b"ray::"  # of the names of Ray's workers, training or not
POLL = 0.2  # seconds
MB = 1_000_000


@dataclass
class Step:
    """What a command took and said."""

    command: str
    problems: int
    seconds: float
    cpu_seconds: float  # of the process itself, not of workers
    driver_mb: float
    worker_mb: float  # the largest worker, 0 without any
    told_at: list[float] = field(default_factory=list)  # seconds until each epoch was told
    figures: dict[str, Any] = field(default_factory=dict)


def peaks(process: int) -> Iterator[tuple[bool, float]]:
    """For a process and its descendants: whether it is a worker of Ray, and its peak of memory in MB."""
    with suppress(OSError):
        name = Path(f"/proc/{process}/cmdline").read_bytes()
        for line in Path(f"/proc/{process}/status").read_text().splitlines():
            if line.startswith("VmHWM:"):
                yield name.startswith(WORKER), int(line.split()[1]) * 1024 / MB
        for thread in Path(f"/proc/{process}/task").glob("*/children"):
            for child in thread.read_text().split():
                yield from peaks(int(child))


def run(problems: int, *arguments: object) -> Step:
    """A command of warmkit, with `--json`."""
    words = [*map(str, arguments), "--json"]
    name = " ".join(words[: 2 if words[0] in ("data", "runs") else 1])
    return measured_process(name, problems, [sys.executable, "-m", "toolkit.cli", *words])


def measured_process(name: str, problems: int, command: Sequence[str]) -> Step:
    """What a process takes that prints JSON."""
    begun, driver, worker = time.perf_counter(), 0.0, 0.0
    told_at: list[float] = []
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    with tempfile.TemporaryFile("w+") as said, tempfile.TemporaryFile("w+") as errors:
        process = subprocess.Popen(command, stdout=said, stderr=errors)
        while process.poll() is None:
            for i, (is_worker, peak) in enumerate(peaks(process.pid)):
                driver, worker = max(driver, 0 if i else peak), max(worker, peak if is_worker else 0)
            epochs = os.pread(errors.fileno(), MB, 0).count(b"problems/s\n")
            told_at += [time.perf_counter() - begun] * (epochs - len(told_at))
            time.sleep(POLL)
        seconds, after = time.perf_counter() - begun, resource.getrusage(resource.RUSAGE_CHILDREN)
        cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        said.seek(0)
        errors.seek(0)
        if process.returncode:
            raise click.ClickException(f"{name}: {errors.read()[-2000:]}")
        figures = json.loads(said.read())
    return Step(name, problems, seconds, cpu, driver, worker, told_at, figures)


def data_steps(size: int, folder: Path) -> Iterator[Step]:
    made = folder / "parts" / "problems.parquet"
    yield run(size, "data", "generate", "--count", size, "--seed", 1, "--out", made)
    yield run(size, "data", "check", folder / "parts", "--no-search")
    yield run(size, "data", "split", folder / "parts", "--out", folder / "split.parquet")


def train_step(size: int, folder: Path, workers: int) -> Step:
    settings = [word for setting in SMALL for word in ("--set", setting)]
    out = folder / "model"
    step = run(
        size, "train", folder / "parts", "--out", out, "--workers", workers, "--constants", "1,π", *settings
    )
    epochs = json.loads((out / "model.json").read_text())["history"]
    each = [epoch["seconds"] for epoch in epochs]
    first, last = step.told_at[0], step.told_at[-1]
    stored = (last - first - sum(each[1:])) / (len(each) - 1)
    prepared = step.figures["preparation_seconds"]
    checkpoint = [*out.glob("memory-*.safetensors"), out / "training.safetensors"]
    step.figures = {
        "prepared_per_second": size / prepared,
        "trained_per_second": size * len(epochs) / sum(each),
        "to_the_first_batch": first - stored - each[0] - prepared,
        "to_store_an_epoch": stored,
        "after_the_last": step.seconds - last,
        "checkpoint_mb": sum(path.stat().st_size for path in checkpoint) / MB,
        "reached": epochs[-1]["reached"],
    }
    return step


def generate_step(size: int, folder: Path, workers: int) -> Step:
    given = ("--model", folder / "model", folder / "parts", "--width", 4)
    step = run(size, "generate", *given, "--out", folder / "candidates", "--workers", workers)
    found = step.figures
    step.figures = {"generated_per_second": size / found["seconds"], "reached": found["reached"] / size}
    return step


def shard_steps(sizes: Sequence[int]) -> Iterator[Step]:
    """What one of two ranks holds, at the default sizes of a model but for its width."""
    settings = ("model.hidden=32", "model.embedding=32")
    with tempfile.TemporaryDirectory() as temporary:
        made, config = Path(temporary) / "problems.parquet", load_config(WarmConfig, None, settings)
        run(8_192, "data", "generate", "--count", 8_192, "--seed", 1, "--out", made)
        begun, core = time.perf_counter(), time.process_time()
        ready = prepare(made, Path(temporary) / "prepared", DEFAULT_CONSTANTS, config)
        seconds, core = time.perf_counter() - begun, time.process_time() - core
        stored = sum(path.stat().st_size for path in ready.folder.iterdir())
        figures = {"prepared_per_core_second": len(ready) / core, "bytes_a_problem": stored / len(ready)}
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / MB
        yield Step("prepare", len(ready), seconds, core, peak, 0.0, figures=figures)
        for size in sizes:
            yield measured_rank("shard", ready.folder, size, *settings)


def measured_rank(name: str, *arguments: object) -> Step:
    """What a script of bench/ranks takes."""
    script = Path(__file__).parent / "ranks" / f"{name}.py"
    begun, command = time.perf_counter(), [sys.executable, str(script), *map(str, arguments)]
    figures = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    peak, core = figures.pop("peak_mb"), sum(figures[each] for each in figures if each.endswith("_seconds"))
    return Step(name, figures.pop("problems"), time.perf_counter() - begun, core, peak, 0.0, figures=figures)


def solver_steps(sizes: Sequence[int]) -> Iterator[Step]:
    """What one of two ranks of a solver holds, at the default sizes of a solver but for its width."""
    settings = ("hidden=32", "embedding=32")
    with tempfile.TemporaryDirectory() as temporary:
        made, root = Path(temporary) / "problems.parquet", Path(temporary) / "prepared"
        run(8_192, "data", "generate", "--count", 8_192, "--seed", 1, "--out", made)
        ready = preparing.prepare(made, preparing.Preparation(root, DEFAULT_CONSTANTS))
        found = searched(read_problems(made))
        write_table(found, Path(temporary) / "candidates.parquet")
        begun, core = time.perf_counter(), time.process_time()
        config = load_config(Gts.Config, None, settings)
        lessons = prepare_lessons(
            Gts, ready, known_share(ready, 0.0), Path(temporary) / "candidates.parquet", config, root=root
        )
        seconds, core = time.perf_counter() - begun, time.process_time() - core
        stored = sum(path.stat().st_size for path in lessons.folder.iterdir())
        figures = {
            "candidates_a_problem": len(found) / len(ready),
            "made_per_core_second": len(ready) / core,
            "bytes_a_problem": stored / len(ready),
        }
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / MB
        yield Step("lessons", len(ready), seconds, core, peak, 0.0, figures=figures)
        for size in sizes:
            yield measured_rank("solver", lessons.folder, lessons.data, size, *settings)
        for size in sizes:
            with tempfile.TemporaryDirectory(dir=temporary) as folder:
                times = max(1, round(size / len(ready)))
                problems, candidates = repeated(ready, found, times, Path(folder))
                yield measured_rank("sort", problems, candidates)


def searched(problems: ProblemSet) -> pl.DataFrame:
    """Up to five candidates of each problem."""
    reached = search(problems.numbers, problems.answers, 3, problems.constants, reuse=1)
    rows = [
        (name, show(one.template), show(one.template), one.klass, -1.0, 1 / (place + 2), 1, "search")
        for name, candidates in zip(problems.ids, reached, strict=True)
        for place, one in enumerate(candidates[:5])
    ]
    return pl.DataFrame(rows, CANDIDATES, orient="row")


def repeated(ready: PreparedSet, found: pl.DataFrame, times: int, folder: Path) -> tuple[Path, Path]:
    """The same problems so often, with new ids, and their candidates, of the last problems first."""
    parts, candidates = [], folder / "candidates"
    candidates.mkdir()
    for number in range(times):
        suffix = pl.lit(f"-{number}")
        for part in ready.frames():
            table = part.with_columns(pl.col("id") + suffix)
            parts.append(write_prepared_table(table, folder / f"part-{len(parts):06d}.parquet"))
        table = found.with_columns(pl.col("problem_id") + suffix)
        table.write_parquet(candidates / f"part-{times - number:06d}.parquet")
    words = write_prepared_table(pl.read_parquet(ready.folder / ready.words.name), folder / ready.words.name)
    described = description(ready.digest, [show(each) for each in ready.constants], words, parts, 0)
    write_description(folder / "prepared.json", described)
    return folder, candidates


@click.command()
@click.option("--sizes", default="10000,100000", show_default=True, help="Problems, separated by commas.")
@click.option("--steps", default="data,train,generate,shard,solver", show_default=True)
@click.option("--workers", default=2, show_default=True)
@click.option("--out", type=click.Path(path_type=Path), help="A JSON file of all figures.")
def main(sizes: str, steps: str, workers: int, out: Path | None) -> None:
    """Measure growth: the figures of each size, and those of the largest as a ratio to the smallest."""
    measured: list[Step] = []
    of_ranks = {"shard": shard_steps, "solver": solver_steps}
    for name in (name for name in of_ranks if name in steps.split(",")):
        for step in of_ranks[name]([int(size) for size in sizes.split(",")]):
            measured.append(step)
            show_step(step)
    for size in map(int, sizes.split(",") if set(steps.split(",")) - set(of_ranks) else ()):
        with tempfile.TemporaryDirectory() as temporary:
            folder = Path(temporary)
            done = data_steps(size, folder)
            if "data" not in steps:
                done = iter([next(done)])
            for step in done:
                measured.append(step)
                show_step(step)
            if "train" in steps:
                measured.append(train_step(size, folder, workers))
                show_step(measured[-1])
            if "generate" in steps and "train" in steps:
                measured.append(generate_step(size, folder, workers))
                show_step(measured[-1])
    if out is not None:
        out.write_text(json.dumps([asdict(step) for step in measured], indent=1))
    growth(measured)


def show_step(step: Step) -> None:
    figures = {name: value for name, value in step.figures.items() if isinstance(value, float)}
    shown = ", ".join(f"{name} {value:.3g}" for name, value in figures.items())
    memory = f"driver {step.driver_mb:.0f} MB, worker {step.worker_mb:.0f} MB"
    times = f"{step.seconds:.1f} s ({step.cpu_seconds:.1f} s of a core)"
    echo(f"{step.command}, {step.problems:,}: {times}, {memory}{', ' if shown else ''}{shown}")


def growth(measured: Sequence[Step]) -> None:
    """The largest size as a ratio to the smallest, for each command."""
    rows = []
    for command in dict.fromkeys(step.command for step in measured):
        of_command = [step for step in measured if step.command == command]
        first, last = of_command[0], of_command[-1]
        rows.append(
            (
                command,
                f"{last.problems / first.problems:.0f}",
                f"{last.driver_mb / first.driver_mb:.2f}",
                f"{last.worker_mb / first.worker_mb:.2f}" if first.worker_mb else "–",
                f"{last.cpu_seconds / first.cpu_seconds:.1f}",
            )
        )
    print_table("growth", rows, ("command", "problems", "driver", "worker", "core seconds"))


if __name__ == "__main__":
    main()

"""How many labels a strategy saves: labels(random) / labels(strategy) to a goal, with bootstrap intervals.

    python bench/active.py --data FOLDER                                   all sets, batches of 10 and 40
    python bench/active.py --data FOLDER --start MODELS                    from models of many answers
    python bench/active.py --data FOLDER --batch 10 --budget 30            as far as half an hour goes
    python bench/active.py --data FOLDER --batch 10 --budget 30 --resume   half an hour more
    python bench/active.py --data FOLDER --error 0 --error 0.05 --error 0.1 --successor lbf --workers 8
    python bench/active.py --data FOLDER --strategy margin --strategy "margin active.random_share=0"
    python bench/active.py --data FOLDER --strategy margin --strategy perfect

`perfect` asks only about problems whose equation is wrong, by their gold equations: it tells how much any
strategy can find. FOLDER holds allarith.jsonl and math23k.jsonl in the native format (none comes with
warmkit). Sets:

    allarith   AllArith
    numbers    Math23K's problems with three numbers or more
    parts      Math23K's problems with percentages or fractions

MODELS holds allarith and math23k, which learnt the answers of the whole files: what somebody has who asks
about some problems of many (`warmkit train FOLDER/math23k.jsonl --out MODELS/math23k --constants 1,π`).
Without them, the first model of a piece is a small one that learnt the answers of its sample alone.

A piece is a strategy on a sample: a loop that asks an oracle in rounds. Gold equations are seen only where it
was asked. Measured is the share of the pool whose equation (annotated, or the likeliest found) is of the gold
class, and the same of problems that are never asked. A seed draws the sample and all else; all strategies
share it, and begin with the same model. Random runs until everything is annotated; goals are shares of what
it comes to. Each piece is saved in OUT when it is done; OUT/labels.html and OUT/labels.md are the results.
"""

import shlex
import sys
import time
from pathlib import Path

import click

from toolkit.active.acquire import find_strategy
from toolkit.cli.hints import with_hint
from toolkit.cli.output import echo, json_option, print_json, print_table, waiting
from toolkit.cli.parameters import WORKERS, FiniteRange, address_option
from toolkit.cli.pieces import executing, measuring
from toolkit.cluster.session import ClusterSpec
from toolkit.errors import WarmkitError
from toolkit.labels.figures import Compared
from toolkit.labels.markdown import ratio_text
from toolkit.labels.pieces import PERFECT, SETTINGS, STARTED, Curve, Files, Protocol
from toolkit.labels.plan import Plan, results_of
from toolkit.labels.sets import SUBSETS, load_sets
from toolkit.labels.write import PAGE, as_dict, write_labels
from toolkit.methods import METHODS
from toolkit.pieces.run import measuring_in, run

HELP = __doc__.replace("\n\n    ", "\n\n\b\n    ")  # what is indented stays in lines


@click.command(help=HELP, context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--data", required=True, type=click.Path(path_type=Path, exists=True, file_okay=False))
@click.option(
    "--only", type=click.Choice(list(SUBSETS)), multiple=True, help="Only this set; may be repeated."
)
@click.option("--strategy", "strategies", multiple=True, default=("margin",), show_default=True)
@click.option(
    "--batch", "batches", multiple=True, type=click.IntRange(1, 1_000), default=(10, 40), show_default=True
)
@click.option(
    "--error", "errors", multiple=True, type=FiniteRange(0, 1), default=(0.0,), help="Of the oracle."
)
@click.option("--seeds", type=click.IntRange(1, 1_000), default=10, show_default=True)
@click.option(
    "--asked", type=click.IntRange(10, 100_000), default=Protocol.asked, show_default=True, help="The pool."
)
@click.option(
    "--start",
    type=click.Path(path_type=Path, exists=True, file_okay=False),
    help="Folder of the models to begin with: allarith and math23k.",
)
@click.option("--others", type=click.IntRange(0, 100_000), default=Protocol.others, show_default=True)
@click.option(
    "--successor",
    type=click.Choice(list(METHODS)),
    help="Another method, which learns the labels chosen for warm, and warm those chosen for it.",
)
@click.option("--budget", type=FiniteRange(0, 1e9), metavar="MINUTES", help="Begin no piece after this time.")
@click.option("--out", type=click.Path(path_type=Path), default=Path("runs/labels"), show_default=True)
@click.option("--resume", is_flag=True, help="Go on in a folder that has pieces; none is measured again.")
@click.option("--workers", type=WORKERS, help="Measure this many pieces at once, on Ray.")
@address_option
@json_option
def main(
    data: Path,
    only: tuple[str, ...],
    strategies: tuple[str, ...],
    batches: tuple[int, ...],
    errors: tuple[float, ...],
    seeds: int,
    asked: int,
    start: Path | None,
    others: int,
    successor: str | None,
    budget: float | None,
    out: Path,
    resume: bool,
    workers: int | None,
    address: str | None,
    as_json: bool,
) -> None:
    begun, interrupted = time.perf_counter(), False
    spec = ClusterSpec(workers or 1, address=address) if workers or address else None
    try:
        for strategy in strategies:
            if strategy != PERFECT:
                find_strategy((strategy.split() or [""])[0])
        with waiting(f"Reading {data}"):
            sets = load_sets(only or tuple(SUBSETS), data, start)
        protocol = Protocol(asked, others, settings=SETTINGS if start is None else STARTED)
        plan = Plan(sets, protocol, strategies, batches, errors, seeds, successor)
        with measuring_in(out, "pieces", resume):
            files = Files(out)
            results = results_of(plan, files)
            done = sum(curve.is_done for curve in results.values())
            if done < len(plan.order) and budget != 0:
                try:
                    measure(plan, files, results, done, spec, None if budget is None else 60 * budget)
                except KeyboardInterrupt:
                    interrupted = True
            written = write_labels(plan, files, command())
    except WarmkitError as error:
        raise click.ClickException(with_hint(error)) from None
    if as_json:
        print_json({"out": str(out), **as_dict(written), "seconds": time.perf_counter() - begun})
    else:
        show(written.rows)
        counts = written.counts
        echo(f"{counts['measured']} pieces measured, {counts['failed']} failed, {counts['left']} not run.")
        echo(f"Page in {out / PAGE} ({time.perf_counter() - begun:.0f} s)")
    if interrupted:
        sys.exit(130)


def measure(
    plan: Plan,
    files: Files,
    results: dict[str, Curve],
    done: int,
    spec: ClusterSpec | None,
    seconds: float | None,
) -> None:
    import torch

    from toolkit.compute import LocalCompute
    from toolkit.labels.measure import PieceWorker

    torch.set_num_threads(1)
    there = Files(files.folder.absolute())
    worker = PieceWorker(plan.sets, plan.protocol, there, LocalCompute(torch.device("cpu")))
    with (
        executing(worker, there.folder, spec) as executor,
        measuring("piece", len(plan.order), done, told) as watch,
    ):
        run(plan, results, executor, seconds=seconds, on_begin=watch.begin, on_end=watch.end)


def told(curve: Curve) -> str:
    if not curve.is_done:
        return f"failed: {curve.error}"
    right = " ".join(f"{100 * point.pool:.0f}" for point in curve.points)
    return f"{right} ({curve.seconds:.0f} s)"


def show(rows: list[Compared]) -> None:
    shown = [
        (
            row.set,
            row.strategy,
            str(row.batch),
            f"{100 * row.error:g} %",
            f"{100 * ratio.goal:g} %",
            ratio_text(ratio),
        )
        for row in rows
        for ratio in row.labels
    ]
    if shown:
        print_table(
            "labels: random / strategy", shown, ("set", "strategy", "batch", "errors", "goal", "labels")
        )


def command() -> str:
    """The command, without what only says how far it goes."""
    words, kept = iter(sys.argv[1:]), []
    for word in words:
        if word in ("--budget", "--workers", "--address", "--out"):
            next(words, None)
        elif word not in ("--resume", "--json"):
            kept.append(word)
    return shlex.join(["python", "bench/active.py", *kept])


if __name__ == "__main__":
    main()

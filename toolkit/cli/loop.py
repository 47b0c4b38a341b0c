"""`warmkit loop`: rounds of training and asking, and what they come to."""

import sys
import time
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import click

from toolkit.cli.live import LiveView
from toolkit.cli.output import json_option, note, print_json, print_table, waiting
from toolkit.cli.parameters import device_option, runs_option, set_option, workers_options
from toolkit.cli.runs import figures_of
from toolkit.cluster.session import Where
from toolkit.config import load_config
from toolkit.errors import WarmkitError


@click.command(
    epilog="""\b
Examples:
  warmkit loop bundled:en --rounds 3 --batch 20
  warmkit loop mine.jsonl --test test.jsonl --annotator terminal --run mine
  warmkit loop mine.jsonl --annotator label-studio --run mine
  warmkit loop --run mine --resume
  warmkit loop --config configs/demo.yaml --set warm.beam_width=8 --json
  warmkit loop mine.jsonl --workers 2 --dashboard
  warmkit loop --run mine --rewind 3
  warmkit loop --run mine --revoke problem-17"""
)
@click.argument("data", required=False)
@click.option("--test", metavar="DATA", help="What the solver is measured on. [default: DATA's test split]")
@click.option("--run", "name", help="The name of the run. [default: the next free run-N]")
@click.option(
    "--annotator",
    type=click.Choice(["oracle", "terminal", "file", "label-studio"]),
    help="Who is asked: the data set's own equations, you, whoever fills in a CSV file, or people in Label "
    "Studio (see warmkit annotate).",
)
@click.option("--strategy", help="How problems are chosen, for instance margin, hybrid, random.")
@click.option("--rounds", type=click.IntRange(min=1), help="Ask so many times.")
@click.option("--batch", type=click.IntRange(min=1), help="Ask about so many problems a round.")
@click.option("--budget", type=click.IntRange(min=0), help="Ask about so many problems in all.")
@click.option("--seed", type=int, help="The same seed gives the same run.")
@click.option("--config", "config_file", type=click.Path(path_type=Path), help="A YAML file (see configs/).")
@set_option
@click.option("--webhook", is_flag=True, help="Let a Label Studio on this machine wake the loop early.")
@click.option("--resume", is_flag=True, help="Go on with a run that was stopped.")
@click.option("--rewind", type=click.IntRange(min=1), metavar="ROUND", help="Undo this round and all later.")
@click.option("--revoke", metavar="ID", help="Take back what annotators said of a problem.")
@runs_option
@workers_options
@device_option
@json_option
def loop(
    data: str | None,
    test: str | None,
    name: str | None,
    annotator: str | None,
    strategy: str | None,
    rounds: int | None,
    batch: int | None,
    budget: int | None,
    seed: int | None,
    config_file: Path | None,
    overrides: tuple[str, ...],
    webhook: bool,
    resume: bool,
    rewind: int | None,
    revoke: str | None,
    runs: Path,
    where: Where | None,
    storage: str | None,
    device: str,
    as_json: bool,
) -> None:
    """Learn the equations of DATA in rounds, asking annotators about the problems that are least sure.

    Everything is kept in the folder runs/NAME; report.html there shows what the run came to. A run that
    was stopped, or killed, goes on with --resume.
    """
    if (resume or rewind or revoke) and name is None:
        raise click.UsageError("Say which run: --run NAME.")
    given: dict[str, Any] = {
        "data": data,
        "test": test,
        "annotator.name": annotator,
        "active.strategy": strategy,
        "stop.rounds": rounds,
        "active.batch": batch,
        "stop.budget": budget,
        "seed": seed,
    }
    if budget is not None and rounds is None:
        given["stop.rounds"] = "null"  # a budget alone is not cut short by the usual number of rounds
    settings = [f"{key}={value}" for key, value in given.items() if value is not None] + [*overrides]
    with waiting("Loading torch"):
        from toolkit.active.acquire import find_strategy
        from toolkit.compute import computing
        from toolkit.loop.config import LoopConfig
        from toolkit.loop.loop import Loop
        from toolkit.loop.outcome import write_outcome
        from toolkit.loop.people import annotator_of, check_annotator, woken
        from toolkit.loop.run import create_run, locked, open_run
        from toolkit.warm.device import pick_device

    if name is not None and (resume or rewind or revoke):
        own = runs / name / "config.yaml"
        changed = config_file is not None or bool(settings)
        base = config_file or (own if own.exists() else None)
        run = open_run(runs, name, load_config(LoopConfig, base, settings) if changed else None)
    else:
        config = load_config(LoopConfig, config_file, settings)
        find_strategy(config.active.strategy)
        check_annotator(config)
        with waiting(f"Reading {config.data}"):
            run = create_run(runs, name, config)
    with locked(run):
        if rewind:
            run.rewind(rewind)
            click.echo(f"{run.folder}: undone from round {rewind} on. Go on with --run {run.name} --resume")
            return
        if revoke:
            if not run.ledger.revoke(revoke):
                raise WarmkitError(f"{run.folder}: annotators said nothing of a problem {revoke}.")
            click.echo(f"{run.folder}: what was said of {revoke} counts no more from the next round on.")
            return
        talks, on = run.config.annotator.name == "terminal", pick_device(device)
        people = annotator_of(run)
        with (
            computing(where, on, storage, note) as compute,
            woken(people) if webhook else nullcontext(time.sleep) as sleep,
            LiveView(f"run {run.name}", run.config.stop.rounds, talks) as view,
        ):
            stop = Loop(run, people, view, compute, on, sleep).go()
        outcome = write_outcome(run)
    if as_json:
        print_json(outcome)
    else:
        _print(outcome, stop.sentence)
    if stop.rule == "interrupt":
        sys.exit(130)


def _print(outcome: dict[str, Any], why: str) -> None:
    rows = [*figures_of(outcome), ("seconds", f"{outcome['seconds']:.0f}")]
    print_table(f"run {outcome['run']}", rows)
    click.echo(f"{why}\nReport in {outcome['report']}")

"""`warmkit loop`: rounds of training and asking, and their results."""

import sys
import time
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import click

from toolkit.cli.annotate.listen import listen_of, listen_options
from toolkit.cli.live import LiveView
from toolkit.cli.output import echo, json_option, note, print_json, print_table, progress, waiting
from toolkit.cli.parameters import COUNT, SEED, device_option, runs_option, set_option, workers_options
from toolkit.cli.runs import figures_of
from toolkit.cluster.session import ClusterSpec
from toolkit.config import load_config
from toolkit.data.stored import MOST_HELD
from toolkit.errors import WarmkitError
from toolkit.loop.annotators import ANNOTATORS, annotator_of, check_annotator, webhook_sleep
from toolkit.loop.config import PYTHON, LoopConfig
from toolkit.loop.run import create_run, locked, open_run
from toolkit.loop.sets import problem_count
from toolkit.methods import METHODS


@click.command(
    epilog="""\b
Examples:
  warmkit loop bundled:en --rounds 3 --batch 20
  warmkit loop mine.jsonl --test test.jsonl --annotator terminal --run mine
  warmkit loop mine.jsonl --annotator label-studio --run mine
  warmkit loop mine.jsonl --annotator label-studio --project 17 --run mine
  warmkit loop mine.jsonl --annotator llm,file --set llm.url=http://127.0.0.1:8080/v1
  warmkit loop --run mine --resume
  warmkit loop --config configs/demo.yaml --set warm.beam_width=8 --json
  warmkit loop mine.jsonl --workers 2 --dashboard
  warmkit loop parts/ --test test.jsonl --workers 2 --set solver_limit=20000
  warmkit loop --run mine --rewind 3
  warmkit loop --run mine --revoke problem-17"""
)
@click.argument("data", required=False)
@click.option("--test", metavar="DATA", help="What the solver is measured on. [default: DATA's test split]")
@click.option("--run", "name", help="The name of the run. [default: the next free run-N]")
@click.option(
    "--annotator",
    metavar="NAME",
    callback=lambda _, __, names: names and _annotators(names),
    help="Who is asked: oracle (the data set's own equations), terminal (you), file (whoever fills in a CSV "
    "file), label-studio (see warmkit annotate), llm (a language model); or llm and who gets the rest: "
    "llm,label-studio.",
)
@click.option("--project", type=COUNT, metavar="ID", help="Join this project of Label Studio.")
@click.option("--method", type=click.Choice(list(METHODS)), help="The method of step one. [default: warm]")
@click.option("--strategy", help="How problems are chosen, for instance margin, hybrid, random.")
@click.option("--rounds", type=COUNT, help="Ask in this many rounds.")
@click.option("--batch", type=COUNT, help="Ask about this many problems per round.")
@click.option("--budget", type=click.IntRange(0, COUNT.max), help="Ask about this many problems in all.")
@click.option("--seed", type=SEED, help="The same seed gives the same run.")
@click.option("--config", "config_file", type=click.Path(path_type=Path), help="A YAML file (see configs/).")
@set_option
@click.option("--webhook", is_flag=True, help="Let Label Studio wake the loop early.")
@listen_options
@click.option("--resume", is_flag=True, help="Go on with a run that was stopped.")
@click.option("--rewind", type=COUNT, metavar="ROUND", help="Undo this and all later rounds.")
@click.option("--revoke", metavar="ID", help="Revoke all responses to a problem.")
@runs_option
@workers_options
@device_option
@json_option
def loop(
    data: str | None,
    test: str | None,
    name: str | None,
    annotator: str | None,
    project: int | None,
    method: str | None,
    strategy: str | None,
    rounds: int | None,
    batch: int | None,
    budget: int | None,
    seed: int | None,
    config_file: Path | None,
    overrides: tuple[str, ...],
    webhook: bool,
    host: str,
    public_url: str | None,
    resume: bool,
    rewind: int | None,
    revoke: str | None,
    runs: Path,
    spec: ClusterSpec | None,
    storage: str | None,
    device: str,
    as_json: bool,
) -> None:
    """Learn the equations of DATA in rounds, asking annotators about the least certain problems.

    Everything is kept in the folder runs/NAME; its report.html shows the results. A run that was stopped,
    or killed, goes on with --resume.

    DATA may be a folder or a pattern of Parquet and JSON Lines parts. Of more than 32,768 problems, WARM and
    solvers are trained on prepared parts, and no process holds all problems.
    """
    if (resume or rewind or revoke) and name is None:
        raise click.UsageError("Name the run: --run NAME.")
    given: dict[str, Any] = {
        "data": data,
        "test": test,
        "annotator.name": annotator,
        "annotator.project": project,
        "method": method,
        "active.strategy": strategy,
        "stop.rounds": rounds,
        "active.batch": batch,
        "stop.budget": budget,
        "seed": seed,
    }
    if budget is not None and rounds is None:
        given["stop.rounds"] = "null"  # a budget alone is not limited by the default number of rounds
    settings = [f"{key}={value}" for key, value in given.items() if value is not None] + [*overrides]
    with waiting("Loading torch"):
        from toolkit.compute import computing
        from toolkit.loop.loop import Loop
        from toolkit.loop.results import write_results
        from toolkit.nn.device import pick_device

    if name is not None and (resume or rewind or revoke):
        run = open_run(runs, name)
        if config_file is not None or settings:
            run.ledger.close()
            base = config_file or run.folder / "config.yaml"
            run = open_run(runs, name, load_config(LoopConfig, base, settings))
    else:
        config = load_config(LoopConfig, config_file, settings)
        check_annotator(config)
        with waiting(f"Counting {config.data}"):
            count = problem_count(config)
        if count > MOST_HELD:
            with progress(f"Reading {config.data}", count) as advance:
                run = create_run(runs, name, config, advance=advance, count=count)
        else:
            with waiting(f"Reading {config.data}"):
                run = create_run(runs, name, config, count=count)
        if (choice := run.constant_choice) is not None:
            note(choice.sentence())
    with locked(run):
        if rewind:
            run.rewind(rewind)
            echo(f"{run.folder}: undone from round {rewind} on. Go on with --run {run.name} --resume")
            return
        if revoke:
            if not run.ledger.revoke(revoke):
                raise WarmkitError(f"{run.folder}: there is no response to a problem {revoke}.")
            echo(f"{run.folder}: responses to {revoke} do not count from the next round on.")
            return
        on_terminal, run_annotator = "terminal" in run.config.annotator.names, annotator_of(run)
        asks_people = run.config.annotator.asks_people
        with (
            computing(spec, pick_device(device), storage, note) as compute,
            webhook_sleep(run_annotator, listen_of(host, public_url))
            if webhook
            else nullcontext(time.sleep) as sleep,
            LiveView(f"run {run.name}", run.config.stop.rounds, on_terminal, asks_people) as view,
        ):
            running = Loop(run, run_annotator, view=view, compute=compute, sleep=sleep)
            stop = running.rounds()
        outcome = write_results(running.state)
    if as_json:
        print_json(outcome)
    else:
        _print(outcome, stop.sentence)
    if stop.rule == "interrupt":
        sys.exit(130)


def _annotators(names: str) -> str:
    known = [name for name in ANNOTATORS if name != PYTHON]
    for name in names.split(","):
        if name not in known:
            raise click.BadParameter(f"{name!r} is none of {', '.join(known)}.")
    return names


def _print(outcome: dict[str, Any], reason: str) -> None:
    rows = [*figures_of(outcome), ("seconds", f"{outcome['seconds']:.0f}")]
    print_table(f"run {outcome['run']}", rows)
    if outcome["stopped_by"] == "interrupt":
        reason += " Go on with --resume."
    echo(f"{reason}\nReport in {outcome['report']}")

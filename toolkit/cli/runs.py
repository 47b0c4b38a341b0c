"""`warmkit runs`: list runs, show and compare their results, repair and delete them."""

import shlex
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any

import click

from toolkit.cli.hints import with_hint
from toolkit.cli.output import echo, json_option, percent, print_json, print_table, setting
from toolkit.cli.parameters import runs_option
from toolkit.config import changed_keys, known_keys
from toolkit.errors import WarmkitError
from toolkit.loop.config import LoopConfig
from toolkit.loop.repair import repair_run
from toolkit.loop.run import Run, delete_run, open_run, run_names
from toolkit.loop.summary import activity, right_answers, solver_gain, stage_seconds, summary
from toolkit.report.values import NOTHING, gain, percents
from toolkit.screen import Screen, harmless
from toolkit.statistics import Difference

POOL = ("labels", "known", "reached", "gold_equivalent", "confidence", "random_error")
COUNTS = ("labels", "known")
HEADERS = (
    *("run", "data", "annotator", "strategy", "rounds", "labels", "reached", "gold", "solver"),
    *("ended by", "seconds"),
)
WIDE = 120  # characters of a screen; on a narrower one, data, annotator and strategy go below the name
NEARLY = 0.95  # of the best accuracy of a run: from here on it counts as nearly the best


@click.group()
def runs() -> None:
    """Runs of the loop: list, show, compare, repair and delete them."""


@runs.command(
    "list",
    epilog="""\b
Examples:
  warmkit runs list
  warmkit runs list --runs elsewhere --json""",
)
@runs_option
@json_option
def list_(runs: Path, as_json: bool) -> None:
    """List the runs of a folder, the newest first."""
    names = sorted(run_names(runs), key=lambda name: _changed(runs / name), reverse=True)
    found = [_entry_or_damage(runs, name) for name in names]
    if as_json:
        print_json({"runs": found})
        return
    if not found:
        echo(f"There are no runs in {runs} yet. Begin one: warmkit loop bundled:en --rounds 3")
        return
    screen = Screen()
    if screen.is_terminal and screen.width < WIDE:
        rows = [_narrow(_row(entry)) for entry in found]
        print_table("", rows, (HEADERS[0], *HEADERS[4:]))
    else:
        print_table("", [_row(entry) for entry in found], HEADERS)
    for entry in found:
        if entry["state"] == "damaged":
            echo(f"warning: {entry['problem']}", err=True)


@runs.command(
    epilog="""\b
Examples:
  warmkit runs show run-1
  warmkit runs show run-1 --json"""
)
@click.argument("name")
@runs_option
@json_option
def show(name: str, runs: Path, as_json: bool) -> None:
    """Show the results of the run NAME, round by round."""
    with _opened(runs, name) as run:
        entry, rounds, seconds = _entry(run), _rounds(run), stage_seconds(run)
        end = run.ledger.fact("end") or {}
        has_report = run.report.exists()
    if as_json:
        print_json({**entry, "by_round": rounds, "stage_seconds": seconds})
        return
    labels = ("data", "annotator", "strategy")
    print_table(f"run {name}", [(label, entry[label]) for label in labels] + _figures(entry))
    if rounds:
        headers = ("round", "labels", "known", "reached", "gold", "confidence", "random error", "solver")
        print_table("\nby round", [_round_row(figures) for figures in rounds], headers)
    if seconds:
        print_table("\nseconds by stage", [(stage, f"{spent:.1f}") for stage, spent in seconds.items()])
    echo("")
    if entry["state"] == "running":
        echo("It is being worked on.")
    elif entry["state"] == "stopped":
        echo(f"It was stopped. Go on: {_resume(runs, name)}")
    else:
        echo(end["sentence"])
    echo(f"Report in {entry['report']}" if has_report else "There is no report yet.")


@runs.command(
    epilog="""\b
Examples:
  warmkit runs compare hybrid random
  warmkit runs compare run-1 run-2 run-3 --json"""
)
@click.argument("names", nargs=-1, required=True, metavar="NAME NAME...")
@runs_option
@json_option
def compare(names: tuple[str, ...], runs: Path, as_json: bool) -> None:
    """Compare runs side by side: how their settings differ, and their results."""
    names = tuple(dict.fromkeys(names))
    if len(names) < 2:
        raise click.UsageError("Name at least two runs.")
    configs, entries, answers = [], [], []
    for name in names:
        with _opened(runs, name) as run:
            configs.append(run.config)
            answers.append(right_answers(run))
            entry = {**_entry(run), "labels_to_nearly_best": _soon(_rounds(run))}
            entry["gain"] = solver_gain(answers[0], answers[-1]) if len(answers) > 1 else None
            entries.append(entry)
    differences = _differences(configs)
    if as_json:
        values = {key: dict(zip(names, row, strict=True)) for key, row in differences.items()}
        shown = [entry | {"gain": entry["gain"] and asdict(entry["gain"])} for entry in entries]
        print_json({"runs": shown, "configuration": values})
        return
    if differences:
        rows = [(key, *(setting(value) for value in row)) for key, row in differences.items()]
        print_table("settings that differ", rows, ("", *names))
        echo("")
    else:
        echo("Their settings are the same.\n")
    columns = [[*_figures(entry), _soon_row(entry), _gain_row(entry, names[0])] for entry in entries]
    figures = [
        (cells[0][0], *(value for _, value in cells))
        for cells in zip(*columns, strict=True)  # a row of the table is one figure of every run
    ]
    print_table("results", figures, ("", *names))


@runs.command(
    epilog="""\b
Examples:
  warmkit runs repair run-1
  warmkit runs repair run-1 --json"""
)
@click.argument("name")
@runs_option
@json_option
def repair(name: str, runs: Path, as_json: bool) -> None:
    """Save what can be read of the run NAME if its state is damaged.

    All responses of annotators that can be read are kept. Stages that are lost are done again by
    `warmkit loop --resume`. The damaged file stays in the folder of the run.
    """
    done = repair_run(runs, name)
    if as_json:
        again = [{"round": round_, "stage": stage} for round_, stage in done.again]
        aside = None if done.aside is None else str(done.aside)
        print_json(
            {"run": name, "saved": done.saved, "lost": done.lost, "again": again, "damaged_file": aside}
        )
        return
    if done.aside is None:
        echo(f"{done.folder}: its state is whole. Nothing was changed.")
        return
    rows = [(table, f"{done.saved[table]:,}", f"{done.lost[table]:,}") for table in done.saved]
    print_table(f"run {name}", rows, ("", "saved", "lost"))
    if done.again:
        round_, stage = done.again[0]
        echo(f"From {stage} in round {round_} on, stages are done again: {_resume(runs, name)}")
    echo(f"The damaged file is {done.aside}")


@runs.command(
    epilog="""\b
Examples:
  warmkit runs delete run-1
  warmkit runs delete run-1 run-2 --yes"""
)
@click.argument("names", nargs=-1, required=True, metavar="NAME...")
@click.option("--yes", is_flag=True, help="Don't ask.")
@runs_option
@json_option
def delete(names: tuple[str, ...], yes: bool, runs: Path, as_json: bool) -> None:
    """Delete runs, with all annotations and models in them."""
    names = tuple(dict.fromkeys(names))
    hindrances = [sentence for name in names if (sentence := _hindrance(runs, name)) is not None]
    if hindrances:
        raise WarmkitError("\n".join([*hindrances, "Nothing was deleted."]))
    if not yes:
        question = f"Delete {', '.join(names)} with all annotations and models?"
        click.confirm(harmless(question), abort=True, err=True)
    for name in names:
        try:
            delete_run(runs, name)
        except OSError as error:
            raise WarmkitError(f"{runs / name}: it can't be deleted: {error}.") from None
    if as_json:
        print_json({"deleted": list(names)})
    else:
        echo(f"Deleted {', '.join(names)}.")


@contextmanager
def _opened(root: Path, name: str) -> Iterator[Run]:
    """A run to read from. A damaged file becomes a `WarmkitError`, whenever it is noticed."""
    try:
        run = open_run(root, name)
        try:
            yield run
        finally:
            run.ledger.close()
    except (OSError, sqlite3.Error, ValueError) as error:
        raise WarmkitError(f"{root / name}: the run can't be read: {error}.") from None


def _changed(folder: Path) -> float:
    """When the state of a run last changed. Its newest rows may still be in the journal beside it."""
    times = [0.0]
    for name in ("state.sqlite", "state.sqlite-wal"):
        try:
            times.append((folder / name).stat().st_mtime)
        except OSError:
            continue
    return max(times)


def _entry(run: Run) -> dict[str, Any]:
    return {
        **summary(run),
        "data": run.config.data,
        "annotator": run.config.annotator.name,
        "strategy": run.config.active.strategy,
        "state": activity(run),
        "problem": None,
    }


def _entry_or_damage(root: Path, name: str) -> dict[str, Any]:
    try:
        with _opened(root, name) as run:
            return _entry(run)
    except WarmkitError as error:
        return {"run": name, "state": "damaged", "problem": with_hint(error)}


def _hindrance(root: Path, name: str) -> str | None:
    """Why a run can't be deleted."""
    try:
        with _opened(root, name) as run:
            is_running = activity(run) == "running"
    except WarmkitError as error:
        damaged = name in run_names(root)
        return (
            f"{error}\nA damaged run is deleted by hand, as the folder {root / name}."
            if damaged
            else str(error)
        )
    return f"{root / name}: the run is being worked on. Wait, or stop it." if is_running else None


def _rounds(run: Run) -> list[dict[str, Any]]:
    """The figures of each round, None for those that a round does not have."""
    values = {(round_, split, name): value for round_, split, name, value in run.ledger.metrics()}
    rounds = []
    for round_ in sorted({round_ for round_, _, _ in values}):
        figures: dict[str, Any] = {name: values.get((round_, "pool", name)) for name in POOL}
        for name in COUNTS:
            figures[name] = None if figures[name] is None else int(figures[name])
        accuracy = values.get((round_, "test", "answer_accuracy"))
        rounds.append({"round": round_, **figures, "answer_accuracy": accuracy})
    return rounds


def _soon(rounds: Sequence[dict[str, Any]]) -> int | None:
    """The number of labels at which the solver first came near its best accuracy."""
    measured = [
        (figures["labels"], figures["answer_accuracy"]) for figures in rounds if figures["answer_accuracy"]
    ]
    best = max((accuracy for _, accuracy in measured), default=0.0)
    return next((labels for labels, accuracy in measured if accuracy >= NEARLY * best), None)


def _differences(configs: Sequence[LoopConfig]) -> dict[str, list[Any]]:
    """The keys that are not the same in all configurations, in the order of a file: the value in each."""
    first, *others = configs
    changes = [changed_keys(first, config) for config in others]
    differences = {}
    for key in known_keys(LoopConfig):
        before = next((changed[key][0] for changed in changes if key in changed), None)
        if any(key in changed for changed in changes):
            values = [changed[key][1] if key in changed else before for changed in changes]
            differences[key] = [before, *values]
    return differences


def _ended_by(entry: dict[str, Any]) -> str:
    return str(entry["stopped_by"] if entry["state"] == "ended" else entry["state"])


def _row(entry: dict[str, Any]) -> tuple[str, ...]:
    """A row of the list, below HEADERS."""
    if entry["state"] == "damaged":
        return (entry["run"], *[""] * (len(HEADERS) - 3), "damaged", "")
    return (
        *(entry[name] for name in ("run", "data", "annotator", "strategy")),
        f"{entry['rounds']}",
        f"{entry['labels']:,}",
        *(percent(entry[name]) for name in ("reached", "gold_equivalent", "answer_accuracy")),
        _ended_by(entry),
        f"{entry['seconds']:.0f}",
    )


def _narrow(row: tuple[str, ...]) -> tuple[str, ...]:
    name, data, annotator, strategy, *figures = row
    return (f"{name}\n{data}, {annotator}, {strategy}" if data else name, *figures)


def figures_of(entry: dict[str, Any]) -> list[tuple[str, str]]:
    """The results of a run, as rows of a table."""
    return [
        ("rounds of asking", f"{entry['rounds']}"),
        ("labels used", f"{entry['labels']:,}"),
        ("answers reached", percent(entry["reached"])),
        ("equations of the gold class", percent(entry["gold_equivalent"])),
        ("solver, answers on the test problems", percent(entry["answer_accuracy"])),
        ("  95 % interval", percents(*ends) if (ends := entry["answer_interval"]) else NOTHING),
    ]


def _figures(entry: dict[str, Any]) -> list[tuple[str, str]]:
    return [
        *figures_of(entry),
        ("ended by", _ended_by(entry)),
        ("seconds", f"{entry['seconds']:.0f}"),
    ]


def _gain_row(entry: dict[str, Any], first: str) -> tuple[str, str]:
    """How much better its solver is than that of the first run, on the same test problems."""
    found: Difference | None = entry["gain"]
    chance = ", within chance" if found is not None and found.is_chance else ""
    return f"solver against {first}, points", "–" if found is None else f"{gain(found)}{chance}"


def _soon_row(entry: dict[str, Any]) -> tuple[str, str]:
    labels = entry["labels_to_nearly_best"]
    return f"labels to {100 * NEARLY:.0f} % of its best solver", "–" if labels is None else f"{labels:,}"


def _round_row(figures: dict[str, Any]) -> tuple[str, ...]:
    counts = ("–" if figures[name] is None else f"{figures[name]:,}" for name in COUNTS)
    shares = ("reached", "gold_equivalent", "confidence", "random_error", "answer_accuracy")
    return (f"{figures['round']}", *counts, *(percent(figures[name]) for name in shares))


def _resume(root: Path, name: str) -> str:
    """The command that resumes a run."""
    elsewhere = "" if root == Path("runs") else f" --runs {shlex.quote(str(root))}"
    return f"warmkit loop --run {shlex.quote(name)}{elsewhere} --resume"

"""`warmkit annotate push`."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from toolkit.cli.annotate.target import DEFAULT, Target, opened, target_options, warn
from toolkit.cli.output import echo, json_option, print_json, progress, waiting
from toolkit.cli.parameters import COUNT, DiskPath, auto_constants_option, skip_bad_option
from toolkit.equations import Constant, show
from toolkit.errors import WarmkitError

if TYPE_CHECKING:
    from toolkit.annotators.questions import Question
    from toolkit.data import Candidates, ProblemSet


@click.command(
    epilog="""\b
Examples:
  warmkit annotate push mine.jsonl --candidates candidates.parquet
  warmkit annotate push mine.jsonl --title "Grade 5" --store grade-5 --dry-run
  warmkit annotate push mine.jsonl --project 17
  warmkit annotate push --run mine"""
)
@click.argument("data", required=False)
@click.option("--candidates", type=DiskPath(), help="The file that `warmkit generate` wrote.")
@click.option("--title", help="The title of a new project. [default: warmkit]")
@click.option("--project", type=COUNT, metavar="ID", help="Join this project instead of making one.")
@click.option("--round", "round_", default=1, show_default=True, type=COUNT, help="Ask in this round.")
@click.option("--dry-run", is_flag=True, help="Only show what would be sent.")
@target_options
@auto_constants_option
@skip_bad_option
@json_option
def push(
    data: str | None,
    candidates: Path | None,
    title: str | None,
    project: int | None,
    round_: int,
    dry_run: bool,
    folder: Path | None,
    run_name: str | None,
    runs: Path,
    constants: tuple[Constant, ...] | None,
    skip_bad: bool,
    as_json: bool,
) -> None:
    """Send each problem of DATA once to a Label Studio project; with --run, the open questions of that run.

    Pushing the same problems again sends only the new ones. Problems whose answer was rejected are asked
    again, with the reason.
    """
    if (data is None) == (run_name is None):
        raise click.UsageError("Give a problem set to push, or --run NAME.")
    problems, table = _read(data, candidates, skip_bad, constants) if data else (None, None)
    path = folder or DEFAULT
    if dry_run and problems is not None and not _store_exists(path):
        _print_dry_run(len(problems), 0, path, as_json)
        return
    with opened(folder, run_name, runs, new=True) as target:
        if problems is None:
            asked = _open_questions(target)
        else:
            from annotation.summary import questions_of

            asked = questions_of(problems, table, round_, target.store)
        if dry_run:
            from annotation.push import missing_keys

            missing = len(missing_keys(target.store, asked))
            _print_dry_run(missing, len(asked) - missing, target.store.folder, as_json)
            return
        title = title or (f"warmkit {run_name}" if run_name else "warmkit")
        used = target.constants if problems is None else problems.constants
        _push(target, asked, title, project, used, as_json)


def _store_exists(path: Path) -> bool:
    from annotation.store import TaskStore

    return TaskStore.exists(path)


def _push(
    target: Target,
    asked: "list[Question]",
    title: str,
    project: int | None,
    constants: tuple[Constant, ...],
    as_json: bool,
) -> None:
    from annotation.client import Client
    from annotation.keys import find_connection
    from annotation.project import ensure_project
    from annotation.push import push as send

    with Client(find_connection()) as client:
        langs = [question.lang for question in asked]
        found = ensure_project(client, target.store, title, join=project, langs=langs)
        warn(found.warnings)
        with target.store.transaction():
            target.store.set_fact("constants", [show(constant) for constant in constants])
        with progress("tasks", len(asked)) as advance:
            done = send(client, target.store, asked, advance)
    warn(done.warnings)
    if as_json:
        print_json(
            {"project": found.id, "url": found.url, "sent": done.sent, "already_sent": done.already_sent}
        )
        return
    already = f"; {done.already_sent:,} were sent before" if done.already_sent else ""
    echo(f"{done.sent:,} tasks sent{already}. Annotate in {found.url}")


def _read(
    data: str, candidates: Path | None, skip_bad: bool, constants: tuple[Constant, ...] | None
) -> "tuple[ProblemSet, Candidates | None]":
    from toolkit.data import read_candidates, read_problems
    from toolkit.data.constants import with_constants_of

    problems = read_problems(data, skip_bad=skip_bad)
    if not len(problems):
        raise WarmkitError(f"{data}: there are no problems to ask about.")
    table = read_candidates(candidates, problems) if candidates else None
    if constants is None:
        return with_constants_of(problems, table.templates if table else ()), table
    return problems.with_constants(constants), table


def _open_questions(target: Target) -> "list[Question]":
    """The questions of a run's last round that are not settled."""
    with waiting("Loading torch"):
        from toolkit.loop.state import RunState

    assert target.run is not None
    asked = target.run.ledger.batch()
    last = max((item.round for item in asked), default=0)
    return RunState(target.run).questions([item for item in asked if item.round == last])


def _print_dry_run(missing: int, already_sent: int, folder: Path, as_json: bool) -> None:
    if as_json:
        print_json({"would_send": missing, "already_sent": already_sent, "store": str(folder)})
    else:
        echo(f"{missing:,} tasks would be sent; {already_sent:,} were sent before, according to {folder}.")

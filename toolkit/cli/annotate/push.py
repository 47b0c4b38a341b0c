"""`warmkit annotate push`."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from toolkit.cli.annotate.place import DEFAULT, Place, opened, place_options, warn
from toolkit.cli.output import json_option, print_json, progress, waiting
from toolkit.cli.parameters import constants_option, skip_bad_option
from toolkit.equations import Constant, show
from toolkit.errors import WarmkitError

if TYPE_CHECKING:
    import polars as pl

    from toolkit.loop.annotator import Question


@click.command(
    epilog="""\b
Examples:
  warmkit annotate push mine.jsonl --candidates candidates.parquet
  warmkit annotate push mine.jsonl --project "Grade 5" --book grade-5 --dry-run
  warmkit annotate push --run mine"""
)
@click.argument("data", required=False)
@click.option("--candidates", type=click.Path(path_type=Path), help="What `warmkit generate` wrote.")
@click.option(
    "--project", metavar="TITLE", help="The title of the project, when it is made. [default: warmkit]"
)
@click.option(
    "--round", "round_", default=1, show_default=True, type=click.IntRange(min=1), help="Ask in this round."
)
@click.option("--dry-run", is_flag=True, help="Only say what would be sent.")
@place_options
@constants_option
@skip_bad_option
@json_option
def push(
    data: str | None,
    candidates: Path | None,
    project: str | None,
    round_: int,
    dry_run: bool,
    folder: Path | None,
    run_name: str | None,
    runs: Path,
    constants: tuple[Constant, ...],
    skip_bad: bool,
    as_json: bool,
) -> None:
    """Send the problems of DATA to a Label Studio project, each once; with --run, what that run waits for.

    Pushing the same problems again sends only what is new, and asks again, with the reason, where an answer
    was rejected.
    """
    if (data is None) == (run_name is None):
        raise click.UsageError("Give a problem set to push, or --run NAME.")
    problems, table = _read(data, candidates, skip_bad) if data else (None, None)
    book = folder or DEFAULT
    if dry_run and problems is not None and not (book / "book.sqlite").exists():
        _tell_dry(len(problems), 0, book, as_json)
        return
    with opened(folder, run_name, runs, new=True) as place:
        if problems is None:
            asked = _waited_for(place)
        else:
            from annotation.outcome import questions_of

            asked = questions_of(problems, table, round_, place.book, constants)
        if dry_run:
            from annotation.push import missing_keys

            missing = len(missing_keys(place.book, asked))
            _tell_dry(missing, len(asked) - missing, place.book.folder, as_json)
            return
        _push(place, asked, project or (f"warmkit {run_name}" if run_name else "warmkit"), constants, as_json)


def _push(
    place: Place, asked: "list[Question]", title: str, constants: tuple[Constant, ...], as_json: bool
) -> None:
    with waiting("Loading the SDK"):
        from annotation.client import Client
        from annotation.keys import find_connection
        from annotation.project import ensure_project
        from annotation.push import push as send

    with Client(find_connection()) as client:
        found = ensure_project(client, place.book, title)
        warn(found.warnings)
        with place.book.transaction():
            place.book.set_fact("constants", [show(constant) for constant in constants])
        with progress("tasks", len(asked)) as advance:
            done = send(client, place.book, asked, advance)
    warn(done.warnings)
    if as_json:
        print_json({"project": found.id, "url": found.url, "sent": done.sent, "there": done.there})
        return
    already = f"; {done.there:,} were there already" if done.there else ""
    click.echo(f"{done.sent:,} tasks sent{already}. Annotate in {found.url}")


def _read(data: str, candidates: Path | None, skip_bad: bool) -> "tuple[pl.DataFrame, pl.DataFrame | None]":
    from toolkit.data.read import read_candidates, read_problems

    problems = read_problems(data, skip_bad=skip_bad).problems
    if not len(problems):
        raise WarmkitError(f"{data}: there are no problems to ask about.")
    return problems, read_candidates(candidates, problems) if candidates else None


def _waited_for(place: Place) -> "list[Question]":
    """What the last round of a run asks that nobody has settled."""
    with waiting("Loading torch"):
        from toolkit.loop.knowledge import Knowledge

    assert place.run is not None
    asked = place.run.ledger.asked()
    last = max((one.round for one in asked), default=0)
    return Knowledge(place.run).questions([one for one in asked if one.round == last])


def _tell_dry(missing: int, there: int, folder: Path, as_json: bool) -> None:
    if as_json:
        print_json({"would_send": missing, "there": there, "book": str(folder)})
    else:
        click.echo(f"{missing:,} tasks would be sent; {there:,} were sent before, as {folder} says.")

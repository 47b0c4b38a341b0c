"""`warmkit export`: gold and generated equations for other programs."""

from pathlib import Path

import click

from toolkit.cli.annotations import annotated
from toolkit.cli.output import echo, json_option, print_json, waiting
from toolkit.cli.parameters import (
    DiskPath,
    FiniteRange,
    annotations_option,
    auto_constants_option,
    skip_bad_option,
)
from toolkit.data import read_candidates, read_problems, write_table
from toolkit.data.constants import with_constants_of
from toolkit.data.write import WRITERS
from toolkit.equations import Constant
from toolkit.errors import WarmkitError

FILE = DiskPath()


@click.command(
    epilog="""\b
Examples:
  warmkit export mine.jsonl --candidates candidates.parquet --out equations.csv
  warmkit export mine.jsonl --candidates candidates.parquet --gold --threshold 0.9 --hub dataset/mine
  warmkit export mine.jsonl --annotations label-studio/annotations.parquet --chat conversations
  warmkit export mine.jsonl --candidates candidates.parquet --mwptoolkit dataset/mwptoolkit"""
)
@click.argument("data")
@click.option("--out", type=FILE, metavar="FILE", help="A table: .parquet, .jsonl or .csv.")
@click.option("--hub", type=FILE, metavar="FOLDER", help="A data set of Hugging Face: Parquet and its card.")
@click.option("--chat", type=FILE, metavar="FOLDER", help="Conversations in JSON Lines, for fine-tuning.")
@click.option("--mwptoolkit", type=FILE, metavar="FOLDER", help="The three files that MWPToolkit reads.")
@click.option("--candidates", type=DiskPath(), help="What `warmkit generate` wrote.")
@annotations_option
@click.option(
    "--gold",
    is_flag=True,
    help="Use the gold equations of DATA too. [default: only without --candidates and --annotations]",
)
@click.option(
    "--threshold",
    default=0.0,
    show_default=True,
    type=FiniteRange(0, 1),
    help="Leave out equations with a lower posterior.",
)
@auto_constants_option
@skip_bad_option
@json_option
def export(
    data: str,
    out: Path | None,
    hub: Path | None,
    chat: Path | None,
    mwptoolkit: Path | None,
    candidates: Path | None,
    annotations: Path | None,
    gold: bool,
    threshold: float,
    constants: tuple[Constant, ...] | None,
    skip_bad: bool,
    as_json: bool,
) -> None:
    """Write each problem of DATA with one equation: that of annotators, gold, or the likeliest generated one.

    Give one of --out, --hub, --chat and --mwptoolkit. Tables have the columns of a problem set, and template,
    posterior and origin; warmkit can read them back. Folders have files by split.
    """
    from toolkit.data.chat import write_chat
    from toolkit.data.export import with_equations, write_mwptoolkit
    from toolkit.data.hub import write_hub

    targets = [target for target in (out, hub, chat, mwptoolkit) if target is not None]
    if len(targets) != 1:
        raise click.UsageError("Give one of --out, --hub, --chat and --mwptoolkit.")
    if out and out.suffix.lower() not in WRITERS:
        raise click.UsageError(f"{out}: the name must end in {', '.join(WRITERS)}.")
    with waiting(f"Reading {data}"):
        problems = read_problems(data, skip_bad=skip_bad)
        table = read_candidates(candidates, problems) if candidates else None
        use_gold = gold or (table is None and annotations is None)
        if constants is not None:
            problems = problems.with_constants(constants)
        agreed = annotated(annotations, problems, more_constants=constants is None)
        if constants is None:
            templates = [*(table.templates if table else ()), *agreed.values()]
            problems = with_constants_of(problems, templates, use_gold)
        known = problems.gold_templates if use_gold else {}
        equations = with_equations(problems, table, known, threshold, agreed)
    if not len(equations):
        raise WarmkitError(
            "No problem has an equation: give --candidates or --annotations, or allow --gold equations."
        )
    files = None
    if out:
        write_table(equations, out)
    elif hub:
        files = write_hub(equations, hub, len(problems), threshold)
    elif chat:
        files = write_chat(equations, problems, chat)
    elif mwptoolkit:
        files = write_mwptoolkit(equations, problems, mwptoolkit)
    unverified = len(equations) - sum(files.values()) if files else 0
    from_gold, from_annotators = (int((equations["origin"] == name).sum()) for name in ("gold", "annotator"))
    if as_json:
        print_json(
            {
                "out": str(targets[0]),
                "problems": len(problems),
                "equations": len(equations),
                "gold": from_gold,
                "annotated": from_annotators,
                "unverified": unverified,
                "files": files,
            }
        )
        return
    annotators = f", {from_annotators:,} by annotators" if annotations else ""
    echo(
        f"{len(equations):,} of {len(problems):,} problems have an equation, "
        f"{from_gold:,} of them gold{annotators}. Written to {targets[0]}"
    )
    if unverified:
        echo(f"{unverified:,} equations do not give the answer and were left out.", err=True)

"""`warmkit data import`."""

from pathlib import Path

import click
import polars as pl

from toolkit.cli.annotations import with_annotations
from toolkit.cli.output import echo, json_option, print_json, waiting
from toolkit.cli.parameters import annotations_option, lang_option, out_option, skip_bad_option
from toolkit.data import ProblemSet
from toolkit.data.read import is_fold_file, read_problems, with_folds
from toolkit.data.schema import list_bad
from toolkit.data.skipped import bad_rows_beside, skipping
from toolkit.data.write import write_table
from toolkit.errors import WarmkitError


@click.command(
    "import",
    epilog="""\b
Examples:
  warmkit data import math_23k.json --out math23k.parquet
  warmkit data import gsm8k/train.jsonl --out gsm8k.parquet
  warmkit data import questions.json fold0.txt fold1.txt --out allarith.parquet
  warmkit data import mine.csv --text question --answer gold --out mine.jsonl
  warmkit data import mine.jsonl --annotations label-studio/annotations.parquet --out annotated.jsonl""",
)
@click.argument("files", nargs=-1, required=True, metavar="FILE...")
@out_option
@skip_bad_option
@click.option("--id", "id_column", metavar="COLUMN", help="The file's column of ids.")
@click.option("--text", metavar="COLUMN", help="The file's column of texts.")
@click.option("--answer", metavar="COLUMN", help="The file's column of answers.")
@click.option("--equation", metavar="COLUMN", help="The file's column of equations.")
@click.option("--split", "split_column", metavar="COLUMN", help="The file's column of splits.")
@annotations_option
@lang_option
@json_option
def import_command(
    files: tuple[str, ...],
    out: Path,
    skip_bad: bool,
    id_column: str | None,
    text: str | None,
    answer: str | None,
    equation: str | None,
    split_column: str | None,
    annotations: Path | None,
    lang: str | None,
    as_json: bool,
) -> None:
    """Read problem FILEs in any known format and write them as one problems table.

    With --skip-bad the rows that can't be used go to OUT.bad-rows.jsonl.

    Files that list ids, one per line, are folds (AllArith): they set the split of the problems they name.
    With --annotations, what annotators agree on replaces the equations of the files.
    """
    named = {"id": id_column, "text": text, "answer": answer, "equation": equation, "split": split_column}
    columns = {ours: theirs for ours, theirs in named.items() if theirs}
    fold_files = [file for file in files if is_fold_file(file)]
    sets: list[ProblemSet] = []
    for file in (file for file in files if file not in fold_files):
        with waiting(f"Reading {file}"):
            sets.append(read_problems(file, skip_bad=skip_bad, columns=columns, lang=lang))
    if not sets:
        raise click.UsageError("These files are all lists of ids: give a problem file too.")
    problems = pl.concat([read.table for read in sets])
    if repeated := problems.filter(pl.col("id").is_duplicated())["id"].unique(maintain_order=True).to_list():
        raise WarmkitError(
            f"Several files have the same ids, such as {', '.join(repeated[:5])}. Import them separately."
        )
    problems, unknown = with_folds(problems, fold_files)
    bad = [row for read in sets for row in read.bad]
    left_out = [row for read in sets for row in read.left_out]
    if not len(problems):
        raise WarmkitError(f"No problem could be used.\n{list_bad(bad)}")
    problems, count = with_annotations(problems, annotations)
    write_table(problems, out)
    with skipping(bad_rows_beside(out)) as skipped:
        skipped.add(bad)
    formats = sorted({read.format for read in sets})
    if as_json:
        facts = {"problems": len(problems), "annotated": count, "bad": len(bad)}
        print_json({**facts, "equations_left_out": len(left_out), "formats": formats, "out": str(out)})
        return
    echo(f"{len(problems):,} problems ({', '.join(formats)}) written to {out}")
    if annotations:
        echo(f"{count:,} have the equation of annotators.")
    if unknown:
        echo(f"{unknown} ids of the fold files belong to no problem.", err=True)
    if left_out:
        share = f"{len(left_out):,} of {len(problems):,} problems"
        echo(f"{share} are kept without their equation:\n{list_bad(left_out)}", err=True)
    if bad:
        echo(f"{len(bad):,} rows were left out:\n{skipped}", err=True)

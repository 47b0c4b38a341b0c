"""How fast and how good the ground floor is, as one table.

    python bench/equations.py --data FOLDER

FOLDER holds allarith.jsonl and math23k.jsonl in the native format (neither comes with warmkit). Without
it the bundled English problems are measured. Everything runs on one core (thread pools are set to one).
The baseline of the search figure is a search of the same depth in plain Python, one problem at a time,
on a sample in the same run.
"""

import os

for pool in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "POLARS_MAX_THREADS"):
    os.environ.setdefault(pool, "1")

import time
from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import combinations
from pathlib import Path

import click

from toolkit.cli.output import print_table, share
from toolkit.data import ProblemSet, mask, read_problems
from toolkit.data.check import summarise
from toolkit.equations import (
    EquationError,
    Expr,
    bind,
    count_operators,
    evaluate,
    klasses,
    matches,
    parse,
    search,
)
from toolkit.equations.search import patterns


def timed(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def plain_search(numbers: Sequence[Fraction], answer: float) -> int:
    """The baseline: every pattern over every choice of numbers and 1, one after another in Python."""
    leaves = [*numbers, Fraction(1)]
    found = 0
    for m in range(1, 5):
        trees = [tree for tree in patterns(m).trees if count_operators(tree) == m - 1]
        for choice in combinations(leaves, m):
            for tree in trees:
                try:
                    found += matches(evaluate(tree, choice), answer)
                except EquationError:
                    continue
    return found


def measure_search(name: str, problems: ProblemSet) -> list[tuple[str, ...]]:
    numbers, answers = problems.numbers, problems.answers
    seconds = timed(lambda: search(numbers, answers, 3))
    sample = slice(0, 10)
    plain = timed(lambda: [plain_search(n, a) for n, a in zip(numbers[sample], answers[sample], strict=True)])
    speed = len(problems) / seconds
    ratio = speed / (len(numbers[sample]) / plain)
    summary = summarise(problems, 3)
    reached, found = summary.reached or 0, summary.gold_in_candidates or 0
    return [
        (f"{name}: search, k = 3, {{1, π}}", f"{speed:,.0f} problems/s", f"{ratio:,.0f}× plain Python"),
        (f"{name}: answer reached", share(reached, len(problems)), f"{reached:,} of {len(problems):,}"),
        (f"{name}: gold among candidates", share(found, summary.with_equation), f"{found:,}"),
    ]


def measure_equations(name: str, problems: ProblemSet) -> list[tuple[str, ...]]:
    with_equation = problems.take(problems.table["equation"].is_not_null().arg_true().to_list())
    written = with_equation.table["equation"].to_list()
    trees: list[Expr] = []
    parsing = timed(lambda: trees.extend(parse(equation) for equation in written))
    templates: list[Expr] = []
    for tree, values in zip(trees, with_equation.numbers, strict=True):
        try:
            templates.append(bind(tree, values)[0])
        except EquationError:
            continue
    fingerprints = timed(lambda: klasses(templates))
    return [
        (f"{name}: parsing", f"{len(written) / parsing:,.0f} equations/s", f"{len(written):,} equations"),
        (
            f"{name}: classes, in batch",
            f"{len(templates) / fingerprints:,.0f} templates/s",
            f"{len(templates):,}",
        ),
    ]


def measure_import(name: str, path: str) -> list[tuple[str, ...]]:
    problems = read_problems(path)
    reading = timed(lambda: read_problems(path))
    texts = problems.table.select("text", "lang")
    masking = timed(lambda: [mask(text, lang) for text, lang in texts.iter_rows()])
    summary = summarise(problems, k=None)
    doubtful = len(summary.doubtful)
    good = summary.with_equation - doubtful
    return [
        (f"{name}: import and masking", f"{reading + masking:.1f} s", f"{len(problems):,} problems"),
        (f"{name}: gold bound and right", share(good, summary.with_equation), f"{good:,}"),
    ]


@click.command()
@click.option(
    "--data", "folder", type=click.Path(path_type=Path), help="Holds allarith.jsonl and math23k.jsonl."
)
def main(folder: Path | None) -> None:
    sets = {name: str(folder / f"{name}.jsonl") for name in ("allarith", "math23k")} if folder else {}
    sets = sets or {"bundled:en": "bundled:en"}
    rows = []
    for i, (name, path) in enumerate(sets.items()):
        problems = read_problems(path)
        if i == 0:
            rows += measure_search(name, problems)
        if i == len(sets) - 1:
            rows += measure_equations(name, problems)
        rows += measure_import(name, path)
    print_table("one core", rows, ("what", "figure", "of"))


if __name__ == "__main__":
    main()

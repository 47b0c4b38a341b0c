"""How well a strategy finds what is wrong, on candidates that are there: nothing is trained between rounds.

    python bench/replay.py math23k.jsonl candidates.parquet
    python bench/replay.py math23k.jsonl candidates.parquet --only numbers --limit 4000 --pool 500 --batch 20
    python bench/replay.py math23k.jsonl candidates.parquet --strategy "margin trust=false" --strategy perfect

PROBLEMS are those that `warmkit generate` wrote CANDIDATES for, with gold equations that `warmkit train` did
not see: one without candidates is unsolved. A seed draws a pool, and others that are never asked. An
annotator who knows the gold equations is asked in batches, until a share of the pool is right: annotated, or
of the gold class at once. What is printed is labels(random) / labels(strategy), and how far confidence in the
others can be trusted when a fifth of the pool is labelled. It leaves out what a model learns from labels:
bench/active.py has the whole loop, and takes hours.

A strategy may have settings after its name: unsolved_quota, random_share, trust. `perfect` knows what is
wrong.
"""

from dataclasses import asdict
from pathlib import Path
from typing import Any

import click
import numpy as np

from toolkit.cli.hints import with_hint
from toolkit.cli.output import json_option, percent, print_json, print_table, progress, waiting
from toolkit.data import read_candidates, read_problems
from toolkit.errors import WarmkitError
from toolkit.labels.figures import Ratio, Trust, ratio_of, trust_of
from toolkit.labels.markdown import ratio_text
from toolkit.labels.pieces import RANDOM, Curve, Protocol
from toolkit.labels.replay import Cases, Way, cases_of, replay, samples, way_of
from toolkit.labels.sets import SUBSETS

HELP = __doc__.replace("\n\n    ", "\n\n\b\n    ")  # what is indented stays in lines
GOALS = Protocol.goals


@click.command(help=HELP, context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("problems", type=click.Path(path_type=Path, exists=True, dir_okay=False))
@click.argument("candidates", type=click.Path(path_type=Path, exists=True))
@click.option("--only", type=click.Choice(list(SUBSETS)), help="Problems as bench/active.py has them.")
@click.option("--limit", type=click.IntRange(20, 100_000_000), help="Only so many, drawn with seed 0.")
@click.option("--strategy", "strategies", multiple=True, default=("margin",), show_default=True)
@click.option("--batch", type=click.IntRange(1, 100_000), default=20, show_default=True)
@click.option("--pool", type=click.IntRange(10, 1_000_000), default=500, show_default=True)
@click.option("--others", type=click.IntRange(1, 1_000_000), default=500, show_default=True)
@click.option("--seeds", type=click.IntRange(1, 1_000), default=10, show_default=True)
@json_option
def main(
    problems: Path,
    candidates: Path,
    only: str | None,
    limit: int | None,
    strategies: tuple[str, ...],
    batch: int,
    pool: int,
    others: int,
    seeds: int,
    as_json: bool,
) -> None:
    try:
        ways = [way_of(name) for name in dict.fromkeys((RANDOM, *strategies))]
        with waiting(f"Reading {problems} and {candidates}"):
            cases = read_cases(problems, candidates, only, limit)
        if len(cases.right) < pool + others:
            raise WarmkitError(
                f"{problems}: {len(cases.right)} problems have a gold equation that can be used, and "
                f"{pool + others} are wanted. Take fewer with --pool and --others."
            )
        curves = measured(cases, ways, batch, pool, others, seeds)
    except WarmkitError as error:
        raise click.ClickException(with_hint(error)) from None
    rows = {
        way.name: compared(way, curves[RANDOM], curves[way.name], pool // 5)
        for way in ways
        if way.name != RANDOM
    }
    if as_json:
        found = {name: as_dict(ratios, trust) for name, (ratios, trust) in rows.items()}
        print_json({"problems": len(cases.right), "right": float(cases.right.mean()), "strategies": found})
        return
    right = f"{len(cases.right):,} problems, {100 * cases.right.mean():.1f} % right before anybody is asked"
    print_table(
        f"labels: random / strategy ({right})",
        [(name, *map(ratio_text, ratios), *trust_cells(trust)) for name, (ratios, trust) in rows.items()],
        ("strategy", *(f"{100 * goal:g} %" for goal in GOALS), "ECE", "AUROC", "with one class"),
    )


def read_cases(problems: Path, candidates: Path, only: str | None, limit: int | None) -> Cases:
    given = read_problems(problems, skip_bad=True)
    if only is not None:
        given = given.take([row for row in range(len(given)) if SUBSETS[only].keeps(given, row)])
    if limit is not None:
        given = given.take(np.random.default_rng(0).permutation(len(given))[:limit].tolist())
    return cases_of(read_candidates(candidates, given), given)


def measured(
    cases: Cases, ways: list[Way], batch: int, pool: int, others: int, seeds: int
) -> dict[str, list[Curve]]:
    """The curves of each strategy, a seed after the other."""
    curves: dict[str, list[Curve]] = {way.name: [] for way in ways}
    with progress("Curves", seeds * len(ways)) as advance:
        for seed, (asked, never) in enumerate(samples(cases, pool, others, seeds)):
            for way in ways:
                goal = 1.0 if way.name == RANDOM else max(GOALS)
                rng = np.random.default_rng(seed)
                curves[way.name].append(replay(asked, never, way, batch, goal, rng, pool // 5))
                advance(1)
    return curves


def compared(
    way: Way, random: list[Curve], strategy: list[Curve], labels: int
) -> tuple[list[Ratio], Trust | None]:
    pairs = list(zip(random, strategy, strict=True))
    ratios = [ratio_of(pairs, goal, lambda point: point.labels) for goal in GOALS]
    return ratios, None if way.is_perfect else trust_of(strategy, labels)  # wrong ones alone teach no trust


def trust_cells(trust: Trust | None) -> tuple[str, str, str]:
    if trust is None:
        return "", "", ""
    sure, right = trust.single_confidence, trust.single_right
    single = "" if sure is None or right is None else f"{percent(sure)} sure, {percent(right)} right"
    return f"{trust.ece:.3f}", "" if trust.auroc is None else f"{trust.auroc:.3f}", single


def as_dict(ratios: list[Ratio], trust: Trust | None) -> dict[str, Any]:
    return {
        "labels": [asdict(ratio) | {"ratio": ratio.ratio.as_dict()} for ratio in ratios],
        "trust": None if trust is None else asdict(trust),
    }


if __name__ == "__main__":
    main()

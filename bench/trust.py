"""What to believe of candidates before anybody is asked, learnt from the bundled problems.

    python bench/trust.py                    half a minute of a core
    python bench/trust.py --data FOLDER      and how far it holds for the problem sets of bench/active.py

A small WARM is trained without equations on samples of the bundled problems of each language. Logistic
regression learns from facts of the top class of each problem (`toolkit/loop/trust.py`) whether it is of the
gold class. PRIOR in that file is what this command prints.
"""

from collections.abc import Callable, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import click
import numpy as np
import torch

from toolkit.active.calibration import auroc, calibration_error
from toolkit.active.confidence import Floats
from toolkit.active.trust import Trust, fit_trust, no_belief
from toolkit.cli.hints import with_hint
from toolkit.cli.output import echo, json_option, print_json, print_table, progress
from toolkit.compute import LocalCompute
from toolkit.config import load_config
from toolkit.data import ProblemSet, read_problems
from toolkit.data.languages import languages
from toolkit.errors import WarmkitError
from toolkit.labels.pieces import SETTINGS
from toolkit.labels.sets import SUBSETS, load_sets
from toolkit.loop.config import LoopConfig
from toolkit.loop.round import Round
from toolkit.loop.trust import FACTS, facts_of

STRENGTH = 20.0  # of the pull to no belief: what holds for bundled problems alone is to be small
HELP = __doc__.replace("\n\n    ", "\n\n\b\n    ")  # what is indented stays in lines

Cases = tuple[Floats, list[bool]]  # facts [N, F], and whether the top class is right


@click.command(help=HELP, context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--data", type=click.Path(path_type=Path, exists=True, file_okay=False))
@click.option("--seeds", type=click.IntRange(1, 1_000), default=2, show_default=True)
@click.option("--size", type=click.IntRange(10, 100_000), default=150, show_default=True, help="Of a sample.")
@json_option
def main(data: Path | None, seeds: int, size: int, as_json: bool) -> None:
    torch.set_num_threads(1)
    try:
        sets = load_sets(tuple(SUBSETS), data) if data else {}
        with progress("Models", seeds * (len(languages()) + len(sets))) as advance:
            bundled = [
                cases(bundled_sample(one.code, seed, size), seed, advance)
                for one in languages()
                for seed in range(seeds)
            ]
            facts, right = joined(bundled)
            trust = fit_trust(no_belief(facts), facts, right, STRENGTH)
            others = {
                name: joined(
                    [cases(loaded.sample(seed, size, 0).problems, seed, advance) for seed in range(seeds)]
                )
                for name, loaded in sets.items()
            }
    except WarmkitError as error:
        raise click.ClickException(with_hint(error)) from None
    figures = {name: measured(trust, one) for name, one in {"bundled": (facts, right), **others}.items()}
    if as_json:
        print_json({"means": trust.means, "scales": trust.scales, "weights": trust.weights, "on": figures})
        return
    print_table(
        "before anybody is asked",
        [(name, *map(three_digits, one.values())) for name, one in figures.items()],
        ("set", *figures["bundled"]),
    )
    for fact, weight in zip((*FACTS, "constant"), trust.weights, strict=True):
        echo(f"{weight:+.2f}  {fact}")
    for field in ("means", "scales", "weights"):
        echo(f"{field}=({', '.join(f'{value:.3f}' for value in getattr(trust, field))}),")


def bundled_sample(code: str, seed: int, size: int) -> ProblemSet:
    problems = read_problems(f"bundled:{code}")
    train = np.flatnonzero((problems.table["split"] == "train").to_numpy())
    return problems.take(np.random.default_rng(seed).permutation(train)[:size].tolist())


def cases(problems: ProblemSet, seed: int, advance: Callable[[int], object]) -> Cases:
    """Problems with candidates, from a model that saw no equation."""
    config = load_config(LoopConfig, None, (*SETTINGS, f"seed={seed}"))
    work = Round(problems, {}, config, LocalCompute(torch.device("cpu")))
    with TemporaryDirectory() as folder:
        candidates = work.candidates(work.generate(work.fit(Path(folder) / "model", label="trust")))
    facts = facts_of(candidates, problems)
    gold = dict(zip(problems.ids, problems.gold_classes, strict=True))
    advance(1)
    return np.array(list(facts.values())), [candidates.top[name].klass in gold[name] for name in facts]


def joined(parts: Sequence[Cases]) -> Cases:
    return np.concatenate([facts for facts, _ in parts]), [one for _, right in parts for one in right]


def measured(trust: Trust, of: Cases) -> dict[str, float | None]:
    facts, right = of
    sure = trust.confidence(facts)
    return {
        "right": float(np.mean(right)),
        "confidence": float(sure.mean()),
        "ECE": calibration_error(sure, right),
        "AUROC": auroc(sure, right),
    }


def three_digits(value: float | None) -> str:
    return "" if value is None else f"{value:.3f}"


if __name__ == "__main__":
    main()

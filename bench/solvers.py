"""What step two comes to on problems that it has not seen, and what it costs, as tables.

    python bench/solvers.py --data FOLDER                    every table: hours on two cores
    python bench/solvers.py --data FOLDER --only gold        one of them
    python bench/solvers.py --data FOLDER --only gold --kind ensemble --seeds 3
    python bench/solvers.py --data FOLDER --only few --set members=1 --seeds 2
    python bench/solvers.py --data FOLDER --only ew10k --set epochs=25 --warm train.epochs=15
    python bench/solvers.py --data FOLDER --only math23k --problems 6000 --set epochs=9

FOLDER holds allarith.jsonl, ew10k.jsonl, hw10k.jsonl and math23k.jsonl in the native format (none comes with
warmkit). Accuracy is the share of held-out problems whose value is the answer, in each fold. AllArith comes
with four folds; EW10K and HW10K are split into five by seed.
"""

import itertools
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import click
import polars as pl
import torch
from padded import torch_gru

from toolkit.cli.output import print_table
from toolkit.config import load_config
from toolkit.data import Candidates, ProblemSet, read_problems
from toolkit.data.constants import choose_constants
from toolkit.data.split import folds as split_folds
from toolkit.data.split import shuffled
from toolkit.loop.generation import trusted_candidates
from toolkit.methods import FitInput, FitOptions, GenerateConfig
from toolkit.methods.warm import Warm
from toolkit.methods.warm.config import WarmConfig
from toolkit.solvers import DEFAULT_SOLVER, OnProgress, Solver, SolverInput, SolverProgress, find_solver
from toolkit.solvers.evaluate import accuracies
from toolkit.solvers.neural.config import SolverConfig
from toolkit.solvers.neural.solver import NeuralSolver

Row = tuple[str, ...]
KINDS = (DEFAULT_SOLVER, "gts", "graph2tree")
PAPER = Path(__file__).parents[1] / "configs" / "paper"
PRODUCTS = ("bmm", "baddbmm", "baddbmm_", "mm", "addmm")
LEFT_OUT = (  # of the recipe, by the settings that leave it out or put another in its place
    "number_features=false",
    "repeat_features=false",
    "forms=written",
    "forms=commuted",
    "average=0",
    "word_dropout=0",
    "decoder_dropout=0",
    "warm_up=0",
    "layers=1",
)
RANKINGS = {  # of the beams of a small set, by the weights of what counts
    "ranking by probability": {"probability": 1.0},
    "ranking without coherence": {"probability": 1.0, "plausibility": 1.0},
    "ranking without plausibility": {"probability": 1.0, "coherence": 1.0},
}


@dataclass(frozen=True)
class Bench:
    data: Path
    settings: SolverConfig
    warm: WarmConfig
    folds: int  # run no more of them
    problems: int | None  # of Math23K, to learn from; None: all
    seed: int  # the first
    seeds: int
    kinds: tuple[str, ...]

    def each_seed(self) -> range:
        return range(self.seed, self.seed + self.seeds)


def parts(problems: ProblemSet, most: int) -> Iterator[tuple[ProblemSet, ProblemSet]]:
    """Each fold held out in turn: what is learnt from, and what is tested."""
    splits = problems.table["split"]
    for name in sorted(splits.unique())[:most]:
        yield of_rows(problems, splits != name), of_rows(problems, splits == name)


def of_rows(problems: ProblemSet, chosen: pl.Series) -> ProblemSet:
    return problems.take(chosen.arg_true().to_list())


def found_by_warm(problems: ProblemSet, config: WarmConfig, seed: int) -> Candidates:
    """What WARM finds by the answers alone."""
    with tempfile.TemporaryDirectory() as folder:
        trained = Warm.fit(FitInput(problems, {}, config, seed), Path(folder))
    generated = trained.candidates(problems, GenerateConfig(search=config.train.search))
    return trusted_candidates(generated, problems, temperature=1.0)


def fit(
    kind: str,
    problems: ProblemSet,
    candidates: Candidates | None,
    settings: SolverConfig,
    seed: int,
    on_progress: OnProgress = lambda progress: None,
) -> Solver:
    """A solver that learns from candidates, without them from gold equations."""
    known = problems.gold_templates if candidates is None else {}
    return find_solver(kind).fit(
        SolverInput(problems, known, candidates, settings, seed), on_progress=on_progress
    )


def right_answers(solver: Solver, tested: ProblemSet) -> float:
    """In percent."""
    right = accuracies(solver, tested)["answer_accuracy"]
    assert right is not None
    return 100 * right


def cross_validated(bench: Bench, name: str, problems: ProblemSet, from_gold: bool) -> Iterator[Row]:
    """One row a solver, which learns from gold equations or from answers alone.

    From answers, the constants are those that the learnt folds ask for. What is shown of a fold is the mean
    over seeds.
    """
    found: dict[str, dict[str, list[float]]] = {kind: {} for kind in bench.kinds}
    seconds: dict[str, list[float]] = {kind: [] for kind in bench.kinds}
    for seed, (learnt, tested) in itertools.product(bench.each_seed(), parts(problems, bench.folds)):
        candidates, fold = None, tested.table["split"][0]
        if not from_gold:
            learnt = learnt.with_constants(choose_constants(learnt, seed=seed).constants)
            candidates = found_by_warm(learnt, bench.warm, seed)
        for kind in bench.kinds:
            start = time.perf_counter()
            right = right_answers(fit(kind, learnt, candidates, bench.settings, seed), tested)
            seconds[kind].append(time.perf_counter() - start)
            found[kind].setdefault(fold, []).append(right)
            click.echo(f"{name} {kind} seed {seed} {fold}: {right:.1f}", err=True)
    for kind, by_fold in found.items():
        yield f"{name}, {kind}", *_summed_up(by_fold), f"{statistics.mean(seconds[kind]):.0f}"


def _summed_up(by_fold: Mapping[str, Sequence[float]]) -> tuple[str, str]:
    """Mean over folds and seeds with its deviation over seeds, or over folds with one seed; and each fold."""
    folds = [statistics.mean(shares) for shares in by_fold.values()]
    seeds = [statistics.mean(shares) for shares in zip(*by_fold.values(), strict=True)]
    varied = seeds if len(seeds) > 1 else folds
    deviation = statistics.stdev(varied) if len(varied) > 1 else 0.0
    return f"{statistics.mean(folds):.1f} ± {deviation:.1f}", " ".join(f"{share:.1f}" for share in folds)


def gold(bench: Bench) -> Iterator[Row]:
    yield from cross_validated(bench, "AllArith, gold", _read(bench, "allarith"), True)


def answers(bench: Bench) -> Iterator[Row]:
    yield from cross_validated(bench, "AllArith, answers only", _read(bench, "allarith"), False)


def ablation(bench: Bench) -> Iterator[Row]:
    """AllArith, gold, one network: what is lost, in each fold, if one part of the recipe is left out.

    Beams of the same networks are ranked in several ways; what else is left out is trained anew.
    """
    problems = _read(bench, "allarith")
    found: dict[str, dict[str, list[float]]] = {}
    for seed, (learnt, tested) in itertools.product(bench.each_seed(), parts(problems, bench.folds)):
        fold = tested.table["split"][0]
        for name, right in _left_out(bench, learnt, tested, seed):
            found.setdefault(name, {}).setdefault(fold, []).append(right)
            click.echo(f"ablation {name} seed {seed} {fold}: {right:.1f}", err=True)
    whole = found["everything"]
    for name, by_fold in found.items():
        lost = {
            fold: [share - before for share, before in zip(shares, whole[fold], strict=True)]
            for fold, shares in by_fold.items()
        }
        yield name, *_summed_up(by_fold if by_fold is whole else lost), ""


def _left_out(bench: Bench, learnt: ProblemSet, tested: ProblemSet, seed: int) -> Iterator[tuple[str, float]]:
    """The recipe, and all but one of its parts, with what is right."""
    for left_out in ("", *LEFT_OUT):
        changes = load_config(SolverConfig, None, ("members=1", *left_out.split()))
        settings = bench.settings.model_copy(update=changes.model_dump(exclude_unset=True))
        solver = fit("gts", learnt, None, settings, seed)
        yield left_out or "everything", right_answers(solver, tested)
        if not left_out:
            assert isinstance(solver, NeuralSolver)
            ranker = solver.ranker
            for name, weights in RANKINGS.items():
                solver.ranker = ranker.weighted(weights)
                yield name, right_answers(solver, tested)


def ew10k(bench: Bench) -> Iterator[Row]:
    problems = _five_folds(_read(bench, "ew10k"), bench.seed)
    yield from cross_validated(bench, "EW10K, answers only", problems, False)


def hw10k(bench: Bench) -> Iterator[Row]:
    problems = _five_folds(_read(bench, "hw10k"), bench.seed)
    yield from cross_validated(bench, "HW10K, answers only", problems, False)


def math23k(bench: Bench) -> Iterator[Row]:
    """Gold equations of the train split, tested on the valid split; --set epochs=… is the time budget."""
    problems = _read(bench, "math23k")
    learnt = of_rows(problems, problems.table["split"] == "train")
    learnt = learnt.take(range(min(len(learnt), bench.problems or len(learnt))))
    seen: set[float] = set()

    def echo(progress: SolverProgress) -> None:
        if progress.loss and progress.loss not in seen:  # once an epoch
            seen.add(progress.loss)
            share, seconds = progress.done / progress.total, time.process_time() - begun
            right = f", held-out answers {100 * progress.right:.1f}" if progress.right is not None else ""
            click.echo(
                f"Math23K, {share:.0%} of the epochs, {seconds:.0f} CPU s: loss {progress.loss:.3f}{right}",
                err=True,
            )

    for kind in bench.kinds:
        start, begun = time.perf_counter(), time.process_time()
        solver = fit(kind, learnt, None, bench.settings, bench.seed, echo)
        seconds = time.perf_counter() - start
        right = right_answers(solver, of_rows(problems, problems.table["split"] == "valid"))
        yield (
            f"Math23K valid, gold, {kind}",
            f"{right:.1f}",
            f"{bench.settings.sized(len(learnt)).epochs} epochs, {len(learnt):,} problems",
            f"{seconds:.0f}",
        )


def cost(bench: Bench) -> Iterator[Row]:
    """CPU time of training, with our GRU and with torch's by turns; and the speed of solving."""
    sets = {name: _read(bench, name).take(range(640)) for name in ("allarith", "math23k")}
    for name, problems in sets.items():
        for kind in bench.kinds:
            settings = bench.settings.model_copy(update={"epochs": 2, "members": 1, "hidden": 128})
            epoch = partial(_solver_epoch, kind, problems, settings, bench.seed)
            turns = [_turn(epoch) for _ in range(3)]
            yield _compared(f"train, {kind}, {name}", turns, len(problems))
        large = settings.model_copy(update={"hidden": 256})
        for sized in (settings, large):
            share = _product_share(partial(_solver_epoch, "gts", problems, sized, bench.seed))
            yield f"train, gts of {sized.hidden} units, {name}", f"{share:.0%} are matrix products", "", ""
    turns = [_turn(partial(_warm_epoch, sets["allarith"], bench.warm, bench.seed)) for _ in range(3)]
    yield _compared("train, WARM, allarith", turns, 640)
    paper = load_config(WarmConfig, PAPER / "warm.yaml", ())
    turns = [_turn(partial(_warm_epoch, sets["allarith"].take(range(192)), paper, bench.seed))]
    yield _compared("train, WARM of the paper's sizes, allarith", turns, 192)
    for name, problems in sets.items():
        solver = fit("gts", problems, None, settings.model_copy(update={"epochs": 4}), bench.seed)
        begun = time.process_time()
        solver.solve(problems)
        together = len(problems) / (time.process_time() - begun)
        begun = time.process_time()
        for i in range(40):
            solver.solve(problems.take([i]))
        alone = 40 / (time.process_time() - begun)
        times = f"{together / alone:.1f}× as fast as one by one ({alone:.0f} /s)"
        yield f"solve, gts, {name}", f"{together:.0f} /s", times, ""


def _compared(name: str, turns: list[tuple[float, float]], problems: int) -> Row:
    ours, theirs = (min(seconds) for seconds in zip(*turns, strict=True))
    return (
        name,
        f"{1000 * ours / problems:.2f} ms a problem",
        f"{theirs / ours:.2f}× as fast as torch's GRU",
        "",
    )


def _turn(run: Callable[[], float]) -> tuple[float, float]:
    """CPU seconds with our GRU, and with torch's."""
    ours = run()
    with torch_gru():
        return ours, run()


def _solver_epoch(kind: str, problems: ProblemSet, settings: SolverConfig, seed: int) -> float:
    """CPU seconds of the second epoch: the first one warms up."""
    ends: dict[int, float] = {}

    def on_progress(now: SolverProgress) -> None:
        ends.setdefault(now.done, time.process_time())

    fit(kind, problems, None, settings, seed, on_progress)
    first, last = sorted(ends.values())[-2:]
    return last - first


def _product_share(run: Callable[[], float]) -> float:
    """The share of the CPU time of a run that matrix products take: no code around them can save more."""
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU]) as profiled:
        run()
    times = {each.key: each.self_cpu_time_total for each in profiled.key_averages()}
    return sum(times.get(f"aten::{name}", 0) for name in PRODUCTS) / sum(times.values())


def _warm_epoch(problems: ProblemSet, config: WarmConfig, seed: int) -> float:
    """CPU seconds of the second epoch of WARM without search."""
    settings = config.model_copy(
        update={"train": config.train.model_copy(update={"epochs": 2, "search": 0, "patience": 0})}
    )
    ends: list[float] = []
    Warm.fit(
        FitInput(problems, {}, settings, seed),
        options=FitOptions(on_epoch=lambda _: ends.append(time.process_time())),
    )
    return ends[1] - ends[0]


def _read(bench: Bench, name: str) -> ProblemSet:
    return read_problems(bench.data / f"{name}.jsonl")


def few(bench: Bench) -> Iterator[Row]:
    """Few bundled problems, learnt for as many epochs as 500 are, and for as many as is the default."""
    given = {lang: read_problems(f"bundled:{lang}") for lang in ("en", "hi")}
    for (lang, problems), count in itertools.product(given.items(), (60, 120, 240)):
        by_epochs: dict[int, dict[str, list[float]]] = {}
        seconds: dict[int, list[float]] = {}
        for seed in bench.each_seed():
            rows = [problems.row[name] for name in shuffled(problems.ids, seed)]
            learnt, tested = problems.take(rows[:count]), problems.take(rows[-150:])
            for epochs in (bench.settings.sized(size).epochs for size in (500, count)):
                settings = bench.settings.model_copy(update={"epochs": epochs})
                start = time.process_time()
                right = right_answers(fit("gts", learnt, None, settings, seed), tested)
                seconds.setdefault(epochs, []).append(time.process_time() - start)
                by_epochs.setdefault(epochs, {})[str(seed)] = [right]
        for epochs, by_seed in by_epochs.items():
            name = f"{lang}, {count} problems, {epochs} epochs"
            yield name, *_summed_up(by_seed), f"{statistics.mean(seconds[epochs]):.0f}"


def _five_folds(problems: ProblemSet, seed: int) -> ProblemSet:
    return problems.with_table(split_folds(problems.table, 5, seed))


Table = Callable[[Bench], Iterator[Row]]
TABLES: dict[str, Table] = {
    "gold": gold,
    "answers": answers,
    "ablation": ablation,
    "ew10k": ew10k,
    "hw10k": hw10k,
    "math23k": math23k,
    "few": few,
    "cost": cost,
}


@click.command(help=__doc__, context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--data", required=True, type=click.Path(path_type=Path, exists=True))
@click.option("--only", type=click.Choice(list(TABLES)), multiple=True)
@click.option("--seed", default=0, show_default=True)
@click.option("--seeds", default=1, show_default=True, help="Repeat what has folds with so many seeds.")
@click.option("--kind", "kinds", multiple=True, help=f"A solver. [default: {', '.join(KINDS)}]")
@click.option("--folds", default=5, show_default=True, help="Hold out so many of the folds in turn.")
@click.option("--problems", type=click.IntRange(1), help="Learn from so many of Math23K. [default: all]")
@click.option("--threads", default=0, help="Threads of torch. [default: its own choice]")
@click.option("--set", "overrides", multiple=True, metavar="KEY=VALUE", help="A key of the solver.")
@click.option("--warm", "warm_overrides", multiple=True, metavar="KEY=VALUE", help="A key of WARM.")
def main(
    data: Path,
    only: tuple[str, ...],
    seed: int,
    seeds: int,
    kinds: tuple[str, ...],
    folds: int,
    problems: int | None,
    threads: int,
    overrides: tuple[str, ...],
    warm_overrides: tuple[str, ...],
) -> None:
    if threads:
        torch.set_num_threads(threads)
    settings = load_config(SolverConfig, None, overrides)
    warm = load_config(WarmConfig, None, warm_overrides)
    bench = Bench(data, settings, warm, folds, problems, seed, seeds, kinds or KINDS)
    for name in only or TABLES:
        rows = list(TABLES[name](bench))
        title = f"{name}: {seeds} seeds from {seed} on, {torch.get_num_threads()} threads"
        print_table(title, rows, ("what", "result", "in each fold", "seconds"))


if __name__ == "__main__":
    main()

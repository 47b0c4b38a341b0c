"""The tables of the paper as data: which systems on which sets, and the numbers that the paper has for them.

Table 5 is the figure of the appendix. Table 6 is in no paper: every solver on the equations that WARM finds.
Systems have warmkit's own settings; those that a row needs besides are named here. Without beam exploration
there is no exhaustive search either, because it would find what exploration is there to find.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal, Self

from toolkit.errors import WarmkitError
from toolkit.solvers import DEFAULT_SOLVER

Folds = Literal["split", "valid", "seed"]
Measure = Literal["reached", "answers"]


@dataclass(frozen=True)
class DataSet:
    """Files of problems, and how they become folds.

    split: each split of the file is held out in turn. valid: the split train is learnt, valid is held out.
    seed: as many folds as the settings say, by seed.
    """

    name: str
    files: tuple[str, ...]
    folds: Folds


@dataclass(frozen=True)
class Step:
    """Step one: a method, settings that differ from its defaults, and the gold equations it may see."""

    method: str
    settings: tuple[str, ...] = ()  # key=value
    gold: float = 0.0  # equations that it may see, as a share of all problems that it learns from


@dataclass(frozen=True)
class System:
    """What is measured: step one alone, or a solver.

    A solver learns from what step one finds and from the gold equations that it saw, or from all gold
    equations (`from_gold`), or from answers alone.
    """

    step: Step | None = None
    solver: str | None = None
    from_gold: bool = False

    @property
    def name(self) -> str:
        """For the names of files."""
        gold = f"gold{100 * self.step.gold:.1f}" if self.step and self.step.gold else ""
        source = self.step.method if self.step else "gold" if self.from_gold else "answers"
        return "-".join(filter(None, (source, gold, self.solver)))


@dataclass(frozen=True)
class Entry:
    """A place in a table; without a system the paper has NA there."""

    set: str
    system: System | None
    paper: float | None = None  # in percent; None if the paper has no number


@dataclass(frozen=True)
class Row:
    name: str
    group: str
    entries: Mapping[str, Entry]  # by column


@dataclass(frozen=True)
class Table:
    number: int
    title: str
    measure: Measure
    rows: tuple[Row, ...]
    is_figure: bool = False  # columns are shares of gold equations, to be drawn

    def about(self, sets: tuple[str, ...], names: Collection[str]) -> Self:
        """What its rows of these names say of these sets; of all sets if none is named."""
        rows = [
            Row(row.name, row.group, {c: e for c, e in row.entries.items() if not sets or e.set in sets})
            for row in self.rows
            if row.name in names
        ]
        return replace(self, rows=tuple(row for row in rows if row.entries))

    @property
    def columns(self) -> list[str]:
        return list(dict.fromkeys(column for row in self.rows for column in row.entries))


SETS: dict[str, DataSet] = {
    "allarith": DataSet("AllArith", ("allarith.jsonl",), "split"),
    "math23k": DataSet("Math23K", ("math23k.jsonl",), "valid"),
    "ew10k": DataSet("EW10K", ("ew10k.jsonl",), "seed"),
    "hw10k": DataSet("HW10K", ("hw10k.jsonl",), "seed"),
    "allarith-ew10k": DataSet("AllArith + EW10K", ("allarith.jsonl", "ew10k.jsonl"), "seed"),
}
FOUR = ("allarith", "math23k", "ew10k", "hw10k")
BOTH = "allarith-ew10k"

WEAK, BASELINES = "Weakly supervised", "Baselines"
FULL, SEMI = "Fully supervised", "Semi-supervised"
ON_WARM = "On WARM's equations"
OURS = "warmkit's ensemble"

EIGHTY = 80 / 8846  # the step of the appendix: 80 gold equations of 8,846 training problems
GOLD = 7 * EIGHTY  # the share of the paper's semi-supervision: 560 of 8,846


def warm(gold: float = 0.0) -> Step:
    return Step("warm", gold=gold)


def no_beam(gold: float = 0.0) -> Step:
    return Step("warm_no_beam", ("explore.beam_exploration=false", "train.search=0"), gold)


def _row(group: str, name: str, system: System, *paper: float | None) -> Row:
    """A row of the tables with four sets."""
    entries = {SETS[data].name: Entry(data, system, number) for data, number in zip(FOUR, paper, strict=True)}
    return Row(name, group, entries)


def _supervised(name: str, solver: str, *paper: float | None) -> Row:
    """A row that needs gold equations, which EW10K and HW10K don't have."""
    row = _row(FULL, name, System(solver=solver, from_gold=True), *paper, None, None)
    missing = {SETS[data].name: Entry(data, None) for data in ("ew10k", "hw10k")}
    return Row(row.name, row.group, {**row.entries, **missing})


def _mixed(group: str, name: str, system: System, paper: float | None) -> Row:
    return Row(name, group, {SETS[BOTH].name: Entry(BOTH, system, paper)})


def _curve(name: str, steps: Mapping[int, Step], paper: Mapping[int, float]) -> Row:
    """A line of the figure, by multiples of 80 gold equations."""
    entries = {
        f"{100 * step.gold:.1f} %": Entry(BOTH, System(step), paper.get(times))
        for times, step in steps.items()
    }
    return Row(name, "", entries)


TIMES = (0, 1, 2, 4, 7)

TABLES: tuple[Table, ...] = (
    Table(
        1,
        "Equation generation",
        "reached",
        (
            _row(WEAK, "WARM w/o BE", System(no_beam()), 42.1, 14.5, 57.5, 67.3),
            _row(WEAK, "WARM", System(warm()), 97.4, 93.8, 99.3, 99.5),
            _row(
                BASELINES,
                "Random equation sampling",
                System(Step("random_sampling")),
                *(53.4, 17.6, 46.3, 66.6),
            ),
            _row(BASELINES, "Seq2seq baseline", System(Step("seq2seq")), 67.0, 7.1, 77.6, 75.8),
        ),
    ),
    Table(
        2,
        "Solving",
        "answers",
        (
            _row(
                WEAK,
                "WARM w/o BE (GTS)",
                System(no_beam(), "gts"),
                *(36.1, 12.8, 52.6, 54.1),
            ),
            _row(WEAK, "WARM (GTS)", System(warm(), "gts"), 66.9, 55.3, 86.9, 81.5),
            _row(
                WEAK,
                "WARM w/o BE (Graph2Tree)",
                System(no_beam(), "graph2tree"),
                *(48.2, 13.5, 49.8, 58.3),
            ),
            _row(WEAK, "WARM (Graph2Tree)", System(warm(), "graph2tree"), 68.7, 56.0, 87.2, 82.9),
            _row(WEAK, "LBF", System(solver="lbf"), 51.8, 53.6, 81.3, 75.8),
            _supervised("Graph2Tree", "graph2tree", 71.9, 75.5),
            _supervised("GTS", "gts", 70.5, 73.6),
            _supervised("Seq2Tree", "seq2tree", None, 69.0),
            _supervised("T-RNN + Retrieval", "t-rnn", None, 68.7),
            _supervised("Semantically-Aligned", "aligned", None, 65.8),
            _supervised("Ensemble w/ EN", "math-en", None, 68.4),
            _supervised("Hybrid w/ SNI", "dns", None, 64.7),
            _supervised(OURS, DEFAULT_SOLVER, None, None),
        ),
    ),
    Table(
        3,
        "Equation generation with semi-supervision",
        "reached",
        (
            _mixed(WEAK, "WARM w/o BE", System(no_beam()), 56.7),
            _mixed(WEAK, "WARM", System(warm()), 99.0),
            _mixed(SEMI, "WARM-S w/o BE", System(no_beam(GOLD)), 92.0),
            _mixed(SEMI, "WARM-S", System(warm(GOLD)), 99.2),
        ),
    ),
    Table(
        4,
        "Solving with semi-supervision",
        "answers",
        (
            _mixed(WEAK, "WARM w/o BE (GTS)", System(no_beam(), "gts"), 50.2),
            _mixed(WEAK, "WARM (GTS)", System(warm(), "gts"), 87.2),
            _mixed(WEAK, "WARM w/o BE (Graph2Tree)", System(no_beam(), "graph2tree"), 51.2),
            _mixed(WEAK, "WARM (Graph2Tree)", System(warm(), "graph2tree"), 87.8),
            _mixed(SEMI, "WARM-S w/o BE (GTS)", System(no_beam(GOLD), "gts"), 87.2),
            _mixed(SEMI, "WARM-S (GTS)", System(warm(GOLD), "gts"), 92.1),
            _mixed(SEMI, "WARM-S w/o BE (Graph2Tree)", System(no_beam(GOLD), "graph2tree"), 87.4),
            _mixed(SEMI, "WARM-S (Graph2Tree)", System(warm(GOLD), "graph2tree"), 93.6),
            _mixed(SEMI, f"WARM-S ({OURS})", System(warm(GOLD), DEFAULT_SOLVER), None),
        ),
    ),
    Table(
        5,
        "Gold equations against answers reached",
        "reached",
        (
            _curve(
                "without beam exploration",
                {times: no_beam(times * EIGHTY) for times in TIMES},
                {0: 46.7, 2: 90.6},  # all that the text of the appendix says; table 3 has 56.7 for the first
            ),
            _curve("with beam exploration", {times: warm(times * EIGHTY) for times in TIMES}, {}),
        ),
        is_figure=True,
    ),
    Table(
        6,
        "Solving by every solver, from answers alone",
        "answers",
        (
            _row(ON_WARM, "GTS", System(warm(), "gts"), 66.9, 55.3, 86.9, 81.5),
            _row(ON_WARM, "Graph2Tree", System(warm(), "graph2tree"), 68.7, 56.0, 87.2, 82.9),
            *(
                _row(ON_WARM, name, System(warm(), solver), None, None, None, None)
                for name, solver in (
                    (OURS, DEFAULT_SOLVER),
                    ("Seq2Tree", "seq2tree"),
                    ("T-RNN + Retrieval", "t-rnn"),
                    ("Semantically-Aligned", "aligned"),
                    ("Ensemble w/ EN", "math-en"),
                    ("Hybrid w/ SNI", "dns"),
                )
            ),
        ),
    ),
)


def find_tables(
    numbers: tuple[int, ...] = (), sets: tuple[str, ...] = (), rows: tuple[str, ...] = ()
) -> tuple[Table, ...]:
    """The tables with these numbers, as far as their rows of these names are about these sets.

    What is not named is not narrowed. A row is named in full, or by a part that its name has.
    """
    known = {table.number: table for table in TABLES}
    for number in numbers:
        if number not in known:
            raise WarmkitError(f"There is no table {number}. Take one of {', '.join(map(str, known))}.")
    tables = tuple(known[number] for number in dict.fromkeys(numbers)) or TABLES
    names = list(dict.fromkeys(row.name for table in tables for row in table.rows))
    chosen = {name for row in rows for name in _named(row, names)} if rows else set(names)
    found = tuple(table for table in (table.about(sets, chosen) for table in tables) if table.rows)
    if not found:
        raise WarmkitError(f"No such table is about {' or '.join(sets)}.")
    return found


def _named(row: str, names: Sequence[str]) -> list[str]:
    """The names that are meant: the one that is the same, otherwise those that have it in them."""
    given = row.casefold()
    found = [name for name in names if name.casefold() == given]
    found = found or [name for name in names if given and given in name.casefold()]
    if not found:
        raise WarmkitError(f"There is no row {row!r} in these tables. Take one of: {'; '.join(names)}.")
    return found

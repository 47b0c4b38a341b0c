"""The tables as a page in the style of a run's report: one file that works offline."""

import itertools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from toolkit.config import Section, to_yaml
from toolkit.paper.cells import is_available
from toolkit.paper.figures import FAILED, MEASURED, Shown, ShownTable, in_words
from toolkit.paper.plan import Plan
from toolkit.paper.tables import SETS, System
from toolkit.report import svg
from toolkit.report.markup import Child, Html, tag
from toolkit.report.page import document
from toolkit.report.parts import meter, missing, plots, section, table, tile
from toolkit.report.values import count, duration

HOW = {
    "reached": "The share of training problems for which an equation was found that gives the answer. "
    "Problems whose gold equation was shown do not count.",
    "answers": "The share of held-out problems whose answer is right, from the text alone.",
}
READING = (
    " Each place has the mean over folds and seeds in percent, its 95% interval (Wilson, each problem "
    "counted once), the time of one fold, and the paper’s number. The time of a solver is without that of "
    "step one. BE is beam exploration."
)
FIGURE = " Columns are gold equations, as a share of the training problems."


@dataclass(frozen=True)
class PaperFigures:
    plan: Plan
    tables: Sequence[ShownTable]
    counts: Mapping[str, int]  # of cells: measured, failed, left
    seconds: float  # of all cells together
    command: str
    versions: Mapping[str, str]


def render(figures: PaperFigures) -> str:
    """The whole page. What was not measured says so."""
    sections = {
        f"table-{shown.table.number}": (f"Table {shown.table.number}", _table(shown))
        for shown in figures.tables
    }
    sections["sets"] = ("Sets", _sets(figures.plan))
    sections["settings"] = ("Settings", _settings(figures.plan))
    sections["reproduce"] = ("Run again", _reproduce(figures))
    return document("The paper’s tables · warmkit", _headline(figures), sections)


def _headline(figures: PaperFigures) -> list[Html]:
    places = [place for shown in figures.tables for row in shown.rows for place in row.places.values()]
    compared = [place for place in places if place.share is not None and place.paper is not None]
    reached = sum(_is_reached(place) for place in compared)
    measured, cells = figures.counts["measured"], sum(figures.counts.values())
    share = measured / cells if cells else None
    return [
        tag("p", "warmkit paper", class_="over"),
        tag("h1", "The paper’s tables, measured"),
        tag("p", f"{in_words(figures.counts)}.", class_="lead"),
        tag(
            "p",
            "Chatterjee et al., COLING 2022 · the sets are parts of the paper’s, so compare with care",
            class_="about",
        ),
        tag(
            "div",
            tile(
                "Cells",
                f"{measured:,} of {cells:,}",
                "folds × seeds, step one included",
                meter(share),
                word=True,
            ),
            tile(
                "At or above the paper",
                f"{reached} of {len(compared)}",
                "places that have both numbers",
                word=True,
            ),
            tile("Time of all cells", duration(figures.seconds), "one after the other", word=True),
            class_="tiles",
        ),
    ]


def _is_reached(place: Shown) -> bool:
    """As printed: both with one decimal."""
    return place.share is not None and place.paper is not None and float(place.figure) >= place.paper


def _table(shown: ShownTable) -> Html:
    """Rows by group, each in a table of its own if there are several."""
    declared = shown.table
    how = HOW[declared.measure] + (FIGURE if declared.is_figure else "") + READING
    groups: dict[str, list[list[Child]]] = {}
    for row in shown.rows:
        places = [row.places.get(column) for column in declared.columns]
        groups.setdefault(row.row.group, []).append([row.row.name, *map(_place, places)])
    tables = [
        table(f"{declared.title}: {group}" if group else declared.title, [group, *declared.columns], rows)
        for group, rows in groups.items()
    ]
    return section(
        f"table-{declared.number}",
        f"Table {declared.number}: {declared.title}",
        how,
        _plot(shown) if declared.is_figure else None,
        tables,
        _errors(shown),
    )


def _place(place: Shown | None) -> Child:
    if place is None:
        return ""
    figure, *rest = place.parts
    strong = tag("b", figure) if place.state == MEASURED else tag("span", figure, class_="missing")
    return [strong, [[tag("br"), tag("span", part, class_="note")] for part in rest]]


def _plot(shown: ShownTable) -> Html:
    """The figure of the appendix: answers reached against the share of gold equations."""
    series = {}
    for row in shown.rows:
        points = []
        for column, place in row.places.items():
            system = row.row.entries[column].system
            if place.share is not None and system is not None and system.step is not None:
                points.append((system.step.gold, place.share.share))
        series[row.row.name] = points
    if not any(series.values()):
        return missing("Nothing is measured yet that could be drawn.")
    drawn = svg.line_chart(
        series,
        title="Answers reached, by share of gold equations",
        x_label="gold equations, of the training problems",
        share=True,
        share_x=True,
    )
    return plots(drawn)


def _errors(shown: ShownTable) -> Html | None:
    failed = [
        f"{row.row.name}, {column}: {place.error}"
        for row in shown.rows
        for column, place in row.places.items()
        if place.error
    ]
    return tag("ul", [tag("li", f"{FAILED}: {line}") for line in failed], class_="facts") if failed else None


def _sets(plan: Plan) -> Html:
    how = "What was measured on: parts of the paper’s sets, in splits that are not the paper’s."
    rows: list[list[Child]] = [
        [
            loaded.data.name,
            f"{len(loaded.problems):,}",
            f"{loaded.problems.table['equation'].count():,}",
            {
                "split": f"{len(loaded.folds)} folds of the file",
                "valid": "train → valid",
                "seed": f"{len(loaded.folds)} folds by seed",
            }[loaded.data.folds],
            ", ".join(loaded.data.files),
        ]
        for loaded in plan.sets.values()
    ]
    content = (
        table("Problem sets", ["set", "problems", "equations", "folds", "files"], rows)
        if rows
        else missing("No file of a problem set was there.")
    )
    return section("sets", "Problem sets", how, content)


def _settings(plan: Plan) -> Html:
    how = "What a row has besides the configuration. All settings as resolved are below."
    named: dict[System, str] = {}
    for declared in plan.tables:
        for row in declared.rows:
            for entry in row.entries.values():
                if entry.system is not None:
                    named.setdefault(entry.system, row.name)
    rows: list[list[Child]] = [[name, *_described(system)] for system, name in named.items()]
    details = [
        tag("details", tag("summary", name), tag("pre", to_yaml(config), tabindex="0"))
        for name, config in _resolved(plan, named).items()
    ]
    return section(
        "settings",
        "Settings of the rows",
        how,
        table("Settings", ["row", "step one", "gold equations", "solver"], rows),
        details,
    )


def _resolved(plan: Plan, systems: Iterable[System]) -> dict[str, Section]:
    """The settings of all methods and solvers; of a set by itself if it has others."""
    resolved: dict[str, Section] = {"generation of candidates": plan.settings.generate}
    for system, name in itertools.product(filter(is_available, systems), plan.sets):
        own = f" on {SETS[name].name}" if name in plan.settings.sets else ""
        if system.step is not None:
            resolved[f"{system.step.method}{own}"] = plan.settings.method(system.step, name)
        if system.solver is not None:
            resolved[f"{system.solver}{own}"] = plan.settings.solver(system.solver, name)
    return resolved


def _described(system: System) -> list[Child]:
    step = system.step
    first = [step.method, [[tag("br"), tag("code", key)] for key in step.settings]] if step else "–"
    if step is not None:
        gold = f"{100 * step.gold:.1f}% of the problems" if step.gold else "none"
    else:
        gold = "all" if system.from_gold else "none"
    return [first, gold, system.solver or "–"]


def _reproduce(figures: PaperFigures) -> Html:
    versions = [[tag("dt", name), tag("dd", version)] for name, version in figures.versions.items()]
    return section(
        "reproduce",
        "Run it again",
        "This command, with these files and versions, gives the same figures, seconds aside.",
        tag("pre", tag("code", figures.command), class_="command", tabindex="0"),
        tag("p", f"{count(figures.plan.seeds, 'seed')}, from 0 on."),
        tag("dl", versions, class_="versions"),
    )

"""The report of a run: one file that works offline, in light and dark, on a desk, a phone and paper."""

from collections.abc import Mapping
from importlib import resources

from toolkit.report import problems, results, running
from toolkit.report.annotators import annotators
from toolkit.report.figures import RunFigures
from toolkit.report.markup import Child, Html, tag
from toolkit.report.parts import meter, tile
from toolkit.report.results import ALL, NONE, accuracy
from toolkit.report.svg import DARK
from toolkit.report.values import NOTHING, by_round, count, duration, interval, last, number, percent

# Nothing may be loaded or run: problems and notes are not ours, and the file may be passed on.
POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"

SECTIONS = {
    "curve": ("Curve", results.curve),
    "bought": ("Gain", results.bought),
    "rounds": ("Rounds", results.rounds),
    "calibration": ("Confidence", results.calibration),
    "asked": ("Questions", problems.asked),
    "annotators": ("Annotators", annotators),
    "disputed": ("Disputed", problems.disputed),
    "spurious": ("By chance", problems.spurious),
    "constants": ("Constants", running.constants),
    "cost": ("Cost", running.cost),
    "reproduce": ("Run again", running.reproduce),
}


def render(figures: RunFigures) -> str:
    """The whole page. Parts that were not measured become a sentence that says so."""
    sections = {name: (short, draw(figures)) for name, (short, draw) in SECTIONS.items()}
    return document(f"{figures.name} · warmkit report", _headline(figures), sections)


def document(title: str, headline: Child, sections: Mapping[str, tuple[str, Html]]) -> str:
    """An HTML page: its sections by id, each with its word in the navigation."""
    head = tag(
        "head",
        tag("meta", charset="utf-8"),
        tag("meta", http_equiv="Content-Security-Policy", content=POLICY),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("meta", name="color-scheme", content="light dark"),
        tag("meta", name="referrer", content="no-referrer"),
        tag("title", title),
        tag("style", _style()),
    )
    links = [tag("a", short, href=f"#{name}") for name, (short, _) in sections.items()]
    body = tag(
        "body",
        tag("header", headline, class_="top"),
        tag("nav", links, aria_label="Sections"),
        tag("main", [drawn for _, drawn in sections.values()]),
        tag("footer", tag("p", "Made by warmkit. This file loads nothing and sends nothing.")),
    )
    return f"<!doctype html>\n{tag('html', head, body, lang='en')}\n"


def _style() -> Html:
    """The style sheet, which needs no escaping. Plots have the same dark colours as in their own files."""
    sheet = resources.files("toolkit.report").joinpath("style.css").read_text(encoding="utf-8")
    return Html(sheet.replace("/* dark plot colours */", f"{DARK};"))


def _headline(figures: RunFigures) -> list[Html]:
    about = [
        f"{count(figures.problems, 'problem')} of {figures.data}",
        f"asked {figures.annotator}",
        f"chosen by {figures.strategy}",
        count(figures.rounds, "round"),
        f"seed {figures.seed}",
    ]
    return [
        tag("p", "warmkit run", class_="over"),
        tag("h1", figures.name),
        tag("p", results.result(figures), class_="lead"),
        tag("p", " · ".join(about), class_="about"),
        tag("div", _tiles(figures), class_="tiles"),
    ]


def _tiles(figures: RunFigures) -> list[Html]:
    share = figures.labels / figures.problems if figures.problems else None
    each = figures.seconds / figures.rounds if figures.rounds else None
    return [
        _accuracy(figures),
        tile("Labels used", number(figures.labels), f"{percent(share)} of the problems", meter(share)),
        _found("Equations reached", "reach the answer", by_round(figures.metrics, "pool", "reached")),
        _found("Gold-equivalent", "have the right one", by_round(figures.metrics, "pool", "gold_equivalent")),
        tile("Stopped by", figures.stopped_by or NOTHING, figures.stop_reason, word=True),
        tile(
            "Time",
            duration(figures.seconds),
            f"{count(figures.rounds, 'round')}, {duration(each)} each",
            word=True,
        ),
    ]


def _accuracy(figures: RunFigures) -> Html:
    final = accuracy(figures.final)
    low, high = (accuracy(figures.references.get(name)) for name in (NONE, ALL))
    note = f"{percent(low)} without labels, {percent(high)} with all"
    won = results.share_won(figures)
    if won is not None and 0 <= won <= 1:
        note += f": {percent(won, 0)} of the way"
    if within := interval(final, figures.test_problems):
        note = f"{within}; {note}"
    return tile("Solver accuracy", percent(final), note, meter(final, low, high))


def _found(name: str, what: str, values: dict[int, float]) -> Html:
    """A share of problems after the last round, and what it was after the first."""
    if not values:
        return tile(name, NOTHING, "not measured")
    note = f"of problems {what}"
    if len(values) > 1:
        note += f"; {percent(values[min(values)])} at first"
    return tile(name, percent(last(values)), note, meter(last(values)))

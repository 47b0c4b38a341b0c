"""The section on annotators: what each did, how good it was, and what a label cost."""

from toolkit.annotators.reliability import Agreement
from toolkit.annotators.team import AnnotatorRow
from toolkit.report.figures import RunFigures
from toolkit.report.markup import Child, Html, tag
from toolkit.report.parts import missing, section, table
from toolkit.report.values import NOTHING, duration, number, percent

HEAD = (
    *("Annotator", "Questions", "Median time", "Accepted", "Rejected", "Disputed", "Skipped"),
    *("Agreement κ", "Gold right", "Reliability"),
)
SET_ASIDE = " What they wrote is set aside: it is kept, and others are asked."


def annotators(figures: RunFigures) -> Html:
    heading = "Annotators"
    how = (
        "Agreement is Cohen’s κ with the others who answered the same problems, over classes of equations,"
        " with its 95% interval. Gold questions are problems whose equation is known. Reliability is the"
        " estimated chance to be right, from both."
    )
    if not figures.annotators:
        return section("annotators", heading, how, missing("Nobody has answered yet."))
    rows = [_row(row) for row in figures.annotators]
    facts: list[Child] = [
        f"{row.name} is not to be trusted: {row.warning}.{SET_ASIDE if row.name in figures.set_aside else ''}"
        for row in figures.annotators
        if row.warning
    ]
    if figures.alpha is not None:
        facts.append(f"All of them together: Krippendorff’s α = {agreement(figures.alpha)}.")
    facts += figures.cost.sentences() if figures.cost is not None else []
    facts += figures.model_cost.sentences() if figures.model_cost is not None else []
    return section(
        "annotators",
        heading,
        how,
        table("What each annotator did", HEAD, rows),
        tag("ul", [tag("li", fact) for fact in facts], class_="facts") if facts else None,
    )


def _row(row: AnnotatorRow) -> list[Child]:
    return [
        row.name,
        number(row.tasks),
        duration(row.seconds),
        *(
            number(row.verdicts.get(verdict, 0))
            for verdict in ("accepted", "rejected", "disputed", "skipped")
        ),
        agreement(row.agreement),
        f"{row.gold_right} of {row.gold_asked}" if row.gold_asked else NOTHING,
        percent(row.reliability, 0),
    ]


def agreement(found: Agreement | None) -> str:
    """An agreement with its interval: 0.82 (0.71 to 0.93)."""
    if found is None:
        return NOTHING
    return f"{found.value:.2f} ({found.low:.2f} to {found.high:.2f})".replace("-", "−")

"""Sections on how good the run became: the learning curve, what annotations bought, rounds, calibration."""

from collections.abc import Mapping
from functools import partial

from toolkit.active.calibration import Reliability
from toolkit.report import svg
from toolkit.report.figures import RunFigures
from toolkit.report.markup import Child, Html, tag
from toolkit.report.parts import meter, missing, plots, section, table
from toolkit.report.values import (
    NOTHING,
    by_round,
    count,
    duration,
    gain,
    interval,
    join,
    known,
    number,
    percent,
)
from toolkit.statistics import wilson

NONE, RUN, ALL = "no annotations", "this run", "everything annotated"
WITHIN_CHANCE = "within chance"

# The columns of a round: split, metric, heading, format, meaning.
COLUMNS = (
    ("pool", "labels", "labels", number, "equations from annotators so far"),
    ("pool", "reached", "reached", percent, "problems with an equation that gives the answer"),
    ("pool", "gold_equivalent", "gold-equivalent", percent, "problems whose best equation is the right one"),
    ("pool", "confidence", "confidence", percent, "the mean confidence in the best equation"),
    (
        "pool",
        "uncertainty",
        "uncertainty",
        percent,
        "1 minus the mean confidence of problems not annotated yet",
    ),
    ("pool", "random_error", "random error", percent, "wrong equations among problems picked at random"),
    ("test", "answer_accuracy", "test answers", percent, "unseen problems answered correctly"),
    ("test", "class_accuracy", "test equations", percent, "unseen problems given the right equation"),
    ("pool", "seconds", "time", duration, "how long the round took"),
)


def accuracy(values: Mapping[str, float] | None, name: str = "answer_accuracy") -> float | None:
    value = (values or {}).get(name)
    return value if known(value) else None


def cases_of(figures: RunFigures, name: str) -> int:
    """The test problems that an accuracy is a share of."""
    return figures.test_gold if name == "class_accuracy" else figures.test_problems


def share_won(figures: RunFigures) -> float | None:
    """How far the run got from no annotations (0) to everything annotated (1); None if that gains nothing
    beyond chance, or was not measured."""
    most = figures.gains.get(ALL)
    if most is None or most.is_chance:
        return None
    low, final, high = (
        accuracy(values)
        for values in (figures.references.get(NONE), figures.final, figures.references.get(ALL))
    )
    if low is None or final is None or high is None or high - low < 1e-9:
        return None
    return (final - low) / (high - low)


def curve(figures: RunFigures) -> Html:
    labels = by_round(figures.metrics, "pool", "labels")
    by_labels = join(labels, by_round(figures.metrics, "test", "answer_accuracy"))
    final = accuracy(figures.final)
    levels = {
        name: value
        for name in figures.references
        if (value := accuracy(figures.references[name])) is not None
    }
    tested = svg.line_chart(
        {
            "solver of the round": by_labels,
            "final solver": [(float(figures.labels), final)] if final is not None else [],
        },
        title="Unseen problems answered correctly",
        x_label="labels from annotators",
        references=levels,
        share=True,
        whole_x=True,
        spread=lambda share: wilson(share, figures.test_problems).interval,
    )
    names = {"reached": "reach the answer", "gold_equivalent": "gold-equivalent"}
    equations = {
        shown: [(float(at), value) for at, value in by_round(figures.metrics, "pool", name).items()]
        for name, shown in names.items()
    }
    found = svg.line_chart(
        equations, title="Problems with an equation", x_label="round", share=True, whole_x=True
    )
    lacking: list[Child] = []
    if not by_labels:
        lacking.append(missing("No solver was tested after each round, so accuracy has no curve."))
    if not any(equations.values()):
        lacking.append(missing("No round measured how many equations were found."))
    return section(
        "curve",
        "Learning curve",
        "First, how well a solver does as labels come in, with 95% intervals: the closer to the upper dotted"
        " line, the less is left to gain from more labels. Then, how many problems have an equation that"
        " gives their answer, and how many have the right one.",
        plots(tested if by_labels or final is not None else None, found if any(equations.values()) else None),
        lacking,
    )


def bought(figures: RunFigures) -> Html:
    how = (
        "On unseen problems, with 95% intervals: compare this run with the same solver trained for free, and"
        " at full price. Gains are paired, problem by problem."
    )
    heading = "What the annotations bought"
    others = {name: values for name, values in figures.references.items() if name not in (NONE, ALL)}
    rows = [
        (NONE, 0, figures.references.get(NONE)),
        (RUN, figures.labels, figures.final),
        *((name, None, values) for name, values in others.items()),
        (ALL, figures.problems, figures.references.get(ALL)),
    ]
    cells: list[list[Child]] = [
        [
            name,
            number(labels),
            _measured(figures, values, "answer_accuracy"),
            _measured(figures, values, "class_accuracy"),
            gain(figures.gains[name]) if name in figures.gains else NOTHING,
        ]
        for name, labels, values in rows
    ]
    lacking = [name for name in (NONE, ALL) if accuracy(figures.references.get(name)) is None]
    head = ["trained with", "labels", "answers right", "equations right", "gain, points"]
    won = share_won(figures)
    return section(
        "bought",
        heading,
        how,
        table(heading, head, cells, strong=1),
        [tag("p", sentence) for sentence in _chance(figures)],
        tag("p", _worth(figures, won)) if won is not None else None,
        missing(f"Not measured in this run: {' and '.join(lacking)}.") if lacking else None,
    )


def _measured(figures: RunFigures, values: Mapping[str, float] | None, name: str) -> Child:
    """A share, its bar and its interval."""
    share = accuracy(values, name)
    within = interval(share, cases_of(figures, name))
    return [percent(share), meter(share), tag("span", within, class_="note") if within else None]


def _with_interval(share: float | None, cases: int) -> str:
    return f"{percent(share)} ({within})" if (within := interval(share, cases)) else percent(share)


def _chance(figures: RunFigures) -> list[str]:
    """A sentence for each gain that may be none."""
    return [
        f"The difference between {name} and {NONE} is {WITHIN_CHANCE}: {gain(found)} points on"
        f" {count(figures.test_problems, 'test problem')}. More test problems would tell."
        for name, found in figures.gains.items()
        if found.is_chance
    ]


def _worth(figures: RunFigures, won: float) -> str:
    share = figures.labels / figures.problems if figures.problems else None
    part = f"{percent(won, 0)} of what" if won < 1 else "as much as"  # more is chance
    return f"{percent(share)} of the labels won {part} annotating everything would win."


def rounds(figures: RunFigures) -> Html:
    heading, how = (
        "Round by round",
        "Each row is a model: the first before anybody was asked, each later one after one more round.",
    )
    measured = [
        (
            by_round(figures.metrics, split, name),
            title,
            partial(_with_interval, cases=cases_of(figures, name)) if split == "test" else show,
            meaning,
        )
        for split, name, title, show, meaning in COLUMNS
    ]
    measured = [column for column in measured if column[0]]
    if not measured:
        return section("rounds", heading, how, missing("No round was measured."))
    every = sorted({at for values, *_ in measured for at in values})
    rows: list[list[Child]] = [
        [at, *(show(values.get(at)) for values, _, show, _ in measured)] for at in every
    ]
    meanings = [[tag("dt", title), tag("dd", meaning)] for _, title, _, meaning in measured]
    return section(
        "rounds",
        heading,
        how,
        table(heading, ["round", *(title for _, title, _, _ in measured)], rows),
        tag("details", tag("summary", "What the columns mean"), tag("dl", meanings, class_="meanings")),
    )


def calibration(figures: RunFigures) -> Html:
    heading = "Can its confidence be trusted?"
    how = (
        "Bars should end on the dashed diagonal: of the equations it is 80% sure of, 80% should be right."
        " Below are the numbers of problems."
    )
    both = {"before": figures.before, "after": figures.after}
    measured = {name: value for name, value in both.items() if value is not None and sum(value.count) > 0}
    if not measured:
        sentence = "Nothing to compare confidence with: no problem has a known equation."
        return section("calibration", heading, how, missing(sentence))
    names = {"before": "Before calibration", "after": "Learnt from annotators"}
    head = ["", "ECE", "Brier score", "AUROC"]
    rows: list[list[Child]] = [[names[name], *_scores(value)] for name, value in measured.items()]
    return section(
        "calibration",
        heading,
        how,
        plots(
            *(
                svg.reliability_diagram(value.confidence, value.right, value.count, title=names[name])
                for name, value in measured.items()
            ),
            _risk(measured),
            tag(
                "div",
                table("Calibration", head, rows),
                tag(
                    "p",
                    "ECE is the mean gap between confidence and share right, Brier score the mean squared"
                    " error of confidence: 0 is perfect. AUROC is how often a right equation gets more"
                    " confidence than a wrong one: 1 is always, 0.5 is chance.",
                    class_="note",
                ),
            ),
        ),
        [missing(f"There are no figures {name} calibration.") for name in both if name not in measured],
    )


def _scores(value: Reliability) -> list[Child]:
    return [
        f"{x:.3f}" if x is not None and known(x) else NOTHING for x in (value.ece, value.brier, value.auroc)
    ]


def _risk(measured: Mapping[str, Reliability]) -> Html | None:
    lines = {name: list(value.risk_coverage) for name, value in measured.items() if value.risk_coverage}
    if not lines:
        return None
    return svg.line_chart(
        lines,
        title="Errors if only the surest are kept",
        x_label="share of problems kept, surest first",
        y_label="wrong among those kept",
        share=True,
        share_x=True,
        markers=False,
    )


def result(figures: RunFigures) -> str:
    """The run in a sentence or two."""
    share = f" ({percent(figures.labels / figures.problems)})" if figures.problems else ""
    asked = f"equations for {figures.labels:,} of {count(figures.problems, 'problem')}{share}"
    final = accuracy(figures.final)
    if final is None:
        return f"Annotators gave {asked}; no final solver was tested."
    unseen = count(figures.test_problems, "unseen problem")
    within = interval(final, figures.test_problems)
    sentence = f"With {asked} from annotators, the solver answers {percent(final)} of {unseen} correctly" + (
        f" (95% interval {within})." if within else "."
    )
    low, high = (accuracy(figures.references.get(name)) for name in (NONE, ALL))
    compared = [
        f"{percent(low)} with no annotations" if low is not None else "",
        f"{percent(high)} with every problem annotated" if high is not None else "",
    ]
    compared = [part for part in compared if part]
    if compared:
        sentence += f" It would be {' and '.join(compared)}."
    won = figures.gains.get(RUN)
    if won is not None and won.is_chance:
        sentence += f" What the annotations bought is {WITHIN_CHANCE}: {gain(won)} points."
    return sentence

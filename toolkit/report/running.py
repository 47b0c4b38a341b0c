"""Sections on the constants of the run, what it cost, and how to run it again."""

from toolkit.report import svg
from toolkit.report.figures import JoinedConstant, RunFigures
from toolkit.report.markup import Child, Html, tag
from toolkit.report.parts import missing, plots, section, table
from toolkit.report.results import RUN, WITHIN_CHANCE
from toolkit.report.values import count, duration, gain, known, middle, number, percent

ORACLE = "oracle"  # the annotator that always answers the same
REJECTED = 8  # constants that were not chosen: the strongest are enough


def constants(figures: RunFigures) -> Html:
    heading = "Constants"
    how = "Numbers that equations may use even if the text does not have them."
    why = (
        " They were chosen before the first round: a constant is kept if held-out answers profit. Won and"
        " lost are those that are right only with it, and only without it; opened are answers that nothing"
        " else reaches; by chance is what the best of some numbers wins that no book asks for."
    )
    listed = [
        tag("p", "V_const = {", tag("b", ", ".join(figures.constants)), "}"),
        *(tag("p", _joining(row)) for row in figures.joined),
    ]
    if figures.choice is None:
        return section("constants", heading, how, listed, missing("They were given, not chosen."))
    others = [row for row in figures.choice.evidence if not row.chosen][:REJECTED]
    rows = [
        (
            tag("b", row.constant) if row.chosen else row.constant,
            "yes" if row.chosen else "no",
            number(row.gold),
            number(row.opened),
            f"{row.won:,} − {row.lost:,}",
            number(row.chance),
            f"{row.template} ({row.in_class:,})" if row.template else "–",
        )
        for row in (*figures.choice.found, *others)
    ]
    head = ("Constant", "Chosen", "Gold equations", "Opened", "Won − lost", "By chance", "Commonest class")
    return section(
        "constants",
        heading,
        how + why,
        listed,
        table("Evidence for and against constants", head, rows),
    )


def _joining(row: JoinedConstant) -> str:
    return (
        f"{row.constant} joined before round {row.round}: {', '.join(row.annotators)} used it, in "
        f"{count(row.equations, 'equation')}."
    )


def cost(figures: RunFigures) -> Html:
    stages = {name: value for name, value in figures.stage_seconds.items() if known(value)}
    facts = tag("ul", [tag("li", fact) for fact in _facts(figures)], class_="facts")
    return section(
        "cost",
        "Time and label cost",
        "Where the machine’s time went, and what a label cost and gained.",
        plots(svg.bars(stages, title="Time by stage", show=duration) if stages else None, facts),
        None if stages else missing("The time of single stages was not recorded."),
    )


def _facts(figures: RunFigures) -> list[Child]:
    """Sentences about cost, as many as the figures allow."""
    facts: list[Child] = [f"The run took {duration(figures.seconds)} in all."]
    spent = [question.seconds for question in figures.asked if question.seconds is not None]
    spent = [seconds for seconds in spent if known(seconds)]
    if spent:
        facts.append(
            f"Annotators worked for {duration(sum(spent))}, typically {duration(middle(spent))} a question."
        )
    else:
        facts.append("How long annotators took is not known.")
    if figures.responses:
        share = percent(figures.usable / figures.responses, 0)
        facts.append(f"{figures.usable:,} of {count(figures.responses, 'response')} could be used ({share}).")
    won = figures.gains.get(RUN)
    if won is not None and figures.labels:
        if won.is_chance:
            facts.append(f"What the labels won in accuracy is {WITHIN_CHANCE}: {gain(won)} points.")
        else:
            each = number(figures.labels / (100 * won.difference), 3)
            facts.append(
                f"{count(figures.labels, 'label')} won {gain(won)} points of accuracy: {each} labels a point."
            )
    if not figures.labels:
        facts.append("No label was used.")
    return facts


def reproduce(figures: RunFigures) -> Html:
    versions = [[tag("dt", name), tag("dd", version)] for name, version in figures.versions.items()]
    return section(
        "reproduce",
        "Run it again",
        "This command, with this config and these versions, gives the same run."
        if figures.annotator == ORACLE
        else "This command, with this config and these versions, gives the same run as far as people answer "
        "the same.",
        tag("pre", tag("code", figures.command), class_="command", tabindex="0")
        if figures.command
        else missing("The command was not recorded."),
        tag(
            "p",
            "Seed ",
            tag("b", tag("code", figures.seed)),
            f" · data {figures.data} · annotator {figures.annotator}",
        ),
        tag("details", tag("summary", "Config, as resolved"), tag("pre", figures.config, tabindex="0"))
        if figures.config.strip()
        else missing("The config was not recorded."),
        tag("dl", versions, class_="versions") if versions else missing("Versions were not recorded."),
    )

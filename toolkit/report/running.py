"""Sections on what the run cost, and how to run it again."""

from toolkit.report import svg
from toolkit.report.figures import RunFigures
from toolkit.report.markup import Child, Html, tag
from toolkit.report.parts import missing, plots, section
from toolkit.report.results import RUN, WITHIN_CHANCE
from toolkit.report.values import count, duration, gain, known, middle, number, percent


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
    questions = [question.verdict for question in figures.asked if question.verdict != "pending"]
    if questions:
        used = questions.count("accepted")
        share = percent(used / len(questions), 0)
        facts.append(f"{used:,} of {count(len(questions), 'response')} could be used ({share}).")
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
        "This command, with this config and these versions, gives the same run.",
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

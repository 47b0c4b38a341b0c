"""The page of a sweep, in the style of a run's report: maps, the paper's ablation curve, cost."""

from collections.abc import Sequence
from dataclasses import dataclass

from toolkit.report import svg
from toolkit.report.markup import Child, Html, tag
from toolkit.report.page import document
from toolkit.report.parts import meter, missing, plots, section, table, tile
from toolkit.report.values import count, duration, interval, number, percent
from toolkit.statistics import paired
from tune.config import TuneConfig
from tune.figures import MAPS, TIME, show, spread
from tune.maps import MOST_VALUES, WIDTH, maps
from tune.plan import describe, explores, short
from tune.results import Setting, TrialResult, mean, ranked, settings, values

MOST_SERIES = 5
MOST_ROWS = 30
COLUMNS = ("gold_equations", *MAPS, "seconds")
HEADS = ("gold equations", "reached", "gold-equivalent", "solver", "seconds")


@dataclass(frozen=True)
class SweepFigures:
    name: str
    config: TuneConfig
    problems: int
    test_problems: int
    planned: int
    results: Sequence[TrialResult]
    seconds: float  # of all trials together
    command: str
    written: str  # the configuration as YAML
    versions: dict[str, str]


def render(figures: SweepFigures) -> str:
    """The whole page. A part without figures becomes a sentence that says so."""
    sections = {
        "maps": ("Map", maps(figures.config, figures.results)),
        "curve": ("Gold equations", _curve(figures)),
        "settings": ("Settings", _settings(figures)),
        "cost": ("Cost", _cost(figures)),
        "reproduce": ("Run again", _reproduce(figures)),
    }
    return document(f"{figures.name} · warmkit sweep", _headline(figures), sections)


def _headline(figures: SweepFigures) -> list[Html]:
    config, best = figures.config, next(iter(ranked(figures.config, figures.results)), None)
    about = [
        f"{count(figures.problems, 'problem')} of {config.data}",
        f"{', '.join(short(key) for key in config.space)} varied",
        count(len(config.seeds), "seed"),
        f"search {config.search}{', ASHA' if config.asha else ''}",
    ]
    lead = (
        f"Best by {_metric(config)}: {describe(best.keys)}."
        if best
        else f"No trial has a figure for {_metric(config)} yet."
    )
    return [
        tag("p", "warmkit sweep", class_="over"),
        tag("h1", figures.name),
        tag("p", f"{lead}{_chance(figures)}", class_="lead"),
        tag("p", " · ".join(about), class_="about"),
        tag("div", _tiles(figures, best), class_="tiles"),
    ]


def _chance(figures: SweepFigures) -> str:
    """A sentence about the settings whose solvers may be as good as the best one's."""
    if figures.config.metric != "answer_accuracy":
        return ""
    best_first = ranked(figures.config, figures.results)[:MOST_ROWS]
    equal = [
        other
        for other in best_first[1:]
        if paired(other.right_answers(), best_first[0].right_answers()).is_chance
    ]
    if not equal:
        return ""
    verb = "is" if len(equal) == 1 else "are"
    return f" {count(len(equal), 'other setting')} {verb} within chance of it, on the same test problems."


def _metric(config: TuneConfig) -> str:
    return MAPS.get(config.metric, config.metric).lower()


def _tiles(figures: SweepFigures, best: Setting | None) -> list[Html]:
    ended = {
        state: sum(result.state == state for result in figures.results)
        for state in ("done", "stopped", "failed")
    }
    note_ended = ", ".join(f"{many} {state}" for state, many in ended.items() if many) or "none has ended"
    shares = []
    for name, title in MAPS.items():
        found = best.values(name) if best else []
        value = mean(found)
        note = " ".join(filter(None, ("best setting", spread(name, found)))) if found else "not measured"
        if name == "answer_accuracy" and (within := interval(value, figures.test_problems)):
            note = f"{within}; {note}"
        shares.append(tile(title.partition(" on ")[0], percent(value), note, meter(value)))
    each = mean(values(figures.results, "seconds"))
    return [
        tile("Trials", f"{len(figures.results)} of {figures.planned}", note_ended, word=True),
        *shares,
        tile(
            "Gold equations",
            show("gold_equations", best.mean("gold_equations") if best else None),
            "best setting",
        ),
        tile("Time of all trials", duration(figures.seconds), f"{duration(each)} each", word=True),
    ]


def _curve(figures: SweepFigures) -> Html:
    """The paper's ablation (supplementary, "Varying Amount of Semi-supervision")."""
    lines: dict[str, dict[float, list[float]]] = {}
    for setting in settings(figures.results):
        gold, reached = setting.mean("gold_equations"), setting.values("reached")
        if gold is not None:
            line = lines.setdefault(_line(figures.config, setting), {})
            line.setdefault(round(gold), []).extend(reached)
    series = {
        name: [(gold, mean(found) or 0.0) for gold, found in sorted(points.items())]
        for name, points in sorted(lines.items(), key=lambda line: (len(line[0]), line[0]))
    }
    how = (
        "The paper’s ablation: the share of answers that training reaches, against the number of gold "
        "equations it was given, with and without beam exploration."
    )
    given = sorted({gold for points in series.values() for gold, _ in points})
    if len(given) < 2:
        sentence = "All trials were given the same number." if given else "No trial has ended yet."
        return section("curve", "How many gold equations", how, missing(sentence))
    return section(
        "curve",
        "How many gold equations",
        how,
        plots(
            svg.line_chart(
                dict(list(series.items())[:MOST_SERIES]),
                title="Answers reached",
                x_label="gold equations",
                share=True,
                whole_x=True,
            ),
            table(
                "Answers reached, by number of gold equations",
                ["gold equations", *map(number, given)],
                [
                    [name, *(percent(dict(points).get(gold)) for gold in given)]
                    for name, points in series.items()
                ],
            )
            if len(given) <= MOST_VALUES
            else None,
        ),
    )


def _line(config: TuneConfig, setting: Setting) -> str:
    """The curve that a setting belongs to."""
    if "method" in config.space:
        return setting.config.method
    if not explores(setting.config):
        return "no beam exploration"
    return f"beam width {setting.keys[WIDTH]}" if WIDTH in config.space else "beam exploration"


def _settings(figures: SweepFigures) -> Html:
    config = figures.config
    best = ranked(config, figures.results)
    failed = [result for result in figures.results if result.state == "failed"]
    how = (
        f"Means over seeds with their deviation, the best by {_metric(config)} first. Of the solver also the"
        f" 95% interval that {count(figures.test_problems, 'test problem')} allow."
    )
    rows: list[list[Child]] = [
        [
            describe(setting.keys),
            *(_cell(name, setting.values(name), figures.test_problems) for name in COLUMNS),
            len(setting.results),
        ]
        for setting in best[:MOST_ROWS]
    ]
    content: list[Child] = [
        table("Settings", ["setting", *HEADS, "trials"], rows, strong=0)
        if rows
        else missing("No trial has ended yet.")
    ]
    if len(best) > MOST_ROWS:
        content.append(tag("p", f"{len(best) - MOST_ROWS} more are in results.parquet.", class_="note"))
    stopped = sum(result.state == "stopped" for result in figures.results)
    if stopped:
        content.append(
            tag(
                "p",
                f"ASHA stopped {count(stopped, 'trial')} early; they are not in the means.",
                class_="note",
            )
        )
    if failed:
        errors: list[list[Child]] = [
            [result.trial.name, result.trial.setting, result.trial.seed, result.error or ""]
            for result in failed
        ]
        content.append(table("Trials that failed", ["failed", "setting", "seed", "error"], errors))
    return section("settings", "Settings", how, *content)


def _cell(name: str, found: Sequence[float], tests: int) -> str:
    within = interval(mean(found), tests) if name == "answer_accuracy" else ""
    parts = (show(name, mean(found)), spread(name, found) if name in MAPS else "", within and f"({within})")
    return " ".join(filter(None, parts))


def _cost(figures: SweepFigures) -> Html:
    spent = values(figures.results, "seconds")
    how = "The time of a trial on one core: training, generation, and the solver if there is one."
    if not spent:
        return section("cost", "Cost", how, missing("No trial has ended yet."))
    groups: dict[str, list[float]] = {}
    for setting in settings(figures.results):
        groups.setdefault(_line(figures.config, setting), []).extend(setting.values("seconds"))
    bars = {
        name: mean(found) or 0.0
        for name, found in sorted(groups.items(), key=lambda g: (len(g[0]), g[0]))
        if found
    }
    facts = [
        f"{count(len(spent), 'trial')} took {duration(sum(spent))} of one core in all.",
        f"A trial took {duration(mean(spent))} on average, {duration(min(spent))} to {duration(max(spent))}.",
    ]
    return section(
        "cost",
        "Cost",
        how,
        plots(
            svg.bars(bars, title=TIME, show=duration),
            tag("ul", [tag("li", fact) for fact in facts], class_="facts"),
        ),
    )


def _reproduce(figures: SweepFigures) -> Html:
    config = figures.config
    versions = [[tag("dt", name), tag("dd", version)] for name, version in figures.versions.items()]
    seeds = ", ".join(map(str, config.seeds))
    return section(
        "reproduce",
        "Run it again",
        "This command, with this config and these versions, gives "
        + (
            "other proposals if trials end in another order."
            if config.search == "tpe"
            else "the same figures, seconds aside."
        ),
        tag("pre", tag("code", figures.command), class_="command", tabindex="0"),
        tag(
            "p",
            "Problems by seed ",
            tag("b", tag("code", config.seed)),
            f" · trials by seeds {seeds} · data {config.data}"
            f" · {count(figures.test_problems, 'test problem')}",
        ),
        tag("details", tag("summary", "Config, as resolved"), tag("pre", figures.written, tabindex="0")),
        tag("dl", versions, class_="versions"),
    )

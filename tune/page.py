"""The page of a sweep, in the style of a run's report: heat maps, the paper's ablation curve, cost."""

import itertools
import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from toolkit.report import svg
from toolkit.report.markup import Child, Html, tag
from toolkit.report.page import document
from toolkit.report.parts import meter, missing, plots, section, table, tile
from toolkit.report.values import NOTHING, count, duration, number, percent
from tune.config import GOLD, TuneConfig
from tune.plan import explores, short, told, written
from tune.results import Outcome, Setting, deviation, mean, ranked, settings, values

WIDTH = "warm.explore.beam_width"
BEAM = "warm.explore.beam_exploration"
MOST_VALUES = 8  # of an axis, so that a cell can be read
MOST_SERIES = 5
MOST_ROWS = 30
MAPS = {
    "reached": "Equations reached",
    "gold_equivalent": "Gold-equivalent",
    "answer_accuracy": "Solver accuracy on the test problems",
}
TIME = "Time of a trial"
COLUMNS = ("gold_equations", *MAPS, "seconds")
HEADS = ("gold equations", "reached", "gold-equivalent", "solver", "seconds")


@dataclass(frozen=True)
class SweepFigures:
    name: str
    config: TuneConfig
    problems: int
    test_problems: int
    planned: int
    outcomes: Sequence[Outcome]
    seconds: float  # of all trials together
    command: str
    written: str  # the configuration as YAML
    versions: dict[str, str]


def render(figures: SweepFigures) -> str:
    """The whole page. Parts that the sweep has no figures for become a sentence that says so."""
    sections = {
        "maps": ("Map", _maps(figures)),
        "curve": ("Gold equations", _curve(figures)),
        "settings": ("Settings", _settings(figures)),
        "cost": ("Cost", _cost(figures)),
        "reproduce": ("Run again", _reproduce(figures)),
    }
    return document(f"{figures.name} · warmkit sweep", _headline(figures), sections)


def show(name: str, value: float | None) -> str:
    """A figure as people read it: shares in percent, time in its units."""
    if value is None:
        return NOTHING
    return duration(value) if name == "seconds" else number(value) if name not in MAPS else percent(value)


def spread(name: str, found: Sequence[float]) -> str:
    """The deviation over seeds, of shares in points: "± 1.2"."""
    apart = deviation(found)
    if apart is None:
        return ""
    return f"± {100 * apart:.1f}" if name in MAPS else f"± {duration(apart)}"


def _headline(figures: SweepFigures) -> list[Html]:
    config, best = figures.config, next(iter(ranked(figures.config, figures.outcomes)), None)
    about = [
        f"{count(figures.problems, 'problem')} of {config.data}",
        f"{', '.join(short(key) for key in config.space)} varied",
        count(len(config.seeds), "seed"),
        f"search {config.search}{', ASHA' if config.asha else ''}",
    ]
    lead = (
        f"Best by {_metric(config)}: {told(best.keys)}."
        if best
        else f"No trial has come to a figure of {_metric(config)} yet."
    )
    return [
        tag("p", "warmkit sweep", class_="over"),
        tag("h1", figures.name),
        tag("p", lead, class_="lead"),
        tag("p", " · ".join(about), class_="about"),
        tag("div", _tiles(figures, best), class_="tiles"),
    ]


def _metric(config: TuneConfig) -> str:
    return MAPS.get(config.metric, config.metric).lower()


def _tiles(figures: SweepFigures, best: Setting | None) -> list[Html]:
    ended = {
        state: sum(one.state == state for one in figures.outcomes) for state in ("done", "stopped", "failed")
    }
    told_ended = ", ".join(f"{many} {state}" for state, many in ended.items() if many) or "none has ended"
    shares = []
    for name, title in MAPS.items():
        found = best.values(name) if best else []
        value = mean(found)
        note = " ".join(filter(None, ("best setting", spread(name, found)))) if found else "not measured"
        shares.append(tile(title.partition(" on ")[0], percent(value), note, meter(value)))
    each = mean(values(figures.outcomes, "seconds"))
    return [
        tile("Trials", f"{len(figures.outcomes)} of {figures.planned}", told_ended, word=True),
        *shares,
        tile(
            "Gold equations",
            show("gold_equations", best.mean("gold_equations") if best else None),
            "best setting",
        ),
        tile("Time of all trials", duration(figures.seconds), f"{duration(each)} each", word=True),
    ]


def _axes(config: TuneConfig, found: Sequence[Setting]) -> tuple[str, str] | None:
    """The two keys of the map: gold and beam width where they are varied, else the first ones."""
    listed = {key: _distinct(found, key) for key in config.space}
    keys = [key for key in (GOLD, WIDTH, *config.space) if 1 < len(listed.get(key, ())) <= MOST_VALUES]
    keys = list(dict.fromkeys(keys))
    return (keys[0], keys[1]) if len(keys) > 1 else None


def _distinct(found: Sequence[Setting], key: str) -> list[Any]:
    """The values of a key that were tried, numbers in their order."""
    seen = {json.dumps(one.keys[key]): one.keys[key] for one in found}
    tried = list(seen.values())
    if all(isinstance(value, int | float) for value in tried):
        return sorted(tried)
    return tried


def _maps(figures: SweepFigures) -> Html:
    config = figures.config
    found = settings(figures.outcomes)
    axes = _axes(config, found)
    how = (
        "Reached: problems to whose answer training found an equation. Gold-equivalent: problems whose "
        "likeliest equation is then the right one; generation looks further, so it may be more. "
        f"Cells are means over {count(len(config.seeds), 'seed')}, with the deviation below."
    )
    if len(config.seeds) == 1:
        how = how.replace(
            "means over 1 seed, with the deviation below", "of one seed, so without a deviation"
        )
    ranged = _ranged(config, found)
    if axes is None:
        how = how.partition(" Cells are")[0]
        drawn = [*ranged, _progress(figures)] if ranged else []
        if not drawn:
            drawn = [missing("A map needs two keys that were tried with two to eight values each.")]
        return section("maps", "What each setting comes to", how, plots(*drawn))
    explored = (
        [one for one in found if explores(one.config)] if BEAM in config.space and WIDTH in axes else found
    )
    others = [short(key) for key in config.space if key not in (*axes, BEAM)]
    if others:
        how += f" They are also means over {', '.join(others)}."
    if len(explored) < len(found):
        how += " Without beam exploration a beam has no width: those trials are in the next section."
    heading = f"{_axis(axes[0])} × {_axis(axes[1])}"
    maps = [_map(explored, axes, name, title) for name, title in {**MAPS, "seconds": TIME}.items()]
    return section("maps", heading[0].upper() + heading[1:], how, plots(*maps, *ranged))


def _ranged(config: TuneConfig, found: Sequence[Setting]) -> list[Html]:
    """The metric against each key that was drawn from a range; the best setting stands out."""
    measured = [one for one in found if one.mean(config.metric) is not None]
    if len(measured) < 2:
        return []
    best = ranked(config, [outcome for one in measured for outcome in one.outcomes])[0]
    return [
        svg.line_chart(
            {
                "settings": [_at(config, key, one) for one in measured if one.keys != best.keys],
                "best": [_at(config, key, best)],
            },
            title=f"{_titled(config)}, by {_axis(key)}",
            x_label=_axis(key),
            share=config.metric in MAPS,
            share_x=key == GOLD,
            log_x=span.log,
            joined=False,
            description=f"{count(len(measured), 'setting')}; the best at {written(best.keys[key])}.",
        )
        for key, span in config.space.items()
        if span.is_range
    ]


def _at(config: TuneConfig, key: str, one: Setting) -> tuple[float, float]:
    return float(one.keys[key]), one.mean(config.metric) or 0.0


def _progress(figures: SweepFigures) -> Html:
    """The best so far, after each setting."""
    config = figures.config
    values = [one.mean(config.metric) for one in settings(figures.outcomes)]
    pick = max if config.mode == "max" else min
    best = list(itertools.accumulate((value for value in values if value is not None), pick))
    return svg.line_chart(
        {"best so far": list(enumerate(best, 1))},
        title=f"{_titled(config)}, the best so far",
        x_label="settings tried",
        share=config.metric in MAPS,
        whole_x=True,
        markers=False,
    )


def _titled(config: TuneConfig) -> str:
    return MAPS.get(config.metric, TIME).partition(" on ")[0]


def _axis(key: str) -> str:
    return "gold fraction" if key == GOLD else short(key).replace("_", " ")


def _map(found: Sequence[Setting], axes: tuple[str, str], name: str, title: str) -> Html | None:
    down, across = axes
    rows, columns = _distinct(found, down), _distinct(found, across)
    cells = [
        [
            [v for one in found if (one.keys[down], one.keys[across]) == (r, c) for v in one.values(name)]
            for c in columns
        ]
        for r in rows
    ]
    if not any(cell for line in cells for cell in line):
        return missing(f"{title}: not measured.")
    means = [[mean(cell) for cell in line] for line in cells]
    return svg.heat_map(
        [_value(down, value) for value in rows],
        [_value(across, value) for value in columns],
        [[math.nan if value is None else value for value in line] for line in means],
        title=title,
        row_label=_axis(down).partition(" ")[0],
        column_label=_axis(across),
        show=partial(show, name),
        notes=[[spread(name, cell) for cell in line] for line in cells]
        if any(len(cell) > 1 for line in cells for cell in line)
        else None,
    )


def _value(key: str, value: Any) -> str:
    return (
        percent(value, 0 if abs(100 * value - round(100 * value)) < 1e-9 else 1)
        if key == GOLD
        else written(value)
    )


def _curve(figures: SweepFigures) -> Html:
    """The paper's ablation (supplementary, "Varying Amount of Semi-supervision")."""
    lines: dict[str, dict[float, list[float]]] = {}
    for one in settings(figures.outcomes):
        gold, reached = one.mean("gold_equations"), one.values("reached")
        if gold is not None:
            lines.setdefault(_line(figures.config, one), {}).setdefault(round(gold), []).extend(reached)
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
        said = "All trials were given the same number." if given else "No trial has come to its end yet."
        return section("curve", "How many gold equations", how, missing(said))
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


def _line(config: TuneConfig, one: Setting) -> str:
    """The curve that a setting belongs to."""
    if not explores(one.config):
        return "no beam exploration"
    return f"beam width {one.config.warm.explore.beam_width}" if WIDTH in config.space else "beam exploration"


def _settings(figures: SweepFigures) -> Html:
    config = figures.config
    best = ranked(config, figures.outcomes)
    failed = [one for one in figures.outcomes if one.state == "failed"]
    how = f"Means over seeds with their deviation, the best by {_metric(config)} first."
    rows: list[list[Child]] = [
        [told(one.keys), *(_cell(name, one.values(name)) for name in COLUMNS), len(one.outcomes)]
        for one in best[:MOST_ROWS]
    ]
    content: list[Child] = [
        table("Settings", ["setting", *HEADS, "trials"], rows, strong=0)
        if rows
        else missing("No trial has come to its end yet.")
    ]
    if len(best) > MOST_ROWS:
        content.append(tag("p", f"{len(best) - MOST_ROWS} more are in results.parquet.", class_="note"))
    stopped = sum(one.state == "stopped" for one in figures.outcomes)
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
            [one.trial.name, one.trial.told, one.trial.seed, one.error or ""] for one in failed
        ]
        content.append(table("Trials that failed", ["failed", "setting", "seed", "error"], errors))
    return section("settings", "Settings", how, *content)


def _cell(name: str, found: Sequence[float]) -> str:
    return " ".join(filter(None, (show(name, mean(found)), spread(name, found) if name in MAPS else "")))


def _cost(figures: SweepFigures) -> Html:
    spent = values(figures.outcomes, "seconds")
    how = "What a trial takes on one core: training, generation, and the solver where there is one."
    if not spent:
        return section("cost", "Cost", how, missing("No trial has come to its end yet."))
    groups: dict[str, list[float]] = {}
    for one in settings(figures.outcomes):
        groups.setdefault(_line(figures.config, one), []).extend(one.values("seconds"))
    bars = {
        name: mean(found) or 0.0
        for name, found in sorted(groups.items(), key=lambda g: (len(g[0]), g[0]))
        if found
    }
    facts = [
        f"{count(len(spent), 'trial')} took {duration(sum(spent))} of one core in all.",
        f"A trial took {duration(mean(spent))} in the mean, {duration(min(spent))} to "
        f"{duration(max(spent))}.",
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
            "other proposals where trials end in another order."
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

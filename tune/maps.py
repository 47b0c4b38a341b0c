"""The figures of each setting of a sweep: heat maps of two keys, and plots of the metric by key."""

import itertools
import json
import math
from collections.abc import Sequence
from functools import partial
from typing import Any

from toolkit.report import svg
from toolkit.report.markup import Html
from toolkit.report.parts import missing, plots, section
from toolkit.report.values import count, percent
from tune.config import GOLD, TuneConfig
from tune.figures import MAPS, TIME, show, spread
from tune.plan import explores, short, written
from tune.results import Setting, TrialResult, mean, ranked, settings

WIDTH = "warm.explore.beam_width"
BEAM = "warm.explore.beam_exploration"
MOST_VALUES = 8  # of an axis, so that cells stay readable
NO_MAP = "A map needs two keys that were tried with two to eight values each."
WHAT = (
    "Reached: problems to whose answer training found an equation. Gold-equivalent: problems whose "
    "likeliest equation is then the right one; generation searches further, so it may find more."
)


def _axes(config: TuneConfig, found: Sequence[Setting]) -> tuple[str, str] | None:
    """The two keys of the map: gold and beam width if they vary, else the first keys that do."""
    listed = {key: _distinct(found, key) for key in config.space}
    keys = [key for key in (GOLD, WIDTH, *config.space) if 1 < len(listed.get(key, ())) <= MOST_VALUES]
    keys = list(dict.fromkeys(keys))
    return (keys[0], keys[1]) if len(keys) > 1 else None


def _distinct(found: Sequence[Setting], key: str) -> list[Any]:
    """The values of a key that were tried, numbers in order."""
    seen = {json.dumps(setting.keys[key]): setting.keys[key] for setting in found}
    tried = list(seen.values())
    if all(isinstance(value, int | float) for value in tried):
        return sorted(tried)
    return tried


def maps(config: TuneConfig, results: Sequence[TrialResult]) -> Html:
    """The section of the page; if there is nothing to draw, a sentence that says so."""
    found = settings(results)
    axes = _axes(config, found)
    ranged = _ranged(config, results)
    if axes is None:
        shown = plots(*ranged, _progress(config, found)) if ranged else missing(NO_MAP)
        return section("maps", "What each setting comes to", WHAT, shown)
    cells = f"means over {count(len(config.seeds), 'seed')}, with the deviation below"
    if len(config.seeds) == 1:
        cells = "of one seed, so without a deviation"
    how = f"{WHAT} Cells are {cells}."
    explored = found
    if BEAM in config.space and WIDTH in axes:
        explored = [setting for setting in found if explores(setting.config)]
    others = [short(key) for key in config.space if key not in (*axes, BEAM)]
    if others:
        how += f" They are also means over {', '.join(others)}."
    if len(explored) < len(found):
        how += " Without beam exploration the beam has no width: those trials are in the next section."
    heading = f"{_axis(axes[0])} × {_axis(axes[1])}"
    drawn = [_map(explored, axes, name, title) for name, title in {**MAPS, "seconds": TIME}.items()]
    return section("maps", heading[0].upper() + heading[1:], how, plots(*drawn, *ranged))


def _ranged(config: TuneConfig, results: Sequence[TrialResult]) -> list[Html]:
    """Plots of the metric by each key that is drawn from a range; the best setting stands out."""
    measured = ranked(config, results)
    if len(measured) < 2:
        return []
    best, *rest = measured
    return [
        svg.line_chart(
            {
                "settings": [_point(config, key, setting) for setting in rest],
                "best": [_point(config, key, best)],
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


def _point(config: TuneConfig, key: str, setting: Setting) -> tuple[float, float]:
    return float(setting.keys[key]), setting.mean(config.metric) or 0.0


def _progress(config: TuneConfig, found: Sequence[Setting]) -> Html:
    """The best so far, after each setting."""
    values = [setting.mean(config.metric) for setting in found]
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
            [
                value
                for setting in found
                if (setting.keys[down], setting.keys[across]) == (r, c)
                for value in setting.values(name)
            ]
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

"""Plots as SVG text, for the report and for files: no script, one drawing for light and dark.

standalone(line_chart({"reached": [(0, 0.4), (1, 0.6)]}, title="Equations", x_label="round"))
"""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from itertools import pairwise

from toolkit.report.axes import (
    DASHES,
    GROUND,
    WIDTH,
    Area,
    Show,
    colour,
    drawing,
    frame,
    label,
    legend,
    line,
    marker,
    sample,
    shorten,
    ticks,
    width_of,
)
from toolkit.report.markup import Html, tag
from toolkit.report.values import number, percent

Points = Sequence[tuple[float, float]]
DARK = "--plot-1:#56B4E9;--plot-2:#E69F00;--plot-3:#2DBE95;--plot-4:#DE93BC;--plot-5:#F0E442"
EMPTY = "There is nothing to draw."


def _finite(points: Iterable[tuple[float, float]]) -> list[tuple[float, float]]:
    return [(x, y) for x, y in points if math.isfinite(x) and math.isfinite(y)]


def _range(values: Sequence[float], around: float = 0.0) -> tuple[float, float]:
    """The least and the greatest value, widened by a share; a little apart even if they are equal."""
    low, high = min(values), max(values)
    if high - low < 1e-9 * max(1.0, abs(high)):
        half = abs(high) / 10 or 0.5
        return low - half, high + half
    return low - around * (high - low), high + around * (high - low)


def _nothing(title: str) -> Html:
    return drawing(60, title, EMPTY, label(EMPTY, 4, 46))


def line_chart(
    series: Mapping[str, Points],
    *,
    title: str,
    x_label: str = "",
    y_label: str = "",
    references: Mapping[str, float] | None = None,
    share: bool = False,
    whole_x: bool = False,
    share_x: bool = False,
    log_x: bool = False,
    joined: bool = True,
    y_range: tuple[float, float] | None = None,
    markers: bool = True,
    spread: Callable[[float], tuple[float, float]] | None = None,
    description: str | None = None,
) -> Html:
    """Lines through points (points alone, if not `joined`), and horizontal lines to compare them with.

    `share` and `share_x` write an axis in percent; `whole_x` puts ticks at whole numbers only, `log_x` at
    powers of ten. Points that are not finite, or have no logarithm, are left out. `spread` gives the interval
    of a value, drawn as a thin bar through its point.
    """
    if log_x:
        series = {name: [(math.log10(x), y) for x, y in points if x > 0] for name, points in series.items()}
    drawn = {name: _finite(points) for name, points in series.items()}
    drawn = {name: points for name, points in drawn.items() if points}
    levels = {name: value for name, value in (references or {}).items() if math.isfinite(value)}
    if not drawn:
        return _nothing(title)
    show_y: Show = (lambda value: percent(value, 0)) if share else number
    show_x: Show = (lambda value: percent(value, 0)) if share_x else _power if log_x else number
    heights = [y for points in drawn.values() for _, y in points]
    ends = [end for y in heights for end in spread(y)] if spread is not None else []
    y_range = y_range or _y_range([*heights, *ends, *levels.values()], share)
    x_range = _range([x for points in drawn.values() for x, _ in points])
    y_ticks = ticks(*y_range)
    if share and any(abs(100 * at - round(100 * at)) > 1e-6 for at in y_ticks):
        show_y = percent
    drawers = [
        partial(sample, at, has_line=joined and len(p) > 1, has_marker=markers or len(p) == 1)
        for at, p in enumerate(drawn.values())
    ]
    samples, top = legend(list(drawn), drawers, 38) if len(drawn) > 1 else ([], 26.0)
    left = 12 + max(width_of(show_y(at)) for at in y_ticks)
    area = Area(left, top + (34 if y_label else 14), WIDTH - 18, top + 264, x_range, y_range)
    parts = frame(area, ticks(*x_range, whole=whole_x or log_x), y_ticks, show_x, show_y, x_label)
    if y_label:
        parts.append(label(y_label, 4, top + 18, fill_opacity=0.75))
    if joined:
        parts += [_polyline(area, points, index) for index, points in enumerate(drawn.values())]
    parts += _levels(area, levels, percent if share else number)
    if spread is not None:
        parts += [_bar(area, x, spread(y), i) for i, points in enumerate(drawn.values()) for x, y in points]
    for index, (name, points) in enumerate(drawn.items()):
        if markers or len(points) == 1:
            parts += [_point(area, at, index, name, show_x, percent if share else number) for at in points]
    summary = description or _summary(drawn, levels, show_x, percent if share else number, x_label)
    return drawing(area.bottom + (52 if x_label else 30), title, summary, samples, parts)


def _power(value: float) -> str:
    return f"{10**value:.2g}"


def _y_range(values: Sequence[float], share: bool) -> tuple[float, float]:
    low, high = _range(values, around=0.12)
    if min(values) >= 0:
        low = max(0.0, low)
    if share and max(values) <= 1:
        high = min(1.0, high)
    for _ in range(2):  # end on ticks, so that the frame is closed; wider, it may have fewer ticks
        step = ticks(low, high)
        if len(step) > 1:
            width = step[1] - step[0]
            low, high = math.floor(low / width + 1e-9) * width, math.ceil(high / width - 1e-9) * width
    return low, high


def _polyline(area: Area, points: Points, index: int) -> Html:
    return tag(
        "polyline",
        points=" ".join(f"{area.x(x):.1f},{area.y(y):.1f}" for x, y in points),
        style=f"fill:none;stroke:{colour(index)};stroke-width:2.5;stroke-linejoin:round",
        stroke_dasharray=DASHES[index % len(DASHES)],
    )


def _point(area: Area, at: tuple[float, float], index: int, name: str, show_x: Show, show_y: Show) -> Html:
    x, y = area.x(at[0]), area.y(at[1])
    target = tag("circle", cx=x, cy=y, r=11, fill="transparent")  # a finger is wider than a marker
    return tag("g", tag("title", f"{name}: {show_y(at[1])} at {show_x(at[0])}"), target, marker(index, x, y))


def _bar(area: Area, x: float, ends: tuple[float, float], index: int) -> Html:
    low, high = (area.y(end) for end in ends)
    return line(area.x(x), low, area.x(x), high, stroke=colour(index), stroke_opacity=0.6, stroke_width=2)


def _levels(area: Area, levels: Mapping[str, float], show: Show) -> list[Html]:
    """Reference lines. A curve usually climbs from the lowest to the highest of them: the highest is named
    above its left end and the others below their right ends, where the curve is not."""
    parts = []
    ordered = sorted(levels.items(), key=lambda pair: -pair[1])
    for rank, (name, value) in enumerate(ordered):
        y = area.y(value)
        above = (rank == 0 and (len(ordered) > 1 or y > area.top + 20)) or area.bottom - y < 22
        x, anchor = (area.left + 6, "start") if above else (area.right - 4, "end")
        parts.append(line(area.left, y, area.right, y, stroke_dasharray="3 4", stroke_opacity=0.7))
        halo = f"paint-order:stroke;stroke:{GROUND};stroke-width:4"
        words = shorten(f"{name} {show(value)}", area.right - area.left)
        parts.append(label(words, x, y - 6 if above else y + 17, anchor, style=halo))
    return parts


def _summary(
    series: Mapping[str, Points], levels: Mapping[str, float], show_x: Show, show_y: Show, x_label: str
) -> str:
    at = f"at {x_label} " if x_label else "at "
    ends = [
        f"{name}: from {show_y(p[0][1])} {at}{show_x(p[0][0])} to {show_y(p[-1][1])} {at}{show_x(p[-1][0])}."
        if len(p) > 1
        else f"{name}: {show_y(p[0][1])} {at}{show_x(p[0][0])}."
        for name, p in series.items()
    ]
    return " ".join(ends + [f"{name}: {show_y(value)}." for name, value in levels.items()])


def reliability_diagram(
    confidence: Sequence[float], right: Sequence[float], count: Sequence[int], *, title: str
) -> Html:
    """Bars of the share right at each bin's mean confidence, the gap to the diagonal set apart, and below
    them how many problems each bin holds."""
    rows = zip(confidence, right, count, strict=True)
    bins = sorted((c, r, n) for c, r, n in rows if n > 0 and math.isfinite(c) and math.isfinite(r))
    if not bins:
        return _nothing(title)
    names = ["share right", "too sure", "not sure enough"]
    keys, top = legend(names, [partial(_block, style) for style in _GAPS], 38)
    area = Area(54, top + 16, WIDTH - 18, top + 266, (0, 1), (0, 1))
    steps = ticks(0, 1, most=5)
    parts = frame(area, steps, steps, lambda v: percent(v, 0), lambda v: percent(v, 0), "confidence")
    most = max(n for _, _, n in bins)
    floor = area.bottom + 108
    for (c, r, n), (low, high) in zip(bins, _edges([c for c, _, _ in bins]), strict=True):
        x, width = area.x(low) + 1.5, max(2.0, area.x(high) - area.x(low) - 3)
        lower, upper = area.y(min(c, r)), area.y(max(c, r))
        tall = max(1.5, 40 * n / most)
        parts.append(
            tag(
                "g",
                tag("title", f"confidence {percent(c)}, right {percent(r)}, {number(n)} problems"),
                tag("rect", x=x, y=lower, width=width, height=area.bottom - lower, style=_GAPS[0]),
                tag("rect", x=x, y=upper, width=width, height=lower - upper, style=_GAPS[1 if c > r else 2]),
                tag("rect", x=x, y=floor - tall, width=width, height=tall, fill="currentColor", opacity=0.35),
            )
        )
        if width >= width_of(number(n), 14):
            parts.append(label(number(n), x + width / 2, floor - tall - 4, "middle", class_="small"))
    parts.append(line(area.x(0), area.y(0), area.x(1), area.y(1), stroke_dasharray="5 4"))
    parts.append(line(area.left, floor, area.right, floor, stroke_opacity=0.55))
    total = sum(n for _, _, n in bins)
    parts.append(label(f"{number(total)} problems", area.left, floor + 19, fill_opacity=0.75))
    summary = " ".join(f"Confidence {percent(c)}: {percent(r)} right of {number(n)}." for c, r, n in bins)
    return drawing(floor + 28, title, summary, keys, parts)


# Distinct by outline as well as by colour: the share right, too sure, not sure enough.
_GAPS = (
    f"fill:{colour(0)}",
    f"fill:{colour(1)};fill-opacity:0.3;stroke:{colour(1)};stroke-dasharray:3 2",
    f"fill:{colour(2)};stroke:{colour(2)}",
)


def _block(style: str, x: float, y: float) -> list[Html]:
    return [tag("rect", x=x + 9, y=y - 7, width=19, height=14, style=style)]


def _edges(centres: Sequence[float]) -> list[tuple[float, float]]:
    """A bar reaches half-way to its neighbours, and at most a twentieth to either side."""
    halves = [(a + b) / 2 for a, b in pairwise(centres)]
    lows = [
        max(0.0, c - 0.05, *before) for c, before in zip(centres, [[], *([h] for h in halves)], strict=True)
    ]
    highs = [
        min(1.0, c + 0.05, *after) for c, after in zip(centres, [*([h] for h in halves), []], strict=True)
    ]
    return list(zip(lows, highs, strict=True))


def bars(values: Mapping[str, float], *, title: str, show: Show = number) -> Html:
    """Horizontal bars, in the order given, each with its value."""
    kept = {name: value for name, value in values.items() if math.isfinite(value) and value >= 0}
    if not kept:
        return _nothing(title)
    left = 14 + min(190, max(width_of(name) for name in kept))
    room = WIDTH - left - 10 - max(width_of(show(value)) for value in kept.values())
    most = max(kept.values()) or 1.0
    parts = []
    for row, (name, value) in enumerate(kept.items()):
        y, long = 36 + 32 * row, max(2.0, room * value / most)
        bar = tag("rect", x=left, y=y, width=long, height=20, rx=2, style=f"fill:{colour(0)}")
        parts.append(tag("g", tag("title", f"{name}: {show(value)}"), bar))
        parts.append(label(shorten(name, 190), left - 10, y + 15, "end"))
        parts.append(label(show(value), left + long + 7, y + 15))
    summary = " ".join(f"{name}: {show(value)}." for name, value in kept.items())
    return drawing(36 + 32 * len(kept), title, summary, parts)


def heat_map(
    rows: Sequence[str],
    columns: Sequence[str],
    values: Sequence[Sequence[float]],
    *,
    title: str,
    row_label: str = "",
    column_label: str = "",
    show: Show = number,
    notes: Sequence[Sequence[str]] | None = None,
) -> Html:
    """A table whose cells are darker for greater values; a value that is not finite is a dash.

    `notes` are a few words below each value.
    """
    finite = [value for line_ in values for value in line_ if math.isfinite(value)]
    if not rows or not columns or not finite:
        return _nothing(title)
    low, high = min(finite), max(finite)
    left = 14 + min(150, max(width_of(name) for name in [*rows, row_label]))
    width = max(float(WIDTH), left + 44 * len(columns) + 4)
    cell, top = (width - left - 4) / len(columns), 76
    tall = 38 if notes is None else 58
    parts = [
        label(column_label, left + cell * len(columns) / 2, 42, "middle", fill_opacity=0.75),
        label(shorten(row_label, left - 10), left - 10, 66, "end", fill_opacity=0.75),
    ]
    for c, name in enumerate(columns):
        parts.append(label(shorten(name, cell), left + cell * (c + 0.5), 66, "middle"))
    sentences = []
    for r, (name, row_values) in enumerate(zip(rows, values, strict=True)):
        y = top + tall * r
        parts.append(label(shorten(name, left - 14), left - 10, y + tall / 2 + 5, "end"))
        for c, (column, value) in enumerate(zip(columns, row_values, strict=True)):
            shown = show(value) if math.isfinite(value) else "–"
            note = notes[r][c] if notes is not None else ""
            sentences.append(f"{name}, {column}: {f'{shown} {note}'.strip()}.")
            # At most 0.72, so that text in the page's own colour is readable on it, in light and dark.
            deep = 0.05 + 0.67 * ((value - low) / (high - low) if high > low else 0.5)
            square = tag(
                "rect", x=left + cell * c + 1, y=y + 1, width=cell - 2, height=tall - 2, rx=3, fill="#0072B2",
                fill_opacity=deep if math.isfinite(value) else 0.0,
            )  # fmt: skip
            tip = tag("title", f"{name}, {column}: {f'{shown} {note}'.strip()}")
            middle = left + cell * (c + 0.5)
            level = y + (24 if note else tall / 2 + 5)
            inside = label(shown, middle, level, "middle") if width_of(shown) < cell else None
            below = label(note, middle, y + 43, "middle", class_="small") if width_of(note) < cell else None
            parts.append(tag("g", tip, square, inside, below if note else None))
    return drawing(top + tall * len(rows) + 6, title, " ".join(sentences), parts, width=width)


def standalone(svg: Html) -> str:
    """The drawing as a file that a browser opens, with its own colours for light and dark."""
    style = (
        "svg{--plot-ground:#fff;background:#fff;color:#1c2126;max-width:60rem;"
        'font-family:system-ui,"Noto Sans","Noto Sans Devanagari","Noto Sans CJK SC",sans-serif}'
        "@media(prefers-color-scheme:dark){svg{--plot-ground:#15191d;background:#15191d;color:#e4e7ea;"
        f"{DARK}}}}}"
    )
    opening, rest = svg.split(">", 1)  # attributes are escaped: the first > ends the opening tag
    # Quotes in a style element need no escaping, and CSS would not understand them escaped.
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{opening}>{tag("style", Html(style))}{rest}\n'

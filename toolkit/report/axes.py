"""What all plots share: size, colours, markers, ticks, the frame with its two axes, the legend.

A plot is 480 units wide and scales by its viewBox. Text is 13 units; the page sets it to 16 on a phone,
where a unit is two thirds of a pixel, so everything here leaves room for 16.
"""

import math
import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from toolkit.report.markup import Child, Html, tag

WIDTH = 480
ROOMY = 16  # the size of text that must still fit
# Okabe and Ito's palette, for people who see colours differently; a page may set the variables for dark.
COLOURS = (
    "var(--plot-1, #0072B2)",
    "var(--plot-2, #D55E00)",
    "var(--plot-3, #009E73)",
    "var(--plot-4, #CC79A7)",
    "var(--plot-5, #E69F00)",
)
DASHES = (None, "8 4", "2 3", "9 3 2 3", "5 2")
GROUND = "var(--plot-ground, transparent)"
Show = Callable[[float], str]
Sample = Callable[[float, float], Sequence[Html]]  # draws a sample 28 wide from the middle of its left side


def colour(index: int) -> str:
    return COLOURS[index % len(COLOURS)]


def width_of(words: str, size: float = ROOMY) -> float:
    """About how wide a text is; fonts differ, so this is generous."""
    wide = sum(unicodedata.east_asian_width(letter) in "WF" for letter in words)
    return size * (wide + 0.56 * (len(words) - wide))


def wrap(words: str, room: float, size: float = ROOMY) -> list[str]:
    lines = [""]
    for word in words.split():
        longer = f"{lines[-1]} {word}".strip()
        if lines[-1] and width_of(longer, size) > room:
            lines.append(word)
        else:
            lines[-1] = longer
    return lines


def shorten(words: str, room: float) -> str:
    if width_of(words) <= room:
        return words
    while words and width_of(words + "…") > room:
        words = words[:-1]
    return words.rstrip() + "…"


def label(words: str, x: float, y: float, anchor: str = "start", **attributes: str | float | None) -> Html:
    return tag("text", words, x=x, y=y, text_anchor=anchor, **{"fill": "currentColor", **attributes})


def ticks(low: float, high: float, most: int = 6, whole: bool = False) -> list[float]:
    """Round numbers from `low` to `high`, at steps of 1, 2 or 5 times a power of ten."""
    span = high - low
    if not (math.isfinite(span) and span > 0):
        return [low]
    power = 10.0 ** math.floor(math.log10(span / most))
    step = next(power * f for f in (1, 2, 5, 10, 20) if span / (power * f) <= most)
    if whole:
        step = max(1.0, float(round(step)))
    first, final = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    return [round(at * step, 12) for at in range(first, final + 1)]


def drawing(height: float, title: str, description: str, *content: Child, width: float = WIDTH) -> Html:
    """The svg element, with a name and a description for screen readers; the title is also drawn."""
    lines = wrap(title, width - 8, ROOMY + 1)
    heading = [
        label(line, 4, 18 + 20 * at, font_weight="600", font_size="14", class_="heading")
        for at, line in enumerate(lines)
    ]
    extra = 20 * (len(lines) - 1)
    return tag(
        "svg",
        tag("title", title),
        tag("desc", description),
        heading,
        tag("g", *content, transform=f"translate(0 {extra})"),
        xmlns="http://www.w3.org/2000/svg",
        viewBox=f"0 0 {width:g} {height + extra:g}",
        role="img",
        aria_label=title,
        class_="plot",
        font_size="13",
    )


@dataclass(frozen=True)
class Area:
    """Where the plot is on the drawing, and which values its edges stand for."""

    left: float
    top: float
    right: float
    bottom: float
    x_range: tuple[float, float]
    y_range: tuple[float, float]

    def x(self, value: float) -> float:
        low, high = self.x_range
        return self.left + (value - low) / (high - low) * (self.right - self.left)

    def y(self, value: float) -> float:
        low, high = self.y_range
        return self.bottom - (value - low) / (high - low) * (self.bottom - self.top)


def line(x1: float, y1: float, x2: float, y2: float, **attributes: str | float | None) -> Html:
    return tag("line", x1=x1, y1=y1, x2=x2, y2=y2, **{"stroke": "currentColor", **attributes})


def frame(
    area: Area, xs: Sequence[float], ys: Sequence[float], show_x: Show, show_y: Show, x_label: str
) -> list[Html]:
    """Faint lines across at the y ticks, a firmer one below, tick labels, and what x is."""
    drawn = []
    for at in ys:
        y = area.y(at)
        drawn.append(line(area.left, y, area.right, y, stroke_opacity=0.14))
        drawn.append(label(show_y(at), area.left - 7, y + 4.5, "end", fill_opacity=0.75))
    drawn.append(line(area.left, area.bottom, area.right, area.bottom, stroke_opacity=0.55))
    for at in xs:
        x = area.x(at)
        drawn.append(line(x, area.bottom, x, area.bottom + 4, stroke_opacity=0.55))
        drawn.append(label(show_x(at), x, area.bottom + 20, "middle", fill_opacity=0.75))
    drawn.append(label(x_label, (area.left + area.right) / 2, area.bottom + 41, "middle"))
    return drawn


def marker(index: int, x: float, y: float) -> Html:
    """Series differ by shape as well as by colour."""
    style = f"fill:{colour(index)};stroke:{GROUND};stroke-width:1"
    shape = index % 4
    if shape == 0:
        return tag("circle", cx=x, cy=y, r=4.5, style=style)
    if shape == 1:
        return tag("rect", x=x - 4, y=y - 4, width=8, height=8, style=style)
    triangle, diamond = ((0, -5.5), (5, 4), (-5, 4)), ((0, -6), (6, 0), (0, 6), (-6, 0))
    corners: Sequence[tuple[float, float]] = triangle if shape == 2 else diamond
    return tag("polygon", points=" ".join(f"{x + dx:.1f},{y + dy:.1f}" for dx, dy in corners), style=style)


def sample(index: int, x: float, y: float, has_line: bool, has_marker: bool) -> list[Html]:
    """A series as the legend shows it."""
    style = f"stroke:{colour(index)};stroke-width:2.5"
    stroke = line(x, y, x + 28, y, style=style, stroke_dasharray=DASHES[index % len(DASHES)])
    return [stroke] * has_line + [marker(index, x + 14, y)] * has_marker


def legend(names: Sequence[str], samples: Sequence[Sample], top: float) -> tuple[list[Html], float]:
    """A sample and a name for each, in as many rows as needed; and where the last row ends."""
    drawn: list[Html] = []
    x, y = 4.0, top
    for name, draw in zip(names, samples, strict=True):
        name = shorten(name, WIDTH - 60)
        needed = 36 + width_of(name) + 14
        if x > 4 and x + needed - 14 > WIDTH:
            x, y = 4.0, y + 22
        drawn += draw(x, y)
        drawn.append(label(name, x + 35, y + 4.5))
        x += needed
    return drawn, y + 10

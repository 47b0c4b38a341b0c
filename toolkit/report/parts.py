"""The parts that the sections of the page are made of."""

from collections.abc import Sequence

from toolkit.report.markup import Child, Html, tag
from toolkit.report.values import known


def section(name: str, heading: str, how: str, *content: Child) -> Html:
    """A section: its heading, one sentence on how to read it, and what it shows."""
    body = (tag("h2", heading), tag("p", how, class_="how"), *content)
    return tag("section", *body, id=name)


def missing(sentence: str) -> Html:
    return tag("p", sentence, class_="missing")


def plots(*drawn: Child) -> Html:
    return tag("div", [tag("figure", plot) for plot in drawn if plot is not None], class_="plots")


def table(
    caption: str, head: Sequence[Child], rows: Sequence[Sequence[Child]], strong: int | None = None
) -> Html:
    """A table in a box that scrolls by itself if the screen is narrow; `strong` is the row to highlight.
    The box can be focused, so that it also scrolls by keyboard."""
    top = tag("tr", [tag("th", cell, scope="col") for cell in head])
    body = [
        tag(
            "tr",
            tag("th", first, scope="row"),
            [tag("td", cell) for cell in rest],
            class_="strong" if at == strong else None,
        )
        for at, (first, *rest) in enumerate(rows)
    ]
    inner = tag("table", tag("caption", caption), tag("thead", top), tag("tbody", body))
    return tag("div", inner, class_="scroll", tabindex="0", role="region", aria_label=caption)


def meter(share: float | None, *marks: float | None) -> Html | None:
    """A thin bar that shows a share, with marks on it; None if the share is not known. The number stands
    beside it, so the bar is not read aloud."""
    if share is None or not known(share):
        return None
    filled = tag("span", style=f"width:{_css_percent(share)}", class_="filled")
    ticks = [tag("span", style=f"left:{_css_percent(at)}", class_="mark") for at in marks if at is not None]
    return tag("span", filled, ticks, class_="meter", aria_hidden="true")


def _css_percent(share: float) -> str:
    return f"{100 * min(1.0, max(0.0, share)):.1f}%"


def tile(name: str, value: str, note: str, bar: Html | None = None, word: bool = False) -> Html:
    """A figure of the headline; `word` sets it in smaller type, for a value in words."""
    shown = tag("p", value, class_="value word" if word else "value")
    return tag("div", tag("p", name, class_="name"), shown, bar, tag("p", note, class_="note"), class_="tile")


def problem(text: str, lang: str | None = None) -> Html:
    """A word problem, in its language: the browser picks the font and the direction by it."""
    return tag("p", text, class_="problem", lang=lang or None, dir="auto")

"""HTML and SVG text, safe from injection: every string is escaped unless it is `Html`."""

import html
import re
from collections.abc import Iterable

# What XML does not allow, and lone surrogates, which cannot be written as UTF-8.
FORBIDDEN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff\ufffe\uffff]")
VOID = frozenset({"br", "hr", "meta"})


class Html(str):
    """Text that is markup already. Adding to it or formatting it gives a plain `str`, escaped again."""

    __slots__ = ()


Child = str | int | Iterable["Child"] | None


def text(child: Child) -> Html:
    """Markup as it is, anything else escaped, lists joined, None left out."""
    if child is None:
        return Html("")
    if isinstance(child, Html):
        return child
    if isinstance(child, str | int):
        return Html(html.escape(FORBIDDEN.sub("\ufffd", str(child)), quote=True))
    return Html("".join(text(part) for part in child))


def tag(element: str, *children: Child, **attributes: str | float | bool | None) -> Html:
    """`tag("p", "a < b", class_="how")`: a trailing _ is dropped, other _ become -; None and False vanish.

    Names of elements and attributes are written in this package, never taken from data.
    """
    shown = []
    for key, value in attributes.items():
        if value is None or value is False:
            continue
        name = key.rstrip("_").replace("_", "-")
        given = "" if value is True else f"{value:.2f}" if isinstance(value, float) else str(value)
        shown.append(f' {name}="{text(given)}"')
    opening = f"<{element}{''.join(shown)}>"
    return Html(opening if element in VOID else f"{opening}{text(children)}</{element}>")

"""Text for a terminal: what files, annotators and servers wrote can't move its cursor or turn its lines."""

import re
from collections.abc import Iterable
from typing import TextIO

from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment

# Control characters except tab and line break, marks that change the direction or the line of what follows,
# halves of characters. The joiners of Hindi (U+200C, U+200D) are none of these.
_HARMFUL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")


def harmless(text: str) -> str:
    """The text with � for each character that a terminal would obey instead of showing it."""
    return _HARMFUL.sub("�", text)


def harmless_json(text: str) -> str:
    """JSON with such characters as escapes, which mean the same."""
    return _HARMFUL.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


class Screen(Console):
    """A console that shows every text literally: no escapes, no [markup], no :emoji:.

    Colours turn off in a pipe, and with NO_COLOR. `file` replaces the output stream.
    """

    def __init__(self, file: TextIO | None = None, stderr: bool = False) -> None:
        super().__init__(file=file, stderr=stderr, highlight=False, markup=False, emoji=False)

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        """All that is printed comes this way. Rich's own control codes are segments of another kind."""
        for segment in super().render(renderable, options):
            yield segment if segment.control else Segment(harmless(segment.text), segment.style)

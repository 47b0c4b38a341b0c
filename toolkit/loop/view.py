"""What a run reports. The loop calls these methods; the command line draws what they report."""

from typing import Protocol


class View(Protocol):
    def stage(self, round_: int, name: str) -> None:
        """A stage begins."""

    def progress(self, done: float, total: float) -> None:
        """The progress of the stage."""

    def figures(self, **figures: float | int | None) -> None:
        """The newest figures: D_s, labels, reached, confidence, …"""

    def say(self, sentence: str) -> None:
        """A sentence for the person at the screen."""


class Quiet:
    """A view that shows nothing."""

    def stage(self, round_: int, name: str) -> None: ...

    def progress(self, done: float, total: float) -> None: ...

    def figures(self, **figures: float | int | None) -> None: ...

    def say(self, sentence: str) -> None: ...

"""What a run tells whoever watches it. The loop calls these; the command line draws them."""

from typing import Protocol


class View(Protocol):
    def stage(self, round_: int, name: str) -> None:
        """A stage begins."""

    def progress(self, done: float, total: float) -> None:
        """How far the stage is."""

    def figures(self, **figures: float | int | None) -> None:
        """What is known now: D_s, labels, reached, confidence, …"""

    def say(self, sentence: str) -> None:
        """Something that a person should read."""


class Quiet:
    """Nobody watches."""

    def stage(self, round_: int, name: str) -> None: ...

    def progress(self, done: float, total: float) -> None: ...

    def figures(self, **figures: float | int | None) -> None: ...

    def say(self, sentence: str) -> None: ...

"""The live view of a run: one panel on a terminal, plain lines in a pipe."""

import time

from rich.console import Group, RenderableType
from rich.live import Live
from rich.panel import Panel
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from toolkit.cli.output import clock, echo, percent, time_left
from toolkit.screen import Screen

SHARES = ("reached", "confidence", "answer_accuracy")
NAMES = {
    "known": "equations known",
    "labels": "labels used",
    "reached": "answers reached",
    "confidence": "confidence",
    "answer_accuracy": "solver, test answers",
}


class LiveView:
    """Draws what a loop reports. `interactive` means that the annotator uses the terminal itself.

    If it asks people, it does not guess how much time is left: nobody knows when they answer.
    """

    def __init__(self, run: str, rounds: int | None, interactive: bool, asks_people: bool = False) -> None:
        self.screen = Screen(stderr=True)
        self.run, self.interactive = run, interactive
        self.rounds = None if asks_people else rounds
        self.round, self.name, self.share = 0, "", 0.0
        self.known: dict[str, float | int | None] = {}
        self.begun = self.round_begun = time.monotonic()
        self.took: list[float] = []
        self.message = ""
        self.live = Live(console=self.screen, transient=True, refresh_per_second=4)

    def __enter__(self) -> "LiveView":
        if self.screen.is_terminal:
            self.live.start()
        return self

    def __exit__(self, *error: object) -> None:
        self.live.stop()

    def stage(self, round_: int, name: str) -> None:
        if round_ != self.round:
            now = time.monotonic()
            if self.round:
                self.took.append(now - self.round_begun)
            self.round_begun = now
        self.round, self.name, self.share, self.message = round_, name, 0.0, ""
        if not self.screen.is_terminal:
            echo(f"round {round_}: {name}", err=True)
        elif self.interactive and name == "annotate":
            self.live.stop()
        else:
            self.live.start()
        self._draw()

    def progress(self, done: float, total: float) -> None:
        self.share = done / total if total else 1.0
        self._draw()

    def figures(self, **figures: float | int | None) -> None:
        self.known |= figures
        self._draw()

    def say(self, sentence: str) -> None:
        if sentence != self.message and not self.live.is_started:
            echo(sentence, err=True)
        self.message = sentence
        self._draw()

    def _draw(self) -> None:
        if not self.live.is_started:
            return
        heading = Text.assemble((f"round {self.round}", "bold"), "  ", (self.name, "cyan"))
        table = Table.grid(padding=(0, 3))
        for name, label in NAMES.items():
            if self.known.get(name) is not None:
                table.add_row(Text(label, "dim"), self._written(name))
        table.add_row(Text("time", "dim"), f"{clock(time.monotonic() - self.begun)}{self._left()}")
        bar = Table.grid()
        bar.add_row(ProgressBar(total=1.0, completed=min(self.share, 1.0), width=44))
        parts: list[RenderableType] = [heading, bar, table]
        if self.message:
            parts.append(Text(self.message, "yellow"))
        self.live.update(Panel(Group(*parts), title=Text(self.run), title_align="left", width=64))

    def _written(self, name: str) -> str:
        value = self.known[name]
        assert value is not None
        return percent(value) if name in SHARES else f"{value:,.0f}"

    def _left(self) -> str:
        """An estimate from the rounds so far, if the number of rounds is fixed."""
        if self.rounds is None or not self.took:
            return ""
        return time_left(sum(self.took), len(self.took), max(0, self.rounds + 1 - self.round))

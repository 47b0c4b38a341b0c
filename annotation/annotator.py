"""People in Label Studio as annotators of a loop."""

from collections.abc import Sequence
from pathlib import Path

from annotation.book import Book
from annotation.client import Client, Unreachable
from annotation.project import ensure_project
from annotation.pull import pull
from annotation.push import push
from toolkit.loop.annotator import Question, Response


class LabelStudio:
    """Asks in a project of its own, which `folder` knows. Making one fails if the server can't be reached.

    From then on a server that is away is a warning: what could not be sent or fetched is the next time.
    """

    name = "label-studio"

    def __init__(self, client: Client, folder: Path, title: str) -> None:
        self.client, self.book = client, Book(folder)
        project = ensure_project(client, self.book, title)
        self.place, self.project = project.url, project.id
        self.warnings: list[str] = []
        self._pending = list(project.warnings)  # told with the next `collect`
        self._last = 0

    def submit(self, questions: Sequence[Question]) -> None:
        try:
            self._pending += push(self.client, self.book, questions).warnings
        except Unreachable as error:
            self._pending.append(_later(error))

    def collect(self) -> Sequence[Response]:
        """What is new or changed since the last time; all there is the first time."""
        self.warnings, self._pending = self._pending, []
        try:
            self.warnings += pull(self.client, self.book).warnings
        except Unreachable as error:
            if _later(error) not in self.warnings:
                self.warnings.append(_later(error))
        responses, unclear, self._last = self.book.responses(self._last)
        self.warnings += unclear
        return responses

    def waits(self) -> bool:
        return True


def _later(error: Unreachable) -> str:
    return f"{error} It is tried again."

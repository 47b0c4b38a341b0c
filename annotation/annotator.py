"""Label Studio as the annotator of a loop."""

from collections.abc import Sequence
from pathlib import Path

from annotation.client import Client, Unreachable
from annotation.project import ensure_project
from annotation.pull import pull
from annotation.push import push
from annotation.store import TaskStore
from toolkit.annotators.questions import Question, Response


class LabelStudio:
    """Asks in a project of its own, which the task store in `folder` names.

    Making one fails if the server can't be reached. After that, an unreachable server is a warning: what
    could not be sent or fetched is tried again the next time.
    """

    name = "label-studio"

    def __init__(self, client: Client, folder: Path, title: str) -> None:
        self.client, self.store = client, TaskStore(folder)
        project = ensure_project(client, self.store, title)
        self.location, self.project = project.url, project.id
        self.warnings: list[str] = []
        self._pending = list(project.warnings)  # part of the warnings of the next `collect`
        self._last = 0

    def submit(self, questions: Sequence[Question]) -> None:
        try:
            self._pending += push(self.client, self.store, questions).warnings
        except Unreachable as error:
            self._pending.append(_later(error))

    def collect(self) -> Sequence[Response]:
        """What is new or has changed since the last time; everything the first time."""
        self.warnings, self._pending = self._pending, []
        try:
            self.warnings += pull(self.client, self.store).warnings
        except Unreachable as error:
            if _later(error) not in self.warnings:
                self.warnings.append(_later(error))
        responses, unclear, self._last = self.store.responses(self._last)
        self.warnings += unclear
        return responses

    def waits(self) -> bool:
        return True


def _later(error: Unreachable) -> str:
    return f"{error} It is tried again."

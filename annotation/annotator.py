"""Label Studio as the annotator of a loop."""

from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path

from annotation.client import Client, LabelStudioError, Unreachable
from annotation.project import ensure_project
from annotation.pull import pull
from annotation.push import push
from annotation.store import TaskStore
from annotation.summary import AnnotationSummary
from annotation.verdicts import show_verdicts
from toolkit.annotators.questions import Question, Response
from toolkit.equations import DEFAULT_CONSTANTS, Constant


class LabelStudio:
    """Asks in a project of its own, which the task store in `folder` names.

    Making one fails if the server can't be reached. After that, an unreachable server is a warning: what
    could not be sent or fetched is tried again the next time.
    """

    name = "label-studio"

    def __init__(
        self,
        client: Client,
        folder: Path,
        title: str,
        *,
        join: int | None = None,
        langs: Iterable[str] = (),
        overlap: int = 1,
        constants: Sequence[Constant] = DEFAULT_CONSTANTS,
    ) -> None:
        """`join` is a project that exists; the other arguments are those of a new one."""
        self.client, self.store = client, TaskStore(folder)
        self.summary = AnnotationSummary(self.store, constants)
        project = ensure_project(client, self.store, title, join=join, langs=langs, overlap=overlap)
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
        with suppress(LabelStudioError):  # the table of tasks is for people, not for the loop
            show_verdicts(self.client, self.summary, responses)
        return responses

    def waits(self) -> bool:
        return True


def _later(error: Unreachable) -> str:
    return f"{error} It is tried again."

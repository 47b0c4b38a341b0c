"""The annotator that a configuration names."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from toolkit.errors import WarmkitError
from toolkit.loop.annotator import Annotator
from toolkit.loop.config import LoopConfig
from toolkit.loop.file import FileAnnotator
from toolkit.loop.oracle import Oracle
from toolkit.loop.run import Run
from toolkit.loop.terminal import Terminal


def annotator_of(run: Run) -> Annotator:
    settings = run.config.annotator
    if settings.name == "terminal":
        return Terminal(run.constants)
    if settings.name == "file":
        return FileAnnotator(run.folder / "annotate")
    if settings.name == "label-studio":
        from annotation.annotator import LabelStudio
        from annotation.client import Client
        from annotation.keys import find_connection

        title = settings.project or f"warmkit {run.name}"
        return LabelStudio(Client(find_connection()), run.book, title)
    return Oracle(run.problems(), settings.error_rate, run.config.seed, settings.skip_rate, run.constants)


@contextmanager
def woken(annotator: Annotator) -> Iterator[Callable[[float], object]]:
    """How to sleep while people annotate: until Label Studio rings, or it is time to look anyway."""
    from annotation.annotator import LabelStudio
    from annotation.webhook import bell

    if not isinstance(annotator, LabelStudio):
        raise WarmkitError(f"Only Label Studio can wake the loop, not the annotator {annotator.name}.")
    with bell(annotator.client, annotator.project) as rung:
        yield rung.wait


def check_annotator(config: LoopConfig) -> None:
    """A sentence before a run begins, where its annotators could not be reached."""
    if config.annotator.name == "label-studio":
        from annotation.check import who
        from annotation.client import Client
        from annotation.keys import find_connection

        with Client(find_connection()) as client:
            who(client)

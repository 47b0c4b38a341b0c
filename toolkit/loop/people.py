"""The annotator that a configuration names."""

from toolkit.loop.annotator import Annotator
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
    return Oracle(run.problems(), settings.error_rate, run.config.seed, settings.skip_rate, run.constants)

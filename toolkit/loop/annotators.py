"""The annotators that a configuration can name. A new one is a file with a class, and a line in ANNOTATORS.

The command line imports this file first, so what is slow to import is imported inside functions.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from toolkit.errors import WarmkitError

if TYPE_CHECKING:
    from annotation.listener import Listen
    from toolkit.annotators.questions import Annotator
    from toolkit.loop.config import LoopConfig
    from toolkit.loop.run import Run


def _oracle(run: "Run") -> "Annotator":
    from toolkit.annotators.oracle import Oracle

    settings = run.config.annotator
    return Oracle(
        run.stored.table,
        settings.error_rate,
        run.config.seed,
        settings.skip_rate,
        run.constants,
        not run.config.fixed_constants,
    )


def _terminal(run: "Run") -> "Annotator":
    from toolkit.annotators.terminal import Terminal

    return Terminal(run.constants, more_constants=not run.config.fixed_constants)


def _file(run: "Run") -> "Annotator":
    from toolkit.annotators.file import FileAnnotator

    rounds = {item.round for item in run.ledger.batch()}  # without the rounds that were undone
    return FileAnnotator(run.folder / "annotate", rounds=rounds, recorded=run.ledger.recorded())


def _label_studio(run: "Run") -> "Annotator":
    from annotation.annotator import LabelStudio
    from annotation.client import Client
    from annotation.keys import find_connection

    settings = run.config.annotator
    return LabelStudio(
        Client(find_connection()),
        run.store,
        settings.title or f"warmkit {run.name}",
        join=settings.project,
        langs=run.stored.columns("lang")["lang"],
        overlap=settings.overlap,
        constants=run.constants,
    )


def _llm(run: "Run") -> "Annotator":
    from annotation.llm.annotator import Llm
    from toolkit.loop.ledger import last_opened
    from toolkit.loop.proposals import asking_of, checker_of

    return Llm(asking_of(run), run.stored.few, checker_of(run), lambda: run.known(last_opened(run.ledger)))


def _python(run: "Run") -> "Annotator":
    raise WarmkitError(
        f"{run.folder}: the annotator of this run is a Python object. Resume the run from its Python program."
    )


ANNOTATORS: dict[str, Callable[["Run"], "Annotator"]] = {
    "oracle": _oracle,  # the gold equations of the data set
    "terminal": _terminal,
    "file": _file,
    "label-studio": _label_studio,
    "llm": _llm,
    "python": _python,
}

PEOPLE = ("terminal", "file", "label-studio")
SEVERAL = ("label-studio", "python")  # who can be more than one
FIRST = ("llm", "oracle")  # who can be followed by another: they answer at once


def annotator_of(run: "Run") -> "Annotator":
    """The annotator that the configuration of a run names, or the chain of them."""
    *first, last = run.config.annotator.names
    annotator = ANNOTATORS[last](run)
    if not first:
        return annotator
    from toolkit.annotators.chain import Chain

    recorded = {response.external_id for response in run.ledger.recorded()}
    for name in reversed(first):
        annotator = Chain(ANNOTATORS[name](run), annotator, recorded)
    return annotator


def check_annotator(config: "LoopConfig") -> None:
    """Raise an error before a run begins, if its annotators can't be reached."""
    names = config.annotator.names
    if "llm" in names or config.llm.propose:
        from annotation.llm.chat import chat_url
        from annotation.llm.key import find_key

        chat_url(config.llm)
        find_key()
    if "label-studio" in names:
        from annotation.check import who
        from annotation.client import Client
        from annotation.keys import find_connection

        with Client(find_connection()) as client:
            who(client)


@contextmanager
def webhook_sleep(annotator: "Annotator", listen: "Listen") -> Iterator[Callable[[float], object]]:
    """A sleep that ends early when somebody annotates in Label Studio."""
    from annotation.annotator import LabelStudio
    from annotation.webhook import webhook
    from toolkit.annotators.chain import Chain

    while isinstance(annotator, Chain):
        annotator = annotator.then
    if not isinstance(annotator, LabelStudio):
        raise WarmkitError(f"Only Label Studio can wake the loop, not the annotator {annotator.name}.")
    with webhook(annotator.client, annotator.project, listen) as wake_up:
        yield wake_up.wait

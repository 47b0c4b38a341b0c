"""The labeling page: its layout is interface.xml, its words are those of the problem's language."""

from collections.abc import Mapping, Sequence
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from toolkit.annotators.questions import ShownCandidate, labels
from toolkit.data.languages import language, languages
from toolkit.data.languages.language import PageLabels
from toolkit.equations import show_number

if TYPE_CHECKING:
    from label_studio_sdk.label_interface.interface import LabelInterface

PICK, EQUATION, REASON = "pick", "equation", "reason"  # the controls of interface.xml
OWN, BAD = "own", "bad"  # picks that are not a candidate
HOTKEYS = "123456789"

WRONG_KEY = "wrong answer key"
REASONS = {WRONG_KEY: "k", "not solvable": "n", "unclear text": "u", "not a word problem": "p"}  # → hotkey


def page() -> str:
    """The labeling config, as Label Studio takes it."""
    return Path(__file__).with_name("interface.xml").read_text(encoding="utf-8")


def fits_page(task: Mapping[str, Any]) -> bool:
    """Whether a task has what the page shows, and its predictions are ones of the page.

    A server takes any task, and shows a broken page then. Label Studio's own SDK knows what a page can hold.
    """
    interface = _interface()
    data: Any = {"data": task["data"]}
    return bool(interface.validate_task(data)) and all(
        interface.validate_prediction(prediction) for prediction in task.get("predictions", ())
    )


@cache
def _interface() -> "LabelInterface":
    from label_studio_sdk.label_interface.interface import LabelInterface  # it takes half a second to load

    return LabelInterface(page())


def words(lang: str) -> PageLabels:
    return language(lang).labels


def facts(lang: str, answer: float, numbers: Sequence[Fraction]) -> str:
    """The known answer and the numbers of the text, as one line."""
    listed = ", ".join(show_number(value) for value in numbers)
    return f"{words(lang).answer}: {answer:.12g}  ·  {words(lang).numbers}: {listed}"


def choices(lang: str, candidates: Sequence[ShownCandidate]) -> list[dict[str, Any]]:
    """The candidates with their hotkeys, then what can always be picked. Nothing marks the favourite.

    Annotations hold the alias of a choice: of a candidate, its template.
    """
    candidates = list({candidate.template: candidate for candidate in candidates}.values())[: len(HOTKEYS)]
    return [
        *(
            {"value": label, "alias": candidate.template, "hotkey": key}
            for candidate, label, key in zip(candidates, labels(candidates), HOTKEYS, strict=False)
        ),
        {"value": words(lang).own, "alias": OWN, "hotkey": "o"},
        {"value": words(lang).bad, "alias": BAD, "hotkey": "b"},
    ]


@cache
def reasons(lang: str) -> list[dict[str, str]]:
    return [
        {"value": text, "alias": reason, "hotkey": key}
        for text, (reason, key) in zip(words(lang).reasons, REASONS.items(), strict=True)
    ]


def instructions() -> str:
    """For annotators, above the page, in all languages that have instructions."""
    return "<br>\n".join(known.instructions for known in languages() if known.instructions)

"""The labeling page: its layout is interface.xml, its words are those of the problem's language."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from toolkit.annotators.questions import Question, ShownCandidate, labels
from toolkit.annotators.wording import operands_of, shown_numbers
from toolkit.data.languages import language
from toolkit.data.languages.language import PageLabels

if TYPE_CHECKING:
    from label_studio_sdk.label_interface.interface import LabelInterface

PICK, EQUATION, REASON = "pick", "equation", "reason"  # the controls of interface.xml
OWN, BAD = "own", "bad"  # picks that are not a candidate
HOTKEYS = "123456789"

WRONG_KEY = "wrong answer key"
REASONS = {WRONG_KEY: "k", "not solvable": "n", "unclear text": "u", "not a word problem": "p"}  # → hotkey


# What a task holds: its key, what the page shows, and what the table of tasks shows.
TASK_DATA = (
    *("problem_id", "round", "attempt", "source", "problem", "marked", "answer", "verdict", "facts"),
    *("complaint", "candidates", "reasons"),
)


def page() -> str:
    """The labeling config, as Label Studio takes it."""
    return Path(__file__).with_name("interface.xml").read_text(encoding="utf-8")


def has_controls(label_config: str) -> bool:
    """Whether a page has the controls that answers are read from."""
    names = set(re.findall(r"""\bname\s*=\s*["']([^"']*)["']""", label_config))
    return {PICK, EQUATION, REASON} <= names


def with_controls(label_config: str) -> str:
    """Somebody's page, followed by ours; ours alone if it shows nothing."""
    ours = re.sub(r"^<!--.*?-->\s*", "", page(), flags=re.DOTALL)
    head, end, tail = label_config.rpartition("</View>")
    shows_something = re.search(r"\bname\s*=", label_config)
    return f"{head}{ours}{end}{tail}" if end and shows_something else page()


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


def facts(question: Question) -> str:
    """The known answer and the numbers of the text, as one line."""
    labels = words(question.lang)
    listed = ", ".join(shown_numbers(question))
    return f"{labels.answer}: {question.answer:.12g}  ·  {labels.numbers}: {listed}"


def marked(question: Question) -> str:
    """The text as HTML, with its numbers marked. Nothing in the text is markup."""
    parts, done = [], 0
    for operand in operands_of(question):
        parts += [escape(question.text[done : operand.start]), "<b>"]
        parts += [escape(question.text[operand.start : operand.end]), "</b>"]
        done = operand.end
    return "".join([*parts, escape(question.text[done:])]).replace("\n", "<br>")


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


def instructions(langs: Iterable[str]) -> str:
    """For annotators, above the page: in the languages of the problems, the most frequent first.

    English is last, for whoever reads none of them.
    """
    codes = [code for code, _ in Counter(langs).most_common()]
    texts = [language(code).instructions for code in dict.fromkeys([*codes, "en"])]
    return "<br>\n".join(filter(None, texts))

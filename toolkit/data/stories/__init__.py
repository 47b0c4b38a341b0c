"""Seeded math word problems, each with its equation and its answer.

What the stories say is data: one file a language (`en.yaml`), whose head explains its format. To add a
language is to add a file. The bundled problems are written by this package and can be regenerated to the
byte:

    warmkit data generate --lang en --count 1200 --seed 2022 --out toolkit/data/bundled/en.jsonl
    warmkit data generate --lang hi --count 400 --seed 2022 --out toolkit/data/bundled/hi.jsonl
    warmkit data generate --lang zh --count 400 --seed 2022 --out toolkit/data/bundled/zh.jsonl

Every number of an equation stands in the text, or is 1 or π. About 45 % of the equations have one
operator, 33 % two, 15 % three and 7 % four; about 30 % of the texts have a number that is not used.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from random import Random
from typing import Any

from toolkit.data.numbers import find_numbers
from toolkit.data.stories.story_file import StoryLanguage, load_language
from toolkit.data.stories.telling import Story, tell_all

__all__ = ["Story", "languages", "masked", "story_language", "story_rows", "write_stories"]

STORY_FILES = Path(__file__).parent
TEST_SHARE = 0.2


def languages() -> list[str]:
    """The languages that have a story file."""
    return sorted(file.stem for file in STORY_FILES.glob("*.yaml"))


def story_language(lang: str) -> StoryLanguage:
    """The words and kinds of a language.

    Raises `ValueError` if it has no story file.
    """
    if lang not in languages():
        raise ValueError(f"no stories in {lang!r}: choose one of {', '.join(languages())}")
    return load_language(STORY_FILES / f"{lang}.yaml")


def write_stories(lang: str, count: int, seed: int) -> list[Story]:
    """`count` stories with different texts, the same ones for the same seed.

    Raises `ValueError` for a language without a story file, and if so many cannot be written.
    """
    return tell_all(story_language(lang), count, seed)


def story_rows(stories: Sequence[Story], seed: int) -> list[dict[str, Any]]:
    """Rows of the problems table, with ids by position and a train/test split by kind.

    Stories that differ in nothing but their numbers are all on one side of the split.
    """
    test = _test_texts(stories, Random(seed))
    return [
        {
            "id": f"{story.lang}-{position:04d}",
            "text": story.text,
            "answer": float(story.answer),
            "equation": story.equation,
            "lang": story.lang,
            "split": "test" if masked(story.text, story.lang) in test else "train",
        }
        for position, story in enumerate(stories, start=1)
    ]


def masked(text: str, lang: str) -> str:
    """The text with each number replaced by one and the same sign."""
    for number in reversed(find_numbers(text, lang)):
        text = f"{text[: number.start]}#{text[number.end :]}"
    return text


def _test_texts(stories: Sequence[Story], rng: Random) -> set[str]:
    """Masked texts that make up the test share of every kind; a kind with one text is for training."""
    kinds: dict[str, dict[str, int]] = defaultdict(lambda: defaultdict(int))
    for story in stories:
        kinds[story.kind][masked(story.text, story.lang)] += 1
    test: set[str] = set()
    owed = 0.0  # what rounding in earlier kinds left over, so that the whole comes to the share
    for texts in kinds.values():
        owed += TEST_SHARE * sum(texts.values())
        for taken, text in enumerate(rng.sample(list(texts), len(texts) - 1)):
            if taken > 0 and texts[text] > owed:
                break
            test.add(text)
            owed -= texts[text]
    return test

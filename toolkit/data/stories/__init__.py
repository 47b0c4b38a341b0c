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

from array import array
from collections.abc import Iterator, Sequence
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import numpy.typing as npt

from toolkit.data.numbers import find_numbers
from toolkit.data.seen import text_hash
from toolkit.data.stories.story_file import StoryLanguage, load_language
from toolkit.data.stories.telling import Story, tell

__all__ = [
    "SPLITS",
    "Story",
    "StorySplits",
    "languages",
    "masked",
    "story_language",
    "story_rows",
    "tell_stories",
    "write_stories",
]

STORY_FILES = Path(__file__).parent
TEST_SHARE = 0.2
SPLITS = ("train", "test")


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


def tell_stories(lang: str, count: int, seed: int) -> Iterator[Story]:
    """`count` stories with different texts, the same ones for the same seed, one after the other.

    Raises `ValueError` for a language without a story file, and if so many cannot be written.
    """
    return tell(story_language(lang), count, seed)


def write_stories(lang: str, count: int, seed: int) -> list[Story]:
    """`tell_stories` as a list."""
    return list(tell_stories(lang, count, seed))


def story_rows(stories: Sequence[Story], seed: int) -> list[dict[str, Any]]:
    """Rows of the problems table, with ids by position and a train/test split by kind."""
    splits = StorySplits()
    rows = [splits.row(story) for story in stories]
    for row, is_test in zip(rows, splits.tests(seed), strict=True):
        row["split"] = SPLITS[int(is_test)]
    return rows


class StorySplits:
    """Rows of the problems table for stories, one after the other; then which of them are for testing.

    Stories that differ in nothing but their numbers are all on one side of the split. Some bytes are kept for
    each story.
    """

    def __init__(self) -> None:
        self._kinds: dict[str, int] = {}
        self._kind, self._text = array("H"), array("Q")  # of each story, the text as a hash without numbers

    def row(self, story: Story) -> dict[str, Any]:
        """The row of the next story, without a split."""
        self._kind.append(self._kinds.setdefault(story.kind, len(self._kinds)))
        self._text.append(text_hash(masked(story.text, story.lang)))
        return {
            "id": f"{story.lang}-{len(self._kind):04d}",
            "text": story.text,
            "answer": float(story.answer),
            "equation": story.equation,
            "lang": story.lang,
            "split": None,
        }

    def tests(self, seed: int) -> npt.NDArray[np.bool_]:
        """[N] whether each story is for testing: the test share of every kind.

        A kind with one text is for training.
        """
        rng = Random(seed)
        kinds, texts = np.frombuffer(self._kind, np.uint16), np.frombuffer(self._text, np.uint64)
        test: list[int] = []
        owed = 0.0  # what rounding in earlier kinds left over, so that the whole comes to the share
        for kind in range(len(self._kinds)):
            found, first, counts = np.unique(texts[kinds == kind], return_index=True, return_counts=True)
            told = np.argsort(first)  # in the order in which they are told first
            owed += TEST_SHARE * int(counts.sum())
            for taken, i in enumerate(rng.sample(range(len(told)), len(told) - 1)):
                if taken > 0 and counts[told[i]] > owed:
                    break
                test.append(int(found[told[i]]))
                owed -= int(counts[told[i]])
        return np.isin(texts, np.array(test, dtype=np.uint64))


def masked(text: str, lang: str) -> str:
    """The text with each number replaced by one and the same sign."""
    for number in reversed(find_numbers(text, lang)):
        text = f"{text[: number.start]}#{text[number.end :]}"
    return text

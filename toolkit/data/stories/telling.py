"""Telling many stories of a language: different texts, all kinds evenly, no template too often.

All randomness is one `random.Random`, so the same seed tells the same stories.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from random import Random
from typing import TypeVar

from toolkit.data.seen import SeenTexts
from toolkit.data.stories.draw import Draw, Redraw
from toolkit.data.stories.interpreter import Scope
from toolkit.data.stories.quantities import Quantity, template, value, written
from toolkit.data.stories.story_file import Kind, StoryLanguage, StoryQuestion
from toolkit.errors import WarmkitError

T = TypeVar("T")

STEP_PERCENT = {1: 45, 2: 33, 3: 15, 4: 7}
ASIDE_PERCENT = {0: 68, 1: 28, 2: 4}  # a few wordings have no aside to offer: about 30 % get one
LARGEST_TEMPLATE_SHARE = 0.20  # of the stories with as many numbers; only a rough balance early on
_MARK = re.compile("[\ue000-\uf8ff]")
_WORD_END = re.compile(r"[\s,.?'’।]+")
_SENTENCE_END = re.compile(r"(?<=[.?!।])\s+|(?<=[。？！])(?=.)")


@dataclass(frozen=True, slots=True)
class Story:
    """A word problem, with the equation a teacher would write for it."""

    kind: str
    text: str
    equation: str
    answer: Fraction | float
    lang: str


@dataclass(frozen=True, slots=True)
class Draft:
    """One telling of a kind, its numbers still marks."""

    text: str
    equation: Quantity


def draft_story(kind: Kind, draw: Draw, language: StoryLanguage) -> Draft:
    """One of the questions whose condition holds, in one of its wordings.

    Raises `Redraw` if the numbers do not make a sensible story.
    """
    scope = Scope(draw, language, {})
    scope.run(kind.draw)
    drafts = [
        _ask(question, kind, scope)
        for question in kind.ask
        if question.condition is None or scope.evaluate(question.condition)
    ]
    draw.need(bool(drafts))
    return draw.one_of(*drafts) if len(drafts) > 1 else drafts[0]


def _ask(question: StoryQuestion, kind: Kind, outer: Scope) -> Draft:
    """A wording; asides go between its sentences, never after the question.

    An aside about somebody whom the wording does not name is left out.
    """
    language, rng = outer.language, outer.draw.rng
    scope = Scope(outer.draw, language, outer.variables)
    scope.run(question.draw)
    asides = scope.asides(kind.asides if question.asides is None else question.asides)
    wording = scope.render(rng.choice(question.wordings))
    sentences = _SENTENCE_END.split(wording)
    fitting = [aside for aside in asides if _names(aside, language) <= _names(wording, language)]
    wanted = rng.choices(list(ASIDE_PERCENT), list(ASIDE_PERCENT.values()))[0]
    for aside in rng.sample(fitting, min(wanted, len(fitting))):
        position = rng.randrange(1, len(sentences)) if len(sentences) > 1 else 0
        sentences.insert(position, aside)
    return Draft(_join(sentences, language), scope.quantity(question.equation))


def _names(text: str, language: StoryLanguage) -> frozenset[str]:
    """The people whom a text names."""
    if language.spaces:
        return language.names.intersection(_WORD_END.split(text))
    return frozenset(name for name in language.names if name in text)


def _join(sentences: Sequence[str], language: StoryLanguage) -> str:
    return (" " if language.spaces else "").join(sentences)


def tell(language: StoryLanguage, count: int, seed: int) -> Iterator[Story]:
    """`count` stories with different texts; their lengths as in `STEP_PERCENT`, kinds of a length evenly."""
    rng, kinds = Random(seed), language.kinds
    cards = {length: [name for name in kinds if kinds[name].steps == length] for length in STEP_PERCENT}
    decks = {length: _deck(same, rng) for length, same in cards.items() if same}
    lengths = _deck([length for length in decks for _ in range(STEP_PERCENT[length])], rng)
    balance, told = _Balance(), SeenTexts()
    failures = 0
    while len(told) < count:
        story = _attempt(next(decks[next(lengths)]), rng, language, balance, told)
        if story is not None:
            told.add(story.text)
            failures = 0
            yield story
        elif (failures := failures + 1) > 10 * len(kinds):
            raise ValueError(f"only {len(told)} of {count} different stories could be written: ask for fewer")


def tell_all(language: StoryLanguage, count: int, seed: int) -> list[Story]:
    """`tell` as a list."""
    return list(tell(language, count, seed))


def _deck(cards: Sequence[T], rng: Random) -> Iterator[T]:
    """The cards in shuffled order, then again in another, without end: each is dealt equally often."""
    while True:
        yield from rng.sample(cards, len(cards))


class _Balance:
    """Keeps any template from being the answer to too many of the stories with as many numbers."""

    def __init__(self) -> None:
        self._templates: Counter[tuple[int, str]] = Counter()
        self._sizes: Counter[int] = Counter()

    def admits(self, size: int, shape: str) -> bool:
        allowed = LARGEST_TEMPLATE_SHARE * (self._sizes[size] + 1) + 3
        if self._templates[size, shape] + 1 > allowed:
            return False
        self._templates[size, shape] += 1
        self._sizes[size] += 1
        return True


def _attempt(
    kind: str, rng: Random, language: StoryLanguage, balance: _Balance, known: SeenTexts
) -> Story | None:
    """A new story of this kind, or None after a number of tries."""
    for _ in range(200):
        draw = Draw(rng, language.style)
        try:
            draft = draft_story(language.kinds[kind], draw, language)
        except Redraw:
            continue
        except (ArithmeticError, LookupError, TypeError, ValueError) as error:  # only seen when it is drawn
            raise WarmkitError(f"{language.lang}.yaml: {kind}: {error}.") from error
        order, text = "".join(_MARK.findall(draft.text)), draft.text
        for number in draw.numbers:
            text = text.replace(number.mark, number.spoken)
        text = _join([part[0].upper() + part[1:] for part in _SENTENCE_END.split(text)], language)
        # Two equal numbers would leave open which of them the equation means.
        different = {number.value for number in draw.numbers if number.mark in order}
        if len(different) < len(order) or text in known:
            continue
        if balance.admits(len(order), template(draft.equation, order)):
            return Story(kind, text, written(draft.equation), value(draft.equation), language.lang)
    return None

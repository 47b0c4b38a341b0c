"""The machinery of the stories: drawing numbers and wordings, and dealing out kinds.

A kind of story is a function that is given a `Draw`, asks it for numbers and other choices, and returns
`draw.tell(wordings, equation, asides)`. A wording is one string of sentences; `tell` takes one of them
and now and then weaves in an aside, whose numbers the equation does not use.

All randomness is one `random.Random`, so the same seed writes the same stories.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import pairwise
from random import Random
from typing import TypeVar

from toolkit.data.stories.quantities import Number, Quantity, leaves, steps, template, value, written

T = TypeVar("T")

STEP_PERCENT = {1: 45, 2: 33, 3: 15, 4: 7}
ASIDE_PERCENT = {0: 68, 1: 28, 2: 4}  # a few wordings have no aside to offer: about 30 % get one
LARGEST_TEMPLATE_SHARE = 0.20  # of the stories with as many numbers; only a rough balance early on
_SCALES = ((5, 30), (12, 60), (31, 99), (100, 980), (1000, 9800))
_SCALE_WEIGHTS = (28, 24, 22, 19, 7)
_FIRST_MARK = 0xE000
_MARK = re.compile("[\ue000-\uf8ff]")
_WORD_END = re.compile(r"[\s,.?'’।]+")
_SENTENCE_END = re.compile(r"(?<=[.?!।])\s+")


@dataclass(frozen=True, slots=True)
class Story:
    """A word problem, with the equation a teacher would write for it."""

    kind: str
    text: str
    equation: str
    answer: Fraction | float
    lang: str


@dataclass(frozen=True, slots=True)
class Tongue:
    """How a language says numbers."""

    lang: str
    words: dict[int, str]  # small numbers that are sometimes spelled out
    group: Callable[[int], str]  # digits with separators: 1,25,000 or 125,000
    currencies: tuple[str, ...]
    names: frozenset[str]  # of people
    digits: str = "0123456789"
    own_digits_share: float = 0.0  # of the stories that are written in `digits`
    words_share: float = 0.1
    group_share: float = 0.6


@dataclass(frozen=True, slots=True)
class Draft:
    """One telling of a kind, its numbers still marks."""

    text: str
    equation: Quantity


class Redraw(Exception):
    """These numbers do not make a sensible story: draw others."""


class Draw:
    """What a kind draws from: numbers that remember how they are said, and choices."""

    def __init__(self, rng: Random, tongue: Tongue) -> None:
        self.rng = rng
        self.tongue = tongue
        self.numbers: list[Number] = []
        self._currency = rng.choice(tongue.currencies)
        self._own_digits = rng.random() < tongue.own_digits_share

    def choose(self, *options: T) -> T:
        """One of the options."""
        return self.rng.choice(options)

    def sample(self, options: Sequence[T], count: int) -> list[T]:
        """`count` different ones of the options."""
        return self.rng.sample(options, count)

    def need(self, condition: bool) -> None:
        """Give the draft up and draw another one unless the condition holds."""
        if not condition:
            raise Redraw

    # Numbers

    def say(self, amount: int | Fraction) -> Number:
        """A given number: digits as a rule, now and then a word or with separators."""
        amount = Fraction(amount)
        literal = plain(amount)
        said = literal
        if amount.denominator == 1:
            whole = int(amount)
            if whole in self.tongue.words and self.rng.random() < self.tongue.words_share:
                return self.word(self.tongue.words[whole], amount)
            if whole >= 1000 and self.rng.random() < self.tongue.group_share:
                said = self.tongue.group(whole)
        return self._add(amount, literal, self._in_digits(said))

    def digits(self, amount: int) -> Number:
        """A given number, always in digits (after a sign or in a ratio, say)."""
        return self._add(Fraction(amount), str(amount), self._in_digits(str(amount)))

    def whole(self, low: int, high: int, step: int = 1) -> Number:
        """A whole number from low to high, both included."""
        return self.say(self.rng.randrange(low, high + 1, step))

    def decimal(self, low: int, high: int, parts: int = 2) -> Number:
        """A number from low to high that is not whole, in steps of 1/parts (2, 4, 5 or 10)."""
        amount = Fraction(self.rng.randrange(low * parts + 1, high * parts), parts)
        self.need(amount.denominator > 1)
        return self.say(amount)

    def falling(self, count: int = 2, least_gap: int = 2, largest: int = 9800) -> list[Number]:
        """Whole numbers of one order of magnitude, the largest first."""
        scales = [
            (scale, weight)
            for scale, weight in zip(_SCALES, _SCALE_WEIGHTS, strict=True)
            if scale[1] <= largest
        ]
        low, high = self.rng.choices([scale for scale, _ in scales], [weight for _, weight in scales])[0]
        amounts = sorted((self.rng.randint(low, high) for _ in range(count)), reverse=True)
        self.need(all(a - b >= least_gap for a, b in pairwise(amounts)))
        return [self.say(amount) for amount in amounts]

    def money(self, low: int, high: int, cents: bool = True) -> Number:
        """A price, whole or with cents."""
        amount = Fraction(self.rng.randint(low, high))
        if cents and self.rng.random() < 0.45:
            amount += Fraction(self.rng.choice((10, 20, 25, 40, 50, 50, 60, 75, 80, 95)), 100)
        return self.pay(amount)

    def pay(self, amount: int | Fraction) -> Number:
        """A given amount of money in this story's currency."""
        amount = Fraction(amount)
        cents = round(amount * 100)
        self.need(Fraction(cents, 100) == amount)
        whole, rest = divmod(cents, 100)
        said = self.tongue.group(whole) if whole >= 1000 and self.rng.random() < 0.7 else str(whole)
        said += f".{rest:02d}" if rest else ""
        return self._add(amount, plain(amount), self._currency.format(self._in_digits(said)))

    def percent(self, *options: int) -> Number:
        """A percentage: "25%", worth 1/4."""
        amount = self.choose(*(options or (5, 10, 12, 15, 20, 25, 30, 40, 45, 60, 70, 75, 80)))
        return self._add(Fraction(amount, 100), f"{amount}%", self._in_digits(f"{amount}%"))

    def fraction(self, *options: str) -> Number:
        """A fraction: "3/4"."""
        literal = self.choose(*(options or ("1/3", "2/3", "1/4", "3/4", "1/5", "2/5", "3/5", "5/6", "3/8")))
        return self._add(Fraction(literal), literal, self._in_digits(literal))

    def word(self, said: str, amount: int | Fraction | str) -> Number:
        """A number that is said as this word: "twice", "half", "dozen"."""
        exact = Fraction(amount)
        literal = plain(exact) if exact.denominator == 1 else str(exact)
        return self._add(exact, literal, said)

    def _in_digits(self, said: str) -> str:
        return said.translate(str.maketrans("0123456789", self.tongue.digits)) if self._own_digits else said

    def _add(self, amount: Fraction, literal: str, said: str) -> Number:
        number = Number(amount, literal, said, chr(_FIRST_MARK + len(self.numbers)))
        self.numbers.append(number)
        return number

    # The telling

    def tell(self, wordings: Sequence[str], equation: Quantity, asides: Sequence[str] = ()) -> Draft:
        """One of the wordings; asides go between its sentences, never after the question.

        An aside about somebody whom the wording does not name is left out.
        """
        wording = self.rng.choice(wordings)
        sentences = _SENTENCE_END.split(wording)
        fitting = [aside for aside in asides if self._names(aside) <= self._names(wording)]
        wanted = self.rng.choices(list(ASIDE_PERCENT), list(ASIDE_PERCENT.values()))[0]
        for aside in self.rng.sample(fitting, min(wanted, len(fitting))):
            place = self.rng.randrange(1, len(sentences)) if len(sentences) > 1 else 0
            sentences.insert(place, aside)
        return Draft(" ".join(sentences), equation)

    def _names(self, text: str) -> frozenset[str]:
        return self.tongue.names.intersection(_WORD_END.split(text))


@dataclass(frozen=True, slots=True)
class Kind:
    """A narrative: its name, how many operators its equation has, and the function that writes it."""

    name: str
    steps: int
    write: Callable[[Draw], Draft]


@dataclass(slots=True)
class Kinds:
    """The kinds of one theme, collected by the decorator `kinds("theme.name", steps=2)`."""

    all: list[Kind] = field(default_factory=list)

    def __call__(self, name: str, steps: int) -> Callable[[Callable[[Draw], Draft]], Callable[[Draw], Draft]]:
        def register(write: Callable[[Draw], Draft]) -> Callable[[Draw], Draft]:
            self.all.append(Kind(name, steps, write))
            return write

        return register


def plain(amount: Fraction) -> str:
    """A whole number or a finite decimal in plain digits: "42", "12.5"."""
    if amount.denominator == 1:
        return str(amount.numerator)
    return f"{float(amount):.6f}".rstrip("0")


def tell_all(tongue: Tongue, kinds: Sequence[Kind], count: int, seed: int) -> list[Story]:
    """`count` stories with different texts; their lengths as in `STEP_PERCENT`, kinds of a length evenly."""
    rng = Random(seed)
    lengths = _deck([length for length, share in STEP_PERCENT.items() for _ in range(share)], rng)
    decks = {length: _deck([kind for kind in kinds if kind.steps == length], rng) for length in STEP_PERCENT}
    balance = _Balance()
    stories: dict[str, Story] = {}
    failures = 0
    while len(stories) < count:
        story = _attempt(next(decks[next(lengths)]), rng, tongue, balance, stories)
        if story is not None:
            stories[story.text] = story
            failures = 0
        elif (failures := failures + 1) > 10 * len(kinds):
            raise ValueError(
                f"only {len(stories)} of {count} different stories could be written: ask for fewer"
            )
    return list(stories.values())


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
    kind: Kind, rng: Random, tongue: Tongue, balance: _Balance, known: dict[str, Story]
) -> Story | None:
    """A new story of this kind, or None after a number of tries."""
    for _ in range(200):
        draw = Draw(rng, tongue)
        try:
            draft = kind.write(draw)
        except Redraw:
            continue
        story, order = _finish(kind, draw, draft)
        mentioned = [draw.numbers[ord(mark) - _FIRST_MARK].value for mark in order]
        # Two equal numbers would leave open which of them the equation means.
        if len(set(mentioned)) < len(mentioned) or story.text in known:
            continue
        if balance.admits(len(order), template(draft.equation, order)):
            return story
    return None


def _finish(kind: Kind, draw: Draw, draft: Draft) -> tuple[Story, str]:
    """The story with its numbers filled in, and its marks in the order of the text."""
    order = "".join(_MARK.findall(draft.text))
    missing = [leaf.literal for leaf in leaves(draft.equation) if leaf.mark and leaf.mark not in order]
    assert not missing, f"{kind.name}: {missing} in the equation but not in: {draft.text}"
    assert steps(draft.equation) == kind.steps, f"{kind.name} says {kind.steps} steps"
    text = _MARK.sub(lambda found: draw.numbers[ord(found[0]) - _FIRST_MARK].said, draft.text)
    text = " ".join(sentence[0].upper() + sentence[1:] for sentence in _SENTENCE_END.split(text))
    story = Story(kind.name, text, written(draft.equation), value(draft.equation), draw.tongue.lang)
    return story, order

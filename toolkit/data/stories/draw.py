"""What a story draws: numbers that remember how they are said, words and other choices.

All randomness is one `random.Random`, so the same seed draws the same. A story file may call the public
methods of `Draw`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from random import Random
from typing import Any, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field

from toolkit.data.stories.quantities import Number

T = TypeVar("T")

FIRST_MARK = 0xE000
_SCALES = ((5, 30), (12, 60), (31, 99), (100, 980), (1000, 9800))
_SCALE_WEIGHTS = (28, 24, 22, 19, 7)


class NumberStyle(BaseModel):
    """How a language says numbers."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    currencies: tuple[str, ...] = Field(("{}",), min_length=1)  # "${}"
    words: dict[int, str] = {}  # numbers that are sometimes spelled out
    words_share: float = 0.1
    grouping: Literal["none", "thousands", "indian"] = "none"
    group_share: float = 0.6
    digits: str = Field("0123456789", min_length=10, max_length=10)
    own_digits_share: float = 0.0  # of the stories that are written in `digits`
    notes: tuple[int, ...] = ()  # round sums that people pay with


@dataclass(frozen=True, slots=True, eq=False)
class Word:
    """A word of a list: the form that is shown, all forms by name, and the position of its gender."""

    shown: str
    forms: Mapping[str, str | int]
    gender: int | None = None

    def __str__(self) -> str:
        return self.shown


class Redraw(Exception):
    """These numbers do not make a sensible story: draw others."""


class Draw:
    """The draws of one story."""

    def __init__(self, rng: Random, style: NumberStyle) -> None:
        self.rng = rng
        self.style = style
        self.numbers: list[Number] = []
        self._currency = rng.choice(style.currencies)
        self._own_digits = rng.random() < style.own_digits_share

    # Choices

    def pick(self, words: Sequence[Word], count: int = 0, but: Any = ()) -> Word | list[Word]:
        """One of the words, or `count` different ones; never one of `but`."""
        unwanted = {str(word) for word in (but if isinstance(but, tuple) else (but,))}
        left = [word for word in words if str(word) not in unwanted]
        return self.rng.sample(left, count) if count else self.rng.choice(left)

    def mixed(self, words: Sequence[Word], count: int) -> list[Word]:
        """Different words; the first two differ in gender, so that "he" and "she" are clear."""
        found = self.rng.sample(words, count)
        self.need(found[0].gender != found[1].gender)
        return found

    def one_of(self, *options: T) -> T:
        """One of the options."""
        return self.rng.choice(options)

    def shuffled(self, options: Sequence[T]) -> list[T]:
        """All options in any order."""
        return self.rng.sample(options, len(options))

    def chance(self, share: float) -> bool:
        """True in this share of the stories."""
        return self.rng.random() < share

    def need(self, condition: bool) -> None:
        """Give the draft up and draw another one unless the condition holds."""
        if not condition:
            raise Redraw

    # Numbers that are not said

    def between(self, low: int, high: int, step: int = 1) -> int:
        """A whole number from low to high, both included."""
        return self.rng.randrange(int(low), int(high) + 1, step)

    def distinct(self, count: int, low: int, high: int) -> list[int]:
        """Different whole numbers from low to high."""
        return self.rng.sample(range(low, high + 1), count)

    def divisible(self, part: Any, low: int, high: int) -> int:
        """A whole number from low to high of which this part is whole, too."""
        base = Fraction(worth(part)).denominator
        return base * self.rng.randint(-(-low // base), high // base)

    # Numbers that are said

    def say(self, amount: Any) -> Any:
        """A given number: digits as a rule, now and then a word or with separators. A list: each of it."""
        if isinstance(amount, list):
            return [self.say(each) for each in amount]
        amount = Fraction(amount)
        literal = plain(amount)
        spoken = literal
        if amount.denominator == 1:
            whole = int(amount)
            if whole in self.style.words and self.rng.random() < self.style.words_share:
                return self.word(self.style.words[whole], whole)
            if whole >= 1000 and self.style.grouping != "none" and self.rng.random() < self.style.group_share:
                spoken = grouped(whole, self.style.grouping)
        return self._add(amount, literal, spoken)

    def digits(self, amount: Any, high: int | None = None) -> Any:
        """A given number, or one from `amount` to `high`, always in digits (in a ratio, say)."""
        if isinstance(amount, list):
            return [self.digits(each) for each in amount]
        whole = int(amount) if high is None else self.rng.randint(amount, high)
        return self._add(Fraction(whole), str(whole), str(whole))

    def whole(self, low: int, high: int, step: int = 1) -> Any:
        """A whole number from low to high, both included."""
        return self.say(self.between(low, high, step))

    def decimal(self, low: int, high: int, parts: int = 2) -> Any:
        """A number from low to high that is not whole, in steps of 1/parts (2, 4, 5 or 10)."""
        amount = Fraction(self.rng.randrange(low * parts + 1, high * parts), parts)
        self.need(amount.denominator > 1)
        return self.say(amount)

    def falling(self, count: int, least_gap: int = 2, largest: int = 9800) -> list[Number]:
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

    def pay(self, amount: Any) -> Number:
        """A given amount of money in this story's currency."""
        amount = Fraction(amount)
        cents = round(amount * 100)
        self.need(Fraction(cents, 100) == amount)
        whole, rest = divmod(cents, 100)
        separated = whole >= 1000 and self.style.grouping != "none" and self.rng.random() < 0.7
        spoken = grouped(whole, self.style.grouping) if separated else str(whole)
        spoken += f".{rest:02d}" if rest else ""
        return self._add(amount, plain(amount), spoken, self._currency)

    def note(self, least: Any) -> Number:
        """The money somebody pays with: a round sum above `least`."""
        enough = [note for note in self.style.notes if note > worth(least)]
        self.need(bool(enough))
        return self.pay(self.rng.choice(enough[:2]))

    def percent(self, *options: int) -> Number:
        """A percentage: "25%", worth 1/4."""
        amount = self.rng.choice(options or (5, 10, 12, 15, 20, 25, 30, 40, 45, 60, 70, 75, 80))
        return self._add(Fraction(amount, 100), f"{amount}%", f"{amount}%")

    def fraction(self, *options: str) -> Number:
        """A fraction: "3/4"."""
        usual = ("1/3", "2/3", "1/4", "3/4", "1/5", "2/5", "3/5", "5/6", "3/8")
        literal = self.rng.choice(options or usual)
        return self._add(Fraction(literal), literal, literal)

    def word(self, spoken: str, amount: int | str) -> Number:
        """A number that is said as this word: "twice", "half", "dozen"."""
        return self._add(Fraction(amount), str(amount), spoken, digits=False)

    def _add(
        self, amount: Fraction, literal: str, spoken: str, frame: str = "{}", digits: bool = True
    ) -> Number:
        if digits and self._own_digits:
            spoken = spoken.translate(str.maketrans("0123456789", self.style.digits))
        number = Number(amount, literal, frame.format(spoken), chr(FIRST_MARK + len(self.numbers)))
        self.numbers.append(number)
        return number


def plain(amount: Fraction) -> str:
    """A whole number or a finite decimal in plain digits: "42", "12.5"."""
    if amount.denominator == 1:
        return str(amount.numerator)
    return f"{float(amount):.6f}".rstrip("0")


def grouped(whole: int, grouping: str) -> str:
    """Digits with separators: 125,000, and 1,25,000 in India."""
    if grouping == "thousands" or whole < 1000:
        return f"{whole:,}"
    head, tail = divmod(whole, 1000)
    pairs = []
    while head:
        head, pair = divmod(head, 100)
        pairs.append(f"{pair:02d}" if head else str(pair))
    return ",".join([*reversed(pairs), f"{tail:03d}"])


def worth(something: Any) -> Any:
    """The value of a number; anything else is itself."""
    return something.value if isinstance(something, Number) else something


DRAWS = frozenset(name for name in vars(Draw) if not name.startswith("_"))
HELPERS: dict[str, Callable[..., Any]] = {
    "abs": abs,
    "min": min,
    "first": lambda items: items[:1],
    "last": lambda items: items[-1:],
    "largest_first": lambda numbers: sorted(numbers, reverse=True),
    "all_different": lambda *numbers: len(set(map(worth, numbers))) == len(numbers),
}
FUNCTIONS = DRAWS | HELPERS.keys()
"""What a story file may call: the public methods of `Draw` and these helpers, and nothing else."""

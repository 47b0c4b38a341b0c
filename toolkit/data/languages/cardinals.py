"""Cardinals that are built from words for small numbers and for powers, as in English and Hindi."""

from collections.abc import Iterable


def one_of(words: Iterable[str]) -> str:
    """A pattern for any of the words; the longest match wins."""
    return "(?:" + "|".join(sorted(words, key=lambda word: (-len(word), word))) + ")"


def compound(small: str, hundred: str, big: str, *, article: str, space: str, link: str) -> str:
    """The pattern of a cardinal such as "two lakh three hundred and five".

    Each argument is a pattern: numbers below a hundred, the word hundred, the larger powers, the article
    that means one before a power ("a hundred"), the space between two words, and the link between two powers.
    """
    below = f"(?:(?:(?:{small}|{article}){space})?{hundred}(?:{link}{small})?|{small})"
    power = f"(?:(?:{below}|{article}){space})?{big}(?:{space}{big})?"
    return f"(?:{power}(?:{link}{power}){{0,3}}(?:{link}{below})?|{below})"


def compound_value(numbers: Iterable[int]) -> int:
    """The value of a cardinal's words: [2, 100, 5] is 205, [2, 100, 1000] is 200,000."""
    total = current = 0
    for number in numbers:
        if number < 100:
            current += number
        elif number == 100:
            current = (current or 1) * 100
        elif current or not total:
            total, current = total + (current or 1) * number, 0
        else:  # "five lakh crore"
            total *= number
    return total + current

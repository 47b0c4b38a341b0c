"""Problems of a few kinds, made at random: some need a constant that their text does not have."""

import random
from collections.abc import Callable, Mapping

import polars as pl

from toolkit.data import PROBLEMS, ProblemSet

THINGS = ("apples", "pens", "stamps", "marbles", "books")
NAMES = ("Ann", "Tom", "Lucy", "Ravi", "Maya")


def everyday(rng: random.Random) -> tuple[str, float, str]:
    """A problem that needs the numbers of its text and nothing else."""
    who, what, a, b = rng.choice(NAMES), rng.choice(THINGS), rng.randint(20, 90), rng.randint(3, 19)
    return rng.choice(
        [
            (f"{who} had {a} {what} and gave away {b}. How many {what} are left?", a - b, f"{a}-{b}"),
            (f"{who} has {a} {what} and buys {b} more. How many has {who} now?", a + b, f"{a}+{b}"),
            (f"{a} boxes hold {b} {what} each. How many {what} are there?", a * b, f"{a}*{b}"),
        ]
    )


def percentage(rng: random.Random) -> tuple[str, float, str]:
    who, what, whole = rng.choice(NAMES), rng.choice(THINGS), rng.choice([20, 25, 40, 50, 80])
    part = rng.choice([part for part in range(1, whole) if 100 * part % whole == 0])
    text = f"Of the {whole} {what} of {who}, {part} are red. What percentage of them is red?"
    return text, 100 * part / whole, f"{part}/{whole}*100"


def side(rng: random.Random) -> tuple[str, float, str]:
    wide, long = rng.randint(11, 40), rng.randint(41, 90)
    around = 2 * (wide + long)
    text = f"The perimeter of a rectangle is {around} metres. It is {wide} metres wide. How long is it?"
    return text, long, f"{around}/2-{wide}"


def fence(rng: random.Random) -> tuple[str, float, str]:
    """Twice a sum, which an equation writes without a constant."""
    a, b = rng.randint(11, 90), rng.randint(11, 90)
    text = f"A field is {a} metres long and {b} metres wide. How long is a fence around the field?"
    return text, 2 * (a + b), f"{a}+{b}+{a}+{b}"


def made(counts: Mapping[Callable, int], seed: int) -> ProblemSet:
    rng = random.Random(seed)
    rows = [kind(rng) for kind, count in counts.items() for _ in range(count)]
    table = [(f"p{i}", text, answer, gold, "en", None) for i, (text, answer, gold) in enumerate(rows)]
    return ProblemSet(pl.DataFrame(table, schema=PROBLEMS, orient="row"))

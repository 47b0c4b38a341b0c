"""English stories of fractions, percentages, ratios and recipes."""

from __future__ import annotations

from fractions import Fraction

from toolkit.data.stories.core import Draft, Draw, Kinds
from toolkit.data.stories.english_words import about, people, person, things
from toolkit.data.stories.quantities import ONE

KINDS = Kinds()


def _whole_for(draw: Draw, part: Fraction | float, low: int, high: int) -> int:
    """A number of things of which `part` is whole."""
    base = Fraction(part).denominator
    return base * draw.rng.randint(-(-low // base), high // base)


@KINDS("parts.fraction_of", steps=1)
def fraction_of(draw: Draw) -> Draft:
    who, what = person(draw), things(draw)
    part = draw.choose(draw.fraction(), draw.fraction(), draw.word("half", "1/2"))
    total = draw.say(_whole_for(draw, part.value, 12, 240))
    return draw.tell(
        [
            f"{who} had {total} {what} and gave {part} of them away. How many {what} did {who} give away?",
            f"{part} of the {total} {what} are small. How many small {what} are there?",
            f"{who} sold {part} of the {what}. There were {total} of them. How many were sold?",
            f"There were {total} {what} in a box, and {who} took {part} of these. How many {what} is that?",
        ],
        part * total,
        about(draw, who, what),
    )


@KINDS("parts.fraction_left", steps=2)
def fraction_left(draw: Draw) -> Draft:
    who, what = person(draw), things(draw)
    part = draw.fraction()
    total = draw.say(_whole_for(draw, part.value, 12, 240))
    return draw.tell(
        [
            f"{who} had {total} {what} and gave {part} of them away. How many {what} did {who} keep?",
            f"{part} of the {total} {what} are small, the others are large. How many large {what} are there?",
            f"{who} sold {part} of the {what}. There were {total} of them. How many were not sold?",
        ],
        total - part * total,
        about(draw, who, what),
    )


@KINDS("parts.fraction_sum_or_difference", steps=1)
def fraction_sum_or_difference(draw: Draw) -> Draft:
    who = person(draw)
    more, less = (
        draw.fraction("3/4", "2/3", "5/6", "7/8", "4/5"),
        draw.fraction("1/2", "1/4", "1/3", "1/8", "1/5"),
    )
    stuff, unit = draw.choose(
        ("milk", "litre"), ("rice", "kg"), ("flour", "cup"), ("juice", "litre"), ("ribbon", "metre")
    )
    asides = [f"The {stuff} cost {draw.money(2, 20)}.", f"{who} is {draw.whole(6, 14)} years old."]
    if draw.rng.random() < 0.5:
        return draw.tell(
            [
                f"{who} has {more} {unit} of {stuff} and buys {less} {unit} more. "
                f"How much {stuff} is there now?",
                f"{who} used {less} {unit} of {stuff} yesterday and {more} {unit} today. "
                f"How much was used in all?",
                f"After using {less} {unit} of {stuff}, {who} has {more} {unit} left. "
                f"How much was there before?",
            ],
            more + less,
            asides,
        )
    return draw.tell(
        [
            f"{who} has {more} {unit} of {stuff} and uses {less} {unit}. How much {stuff} is left?",
            f"{who} used {less} {unit} of {stuff} yesterday and {more} {unit} today. "
            f"How much more was used today?",
            f"After buying {less} {unit} of {stuff}, {who} has {more} {unit}. How much was there before?",
        ],
        more - less,
        asides,
    )


@KINDS("parts.small_portions", steps=1)
def small_portions(draw: Draw) -> Draft:
    who = person(draw)
    part = draw.fraction("1/2", "1/4", "1/3", "1/5", "3/4", "2/3", "2/5")
    total = draw.say(_whole_for(draw, 1 / part.value, 4, 40))
    stuff, unit, pieces = draw.choose(
        ("juice", "litre", "glasses"),
        ("rope", "metre", "pieces"),
        ("paint", "litre", "tins"),
        ("cloth", "metre", "pieces"),
    )
    return draw.tell(
        [
            f"{who} divides {total} {unit}s of {stuff} into {pieces} of {part} {unit} each. "
            f"How many {pieces} are there?",
            f"Each of the {pieces} takes {part} {unit} of {stuff}. "
            f"How many {pieces} can {who} get from {total} {unit}s?",
            f"How many {pieces} of {part} {unit} each does {who} get out of {total} {unit}s of {stuff}?",
        ],
        total / part,
        about(draw, who),
    )


@KINDS("parts.whole_from_fraction", steps=1)
def whole_from_fraction(draw: Draw) -> Draft:
    who, what = person(draw), things(draw)
    part = draw.choose(draw.fraction(), draw.percent(10, 20, 25, 40, 50, 75))
    some = draw.say(_whole_for(draw, 1 / part.value, 6, 120))
    return draw.tell(
        [
            f"{who} gave away {some} {what}, which is {part} of all {who.he} had. "
            f"How many {what} did {who} have?",
            f"{part} of the {what} in a basket are small. There are {some} small ones. "
            f"How many {what} are in the basket?",
            f"{who} has sold {part} of the {what}, that is {some}. How many {what} were there before?",
        ],
        some / part,
        about(draw, who, what),
    )


CROWDS = ("students", "members", "visitors", "passengers", "players", "workers", "voters")


def _about_crowd(draw: Draw) -> list[str]:
    return [
        draw.choose(
            f"The hall has {draw.whole(3, 14)} doors.",
            f"The hall was built {draw.whole(21, 90)} years ago.",
            f"A ticket costs {draw.money(3, 24)}.",
        ),
        draw.choose(
            f"Another {draw.whole(6, 90)} people wait outside.",
            f"The oldest of them is {draw.whole(61, 90)}.",
        ),
    ]


@KINDS("parts.percent_of", steps=1)
def percent_of(draw: Draw) -> Draft:
    crowd, part = draw.choose(*CROWDS), draw.percent()
    total = draw.say(_whole_for(draw, part.value, 40, 3000))
    return draw.tell(
        [
            f"There are {total} {crowd}. {part} of them wear glasses. How many {crowd} wear glasses?",
            f"Of {total} {crowd}, {part} came by bus. How many came by bus?",
            f"If {part} of the {crowd} are women and there are {total} {crowd}, how many women are there?",
        ],
        part * total,
        _about_crowd(draw),
    )


@KINDS("parts.percent_left", steps=2)
def percent_left(draw: Draw) -> Draft:
    crowd, part = draw.choose(*CROWDS), draw.percent()
    total = draw.say(_whole_for(draw, part.value, 40, 3000))
    return draw.tell(
        [
            f"There are {total} {crowd}. {part} of them wear glasses. How many {crowd} do not wear glasses?",
            f"Of {total} {crowd}, {part} came by bus and the others on foot. How many came on foot?",
            f"If {part} of the {crowd} are women and there are {total} {crowd}, how many men are there?",
        ],
        total * (ONE - part),
        _about_crowd(draw),
    )


@KINDS("parts.percent_growth", steps=2)
def percent_growth(draw: Draw) -> Draft:
    what = draw.choose("town has", "library has", "club has", "school has")
    crowd = (
        "books"
        if what.startswith("lib")
        else "members"
        if what.startswith("cl")
        else "people"
        if what.startswith("t")
        else "students"
    )
    part = draw.percent(5, 10, 15, 20, 25, 30, 40)
    largest = 250_000 if crowd == "people" else 9000
    total = draw.say(_whole_for(draw, part.value, 100, largest))
    if draw.rng.random() < 0.5:
        return draw.tell(
            [
                f"A {what} {total} {crowd}. The number grows by {part}. How many {crowd} are there then?",
                f"Last year the number of {crowd} was {total}. It has risen by {part} since. "
                f"How many are there now?",
            ],
            total * (ONE + part),
            [f"The counting took {draw.whole(2, 9)} days."],
        )
    return draw.tell(
        [
            f"A {what} {total} {crowd}. The number falls by {part}. How many {crowd} are there then?",
            f"Last year the number of {crowd} was {total}. It has gone down by {part} since. "
            f"How many are there now?",
        ],
        total * (ONE - part),
        [f"The counting took {draw.whole(2, 9)} days."],
    )


@KINDS("parts.two_percentages", steps=3)
def two_percentages(draw: Draw) -> Draft:
    crowd = draw.choose(*CROWDS)
    part, other = draw.percent(10, 20, 25, 30, 40), draw.percent(5, 15, 35, 45, 50)
    total = draw.say(20 * draw.rng.randint(3, 120))
    if draw.rng.random() < 0.5:
        return draw.tell(
            [
                f"Of {total} {crowd}, {part} came by bus and {other} by train. All the others walked. "
                f"How many walked?",
                f"{part} of the {crowd} drink tea, {other} drink coffee and the rest water. "
                f"There are {total} {crowd}. How many drink water?",
            ],
            total * (ONE - part - other),
            _about_crowd(draw),
        )
    return draw.tell(
        [
            f"Of {total} {crowd}, {part} came by bus and {other} by train. How many came by bus or train?",
            f"{part} of the {crowd} drink tea and {other} drink coffee. There are {total} {crowd}. "
            f"How many drink tea or coffee?",
        ],
        total * part + total * other,
        _about_crowd(draw),
    )


@KINDS("parts.ratio", steps=3)
def ratio(draw: Draw) -> Draft:
    who, friend = people(draw)
    what = things(draw)
    a, b = draw.sample(range(2, 10), 2)
    total, x, y = draw.say((a + b) * draw.rng.randint(3, 40)), draw.digits(a), draw.digits(b)
    asked, share = draw.choose((who, x), (friend, y))
    return draw.tell(
        [
            f"{who} and {friend} share {total} {what} in the ratio {x} to {y}. "
            f"How many {what} does {asked} get?",
            f"For every {x} {what} that {who} gets, {friend} gets {y}. They share {total} {what}. "
            f"How many does {asked} get?",
            f"If {total} {what} are divided between {who} and {friend} in the ratio {x}:{y}, "
            f"how many {what} does {asked} get?",
        ],
        total * share / (x + y),
        about(draw, who, what),
    )


@KINDS("parts.recipe", steps=2)
def recipe(draw: Draw) -> Draft:
    who = person(draw)
    stuff, unit = draw.choose(("flour", "grams"), ("rice", "grams"), ("milk", "ml"), ("sugar", "grams"))
    m, n = draw.sample(range(2, 13), 2)
    amount = draw.say(m * draw.choose(15, 20, 25, 30, 40, 50, 75))
    few, many = draw.say(m), draw.say(n)
    return draw.tell(
        [
            f"A recipe for {few} people needs {amount} {unit} of {stuff}. "
            f"How much {stuff} does {who} need for {many} people?",
            f"{who} cooks for {many} guests. The recipe says {amount} {unit} of {stuff} for {few}. "
            f"How many {unit} of {stuff} must {who} take?",
            f"How much {stuff} is needed for {many} cakes if {amount} {unit} are enough for {few}?",
            f"A machine fills {amount} bottles in {few} minutes. "
            f"How many bottles does it fill in {many} minutes?",
        ],
        amount / few * many,
        about(draw, who),
    )


@KINDS("parts.recipe_and_stock", steps=3)
def recipe_and_stock(draw: Draw) -> Draft:
    who = person(draw)
    stuff, unit = draw.choose(("flour", "grams"), ("rice", "grams"), ("milk", "ml"), ("sugar", "grams"))
    m, n = draw.sample(range(2, 13), 2)
    each = draw.choose(20, 25, 30, 40, 50, 75)
    amount, few, many = draw.say(m * each), draw.say(m), draw.say(n)
    stock = draw.rng.randrange(50, 900, 10)
    draw.need(stock != n * each)
    have = draw.say(stock)
    if stock > n * each:
        return draw.tell(
            [
                f"A recipe for {few} people needs {amount} {unit} of {stuff}. "
                f"{who} has {have} {unit} and cooks for "
                f"{many} people. How much {stuff} is left?",
                f"{who} has {have} {unit} of {stuff} and cooks for {many} guests. "
                f"If {amount} {unit} are enough for "
                f"{few} guests, how many {unit} remain?",
            ],
            have - amount / few * many,
            about(draw, who),
        )
    return draw.tell(
        [
            f"A recipe for {few} people needs {amount} {unit} of {stuff}. "
            f"{who} has {have} {unit} and cooks for "
            f"{many} people. How much {stuff} is missing?",
            f"{who} has only {have} {unit} of {stuff} and cooks for {many} guests. "
            f"If {few} guests need {amount} "
            f"{unit}, how many {unit} must {who} still buy?",
        ],
        amount / few * many - have,
        about(draw, who),
    )

"""English words for the stories: people and their pronouns, things, and asides that fit many stories."""

from __future__ import annotations

from dataclasses import dataclass

from toolkit.data.stories.core import Draw, Tongue

_NUMBERS = (
    "two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen "
    "sixteen seventeen eighteen nineteen twenty"
)


@dataclass(frozen=True, slots=True)
class Person:
    """Somebody with a name, which is what an f-string shows, and pronouns."""

    name: str
    he: str
    him: str
    his: str

    def __str__(self) -> str:
        return self.name

    @property
    def He(self) -> str:
        return self.he.capitalize()

    @property
    def His(self) -> str:
        return self.his.capitalize()


_WOMEN = (
    "Meera Anna Priya Fatima Lucy Sofia Grace Asha Nina Hannah Kavya Olivia Mei Zara Elena Ruth Leela Amara "
    "Chloe Divya Ingrid Salma Tara Yuki Maria Neha Joan Beth Sunita Clara"
)
_MEN = (
    "Ravi Tom Arjun Daniel Omar Peter Kofi Liam Vikram Hugo Samir Ben Rohan Lucas Ivan Kabir Noah Manish "
    "Jack Dev Carlos Imran Oscar Felix Anil Henry Mateo Suresh Paul Victor"
)
PEOPLE = [Person(name, "she", "her", "her") for name in _WOMEN.split()] + [
    Person(name, "he", "him", "his") for name in _MEN.split()
]

TONGUE = Tongue(
    lang="en",
    words=dict(enumerate(_NUMBERS.split(), start=2)),
    group=lambda whole: f"{whole:,}",
    currencies=("${}", "₹{}", "€{}", "£{}", "₹ {}", "Rs. {}"),
    names=frozenset(who.name for who in PEOPLE),
)


def _words(text: str) -> list[str]:
    return text.split()


SMALL_THINGS = _words(
    "marbles stickers stamps beads shells buttons coins postcards badges crayons pencils cards balloons "
    "ribbons pebbles bookmarks magnets tokens"
)
FRUIT = _words("apples oranges mangoes guavas plums peaches lemons pears bananas figs kiwis apricots")
BAKED = _words("cookies muffins cupcakes rolls buns pastries samosas dumplings sandwiches pies")
SHOP_THINGS = {  # singular: plural
    "pen": "pens",
    "notebook": "notebooks",
    "ruler": "rulers",
    "toy car": "toy cars",
    "mug": "mugs",
    "scarf": "scarves",
    "cap": "caps",
    "puzzle": "puzzles",
    "water bottle": "water bottles",
    "paintbrush": "paintbrushes",
    "comic book": "comic books",
    "lunch box": "lunch boxes",
    "torch": "torches",
    "candle": "candles",
    "photo frame": "photo frames",
    "poster": "posters",
    "kite": "kites",
    "skipping rope": "skipping ropes",
}
DEAR_THINGS = (
    "bicycle",
    "jacket",
    "guitar",
    "desk lamp",
    "suitcase",
    "chair",
    "tent",
    "mixer",
    "camera",
    "watch",
    "rug",
    "printer",
    "phone",
    "bookshelf",
    "pair of boots",
)
BOXES = ("boxes", "bags", "baskets", "trays", "packets", "crates", "jars")
PLACES = _words("market fair museum library park beach station festival garden")


def person(draw: Draw) -> Person:
    return draw.choose(*PEOPLE)


def people(draw: Draw, count: int = 2) -> list[Person]:
    """Different people; two in a row are of both genders, so that "he" and "she" are clear."""
    found = draw.sample(PEOPLE, count)
    draw.need(count < 2 or found[0].he != found[1].he)
    return found


def things(draw: Draw) -> str:
    """A plural of something one can own, give and count."""
    return draw.choose(*SMALL_THINGS, *FRUIT, *BAKED)


def limit(what: str) -> int:
    """How many of these one can sensibly have."""
    return 99 if what in BAKED else 980 if what in FRUIT else 9800


def shop_thing(draw: Draw) -> tuple[str, str]:
    """Something sold by the piece: singular and plural."""
    return draw.choose(*SHOP_THINGS.items())


def about(draw: Draw, who: Person, *owned: str) -> list[str]:
    """Asides about somebody; with the names of what they own, things that are not asked about."""
    many = draw.whole(3, 60)
    other = draw.choose(*(word for word in (*SMALL_THINGS, *FRUIT) if word not in owned))
    place = draw.choose(*PLACES)
    return [
        draw.choose(
            f"{who} is {draw.whole(18, 60)} years old.",
            f"{who} has {draw.whole(2, 5)} cousins.",
            f"{who} lives {draw.whole(2, 12)} km from the {place}.",
            f"{who} got up at {draw.whole(6, 9)} o'clock that day.",
            f"{who}'s house number is {draw.digits(draw.rng.randint(11, 260))}.",
        ),
        draw.choose(
            f"{who} also has {many} {other}.",
            f"{who} saw {many} {other} at the {place}.",
            f"There are {many} {other} in {who}'s kitchen.",
            f"{who} has a friend who collects {other} and has {many} of them.",
        ),
        draw.choose(
            f"It takes {who} {draw.whole(10, 50)} minutes to walk to the {place}.",
            f"{who}'s rucksack weighs {draw.whole(2, 6)} kg.",
            f"{who}'s rucksack cost {draw.money(15, 90)} last year.",
            f"{who} is {draw.whole(110, 180)} cm tall.",
        ),
    ]


def about_shop(draw: Draw, *sold: str) -> list[str]:
    """Asides about a shop; `sold` are the things of the story, which get no other price."""
    other = draw.choose(*(word for word in SHOP_THINGS if word not in sold))
    return [
        draw.choose(
            f"A {other} costs {draw.money(2, 30)} there.",
            f"The price of a {other} is {draw.money(2, 30)}.",
            f"Last year a {other} cost {draw.money(2, 30)}.",
        ),
        draw.choose(
            f"The shop closes in {draw.whole(15, 55)} minutes.",
            f"The shop has been open for {draw.whole(3, 40)} years.",
            f"There are {draw.whole(3, 14)} people in the queue.",
            f"The shop has {draw.whole(2, 9)} assistants.",
        ),
    ]


def about_place(draw: Draw) -> list[str]:
    """Asides about a hall or a depot."""
    return [
        draw.choose(
            f"The place has {draw.whole(2, 14)} doors.",
            f"The place was built {draw.whole(4, 60)} years ago.",
            f"The place is open {draw.whole(6, 15)} hours a day.",
        ),
        draw.choose(
            f"The owner is {draw.whole(25, 70)} years old.",
            f"The roof cost {draw.money(200, 900, cents=False)}.",
            f"The nearest town is {draw.whole(3, 48)} km away.",
        ),
    ]


def about_road(draw: Draw) -> list[str]:
    """Asides about a road or a trip."""
    return [
        draw.choose(
            f"The next village is {draw.whole(3, 48)} km away.",
            f"{draw.whole(16, 90)} cars come by in an hour.",
        ),
        draw.choose(f"It is {draw.whole(16, 30)} °C outside.", f"The trip takes {draw.whole(2, 9)} hours."),
    ]

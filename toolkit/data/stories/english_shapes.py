"""English stories of lengths, areas, volumes and circles."""

from __future__ import annotations

from toolkit.data.stories.core import Draft, Draw, Kinds
from toolkit.data.stories.english_words import person
from toolkit.data.stories.quantities import PI

KINDS = Kinds()
LARGE = ("garden", "field", "playground", "park", "lawn", "car park", "courtyard")


SMALL = ("sheet of paper", "poster", "tray", "picture", "mirror", "towel")


LARGE_ROUND = ("pond", "flower bed", "stage", "pool", "lawn", "fountain")


SMALL_ROUND = ("plate", "coaster", "clock face", "pizza", "mirror", "lid", "cake")


def _surface(
    draw: Draw, large: tuple[str, ...] = LARGE, small: tuple[str, ...] = SMALL
) -> tuple[str, str, list[str]]:
    """Something flat, the unit to measure it in, and asides about it."""
    if draw.rng.random() < 0.6:
        what = draw.choose(*large)
        return what, draw.choose("metres", "metres", "feet"), _about_large(draw, what)
    what = draw.choose(*small)
    asides = [
        f"The {what} cost {draw.money(4, 90)}.",
        draw.choose(
            f"The {what} weighs {draw.whole(61, 950)} grams.",
            f"It took {draw.whole(61, 90)} minutes to make.",
        ),
    ]
    return what, "cm", asides


def _about_large(draw: Draw, what: str) -> list[str]:
    return [
        draw.choose(
            f"The {what} is {draw.whole(3, 40)} years old.",
            f"The {what} is used by {draw.whole(3, 30)} families.",
            f"It took {draw.whole(2, 14)} days to get the {what} ready.",
        ),
        draw.choose(
            f"The {what} was bought for {draw.money(150, 900, cents=False)}.",
            f"The {what} is {draw.whole(2, 9)} km from the station.",
        ),
    ]


def _sides(draw: Draw) -> tuple[int, int]:
    """Two lengths: not a square, the longer side first."""
    short, long = sorted(draw.sample(range(3, 60), 2))
    return long, short


@KINDS("shapes.rectangle_area", steps=1)
def rectangle_area(draw: Draw) -> Draft:
    (field, unit, asides), (long, short) = _surface(draw), _sides(draw)
    a, b = draw.digits(long), draw.digits(short)
    return draw.tell(
        [
            f"A rectangular {field} is {a} {unit} long and {b} {unit} wide. What is its area?",
            f"The {field} is a rectangle, {b} {unit} wide. Its length is {a} {unit}. How large is its area?",
            f"How many square {unit} does a {field} of {a} by {b} {unit} have?",
        ],
        a * b,
        asides,
    )


@KINDS("shapes.rectangle_perimeter", steps=3)
def rectangle_perimeter(draw: Draw) -> Draft:
    (field, unit, asides), (long, short) = _surface(draw), _sides(draw)
    a, b = draw.digits(long), draw.digits(short)
    return draw.tell(
        [
            f"A rectangular {field} is {a} {unit} long and {b} {unit} wide. What is its perimeter?",
            f"The {field} is a rectangle, {b} {unit} wide. Its length is {a} {unit}. How long is its border?",
            f"How many {unit} of tape go around a {field} of {a} by {b} {unit}?",
        ],
        a + b + a + b,
        asides,
    )


@KINDS("shapes.rectangle_side", steps=1)
def rectangle_side(draw: Draw) -> Draft:
    (field, unit, asides), (long, short) = _surface(draw), _sides(draw)
    area, a, b = draw.say(long * short), draw.digits(long), draw.digits(short)
    side = draw.choose((a, "length", "wide"), (b, "width", "long"))
    known, given, asked = side
    return draw.tell(
        [
            f"The area of a rectangular {field} is {area} square {unit}. Its {given} is {known} {unit}. "
            f"How {asked} is it?",
            f"A rectangular {field} has a {given} of {known} {unit} and an area of {area} square {unit}. "
            f"How many {unit} is it {asked}?",
            f"How {asked} is a rectangle of {area} square {unit} with a {given} of {known} {unit}?",
        ],
        area / known,
        asides,
    )


@KINDS("shapes.square_area", steps=1)
def square_area(draw: Draw) -> Draft:
    field, unit, asides = _surface(draw)
    side = draw.whole(3, 60)
    return draw.tell(
        [
            f"Each side of a square {field} is {side} {unit} long. What is its area?",
            f"A {field} is a square with sides of {side} {unit}. How many square {unit} is that?",
            f"How large is the area of a square {field} with a side of {side} {unit}?",
        ],
        side * side,
        asides,
    )


@KINDS("shapes.square_perimeter", steps=3)
def square_perimeter(draw: Draw) -> Draft:
    field, unit, asides = _surface(draw)
    side = draw.whole(3, 60)
    return draw.tell(
        [
            f"Each side of a square {field} is {side} {unit} long. What is its perimeter?",
            f"A {field} is a square with sides of {side} {unit}. How many {unit} is it around?",
            f"How long is the border of a square {field} with a side of {side} {unit}?",
        ],
        side + side + side + side,
        asides,
    )


@KINDS("shapes.side_from_perimeter", steps=1)
def side_from_perimeter(draw: Draw) -> Draft:
    field, unit, asides = _surface(draw)
    n, shape = draw.choose((3, "triangle"), (4, "square"), (5, "pentagon"), (6, "hexagon"), (8, "octagon"))
    around, sides = draw.say(n * draw.rng.randint(3, 60)), draw.say(n)
    return draw.tell(
        [
            f"A {field} has the shape of a {shape} with {sides} equal sides. "
            f"Its perimeter is {around} {unit}. "
            f"How long is each side?",
            f"The border of a {field} is {around} {unit} long. All its {sides} sides are equally long. "
            f"How many {unit} is a side?",
            f"How long is a side of a {shape} with {sides} equal sides and a perimeter of {around} {unit}?",
        ],
        around / sides,
        asides,
    )


@KINDS("shapes.box_volume", steps=2)
def box_volume(draw: Draw) -> Draft:
    a, b, c = (draw.digits(n) for n in draw.sample(range(2, 40), 3))
    what = draw.choose("box", "tank", "brick", "fish tank", "chest", "parcel")
    unit = draw.choose("cm", "inches")
    return draw.tell(
        [
            f"A {what} is {a} {unit} long, {b} {unit} wide and {c} {unit} high. What is its volume?",
            f"What is the volume of a {what} with sides of {a}, {b} and {c} {unit}?",
            f"How much room is there in a {what} of {a} by {b} by {c} {unit}?",
        ],
        a * b * c,
        [
            f"The {what} was made {draw.whole(41, 60)} years ago.",
            f"The {what} weighs {draw.whole(41, 90)} kg.",
        ],
    )


@KINDS("shapes.cube_volume", steps=2)
def cube_volume(draw: Draw) -> Draft:
    side, what, unit = (
        draw.whole(2, 40),
        draw.choose("box", "tank", "block of wood"),
        draw.choose("cm", "inches"),
    )
    return draw.tell(
        [
            f"A {what} has the shape of a cube. Each edge is {side} {unit} long. What is its volume?",
            f"What is the volume of a {what} that is {side} {unit} long and just as wide and high?",
            f"How much room is in a cube with edges of {side} {unit}?",
        ],
        side * side * side,
        [f"The {what} next to it weighs {draw.whole(41, 90)} kg."],
    )


@KINDS("circles.around_by_diameter", steps=1)
def around_by_diameter(draw: Draw) -> Draft:
    what, unit, asides = _surface(draw, LARGE_ROUND, SMALL_ROUND)
    width = draw.choose(draw.whole(2, 80), draw.decimal(1, 20))
    return draw.tell(
        [
            f"A round {what} has a diameter of {width} {unit}. What is its circumference?",
            f"How far is it around a round {what} that is {width} {unit} across?",
            f"The diameter of a round {what} is {width} {unit}. "
            f"How long is a ribbon that goes around it exactly?",
        ],
        PI * width,
        asides,
    )


@KINDS("circles.around_by_radius", steps=2)
def around_by_radius(draw: Draw) -> Draft:
    what, unit, asides = _surface(draw, LARGE_ROUND, SMALL_ROUND)
    radius = draw.whole(2, 80)
    return draw.tell(
        [
            f"A round {what} has a radius of {radius} {unit}. What is its circumference?",
            f"How far is it around a round {what} with a radius of {radius} {unit}?",
            f"The radius of a round {what} is {radius} {unit}. "
            f"How long is a ribbon that goes around it exactly?",
        ],
        PI * (radius + radius),
        asides,
    )


@KINDS("circles.area", steps=2)
def circle_area(draw: Draw) -> Draft:
    what, unit, asides = _surface(draw, LARGE_ROUND, SMALL_ROUND)
    radius = draw.choose(draw.whole(2, 50), draw.decimal(1, 9))
    return draw.tell(
        [
            f"A round {what} has a radius of {radius} {unit}. What is its area?",
            f"How large is the area of a circle with a radius of {radius} {unit}?",
            f"The radius of a round {what} is {radius} {unit}. How many square {unit} does it cover?",
        ],
        PI * radius * radius,
        asides,
    )


@KINDS("circles.rolling_wheel", steps=2)
def rolling_wheel(draw: Draw) -> Draft:
    who, width, turns = person(draw), draw.whole(20, 90), draw.whole(5, 60)
    vehicle = draw.choose("bicycle", "cart", "wheelbarrow", "scooter")
    return draw.tell(
        [
            f"The wheel of {who}'s {vehicle} has a diameter of {width} cm. "
            f"How far does it roll in {turns} turns?",
            f"In {turns} turns, how many cm does a wheel roll that is {width} cm across?",
            f"How far does {who}'s {vehicle} go while its wheel, {width} cm in diameter, "
            f"turns {turns} times?",
        ],
        PI * width * turns,
        [
            f"The {vehicle} weighs {draw.whole(8, 30)} kg.",
            f"{who}'s {vehicle} is {draw.whole(2, 14)} years old.",
        ],
    )


@KINDS("circles.ring", steps=4)
def ring(draw: Draw) -> Draft:
    inner, outer = (draw.say(n) for n in sorted(draw.sample(range(2, 40), 2)))
    what, unit = (
        draw.choose("fountain", "round pond", "round stage", "round tower"),
        draw.choose("feet", "metres"),
    )
    return draw.tell(
        [
            f"A round lawn has a radius of {outer} {unit}. "
            f"In the middle of it stands a {what} with a radius of "
            f"{inner} {unit}. How large is the area of the lawn without the {what}?",
            f"A {what} with a radius of {inner} {unit} lies in the middle of a circle with a radius of "
            f"{outer} "
            f"{unit}. What is the area between the {what} and the circle?",
            f"How much area is left of a round lawn with a radius of {outer} {unit} "
            f"when a {what} with a radius of {inner} {unit} is built in the middle of it?",
        ],
        PI * (outer * outer - inner * inner),
        [f"The {what} was built {draw.whole(41, 99)} years ago."],
    )


@KINDS("shapes.fence_cost", steps=4)
def fence_cost(draw: Draw) -> Draft:
    who, (long, short) = person(draw), _sides(draw)
    a, b, price = draw.digits(long), draw.digits(short), draw.money(4, 90)
    field = draw.choose("garden", "field", "playground", "yard", "meadow")
    return draw.tell(
        [
            f"A rectangular {field} is {a} metres long and {b} metres wide. A fence costs {price} a metre. "
            f"How much does a fence around the {field} cost?",
            f"{who} pays {price} for a metre of fence. {who.His} {field} is a rectangle, "
            f"{b} metres wide and {a} "
            f"metres long. What does it cost to fence it all around?",
            f"What does {who} pay for a border around a {field} of {a} by {b} metres, at {price} a metre?",
        ],
        (a + b + a + b) * price,
        _about_large(draw, field),
    )


@KINDS("shapes.covering_cost", steps=2)
def covering_cost(draw: Draw) -> Draft:
    who, (long, short) = person(draw), _sides(draw)
    a, b, price = draw.digits(long), draw.digits(short), draw.money(4, 90)
    field = draw.choose("terrace", "playground", "yard", "courtyard")
    return draw.tell(
        [
            f"A rectangular {field} is {a} metres long and {b} metres wide. "
            f"Tiles cost {price} a square metre. "
            f"How much does it cost to tile the {field}?",
            f"{who} pays {price} for a square metre of grass. {who.His} {field} is a rectangle, "
            f"{b} metres wide and "
            f"{a} metres long. What does it cost to cover all of it?",
            f"What does {who} pay to pave a {field} of {a} by {b} metres, at {price} a square metre?",
        ],
        a * b * price,
        _about_large(draw, field),
    )


@KINDS("shapes.area_left", steps=3)
def area_left(draw: Draw) -> Draft:
    a, b, c, d = (draw.digits(draw.rng.randint(*span)) for span in ((41, 60), (15, 40), (9, 14), (3, 8)))
    inside = draw.choose("pool", "house", "pond", "stage", "flower bed")
    return draw.tell(
        [
            f"A garden is {a} m long and {b} m wide. In it there is a rectangular {inside} of {c} m by {d} "
            f"m. "
            f"How large is the rest of the garden?",
            f"A {inside} of {c} by {d} metres lies in a yard of {a} by {b} metres. "
            f"How many square metres of the yard are free?",
            f"How much of a lawn of {a} by {b} m remains when a {inside} of {c} by {d} m is built on it?",
        ],
        a * b - c * d,
        _about_large(draw, inside)[:1],
    )


@KINDS("shapes.tiles", steps=3)
def tiles(draw: Draw) -> Draft:
    who, n = person(draw), draw.choose(10, 15, 20, 25, 30, 40)
    i, j = draw.sample(range(4, 30), 2)
    side, a, b = draw.say(n), draw.say(n * i), draw.say(n * j)
    return draw.tell(
        [
            f"A floor is {a} cm long and {b} cm wide. {who} covers it with square tiles with a side of "
            f"{side} cm. "
            f"How many tiles does {who.he} need?",
            f"How many square tiles of {side} cm on each side cover a wall of {a} by {b} cm?",
            f"Square tiles have sides of {side} cm. How many of them does {who} lay on a floor of {a} cm "
            f"by {b} cm?",
        ],
        a * b / (side * side),
        [f"A tile costs {draw.money(2, 9)}.", f"{who} works for {draw.whole(2, 9)} hours."],
    )

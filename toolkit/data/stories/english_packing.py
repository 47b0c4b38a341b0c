"""English stories of boxes that are filled, shared and packed anew, in two steps and more."""

from __future__ import annotations

from toolkit.data.stories.core import Draft, Draw, Kinds
from toolkit.data.stories.english_words import BOXES, about, about_place, about_road, people, person, things

KINDS = Kinds()


@KINDS("groups.left_after_filling", steps=2)
def left_after_filling(draw: Draw) -> Draft:
    who, what, boxes = person(draw), things(draw), draw.choose(*BOXES)
    n, k = draw.rng.randint(4, 20), draw.rng.randint(5, 24)
    count, each, total = draw.say(n), draw.say(k), draw.say(n * k + draw.rng.randint(1, k - 1))
    return draw.tell(
        [
            f"{who} has {total} {what}. {who.He} fills {count} {boxes} with {each} {what} each. "
            f"How many {what} are left over?",
            f"{who} filled {count} {boxes}. Each got {each} of the {total} {what}. "
            f"How many {what} did not go into the {boxes}?",
            f"After giving {each} {what} to each of {count} children, "
            f"how many of {who}'s {total} {what} remain?",
        ],
        total - count * each,
        about(draw, who, what),
    )


@KINDS("groups.share_what_is_left", steps=2)
def share_what_is_left(draw: Draw) -> Draft:
    who, friend = people(draw)
    what = things(draw)
    n, eaten = draw.rng.randint(3, 12), draw.whole(3, 40)
    total, count = draw.say(n * draw.rng.randint(4, 30) + int(eaten.value)), draw.say(n)
    return draw.tell(
        [
            f"{who} had {total} {what}. {who.He} kept {eaten} and shared the rest equally among {count} "
            f"children. "
            f"How many {what} did each child get?",
            f"{count} children share what is left of {total} {what} after {friend} has taken {eaten}. "
            f"If all get the same, how many {what} does each child get?",
            f"After losing {eaten} of {who.his} {total} {what}, "
            f"{who} put the others into {count} equal piles. "
            f"How many {what} were in each pile?",
        ],
        (total - eaten) / count,
        about(draw, who, what),
    )


@KINDS("groups.share_both", steps=2)
def share_both(draw: Draw) -> Draft:
    who, friend = people(draw)
    what = things(draw)
    n, mine = draw.rng.randint(3, 12), draw.rng.randint(9, 70)
    rest = n * draw.rng.randint(6, 20) - mine
    draw.need(rest > 3)
    first, other, count = draw.say(mine), draw.say(rest), draw.say(n)
    return draw.tell(
        [
            f"{who} had {first} {what} and got {other} more. "
            f"{who.He} shared them equally among {count} children. "
            f"How many {what} did each child get?",
            f"{count} children share all the {what} of {who} and {friend} equally. "
            f"{who} has {first} and {friend} "
            f"has {other}. How many {what} does each child get?",
            f"If {friend} adds {other} {what} to {who}'s {first} and they are put into {count} equal piles, "
            f"how many {what} are in each pile?",
        ],
        (first + other) / count,
        about(draw, who, what),
    )


@KINDS("groups.boxes_in_crates", steps=2)
def boxes_in_crates(draw: Draw) -> Draft:
    who, what = person(draw), things(draw)
    trucks, boxes, each = draw.whole(2, 9), draw.whole(4, 25), draw.whole(6, 40)
    return draw.tell(
        [
            f"{trucks} trucks carry {boxes} boxes each. There are {each} {what} in every box. "
            f"How many {what} do the trucks carry?",
            f"A box holds {each} {what}, and a shelf holds {boxes} boxes. "
            f"How many {what} are on {trucks} shelves?",
            f"Every day {who} fills {boxes} boxes with {each} {what} each. "
            f"How many {what} does {who.he} pack in {trucks} days?",
        ],
        trucks * boxes * each,
        about_place(draw),
    )


@KINDS("groups.two_kinds_of_boxes", steps=3)
def two_kinds_of_boxes(draw: Draw) -> Draft:
    who, what = person(draw), things(draw)
    big, small = draw.sample(BOXES, 2)
    a, b, c, d = draw.whole(3, 20), draw.whole(10, 40), draw.whole(3, 20), draw.whole(4, 24)
    if draw.rng.random() < 0.6:
        return draw.tell(
            [
                f"{who} has {a} {big} with {b} {what} each and {c} {small} with {d} {what} each. "
                f"How many {what} are there altogether?",
                f"Each of the {big} holds {b} {what} and each of the {small} holds {d}. "
                f"How many {what} are in {a} {big} and {c} {small}?",
                f"{who} filled {c} {small} with {d} {what} each. In {a} {big} there are {b} {what} each. "
                f"How many {what} does {who} have in all?",
            ],
            a * b + c * d,
            about(draw, who, what),
        )
    draw.need(a.value * b.value > c.value * d.value)
    return draw.tell(
        [
            f"{who} has {a} {big} with {b} {what} each. {who.He} sells {c} {small} with {d} {what} each. "
            f"How many {what} are left?",
            f"{who} sold {c} {small} of {d} {what}. Before that there were {a} {big} of {b}. "
            f"How many {what} does {who.he} still have?",
            f"There are {b} {what} in each of {a} {big} and {d} in each of {c} {small}. "
            f"How many more {what} are in the {big} than in the {small}?",
        ],
        a * b - c * d,
        about(draw, who, what),
    )


@KINDS("groups.repacking", steps=2)
def repacking(draw: Draw) -> Draft:
    who, what, boxes = person(draw), things(draw), draw.choose(*BOXES)
    a, b, c = draw.rng.randint(4, 30), draw.rng.randint(6, 40), draw.rng.randint(3, 24)
    draw.need(a * b % c == 0 and len({a, b, c}) == 3)
    count, each, new = draw.say(a), draw.say(b), draw.say(c)
    return draw.tell(
        [
            f"{who} has {count} {boxes} with {each} {what} in each. {who.He} packs them anew, "
            f"{new} to a bundle. "
            f"How many bundles does {who.he} get?",
            f"{new} friends share {count} {boxes} of {each} {what} equally. "
            f"How many {what} does each friend get?",
            f"With {each} {what} a day, {who}'s supply lasts {count} days. "
            f"How many days does it last with {new} a day?",
            f"{count} workers need {each} days for a wall. How many days do {new} workers need, "
            f"if all work equally fast?",
        ],
        count * each / new,
        about(draw, who, what),
    )


@KINDS("groups.repacking_with_loss", steps=3)
def repacking_with_loss(draw: Draw) -> Draft:
    who, what, boxes = person(draw), things(draw), draw.choose(*BOXES)
    a, b, c, gone = (draw.rng.randint(low, high) for low, high in ((4, 20), (8, 36), (3, 12), (5, 50)))
    draw.need(a * b > gone + c and len({a, b, c, gone}) == 4)
    lost = draw.rng.random() < 0.5
    draw.need((a * b - gone if lost else a * b + gone) % c == 0)
    count, each, new, change = draw.say(a), draw.say(b), draw.say(c), draw.say(gone)
    if lost:
        return draw.tell(
            [
                f"{who} has {count} {boxes} with {each} {what} in each. {change} {what} are damaged. "
                f"{who.He} shares "
                f"the rest equally among {new} families. How many {what} does each family get?",
                f"{new} families share the {what} of {count} {boxes} equally, "
                f"after {who} has taken out {change}. "
                f"There were {each} in each. How many {what} does every family get?",
            ],
            (count * each - change) / new,
            about(draw, who, what),
        )
    return draw.tell(
        [
            f"{who} has {count} {boxes} with {each} {what} in each. "
            f"{who.He} buys {change} {what} more and shares "
            f"all equally among {new} families. How many {what} does each family get?",
            f"{new} families share {count} {boxes} of {each} {what} and {change} loose ones equally. "
            f"How many {what} does every family get?",
        ],
        (count * each + change) / new,
        about(draw, who, what),
    )


@KINDS("groups.two_kinds_some_gone", steps=4)
def two_kinds_some_gone(draw: Draw) -> Draft:
    who, what = person(draw), things(draw)
    big, small = draw.sample(BOXES, 2)
    a, b, c, d = draw.whole(3, 12), draw.whole(10, 40), draw.whole(3, 12), draw.whole(4, 24)
    e = draw.whole(8, 60)
    draw.need(a.value * b.value + c.value * d.value > e.value)
    return draw.tell(
        [
            f"{who} has {a} {big} with {b} {what} each and {c} {small} with {d} {what} each. "
            f"{who.He} gives away "
            f"{e} {what}. How many {what} are left?",
            f"{who} sold {e} {what}. Before, {who.he} had {c} {small} of {d} and {a} {big} of {b}. "
            f"How many {what} does {who.he} have now?",
            f"Each of the {big} holds {b} {what} and each of the {small} holds {d}. {who} fills {a} {big} "
            f"and {c} {small}, and {e} {what} turn out to be bad. How many good {what} are there?",
        ],
        a * b + c * d - e,
        about(draw, who, what),
    )


@KINDS("groups.seats_by_bus_and_car", steps=4)
def seats_by_bus_and_car(draw: Draw) -> Draft:
    buses, seats, cars, places = draw.whole(2, 7), draw.whole(28, 56), draw.whole(8, 15), draw.whole(3, 6)
    total = buses.value * seats.value + cars.value * places.value
    people_ = draw.say(int(total) + draw.rng.randint(9, 60))
    asides = about_road(draw)[1:]
    return draw.tell(
        [
            f"{people_} people want to go on a trip. There are {buses} buses with {seats} seats each and "
            f"{cars} cars "
            f"with {places} seats each. How many people find no seat?",
            f"For a trip there are {cars} cars with {places} places and {buses} buses with {seats} places. "
            f"If {people_} people come, how many must stay at home?",
            f"{seats} people fit into each of {buses} buses, and {places} into each of {cars} cars. "
            f"Of {people_} guests, how many have to walk?",
        ],
        people_ - (buses * seats + cars * places),
        asides,
    )

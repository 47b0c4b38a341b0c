"""English stories of equal groups, rows and pages."""

from __future__ import annotations

from toolkit.data.stories.core import Draft, Draw, Kinds
from toolkit.data.stories.english_words import BOXES, about, about_place, about_road, person, things
from toolkit.data.stories.quantities import ONE

KINDS = Kinds()


@KINDS("groups.in_all", steps=1)
def in_all(draw: Draw) -> Draft:
    who, what, boxes = person(draw), things(draw), draw.choose(*BOXES)
    count, each = draw.whole(3, 40), draw.whole(4, 60)
    return draw.tell(
        [
            f"{who} has {count} {boxes} with {each} {what} in each. How many {what} are there altogether?",
            f"There are {each} {what} in each of the {count} {boxes}. How many {what} does {who} have?",
            f"If {who} puts {each} {what} into each of {count} {boxes}, how many {what} are needed?",
            f"How many {what} fit into {count} {boxes} that hold {each} each?",
            f"Every day {who} packs {each} {what}. How many {what} does {who} pack in {count} days?",
        ],
        count * each,
        about(draw, who, what),
    )


@KINDS("groups.in_each", steps=1)
def in_each(draw: Draw) -> Draft:
    who, what, boxes = person(draw), things(draw), draw.choose(*BOXES)
    number = draw.rng.randint(3, 24)
    count, total = draw.say(number), draw.say(number * draw.rng.randint(4, 60))
    return draw.tell(
        [
            f"{who} shares {total} {what} equally among {count} friends. "
            f"How many {what} does each friend get?",
            f"{who} has {count} {boxes}. {who.He} puts {total} {what} into them, the same number into each. "
            f"How many {what} are in each?",
            f"If {count} {boxes} hold {total} {what} and all hold the same number, how many are in each?",
            f"In {count} days {who} packed {total} {what}, equally many every day. "
            f"How many {what} did {who.he} pack a day?",
        ],
        total / count,
        about(draw, who, what),
    )


@KINDS("groups.how_many_groups", steps=1)
def how_many_groups(draw: Draw) -> Draft:
    who, what, boxes = person(draw), things(draw), draw.choose(*BOXES)
    number = draw.rng.randint(4, 30)
    each, total = draw.say(number), draw.say(number * draw.rng.randint(3, 60))
    return draw.tell(
        [
            f"{who} puts {total} {what} into {boxes} of {each}. How many {boxes} are filled?",
            f"Each of the {boxes} holds {each} {what}. How many {boxes} does {who} need for {total} {what}?",
            f"{each} {what} go into each of the {boxes}. If {who} has {total} {what}, "
            f"how many {boxes} can {who.he} fill?",
            f"{who} packs {each} {what} a day. In how many days will {who.he} have packed {total}?",
        ],
        total / each,
        about(draw, who, what),
    )


@KINDS("groups.dozens", steps=1)
def dozens(draw: Draw) -> Draft:
    who, what = person(draw), draw.choose("eggs", "bananas", "rolls", "candles", "pencils", "buns")
    count, dozen = draw.whole(3, 25), draw.word("dozen", 12)
    return draw.tell(
        [
            f"{who} buys {count} {dozen} {what}. How many {what} is that?",
            f"A shop ordered {count} {dozen} {what} from {who}. How many {what} must {who} bring?",
            f"How many {what} are there in {count} {dozen}?",
        ],
        count * dozen,
        about(draw, who, what),
    )


@KINDS("groups.rows_of_seats", steps=1)
def rows_of_seats(draw: Draw) -> Draft:
    rows = draw.rng.randint(6, 40)
    each = draw.rng.randint(5, 45)
    place = draw.choose("hall", "cinema", "theatre", "stadium", "concert hall", "circus tent")
    seats = draw.choose("seats", "chairs")
    if draw.rng.random() < 0.5:
        count, width = draw.say(rows), draw.say(each)
        return draw.tell(
            [
                f"A {place} has {count} rows of {seats}. There are {width} {seats} in each row. "
                f"How many {seats} are there?",
                f"With {width} {seats} in every row and {count} rows, "
                f"how many {seats} does the {place} have?",
            ],
            count * width,
            about_place(draw),
        )
    total, count = draw.say(rows * each), draw.say(rows)
    return draw.tell(
        [
            f"A {place} has {total} {seats} in {count} equal rows. How many {seats} are there in each row?",
            f"The {count} rows of a {place} are equally long. Altogether there are {total} {seats}. "
            f"How many {seats} does each row have?",
        ],
        total / count,
        about_place(draw),
    )


@KINDS("groups.some_taken", steps=2)
def some_taken(draw: Draw) -> Draft:
    who, what, boxes = person(draw), things(draw), draw.choose(*BOXES)
    count, each, gone = draw.whole(4, 30), draw.whole(6, 48), draw.whole(5, 90)
    draw.need(count.value * each.value > gone.value)
    return draw.tell(
        [
            f"{who} has {count} {boxes} with {each} {what} in each. {who.He} sells {gone} {what}. "
            f"How many {what} are left?",
            f"{who} sold {gone} {what}. At first there were {each} {what} in each of {count} {boxes}. "
            f"How many {what} does {who} still have?",
            f"If {gone} of the {what} in {count} {boxes} of {each} are damaged, how many are good?",
        ],
        count * each - gone,
        about(draw, who, what),
    )


@KINDS("groups.and_some_loose", steps=2)
def and_some_loose(draw: Draw) -> Draft:
    who, what, boxes = person(draw), things(draw), draw.choose(*BOXES)
    count, each, loose = draw.whole(4, 30), draw.whole(6, 48), draw.whole(2, 40)
    return draw.tell(
        [
            f"{who} has {count} {boxes} with {each} {what} in each. {who.He} buys {loose} {what} more. "
            f"How many {what} are there now?",
            f"{loose} {what} lie on the table. There are {each} more in each of {count} {boxes}. "
            f"How many {what} does {who} have?",
            f"{who} filled {count} {boxes} with {each} {what} each and had {loose} left over. "
            f"How many {what} were there at first?",
        ],
        count * each + loose,
        about(draw, who, what),
    )


@KINDS("groups.pages_left_per_day", steps=2)
def pages_left_per_day(draw: Draw) -> Draft:
    who = person(draw)
    per_day, n = draw.rng.randint(8, 30), draw.rng.randint(3, 14)
    read = draw.whole(20, 90)
    total = draw.say(per_day * n + int(read.value))
    days, pace = draw.say(n), draw.say(per_day)
    asides = [
        f"{who} paid {draw.money(4, 30)} for the book.",
        f"The book has {draw.whole(2, 19)} pictures.",
        f"{who} reads for {draw.whole(20, 50)} minutes every evening.",
    ]
    if draw.rng.random() < 0.5:
        return draw.tell(
            [
                f"{who} is reading a book of {total} pages and has read {read} of them. "
                f"{who.He} wants to finish it "
                f"in {days} days. How many pages must {who.he} read a day?",
                f"In {days} days {who} must bring a book back. "
                f"{who.He} has read {read} of its {total} pages. "
                f"How many pages a day are left for {who.him} to read?",
                f"{who} has read {read} pages of a book. With how many pages a day for {days} days "
                f"does {who.he} get through all its {total} pages?",
            ],
            (total - read) / days,
            asides,
        )
    return draw.tell(
        [
            f"{who} is reading a book of {total} pages and has read {read} of them. "
            f"From now on {who.he} reads "
            f"{pace} pages a day. In how many days will {who.he} finish?",
            f"Reading {pace} pages a day, how many days does {who} need for the rest of a book "
            f"if {who.he} has read {read} of {total} pages?",
            f"{who} reads {pace} pages a day. A book has {total} pages, and {read} of them are read. "
            f"For how many more days will the book last?",
        ],
        (total - read) / pace,
        asides,
    )


@KINDS("groups.trees_along_a_road", steps=2)
def trees_along_a_road(draw: Draw) -> Draft:
    gap = draw.rng.randint(3, 15)
    length, space = draw.say(gap * draw.rng.randint(6, 60)), draw.say(gap)
    post = draw.choose("trees", "lamps", "posts", "flags")
    if draw.rng.random() < 0.5:
        return draw.tell(
            [
                f"A road is {length} metres long. {post.capitalize()} stand every {space} metres, "
                f"also at both ends. "
                f"How many {post} are there?",
                f"Every {space} metres along a path of {length} metres there are {post}, "
                f"also where the path starts and where it ends. How many {post} are there?",
            ],
            length / space + ONE,
            about_road(draw)[:1],
        )
    return draw.tell(
        [
            f"A road is {length} metres long. {post.capitalize()} stand every {space} metres, "
            f"but none at the ends. "
            f"How many {post} are there?",
            f"Every {space} metres along a path of {length} metres there are {post}, "
            f"but none where the path starts and none where it ends. How many {post} are there?",
        ],
        length / space - ONE,
        about_road(draw)[:1],
    )


@KINDS("groups.next_or_last", steps=1)
def next_or_last(draw: Draw) -> Draft:
    who = person(draw)
    n = draw.choose(draw.whole(5, 30), draw.whole(12, 64))
    if draw.rng.random() < 0.5:
        return draw.tell(
            [
                f"{who} is {n} years old today. How old will {who.he} be next year?",
                f"A rope is cut {n} times, always across. How many pieces are there?",
                f"{who} has read up to page {n}. Which page comes next?",
                f"There are {n} children in the room, and then {who} comes in. "
                f"How many children are in the room now?",
            ],
            n + ONE,
        )
    return draw.tell(
        [
            f"{who} is {n} years old today. How old was {who.he} last year?",
            f"A rope is to be cut into {n} pieces. How many cuts are needed?",
            f"There are {n} children in the room. Then {who} goes home. "
            f"How many children are in the room now?",
            f"{n} players take part in a knockout tournament, in which the loser of a match goes out. "
            f"How many matches are played until the winner is known?",
        ],
        n - ONE,
    )


@KINDS("groups.everyone_with_everyone", steps=2)
def everyone_with_everyone(draw: Draw) -> Draft:
    n = draw.whole(4, 30)
    who = person(draw)
    return draw.tell(
        [
            f"There are {n} teams in a league. Every team plays at home against each of the others. "
            f"How many matches are played?",
            f"{n} friends send a card to each other. How many cards are sent in all?",
            f"{who} and the others of a club, {n} members in all, each give a present to every other member. "
            f"How many presents are given?",
        ],
        n * (n - ONE),
        [f"They have known each other for {draw.whole(2, 9)} years."],
    )


@KINDS("groups.consecutive", steps=2)
def consecutive(draw: Draw) -> Draft:
    who = person(draw)
    n = draw.whole(6, 90)
    return draw.tell(
        [
            f"{who} opens a book at page {n} and reads that page and the next. "
            f"What is the sum of the page numbers?",
            f"What is the sum of {n} and the whole number that follows it?",
            f"{who} got {n} points in a game and a point more in the next. How many points is that together?",
        ],
        n + (n + ONE),
    )

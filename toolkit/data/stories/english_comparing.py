"""English stories of more and fewer, times as many, and altogether."""

from __future__ import annotations

from toolkit.data.stories.core import Draft, Draw, Kinds
from toolkit.data.stories.english_words import about, limit, people, things

KINDS = Kinds()


@KINDS("comparing.more_than", steps=1)
def more_than(draw: Draw) -> Draft:
    who, friend = people(draw)
    what = things(draw)
    base, extra = draw.sample(draw.falling(largest=limit(what)), 2)
    return draw.tell(
        [
            f"{who} has {base} {what}. {friend} has {extra} more than {who}. "
            f"How many {what} does {friend} have?",
            f"{friend} has {extra} more {what} than {who}. {who} has {base} {what}. "
            f"How many {what} does {friend} have?",
            f"{who} has {base} {what}, which is {extra} fewer than {friend} has. "
            f"How many {what} does {friend} have?",
            f"{who} has {extra} {what} fewer than {friend}. If {who} has {base}, "
            f"how many does {friend} have?",
            f"How many {what} does {friend} have if {friend.he} has {extra} more than {who}, who has {base}?",
        ],
        base + extra,
        about(draw, who, what),
    )


@KINDS("comparing.fewer_than", steps=1)
def fewer_than(draw: Draw) -> Draft:
    who, friend = people(draw)
    what = things(draw)
    base, less = draw.falling(largest=limit(what))
    return draw.tell(
        [
            f"{who} has {base} {what}. {friend} has {less} fewer than {who}. "
            f"How many {what} does {friend} have?",
            f"{friend} has {less} fewer {what} than {who}. {who} has {base} {what}. "
            f"How many {what} does {friend} have?",
            f"{who} has {base} {what}, which is {less} more than {friend} has. "
            f"How many {what} does {friend} have?",
            f"{who} has {less} {what} more than {friend}. If {who} has {base}, how many does {friend} have?",
            f"How many {what} does {friend} have if {friend.he} has {less} fewer than {who}, who has {base}?",
        ],
        base - less,
        about(draw, who, what),
    )


@KINDS("comparing.difference", steps=1)
def difference(draw: Draw) -> Draft:
    who, friend = people(draw)
    what = things(draw)
    more, less = draw.falling(largest=limit(what))
    return draw.tell(
        [
            f"{who} has {more} {what} and {friend} has {less}. "
            f"How many more {what} does {who} have than {friend}?",
            f"{friend} collected {less} {what}. {who} collected {more}. "
            f"How many fewer {what} did {friend} collect than {who}?",
            f"What is the difference between the {less} {what} of {friend} and the {more} {what} of {who}?",
            f"There are {less} {what} in {friend}'s bag and {more} in {who}'s. "
            f"How many must be added to {friend}'s bag to make both equal?",
        ],
        more - less,
        about(draw, who, what),
    )


@KINDS("comparing.together", steps=1)
def together(draw: Draw) -> Draft:
    who, friend = people(draw)
    what = things(draw)
    first, other = draw.sample(draw.falling(largest=limit(what)), 2)
    return draw.tell(
        [
            f"{who} has {first} {what} and {friend} has {other}. How many {what} do they have altogether?",
            f"{friend} collected {other} {what}. {who} collected {first}. How many did they collect in all?",
            f"What is the total of the {first} {what} of {who} and the {other} {what} of {friend}?",
            f"If {who} puts {first} {what} on the table and {friend} adds {other}, how many are there?",
        ],
        first + other,
        about(draw, who, what),
    )


@KINDS("comparing.times_as_many", steps=1)
def times_as_many(draw: Draw) -> Draft:
    who, friend = people(draw)
    what = things(draw)
    base = draw.whole(4, 90)
    k = draw.choose(draw.whole(3, 9), draw.whole(3, 9))
    twice = draw.word("twice", 2)
    return draw.choose(
        draw.tell(
            [
                f"{who} has {base} {what}. {friend} has {k} times as many. "
                f"How many {what} does {friend} have?",
                f"{friend} has {k} times as many {what} as {who}. {who} has {base}. "
                f"How many {what} does {friend} have?",
                f"If {who} picks {base} {what} and {friend} picks {k} times that number, "
                f"how many does {friend} pick?",
            ],
            base * k,
            about(draw, who, what),
        ),
        draw.tell(
            [
                f"{who} has {base} {what}. {friend} has {twice} as many. How many {what} does {friend} have?",
                f"{friend} owns {twice} as many {what} as {who}, who owns {base}. "
                f"How many {what} does {friend} own?",
            ],
            twice * base,
            about(draw, who, what),
        ),
    )


@KINDS("comparing.a_part_as_many", steps=1)
def a_part_as_many(draw: Draw) -> Draft:
    who, friend = people(draw)
    what = things(draw)
    times = draw.rng.randint(3, 9)
    base, k = draw.say(times * draw.rng.randint(4, 60)), draw.digits(times)
    return draw.tell(
        [
            f"{who} has {base} {what}. That is {k} times as many as {friend} has. "
            f"How many {what} does {friend} have?",
            f"{who} has {k} times as many {what} as {friend}. {who} has {base}. "
            f"How many {what} does {friend} have?",
            f"If {who} picks {base} {what}, which is {k} times the number that {friend} picks, "
            f"how many does {friend} pick?",
            f"{k} times the number of {friend}'s {what} is {base}, the number of {who}'s {what}. "
            f"How many {what} does {friend} have?",
        ],
        base / k,
        about(draw, who, what),
    )


@KINDS("comparing.more_together", steps=2)
def more_together(draw: Draw) -> Draft:
    who, friend = people(draw)
    what = things(draw)
    base, extra = draw.sample(draw.falling(largest=limit(what)), 2)
    return draw.tell(
        [
            f"{who} has {base} {what}. {friend} has {extra} more than {who}. "
            f"How many {what} do they have together?",
            f"{friend} has {extra} more {what} than {who}. {who} has {base}. How many do both have in all?",
            f"If {who} reads {base} pages and {friend} reads {extra} pages more than {who}, "
            f"how many pages do they read altogether?",
        ],
        base + (base + extra),
        about(draw, who, what),
    )


@KINDS("comparing.fewer_together", steps=2)
def fewer_together(draw: Draw) -> Draft:
    who, friend = people(draw)
    what = things(draw)
    base, less = draw.falling(largest=limit(what))
    return draw.tell(
        [
            f"{who} has {base} {what}. {friend} has {less} fewer than {who}. "
            f"How many {what} do they have together?",
            f"{friend} has {less} fewer {what} than {who}. {who} has {base}. How many do both have in all?",
            f"If {who} reads {base} pages and {friend} reads {less} pages fewer than {who}, "
            f"how many pages do they read altogether?",
        ],
        base + (base - less),
        about(draw, who, what),
    )


@KINDS("comparing.times_together", steps=2)
def times_together(draw: Draw) -> Draft:
    who, friend = people(draw)
    what = things(draw)
    base = draw.whole(6, 80)
    k = draw.choose((draw.whole(3, 8), " times"), (draw.word("twice", 2), ""))
    times, word = k
    return draw.tell(
        [
            f"{who} has {base} {what}. {friend} has {times}{word} as many. How many do they have together?",
            f"{friend} has {times}{word} as many {what} as {who}. {who} has {base}. "
            f"What is the total number of {what}?",
            f"{who} planted {base} trees and {friend} planted {times}{word} as many as {who}. "
            f"How many trees did they plant altogether?",
        ],
        base + times * base,
        about(draw, who, what, "trees"),
    )


@KINDS("comparing.times_difference", steps=2)
def times_difference(draw: Draw) -> Draft:
    who, friend = people(draw)
    what = things(draw)
    base = draw.whole(6, 80)
    k = draw.whole(3, 9)
    return draw.tell(
        [
            f"{who} has {base} {what}. {friend} has {k} times as many. "
            f"How many more {what} does {friend} have than {who}?",
            f"{friend} has {k} times as many {what} as {who}. {who} has {base}. "
            f"How many {what} must {who} get to have the same number as {friend}?",
            f"{who} planted {base} trees and {friend} planted {k} times as many as {who}. "
            f"How many fewer trees did {who} plant than {friend}?",
        ],
        k * base - base,
        about(draw, who, what, "trees"),
    )


@KINDS("comparing.times_and_more", steps=2)
def times_and_more(draw: Draw) -> Draft:
    who, friend = people(draw)
    what = things(draw)
    base, extra, k = draw.whole(15, 80), draw.whole(2, 14), draw.whole(3, 7)
    if draw.rng.random() < 0.5:
        return draw.tell(
            [
                f"{friend} has {extra} more than {k} times as many {what} as {who}. {who} has {base} {what}. "
                f"How many does {friend} have?",
                f"{who} has {base} {what}. If {friend} has {k} times as many and {extra} besides, "
                f"how many {what} does {friend} have?",
            ],
            k * base + extra,
            about(draw, who, what),
        )
    return draw.tell(
        [
            f"{friend} has {extra} fewer than {k} times as many {what} as {who}. {who} has {base} {what}. "
            f"How many does {friend} have?",
            f"{who} has {base} {what}. {friend} had {k} times as many but lost {extra}. "
            f"How many {what} does {friend} have?",
        ],
        k * base - extra,
        about(draw, who, what),
    )


@KINDS("comparing.three_people", steps=3)
def three_people(draw: Draw) -> Draft:
    who, friend, other = people(draw, 3)
    what = things(draw)
    base, extra, less = draw.falling(3, largest=min(980, limit(what)))
    if draw.rng.random() < 0.5:
        return draw.tell(
            [
                f"{who} has {base} {what}. {friend} has {less} fewer than {who}, and {other} has {extra}. "
                f"How many {what} do the friends have altogether?",
                f"{other} brought {extra} {what}. {friend} brought {less} fewer than {who}, "
                f"who brought {base}. "
                f"How many {what} were brought in all?",
            ],
            base + (base - less) + extra,
            about(draw, other, what),
        )
    return draw.tell(
        [
            f"{who} has {base} {what}. {friend} has {less} more than {who}, and {other} has {extra}. "
            f"How many {what} do the friends have altogether?",
            f"{other} brought {extra} {what}. {friend} brought {less} more than {who}, who brought {base}. "
            f"How many {what} were brought in all?",
        ],
        base + (base + less) + extra,
        about(draw, other, what),
    )

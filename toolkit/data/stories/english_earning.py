"""English stories of savings, wages, profit and interest."""

from __future__ import annotations

from fractions import Fraction

from toolkit.data.stories.core import Draft, Draw, Kinds
from toolkit.data.stories.english_words import DEAR_THINGS, about, about_shop, person, shop_thing

KINDS = Kinds()


@KINDS("money.saved_so_far", steps=2)
def saved_so_far(draw: Draw) -> Draft:
    who, item = person(draw), draw.choose(*DEAR_THINGS)
    had, weekly, weeks = draw.money(20, 400, cents=False), draw.money(3, 48), draw.whole(4, 20)
    return draw.tell(
        [
            f"{who} has {had} and saves {weekly} a week. How much will {who.he} have after {weeks} weeks?",
            f"For {weeks} weeks {who} has put {weekly} a week into a box that held {had} at the start. "
            f"How much is in the box?",
            f"{who} saved {weekly} every week. There was {had} in the account before. "
            f"How much is there after {weeks} weeks?",
        ],
        had + weeks * weekly,
        [*about(draw, who), f"A {item} costs {draw.money(300, 900, cents=False)}."],
    )


@KINDS("money.spent_so_far", steps=2)
def spent_so_far(draw: Draw) -> Draft:
    who, item = person(draw), draw.choose(*DEAR_THINGS)
    had, weekly, weeks = draw.money(150, 900, cents=False), draw.money(3, 48), draw.whole(4, 20)
    draw.need(had.value > weekly.value * weeks.value)
    return draw.tell(
        [
            f"{who} has {had} and spends {weekly} a week. How much will {who.he} have after {weeks} weeks?",
            f"For {weeks} weeks {who} has taken {weekly} a week out of a box that held {had} at the start. "
            f"How much is in the box?",
            f"{who} spent {weekly} every week. There was {had} in the account before. "
            f"How much is there after {weeks} weeks?",
        ],
        had - weeks * weekly,
        [*about(draw, who), f"A {item} costs {draw.money(300, 900, cents=False)}."],
    )


@KINDS("money.weeks_to_goal", steps=2)
def weeks_to_goal(draw: Draw) -> Draft:
    who, item = person(draw), draw.choose(*DEAR_THINGS)
    per_week, n, start = draw.rng.randint(4, 40), draw.rng.randint(4, 20), draw.rng.randint(15, 300)
    goal, had, weekly, weeks = (
        draw.pay(per_week * n + start),
        draw.pay(start),
        draw.pay(per_week),
        draw.say(n),
    )
    if draw.rng.random() < 0.6:
        return draw.tell(
            [
                f"{who} wants a {item} that costs {goal}. {who.He} has {had} and saves {weekly} a week. "
                f"In how many weeks will {who.he} have enough?",
                f"Saving {weekly} a week, how many weeks does {who} need to buy a {item} for {goal} "
                f"if {who.he} has {had} already?",
                f"{who} has {had}. The {item} in the window costs {goal}. "
                f"If {who} puts {weekly} aside every week, "
                f"how many weeks will it take?",
            ],
            (goal - had) / weekly,
            about(draw, who),
        )
    return draw.tell(
        [
            f"{who} wants a {item} that costs {goal}. {who.He} has {had}. "
            f"How much must {who.he} save a week to have enough in {weeks} weeks?",
            f"In {weeks} weeks {who} wants to buy a {item} for {goal}. So far {who.he} has {had}. "
            f"How much must {who.he} put aside every week?",
        ],
        (goal - had) / weeks,
        about(draw, who),
    )


@KINDS("money.profit", steps=2)
def profit(draw: Draw) -> Draft:
    who, (item, items) = person(draw), shop_thing(draw)
    cost, count = draw.money(3, 30), draw.whole(5, 60)
    price = draw.pay(Fraction(cost.value) + Fraction(draw.rng.randint(2, 40), 2))
    return draw.tell(
        [
            f"{who} buys {items} at {cost} and sells them at {price} each. "
            f"What is {who.his} profit on {count} {items}?",
            f"{who} sold {count} {items} for {price} each. Each had cost {who.him} {cost}. "
            f"How much did {who} earn?",
            f"On {count} {items}, how much does {who} gain if a {item} is bought at {cost} and sold at "
            f"{price}?",
        ],
        count * (price - cost),
        about_shop(draw, item),
    )


@KINDS("money.wage_and_bonus", steps=2)
def wage_and_bonus(draw: Draw) -> Draft:
    who = person(draw)
    hours, rate, extra = draw.whole(4, 40), draw.money(9, 60), draw.money(15, 90, cents=False)
    draw.need(hours.value * rate.value > extra.value)
    asides = about(draw, who)
    if draw.rng.random() < 0.5:
        return draw.tell(
            [
                f"{who} earns {rate} an hour and a bonus of {extra} a week. "
                f"How much is that in a week with {hours} hours of work?",
                f"This week {who} got a bonus of {extra}. "
                f"{who.He} also worked {hours} hours at {rate} an hour. "
                f"How much did {who} get?",
                f"A plumber asks {extra} for coming and {rate} for each hour. "
                f"How much does {who} pay for {hours} hours?",
            ],
            hours * rate + extra,
            asides,
        )
    return draw.tell(
        [
            f"{who} earns {rate} an hour and pays {extra} a week for the bus. "
            f"How much is left of a week's wage after {hours} hours of work?",
            f"This week {who} spent {extra} on tools. {who.He} worked {hours} hours at {rate} an hour. "
            f"How much did {who} have in the end?",
        ],
        hours * rate - extra,
        asides,
    )


@KINDS("money.overtime", steps=3)
def overtime(draw: Draw) -> Draft:
    who = person(draw)
    hours, rate, late, more = draw.whole(20, 40), draw.money(9, 25), draw.whole(2, 9), draw.money(26, 48)
    return draw.tell(
        [
            f"{who} works {hours} hours at {rate} an hour and {late} hours at {more} an hour. "
            f"How much does {who} earn?",
            f"{who} gets {rate} an hour on weekdays and {more} an hour on Sundays. "
            f"How much are {late} hours on a Sunday and {hours} hours on weekdays?",
            f"How much does {who} earn with {late} hours of night work at {more} "
            f"and {hours} hours of day work at {rate}?",
        ],
        hours * rate + late * more,
        about(draw, who),
    )


@KINDS("money.simple_interest", steps=2)
def simple_interest(draw: Draw) -> Draft:
    who = person(draw)
    sum_, rate, years = (
        draw.pay(draw.rng.randrange(400, 9000, 200)),
        draw.percent(2, 3, 4, 5, 6, 8),
        draw.whole(2, 9),
    )
    return draw.tell(
        [
            f"{who} lends {sum_} at {rate} simple interest a year. "
            f"How much interest is due after {years} years?",
            f"For {years} years {who} leaves {sum_} in a bank that pays {rate} simple interest a year. "
            f"How much interest is that?",
            f"At {rate} a year, what is the simple interest on {sum_} for {years} years?",
        ],
        sum_ * rate * years,
        about(draw, who),
    )


@KINDS("money.amount_with_interest", steps=3)
def amount_with_interest(draw: Draw) -> Draft:
    who = person(draw)
    sum_, rate, years = (
        draw.pay(draw.rng.randrange(400, 9000, 200)),
        draw.percent(2, 3, 4, 5, 6, 8),
        draw.whole(2, 9),
    )
    return draw.tell(
        [
            f"{who} lends {sum_} at {rate} simple interest a year. "
            f"How much must be paid back after {years} years?",
            f"For {years} years {who} leaves {sum_} in a bank that pays {rate} simple interest a year. "
            f"How much is in the account then?",
            f"At {rate} simple interest a year, to what amount do {sum_} grow in {years} years?",
        ],
        sum_ + sum_ * rate * years,
        about(draw, who),
    )

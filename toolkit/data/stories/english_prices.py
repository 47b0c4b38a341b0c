"""English stories of prices, change, bills and discounts."""

from __future__ import annotations

from fractions import Fraction

from toolkit.data.stories.core import Draft, Draw, Kinds
from toolkit.data.stories.english_words import DEAR_THINGS, about, about_shop, person, shop_thing
from toolkit.data.stories.quantities import ONE, Number

KINDS = Kinds()


def _note(draw: Draw, least: Number | Fraction) -> Number:
    """The money somebody pays with: a round sum above `least`."""
    amount = least.value if isinstance(least, Number) else least
    return draw.pay(
        draw.choose(*[note for note in (10, 20, 50, 100, 200, 500, 1000, 2000) if note > amount][:2])
    )


@KINDS("money.change", steps=1)
def change(draw: Draw) -> Draft:
    who, (item, _) = person(draw), shop_thing(draw)
    price = draw.money(3, 45)
    note = _note(draw, price)
    return draw.tell(
        [
            f"{who} buys a {item} for {price} and pays with {note}. How much change does {who.he} get?",
            f"{who} gives the cashier {note}. The {item} costs {price}. How much money comes back?",
            f"A {item} costs {price}. If {who} has {note}, how much is left after buying it?",
            f"How much of {note} does {who} keep after paying {price} for a {item}?",
        ],
        note - price,
        about_shop(draw, item),
    )


@KINDS("money.total_price", steps=1)
def total_price(draw: Draw) -> Draft:
    who, (item, items) = person(draw), shop_thing(draw)
    count, price = draw.whole(3, 48), draw.money(2, 30)
    return draw.tell(
        [
            f"{who} buys {count} {items}. Each costs {price}. How much does {who} pay?",
            f"A {item} costs {price}. How much do {count} {items} cost?",
            f"At {price} a piece, what is the cost of {count} {items}?",
            f"If {who} sells {count} {items} for {price} each, how much money does {who.he} take in?",
        ],
        count * price,
        about_shop(draw, item),
    )


@KINDS("money.unit_price", steps=1)
def unit_price(draw: Draw) -> Draft:
    who, (item, items) = person(draw), shop_thing(draw)
    n = draw.rng.randint(3, 25)
    count, total = draw.say(n), draw.pay(n * Fraction(draw.rng.randint(4, 60), 2))
    return draw.tell(
        [
            f"{who} pays {total} for {count} {items}. How much does a {item} cost?",
            f"{count} {items} cost {total}. What is the price of each {item}?",
            f"What does a {item} cost if {who} gets {count} {items} for {total}?",
            f"{who} paid {total} in all. For that {who.he} got {count} {items} of the same price. "
            f"How much was each?",
        ],
        total / count,
        about_shop(draw, item),
    )


@KINDS("money.how_many_can_be_bought", steps=1)
def how_many_can_be_bought(draw: Draw) -> Draft:
    who, (item, items) = person(draw), shop_thing(draw)
    cost = Fraction(draw.rng.randint(4, 40), 2)
    price, money = draw.pay(cost), draw.pay(cost * draw.rng.randint(3, 30))
    return draw.tell(
        [
            f"{who} has {money}. How many {items} at {price} each can {who.he} buy?",
            f"A {item} costs {price}. How many {items} does {who} get for {money}?",
            f"{who} spent {money} on {items} that cost {price} each. How many {items} did {who.he} buy?",
            f"At {price} for each {item}, {who} took in {money}. How many {items} were sold?",
        ],
        money / price,
        about_shop(draw, item),
    )


@KINDS("money.two_things", steps=1)
def two_things(draw: Draw) -> Draft:
    who, (item, _), (other, _) = person(draw), shop_thing(draw), shop_thing(draw)
    draw.need(item != other)
    price, extra = draw.money(8, 40), draw.money(2, 20)
    draw.need(price.value > extra.value)
    more = draw.choose(
        (
            [
                f"{who} buys a {item} for {price} and a {other} for {extra}. How much does {who} spend?",
                f"A {other} costs {extra}. A {item} costs {price}. How much do both cost together?",
                f"A {item} costs {price}. A {other} costs {extra} more. What does the {other} cost?",
                f"The {item} costs {extra} less than the {other}. If the {item} costs {price}, "
                f"how much is the {other}?",
            ],
            price + extra,
        ),
        (
            [
                f"A {item} costs {price} and a {other} costs {extra}. How much more does the {item} cost?",
                f"A {other} costs {extra}. A {item} costs {price}. How much cheaper is the {other}?",
                f"A {item} costs {price}. A {other} costs {extra} less. What does the {other} cost?",
                f"The {item} costs {extra} more than the {other}. If the {item} costs {price}, "
                f"how much is the {other}?",
            ],
            price - extra,
        ),
    )
    return draw.tell(*more, about(draw, who))


@KINDS("money.change_from_two", steps=2)
def change_from_two(draw: Draw) -> Draft:
    who, (item, _), (other, _) = person(draw), shop_thing(draw), shop_thing(draw)
    draw.need(item != other)
    price, extra = draw.money(3, 30), draw.money(2, 40)
    note = _note(draw, Fraction(price.value) + Fraction(extra.value))
    return draw.tell(
        [
            f"{who} buys a {item} for {price} and a {other} for {extra}. {who.He} pays with {note}. "
            f"How much change does {who.he} get?",
            f"{who} had {note}. {who.He} bought a {item} that cost {price} and a {other} that cost {extra}. "
            f"How much money is left?",
            f"If the {other} costs {extra} and the {item} costs {price}, how much of {note} remains "
            f"after buying both?",
        ],
        note - price - extra,
        about_shop(draw, item, other),
    )


@KINDS("money.change_from_many", steps=2)
def change_from_many(draw: Draw) -> Draft:
    who, (item, items) = person(draw), shop_thing(draw)
    price, count = draw.money(2, 40), draw.whole(3, 12)
    note = _note(draw, Fraction(price.value) * Fraction(count.value))
    return draw.tell(
        [
            f"{who} buys {count} {items} at {price} each and pays with {note}. "
            f"How much change does {who.he} get?",
            f"{who} gives the cashier {note}. A {item} costs {price}, and {who} takes {count} of them. "
            f"How much money comes back?",
            f"A {item} costs {price}. If {who} has {note} and buys {count} {items}, how much is left?",
        ],
        note - count * price,
        about_shop(draw, item),
    )


@KINDS("money.bill", steps=3)
def bill(draw: Draw) -> Draft:
    who, (item, items), (other, others) = person(draw), shop_thing(draw), shop_thing(draw)
    draw.need(item != other)
    a, p, b, q = draw.whole(2, 12), draw.money(3, 30), draw.whole(2, 12), draw.money(2, 20)
    return draw.tell(
        [
            f"{who} buys {a} {items} at {p} each and {b} {others} at {q} each. How much does {who} pay?",
            f"A {item} costs {p} and a {other} costs {q}. What is the price of {a} {items} and {b} {others}?",
            f"What do {b} {others} and {a} {items} cost if a {item} costs {p} and a {other} costs {q}?",
        ],
        a * p + b * q,
        about_shop(draw, item, other),
    )


@KINDS("money.bill_and_change", steps=4)
def bill_and_change(draw: Draw) -> Draft:
    who, (item, items), (other, others) = person(draw), shop_thing(draw), shop_thing(draw)
    draw.need(item != other)
    a, p, b, q = draw.whole(2, 9), draw.money(3, 30), draw.whole(2, 9), draw.money(2, 20)
    total = a.value * p.value + b.value * q.value
    note = _note(draw, Fraction(total))
    return draw.tell(
        [
            f"{who} buys {a} {items} at {p} each and {b} {others} at {q} each. {who.He} pays with {note}. "
            f"How much change does {who} get?",
            f"{who} has {note}. A {item} costs {p} and a {other} costs {q}. How much money is left "
            f"after buying {a} {items} and {b} {others}?",
            f"How much is left of {note} if {who} pays {q} for each of {b} {others} and {p} "
            f"for each of {a} {items}?",
        ],
        note - (a * p + b * q),
        about_shop(draw, item, other),
    )


@KINDS("money.amount_of_discount", steps=1)
def amount_of_discount(draw: Draw) -> Draft:
    who, item = person(draw), draw.choose(*DEAR_THINGS)
    price, off = draw.pay(draw.rng.randrange(40, 2400, 20)), draw.percent()
    return draw.tell(
        [
            f"A {item} costs {price}. In the sale it is {off} cheaper. How much does {who} save?",
            f"With a discount of {off}, how much money does {who} save on a {item} that costs {price}?",
            f"{who} pays {off} of the price of a {item} at once. The price is {price}. "
            f"How much does {who.he} pay at once?",
        ],
        price * off,
        about_shop(draw),
    )


@KINDS("money.sale_price", steps=2)
def sale_price(draw: Draw) -> Draft:
    who, item = person(draw), draw.choose(*DEAR_THINGS)
    price, off = draw.pay(draw.rng.randrange(40, 2400, 20)), draw.percent(5, 10, 15, 20, 25, 30, 40)
    return draw.tell(
        [
            f"A {item} costs {price}. In the sale it is {off} cheaper. How much does {who} pay for it?",
            f"With a discount of {off}, what does {who} pay for a {item} that cost {price} before?",
            f"The price of a {item} fell by {off}. It was {price}. What is the price now?",
        ],
        price * (ONE - off),
        about_shop(draw),
    )


@KINDS("money.price_with_tax", steps=2)
def price_with_tax(draw: Draw) -> Draft:
    who, item = person(draw), draw.choose(*DEAR_THINGS)
    price, tax = draw.pay(draw.rng.randrange(40, 2400, 20)), draw.percent(5, 10, 12, 15, 18, 20, 25)
    return draw.tell(
        [
            f"A {item} costs {price}. From next week it will be {tax} dearer. "
            f"How much will {who} pay for it then?",
            f"With a tax of {tax} on top, what does {who} pay for a {item} that costs {price} without tax?",
            f"The price of a {item} rose by {tax}. It was {price}. What is the price now?",
        ],
        price + price * tax,
        about_shop(draw),
    )


@KINDS("money.many_with_discount", steps=3)
def many_with_discount(draw: Draw) -> Draft:
    who, (item, items) = person(draw), shop_thing(draw)
    count, price, off = draw.whole(3, 30), draw.money(4, 30, cents=False), draw.percent(5, 10, 20, 25, 30, 50)
    return draw.tell(
        [
            f"{who} buys {count} {items} at {price} each and gets a discount of {off}. "
            f"How much does {who} pay?",
            f"A {item} costs {price}. The shop takes {off} off the bill. What do {count} {items} cost?",
            f"With {off} off, how much are {count} {items} that cost {price} each without it?",
        ],
        count * price * (ONE - off),
        about_shop(draw, item),
    )


@KINDS("money.split_a_bill", steps=2)
def split_a_bill(draw: Draw) -> Draft:
    who = person(draw)
    n, first = draw.rng.randint(3, 9), draw.rng.randint(12, 90)
    rest = n * Fraction(draw.rng.randint(12, 60), 2) - first
    draw.need(rest > 4)
    food, drinks, count = draw.pay(first), draw.pay(rest), draw.say(n)
    return draw.tell(
        [
            f"{who} and friends, {count} people in all, pay {food} for food and {drinks} for drinks. "
            f"They share the bill equally. How much does each pay?",
            f"{count} friends share a taxi for {drinks} and a room for {food} equally. "
            f"How much does each pay?",
            f"The tickets cost {food} and the snacks {drinks}. If {count} friends split the cost equally, "
            f"what is {who}'s share?",
        ],
        (food + drinks) / count,
        about(draw, who),
    )


@KINDS("money.which_is_cheaper", steps=3)
def which_is_cheaper(draw: Draw) -> Draft:
    who, (item, items) = person(draw), shop_thing(draw)
    a, b = draw.sample(range(3, 13), 2)
    high, low = sorted(draw.sample(range(4, 60), 2), reverse=True)
    first, second = draw.pay(a * Fraction(high, 2)), draw.pay(b * Fraction(low, 2))
    m, n = draw.say(a), draw.say(b)
    return draw.tell(
        [
            f"At the market {m} {items} cost {first}. At the shop {n} {items} cost {second}. "
            f"How much cheaper is a {item} at the shop?",
            f"{who} can get {n} {items} for {second} or, elsewhere, {m} {items} for {first}. "
            f"What is the difference in price for a {item}?",
            f"How much does {who} save on each {item} by taking {n} for {second} instead of {m} for {first}?",
        ],
        first / m - second / n,
        about(draw, who),
    )

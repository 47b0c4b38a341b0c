"""Hindi stories of prices, change, bills and discounts."""

from __future__ import annotations

from fractions import Fraction

from toolkit.data.stories.core import Draft, Draw, Kinds
from toolkit.data.stories.hindi_words import DEAR, GOODS, Thing, about, about_shop, person
from toolkit.data.stories.quantities import ONE, Number

KINDS = Kinds()


def _note(draw: Draw, least: Fraction | float) -> Number:
    """The money somebody pays with: a round sum above `least`."""
    return draw.pay(draw.choose(*[note for note in (20, 50, 100, 200, 500, 1000, 2000) if note > least][:2]))


def _two(draw: Draw) -> tuple[Thing, Thing]:
    first, other = draw.sample(GOODS, 2)
    return first, other


@KINDS("money.change", steps=1)
def change(draw: Draw) -> Draft:
    who, it = person(draw), draw.choose(*GOODS)
    price = draw.money(15, 180)
    note = _note(draw, price.value)
    return draw.tell(
        [
            f"{who} ने {price} {it('का', 'की')} {it.one} {it('ख़रीदा', 'ख़रीदी')} और दुकानदार को {note} दिए। "
            f"उसे कितने रुपये वापस मिलेंगे?",
            f"एक {it.of_one} का दाम {price} है। {who} के पास {note} हैं। "
            f"{it.one} ख़रीदने के बाद उसके पास कितने रुपये बचेंगे?",
            f"यदि {who} {note} में से {price} {it('का', 'की')} {it.one} ख़रीद ले, तो उसके पास कितने रुपये बचेंगे?",
        ],
        note - price,
        about_shop(draw, it),
    )


@KINDS("money.total_price", steps=1)
def total_price(draw: Draw) -> Draft:
    who, it = person(draw), draw.choose(*GOODS)
    count, price = draw.whole(3, 48), draw.money(15, 90)
    return draw.tell(
        [
            f"{who} ने {count} {it} {it('ख़रीदे', 'ख़रीदीं')}। एक {it.of_one} का दाम {price} है। "
            f"उसने कुल कितने रुपये दिए?",
            f"एक {it.of_one} का दाम {price} है। {count} {it.of_many} का दाम कितना होगा?",
            f"यदि {who} एक {it.one} {price} में बेचे, तो {count} {it} बेचकर उसे कितने रुपये मिलेंगे?",
        ],
        count * price,
        about_shop(draw, it),
    )


@KINDS("money.unit_price", steps=1)
def unit_price(draw: Draw) -> Draft:
    who, it = person(draw), draw.choose(*GOODS)
    n = draw.rng.randint(3, 25)
    count, total = draw.say(n), draw.pay(n * Fraction(draw.rng.randint(30, 180), 2))
    return draw.tell(
        [
            f"{who} ने {count} {it} {total} में {it('ख़रीदे', 'ख़रीदीं')}। एक {it.of_one} का दाम कितना है?",
            f"{count} {it.of_many} का दाम {total} है। हर {it.of_one} का दाम कितने रुपये है?",
            f"{who} ने दुकानदार को {total} दिए और {count} {it} {it('लिए', 'लीं')}। सब का दाम बराबर है। "
            f"एक {it('कितने का', 'कितने की')} है?",
        ],
        total / count,
        about_shop(draw, it),
    )


@KINDS("money.how_many_can_be_bought", steps=1)
def how_many_can_be_bought(draw: Draw) -> Draft:
    who, it = person(draw), draw.choose(*GOODS)
    cost = Fraction(draw.rng.randint(24, 120), 2)
    price, money = draw.pay(cost), draw.pay(cost * draw.rng.randint(3, 30))
    return draw.tell(
        [
            f"{who} के पास {money} हैं। एक {it.of_one} का दाम {price} है। "
            f"वह {it.how_many} {it} ख़रीद सक{who('ता', 'ती')} है?",
            f"एक {it.one} {price} {it('का', 'की')} है। {money} में {it.how_many} {it} {it('आएँगे', 'आएँगी')}?",
            f"{who} ने {price} के भाव से {it} बेचकर {money} पाए। उसने {it.how_many} {it} {it('बेचे', 'बेचीं')}?",
        ],
        money / price,
        about_shop(draw, it),
    )


@KINDS("money.dearer_or_cheaper", steps=1)
def dearer_or_cheaper(draw: Draw) -> Draft:
    who, (it, other) = person(draw), _two(draw)
    price, gap = draw.money(20, 180, cents=False), draw.money(3, 60, cents=False)
    draw.need(price.value > gap.value)
    if draw.rng.random() < 0.5:
        return draw.tell(
            [
                f"एक {it.of_one} का दाम {price} है। एक {other.of_one} का दाम उससे {gap} ज़्यादा है। "
                f"{other.of_one} का दाम कितना है?",
                f"एक {it.one} एक {other.of_one} से {gap} {it('सस्ता', 'सस्ती')} है। "
                f"यदि {it.of_one} का दाम {price} है, "
                f"तो {other.of_one} का दाम कितना है?",
                f"{who} ने {price} {it('का', 'की')} {it.one} और {gap} {other('का', 'की')} {other.one} "
                f"{other('ख़रीदा', 'ख़रीदी')}। "
                f"उसने कुल कितने रुपये ख़र्च किए?",
            ],
            price + gap,
            about(draw, who),
        )
    return draw.tell(
        [
            f"एक {it.of_one} का दाम {price} है। एक {other.of_one} का दाम उससे {gap} कम है। "
            f"{other.of_one} का दाम कितना है?",
            f"एक {it.one} एक {other.of_one} से {gap} {it('महँगा', 'महँगी')} है। "
            f"यदि {it.of_one} का दाम {price} है, "
            f"तो {other.of_one} का दाम कितना है?",
            f"{who} ने {gap} {other('का', 'की')} {other.one} और {price} {it('का', 'की')} {it.one} "
            f"{it('ख़रीदा', 'ख़रीदी')}। "
            f"{it.one} कितने रुपये ज़्यादा {it('का', 'की')} है?",
        ],
        price - gap,
        about(draw, who),
    )


@KINDS("money.change_from_many", steps=2)
def change_from_many(draw: Draw) -> Draft:
    who, it = person(draw), draw.choose(*GOODS)
    price, count = draw.money(15, 80), draw.whole(3, 12)
    note = _note(draw, price.value * count.value)
    return draw.tell(
        [
            f"{who} ने {price} प्रति {it.of_one} के भाव से {count} {it} {it('ख़रीदे', 'ख़रीदीं')} और "
            f"दुकानदार को {note} दिए। "
            f"उसे कितने रुपये वापस मिलेंगे?",
            f"{who} के पास {note} थे। उसने {count} {it} {it('ख़रीदे', 'ख़रीदीं')}। एक {it.of_one} का दाम {price} है। "
            f"अब उसके पास कितने रुपये बचे?",
            f"एक {it.of_one} का दाम {price} है। यदि {who} {note} लेकर जाए और {count} {it} ख़रीदे, "
            f"तो कितने रुपये बचेंगे?",
        ],
        note - count * price,
        about_shop(draw, it),
    )


@KINDS("money.bill", steps=3)
def bill(draw: Draw) -> Draft:
    who, (it, other) = person(draw), _two(draw)
    a, p, b, q = draw.whole(2, 12), draw.money(25, 90), draw.whole(2, 12), draw.money(12, 60)
    return draw.tell(
        [
            f"{who} ने {p} प्रति {it.of_one} के भाव से {a} {it} और {q} प्रति {other.of_one} के भाव से {b} {other} "
            f"{other('ख़रीदे', 'ख़रीदीं')}। उसने कुल कितने रुपये दिए?",
            f"एक {it.of_one} का दाम {p} और एक {other.of_one} का दाम {q} है। "
            f"{a} {it.of_many} और {b} {other.of_many} का कुल दाम कितना है?",
            f"{who} को {b} {other} और {a} {it} चाहिए। {it.one} {p} {it('का', 'की')} और {other.one} {q} "
            f"{other('का', 'की')} है। उसे कुल कितने रुपये देने होंगे?",
        ],
        a * p + b * q,
        about_shop(draw, it, other),
    )


@KINDS("money.bill_and_change", steps=4)
def bill_and_change(draw: Draw) -> Draft:
    who, (it, other) = person(draw), _two(draw)
    a, p, b, q = draw.whole(2, 9), draw.money(25, 90), draw.whole(2, 9), draw.money(12, 60)
    note = _note(draw, a.value * p.value + b.value * q.value)
    return draw.tell(
        [
            f"{who} ने {p} प्रति {it.of_one} के भाव से {a} {it} और {q} प्रति {other.of_one} के भाव से {b} {other} "
            f"{other('ख़रीदे', 'ख़रीदीं')}। उसने दुकानदार को {note} दिए। उसे कितने रुपये वापस मिलेंगे?",
            f"{who} के पास {note} हैं। एक {it.of_one} का दाम {p} और एक {other.of_one} का दाम {q} है। "
            f"{a} {it} और {b} {other} ख़रीदने के बाद कितने रुपये बचेंगे?",
            f"{who} को {b} {other} और {a} {it} चाहिए। {it.one} {p} {it('का', 'की')} और {other.one} {q} "
            f"{other('का', 'की')} है। यदि वह {note} दे, तो उसे कितने रुपये वापस मिलेंगे?",
        ],
        note - (a * p + b * q),
        about_shop(draw, it, other),
    )


@KINDS("money.amount_of_discount", steps=1)
def amount_of_discount(draw: Draw) -> Draft:
    who, it = person(draw), draw.choose(*DEAR)
    price, off = draw.pay(draw.rng.randrange(500, 9000, 50)), draw.percent(5, 10, 12, 15, 20, 25, 30, 40)
    return draw.tell(
        [
            f"एक {it.of_one} का दाम {price} है। दुकानदार उस पर {off} छूट देता है। {who} को कितने रुपये की छूट मिलेगी?",
            f"{who} को {it.of_one} पर {off} छूट मिली। {it.of_one} का दाम {price} था। उसके कितने रुपये बचे?",
            f"{price} {it('के', 'की')} {it.of_one} पर {off} की छूट कितने रुपये होती है?",
        ],
        price * off,
        about_shop(draw),
    )


@KINDS("money.sale_price", steps=2)
def sale_price(draw: Draw) -> Draft:
    who, it = person(draw), draw.choose(*DEAR)
    price, off = draw.pay(draw.rng.randrange(500, 9000, 50)), draw.percent(5, 10, 12, 15, 20, 25, 30, 40)
    return draw.tell(
        [
            f"एक {it.of_one} का दाम {price} है। दुकानदार उस पर {off} छूट देता है। {who} को कितने रुपये देने होंगे?",
            f"{who} को {it.of_one} पर {off} छूट मिली। {it.of_one} का दाम {price} था। उसने कितने रुपये दिए?",
            f"एक {it.of_one} का दाम {price} था। अब दाम {off} घट गया है। नया दाम कितना है?",
        ],
        price * (ONE - off),
        about_shop(draw),
    )


@KINDS("money.price_rise", steps=2)
def price_rise(draw: Draw) -> Draft:
    who, it = person(draw), draw.choose(*DEAR)
    price, up = draw.pay(draw.rng.randrange(500, 9000, 50)), draw.percent(5, 10, 12, 15, 18, 20, 25)
    return draw.tell(
        [
            f"एक {it.of_one} का दाम {price} है। उस पर {up} कर लगता है। कर मिलाकर {who} को कितने रुपये देने होंगे?",
            f"एक {it.of_one} का दाम {price} था। अब दाम {up} बढ़ गया है। नया दाम कितना है?",
            f"{who} ने {it.one} {price} में ख़रीदकर {up} लाभ पर {it('बेचा', 'बेची')}। "
            f"उसने {it.one} कितने रुपये में {it('बेचा', 'बेची')}?",
        ],
        price + price * up,
        about_shop(draw),
    )


@KINDS("money.split_a_bill", steps=2)
def split_a_bill(draw: Draw) -> Draft:
    who = person(draw)
    n, first = draw.rng.randint(3, 9), draw.rng.randint(60, 600)
    rest = n * draw.rng.randint(40, 150) - first
    draw.need(rest > 20)
    food, taxi, count = draw.pay(first), draw.pay(rest), draw.say(n)
    return draw.tell(
        [
            f"{count} दोस्तों ने खाने पर {food} और टैक्सी पर {taxi} ख़र्च किए। सब ने बराबर पैसे दिए। "
            f"हर दोस्त ने कितने रुपये दिए?",
            f"टैक्सी का किराया {taxi} और खाने का बिल {food} है। यदि {who} और उसके साथी, कुल {count} लोग, "
            f"बराबर पैसे दें, "
            f"तो {who} को कितने रुपये देने होंगे?",
            f"{who} के परिवार में {count} लोग हैं। मेले में उन्होंने झूले पर {food} और चाट पर {taxi} ख़र्च किए। "
            f"प्रति व्यक्ति कितना ख़र्च हुआ?",
        ],
        (food + taxi) / count,
        about(draw, who),
    )

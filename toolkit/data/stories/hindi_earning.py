"""Hindi stories of savings, profit and interest."""

from __future__ import annotations

from fractions import Fraction

from toolkit.data.stories.core import Draft, Draw, Kinds
from toolkit.data.stories.hindi_words import DEAR, GOODS, about, person

KINDS = Kinds()


@KINDS("money.saved_so_far", steps=2)
def saved_so_far(draw: Draw) -> Draft:
    who = person(draw)
    had, each, months = (
        draw.pay(draw.rng.randrange(200, 5000, 50)),
        draw.money(30, 400, cents=False),
        draw.whole(3, 18),
    )
    return draw.tell(
        [
            f"{who} के पास {had} हैं और वह हर महीने {each} बचा{who('ता', 'ती')} है। "
            f"{months} महीने बाद उसके पास कितने रुपये होंगे?",
            f"{months} महीनों से {who} हर महीने गुल्लक में {each} डाल{who('ता', 'ती')} है। शुरू में गुल्लक में {had} थे। "
            f"अब गुल्लक में कितने रुपये हैं?",
            f"यदि {who} हर महीने {each} बचाए और उसके पास पहले से {had} हों, तो {months} महीने बाद कुल कितने रुपये होंगे?",
        ],
        had + months * each,
        about(draw, who),
    )


@KINDS("money.spent_so_far", steps=2)
def spent_so_far(draw: Draw) -> Draft:
    who = person(draw)
    had, each, months = (
        draw.pay(draw.rng.randrange(900, 9000, 50)),
        draw.money(30, 400, cents=False),
        draw.whole(3, 18),
    )
    draw.need(had.value > each.value * months.value)
    return draw.tell(
        [
            f"{who} के पास {had} हैं और वह हर महीने {each} ख़र्च कर{who('ता', 'ती')} है। "
            f"{months} महीने बाद उसके पास कितने रुपये होंगे?",
            f"{months} महीनों से {who} हर महीने गुल्लक से {each} निकाल{who('ता', 'ती')} है। शुरू में गुल्लक में {had} थे। "
            f"अब गुल्लक में कितने रुपये हैं?",
            f"यदि {who} हर महीने {each} ख़र्च करे और उसके पास {had} हों, तो {months} महीने बाद कितने रुपये बचेंगे?",
        ],
        had - months * each,
        about(draw, who),
    )


@KINDS("money.months_to_goal", steps=2)
def months_to_goal(draw: Draw) -> Draft:
    who, it = person(draw), draw.choose(*DEAR)
    per, n, start = (
        draw.rng.randrange(50, 500, 10),
        draw.rng.randint(4, 18),
        draw.rng.randrange(100, 2000, 20),
    )
    goal, had, each = draw.pay(per * n + start), draw.pay(start), draw.pay(per)
    return draw.tell(
        [
            f"{who} को {goal} {it('का', 'की')} {it.one} {it('लेना', 'लेनी')} है। "
            f"उसके पास {had} हैं और वह हर महीने {each} "
            f"बचा{who('ता', 'ती')} है। कितने महीनों में उसके पास पूरे रुपये हो जाएँगे?",
            f"हर महीने {each} बचाकर {who} कितने महीनों में {goal} {it('का', 'की')} {it.one} ख़रीद "
            f"सके{who('गा', 'गी')}, "
            f"यदि उसके पास {had} पहले से हैं?",
            f"{who} के पास {had} हैं। {it.of_one} का दाम {goal} है। यदि वह हर महीने {each} जोड़े, तो कितने महीने लगेंगे?",
        ],
        (goal - had) / each,
        about(draw, who),
    )


@KINDS("money.profit", steps=2)
def profit(draw: Draw) -> Draft:
    who, it = person(draw), draw.choose(*GOODS)
    cost, count = draw.money(8, 90, cents=False), draw.whole(5, 60)
    price = draw.pay(Fraction(cost.value) + draw.rng.randint(2, 30))
    return draw.tell(
        [
            f"{who} एक {it.one} {cost} में ख़रीदकर {price} में बेच{who('ता', 'ती')} है। "
            f"{count} {it} बेचने पर उसे कितने रुपये का लाभ होगा?",
            f"{who} ने {count} {it} {price} के भाव से {it('बेचे', 'बेचीं')}। हर {it.one} उसे {cost} {it('का', 'की')} "
            f"{it('पड़ा था', 'पड़ी थी')}। उसे कुल कितना लाभ हुआ?",
            f"{count} {it.of_many} पर {who} को कितना लाभ होगा, यदि एक {it.of_one} का विक्रय मूल्य {price} "
            f"और क्रय मूल्य {cost} है?",
        ],
        count * (price - cost),
        about(draw, who),
    )


@KINDS("money.simple_interest", steps=2)
def simple_interest(draw: Draw) -> Draft:
    who = person(draw)
    sum_, rate = draw.pay(draw.rng.randrange(1000, 150000, 500)), draw.percent(3, 4, 5, 6, 7, 8)
    years = draw.whole(2, 9)
    return draw.tell(
        [
            f"{who} ने {sum_} बैंक में जमा किए। बैंक {rate} वार्षिक साधारण ब्याज देता है। "
            f"{years} साल में कितना ब्याज मिलेगा?",
            f"{rate} वार्षिक दर से {sum_} पर {years} साल का साधारण ब्याज कितना होगा?",
            f"{who} ने {years} साल के लिए {sum_} उधार लिए। ब्याज की वार्षिक दर {rate} है। "
            f"उसे कितना साधारण ब्याज देना होगा?",
        ],
        sum_ * rate * years,
        about(draw, who),
    )


@KINDS("money.amount_with_interest", steps=3)
def amount_with_interest(draw: Draw) -> Draft:
    who = person(draw)
    sum_, rate = draw.pay(draw.rng.randrange(1000, 150000, 500)), draw.percent(3, 4, 5, 6, 7, 8)
    years = draw.whole(2, 9)
    return draw.tell(
        [
            f"{who} ने {sum_} बैंक में जमा किए। बैंक {rate} वार्षिक साधारण ब्याज देता है। "
            f"{years} साल बाद ब्याज सहित कितने रुपये मिलेंगे?",
            f"{rate} वार्षिक साधारण ब्याज की दर से {sum_} का {years} साल बाद मिश्रधन कितना होगा?",
            f"{who} ने {years} साल के लिए {sum_} उधार लिए। साधारण ब्याज की वार्षिक दर {rate} है। "
            f"उसे कुल कितने रुपये लौटाने होंगे?",
        ],
        sum_ + sum_ * rate * years,
        about(draw, who),
    )

"""Hindi stories of fractions, percentages, ratios, recipes and work."""

from __future__ import annotations

from fractions import Fraction

from toolkit.data.stories.core import Draft, Draw, Kinds
from toolkit.data.stories.hindi_words import about, people, person, thing
from toolkit.data.stories.quantities import ONE

KINDS = Kinds()


def _whole_for(draw: Draw, part: Fraction | float, low: int, high: int) -> int:
    """A number of things of which `part` is whole."""
    base = Fraction(part).denominator
    return base * draw.rng.randint(-(-low // base), high // base)


@KINDS("parts.fraction_of", steps=1)
def fraction_of(draw: Draw) -> Draft:
    who, w = person(draw), thing(draw)
    half = draw.word(w("आधे", "आधी"), "1/2")
    part, of = draw.choose((draw.fraction(), " भाग"), (draw.fraction(), " भाग"), (half, ""))
    total = draw.say(_whole_for(draw, part.value, 12, 240))
    if of:
        wordings = [
            f"{who} के पास {total} {w} {w('थे', 'थीं')}। उसने उनका {part}{of} बाँट दिया। उसने {w.how_many} {w} "
            f"{w('बाँटे', 'बाँटीं')}?",
            f"{total} {w.of_many} का {part}{of} छोटे बच्चों को मिला। "
            f"बच्चों को {w.how_many} {w} {w('मिले', 'मिलीं')}?",
            f"{who} ने टोकरी {w('के', 'की')} {w.of_many} का {part}{of} बेच दिया। "
            f"टोकरी में {total} {w} {w('थे', 'थीं')}। "
            f"उसने {w.how_many} {w} {w('बेचे', 'बेचीं')}?",
        ]
    else:
        wordings = [
            f"{who} के पास {total} {w} {w('थे', 'थीं')}। उसने {part} {w} {w('बाँट दिए', 'बाँट दीं')}। "
            f"उसने {w.how_many} {w} "
            f"{w('बाँटे', 'बाँटीं')}?",
            f"{who} ने {total} {w.of_many} में से {part} {w} {w('बेच दिए', 'बेच दीं')}। "
            f"उसने {w.how_many} {w} {w('बेचे', 'बेचीं')}?",
        ]
    return draw.tell(wordings, part * total, about(draw, who, w))


@KINDS("parts.fraction_left", steps=2)
def fraction_left(draw: Draw) -> Draft:
    who, w, part = person(draw), thing(draw), draw.fraction()
    total = draw.say(_whole_for(draw, part.value, 12, 240))
    return draw.tell(
        [
            f"{who} के पास {total} {w} {w('थे', 'थीं')}। उसने उनका {part} भाग बाँट दिया। उसके पास {w.how_many} {w} "
            f"{w('बचे', 'बचीं')}?",
            f"{total} {w.of_many} का {part} भाग बच्चों को मिला और बाक़ी {who} को। {who} को {w.how_many} {w} "
            f"{w('मिले', 'मिलीं')}?",
            f"{who} ने {w('अपने', 'अपनी')} {w.of_many} का {part} भाग बेच दिया। पहले {total} {w} {w('थे', 'थीं')}। "
            f"अब {w.how_many} {w} बाक़ी हैं?",
        ],
        total - part * total,
        about(draw, who, w),
    )


@KINDS("parts.milk", steps=1)
def milk(draw: Draw) -> Draft:
    who = person(draw)
    more, less = (
        draw.fraction("3/4", "2/3", "5/6", "7/8", "4/5"),
        draw.fraction("1/2", "1/4", "1/3", "1/8", "1/5"),
    )
    stuff = draw.choose("दूध", "तेल", "पानी", "शरबत")
    if draw.rng.random() < 0.5:
        return draw.tell(
            [
                f"{who} के पास {more} लीटर {stuff} था। उसने {less} लीटर {stuff} और मिला दिया। "
                f"अब कितना {stuff} है?",
                f"{who} ने कल {less} लीटर और आज {more} लीटर {stuff} इस्तेमाल किया। "
                f"दोनों दिन मिलाकर कितना {stuff} लगा?",
                f"{less} लीटर {stuff} निकालने के बाद बर्तन में {more} लीटर {stuff} बचा। "
                f"पहले बर्तन में कितना {stuff} था?",
            ],
            more + less,
            about(draw, who),
        )
    return draw.tell(
        [
            f"{who} के पास {more} लीटर {stuff} था। उसने {less} लीटर {stuff} निकाल लिया। अब कितना {stuff} बचा?",
            f"{who} ने कल {less} लीटर और आज {more} लीटर {stuff} इस्तेमाल किया। आज कल से कितना ज़्यादा {stuff} लगा?",
            f"{less} लीटर {stuff} डालने के बाद बर्तन में {more} लीटर {stuff} हो गया। पहले बर्तन में कितना {stuff} था?",
        ],
        more - less,
        about(draw, who),
    )


CROWDS = ("छात्र", "सदस्य", "यात्री", "मज़दूर", "खिलाड़ी")  # alike in the direct plural


CROWDS_OF = {"छात्र": "छात्रों", "सदस्य": "सदस्यों", "यात्री": "यात्रियों", "मज़दूर": "मज़दूरों", "खिलाड़ी": "खिलाड़ियों"}


def _about_crowd(draw: Draw) -> list[str]:
    return [f"वहाँ {draw.whole(3, 9)} कमरे हैं।", f"इमारत {draw.whole(41, 90)} साल पुरानी है।"]


@KINDS("parts.percent_of", steps=1)
def percent_of(draw: Draw) -> Draft:
    crowd, part = draw.choose(*CROWDS), draw.percent()
    total, of = draw.say(_whole_for(draw, part.value, 40, 3000)), CROWDS_OF[crowd]
    women = "लड़कियाँ" if crowd == "छात्र" else "महिलाएँ"
    return draw.tell(
        [
            f"कुल {total} {crowd} हैं। उनमें से {part} चश्मा पहनते हैं। कितने {crowd} चश्मा पहनते हैं?",
            f"{total} {of} में से {part} बस से आए। कितने {crowd} बस से आए?",
            f"यदि {of} में {part} {women} हों और कुल {total} {crowd} हों, तो {women} कितनी हैं?",
        ],
        part * total,
        _about_crowd(draw),
    )


@KINDS("parts.percent_left", steps=2)
def percent_left(draw: Draw) -> Draft:
    crowd, part = draw.choose(*CROWDS), draw.percent()
    total, of = draw.say(_whole_for(draw, part.value, 40, 3000)), CROWDS_OF[crowd]
    women, men = ("लड़कियाँ", "लड़के") if crowd == "छात्र" else ("महिलाएँ", "पुरुष")
    return draw.tell(
        [
            f"कुल {total} {crowd} हैं। उनमें से {part} चश्मा पहनते हैं। कितने {crowd} चश्मा नहीं पहनते?",
            f"{total} {of} में से {part} बस से आए और बाक़ी पैदल। कितने {crowd} पैदल आए?",
            f"यदि {of} में {part} {women} हों और कुल {total} {crowd} हों, तो {men} कितने हैं?",
        ],
        total * (ONE - part),
        _about_crowd(draw),
    )


@KINDS("parts.population", steps=2)
def population(draw: Draw) -> Draft:
    place, part = draw.choose("क़स्बे", "शहर", "ज़िले"), draw.percent(5, 10, 15, 20, 25, 30)
    total = draw.say(100 * draw.rng.randint(50, 4800))
    if draw.rng.random() < 0.5:
        return draw.tell(
            [
                f"एक {place} की आबादी {total} थी। कुछ साल में वह {part} बढ़ गई। अब आबादी कितनी है?",
                f"एक {place} की आबादी में {part} की वृद्धि हुई। पहले आबादी {total} थी। अब कितनी है?",
                f"यदि {total} आबादी वाले {place} की आबादी {part} बढ़ जाए, तो वह कितनी हो जाएगी?",
            ],
            total * (ONE + part),
            [f"{place} में {draw.whole(12, 60)} स्कूल हैं।"],
        )
    return draw.tell(
        [
            f"एक {place} की आबादी {total} थी। कुछ साल में वह {part} घट गई। अब आबादी कितनी है?",
            f"एक {place} की आबादी में {part} की कमी हुई। पहले आबादी {total} थी। अब कितनी है?",
            f"यदि {total} आबादी वाले {place} की आबादी {part} घट जाए, तो वह कितनी हो जाएगी?",
        ],
        total * (ONE - part),
        [f"{place} में {draw.whole(12, 60)} स्कूल हैं।"],
    )


@KINDS("parts.ratio", steps=3)
def ratio(draw: Draw) -> Draft:
    (who, friend), w = people(draw), thing(draw)
    a, b = draw.sample(range(2, 10), 2)
    total, x, y = draw.say((a + b) * draw.rng.randint(3, 30)), draw.digits(a), draw.digits(b)
    asked, share = draw.choose((who, x), (friend, y))
    return draw.tell(
        [
            f"{who} और {friend} ने {total} {w} {x} और {y} के अनुपात में {w('बाँटे', 'बाँटीं')}। "
            f"{asked} को {w.how_many} {w} {w('मिले', 'मिलीं')}?",
            f"{total} {w} {who} और {friend} में {x} : {y} के अनुपात में {w('बाँटे गए', 'बाँटी गईं')}। "
            f"{asked} को {w.how_many} {w} {w('मिले', 'मिलीं')}?",
            f"जब {who} को {x} {w} {w('मिलते', 'मिलती')} हैं, तब {friend} को {y}। "
            f"इसी तरह {total} {w} {w('बाँटे', 'बाँटी')} जाएँ, "
            f"तो {asked} को {w.how_many} {w} {w('मिलेंगे', 'मिलेंगी')}?",
        ],
        total * share / (x + y),
        about(draw, who, w),
    )


@KINDS("parts.recipe", steps=2)
def recipe(draw: Draw) -> Draft:
    who, stuff = person(draw), draw.choose("चावल", "आटा", "बेसन")
    m, n = draw.sample(range(2, 13), 2)
    amount, few, many = draw.say(m * draw.choose(20, 25, 40, 50, 75)), draw.say(m), draw.say(n)
    return draw.tell(
        [
            f"{few} लोगों के खाने में {amount} ग्राम {stuff} लगता है। "
            f"{many} लोगों के लिए {who} को कितने ग्राम {stuff} चाहिए?",
            f"{who} को {many} मेहमानों के लिए खाना बनाना है। {few} मेहमानों के लिए {amount} ग्राम {stuff} लगता है। "
            f"उसे कितने ग्राम {stuff} लेना होगा?",
            f"एक मशीन {few} मिनट में {amount} बोतलें भरती है। वह {many} मिनट में कितनी बोतलें भरेगी?",
        ],
        amount / few * many,
        about(draw, who),
    )


@KINDS("work.workers_and_days", steps=2)
def workers_and_days(draw: Draw) -> Draft:
    a, b, c = draw.rng.randint(4, 30), draw.rng.randint(4, 30), draw.rng.randint(3, 24)
    draw.need(a * b % c == 0 and len({a, b, c}) == 3)
    men, days, other = draw.say(a), draw.say(b), draw.say(c)
    return draw.tell(
        [
            f"{men} मज़दूर एक दीवार {days} दिन में बनाते हैं। {other} मज़दूर वही दीवार कितने दिन में बनाएँगे?",
            f"एक खेत काटने में {days} दिन लगते हैं, जब {men} मज़दूर काम करें। यदि {other} मज़दूर हों, तो कितने दिन लगेंगे?",
            f"{days} दिन में एक सड़क बनाने के लिए {men} मज़दूर चाहिए। {other} दिन में बनाने के लिए कितने मज़दूर चाहिए?",
        ],
        men * days / other,
        [f"एक मज़दूर को रोज़ {draw.pay(draw.rng.randrange(300, 800, 10))} मिलते हैं।"],
    )


@KINDS("work.machines", steps=3)
def machines(draw: Draw) -> Draft:
    what = draw.choose("बोतलें", "क़मीज़ें", "ईंटें")
    a, b, hours, done = draw.whole(12, 90), draw.whole(12, 90), draw.whole(3, 11), draw.whole(15, 300)
    asides = [f"कारख़ाना {draw.whole(12, 50)} साल पुराना है।"]
    if draw.rng.random() < 0.5:
        return draw.tell(
            [
                f"नई मशीन एक घंटे में {a} {what} बनाती है और पुरानी मशीन {b}। गोदाम में {done} {what} पहले से रखी हैं। "
                f"{hours} घंटे बाद कुल कितनी {what} होंगी?",
                f"दोनों मशीनें {hours} घंटे चलीं। पुरानी मशीन एक घंटे में {b} {what} बनाती है और नई मशीन {a}। "
                f"यदि {done} {what} पहले से थीं, तो अब कितनी हैं?",
            ],
            (a + b) * hours + done,
            asides,
        )
    draw.need((a.value + b.value) * hours.value > done.value)
    return draw.tell(
        [
            f"नई मशीन एक घंटे में {a} {what} बनाती है और पुरानी मशीन {b}। {hours} घंटे बाद {done} {what} ख़राब निकलीं। "
            f"कितनी {what} अच्छी हैं?",
            f"दोनों मशीनें {hours} घंटे चलीं। पुरानी मशीन एक घंटे में {b} {what} बनाती है और नई मशीन {a}। "
            f"यदि {done} {what} बिक गईं, तो कितनी बचीं?",
        ],
        (a + b) * hours - done,
        asides,
    )

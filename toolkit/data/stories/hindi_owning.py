"""Hindi stories of giving, getting and comparing."""

from __future__ import annotations

from toolkit.data.stories.core import Draft, Draw, Kinds
from toolkit.data.stories.hindi_words import about, limit, people, thing

KINDS = Kinds()


@KINDS("owning.gave", steps=1)
def gave(draw: Draw) -> Draft:
    (who, friend), w = people(draw), thing(draw)
    had, given = draw.falling(largest=limit(w))
    return draw.tell(
        [
            f"{who} के पास {had} {w} {w('थे', 'थीं')}। उसने {friend} को {given} {w} {w('दे दिए', 'दे दीं')}। "
            f"अब {who} के पास {w.how_many} {w} {w('बचे', 'बचीं')}?",
            f"{who} ने {friend} को {given} {w} {w('दिए', 'दीं')}। पहले {who} के पास {had} {w} {w('थे', 'थीं')}। "
            f"अब {who} के पास {w.how_many} {w} हैं?",
            f"यदि {who} {w('अपने', 'अपनी')} {had} {w.of_many} में से {given} {friend} को दे दे, "
            f"तो उसके पास {w.how_many} {w} {w('बचेंगे', 'बचेंगी')}?",
        ],
        had - given,
        about(draw, who, w),
    )


@KINDS("owning.got", steps=1)
def got(draw: Draw) -> Draft:
    (who, friend), w = people(draw), thing(draw)
    had, given = draw.sample(draw.falling(largest=limit(w)), 2)
    return draw.tell(
        [
            f"{who} के पास {had} {w} {w('थे', 'थीं')}। {friend} ने उसे {given} {w} और {w('दे दिए', 'दे दीं')}। "
            f"अब {who} के पास {w.how_many} {w} हैं?",
            f"{who} को {friend} से {given} {w} {w('मिले', 'मिलीं')}। पहले {who} के पास {had} {w} {w('थे', 'थीं')}। "
            f"अब {who} के पास {w.how_many} {w} हैं?",
            f"यदि {who} के पास {had} {w} हों और {friend} उसे {given} {w} और दे दे, "
            f"तो उसके पास {w.how_many} {w} {w('हो जाएँगे', 'हो जाएँगी')}?",
        ],
        had + given,
        about(draw, who, w),
    )


@KINDS("owning.before_giving", steps=1)
def before_giving(draw: Draw) -> Draft:
    (who, friend), w = people(draw), thing(draw)
    left, given = draw.sample(draw.falling(largest=limit(w)), 2)
    return draw.tell(
        [
            f"{friend} को {given} {w} देने के बाद {who} के पास {left} {w} {w('बचे', 'बचीं')}। "
            f"शुरू में {who} के पास {w.how_many} {w} {w('थे', 'थीं')}?",
            f"{who} के पास अब {left} {w} हैं। इससे पहले उसने {given} {w} {friend} को {w('दिए थे', 'दी थीं')}। "
            f"पहले उसके पास {w.how_many} {w} {w('थे', 'थीं')}?",
            f"{who} से {given} {w} {w('खो गए', 'खो गईं')} और उसके पास {left} {w} {w('रह गए', 'रह गईं')}। "
            f"बताइए, उसके पास पहले {w.how_many} {w} {w('थे', 'थीं')}?",
        ],
        left + given,
        about(draw, who, w),
    )


@KINDS("owning.before_getting", steps=1)
def before_getting(draw: Draw) -> Draft:
    (who, friend), w = people(draw), thing(draw)
    now, given = draw.falling(largest=limit(w))
    return draw.tell(
        [
            f"{friend} से {given} {w} मिलने के बाद {who} के पास {now} {w} {w('हो गए', 'हो गईं')}। "
            f"शुरू में {who} के पास {w.how_many} {w} {w('थे', 'थीं')}?",
            f"{who} के पास अब {now} {w} हैं। इनमें से {given} उसे {friend} ने {w('दिए', 'दी')} हैं। "
            f"पहले उसके पास {w.how_many} {w} {w('थे', 'थीं')}?",
            f"{who} ने {given} {w} {w('ख़रीदे', 'ख़रीदीं')} और अब उसके पास {now} {w} हैं। "
            f"बताइए, ख़रीदने से पहले उसके पास {w.how_many} {w} {w('थे', 'थीं')}?",
        ],
        now - given,
        about(draw, who, w),
    )


@KINDS("comparing.more_than", steps=1)
def more_than(draw: Draw) -> Draft:
    (who, friend), w = people(draw), thing(draw)
    base, extra = draw.sample(draw.falling(largest=limit(w)), 2)
    return draw.tell(
        [
            f"{who} के पास {base} {w} हैं। {friend} के पास {who} से {extra} {w} ज़्यादा हैं। "
            f"{friend} के पास {w.how_many} {w} हैं?",
            f"{friend} के पास {who} से {extra} {w} अधिक हैं। यदि {who} के पास {base} {w} हैं, "
            f"तो {friend} के पास {w.how_many} {w} हैं?",
            f"{who} के पास {friend} से {extra} {w} कम हैं। {who} के पास {base} {w} हैं। "
            f"{friend} के पास {w.how_many} {w} हैं?",
        ],
        base + extra,
        about(draw, who, w),
    )


@KINDS("comparing.fewer_than", steps=1)
def fewer_than(draw: Draw) -> Draft:
    (who, friend), w = people(draw), thing(draw)
    base, less = draw.falling(largest=limit(w))
    return draw.tell(
        [
            f"{who} के पास {base} {w} हैं। {friend} के पास {who} से {less} {w} कम हैं। "
            f"{friend} के पास {w.how_many} {w} हैं?",
            f"{friend} के पास {who} से {less} {w} कम हैं। यदि {who} के पास {base} {w} हैं, "
            f"तो {friend} के पास {w.how_many} {w} हैं?",
            f"{who} के पास {friend} से {less} {w} ज़्यादा हैं। {who} के पास {base} {w} हैं। "
            f"{friend} के पास {w.how_many} {w} हैं?",
        ],
        base - less,
        about(draw, who, w),
    )


@KINDS("comparing.difference", steps=1)
def difference(draw: Draw) -> Draft:
    (who, friend), w = people(draw), thing(draw)
    more, less = draw.falling(largest=limit(w))
    return draw.tell(
        [
            f"{who} के पास {more} {w} हैं और {friend} के पास {less} {w} हैं। "
            f"{who} के पास {friend} से {w.how_many} {w} ज़्यादा हैं?",
            f"{friend} ने {less} {w} और {who} ने {more} {w} {w('जमा किए', 'जमा कीं')}। "
            f"{friend} ने {who} से {w.how_many} {w} कम {w('जमा किए', 'जमा कीं')}?",
            f"{who} को {more} {w} चाहिए। अभी उसके पास {less} {w} हैं। उसे {w.how_many} {w} और चाहिए?",
        ],
        more - less,
        about(draw, who, w),
    )


@KINDS("comparing.together", steps=1)
def together(draw: Draw) -> Draft:
    (who, friend), w = people(draw), thing(draw)
    first, other = draw.sample(draw.falling(largest=limit(w)), 2)
    return draw.tell(
        [
            f"{who} के पास {first} {w} हैं और {friend} के पास {other} {w} हैं। "
            f"दोनों के पास कुल मिलाकर {w.how_many} {w} हैं?",
            f"{friend} ने {other} {w} और {who} ने {first} {w} {w('जमा किए', 'जमा कीं')}। "
            f"दोनों ने कुल {w.how_many} {w} {w('जमा किए', 'जमा कीं')}?",
            f"एक मेज़ पर {who} ने {first} {w} {w('रखे', 'रखीं')} और {friend} ने {other}। "
            f"अब मेज़ पर {w.how_many} {w} हैं?",
        ],
        first + other,
        about(draw, who, w),
    )


@KINDS("comparing.times_as_many", steps=1)
def times_as_many(draw: Draw) -> Draft:
    (who, friend), w = people(draw), thing(draw)
    base, number = draw.whole(4, 90), draw.whole(3, 9)
    k, times = draw.choose((number, w(" गुने", " गुनी")), (draw.word(w("दुगुने", "दुगुनी"), 2), ""))
    return draw.tell(
        [
            f"{who} के पास {base} {w} हैं। {friend} के पास उससे {k}{times} {w} हैं। "
            f"{friend} के पास {w.how_many} {w} हैं?",
            f"{friend} के पास {who} से {k}{times} {w} हैं। यदि {who} के पास {base} {w} हैं, "
            f"तो {friend} के पास {w.how_many} {w} हैं?",
            f"{who} ने {base} {w} {w('ख़रीदे', 'ख़रीदीं')} और {friend} ने उससे {k}{times}। "
            f"{friend} ने {w.how_many} {w} {w('ख़रीदे', 'ख़रीदीं')}?",
        ],
        k * base,
        about(draw, who, w),
    )


@KINDS("comparing.a_part_as_many", steps=1)
def a_part_as_many(draw: Draw) -> Draft:
    (who, friend), w = people(draw), thing(draw)
    n = draw.rng.randint(3, 9)
    base, k = draw.say(n * draw.rng.randint(4, 40)), draw.say(n)
    return draw.tell(
        [
            f"{who} के पास {base} {w} हैं। {who} के पास {friend} से {k} {w('गुने', 'गुनी')} {w} हैं। "
            f"{friend} के पास {w.how_many} {w} हैं?",
            f"{who} के पास {friend} से {k} {w('गुने', 'गुनी')} {w} हैं। यदि {who} के पास {base} {w} हैं, "
            f"तो {friend} के पास {w.how_many} {w} हैं?",
            f"{who} ने {friend} की तुलना में {k} {w('गुने', 'गुनी')} {w} {w('ख़रीदे', 'ख़रीदीं')}। {who} ने {base} {w} "
            f"{w('ख़रीदे', 'ख़रीदीं')}। {friend} ने {w.how_many} {w} {w('ख़रीदे', 'ख़रीदीं')}?",
        ],
        base / k,
        about(draw, who, w),
    )


@KINDS("owning.gave_then_got", steps=2)
def gave_then_got(draw: Draw) -> Draft:
    (who, friend), w = people(draw), thing(draw)
    had, given, found = draw.falling(3, largest=limit(w))
    return draw.tell(
        [
            f"{who} के पास {had} {w} {w('थे', 'थीं')}। उसने {given} {w} {friend} को "
            f"{w('दे दिए', 'दे दीं')} और बाद में "
            f"{found} {w} {w('ख़रीदे', 'ख़रीदीं')}। अब उसके पास {w.how_many} {w} हैं?",
            f"{friend} ने टोकरी से {given} {w} {w('निकाले', 'निकालीं')} और {found} {w} {w('डाले', 'डालीं')}। "
            f"टोकरी में पहले {had} {w} {w('थे', 'थीं')}। अब टोकरी में {w.how_many} {w} हैं?",
            f"सोमवार को {who} को {found} {w} {w('मिले', 'मिलीं')} और मंगलवार को उससे {given} {w} "
            f"{w('खो गए', 'खो गईं')}। रविवार को उसके पास {had} {w} {w('थे', 'थीं')}। "
            f"बुधवार को उसके पास {w.how_many} {w} {w('थे', 'थीं')}?",
        ],
        had - given + found,
        about(draw, who, w),
    )


@KINDS("comparing.more_together", steps=2)
def more_together(draw: Draw) -> Draft:
    (who, friend), w = people(draw), thing(draw)
    base, extra = draw.sample(draw.falling(largest=limit(w)), 2)
    return draw.tell(
        [
            f"{who} के पास {base} {w} हैं। {friend} के पास {who} से {extra} {w} ज़्यादा हैं। "
            f"दोनों के पास कुल {w.how_many} {w} हैं?",
            f"{friend} के पास {who} से {extra} {w} अधिक हैं। यदि {who} के पास {base} {w} हैं, "
            f"तो दोनों के पास मिलाकर {w.how_many} {w} हैं?",
            f"{who} ने {base} पन्ने पढ़े और {friend} ने उससे {extra} पन्ने ज़्यादा पढ़े। दोनों ने कुल कितने पन्ने पढ़े?",
        ],
        base + (base + extra),
        about(draw, who, w),
    )


@KINDS("comparing.fewer_together", steps=2)
def fewer_together(draw: Draw) -> Draft:
    (who, friend), w = people(draw), thing(draw)
    base, less = draw.falling(largest=limit(w))
    return draw.tell(
        [
            f"{who} के पास {base} {w} हैं। {friend} के पास {who} से {less} {w} कम हैं। "
            f"दोनों के पास कुल {w.how_many} {w} हैं?",
            f"{friend} के पास {who} से {less} {w} कम हैं। यदि {who} के पास {base} {w} हैं, "
            f"तो दोनों के पास मिलाकर {w.how_many} {w} हैं?",
            f"{who} ने {base} पन्ने पढ़े और {friend} ने उससे {less} पन्ने कम पढ़े। दोनों ने कुल कितने पन्ने पढ़े?",
        ],
        base + (base - less),
        about(draw, who, w),
    )


@KINDS("comparing.times_together", steps=2)
def times_together(draw: Draw) -> Draft:
    (who, friend), w = people(draw), thing(draw)
    base, number = draw.whole(4, 60), draw.whole(3, 8)
    k, times = draw.choose((number, w(" गुने", " गुनी")), (draw.word(w("दुगुने", "दुगुनी"), 2), ""))
    return draw.tell(
        [
            f"{who} के पास {base} {w} हैं। {friend} के पास उससे {k}{times} {w} हैं। "
            f"दोनों के पास कुल {w.how_many} {w} हैं?",
            f"{friend} के पास {who} से {k}{times} {w} हैं। यदि {who} के पास {base} {w} हैं, "
            f"तो दोनों के पास मिलाकर {w.how_many} {w} हैं?",
            f"{who} ने {base} {w} {w('ख़रीदे', 'ख़रीदीं')} और {friend} ने उससे {k}{times}। "
            f"दोनों ने कुल {w.how_many} {w} {w('ख़रीदे', 'ख़रीदीं')}?",
        ],
        base + k * base,
        about(draw, who, w),
    )

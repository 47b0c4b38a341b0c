"""Hindi stories of equal groups."""

from __future__ import annotations

from toolkit.data.stories.core import Draft, Draw, Kinds
from toolkit.data.stories.hindi_words import BOXES, Thing, about, person, thing
from toolkit.data.stories.quantities import ONE

KINDS = Kinds()


def _box(draw: Draw) -> Thing:
    return draw.choose(*BOXES)


@KINDS("groups.in_all", steps=1)
def in_all(draw: Draw) -> Draft:
    who, w, box = person(draw), thing(draw), _box(draw)
    count, each = draw.whole(3, 40), draw.whole(4, 60)
    return draw.tell(
        [
            f"{who} के पास {count} {box} हैं। हर {box.of_one} में {each} {w} हैं। कुल {w.how_many} {w} हैं?",
            f"एक {box.of_one} में {each} {w} {w('आते', 'आती')} हैं। "
            f"{count} {box.of_many} में {w.how_many} {w} {w('आएँगे', 'आएँगी')}?",
            f"{who} हर दिन {each} {w} बेच{who('ता', 'ती')} है। "
            f"{count} दिनों में वह कुल {w.how_many} {w} बेचे{who('गा', 'गी')}?",
            f"यदि हर बच्चे को {each} {w} {w('दिए', 'दी')} जाएँ, तो {count} बच्चों के लिए {w.how_many} {w} चाहिए?",
        ],
        count * each,
        about(draw, who, w),
    )


@KINDS("groups.in_each", steps=1)
def in_each(draw: Draw) -> Draft:
    who, w, box = person(draw), thing(draw), _box(draw)
    n = draw.rng.randint(3, 24)
    count, total = draw.say(n), draw.say(n * draw.rng.randint(4, 40))
    return draw.tell(
        [
            f"{who} ने {total} {w} {count} दोस्तों में बराबर-बराबर {w('बाँटे', 'बाँटीं')}। "
            f"हर दोस्त को {w.how_many} {w} {w('मिले', 'मिलीं')}?",
            f"{count} {box.of_many} में कुल {total} {w} हैं। सब में बराबर {w} हैं। "
            f"हर {box.of_one} में {w.how_many} {w} हैं?",
            f"यदि {who} {total} {w} {count} बच्चों में बराबर बाँट दे, "
            f"तो हर बच्चे को {w.how_many} {w} {w('मिलेंगे', 'मिलेंगी')}?",
        ],
        total / count,
        about(draw, who, w),
    )


@KINDS("groups.how_many_groups", steps=1)
def how_many_groups(draw: Draw) -> Draft:
    who, w, box = person(draw), thing(draw), _box(draw)
    n = draw.rng.randint(4, 30)
    each, total = draw.say(n), draw.say(n * draw.rng.randint(3, 40))
    return draw.tell(
        [
            f"{who} को {total} {w} {box.of_many} में {w('रखने', 'रखनी')} हैं। हर {box.of_one} में {each} {w} "
            f"{w('आते', 'आती')} हैं। {box.how_many} {box} चाहिए?",
            f"{who} हर बच्चे को {each} {w} देना चाह{who('ता', 'ती')} है। उसके पास {total} {w} हैं। "
            f"वह कितने बच्चों को {w} दे सके{who('गा', 'गी')}?",
            f"{who} रोज़ {each} {w} बेच{who('ता', 'ती')} है। {total} {w} बेचने में उसे कितने दिन लगेंगे?",
        ],
        total / each,
        about(draw, who, w),
    )


@KINDS("groups.dozens", steps=1)
def dozens(draw: Draw) -> Draft:
    who, count, dozen = person(draw), draw.whole(3, 25), draw.word("दर्जन", 12)
    what, how_many, bought, they_are = draw.choose(
        ("केले", "कितने", "ख़रीदे", "होते"), ("अंडे", "कितने", "ख़रीदे", "होते"), ("कॉपियाँ", "कितनी", "ख़रीदीं", "होती")
    )
    return draw.tell(
        [
            f"{who} ने {count} {dozen} {what} {bought}। उसने कुल {how_many} {what} {bought}?",
            f"{count} {dozen} में {how_many} {what} {they_are} हैं?",
            f"{who} को शादी के लिए {count} {dozen} {what} चाहिए। बताइए, उसे {how_many} {what} चाहिए?",
        ],
        count * dozen,
        about(draw, who),
    )


@KINDS("groups.some_taken", steps=2)
def some_taken(draw: Draw) -> Draft:
    who, w, box = person(draw), thing(draw), _box(draw)
    count, each, gone = draw.whole(4, 30), draw.whole(6, 48), draw.whole(5, 90)
    draw.need(count.value * each.value > gone.value)
    return draw.tell(
        [
            f"{who} के पास {count} {box} हैं और हर {box.of_one} में {each} {w} हैं। उसने {gone} {w} "
            f"{w('बेच दिए', 'बेच दीं')}। अब {w.how_many} {w} {w('बचे', 'बचीं')}?",
            f"{who} ने {gone} {w} {w('बाँट दिए', 'बाँट दीं')}। पहले उसके पास {count} {box} {box('थे', 'थीं')} और हर "
            f"{box.of_one} में {each} {w} {w('थे', 'थीं')}। अब उसके पास {w.how_many} {w} हैं?",
            f"यदि {count} {box.of_many} में से हर एक में {each} {w} हों और {gone} {w} ख़राब निकलें, "
            f"तो {w.how_many} {w} {w('अच्छे', 'अच्छी')} हैं?",
        ],
        count * each - gone,
        about(draw, who, w),
    )


@KINDS("groups.and_some_loose", steps=2)
def and_some_loose(draw: Draw) -> Draft:
    who, w, box = person(draw), thing(draw), _box(draw)
    count, each, loose = draw.whole(4, 30), draw.whole(6, 48), draw.whole(2, 40)
    return draw.tell(
        [
            f"{who} के पास {count} {box} हैं और हर {box.of_one} में {each} {w} हैं। उसने {loose} {w} और "
            f"{w('ख़रीद लिए', 'ख़रीद लीं')}। अब {w.how_many} {w} हैं?",
            f"मेज़ पर {loose} {w} हैं। {count} {box.of_many} में से हर एक में {each} {w} और हैं। कुल {w.how_many} {w} हैं?",
            f"{who} ने {count} {box.of_many} में {each} {w} प्रति {box.one} {w('रखे', 'रखीं')}। "
            f"इसके बाद भी {loose} {w} "
            f"{w('बच गए', 'बच गईं')}। शुरू में {w.how_many} {w} {w('थे', 'थीं')}?",
        ],
        count * each + loose,
        about(draw, who, w),
    )


@KINDS("groups.share_what_is_left", steps=2)
def share_what_is_left(draw: Draw) -> Draft:
    who, w = person(draw), thing(draw)
    n, kept = draw.rng.randint(3, 12), draw.whole(3, 40)
    total, count = draw.say(n * draw.rng.randint(4, 30) + int(kept.value)), draw.say(n)
    return draw.tell(
        [
            f"{who} के पास {total} {w} {w('थे', 'थीं')}। "
            f"उसने {kept} {w} अपने पास {w('रखे', 'रखीं')} और बाक़ी {count} बच्चों "
            f"में बराबर बाँट {w('दिए', 'दीं')}। हर बच्चे को {w.how_many} {w} {w('मिले', 'मिलीं')}?",
            f"{count} बच्चों में {total} {w} बराबर {w('बाँटने थे', 'बाँटनी थीं')}, लेकिन {kept} {w} ख़राब "
            f"{w('निकले', 'निकलीं')}। बाक़ी बाँटने पर हर बच्चे को {w.how_many} {w} {w('मिले', 'मिलीं')}?",
            f"यदि {who} {total} {w.of_many} में से {kept} ख़ुद रख ले और बाक़ी {count} दोस्तों में बराबर बाँट दे, "
            f"तो हर दोस्त को {w.how_many} {w} {w('मिलेंगे', 'मिलेंगी')}?",
        ],
        (total - kept) / count,
        about(draw, who, w),
    )


@KINDS("groups.left_after_filling", steps=2)
def left_after_filling(draw: Draw) -> Draft:
    who, w, box = person(draw), thing(draw), _box(draw)
    n, k = draw.rng.randint(4, 20), draw.rng.randint(5, 24)
    count, each, total = draw.say(n), draw.say(k), draw.say(n * k + draw.rng.randint(1, k - 1))
    return draw.tell(
        [
            f"{who} के पास {total} {w} {w('थे', 'थीं')}। उसने {count} {box.of_many} में {each} {w} प्रति {box.one} "
            f"{w('भरे', 'भरीं')}। {w.how_many} {w} बाहर रह {w('गए', 'गईं')}?",
            f"{who} ने {count} बच्चों में से हर एक को {each} {w} {w('दिए', 'दीं')}। पहले उसके पास {total} {w} "
            f"{w('थे', 'थीं')}। अब उसके पास {w.how_many} {w} {w('बचे', 'बचीं')}?",
            f"यदि {total} {w.of_many} में से हर बच्चे को {each} {w} {w('दिए', 'दी')} जाएँ और बच्चे {count} हों, "
            f"तो {w.how_many} {w} {w('बचेंगे', 'बचेंगी')}?",
        ],
        total - count * each,
        about(draw, who, w),
    )


@KINDS("groups.next_or_last", steps=1)
def next_or_last(draw: Draw) -> Draft:
    who, n = person(draw), draw.whole(6, 60)
    if draw.rng.random() < 0.5:
        return draw.tell(
            [
                f"{who} आज {n} साल {who('का', 'की')} है। अगले साल उसकी उम्र कितनी होगी?",
                f"कमरे में {n} बच्चे थे। फिर {who} भी आ {who('गया', 'गई')}। अब कमरे में कितने बच्चे हैं?",
                f"{who} पृष्ठ {n} तक पढ़ {who('चुका', 'चुकी')} है। अगले पृष्ठ की संख्या क्या है?",
            ],
            n + ONE,
        )
    return draw.tell(
        [
            f"{who} आज {n} साल {who('का', 'की')} है। पिछले साल उसकी उम्र कितनी थी?",
            f"कमरे में {who} को मिलाकर {n} बच्चे थे। फिर {who} {who('चला गया', 'चली गई')}। अब कमरे में कितने बच्चे हैं?",
            f"एक रस्सी के {n} टुकड़े करने हैं। रस्सी को कितनी बार काटना होगा?",
        ],
        n - ONE,
    )


@KINDS("groups.two_kinds_of_boxes", steps=3)
def two_kinds_of_boxes(draw: Draw) -> Draft:
    who, w = person(draw), thing(draw)
    big, small = draw.sample(BOXES, 2)
    a, b, c, d = draw.whole(3, 20), draw.whole(10, 40), draw.whole(3, 20), draw.whole(4, 24)
    return draw.tell(
        [
            f"{who} के पास {a} {big} हैं जिनमें {b} {w} प्रति {big.one} हैं, और {c} {small} हैं जिनमें {d} {w} प्रति "
            f"{small.one} हैं। कुल {w.how_many} {w} हैं?",
            f"एक {big.of_one} में {b} {w} {w('आते', 'आती')} हैं और एक {small.of_one} में {d}। "
            f"{a} {big.of_many} और {c} {small.of_many} में कुल {w.how_many} {w} {w('आएँगे', 'आएँगी')}?",
            f"{who} ने {c} {small} {small('भरे', 'भरीं')}, हर {small.of_one} में {d} {w}। फिर उसने {a} {big} "
            f"{big('भरे', 'भरीं')}, हर {big.of_one} में {b} {w}। उसने कुल {w.how_many} {w} {w('रखे', 'रखीं')}?",
        ],
        a * b + c * d,
        about(draw, who, w),
    )


@KINDS("groups.two_kinds_some_gone", steps=4)
def two_kinds_some_gone(draw: Draw) -> Draft:
    who, w = person(draw), thing(draw)
    big, small = draw.sample(BOXES, 2)
    a, b, c, d = draw.whole(3, 12), draw.whole(10, 40), draw.whole(3, 12), draw.whole(4, 24)
    e = draw.whole(8, 60)
    draw.need(a.value * b.value + c.value * d.value > e.value)
    return draw.tell(
        [
            f"{who} के पास {a} {big} हैं जिनमें {b} {w} प्रति {big.one} हैं, और {c} {small} हैं जिनमें {d} {w} प्रति "
            f"{small.one} हैं। उसने {e} {w} {w('बेच दिए', 'बेच दीं')}। अब {w.how_many} {w} {w('बचे', 'बचीं')}?",
            f"एक {big.of_one} में {b} {w} {w('आते', 'आती')} हैं और एक {small.of_one} में {d}। {who} ने {e} {w} "
            f"{w('बाँट दिए', 'बाँट दीं')}। पहले उसके पास {a} {big} और {c} {small} {small('थे', 'थीं')}। "
            f"अब उसके पास {w.how_many} {w} हैं?",
            f"{who} {small('के', 'की')} {c} {small.of_many} में से हर एक में {d} {w} हैं और {a} "
            f"{big.of_many} में से हर एक में {b}। "
            f"इनमें से {e} {w} ख़राब {w('निकले', 'निकलीं')}। {w.how_many} {w} {w('अच्छे', 'अच्छी')} हैं?",
        ],
        a * b + c * d - e,
        about(draw, who, w),
    )

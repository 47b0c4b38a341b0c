"""Hindi stories of journeys, temperatures, ages and averages."""

from __future__ import annotations

from toolkit.data.stories.core import Draft, Draw, Kinds
from toolkit.data.stories.hindi_words import about, people, person

KINDS = Kinds()
VEHICLES = {  # with the endings that agree with it
    "रेलगाड़ी": ("ती", "गी", "ी"),
    "बस": ("ती", "गी", "ी"),
    "कार": ("ती", "गी", "ी"),
    "ट्रक": ("ता", "गा", "ा"),
}


def _about_trip(draw: Draw, what: str) -> list[str]:
    return [
        f"{what} {draw.whole(2, 15)} साल पुरान{VEHICLES[what][2]} है।",
        f"बाहर का तापमान {draw.whole(20, 38)} डिग्री है।",
    ]


@KINDS("motion.distance", steps=1)
def distance(draw: Draw) -> Draft:
    what, (ta, ga, _) = draw.choose(*VEHICLES.items())
    speed, hours = draw.whole(30, 110), draw.choose(draw.whole(2, 14), draw.decimal(1, 6))
    return draw.tell(
        [
            f"एक {what} {speed} किलोमीटर प्रति घंटे की चाल से चल{ta} है। {hours} घंटे में वह कितनी दूर जाए{ga}?",
            f"{hours} घंटे में {speed} किलोमीटर प्रति घंटे की चाल से एक {what} कितने किलोमीटर तय करे{ga}?",
            f"एक {what} {hours} घंटे तक चल{ta} है और उसकी चाल {speed} किलोमीटर प्रति घंटा है। "
            f"वह कितने किलोमीटर चले{ga}?",
        ],
        speed * hours,
        _about_trip(draw, what),
    )


@KINDS("motion.time_or_speed", steps=1)
def time_or_speed(draw: Draw) -> Draft:
    what, (ta, ga, _) = draw.choose(*VEHICLES.items())
    speed, n = draw.rng.randint(30, 100), draw.rng.randint(2, 12)
    far, v, t = draw.say(speed * n), draw.say(speed), draw.say(n)
    if draw.rng.random() < 0.5:
        return draw.tell(
            [
                f"एक {what} {v} किलोमीटर प्रति घंटे की चाल से चल{ta} है। {far} किलोमीटर जाने में उसे कितने घंटे लगेंगे?",
                f"अगला शहर {far} किलोमीटर दूर है। {v} किलोमीटर प्रति घंटे की चाल से एक {what} वहाँ कितने "
                f"घंटे में पहुँचे{ga}?",
                f"{far} किलोमीटर की दूरी एक {what} कितने घंटे में तय करे{ga}, "
                f"यदि उसकी चाल {v} किलोमीटर प्रति घंटा हो?",
            ],
            far / v,
            _about_trip(draw, what),
        )
    return draw.tell(
        [
            f"एक {what} {far} किलोमीटर की दूरी {t} घंटे में तय कर{ta} है। उसकी चाल कितने किलोमीटर प्रति घंटा है?",
            f"{t} घंटे में एक {what} {far} किलोमीटर जा{ta} है। वह एक घंटे में कितने किलोमीटर जा{ta} है?",
            f"यदि एक {what} को {far} किलोमीटर जाने में {t} घंटे लगें, तो उसकी चाल कितनी है?",
        ],
        far / t,
        _about_trip(draw, what),
    )


@KINDS("motion.still_to_go", steps=2)
def still_to_go(draw: Draw) -> Draft:
    what, (_, _, i) = draw.choose(*VEHICLES.items())
    speed, hours = draw.whole(30, 100), draw.whole(2, 9)
    far = draw.say(int(speed.value * hours.value) + draw.rng.randint(20, 400))
    return draw.tell(
        [
            f"एक {what} को {far} किलोमीटर जाना है। उसकी चाल {speed} किलोमीटर प्रति घंटा है। "
            f"{hours} घंटे बाद कितने किलोमीटर बाक़ी रहेंगे?",
            f"{hours} घंटे से एक {what} {speed} किलोमीटर प्रति घंटे की चाल से चल रह{i} है। "
            f"पूरा सफ़र {far} किलोमीटर का है। "
            f"अभी कितनी दूरी बाक़ी है?",
            f"एक {what} {far} किलोमीटर दूर के शहर के लिए निकल{i}। यदि चाल {speed} किलोमीटर प्रति घंटा हो, "
            f"तो {hours} घंटे बाद शहर कितनी दूर रह जाएगा?",
        ],
        far - hours * speed,
        _about_trip(draw, what),
    )


@KINDS("motion.two_legs", steps=3)
def two_legs(draw: Draw) -> Draft:
    who = person(draw)
    what, (ta, _, _) = draw.choose(*VEHICLES.items())
    v, w, t, u = draw.whole(40, 100), draw.whole(12, 39), draw.whole(2, 7), draw.whole(2, 7)
    return draw.tell(
        [
            f"एक {what} पहले {t} घंटे {v} किलोमीटर प्रति घंटे की चाल से और फिर {u} घंटे {w} किलोमीटर प्रति घंटे की चाल से "
            f"चल{ta} है। कुल दूरी कितनी है?",
            f"{who} ने साइकिल से {w} किलोमीटर प्रति घंटे की चाल से {u} घंटे और {what} से {v} किलोमीटर "
            f"प्रति घंटे की चाल से {t} घंटे "
            f"सफ़र किया। उसने कुल कितने किलोमीटर तय किए?",
            f"{who} {t} घंटे {what} से और {u} घंटे साइकिल से {who('गया', 'गई')}। "
            f"{what} की चाल {v} और साइकिल की चाल {w} किलोमीटर "
            f"प्रति घंटा थी। कुल कितने किलोमीटर हुए?",
        ],
        t * v + u * w,
        about(draw, who),
    )


@KINDS("weather.change", steps=1)
def weather_change(draw: Draw) -> Draft:
    place = draw.choose("शिमला", "लेह", "श्रीनगर", "मनाली", "दार्जिलिंग")
    start, step = draw.sample([draw.whole(2, 16), draw.whole(3, 18)], 2)
    asides = [f"{place} में {draw.whole(25, 60)} घंटों से बारिश हो रही है।"]
    if draw.rng.random() < 0.7:
        return draw.tell(
            [
                f"दोपहर को {place} का तापमान {start} डिग्री था। रात तक वह {step} डिग्री गिर गया। "
                f"रात का तापमान कितना था?",
                f"{place} का तापमान कल से {step} डिग्री कम है। कल तापमान {start} डिग्री था। आज तापमान कितना है?",
                f"यदि {place} का तापमान {start} डिग्री से {step} डिग्री नीचे चला जाए, तो वह कितना हो जाएगा?",
            ],
            start - step,
            asides,
        )
    return draw.tell(
        [
            f"सुबह {place} का तापमान {start} डिग्री था। दोपहर तक वह {step} डिग्री बढ़ गया। "
            f"दोपहर का तापमान कितना था?",
            f"{place} का तापमान कल से {step} डिग्री ज़्यादा है। कल तापमान {start} डिग्री था। आज तापमान कितना है?",
            f"यदि {place} का तापमान {start} डिग्री से {step} डिग्री ऊपर चला जाए, तो वह कितना हो जाएगा?",
        ],
        start + step,
        asides,
    )


@KINDS("ages.older_or_younger", steps=1)
def older_or_younger(draw: Draw) -> Draft:
    who, friend = people(draw)
    age, gap = draw.falling(largest=60)
    asides = [
        f"उनके घर का नंबर {draw.digits(draw.rng.randint(61, 250))} है।",
        f"उनके परिवार में {draw.whole(3, 4)} लोग हैं।",
    ]
    if draw.rng.random() < 0.5:
        return draw.tell(
            [
                f"{who} की उम्र {age} साल है। {friend} उससे {gap} साल {friend('छोटा', 'छोटी')} है। "
                f"{friend} की उम्र कितनी है?",
                f"{who} {friend} से {gap} साल {who('बड़ा', 'बड़ी')} है। यदि {who} की उम्र {age} साल है, "
                f"तो {friend} की उम्र कितनी है?",
                f"{who} की उम्र {age} साल है। {gap} साल पहले उसकी उम्र कितनी थी?",
                f"{gap} साल बाद {who} की उम्र {age} साल हो जाएगी। अभी उसकी उम्र कितनी है?",
            ],
            age - gap,
            asides,
        )
    return draw.tell(
        [
            f"{who} की उम्र {age} साल है। {friend} उससे {gap} साल {friend('बड़ा', 'बड़ी')} है। "
            f"{friend} की उम्र कितनी है?",
            f"{who} {friend} से {gap} साल {who('छोटा', 'छोटी')} है। यदि {who} की उम्र {age} साल है, "
            f"तो {friend} की उम्र कितनी है?",
            f"{who} की उम्र {age} साल है। {gap} साल बाद उसकी उम्र कितनी होगी?",
            f"{gap} साल पहले {who} की उम्र {age} साल थी। अभी उसकी उम्र कितनी है?",
        ],
        age + gap,
        asides,
    )


@KINDS("ages.times_as_old", steps=2)
def times_as_old(draw: Draw) -> Draft:
    who, age, k, years = person(draw), draw.whole(6, 14), draw.whole(3, 5), draw.whole(2, 9)
    draw.need(22 + years.value < age.value * k.value < 60)
    elder, of = draw.choose(("माँ", "की"), ("बुआ", "की"), ("पिता", "के"), ("मामा", "के"))
    if draw.rng.random() < 0.5:
        return draw.tell(
            [
                f"{who} की उम्र {age} साल है। उस{of} {elder} की उम्र उससे {k} गुनी है। "
                f"{years} साल बाद {elder} की उम्र कितनी होगी?",
                f"{who} {of} {elder} की उम्र {who} की उम्र की {k} गुनी है। "
                f"यदि {who} {age} साल {who('का', 'की')} है, "
                f"तो {years} साल बाद {elder} की उम्र कितनी होगी?",
            ],
            k * age + years,
        )
    return draw.tell(
        [
            f"{who} की उम्र {age} साल है। उस{of} {elder} की उम्र उससे {k} गुनी है। "
            f"{years} साल पहले {elder} की उम्र कितनी थी?",
            f"{who} {of} {elder} की उम्र {who} की उम्र की {k} गुनी है। यदि {who} {age} साल {who('का', 'की')} है, "
            f"तो {years} साल पहले {elder} की उम्र कितनी थी?",
        ],
        k * age - years,
    )


@KINDS("average.of_three", steps=3)
def average_of_three(draw: Draw) -> Draft:
    who = person(draw)
    a, b, c = (draw.rng.randint(8, 95) for _ in range(3))
    draw.need((a + b + c) % 3 == 0)
    x, y, z, n = draw.digits(a), draw.digits(b), draw.digits(c), draw.say(3)
    return draw.tell(
        [
            f"{who} ने {n} दिनों में {x}, {y} और {z} पन्ने पढ़े। उसने औसतन प्रतिदिन कितने पन्ने पढ़े?",
            f"{who} को {n} परीक्षाओं में {x}, {y} और {z} अंक मिले। उसके औसत अंक कितने हैं?",
            f"संख्याओं {x}, {y} और {z} का औसत कितना है, यदि ये कुल {n} संख्याएँ हैं?",
        ],
        (x + y + z) / n,
        about(draw, who),
    )


@KINDS("average.of_four", steps=4)
def average_of_four(draw: Draw) -> Draft:
    who = person(draw)
    a, b, c, d = (draw.rng.randint(8, 95) for _ in range(4))
    draw.need((a + b + c + d) % 4 == 0)
    w, x, y, z, n = draw.digits(a), draw.digits(b), draw.digits(c), draw.digits(d), draw.say(4)
    return draw.tell(
        [
            f"{who} ने {n} दिनों में {w}, {x}, {y} और {z} मिनट दौड़ लगाई। "
            f"वह औसतन प्रतिदिन कितने मिनट {who('दौड़ा', 'दौड़ी')}?",
            f"{who} ने {n} मैचों में {w}, {x}, {y} और {z} रन बनाए। उसके औसत रन कितने हैं?",
            f"सोमवार से गुरुवार तक {who} ने {w}, {x}, {y} और {z} रोटियाँ बेचीं। इन {n} दिनों का औसत कितना है?",
        ],
        (w + x + y + z) / n,
        about(draw, who),
    )

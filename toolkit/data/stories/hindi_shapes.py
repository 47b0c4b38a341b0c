"""Hindi stories of lengths, areas and circles."""

from __future__ import annotations

from toolkit.data.stories.core import Draft, Draw, Kinds
from toolkit.data.stories.hindi_words import person
from toolkit.data.stories.quantities import PI

KINDS = Kinds()
FIELDS = ("बाग़", "खेत", "मैदान", "प्लॉट", "पार्क")  # all masculine, and alike in both cases


ROUND = ("तालाब", "मैदान", "पार्क", "बाग़")


def _about_field(draw: Draw, field: str) -> list[str]:
    return [
        f"{field} में {draw.whole(3, 25)} पेड़ हैं।",
        draw.choose(
            f"{field} गाँव से {draw.whole(2, 9)} किलोमीटर दूर है।", f"{field} {draw.whole(3, 40)} साल पुराना है।"
        ),
    ]


def _about_question(draw: Draw) -> list[str]:
    return [
        draw.choose(
            f"यह सवाल कक्षा {draw.digits(draw.rng.randint(5, 9))} की किताब का है।",
            f"यह सवाल किताब के पृष्ठ {draw.whole(20, 180)} पर है।",
        )
    ]


def _sides(draw: Draw) -> tuple[int, int]:
    short, long = sorted(draw.sample(range(4, 60), 2))
    return long, short


@KINDS("shapes.rectangle_area", steps=1)
def rectangle_area(draw: Draw) -> Draft:
    field, (long, short) = draw.choose(*FIELDS), _sides(draw)
    a, b = draw.say(long), draw.say(short)
    return draw.tell(
        [
            f"एक आयताकार {field} की लंबाई {a} मीटर और चौड़ाई {b} मीटर है। उसका क्षेत्रफल कितने वर्ग मीटर है?",
            f"एक {field} {b} मीटर चौड़ा और {a} मीटर लंबा है। वह आयताकार है। उसका क्षेत्रफल कितने वर्ग मीटर है?",
            f"{a} मीटर लंबे और {b} मीटर चौड़े आयताकार {field} का क्षेत्रफल कितना होगा?",
        ],
        a * b,
        _about_field(draw, field),
    )


@KINDS("shapes.rectangle_perimeter", steps=3)
def rectangle_perimeter(draw: Draw) -> Draft:
    field, (long, short) = draw.choose(*FIELDS), _sides(draw)
    a, b = draw.say(long), draw.say(short)
    return draw.tell(
        [
            f"एक आयताकार {field} की लंबाई {a} मीटर और चौड़ाई {b} मीटर है। उसका परिमाप कितने मीटर है?",
            f"एक {field} {b} मीटर चौड़ा और {a} मीटर लंबा है। वह आयताकार है। "
            f"उसके चारों ओर बाड़ लगाने के लिए कितने मीटर तार चाहिए?",
            f"{a} मीटर लंबे और {b} मीटर चौड़े आयताकार {field} का परिमाप कितना होगा?",
        ],
        a + b + a + b,
        _about_field(draw, field),
    )


@KINDS("shapes.rectangle_side", steps=1)
def rectangle_side(draw: Draw) -> Draft:
    field, (long, short) = draw.choose(*FIELDS), _sides(draw)
    area, a, b = draw.say(long * short), draw.say(long), draw.say(short)
    known, given, asked = draw.choose((a, "लंबाई", "चौड़ाई"), (b, "चौड़ाई", "लंबाई"))
    return draw.tell(
        [
            f"एक आयताकार {field} का क्षेत्रफल {area} वर्ग मीटर है। उसकी {given} {known} मीटर है। "
            f"उसकी {asked} कितनी है?",
            f"एक आयताकार {field} की {given} {known} मीटर और क्षेत्रफल {area} वर्ग मीटर है। "
            f"उसकी {asked} कितने मीटर है?",
            f"यदि किसी आयत की {given} {known} मीटर और क्षेत्रफल {area} वर्ग मीटर हो, "
            f"तो उसकी {asked} कितने मीटर होगी?",
        ],
        area / known,
        _about_field(draw, field)[1:],
    )


@KINDS("shapes.square_area", steps=1)
def square_area(draw: Draw) -> Draft:
    field, side = draw.choose(*FIELDS), draw.whole(4, 60)
    return draw.tell(
        [
            f"एक वर्गाकार {field} की हर भुजा {side} मीटर है। उसका क्षेत्रफल कितना है?",
            f"{side} मीटर भुजा वाले वर्गाकार {field} का क्षेत्रफल कितने वर्ग मीटर होगा?",
            f"एक {field} वर्ग के आकार का है। उसकी एक भुजा {side} मीटर लंबी है। वह कितने वर्ग मीटर में फैला है?",
        ],
        side * side,
        _about_field(draw, field),
    )


@KINDS("shapes.square_perimeter", steps=3)
def square_perimeter(draw: Draw) -> Draft:
    field, side = draw.choose(*FIELDS), draw.whole(4, 60)
    return draw.tell(
        [
            f"एक वर्गाकार {field} की हर भुजा {side} मीटर है। उसका परिमाप कितना है?",
            f"{side} मीटर भुजा वाले वर्गाकार {field} का परिमाप कितने मीटर होगा?",
            f"एक {field} वर्ग के आकार का है। उसकी एक भुजा {side} मीटर लंबी है। उसका पूरा चक्कर कितने मीटर का है?",
        ],
        side + side + side + side,
        _about_field(draw, field),
    )


@KINDS("circles.around_by_diameter", steps=1)
def around_by_diameter(draw: Draw) -> Draft:
    field, width = draw.choose(*ROUND), draw.whole(6, 90)
    return draw.tell(
        [
            f"एक गोल {field} का व्यास {width} मीटर है। उसकी परिधि कितनी है?",
            f"{width} मीटर व्यास वाले गोल {field} का एक चक्कर कितने मीटर का होगा?",
            f"यदि किसी वृत्त का व्यास {width} सेंटीमीटर हो, तो उसकी परिधि कितने सेंटीमीटर होगी?",
        ],
        PI * width,
        _about_question(draw),
    )


@KINDS("circles.around_by_radius", steps=2)
def around_by_radius(draw: Draw) -> Draft:
    field, radius = draw.choose(*ROUND), draw.whole(3, 60)
    return draw.tell(
        [
            f"एक गोल {field} की त्रिज्या {radius} मीटर है। उसकी परिधि कितनी है?",
            f"{radius} मीटर त्रिज्या वाले गोल {field} का एक चक्कर कितने मीटर का होगा?",
            f"यदि किसी वृत्त की त्रिज्या {radius} सेंटीमीटर हो, तो उसकी परिधि कितने सेंटीमीटर होगी?",
        ],
        PI * (radius + radius),
        _about_question(draw),
    )


@KINDS("circles.area", steps=2)
def circle_area(draw: Draw) -> Draft:
    field, radius = draw.choose(*ROUND), draw.whole(3, 60)
    return draw.tell(
        [
            f"एक गोल {field} की त्रिज्या {radius} मीटर है। उसका क्षेत्रफल कितना है?",
            f"{radius} मीटर त्रिज्या वाले गोल {field} का क्षेत्रफल कितने वर्ग मीटर होगा?",
            f"यदि किसी वृत्त की त्रिज्या {radius} सेंटीमीटर हो, तो उसका क्षेत्रफल कितने वर्ग सेंटीमीटर होगा?",
        ],
        PI * radius * radius,
        _about_question(draw),
    )


@KINDS("shapes.fence_cost", steps=4)
def fence_cost(draw: Draw) -> Draft:
    who, field, (long, short) = person(draw), draw.choose(*FIELDS), _sides(draw)
    a, b, price = draw.say(long), draw.say(short), draw.money(8, 90, cents=False)
    return draw.tell(
        [
            f"एक आयताकार {field} की लंबाई {a} मीटर और चौड़ाई {b} मीटर है। बाड़ लगाने का ख़र्च {price} प्रति मीटर है। "
            f"{field} के चारों ओर बाड़ लगाने में कुल कितना ख़र्च आएगा?",
            f"{price} प्रति मीटर की दर से {who} अपने आयताकार {field} के चारों ओर तार लगवा{who('ता', 'ती')} "
            f"है। {field} {b} मीटर "
            f"चौड़ा और {a} मीटर लंबा है। उसे कुल कितने रुपये देने होंगे?",
            f"{a} मीटर लंबे और {b} मीटर चौड़े आयताकार {field} के चारों ओर {price} प्रति मीटर की दर से दीवार बनवाने में "
            f"कितने रुपये लगेंगे?",
        ],
        (a + b + a + b) * price,
        _about_field(draw, field),
    )

"""Hindi words for the stories: people, things with their gender and cases, and asides."""

from __future__ import annotations

from dataclasses import dataclass

from toolkit.data.stories.core import Draw, Tongue

_NUMBERS = "दो तीन चार पाँच छह सात आठ नौ दस ग्यारह बारह तेरह चौदह पंद्रह सोलह सत्रह अठारह उन्नीस बीस"


def indian(whole: int) -> str:
    """Indian grouping: 1,25,000."""
    head, tail = divmod(whole, 1000)
    if not head:
        return str(tail)
    pairs = []
    while head:
        head, pair = divmod(head, 100)
        pairs.append(f"{pair:02d}" if head else str(pair))
    return ",".join([*reversed(pairs), f"{tail:03d}"])


@dataclass(frozen=True, slots=True)
class Person:
    """Somebody, shown by name; called with two endings it gives the one that agrees: who("ता", "ती")."""

    name: str
    feminine: bool

    def __str__(self) -> str:
        return self.name

    def __call__(self, he: str, she: str) -> str:
        return she if self.feminine else he


@dataclass(frozen=True, slots=True)
class Thing:
    """Something countable, shown in the direct plural; called with two forms it gives the one that agrees."""

    one: str  # direct singular: खिलौना
    of_one: str  # oblique singular: खिलौने (का)
    many: str  # direct plural: खिलौने
    of_many: str  # oblique plural: खिलौनों (का)
    feminine: bool

    def __str__(self) -> str:
        return self.many

    def __call__(self, masculine: str, feminine: str) -> str:
        return feminine if self.feminine else masculine

    @property
    def how_many(self) -> str:
        return self("कितने", "कितनी")


def _things(masculine: str, feminine: str) -> list[Thing]:
    """Things from lines of their four forms; "_" stands for a space."""
    found = []
    for which, lines in ((False, masculine), (True, feminine)):
        for line in lines.strip().splitlines():
            one, of_one, many, of_many = (form.replace("_", " ") for form in line.split())
            found.append(Thing(one, of_one, many, of_many, which))
    return found


SMALL = _things(
    """
    कंचा कंचे कंचे कंचों
    स्टिकर स्टिकर स्टिकर स्टिकरों
    डाक_टिकट डाक_टिकट डाक_टिकट डाक_टिकटों
    गुब्बारा गुब्बारे गुब्बारे गुब्बारों
    मोती मोती मोती मोतियों
    सिक्का सिक्के सिक्के सिक्कों
    बटन बटन बटन बटनों
    """,
    """
    पेंसिल पेंसिल पेंसिलें पेंसिलों
    पतंग पतंग पतंगें पतंगों
    चूड़ी चूड़ी चूड़ियाँ चूड़ियों
    सीपी सीपी सीपियाँ सीपियों
    तस्वीर तस्वीर तस्वीरें तस्वीरों
    """,
)
FOOD = _things(
    """
    आम आम आम आमों
    सेब सेब सेब सेबों
    केला केले केले केलों
    संतरा संतरे संतरे संतरों
    अमरूद अमरूद अमरूद अमरूदों
    लड्डू लड्डू लड्डू लड्डुओं
    समोसा समोसे समोसे समोसों
    बिस्कुट बिस्कुट बिस्कुट बिस्कुटों
    """,
    """
    टॉफ़ी टॉफ़ी टॉफ़ियाँ टॉफ़ियों
    नारंगी नारंगी नारंगियाँ नारंगियों
    जलेबी जलेबी जलेबियाँ जलेबियों
    रोटी रोटी रोटियाँ रोटियों
    """,
)
GOODS = _things(
    """
    पेन पेन पेन पेनों
    खिलौना खिलौने खिलौने खिलौनों
    बल्ला बल्ले बल्ले बल्लों
    छाता छाते छाते छातों
    कप कप कप कपों
    गमला गमले गमले गमलों
    थैला थैले थैले थैलों
    """,
    """
    किताब किताब किताबें किताबों
    कॉपी कॉपी कॉपियाँ कॉपियों
    गेंद गेंद गेंदें गेंदों
    टोपी टोपी टोपियाँ टोपियों
    बोतल बोतल बोतलें बोतलों
    थाली थाली थालियाँ थालियों
    मोमबत्ती मोमबत्ती मोमबत्तियाँ मोमबत्तियों
    """,
)
DEAR = _things(
    """
    मोबाइल मोबाइल मोबाइल मोबाइलों
    पंखा पंखे पंखे पंखों
    कैमरा कैमरे कैमरे कैमरों
    """,
    """
    साइकिल साइकिल साइकिलें साइकिलों
    घड़ी घड़ी घड़ियाँ घड़ियों
    साड़ी साड़ी साड़ियाँ साड़ियों
    कुर्सी कुर्सी कुर्सियाँ कुर्सियों
    मेज़ मेज़ मेज़ें मेज़ों
    """,
)
BOXES = _things(
    """
    डिब्बा डिब्बे डिब्बे डिब्बों
    थैला थैले थैले थैलों
    पैकेट पैकेट पैकेट पैकेटों
    बक्सा बक्से बक्से बक्सों
    """,
    """
    टोकरी टोकरी टोकरियाँ टोकरियों
    पेटी पेटी पेटियाँ पेटियों
    """,
)

_WOMEN = "मीरा अनीता सीमा राधा प्रिया नेहा सुनीता कविता फ़ातिमा ज़ोया पूजा गीता रेखा अंजलि शबनम लता"
_MEN = "रवि राहुल मोहन अमित राजू सुरेश इमरान विकास दीपक अर्जुन करण मनोज अनिल समीर गोपाल फ़रहान"
PEOPLE = [Person(name, True) for name in _WOMEN.split()] + [Person(name, False) for name in _MEN.split()]

TONGUE = Tongue(
    lang="hi",
    words=dict(enumerate(_NUMBERS.split(), start=2)),
    group=indian,
    currencies=("₹{}", "₹ {}", "{} रुपये", "{} रुपये"),
    names=frozenset(who.name for who in PEOPLE),
    digits="०१२३४५६७८९",
    own_digits_share=0.15,
)


def person(draw: Draw) -> Person:
    return draw.choose(*PEOPLE)


def people(draw: Draw) -> tuple[Person, Person]:
    first, other = draw.sample(PEOPLE, 2)
    return first, other


def thing(draw: Draw) -> Thing:
    """Something one can own, give and count."""
    return draw.choose(*SMALL, *FOOD)


def limit(what: Thing) -> int:
    """How many of these one can sensibly have."""
    return 99 if what in FOOD else 980


def about(draw: Draw, who: Person, what: Thing | None = None) -> list[str]:
    """Asides about somebody, and about what they own besides `what`."""
    other = draw.choose(*(some for some in (*SMALL, *FOOD) if some != what))
    return [
        draw.choose(
            f"{who} की उम्र {draw.whole(14, 50)} साल है।",
            f"{who} का घर बाज़ार से {draw.whole(2, 12)} किलोमीटर दूर है।",
            f"{who} के घर में {draw.whole(2, 6)} कमरे हैं।",
            f"{who} के मकान का नंबर {draw.digits(draw.rng.randint(11, 250))} है।",
        ),
        draw.choose(
            f"{who} के पास {draw.whole(3, 60)} {other} भी हैं।",
            f"{who} के घर पर {draw.whole(3, 60)} {other} भी {other('रखे', 'रखी')} हैं।",
        ),
        draw.choose(
            f"{who} का वज़न {draw.whole(32, 70)} किलो है।",
            f"{who} को बाज़ार पहुँचने में {draw.whole(10, 45)} मिनट लगते हैं।",
            f"{who} के जूते {draw.pay(draw.rng.randrange(200, 900, 10))} के हैं।",
        ),
    ]


def about_shop(draw: Draw, *sold: Thing) -> list[str]:
    """Asides about a shop; the things of the story get no other price."""
    other = draw.choose(*(some for some in GOODS if some not in sold))
    return [
        f"उसी दुकान में एक {other.of_one} का दाम {draw.money(5, 90, cents=False)} है।",
        draw.choose(
            f"दुकान {draw.whole(3, 40)} साल पुरानी है।",
            f"दुकान घर से {draw.whole(2, 9)} किलोमीटर दूर है।",
            f"दुकान में {draw.whole(3, 14)} ग्राहक और खड़े हैं।",
        ),
    ]

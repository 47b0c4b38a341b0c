"""Hindi. Its number words: 0–99 with their usual spellings, सौ to अरब, quarters and halves, multiples, दर्जन.

"एक" alone is not a number: it is mostly the article "a", and 1 is a constant of the model. It still counts
inside other numbers ("एक सौ" is 100, "एक चौथाई" 1/4). "दो" is not a number if it is the verb "give"
("बता दो"). "तीन-तीन" (three each) is one number; "दो दर्जन" is two, 2 and 12.

Words match with and without nukta, composed or not, and with chandrabindu or anusvara. Only whole words
match; vowel signs are not `\\w`, so the patterns define what a letter is.
"""

import re
import unicodedata
from collections.abc import Iterable, Mapping
from fractions import Fraction

from toolkit.data.languages.cardinals import compound, compound_value, one_of
from toolkit.data.languages.language import Language, NumberWords, PageLabels

_SMALL_WORDS = """
शून्य; एक; दो; तीन; चार; पांच; छह छः छ: छै; सात; आठ; नौ;
दस; ग्यारह; बारह; तेरह; चौदह; पंद्रह पन्द्रह; सोलह; सत्रह सतरह; अठारह अट्ठारह; उन्नीस;
बीस; इक्कीस; बाईस बाइस; तेईस तेइस; चौबीस; पच्चीस; छब्बीस; सत्ताईस सत्ताइस;
अट्ठाईस अट्ठाइस अठाईस अठाइस; उनतीस उन्तीस;
तीस; इकतीस इकत्तीस; बत्तीस; तैंतीस तेंतीस तेतीस; चौंतीस चौतीस; पैंतीस; छत्तीस; सैंतीस; अडतीस;
उनतालीस उन्तालीस उनचालीस;
चालीस; इकतालीस; बयालीस बियालीस; तैंतालीस तेतालीस; चौवालीस चवालीस चौंवालीस; पैंतालीस; छियालीस; सैंतालीस;
अडतालीस; उनचास उनंचास;
पचास; इक्यावन; बावन; तिरपन तिरेपन; चौवन; पचपन; छप्पन; सत्तावन; अट्ठावन अठावन; उनसठ;
साठ; इकसठ; बासठ; तिरसठ तिरेसठ; चौंसठ चौसठ; पैंसठ; छियासठ; सडसठ सरसठ; अडसठ; उनहत्तर;
सत्तर; इकहत्तर; बहत्तर; तिहत्तर; चौहत्तर; पचहत्तर; छिहत्तर; सतहत्तर; अठहत्तर; उनासी उन्यासी;
अस्सी; इक्यासी; बयासी; तिरासी; चौरासी; पचासी; छियासी; सत्तासी सतासी; अट्ठासी अठासी; नवासी;
नब्बे; इक्यानवे इक्यानबे; बानवे बानबे; तिरानवे तिरानबे; चौरानवे चौरानबे; पचानवे पंचानवे पचानबे पंचानबे;
छियानवे छियानबे; सत्तानवे सत्तानबे; अट्ठानवे अठानवे अट्ठानबे; निन्यानवे निन्यानबे
"""
_SMALL = {word: n for n, words in enumerate(_SMALL_WORDS.split(";")) for word in words.split()}
_BIG = {"हजार": 10**3, "लाख": 10**5, "करोड": 10**7, "अरब": 10**9}
_CARDINALS = _SMALL | {"सौ": 100} | _BIG
_PARTS = {"चौथाई": 4, "तिहाई": 3}
_HALVES = ("आधा", "आधी", "आधे")
_MULTIPLES = {
    stem + ending: n
    for n, stems in ((2, "दुगुन दोगुन दुगन दून"), (3, "तिगुन तीगुन तिगन"), (4, "चौगुन चौगन"), (5, "पांचगुन"))
    for stem in stems.split()
    for ending in ("ा", "ी", "े")
}
_ALONE = {"डेढ": Fraction(3, 2), "ढाई": Fraction(5, 2), "अढाई": Fraction(5, 2)}  # डेढ़ सौ is 150
_SHIFTS = {"साढे": Fraction(1, 2), "सवा": Fraction(1, 4), "पौने": Fraction(-1, 4)}  # साढ़े तीन is 3 + 1/2
_GIVE_AFTER = (
    "बता दे कर लिख जोड घटा निकाल रख डाल छोड बांट बाँट भर काट हटा मिला ला समझा सुना दिखा खोल भेज बेच जाने होने रहने करने"
)

_LETTER = r"\w\u0900-\u0963\u0971-\u097f\u200c\u200d"
_END = f"(?![{_LETTER}])"
_WITH_NUKTA = dict(zip("कखगजडढफय", "\u0958\u0959\u095a\u095b\u095c\u095d\u095e\u095f", strict=True))


def _spelled(word: str) -> str:
    """A pattern for a word of the tables above in any of its Unicode spellings."""
    letters = (f"[{c}{_WITH_NUKTA[c]}]\u093c?" if c in _WITH_NUKTA else c for c in word)
    return "".join(letters).replace("ं", "[ंँ]").replace("छ:", "छ\\s?:")


def _spellings(word: str) -> list[str]:
    """The same spellings as a list, for look-behinds and tables."""
    spellings = {word}
    for plain, dotted in _WITH_NUKTA.items():
        spellings |= {s.replace(plain, form) for s in spellings for form in (dotted, plain + "\u093c")}
    return sorted(spellings)


def _any(words: Iterable[str]) -> str:
    return one_of(_spelled(word) for word in words) + _END


def _folded(word: str) -> str:
    return unicodedata.normalize("NFD", word).replace("\u093c", "").replace("ँ", "ं")


_PERCENT = rf"[\s-]?(?:प्रतिशत|{_spelled('फीसदी')}|{_spelled('फी')} सदी){_END}"
_SCALES: Mapping[str, int] = {
    spelling: number for word, number in ({"सौ": 100} | _BIG).items() for spelling in _spellings(word)
}


def _pattern() -> str:
    space = r"[\s-]{1,3}"
    small, hundred, big, article = _any(_SMALL), _any(["सौ"]), _any(_BIG), _any(["एक"])
    cardinal = compound(small, hundred, big, article=article, space=space, link=space)
    power = f"(?:{space}(?:{hundred}|{big}))"
    digits = r"[0-9]{1,9}(?![0-9]|[.,/][0-9])"
    give = "".join(f"(?<!{spelling} )" for word in _GIVE_AFTER.split() for spelling in _spellings(word))
    give = rf"(?:{give}(?!दो\s*(?:[।|!?.,;:]|\Z))|(?!दो{_END}))"
    words = (*_CARDINALS, *_SHIFTS, *_ALONE, *_PARTS, *_HALVES, *_MULTIPLES, "दर्जन")
    starts = one_of({_spelled(word[:2]) for word in words})  # saves time
    return (
        rf"(?<![{_LETTER}])(?=[0-9]|{starts})(?:"
        rf"{_any(_SHIFTS)}{space}(?:{small}{power}?|{hundred}|{big}|{digits}{power}?)|"
        rf"(?:{_any(_ALONE)}|{_any(['सवा'])}){power}?|"
        rf"(?:(?:{small}|{digits}){space})?{_any(_PARTS)}|"
        rf"(?:{small}|{digits}){space}बटा{space}(?:{small}|{digits})|"
        rf"{_any(_HALVES)}(?!\sरात)(?:{space}{_any(['दर्जन'])})?|"
        rf"{_any(_MULTIPLES)}|(?:{article}{space})?{_any(['दर्जन'])}|"
        rf"(?!{article}(?!{power})){give}(?:(?P<each>{small})-(?P=each){_END}|{cardinal}))"
    )


_WORD = re.compile(rf"छ\s?:|[{_LETTER}]+")


def _value(phrase: str) -> Fraction | None:
    """The value of a text that the pattern matched; None if it is not a number after all (तीन बटा शून्य)."""
    words = [_folded(word).replace(" ", "") for word in _WORD.findall(phrase)]
    first, last = words[0], words[-1]
    if last in _MULTIPLES:
        return Fraction(_MULTIPLES[last])
    if last == "दर्जन":
        return Fraction(6 if first in _HALVES else 12)
    if first in _HALVES:
        return Fraction(1, 2)
    if last in _PARTS:
        return Fraction(_cardinal(words[:-1]) or 1, _PARTS[last])
    if "बटा" in words:
        top, bottom = _cardinal(words[:1]), _cardinal(words[2:])
        return Fraction(top, bottom) if bottom else None
    if first in _ALONE:
        return _ALONE[first] * (_cardinal(words[1:]) or 1)
    if first in _SHIFTS:
        powers = [word for word in words[1:] if _CARDINALS.get(word, 0) >= 100]
        count = _cardinal(word for word in words[1:] if word not in powers) or 1
        return (count + _SHIFTS[first]) * (_cardinal(powers) or 1)
    if len(words) == 2 and words[0] == words[1] and "-" in phrase:
        words.pop()
    return Fraction(_cardinal(words))


def _cardinal(words: Iterable[str]) -> int:
    return compound_value(int(word) if word.isdecimal() else _CARDINALS[word] for word in words)


_LABELS = PageLabels(
    answer="उत्तर",
    numbers="संख्याएँ",
    own="मेरा अपना समीकरण",
    bad="सवाल में गड़बड़ है",
    reasons=(
        "दिया हुआ उत्तर ग़लत है",
        "दी गई जानकारी से हल नहीं हो सकता",
        "सवाल साफ़ नहीं है",
        "यह गणित का सवाल नहीं है",
    ),
    complaint="पिछला समीकरण काम नहीं आया",
    rejections=(
        "कोई समीकरण नहीं लिखा गया।",
        "यह पढ़ा नहीं जा सकता: केवल संख्याएँ, + - * / ^ और कोष्ठक लिखें।",
        "इसमें ऐसी संख्या है जो सवाल में नहीं है, या सवाल की कोई संख्या नहीं है।",
        "इसका मान {value} है, पर उत्तर {answer} है।",
    ),
)

_REQUEST = (
    "गणित का सवाल हल करने वाला एक समीकरण लिखें। सवाल की संख्याएँ, ज़रूरत हो तो 100 या π जैसे स्थिरांक, + - * / ^ "
    'और कोष्ठक काम में लें। उत्तर JSON में दें: {"equation": "..."}'
)

_MODEL_REQUEST = (
    "आप गणित के इबारती सवालों को समीकरण में बदलते हैं। सवाल की हर संख्या पर उसका नाम लिखा है: N0, N1, आदि। "
    "एक व्यंजक लिखिए जिससे प्रश्न का उत्तर मिले; उसमें ये नाम, 1, 2, 100 या pi जैसे छोटे स्थिरांक, + - * / ^ और "
    'कोष्ठक हों। हिसाब मत लगाइए। केवल JSON में उत्तर दीजिए: {"equation": "N0 + N1"}'
)

_INSTRUCTIONS = """\
<h3>हिन्दी</h3>
<p>सवाल, उसका उत्तर और कुछ समीकरण दिखते हैं। कई समीकरण संयोग से उत्तर तक पहुँचते हैं: वही चुनें जो सवाल की बात कहता है।
उदाहरण: “नेहा के पास 76 किताबें थीं। उसने 25 दे दीं। कितनी बचीं?” उत्तर 51: <code>76 - 25</code> सही है।</p>
<p>• <b>1 … 9</b> से समीकरण चुनें, <b>Ctrl+Enter</b> से भेजें।</p>
<p>• <b>o</b>: कोई ठीक नहीं, अपना समीकरण लिखें, Enter दबाएँ, फिर Ctrl+Enter।</p>
<p>• <b>b</b>: सवाल में गड़बड़ है, कारण चुनें।</p>
<p>• पक्का न हो तो छोड़ दें: <b>Ctrl+Space</b> (Skip)।</p>
"""

LANGUAGE = Language(
    code="hi",
    name="हिन्दी",
    script=re.compile(r"[\u0900-\u097f]"),
    number_words=NumberWords(_pattern(), _value, _SCALES, _PERCENT),
    labels=_LABELS,
    request=_REQUEST,
    model_request=_MODEL_REQUEST,
    model_answer="उत्तर {answer} है।",
    instructions=_INSTRUCTIONS,
)

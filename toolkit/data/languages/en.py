"""English. Its number words: cardinals, fractions, multiples, dozens.

A word counts only if it is clearly a quantity, because any other number is a distractor:

- ordinals ("the third day"), coins and terms ("two quarters", "this quarter") are not fractions;
- "one" counts only directly before a noun ("one apple"), not in "one of", "no one", "one day"; little is
  lost, since 1 is a constant of the model;
- a hyphenated adjective counts only with a unit of measure: "a five-pound bag" does, "two-bedroom" and
  "double-shot" do not;
- "two dozen" is two numbers, 2 and 12; "half a dozen" is one, 6.

All patterns are for lower-case text.
"""

import math
import re
from collections.abc import Iterable, Mapping
from fractions import Fraction

from toolkit.data.languages.cardinals import compound, compound_value, one_of
from toolkit.data.languages.language import Language, NumberWords, PageLabels


def _counted(words: str, first: int, step: int = 1) -> dict[str, int]:
    return {word: first + step * n for n, word in enumerate(words.split())}


_ONES = _counted("one two three four five six seven eight nine", 1)
_TEENS = _counted("ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen", 10) | {
    "zero": 0
}
_TENS = _counted("twenty thirty forty fifty sixty seventy eighty ninety", 20, 10) | {"fourty": 40}
_BIG = {
    "thousand": 10**3, "lakh": 10**5, "lakhs": 10**5, "lac": 10**5, "lacs": 10**5, "million": 10**6,
    "crore": 10**7, "crores": 10**7, "billion": 10**9, "trillion": 10**12,
}  # fmt: skip
_CARDINALS = _ONES | _TEENS | _TENS | {"hundred": 100} | _BIG
_SCALES: Mapping[str, int] = {"hundred": 100, **_BIG}

_PARTS = _counted("half third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth", 2) | {
    "quarter": 4, "twentieth": 20, "hundredth": 100, "thousandth": 1000
}  # fmt: skip
_MULTIPLES: dict[str, int | Fraction] = {
    "twice": 2, "thrice": 3, "double": 2, "doubles": 2, "doubled": 2, "doubling": 2,
    "triple": 3, "triples": 3, "tripled": 3, "tripling": 3, "quadruple": 4, "quadrupled": 4,
    "halved": Fraction(1, 2),
}  # fmt: skip

_PERCENT = r"\s?per[\s-]?cent\b"

_UNITS = (
    r"(?:seconds?|minutes?|hours?|days?|weeks?|months?|years?|inch(?:es)?|foot|feet|yards?|miles?|"
    r"(?:centi|milli|kilo)?met(?:er|re)s?|cm|km|pints?|quarts?|gallons?|lit(?:er|re)s?|cups?|ounces?|"
    r"pounds?|(?:kilo|milli)?grams?|kg|tons?|dollars?|cents?|rupees?|acres?|teaspoons?|tablespoons?)\b"
)
_NOT_AFTER = "few several some couple"
_ONE_NOT_AFTER = (
    "no each every any this that which the another other some last first next new old by number day at "
    "same either neither big small single"
)
_ONE_NOT_BEFORE = (
    "of another by day morning afternoon evening night summer winter spring autumn fall weekend time who "
    "that which whose is was are were has had have can could will would should may might must do does did "
    "or and but in on at for to from with than as so if then when while after before until because without "
    "through side way type kind thing point left too also not each per about over"
)
_HALF_NOT_AFTER = "first second third other last top bottom upper lower latter former each either this that"
_HALF_NOT_BEFORE = "time past way dollar dollars brother sister brothers sisters moon marathon"
_TWICE_NOT_BEFORE = (
    "decker deckers digit digits check bed beds bedroom room rooms play header sided jump scoop "
    "scoops tennis match matches space spaced fault cheeseburger cheeseburgers"
)
_GRADES = r"(?:grade|grader|graders|graded|place|floor|class|prize|row)\b"


def _not_after(words: str) -> str:
    return "".join(rf"(?<!\b{word} )" for word in words.split())


def _not_before(words: str) -> str:
    return rf"(?!\s{one_of(words.split())}\b)"


def _pattern() -> str:
    space = r"[\s-]{1,3}"
    ordinals = one_of(word for word in _PARTS if word not in ("half", "quarter"))
    tens = rf"{one_of(_TENS)}(?:{space}{one_of(_ONES)}\b|\b(?!{space}(?:first|{ordinals})\b))"
    small = rf"(?:{tens}|{one_of(_TEENS)}\b|{one_of(_ONES)}\b)"
    big = rf"{one_of(_BIG)}\b"
    link = rf",?{space}(?:and{space})?"
    cardinal = compound(small, r"hundred\b", big, article="a", space=space, link=link)
    no_adjective = rf"(?![\w'])(?!-(?!{_UNITS})[a-z])"

    quarter_of = rf"(?={space}(?:of|as|the|full|{_UNITS}))"
    fraction = "|".join(
        (
            rf"{small}{space}{ordinals}s\b",
            rf"one{space}(?:half|{ordinals})\b(?!{space}{_GRADES})",
            r"(?:one-quarter|three-quarters)\b",
            rf"(?:one{space}quarter|three{space}quarters)\b{quarter_of}",
            rf"an?\s(?:{ordinals}|quarter)\b(?=\s(?:of|as)\b)",
            rf"a\squarter\b(?=[\s-]{_UNITS})",
        )
    )
    mixed = (
        rf"(?:{cardinal}|(?<![\w.,/-])[0-9]{{1,9}}){space}and{space}"
        rf"(?:an?{space}(?:half|quarter|{ordinals})|one{space}quarter|{fraction})\b(?:{space}{big})?"
    )
    half = (
        rf"(?:a{space})?{_not_after(_HALF_NOT_AFTER)}half"
        rf"(?:{space}(?:a{space})?(?:dozen|hundred|{big})\b|{no_adjective}{_not_before(_HALF_NOT_BEFORE)})"
    )
    single = rf"{_not_after(_ONE_NOT_AFTER)}one(?=\s[a-z]){_not_before(_ONE_NOT_BEFORE)}"
    starts = one_of({word[:2] for word in (*_CARDINALS, *_MULTIPLES, "half", "dozen")})  # saves time
    return (
        rf"(?<![\w'-])(?=an?\s|[0-9]|{starts}){_not_after(_NOT_AFTER)}(?:{mixed}|{fraction}|"
        rf"(?!one\b(?!{space}(?:hundred|{big})))(?:{cardinal}){no_adjective}|{half}|{single}|"
        rf"{one_of(_MULTIPLES)}{no_adjective}{_not_before(_TWICE_NOT_BEFORE)}|"
        rf"(?:a\s)?dozen\b|(?:(?<=[0-9]\s)|(?<=many\s))dozens\b|dozens\b(?!\sof))"
    )


_WORD = re.compile(r"[a-z]+|[0-9]+")


def _value(phrase: str) -> Fraction | None:
    """The value of a text that the pattern matched."""
    words = [word for word in _WORD.findall(phrase) if word not in ("a", "an")]
    if words[0] in _MULTIPLES:
        return Fraction(_MULTIPLES[words[0]])
    if words[-1] in ("dozen", "dozens"):
        return Fraction(6 if "half" in words else 12)
    parts = [at for at, word in enumerate(words) if word.removesuffix("s") in _PARTS]
    if not parts:
        return Fraction(_cardinal(words))
    before, part, scales = words[: parts[0]], words[parts[0]].removesuffix("s"), words[parts[0] + 1 :]
    top = before.index("and", -2) + 1 if "and" in before[-2:] else 0  # two [and] one half
    fraction = Fraction(_cardinal(before[top:]) or 1, _PARTS[part])
    return (_cardinal(before[:top]) + fraction) * math.prod(_SCALES[word] for word in scales)


def _cardinal(words: Iterable[str]) -> int:
    return compound_value(
        int(word) if word.isdecimal() else _CARDINALS[word] for word in words if word != "and"
    )


_INSTRUCTIONS = """\
<h3>Which equation does the problem ask for?</h3>
<p>You see a problem, its answer and some equations that reach that answer. Many reach it by chance: pick
the one that says what the text says.</p>
<p><b>Example.</b> “Neha had 76 books. She gave 25 away. How many are left?” Answer: 51<br>
<code>76 - 25</code> is right. <code>25 + 76 - 25 - 25</code> gives 51 too, but
nobody did that with the books.</p>
<p>• <b>1 … 9</b> picks an equation, <b>Ctrl+Enter</b> submits it: two keystrokes. 25 + 76 for 76 + 25 is
fine.</p>
<p>• <b>o</b>: none fits, write your own over the numbers of the text: <code>+ - * / ^ ( )</code>, for
instance <code>(76 - 25) * 2</code>. Click the box or go there with Tab, write, press
Enter, then Ctrl+Enter.</p>
<p>• <b>b</b>: the problem is bad. Say why: the answer key is wrong (<b>k</b>), it can't be solved
(<b>n</b>), the text is unclear (<b>u</b>), it is no word problem (<b>p</b>).</p>
<p>• Not sure? <b>Ctrl+Space</b> skips it. Skipping is better than guessing.</p>
<p>• A line in red says why the last equation for this problem could not be used.</p>
"""

LANGUAGE = Language(
    code="en",
    name="English",
    number_words=NumberWords(_pattern(), _value, _SCALES, _PERCENT),
    contractions=r"(?:n't|'(?:s|re|ve|ll|d|m))\b",
    labels=PageLabels(),
    instructions=_INSTRUCTIONS,
)

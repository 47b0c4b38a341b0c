"""Many characters for the same thing, mapped to one.

`plain` maps digits of every script, full-width forms, and the many signs for minus, times, divided
by and brackets to ASCII. It maps each character to one character, so that a position in the plain
text is the same position in the original text.
"""

import unicodedata

_SIGNS = {
    "-": "−–—‒﹣－",
    "+": "＋﹢",
    "*": "×·⋅∙•✕✖⨯＊",
    "/": "÷∕⁄／",
    "^": "＾",
    "=": "＝",
    "%": "％﹪",
    ":": "：∶﹕",
    ",": "，",
    ".": "．",
    "(": "（",
    ")": "）",
    "[": "［【〔",
    "]": "］】〕",
    "{": "｛",
    "}": "｝",
    " ": "\u00a0\u2002\u2003\u2007\u2009\u202f\u3000",
}

_DIGITS = {
    code: str(unicodedata.decimal(chr(code)))
    for code in range(0x660, 0x10000)  # the basic plane; digits beyond it are rare
    if unicodedata.category(chr(code)) == "Nd"
}

_FULL_WIDTH_LETTERS = {
    code: chr(code - 0xFEE0) for first, last in ("ＡＺ", "ａｚ") for code in range(ord(first), ord(last) + 1)
}

_PLAIN = (
    {ord(sign): plain for plain, signs in _SIGNS.items() for sign in signs} | _DIGITS | _FULL_WIDTH_LETTERS
)

FRACTION_SIGNS = {
    chr(code): unicodedata.normalize("NFKC", chr(code)).replace("\u2044", "/")
    for code in (*range(0xBC, 0xBF), *range(0x2150, 0x215F))
}
"""½ ↦ 1/2 and so on; these stand for three characters, so `plain` leaves them alone."""


def plain(text: str) -> str:
    """The same text, character for character, in ASCII signs and digits."""
    return text if text.isascii() else text.translate(_PLAIN)

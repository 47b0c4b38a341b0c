"""The languages of problem sets. A file of this package whose name is a language code adds that language.

The file ends in `LANGUAGE = Language(...)`; `language.py` describes the fields. Nothing else has to change.
"""

import pkgutil
import re
from functools import cache, lru_cache
from importlib import import_module

from toolkit.data.languages.language import Language

FALLBACK = "en"
"""The language of a text without the script of any other language."""

_CODE = re.compile("[a-z]{2,3}")


@cache
def _codes() -> tuple[str, ...]:
    """The codes of the files in this package: the fallback language first, then in alphabetical order."""
    names = {module.name for module in pkgutil.iter_modules(__path__)}
    return tuple(sorted(filter(_CODE.fullmatch, names), key=lambda code: (code != FALLBACK, code)))


@lru_cache(maxsize=256)  # a data file may name any number of codes
def language(code: str) -> Language:
    """The language of a code; "zh-CN" is "zh". A code without a file is a language that reads digits only.

    Codes come from data files, so only modules of this package are imported.
    """
    base = code.partition("-")[0]
    if base not in _codes():
        return Language(code=code, name=code)
    found: Language = import_module(f"{__name__}.{base}").LANGUAGE
    return found


def languages() -> tuple[Language, ...]:
    """All languages that have a file, in a fixed order: English, then by code."""
    return tuple(language(code) for code in _codes())


def detect_language(text: str) -> str:
    """The code of the first language whose script is in the text; "en" if there is none."""
    for known in languages():
        if known.script is not None and known.script.search(text):
            return known.code
    return FALLBACK

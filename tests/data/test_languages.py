"""A language is one file: what each must hold, and that nothing else has to be changed for a new one."""

import importlib
import math
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import toolkit.data.languages as package
from annotation.interface import REASONS, choices, facts, instructions, reasons
from toolkit.annotators.questions import Question, ShownCandidate
from toolkit.data import find_numbers, mask, tokenize
from toolkit.data.languages import FALLBACK, detect_language, language, languages
from toolkit.data.languages.language import NOTHING, Language, PageLabels
from toolkit.data.schema import check_rows

CODES = [known.code for known in languages()]

RUNIC = """
import re
from fractions import Fraction

from toolkit.data.languages.language import Language, NumberWords, PageLabels

_NUMBERS = {"ᛏᚹᛟ": 2, "ᚦᚱᛁ": 3}


def _value(phrase: str) -> Fraction | None:
    return Fraction(_NUMBERS[phrase])


LANGUAGE = Language(
    code="qaa",
    name="ᚱᚢᚾᚨ",
    script=re.compile("[\\u16a0-\\u16ff]"),
    number_words=NumberWords("|".join(_NUMBERS), _value, scales={"ᚺᚢᚾᛞ": 100}, percent=" ᛈᚱᛟ"),
    contractions="'ᛋ",
    unspaced="ᛉ",
    pi=22 / 7,
    labels=PageLabels("ᚨ", "ᚾ", "ᛗ", "ᛒ", ("ᚲ", "ᚾᛟ", "ᚢ", "ᛈ"), "ᛚ"),
    instructions="<h3>ᚱᚢᚾᚨ</h3>",
)
"""


def forget_languages() -> None:
    package._codes.cache_clear()
    language.cache_clear()
    reasons.cache_clear()
    importlib.invalidate_caches()


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder whose files are a part of the package of languages while the test runs."""
    before = set(sys.modules)
    with monkeypatch.context() as patch:
        patch.setattr(package, "__path__", [*package.__path__, str(tmp_path)])
        forget_languages()
        yield tmp_path
    forget_languages()
    for name in set(sys.modules) - before:
        if Path(getattr(sys.modules[name], "__file__", None) or "/").parent == tmp_path:
            delattr(package, name.rpartition(".")[2])
            del sys.modules[name]


@pytest.fixture
def runic(folder: Path) -> Language:
    (folder / "qaa.py").write_text(RUNIC, encoding="utf-8")
    forget_languages()
    return language("qaa")


def question(text: str, lang: str, answer: float) -> Question:
    numbers = tuple(operand.value for operand in find_numbers(text, lang))
    return Question("p", 1, text, answer, lang, numbers, ())


@pytest.mark.parametrize("known", languages(), ids=lambda known: known.code)
def test_a_language_is_complete(known: Language) -> None:
    assert language(known.code) is known
    assert known.name
    assert known.number_words.phrase != NOTHING
    assert 3 < known.pi < 3.2
    assert all(value for name, value in vars(known.labels).items() if name != "rejections")
    assert known.code == FALLBACK or known.labels.rejections is not None  # the judge speaks English
    assert len(known.labels.reasons) == len(set(known.labels.reasons)) == len(REASONS)
    assert known.instructions.startswith("<h3>")
    assert known.instructions.count("<p>") == known.instructions.count("</p>") >= 5
    assert all(key in known.instructions for key in ("Ctrl+Enter", "<b>1 … 9</b>", "<b>o</b>", "<b>b</b>"))
    assert known.code == FALLBACK or known.labels != PageLabels()
    if known.script is not None:
        assert detect_language(known.name) == known.code


def test_the_order_of_languages_is_fixed_and_english_is_the_first() -> None:
    assert CODES[0] == "en"
    assert CODES[1:] == sorted(CODES[1:])
    assert {"en", "hi", "zh"} <= set(CODES)


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("Ann has 3 pens.", "en"),
        ("Ann के पास 3 कलम हैं।", "hi"),
        ("小明有3本DVD", "zh"),
        ("У Ани 3 ручки", "en"),
        ("3 + 4", "en"),
        ("", "en"),
    ],
)
def test_the_script_says_the_language(text: str, code: str) -> None:
    assert detect_language(text) == code


def test_a_region_is_read_as_its_language() -> None:
    assert language("zh-CN") is language("zh")
    assert [operand.value for operand in find_numbers("三个", "zh-CN")] == [3]
    assert language("zh-CN").pi == 3.14
    assert language("hi").pi == language("fr-CA").pi == math.pi


@pytest.mark.parametrize("code", ["fr", "fr-CA", "xx", "EN", ""])
def test_a_code_without_a_file_reads_digits_and_shows_english(code: str) -> None:
    assert language(code) == Language(code=code, name=code)
    assert mask("Deux 3 two दो 三个", code).tokens == ("deux", "<num_0>", "two", "दो", "三", "个")
    assert facts(question("5", code, 3.0)) == "Answer: 3  ·  Numbers: 5"


def test_a_problem_in_a_language_without_a_file_is_taken() -> None:
    row = {"id": "a", "text": "Zoé a 3 l'étés et 4.", "answer": 7, "equation": "3+4", "lang": "fr"}
    frame, _, bad = check_rows([(1, row)], "x.jsonl")
    assert not bad
    assert frame["lang"].to_list() == ["fr"]


@pytest.mark.parametrize(
    "code", ["os", "language", "cardinals", "__init__", "..schema", "os.path", "en.x", "../en", "en\n"]
)
def test_a_code_from_a_data_file_imports_nothing_else(code: str) -> None:
    before = set(sys.modules)
    assert language(code) == Language(code=code, name=code)
    assert set(sys.modules) == before


def test_only_files_named_by_a_code_are_languages(folder: Path) -> None:
    for name in ("Q1.py", "q_a.py", "QAA.py", "helper.py", "qaa.txt"):
        (folder / name).write_text("raise AssertionError('this is not a language')", encoding="utf-8")
    forget_languages()
    assert [known.code for known in languages()] == CODES


def test_reading_digits_loads_no_language_and_nothing_heavy() -> None:
    code = (
        "import sys\nfrom toolkit.data import find_numbers\nfind_numbers('3 and 4', 'xx')\n"
        "loaded = {f'toolkit.data.languages.{code}' for code in ('en', 'hi', 'zh')}\n"
        "found = (loaded | {'torch', 'ray', 'annotation'}) & set(sys.modules)\n"
        "sys.exit(str(found) if found else 0)"
    )
    root = Path(__file__).parents[2]
    result = subprocess.run(
        [sys.executable, "-c", code], cwd=root, capture_output=True, text=True, check=False
    )
    assert result.returncode == 0, result.stderr


@pytest.mark.parametrize(
    ("lang", "text"),
    [("bn", "কিতাবগুলি"), ("ta", "புத்தகங்கள்"), ("ar", "كِتَابٌ"), ("ru", "Ёлки"), ("en", "किताबें")],
)
def test_vowel_signs_of_any_script_belong_to_their_word(lang: str, text: str) -> None:
    assert tokenize(text, lang) == [text.lower()]


@pytest.mark.parametrize("text", ["счёт-5", "মোট-5", "మొత్తం-5"])
def test_after_a_letter_of_any_alphabet_a_minus_subtracts(text: str) -> None:
    assert [operand.value for operand in find_numbers(text, "xx")] == [5]


@pytest.mark.parametrize("text", ["温度は-5度", "题①-5", "是 -5"])
def test_after_a_character_without_spaces_a_minus_is_a_sign(text: str) -> None:
    assert [operand.value for operand in find_numbers(text, "xx")] == [-5]


def test_a_file_is_all_that_a_language_needs_to_be_found(runic: Language) -> None:
    assert runic in languages()
    assert detect_language("ᛏᚹᛟ ᛒᛟᚲ") == "qaa"
    assert detect_language("two books") == "en"


def test_a_file_is_all_that_a_language_needs_to_be_read(runic: Language) -> None:
    masked = mask("ᛏᚹᛟ ᛒᛟᚲ, 5 ᚺᚢᚾᛞ, ᚦᚱᛁ ᛈᚱᛟ ᛉᛉ ᛒᛟᚲ'ᛋ two", runic.code)
    assert [str(operand.value) for operand in masked.operands] == ["2", "500", "3/100"]
    assert " ".join(masked.tokens) == "<num_0> ᛒᛟᚲ , <num_1> , <num_2> ᛉ ᛉ ᛒᛟᚲ 'ᛋ two"
    frame, _, bad = check_rows([(1, {"id": "a", "text": "ᛏᚹᛟ ᛒᛟᚲ", "answer": 2})], "x.jsonl")
    assert not bad
    assert frame["lang"].to_list() == ["qaa"]


def test_a_file_is_all_that_a_language_needs_to_have_its_pi(runic: Language) -> None:
    assert language(runic.code).pi == 22 / 7
    assert language("zh").pi == 3.14
    assert language("en").pi == language("fr").pi == math.pi


def test_a_file_is_all_that_a_language_needs_to_be_annotated(runic: Language) -> None:
    assert facts(question("5", runic.code, 2.0)) == "ᚨ: 2  ·  ᚾ: 5"
    assert [choice["value"] for choice in choices(runic.code, (ShownCandidate("1 + 1", "1 + 1"),))] == [
        "1 + 1",
        "ᛗ",
        "ᛒ",
    ]
    assert [reason["value"] for reason in reasons(runic.code)] == ["ᚲ", "ᚾᛟ", "ᚢ", "ᛈ"]
    assert instructions([runic.code]).startswith("<h3>ᚱᚢᚾᚨ</h3>")


def test_a_language_without_labels_shows_english_ones(folder: Path) -> None:
    (folder / "qab.py").write_text(
        "from toolkit.data.languages.language import Language\nLANGUAGE = Language('qab', 'Plain')\n",
        encoding="utf-8",
    )
    forget_languages()
    assert language("qab").name == "Plain"
    assert language("qab").labels == language("en").labels
    assert choices("qab", ()) == choices("en", ())
    assert reasons("qab") == reasons("en")
    assert instructions(["qab"]) == language("en").instructions


def test_a_language_of_a_test_is_gone_afterwards() -> None:
    assert [known.code for known in languages()] == CODES
    assert language("qaa") == Language(code="qaa", name="qaa")

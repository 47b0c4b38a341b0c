"""Reading the story file of a language. The head of `en.yaml` explains the format.

A file is checked when it is read: a slot that nothing draws, an unknown function or form, and an equation
with a number that a wording does not mention are errors that name the file and the kind.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Annotated, Any

import yaml
from pydantic import BaseModel, ConfigDict, Field, PlainValidator, ValidationError, model_validator

from toolkit.data.stories import syntax
from toolkit.data.stories.draw import FUNCTIONS, NumberStyle, Word
from toolkit.data.stories.quantities import PI, Number
from toolkit.data.stories.syntax import Names, Unreadable, check
from toolkit.errors import WarmkitError

_SIGNATURE = re.compile(r"([a-z_]+)\(([a-z_, ]*)\)")
_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # the one in C is ten times as fast

Expression = Annotated[ast.expr, PlainValidator(syntax.read_expression)]
Statements = Annotated[tuple[syntax.Statement, ...], PlainValidator(syntax.read_statements)]
Texts = Annotated[tuple[syntax.Text, ...], PlainValidator(syntax.read_texts)]
Paragraphs = Annotated[tuple[syntax.Paragraph, ...], PlainValidator(syntax.read_paragraphs)]


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", arbitrary_types_allowed=True)


class Aside(_Part):
    """Sentences whose numbers no equation uses, with a name, for many kinds."""

    draw: Statements = ()
    say: Paragraphs
    parameters: tuple[str, ...] = ()


class StoryQuestion(_Part):
    """An equation and the texts that ask for it."""

    condition: Expression | None = Field(None, alias="if")
    draw: Statements = ()
    equation: Expression
    wordings: Texts
    asides: Paragraphs | None = None


class Kind(_Part):
    """A narrative: what it draws, and its questions."""

    draw: Statements = ()
    ask: tuple[StoryQuestion, ...] = Field(min_length=1)
    asides: Paragraphs = ()

    @model_validator(mode="before")
    @classmethod
    def _ask_one(cls, kind: Any) -> Any:
        """A kind with one question has the equation and the wordings itself."""
        if not isinstance(kind, dict) or "ask" in kind:
            return kind
        around = {key: kind[key] for key in ("draw", "asides") if key in kind}
        return {**around, "ask": [{key: kind[key] for key in kind if key not in around}]}

    @property
    def steps(self) -> int:
        """How many operators its equations have."""
        return syntax.count_steps(self.ask[0].equation)


class _Words(BaseModel):
    model_config = ConfigDict(extra="allow")  # forms that all words of a group share: `he: she`

    words: str
    gender: str | None = None
    forms: str | None = None


class _File(_Part):
    spaces: bool = True
    pi: str | None = None
    genders: str = ""
    forms: str = "name"
    shown: str | None = None
    numbers: NumberStyle = NumberStyle()
    words: dict[str, str | list[str | _Words]]
    asides: dict[str, Aside] = {}
    shared: dict[str, str] = {}  # blocks of draws that kinds take over by a YAML alias
    kinds: dict[str, Kind] = Field(min_length=1)


@dataclass(frozen=True, slots=True)
class StoryLanguage:
    """All that is needed to tell the stories of a language."""

    lang: str
    style: NumberStyle
    spaces: bool  # between sentences, and around names
    pi: Number
    words: Mapping[str, tuple[Word, ...]]
    asides: Mapping[str, Aside]
    kinds: Mapping[str, Kind]
    names: frozenset[str]  # of people


@cache
def load_language(path: Path) -> StoryLanguage:
    """The language of a story file, whose name is the language's code. A file is read once.

    Raises `WarmkitError` for a file that can't be used.
    """
    try:
        file = _File.model_validate(yaml.load(path.read_text(encoding="utf-8"), Loader=_LOADER))
        return _language(path.stem, file)
    except OSError as error:
        raise WarmkitError(f"{path}: it can't be read: {error.strerror}.") from None
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        mark = getattr(error, "problem_mark", None)
        raise WarmkitError(f"{path}{f', line {mark.line + 1}' if mark else ''}: this is not YAML.") from None
    except ValidationError as error:
        where, why = error.errors()[0]["loc"], error.errors()[0]["msg"].removeprefix("Value error, ")
        raise WarmkitError(f"{path.name}: {'.'.join(map(str, where))}: {why}.") from None
    except Unreadable as error:
        raise WarmkitError(f"{path.name}: {error}.") from None


@contextmanager
def _reading(where: str) -> Iterator[None]:
    try:
        yield
    except Unreadable as error:
        raise Unreadable(f"{where}: {error}") from None


def _language(lang: str, file: _File) -> StoryLanguage:
    words: dict[str, tuple[Word, ...]] = {}
    for name in file.words:
        with _reading(f"words: {name}"):
            words[name] = tuple(_words(name, file, words))
    asides = dict(_named(key, aside) for key, aside in file.asides.items())
    forms = {form for listed in words.values() for word in listed for form in word.forms}
    known = Names(frozenset(), words.keys(), FUNCTIONS | asides.keys(), forms, len(file.genders.split()))
    for name, aside in asides.items():
        with _reading(f"asides: {name}"):
            drawn = known.drawing(aside.parameters)
            _check_paragraphs(aside.say, _check_draw(aside.draw, drawn))
    for name, kind in file.kinds.items():
        with _reading(name):
            _check_kind(kind, known)
    pi = Number(Fraction(file.pi), "π") if file.pi else PI
    people = frozenset(str(person) for person in words.get("people", ()))
    return StoryLanguage(lang, file.numbers, file.spaces, pi, words, asides, file.kinds, people)


def _named(key: str, aside: Aside) -> tuple[str, Aside]:
    signature = _SIGNATURE.fullmatch(key)
    if not signature:
        raise Unreadable(f"asides: {key!r} is not a name with its (parameters)")
    aside.parameters = tuple(name.strip() for name in signature[2].split(",") if name.strip())
    return signature[1], aside


def _words(name: str, file: _File, above: Mapping[str, tuple[Word, ...]]) -> Iterator[Word]:
    """The words of a list, whose groups have words or are lists above it."""
    groups, genders = file.words[name], file.genders.split()
    for group in [_Words(words=groups)] if isinstance(groups, str) else groups:
        if isinstance(group, str):
            if group not in above:
                raise Unreadable(f"there is no list {group} above")
            yield from above[group]
            continue
        if group.gender not in (None, *genders):
            raise Unreadable(f"the gender {group.gender} is not one of {', '.join(genders)}")
        gender = genders.index(group.gender) if group.gender else None
        names = [form.strip() for form in (group.forms or file.forms).split("/")]
        for written in group.words.split(","):
            forms = [form.strip() for form in written.split("/")]
            if len(forms) not in (1, len(names)):
                raise Unreadable(f"{written.strip()!r} must have the forms {' / '.join(names)}")
            forms *= len(names) // len(forms)  # a word that is written once is alike in all forms
            every = dict(zip(names, forms, strict=True)) | (group.model_extra or {})
            yield Word(str(every.get(file.shown or "", forms[0])), every, gender)


def _check_kind(kind: Kind, known: Names) -> None:
    known = _check_draw(kind.draw, known)
    for question in kind.ask:
        _check_question(question, known, kind.asides)
    steps = {syntax.count_steps(question.equation) for question in kind.ask}
    if len(steps) > 1 or not steps <= {1, 2, 3, 4}:
        raise Unreadable("an equation has one to four operators, and all equations of a kind equally many")


def _check_question(question: StoryQuestion, known: Names, asides: Paragraphs) -> None:
    if question.condition is not None:
        check(question.condition, known)
    known = _check_draw(question.draw, known)
    numbers = syntax.check_equation(question.equation, known.variables)
    check(question.equation, known.drawing({"π"}))
    for position, wording in enumerate(question.wordings, start=1):
        check(wording, known)
        if missing := sorted(numbers - syntax.names_in(wording)):
            raise Unreadable(f"the equation uses {missing[0]}, but wording {position} does not mention it")
    _check_paragraphs(asides if question.asides is None else question.asides, known)


def _check_draw(draw: Statements, known: Names) -> Names:
    """The names that are known after these statements."""
    for names, value in draw:
        check(value, known.drawing(known.lists))
        known = known.drawing(names)
    return known


def _check_paragraphs(paragraphs: Paragraphs, known: Names) -> None:
    for paragraph in paragraphs:
        for part in (paragraph,) if isinstance(paragraph, ast.expr) else paragraph:
            check(part, known)

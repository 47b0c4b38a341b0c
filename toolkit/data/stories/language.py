"""Reading the story file of a language, `en.yaml`. The head of that file explains the format.

A file is checked when it is read: a slot that nothing draws, an unknown function or form, and an equation
with a number that a wording does not mention are errors that name the file and the kind.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any, Literal

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from toolkit.data.stories.draw import DRAWS, NumberStyle, Word
from toolkit.data.stories.interpreter import HELPERS, Aside, Kind, Paragraph, Question
from toolkit.data.stories.quantities import PI, Number
from toolkit.data.stories.syntax import (
    Assignment,
    Text,
    Unreadable,
    Vocabulary,
    check,
    check_equation,
    check_text,
    equation_numbers,
    equation_steps,
    read_expression,
    read_statements,
    read_text,
    slots_in,
)
from toolkit.errors import WarmkitError

_CALL = re.compile(r"[a-z_]+(\(.*\))?")
_SIGNATURE = re.compile(r"([a-z_]+)\(([a-z_, ]*)\)")
_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # the one in C is ten times as fast


@dataclass(frozen=True, slots=True)
class Language:
    """All that is needed to tell the stories of a language."""

    lang: str
    style: NumberStyle
    spaces: bool  # between sentences, and around names
    pi: Number
    words: Mapping[str, tuple[Word, ...]]
    asides: Mapping[str, Aside]
    kinds: tuple[Kind, ...]
    names: frozenset[str]  # of people


class _Model(BaseModel):
    model_config = ConfigDict(extra="forbid")


class _Numbers(_Model):
    currencies: tuple[str, ...] = Field(("{}",), min_length=1)
    words: dict[int, str] = {}
    words_share: float = 0.1
    grouping: Literal["none", "thousands", "indian"] = "none"
    digits: str = Field("0123456789", min_length=10, max_length=10)
    own_digits_share: float = 0.0
    notes: tuple[int, ...] = ()


class _Words(BaseModel):
    model_config = ConfigDict(extra="allow")  # other forms that all words of the group share: he: she

    words: str
    gender: str | None = None
    forms: str | None = None
    shown: str | None = None


class _Question(_Model):
    condition: str | None = Field(None, alias="if")
    draw: str | list[str] = ""
    equation: str
    wordings: str
    asides: str | None = None


class _Kind(_Model):
    draw: str | list[str] = ""
    ask: list[_Question] = []
    equation: str = ""
    wordings: str = ""
    asides: str = ""


class _Aside(_Model):
    draw: str | list[str] = ""
    say: str


class _File(_Model):
    spaces: bool = True
    pi: str | None = None
    genders: str = ""
    forms: str = "name"
    shown: str | None = None
    numbers: _Numbers = _Numbers()
    words: dict[str, str | list[str | _Words]]
    asides: dict[str, _Aside] = {}
    shared: dict[str, str] = {}  # blocks of draws that kinds take over by a YAML alias
    kinds: dict[str, _Kind] = Field(min_length=1)


@cache
def load_language(path: Path) -> Language:
    """The language of a story file, whose name is the language's code. A file is read once.

    Raises `WarmkitError` for a file that can't be used.
    """
    try:
        file = _File.model_validate(yaml.load(path.read_text(encoding="utf-8"), Loader=_LOADER))
    except OSError as error:
        raise WarmkitError(f"{path}: it can't be read: {error.strerror}.") from None
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        mark = getattr(error, "problem_mark", None)
        raise WarmkitError(f"{path}{f', line {mark.line + 1}' if mark else ''}: this is not YAML.") from None
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"])
        raise WarmkitError(f"{path.name}: {where}: {first['msg']}.") from None
    return _Reader(path, file).language()


class _Reader:
    """Turns a file into a `Language`, and complaints into sentences that name file and kind."""

    def __init__(self, path: Path, file: _File) -> None:
        self.path = path
        self.file = file
        self.genders = file.genders.split()
        self.words: dict[str, tuple[Word, ...]] = {}
        self.vocabulary = Vocabulary((), frozenset(), frozenset(), len(self.genders))

    def language(self) -> Language:
        for name, group in self.file.words.items():
            with self._reading(f"words: {name}"):
                self.words[name] = tuple(self._words(group))
        attributes = {name for words in self.words.values() for word in words for name in word.attributes}
        signatures = {self._signature(key): aside for key, aside in self.file.asides.items()}
        functions = DRAWS | HELPERS.keys() | {name for name, _ in signatures}
        self.vocabulary = replace(self.vocabulary, functions=functions, attributes=attributes)
        asides: dict[str, Aside] = {}
        for (name, parameters), aside in signatures.items():
            with self._reading(f"asides: {name}"):
                asides[name] = self._aside(parameters, aside)
        kinds: list[Kind] = []
        for name, kind in self.file.kinds.items():
            with self._reading(name):
                kinds.append(self._kind(name, kind))
        pi = Number(Fraction(self.file.pi), "π") if self.file.pi else PI
        style = NumberStyle(**self.file.numbers.model_dump())
        names = frozenset(person.shown for person in self.words.get("people", ()))
        return Language(self.path.stem, style, self.file.spaces, pi, self.words, asides, tuple(kinds), names)

    @contextmanager
    def _reading(self, where: str) -> Iterator[None]:
        try:
            yield
        except Unreadable as error:
            raise WarmkitError(f"{self.path.name}: {where}: {error}.") from None

    # Words

    def _words(self, groups: str | Sequence[str | _Words]) -> Iterator[Word]:
        if isinstance(groups, str):
            groups = [_Words(words=groups)]
        for group in groups:
            if isinstance(group, str):  # another list
                if group not in self.words:
                    raise Unreadable(f"there is no list {group} above")
                yield from self.words[group]
            else:
                yield from self._group(group)

    def _group(self, group: _Words) -> Iterator[Word]:
        names = [name.strip() for name in (group.forms or self.file.forms).split("/")]
        shown = group.shown or (self.file.shown if group.forms is None else None) or names[0]
        if group.gender is not None and group.gender not in self.genders:
            raise Unreadable(f"the gender {group.gender} is not one of {', '.join(self.genders)}")
        gender = None if group.gender is None else self.genders.index(group.gender)
        for written in group.words.split(","):
            forms = [form.strip() for form in written.split("/")]
            if len(forms) == 1:
                forms *= len(names)  # alike in all forms
            if len(forms) != len(names):
                raise Unreadable(f"{written.strip()!r} must have the forms {' / '.join(names)}")
            attributes = dict(zip(names, forms, strict=True)) | (group.model_extra or {})
            yield Word(str(attributes[shown]), attributes, gender)

    # Kinds and asides

    def _signature(self, key: str) -> tuple[str, tuple[str, ...]]:
        found = _SIGNATURE.fullmatch(key)
        if not found:
            raise WarmkitError(f"{self.path.name}: asides: {key!r} is not a name with its (parameters).")
        return found[1], tuple(name.strip() for name in found[2].split(",") if name.strip())

    def _aside(self, parameters: tuple[str, ...], aside: _Aside) -> Aside:
        drawn, draw = self._draw(aside.draw, set(parameters))
        return Aside(parameters, draw, self._paragraphs(aside.say, drawn))

    def _kind(self, name: str, kind: _Kind) -> Kind:
        drawn, draw = self._draw(kind.draw, set())
        if bool(kind.ask) == bool(kind.equation and kind.wordings):
            raise Unreadable("it needs an equation and wordings, or a list of questions under `ask`")
        asked = kind.ask or [_Question(equation=kind.equation, wordings=kind.wordings)]
        questions = tuple(self._question(question, drawn, kind.asides) for question in asked)
        steps = {equation_steps(question.equation) for question in questions}
        if len(steps) > 1:
            raise Unreadable("its equations must have equally many operators")
        if not steps <= {1, 2, 3, 4}:
            raise Unreadable("an equation has one to four operators")
        return Kind(name, steps.pop(), draw, questions)

    def _question(self, question: _Question, drawn: set[str], asides: str) -> Question:
        condition = None
        if question.condition is not None:
            condition = self._expression(question.condition, drawn)
        drawn, draw = self._draw(question.draw, drawn)
        equation = read_expression(question.equation)
        check_equation(equation, drawn)
        texts = [self._text(line, drawn) for line in _lines(question.wordings)]
        for line, text in zip(_lines(question.wordings), texts, strict=True):
            if missing := sorted(equation_numbers(equation) - slots_in(text)):
                raise Unreadable(f"the equation uses {', '.join(missing)}, but not the wording {line!r}")
        paragraphs = self._paragraphs(asides if question.asides is None else question.asides, drawn)
        return Question(condition, draw, equation, tuple(texts), paragraphs)

    def _draw(self, source: str | list[str], drawn: set[str]) -> tuple[set[str], tuple[Assignment, ...]]:
        """The statements, and all the names that are drawn after them."""
        drawn = set(drawn)
        statements = tuple(read_statements(source if isinstance(source, str) else "\n".join(source)))
        for statement in statements:
            check(statement.value, self._knowing(drawn | self.words.keys()))
            drawn.update(statement.names)
        return drawn, statements

    def _expression(self, source: str, drawn: set[str]) -> ast.expr:
        node = read_expression(source)
        check(node, self._knowing(drawn))
        return node

    def _text(self, source: str, drawn: set[str]) -> Text:
        text = read_text(source)
        check_text(text, self._knowing(drawn))
        return text

    def _paragraphs(self, source: str, drawn: set[str]) -> tuple[Paragraph, ...]:
        """Between blank lines either sentences to choose from, or a call of an aside with a name."""
        found: list[Paragraph] = []
        for paragraph in re.split(r"\n\s*\n", source.strip()):
            lines = _lines(paragraph)
            if len(lines) == 1 and _CALL.fullmatch(lines[0]):
                found.append(self._expression(lines[0], drawn))
            elif lines:
                found.append(tuple(self._text(line, drawn) for line in lines))
        return tuple(found)

    def _knowing(self, names: set[str]) -> Vocabulary:
        return replace(self.vocabulary, variables=names)


def _lines(source: str) -> list[str]:
    return [line.strip() for line in source.splitlines() if line.strip()]

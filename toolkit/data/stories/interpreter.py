"""Computing with what a story file says: drawing, filling in texts, and making equations."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import Any

from toolkit.data.stories.draw import DRAWS, HELPERS, Draw, Word, worth
from toolkit.data.stories.quantities import ONE, Number, Operation, Quantity
from toolkit.data.stories.story_file import StoryLanguage
from toolkit.data.stories.syntax import Agreement, Paragraph, Statement, Text, read_text

_ARITHMETIC: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: lambda left, right: Fraction(left) / right,
    ast.Mod: operator.mod,
}
_COMPARISONS: dict[type[ast.cmpop], Callable[[Any, Any], bool]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
}
_SIGNS: dict[type[ast.operator], str] = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/"}


class Scope:
    """The variables of a story while it is told."""

    def __init__(self, draw: Draw, language: StoryLanguage, variables: Mapping[str, Any]) -> None:
        self.draw = draw
        self.language = language
        self.variables = dict(variables)

    def run(self, statements: Sequence[Statement]) -> None:
        """Draw one after the other; raises `Redraw` where a condition does not hold."""
        for names, expression in statements:
            value = self.evaluate(expression)
            if len(names) == 1:
                self.variables[names[0]] = value
            elif names:
                self.variables.update(zip(names, value, strict=True))

    def evaluate(self, node: ast.expr) -> Any:
        """The value of an expression that `syntax.check` has admitted."""
        match node:
            case ast.Constant(value=value):
                return self.render(read_text(value)) if isinstance(value, str) and "{" in value else value
            case ast.Name(id=name):
                return self.variables[name] if name in self.variables else self.language.words[name]
            case ast.Attribute(value=value, attr=attribute):
                return self.evaluate(value).forms[attribute]
            case ast.BinOp(left=left, op=op, right=right):
                return _ARITHMETIC[type(op)](worth(self.evaluate(left)), worth(self.evaluate(right)))
            case ast.Compare(left=left, ops=ops, comparators=others):
                values = [worth(self.evaluate(each)) for each in (left, *others)]
                return all(_COMPARISONS[type(op)](*values[i : i + 2]) for i, op in enumerate(ops))
            case ast.BoolOp(op=op, values=parts):
                every = all if isinstance(op, ast.And) else any
                return every(self.evaluate(part) for part in parts)
            case ast.UnaryOp(operand=operand):
                return not self.evaluate(operand)
            case ast.IfExp(test=test, body=body, orelse=orelse):
                return self.evaluate(body if self.evaluate(test) else orelse)
            case ast.Tuple(elts=parts):
                return tuple(self.evaluate(part) for part in parts)
            case ast.Call(func=ast.Name(id=name), args=args, keywords=keywords):
                values = [self.evaluate(arg) for arg in args]
                options = {str(keyword.arg): self.evaluate(keyword.value) for keyword in keywords}
                return self._call(name, values, options)
        raise TypeError(f"{ast.unparse(node)} was not checked")

    def _call(self, name: str, values: list[Any], options: dict[str, Any]) -> Any:
        if name in DRAWS:
            return getattr(self.draw, name)(*values, **options)
        if name in HELPERS:
            return HELPERS[name](*values, **options)
        aside = self.language.asides[name]
        values += [()] * (len(aside.parameters) - len(values))  # what is left out is empty
        inner = Scope(self.draw, self.language, dict(zip(aside.parameters, values, strict=True)))
        inner.run(aside.draw)
        return inner.asides(aside.say)

    def quantity(self, node: ast.expr) -> Quantity:
        """The equation over the numbers that were drawn."""
        match node:
            case ast.BinOp(left=left, op=op, right=right):
                return Operation(_SIGNS[type(op)], self.quantity(left), self.quantity(right))
            case ast.IfExp(test=test, body=body, orelse=orelse):
                return self.quantity(body if self.evaluate(test) else orelse)
            case ast.Constant():
                return ONE
            case ast.Name(id="π"):
                return self.language.pi
        number = self.evaluate(node)
        if not isinstance(number, Number):
            raise TypeError(f"{ast.unparse(node)} is not said: write say({ast.unparse(node)})")
        return number

    def render(self, text: Text) -> str:
        """The text with its slots filled; a number is its mark until the story is complete."""
        return "".join(part if isinstance(part, str) else self._slot(part) for part in text)

    def _slot(self, part: ast.expr | Agreement) -> str:
        if isinstance(part, Agreement):
            word = self.variables[part.name]
            if not isinstance(word, Word) or word.gender is None:
                raise TypeError(f"{part.name} has no gender to agree with")
            return part.forms[word.gender]
        value = self.evaluate(part)
        if isinstance(value, Word):
            return value.shown
        if not isinstance(value, Number | str):
            raise TypeError(f"{ast.unparse(part)} is not said: write say({ast.unparse(part)})")
        return str(value)

    def asides(self, paragraphs: Sequence[Paragraph]) -> list[str]:
        """One sentence of each paragraph. The numbers of all sentences are drawn, said or not."""
        found: list[str] = []
        for paragraph in paragraphs:
            if isinstance(paragraph, ast.expr):
                found += self.evaluate(paragraph)
            else:
                options = [self.render(text) for text in paragraph]
                found.append(self.draw.one_of(*options) if len(options) > 1 else options[0])
        return found

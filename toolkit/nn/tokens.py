"""The tokens that the network of a solver writes."""

from collections.abc import Sequence
from dataclasses import dataclass

from toolkit.equations import Constant, Expr, from_prefix, show, to_prefix
from toolkit.equations.tree import OPERATORS, Operator


@dataclass(frozen=True)
class Tokens:
    """The tokens of a prefix as integers: operators, constants, N0, N1, …"""

    constants: tuple[Constant, ...]
    operators: tuple[Operator, ...] = OPERATORS

    @property
    def first_number(self) -> int:
        return len(self.operators) + len(self.constants)

    def encode(self, template: Expr) -> list[int] | None:
        """None if the template has a constant that is not in V_const, or another operator."""
        known = [*self.operators, *(show(constant) for constant in self.constants)]
        encoded = []
        for token in to_prefix(template):
            if token in known:
                encoded.append(known.index(token))
            elif token.startswith("N"):
                encoded.append(self.first_number + int(token[1:]))
            else:
                return None
        return encoded

    def decode(self, tokens: Sequence[int]) -> Expr:
        known = [*self.operators, *(show(constant) for constant in self.constants)]
        return from_prefix([known[t] if t < len(known) else f"N{t - len(known)}" for t in tokens])

"""Which pieces are measured, in which order: without errors and with small batches first, seed by seed."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import product

from toolkit.labels.pieces import RANDOM, Curve, Files, Piece, Protocol
from toolkit.labels.sets import LoadedSet

WARM = "warm"


@dataclass(frozen=True)
class Plan:
    sets: Mapping[str, LoadedSet]
    protocol: Protocol
    strategies: Sequence[str] = ("margin",)  # beside random
    batches: Sequence[int] = (10, 40)
    errors: Sequence[float] = (0.0,)
    seeds: int = 10
    successor: str | None = None  # with it: the labels of either method for itself and for the other

    @cached_property
    def order(self) -> list[Piece]:
        """All pieces. What a piece needs stands before it."""
        pieces = [
            Piece(name, WARM, strategy, batch, seed, error)
            for error, batch, seed, name, strategy in product(
                self.errors, self.batches, range(self.seeds), self.sets, self.compared
            )
        ]
        return list(dict.fromkeys(map(self.digested, (*pieces, *self._transfers()))))

    @property
    def compared(self) -> list[str]:
        return list(dict.fromkeys((RANDOM, *self.strategies)))

    @property
    def methods(self) -> list[str]:
        """The methods whose labels are transferred."""
        return [] if self.successor is None else [WARM, self.successor]

    def _transfers(self) -> list[Piece]:
        """For each method as chooser its curves, then what either method learns from their labels."""
        pieces = []
        for seed, name, method in product(range(self.seeds), self.sets, self.methods):
            curves = [Piece(name, method, strategy, self.batches[0], seed, 0.0) for strategy in self.compared]
            pieces += curves
            pieces += [replace(curve, successor=other) for curve in curves for other in self.methods]
        return pieces

    def needs(self, piece: Piece) -> Piece | None:
        """The curve whose labels are learnt, or that of random, which tells the goals."""
        if piece.successor is not None:
            return self.digested(replace(piece, successor=None, digest=""))
        return None if piece.is_random else self.digested(piece.of_random)

    @cached_property
    def _cache(self) -> dict[Piece, Piece]:
        return {}

    def digested(self, piece: Piece) -> Piece:
        if piece not in self._cache:
            self._cache[piece] = Piece.of(piece, self.sets[piece.set], self.protocol)
        return self._cache[piece]


def results_of(plan: Plan, files: Files) -> dict[str, Curve]:
    """The results that are there, by the names of their pieces."""
    found = {piece.name: files.read(piece) for piece in plan.order}
    return {name: curve for name, curve in found.items() if curve is not None}

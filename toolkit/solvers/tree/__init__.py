"""GTS and Graph2Tree: solvers whose decoder writes a tree, as networks that vote."""

import math
from collections.abc import Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, Self

import numpy as np
from pydantic import Field

from toolkit.config import Section
from toolkit.data import ProblemSet, Vocabulary
from toolkit.data.languages import language
from toolkit.data.vocabulary import UNKNOWN_AT, described_vocabulary
from toolkit.equations import Constant, EquationError, Expr, as_float, evaluate, klasses
from toolkit.equations.evaluate import Number
from toolkit.solvers.base import (
    OnProgress,
    Solution,
    Solver,
    SolverDescription,
    SolverInput,
    TrainElsewhere,
)
from toolkit.solvers.plausibility import Plausibility
from toolkit.solvers.ranking import FEATURES, Ranker, Reading
from toolkit.solvers.tree.config import SolverConfig
from toolkit.solvers.tree.folder import forget_training

if TYPE_CHECKING:
    import torch

    from toolkit.nn.tree.beam import Beam
    from toolkit.nn.tree.gts import GtsNetwork
    from toolkit.nn.workers import WorkerGroup

BATCH = 64


class TreeDescription(SolverDescription):
    vocabulary: list[str]
    answers: dict[str, Annotated[float, Field(ge=0)]]
    ranking: dict[Literal[FEATURES], Annotated[float, Field(allow_inf_nan=False)]]  # type: ignore[valid-type]


class Gts(Solver):
    """GTS (Xie and Sun 2019): trained networks, which vote, with what they need to read a text."""

    name = "gts"
    section = "solver"
    Config = SolverConfig
    Description = TreeDescription
    distributed = True
    config: SolverConfig

    def __init__(
        self,
        networks: "Sequence[GtsNetwork]",
        vocabulary: Vocabulary,
        ranker: Ranker,
        config: Section,
        constants: tuple[Constant, ...],
    ) -> None:
        super().__init__(config, constants)
        self.networks, self.vocabulary, self.ranker = list(networks), vocabulary, ranker

    @classmethod
    def network(cls) -> "type[GtsNetwork]":
        from toolkit.nn.tree.gts import GtsNetwork

        return GtsNetwork

    @classmethod
    def fit(
        cls,
        data: SolverInput,
        *,
        device: "torch.device | None" = None,
        folder: Path | None = None,
        resume: bool = False,
        on_progress: OnProgress = lambda progress: None,
        workers: "WorkerGroup | None" = None,
        elsewhere: TrainElsewhere | None = None,
    ) -> Self:
        from toolkit.solvers.tree.train import train

        return train(cls, data, device, folder, resume, on_progress, workers, elsewhere)

    @classmethod
    def warm_started(cls, config: Section) -> Section:
        assert isinstance(config, SolverConfig)
        return config.model_copy(update={"epochs": config.later_epochs})

    @classmethod
    def as_long(cls, config: Section, fits: int, problems: int) -> Section:
        assert isinstance(config, SolverConfig)
        epochs = config.sized(problems).epochs + (fits - 1) * config.later_epochs
        return config if fits == 1 else config.model_copy(update={"epochs": epochs})

    def solve(self, problems: ProblemSet, top: int = 1) -> list[list[Solution]]:
        problems = problems.with_constants(self.constants)
        found = self.readings(problems, max(top, self.config.beam))
        return [
            self._ranked(readings, numbers)[:top]
            for readings, numbers in zip(found, problems.numbers, strict=True)
        ]

    def readings(self, problems: ProblemSet, width: int) -> list[list[Reading]]:
        """The classes that beams of this width find for each problem, with the constants of the solver."""
        import torch

        from toolkit.nn.batches import to_tensors
        from toolkit.nn.tree.beam import beam_search

        if not len(problems):
            return []
        beams: list[list[list[Beam]]] = [[] for _ in problems.ids]  # of each network
        for batch in to_tensors(problems, self.vocabulary).in_order_of_size(BATCH):
            for network in self.networks:
                device = next(network.parameters()).device
                with torch.no_grad():
                    source = network.source(batch.to(device))
                    found = beam_search(network.decoder, source, width, self.config.max_tokens)
                for row, new in zip(batch.rows.tolist(), found, strict=True):
                    beams[row].append(new)
        prefixes = list({beam.prefix for of_networks in beams for found in of_networks for beam in found})
        templates = [self.networks[0].tokens.decode(prefix) for prefix in prefixes]
        classes = dict(zip(prefixes, zip(klasses(templates), templates, strict=True), strict=True))
        return [
            _merged(of_networks, classes, numbers, lang)
            for of_networks, numbers, lang in zip(beams, problems.numbers, problems.langs, strict=True)
        ]

    def _ranked(self, readings: Sequence[Reading], numbers: Sequence[Fraction]) -> list[Solution]:
        """The best first; their probabilities add up to the share of all equations that was found."""
        if not readings:
            return []
        found = sum(sum(reading.masses) for reading in readings) / len(self.networks)
        scores = self.ranker.scores(readings, numbers)
        shares = np.exp(scores - scores.max())
        solutions = [
            Solution(
                reading.template,
                None if reading.value is None else as_float(reading.value),
                found * float(share),
            )
            for reading, share in zip(readings, shares / shares.sum(), strict=True)
        ]
        return sorted(solutions, key=lambda solution: -solution.probability)

    def unknown_shares(self, problems: ProblemSet) -> list[float]:
        return [
            self.vocabulary.encode(masked.tokens).count(UNKNOWN_AT) / max(len(masked.tokens), 1)
            for masked in map(self.vocabulary.read, problems.masked)
        ]

    def save(self, folder: Path) -> None:
        from torch import nn

        from toolkit.nn.weights import save_weights

        save_weights(folder / "weights.safetensors", nn.ModuleList(self.networks).state_dict())
        self.describe(
            folder,
            answers=self.ranker.plausibility.counts,
            ranking=self.ranker.weights,
            vocabulary=self.vocabulary.words,
        )
        forget_training(folder)

    @classmethod
    def load(cls, folder: Path, device: "torch.device | None" = None) -> Self:
        from torch import nn

        from toolkit.nn.weights import load_network
        from toolkit.solvers.tree.member import new_networks

        written, config, constants = cls.described(folder)
        assert isinstance(config, SolverConfig)
        sized = config.sized(problems=0)  # a solver that was saved has its size
        vocabulary = described_vocabulary(folder / "solver.json", "solver", written["vocabulary"])
        networks: list[GtsNetwork] = []

        def build() -> nn.ModuleList:
            networks[:] = new_networks(cls.network(), len(vocabulary), constants, sized, seed=0)
            return nn.ModuleList(networks)

        load_network(folder / "weights.safetensors", build).to(device or "cpu").eval()
        ranker = Ranker(Plausibility(written["answers"]), written["ranking"])
        return cls(networks, vocabulary, ranker, sized, constants)


class Graph2Tree(Gts):
    """Graph2Tree (Zhang et al. 2020): GTS whose words are linked to the numbers by two graphs."""

    name = "graph2tree"

    @classmethod
    def network(cls) -> "type[GtsNetwork]":
        from toolkit.solvers.tree.graph2tree import Graph2TreeNetwork

        return Graph2TreeNetwork


def _merged(
    beams: "Sequence[Sequence[Beam]]",
    classes: Mapping[tuple[int, ...], tuple[int, Expr]],
    numbers: Sequence[Fraction],
    lang: str,
) -> list[Reading]:
    """Beams of one class, of whichever network, are one reading; it shows the first of them."""
    first: dict[int, Expr] = {}
    masses: dict[int, list[float]] = {}
    for network, found in enumerate(beams):
        for beam in found:
            klass, template = classes[beam.prefix]
            first.setdefault(klass, template)
            masses.setdefault(klass, [0.0] * len(beams))[network] += math.exp(beam.log_prob)
    return [
        Reading(template, _value(template, numbers, lang), tuple(masses[klass]))
        for klass, template in first.items()
    ]


def _value(template: Expr, numbers: Sequence[Fraction], lang: str) -> Number | None:
    try:
        return evaluate(template, numbers, language(lang).pi)
    except EquationError:
        return None

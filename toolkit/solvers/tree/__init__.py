"""GTS and Graph2Tree: solvers whose decoder writes a tree, as networks that vote."""

import math
from collections.abc import Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Self

from pydantic import Field

from toolkit.config import Section
from toolkit.data import ProblemSet, Vocabulary
from toolkit.data.languages import language
from toolkit.data.vocabulary import UNKNOWN_AT, described_vocabulary
from toolkit.equations import Constant, EquationError, Expr, evaluate, klasses
from toolkit.solvers.base import (
    OnProgress,
    Solution,
    Solver,
    SolverDescription,
    SolverInput,
    TrainElsewhere,
)
from toolkit.solvers.plausibility import Plausibility
from toolkit.solvers.tree.config import SolverConfig
from toolkit.solvers.tree.folder import forget_training

if TYPE_CHECKING:
    import torch

    from toolkit.nn.workers import WorkerGroup
    from toolkit.solvers.tree.beam import Beam
    from toolkit.solvers.tree.gts import GtsNetwork

BATCH = 64


class TreeDescription(SolverDescription):
    vocabulary: list[str]
    answers: dict[str, Annotated[float, Field(ge=0)]]


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
        plausibility: Plausibility,
        config: Section,
        constants: tuple[Constant, ...],
    ) -> None:
        super().__init__(config, constants)
        self.networks, self.vocabulary, self.plausibility = list(networks), vocabulary, plausibility

    @classmethod
    def network(cls) -> "type[GtsNetwork]":
        from toolkit.solvers.tree.gts import GtsNetwork

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
    def as_long(cls, config: Section, fits: int) -> Section:
        assert isinstance(config, SolverConfig)
        return config.model_copy(update={"epochs": config.epochs + (fits - 1) * config.later_epochs})

    def solve(self, problems: ProblemSet, top: int = 1) -> list[list[Solution]]:
        import torch

        from toolkit.nn.batches import to_tensors
        from toolkit.solvers.tree.beam import beam_search

        if not len(problems):
            return []
        problems = problems.with_constants(self.constants)
        beams: list[list[Beam]] = [[] for _ in problems.ids]
        width = max(top, self.config.beam)
        for batch in to_tensors(problems, self.vocabulary).in_order_of_size(BATCH):
            for network in self.networks:
                device = next(network.parameters()).device
                with torch.no_grad():
                    source = network.source(batch.to(device))
                    found = beam_search(network.decoder, source, width, self.config.max_tokens)
                for row, new in zip(batch.rows.tolist(), found, strict=True):
                    beams[row] += new
        prefixes = list({beam.prefix for found in beams for beam in found})
        templates = [self.networks[0].tokens.decode(prefix) for prefix in prefixes]
        classes = dict(zip(prefixes, zip(klasses(templates), templates, strict=True), strict=True))
        return [
            self._ranked(found, classes, numbers, lang)[:top]
            for found, numbers, lang in zip(beams, problems.numbers, problems.langs, strict=True)
        ]

    def _ranked(
        self,
        beams: "Sequence[Beam]",
        classes: Mapping[tuple[int, ...], tuple[int, Expr]],
        numbers: Sequence[Fraction],
        lang: str,
    ) -> list[Solution]:
        """Beams of one class are one solution; probable ones with plausible values first."""
        merged: dict[int, tuple[Expr, float | None, float]] = {}
        for beam in beams:
            klass, template = classes[beam.prefix]
            if klass not in merged:
                merged[klass] = template, _value(template, numbers, lang), 0.0
            first, value, mass = merged[klass]
            merged[klass] = first, value, mass + math.exp(beam.log_prob) / len(self.networks)
        found = sum(mass for _, _, mass in merged.values())
        scores = [
            mass * math.exp(self.plausibility.log_prior(value, numbers) if self.config.plausible else 0.0)
            for _, value, mass in merged.values()
        ]
        total = sum(scores) or 1.0
        solutions = [
            Solution(template, value, found * score / total)
            for (template, value, _), score in zip(merged.values(), scores, strict=True)
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
        self.describe(folder, answers=self.plausibility.counts, vocabulary=self.vocabulary.words)
        forget_training(folder)

    @classmethod
    def load(cls, folder: Path, device: "torch.device | None" = None) -> Self:
        from torch import nn

        from toolkit.nn.weights import load_network
        from toolkit.solvers.tree.member import new_networks

        written, config, constants = cls.described(folder)
        assert isinstance(config, SolverConfig)
        vocabulary = described_vocabulary(folder / "solver.json", "solver", written["vocabulary"])
        networks: list[GtsNetwork] = []

        def build() -> nn.ModuleList:
            networks[:] = new_networks(cls.network(), len(vocabulary), constants, config, seed=0)
            return nn.ModuleList(networks)

        load_network(folder / "weights.safetensors", build).to(device or "cpu").eval()
        return cls(networks, vocabulary, Plausibility(written["answers"]), config, constants)


class Graph2Tree(Gts):
    """Graph2Tree (Zhang et al. 2020): GTS whose words are linked to the numbers by two graphs."""

    name = "graph2tree"

    @classmethod
    def network(cls) -> "type[GtsNetwork]":
        from toolkit.solvers.tree.graph2tree import Graph2TreeNetwork

        return Graph2TreeNetwork


def _value(template: Expr, numbers: Sequence[Fraction], lang: str) -> float | None:
    try:
        return float(evaluate(template, numbers, language(lang).pi))
    except EquationError:
        return None

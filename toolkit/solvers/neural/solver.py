"""A solver of networks that vote. What tells one such solver from another are its networks."""

import math
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, Self

import numpy as np
from pydantic import Field

from toolkit.config import Section
from toolkit.data import ProblemSet, Vocabulary
from toolkit.data.languages import language
from toolkit.data.vocabulary import UNKNOWN_AT, described_vocabulary
from toolkit.equations import (
    Constant,
    EquationError,
    Expr,
    as_float,
    evaluate,
    klasses,
    parse_template,
    show,
)
from toolkit.equations.evaluate import Number
from toolkit.solvers.base import (
    OnProgress,
    PreparedLessons,
    Solution,
    Solver,
    SolverDescription,
    SolverInput,
    TrainElsewhere,
)
from toolkit.solvers.coherence import Coherence
from toolkit.solvers.neural.config import SizedConfig, SolverConfig
from toolkit.solvers.neural.folder import forget_training
from toolkit.solvers.neural.retrieval import Learnt, Retrieval
from toolkit.solvers.plausibility import Plausibility
from toolkit.solvers.ranking import FEATURES, Ranker, Reading
from toolkit.storage.description import damaged

if TYPE_CHECKING:
    import torch

    from toolkit.nn.network import Beam, EquationNetwork
    from toolkit.nn.workers import WorkerGroup

BATCH = 64


class NeuralDescription(SolverDescription):
    vocabulary: list[str]
    answers: dict[str, Annotated[float, Field(ge=0)]]
    steps: dict[str, Annotated[float, Field(allow_inf_nan=False)]]  # `Coherence.ratios`
    ranking: dict[Literal[FEATURES], Annotated[float, Field(allow_inf_nan=False)]]  # type: ignore[valid-type]
    learnt: list[tuple[str, str]] = Field(max_length=100_000_000)  # words and template, for retrieval


class NeuralSolver(Solver):
    """Trained networks, which vote, with what they need to read a text.

    A subclass has a name and its networks, and perhaps `defaults` of keys that are null.
    """

    section = "solver"
    Config = SolverConfig
    Description = NeuralDescription
    distributed = True
    learns_in_parts = True
    defaults: ClassVar[Mapping[str, object]] = {}
    config: SolverConfig

    def __init__(
        self,
        networks: "Sequence[EquationNetwork]",
        vocabulary: Vocabulary,
        ranker: Ranker,
        config: Section,
        constants: tuple[Constant, ...],
        learnt: Sequence[Learnt] = (),
    ) -> None:
        super().__init__(config, constants)
        self.networks, self.vocabulary, self.ranker = list(networks), vocabulary, ranker
        self.learnt = list(learnt)
        self.retrieve = Retrieval(learnt, self.config.retrieval or 0.0) if learnt else None

    @classmethod
    @abstractmethod
    def network(cls, member: int) -> "type[EquationNetwork]":
        """The class of a network, by its place among those that vote."""

    def votes(self, masses: tuple[float, ...]) -> tuple[float, ...]:
        """What counts of the probabilities that the networks give a class; by default all, equally."""
        return masses

    @classmethod
    def sized(cls, config: Section, problems: int) -> SizedConfig:
        """The configuration for so many problems: nothing is null."""
        assert isinstance(config, SolverConfig)
        return config.sized(problems, cls.defaults)

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
        from toolkit.solvers.neural.train import train

        return train(
            cls,
            data,
            device=device,
            folder=folder,
            resume=resume,
            on_progress=on_progress,
            workers=workers,
            elsewhere=elsewhere,
        )

    @classmethod
    def fit_prepared(cls, data: PreparedLessons, **options: Any) -> Self:
        from toolkit.solvers.neural.train import train

        return train(cls, data, **options)

    @classmethod
    def warm_started(cls, config: Section) -> Section:
        assert isinstance(config, SolverConfig)
        return config.model_copy(update={"epochs": config.later_epochs})

    def solve(self, problems: ProblemSet, top: int = 1) -> list[list[Solution]]:
        problems = problems.with_constants(self.constants)
        found = self.readings(problems, max(top, self.config.beam))
        return [
            self._ranked(readings, numbers)[:top]
            for readings, numbers in zip(found, problems.numbers, strict=True)
        ]

    def readings(self, problems: ProblemSet, width: int) -> list[list[Reading]]:
        """The classes that beams of this width find for each problem, with the constants of the solver."""
        beams = self._retrieved(problems)
        left = [row for row, found in enumerate(beams) if not found]
        self._write(problems.take(left), width, [beams[row] for row in left])
        prefixes = list({beam.prefix for of_networks in beams for found in of_networks for beam in found})
        templates = [self.networks[0].tokens.decode(prefix) for prefix in prefixes]
        classes = dict(zip(prefixes, zip(klasses(templates), templates, strict=True), strict=True))
        return [
            self._merged(of_networks, classes, numbers, lang)
            for of_networks, numbers, lang in zip(beams, problems.numbers, problems.langs, strict=True)
        ]

    def _retrieved(self, problems: ProblemSet) -> "list[list[list[Beam]]]":
        """Beams of each problem and network: what was learnt of one that is very much alike, or nothing."""
        from toolkit.nn.network import Beam

        beams: list[list[list[Beam]]] = [[] for _ in problems.ids]
        if self.retrieve is None:
            return beams
        for row, masked in enumerate(problems.masked):
            template = self.retrieve(masked)
            prefix = None if template is None else self.networks[0].tokens.encode(template)
            if prefix is not None:
                beams[row] = [[Beam(tuple(prefix), 0.0)] for _ in self.networks]
        return beams

    def _write(self, problems: ProblemSet, width: int, beams: "list[list[list[Beam]]]") -> None:
        """Add what each network writes to the beams of these problems."""
        from toolkit.nn.batches import to_tensors

        if not len(problems):
            return
        for batch in to_tensors(problems, self.vocabulary).in_order_of_size(BATCH):
            for network in self.networks:
                device = next(network.parameters()).device
                found = network.beams(batch.to(device), width, self.config.max_tokens)
                for row, new in zip(batch.rows.tolist(), found, strict=True):
                    beams[row].append(new)

    def _merged(
        self,
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
            Reading(template, _value(template, numbers, lang), self.votes(tuple(masses[klass])))
            for klass, template in first.items()
        ]

    def _ranked(self, readings: Sequence[Reading], numbers: Sequence[Fraction]) -> list[Solution]:
        """The best first; their probabilities add up to the share of all equations that was found."""
        if not readings:
            return []
        found = min(1.0, sum(sum(reading.masses) / len(reading.masses) for reading in readings))
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
            learnt=[(" ".join(one.words), show(one.template)) for one in self.learnt],
            ranking=self.ranker.weights,
            steps=self.ranker.coherence.ratios,
            vocabulary=self.vocabulary.words,
        )
        forget_training(folder)

    @classmethod
    def load(cls, folder: Path, device: "torch.device | None" = None) -> Self:
        from torch import nn

        from toolkit.nn.weights import load_network
        from toolkit.solvers.neural.member import new_networks

        written, config, constants = cls.described(folder)
        sized = cls.sized(config, problems=0)  # a solver that was saved has its size
        vocabulary = described_vocabulary(folder / "solver.json", "solver", written["vocabulary"])
        networks: list[EquationNetwork] = []

        def build() -> nn.ModuleList:
            networks[:] = new_networks(cls, len(vocabulary), constants, sized, seed=0)
            return nn.ModuleList(networks)

        load_network(folder / "weights.safetensors", build).to(device or "cpu").eval()
        ranker = Ranker(Plausibility(written["answers"]), Coherence(written["steps"]), written["ranking"])
        return cls(networks, vocabulary, ranker, sized, constants, _learnt(written["learnt"], folder))


def _learnt(written: Sequence[tuple[str, str]], folder: Path) -> list[Learnt]:
    try:
        return [Learnt(tuple(words.split(" ")), parse_template(text)) for words, text in written]
    except EquationError as error:
        raise damaged(folder / "solver.json", "solver", f"learnt: {error}") from None


def _value(template: Expr, numbers: Sequence[Fraction], lang: str) -> Number | None:
    try:
        return evaluate(template, numbers, language(lang).pi)
    except EquationError:
        return None

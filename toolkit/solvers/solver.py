"""Solvers behind one interface: fit on problems and equations, then solve from the text alone."""

import json
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import polars as pl
import torch
from torch import nn

from toolkit.data import Vocabulary, mask, numbers_of, vocabulary_of
from toolkit.data.vocabulary import PAD_AT, UNKNOWN_AT
from toolkit.data.write import replacing
from toolkit.equations import (
    DEFAULT_CONSTANTS,
    Constant,
    EquationError,
    Expr,
    evaluate,
    klasses,
    parse_constant,
    show,
)
from toolkit.errors import WarmkitError
from toolkit.solvers.beam import Beam, beam_search
from toolkit.solvers.config import SolverConfig
from toolkit.solvers.examples import Examples, Tokens, make_examples
from toolkit.solvers.graph2tree import Graph2Tree
from toolkit.solvers.gts import Gts
from toolkit.solvers.plausible import Plausibility
from toolkit.solvers.tree import Forest
from toolkit.warm.paths import Layout
from toolkit.warm.seeded import seeded
from toolkit.warm.tensors import Batch, ProblemTensors, like_lengths, pi_value, to_tensors
from toolkit.warm.weights import load_weights, save_weights

FORMAT = "warmkit-solver-1"
CPU = torch.device("cpu")
NETWORKS: dict[str, type[Gts]] = {"gts": Gts, "graph2tree": Graph2Tree}


@dataclass(frozen=True)
class Solution:
    """One reading of a problem; `probability` is that of all equations of its class that were found."""

    template: Expr
    value: float | None  # None where it has none (a division by zero)
    probability: float


@dataclass(frozen=True)
class SolverEpoch:
    member: int  # which of the networks
    epoch: int
    loss: float


class Solver:
    """Trained networks, which vote, with what they need to read a text."""

    def __init__(self, kind: str, vocabulary: Vocabulary, tokens: Tokens, config: SolverConfig) -> None:
        self.kind, self.vocabulary, self.tokens, self.config = kind, vocabulary, tokens, config
        self.plausibility = Plausibility({})
        self.networks: list[Gts] = []
        for member in range(config.members):
            with seeded(_seed(config, member), 0):
                self.networks.append(NETWORKS[kind](len(vocabulary), tokens, config))

    def to(self, device: torch.device) -> "Solver":
        for network in self.networks:
            network.to(device)
        return self

    @classmethod
    def fit(
        cls,
        kind: str,
        problems: pl.DataFrame,
        candidates: pl.DataFrame | None,
        config: SolverConfig,
        *,
        gold: bool,
        constants: Sequence[Constant] = DEFAULT_CONSTANTS,
        device: torch.device = CPU,
        on_epoch: Callable[[SolverEpoch], object] = lambda epoch: None,
    ) -> "Solver":
        """Train on gold equations (if they may be used) and on candidates for the other problems."""
        tokens = Tokens(tuple(constants))
        vocabulary = vocabulary_of(problems, config.min_count)
        solver = cls(kind, vocabulary, tokens, config).to(device)
        examples = make_examples(problems, candidates, config, tokens, gold)
        if not len(examples.row):
            raise WarmkitError(
                "There is no equation to learn from: give --candidates, or allow gold equations."
            )
        taught = problems[examples.row.unique().tolist()]
        solver.plausibility = Plausibility.fit(taught["answer"].to_list(), numbers_of(taught))
        data = solver.tensors(problems)
        for member, network in enumerate(solver.networks):
            optimizer = torch.optim.Adam(network.parameters(), lr=config.lr, weight_decay=config.weight_decay)
            for epoch in range(1, config.epochs + 1):
                for group in optimizer.param_groups:
                    group["lr"] = config.lr * config.lr_decay ** ((epoch - 1) // config.lr_decay_every)
                loss = solver._run_epoch(member, epoch, data, examples, optimizer)
                on_epoch(SolverEpoch(member, epoch, loss))
            network.eval()
        return solver

    def _run_epoch(
        self,
        member: int,
        epoch: int,
        data: ProblemTensors,
        examples: Examples,
        optimizer: torch.optim.Optimizer,
    ) -> float:
        total = 0.0
        network = self.networks[member].train()
        problems = examples.row.unique()
        with seeded(_seed(self.config, member), epoch) as generator:
            for chosen in like_lengths(data.all.lengths[problems], self.config.batch, generator):
                rows = problems[chosen]
                # A problem is read once, however many equations it is to learn.
                owner, example = (rows.unsqueeze(1) == examples.row).nonzero(as_tuple=True)
                batch = _without_some_words(data.batch(rows), self.config.word_dropout, generator)
                source = network.source(batch.to(self.device))
                forest = self.forest([examples.prefixes[i] for i in example.tolist()])
                log_prob = network.decoder.log_prob(source, forest, owner.to(self.device))
                losses = -log_prob * examples.weight[example].to(self.device)
                optimizer.zero_grad(set_to_none=True)
                (losses.sum() / len(rows)).backward()
                torch.nn.utils.clip_grad_norm_(network.parameters(), self.config.clip)
                optimizer.step()
                total += float(losses.detach().sum())
        return total / float(examples.weight.sum())

    def forest(self, prefixes: Sequence[Sequence[int]]) -> Forest:
        return Forest.of(prefixes, len(self.tokens.operators), self.config.max_tokens, self.device)

    @property
    def device(self) -> torch.device:
        return next(self.networks[0].parameters()).device

    def tensors(self, problems: pl.DataFrame) -> ProblemTensors:
        return to_tensors(problems, self.vocabulary, Layout(self.tokens.constants, "+"), longest=1)

    def solve(self, problems: pl.DataFrame, top: int = 1) -> list[list[Solution]]:
        """The likeliest equations of each problem by its text alone; its answer is not looked at."""
        numbers, langs = numbers_of(problems), problems["lang"].to_list()
        beams: list[list[Beam]] = [[] for _ in numbers]
        width = max(top, self.config.beam)
        for batch in self.tensors(problems).in_order_of_size(64):
            for network in self.networks:
                with torch.no_grad():
                    source = network.source(batch.to(self.device))
                    found = beam_search(network.decoder, source, width, self.config.max_tokens)
                for row, of_row in zip(batch.rows.tolist(), found, strict=True):
                    beams[row] += of_row
        return [
            self._ranked(of_problem, its_numbers, lang)[:top]
            for of_problem, its_numbers, lang in zip(beams, numbers, langs, strict=True)
        ]

    def _ranked(self, beams: Sequence[Beam], numbers: Sequence[Fraction], lang: str) -> list[Solution]:
        """Beams of one class are one solution; probable ones with plausible values first."""
        templates = [self.tokens.decode(beam.prefix) for beam in beams]
        merged: dict[int, tuple[Expr, float | None, float]] = {}
        for its_class, template, beam in zip(klasses(templates), templates, beams, strict=True):
            first, value, mass = merged.get(its_class, (template, _value(template, numbers, lang), 0.0))
            merged[its_class] = first, value, mass + math.exp(beam.log_prob) / len(self.networks)
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

    def unknown_share(self, text: str, lang: str) -> float:
        """The share of a text's words that training never saw."""
        tokens = mask(text, lang).tokens
        return sum(i == UNKNOWN_AT for i in self.vocabulary.encode(tokens)) / max(len(tokens), 1)

    def save(self, folder: Path) -> None:
        save_weights(folder / "weights.safetensors", nn.ModuleList(self.networks).state_dict())
        described = {
            "format": FORMAT,
            "solver": self.kind,
            "config": self.config.model_dump(),
            "constants": [show(constant) for constant in self.tokens.constants],
            "answers": self.plausibility.counts,
            "vocabulary": self.vocabulary.words,
        }
        with replacing(folder / "solver.json") as temporary:
            temporary.write_text(json.dumps(described, ensure_ascii=False, indent=1), encoding="utf-8")

    @classmethod
    def load(cls, folder: Path | str) -> "Solver":
        path = Path(folder) / "solver.json"
        try:
            described: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        except FileNotFoundError:
            raise WarmkitError(f"{folder}: there is no solver here (no solver.json).") from None
        except (OSError, ValueError) as error:
            raise WarmkitError(f"{folder}: the solver can't be read: {error}.") from None
        if not isinstance(described, dict) or described.get("format") != FORMAT:
            raise WarmkitError(f"{path}: this is not a solver (format {FORMAT}).")
        weights = load_weights(Path(folder) / "weights.safetensors")
        try:
            solver = cls(
                described["solver"],
                Vocabulary(tuple(described["vocabulary"])),
                Tokens(tuple(parse_constant(text) for text in described["constants"])),
                SolverConfig.model_validate(described["config"]),
            )
            solver.plausibility = Plausibility(described["answers"])
            nn.ModuleList(solver.networks).load_state_dict(weights)
        except (LookupError, TypeError, ValueError, RuntimeError, EquationError):
            raise WarmkitError(
                f"{folder}: weights.safetensors and solver.json don't belong together, or one is damaged."
            ) from None
        for network in solver.networks:
            network.eval()
        return solver


def _seed(config: SolverConfig, member: int) -> int:
    """Each member's own; the first one's is that of a solver which has no other."""
    return config.seed + 1_000 * member


def _without_some_words(batch: Batch, share: float, generator: torch.Generator) -> Batch:
    """The batch with a share of its words unknown, as rare words are in new texts; numbers stay."""
    if not share:
        return batch
    gone = torch.rand(batch.tokens.shape, generator=generator) < share
    gone &= ~batch.is_number & (batch.tokens != PAD_AT)
    return replace(batch, tokens=torch.where(gone, UNKNOWN_AT, batch.tokens))


def _value(template: Expr, numbers: Sequence[Any], lang: str) -> float | None:
    try:
        return float(evaluate(template, numbers, pi_value(lang)))
    except (EquationError, OverflowError):
        return None

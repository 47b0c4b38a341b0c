"""Solvers behind one interface: fit on problems and equations, then solve from the text alone."""

import json
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl
import torch
from safetensors.torch import load_file, save_file
from torch import Tensor

from toolkit.data import Vocabulary, mask, numbers_of, vocabulary_of
from toolkit.data.schema import PROBLEMS
from toolkit.data.write import replacing
from toolkit.equations import DEFAULT_CONSTANTS, Constant, EquationError, Expr, evaluate, parse_constant, show
from toolkit.errors import WarmkitError
from toolkit.solvers.config import SolverConfig
from toolkit.solvers.examples import Examples, Tokens, make_examples
from toolkit.solvers.graph2tree import Graph2Tree
from toolkit.solvers.gts import Gts
from toolkit.solvers.tree import Source
from toolkit.warm.paths import Layout
from toolkit.warm.tensors import ProblemTensors, like_lengths, pi_value, to_tensors
from toolkit.warm.train import seeded

FORMAT = "warmkit-solver-1"
NETWORKS: dict[str, type[Gts]] = {"gts": Gts, "graph2tree": Graph2Tree}


@dataclass(frozen=True)
class Solution:
    """One reading of a problem: `probability` is the solver's for this very prefix."""

    template: Expr
    value: float | None  # None where it has none (a division by zero)
    probability: float


@dataclass(frozen=True)
class SolverEpoch:
    epoch: int
    loss: float


class Solver:
    """A trained network with what it needs to read a text."""

    def __init__(self, kind: str, vocabulary: Vocabulary, tokens: Tokens, config: SolverConfig) -> None:
        self.kind, self.vocabulary, self.tokens, self.config = kind, vocabulary, tokens, config
        with seeded(config.seed, 0):
            self.network = NETWORKS[kind](len(vocabulary), tokens, config)

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
        on_epoch: Callable[[SolverEpoch], object] = lambda epoch: None,
    ) -> "Solver":
        """Train on gold equations (if they may be used) and on candidates for the other problems."""
        tokens = Tokens(tuple(constants))
        vocabulary = vocabulary_of(problems, config.min_count)
        solver = cls(kind, vocabulary, tokens, config)
        examples = make_examples(problems, candidates, config, tokens, gold)
        if not len(examples.row):
            raise WarmkitError(
                "There is no equation to learn from: give --candidates, or allow gold equations."
            )
        data = solver.tensors(problems)
        optimizer = torch.optim.Adam(
            solver.network.parameters(), lr=config.lr, weight_decay=config.weight_decay
        )
        for epoch in range(1, config.epochs + 1):
            for group in optimizer.param_groups:
                group["lr"] = config.lr * config.lr_decay ** ((epoch - 1) // config.lr_decay_every)
            on_epoch(SolverEpoch(epoch, solver._run_epoch(epoch, data, examples, optimizer)))
        solver.network.eval()
        return solver

    def _run_epoch(
        self, epoch: int, data: ProblemTensors, examples: Examples, optimizer: torch.optim.Optimizer
    ) -> float:
        total = 0.0
        self.network.train()
        with seeded(self.config.seed, epoch) as generator:
            lengths = data.all.lengths[examples.row]
            for chosen in like_lengths(lengths, self.config.batch, generator):
                source = self.network.source(data.batch(examples.row[chosen]))
                log_prob = self.network.decoder.log_prob(source, examples.prefix[chosen])
                losses = -log_prob * examples.weight[chosen]
                optimizer.zero_grad(set_to_none=True)
                (losses.sum() / len(chosen)).backward()
                torch.nn.utils.clip_grad_norm_(self.network.parameters(), self.config.clip)
                optimizer.step()
                total += float(losses.detach().sum())
        return total / float(examples.weight.sum())

    def tensors(self, problems: pl.DataFrame) -> ProblemTensors:
        return to_tensors(problems, self.vocabulary, Layout(self.tokens.constants, "+"), longest=1)

    def solve(self, problems: pl.DataFrame, top: int = 1) -> list[list[Solution]]:
        """The likeliest equations of each problem by its text alone; its answer is not looked at."""
        self.network.eval()
        numbers, langs = numbers_of(problems), problems["lang"].to_list()
        solutions: list[list[Solution]] = [[] for _ in numbers]
        for batch in self.tensors(problems).in_order_of_size(64):
            with torch.no_grad():
                prefixes, log_probs = self._beam_search(
                    self.network.source(batch), max(top, self.config.beam)
                )
            for row, of_row, scores in zip(batch.rows.tolist(), prefixes, log_probs, strict=True):
                for prefix, score in list(zip(of_row, scores, strict=True))[:top]:
                    template = self.tokens.decode(prefix)
                    solutions[row].append(
                        Solution(template, _value(template, numbers[row], langs[row]), math.exp(score))
                    )
        return solutions

    def unknown_share(self, text: str, lang: str) -> float:
        """The share of a text's words that training never saw."""
        tokens = mask(text, lang).tokens
        return sum(i == 1 for i in self.vocabulary.encode(tokens)) / max(len(tokens), 1)

    def _beam_search(self, source: Source, width: int) -> tuple[list[list[list[int]]], list[list[float]]]:
        """For each problem complete prefixes and their log-probabilities, likeliest first."""
        size, longest = len(source.root), self.config.max_tokens
        decoder = self.network.decoder
        wide = source.rows(torch.arange(size).repeat_interleave(width))
        trees = decoder.start(wide, longest)
        prefix = torch.full((size * width, longest), -1)
        total = torch.full((size, width), -torch.inf)
        total[:, 0] = 0.0  # all beams are the same at first
        first = (torch.arange(size) * width).unsqueeze(1)
        for at in range(longest):
            scores, context = decoder.scores(wide, trees, longest - at)
            waits = torch.full_like(scores, -torch.inf)
            waits[:, 0] = 0.0  # a complete tree goes on as it is
            scores = torch.where(trees.done.unsqueeze(1), waits, scores)
            tokens = scores.shape[1]
            total, chosen = (total.unsqueeze(-1) + scores.view(size, width, tokens)).flatten(1).topk(width, 1)
            rows = (first + chosen // tokens).flatten()
            token = (chosen % tokens).flatten()
            trees, prefix = trees.rows(rows), prefix[rows]
            prefix[:, at] = torch.where(trees.done, -1, token)
            trees = decoder.advance(wide, trees, context[rows], token)
            if trees.done.all():
                break
        total = total.masked_fill(~trees.done.view(size, width), -torch.inf)
        return _ranked(prefix.view(size, width, longest), total)

    def save(self, folder: Path) -> None:
        weights = {name: tensor.contiguous() for name, tensor in self.network.state_dict().items()}
        with replacing(folder / "weights.safetensors") as temporary:
            save_file(weights, temporary)
        described = {
            "format": FORMAT,
            "solver": self.kind,
            "config": self.config.model_dump(),
            "constants": [show(constant) for constant in self.tokens.constants],
            "vocabulary": self.vocabulary.words,
        }
        with replacing(folder / "solver.json") as temporary:
            temporary.write_text(json.dumps(described, ensure_ascii=False, indent=1), encoding="utf-8")

    @classmethod
    def load(cls, folder: Path | str) -> "Solver":
        path = Path(folder) / "solver.json"
        try:
            described: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
            weights = load_file(Path(folder) / "weights.safetensors")
        except FileNotFoundError:
            raise WarmkitError(
                f"{folder}: there is no solver here (solver.json, weights.safetensors)."
            ) from None
        except (OSError, ValueError) as error:
            raise WarmkitError(f"{folder}: the solver can't be read: {error}.") from None
        if described.get("format") != FORMAT:
            raise WarmkitError(f"{path}: this is not a solver (format {FORMAT}).")
        solver = cls(
            described["solver"],
            Vocabulary(tuple(described["vocabulary"])),
            Tokens(tuple(parse_constant(text) for text in described["constants"])),
            SolverConfig.model_validate(described["config"]),
        )
        solver.network.load_state_dict(weights)
        solver.network.eval()
        return solver


def _ranked(prefix: Tensor, total: Tensor) -> tuple[list[list[list[int]]], list[list[float]]]:
    order = total.argsort(dim=1, descending=True, stable=True)
    prefixes, scores = [], []
    for of_row, ranks, totals in zip(prefix.tolist(), order.tolist(), total.tolist(), strict=True):
        complete = [i for i in ranks if totals[i] > -math.inf]
        prefixes.append([[token for token in of_row[i] if token >= 0] for i in complete])
        scores.append([totals[i] for i in complete])
    return prefixes, scores


def _value(template: Expr, numbers: Sequence[Any], lang: str) -> float | None:
    try:
        return float(evaluate(template, numbers, pi_value(lang)))
    except (EquationError, OverflowError):
        return None


def as_problems(texts: Sequence[str], langs: Sequence[str]) -> pl.DataFrame:
    """Texts as a problems table whose answers are not known (and not looked at)."""
    rows = [
        (str(i), text, 0.0, None, lang, None) for i, (text, lang) in enumerate(zip(texts, langs, strict=True))
    ]
    return pl.DataFrame(rows, schema=PROBLEMS, orient="row")

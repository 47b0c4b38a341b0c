"""Training of LBF: write trees, fix them, remember the fixes, and learn what is remembered."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TypeVar

import torch
from torch import Tensor

from toolkit.methods.base import FitInput, FitOptions
from toolkit.methods.epochs import Lessons, begin, run_epochs
from toolkit.methods.lbf import Lbf
from toolkit.methods.lbf.buffer import Buffer, digests
from toolkit.methods.lbf.config import LbfConfig
from toolkit.methods.lbf.decode import LENGTHS, decode, tree_lengths
from toolkit.methods.lbf.m_fix import m_fix
from toolkit.methods.lbf.one_fix import Case, Prefix
from toolkit.nn.batches import Batch
from toolkit.nn.checkpoint import not_of_this
from toolkit.nn.tree.decoder import Source
from toolkit.nn.tree.forest import Forest

Method = TypeVar("Method", bound=Lbf)


def train(method: type[Method], data: FitInput, folder: Path | None, options: FitOptions) -> Method:
    """The arguments are those of `StepOne.fit`."""
    assert isinstance(data.config, LbfConfig)
    trained = begin(method, data, data.config, options)
    return run_epochs(trained, LbfLessons(trained, data), data, data.config, folder, options)


class LbfLessons(Lessons):
    """What is to be learnt: the gold equation of a problem of D_s, the fixes of another."""

    def __init__(self, lbf: Lbf, data: FitInput) -> None:
        self.lbf, self.tokens, problems = lbf, lbf.network.tokens, data.problems
        self.digests = digests(problems)
        self.cases = [
            Case(self.tokens, numbers, answer)
            for numbers, answer in zip(problems.numbers, problems.answers, strict=True)
        ]
        self.gold = [self._gold(data, problem_id) for problem_id in problems.ids]

    def _gold(self, data: FitInput, problem_id: str) -> Prefix | None:
        template = data.known.get(problem_id)
        prefix = None if template is None else self.tokens.encode(template)
        return None if prefix is None or len(prefix) > self.lbf.config.max_tokens else tuple(prefix)

    def of(self, row: int) -> Sequence[Prefix]:
        gold = self.gold[row]
        return self.lbf.buffer.of(self.digests[row]) if gold is None else [gold]

    def reached(self) -> int:
        return sum(bool(self.of(row)) for row in range(len(self.gold)))

    def state(self) -> Mapping[str, Tensor]:
        return self.lbf.buffer.tensors

    def restore(self, state: Mapping[str, Tensor], folder: Path) -> None:
        """The buffer of a checkpoint of the same problems. What does not give their answers is an error."""
        cases = dict(zip(self.digests, self.cases, strict=True))
        try:
            buffer = Buffer.restored(state, self.tokens, self.lbf.config.max_tokens)
            is_right = all(cases[problem].reached_by(prefix) for problem, prefix in buffer)
        except (LookupError, RuntimeError, ValueError):
            is_right = False
        if not is_right:
            raise not_of_this(folder)
        self.lbf.buffer = buffer

    def losses(self, batch: Batch, generator: torch.Generator) -> Tensor:
        """Those of all trees that the problems of a batch are to learn, after they are fixed."""
        network, config, buffer = self.lbf.network, self.lbf.config, self.lbf.buffer
        source, rows = network.source(batch), batch.rows.tolist()
        weak = [i for i, row in enumerate(rows) if self.gold[row] is None]
        fixes = self._find_fixes(source, batch, weak, generator)
        for i in weak:
            problem = self.digests[rows[i]]
            if config.memory == "fresh":
                buffer.forget(problem)
            if i in fixes:
                buffer.add(problem, fixes[i])
        learnt = [(i, prefix) for i, row in enumerate(rows) for prefix in self.of(row)]
        if not learnt:
            return source.root.new_zeros(0)
        owner, prefixes = [i for i, _ in learnt], [prefix for _, prefix in learnt]
        operators, device = len(self.tokens.operators), source.root.device
        forest = Forest.of(prefixes, owner, operators, config.max_tokens, device)
        return -network.decoder.log_prob(source, forest)

    def _find_fixes(
        self, source: Source, batch: Batch, weak: Sequence[int], generator: torch.Generator
    ) -> dict[int, Prefix]:
        """A fix of the shortest tree that has one, for each of some problems of a batch; dropout stays on."""
        config, left = self.lbf.config, list(weak)
        found: dict[int, Prefix] = {}
        for more in LENGTHS:
            if not left:
                break
            some = torch.tensor(left, device=batch.rows.device)
            lengths = tree_lengths(batch.counts[some], more, config.max_tokens)
            decoded = decode(self.lbf.network.decoder, source.rows(some), lengths)
            scores, sizes = decoded.scores.cpu(), lengths.tolist()
            for i, tokens, of_tree, size in zip(left, decoded.tokens.tolist(), scores, sizes, strict=True):
                case = self.cases[int(batch.rows[i])]
                fixed = m_fix(case, tuple(tokens[:size]), of_tree[:size], config.fixes, generator)
                if fixed is not None:
                    found[i] = fixed
            left = [i for i in left if i not in found]
        return found

"""The Seq2Seq Baseline (paper, section 5.4) as a method: a GRU encoder and decoder, REINFORCE, beams."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Self

from toolkit.config import Section
from toolkit.data import ProblemSet
from toolkit.equations import Constant, klass
from toolkit.methods.base import (
    DEFAULT_OPTIONS,
    FitInput,
    FitOptions,
    GenerateConfig,
    Generated,
    Scored,
    nothing,
)
from toolkit.methods.neural import Neural
from toolkit.methods.seq2seq.config import Seq2SeqConfig

if TYPE_CHECKING:
    import torch

    from toolkit.methods.seq2seq.network import Seq2SeqNetwork

BATCH = 256


class Seq2Seq(Neural["Seq2SeqNetwork"]):
    name = "seq2seq"
    section = "seq2seq"
    Config = Seq2SeqConfig
    config: Seq2SeqConfig

    @classmethod
    def new_network(cls, words: int, constants: tuple[Constant, ...], config: Section) -> "Seq2SeqNetwork":
        from toolkit.methods.seq2seq.network import Seq2SeqNetwork

        assert isinstance(config, Seq2SeqConfig)
        return Seq2SeqNetwork(words, constants, config)

    @classmethod
    def epochs(cls, config: Section) -> int:
        assert isinstance(config, Seq2SeqConfig)
        return config.epochs

    @classmethod
    def fit(cls, data: FitInput, folder: Path | None = None, options: FitOptions = DEFAULT_OPTIONS) -> Self:
        """Training always starts from scratch: `options.start` is ignored."""
        from toolkit.methods.seq2seq.train import train

        return train(cls, data, folder, options)

    def candidates(
        self,
        problems: ProblemSet,
        settings: GenerateConfig,
        *,
        device: "torch.device | None" = None,
        on_batch: Callable[[int], object] = nothing,
    ) -> list[Generated]:
        """Beam search writes equations without looking at the answer; those that reach it are kept."""
        import torch

        from toolkit.methods.seq2seq.network import draw, rewarded, to_template
        from toolkit.nn.batches import to_tensors

        if not len(problems):
            return []
        device = device or next(self.network.parameters()).device
        network = self.network.to(device).eval()
        by_id = problems.with_constants(self.constants).sorted_by_id()
        data = to_tensors(by_id, self.vocabulary)
        found: dict[str, list[Scored]] = {problem_id: [] for problem_id in problems.ids}
        for batch in data.in_order_of_size(BATCH):
            batch = batch.to(device)
            with torch.no_grad():
                encoded, operands = network.encode(batch), len(self.constants) + batch.counts
                drawn = draw(network, encoded, operands, width=settings.width, generator=None)
                reached = rewarded(drawn, batch, self.constants)
            for i, beam in reached.nonzero().tolist():
                row = int(batch.rows[i])
                template = to_template(drawn.tokens[i, beam].tolist(), self.constants)
                log_prob = float(drawn.log_prob[i, beam])
                found[by_id.ids[row]].append(Scored(template, klass(template), log_prob, self.name))
            on_batch(len(batch.rows))
        return [
            Generated(problem_id, tuple(sorted(scored, key=lambda candidate: -candidate.log_prob)))
            for problem_id, scored in found.items()
        ]

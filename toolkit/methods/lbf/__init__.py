"""LBF, learning by fixing (Hong et al. 2021, "Learning by Fixing: Solving Math Word Problems with Weak
Supervision", AAAI), as a method of step one.

A GTS (Xie and Sun 2019) writes a tree of a given length (`decode`). If it does not give the answer, the
cheapest change of one token that makes it do so is searched from the root down (`one_fix`). If there is none,
trees nearby are fixed instead (`m_fix`). Every fix joins the buffer of its problem (`buffer`), and the
network learns the whole buffer by cross-entropy in every epoch (`train`).

Where this is not the paper:
- The network is that of the solvers here: attention is a scaled dot product, operators and constants have
  one embedding each, a text is read by WARM's encoder, as it is by all methods, and numbers and words with
  the features that solvers see.
- Whether an answer is reached is decided in fractions (`toolkit.equations.reaches`); the authors compare
  floats. Their 3.14 is π here, which counts as 3.14159…, 3.14 or 22/7. Other constants can be given.
- The lengths 2n - 1, 2n + 1 and 2n + 3 are tried up to the first that a fix is found for, as in the authors'
  program. A problem with one number begins with 3 tokens, since the root is an operator.
- The least cost of a change within a subtree is exact, so the first fix that is found is the cheapest. The
  authors bound it by the likeliest tokens of the subtree, whatever their kind.
- All fixes of a batch of problems are one step of the optimiser; the authors take a step for every 64 fixes.
- What their program does besides, and their paper does not say, is left out: no constants in the first epoch,
  trees of five tokens whose second one is an operator by chance in the first five, no division by 1.
- A problem learns the fix of the epoch alone (`memory: fresh`), which the authors have as an ablation: their
  buffer (`memory: buffer`) holds five fixes a problem here, most of them by chance, and learns worse.
- Problems of D_s learn their gold equation and are not fixed.
- Candidates are the fixes of the buffer and what 1-FIX makes of beams, since the answers are known in step
  one. The authors have a solver: they do not fix its beams.
"""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Self

from toolkit.config import Section
from toolkit.data import ProblemSet, Vocabulary
from toolkit.equations import Constant
from toolkit.equations.tree import OPERATORS
from toolkit.methods.base import (
    DEFAULT_OPTIONS,
    Epoch,
    FitInput,
    FitOptions,
    GenerateConfig,
    Generated,
    Origin,
    nothing,
)
from toolkit.methods.lbf.config import LbfConfig
from toolkit.methods.neural import Neural

if TYPE_CHECKING:
    import torch

    from toolkit.nn.tree.gts import GtsNetwork

BUFFER = "buffer.safetensors"  # beside the files of every network: the fixes that were found


class Lbf(Neural["GtsNetwork"]):
    name = "lbf"
    section = "lbf"
    Config = LbfConfig
    config: LbfConfig

    def __init__(
        self,
        network: "GtsNetwork",
        vocabulary: Vocabulary,
        config: Section,
        origin: Origin,
        history: Sequence[Epoch] = (),
    ) -> None:
        from toolkit.methods.lbf.buffer import Buffer

        super().__init__(network, vocabulary, config, origin, history)
        self.buffer = Buffer()

    @classmethod
    def new_network(cls, words: int, constants: tuple[Constant, ...], config: Section) -> "GtsNetwork":
        from toolkit.nn.tokens import Tokens
        from toolkit.nn.tree.gts import GtsNetwork

        assert isinstance(config, LbfConfig)
        operators = tuple(operator for operator in OPERATORS if operator in config.operators)
        return GtsNetwork(words, Tokens(constants, operators), config)

    @classmethod
    def epochs(cls, config: Section) -> int:
        assert isinstance(config, LbfConfig)
        return config.epochs

    @classmethod
    def fit(cls, data: FitInput, folder: Path | None = None, options: FitOptions = DEFAULT_OPTIONS) -> Self:
        """Training always starts from scratch: `options.start` is ignored."""
        from toolkit.methods.lbf.train import train

        return train(cls, data, folder, options)

    def candidates(
        self,
        problems: ProblemSet,
        settings: GenerateConfig,
        *,
        device: "torch.device | None" = None,
        on_batch: Callable[[int], object] = nothing,
    ) -> list[Generated]:
        from toolkit.methods.lbf.generate import generate

        return generate(self, problems, settings, device=device, on_batch=on_batch)

    def save(self, folder: Path) -> None:
        from toolkit.nn.weights import save_weights

        save_weights(folder / BUFFER, self.buffer.tensors)
        super().save(folder)

    @classmethod
    def load(cls, folder: Path, device: "torch.device | None" = None) -> Self:
        from toolkit.methods.lbf.buffer import Buffer
        from toolkit.nn.weights import foreign, load_weights

        loaded = super().load(folder, device)
        try:
            loaded.buffer = Buffer.restored(
                load_weights(folder / BUFFER), loaded.network.tokens, loaded.config.max_tokens
            )
        except (LookupError, RuntimeError, ValueError):
            raise foreign(folder / BUFFER, "it is no list of trees over these tokens") from None
        return loaded

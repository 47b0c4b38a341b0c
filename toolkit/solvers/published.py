"""Published solvers as networks that vote: each is its network, and what its paper does otherwise.

The default is their ensemble.
"""

from typing import TYPE_CHECKING, ClassVar

from toolkit.solvers.neural.solver import NeuralSolver

if TYPE_CHECKING:
    from toolkit.nn.network import EquationNetwork

DEFAULT_SOLVER = "ensemble"
ALIKE = 0.7  # the Jaccard index from which on DNS takes the equation of a problem that was learnt


class Gts(NeuralSolver):
    """GTS (Xie and Sun 2019): a decoder that splits goals, from the root of a tree to its leaves."""

    name = "gts"

    @classmethod
    def network(cls, member: int) -> "type[EquationNetwork]":
        from toolkit.nn.tree.gts import GtsNetwork

        return GtsNetwork


class Graph2Tree(NeuralSolver):
    """Graph2Tree (Zhang et al. 2020): GTS whose words are linked to the numbers by two graphs."""

    name = "graph2tree"

    @classmethod
    def network(cls, member: int) -> "type[EquationNetwork]":
        from toolkit.solvers.networks.graph2tree import Graph2TreeNetwork

        return Graph2TreeNetwork


class Seq2Tree(NeuralSolver):
    """Seq2Tree (Liu et al. 2019): an LSTM that writes a tree from its root down, fed by its family."""

    name = "seq2tree"

    @classmethod
    def network(cls, member: int) -> "type[EquationNetwork]":
        from toolkit.solvers.networks.seq2tree import Seq2TreeNetwork

        return Seq2TreeNetwork


class TRnn(NeuralSolver):
    """T-RNN with retrieval (Wang et al. 2019): a template, then its operators by a recursive network."""

    name = "t-rnn"
    defaults: ClassVar = {"retrieval": ALIKE}

    @classmethod
    def network(cls, member: int) -> "type[EquationNetwork]":
        from toolkit.solvers.networks.t_rnn import TRnnNetwork

        return TRnnNetwork


class Aligned(NeuralSolver):
    """Semantically-Aligned Equation Generation (Chiang and Chen 2019): an LSTM that works a stack machine."""

    name = "aligned"

    @classmethod
    def network(cls, member: int) -> "type[EquationNetwork]":
        from toolkit.solvers.networks.aligned import AlignedNetwork

        return AlignedNetwork


class MathEn(NeuralSolver):
    """Math-EN (Wang et al. 2018): an LSTM, convolutions and a transformer; the likeliest output wins.

    Its equation normalisation, one form for templates that are equal, is `forms: canonical`, as everywhere.
    """

    name = "math-en"
    defaults: ClassVar = {"members": 3}

    @classmethod
    def network(cls, member: int) -> "type[EquationNetwork]":
        from toolkit.solvers.networks.convolutional import ConvolutionalNetwork
        from toolkit.solvers.networks.lstm import LstmNetwork
        from toolkit.solvers.networks.transformer import TransformerNetwork

        return (LstmNetwork, ConvolutionalNetwork, TransformerNetwork)[member % 3]

    def votes(self, masses: tuple[float, ...]) -> tuple[float, ...]:
        return (max(masses),)


class Dns(NeuralSolver):
    """Hybrid model with SNI (DNS, Wang et al. 2017): numbers that matter, an LSTM, and retrieval first."""

    name = "dns"
    defaults: ClassVar = {"retrieval": ALIKE}

    @classmethod
    def network(cls, member: int) -> "type[EquationNetwork]":
        from toolkit.solvers.networks.dns import DnsNetwork

        return DnsNetwork


class Ensemble(NeuralSolver):
    """GTS, Semantically-Aligned, T-RNN and Seq2Tree vote: networks that are built unlike err unlike.

    That is in no paper. One network is GTS alone.
    """

    name = DEFAULT_SOLVER

    @classmethod
    def network(cls, member: int) -> "type[EquationNetwork]":
        voters = (Gts, Aligned, TRnn, Seq2Tree)
        return voters[member % len(voters)].network(member)

"""Published solvers as networks that vote: each is its network, and what its paper does otherwise."""

from typing import TYPE_CHECKING

from toolkit.solvers.neural.solver import NeuralSolver

if TYPE_CHECKING:
    from toolkit.nn.network import EquationNetwork


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

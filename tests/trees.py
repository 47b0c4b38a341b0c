"""Hypothesis strategies for expression trees."""

from fractions import Fraction

from hypothesis import strategies as st

from toolkit.equations import PI, Const, Expr, Op, Ref

references = st.integers(0, 4).map(Ref)
whole_numbers = st.integers(0, 99).map(lambda n: Const(Fraction(n)))
fractions = st.fractions(min_value=-100, max_value=100, max_denominator=60).map(Const)


def trees(leaves: st.SearchStrategy[Expr], operators: str = "+-*/", size: int = 8) -> st.SearchStrategy[Expr]:
    """Trees with up to `size` leaves."""
    return st.recursive(
        leaves,
        lambda inner: st.builds(Op, st.sampled_from(operators), inner, inner),
        max_leaves=size,
    )


templates = trees(references | st.just(Const(Fraction(1))) | st.just(PI))
written = trees(references | whole_numbers | fractions | st.just(PI), operators="+-*/^")

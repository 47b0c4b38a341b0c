import random

import pytest
import sympy
from hypothesis import given, settings
from trees import templates

from toolkit.equations import Expr, Op, Ref, klass, klasses, parse
from toolkit.equations.classes import UNDEFINED
from toolkit.equations.symbolic import to_sympy


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("2 * (N0 + N1)", "N0 + N0 + N1 + N1"),
        ("N0 - (N1 - N2)", "N0 + N2 - N1"),
        ("N0 / N1 / N2", "N0 / (N1 * N2)"),
        ("N0 * (1 - N1)", "N0 - N1 * N0"),
        ("N0 ^ 2", "N0 * N0"),
        ("N0 ^ (1 + 1)", "N0 * N0"),
        ("N0 ^ (0-1)", "1 / N0"),
        ("π * N0 + π * N1", "(N0 + N1) * π"),
        ("(N0 ^ N1) * N0", "N0 * N0 ^ N1"),
    ],
)
def test_the_same_function_is_the_same_class(one, other):
    assert klass(parse(one)) == klass(parse(other))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("N0 + N0", "N0 * N1 / N2"),  # 7 + 7 and 7 * 6 / 3
        ("N0 - N1", "N1 - N0"),
        ("N0 + N1", "N0 + N2"),
        ("N0 * 3.14", "N0 * π"),
        ("N0 ^ N1", "N1 ^ N0"),
    ],
)
def test_another_function_is_another_class(one, other):
    assert klass(parse(one)) != klass(parse(other))


def test_a_class_is_fixed_for_ever():
    """Classes are stored in files: a change of the points would make old files unreadable."""
    assert klass(parse("N0 - N1")) == 1172427103588762399
    assert klass(parse("π * N0 ^ 2")) == 146730955860730619


def test_what_is_undefined_everywhere_is_a_class_of_its_own():
    undefined = ["1 / (N0 - N0)", "N1 + 1 / (N0 - N0)", "(N0 / (1 - 1)) * 0", "1 / (1 / (N0 - N0))"]
    assert {klass(parse(text)) for text in undefined} == {UNDEFINED}


def _random_tree(draw: random.Random, leaves: int) -> Expr:
    if leaves == 1:
        return Ref(draw.randrange(3))
    left = draw.randrange(1, leaves)
    return Op(draw.choice("+-*/"), _random_tree(draw, left), _random_tree(draw, leaves - left))


def _same_function(one: Expr, other: Expr) -> bool:
    return sympy.cancel(sympy.together(to_sympy(one) - to_sympy(other))) == 0


def test_classes_agree_with_sympy_on_thousands_of_random_pairs():
    draw = random.Random(7)
    pairs = [
        (_random_tree(draw, draw.randint(1, 4)), _random_tree(draw, draw.randint(1, 4))) for _ in range(3000)
    ]
    equal = 0
    for one, other in pairs:
        a, b = klasses([one, other])
        if UNDEFINED in (a, b):
            undefined = to_sympy(one if a == UNDEFINED else other)
            assert undefined.has(sympy.nan, sympy.zoo) or _divides_by_zero(one if a == UNDEFINED else other)
            continue
        assert (a == b) == _same_function(one, other), (one, other)
        equal += a == b
    assert equal > 50  # the law was tried on both sides


def _divides_by_zero(tree: Expr) -> bool:
    if not isinstance(tree, Op):
        return False
    zero = tree.op == "/" and sympy.cancel(to_sympy(tree.right)) == 0
    return bool(zero) or _divides_by_zero(tree.left) or _divides_by_zero(tree.right)


@settings(max_examples=300, deadline=None)
@given(templates)
def test_a_rewritten_template_keeps_its_class(tree):
    """SymPy's own rewriting is the witness: what it says is equal must be equal here."""
    oracle = to_sympy(tree)
    if oracle.has(sympy.nan, sympy.zoo) or klass(tree) == UNDEFINED:
        return
    both = [tree, Op("+", tree, Op("-", tree, tree)), Op("*", Op("+", tree, tree), parse("0.5"))]
    assert len(set(klasses(both))) == 1


@given(templates)
def test_many_classes_at_once_are_what_each_is_alone(tree):
    others = [parse("1 / (N0 - N0)"), parse("N0 / N1"), tree]
    assert klasses([tree, *others]) == [klass(t) for t in [tree, *others]]

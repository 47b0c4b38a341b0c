import pytest
from hypothesis import assume, given
from trees import references, templates, trees

from toolkit.equations import (
    EquationError,
    canonical,
    commuted,
    evaluate,
    from_prefix,
    from_steps,
    klass,
    klasses,
    parse,
    show,
    to_prefix,
    to_steps,
)


def test_steps_grow_opdict_from_numbers_then_constants():
    assert to_steps(parse("(N0 - N1) * N2 + 1"), 3) == [("-", 0, 1), ("*", 5, 2), ("+", 6, 3)]


def test_a_subtree_that_occurs_twice_is_built_once():
    assert to_steps(parse("(N0 + N1) * (N0 + N1)"), 2) == [("+", 0, 1), ("*", 4, 4)]


@given(templates)
def test_steps_and_tree_are_inverse(tree):
    steps = to_steps(tree, 5)
    start = [*(f"N{j}" for j in range(5)), "1", "π"]
    assert from_steps(steps, 5, start=start.index(show(tree)) if not steps else None) == tree


@given(templates)
def test_prefix_and_tree_are_inverse(tree):
    assert from_prefix(to_prefix(tree)) == tree


def test_steps_that_are_not_used_leave_no_trace():
    assert from_steps([("+", 0, 1), ("-", 0, 1)], 2) == parse("N0 - N1")


@pytest.mark.parametrize(
    ("steps", "words"),
    [
        ([], "no steps"),
        ([("+", 0, 4)], "only 4 entries"),
        ([("%", 0, 1)], "not an operator"),
        ([("+", -1, 0)], "only"),
    ],
)
def test_impossible_steps_are_refused(steps, words):
    with pytest.raises(EquationError, match=words):
        from_steps(steps, 2)


def test_a_number_that_opdict_lacks_is_refused():
    with pytest.raises(EquationError, match="N2 is neither one of the 2 numbers"):
        to_steps(parse("N0 + N2"), 2)


@pytest.mark.parametrize("tokens", [[], ["+"], ["+", "N0"], ["N0", "N1"], ["+", "N0", "N1", "N2"]])
def test_an_impossible_prefix_is_refused(tokens):
    with pytest.raises(EquationError, match="prefix"):
        from_prefix(tokens)


def has_value(tree) -> bool:
    """Not 1 / (N0 - N0), which no law holds for."""
    try:
        evaluate(tree, [2, 3, 5, 7, 11])
    except EquationError:
        return False
    return True


@pytest.mark.parametrize(
    ("written", "form"),
    [
        ("N1 + N0", "N0 + N1"),
        ("N0 - (N1 - N2)", "N0 + N2 - N1"),
        ("N2 * (N1 + N0)", "(N0 + N1) * N2"),
        ("N0 / (N1 * N2)", "N0 / N1 / N2"),
        ("1 - N0", "1 - N0"),
        ("(N1 + N0) ^ N2", "(N0 + N1) ^ N2"),
    ],
)
def test_a_sum_or_product_has_one_canonical_order(written, form):
    assert canonical(parse(written)) == parse(form)


@given(trees(references, size=6))
def test_the_canonical_form_is_of_the_same_class_and_its_own_canonical_form(tree):
    assume(has_value(tree))
    form = canonical(tree)
    assert canonical(form) == form
    assert klass(form) == klass(tree)
    assert len(to_prefix(form)) == len(to_prefix(tree))


@given(trees(references, size=5))
def test_commuted_forms_are_one_class_and_share_a_canonical_form(tree):
    assume(has_value(tree))
    forms = commuted(tree, 8)
    assert forms[0] == tree
    assert len(set(forms)) == len(forms) <= 8
    assert {canonical(form) for form in forms} == {canonical(tree)}
    assert len(set(klasses(forms))) == 1

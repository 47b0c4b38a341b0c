from fractions import Fraction

import pytest

from toolkit.solvers.plausibility import Plausibility, TextNumbers, value_kind


def numbers(*values: str) -> TextNumbers:
    return TextNumbers([Fraction(value) for value in values])


@pytest.mark.parametrize(
    ("value", "of", "kind"),
    [
        (91.0, ("455", "5"), "whole: whole"),
        (5 / 455, ("455", "5"), "whole: small"),
        (4.5, ("9", "2"), "whole: fraction"),
        (-8.0, ("14", "22"), "whole: negative"),
        (0.0, ("3", "3"), "whole: zero"),
        (55.0, ("55", "1"), "whole: whole, given"),
        (3.0, ("1/2", "6"), "broken: whole"),
        (None, ("1",), "whole: none"),
    ],
)
def test_values_are_of_kinds(value, of, kind):
    assert value_kind(value, numbers(*of)) == kind


def test_what_answers_never_were_is_rare_but_not_impossible():
    seen = Plausibility.fit([91.0, 12.0, 7.0, 4.5], [numbers("455", "5").exact] * 4)
    whole, half, below = (seen.log_prior(value, numbers("455", "5")) for value in (90.0, 2.5, -1.0))
    assert 0 > whole > half > below > -10
    assert seen.log_prior(90.0, numbers("0.5", "3")) == seen.log_prior(-1.0, numbers("0.5", "3"))

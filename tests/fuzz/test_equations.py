"""Equations as people, files and networks write them: a tree or an `EquationError`, and soon."""

import random
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from fractions import Fraction

import pytest
from click.testing import CliRunner

from toolkit.cli import main
from toolkit.equations import (
    PI_READINGS,
    Const,
    EquationError,
    Expr,
    Op,
    Pi,
    Ref,
    bind,
    evaluate,
    klass,
    parse,
    show,
    verify,
)
from toolkit.equations.parse import MAX_LENGTH
from toolkit.equations.tree import decimal_places, has_pi, postorder

PIECES = (
    *"0123456789", "5", "20", "100", "3.14", "0.5", ".5", "1.", "1,000", "10,00,000", "1e9", "1e99", "1E-99",
    "9" * 400, "0.3333333333333333", "10000000000000001", "1(5/6)", "1 1/2", "½", "2½", "²", "³", "^2", "^3",
    "^0.5", "^(0-1)", "^100", "%", "25%", "N0", "n_1", "N63", "N999", "π", "pi", "+", "-", "−", "*", "×", "/",
    "÷", ":", "**", "^", "(", ")", "[", "]", "（", "）", "=", "x", "x =", "= ?", " ", "\t", "\n", "\0", "٣",
    "५", "５", "①", "\u200b", "\ud800", "²²", "__", "e", "E+", "$", "₹", ",", ".",
)  # fmt: skip
LONGEST = 10  # CPU seconds: far more than any case needs


@contextmanager
def a_bound_on_time() -> Iterator[None]:
    """Fail what would not end."""

    def stop(*_: object) -> None:
        pytest.fail(f"this takes more than {LONGEST} CPU seconds")

    before = signal.signal(signal.SIGVTALRM, stop)
    signal.setitimer(signal.ITIMER_VIRTUAL, LONGEST)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)


def number(rng: random.Random) -> Fraction:
    kinds = (
        lambda: Fraction(rng.randrange(100)),
        lambda: Fraction(5),
        lambda: Fraction(rng.randrange(10**4), 100),
        lambda: Fraction(rng.randrange(1, 12), rng.randrange(1, 12)),
        lambda: Fraction(rng.randrange(10 ** rng.randrange(1, 40))),
        lambda: Fraction(1, 10 ** rng.randrange(40)),
    )
    return rng.choice(kinds)()


def sound_tree(rng: random.Random, numbers: list[Fraction], operators: int) -> Expr:
    """A tree over literals of the text, and a few others."""
    if not operators:
        leaves = (Const(rng.choice(numbers)), Const(number(rng)), Ref(rng.randrange(len(numbers))), Pi())
        return rng.choices(leaves, (12, 4, 2, 1))[0]
    if rng.random() < 0.1:
        exponent = Const(Fraction(rng.choice(["2", "3", "3", "0.5", "-1", "7", "100", "101"])))
        return Op("^", sound_tree(rng, numbers, operators - 1), exponent)
    left = rng.randrange(operators)
    sides = sound_tree(rng, numbers, left), sound_tree(rng, numbers, operators - 1 - left)
    return Op(rng.choice("+-*/"), *sides)


def written(rng: random.Random, numbers: list[Fraction]) -> str:
    """An equation, a damaged equation, pieces of some, or one piece very often."""
    kind = rng.randrange(5)
    if kind == 0:
        return "".join(rng.choices(PIECES, k=rng.randrange(60)))
    if kind == 1:
        part, link = show(sound_tree(rng, numbers, rng.randrange(8))), rng.choice("+*-/^")
        brackets = rng.choice(["{}", "({})", "({})^2", "({})^3", "(({})^3)^3", "-({})"])
        often = rng.randrange(1, 200)
        return link.join([brackets.format(part)] * often)[: rng.choice([MAX_LENGTH, 10 * MAX_LENGTH])]
    if kind == 2:
        opens = rng.randrange(200)
        return "(" * opens + "5" + rng.choice(["+5)", "*5)^2", ")^2", "^2)", ")", "-(0-5))"]) * opens
    text = show(sound_tree(rng, numbers, rng.randrange(12)))
    for _ in range(rng.choice([0, 0, 1, 4])):
        at, until = sorted(rng.randrange(len(text) + 1) for _ in range(2))
        text = rng.choice([text[:at] + rng.choice(PIECES) + text[at:], text[:at] + text[until:]])
    return text


def problem(rng: random.Random) -> tuple[list[Fraction], str]:
    numbers = [number(rng) for _ in range(rng.choice([1, 2, 3, 4, 64]))]
    return numbers, written(rng, numbers)


def test_a_text_is_a_tree_that_prints_as_itself_or_a_typed_error(cases):
    for rng in cases(250):
        _, text = problem(rng)
        with a_bound_on_time():
            try:
                tree = parse(text)
            except EquationError as error:
                assert error.position is None or 0 <= error.position <= len(text), text
                assert len(str(error)) < 300, text
                continue
            if len(printed := show(tree)) <= MAX_LENGTH:
                assert parse(printed) == tree, text
                assert klass(parse(printed)) == klass(tree), text


def test_an_accepted_equation_is_exactly_its_answer_or_rounds_to_it(cases):
    for rng in cases(250):
        numbers, text = problem(rng)
        answer = guess(rng, numbers, text)
        with a_bound_on_time():
            verdict = verify(text, numbers, answer)
        assert bool(verdict.reason) is not verdict.ok
        assert len(verdict.reason) < 400, text
        if verdict.gives_answer:
            values = [exactly(parse(text), numbers, pi) for pi in PI_READINGS]
            assert any(value is None or is_answer(value, Fraction(repr(answer))) for value in values), text


def guess(rng: random.Random, numbers: list[Fraction], text: str) -> float:
    """An answer that the equation may just reach, or just not."""
    try:
        value = float(evaluate(parse(text), numbers, rng.choice(PI_READINGS)))
    except EquationError:
        return float(number(rng))
    near = value + rng.choice([0, 0, 1, 1e-9 * value, 1e-12 * value, 5e-10])
    return rng.choice(
        [value, near, round(value, rng.randrange(6)), round(near, rng.randrange(6)), float(int(near))]
    )


def exactly(tree: Expr, numbers: list[Fraction], pi: Fraction) -> Fraction | None:
    """The value by plain fractions; None if it needs floats: a root, or a number that floats made."""
    if not isinstance(tree, Op):
        leaf = pi if isinstance(tree, Pi) else tree.value if isinstance(tree, Const) else numbers[tree.index]
        return leaf if isinstance(tree, Pi) or is_short(leaf) else None
    left, right = exactly(tree.left, numbers, pi), exactly(tree.right, numbers, pi)
    if left is None or right is None or (tree.op == "^" and right.denominator != 1):
        return None
    if tree.op == "^":
        return Fraction(left ** int(right))
    made = {"+": left + right, "-": left - right, "*": left * right}
    return made[tree.op] if tree.op in made else left / right


def is_short(value: Fraction) -> bool:
    places = decimal_places(value)
    return places in (None, 0) or abs(value) * 10**places < 10**15


def is_answer(value: Fraction, answer: Fraction) -> bool:
    places = decimal_places(answer)
    if not is_short(answer) or abs(answer) >= 2**53:
        return abs(value - answer) <= abs(answer) / 10**14
    rounds = places >= 2 and decimal_places(value) is None
    return value == answer or (rounds and abs(value - answer) < Fraction(1, 2 * 10**places))


def test_what_an_equation_is_bound_to_has_its_value(cases):
    for rng in cases(150):
        numbers, text = problem(rng)
        with a_bound_on_time():
            try:
                tree = parse(text)
                value, templates = evaluate(tree, numbers), bind(tree, numbers)
            except EquationError:
                continue
        for template in templates[:5]:
            if has_pi(template) or not isinstance(value, Fraction):  # 3.14 may be π
                continue
            assert all(not isinstance(leaf, Const) or leaf.value == 1 for leaf in postorder(template)), text
            assert evaluate(template, numbers) == value, text


def test_the_commands_answer_or_refuse(cases):
    for rng in cases(12):
        numbers, text = problem(rng)
        story = " and ".join(show(Const(value)) for value in numbers)
        text = text.replace("\0", "").replace("\ud800", "")  # no shell passes them on
        for command in (["check", text, "--text", story, "--answer", "5"], ["show", text, "--json"]):
            with a_bound_on_time():
                result = CliRunner().invoke(main, ["equation", *command])
            assert result.exception is None or isinstance(result.exception, SystemExit), (command, result)
            assert result.exit_code in (0, 1, 2), command

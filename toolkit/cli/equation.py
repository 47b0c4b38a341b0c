"""`warmkit equation`: one equation against one problem, or on its own."""

import sys

import click
from rich.text import Text

from toolkit.cli.output import echo, json_option, print_json, print_table
from toolkit.cli.parameters import constants_option, lang_option, number
from toolkit.data.languages import detect_language
from toolkit.data.numbers import find_numbers
from toolkit.equations import (
    Constant,
    EquationError,
    Verdict,
    draw,
    evaluate,
    klass,
    latex,
    parse,
    show,
    show_value,
    to_prefix,
    verify,
)
from toolkit.errors import WarmkitError
from toolkit.screen import Screen

# An equation may begin with a minus sign, which must not be read as an option.
_MINUS_FIRST = {"ignore_unknown_options": True}


@click.group()
def equation() -> None:
    """One equation: check it against a problem, or show it."""


@equation.command(
    context_settings=_MINUS_FIRST,
    epilog="""\b
Examples:
  warmkit equation check "76 - 25" --text "Each pack costs 76 dollars, with 25 off." --answer 51
  warmkit equation check "x = 450 * (1 - 20%)" --text "₹450 less 20%" --answer 360 --json""",
)
@click.argument("equation")
@click.option("--text", required=True, help="The text of the problem. Its numbers are N0, N1, …")
@click.option("--answer", callback=number, help="The answer that the equation must give.")
@lang_option
@constants_option
@json_option
def check(
    equation: str,
    text: str,
    answer: float | None,
    lang: str | None,
    constants: tuple[Constant, ...],
    as_json: bool,
) -> None:
    """Does EQUATION parse, use the numbers of the text, and give the answer? Exit 0 if so, else 1."""
    operands = find_numbers(text, lang or detect_language(text))
    verdict = verify(equation, [operand.value for operand in operands], answer, constants)
    if as_json:
        print_json(
            {
                "ok": verdict.ok,
                "reason": verdict.reason,
                "template": show(verdict.templates[0]) if verdict.templates else None,
                "value": verdict.value,
                "klass": verdict.klass,
                "templates": [show(template) for template in verdict.templates],
            }
        )
    else:
        _print_verdict(verdict, [text[operand.start : operand.end] for operand in operands])
    sys.exit(0 if verdict.ok else 1)


def _print_verdict(verdict: Verdict, numbers: list[str]) -> None:
    out = Screen()
    out.print(Text("ok", "bold green") if verdict.ok else Text(f"no: {verdict.reason}", "bold red"))
    rows = [("numbers", "   ".join(f"N{j} = {written}" for j, written in enumerate(numbers)) or "none")]
    if verdict.templates:
        rows.append(("template", show(verdict.templates[0])))
    if len(verdict.templates) > 1:
        rows.append(("or", ", ".join(show(template) for template in verdict.templates[1:6])))
    if verdict.value is not None:
        rows.append(("value", f"{verdict.value:.12g}"))
    if verdict.klass is not None:
        rows.append(("class", str(verdict.klass)))
    print_table("", rows)


@equation.command(
    "show",
    context_settings=_MINUS_FIRST,
    epilog="""\b
Examples:
  warmkit equation show "(47 - 17) / 5"
  warmkit equation show "N0 * (1 - N1)" --json""",
)
@click.argument("equation")
@json_option
def show_command(equation: str, as_json: bool) -> None:
    """EQUATION in all its forms: brackets, value, LaTeX, prefix, class, drawn tree."""
    from toolkit.equations.symbolic import simplified  # SymPy takes half a second to load

    try:
        tree = parse(equation)
    except EquationError as error:
        raise WarmkitError(f"The equation can't be read: {error}.") from None
    try:
        shown = show_value(evaluate(tree))
    except EquationError as error:
        shown = f"none: {error}"
    forms = {
        "equation": show(tree),
        "value": shown,
        "simplified": simplified(tree),
        "latex": latex(tree),
        "prefix": " ".join(to_prefix(tree)),
        "klass": klass(tree),
        "tree": draw(tree),
    }
    if as_json:
        print_json(forms)
        return
    print_table(
        "", [(name, str(form)) for name, form in forms.items() if name != "tree" and form is not None]
    )
    echo(f"\n{forms['tree']}")

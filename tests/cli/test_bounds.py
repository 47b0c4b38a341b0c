"""Numbers on the command line: none is without bounds, and none is nan."""

import click
import pytest
from click.testing import CliRunner

from toolkit.cli import main


def options(command: click.Command, name: str = "warmkit"):
    """Every parameter of a command and of those below it, with the name of its command."""
    if isinstance(command, click.Group):
        context = click.Context(command)
        for below in command.list_commands(context):
            yield from options(command.get_command(context, below), f"{name} {below}")
    for parameter in command.params:
        yield f"{name} {parameter.name}", parameter


def test_every_number_on_the_command_line_has_bounds():
    numbers = {}
    for name, parameter in options(main):
        kind = parameter.type
        assert kind not in (click.INT, click.FLOAT), f"{name} has no bounds"
        if isinstance(kind, click.IntRange | click.FloatRange):
            numbers[name] = kind
    assert len(numbers) > 20
    assert [name for name, kind in numbers.items() if kind.min is None or kind.max is None] == []


@pytest.mark.parametrize("number", ["nan", "inf", "-1", "1e9999", "9" * 5_000, "", "²", "0x10"])
@pytest.mark.parametrize(
    "command",
    [
        ["export", "bundled:en", "--out", "never.csv", "--threshold"],
        ["tune", "--time-budget"],
        ["loop", "--seed"],
        ["data", "generate", "--out", "never.csv", "--count"],
    ],
)
def test_a_number_that_is_none_is_a_wrong_call(command, number):
    result = CliRunner().invoke(main, [*command, number])
    assert result.exit_code == 2 and "Invalid value" in result.output
    assert len(result.output) < 7_000

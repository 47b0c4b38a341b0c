"""The `warmkit` command. Each verb has its own file, which is imported only when the verb is used."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import Any

import click

COMMANDS = {
    "loop": "Rounds of training and asking annotators, with a report at the end.",
    "annotate": "Label Studio: start a server or connect to one, and let annotators work there.",
    "runs": "Runs of the loop: list, show, compare, repair, delete.",
    "data": "Problem sets: import, show, check, split, generate.",
    "equation": "One equation: check it against a problem, or show it.",
    "train": "Learn equations from answers: WARM, and WARM-S with --gold.",
    "generate": "Write candidate equations with a trained model.",
    "solver": "Train a solver (GTS, Graph2Tree) on gold and generated equations.",
    "solve": "Solve a problem by its text alone.",
    "evaluate": "How good a solver is.",
    "export": "Write gold and generated equations for other programs.",
    "tune": "Try settings with Ray Tune: gold equations, beam width, any key.",
    "paper": "Measure the tables of the paper, and show its numbers beside.",
    "config": "Configurations: show, validate, diff.",
}


_HALF_CHARACTER = re.compile(r"[\ud800-\udfff]")


class Commands(click.Group):
    """Loads the file of a verb when the verb is called. --help reads the table above and loads no file."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        if name not in COMMANDS:
            return None
        command = getattr(import_module(f"toolkit.cli.{name}"), name)
        assert isinstance(command, click.Command)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        for argument in args:
            if _HALF_CHARACTER.search(argument):  # bytes that are not UTF-8
                raise click.UsageError(f"The argument {ascii(argument)[:80]} is not text in UTF-8.", ctx)
        return super().parse_args(ctx, args)

    def make_context(self, *args: Any, **extra: Any) -> click.Context:
        with _harmless_errors():
            return super().make_context(*args, **extra)

    def invoke(self, ctx: click.Context) -> Any:
        """Errors that a person can fix become one message and exit code 1."""
        from toolkit.cli.hints import with_hint
        from toolkit.errors import WarmkitError

        with _harmless_errors():
            try:
                return super().invoke(ctx)
            except WarmkitError as error:
                raise click.ClickException(with_hint(error, ctx.invoked_subcommand)) from None


@contextmanager
def _harmless_errors() -> Iterator[None]:
    """What an error quotes of a file, a server or an argument can't change the terminal."""
    try:
        yield
    except click.ClickException as error:
        from toolkit.screen import harmless

        error.message = harmless(error.message)  # type: ignore[misc]  # click has no other way in
        raise


@click.group(
    cls=Commands,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="Try it: warmkit data check bundled:en",
)
@click.version_option(package_name="warmkit", message="warmkit %(version)s")
def main() -> None:
    """Learn the equations of math word problems from their answers, with people in the loop."""

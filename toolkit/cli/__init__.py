"""The `warmkit` command. Each verb has its own file, which is imported only when the verb is used."""

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
    "config": "Configurations: show, validate, diff.",
}


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

    def invoke(self, ctx: click.Context) -> Any:
        """Errors that a person can fix become one message and exit code 1."""
        from toolkit.cli.hints import with_hint
        from toolkit.errors import WarmkitError

        try:
            return super().invoke(ctx)
        except WarmkitError as error:
            raise click.ClickException(with_hint(error, ctx.invoked_subcommand)) from None


@click.group(
    cls=Commands,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="Try it: warmkit data check bundled:en",
)
@click.version_option(package_name="warmkit", message="warmkit %(version)s")
def main() -> None:
    """Learn the equations of math word problems from their answers, with people in the loop."""

"""`warmkit config`: the known keys, whether a file is valid, and what it changes."""

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import click
import yaml
from pydantic import BaseModel

from toolkit.cli.output import echo, json_option, print_json, print_table, setting
from toolkit.cli.parameters import set_option
from toolkit.config import Section, changed_keys, load_config, read_yaml
from toolkit.errors import WarmkitError
from toolkit.loop.config import LoopConfig
from toolkit.methods import METHODS
from toolkit.paper.config import PaperConfig
from toolkit.solvers import SOLVERS
from tune.config import TuneConfig

KINDS: dict[str, type[Section]] = {
    "loop": LoopConfig,
    **{solver.section: solver.Config for solver in SOLVERS.values()},
    **{method.section: method.Config for method in METHODS.values()},
    "tune": TuneConfig,
    "paper": PaperConfig,
}
COMMANDS = {
    "loop": "warmkit loop --config FILE",
    "tune": "warmkit tune FILE",
    "paper": "warmkit paper --data FOLDER --config FILE",
    **{
        method.section: f"warmkit train DATA --out FOLDER --method {method.name} --config FILE"
        for method in reversed(METHODS.values())
    },
    **{
        solver.section: f"warmkit solver fit DATA --out FOLDER --kind {solver.name} --config FILE"
        for solver in reversed(SOLVERS.values())
    },
}
COMMENTS_AT = 28  # column in which comments begin, if the line leaves room

kind_option = click.option(
    "--kind", type=click.Choice(list(KINDS)), help="What FILE configures. [default: inferred from its keys]"
)


@click.group()
def config() -> None:
    """Configurations of the loop, of methods, solvers and sweeps: show, validate and compare them."""


@config.command(
    epilog="""\b
Examples:
  warmkit config show > mine.yaml
  warmkit config show --kind warm
  warmkit config show configs/paper/warm.yaml --set explore.beam_width=8 --json"""
)
@click.argument("file", required=False, type=click.Path(path_type=Path))
@kind_option
@set_option
@json_option
def show(file: Path | None, kind: str | None, overrides: tuple[str, ...], as_json: bool) -> None:
    """Show the whole configuration as YAML, with the meaning of each key. Without a FILE: the defaults."""
    kind = kind or _kind_of([file] if file else [])
    shown = load_config(KINDS[kind], file, overrides)
    if as_json:
        print_json(shown.model_dump(mode="json"))
        return
    echo(f"# Use it: {COMMANDS[kind]}")
    for line in _lines(shown):
        echo(line)


@config.command(
    epilog="""\b
Examples:
  warmkit config validate mine.yaml
  warmkit config validate configs/*.yaml --json"""
)
@click.argument("files", nargs=-1, required=True, metavar="FILE...", type=click.Path(path_type=Path))
@kind_option
@json_option
def validate(files: tuple[Path, ...], kind: str | None, as_json: bool) -> None:
    """Check configuration files; exit code 1 if any of them is wrong."""
    results = [_validated(file, kind) for file in files]
    if as_json:
        print_json({"ok": all(result["ok"] for result in results), "files": results})
    else:
        for result in results:
            ok = f"{result['file']}: ok ({result['kind']})"
            echo(ok if result["ok"] else "\n".join(result["problems"]))
    if not all(result["ok"] for result in results):
        sys.exit(1)


@config.command(
    epilog="""\b
Examples:
  warmkit config diff configs/paper/warm.yaml
  warmkit config diff runs/run-2/config.yaml runs/run-1/config.yaml"""
)
@click.argument("file", type=click.Path(path_type=Path))
@click.argument("other", required=False, type=click.Path(path_type=Path))
@kind_option
@json_option
def diff(file: Path, other: Path | None, kind: str | None, as_json: bool) -> None:
    """Show the keys in which FILE differs from OTHER, or from the defaults."""
    kind = kind or _kind_of([file, other] if other else [file])
    now, before = load_config(KINDS[kind], file), load_config(KINDS[kind], other)
    changes = changed_keys(before, now)
    if as_json:
        written = {key: {"before": was, "now": value} for key, (was, value) in changes.items()}
        print_json({"kind": kind, "changes": written})
    elif changes:
        rows = [(key, setting(was), setting(value)) for key, (was, value) in changes.items()]
        print_table("", rows, ("key", "before", "now"))
    else:
        echo(f"{file}: it does not differ from {other or 'the defaults'}.")


def _kind_of(files: Sequence[Path]) -> str:
    """The first kind with the fewest unknown keys in the files: none at all, unless a key is misspelt."""
    written = [read_yaml(file) for file in files]
    return min(KINDS, key=lambda kind: sum(_unknown(KINDS[kind], values) for values in written))


def _unknown(kind: type[BaseModel], values: dict[Any, Any]) -> int:
    """How many keys do not belong to this kind, including all keys of an unknown section."""
    count = 0
    for name, value in values.items():
        inside = value if isinstance(value, dict) else {}
        if name not in kind.model_fields:
            count += 1 + len(inside)
            continue
        inner = kind.model_fields[name].annotation
        if isinstance(inner, type) and issubclass(inner, BaseModel):
            count += _unknown(inner, inside)
    return count


def _validated(file: Path, kind: str | None) -> dict[str, Any]:
    problems: list[str] = []
    try:
        kind = kind or _kind_of([file])
        load_config(KINDS[kind], file)
    except WarmkitError as error:
        problems = str(error).splitlines()
    return {"file": str(file), "kind": kind, "ok": not problems, "problems": problems}


def _lines(shown: BaseModel, indent: str = "") -> Iterator[str]:
    """YAML with the meaning of each key behind it. The meaning of a section is its docstring."""
    for name, field in type(shown).model_fields.items():
        value = getattr(shown, name)
        if isinstance(value, BaseModel):
            yield _commented(f"{indent}{name}:", field.description or type(value).__doc__)
            yield from _lines(value, f"{indent}  ")
        else:
            plain = shown.model_dump(mode="json", include={name})
            first, *more = _written(name, plain[name]).split("\n")
            yield _commented(f"{indent}{first}", field.description)
            yield from (f"{indent}{line}" for line in more)


def _written(name: str, value: Any) -> str:
    """A key with its value. No line is folded and a list stays on one line, so that a comment can follow."""
    if isinstance(value, list):
        listed = yaml.safe_dump(value, default_flow_style=True, allow_unicode=True, width=sys.maxsize)
        return f"{name}: {listed.rstrip()}"
    return yaml.safe_dump({name: value}, allow_unicode=True, width=sys.maxsize).rstrip("\n")


def _commented(line: str, comment: str | None) -> str:
    first = (comment or "").strip().partition("\n")[0]
    return f"{line:<{COMMENTS_AT - 2}}  # {first}" if first else line

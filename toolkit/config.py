"""Configuration: pydantic models from YAML files, with `key=value` on the command line."""

import difflib
from collections.abc import Iterable
from pathlib import Path
from typing import Any, TypeVar

import yaml
from pydantic import BaseModel, ConfigDict, ValidationError

from toolkit.errors import WarmkitError


class Section(BaseModel):
    """A part of a configuration: unknown keys are errors, nothing changes once it is read."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)


Config = TypeVar("Config", bound=Section)


def load_config(kind: type[Config], path: Path | str | None, overrides: Iterable[str] = ()) -> Config:
    """A configuration from a YAML file (None: all defaults) and overrides such as `explore.beam_width=8`."""
    values: dict[str, Any] = {} if path is None else read_yaml(Path(path))
    for override in overrides:
        _set(values, override, list(known_keys(kind)))
    try:
        return kind.model_validate(values)
    except ValidationError as error:
        where = str(path) if path else "configuration"
        raise WarmkitError("\n".join(_sentence(where, kind, problem) for problem in error.errors())) from None


def read_yaml(path: Path) -> dict[str, Any]:
    """What is written in a configuration file, not yet checked."""
    try:
        values = yaml.safe_load(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise WarmkitError(f"{path}: there is no such file.") from None
    except (OSError, UnicodeDecodeError) as error:
        raise WarmkitError(f"{path}: it can't be read: {error}.") from None
    except (yaml.YAMLError, ValueError, RecursionError) as error:  # a date that is none; brackets without end
        mark = getattr(error, "problem_mark", None)
        line = f", line {mark.line + 1}" if mark else ""
        raise WarmkitError(f"{path}{line}: this is not YAML.") from None
    if values is None:
        return {}
    if not isinstance(values, dict):
        raise WarmkitError(f"{path}: a configuration has named keys.")
    return values


def to_yaml(config: Section) -> str:
    """The whole configuration as YAML, in the order of its keys."""
    return yaml.safe_dump(config.model_dump(mode="json"), sort_keys=False, allow_unicode=True)


def changed_keys(before: Section, now: Section) -> dict[str, tuple[Any, Any]]:
    """The keys in which two configurations of a kind differ, with both values."""
    one, other = _flat(before.model_dump(mode="json")), _flat(now.model_dump(mode="json"))
    return {key: (one.get(key), value) for key, value in other.items() if one.get(key) != value}


def _flat(values: dict[str, Any], prefix: str = "") -> dict[str, Any]:
    flat: dict[str, Any] = {}
    for key, value in values.items():
        flat |= _flat(value, f"{prefix}{key}.") if isinstance(value, dict) else {f"{prefix}{key}": value}
    return flat


def full_key(key: str, known: list[str]) -> str:
    """A key may leave out sections where only one can be meant: warm.beam_width, or beam_width."""
    if key in known:
        return key
    parts = key.split(".")
    meant = [full for full in known if _leaves_out(full.split("."), parts)]
    return meant[0] if len(meant) == 1 else key


def _leaves_out(full: list[str], parts: list[str]) -> bool:
    rest = iter(full)
    return full[-1] == parts[-1] and all(part in rest for part in parts)


def _set(values: dict[str, Any], override: str, known: list[str]) -> None:
    key, equals, written = override.partition("=")
    if not equals or not key:
        raise WarmkitError(f"{override!r}: write key=value, for instance explore.beam_width=8.")
    *sections, name = full_key(key, known).split(".")
    for section in sections:
        values = values.setdefault(section, {})
        if not isinstance(values, dict):
            raise WarmkitError(f"{override!r}: {section} is a value, not a section.")
    try:
        values[name] = yaml.safe_load(written)
    except yaml.YAMLError:
        values[name] = written


def _sentence(where: str, kind: type[Section], problem: Any) -> str:
    key = ".".join(str(part) for part in problem["loc"])
    if problem["type"] != "extra_forbidden":
        return f"{where}: {key}: {problem['msg']}."
    close = difflib.get_close_matches(key, list(known_keys(kind)), n=1, cutoff=0.5)
    return f"{where}: there is no key {key}." + (f" Did you mean {close[0]}?" if close else "")


def known_keys(kind: type[BaseModel], prefix: str = "") -> Iterable[str]:
    """Every key of a configuration, sections by dots."""
    for name, field in kind.model_fields.items():
        inner = field.annotation
        if isinstance(inner, type) and issubclass(inner, BaseModel):
            yield from known_keys(inner, f"{prefix}{name}.")
        yield f"{prefix}{name}"

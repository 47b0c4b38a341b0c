"""Configuration: pydantic models from YAML files, with `key=value` on the command line."""

import difflib
import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Annotated, Any, TypeVar

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from toolkit.errors import WarmkitError
from toolkit.storage.files import read_text


class Section(BaseModel):
    """A part of a configuration. Unknown keys are errors, and it can't be changed.

    A text has a bound too, without which pydantic would not look whether it is text at all.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False, str_max_length=10_000)


MOST_SHOWN = 10  # wrong keys that a message lists
MAX_SEED = 2**32 - 1  # what NumPy takes
Seed = Annotated[int, Field(ge=0, le=MAX_SEED)]

Config = TypeVar("Config", bound=Section)


def load_config(kind: type[Config], path: Path | str | None, overrides: Iterable[str] = ()) -> Config:
    """A configuration from a YAML file (None: all defaults) and overrides such as `explore.beam_width=8`."""
    values: dict[str, Any] = {} if path is None else read_yaml(Path(path))
    for override in overrides:
        _set(values, override, list(known_keys(kind)))
    return _checked(kind, values, str(path) if path else "configuration")


def complete_config(kind: type[Config], values: Mapping[str, Any], source: str) -> Config:
    """A configuration that warmkit itself wrote down: every key is there, and none takes a default."""
    config, there = _checked(kind, values, source), flat_keys(dict(values))
    for key in flat_keys(config.model_dump(mode="json")):
        if key not in there:
            raise WarmkitError(f"{source}: the key {key} is missing: the file is not whole.")
    return config


def _checked(kind: type[Config], values: Mapping[str, Any], source: str) -> Config:
    try:
        return kind.model_validate(values)
    except ValidationError as error:
        problems = error.errors()
        sentences = [_sentence(source, kind, problem) for problem in problems[:MOST_SHOWN]]
        if len(problems) > MOST_SHOWN:
            sentences.append(f"{source}: … and {len(problems) - MOST_SHOWN:,} more")
        raise WarmkitError("\n".join(sentences)) from None


def settings_of(kind: type[Config], settings: Section | Mapping[str, object] | None) -> Config:
    """What a library call is given as settings: a configuration, or dotted keys with their values."""
    if isinstance(settings, kind):
        return settings
    return load_config(kind, None, written_keys(settings) if isinstance(settings, Mapping) else ())


def written_keys(settings: Mapping[str, object]) -> list[str]:
    """Dotted keys as the command line has them: `key=value`, with values as in YAML (null, true, [1, 2])."""
    return [
        f"{key}={value if isinstance(value, str) else json.dumps(value)}" for key, value in settings.items()
    ]


def read_yaml(path: Path) -> dict[str, Any]:
    """The content of a configuration file, not yet checked."""
    try:
        values = _parse_yaml(read_text(path))
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        line = f", line {mark.line + 1}" if mark else ""
        problem = getattr(error, "problem", None)
        raise WarmkitError(f"{path}{line}: this is not YAML{f': {problem}' if problem else ''}.") from None
    if values is None:
        return {}
    if not isinstance(values, dict):
        raise WarmkitError(f"{path}: this is not a configuration: it has no named keys.")
    return values


class _Loader(yaml.SafeLoader):
    """YAML without aliases: a few lines of them stand for more values than a machine can hold."""

    def compose_node(self, parent: yaml.Node | None, index: int) -> yaml.Node | None:
        if self.check_event(yaml.AliasEvent):
            mark = self.peek_event().start_mark  # type: ignore[no-untyped-call]
            raise yaml.composer.ComposerError(None, None, "aliases (*name) are not allowed here", mark)
        return super().compose_node(parent, index)


def _parse_yaml(text: str) -> Any:
    """A value. Whatever is wrong with the text is a `YAMLError`."""
    try:
        return yaml.load(text, Loader=_Loader)
    except (ValueError, LookupError, TypeError, AttributeError, OverflowError, RecursionError) as error:
        raise yaml.YAMLError(str(error)) from None  # an impossible date, !!int x, brackets without end


def to_yaml(config: Section) -> str:
    """The whole configuration as YAML, in the order of its keys."""
    return yaml.safe_dump(config.model_dump(mode="json"), sort_keys=False, allow_unicode=True)


def changed_keys(before: Section, now: Section) -> dict[str, tuple[Any, Any]]:
    """The keys in which two configurations of a kind differ, with both values."""
    old, new = flat_keys(before.model_dump(mode="json")), flat_keys(now.model_dump(mode="json"))
    return {key: (old.get(key), value) for key, value in new.items() if old.get(key) != value}


def flat_keys(values: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    """Sections within sections as dotted keys."""
    flat: dict[str, Any] = {}
    for key, value in values.items():
        flat |= flat_keys(value, f"{prefix}{key}.") if isinstance(value, dict) else {f"{prefix}{key}": value}
    return flat


def full_key(key: str, known: list[str]) -> str:
    """The full key of one that leaves out sections, such as beam_width, if only one key matches."""
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
        values[name] = _parse_yaml(written)
    except yaml.YAMLError:
        values[name] = written


def _sentence(source: str, kind: type[Section], problem: Any) -> str:
    key = ".".join(str(part) for part in problem["loc"])
    if problem["type"] != "extra_forbidden":
        message = str(problem["msg"]).removeprefix("Value error, ")
        place = f"{source}: {key}" if key else source  # no key: what is wrong is how several go together
        return f"{place}: {message}" + ("" if message[-1:] in ".?" else ".")
    known = list(known_keys(kind))
    last = key.rpartition(".")[2]  # warm.train.seed: there is one seed, at the top
    close = [last] if last in known else difflib.get_close_matches(key, known, n=1, cutoff=0.5)
    return f"{source}: there is no key {key}." + (f" Did you mean {close[0]}?" if close else "")


def known_keys(kind: type[BaseModel], prefix: str = "") -> Iterable[str]:
    """Every key of a configuration, with dots between sections."""
    for name, field in kind.model_fields.items():
        inner = field.annotation
        if isinstance(inner, type) and issubclass(inner, BaseModel):
            yield from known_keys(inner, f"{prefix}{name}.")
        yield f"{prefix}{name}"

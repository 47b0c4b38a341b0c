"""Random settings and YAML files for every configuration: a configuration, or sentences. Nothing else."""

import random

import pytest
import yaml
from mutate import damaged, odd_value

from toolkit.cli.config import KINDS
from toolkit.config import Section, known_keys, load_config, to_yaml
from toolkit.data.constants import AUTO
from toolkit.errors import WarmkitError

WRITTEN = [
    *("1", "-1", "0.5", "1e3", "1e400", "9" * 5_000, ".inf", ".nan", "null", "true", "~", "", " ", "x", "π"),
    *("2022-99-99", "2022-01-01", "12:30:45", "0x1f", "0b2", "1_000", "!!int x", "!!bool x", "!!float x"),
    *("!!timestamp x", "!!binary x", "!!python/object:os.system x", "!!set {1, 2}", "!!omap [1]", "!x y"),
    *("[" * 500, "{" * 500, "[[1]]", "{a: 1}", "[1, 2, 3]", "*a", "&a [*a]", "<<: 1", "? x", "- - -"),
    *("\x1b[31m", "\u202e", "\ud800", "\0", "'", '"', "%", "@", "`", "a: b: c", "margin", "oracle", "gts"),
]


def check(kind: type[Section], *given) -> None:
    try:
        config = load_config(kind, *given)
    except WarmkitError as error:
        assert str(error) and len(str(error)) < 20_000
        return
    assert isinstance(config, kind)
    assert kind.model_validate(yaml.safe_load(to_yaml(config))) == config
    if "constants" in kind.model_fields:
        assert config.constants == AUTO or len(config.v_const) == len(config.constants)


def override(kind: type[Section], rng: random.Random) -> str:
    key = rng.choice([*known_keys(kind), "x", "", "seed.x", "a.b.c", "\ud800", "warm.train.seed", "."])
    return f"{key}={rng.choice(WRITTEN)}" if rng.random() < 0.95 else key


@pytest.mark.parametrize("kind", KINDS)
def test_any_setting_is_a_configuration_or_a_sentence(cases, kind):
    for rng in cases(60):
        check(KINDS[kind], None, [override(KINDS[kind], rng) for _ in range(rng.randint(1, 3))])


@pytest.mark.parametrize("kind", KINDS)
def test_any_file_is_a_configuration_or_a_sentence(cases, kind, tmp_path):
    path = tmp_path / "mine.yaml"
    whole = to_yaml(KINDS[kind]()).encode()
    for rng in cases(12):
        path.write_bytes(damaged(whole, rng))
        check(KINDS[kind], path)


@pytest.mark.parametrize("kind", KINDS)
def test_any_value_of_a_key_is_a_configuration_or_a_sentence(cases, kind):
    for rng in cases(60):
        key = rng.choice(list(KINDS[kind].model_fields))
        try:
            KINDS[kind].model_validate({key: odd_value(rng)})
        except ValueError as error:
            assert key in str(error)

import json
import os
from pathlib import Path
from typing import Annotated, Literal, get_args, get_origin

import pytest

from toolkit.cli.config import KINDS as KINDS_OF_CONFIG
from toolkit.config import Section, load_config
from toolkit.errors import WarmkitError
from toolkit.loop.config import PLUGINS, LoopConfig
from toolkit.methods import METHODS
from toolkit.methods.lbf.config import LbfConfig
from toolkit.methods.warm.config import WarmConfig
from toolkit.paper.config import PaperConfig
from toolkit.solvers import DEFAULT_SOLVER, SOLVERS
from toolkit.solvers.neural.config import SolverConfig
from tune.config import TuneConfig

CONFIGS = Path(__file__).parents[1] / "configs"
KINDS = {
    "warmkit loop": LoopConfig,
    "warmkit train": WarmConfig,
    "warmkit solver fit": SolverConfig,
    "warmkit tune": TuneConfig,
    "warmkit paper": PaperConfig,
}


@pytest.mark.parametrize("path", sorted(CONFIGS.rglob("*.yaml")), ids=lambda path: path.name)
def test_every_shipped_configuration_loads_and_says_how_to_run_it(path):
    ways = (f"--config configs/{path.relative_to(CONFIGS)}", f"tune configs/{path.relative_to(CONFIGS)}")
    written = path.read_text(encoding="utf-8").splitlines()
    lines = [line for line in written if any(way in line for way in ways)]
    assert lines and all(line.startswith("#   warmkit ") for line in lines)
    (kind,) = {kind for line in lines for command, kind in KINDS.items() if f"#   {command} " in line}
    methods = {line.split("--method ")[1].split()[0] for line in lines if "--method " in line}
    for method in methods:
        kind = METHODS[method].Config
    load_config(kind, path)


@pytest.mark.parametrize(
    ("name", "kind"), [("loop.yaml", LoopConfig), ("warm.yaml", WarmConfig), ("solver.yaml", SolverConfig)]
)
def test_the_default_configuration_is_the_one_that_is_written_out(name, kind):
    assert load_config(kind, CONFIGS / name) == kind()


@pytest.mark.parametrize(
    ("name", "kind", "left_out"),
    [
        ("loop.yaml", LoopConfig, {plugin.section for plugin in PLUGINS}),
        ("solver.yaml", SolverConfig, set()),
    ],
)
def test_a_configuration_that_is_written_out_has_every_key(name, kind, left_out):
    written = load_config(kind, CONFIGS / name)
    assert set(kind.model_fields) - written.model_fields_set == left_out
    for key in written.model_fields_set:
        section = getattr(written, key)
        if isinstance(section, Section):
            assert section.model_fields_set == set(type(section).model_fields), key


@pytest.mark.parametrize("name", [name for name in SOLVERS if name != DEFAULT_SOLVER])
def test_every_solver_of_a_paper_has_a_configuration_as_it_was_published(name):
    solver = SOLVERS[name]
    published = load_config(solver.Config, CONFIGS / "paper" / f"{name}.yaml")
    assert published.beam == 5 and published.hidden == 512 and published != solver.Config()


def test_the_papers_values_are_the_papers():
    paper = load_config(WarmConfig, CONFIGS / "paper" / "warm.yaml")
    assert (paper.model.embedding, paper.model.hidden, paper.model.layers, paper.model.dropout) == (
        128,
        512,
        2,
        0.5,
    )
    assert (paper.explore.beam_width, paper.model.max_steps) == (5, 15)
    train = paper.train
    assert (train.lr, train.lr_decay, train.lr_decay_every) == (1e-3, 0.7, 75)
    assert (train.weight_decay, train.batch, train.epochs, train.penalty) == (1e-5, 256, 200, 1.0)


def test_the_published_values_of_lbf_are_the_published_ones():
    published = load_config(LbfConfig, CONFIGS / "paper" / "lbf.yaml")
    assert (published.embedding, published.hidden, published.layers, published.dropout) == (128, 512, 2, 0.5)
    assert (published.lr, published.lr_decay, published.lr_decay_every) == (1e-3, 0.5, 20)
    assert (published.batch, published.epochs, published.fixes) == (64, 100, 50)
    assert (published.memory, set(published.operators)) == ("buffer", set("+-*/^"))
    assert published.model_fields_set == set(LbfConfig.model_fields)


def test_one_key_can_be_set():
    config = load_config(WarmConfig, None, ["explore.beam_width=8", "train.lr=5e-4"])
    assert (config.explore.beam_width, config.train.lr) == (8, 5e-4)


@pytest.mark.parametrize(
    ("override", "words"),
    [
        ("explore.beam_widht=8", "there is no key explore.beam_widht. Did you mean explore.beam_width?"),
        ("explore.beam_width=0", "explore.beam_width: Input should be greater than or equal to 1"),
        ("explore.beam_width=many", "explore.beam_width: Input should be a valid integer"),
        ("train.lr=.inf", "train.lr: Input should be a finite number"),
        ("beam_width", "write key=value"),
        ("train.lr.x=1", "train.lr"),
    ],
)
def test_a_wrong_key_or_value_is_named(override, words):
    with pytest.raises(WarmkitError) as caught:
        load_config(WarmConfig, None, [override])
    assert words in str(caught.value)


def test_a_broken_file_is_named_with_its_line(tmp_path):
    path = tmp_path / "broken.yaml"
    path.write_text("model:\n  hidden: [1,\n", encoding="utf-8")
    with pytest.raises(WarmkitError, match=r"broken\.yaml, line \d+: this is not YAML"):
        load_config(WarmConfig, path)
    with pytest.raises(WarmkitError, match="there is no such file"):
        load_config(WarmConfig, tmp_path / "none.yaml")
    path.write_text("- a\n", encoding="utf-8")
    with pytest.raises(WarmkitError, match="named keys"):
        load_config(WarmConfig, path)


ODD = ["2001-99-99", "[" * 5_000, "{" * 5_000, "!!int x", "!!bool x", "!!timestamp x", "9" * 5_000, "*a"]


@pytest.mark.parametrize("written", [f"seed: {value}\n" for value in ODD])
def test_what_the_yaml_reader_itself_stumbles_over_is_a_sentence(written, tmp_path):
    path = tmp_path / "odd.yaml"
    path.write_text(written, encoding="utf-8")
    with pytest.raises(WarmkitError, match=r"odd\.yaml.*: this is not YAML"):
        load_config(WarmConfig, path)


@pytest.mark.parametrize("value", ODD)
def test_a_setting_that_yaml_stumbles_over_is_a_sentence_about_the_key(value):
    with pytest.raises(WarmkitError, match=r"^configuration: seed: .*\.$"):
        load_config(LoopConfig, None, [f"seed={value}"])


def test_a_few_lines_that_stand_for_billions_of_values_are_refused(tmp_path):
    path = tmp_path / "laughs.yaml"
    levels = [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 30)]
    path.write_text("\n".join(["a0: &a0 [x, x]", *levels, "space: *a29\n"]), encoding="utf-8")
    with pytest.raises(WarmkitError, match=r"laughs\.yaml, line 2: this is not YAML: aliases"):
        load_config(TuneConfig, path)


def test_a_pipe_and_a_device_are_no_configuration(tmp_path):
    os.mkfifo(tmp_path / "pipe.yaml")
    for path, kind in ((tmp_path / "pipe.yaml", "a pipe"), (Path("/dev/zero"), "a device")):
        with pytest.raises(WarmkitError, match=f"{path}: it can't be read: it is {kind}"):
            load_config(LoopConfig, path)


@pytest.mark.parametrize(
    "setting", ["method=\ud800", "data=\ud800", r'data="\ud800"', r'constants=["\ud800"]']
)
def test_half_a_character_is_no_setting(setting):
    with pytest.raises(WarmkitError, match=f"{setting.partition('=')[0]}.*: Input should be a valid string"):
        load_config(LoopConfig, None, [setting])


def test_of_many_wrong_keys_some_are_listed_and_the_rest_counted():
    with pytest.raises(WarmkitError, match=r"… and 60 more") as caught:
        load_config(LoopConfig, None, [f"x{n}=1" for n in range(70)])
    assert str(caught.value).count("\n") == 10


def test_a_grid_that_nobody_can_try_is_refused():
    space = {key: list(range(1, 100)) for key in ("beam_width", "warm.train.epochs", "warm.model.hidden")}
    with pytest.raises(WarmkitError, match="the grid has 970,299 settings, and at most 100,000"):
        load_config(TuneConfig, None, [f"space={json.dumps(space)}"])


def numbers(kind):
    """Every field of a section, and of the sections in it, that is a number or several, with its bounds."""
    for name, field in kind.model_fields.items():
        bounds = {type(bound).__name__ for bound in field.metadata}
        if isinstance(field.annotation, type) and issubclass(field.annotation, Section):
            yield from numbers(field.annotation)
        elif field.annotation is not bool:
            yield from leaves(f"{kind.__name__}.{name}", field.annotation, bounds)


def leaves(name, annotation, bounds):
    if annotation in (int, float):
        yield name, bounds
    elif isinstance(annotation, type) and issubclass(annotation, Section):
        yield from numbers(annotation)
    elif get_origin(annotation) is Annotated:
        inner = annotation.__metadata__[0].metadata
        yield from leaves(name, annotation.__origin__, bounds | {type(bound).__name__ for bound in inner})
    elif get_origin(annotation) is not Literal:
        for part in get_args(annotation):
            yield from leaves(name, part, bounds)


@pytest.mark.parametrize("kind", KINDS_OF_CONFIG)
def test_every_number_has_a_lower_and_an_upper_bound(kind):
    found = dict(numbers(KINDS_OF_CONFIG[kind]))
    assert found
    unbounded = [
        name for name, bounds in found.items() if not (bounds & {"Ge", "Gt"} and bounds & {"Le", "Lt"})
    ]
    assert unbounded == []


@pytest.mark.parametrize(
    "override", ["warm.model.hidden=1000000000", "generate.width=10000000", "stop.rounds=1e18", "seed=-1"]
)
def test_absurd_sizes_are_refused(override):
    with pytest.raises(WarmkitError, match="Input should be"):
        load_config(LoopConfig, None, [override])

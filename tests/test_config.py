from pathlib import Path

import pytest

from toolkit.config import Section, load_config
from toolkit.errors import WarmkitError
from toolkit.loop.config import PLUGINS, LoopConfig
from toolkit.methods.warm.config import WarmConfig
from toolkit.solvers.tree.config import SolverConfig
from tune.config import TuneConfig

CONFIGS = Path(__file__).parents[1] / "configs"
KINDS = {
    "warmkit loop": LoopConfig,
    "warmkit train": WarmConfig,
    "warmkit solver fit": SolverConfig,
    "warmkit tune": TuneConfig,
}


@pytest.mark.parametrize("path", sorted(CONFIGS.rglob("*.yaml")), ids=lambda path: path.name)
def test_every_shipped_configuration_loads_and_says_how_to_run_it(path):
    ways = (f"--config configs/{path.relative_to(CONFIGS)}", f"tune configs/{path.relative_to(CONFIGS)}")
    written = path.read_text(encoding="utf-8").splitlines()
    lines = [line for line in written if any(way in line for way in ways)]
    assert lines and all(line.startswith("#   warmkit ") for line in lines)
    (kind,) = {kind for line in lines for command, kind in KINDS.items() if f"#   {command} " in line}
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


@pytest.mark.parametrize("written", ["seed: 2001-99-99\n", "seed: " + "[" * 5_000])
def test_what_the_yaml_reader_itself_stumbles_over_is_a_sentence(written, tmp_path):
    path = tmp_path / "odd.yaml"
    path.write_text(written, encoding="utf-8")
    with pytest.raises(WarmkitError, match=r"odd\.yaml.*: this is not YAML"):
        load_config(WarmConfig, path)

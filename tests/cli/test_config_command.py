"""`warmkit config` as a person or a script calls it."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from toolkit.cli import main
from toolkit.config import known_keys, load_config
from toolkit.loop.config import LoopConfig
from toolkit.methods.warm.config import WarmConfig
from toolkit.solvers.neural.config import SolverConfig

CONFIGS = Path(__file__).parents[2] / "configs"
KINDS = {"loop": LoopConfig, "warm": WarmConfig, "solver": SolverConfig}


def call(*arguments: str | Path) -> Result:
    result = CliRunner().invoke(main, ["config", *(str(argument) for argument in arguments)])
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result


def answer(*arguments: str | Path):
    result = call(*arguments, "--json")
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


@pytest.fixture
def written(tmp_path):
    def write(text: str, name: str = "mine.yaml") -> Path:
        path = tmp_path / name
        path.write_text(text, encoding="utf-8")
        return path

    return write


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_shown_loads_back_to_the_same_configuration(kind, written):
    shown = call("show", "--kind", kind).stdout
    assert load_config(KINDS[kind], written(shown)) == KINDS[kind]()
    keys = [line.split(":")[0].strip() for line in shown.splitlines() if not line.startswith("#")]
    assert sorted(keys) == sorted(key.rpartition(".")[2] for key in known_keys(KINDS[kind]))


@pytest.mark.parametrize(
    "data", ["a: b #c", "two\nlines", "  ", "null", "3", "'", '"', "फल.jsonl", "x" * 300, "- a", "a\tb", "#"]
)
def test_odd_values_are_shown_so_that_they_load_back(data, written):
    config = LoopConfig(
        data=data,
        constants=("1", "π", "12.5"),
        annotator={"title": "#, ]"},
        limit=30,
    )
    path = written(json.dumps(config.model_dump(mode="json")))  # JSON is YAML
    assert load_config(LoopConfig, path) == config
    shown = call("show", path).stdout
    assert load_config(LoopConfig, written(shown, "again.yaml")) == config
    assert call("show", written(shown, "again.yaml")).stdout == shown


def test_show_says_what_keys_mean_and_takes_settings():
    lines = call("show", "--set", "active.batch=7", "--set", "beam_width=9").stdout.splitlines()
    assert lines[0] == "# Use it: warmkit loop --config FILE"
    (batch,) = [line for line in lines if line.startswith("  batch: 7")]
    assert batch.endswith("  # problems per round")
    assert any(line.startswith("    beam_width: 9") for line in lines)
    assert any(
        line.startswith("active:") and line.endswith("# Which problems annotators are asked about.")
        for line in lines
    )
    assert [line.split(":")[0] for line in lines if line[0] not in " #"] == list(LoopConfig.model_fields)


def test_show_as_json_is_the_configuration():
    shown = answer("show", CONFIGS / "paper" / "warm.yaml", "--set", "train.batch=5")
    assert (shown["model"]["hidden"], shown["train"]["batch"]) == (512, 5)
    assert WarmConfig.model_validate(shown).train.batch == 5


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("", "loop"),
        ("seed: 3\n", "loop"),  # which sweeps have too: the loop comes first
        ("epochs: 3\n", "solver"),  # which baselines have too
        ("epochs: 3\nbeam: 4\n", "solver"),
        ("epochs: 3\nbeams: 4\n", "seq2seq"),
        ("epochs: 3\nfixes: 4\n", "lbf"),
        ("train:\n  lr: 0.1\n", "warm"),
        ("stop:\n  budget: 40\n", "loop"),
        ("model:\n", "warm"),
    ],
)
def test_the_kind_of_a_file_is_guessed_from_its_keys(text, kind, written):
    found = json.loads(call("validate", written(text), "--json").stdout)
    assert found["files"][0]["kind"] == kind


def test_validate_tells_of_every_file(written):
    good, bad = written("epochs: 3\n"), written("model:\n  hiden: 3\n  layers: 0\n", "bad.yaml")
    result = call("validate", good, bad)
    assert result.exit_code == 1
    assert result.stdout.splitlines()[0] == f"{good}: ok (solver)"
    assert f"{bad}: there is no key model.hiden. Did you mean model.hidden?" in result.stdout
    assert f"{bad}: model.layers: Input should be greater than or equal to 1." in result.stdout
    found = json.loads(call("validate", good, bad, "--json").stdout)
    assert found["ok"] is False
    assert found["files"][0] == {"file": str(good), "kind": "solver", "ok": True, "problems": []}
    assert (found["files"][1]["kind"], found["files"][1]["ok"]) == ("warm", False)
    assert len(found["files"][1]["problems"]) == 2
    assert answer("validate", good)["ok"] is True


def test_every_shipped_configuration_is_valid():
    assert call("validate", *CONFIGS.rglob("*.yaml")).exit_code == 0


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("a: [1,\n", "this is not YAML"),
        ("- a\n", "it has no named keys"),
        ("1: 2\n", "1"),
        ("warm: &a\n  warm: *a\n", "aliases (*name) are not allowed"),
        ("stop: 3\n", "stop"),
        ("!!python/object/apply:os.getcwd []\n", "this is not YAML"),
    ],
)
def test_a_wrong_file_is_a_sentence_and_exit_code_1(text, words, written):
    path = written(text)
    for verb in ("validate", "show", "diff"):
        result = call(verb, path)
        assert result.exit_code == 1
        assert str(path) in result.output and words in result.output


def test_a_file_that_is_not_there_or_is_no_text_is_a_sentence(tmp_path):
    (tmp_path / "binary.yaml").write_bytes(b"\xff\xfe\x00")
    for path, words in (("none.yaml", "no such file"), ("binary.yaml", "UTF-16"), (".", "be read")):
        result = call("validate", tmp_path / path)
        assert result.exit_code == 1 and words in result.stdout


def test_diff_is_from_the_defaults_or_from_another_file(written):
    mine = written("seed: 4\nactive:\n  strategy: random\n")
    other = written("seed: 5\nreferences: false\n", "other.yaml")
    assert answer("diff", mine) == {
        "kind": "loop",
        "changes": {
            "seed": {"before": 0, "now": 4},
            "active.strategy": {"before": "margin", "now": "random"},
        },
    }
    assert answer("diff", mine, other)["changes"] == {
        "seed": {"before": 5, "now": 4},
        "active.strategy": {"before": "margin", "now": "random"},
        "references": {"before": False, "now": True},
    }
    lines = [line.split() for line in call("diff", mine, other).stdout.splitlines()]
    assert lines[0] == ["key", "before", "now"]
    assert ["references", "false", "true"] in lines


def test_diff_takes_the_kind_that_both_files_are_of(written):
    mine, other = written("seed: 4\n"), written("seeds: [3]\n", "other.yaml")
    assert answer("diff", mine, other)["kind"] == "tune"
    assert answer("diff", mine)["kind"] == "loop"
    assert answer("diff", mine, "--kind", "tune")["kind"] == "tune"


def test_diff_says_so_if_nothing_differs():
    path = CONFIGS / "loop.yaml"
    assert f"{path}: it does not differ from the defaults." in call("diff", path).stdout
    assert answer("diff", path) == {"kind": "loop", "changes": {}}


@pytest.mark.parametrize("arguments", [("validate",), ("diff",), ("show", "--kind", "other"), ("none",)])
def test_a_wrong_call_exits_with_2(arguments):
    assert call(*arguments).exit_code == 2


def test_a_setting_that_is_wrong_is_a_sentence():
    result = call("show", "--set", "active.bacth=3")
    assert result.exit_code == 1
    assert "Did you mean active.batch?" in result.output


def test_every_verb_has_examples_and_loads_no_torch():
    for verb in ("show", "validate", "diff"):
        assert "Examples:\n    warmkit config" in call(verb, "--help").output
    code = "import sys, toolkit.cli.config\nsys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0

"""Models and solvers that don't fit together: a sentence with the file, before any network is built."""

import json
import shutil
from pathlib import Path

import pytest
import torch
from safetensors import safe_open
from safetensors.torch import load_file, save_file

from toolkit.data import read_problems
from toolkit.errors import WarmkitError
from toolkit.methods import load_model, train
from toolkit.solvers import fit_solver, load_solver

WARM = {"model.hidden": 8, "model.embedding": 8, "model.max_steps": 3, "train.epochs": 1}
GTS = {"epochs": 1, "members": 1, "hidden": 8, "embedding": 8, "max_tokens": 7}


@pytest.fixture(scope="module")
def problems():
    return read_problems("bundled:en").take(range(12))


@pytest.fixture(scope="module")
def originals(problems, tmp_path_factory) -> Path:
    root = tmp_path_factory.mktemp("models")
    torch.set_num_threads(1)
    train(problems, settings=WARM, folder=root / "warm")
    fit_solver(problems, settings=GTS).save(root / "gts")
    return root


@pytest.fixture
def warm(originals, tmp_path) -> Path:
    return Path(shutil.copytree(originals / "warm", tmp_path / "warm"))


@pytest.fixture
def gts(originals, tmp_path) -> Path:
    return Path(shutil.copytree(originals / "gts", tmp_path / "gts"))


def change(path: Path, key: str, value: object) -> None:
    """Set a dotted key of a description; without a value, delete it."""
    described = json.loads(path.read_text(encoding="utf-8"))
    *sections, last = key.split(".")
    inner = described
    for section in sections:
        inner = inner[section]
    if value is None:
        del inner[last]
    else:
        inner[last] = value
    path.write_text(json.dumps(described), encoding="utf-8")


def change_tensor(path: Path, name: str, tensor: torch.Tensor | None) -> None:
    tensors = load_file(path)
    with safe_open(path, "pt") as file:
        metadata = file.metadata()
    assert name in tensors
    tensors = {key: value for key, value in tensors.items() if key != name}
    save_file(tensors if tensor is None else tensors | {name: tensor}, path, metadata)


@pytest.mark.parametrize(
    ("key", "value", "file"),
    [
        ("config.model.hidden", 16, "weights.safetensors: .* is \\[.*\\], but \\[.*\\] is described"),
        ("config.model.hidden", 4_096, "weights.safetensors"),
        ("config.model.hidden", 10**18, "model.json: model.hidden: Input should be less than"),
        ("config.model.pairs", 1_024, "weights.safetensors"),
        ("config.model.layers", 10**8, "model.json: model.layers: Input should be less than or equal to 16"),
        ("config.model.hidden", None, "model.json: the key model.hidden is missing"),
        ("config.model.hidden", "many", "model.json: model.hidden"),
        ("config", [], "model.json: the model is damaged: config"),
        ("vocabulary", None, "model.json: the model is damaged: vocabulary: Field required"),
        ("vocabulary", [1, 2], "model.json: the model is damaged: vocabulary.0"),
        ("vocabulary", ["a", "b"], "model.json: the model is damaged: a vocabulary starts with <pad>, <unk>"),
        ("constants", ["1", "x + 1"], "model.json: the model is damaged: constants"),
        ("history", [], "model.json: the model is damaged: history"),
        ("history", [{"epoch": 1}], "model.json: the model is damaged: history.0.loss"),
        ("problems", -1, "model.json: the model is damaged: problems"),
        ("method", 7, "model.json: the model is damaged: method"),
    ],
)
def test_a_model_whose_description_is_wrong_is_a_sentence(warm, key, value, file):
    change(warm / "model.json", key, value)
    with pytest.raises(WarmkitError, match=f"^{warm}/{file}"):
        load_model(warm)


@pytest.mark.parametrize(
    ("key", "value", "file"),
    [
        ("config.members", 100_000_000, "solver.json: members: Input should be less than or equal to 32"),
        ("config.members", 2, "weights.safetensors: .*: 1.* is absent, but .* is described"),
        ("config.max_tokens", 10**9, "solver.json: max_tokens"),
        ("config.beam", 10**9, "solver.json: beam"),
        ("config.hidden", 4, "weights.safetensors"),
        ("answers", {"whole: zero": -3}, "solver.json: the solver is damaged: answers.whole: zero"),
        ("answers", None, "solver.json: the solver is damaged: answers: Field required"),
        ("constants", ["1"] * 2_000, "solver.json: the solver is damaged: constants"),
        ("solver", None, "solver.json: the solver is damaged: solver"),
    ],
)
def test_a_solver_whose_description_is_wrong_is_a_sentence(gts, key, value, file):
    change(gts / "solver.json", key, value)
    with pytest.raises(WarmkitError, match=f"^{gts}/{file}"):
        load_solver(gts)


@pytest.mark.parametrize(
    ("tensor", "problem"),
    [
        (None, "is absent, but"),
        (torch.zeros(3, 3), r"is \[3, 3\], but"),
        (torch.full((8,), float("nan")), "not finite"),
        (torch.zeros(8, dtype=torch.float64), "not finite"),
    ],
)
def test_weights_of_another_model_are_a_sentence(warm, tensor, problem):
    change_tensor(warm / "weights.safetensors", "decoder.from_text.bias", tensor)
    with pytest.raises(WarmkitError, match=f"weights.safetensors: .* decoder.from_text.bias .*{problem}"):
        load_model(warm)


STEP = "optimizer.decoder.from_text.bias.step"


@pytest.mark.parametrize(
    ("name", "tensor"),
    [
        (STEP, torch.tensor(-1.0)),  # Adam would divide by zero
        (STEP, torch.tensor(True)),
        (STEP, None),
        ("optimizer.decoder.from_text.bias.exp_avg", torch.zeros(3)),
        ("optimizer.decoder.from_text.bias.exp_avg_sq", torch.full((8,), -1.0)),
        ("model.decoder.from_text.bias", torch.full((8,), float("inf"))),
        ("paths", None),
        ("paths", torch.full((12, 8, 3, 3), 200, dtype=torch.uint8)),
        ("paths", torch.full((12, 8, 3, 3), 1, dtype=torch.int16)),
        ("paths", torch.zeros(11, 8, 3, 3, dtype=torch.uint8)),
        ("paths", torch.zeros(13, 8, 3, 3, dtype=torch.uint8)),
        ("scores", torch.full((12, 8), float("nan"))),
        ("scores", torch.zeros(11, 8)),
    ],
)
def test_training_does_not_go_on_from_a_state_that_is_not_its_own(warm, problems, name, tensor):
    file = "training.safetensors" if "." in name else "memory-0001-0-of-1.safetensors"
    change_tensor(warm / file, name, tensor)
    longer = {**WARM, "train.epochs": 2}
    with pytest.raises(
        WarmkitError, match=r"training\.safetensors: it is damaged, or belongs to another model"
    ):
        train(problems, settings=longer, folder=warm, resume=True)


def test_training_does_not_go_on_without_what_a_worker_remembered(warm, problems):
    (warm / "memory-0001-0-of-1.safetensors").rename(warm / "memory-0001-0-of-2.safetensors")
    with pytest.raises(WarmkitError, match="it is not the state of this training"):
        train(problems, settings={**WARM, "train.epochs": 2}, folder=warm, resume=True)


def test_training_goes_on_from_its_own_state(warm, problems):
    assert len(train(problems, settings={**WARM, "train.epochs": 2}, folder=warm, resume=True).history) == 2

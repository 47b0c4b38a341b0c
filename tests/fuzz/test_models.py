"""Models and solvers that somebody changed: they are loaded and work, or they are a sentence."""

import random
import resource
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import torch
from safetensors import safe_open
from safetensors.torch import load_file, save_file
from tamper import NASTY, tamper_file, tamper_json, tamper_json_file

from toolkit.data import ProblemSet, read_problems
from toolkit.errors import WarmkitError
from toolkit.methods import GenerateConfig, find_method, load_model, train
from toolkit.solvers import SOLVERS, fit_solver, load_solver

SETTINGS = {
    "warm": {"model.hidden": 8, "model.embedding": 8, "model.max_steps": 3, "train.epochs": 2},
    "seq2seq": {"hidden": 8, "embedding": 8, "epochs": 2},
    "lbf": {"hidden": 8, "embedding": 8, "epochs": 2, "fixes": 5, "max_tokens": 9},
    "random_sampling": {"paths": 2, "length": 5},
    "search": {"operators": 2},
}
SMALL = {"epochs": 1, "members": 1, "hidden": 8, "embedding": 8, "max_tokens": 7, "beam": 3}
GIGABYTE = 2**30
SOLVER = "solver-"  # begins the name of a folder


@pytest.fixture(scope="session")
def problems() -> ProblemSet:
    return read_problems("bundled:en").take(range(12))


@pytest.fixture(scope="session")
def folders(problems, tmp_path_factory) -> list[Path]:
    """A model of each method and a solver of each kind. Training stopped in the middle: it can go on."""
    root = tmp_path_factory.mktemp("models")
    torch.set_num_threads(1)
    for method, settings in SETTINGS.items():
        train(problems, method, settings=settings, folder=root / method)
    for name, solver in SOLVERS.items():
        settings = {key: value for key, value in SMALL.items() if key in solver.Config.model_fields}
        fit_solver(problems, solver=name, settings=settings).save(root / f"{SOLVER}{name}")
    return sorted(root.iterdir())


@contextmanager
def little_memory() -> Iterator[None]:
    """An allocation of gigabytes fails."""
    used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    before = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (used + GIGABYTE, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, before)


def tamper_tensors(rng: random.Random, path: Path) -> str:
    """Weights as somebody writes them who knows how: other shapes, names, values, types, figures."""
    tensors = load_file(path)
    with safe_open(path, "pt") as file:
        metadata = file.metadata() or {}
    name = rng.choice(list(tensors))
    tensor = tensors[name]
    how = rng.choice(["drop", "rename", "shape", "value", "huge", "type", "figures", "shuffle"])
    if how == "drop":
        del tensors[name]
    elif how == "rename":
        tensors[f"{name}.x"] = tensors.pop(name)
    elif how == "shape":
        sizes = [max(0, size + rng.choice([-1, 0, 1])) for size in tensor.shape] or [2]
        tensors[name] = torch.zeros(sizes, dtype=tensor.dtype)
    elif how in ("value", "huge"):
        value = rng.choice([0, -1, 99, 1e4] if how == "huge" else [float("nan"), float("inf"), -1, 3e38])
        if tensor.is_floating_point() or abs(value) < 1_000:
            tensors[name] = torch.full_like(tensor, value)
    elif how == "type":
        tensors[name] = tensor.to(rng.choice([torch.float16, torch.float64, torch.int64, torch.bool]))
    elif how == "figures":
        metadata = {"history": str(rng.choice(NASTY)).encode("ascii", "replace").decode()}
    else:
        for key in tensors:
            tensors[key] = torch.randn(tensor.shape) if rng.random() < 0.2 else tensors[key]
    save_file({key: value.contiguous() for key, value in tensors.items()}, path, metadata)
    return f"{how} {name} of {path.name}"


def tamper(rng: random.Random, folder: Path, others: list[Path]) -> list[str]:
    done = []
    for _ in range(rng.choice([1, 1, 1, 2])):
        path = rng.choice(sorted(path for path in folder.rglob("*") if path.is_file()))
        ways = ["file"]
        ways += (
            ["json"] * 3
            if path.suffix == ".json"
            else ["tensors"] * 2
            if path.suffix == ".safetensors"
            else []
        )
        how = rng.choice(ways)
        name = path.relative_to(folder)
        same = [other / name for other in others if (other / name).exists()]
        try:
            if how == "file":
                done.append(tamper_file(rng, path, same))
            elif how == "json":
                done.append(tamper_json_file(rng, path))
            else:
                done.append(tamper_tensors(rng, path))
        except Exception as error:  # it was damaged before, so that nobody can change it any more
            done.append(f"{type(error).__name__} at {path.name}")
        if not any(path.is_file() for path in folder.rglob("*")):
            break
    return done


def use(folder: Path, problems: ProblemSet) -> None:
    """Whatever can be done with such a folder."""
    if folder.name.startswith(SOLVER):
        load_solver(folder).solve(problems.take(range(4)), top=2)
        return
    load_model(folder).candidates(problems.take(range(4)), GenerateConfig(width=3))
    settings = dict(SETTINGS[folder.name])
    if "train.epochs" in settings or "epochs" in settings:
        settings["train.epochs" if "train.epochs" in settings else "epochs"] = 3
    train(problems, find_method(folder.name), settings=settings, folder=folder, resume=True)


def test_a_tampered_model_or_solver_works_or_is_a_sentence(folders, problems, cases, tmp_path):
    for number, rng in enumerate(cases(60)):
        chosen = rng.choice(folders)
        folder = tmp_path / str(number) / chosen.name
        shutil.copytree(chosen, folder)
        done = tamper(rng, folder, folders)
        try:
            with little_memory():
                use(folder, problems)
        except WarmkitError as error:
            assert str(folder) in str(error) or "There is no" in str(error), (done, error)
        except Exception as error:
            raise AssertionError(f"{chosen.name}: {done}") from error
        shutil.rmtree(folder.parent)


def test_a_description_with_other_values_works_or_is_a_sentence(folders, problems, cases, tmp_path):
    """Every value of a description, one after the other: most of the ways in which one can be wrong."""
    import json

    for number, rng in enumerate(cases(60)):
        chosen = rng.choice(folders)
        folder = tmp_path / str(number) / chosen.name
        shutil.copytree(chosen, folder)
        path = next(path for path in map(folder.joinpath, ("model.json", "solver.json")) if path.exists())
        described = json.loads(path.read_text(encoding="utf-8"))
        changed = {**described, "config": tamper_json(rng, described["config"])}
        path.write_text(json.dumps(changed), encoding="utf-8")
        try:
            with little_memory():
                use(folder, problems)
        except WarmkitError as error:
            assert str(folder) in str(error), error
        except Exception as error:
            raise AssertionError(f"{chosen.name}: {changed['config']}") from error
        shutil.rmtree(folder.parent)

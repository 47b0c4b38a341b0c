"""Step one: methods that find equations from answers, by their names. Nothing here loads torch."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import polars as pl

from toolkit.config import Section, settings_of
from toolkit.data import ProblemSet, as_problem_set
from toolkit.data.constants import AUTO, choose_constants, parse_constants, with_constants_of
from toolkit.errors import look_up
from toolkit.methods.base import (
    Epoch,
    FitInput,
    FitOptions,
    GenerateConfig,
    Generated,
    Known,
    StepOne,
    nothing,
    read_model,
)
from toolkit.methods.lbf import Lbf
from toolkit.methods.random_sampling import RandomSampling
from toolkit.methods.search import Search
from toolkit.methods.seq2seq import Seq2Seq
from toolkit.methods.warm import Warm, WarmNoBeam

if TYPE_CHECKING:
    import torch

__all__ = [
    "METHODS",
    "Epoch",
    "FitInput",
    "FitOptions",
    "GenerateConfig",
    "Generated",
    "Known",
    "StepOne",
    "find_method",
    "load_model",
    "train",
]

METHODS: dict[str, type[StepOne]] = {
    method.name: method
    for method in (
        Warm,
        WarmNoBeam,
        RandomSampling,
        Seq2Seq,
        Lbf,
        Search,
    )
}


def find_method(name: str) -> type[StepOne]:
    """The method of that name, or an error that says which there are."""
    return look_up("method", name, METHODS)


def load_model(folder: Path | str, device: "torch.device | None" = None) -> StepOne:
    """The model in a folder, whatever its method is, ready to generate."""
    folder = Path(folder)
    return find_method(read_model(folder)["method"]).load(folder, device)


def train(
    problems: ProblemSet | pl.DataFrame,
    method: str | type[StepOne] = "warm",
    *,
    known: Known | None = None,
    constants: Literal["auto"] | Sequence[str] = AUTO,
    settings: Mapping[str, object] | Section | None = None,
    folder: Path | str | None = None,
    seed: int = 0,
    resume: bool = False,
    device: "torch.device | None" = None,
    on_epoch: Callable[[Epoch], object] = nothing,
) -> StepOne:
    """Train a method to find equations from answers; returns a model that `generate` takes.

    `known` is D_s, problem → template: equations that may be used (`problems.gold_templates`: all of them).
    `constants` is V_const, ["1", "100", "π"]. auto: those of the problem set and of `known`, and what the
    answers ask for besides (`warmkit.choose_constants`).
    `settings` are dotted keys of the method's configuration, {"train.epochs": 5}. With a folder the model is
    saved there, after every epoch if the method trains.
    """
    chosen = find_method(method) if isinstance(method, str) else method
    config = settings_of(chosen.Config, settings)
    given, choice = as_problem_set(problems), None
    if constants == AUTO:
        choice = choose_constants(with_constants_of(given, (known or {}).values()), seed=seed)
    given = given.with_constants(parse_constants(constants) if choice is None else choice.constants)
    data = FitInput(given, known or {}, config, seed)
    options = FitOptions(resume=resume, device=device, on_epoch=on_epoch)
    model = chosen.fit(data, None if folder is None else Path(folder), options)
    if choice is not None and folder is not None:
        choice.save(Path(folder))
    return model

"""Prepare a problem set that does not fit in one process for WARM: with what exhaustive search finds."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from toolkit.data import ProblemSet, preparing
from toolkit.data.prepared import FORMAT, PreparedSet
from toolkit.equations import Constant, show
from toolkit.methods.warm.config import WarmConfig
from toolkit.methods.warm.memory import Memory
from toolkit.methods.warm.paths import Layout
from toolkit.methods.warm.shards import search_paths


@dataclass(frozen=True)
class WarmPreparation(preparing.Preparation):
    config: WarmConfig

    def settings(self) -> str:
        model, train = self.config.model, self.config.train
        sizes = f"{preparing.PART} {model.operators} {model.max_steps} {train.search} {train.memory}"
        return " ".join([FORMAT, sizes, *(show(constant) for constant in self.constants)])

    def paths(self, problems: ProblemSet) -> list[list[int]]:
        model, train = self.config.model, self.config.train
        if not train.search or not len(problems):
            return super().paths(problems)
        layout = Layout(self.constants, model.operators)
        memory = Memory(len(problems), max(train.memory, 1), model.max_steps, torch.device("cpu"))
        rows = torch.arange(len(problems))
        memory.add(rows, search_paths(problems, layout, self.config))
        return [
            paths[there].flatten().tolist()
            for paths, there in zip(memory.recall(rows), memory.scores.isfinite(), strict=True)
        ]


def prepare(
    path: Path | str, root: Path, constants: tuple[Constant, ...], config: WarmConfig, **options: Any
) -> PreparedSet:
    """`toolkit.data.preparing.prepare`, in the folder `root`."""
    return preparing.prepare(path, WarmPreparation(root, constants, config), **options)

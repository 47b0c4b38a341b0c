"""Where work runs: in this process, or on the workers of a Ray cluster. Nothing else knows about Ray."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import polars as pl
import torch

from toolkit.cluster.session import Session, Where, session
from toolkit.warm.checkpoint import Trained
from toolkit.warm.config import WarmConfig
from toolkit.warm.generate import Generated, generate
from toolkit.warm.train import train


class Compute(Protocol):
    def train(
        self, problems: pl.DataFrame, config: WarmConfig, out: Path, *, label: str, **settings: Any
    ) -> Trained:
        """`toolkit.warm.train`, with its settings; `label` is what people see of it elsewhere."""
        ...

    def generate(
        self, trained: Trained, parts: Iterable[pl.DataFrame], **settings: Any
    ) -> Iterator[Sequence[Generated]]:
        """`toolkit.warm.generate` for each part, in order; one part after the other is taken."""
        ...


@dataclass(frozen=True)
class Here:
    """This process. No Ray is started, or even imported."""

    device: torch.device

    def train(
        self, problems: pl.DataFrame, config: WarmConfig, out: Path, *, label: str, **settings: Any
    ) -> Trained:
        return train(problems, config, out, device=self.device, **settings)

    def generate(
        self, trained: Trained, parts: Iterable[pl.DataFrame], **settings: Any
    ) -> Iterator[Sequence[Generated]]:
        for part in parts:
            yield generate(trained, part, **settings)


@dataclass(frozen=True)
class Workers:
    """The workers of a Ray session. Checkpoints go to `storage`, which all of its nodes must see."""

    session: Session
    storage: str | None = None

    def train(
        self, problems: pl.DataFrame, config: WarmConfig, out: Path, *, label: str, **settings: Any
    ) -> Trained:
        from toolkit.cluster.train import train_on_workers

        settings.pop("on_batch", None)  # workers tell of whole epochs
        return train_on_workers(
            self.session, problems, config, out, label=label, storage=self.storage, **settings
        )

    def generate(
        self, trained: Trained, parts: Iterable[pl.DataFrame], **settings: Any
    ) -> Iterator[Sequence[Generated]]:
        from toolkit.cluster.generate import generate_on_workers

        yield from generate_on_workers(self.session, trained, parts, **settings)


@contextmanager
def computing(
    where: Where | None, device: torch.device, storage: str | None, tell: Callable[[str], object]
) -> Iterator[Compute]:
    """Where a command's work runs, for as long as it lasts; `tell` is for what a person should know of it."""
    if where is None:
        yield Here(device)
        return
    with session(where) as started:
        if started.notice:
            tell(started.notice)
        yield Workers(started, storage)

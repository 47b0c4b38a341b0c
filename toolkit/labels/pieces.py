"""A piece: a strategy on a sample, with a batch size and an oracle. Its result is a small file of its own.

The name of the file has a digest of everything that decides the result, so a piece whose file is there is
not measured again.
"""

import json
from dataclasses import asdict, dataclass, field, replace
from hashlib import sha256
from pathlib import Path
from typing import Any, Literal, Self

from pydantic import Field, TypeAdapter, ValidationError

from toolkit.config import load_config
from toolkit.errors import WarmkitError
from toolkit.labels.sets import LoadedSet
from toolkit.loop.config import LoopConfig
from toolkit.pieces.run import LONGEST_ERROR, sentence_of, versions
from toolkit.storage.description import (
    Description,
    damaged,
    first_problem,
    read_description,
    write_description,
)

FORMAT = "warmkit-labels-1"
RANDOM = "random"
PERFECT = "perfect"  # asks about what is wrong, which only gold equations tell: the bound of any strategy

# Quick: what is compared is which problems are asked, under the same conditions.
QUICK = (
    *("later_epochs=1", "generate.width=12", "lbf.epochs=6", "lbf.hidden=48", "lbf.embedding=48"),
    *("constants=1,π", "stop.kappa=null", "stop.rounds=null", "references=false", "solver_each_round=false"),
)
# A small model, from scratch.
SETTINGS = (
    *("warm.train.epochs=6", "warm.train.search=2"),
    *("warm.model.hidden=48", "warm.model.embedding=48", "warm.model.layers=1", "warm.model.max_steps=4"),
    *("warm.explore.beam_width=3", *QUICK),
)
# For a model that `warmkit train` made by default, with what search finds, as for a large set.
STARTED = (*QUICK, "generate.search=3")


@dataclass(frozen=True)
class Protocol:
    """What all pieces have in common."""

    asked: int = 100  # problems of the pool
    others: int = 50  # problems that are never asked, and measured too
    goals: tuple[float, ...] = (0.90, 0.95, 0.98)  # shares of the accuracy with everything annotated
    settings: tuple[str, ...] = SETTINGS

    @property
    def transferred(self) -> int:
        """Labels that another method learns from."""
        return self.asked // 5


@dataclass(frozen=True)
class Piece:
    """`strategy` may have settings after its name: "margin active.random_share=0". It may be PERFECT.

    With a `successor`, the labels that the strategy chose for `method` are learnt by that method instead.
    """

    set: str
    method: str
    strategy: str
    batch: int
    seed: int
    error: float
    successor: str | None = None
    digest: str = ""

    @classmethod
    def of(cls, piece: "Piece", data: LoadedSet, protocol: Protocol) -> Self:
        """The piece with its digest."""
        decides = {
            "piece": asdict(replace(piece, digest="")),
            "data": data.digest,
            "protocol": asdict(protocol),
            "config": piece.config(protocol).model_dump(mode="json"),
        }
        digest = sha256(json.dumps(decides, sort_keys=True).encode()).hexdigest()
        return cls(**{**asdict(piece), "digest": digest})

    def config(self, protocol: Protocol) -> LoopConfig:
        strategy, *settings = self.strategy.split()
        if self.is_perfect:  # all that is unsolved is wrong too; what it asks next is decided by `measure`
            strategy, settings = "margin", ["active.random_share=0", "active.unsolved_quota=1"]
        keys = (
            *(f"method={self.method}", f"seed={self.seed}"),
            *(f"active.strategy={strategy}", f"active.batch={self.batch}"),
            f"annotator.error_rate={self.error}",
        )
        return load_config(LoopConfig, None, (*protocol.settings, *keys, *settings))

    @property
    def of_random(self) -> "Piece":
        return replace(self, strategy=RANDOM, successor=None, digest="")

    def with_seed(self, seed: int) -> "Piece":
        return replace(self, seed=seed, digest="")

    @property
    def is_random(self) -> bool:
        return self.strategy == RANDOM

    @property
    def is_perfect(self) -> bool:
        return self.strategy == PERFECT

    @property
    def name(self) -> str:
        successor = f"-{self.successor}" if self.successor else ""
        words = f"{self.set}-{self.method}{successor}-{self.strategy.split()[0]}-batch{self.batch}"
        return f"{words}-error{round(100 * self.error)}-seed{self.seed}-{self.digest[:10]}"

    def __str__(self) -> str:
        successor = f" for {self.successor}" if self.successor else ""
        error = f", {100 * self.error:g} % errors" if self.error else ""
        return f"{self.strategy}{successor}, {self.set}, batch {self.batch}{error}, seed {self.seed}"


@dataclass(frozen=True)
class Point:
    """What is known after some labels."""

    labels: int  # problems that the oracle settled
    seconds: float  # that an annotator would have worked
    pool: float  # share of the pool whose equation is of the gold class
    others: float  # the same of problems that are never asked
    confidence: tuple[float, ...]  # in the top class of each of the others that has one
    plain: tuple[float, ...]  # the same before annotators taught how far to trust it
    single: tuple[bool, ...]  # whether that is its only class
    right: tuple[bool, ...]  # whether it is of the gold class


@dataclass(frozen=True)
class Curve:
    """The result of a piece: points by labels, and the problems in the order in which they were asked."""

    points: tuple[Point, ...] = ()
    asked: tuple[str, ...] = ()
    seconds: float = 0.0  # that the measurement took of a core
    state: Literal["done", "failed"] = "done"
    error: str = field(default="")

    @property
    def is_done(self) -> bool:
        return self.state == "done"

    @classmethod
    def failed(cls, error: Exception, seconds: float = 0.0) -> Self:
        return cls(state="failed", error=sentence_of(error), seconds=seconds)


class _Written(Description):
    """The file of a piece."""

    digest: str
    error: str = Field(max_length=2 * LONGEST_ERROR)
    curve: dict[str, Any]


CURVE = TypeAdapter(Curve)


@dataclass(frozen=True)
class Files:
    """Where the results are."""

    folder: Path

    def result(self, piece: Piece) -> Path:
        return self.folder / "pieces" / f"{piece.name}.json"

    def read(self, piece: Piece) -> Curve | None:
        """The result of a piece, None if there is none."""
        path = self.result(piece)
        if not path.exists():
            return None
        try:
            written = read_description(path, "measurement", FORMAT, _Written)
            curve = _curve(path, written["curve"])
        except WarmkitError as error:
            raise WarmkitError(f"{error} Delete the file, and the piece is measured again.") from None
        return curve if written["digest"] == piece.digest else None

    def write(self, piece: Piece, curve: Curve) -> None:
        fields = {"format": FORMAT, "digest": piece.digest, "piece": asdict(piece), "error": curve.error}
        write_description(
            self.result(piece),
            {**fields, "curve": CURVE.dump_python(curve, mode="json"), "versions": versions()},
        )


def _curve(path: Path, written: object) -> Curve:
    try:
        curve = CURVE.validate_python(written)
    except ValidationError as error:
        raise damaged(path, "measurement", first_problem(error)) from None
    if curve.is_done and not curve.points:
        raise damaged(path, "measurement", "it has no points")
    return curve

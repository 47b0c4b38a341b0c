"""What a method is fitted on if its problems need not fit in one process."""

from dataclasses import dataclass
from hashlib import sha256

from toolkit.config import Section
from toolkit.data.prepared import KnownShare, PreparedSet
from toolkit.equations import Constant


@dataclass(frozen=True)
class PreparedInput:
    """A `FitInput` in parts: problems, D_s, settings and seed decide the result, and nothing else."""

    problems: PreparedSet
    known: KnownShare
    config: Section
    seed: int = 0

    @property
    def size(self) -> int:
        return len(self.problems)

    @property
    def known_count(self) -> int:
        return self.known.count

    @property
    def constants(self) -> tuple[Constant, ...]:
        return self.problems.constants

    def digest(self) -> str:
        """A digest of the problems and the equations that may be used."""
        return sha256(f"{self.problems.digest} {self.known}".encode()).hexdigest()

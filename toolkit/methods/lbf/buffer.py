"""Memory: the fixes that were found for each problem.

A problem is known by its text and answer, so that a model that is loaded finds its fixes again, whatever the
ids are.
"""

from collections.abc import Iterator, Mapping, Sequence
from hashlib import sha256

import torch
from torch import Tensor

from toolkit.data import ProblemSet
from toolkit.data.schema import MAX_NUMBERS
from toolkit.methods.lbf.one_fix import Prefix
from toolkit.nn.tokens import Tokens


def digests(problems: ProblemSet) -> list[int]:
    """An integer for the text and the answer of each problem."""
    rows = problems.table.select("text", "answer").iter_rows()
    return [int.from_bytes(sha256(repr(row).encode()).digest()[:8], "big", signed=True) for row in rows]


class Buffer:
    """Different trees of each problem, in the order in which they were found."""

    def __init__(self) -> None:
        self._fixes: dict[int, list[Prefix]] = {}

    def __len__(self) -> int:
        return sum(map(len, self._fixes.values()))

    def __iter__(self) -> Iterator[tuple[int, Prefix]]:
        return ((problem, prefix) for problem, fixes in self._fixes.items() for prefix in fixes)

    def of(self, problem: int) -> Sequence[Prefix]:
        return self._fixes.get(problem, ())

    def add(self, problem: int, prefix: Prefix) -> None:
        fixes = self._fixes.setdefault(problem, [])
        if prefix not in fixes:
            fixes.append(prefix)

    def forget(self, problem: int) -> None:
        self._fixes.pop(problem, None)

    @property
    def tensors(self) -> dict[str, Tensor]:
        """What a file keeps: the problems [K] and lengths [K] of all fixes, and their tokens one by one."""
        every = list(self)
        return {
            "problems": torch.tensor([problem for problem, _ in every], dtype=torch.int64),
            "lengths": torch.tensor([len(prefix) for _, prefix in every], dtype=torch.int64),
            "tokens": torch.tensor([token for _, prefix in every for token in prefix], dtype=torch.int64),
        }

    @classmethod
    def restored(cls, tensors: Mapping[str, Tensor], tokens: Tokens, longest: int) -> "Buffer":
        """What `tensors` gave. What can't be trees of so many tokens is a ValueError or a LookupError."""
        problems, lengths, written = (tensors[name] for name in ("problems", "lengths", "tokens"))
        if any(part.dtype != torch.int64 or part.dim() != 1 for part in (problems, lengths, written)):
            raise ValueError("they are no lists of whole numbers")
        if len(problems) != len(lengths) or int(lengths.sum()) != len(written):
            raise ValueError("their sizes do not match")
        if bool(((lengths < 1) | (lengths > longest)).any()):
            raise ValueError("a prefix is too long")
        buffer = cls()
        for problem, part in zip(problems.tolist(), written.split(lengths.tolist()), strict=True):
            prefix = tuple(part.tolist())
            if not _is_tree(prefix, tokens):
                raise ValueError("a prefix is no tree")
            buffer.add(problem, prefix)
        return buffer


def _is_tree(prefix: Prefix, tokens: Tokens) -> bool:
    """Whether a prefix is closed by its last token, and its tokens are some that a problem may have."""
    missing = 1
    for token in prefix:
        if missing == 0 or not 0 <= token < tokens.first_number + MAX_NUMBERS:
            return False
        missing += 1 if token < len(tokens.operators) else -1
    return missing == 0

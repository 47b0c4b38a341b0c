"""Whether what floats found reaches its answer exactly."""

from collections.abc import Callable, Sequence
from fractions import Fraction

import torch
from torch import Tensor

from toolkit.equations import Expr, reaches

MOST_KNOWN = 500_000  # templates whose outcome is remembered: some 70 MB


class AnswerCheck:
    """`reaches` for the problems of a set. What was asked before is looked up.

    Arithmetic on tensors decides quickly which templates may reach an answer (`tolerance`). The same few are
    found again in every epoch, so that fractions cost little.
    """

    def __init__(self, numbers: Sequence[Sequence[Fraction]], answers: Sequence[float]) -> None:
        self._numbers, self._answers = numbers, answers
        self._known: dict[tuple[int, int], bool] = {}

    def __call__(self, rows: Tensor, digests: Tensor, template: Callable[[int], Expr]) -> Tensor:
        """Which templates [K] reach the answers of the problems in these rows [K].

        `template(i)` is the i-th; `digests` [K] are equal for equal templates and for no others.
        """
        if len(self._known) > MOST_KNOWN:
            self._known.clear()
        found = []
        for i, key in enumerate(zip(rows.tolist(), digests.tolist(), strict=True)):
            right = self._known.get(key)
            if right is None:
                right = reaches(template(i), self._numbers[key[0]], self._answers[key[0]])
                self._known[key] = right
            found.append(right)
        return torch.tensor(found, dtype=torch.bool, device=rows.device)

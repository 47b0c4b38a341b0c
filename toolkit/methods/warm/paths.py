"""Paths: the steps (op, left, right) of many equations as one tensor [..., T, 3], -1 after the end.

An operand has one of two numberings. Its *code* is the same in every batch: constants first, then
MAX_NUMBERS positions for the numbers of the text, then the results of steps. Its *slot* is its position
in the OpDict of a batch whose problems have at most n numbers: the same without the unused positions.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from toolkit.data.neighbours import COSTS
from toolkit.data.schema import MAX_NUMBERS
from toolkit.equations import Constant, EquationError, Expr, Op, Ref
from toolkit.equations.forms import to_steps


@dataclass(frozen=True)
class Layout:
    """How operands are numbered, and which operators there are."""

    constants: tuple[Constant, ...]
    operators: str

    @property
    def first_number(self) -> int:
        return len(self.constants)

    @property
    def first_result(self) -> int:
        return len(self.constants) + MAX_NUMBERS

    def codes(self, longest: int) -> int:
        """How many codes there are in paths of so many steps."""
        return max(self.first_result + longest, len(self.operators))

    def to_slots(self, paths: Tensor, n: int) -> Tensor:
        return self._shifted(paths, self.first_result, n - MAX_NUMBERS)

    def to_codes(self, paths: Tensor, n: int) -> Tensor:
        return self._shifted(paths, self.first_number + n, MAX_NUMBERS - n)

    def _shifted(self, paths: Tensor, first: int, by: int) -> Tensor:
        operands = paths[..., 1:]
        return torch.cat([paths[..., :1], torch.where(operands >= first, operands + by, operands)], -1)

    def are_paths(self, paths: Tensor, counts: Tensor) -> bool:
        """Whether all of paths [N, ..., T, 3] in codes can be of problems with so many numbers [N]."""
        op, operands = paths[..., 0], paths[..., 1:]
        steps = torch.arange(op.shape[-1]).unsqueeze(-1)
        numbers = counts.view(-1, *[1] * (operands.dim() - 1))
        is_given = (operands >= 0) & (operands < self.first_number + numbers)
        is_result = (operands >= self.first_result) & (operands < self.first_result + steps)
        is_step = (op >= 0) & (op < len(self.operators)) & (is_given | is_result).all(-1)
        is_end = (paths == -1).all(-1)
        goes_on = is_end[..., :-1] & ~is_end[..., 1:]
        return bool((is_step | is_end).all()) and not bool(goes_on.any())

    def costs(self, paths: Tensor, counts: Tensor) -> Tensor:
        """What paths [K, T, 3] in codes cost, if nothing is learnt, for problems with so many numbers [K]."""
        operands = paths[..., 1:].flatten(1)
        is_number = (operands >= self.first_number) & (operands < self.first_result)
        number = torch.where(is_number, operands - self.first_number, MAX_NUMBERS)
        is_used = torch.zeros(len(paths), MAX_NUMBERS + 1, dtype=torch.bool).scatter(1, number, True)
        uses, used = is_number.sum(1), is_used[:, :MAX_NUMBERS].sum(1)
        constants = ((operands >= 0) & (operands < self.first_number)).sum(1)
        steps = (paths[..., 0] >= 0).sum(1)
        facts = torch.stack([steps, counts - used, uses - used, constants], 1)
        return facts.float() @ torch.tensor(COSTS)

    def commutes(self, device: torch.device | None = None) -> Tensor:
        return torch.tensor([op in "+*" for op in self.operators], device=device)

    def pruned(self, paths: Tensor) -> Tensor:
        """Paths [K, T, 3] in codes, without the steps that the last step does not need.

        Operands of + and * are put in order, so that the same equation is the same path.
        """
        count, longest, _ = paths.shape
        rows = torch.arange(count, device=paths.device)
        lengths = (paths[:, :, 0] >= 0).sum(1)
        live = torch.zeros(count, longest, dtype=torch.bool, device=paths.device)
        live[rows, lengths - 1] = True
        for t in range(longest - 1, 0, -1):
            for operand in (1, 2):
                made_by = paths[:, t, operand] - self.first_result
                needed = live[:, t] & (made_by >= 0)
                live[rows[needed], made_by[needed]] = True
        index = live.cumsum(1) - 1
        operands = paths[:, :, 1:]
        made_by = (operands - self.first_result).clamp(0, longest - 1)
        moved = index.unsqueeze(-1).expand(-1, -1, 2).gather(1, made_by) + self.first_result
        operands = torch.where(operands >= self.first_result, moved, operands)
        swap = self.commutes(paths.device)[paths[:, :, :1].clamp(min=0)]
        operands = torch.where(swap, operands.sort(-1).values, operands)
        steps = torch.cat([paths[:, :, :1], operands], -1).masked_fill(~live.unsqueeze(-1), -1)
        order = (~live).to(torch.int8).argsort(dim=1, stable=True)
        return steps.gather(1, order.unsqueeze(-1).expand(-1, -1, 3))

    def template(self, path: Sequence[Sequence[int]]) -> Expr:
        """The template of one path in codes."""
        return self.results(path)[-1]

    def results(self, path: Sequence[Sequence[int]]) -> list[Expr]:
        """The template of each step of one path in codes."""
        results: list[Expr] = []

        def operand(code: int) -> Expr:
            if code >= self.first_result:
                return results[code - self.first_result]
            if code >= self.first_number:
                return Ref(code - self.first_number)
            return self.constants[code]

        for op, left, right in path:
            if op < 0:
                break
            symbol = next(known for known in ("+", "-", "*", "/", "^") if known == self.operators[op])
            results.append(Op(symbol, operand(left), operand(right)))
        return results

    def path(self, template: Expr, n: int, longest: int) -> list[list[int]] | None:
        """The path of a template over n numbers, None if it has none (too long, another operator)."""
        try:
            steps = to_steps(template, n, self.constants)
        except EquationError:
            return None
        if not 1 <= len(steps) <= longest or any(step.op not in self.operators for step in steps):
            return None
        path = []
        for step in steps:
            operands = [self._code(operand, n) for operand in (step.left, step.right)]
            path.append([self.operators.index(step.op), *(sorted(operands) if step.op in "+*" else operands)])
        return path + [[-1, -1, -1]] * (longest - len(path))

    def _code(self, operand: int, n: int) -> int:
        """From the numbering of `to_steps` (numbers, constants, results)."""
        if operand < n:
            return self.first_number + operand
        if operand < n + len(self.constants):
            return operand - n
        return self.first_result + operand - n - len(self.constants)


_MULTIPLIER = 6364136223846793005  # Knuth's MMIX


def path_hash(paths: Tensor) -> Tensor:
    """One integer [...] for each path [..., T, 3]: the same for equal paths, almost surely not for others."""
    digest = torch.zeros(paths.shape[:-2], dtype=torch.int64, device=paths.device)
    for value in paths.flatten(-2).unbind(-1):
        digest = digest * _MULTIPLIER + (value + 2)
        digest = digest ^ (digest >> 29)
    return digest

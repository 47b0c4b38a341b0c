"""A problem set: its table, and what is computed from its texts and equations.

Tokens, numbers, gold templates and classes are computed once. A part of a set, such as the shard of a
worker, is also a `ProblemSet` and shares what is already computed.
"""

from collections.abc import Iterator, Sequence
from fractions import Fraction
from functools import cached_property

import polars as pl

from toolkit.data.schema import PROBLEMS, BadRow, check_rows, refuse_bad
from toolkit.data.tokens import Masked, mask
from toolkit.equations import DEFAULT_CONSTANTS, Constant, Expr, Verdict, klasses, verify


class ProblemSet:
    """Problems and their properties. Every column has one row per problem.

    `constants` is V_const, which decides which gold equations hold, and what their templates are.
    """

    def __init__(
        self,
        table: pl.DataFrame,
        constants: Sequence[Constant] = DEFAULT_CONSTANTS,
        *,
        masked: Sequence[Masked] | None = None,
        bad: Sequence[BadRow] = (),
        left_out: Sequence[BadRow] = (),
        format: str = "table",
    ) -> None:
        """From a table of the schema `PROBLEMS` with checked rows. `from_frame` checks other tables."""
        self.table, self.constants = table, tuple(constants)
        self.bad, self.format = tuple(bad), format  # rows that were refused, and the format of the file
        self.left_out = tuple(left_out)  # rows whose equation can't be used, so that they have none
        if masked is not None:
            self.__dict__["masked"] = tuple(masked)

    @classmethod
    def from_frame(
        cls, frame: pl.DataFrame, constants: Sequence[Constant] = DEFAULT_CONSTANTS, name: str = "problems"
    ) -> "ProblemSet":
        """The problems of a frame with at least the columns text and answer. A bad row is an error."""
        named = "id" in frame.columns
        rows = enumerate(frame.iter_rows(named=True), 1)
        checked, masked, bad = check_rows(
            ((line, row if named else {**row, "id": str(line)}) for line, row in rows), name
        )
        refuse_bad(name, len(checked), bad)
        return cls(checked, constants, masked=masked)

    @classmethod
    def joined(
        cls, sets: Sequence["ProblemSet"], constants: Sequence[Constant] = DEFAULT_CONSTANTS
    ) -> "ProblemSet":
        """The problems of several sets, which have no id in common."""
        return cls(
            pl.concat([each.table for each in sets]),
            constants,
            masked=[masked for each in sets for masked in each.masked],
            bad=[row for each in sets for row in each.bad],
            left_out=[row for each in sets for row in each.left_out],
            format=", ".join(sorted({each.format for each in sets})),
        )

    def __len__(self) -> int:
        return len(self.table)

    def __repr__(self) -> str:
        return f"ProblemSet({len(self)} problems, {self.table['equation'].count()} with equations)"

    # Columns

    @cached_property
    def ids(self) -> tuple[str, ...]:
        return tuple(self.table["id"])

    @cached_property
    def row(self) -> dict[str, int]:
        """The row of each id."""
        return {problem_id: row for row, problem_id in enumerate(self.ids)}

    @cached_property
    def answers(self) -> tuple[float, ...]:
        return tuple(self.table["answer"])

    @cached_property
    def langs(self) -> tuple[str, ...]:
        return tuple(self.table["lang"])

    @cached_property
    def masked(self) -> tuple[Masked, ...]:
        """Each text as tokens, and the numbers in it."""
        return tuple(mask(text, lang) for text, lang in self.table.select("text", "lang").iter_rows())

    @cached_property
    def numbers(self) -> tuple[tuple[Fraction, ...], ...]:
        """The numbers of each text, in reading order: N0, N1, …"""
        return tuple(tuple(operand.value for operand in masked.operands) for masked in self.masked)

    @cached_property
    def gold_verdicts(self) -> tuple[Verdict | None, ...]:
        """The verdict on each gold equation, None if there is none."""
        return tuple(
            None if equation is None else verify(equation, numbers, answer, self.constants)
            for equation, numbers, answer in zip(
                self.table["equation"], self.numbers, self.answers, strict=True
            )
        )

    @cached_property
    def gold(self) -> tuple[Expr | None, ...]:
        """The template of each gold equation that holds (its likeliest binding), None for the others."""
        return tuple(
            verdict.templates[0] if verdict is not None and verdict.ok else None
            for verdict in self.gold_verdicts
        )

    @cached_property
    def gold_classes(self) -> tuple[frozenset[int], ...]:
        """All classes that each gold equation may mean; empty if no gold equation holds."""
        return tuple(
            frozenset(klasses(verdict.templates)) if verdict is not None and verdict.ok else frozenset()
            for verdict in self.gold_verdicts
        )

    @property
    def gold_templates(self) -> dict[str, Expr]:
        """The gold templates by problem: D_s if all equations are used."""
        return {
            problem_id: template
            for problem_id, template in zip(self.ids, self.gold, strict=True)
            if template is not None
        }

    # Parts

    def take(self, rows: Sequence[int]) -> "ProblemSet":
        """The problems in these rows, in this order."""
        part = ProblemSet(self.table[list(rows)], self.constants)
        for name in ("masked", "gold_verdicts"):
            if name in self.__dict__:
                column = self.__dict__[name]
                part.__dict__[name] = tuple(column[row] for row in rows)
        return part

    def sorted_by_id(self) -> "ProblemSet":
        """The set in an order that does not depend on the order of its rows."""
        return self.take(sorted(range(len(self)), key=self.ids.__getitem__))

    def parts(self, size: int) -> Iterator["ProblemSet"]:
        """The set, `size` problems at a time."""
        for start in range(0, len(self), size):
            yield self.take(range(start, min(start + size, len(self))))

    def with_table(self, table: pl.DataFrame) -> "ProblemSet":
        """The same problems with other splits: texts, answers and equations must be the same."""
        part = ProblemSet(table, self.constants, bad=self.bad, left_out=self.left_out, format=self.format)
        part.__dict__ |= {
            name: self.__dict__[name] for name in ("masked", "gold_verdicts") if name in self.__dict__
        }
        return part

    def with_constants(self, constants: Sequence[Constant]) -> "ProblemSet":
        """The same problems with another V_const."""
        if tuple(constants) == self.constants:
            return self
        return ProblemSet(
            self.table,
            constants,
            masked=self.__dict__.get("masked"),
            bad=self.bad,
            left_out=self.left_out,
            format=self.format,
        )


def as_problem_set(
    problems: ProblemSet | pl.DataFrame, constants: Sequence[Constant] | None = None
) -> ProblemSet:
    """The problems argument of a library call: a `ProblemSet`, or a frame, which is checked."""
    if isinstance(problems, ProblemSet):
        return problems if constants is None else problems.with_constants(constants)
    return ProblemSet.from_frame(problems, DEFAULT_CONSTANTS if constants is None else constants)


def texts_as_problems(
    texts: Sequence[str], langs: Sequence[str], answers: Sequence[float] | None = None
) -> ProblemSet:
    """Texts as a problem set. Without answers they are 0, for callers that don't use them."""
    given = answers if answers is not None else [0.0] * len(texts)
    rows = [
        (str(i), text, answer, None, lang, None)
        for i, (text, lang, answer) in enumerate(zip(texts, langs, given, strict=True))
    ]
    return ProblemSet(pl.DataFrame(rows, schema=PROBLEMS, orient="row"))

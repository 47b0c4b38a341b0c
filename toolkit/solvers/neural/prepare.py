"""Make the lessons of a problem set that does not fit in one process: data-parallel, stored, and reused.

The problems are prepared already (`toolkit.data.preparing`). Candidates come into their order; each part gets
its own, and its equations become tokens. This process sees words, counts and the few problems that are held
out. A digest of all that goes into the lessons names their folder.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl
import torch

from toolkit.data.candidates import candidate_files
from toolkit.data.joining import join, learnt_words
from toolkit.data.part import PartFile
from toolkit.data.prepared import (
    READABLE,
    KnownShare,
    PreparedFile,
    PreparedSet,
    as_problems,
    read_prepared_table,
)
from toolkit.data.preparing import check_unchanged, digest_of
from toolkit.data.schema import MAX_NUMBERS
from toolkit.data.sorted_candidates import SortedCandidates, sort_candidates
from toolkit.data.vocabulary import ENOUGH, Vocabulary, vocabulary_of_counts
from toolkit.equations import parse_template
from toolkit.errors import WarmkitError
from toolkit.nn.tokens import Tokens
from toolkit.solvers.base import PreparedLessons, SolverInput
from toolkit.solvers.neural import member
from toolkit.solvers.neural.config import SizedConfig, SolverConfig
from toolkit.solvers.neural.examples import make_examples
from toolkit.solvers.neural.lessons import Lessons, part_lessons
from toolkit.solvers.neural.member import held_out_rows, lesson_vocabulary, nothing_to_learn
from toolkit.solvers.neural.stored import (
    DESCRIPTION,
    FORMAT,
    check_lessons,
    describe_lessons,
    write_lesson_part,
)
from toolkit.storage.folder import new_folder
from toolkit.storage.lock import turn

if TYPE_CHECKING:
    from toolkit.solvers.neural.solver import NeuralSolver

MOST_RETRIEVED = 50_000  # problems whose texts a solver holds that retrieves
DECIDES = ("min_count", "joined", "encoder", "held_out", "forms", "max_tokens", "target", "threshold")


@dataclass(frozen=True)
class GivenPart:
    """A part of the prepared problems."""

    number: int
    start: int  # row of its first problem
    held_out: tuple[int, ...]  # rows of problems, among those of the part


@dataclass(frozen=True)
class MadePart:
    """What the process that prepares lessons gets to know of a part."""

    part: PreparedFile
    held_out: pl.DataFrame  # READABLE
    answers: Counter[str]
    problems: int


@dataclass(frozen=True)
class LessonPreparation:
    """How the lessons of a part are made; sent to whoever does it."""

    folder: Path
    problems: PreparedSet
    known: KnownShare
    candidates: SortedCandidates | None
    vocabulary: Vocabulary
    config: SizedConfig

    def __call__(self, given: GivenPart) -> MadePart:
        """Make the lessons of a part, and write them to the folder."""
        columns = pl.Schema({**READABLE, "gold": pl.String()})
        rows = read_prepared_table(self.problems.folder, self.problems.parts[given.number], columns)
        problems = as_problems(rows, self.problems.constants)
        chosen = zip(problems.ids, self.known.chosen(rows), strict=True)
        known = {name: parse_template(template) for name, template in chosen if template is not None}
        found = None if self.candidates is None else self.candidates.of(given.start, problems)
        data = SolverInput(problems, known, found, self.config)
        examples = make_examples(data, self.config, Tokens(problems.constants))
        is_held_out = torch.zeros(len(problems), dtype=torch.bool)
        is_held_out[list(given.held_out)] = True
        with_words = bool(self.config.retrieval)
        made = part_lessons(problems, examples, is_held_out, self.vocabulary, with_words)
        held_out = [made.rows[i] for i in made.is_held_out.arg_true()]
        return MadePart(
            write_lesson_part(made.table, made.is_held_out, self.folder, given.number),
            rows[held_out].select(*READABLE),
            made.answers,
            len(problems),
        )


Run = Callable[[LessonPreparation, Iterable[GivenPart]], Iterator[MadePart]]


def prepare_here(preparation: LessonPreparation, parts: Iterable[GivenPart]) -> Iterator[MadePart]:
    """Prepare in this process."""
    return map(preparation, parts)


def prepare_lessons(
    solver: "type[NeuralSolver]",
    problems: PreparedSet,
    known: KnownShare,
    candidates: Path | None,
    config: SolverConfig,
    seed: int = 0,
    *,
    root: Path,
    run: Run = prepare_here,
    advance: Callable[[int], object] = lambda count: None,
    on_wait: Callable[[], object] = lambda: None,
) -> PreparedLessons:
    """What a solver learns from these problems, in the folder `root`: lessons that are there, or new ones.

    The equations are those of D_s, and candidates of the other problems. If another process makes the same
    lessons, `on_wait` is called, and its result is used.
    """
    sized = solver.sized(config, len(problems))
    if sized.retrieval and len(problems) > MOST_RETRIEVED:
        raise WarmkitError(
            f"retrieval {sized.retrieval:g}: a solver that retrieves holds every text that it learns, and "
            f"there are {len(problems):,} problems; at most {MOST_RETRIEVED:,} are held. Set retrieval=0."
        )
    files = [] if candidates is None else [PartFile(str(file)) for file in candidate_files(candidates)]
    before = {file: file.state() for file in files}
    data = digest_of(files, f"{problems.digest} {known}")
    folder = root / f"lessons-{_digest(data, sized, seed)[:16]}"
    with turn(root / f".{folder.name}.lock", on_wait):
        if not (folder / DESCRIPTION).exists():
            vocabulary = lesson_vocabulary(
                solver, sized, problems.constants, lambda: _vocabulary(problems, sized)
            )
            with new_folder(folder) as built:
                here = built.absolute()
                found = None if candidates is None else sort_candidates(candidates, problems, here)
                preparation = LessonPreparation(here, problems, known, found, vocabulary, sized)
                _make(preparation, data, seed, run, advance)
                for sorted_run in found.runs if found else ():
                    sorted_run.path.unlink()
                check_unchanged(before)
    check_lessons(folder)
    return PreparedLessons(folder, data, problems.constants, config, seed)


def _make(
    preparation: LessonPreparation, data: str, seed: int, run: Run, advance: Callable[[int], object]
) -> None:
    """Make all parts, and describe them."""
    problems, config = preparation.problems, preparation.config
    parts: list[PreparedFile] = []
    held_out = [pl.DataFrame(schema=READABLE)]
    answers: Counter[str] = Counter()
    for done in run(preparation, _given(problems, config.held_out, seed)):
        parts.append(done.part)
        held_out.append(done.held_out)
        answers += done.answers
        advance(done.problems)
    count, few = sum(part.rows for part in parts), pl.concat(held_out)
    if not count:
        raise nothing_to_learn()
    if len(few) < member.LEAST_HELD_OUT:
        few = few.clear()
    lessons = Lessons(
        config,
        seed,
        problems.constants,
        preparation.vocabulary,
        count - len(few),
        as_problems(few, problems.constants),
        answers,
        lambda columns: (),
    )
    describe_lessons(preparation.folder, lessons, data, len(problems), parts)


def _given(problems: PreparedSet, share: float, seed: int) -> Iterator[GivenPart]:
    held_out = held_out_rows(len(problems), share, seed).sort().values
    start = 0
    for number, part in enumerate(problems.parts):
        own = held_out[(held_out >= start) & (held_out < start + part.rows)] - start
        yield GivenPart(number, start, tuple(own.tolist()))
        start += part.rows


def _digest(data: str, config: SizedConfig, seed: int) -> str:
    """Of all that decides what the lessons are."""
    decides = config.model_dump_json(include=set(DECIDES))
    sizes = f"{member.LEAST_HELD_OUT} {member.MOST_HELD_OUT} {bool(config.retrieval)}"
    return sha256(f"{FORMAT} {data} {decides} {sizes} {seed}".encode()).hexdigest()


def _vocabulary(problems: PreparedSet, config: SizedConfig) -> Vocabulary:
    """`vocabulary_of`, of texts that are read part by part."""
    words = learnt_words(_some_texts(problems), config.joined) if config.joined else frozenset()
    if not words:
        return problems.vocabulary(config.min_count)
    counts: Counter[str] = Counter()
    for part in problems.frames(("tokens",)):
        for text in part["tokens"]:
            counts.update(join(text.split(" "), words))
    return vocabulary_of_counts(counts, numbers=MAX_NUMBERS, min_count=config.min_count)


def _some_texts(problems: PreparedSet) -> Iterator[list[str]]:
    """Every n-th text: enough to learn words of several characters from."""
    every, start = 1 + len(problems) // ENOUGH, 0
    for part in problems.frames(("tokens",)):
        for text in part["tokens"].gather_every(every, -start % every):
            yield text.split(" ")
        start += len(part)

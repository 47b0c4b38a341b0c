"""Repair of a run whose ledger is damaged: a new ledger from what can be read of the old one.

Responses are kept, all of them. So are the stages up to the first that is lost; the loop does the later ones
again. What is written in several places is taken from any: batches from the stages that chose them, figures
from the stages that measured them. The damaged file stays beside the new one, as state.sqlite.damaged-1.
"""

import json
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from itertools import count
from pathlib import Path

from toolkit.errors import WarmkitError
from toolkit.loop.ledger import Ledger
from toolkit.loop.records import FINAL
from toolkit.loop.run import FORMAT, find_run, locked_folder
from toolkit.loop.salvage import TABLES, Row, Salvage, salvage
from toolkit.storage.atomic import replacing

NOW = json.dumps(FORMAT)  # the fact that this version made a run
NEEDED = ("open", "train", "generate", "choose", "annotate")  # the stages of a round that the next one needs
# Stages that measure, and what they measure. The final solver is measured in place of that of the round.
FIGURES = {"generate": "pool", FINAL: "test", "solver": "test"}

Rows = dict[str, list[Row]]


@dataclass(frozen=True)
class Repair:
    """What a repair did. `aside` is the damaged file, None if nothing was damaged."""

    folder: Path
    saved: dict[str, int]  # rows of each table
    lost: dict[str, int]
    again: list[tuple[int, str]]  # stages that are done again: round and name
    aside: Path | None


def repair_run(root: Path, name: str) -> Repair:
    """Write a new ledger if the one of the run is damaged. Again, or after a kill, it goes on from there."""
    folder = find_run(root, name)
    with locked_folder(folder):
        state = folder / "state.sqlite"
        source, journal = _damaged_files(state)
        found = salvage(source, journal)
        if not any(found.rows.values()):
            raise WarmkitError(
                f"{state}: nothing of it can be read, so nothing can be saved. Begin a new run."
            )
        if any(name == "format" and value != NOW for name, value in found.rows["facts"]):
            raise WarmkitError(f"{folder}: another version of warmkit made this run: it is not repaired.")
        rows, again = rebuilt(found)
        if source == state and found.is_whole and rows == found.rows:
            return Repair(folder, _counts(rows), found.lost, [], None)
        *_, free = _asides(state)
        aside = free if source == state else source
        with replacing(state) as temporary:
            _write(temporary, rows)
            # Until the new ledger takes its place there is none: after a kill, its files are found aside.
            if source == state:
                state.rename(aside)
            if journal.exists():
                journal.rename(aside.with_name(f"{aside.name}-wal"))
            state.with_name(f"{state.name}-shm").unlink(missing_ok=True)
        return Repair(folder, _counts(rows), _lost(found, rows), again, aside)


def _damaged_files(state: Path) -> tuple[Path, Path]:
    """The ledger to repair, and its journal: if a repair was killed, those that it has put aside."""
    journal = state.with_name(f"{state.name}-wal")
    before = [path for path in _asides(state) if path.exists()]
    if state.exists() or not before:
        return state, journal
    moved = before[-1].with_name(f"{before[-1].name}-wal")
    return before[-1], moved if moved.exists() else journal


def _asides(state: Path) -> Iterator[Path]:
    """The names of damaged ledgers that are in use, and the next one."""
    for number in count(1):
        path = state.with_name(f"{state.name}.damaged-{number}")
        yield path
        if not path.exists():
            return


def rebuilt(found: Salvage) -> tuple[Rows, list[tuple[int, str]]]:
    """The tables of the new ledger, and the stages that are done again."""
    facts: dict[str, str] = dict(found.rows["facts"])
    facts.setdefault("format", NOW)
    batches = _batches(found)
    stages = {(row[0], row[1]): row for row in found.rows["stages"]}
    for round_, batch in batches.items():
        chosen = [(row[2], row[3], row[4], json.loads(row[5])) for row in batch]
        stages.setdefault((round_, "choose"), (round_, "choose", 0.0, json.dumps({"batch": chosen})))
    kept, again = _up_to_the_first_gap(stages)
    if len(again) == 1 and not found.lost["stages"]:
        again = []  # the next stage of a run that goes on
    if again:
        facts.pop("end", None)
    asked = [row for round_, batch in batches.items() if (round_, "choose") in kept for row in batch]
    tables = {
        "facts": list(facts.items()),
        "stages": list(kept.values()),
        "asked": asked,
        "responses": found.rows["responses"],
        "requests": found.rows["requests"],
        "replies": found.rows["replies"],
        "metrics": _metrics(found, kept),
    }
    return tables, again


def _batches(found: Salvage) -> dict[int, list[Row]]:
    """The rows about each batch, as they were asked or else as they were chosen."""
    batches: dict[int, dict[str, Row]] = {}
    for row in found.rows["asked"]:
        batches.setdefault(row[0], {})[row[2]] = row
    for round_, stage, _, result in found.rows["stages"]:
        if stage == "choose":
            for position, (problem_id, why, kind, shown) in enumerate(json.loads(result)["batch"]):
                row = (round_, position, problem_id, why, kind, json.dumps(shown))
                batches.setdefault(round_, {}).setdefault(problem_id, row)
    return {round_: list(batch.values()) for round_, batch in batches.items()}


def _up_to_the_first_gap(
    stages: dict[tuple[int, str], Row],
) -> tuple[dict[tuple[int, str], Row], list[tuple[int, str]]]:
    """The stages before the first that is missing; that one, and those that come after it."""
    steps = ((round_, stage) for round_ in count(1) for stage in NEEDED)
    first_lost = next(step for step in steps if step not in stages)
    end = first_lost[0], NEEDED.index(first_lost[1])

    def is_kept(round_: int, stage: str) -> bool:
        needed = stage if stage in NEEDED else "generate"  # a solver needs its candidates
        return (round_, NEEDED.index(needed)) < end

    kept = {key: row for key, row in stages.items() if is_kept(*key)}
    return kept, [first_lost, *(key for key in stages if key not in kept)]


def _metrics(found: Salvage, stages: dict[tuple[int, str], Row]) -> list[Row]:
    """The figures of the stages, as they were measured or else as the stage has them."""
    metrics = {row[:3]: row for row in found.rows["metrics"]}
    for measuring, split in FIGURES.items():
        for (round_, stage), row in stages.items():
            if stage == measuring:
                for name, value in json.loads(row[3]).items():
                    if isinstance(value, int | float):  # not the marks of a solver's answers
                        metrics.setdefault((round_, split, name), (round_, split, name, float(value)))
    measured = {(round_, FIGURES[stage]) for round_, stage in stages if stage in FIGURES}
    return [row for key, row in metrics.items() if key[:2] in measured]


def _write(path: Path, rows: Rows) -> None:
    with closing(Ledger(path, new=True)) as ledger, ledger.transaction():
        for name, table in TABLES.items():
            ledger.insert(name, table.columns, rows[name])


def _lost(found: Salvage, rows: Rows) -> dict[str, int]:
    """How many rows of each table are lost: those that can't be read, without those written elsewhere too."""
    return {
        table: max(0, lost - len(set(rows[table]) - set(found.rows[table])))
        for table, lost in found.lost.items()
    }


def _counts(rows: Rows) -> dict[str, int]:
    return {name: len(of_table) for name, of_table in rows.items()}

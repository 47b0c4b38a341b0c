"""Kills a loop at every stage, resumes it, and compares what it comes to with an undisturbed run.

    make kills COUNT=200                       a loop whose annotator is the oracle
    make kills COUNT=20 WITH=file              sheets that somebody fills in
    make kills COUNT=10 WITH=workers           two workers of Ray
    make kills COUNT=10 WITH=label-studio      a real Label Studio, which is started for it
    make kills COUNT=10 WITH=workers,label-studio
    make kills COUNT=20 WITH=scans             no problem is kept in memory, as if there were many
    make kills COUNT=10 SEED=7                 the campaign of that seed again

A run is killed once in each of its stages, in one of the rounds, then it must end as the undisturbed one did:
D_s, batches, responses, figures, candidates and weights, bit for bit. Half of the kills come at an instant
within the stage, the others just before or after one of its writes.
"""

import argparse
import os
import random
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from integration.started import started
from kills.killing import (
    AtInstant,
    AtWrite,
    Ended,
    Scenario,
    Stage,
    differences,
    fingerprint,
    in_a_process,
    progress,
)
from kills.office import open_office

from annotation.keys import KEY, URL, Connection
from toolkit.cli.output import print_table
from toolkit.errors import WarmkitError

WHOLE = "whole"


@dataclass
class Campaign:
    scenario: Scenario
    root: Path
    seed: int
    kills: Counter[str] = field(default_factory=Counter)  # by the stage in which they came
    at_writes: Counter[str] = field(default_factory=Counter)
    resumed: Counter[str] = field(default_factory=Counter)  # of them, those in runs that ended well
    faults: list[str] = field(default_factory=list)
    runs: int = 0

    def begin(self) -> None:
        """The undisturbed run."""
        self.whole = in_a_process(self.scenario, self.root, WHOLE)
        if self.whole.killed or self.whole.error:
            raise SystemExit(f"The undisturbed run failed: {self.whole.error}")
        self.expected = fingerprint(self.root, WHOLE)
        ends = [*(at for _, at in self.whole.stages[1:]), self.whole.seconds]
        self.seconds = {stage: end - at for (stage, at), end in zip(self.whole.stages, ends, strict=True)}

    def run(self, most: int) -> None:
        """One run that is killed in every stage, but not more than `most` times."""
        self.runs += 1
        name, rng = f"run-{self.runs}", random.Random(f"{self.seed} {self.runs}")
        left = self._targets(rng)
        if len(left) > most:
            left = sorted(rng.sample(left, most), key=left.index)
        kills: list[Ended] = []
        while True:
            kill = self._kill(rng, left.pop(0)) if left else None
            ended = in_a_process(self.scenario, self.root, name, kill)
            if not ended.killed:
                break
            kills.append(ended)
            self.at_writes[ended.last.name] += isinstance(kill, AtWrite) and ended.last == kill.stage
        self._count(name, kills, ended)

    def every_write(self) -> None:
        """One run that is killed before every single write that it makes."""
        self.runs += 1
        name, number, before = f"run-{self.runs}", 1, progress(self.root, f"run-{self.runs}")
        kills: list[Ended] = []
        while (ended := in_a_process(self.scenario, self.root, name, AtWrite(None, number))).killed:
            kills.append(ended)
            self.at_writes[ended.last.name] += 1
            now = progress(self.root, name)
            number, before = (1 if now != before else number + 1), now
        self._count(name, kills, ended)

    def _count(self, name: str, kills: Sequence[Ended], ended: Ended) -> None:
        stages = Counter(kill.last.name for kill in kills)
        self.kills += stages
        if fault := self._fault(name, ended):
            self.faults.append(f"{name} {fault}")
        else:
            self.resumed += stages

    def _fault(self, name: str, ended: Ended) -> str | None:
        if ended.error:
            return f"failed in {ended.last.name}: {ended.error}"
        try:
            changed = differences(self.expected, fingerprint(self.root, name))
        except (OSError, WarmkitError) as error:
            return f"can't be read: {error}"
        return f"differs from the undisturbed run in {', '.join(changed)}." if changed else None

    def _targets(self, rng: random.Random) -> list[Stage]:
        """Each stage once, in one of its rounds, in the order in which a run comes to them."""
        order = [stage for stage, _ in self.whole.stages]
        chosen = [
            rng.choice([stage for stage in order if stage.name == name])
            for name in dict.fromkeys(stage.name for stage in order)
        ]
        return sorted(chosen, key=order.index)

    def _kill(self, rng: random.Random, stage: Stage) -> AtWrite | AtInstant:
        writes = self.whole.writes.get(stage, 0)
        if writes and rng.random() < 0.5:
            return AtWrite(stage, rng.randint(1, writes), rng.random() < 0.5)
        return AtInstant(stage, rng.uniform(0, self.seconds[stage]))

    def show(self) -> None:
        names = dict.fromkeys([*(stage.name for stage, _ in self.whole.stages), *self.kills])
        columns = (self.kills, self.at_writes, self.resumed)
        rows = [(name, *(str(column[name]) for column in columns)) for name in names]
        rows.append(("all", *(str(column.total()) for column in columns)))
        heading = ("stage", "kills", "at a write", "ended the same")
        print_table(f"{self.scenario}, seed {self.seed}", rows, heading)
        print(f"{self.runs} runs, {self.runs - len(self.faults)} ended as the undisturbed one.")
        for fault in self.faults:
            print(fault)


@contextmanager
def surroundings(scenario: Scenario, root: Path, server: str | None) -> Iterator[None]:
    """What a scenario needs: somebody who answers, and a Label Studio, if there is none yet."""
    with ExitStack() as stack:
        connection: Connection | None = None
        if scenario.annotator == "label-studio":
            if server is None:
                connection = stack.enter_context(started(root / ".server")).server.connection
            else:
                connection = Connection(server, os.environ[KEY])
            os.environ |= {URL: connection.url, KEY: connection.key}
        if scenario.annotator != "oracle":
            stack.enter_context(open_office(root, connection))
        yield


def main() -> None:
    parser = argparse.ArgumentParser(description="Kill a loop at every stage and resume it.")
    parser.add_argument("--count", type=int, default=200, help="kills")
    parser.add_argument("--with", dest="given", default="", help="workers, file, label-studio, scans")
    parser.add_argument("--every-write", action="store_true", help="one run that is killed before each")
    parser.add_argument("--seed", type=int)
    parser.add_argument("--server", help=f"the URL of a Label Studio to use, with the key in {KEY}")
    arguments = parser.parse_args()
    given = set(filter(None, arguments.given.split(",")))
    if unknown := given - {"workers", "file", "label-studio", "oracle", "scans"}:
        parser.error(f"--with knows workers, file, label-studio and scans, not {', '.join(unknown)}")
    annotator = next((name for name in ("label-studio", "file") if name in given), "oracle")
    scenario = Scenario(annotator, 2 if "workers" in given else 0, "scans" in given)
    seed = random.SystemRandom().getrandbits(32) if arguments.seed is None else arguments.seed
    with (
        tempfile.TemporaryDirectory(prefix="kills-") as folder,
        surroundings(scenario, Path(folder), arguments.server),
    ):
        campaign = Campaign(scenario, Path(folder), seed)
        campaign.begin()
        begun = time.monotonic()
        if arguments.every_write:
            campaign.every_write()
        while campaign.kills.total() < arguments.count:
            campaign.run(arguments.count - campaign.kills.total())
            done = f"{campaign.kills.total()} kills, {campaign.runs} runs, {len(campaign.faults)} faults"
            print(f"{time.monotonic() - begun:5.0f} s: {done}", file=sys.stderr)
        campaign.show()
    sys.exit(bool(campaign.faults))


if __name__ == "__main__":
    main()

"""How the tables are measured: with warmkit's defaults, unless a configuration says otherwise."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Self

from pydantic import Field, model_validator

from toolkit.config import Section, flat_keys, load_config, settings_of, written_keys
from toolkit.errors import WarmkitError
from toolkit.methods import METHODS, GenerateConfig
from toolkit.paper.tables import SETS, Step
from toolkit.solvers import SOLVERS

Keys = dict[str, dict[str, Any]]  # of configurations, by the names of methods or of solvers


class Changes(Section):
    """What differs from the defaults of methods and solvers."""

    methods: Keys = Field({}, description="keys of methods, such as {warm: {train: {epochs: 6}}}")
    solvers: Keys = Field({}, description="keys of solvers, such as {gts: {members: 1}}")


class PaperConfig(Changes):
    """What cells have in common. What a table says of a row (`Step.settings`) comes last."""

    sets: dict[str, Changes] = Field({}, description="what holds for one set: {math23k: {solvers: …}}")
    generate: GenerateConfig = GenerateConfig()
    folds: int = Field(5, ge=2, le=1_000, description="of sets that are split by seed")
    held_out: int | None = Field(
        None, ge=1, le=1_000, description="folds of a set that are held out in turn; null: all, paper: 1"
    )

    @model_validator(mode="after")
    def _check_names(self) -> Self:
        """Every name and every key is known, also of what no table needs."""
        _check_known(self.sets, SETS)
        every: list[Changes] = [self, *self.sets.values()]
        for given in every:
            _check_keys(given.methods, {name: method.Config for name, method in METHODS.items()})
            _check_keys(given.solvers, {name: solver.Config for name, solver in SOLVERS.items()})
        return self

    def method(self, step: Step, name: str) -> Section:
        """The settings of a method on a set."""
        keys = [flat_keys(given.methods.get(step.method, {})) for given in self._of(name)]
        overrides = [key for given in keys for key in written_keys(given)]
        return load_config(METHODS[step.method].Config, None, [*overrides, *step.settings])

    def solver(self, solver: str, name: str) -> Section:
        """The settings of a solver on a set."""
        keys: dict[str, Any] = {}
        for given in self._of(name):
            keys |= flat_keys(given.solvers.get(solver, {}))
        return settings_of(SOLVERS[solver].Config, keys)

    def _of(self, name: str) -> Iterator[Changes]:
        """What holds for all sets, then what holds for this one."""
        yield self
        if name in self.sets:
            yield self.sets[name]


def _check_keys(keys: Keys, kinds: Mapping[str, type[Section]]) -> None:
    _check_known(keys, kinds)
    for name, settings in keys.items():
        try:
            settings_of(kinds[name], flat_keys(settings))
        except WarmkitError as error:
            raise ValueError(f"{name}: {str(error).removeprefix('configuration: ')}") from None


def _check_known(names: Iterable[str], known: Iterable[str]) -> None:
    for name in names:
        if name not in known:
            raise ValueError(f"there is no {name}: take one of {', '.join(known)}")

"""Step one of a round on problems in parts, which need not fit in one process."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from toolkit.compute import Compute
from toolkit.data.prepared import PreparedSet, known_share
from toolkit.data.skipped import SkippedRows
from toolkit.loop.config import LoopConfig
from toolkit.methods import Epoch, FitOptions, StepOne
from toolkit.methods.base import nothing
from toolkit.methods.prepared import PreparedInput


@dataclass(frozen=True)
class RoundInParts:
    """What step one works on: `Round`, as far as it goes without all problems in memory."""

    problems: PreparedSet
    data: PreparedInput
    config: LoopConfig
    compute: Compute

    def fit(
        self,
        folder: Path,
        *,
        label: str,
        on_batch: Callable[[int], object] = nothing,
        on_epoch: Callable[[Epoch, int], object] = nothing,
    ) -> StepOne:
        """Step one, in a folder: it goes on with what the folder holds."""
        method = self.config.step_one
        epochs = method.epochs(self.data.config)
        options = FitOptions(
            resume=(folder / "model.json").exists(),
            on_batch=on_batch,
            on_epoch=lambda epoch: on_epoch(epoch, epochs),
        )
        return self.compute.fit(method, self.data, folder, options, label=label)


def prepared_round(
    data: Path | str,
    root: Path,
    gold: float,
    config: LoopConfig,
    compute: Compute,
    skipped: SkippedRows | None = None,
    advance: Callable[[int], object] = nothing,
    on_wait: Callable[[], object] = lambda: None,
) -> RoundInParts:
    """Prepare the parts in the folder `root`, or find them there; a share of the gold equations is D_s.

    `on_wait` is called if another process prepares them now.
    """
    from toolkit.methods.warm.config import WarmConfig
    from toolkit.methods.warm.prepare import Preparation, PreparedPart, Unprepared, prepare

    settings = config.method_settings
    assert isinstance(settings, WarmConfig)  # of all methods that learn in parts
    root = root.absolute()

    def run(preparation: Preparation, parts: Iterable[Unprepared]) -> Iterator[PreparedPart]:
        return compute.map(preparation, parts, label="prepare", what="Preparation", writes_to=root)

    prepared = prepare(
        data, root, config.v_const, settings, skipped=skipped, run=run, advance=advance, on_wait=on_wait
    )
    known = known_share(prepared, gold, config.seed)
    return RoundInParts(prepared, PreparedInput(prepared, known, settings, config.seed), config, compute)

"""What the newest model of a run suggests, also for problems that it never saw."""

from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

import polars as pl
import torch

from toolkit.active.candidates import candidates_table
from toolkit.data.numbers import find_numbers
from toolkit.data.schema import MAX_NUMBERS, PROBLEMS, detect_lang
from toolkit.errors import WarmkitError
from toolkit.loop.ledger import Ledger
from toolkit.warm.checkpoint import load_trained
from toolkit.warm.generate import generate


class Suggester:
    """Texts and answers in, the likeliest equations out. It takes up a newer round by itself."""

    def __init__(self, folder: Path, width: int, device: torch.device) -> None:
        self._folder, self._width, self._device = folder, width, device
        self._round = 0
        self.refresh()

    @property
    def version(self) -> str:
        return f"live-round-{self._round:02d}"

    def refresh(self) -> None:
        """Load the model of the newest round that has generated with it, unless it is loaded already."""
        with closing(Ledger(self._folder / "state.sqlite")) as ledger:  # a connection belongs to one thread
            newest = max((round_ for round_, stage, _ in ledger.stages() if stage == "generate"), default=0)
            done = ledger.result(newest, "generate") or {}
        if not newest:
            raise WarmkitError(f"{self._folder}: no round has a model yet. Go on with the loop first.")
        if newest != self._round:
            self._trained = load_trained(self._folder / f"round-{newest:02d}" / "model", self._device)
            self._temperature = float(done["temperature"])
            self._round = newest

    def __call__(self, texts: Sequence[str], answers: Sequence[float]) -> list[tuple[str, float] | None]:
        """For each problem an equation that reaches its answer, and its posterior; or None."""
        rows = [
            (str(i), text, answer, None, lang, None)
            for i, (text, answer) in enumerate(zip(texts, answers, strict=True))
            if 0 < len(find_numbers(text, lang := detect_lang(text))) <= MAX_NUMBERS
        ]
        if not rows:
            return [None] * len(texts)
        problems = pl.DataFrame(rows, schema=PROBLEMS, orient="row")
        generated = generate(self._trained, problems, width=self._width)
        table = candidates_table(generated, problems, self._temperature)
        best = {
            name: (equation, share)  # the first of a problem is its likeliest
            for name, equation, share in table.reverse()
            .select("problem_id", "equation", "posterior")
            .iter_rows()
        }
        return [best.get(str(i)) for i in range(len(texts))]

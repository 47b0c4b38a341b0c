"""Suggestions of the newest model of a run, also for problems that it never saw."""

from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

import torch

from toolkit.data import ProblemSet
from toolkit.data.languages import detect_language
from toolkit.data.numbers import find_numbers
from toolkit.data.problems import texts_as_problems
from toolkit.data.schema import MAX_NUMBERS
from toolkit.equations.search import MAX_OPERATORS
from toolkit.errors import WarmkitError
from toolkit.loop.generation import candidates_of
from toolkit.loop.ledger import Ledger
from toolkit.methods import GenerateConfig, load_model

WIDER = 5  # times the beams of the round, for problems that it found nothing for


class Suggester:
    """Texts and answers in, the likeliest equations out. `refresh` switches to the newest round.

    The search is that of a round. Where it finds nothing, more beams and all equations of up to four
    operators are tried: a person waits for few problems, a round for all of them.
    """

    def __init__(self, folder: Path, settings: GenerateConfig, device: torch.device) -> None:
        self._folder, self._settings, self._device = folder, settings, device
        self._wider = GenerateConfig(width=WIDER * settings.width, search=MAX_OPERATORS)
        self._round = 0
        self.refresh()

    @property
    def version(self) -> str:
        return f"live-round-{self._round:02d}"

    def refresh(self) -> None:
        """Load the model of the newest round that has candidates, unless it is already loaded."""
        with closing(Ledger(self._folder / "state.sqlite")) as ledger:  # a connection belongs to one thread
            newest = max((round_ for round_, stage, _ in ledger.stages() if stage == "generate"), default=0)
            done = ledger.result(newest, "generate") or {}
        if not newest:
            raise WarmkitError(f"{self._folder}: no round has a model yet. Go on with the loop first.")
        if newest != self._round:
            self._model = load_model(self._folder / f"round-{newest:02d}" / "model", self._device)
            self._temperature = float(done["temperature"])
            self._round = newest

    def __call__(self, texts: Sequence[str], answers: Sequence[float]) -> list[tuple[str, float] | None]:
        """For each problem an equation that reaches its answer, and its posterior; or None."""
        langs = [detect_language(text) for text in texts]
        usable = [
            i
            for i, (text, lang) in enumerate(zip(texts, langs, strict=True))
            if 0 < len(find_numbers(text, lang)) <= MAX_NUMBERS
        ]
        if not usable:
            return [None] * len(texts)
        problems = texts_as_problems(
            [texts[i] for i in usable], [langs[i] for i in usable], [answers[i] for i in usable]
        )
        found = self._likeliest(problems, self._settings)
        missed = [row for row, problem_id in enumerate(problems.ids) if problem_id not in found]
        if missed:
            found |= self._likeliest(problems.take(missed), self._wider)
        best = {i: found.get(problem_id) for i, problem_id in zip(usable, problems.ids, strict=True)}
        return [best.get(i) for i in range(len(texts))]

    def _likeliest(self, problems: ProblemSet, settings: GenerateConfig) -> dict[str, tuple[str, float]]:
        generated = self._model.candidates(problems, settings)
        likeliest = candidates_of(generated, problems, self._temperature).likeliest
        rows = likeliest.select("problem_id", "equation", "posterior").iter_rows()
        return {problem_id: (equation, share) for problem_id, equation, share in rows}

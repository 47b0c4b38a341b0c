"""What responses teach a later round: the temperature of its posteriors, and how far to trust them."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from toolkit.active.confidence import Floats, fit_temperature
from toolkit.active.trust import fit_trust
from toolkit.loop.part import trusted_part
from toolkit.loop.state import RunState
from toolkit.loop.trust import PRIOR

CALIBRATION_CASES = 10  # with fewer known equations a temperature would be a guess


def fitted_temperature(state: RunState, round_: int) -> float:
    """The temperature, fitted on the scores that earlier models gave to problems before the responses."""
    scores: list[Mapping[Any, float]] = []
    known: list[int | None] = []
    for before, item, right in state.answered_before(round_):
        classes = state.asked(before).candidates.scores.get(item.problem_id)
        if classes is not None:
            scores.append(classes)
            known.append(next((klass for klass in classes if klass in right), None))
    cases = sum(klass is not None and len(classes) > 1 for classes, klass in zip(scores, known, strict=True))
    return fit_temperature(scores, known) if cases >= CALIBRATION_CASES else 1.0


def learn_trust(state: RunState, round_: int) -> None:
    """Give the candidates of a round the confidence that responses taught.

    It is learnt from what earlier models found for problems before the responses.
    """
    seen: list[Floats] = []
    right: list[bool] = []
    for before, item, classes in state.answered_before(round_):
        asked = state.asked(before)
        if item.problem_id in asked.facts:
            seen.append(asked.facts[item.problem_id])
            right.append(asked.candidates.top[item.problem_id].klass in classes)
    trust = fit_trust(PRIOR, np.array(seen), right)
    state.found(round_).change(lambda part: trusted_part(part, trust))

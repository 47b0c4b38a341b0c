"""Whether confidence means what it says: of the problems at 0.8, are eight of ten right?

Every function takes the confidence of some predictions and whether each is right; at least one prediction.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from toolkit.active.confidence import Floats

CURVE_POINTS = 200  # a plot shows no more


@dataclass(frozen=True)
class Reliability:
    """Bins of confidence (those that hold something): mean confidence, share right, how many."""

    confidence: Sequence[float]
    right: Sequence[float]
    count: Sequence[int]
    ece: float
    brier: float
    auroc: float | None
    risk_coverage: Sequence[tuple[float, float]]  # coverage, error


def reliability(confidence: npt.ArrayLike, right: npt.ArrayLike, bins: int = 10) -> Reliability:
    """All that a report shows of calibration; the risk–coverage curve is thinned to what a plot can show."""
    mean, share, count = _bins(*_checked(confidence, right), bins)
    curve = risk_coverage(confidence, right)
    shown = np.unique(np.linspace(0, len(curve) - 1, CURVE_POINTS).round().astype(int))
    return Reliability(
        confidence=mean.tolist(),
        right=share.tolist(),
        count=count.tolist(),
        ece=calibration_error(confidence, right, bins),
        brier=brier_score(confidence, right),
        auroc=auroc(confidence, right),
        risk_coverage=[(float(coverage), float(error)) for coverage, error in curve[shown]],
    )


def calibration_error(confidence: npt.ArrayLike, right: npt.ArrayLike, bins: int = 10) -> float:
    """The expected calibration error: |mean confidence − share right| over bins of equal width, weighted by
    how many are in each (Naeini et al. 2015, Guo et al. 2017)."""
    mean, share, count = _bins(*_checked(confidence, right), bins)
    return float((count * np.abs(mean - share)).sum() / count.sum())


def chance_error(confidence: npt.ArrayLike, rng: np.random.Generator, draws: int = 200) -> float:
    """The calibration error that as many predictions have on average if their confidence is exact: with few
    of them, a bin is off by chance (Bröcker & Smith 2007)."""
    sure = np.asarray(confidence, dtype=np.float64)
    return float(np.mean([calibration_error(sure, rng.random(len(sure)) < sure) for _ in range(draws)]))


def brier_score(confidence: npt.ArrayLike, right: npt.ArrayLike) -> float:
    """The mean square of confidence − rightness (Brier 1950): 0 is best."""
    sure, is_right = _checked(confidence, right)
    return float(((sure - is_right) ** 2).mean())


def auroc(confidence: npt.ArrayLike, right: npt.ArrayLike) -> float | None:
    """How often a right prediction is surer than a wrong one; ties count half (Hanley & McNeil 1982).

    None if all are right or all wrong.
    """
    sure, is_right = _checked(confidence, right)
    rights = is_right.sum()
    wrongs = len(is_right) - rights
    if rights == 0 or wrongs == 0:
        return None
    _, group, ties = np.unique(sure, return_inverse=True, return_counts=True)
    mid_ranks = np.cumsum(ties) - (ties - 1) / 2
    above = mid_ranks[group][is_right > 0].sum() - rights * (rights + 1) / 2
    return float(above / (rights * wrongs))


def risk_coverage(confidence: npt.ArrayLike, right: npt.ArrayLike) -> Floats:
    """[n, 2]: keeping only the surest 1, 2, … n, the share kept and the error among these.

    El-Yaniv & Wiener 2010. Predictions of equal confidence share their error: their order does not matter.
    """
    sure, is_right = _checked(confidence, right)
    _, group, ties = np.unique(-sure, return_inverse=True, return_counts=True)
    wrong = np.bincount(group, weights=1 - is_right) / ties
    kept = np.arange(1, len(sure) + 1)
    return np.column_stack([kept / len(sure), np.cumsum(np.repeat(wrong, ties)) / kept])


def area_under_risk_coverage(confidence: npt.ArrayLike, right: npt.ArrayLike) -> float:
    """The mean error over all coverages (Geifman et al. 2019): 0 is best."""
    return float(risk_coverage(confidence, right)[:, 1].mean())


def _checked(confidence: npt.ArrayLike, right: npt.ArrayLike) -> tuple[Floats, Floats]:
    sure, is_right = np.asarray(confidence, dtype=np.float64), np.asarray(right, dtype=bool)
    if sure.ndim != 1 or sure.shape != is_right.shape or len(sure) == 0:
        raise ValueError("calibration takes a confidence and a verdict for each of at least one prediction")
    # A softmax may come to a hair over 1.
    if not ((sure >= -1e-9) & (sure <= 1 + 1e-9)).all():
        raise ValueError("a confidence is from 0 to 1")
    return sure.clip(0.0, 1.0), is_right.astype(np.float64)


def _bins(sure: Floats, is_right: Floats, bins: int) -> tuple[Floats, Floats, npt.NDArray[np.int64]]:
    """For each bin that is not empty: mean confidence, share right, count."""
    bin_of = np.minimum((sure * bins).astype(int), bins - 1)
    count = np.bincount(bin_of, minlength=bins)
    full = count > 0
    mean = np.bincount(bin_of, weights=sure, minlength=bins)[full] / count[full]
    share = np.bincount(bin_of, weights=is_right, minlength=bins)[full] / count[full]
    return mean, share, count[full]

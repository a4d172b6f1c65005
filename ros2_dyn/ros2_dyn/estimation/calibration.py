"""Thresholds of a collision detector from the residuals of a motion during which nothing touched the robot."""

from __future__ import annotations

from collections.abc import Sequence
from math import log, sqrt
from statistics import NormalDist

import numpy as np

from ros2_dyn.errors import InputError
from ros2_dyn.model.spatial import Array

MARGIN = 1.5
"""Thresholds lie this much above the greatest residual: in 30 minutes simulated arms went 1.4 times beyond what one
minute had shown, and recorded ones 1.3 times beyond 12 s."""
CONFIDENCE = 0.99
"""That the spread is not greater than it is taken to be."""
MIN_SAMPLES = 200
MIN_SPEED = 0.02
"""A joint that was never faster, rad/s or m/s, has not shown its friction."""
OUTLIER = 8.0
"""A residual that lies this many standard deviations off its mean is no noise."""


class Calibration:
    """Collects residuals, then tells thresholds.

    A threshold is the greater of two: what was seen, with a margin; and the level that Gaussian noise of the same
    spread and of as many swings a second passes as rarely as is asked for, ``|mean| + s sqrt(2 ln(swings interval))``
    (Rice 1944). Errors of the model swing slowly, as the arm does, so that a short motion shows few of them: s is the
    upper bound of the spread that so many swings allow (chi-squared, two values a swing).
    """

    def __init__(self, joint_names: Sequence[str]) -> None:
        """Begin."""
        self._names = tuple(joint_names)
        self._times: list[float] = []
        self._residuals: list[list[float]] = []
        self._speed = [0.0] * len(self._names)

    def update(self, t: float, residual: Sequence[float], qd: Sequence[float]) -> None:
        """Take a sample: time, s; external efforts, N m or N; velocities, rad/s or m/s."""
        self._times.append(t)
        self._residuals.append(list(residual))
        self._speed = [max(s, abs(v)) for s, v in zip(self._speed, qd)]

    def thresholds(self, false_alarms_per_hour: float, minimum: Sequence[float] | None = None) -> list[float]:
        """Of each joint, N m or N.

        Args:
            false_alarms_per_hour: how many are to be expected of all joints together.
            minimum: what no threshold may be below, N m or N.

        Raises:
            InputError: there were too few samples, a joint never moved, or a residual jumped, as by a touch.
        """
        if len(self._times) < MIN_SAMPLES:
            raise InputError("samples", f"expected at least {MIN_SAMPLES} usable ones, got {len(self._times)}")
        if still := [name for name, speed in zip(self._names, self._speed) if speed < MIN_SPEED]:
            raise InputError("motion", f"{', '.join(still)} never moved: move all joints, as fast as in use")
        r = np.array(self._residuals)
        mean, spread = r.mean(axis=0), r.std(axis=0)
        peak = np.max(np.abs(r - mean), axis=0)
        if np.any(jumps := (peak > OUTLIER * spread) & (spread > 0)):
            i = int(np.argmax(jumps))
            raise InputError(
                "residual",
                f"'{self._names[i]}' jumped to {peak[i]:.3g}, {peak[i] / spread[i]:.0f} times its "
                "standard deviation: did something touch the arm?",
            )
        seconds = self._times[-1] - self._times[0]
        interval = 3600 * len(self._names) / false_alarms_per_hour
        rare = [_rare(column, seconds, interval) for column in r.T]
        seen = MARGIN * np.max(np.abs(r), axis=0)
        return np.maximum(np.maximum(seen, rare), 0.0 if minimum is None else minimum).tolist()


def _rare(r: Array, seconds: float, interval: float) -> float:
    """The level that a residual passes once in an interval, s, by what it did in some seconds."""
    mean, noise = float(np.mean(r)), r - np.mean(r)
    swings = max(1, int(np.count_nonzero((noise[:-1] <= 0) & (noise[1:] > 0))))
    spread = float(np.std(r)) * sqrt(2 * swings / _chi_squared(1 - CONFIDENCE, 2 * swings))
    return abs(mean) + spread * sqrt(2 * log(max(1.0, swings / seconds * interval)))


def _chi_squared(probability: float, degrees: int) -> float:
    """What chi-squared stays below with a probability (Wilson and Hilferty 1931)."""
    a = 2 / (9 * degrees)
    return float(degrees * (1 - a + NormalDist().inv_cdf(probability) * sqrt(a)) ** 3)

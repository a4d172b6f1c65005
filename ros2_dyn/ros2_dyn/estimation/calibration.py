# SPDX-License-Identifier: Apache-2.0
"""Calibration of collision thresholds from the residuals of a motion without contact."""

from __future__ import annotations

from collections.abc import Sequence
from math import log, sqrt
from statistics import NormalDist

import numpy as np

from ros2_dyn.errors import InputError
from ros2_dyn.model.spatial import Array

MARGIN = 1.5
"""Ratio of a threshold to the largest observed residual.

In 30 minutes, residuals of simulated arms grew to 1.4 times their maximum of the first minute, and those of recorded
arms to 1.3 times their maximum of 12 s.
"""
CONFIDENCE = 0.99
"""Confidence of the upper bound of a residual's standard deviation."""
MIN_SAMPLES = 200
"""Number of samples that a calibration needs at least."""
MIN_SPEED = 0.02
"""Speed that each joint must reach, rad/s or m/s, so that its friction is in the residuals."""
OUTLIER = 8.0
"""Deviation from the mean, in standard deviations, from which on a residual is a contact, not noise."""


class Calibration:
    """Collect residuals, and compute thresholds from them.

    A threshold is the larger of two levels. The first is the largest observed residual, times MARGIN. The second is
    the level that Gaussian noise of the same spread and frequency exceeds at the rate of false alarms that is allowed,
    ``|mean| + s sqrt(2 ln(crossings interval))`` (Rice 1944). Model errors vary slowly, like the motion, so that a
    short motion has few independent values. Therefore s is the upper confidence bound of the standard deviation
    (chi-squared, two values per crossing).
    """

    def __init__(self, joint_names: Sequence[str]) -> None:
        """Make an empty calibration for these joints."""
        self._names = tuple(joint_names)
        self._times: list[float] = []
        self._residuals: list[list[float]] = []
        self._speed = [0.0] * len(self._names)

    def update(self, t: float, residual: Sequence[float], qd: Sequence[float]) -> None:
        """Add a sample: time, s; external efforts, N m or N, shape (n,); velocities, rad/s or m/s, shape (n,)."""
        self._times.append(t)
        self._residuals.append(list(residual))
        self._speed = [max(s, abs(v)) for s, v in zip(self._speed, qd)]

    def thresholds(self, false_alarms_per_hour: float, minimum: Sequence[float] | None = None) -> list[float]:
        """Return the threshold of each joint, N m or N.

        Args:
            false_alarms_per_hour: expected rate of false alarms of all joints together.
            minimum: lower bounds of the thresholds, N m or N, shape (n,).

        Raises:
            InputError: there are too few samples, a joint never moved, or a residual jumped as if by contact.
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
        noise_level = [_crossing_level(column, seconds, interval) for column in r.T]
        observed = MARGIN * np.max(np.abs(r), axis=0)
        return np.maximum(np.maximum(observed, noise_level), 0.0 if minimum is None else minimum).tolist()


def _crossing_level(r: Array, seconds: float, interval: float) -> float:
    """Return the level that a residual exceeds once per interval, s, given its values during some seconds."""
    mean, noise = float(np.mean(r)), r - np.mean(r)
    crossings = max(1, int(np.count_nonzero((noise[:-1] <= 0) & (noise[1:] > 0))))
    spread = float(np.std(r)) * sqrt(2 * crossings / _chi_squared(1 - CONFIDENCE, 2 * crossings))
    return abs(mean) + spread * sqrt(2 * log(max(1.0, crossings / seconds * interval)))


def _chi_squared(probability: float, degrees: int) -> float:
    """Return the quantile of the chi-squared distribution (Wilson and Hilferty 1931)."""
    a = 2 / (9 * degrees)
    return float(degrees * (1 - a + NormalDist().inv_cdf(probability) * sqrt(a)) ** 3)

# SPDX-License-Identifier: Apache-2.0
"""What an exciting trajectory is to be like."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from ros2_dyn.errors import InputError
from ros2_dyn.model import RobotModel
from ros2_dyn.model.spatial import Array

TYPICAL_FREQUENCY = 0.1
"""Base frequency where none is given, Hz, rounded so that the duration is a whole number of periods."""


@dataclass(frozen=True)
class ExcitationOptions:
    """Duration, frequencies, limits and the search of an exciting trajectory."""

    duration: float = 20.0
    """Duration, s."""
    base_frequency: float | None = None
    """Frequency of the first harmonic, Hz; None: about `TYPICAL_FREQUENCY`."""
    harmonics: int = 5
    """Number of harmonics."""
    rate: float = 100.0
    """Rate of the points, and of the measurements that standard errors are computed for, Hz."""
    share: float = 0.7
    """Share of the velocity and effort limits."""
    margin: float = 0.1
    """Distance from the position limits, rad or m."""
    acceleration: ArrayLike | None = None
    """Limits of acceleration, rad/s^2 or m/s^2, one or shape (n,); None: see `MotionLimits.of`."""
    posture: ArrayLike | None = None
    """Positions at the start and the end, rad or m, shape (n,); None: in the middle of the limits, else 0."""
    noise: ArrayLike | None = None
    """Standard deviation of measured efforts, N m or N, one or shape (n,); None: see `NOISE`."""
    seed: int = 1
    """Seed of the random starts."""
    starts: int = 3
    """Number of random starts."""
    iterations: int = 60
    """Largest number of iterations from each start."""

    def __post_init__(self) -> None:
        """Check the numbers.

        Raises:
            InputError: a number is outside of its range, or the duration is no whole number of periods.
        """
        for name, low in (("duration", 0), ("rate", 0), ("starts", 0), ("iterations", 0), ("harmonics", 1)):
            value = getattr(self, name)
            if not low < value < np.inf:
                raise InputError(name, f"expected a finite number above {low}, got {value}")
        if not 0 < self.share <= 1:
            raise InputError("share", f"expected a number above 0, at most 1, got {self.share}")
        if not 0 <= self.margin < np.inf:
            raise InputError("margin", f"expected a finite number, not negative, got {self.margin}")
        periods = self.duration * self.frequency
        if not (0.5 < periods < np.inf and abs(periods - round(periods)) < 1e-6):
            problem = f"expected a multiple of 1 / duration ({1 / self.duration:.4g} Hz), got {self.base_frequency}"
            raise InputError("base_frequency", problem)

    @property
    def frequency(self) -> float:
        """Base frequency, Hz."""
        if self.base_frequency is not None:
            return self.base_frequency
        return max(round(self.duration * TYPICAL_FREQUENCY), 1) / self.duration


def start_posture(model: RobotModel, given: ArrayLike | None = None) -> Array:
    """Return the given positions, or the middle of the position limits and 0 where there are none, shape (n,).

    Raises:
        InputError: there is not one finite number for each joint.
    """
    if given is None:
        limited = np.isfinite(model.lower) & np.isfinite(model.upper)
        return np.where(limited, (np.where(limited, model.lower, 0) + np.where(limited, model.upper, 0)) / 2, 0.0)
    posture = np.asarray(given, dtype=float)
    if posture.shape != (model.n,) or not np.all(np.isfinite(posture)):
        raise InputError("posture", f"expected {model.n} finite positions, of {model.joint_names}, got {given}")
    return posture

# SPDX-License-Identifier: Apache-2.0
"""Collision detection: external efforts against a threshold per joint, with hysteresis, latched until a reset.

Contact that a mode intends, such as the hand that guides the arm, is no collision as long as it lasts.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf, isnan

from ros2_dyn.errors import InputError

LASTING_TIME = 2.0
"""Time for which such a contact may outlast its mode, s; beyond it, a wrong model would look like one for ever."""


@dataclass(frozen=True)
class Thresholds:
    """Thresholds ``constant + per_velocity |qd| + per_acceleration |qdd|``, because model errors grow with motion."""

    constant: tuple[float, ...]
    """Constant part, N m or N, shape (n,); infinite for a joint that is not monitored."""
    per_velocity: tuple[float, ...] = ()
    """Increase with speed, N m s/rad or N s/m, shape (n,); empty for zero."""
    per_acceleration: tuple[float, ...] = ()
    """Increase with acceleration, N m s^2/rad or N s^2/m, shape (n,); empty for zero."""

    def __post_init__(self) -> None:
        """Check the numbers.

        Raises:
            InputError: a number is negative or NaN, none is given, or the lists have different lengths.
        """
        for name, values in vars(self).items():
            if values and len(values) != len(self.constant):
                raise InputError(name, f"expected {len(self.constant)} numbers, got {len(values)}")
            if any(isnan(x) or x < 0 for x in values):
                raise InputError(name, f"expected numbers, not negative, got {list(values)}")

    def at(self, qd: Sequence[float], qdd: Sequence[float] | None = None) -> list[float]:
        """Return the thresholds at a velocity and an acceleration, N m or N, shape (n,)."""
        e = list(self.constant)
        if self.per_velocity:
            e = [x + k * abs(v) for x, k, v in zip(e, self.per_velocity, qd)]
        if self.per_acceleration and qdd is not None:
            e = [x + k * abs(a) for x, k, a in zip(e, self.per_acceleration, qdd)]
        return e


class CollisionDetector:
    """Compare external efforts with their thresholds, and latch a collision.

    A joint exceeds its threshold once `samples` samples in a row lie above it, and until one lies below `hysteresis`
    times the threshold. One such joint is a collision. Where external efforts are low-passed, more than one sample
    hardly helps: an outlier stays in them for many.
    """

    def __init__(self, thresholds: Thresholds, samples: int = 1, hysteresis: float = 0.8) -> None:
        """Make the detector.

        Args:
            thresholds: thresholds of the joints.
            samples: number of consecutive samples above the threshold; each delays the detection by a period.
            hysteresis: fraction of the threshold below which a joint no longer exceeds it.

        Raises:
            InputError: the number of samples is below 1, or the fraction is not between 0 and 1.
        """
        if samples < 1 or not 0 <= hysteresis <= 1:
            raise InputError("samples, hysteresis", f"expected at least 1, and 0 to 1, got {samples} and {hysteresis}")
        self.thresholds, self._samples, self._hysteresis = thresholds, samples, hysteresis
        n = len(thresholds.constant)
        self.threshold: list[float] = list(thresholds.constant)
        """Thresholds of the newest sample, N m or N."""
        self.exceeded = [False] * n
        """Whether each joint exceeds its threshold."""
        self.collision = False
        """Whether any joint has exceeded its threshold since the last reset."""
        self._count = [0] * n

    def update(self, residual: Sequence[float], qd: Sequence[float], qdd: Sequence[float] | None = None) -> bool:
        """Add a sample, and return whether a collision begins with it.

        Args:
            residual: external efforts, N m or N, shape (n,).
            qd: joint velocities, rad/s or m/s, shape (n,).
            qdd: joint accelerations, rad/s^2 or m/s^2, shape (n,); without them, that part of the thresholds is zero.
        """
        self.threshold = self.thresholds.at(qd, qdd)
        for i, (r, e) in enumerate(zip(residual, self.threshold)):
            self._count[i] = self._count[i] + 1 if abs(r) > e else 0
            if self._count[i] >= self._samples:
                self.exceeded[i] = True
            elif abs(r) < self._hysteresis * e:
                self.exceeded[i] = False
        begins = not self.collision and any(self.exceeded)
        self.collision = self.collision or begins
        return begins

    def reset(self) -> None:
        """Clear the collision; a joint that still exceeds its threshold causes a new one."""
        self.collision = False
        self.exceeded = [False] * len(self.exceeded)
        self._count = [0] * len(self._count)


class IntendedContact:
    """Tells whether what is felt is a contact that was intended when it began."""

    def __init__(self) -> None:
        self._until = -inf

    def excuses(self, intended: bool, felt: bool, now: float) -> bool:
        """Return whether external efforts are no collision.

        Args:
            intended: whether the mode intends contact.
            felt: whether a joint exceeds its threshold.
            now: time, s.
        """
        if intended:
            self._until = now + LASTING_TIME
        elif not felt:
            self._until = -inf
        return intended or now <= self._until

# SPDX-License-Identifier: Apache-2.0
"""The hand of an operator that leads the simulated arm."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import cos, inf, isfinite, pi, sin

import numpy as np
from numpy.typing import ArrayLike

from ros2_dyn.model.spatial import Array
from ros2_dyn.simulation.contact import Contact

BLEND = 0.2
"""Fraction of the duration spent accelerating, and the same fraction spent decelerating."""


@dataclass
class Hand(Contact):
    """A hand that grips a point, leads it along a straight line, holds it there and lets go.

    The hand moves from rest to rest, at constant speed in between; the speed ramps as ``(1 - cos)/2``. A spring and a
    damper connect the hand and the point, as stiff and as strong as a human arm. The object stores where it gripped, so
    each object serves one arm once.
    """

    kind = "hand"

    link: str
    displacement: ArrayLike
    """Displacement of the hand from where it grips, in the axes of the base frame, m, shape (3,)."""
    point: ArrayLike = (0.0, 0.0, 0.0)
    start: float = 0.0
    """Time of the grip, s."""
    duration: float = 2.0
    """Duration of the motion, s."""
    hold: float = 0.0
    """Time for which the hand stays at the end, s; may be infinite."""
    stiffness: float = 500.0
    """Stiffness, N/m."""
    damping: float = 50.0
    """Damping, N s/m."""
    max_force: float = 50.0
    """Upper limit of the force, N. A hand that would need more falls behind."""
    _grip: Array | None = field(default=None, init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        """Check the fields.

        Raises:
            InputError: a number is not finite, or makes no sense.
        """
        self.displacement, self.point = self._triple("displacement"), self._triple("point")
        if not isfinite(self.start):
            raise self._invalid("start", "a finite number of seconds")
        if not 0 < self.duration < inf:
            raise self._invalid("duration", "a positive, finite number of seconds")
        if not self.hold >= 0:
            raise self._invalid("hold", "a number of seconds, not negative")
        for name in ("stiffness", "damping", "max_force"):
            if not 0 <= getattr(self, name) < inf:
                raise self._invalid(name, "a finite number, not negative")

    @property
    def end(self) -> float:
        """Time of the release, s."""
        return self.start + self.duration + self.hold

    def force_at(self, t: float, position: Array, velocity: Array) -> Array:
        """Return the force of the hand; the first call is the grip."""
        if self._grip is None:
            self._grip = position.copy()
        fraction, rate = self._progress(t - self.start)
        displacement = np.array(self.displacement)
        lag = self._grip + fraction * displacement - position
        force = self.stiffness * lag + self.damping * (rate * displacement - velocity)
        return force * min(1.0, self.max_force / max(float(np.linalg.norm(force)), 1e-300))

    def _progress(self, s: float) -> tuple[float, float]:
        """Return the completed fraction of the motion `s` seconds after the grip, and its rate, 1/s."""
        if s >= self.duration:
            return 1.0, 0.0
        if s > self.duration / 2:
            remaining, rate = self._progress(self.duration - s)
            return 1 - remaining, rate
        blend = BLEND * self.duration
        max_rate = 1 / (self.duration - blend)
        if s >= blend:
            return max_rate * (s - blend / 2), max_rate
        phase = pi * s / blend
        return max_rate / 2 * (s - blend / pi * sin(phase)), max_rate / 2 * (1 - cos(phase))

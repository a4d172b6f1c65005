"""The hand of an operator, who leads the simulated arm somewhere."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import cos, inf, isfinite, pi, sin

import numpy as np
from numpy.typing import ArrayLike

from ros2_dyn.model.spatial import Array
from ros2_dyn.simulation.touch import Touch

BLEND = 0.2
"""The part of the way's duration in which the hand gathers speed, and that in which it slows down."""


@dataclass
class Hand(Touch):
    """A hand that grips a point where it finds it, leads it along a straight line, holds it there and lets go.

    It goes from rest to rest at constant speed between, which it reaches as (1 - cos)/2 of the time. It pulls like a
    spring and a damper between the point and where the hand is, as strong and as stiff as a human arm. It remembers
    where it gripped: each object is for one arm and one time.
    """

    link: str
    displacement: ArrayLike
    """Where it leads, as seen from where it gripped, m, in the axes of the base frame, shape (3,)."""
    point: ArrayLike = (0.0, 0.0, 0.0)
    start: float = 0.0
    """When it grips, s."""
    duration: float = 2.0
    """Of the way, s."""
    hold: float = 0.0
    """How long it stays there, s; may be infinite."""
    stiffness: float = 500.0
    """N/m."""
    damping: float = 50.0
    """N s/m."""
    max_force: float = 50.0
    """N; it never exerts more, and falls behind instead."""
    _grip: Array | None = field(default=None, init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        """Check the fields.

        Raises:
            InputError: a number is not finite, or makes no sense.
        """
        self.displacement, self.point = self._triple("displacement"), self._triple("point")
        if not isfinite(self.start):
            raise self._wrong("start", "a finite number of seconds")
        if not 0 < self.duration < inf:
            raise self._wrong("duration", "a positive, finite number of seconds")
        if not self.hold >= 0:
            raise self._wrong("hold", "a number of seconds, not negative")
        for name in ("stiffness", "damping", "max_force"):
            if not 0 <= getattr(self, name) < inf:
                raise self._wrong(name, "a finite number, not negative")

    @property
    def end(self) -> float:
        """When it lets go, s."""
        return self.start + self.duration + self.hold

    def force_at(self, t: float, position: Array, velocity: Array) -> Array:
        """See `Touch.force_at`; the first call is the grip."""
        if self._grip is None:
            self._grip = position.copy()
        way, speed = self._progress(t - self.start)
        displacement = np.array(self.displacement)
        lag = self._grip + way * displacement - position
        force = self.stiffness * lag + self.damping * (speed * displacement - velocity)
        return force * min(1.0, self.max_force / max(float(np.linalg.norm(force)), 1e-300))

    def _progress(self, s: float) -> tuple[float, float]:
        """The part of the way that is done s seconds after the grip, from 0 to 1, and its rate, 1/s."""
        if s >= self.duration:
            return 1.0, 0.0
        if s > self.duration / 2:
            left, speed = self._progress(self.duration - s)
            return 1 - left, speed
        blend = BLEND * self.duration
        fastest = 1 / (self.duration - blend)
        if s >= blend:
            return fastest * (s - blend / 2), fastest
        phase = pi * s / blend
        return fastest / 2 * (s - blend / pi * sin(phase)), fastest / 2 * (1 - cos(phase))

# SPDX-License-Identifier: Apache-2.0
"""Forces on points of the simulated arm's links that are functions of time alone."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import inf, isfinite, pi, sin

import numpy as np
from numpy.typing import ArrayLike

from ros2_dyn.model.spatial import Array
from ros2_dyn.simulation.contact import Contact

PROFILES: dict[str, Callable[[float, float, float], float]] = {
    "impulse": lambda s, duration, frequency: sin(pi * s / duration),
    "step": lambda s, duration, frequency: 1.0,
    "ramp": lambda s, duration, frequency: s / duration,
    "sinusoid": lambda s, duration, frequency: sin(2 * pi * frequency * s),
}
"""Fraction of the force that acts `s` seconds after its start, by the name of the profile."""


@dataclass(frozen=True)
class AppliedForce(Contact):
    """A force on a point of a link, from `start` for `duration` seconds, whatever the arm does.

    Its integral over time is ``2/pi force duration`` for an impulse (a half sine), ``force duration`` for a step and
    ``1/2 force duration`` for a ramp.
    """

    kind = "force"
    link: str
    force: ArrayLike
    """Peak force in the axes of the base frame, N, shape (3,)."""
    point: ArrayLike = (0.0, 0.0, 0.0)
    """Point of application in the link's frame, m, shape (3,)."""
    profile: str = "step"
    """Shape over time, one of `PROFILES`."""
    start: float = 0.0
    """Time at which the force begins, s."""
    duration: float = inf
    """Duration, s. A step and a sinusoid may last for ever."""
    frequency: float = 0.0
    """Frequency of a sinusoid, Hz."""

    def __post_init__(self) -> None:
        """Check the fields.

        Raises:
            InputError: the profile is unknown, or a number is not finite or makes no sense for the profile.
        """
        for field in ("force", "point"):
            object.__setattr__(self, field, self._triple(field))
        if self.profile not in PROFILES:
            raise self._invalid("profile", f"one of {', '.join(PROFILES)}")
        if not isfinite(self.start):
            raise self._invalid("start", "a finite number of seconds")
        if self.profile in ("impulse", "ramp") and not 0 < self.duration < inf:
            raise self._invalid("duration", f"a positive, finite number of seconds for profile '{self.profile}'")
        if not self.duration > 0:
            raise self._invalid("duration", "a positive number of seconds")
        if self.profile == "sinusoid" and not 0 < self.frequency < inf:
            raise self._invalid("frequency", "a positive, finite number of Hz for profile 'sinusoid'")

    @property
    def end(self) -> float:
        """Time at which the force ends, s."""
        return self.start + self.duration

    def force_at(self, t: float, position: Array, velocity: Array) -> Array:
        """Return the force at a time; position and velocity of the point do not matter."""
        fraction = PROFILES[self.profile](t - self.start, self.duration, self.frequency)
        return fraction * np.asarray(self.force)

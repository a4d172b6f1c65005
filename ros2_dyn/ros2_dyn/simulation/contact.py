"""Forces of the surroundings on points of the simulated arm's links, given as functions of time."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import inf, isfinite, pi, sin

import numpy as np
from numpy.typing import ArrayLike

from ros2_dyn.model.spatial import Array
from ros2_dyn.simulation.touch import Touch

PROFILES: dict[str, Callable[[float, float, float], float]] = {
    "impulse": lambda s, duration, frequency: sin(pi * s / duration),
    "step": lambda s, duration, frequency: 1.0,
    "ramp": lambda s, duration, frequency: s / duration,
    "sinusoid": lambda s, duration, frequency: sin(2 * pi * frequency * s),
}
"""The part of the force that acts s seconds after its start."""


@dataclass(frozen=True)
class Contact(Touch):
    """A force that the surroundings exert on a point of a link, from `start` for `duration` seconds.

    Its integral over time is ``2/pi force duration`` for an impulse (a half sine), ``force duration`` for a step, and
    half of that for a ramp.
    """

    link: str
    force: ArrayLike
    """N, in the axes of the base frame, shape (3,); the greatest that it becomes."""
    point: ArrayLike = (0.0, 0.0, 0.0)
    """m, in the link's frame, shape (3,)."""
    profile: str = "step"
    """One of `PROFILES`."""
    start: float = 0.0
    """s."""
    duration: float = inf
    """s; a step and a sinusoid may last for ever."""
    frequency: float = 0.0
    """Of a sinusoid, Hz."""

    def __post_init__(self) -> None:
        """Check the fields.

        Raises:
            InputError: the profile is unknown, or a number is not finite or makes no sense for the profile.
        """
        for field in ("force", "point"):
            object.__setattr__(self, field, self._triple(field))
        if self.profile not in PROFILES:
            raise self._wrong("profile", f"one of {', '.join(PROFILES)}")
        if not isfinite(self.start):
            raise self._wrong("start", "a finite number of seconds")
        if self.profile in ("impulse", "ramp") and not 0 < self.duration < inf:
            raise self._wrong("duration", f"a positive, finite number of seconds for profile '{self.profile}'")
        if not self.duration > 0:
            raise self._wrong("duration", "a positive number of seconds")
        if self.profile == "sinusoid" and not 0 < self.frequency < inf:
            raise self._wrong("frequency", "a positive, finite number of Hz for profile 'sinusoid'")

    @property
    def end(self) -> float:
        """When it is over, s."""
        return self.start + self.duration

    def force_at(self, t: float, position: Array, velocity: Array) -> Array:
        """See `Touch.force_at`; the same wherever the point is."""
        part = PROFILES[self.profile](t - self.start, self.duration, self.frequency)
        return part * np.asarray(self.force)

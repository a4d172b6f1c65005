"""What pushes the simulated arm: forces of the surroundings on points of its links, and the joint efforts they make."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from math import inf, isfinite, pi, sin

import numpy as np
from numpy.typing import ArrayLike

from ros2_dyn.errors import InputError
from ros2_dyn.kernels import Kernel, compile_kernel
from ros2_dyn.model import RobotModel
from ros2_dyn.model.spatial import Array

PROFILES: dict[str, Callable[[float, float, float], float]] = {
    "impulse": lambda s, duration, frequency: sin(pi * s / duration),
    "step": lambda s, duration, frequency: 1.0,
    "ramp": lambda s, duration, frequency: s / duration,
    "sinusoid": lambda s, duration, frequency: sin(2 * pi * frequency * s),
}
"""The part of the force that acts s seconds after its start."""


@dataclass(frozen=True)
class Contact:
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

    def force_at(self, t: float) -> Array:
        """The force at time t (s), N, in the axes of the base frame, shape (3,)."""
        s = t - self.start
        if not 0 <= s < self.duration:
            return np.zeros(3)
        return PROFILES[self.profile](s, self.duration, self.frequency) * np.asarray(self.force)

    def _triple(self, field: str) -> tuple[float, ...]:
        try:
            triple = tuple(float(x) for x in np.asarray(getattr(self, field), dtype=float))
        except (TypeError, ValueError):
            triple = ()
        if len(triple) != 3 or not all(map(isfinite, triple)):
            raise self._wrong(field, "3 finite numbers")
        return triple

    def _wrong(self, field: str, expected: str) -> InputError:
        return InputError(
            f"{field} of the contact on '{self.link}'", f"expected {expected}, got {getattr(self, field)}"
        )


class ContactEfforts:
    """The joint efforts of contacts: ``J^T F``, with the Jacobian of each contact's point (Craig 5.96)."""

    def __init__(self, model: RobotModel) -> None:
        """For one robot; the kernel of a link is made when it is first touched."""
        self.model = model
        self._kernels: dict[str, Kernel] = {}

    def __call__(self, contacts: Iterable[Contact], t: float, q: Array) -> Array:
        """Their sum at time t (s) and joint positions q (rad or m, shape (n,)): N m or N, shape (n,).

        Raises:
            InputError: the robot has no such link.
        """
        tau = np.zeros(self.model.n)
        for contact in contacts:
            force = contact.force_at(t)
            if force.any():
                pose, J = (np.array(output) for output in self._kernel(contact.link)(q.tolist()))
                moment = np.cross(pose[:3, :3] @ contact.point, force)  # about the link's origin
                tau += np.concatenate([force, moment]) @ J
        return tau

    def _kernel(self, link: str) -> Kernel:
        if link not in self._kernels:
            self._kernels[link] = compile_kernel(self.model, ("pose", "jacobian"), "python", ("q",), link)
        return self._kernels[link]
